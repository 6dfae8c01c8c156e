/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Root gives itself up for the user of a process, which may change while its files are opened. */
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../refuse.h"
#include "../../test.h"
#include "beamtop/base/attr.h"
#include "beamtop/local/memory.h"
#include "beamtop/local/rights.h"

enum { SOMEBODY = 4711, ANOTHER = 4712 };

/* A process that runs as these, and as the next ones after a byte. */
struct other {
    pid_t pid;
    int to[2], from[2];
};

struct ids {
    int real, effective, saved;
};

static void become(const struct ids *ids, int fd)
{
    const char ok = setresuid((uid_t)ids->real, (uid_t)ids->effective, (uid_t)ids->saved) == 0;
    if (write(fd, &ok, 1) != 1 || !ok)
        _exit(1);
}

static void wait_for(const struct other *o)
{
    char ok = 0;
    assert_int_equal(read(o->from[0], &ok, 1), 1);
    assert_true(ok);
}

static void start(struct other *o, const struct ids *first, const struct ids *then)
{
    assert_int_equal(pipe(o->to), 0);
    assert_int_equal(pipe(o->from), 0);
    o->pid = fork();
    assert_true(o->pid >= 0);
    if (o->pid == 0) {
        char c;
        become(first, o->from[1]);
        if (read(o->to[0], &c, 1) == 1)
            become(then, o->from[1]);
        for (;;)
            pause();
    }
    wait_for(o);
}

static void change(const struct other *o)
{
    assert_int_equal(write(o->to[1], "x", 1), 1);
    wait_for(o);
}

static void end(struct other *o)
{
    kill(o->pid, SIGKILL);
    waitpid(o->pid, NULL, 0);
    for (size_t i = 0; i < 2; i++) {
        close(o->to[i]);
        close(o->from[i]);
    }
}

static uint64_t status_of_self(const char *key, int base)
{
    char line[256];
    uint64_t value = UINT64_MAX;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtoull(line + strlen(key), NULL, base);
    if (f)
        fclose(f);
    return value;
}

static bool is_only(uid_t uid)
{
    uid_t real, effective, saved;
    return getresuid(&real, &effective, &saved) == 0 && real == uid && effective == uid &&
           saved == uid;
}

static const char marked[] = "memory of both";

static const uint64_t right_to_read = UINT64_C(1) << CAP_SYS_PTRACE;

/* In a child, since rights are given up for good: what is wrong, as a bit each. Kept: what may be
 * kept of the rights. */
static int become_user_of(const struct other *o, const struct rights_user *user, uint64_t kept)
{
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        struct error err = {0};
        pid_t pid = o->pid;
        char there[sizeof marked] = "";
        const struct memory m = memory_of_process(&pid);
        if (rights_become(user, pid, &err) != 0)
            _exit(64 | (strstr(err.text, "changed its user") != NULL));
        const uint64_t has = status_of_self("CapEff:", 16) | status_of_self("CapPrm:", 16);
        _exit((is_only(user->uid) ? 0 : 1) | (has & ~kept ? 2 : 0) |
              (status_of_self("NoNewPrivs:", 10) == 1 ? 0 : 4) |
              (user->uid != 0 || memory_read(&m, (uint64_t)(uintptr_t)marked, there, sizeof there)
                   ? 0
                   : 8));
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST(test_one_user)
{
    const struct ids users[] = {{SOMEBODY, SOMEBODY, SOMEBODY}, {0, 0, 0}};
    for (size_t i = 0; i < ARRAY_LEN(users); i++) {
        struct other o;
        struct rights_user user;
        struct error err = {0};
        start(&o, users + i, users + i);
        assert_int_equal(rights_read(&user, o.pid, &err), 0);
        assert_int_equal(user.uid, users[i].real);
        assert_int_equal(become_user_of(&o, &user, right_to_read), 0);
        end(&o);
    }
}

/* What Docker gives to root of a container, without the right to read any process. */
static const uint32_t dockers = 0xa80425fb;

static void have_only(uint32_t rights)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{.effective = rights, .permitted = rights}};
    if (syscall(SYS_capset, &header, data) != 0)
        _exit(127);
}

