/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample_run.h"

#include <signal.h>
#include <stdio.h>

#include "app/cli/output.h"
#include "app/cli/tell.h"
#include "app/command/batch.h"
#include "app/fleet/fleet.h"
#include "beamtop/base/attr.h"
#include "beamtop/model/detail.h"
#include "app/search/local_target.h"

#define PROGRESS_MS 500u
#define TURN_MS 100u

static void clear_run_progress(struct sample_run *t)
{
    if (t->told)
        fputs("\r\033[K", stderr);
    t->told = false;
}

static void on_note(void *arg, const char *text)
{
    clear_run_progress(arg);
    tell_line("%s", text);
}

static void on_sample(void *arg, const struct sample *sample)
{
    struct sample_run *t = arg;
    if (!t->on_sample || t->enough || t->on_sample(t, sample))
        return;
    t->enough = true;
    sample_log_stop(t->log);
}

static void on_log_ended(void *arg, const struct error *err)
{
    struct sample_run *t = arg;
    clear_run_progress(t);
    t->ended = !err;
    runtime_end(&t->rt, err ? exit_code_of_error(err->code) : EXIT_DONE, err);
}

static void show_progress(struct sample_run *t)
{
    tell_progress("sampling: %.0f of %.0f s, %lld samples (Ctrl-C stops it)",
                  sample_log_seconds(t->log), t->sampler.for_s,
                  (long long)sampled_count(t->sampled));
    t->told = true;
}

static void on_progress_due(uv_timer_t *timer)
{
    show_progress(timer->data);
}

static void on_run_signal(uv_signal_t *signal, int number)
{
    struct sample_run *t = signal->data;
    (void)number;
    sample_log_stop(t->log);
}

static void on_named(void *arg)
{
    struct sample_run *t = arg;
    runtime_end(&t->batch->rt, EXIT_DONE, NULL);
}

static void collect_samples(struct sample_run *t)
{
    static const struct sample_log_handlers handlers = {
        .note = on_note, .sample = on_sample, .ended = on_log_ended, .named = on_named};
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sample_log_options options = {
        .sampler = t->sampler, .sums = t->sums, .label = t->options->target};
    struct error err = {0};
    runtime_init(&t->rt);
    runtime_timer(&t->rt, &t->progress, t);
    if (sample_log_start(&t->log, &t->rt.loop, &options, &handlers, t, &err) != 0) {
        runtime_ends(&t->rt, exit_code_of_error(err.code), &err);
    } else {
        t->sampled = sample_log_sampled(t->log);
        runtime_catch(&t->rt, signals, ARRAY_LEN(signals), on_run_signal, t);
        if (t->env->err_tty)
            uv_timer_start(&t->progress, on_progress_due, PROGRESS_MS, PROGRESS_MS);
        uv_run(&t->rt.loop, UV_RUN_DEFAULT);
    }
}

/* ---- by the node */

static void on_remote_ended(void *arg, const struct error *err)
{
    struct sample_run *t = arg;
    if (t->batch->rt.ended)
        return;
    t->ended = !err;
    if (err)
        runtime_end(&t->batch->rt, exit_code_of_error(err->code), err);
    else if (t->is_lost || !sample_log_ask_names(t->log, &t->port))
        runtime_end(&t->batch->rt, EXIT_DONE, NULL);
}

static int open_yields(void *arg, struct batch *b, const struct session_port *port,
                       struct error *err)
{
    static const struct sample_log_handlers handlers = {
        .note = on_note, .ended = on_remote_ended, .named = on_named};
    struct sample_run *t = arg;
    const struct cli_options *o = t->options;
    const struct yields_options yields = {.for_s = t->sampler.for_s, .budget = o->budget};
    const struct slice release = model_node(b->model)->otp;
    char otp[32];
    const struct sample_log_options options = {
        .sampler = t->sampler, .sums = t->sums, .label = port->node, .otp = otp};
    snprintf(otp, sizeof otp, "%.*s", (int)release.len, release.s);
    (void)err;
    t->batch = b;
    t->port = *port;
    t->log = sample_log_start_yields(port, &yields, &options, "", &handlers, t);
    t->sampled = sample_log_sampled(t->log);
    return 0;
}

static void turn_log(void *arg)
{
    struct sample_run *t = arg;
    if (t->env->err_tty && ++t->turns % (PROGRESS_MS / TURN_MS) == 0)
        show_progress(t);
    sample_log_turn(t->log);
}

static void interrupt_log(void *arg)
{
    struct sample_run *t = arg;
    sample_log_stop(t->log);
}

static void lose_log(void *arg, const struct error *why)
{
    struct sample_run *t = arg;
    t->is_lost = t->is_lost || !t->batch->rt.ended;
    sample_log_lost(t->log, why);
}

static int collect_yields(struct sample_run *t)
{
    const struct batch_job job = {.options = t->options,
                                  .env = t->env,
                                  .open = open_yields,
                                  .turn_ms = TURN_MS,
                                  .turn = turn_log,
                                  .interrupt = interrupt_log,
                                  .lost = lose_log,
                                  .arg = t};
    return batch_run(&job);
}

/* ---- both */

static int open_names(void *arg, struct batch *b, const struct session_port *port,
                      struct error *err)
{
    struct sample_run *t = arg;
    (void)err;
    t->batch = b;
    if (!sample_log_ask_names(t->log, port))
        runtime_end(&b->rt, EXIT_DONE, NULL);
    return 0;
}

/* Without an answer there are pids only, and a message. */
static void ask_names(struct sample_run *t)
{
    const struct batch_job job = {.options = t->options,
                                  .env = t->env,
                                  .open = open_names,
                                  .turn_ms = TURN_MS,
                                  .lost = lose_log,
                                  .arg = t};
    (void)batch_run(&job);
}

static int print_run(struct sample_run *t, int (*print)(struct sample_run *t), int code)
{
    clear_run_progress(t);
    if (t->ended) {
        t->begin = *sample_log_begin(t->log);
        t->summary = sample_log_now(t->log)->run;
        code = print(t);
        if (t->is_lost && code == EXIT_DONE)
            code = EXIT_LOST;
    }
    sample_log_free(t->log);
    return code;
}

int sample_run(struct sample_run *t, int (*print)(struct sample_run *t))
{
    struct error err = {0};
    int code = EXIT_DONE;
    if (t->options->remote && fleet_is_meant(t->options->target)) {
        code = sample_fleet_run(t, print);
    } else if (t->options->remote) {
        code = print_run(t, print, collect_yields(t));
    } else if (local_target_find(&t->sampler.pid, t->options->target, t->options, t->env, &err) ==
               0) {
        collect_samples(t);
        if (t->ended && t->options->names)
            ask_names(t);
        code = print_run(t, print, t->rt.exit_code);
        err = t->rt.err;
        runtime_close(&t->rt);
    }
    if (err.code != ERR_NONE) {
        code = tell_error(&err);
        if (t->may_be_remote && err.code != ERR_USAGE && err.code != ERR_NOT_FOUND)
            tell_line("with --remote the node itself looks at its processes, at yield points");
    }
    return output_check(code);
}
