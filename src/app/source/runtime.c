/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runtime.h"

#include <assert.h>

#include "beamtop/base/attr.h"

void runtime_init(struct runtime *r)
{
    uv_loop_init(&r->loop);
    r->started_ms = uv_now(&r->loop);
}

void runtime_timer(struct runtime *r, uv_timer_t *timer, void *data)
{
    assert(r->n_timers < ARRAY_LEN(r->timers));
    r->timers[r->n_timers++] = timer;
    uv_timer_init(&r->loop, timer);
    timer->data = data;
}

void runtime_catch(struct runtime *r, const int *numbers, size_t n, uv_signal_cb caught, void *data)
{
    assert(n <= ARRAY_LEN(r->signals));
    r->n_signals = n;
    for (size_t i = 0; i < n; i++) {
        uv_signal_init(&r->loop, &r->signals[i]);
        r->signals[i].data = data;
        uv_signal_start(&r->signals[i], caught, numbers[i]);
        uv_unref((uv_handle_t *)&r->signals[i]);
    }
}

bool runtime_ends(struct runtime *r, int exit_code, const struct error *err)
{
    bool first = !r->ended;
    if (first)
        r->exit_code = exit_code;
    if (first && err && r->err.code == ERR_NONE)
        r->err = *err;
    r->ended = true;
    return first;
}

void runtime_end(struct runtime *r, int exit_code, const struct error *err)
{
    if (runtime_ends(r, exit_code, err))
        uv_stop(&r->loop);
}

static void close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void runtime_close(struct runtime *r)
{
    for (size_t i = 0; i < r->n_timers; i++)
        uv_close((uv_handle_t *)r->timers[i], NULL);
    for (size_t i = 0; i < r->n_signals; i++)
        uv_close((uv_handle_t *)&r->signals[i], NULL);
    /* The connection's goodbye is bounded by conn_close; nothing else holds the loop. */
    uv_run(&r->loop, UV_RUN_DEFAULT);
    uv_walk(&r->loop, close_handle, NULL);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    uv_loop_close(&r->loop);
}
