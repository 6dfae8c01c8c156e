/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting calls from the screen: one session at a time, window after window, from its words to
 * the proof that nothing of it is left. Its last window stays on the screen. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "beamtop/trace/calls_log.h"
#include "beamtop/ui/complete_trace.h"
#include "tui_findings.h"
#include "tui_names.h"
#include "tui_owners.h"
#include "tui_session.h"

#define CALLS_VIEW "calls"
#define SYNTAX_HINT "module:function/arity, a module, app:NAME, /regex/:_; empty: every function"

struct tui_calls {
    struct tui_session s; /* first */
    struct calls_log log; /* what the screen shows */
};

/* ---- events of the session */

/* Our own questions would be among the calls; windows without a pause leave no time for others. */
static bool window_is_open(void *arg)
{
    const struct tui_calls *c = arg;
    return session_runs(c->s.session) && calls_session_counts(c->s.session) &&
           calls_session_leaves_time(c->s.session);
}

static void hold_counted_ticks(struct tui_calls *c)
{
    if (c->s.tui->live)
        live_hold(c->s.tui->live, window_is_open(c));
}

static void estimate_calls(void *arg, char *text, size_t size)
{
    const struct tui_calls *c = arg;
    const struct calls_state *s = calls_session_state(c->s.session);
    char functions[32], rate[32], limits[120], cost[32];
    snprintf(text, size, "%s functions, about %s calls/s: counting costs %s of the node%s",
             text_integer(functions, sizeof functions, (int64_t)s->functions),
             text_count(rate, sizeof rate, s->calls_per_s),
             calls_cost_text(cost, sizeof cost, s->load),
             calls_limits_text(limits, sizeof limits, s));
}

static void calls_begun(void *arg)
{
    struct tui_calls *c = arg;
    const char *others = calls_session_state(c->s.session)->others;
    char estimate[240];
    estimate_calls(c, estimate, sizeof estimate);
    tui_journal(c->s.tui, false, "calls counted: %.60s: %s",
                *c->log.patterns ? c->log.patterns : "every function", estimate);
    tui_message(c->s.tui, STYLE_MESSAGE, "%s%s%s", estimate, *others ? "; set by others: " : "",
                others);
}

static void calls_ended(void *arg)
{
    struct tui_calls *c = arg;
    const struct calls_state *s = calls_session_state(c->s.session);
    char counted[48];
    snprintf(counted, sizeof counted, "counting ended after %u window%s", s->windows,
             s->windows == 1 ? "" : "s");
    tui_session_end(&c->s, "nothing was counted", counted, NULL);
}

static void on_calls_changed(void *arg)
{
    struct tui_calls *c = arg;
    calls_log_state(&c->log, calls_session_state(c->s.session));
    hold_counted_ticks(c);
    tui_session_changed(&c->s);
}

static void on_calls_window(void *arg, const struct calls_window *window)
{
    struct tui_calls *c = arg;
    char functions[32], rate[32], cost[32];
    calls_log_window(&c->log, window);
    if (window->number == 1 && !isnan(window->load))
        tui_message(c->s.tui, STYLE_MESSAGE,
                    "%s functions, %s calls/s: counting costs %s of the node",
                    text_integer(functions, sizeof functions, (int64_t)window->functions),
                    text_count(rate, sizeof rate, window->calls_per_s),
                    calls_cost_text(cost, sizeof cost, window->load));
    tui_findings_window(c->s.tui, window);
    tui_session_show(&c->s);
}

/* ---- beginning */

static unsigned option_ms(const struct tui_calls *c, enum option option)
{
    return (unsigned)(option_double(&c->s.tui->settings.options, option) * 1000 + 0.5);
}

static int open_screen_calls(struct tui_calls *c, struct session **out, const char *words,
                             size_t *offset, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = on_calls_changed,
                                                     .on_window = on_calls_window};
    const struct options *o = &c->s.tui->settings.options;
    struct trace_request traces;
    struct session_port port;
    settings_request(&c->s.tui->settings, false, &traces);
    const struct calls_options options = {
        .patterns = &words,
        .n_patterns = *words != '\0',
        .syntax = traces.syntax,
        .procs = option_text(o, OPTION_CALLS_PROCS),
        .for_ms = option_ms(c, OPTION_CALLS_WINDOW),
        .every_ms = option_ms(c, OPTION_CALLS_EVERY),
        .top = (unsigned)option_int(o, OPTION_CALLS_ROWS),
        .time = option_bool(o, OPTION_CALLS_TIME),
        .memory = option_bool(o, OPTION_CALLS_MEMORY),
    };
    int rc = live_port(c->s.tui->live, &port, err);
    if (rc == 0)
        rc = calls_open(out, &options, &port, &handlers, c, NULL, offset, err);
    return rc;
}

