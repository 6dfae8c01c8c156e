/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user does to a trace that stands. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/etf/print.h"
#include "beamtop/model/detail.h"
#include "tui_trace_start.h"

/* What is played can be paused, by the same key in every view; its traces cannot be acted on. */
static void act_recorded(struct tui_trace *tr, enum action action)
{
    if (action == ACTION_TRACE_PAUSE)
        tui_pause(tr->s.tui, !tr->s.tui->paused);
    else
        tui_message(tr->s.tui, STYLE_MESSAGE,
                    "this is a recording: its traces are over; `beamtop trace FILE` prints them");
}

/* ---- one handler an action */

static void act_trace(struct tui_trace *tr, const char *arg)
{
    if (*arg)
        tui_trace_submit(tr, arg);
    else
        tui_trace_prompt(tr, "");
}

static void act_trace_pause(struct tui_trace *tr, const char *arg)
{
    const struct trace_state *s = tui_trace_state(tr);
    (void)arg;
    if (s->status.phase == SESSION_RUNNING || s->status.phase == SESSION_PAUSED)
        trace_pause(tr->s.session, s->status.phase == SESSION_RUNNING);
}

static void act_trace_stop(struct tui_trace *tr, const char *arg)
{
    (void)arg;
    session_stop(tr->s.session);
}

/* The owner of what another tool has set on the node: another beamtop first, since it can be
   asked to stop. */
static const struct armed_row *find_armed_owner(const struct armed_detail *a)
{
    const struct armed_row *found = NULL;
    for (size_t i = 0; i < a->n_rows; i++) {
        const struct armed_row *row = &a->rows[i];
        bool named = row->tracer.len > 0 || row->session.len > 0;
        if (named && (!found || (row->beamtop && !found->beamtop)))
            found = row;
    }
    return found;
}

/* Clears only what this program has set. Another tool waits for the events of its tracer. */
static void act_armed_stop(struct tui_trace *tr, const char *arg)
{
    struct tui *t = tr->s.tui;
    const struct armed_detail *a = model_armed(t->model);
    const struct armed_row *row = a ? find_armed_owner(a) : NULL;
    const bool of_one = tui_sessions_stop(t);
    (void)arg;
    if ((t->several && t->several->stops(t->own[TUI_SEVERAL])) || of_one)
        return;
    if (!row) {
        tui_message(tr->s.tui, STYLE_MESSAGE, "this beamtop has set nothing");
        return;
    }
    struct slice who = row->tracer.len > 0 ? row->tracer : row->session;
    tui_message(tr->s.tui, STYLE_MESSAGE, "this beamtop has set nothing: the owner is %s%.*s%s",
                row->tracer.len > 0 ? "" : "session ", (int)(who.len < 100 ? who.len : 100), who.s,
                row->beamtop ? ", another beamtop: stop the trace there" : "");
}

static void act_extend(struct tui_trace *tr, const char *arg)
{
    struct error err = {0};
    char time[32], events[32];
    (void)arg;
    if (trace_extend(tr->s.session, &err) != 0) {
        tui_message(tr->s.tui, STYLE_ERROR, "%s", err.text);
        return;
    }
    struct caps now = tui_trace_state(tr)->caps;
    tui_message(tr->s.tui, STYLE_MESSAGE, "until %s, %s events",
                cap_format(time, sizeof time, CAP_TIME_MS, now.value[CAP_TIME_MS]),
                cap_format(events, sizeof events, CAP_EVENTS, now.value[CAP_EVENTS]));
}

static void act_set(struct tui_trace *tr, const char *arg)
{
    struct caps caps = tui_trace_state(tr)->caps;
    struct error err = {0};
    enum cap cap;
    if (caps_parse_words(&caps, arg, &cap, &err) != 0 ||
        trace_set_cap(tr->s.session, cap, caps.value[cap], &err) != 0)
        tui_message(tr->s.tui, STYLE_ERROR, "%s", err.text);
}

/* The event under the cursor; NULL when there is none, with a message. */
static const struct trace_event *event_here(struct tui_trace *tr)
{
    const struct view_link link = screen_link(tr->s.tui->screen);
    const struct trace_event *e = tui_trace_event(tr, &link);
    if (!e)
        tui_message(tr->s.tui, STYLE_MESSAGE, "put the cursor on an event");
    return e;
}

static void act_only_process(struct tui_trace *tr, const char *arg)
{
    const struct trace_event *e = event_here(tr);
    (void)arg;
    if (!e)
        return;
    struct buf pid;
    buf_init(&pid, 0);
    print_pid(&pid, &e->pid);
    trace_narrow_pid(tr->s.session, &e->pid);
    tui_message(tr->s.tui, STYLE_MESSAGE, "from now on only %s", buf_cstr(&pid));
    buf_clear(&pid);
}

static void act_only_pattern(struct tui_trace *tr, const char *arg)
{
    const struct trace_event *e = event_here(tr);
    (void)arg;
    if (!e)
        return;
    const struct trace_pattern_info *info =
        trace_log_pattern(trace_session_log(tr->s.session), e->pattern);
    const struct slice source = info->pattern->typed;
    trace_narrow_pattern(tr->s.session, e->pattern);
    tui_message(tr->s.tui, STYLE_MESSAGE, "from now on only %.*s",
                (int)(source.len < 200 ? source.len : 200), source.s);
}

static void act_again(struct tui_trace *tr, const char *arg)
{
    (void)arg;
    if (tr->line)
        tui_trace_submit(tr, tr->line);
    else
        tui_trace_tell_none(tr, "nothing was traced yet", "a trace");
}

/* ---- the table */

static const struct {
    void (*run)(struct tui_trace *tr, const char *arg);
    bool running; /* means something only while a trace runs */
} handlers[ACTIONS] = {
    [ACTION_TRACE] = {act_trace, false},
    [ACTION_TRACE_ROW] = {tui_trace_row, false},
    [ACTION_TRACE_PROCESS] = {tui_trace_process, false},
    [ACTION_TRACE_LIBRARY] = {tui_trace_library, false},
    [ACTION_TRACE_PAUSE] = {act_trace_pause, true},
    [ACTION_TRACE_STOP] = {act_trace_stop, true},
    [ACTION_TRACE_EXTEND] = {act_extend, true},
    [ACTION_TRACE_SET] = {act_set, true},
    [ACTION_TRACE_ONLY_PROCESS] = {act_only_process, true},
    [ACTION_TRACE_ONLY_PATTERN] = {act_only_pattern, true},
    [ACTION_TRACE_AGAIN] = {act_again, false},
    [ACTION_TRACE_SAVE] = {tui_trace_save, false},
    [ACTION_ARMED_STOP] = {act_armed_stop, false},
};

bool tui_trace_has(enum action action)
{
    return handlers[action].run != NULL;
}

void tui_trace_act(struct tui *t, enum action action, const char *arg)
{
    struct tui_trace *tr = t->own[OWNER_TRACE];
    if (action != ACTION_TRACE && action != ACTION_TRACE_LIBRARY && action != ACTION_ARMED_STOP &&
        tui_trace_is_several(tr, action))
        t->several->act(t->own[TUI_SEVERAL], action, arg);
    else if (source_can(t->source, SOURCE_SEEKS))
        act_recorded(tr, action);
    else if (handlers[action].running && !session_runs(tr->s.session))
        tui_trace_tell_none(tr, "no trace is running", "one");
    else
        handlers[action].run(tr, arg);
}