/* In a child, with a child of the same rights to look into. */
static int read_in_container(void)
{
    static const struct ids root = {0, 0, 0};
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        struct other o;
        struct rights_user user;
        struct error err = {0};
        have_only(dockers);
        start(&o, &root, &root);
        const int wrong = rights_read(&user, o.pid, &err) == 0 && user.rights == dockers
                              ? become_user_of(&o, &user, dockers)
                              : 126;
        end(&o);
        _exit(wrong);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST(test_root_of_a_container)
{
    if (geteuid() != 0 || (status_of_self("CapPrm:", 16) & dockers) != dockers) {
        print_message("SKIP: it needs root's rights\n");
        skip();
    }
    assert_int_equal(read_in_container(), 0);
}

/* A set-user-ID program that a VM executes has the user of the VM as its real one. */
TEST(test_several_users)
{
    static const struct ids users[] = {
        {SOMEBODY, 0, 0}, {SOMEBODY, SOMEBODY, 0}, {0, SOMEBODY, 0}, {0, SOMEBODY, SOMEBODY}};
    for (size_t i = 0; i < ARRAY_LEN(users); i++) {
        struct other o;
        struct rights_user user;
        struct error err = {0};
        start(&o, users + i, users + i);
        assert_int_equal(rights_read(&user, o.pid, &err), ERR_SYSTEM);
        assert_non_null(strstr(err.text, "several users"));
        end(&o);
    }
}

TEST(test_changed_user)
{
    static const struct ids root = {0, 0, 0};
    static const struct ids users[] = {{SOMEBODY, 0, 0}, {ANOTHER, ANOTHER, ANOTHER}};
    for (size_t i = 0; i < ARRAY_LEN(users); i++) {
        struct other o;
        struct rights_user user;
        struct error err = {0};
        start(&o, &root, users + i);
        assert_int_equal(rights_read(&user, o.pid, &err), 0);
        change(&o);
        assert_true(become_user_of(&o, &user, right_to_read) & 64);
        if (users[i].effective != 0)
            assert_int_equal(become_user_of(&o, &user, right_to_read), 65);
        end(&o);
    }
}

TEST(test_ended)
{
    static const struct ids root = {0, 0, 0};
    struct other o;
    struct rights_user user;
    struct error err = {0};
    start(&o, &root, &root);
    assert_int_equal(rights_read(&user, o.pid, &err), 0);
    end(&o);
    assert_int_equal(rights_read(&user, o.pid, &err), ERR_NOT_FOUND);
    error_clear(&err);
    assert_int_equal(become_user_of(&o, &user, right_to_read), 64);
}

/* False: the system does not let it. */
static bool drop_right_to_read(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    if (syscall(SYS_capget, &header, data) != 0)
        return false;
    data[0].permitted &= ~(uint32_t)right_to_read;
    data[0].effective &= ~(uint32_t)right_to_read;
    return syscall(SYS_capset, &header, data) == 0;
}

/* In a child, which a filter keeps from reading even itself. */
static int refused_by_filter(void)
{
    pid_t self = getpid();
    char there[sizeof marked];
    const struct memory m = memory_of_process(&self);
    if (!refuse_call(SYS_process_vm_readv))
        return REFUSE_NONE;
    return !memory_read(&m, (uint64_t)(uintptr_t)marked, there, sizeof there) && errno == EPERM &&
                   strstr(rights_refusal(), "seccomp") &&
                   (!drop_right_to_read() || strstr(rights_refusal(), "--cap-add SYS_PTRACE"))
               ? 0
               : 1;
}

TEST(test_filter_is_named)
{
    const int result = refuse_in_child(refused_by_filter);
    if (result == REFUSE_NONE)
        skip();
    assert_int_equal(result, 0);
}
