/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A live run that is kept: ticks, facts, windows of counted calls, traces, marks. */
#include "record_series.h"
#include "record_state.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/text.h"
#include "beamtop/recording/recording.h"
#include "app/cli/tell.h"

#define PROGRESS_MS 500u
static void on_record_progress(uv_timer_t *timer)
{
    struct recording_run *t = timer->data;
    char bytes[32], since[32];
    const char *link = NULL;
    if (model_link(t->model, &link) != LINK_LIVE && *link)
        tell_progress("%s", link);
    else
        tell_progress("recording %s: %lld ticks, %s, %s; Ctrl-C stops it", buf_cstr(&t->file),
                      (long long)recorder_ticks(t->recorder),
                      text_bytes(bytes, sizeof bytes, (double)recorder_bytes(t->recorder)),
                      text_duration(since, sizeof since,
                                    (double)(uv_now(&t->rt.loop) - t->rt.started_ms) / 1000));
    t->shown_progress = true;
}

/* ---- its end */

/* Once more, and the proof is not waited for. */
static void on_recorder_signal(uv_signal_t *handle, int number)
{
    struct recording_run *t = handle->data;
    if (t->rt.ended)
        record_run_end_unproven(
            t, "stopped again before it was verified that nothing is left on the node");
    else
        record_run_finish(t, "stopped", number == SIGINT ? EXIT_DONE : 128 + number, NULL);
}

/* ---- from the first step to the last */

static void start_handles(struct recording_run *t)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    runtime_init(&t->rt);
    runtime_timer(&t->rt, &t->progress, t);
    runtime_timer(&t->rt, &t->until, t);
    runtime_timer(&t->rt, &t->turn, t);
    if (t->setup->env->err_tty && !t->setup->detached)
        uv_timer_start(&t->progress, on_record_progress, PROGRESS_MS, PROGRESS_MS);
    /* The end of a terminal is not that of a detached recording. */
    runtime_catch(&t->rt, numbers, ARRAY_LEN(numbers) - t->setup->detached, on_recorder_signal, t);
}

static int start_recording(struct recording_run *t, struct error *err)
{
    const struct cli_options *o = t->options;
    double interval_s = o->interval_given ? o->interval_s : 5;
    int rc = target_init(&t->target, t->setup->node, o, t->setup->env, NULL, 0, err);
    if (rc == 0)
        target_lend(&t->target, t->setup->lent);
    if (rc == 0)
        rc = record_run_armed_check(t->setup, err);
    const struct recorder_options options = {.node = t->target.name,
                                             .label = o->label,
                                             .interval_s = interval_s,
                                             .max_bytes = (uint64_t)o->max_size,
                                             .thin = o->thin,
                                             .apps = true,
                                             .redact = o->redact,
                                             .values = o->values};
    if (rc == 0)
        rc = recorder_open(&t->recorder, t->setup->file, &options, err);
    if (rc == 0)
        rc = record_run_source_open(t, interval_s, err);
    if (rc != 0)
        return rc;
    record_run_armed_start(t);
    record_run_requests_open(t);
    return 0;
}

static void end_recording(struct recording_run *t)
{
    struct error err = {0};
    int64_t ticks = t->recorder ? recorder_ticks(t->recorder) : 0;
    bool made = t->recorder != NULL;
    record_run_clear_progress(t);
    if (t->rt.exit_code == EXIT_DONE)
        t->rt.exit_code = record_trace_exit_code(t->series[RECORD_TRACES]);
    record_run_armed_close(t);
    live_close(t->live, NULL, NULL);
    record_control_close(t->control);
    runtime_close(&t->rt);
    (void)recorder_close(t->recorder, t->why, &err);
    if (err.code != ERR_NONE && t->rt.exit_code == EXIT_DONE)
        t->rt.exit_code = EXIT_FAILED;
    /* Of a node that was never reached nothing is kept. */
    if (made && ticks == 0)
        unlink(t->setup->file);
    target_clear(&t->target);
    model_free(t->model);
    if (t->rt.err.code != ERR_NONE)
        fprintf(stderr, "beamtop: %s\n", t->rt.err.text);
    else if (err.code != ERR_NONE)
        t->rt.err = err;
    if (err.code != ERR_NONE && ticks > 0)
        fprintf(stderr, "beamtop: %s\n", err.text);
    record_run_tell_ready(t, t->rt.err.code != ERR_NONE ? t->rt.err.text
                                                        : "it ended before the node had answered");
    if (ticks > 0)
        fprintf(stderr, "beamtop: %s has %lld tick%s; `beamtop report %s` shows the findings\n",
                buf_cstr(&t->file), (long long)ticks, ticks == 1 ? "" : "s", buf_cstr(&t->file));
    buf_clear(&t->file);
}

int record_run(const struct record_setup *setup)
{
    struct recording_run t = {.setup = setup, .options = setup->options, .why = "error"};
    t.model = model_new();
    buf_init(&t.file, 0);
    text_put_safe(&t.file, setup->file, strlen(setup->file), false);
    start_handles(&t);
    if (start_recording(&t, &t.rt.err) != 0)
        t.rt.exit_code = t.rt.err.code == ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
    else
        uv_run(&t.rt.loop, UV_RUN_DEFAULT);
    end_recording(&t);
    return t.rt.exit_code;
}
