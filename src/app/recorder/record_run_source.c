/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the node says during a recording: ticks, facts beside them, its link and its end. */
#include "record_state.h"

#include <stdio.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/model/column.h"
#include "beamtop/recording/recording.h"

/* Processes asked for at a tick: the busiest, which are nearly all of the work. At most ten more
   are watched, for their mailbox or memory. */
#define RECORD_ROWS 50
#define BEGIN_TICKS 5
#define FIRST_TICK_MS 60000u /* past its time, a recording waits so long for its first tick */

/* ---- ticks */

static void on_recorded_answer(void *arg, enum question question, const uint8_t *term, size_t len,
                               const struct want_scan *asked)
{
    struct recording_run *t = arg;
    t->has_node = t->has_node || question == QUESTION_NODE;
    recorder_answer(t->recorder, question_name(question), term, len, asked);
}

/* The cap, a full disk, a limit of the system: what was written is kept. */
static void finish_full(struct recording_run *t, const struct error *cause)
{
    struct error err = {0};
    char most[32];
    uint64_t cap =
        t->options->max_size > 0 ? (uint64_t)t->options->max_size : LIMIT_RECORDING_BYTES;
    bool full = cause->code == ERR_LIMIT;
    if (full && recorder_bytes(t->recorder) + cap / 64 >= cap)
        error_set(&err, ERR_LIMIT, "%s has reached its largest size, %s (--max-size, --thin)",
                  t->setup->file, text_bytes(most, sizeof most, (double)cap));
    else if (full)
        error_set(&err, ERR_LIMIT, "%s: the disk is full", t->setup->file);
    else
        error_set(&err, cause->code, "%s: %s", t->setup->file, cause->text);
    error_context(&err, "ended after %lld ticks", (long long)recorder_ticks(t->recorder));
    record_run_finish(t, full ? "full" : "error", EXIT_FAILED, &err);
}

/* Told once; what was to be written waits for the next tick. */
static void note_locked(struct recording_run *t)
{
    if (!t->is_locked)
        record_run_tell(
            t, "%s is locked by another program: no ticks are recorded until it is released",
            buf_cstr(&t->file));
    t->is_locked = true;
}

/* For who has started this recording with others. */
static void note_clock(const struct recording_run *t)
{
    struct record_clocks *c = t->setup->clocks;
    struct live_round round;
    if (!c)
        return;
    c->ticks = recorder_ticks(t->recorder);
    if (!live_round_trip(t->live, &round))
        return;
    c->end = (struct recorded_clock){clock_wall_us(), round.offset_us, round.us / 2};
    /* The first answers of a connection are slow. */
    if (c->begin.wall_us == 0 || (c->ticks <= BEGIN_TICKS && c->end.bound_us < c->begin.bound_us))
        c->begin = c->end;
}

static void on_recorded_tick(void *arg)
{
    struct recording_run *t = arg;
    struct error err = {0};
    if (t->rt.ended)
        return;
    const struct system_sample *sample = model_system(t->model);
    t->was_up = true;
    if (sample && sample->wall_us > 0)
        t->wall_less_here_us = (double)(sample->wall_us - clock_wall_us());
    if (feed_tick(&t->feed, &err) == 0) {
        /* Ticks wait while calls are counted, where windows leave time for that; so does this. */
        feed_ask(&t->feed, t->live, uv_now(&t->rt.loop));
        t->is_locked = false;
        note_clock(t);
        record_run_tell_ready(t, "ok");
        if (t->is_over)
            record_run_finish(t, "time", EXIT_DONE, NULL);
        return;
    }
    if (err.code == ERR_TIMEOUT)
        note_locked(t);
    else
        finish_full(t, &err);
}

static void tell_recorded_error(void *arg, const struct error *err)
{
    record_run_tell(arg, "%s", err->text);
}

static void on_recorded_trouble(void *arg, enum question question, const struct error *err)
{
    (void)question;
    tell_recorded_error(arg, err);
}

static void on_recorded_notice(void *arg, const char *text)
{
    record_run_tell(arg, "%s", text);
}

/* ---- what ticks ask for */

/* The top processes with what names their owners, and all applications. */
static struct want want_of_recording(const struct recording_run *t)
{
    const struct field *columns[COLUMNS_MAX];
    int n = 0;
    struct error ignored = {0};
    (void)proc_columns_parse("pid,name,label,initial_call,application,supervisor,reductions_per_s,"
                             "memory_bytes,message_queue_len,current_function",
                             columns, &n, &ignored);
    const struct field *sort = proc_column_find("reductions_per_s");
    struct want want = {.needs = question_kept(KEPT_TICK), .steady = true};
    want.scan = (struct want_scan){.sort_key = sort->key,
                                   .by_delta = true,
                                   .rows = RECORD_ROWS,
                                   .items = proc_columns_items(columns, n, sort)};
    feed_want(&t->feed, &want);
    return want;
}

static void watch_recorded(void *arg)
{
    struct recording_run *t = arg;
    const struct want want = want_of_recording(t);
    live_set_want(t->live, &want);
}

/* ---- the link */

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
static void start_time(struct recording_run *t)
{
    if (t->options->for_given && !t->is_timed)
        uv_timer_start(&t->until, on_until, (uint64_t)(t->options->for_s * 1000), 0);
    t->is_timed = true;
}

/* A node that goes away for a while is a gap; the recording goes on when it is back. */
static void on_recorded_link(void *arg, bool up)
{
    struct recording_run *t = arg;
    if (up) {
        snprintf(t->node, sizeof t->node, "%s", live_peer_node(t->live));
        start_time(t);
        feed_ask(&t->feed, t->live, uv_now(&t->rt.loop));
        return;
    }
    t->has_node = false;
    record_run_armed_link_lost(t);
    feed_lost(&t->feed);
}

static void on_recorded_end(void *arg, enum conn_failure why, const struct error *err)
{
    struct recording_run *t = arg;
    (void)why;
    record_run_finish(t, "link", t->was_up ? EXIT_LOST : EXIT_CONNECT, err);
}

int record_run_source_open(struct recording_run *t, double interval_s, struct error *err)
{
    static const struct live_handlers handlers = {.on_tick = on_recorded_tick,
                                                  .on_trouble = on_recorded_trouble,
                                                  .on_notice = on_recorded_notice,
                                                  .on_link = on_recorded_link,
                                                  .on_answer = on_recorded_answer,
                                                  .on_end = on_recorded_end};
    const struct live_options live = {.conn = t->target.conn,
                                      .interval_s = interval_s,
                                      .budget = t->options->budget,
                                      .reconnect = true,
                                      .recorded = true};
    snprintf(t->node, sizeof t->node, "%s", t->target.name);
    t->feed = (struct feed){.recorder = t->recorder,
                            .model = t->model,
                            .questions = question_paced(PACE_BESIDE) | question_kept(KEPT_LAST),
                            .watch = watch_recorded,
                            .trouble = tell_recorded_error,
                            .arg = t};
    int rc = live_open(&t->live, &t->rt.loop, &live, t->model, &handlers, t, err);
    if (rc != 0)
        return rc;
    watch_recorded(t);
    return 0;
}
