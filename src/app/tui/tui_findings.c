/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui_findings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/report/evaluate.h"
#include "beamtop/recording/recording.h"
#include "app/source/feed.h"
#include "tui_owners.h"

#define PERIOD_S 300.0        /* what is judged */
#define LEAST_TICKS 30        /* of slow intervals: a period of several minutes more */
#define MOST_TICKS 600        /* of quick ones */
#define FIRST_TICKS 5         /* before these nothing is judged */
#define TREND_S 30.0          /* before these no trend is shown */
#define JUDGE_MS 10000u       /* from one judgement to the next */
#define REPLAY_JUDGE_MS 1000u /* the same while a recording is played; a jump is judged at once */
#define MOST_BYTES (UINT64_C(32) << 20) /* of the ring; past them it starts again */

struct tui_findings {
    struct tui *tui;
    struct feed feed; /* recorder NULL: not begun, or no longer possible */
    struct findings_shown shown;
    uint64_t judged_ms; /* 0: not yet */
    int64_t replayed;   /* tick of a recording that was shown last */
};

/* ---- the recorder in memory */

static void open_recorder(struct tui_findings *f)
{
    struct error err = {0};
    const char *node = live_peer_node(f->tui->live);
    const struct recorder_options options = {
        .node = node ? node : "",
        .interval_s = model_interval(f->tui->model).asked_s,
        .max_bytes = MOST_BYTES,
        .values = true, /* only in memory */
    };
    if (recorder_open(&f->feed.recorder, ":memory:", &options, &err) != 0)
        snprintf(f->shown.why, sizeof f->shown.why, "%.150s", err.text);
}

static void close_recorder(struct tui_findings *f)
{
    struct error ignored = {0}; /* nothing of it is kept */
    (void)recorder_close(f->feed.recorder, NULL, &ignored);
    f->feed.recorder = NULL;
}

/* The first tick of the period, by the ticks' own times: the interval stretches and shrinks, so
   their number is not known. The last LEAST_TICKS of a slow node are taken whatever their age. */
static int64_t first_judged(struct recording *r, int64_t last)
{
    int64_t wall_us = recording_tick_wall_us(r, last);
    int64_t first = recording_tick_at(r, wall_us - (int64_t)(PERIOD_S * 1e6));
    first = first > last - LEAST_TICKS + 1 ? last - LEAST_TICKS + 1 : first;
    first = first < last - MOST_TICKS + 1 ? last - MOST_TICKS + 1 : first;
    return recording_tick_after(r, first - 1);
}

/* ---- what rules need */

static void watch_findings(void *arg)
{
    struct tui_findings *f = arg;
    tui_want(f->tui);
}

static void want_findings(const void *own, struct want *want)
{
    const struct tui_findings *f = own;
    feed_want(&f->feed, want);
}

/* ---- judging */

static void take_findings(struct tui_findings *f, struct recording *r, int64_t first, int64_t last)
{
    struct error err = {0};
    struct findings found;
    if (findings_evaluate_after(&found, &f->shown.found, TREND_S, r, first, last, &err) == 0) {
        findings_clear(&f->shown.found);
        f->shown.found = found;
        f->shown.ticks = last - first + 1;
        f->shown.period_s = recording_period_s(r, first, last);
        f->shown.why[0] = '\0';
    } else {
        findings_clear(&found);
        snprintf(f->shown.why, sizeof f->shown.why, "%.150s", err.text);
    }
    screen_update(f->tui->screen);
    tui_touch(f->tui);
}

static void judge_recorder(struct tui_findings *f)
{
    struct error err = {0};
    struct recording *r = NULL;
    int64_t last = recorder_ticks(f->feed.recorder), first = 1;
    if (recording_of_recorder(&r, f->feed.recorder, &err) == 0) {
        first = first_judged(r, last);
        take_findings(f, r, first, last);
        recording_close(r);
        (void)recorder_keep(f->feed.recorder, last - first + 1, &err);
    }
    if (err.code != ERR_NONE)
        snprintf(f->shown.why, sizeof f->shown.why, "%.150s", err.text);
}

