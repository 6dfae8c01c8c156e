/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Capturing causal spans from the screen: one session at a time, from its words to the check that
 * nothing of it is left. What it captured stays on the screen until the next one begins. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "beamtop/trace/spans.h"
#include "beamtop/trace/request.h"
#include "beamtop/ui/complete_trace.h"
#include "tui_names.h"
#include "tui_owners.h"
#include "tui_session.h"

#define SPANS_VIEW "spans"
#define SYNTAX_HINT                                                                                \
    "module:function(Arguments) when Guard --roots 20 --every 1 --time 10s --full: calls that "    \
    "begin a request"
/* Its end must be visible at 80 columns. */
#define FULL_QUESTION "Full mode: senders wait for long BIFs and NIFs. Capture anyway? (y/n) "

struct tui_spans {
    struct tui_session s; /* first */
    char words[640];      /* the line of the capture that is shown, or was asked for */
    bool agreed;          /* to the cost of full mode, of this line */
};

/* ---- events of the session */

static void estimate_spans(void *arg, char *out, size_t size)
{
    const struct tui_spans *s = arg;
    const struct spans_run *run = spans_session_run(s->s.session);
    char functions[32], rate[32], cost[48] = "cost unknown";
    if (!isnan(run->load))
        session_share_text(cost, sizeof cost, run->load, SPANS_COST);
    const uint64_t n = run->functions + run->called;
    snprintf(out, size, "%s function%s, %s calls/s: %s",
             text_integer(functions, sizeof functions, (int64_t)n), n == 1 ? "" : "s",
             text_count(rate, sizeof rate, run->calls_per_s), cost);
}

static void spans_begun(void *arg)
{
    struct tui_spans *s = arg;
    const struct spans_run *run = spans_session_run(s->s.session);
    char estimate[200];
    estimate_spans(s, estimate, sizeof estimate);
    tui_journal(s->s.tui, false, "requests captured (%s): %.60s: %s",
                run->full          ? "full"
                : run->no_payloads ? "no payloads"
                                   : "light",
                run->patterns, estimate);
    tui_message(s->s.tui, STYLE_MESSAGE, "%s%s%s", estimate,
                *run->others ? "; set by others: " : "", run->others);
}

static void spans_ended(void *arg)
{
    struct tui_spans *s = arg;
    const struct spans_run *run = spans_session_run(s->s.session);
    const struct session_check *check = &run->status.check;
    char captured[48], tokens[80];
    snprintf(tokens, sizeof tokens, "nothing left but trace tokens in %llu process%s",
             (unsigned long long)check->tokens, check->tokens == 1 ? "" : "es");
    snprintf(captured, sizeof captured, "%u request%s captured", run->roots,
             run->roots == 1 ? "" : "s");
    tui_session_end(&s->s, "nothing was captured", captured,
                    run->end == SPANS_END_TRACED
                        ? "trace tokens stay while another tool has the system tracer"
                    : check->done && check->clean && check->tokens > 0 ? tokens
                                                                       : NULL);
}

/* ---- beginning */

static int open_screen_spans(struct tui_spans *s, struct session **out,
                             const struct trace_request *r, size_t *offset, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = tui_session_changed};
    struct session_port port;
    size_t at = 0;
    const struct spans_capture what = {
        .patterns = &r->pattern, .n_patterns = r->pattern ? 1 : 0, .request = *r};
    int rc = live_port(s->s.tui->live, &port, err);
    if (rc == 0)
        rc = spans_open(out, &what, &port, &handlers, &s->s, NULL, &at, err);
    *offset = r->pattern_at + at;
    return rc;
}

static void begin_spans(void *arg, const char *words);

static void full_answered(void *arg, bool yes)
{
    struct tui_spans *s = arg;
    s->agreed = yes;
    if (yes)
        begin_spans(s, s->words);
}

static int start_spans(void *arg, const char *words, size_t *offset, struct error *err)
{
    struct tui_spans *s = arg;
    struct session *session = NULL;
    struct trace_request request;
    settings_request(&s->s.tui->settings, false, &request);
    int rc = trace_request_parse(&request, REQUEST_SPANS, words, offset, err);
    if (rc != 0)
        return rc;
    if (request.full && !request.force && !s->agreed) {
        trace_request_clear(&request);
        tui_ask(s->s.tui, FULL_QUESTION, full_answered, s);
        return 0;
    }
    s->agreed = false;
    rc = open_screen_spans(s, &session, &request, offset, err);
    trace_request_clear(&request);
    if (rc != 0)
        return rc;
    model_set_spans(s->s.tui->model, spans_session_run(session));
    tui_session_start(&s->s, session);
    return 0;
}

/* ---- the prompt */

static void open_spans_prompt(void *arg, const char *initial)
{
    struct tui_spans *s = arg;
    static const struct tui_names names = {.kind = PROMPT_SPANS,
                                           .line = NAMES_PATTERN,
                                           .mark = "spans> ",
                                           .syntax = SYNTAX_HINT,
                                           .complete = complete_spans,
                                           .accepted = begin_spans};
    tui_names_open(s->s.tui, &names, s, initial);
}

static void begin_spans(void *arg, const char *words)
{
    struct tui_spans *s = arg;
    if (words[strspn(words, " ")] == '\0')
        return;
    if (strlen(words) >= sizeof s->words) {
        tui_message(s->s.tui, STYLE_ERROR, "at most %zu characters", sizeof s->words - 1);
        return;
    }
    if (words != s->words)
        snprintf(s->words, sizeof s->words, "%s", words);
    tui_session_begin(&s->s, s->words);
}

/* ---- what the user does */

static void act_spans(void *own, const char *arg)
{
    struct tui_spans *s = own;
    struct tui *t = s->s.tui;
    bool here = strcmp(screen_view(t->screen), SPANS_VIEW) == 0;
    s->agreed = false;
    if (t->live && *arg) {
        begin_spans(s, arg);
    } else if (t->live && (here || !model_spans(t->model))) {
        open_spans_prompt(s, s->words);
        tui_names_look(t);
    } else if (*arg) {
        tui_message(t, STYLE_ERROR, "a recording has no calls to capture: connect to a node");
    } else {
        tui_act(t, ACTION_VIEW, SPANS_VIEW);
    }
}

/* ---- life */

static void *make_spans(struct tui *t)
{
    static const struct tui_session_kind kind = {
        .node_question = QUESTION_SPANS,
        .before = {{QUESTION_TRACE, .said = "a trace is running, and its flags would be in the "
                                            "way: stop it first, in its view"},
                   {QUESTION_CALLS, .ends = true,
                    .said = "counting ends, then the requests are captured"},
                   {QUESTION_SPANS, .ends = true,
                    .said = "the capture before ends, then the requests are captured"}},
        .view = SPANS_VIEW,
        .ending = "ending the capture…",
        .over = "",
        .verb = "Capture",
        .idle = "no capture of requests is running",
        .estimate = estimate_spans,
        .begun = spans_begun,
        .ended = spans_ended,
        .begin = begin_spans,
        .start = start_spans,
        .prompt = open_spans_prompt};
    struct tui_spans *s = alloc_zero(1, sizeof *s);
    tui_session_init(&s->s, t, &kind);
    return s;
}

const struct tui_owner tui_spans_owner = {
    .acts =
        {[ACTION_SPANS] = {.run = act_spans}, [ACTION_SPANS_STOP] = {.run = tui_session_act_stop}},
    .make = make_spans,
    .at = {[TUI_FREES] = free}};
