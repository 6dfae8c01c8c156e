/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that read a VM for us: one that was stopped is not waited for. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../test.h"
#include "app/job/child.h"
#include "app/sample/local_read.h"
#include "app/sample/where.h"

enum { SHORT_MS = 100, LONG_MS = 60 * 1000 };

static void write_and_end(int fd, const void *arg)
{
    const char *text = arg;
    _exit(write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : 1);
}

static void write_and_stop(int fd, const void *arg)
{
    (void)!write(fd, arg, strlen(arg));
    raise(SIGSTOP);
    _exit(0);
}

static void fail_at_once(int fd, const void *arg)
{
    (void)fd;
    (void)arg;
    _exit(1);
}

TEST(test_child)
{
    static const struct {
        local_run_fn *run;
        unsigned within_ms;
        enum err rc;
    } rows[] = {
        {write_and_end, LONG_MS, ERR_NONE},
        {write_and_stop, SHORT_MS, ERR_TIMEOUT},
        {fail_at_once, LONG_MS, ERR_SYSTEM},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out;
        struct error err = {0};
        buf_init(&out, 0);
        assert_int_equal(local_read_child(&out, rows[i].run, "words", rows[i].within_ms, &err),
                         rows[i].rc);
        assert_true(rows[i].rc != ERR_NONE || strcmp(buf_cstr(&out), "words") == 0);
        buf_clear(&out);
    }
}

/* ---- as the screen has it: this program in place of beamtop */

__attribute__((constructor)) static void be_where(void)
{
    char words[64] = "";
    const int fd = open("/proc/self/cmdline", O_RDONLY);
    const ssize_t n = fd < 0 ? 0 : read(fd, words, sizeof words - 1);
    close(fd);
    if (n <= 0 || strcmp(words, "beamtop") != 0)
        return;
    if (memmem(words, (size_t)n, "shop:stop", 9))
        raise(SIGSTOP);
    if (memmem(words, (size_t)n, "secret", 6)) {
        (void)!fputs(getenv("BEAMTOP_SECRET"), stderr);
        _exit(getchar() == EOF ? 3 : 4);
    }
    puts("shop:get/1  shop.erl:7");
    fflush(stdout);
    _exit(0);
}

struct answer {
    int calls;
    bool found;
    char line[256];
};

static void on_where(void *arg, bool found, const char *line, size_t lines)
{
    struct answer *a = arg;
    a->calls++;
    a->found = found;
    assert_int_equal(lines, 1);
    snprintf(a->line, sizeof a->line, "%s", line);
}

static void where(struct answer *a, const char *function, unsigned seconds)
{
    uv_loop_t loop;
    struct where_run *run = NULL;
    struct error err = {0};
    *a = (struct answer){0};
    uv_loop_init(&loop);
    assert_int_equal(where_start(&run, &loop, getpid(), function, seconds, on_where, a, &err), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(a->calls, 1);
}

TEST(test_where)
{
    struct answer a;
    where(&a, "shop:get", WHERE_SECONDS);
    assert_true(a.found);
    assert_string_equal(a.line, "shop:get/1  shop.erl:7");
    where(&a, "shop:stop", 1);
    assert_false(a.found);
    assert_non_null(strstr(a.line, "had not answered in time"));
}

struct heard {
    struct child *child;
    char text[32];
    size_t len;
    int64_t status;
    int calls;
};

static void hear(void *arg, const char *bytes, size_t n)
{
    struct heard *h = arg;
    assert_true(h->len + n < sizeof h->text);
    memcpy(h->text + h->len, bytes, n);
    h->len += n;
    child_end_input(h->child);
}

static void end(void *arg, int64_t status, int signal)
{
    struct heard *h = arg;
    assert_int_equal(signal, 0);
    h->status = status;
    h->calls++;
}

/* Errors only, a variable that its arguments do not show, and an end that it is asked for; or all
 * goes on without whoever began it. */
TEST(test_child_with_input)
{
    static const struct child_handlers handlers = {.read = hear, .ended = end};
    const struct child_start start = {.purpose = "for a test",
                                      .words = (const char *const[]){"secret", NULL},
                                      .variable = "BEAMTOP_SECRET=of the test",
                                      .flags = CHILD_INPUT | CHILD_ERRORS};
    for (int left = 0; left < 2; left++) {
        struct heard h = {0};
        struct error err = {0};
        uv_loop_t loop;
        uv_loop_init(&loop);
        assert_int_equal(child_start(&h.child, &loop, &start, &handlers, &h, &err), 0);
        if (left)
            child_leave(h.child);
        uv_run(&loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&loop), 0);
        assert_int_equal(h.calls, left ? 0 : 1);
        assert_string_equal(h.text, left ? "" : "of the test");
        assert_int_equal(h.status, left ? 0 : 3);
    }
}
