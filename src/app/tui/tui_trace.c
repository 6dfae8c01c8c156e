/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The life of the screen's trace. */
#include "tui_trace.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "tui_owners.h"
#include "tui_trace_internal.h"

/* Of the session that calls back: it is there. */
static const struct trace_state *state_of(const struct tui_trace *tr)
{
    return trace_log_state(trace_session_log(tr->s.session));
}

const struct trace_state *tui_trace_state(const struct tui_trace *tr)
{
    return tr->s.session ? state_of(tr) : NULL;
}

bool tui_trace_runs(const struct tui_trace *tr)
{
    return session_runs(tr->s.session);
}

/* ---- the journal: what we did on the target */

static void begun(void *arg)
{
    struct tui_trace *tr = arg;
    const struct trace_state *s = state_of(tr);
    char text[240];
    snprintf(text, sizeof text, "trace started: %llu function%s, %.60s: %.120s",
             (unsigned long long)s->preflight.functions, s->preflight.functions == 1 ? "" : "s",
             *s->status.procs ? s->status.procs : "all processes", tr->line);
    tui_session_journal(&tr->s, false, text);
}

/* What the user can put right is asked for once more; the rest is shown. */
static void tell_failure(struct tui_trace *tr, const struct trace_state *s)
{
    enum err code = s->status.error.code;
    bool words = code == ERR_NOT_FOUND || code == ERR_LIMIT || code == ERR_USAGE;
    if (words && tr->s.quit_by_ms == 0 && !prompt_is_open(tr->tui->prompt))
        tui_trace_error(tr, tr->line, s->status.error.text);
    else
        tui_message(tr->tui, STYLE_ERROR, "%s", s->status.error.text);
}

static void ended(void *arg)
{
    struct tui_trace *tr = arg;
    const struct trace_state *s = state_of(tr);
    char text[240];
    if (s->status.phase == SESSION_FAILED) {
        snprintf(text, sizeof text, "nothing was traced: %.200s", s->status.error.text);
        tui_session_journal(&tr->s, true, text);
        tell_failure(tr, s);
        return;
    }
    snprintf(text, sizeof text, "trace ended: %s", s->end_text);
    tui_session_journal(&tr->s, s->end == END_KILLED || s->end == END_LINK, text);
    tui_session_proof(&tr->s);
    tui_session_journal(&tr->s, *s->status.check.text != '\0', tr->s.proof);
}

/* ---- while it runs */

static bool writable(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) != 0;
}

/* What nobody can see is not fetched. */
static void hold(void *arg)
{
    struct tui_trace *tr = arg;
    if (tr->s.session)
        trace_hold(tr->s.session, tr->tui->paused || !writable());
}

static void question(void *arg, char *text, size_t size)
{
    const struct trace_state *s = state_of(arg);
    char rate[32], cost[80];
    /* Short: the view shows the rest. */
    snprintf(text, size, "%s calls/s would cost %s%s. Trace anyway? (y/n) ",
             text_count(rate, sizeof rate, s->preflight.calls_per_s),
             session_share_text(cost, sizeof cost, s->preflight.load, SPANS_COST),
             s->preflight.load > 1 ? "" : " or more");
}

/* ---- beginning */

void tui_trace_defaults(const struct tui_trace *tr, struct trace_request *out)
{
    struct settings_trace s;
    settings_trace_caps(&tr->tui->settings, false, &s);
    *out =
        (struct trace_request){.caps = s.caps, .syntax = s.syntax, .on_rate_stop = s.on_rate_stop};
}

/* The words are looked at before the trace that is on the screen makes room. */
static int open_session(struct tui_trace *tr, struct session **out, const struct trace_request *r,
                        size_t *offset, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = tui_session_changed};
    const char *patterns[] = {r->pattern};
    const struct trace_options options = {
        .patterns = patterns,
        .n_patterns = 1,
        .procs = r->procs,
        .syntax = r->syntax,
        .caps = r->caps,
        .slower_us = r->slower_us,
        .on_rate_stop = r->on_rate_stop,
        .force = r->force,
    };
    struct session_port port;
    struct procs procs;
    size_t at = 0;
    int rc = 0;
    if (r->procs && procs_parse(&procs, r->procs, &at, err) != 0) {
        *offset = r->procs_at + at;
        return err->code;
    }
    *offset = r->pattern_at;
    rc = live_port(tr->tui->live, &port, err);
    if (rc == 0)
        rc = trace_open(out, &options, &port, &handlers, &tr->s, NULL, &at, err);
    *offset = r->pattern_at + at;
    return rc;
}

int tui_trace_start(struct tui_trace *tr, const char *line, size_t *offset, struct error *err)
{
    struct trace_request request;
    struct session *session = NULL;
    tui_trace_defaults(tr, &request);
    int rc = trace_request_parse(&request, line, offset, err);
    if (rc != 0)
        return rc;
    rc = open_session(tr, &session, &request, offset, err);
    trace_request_clear(&request);
    if (rc != 0)
        return rc;
    tr->asked_caps = request.caps;
    char *copy = alloc_strdup(line); /* the line may be ours */
    free(tr->line);
    tr->line = copy;
    tr->paused_by_us = false;
    model_set_trace(tr->tui->model, trace_session_log(session));
    tui_session_start(&tr->s, session);
    return 0;
}

/* ---- news of the program */

/* Calls are skipped until the program goes on. */
static void suspend(void *own)
{
    struct tui_trace *tr = own;
    const struct trace_state *s = tui_trace_state(tr);
    tr->paused_by_us = s && s->status.phase == SESSION_RUNNING;
    if (tr->paused_by_us)
        trace_pause(tr->s.session, true);
}

static void resume(void *own)
{
    struct tui_trace *tr = own;
    if (tr->paused_by_us && tr->s.session)
        trace_pause(tr->s.session, false);
    tr->paused_by_us = false;
}

/* ---- life */

static void *make(struct tui *t)
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
        .question = question,
        .begun = begun,
        .ended = ended,
        .turn = hold,
        .begin = tui_trace_submit};
    struct tui_trace *tr = alloc_zero(1, sizeof *tr);
    tr->tui = t;
    tui_session_init(&tr->s, t, &kind, tr);
    runtime_timer(&t->rt, &tr->pause, tr);
    tr->assist = assist_new(tui_trace_assist_known, tr);
    return tr;
}

static void free_trace(void *own)
{
    struct tui_trace *tr = own;
    tui_trace_save_history(tr);
    assist_free(tr->assist);
    free(tr->line);
    free(tr->wanted);
    free(tr->save_path);
    free(tr);
}

const struct tui_owner tui_trace_owner = {.has = tui_trace_has,
                                          .act = tui_trace_act,
                                          .make = make,
                                          .at = {[TUI_CHANGED] = tui_trace_history,
                                                 [TUI_LOST] = tui_trace_assist_lost,
                                                 [TUI_LEAVES] = tui_trace_assist_lost,
                                                 [TUI_PAUSED] = hold,
                                                 [TUI_SUSPENDS] = suspend,
                                                 [TUI_RESUMES] = resume,
                                                 [TUI_CLOSES] = tui_trace_assist_lost,
                                                 [TUI_FREES] = free_trace}};