static int start_calls(void *arg, const char *words, size_t *offset, struct error *err)
{
    struct tui_calls *c = arg;
    struct session *session = NULL;
    words += strspn(words, " ");
    if (strlen(words) >= sizeof c->log.patterns)
        return error_set(err, ERR_USAGE, "at most %zu characters", sizeof c->log.patterns - 1);
    int rc = open_screen_calls(c, &session, words, offset, err);
    if (rc != 0)
        return rc;
    calls_log_begin(&c->log, words);
    calls_log_state(&c->log, calls_session_state(session));
    model_set_calls(c->s.tui->model, &c->log);
    tui_session_start(&c->s, session);
    return 0;
}

/* ---- the prompt */

static void begin_calls(void *arg, const char *words)
{
    struct tui_calls *c = arg;
    tui_session_begin(&c->s, strcmp(words, "all") == 0 ? "" : words); /* a module: all:_ */
}

/* That of the last window, where there is one. */
static void put_calls_cost(void *arg, char *out, size_t size)
{
    const struct tui_calls *c = arg;
    char text[32];
    if (model_calls(c->s.tui->model) && c->log.has_window && !isnan(c->log.window.load))
        snprintf(out, size, "; the last window cost %s of the node",
                 calls_cost_text(text, sizeof text, c->log.window.load));
}

static void open_calls_prompt(void *arg, const char *initial)
{
    struct tui_calls *c = arg;
    static const struct tui_names names = {.kind = PROMPT_CALLS,
                                           .mark = "calls> ",
                                           .syntax = SYNTAX_HINT,
                                           .line = NAMES_LIST,
                                           .complete = complete_calls,
                                           .held = window_is_open,
                                           .cost = put_calls_cost,
                                           .accepted = begin_calls};
    tui_names_open(c->s.tui, &names, c, initial);
}

/* ---- what the user does */

static void act_calls(void *own, const char *arg)
{
    struct tui_calls *c = own;
    struct tui *t = c->s.tui;
    if (*arg) {
        begin_calls(c, arg);
    } else if (strcmp(screen_view(t->screen), CALLS_VIEW) == 0 || !model_calls(t->model)) {
        open_calls_prompt(c, c->log.patterns);
        tui_names_look(t);
    } else {
        tui_act(t, ACTION_VIEW, CALLS_VIEW);
    }
}

/* Measuring starts with the next window, in a new session. */
static void act_time(void *own, const char *arg)
{
    struct tui_calls *c = own;
    struct error err = {0};
    struct options *o = &c->s.tui->settings.options;
    (void)arg;
    if (option_toggle(o, OPTION_CALLS_TIME, &err) != 0) {
        tui_message(c->s.tui, STYLE_ERROR, "%s", err.text);
        return;
    }
    tui_message(c->s.tui, STYLE_MESSAGE,
                option_bool(o, OPTION_CALLS_TIME)
                    ? "own time of the top functions is measured in a second window"
                    : "only calls are counted");
    if (session_runs(c->s.session))
        begin_calls(c, c->log.patterns);
}

/* ---- life */

static void *make_calls(struct tui *t)
{
    static const struct tui_session_kind kind = {
        .node_question = QUESTION_CALLS,
        .before = {{QUESTION_CALLS, .ends = true},
                   {QUESTION_SPANS,
                    .said = "requests are captured, and before OTP 27 both cannot run on one node: "
                            "stop that first",
                    .stop = "spans-stop"}},
        .view = CALLS_VIEW,
        .ending = "ending the counting…",
        .over = "",
        .verb = "Count",
        .idle = "nothing is counted",
        .estimate = estimate_calls,
        .begun = calls_begun,
        .ended = calls_ended,
        .begin = begin_calls,
        .start = start_calls,
        .prompt = open_calls_prompt};
    struct tui_calls *c = alloc_zero(1, sizeof *c);
    calls_log_init(&c->log);
    tui_session_init(&c->s, t, &kind);
    return c;
}

static void free_screen_calls(void *own)
{
    struct tui_calls *c = own;
    calls_log_clear(&c->log);
    free(c);
}

const struct tui_owner tui_calls_owner = {
    .acts = {[ACTION_CALLS] = {.run = act_calls},
             [ACTION_CALLS_STOP] = {.run = tui_session_act_stop},
             [ACTION_CALLS_TIME] = {.run = act_time}},
    .make = make_calls,
    .at = {[TUI_FREES] = free_screen_calls}};
