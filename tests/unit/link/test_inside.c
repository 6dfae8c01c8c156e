/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the process that enters a network namespace says, and what else may come in its place; what
 * each refusal means. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../refuse.h"
#include "../../test.h"
#include "beamtop/base/confined.h"
#include "beamtop/base/attr.h"
#include "beamtop/link/inside.h"
#include "../../../src/link/inside/inside_reply.h"

static int ends[2];

static int open_ends(void **state)
{
    (void)state;
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int close_ends(void **state)
{
    (void)state;
    close(ends[0]);
    return close(ends[1]);
}

/* The descriptor that the next one opened gets: what stays open moves it. */
static int next_fd(void)
{
    const int fd = dup(STDIN_FILENO);
    close(fd);
    return fd;
}

static void send_bytes(const void *bytes, size_t len, const int *fds, size_t n)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(8 * sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (n > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(n * sizeof(int));
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
        memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
    }
    assert_int_equal(sendmsg(ends[1], &message, 0), (ssize_t)len);
}

/* Takes what was sent: true when it is a reply; nothing but its socket stays open. */
static bool takes(struct inside_reply *reply, int *fd)
{
    struct error err = {0};
    const int before = next_fd();
    const int rc = inside_reply_take(ends[0], reply, fd, &err);
    if (rc == 0) {
        assert_true((*fd >= 0) == (reply->stage == INSIDE_CONNECTED));
        return true;
    }
    assert_int_equal(rc, ERR_FORMAT);
    assert_int_equal(*fd, -1);
    assert_int_equal(next_fd(), before);
    return false;
}

TEST_WITH(a_socket_comes_with_the_reply, open_ends, close_ends)
{
    const struct inside_reply reply = {.stage = INSIDE_CONNECTED};
    struct inside_reply got;
    int fd = -1, sent = socket(AF_INET, SOCK_STREAM, 0);
    (void)state;
    assert_int_equal(inside_reply_send(ends[1], &reply, sent), 0);
    close(sent);
    assert_true(takes(&got, &fd));
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
}

TEST_WITH(a_reply_without_a_socket_is_a_refusal, open_ends, close_ends)
{
    const struct inside_reply reply = {.stage = INSIDE_NOT_ENTERED, .error = EPERM};
    struct inside_reply got;
    int fd = -1;
    (void)state;
    assert_int_equal(inside_reply_send(ends[1], &reply, -1), 0);
    assert_true(takes(&got, &fd));
    assert_int_equal(got.stage, INSIDE_NOT_ENTERED);
    assert_int_equal(got.error, EPERM);
}

TEST_WITH(what_is_no_reply_is_refused_and_closed, open_ends, close_ends)
{
    enum { NONE, STREAM, FILE_FD, PACKETS };
    static const struct {
        uint32_t stage;
        int32_t error;
        size_t len, fds;
        int kind;
    } rows[] = {
        {INSIDE_ENTERED, 0, 0, 0, NONE},           {INSIDE_ENTERED, 0, 1, 0, NONE},
        {INSIDE_ENTERED, 0, 7, 0, NONE},           {INSIDE_ENTERED, 0, 9, 0, NONE},
        {INSIDE_ENTERED, 0, 64, 0, NONE},          {0, 0, 8, 0, NONE},
        {INSIDE_NOT_CONNECTED + 1, 0, 8, 0, NONE}, {UINT32_MAX, 0, 8, 0, NONE},
        {INSIDE_NOT_OPENED, -1, 8, 0, NONE},       {INSIDE_CONNECTED, 0, 8, 0, NONE},
        {INSIDE_CONNECTED, 0, 8, 2, STREAM},       {INSIDE_CONNECTED, 0, 8, 8, STREAM},
        {INSIDE_CONNECTED, 0, 8, 1, FILE_FD},      {INSIDE_CONNECTED, 0, 8, 1, PACKETS},
        {INSIDE_CONNECTED, 0, 7, 1, STREAM},       {INSIDE_CONNECTED, 0, 9, 1, STREAM},
        {INSIDE_ENTERED, 0, 8, 1, STREAM},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char bytes[64] = "";
        int fds[8], fd = -1;
        struct inside_reply got;
        const struct inside_reply reply = {.stage = rows[i].stage, .error = rows[i].error};
        const int given = rows[i].kind == STREAM    ? socket(AF_INET, SOCK_STREAM, 0)
                          : rows[i].kind == PACKETS ? socket(AF_UNIX, SOCK_SEQPACKET, 0)
                                                    : open("/dev/null", O_RDONLY);
        memcpy(bytes, &reply, sizeof reply);
        for (size_t n = 0; n < ARRAY_LEN(fds); n++)
            fds[n] = given;
        send_bytes(bytes, rows[i].len, fds, rows[i].fds);
        if (takes(&got, &fd))
            fail_msg("row %zu is taken for a reply", i);
        close(given);
    }
}

TEST_WITH(an_end_without_a_word_is_an_error, open_ends, NULL)
{
    struct inside_reply got;
    int fd = -1;
    (void)state;
    close(ends[1]);
    assert_false(takes(&got, &fd));
    close(ends[0]);
}

TEST(each_refusal_says_what_lifts_it)
{
    static const struct {
        uint32_t stage;
        int32_t error;
        enum err code;
        const char *text;
    } rows[] = {
        {INSIDE_NO_PROCESS, 0, ERR_NOT_FOUND, "has ended"},
        {INSIDE_NOT_OPENED, ENOENT, ERR_NOT_FOUND, "has ended"},
        {INSIDE_NOT_OPENED, EACCES, ERR_REFUSED, "Run beamtop "},
        {INSIDE_NOT_ENTERED, EPERM, ERR_REFUSED, "Run beamtop "},
        {INSIDE_NOT_ENTERED, EINVAL, ERR_SYSTEM, "Invalid argument"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error err = {0};
        const struct inside_reply reply = {.stage = rows[i].stage, .error = rows[i].error};
        assert_int_equal(inside_reply_explain(&reply, 4711, &err), rows[i].code);
        assert_non_null(strstr(err.text, rows[i].text));
        assert_non_null(strstr(err.text, "4711"));
    }
}

/* In a child, under a filter: whether the text says so. */
static int explains_filter(void)
{
    const struct inside_reply reply = {.stage = INSIDE_NOT_ENTERED, .error = EPERM};
    struct error err = {0};
    if (!refuse_call(SYS_setns))
        return REFUSE_NONE;
    const bool refused = setns(-1, 0) != 0 && errno == EPERM;
    (void)inside_reply_explain(&reply, 4711, &err);
    return refused && strstr(err.text, "seccomp=unconfined") ? 0 : 1;
}

TEST(a_filter_is_named)
{
    if (geteuid() != 0 || !(confined_rights() >> CAP_SYS_ADMIN & 1))
        skip();
    const int result = refuse_in_child(explains_filter);
    if (result == REFUSE_NONE)
        skip();
    assert_int_equal(result, 0);
}

/* Runs the helper with these words in a child; its exit code. */
static int run_helper(char *const *words, int argc)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDIN_FILENO);
        _exit(inside_main(argc, words));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_WITH(it_enters_only_a_vm, open_ends, close_ends)
{
    char own[16];
    char name[] = "beamtop", word[] = INSIDE_WORD, any[] = INSIDE_NONE, port[] = "4369",
         started[] = "0";
    char *words[] = {name, word, own, started, any, port, any, NULL};
    struct inside_reply got;
    int fd = -1;
    (void)state;
    snprintf(own, sizeof own, "%d", (int)getpid());
    assert_int_equal(run_helper(words, 7), 0);
    assert_true(takes(&got, &fd));
    assert_int_equal(got.stage, INSIDE_NO_PROCESS);
}

TEST_WITH(other_words_are_refused, open_ends, close_ends)
{
    static const char *const rows[][3] = {
        {"0", "0", "1"},  {"-1", "0", "1"}, {"x", "0", "1"},           {"", "0", "1"},
        {"1x", "0", "1"}, {"1", "0", "x"},  {"1", "0", "65536"},       {"1", "0", "-1"},
        {"1", "-1", "1"}, {"1", "x", "1"},  {"99999999999", "0", "1"},
    };
    char name[] = "beamtop", word[] = INSIDE_WORD, any[] = INSIDE_NONE, other[] = "inside";
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char pid[16], started[16], port[16];
        char *words[] = {name, word, pid, started, any, port, any, NULL};
        snprintf(pid, sizeof pid, "%s", rows[i][0]);
        snprintf(started, sizeof started, "%s", rows[i][1]);
        snprintf(port, sizeof port, "%s", rows[i][2]);
        assert_int_equal(run_helper(words, 7), 2);
        assert_true(inside_is_meant(7, words));
        assert_false(inside_is_meant(6, words));
        words[1] = other;
        assert_false(inside_is_meant(7, words));
    }
}