/* What is recorded already need not be recorded: it says what came before the tick that
 * is shown. */
static void judge_recorded(struct tui_findings *f, struct recording *r, int64_t tick)
{
    uint64_t now = uv_now(&f->tui->rt.loop);
    int64_t wall_us, first = 0;
    bool next = tick == f->replayed || tick == f->replayed + 1;
    model_set_findings(f->tui->model, &f->shown);
    f->replayed = tick;
    if (next && f->judged_ms != 0 && now - f->judged_ms < REPLAY_JUDGE_MS)
        return;
    f->judged_ms = now;
    recording_begin(r);
    wall_us = recording_tick_wall_us(r, tick);
    if (wall_us > 0)
        first = recording_tick_at(r, wall_us - (int64_t)(PERIOD_S * 1e6));
    take_findings(f, r, first > 0 ? first : 1, tick);
}

static void judge_tick(void *own)
{
    struct tui_findings *f = own;
    struct error err = {0};
    uint64_t now = uv_now(&f->tui->rt.loop);
    int64_t tick = 0;
    struct recording *recorded = source_recording(f->tui->source, &tick);
    if (recorded) {
        judge_recorded(f, recorded, tick);
        return;
    }
    if (!f->feed.recorder)
        open_recorder(f);
    if (!f->feed.recorder)
        return;
    model_set_findings(f->tui->model, &f->shown);
    if (feed_tick(&f->feed, &err) != 0) {
        close_recorder(f); /* full, of names most likely: the next tick starts another */
        feed_again(&f->feed);
        return;
    }
    if (recorder_ticks(f->feed.recorder) >= 2)
        feed_ask(&f->feed, f->tui->live, now);
    if (recorder_ticks(f->feed.recorder) < FIRST_TICKS ||
        (f->judged_ms != 0 && now - f->judged_ms < JUDGE_MS))
        return;
    f->judged_ms = now;
    judge_recorder(f);
}

/* ---- counted calls, samples */

void tui_findings_window(struct tui *t, const struct calls_window *w)
{
    struct tui_findings *f = t->own[TUI_FINDINGS];
    /* Rules would miss the functions that are called most. */
    if (!f->feed.recorder || w->n_excluded > 0)
        return;
    recorder_calls(f->feed.recorder, w, false);
    f->judged_ms = 0; /* who counted calls looks at once */
}

void tui_findings_samples(struct tui *t, const struct samples_summary *run)
{
    struct tui_findings *f = t->own[TUI_FINDINGS];
    if (!f->feed.recorder)
        return;
    recorder_samples(f->feed.recorder, run);
    f->judged_ms = 0;
}

/* ---- life */

static void lose_findings_link(void *own)
{
    struct tui_findings *f = own;
    feed_lost(&f->feed);
}

/* What comes is of another node, or of another life of this one. */
static void leave_findings(void *own)
{
    struct tui_findings *f = own;
    close_recorder(f);
    findings_clear(&f->shown.found);
    f->shown = (struct findings_shown){.period_s = NAN};
    f->judged_ms = 0;
    feed_lost(&f->feed);
}

static void *make_findings(struct tui *t)
{
    struct tui_findings *f = alloc_zero(1, sizeof *f);
    f->tui = t;
    f->feed = (struct feed){.model = t->model,
                            .questions = question_paced(PACE_BESIDE) | question_judged(),
                            .busiest = true,
                            .watch = watch_findings,
                            .arg = f};
    f->shown.period_s = NAN;
    return f;
}

static void free_findings(void *own)
{
    leave_findings(own);
    free(own);
}

const struct tui_owner tui_findings_owner = {.make = make_findings,
                                             .want = want_findings,
                                             .at = {[TUI_TICK] = judge_tick,
                                                    [TUI_RESTARTED] = leave_findings,
                                                    [TUI_LOST] = lose_findings_link,
                                                    [TUI_LEAVES] = leave_findings,
                                                    [TUI_FREES] = free_findings}};
