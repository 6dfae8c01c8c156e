/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/limits.h"
#include "link/control.h"
#include "link/frame.h"
#include "beamtop/etf/build.h"

#define MAX_BYTES 4096u

static const struct etf_pid pid = {.id = 7, .serial = 1, .creation = 99};
static const struct control_end end = {.node = "a@b", .pid = &pid};

/* {2,'',Pid} with a binary of n bytes. */
static void put_message(struct buf *out, size_t n)
{
    size_t len = 0;
    uint8_t *bytes = calloc(1, n + 1);
    struct builder *b = builder_new();
    build_binary(b, bytes, n);
    const uint8_t *payload = builder_bytes(b, &len);
    control_put_send(out, end, payload, len);
    builder_free(b);
    free(bytes);
}

/* One letter an event: t tick, m message with payload, c control only, s skipped, B broken. */
static void read_all(const struct buf *in, size_t step, char *events, size_t size)
{
    struct frame_reader r;
    struct frame f;
    size_t n = 0;
    frame_reader_init(&r, MAX_BYTES);
    for (size_t at = 0; at < in->len; at += step) {
        size_t len = in->len - at < step ? in->len - at : step;
        uint8_t *copy = malloc(len); /* its end is the end of what may be read */
        memcpy(copy, in->data + at, len);
        frame_feed(&r, copy, len);
        free(copy);
        assert_true(r.in.len <= MAX_BYTES + 4 + step);
        for (bool more = true; more && n + 1 < size;) {
            switch (frame_next(&r, &f)) {
            case FRAME_MORE:
                more = false;
                break;
            case FRAME_TICK:
                events[n++] = 't';
                break;
            case FRAME_MESSAGE:
                assert_int_equal((uint8_t)f.control.s[0], ETF_VERSION);
                events[n++] = f.payload.len > 0 ? 'm' : 'c';
                break;
            case FRAME_SKIPPED:
                events[n++] = 's';
                break;
            case FRAME_BROKEN:
                assert_int_not_equal(r.err.code, ERR_NONE);
                if (n == 0 || events[n - 1] != 'B') {
                    events[n++] = 'B';
                }
                more = false;
                break;
            }
        }
    }
    events[n] = '\0';
    frame_reader_clear(&r);
}

static void expect_events(const struct buf *in, const char *expected)
{
    static const size_t steps[] = {1, 2, 3, 5, 7, 64, 1000, 100000};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        char events[256];
        read_all(in, steps[i], events, sizeof events);
        if (strcmp(events, expected) != 0) {
            fail_msg("in steps of %zu: %s in place of %s", steps[i], events, expected);
        }
    }
}

TEST(test_stream)
{
    struct buf in;
    buf_init(&in, 0);
    control_put_tick(&in);
    put_message(&in, 0);
    put_message(&in, 1000);
    control_put_exit(&in, end, end, "noproc");
    control_put_tick(&in);
    control_put_tick(&in);
    put_message(&in, 3);
    expect_events(&in, "tmmcttm");
    buf_clear(&in);
}

TEST(test_oversized)
{
    struct buf in;
    buf_init(&in, 0);
    put_message(&in, 10);
    put_message(&in, 20000);
    control_put_tick(&in);
    put_message(&in, MAX_BYTES); /* by a few bytes too long */
    put_message(&in, 5);
    expect_events(&in, "mstsm");
    buf_clear(&in);
}

TEST(test_largest)
{
    struct buf in;
    struct buf empty;
    buf_init(&in, 0);
    buf_init(&empty, 0);
    put_message(&empty, 0);
    put_message(&in, MAX_BYTES + 4 - empty.len);
    assert_int_equal(in.len, MAX_BYTES + 4);
    expect_events(&in, "m");
    buf_clear(&in);
    put_message(&in, MAX_BYTES + 5 - empty.len);
    expect_events(&in, "s");
    buf_clear(&in);
    buf_clear(&empty);
}

TEST(test_garbage)
{
    static const struct {
        const char *name;
        size_t len;
        const char *bytes;
    } cases[] = {
        {"http", 19, "HTTP/1.1 200 OK\r\n\r\n"},
        {"no pass-through", 9, "\0\0\0\5hello"},
        {"only pass-through", 5, "\0\0\0\1p"},
        {"distribution header", 8, "\0\0\0\4\203D\0\0"},
        {"truncated control", 9, "\0\0\0\5p\203h\3a"},
        {"control without version", 8, "\0\0\0\4ph\1a"},
        {"truncated payload", 12, "\0\0\0\10p\203h\0\203m\0\0"},
        {"bytes behind", 11, "\0\0\0\7p\203h\0\203jj"},
        {"beyond every cap", 5, "\377\377\377\377p"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf in;
        buf_init(&in, 0);
        control_put_tick(&in);
        buf_put(&in, cases[i].bytes, cases[i].len);
        control_put_tick(&in);
        print_message("# %s\n", cases[i].name);
        expect_events(&in, "tB");
        buf_clear(&in);
    }
}

/* Cut anywhere, a stream gives a prefix of its events and no error. */
TEST(test_truncated)
{
    struct buf in;
    char events[64];
    buf_init(&in, 0);
    put_message(&in, 30);
    control_put_tick(&in);
    put_message(&in, 9000);
    control_put_exit(&in, end, end, "noproc");
    size_t whole = in.len;
    for (size_t len = 0; len < whole; len++) {
        in.len = len;
        read_all(&in, 50, events, sizeof events);
        assert_int_equal(strncmp("mtsc", events, strlen(events)), 0);
    }
    in.len = whole;
    buf_clear(&in);
}
