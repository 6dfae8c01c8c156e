/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe.h"

#include <ei.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "beamtop/base/clock.h"

#define TRIES 8

static void settle(struct probe *p)
{
    p->elapsed_ms = (unsigned)((clock_mono_ns() - p->started_ns) / 1000000);
    uv_stop(&p->loop);
}

static void on_up(struct conn *c, void *arg)
{
    struct probe *p = arg;
    (void)c;
    p->up = true;
    settle(p);
}

static void on_down(struct conn *c, void *arg, enum conn_failure why, const struct error *err)
{
    struct probe *p = arg;
    (void)c;
    assert_false(p->down);
    p->down = true;
    p->why = why;
    p->err = *err;
    settle(p);
}

/* By libei: a reader that is not ours. */
static void print(struct probe *p, const uint8_t *term, size_t len)
{
    int index = 0;
    int version = 0;
    char *text = NULL;
    (void)len;
    ei_decode_version((const char *)term, &index, &version);
    ei_s_print_term(&text, (const char *)term, &index);
    snprintf(p->text, sizeof p->text, "%s", text);
    free(text);
}

static void on_message(struct conn *c, void *arg, const struct conn_message *m)
{
    struct probe *p = arg;
    (void)c;
    assert_false(p->down);
    p->messages++;
    print(p, m->term, m->len);
    uv_stop(&p->loop);
}

static void on_link_exit(struct conn *c, void *arg, const struct etf_pid *from, struct slice reason)
{
    struct probe *p = arg;
    (void)c;
    (void)from;
    p->exits++;
    print(p, (const uint8_t *)reason.s, reason.len);
    uv_stop(&p->loop);
}

static void on_skipped(struct conn *c, void *arg, uint64_t bytes)
{
    struct probe *p = arg;
    (void)c;
    (void)bytes;
    p->skipped++;
    uv_stop(&p->loop);
}

static void on_closed(void *arg)
{
    struct probe *p = arg;
    p->closed = true;
}

static void on_expired(uv_timer_t *t)
{
    struct probe *p = t->data;
    p->expired = true;
    uv_stop(&p->loop);
}

const struct conn_handlers probe_handlers = {.on_up = on_up,
                                             .on_message = on_message,
                                             .on_link_exit = on_link_exit,
                                             .on_skipped = on_skipped,
                                             .on_down = on_down};

/* Runs the loop until something happens, for at most ms. */
bool probe_run(struct probe *p, unsigned ms)
{
    uv_timer_t t;
    uv_timer_init(&p->loop, &t);
    t.data = p;
    p->expired = false;
    uv_timer_start(&t, on_expired, ms, 0);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&t, NULL);
    uv_run(&p->loop, UV_RUN_NOWAIT);
    return !p->expired;
}

void probe_open(struct probe *p, const struct conn_options *o)
{
    struct error err = {0};
    *p = (struct probe){0};
    uv_loop_init(&p->loop);
    p->started_ns = clock_mono_ns();
    assert_int_equal(conn_open(&p->conn, &p->loop, o, &probe_handlers, p, &err), 0);
    probe_run(p, o->timeout_ms < WAIT_MS ? o->timeout_ms + WAIT_MS : WAIT_MS);
}

void probe_close(struct probe *p)
{
    uv_timer_t t;
    conn_close(p->conn, on_closed, p);
    uv_timer_init(&p->loop, &t);
    t.data = p;
    uv_timer_start(&t, on_expired, WAIT_MS, 0);
    uv_unref((uv_handle_t *)&t); /* the loop ends with the last handle of the connection */
    uv_run(&p->loop, UV_RUN_DEFAULT);
    assert_true(p->closed);
    uv_close((uv_handle_t *)&t, NULL);
    uv_run(&p->loop, UV_RUN_NOWAIT);
    assert_int_equal(uv_loop_close(&p->loop), 0);
}

struct conn_options probe_options(const char *target, uint16_t epmd_port)
{
    return (struct conn_options){
        .target = target, .epmd_port = epmd_port, .cookie = "secret", .timeout_ms = PATIENT_MS};
}

void expect_up(struct probe *p)
{
    if (!p->up) {
        fail_msg("not up: %s", p->down ? p->err.text : "no answer");
    }
}

void expect_down(const struct probe *p, enum conn_failure why, const char *part)
{
    if (!p->down || p->why != why) {
        fail_msg("expected %d, got %d: %s", why, p->down ? (int)p->why : -1, p->err.text);
    }
    if (!strstr(p->err.text, part)) {
        fail_msg("'%s' is not in: %s", part, p->err.text);
    }
    print_message("# %2d %5u ms  %s\n", why, p->elapsed_ms, p->err.text);
}

void expect_failure(const struct conn_options *o, enum conn_failure why, const char *part)
{
    struct probe p;
    probe_open(&p, o);
    expect_down(&p, why, part);
    probe_close(&p);
}

void expect_no_answer(const struct conn_options *o, enum conn_failure why, const char *part)
{
    unsigned least_ms = UINT_MAX;
    const char *check = getenv("BEAMTOP_CHECK");
    bool judged = check && strcmp(check, "all") == 0;
    for (int i = 0; i < (judged ? TRIES : 1) && least_ms >= o->timeout_ms + 500; i++) {
        struct probe p;
        probe_open(&p, o);
        expect_down(&p, why, part);
        least_ms = p.elapsed_ms < least_ms ? p.elapsed_ms : least_ms;
        probe_close(&p);
    }
    assert_true(!judged || least_ms < o->timeout_ms + 500);
}
