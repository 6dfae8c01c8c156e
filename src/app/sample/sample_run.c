/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample_run.h"

#include <signal.h>
#include <stdio.h>

#include "app/cli/output.h"
#include "app/cli/tell.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "local_target.h"

#define PROGRESS_MS 500u

static void clear_progress(struct sample_run *t)
{
    if (t->told)
        fputs("\r\033[K", stderr);
    t->told = false;
}

static void on_record(void *arg, const struct record *r)
{
    struct sample_run *t = arg;
    if (r->type == RECORD_BEGIN)
        t->begin = r->u.begin;
    if (r->type == RECORD_NOTE) {
        clear_progress(t);
        tell_line("%.*s", (int)r->u.note.len, r->u.note.s);
    }
    if (sampled_take(t->sampled, r) && t->on_sample && !t->on_sample(t, &r->u.sample))
        sampling_stop(t->sampling);
}

static void on_ended(void *arg, const struct record_end *end, const struct error *err)
{
    struct sample_run *t = arg;
    clear_progress(t);
    t->sampling = NULL;
    t->ended = end != NULL;
    if (end)
        t->end = *end;
    runtime_end(&t->rt, end ? EXIT_DONE : exit_code_of_error(err->code), err);
}

static void on_progress(uv_timer_t *timer)
{
    struct sample_run *t = timer->data;
    const double s = (double)(clock_mono_ns() - t->began_ns) / 1e9;
    tell_progress("sampling: %.0f of %.0f s, %lld samples (C-c ends it early)", s, t->sampler.for_s,
                  (long long)sampled_count(t->sampled));
    t->told = true;
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct sample_run *t = signal->data;
    (void)number;
    sampling_stop(t->sampling);
}

static void collect(struct sample_run *t)
{
    static const struct sampling_handlers handlers = {.record = on_record, .ended = on_ended};
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct error err = {.code = ERR_NONE};
    runtime_init(&t->rt);
    runtime_timer(&t->rt, &t->progress, t);
    runtime_catch(&t->rt, signals, ARRAY_LEN(signals), on_signal, t);
    t->wall_us = clock_wall_us();
    t->began_ns = clock_mono_ns();
    if (t->env->err_tty)
        uv_timer_start(&t->progress, on_progress, PROGRESS_MS, PROGRESS_MS);
    if (sampling_start(&t->sampling, &t->rt.loop, &t->sampler, &handlers, t, &err) != 0)
        runtime_ends(&t->rt, exit_code_of_error(err.code), &err);
    else
        uv_run(&t->rt.loop, UV_RUN_DEFAULT);
    sampling_leave(t->sampling);
    runtime_close(&t->rt);
}

int sample_run(struct sample_run *t, int (*print)(struct sample_run *t))
{
    struct error err = {.code = ERR_NONE};
    int code = EXIT_DONE;
    if (local_target_find(&t->sampler.pid, t->options->target, t->options, t->env, &err) == 0) {
        t->sampled = sampled_new(&t->sums);
        collect(t);
        code = t->ended ? print(t) : t->rt.exit_code;
        sampled_free(t->sampled);
        err = t->rt.err;
    }
    if (err.code != ERR_NONE) {
        tell_line("%s", err.text);
        code = exit_code_of_error(err.code);
    }
    return output_check(code);
}

void sample_run_summary(struct sample_run *t, struct samples_summary *out)
{
    *out = (struct samples_summary){
        .label = slice_of(t->options->target),
        .wall_us = t->wall_us,
        .seconds = (double)t->end.wall_us / 1e6,
        .hz = t->sampler.hz,
        .lost = (int64_t)t->end.lost,
        .sampler_cpu_s = (double)t->end.cpu_us / 1e6,
        .target_cpu_s = (double)(t->end.target_us + t->end.kernel_us) / 1e6,
    };
    sampled_summary(t->sampled, out);
}
