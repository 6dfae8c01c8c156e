/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The life of the screen's trace. */
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "tui_owners.h"
#include "tui_trace_start.h"

/* ---- the journal: what we did on the target */

static void trace_begun(void *arg)
{
    struct tui_trace *tr = arg;
    const struct trace_state *s = tui_trace_state(tr);
    tui_journal(tr->s.tui, false, "trace started: %llu function%s, %.60s: %.120s",
                (unsigned long long)s->preflight.functions, s->preflight.functions == 1 ? "" : "s",
                *s->status.procs ? s->status.procs : "all processes", tr->line);
}

/* What the user can put right is asked for once more; the rest is shown. */
static void tell_failure(struct tui_trace *tr, const struct trace_state *s)
{
    enum err code = s->status.error.code;
    bool words = code == ERR_NOT_FOUND || code == ERR_LIMIT || code == ERR_USAGE;
    if (words && tr->s.quit_by_ms == 0 && !prompt_is_open(tr->s.tui->prompt))
        tui_trace_error(tr, tr->line, s->status.error.text);
    else
        tui_message(tr->s.tui, STYLE_ERROR, "%s", s->status.error.text);
}

static void screen_trace_ended(void *arg)
{
    struct tui_trace *tr = arg;
    const struct trace_state *s = tui_trace_state(tr);
    struct tui *t = tr->s.tui;
    if (s->status.phase == SESSION_FAILED) {
        tui_journal(t, true, "nothing was traced: %.200s", s->status.error.text);
        tell_failure(tr, s);
        return;
    }
    tui_journal(t, s->end == END_KILLED || s->end == END_LINK, "trace ended: %s", s->end_text);
    tui_session_proof(&tr->s);
    tui_journal(t, *s->status.check.text != '\0', "%s", tr->s.proof);
}

/* ---- while it runs */

/* What nobody can see is not fetched. */
static void hold_trace(void *arg)
{
    struct tui_trace *tr = arg;
    if (tr->s.session)
        trace_hold(tr->s.session, tr->s.tui->paused || !tui_terminal_is_ready());
}

static void estimate_trace(void *arg, char *text, size_t size)
{
    const struct trace_state *s = tui_trace_state(arg);
    char rate[32], cost[80];
    /* Short: the view shows the rest. */
    snprintf(text, size, "%s calls/s would cost %s%s",
             text_count(rate, sizeof rate, s->preflight.calls_per_s),
             session_share_text(cost, sizeof cost, s->preflight.load, SPANS_COST),
             s->preflight.load > 1 ? "" : " or more");
}

/* ---- news of the program */

/* Calls are skipped until the program goes on. */
static void suspend_trace(void *own)
{
    struct tui_trace *tr = own;
    const struct trace_state *s = tui_trace_state(tr);
    tr->paused_by_us = s && s->status.phase == SESSION_RUNNING;
    if (tr->paused_by_us)
        trace_pause(tr->s.session, true);
}

static void resume_trace(void *own)
{
    struct tui_trace *tr = own;
    if (tr->paused_by_us && tr->s.session)
        trace_pause(tr->s.session, false);
    tr->paused_by_us = false;
}

/* ---- life */

static void *make_trace(struct tui *t)
{
    static const struct tui_session_kind kind = {
        .node_question = QUESTION_TRACE,
        .before = {{QUESTION_CALLS, .ends = true,
                    .said = "the counting stops, then the trace starts"},
                   {QUESTION_SPANS, .ends = true,
                    .said = "the capture of requests stops, then the trace starts"}},
        .view = "trace",
        .quit = "A trace is running. Stop it and quit? (y/n) ",
        .ending = "ending the trace…",
        .over = "the trace was ended; ",
        .verb = "Trace",
        .estimate = estimate_trace,
        .begun = trace_begun,
        .ended = screen_trace_ended,
        .turn = hold_trace,
        .begin = tui_trace_begin};
    struct tui_trace *tr = alloc_zero(1, sizeof *tr);
    tui_session_init(&tr->s, t, &kind);
    return tr;
}

static void free_screen_trace(void *own)
{
    struct tui_trace *tr = own;
    tui_trace_save_history(tr);
    free(tr->line);
    free(tr->wanted);
    free(tr->save_path);
    free(tr);
}

const struct tui_owner tui_trace_owner = {.has = tui_trace_has,
                                          .act = tui_trace_act,
                                          .make = make_trace,
                                          .at = {[TUI_CHANGED] = tui_trace_history,
                                                 [TUI_PAUSED] = hold_trace,
                                                 [TUI_SUSPENDS] = suspend_trace,
                                                 [TUI_RESUMES] = resume_trace,
                                                 [TUI_FREES] = free_screen_trace}};
