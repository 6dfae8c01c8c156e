/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates whose files hang: the loop goes on, and the threads are counted. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../test.h"
#include "beamtop/base/limits.h"
#include "link/internal.h"

/* Loading waits for a byte of the pipe, as for a file system. */
static int gate[2];
static atomic_uint released;

static int load_gated(struct tls_source *s, struct tls_context **out, struct error *err)
{
    char byte;
    (void)s;
    *out = NULL;
    if (read(gate[0], &byte, 1) != 1)
        return error_set(err, ERR_SYSTEM, "no byte");
    return error_set(err, ERR_USAGE, "loaded");
}

static void release_gated(struct tls_source *s)
{
    atomic_fetch_add(&released, 1);
    free(s);
}

static struct tls_source *new_gated(void)
{
    static const struct tls_source_class class = {.load = load_gated, .release = release_gated};
    struct tls_source *s = malloc(sizeof *s);
    tls_source_init(s, &class);
    return s;
}

struct seen {
    unsigned calls;
    struct error last;
};

static void on_done(void *arg, struct tls_context *context, const struct error *err)
{
    struct seen *seen = arg;
    assert_null(context);
    seen->calls++;
    seen->last = *err;
}

static void let_go(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(write(gate[1], "x", 1), 1);
}

/* Until that many sources are given back, by their threads. */
static void wait_released(unsigned n)
{
    for (int i = 0; atomic_load(&released) < n && i < 10000; i++)
        usleep(1000);
    assert_int_equal(atomic_load(&released), n);
    atomic_store(&released, 0);
}

TEST(test_what_hangs)
{
    uv_loop_t loop;
    struct seen seen = {0};
    struct error err = {0};
    struct tls_load *l = NULL;
    assert_int_equal(pipe(gate), 0);
    uv_loop_init(&loop);

    struct tls_source *s = new_gated();
    assert_int_equal(tls_load_start(&l, &loop, s, 60000, on_done, &seen, &err), 0);
    let_go(1);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_string_equal(seen.last.text, "loaded");

    for (unsigned i = 0; i < LIMIT_TLS_LOADS; i++)
        assert_int_equal(tls_load_start(&l, &loop, s, 1, on_done, &seen, &err), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(seen.calls, 1 + LIMIT_TLS_LOADS);
    assert_int_equal(seen.last.code, ERR_TIMEOUT);
    assert_int_equal(tls_load_start(&l, &loop, s, 1, on_done, &seen, &err), ERR_LIMIT);
    assert_null(l);

    tls_source_drop(s);
    let_go(LIMIT_TLS_LOADS);
    uv_run(&loop, UV_RUN_DEFAULT); /* of the one that was refused */
    wait_released(1);

    s = new_gated(); /* there is room again, and a cancelled one calls nobody */
    error_clear(&err);
    assert_int_equal(tls_load_start(&l, &loop, s, 60000, on_done, &seen, &err), 0);
    tls_load_cancel(l);
    tls_source_drop(s);
    let_go(1);
    uv_run(&loop, UV_RUN_DEFAULT);
    wait_released(1);
    assert_int_equal(seen.calls, 1 + LIMIT_TLS_LOADS);
    assert_int_equal(uv_loop_close(&loop), 0);
}
