/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A live run that is kept: ticks, facts, windows of counted calls, traces, marks. */
#include "record_run_internal.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/text.h"
#include "beamtop/recording/recording.h"
#include "app/cli/tell.h"

#define PROGRESS_MS 500u
#define FIRST_TICK_MS 60000u /* past its time, a recording waits so long for its first tick */
/* The end waits so long for the proof that nothing of ours is left armed: what is set has some
   seconds to end, and the question for it 15 s. `record stop` waits for longer. */
#define PROOF_MS 20000u

/* ---- messages while it runs */

static void clear_progress(struct recording_run *t)
{
    if (t->shown_progress)
        fputs("\r\033[K", stderr);
    t->shown_progress = false;
}

/* FILE.log: a node that comes and goes for months would fill the disk. */
static bool has_room(struct recording_run *t)
{
    struct stat st;
    if (!t->setup->detached || t->log_is_full)
        return !t->log_is_full;
    t->log_is_full = fstat(STDERR_FILENO, &st) == 0 && S_ISREG(st.st_mode) &&
                     st.st_size >= (off_t)LIMIT_RECORD_LOG_BYTES;
    if (t->log_is_full)
        fputs("beamtop: this log is full: from here on only the end is reported\n", stderr);
    return !t->log_is_full;
}

void record_run_tell(struct recording_run *t, const char *format, ...)
{
    va_list args;
    clear_progress(t);
    if (!has_room(t))
        return;
    va_start(args, format);
    tell_line_list(format, args);
    va_end(args);
}

void record_run_tell_ready(struct recording_run *t, const char *text)
{
    if (t->reported_ready || t->setup->ready_fd < 0)
        return;
    t->reported_ready = true;
    ssize_t n = write(t->setup->ready_fd, text, strlen(text));
    (void)n; /* it may have gone */
    close(t->setup->ready_fd);
}

static void on_progress(uv_timer_t *timer)
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

/* What is armed ends on the node with the link: its end is recorded, without the proof. */
static void end_unproven(struct recording_run *t, const char *text)
{
    struct error why = {0};
    error_set(&why, ERR_TIMEOUT, "%s", text);
    record_run_tell(t, "%s; what is left ends with the connection", text);
    record_run_armed_abandon(t, &why);
    uv_stop(&t->rt.loop);
}

static void on_proof_late(uv_timer_t *timer)
{
    static_assert(PROOF_MS == 20000, "the text has it");
    end_unproven(timer->data, "the node did not verify in 20 s that nothing is left on it");
}

void record_run_finish(struct recording_run *t, const char *why, int exit_code,
                       const struct error *err)
{
    if (!runtime_ends(&t->rt, exit_code, err))
        return;
    t->why = why;
    if (record_run_armed_stop(t))
        uv_timer_start(&t->until, on_proof_late, PROOF_MS, 0);
    else
        uv_stop(&t->rt.loop);
}

/* A recording has a tick at least: the first one comes when the node has answered, if it does. */
static void on_until(uv_timer_t *timer)
{
    struct recording_run *t = timer->data;
    struct error err = {0};
    if (recorder_ticks(t->recorder) > 0) {
        record_run_finish(t, "time", EXIT_DONE, NULL);
    } else if (!t->is_over) {
        t->is_over = true;
        uv_timer_start(timer, on_until, FIRST_TICK_MS, 0);
    } else {
        error_set(&err, ERR_TIMEOUT, "nothing was recorded: the node did not answer in time");
        record_run_finish(t, "time", EXIT_CONNECT, &err);
    }
}

/* From the first connection on: that of an overloaded node may take longer than --for. */
void record_run_is_linked(struct recording_run *t)
{
    if (t->options->for_given && !t->is_timed)
        uv_timer_start(&t->until, on_until, (uint64_t)(t->options->for_s * 1000), 0);
    t->is_timed = true;
}

/* Once more, and the proof is not waited for. */
static void on_signal(uv_signal_t *handle, int number)
{
    struct recording_run *t = handle->data;
    if (t->rt.ended)
        end_unproven(t, "stopped again before it was verified that nothing is left on the node");
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
        uv_timer_start(&t->progress, on_progress, PROGRESS_MS, PROGRESS_MS);
    /* The end of a terminal is not that of a detached recording. */
    runtime_catch(&t->rt, numbers, ARRAY_LEN(numbers) - t->setup->detached, on_signal, t);
}

static int start(struct recording_run *t, struct error *err)
{
    const struct cli_options *o = t->options;
    double interval_s = o->interval_given ? o->interval_s : 5;
    int rc = target_init(&t->target, t->setup->node, o, t->setup->env, NULL, 0, err);
    if (rc == 0)
        rc = record_run_armed_check(t->setup, err);
    const struct recorder_options options = {.node = t->target.name,
                                             .label = o->label,
                                             .interval_s = interval_s,
                                             .max_bytes = (uint64_t)o->max_size,
                                             .thin = o->thin,
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

static void stop(struct recording_run *t)
{
    struct error err = {0};
    int64_t ticks = t->recorder ? recorder_ticks(t->recorder) : 0;
    bool made = t->recorder != NULL;
    clear_progress(t);
    if (t->rt.exit_code == EXIT_DONE)
        t->rt.exit_code = record_trace_exit_code(t->trace);
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
    if (start(&t, &t.rt.err) != 0)
        t.rt.exit_code = t.rt.err.code == ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
    else
        uv_run(&t.rt.loop, UV_RUN_DEFAULT);
    stop(&t);
    return t.rt.exit_code;
}
