/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node_run.h"

#include <signal.h>
#include <stdio.h>

#include "beamtop/base/attr.h"
#include "app/cli/tell.h"

void node_run_finish(struct node_run *r, int exit_code, const struct error *err)
{
    if (r->over)
        return;
    r->over = true;
    r->exit_code = exit_code;
    if (err != NULL && r->err.code == ERR_NONE)
        r->err = *err;
    uv_stop(&r->loop);
}

/* ---- what the source tells */

/* It begins as soon as the node has told its release; no tick is needed after that. */
static void on_live_change(void *arg, unsigned questions)
{
    struct node_run *r = arg;
    (void)questions;
    if (r->opened || r->over || !live_is_up(r->live) || model_node(r->model) == NULL)
        return;
    struct error err = {.code = ERR_NONE};
    struct session_port port;
    r->opened = true;
    live_pause(r->live, true);
    int rc = live_port(r->live, &port, &err);
    if (rc == 0)
        rc = r->open(r->arg, &port, &r->session, &err);
    if (rc != 0)
        node_run_finish(r, exit_code_of_error(err.code), &err);
}

static void on_tick(void *arg)
{
    (void)arg;
}

static void on_trouble(void *arg, enum question question, const struct error *err)
{
    struct node_run *r = arg;
    (void)question;
    if (!r->opened)
        node_run_finish(r, exit_code_of_error(err->code), err);
}

static void on_notice(void *arg, const char *text)
{
    (void)arg;
    tell_line("%s", text);
}

static void on_live_end(void *arg, enum conn_failure why, const struct error *err)
{
    struct node_run *r = arg;
    (void)why;
    if (r->session != NULL && !r->over) {
        r->err = *err;
        session_link_lost(r->session, err);
    }
    node_run_finish(r, r->opened ? EXIT_LOST : EXIT_CONNECT, err);
}

/* ---- the loop */

static void on_timer(uv_timer_t *timer)
{
    struct node_run *r = timer->data;
    if (r->session != NULL && !r->over)
        session_tick(r->session);
}

/* Ctrl-C ends the session, which takes a moment; once more ends us, and the target cleans up. */
static void on_interrupt(uv_signal_t *handle, int number)
{
    struct node_run *r = handle->data;
    if (!r->opened || r->signal != 0)
        node_run_finish(r, 128 + number, NULL);
    r->signal = number;
    if (r->session != NULL && !r->over)
        session_stop(r->session);
}

static int start(struct node_run *r, struct error *err)
{
    static const struct live_handlers handlers = {.on_change = on_live_change,
                                                  .on_tick = on_tick,
                                                  .on_trouble = on_trouble,
                                                  .on_notice = on_notice,
                                                  .on_end = on_live_end};
    const struct cli_options *o = r->options;
    const struct want want = {.needs = 0};
    int rc = target_init(&r->target, o->target, o, r->env, NULL, err);
    if (rc != 0)
        return rc;
    const struct live_options options = {
        .conn = r->target.conn, .interval_s = o->interval_s, .budget = o->budget};
    rc = live_open(&r->live, &r->loop, &options, r->model, &handlers, r, err);
    if (rc == 0)
        live_set_want(r->live, &want);
    return rc;
}

static void start_handles(struct node_run *r)
{
    static const int signals[] = {SIGINT, SIGTERM};
    uv_loop_init(&r->loop);
    uv_timer_init(&r->loop, &r->timer);
    r->timer.data = r;
    uv_timer_start(&r->timer, on_timer, r->tick_ms, r->tick_ms);
    for (size_t i = 0; i < ARRAY_LEN(r->interrupt); i++) {
        uv_signal_init(&r->loop, &r->interrupt[i]);
        r->interrupt[i].data = r;
        uv_signal_start(&r->interrupt[i], on_interrupt, signals[i]);
    }
}

/* The session goes before the live source that it asks. */
static void stop(struct node_run *r)
{
    session_free(r->session);
    uv_close((uv_handle_t *)&r->timer, NULL);
    for (size_t i = 0; i < ARRAY_LEN(r->interrupt); i++)
        uv_close((uv_handle_t *)&r->interrupt[i], NULL);
    live_close(r->live, NULL, NULL);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    uv_loop_close(&r->loop);
    target_clear(&r->target);
    model_free(r->model);
}

int node_run(struct node_run *r)
{
    r->model = model_new();
    start_handles(r);
    if (start(r, &r->err) != 0)
        r->exit_code = exit_code_of_error(r->err.code);
    else
        uv_run(&r->loop, UV_RUN_DEFAULT);
    stop(r);
    if (r->err.code != ERR_NONE)
        fprintf(stderr, "beamtop: %s\n", r->err.text);
    return r->exit_code;
}
