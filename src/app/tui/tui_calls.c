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
    struct tui *tui;
    struct tui_session s;
    struct calls_log log; /* what the screen shows */
};

static bool calls_run(const struct tui_calls *c)
{
    return session_runs(c->s.session);
}

/* ---- events of the session */

/* Our own questions would be among the calls; windows without a pause leave no time for others. */
static bool window_is_open(void *arg)
{
    const struct tui_calls *c = arg;
    return calls_run(c) && calls_session_counts(c->s.session) &&
           calls_session_leaves_time(c->s.session);
}

static void hold_ticks(struct tui_calls *c)
{
    if (c->tui->live)
        live_hold(c->tui->live, window_is_open(c));
}

static void estimate_text(char *out, size_t size, const struct calls_state *s)
{
    char functions[32], rate[32], limits[120], cost[32];
    snprintf(out, size, "%s functions, about %s calls/s: counting costs %s of the node%s",
             text_integer(functions, sizeof functions, (int64_t)s->functions),
             text_count(rate, sizeof rate, s->calls_per_s),
             calls_cost_text(cost, sizeof cost, s->load),
             calls_limits_text(limits, sizeof limits, s));
}

static void calls_begun(void *arg)
{
    struct tui_calls *c = arg;
    const struct calls_state *s = calls_session_state(c->s.session);
    char estimate[240], text[320];
    estimate_text(estimate, sizeof estimate, s);
    snprintf(text, sizeof text, "calls counted: %.60s: %s",
             *c->log.patterns ? c->log.patterns : "every function", estimate);
    tui_session_journal(&c->s, false, text);
    tui_message(c->tui, STYLE_MESSAGE, "%s%s%s", estimate, *s->others ? "; set by others: " : "",
                s->others);
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

static void calls_question(void *arg, char *text, size_t size)
{
    struct tui_calls *c = arg;
    char estimate[240];
    estimate_text(estimate, sizeof estimate, calls_session_state(c->s.session));
    snprintf(text, size, "%s. Count anyway? (y/n) ", estimate);
}

static void on_change(void *arg)
{
    struct tui_calls *c = arg;
    calls_log_state(&c->log, calls_session_state(c->s.session));
    hold_ticks(c);
    tui_session_changed(&c->s);
}

static void on_window(void *arg, const struct calls_window *window)
{
    struct tui_calls *c = arg;
    char functions[32], rate[32], cost[32];
    calls_log_window(&c->log, window);
    if (window->number == 1 && !isnan(window->load))
        tui_message(c->tui, STYLE_MESSAGE,
                    "%s functions, %s calls/s: counting costs %s of the node",
                    text_integer(functions, sizeof functions, (int64_t)window->functions),
                    text_count(rate, sizeof rate, window->calls_per_s),
                    calls_cost_text(cost, sizeof cost, window->load));
    tui_findings_window(c->tui, window);
    tui_session_show(&c->s);
}

/* ---- beginning */

static unsigned milliseconds(const struct tui_calls *c, enum option option)
{
    return (unsigned)(option_double(&c->tui->settings.options, option) * 1000 + 0.5);
}

static int open_calls(struct tui_calls *c, struct session **out, const char *words, size_t *offset,
                      struct error *err)
{
    static const struct session_handlers handlers = {.on_change = on_change,
                                                     .on_window = on_window};
    const struct options *o = &c->tui->settings.options;
    struct trace_request traces;
    struct session_port port;
    settings_request(&c->tui->settings, false, &traces);
    const struct calls_options options = {
        .patterns = &words,
        .n_patterns = *words != '\0',
        .syntax = traces.syntax,
        .procs = option_text(o, OPTION_CALLS_PROCS),
        .for_ms = milliseconds(c, OPTION_CALLS_WINDOW),
        .every_ms = milliseconds(c, OPTION_CALLS_EVERY),
        .top = (unsigned)option_int(o, OPTION_CALLS_ROWS),
        .time = option_bool(o, OPTION_CALLS_TIME),
        .memory = option_bool(o, OPTION_CALLS_MEMORY),
    };
    int rc = live_port(c->tui->live, &port, err);
    if (rc == 0)
        rc = calls_open(out, &options, &port, &handlers, c, NULL, offset, err);
    return rc;
}

static int start_calls(struct tui_calls *c, const char *words, size_t *offset, struct error *err)
{
    struct session *session = NULL;
    char copy[sizeof c->log.patterns];
    words += strspn(words, " ");
    if (strlen(words) >= sizeof copy)
        return error_set(err, ERR_USAGE, "at most %zu characters", sizeof copy - 1);
    snprintf(copy, sizeof copy, "%s", words); /* they may be ours */
    int rc = open_calls(c, &session, copy, offset, err);
    if (rc != 0)
        return rc;
    calls_log_begin(&c->log, copy);
    calls_log_state(&c->log, calls_session_state(session));
    model_set_calls(c->tui->model, &c->log);
    tui_session_start(&c->s, session);
    return 0;
}

/* ---- the prompt */

static void begin_calls(void *arg, const char *words);

/* That of the last window, where there is one. */
static void put_calls_cost(void *arg, char *out, size_t size)
{
    const struct tui_calls *c = arg;
    char text[32];
    if (model_calls(c->tui->model) && c->log.has_window && !isnan(c->log.window.load))
        snprintf(out, size, "; the last window cost %s of the node",
                 calls_cost_text(text, sizeof text, c->log.window.load));
}

static void open_calls_prompt(struct tui_calls *c, const char *initial)
{
    static const struct tui_names names = {.kind = PROMPT_CALLS,
                                           .mark = "calls> ",
                                           .syntax = SYNTAX_HINT,
                                           .line = NAMES_LIST,
                                           .complete = complete_calls,
                                           .held = window_is_open,
                                           .cost = put_calls_cost,
                                           .accepted = begin_calls};
    tui_names_open(c->tui, &names, c, initial);
}

static void ask_words(struct tui_calls *c)
{
    open_calls_prompt(c, c->log.patterns);
    tui_names_look(c->tui);
}

/* At once, or when what is counted now has ended. */
static void begin_calls(void *arg, const char *words)
{
    struct tui_calls *c = arg;
    struct error err = {0};
    size_t offset = 0;
    if (strcmp(words, "all") == 0) /* a module of that name is all:_ */
        words = "";
    if (tui_session_waits(&c->s, words) || start_calls(c, words, &offset, &err) == 0)
        return;
    if (err.code != ERR_USAGE) {
        tui_message(c->tui, STYLE_ERROR, "%s", err.text);
        return;
    }
    open_calls_prompt(c, words);
    prompt_mark_error(c->tui->prompt, offset, err.text);
}

/* ---- what the user does */

static void act_calls(void *own, const char *arg)
{
    struct tui_calls *c = own;
    struct error err = {0};
    bool here = strcmp(screen_view(c->tui->screen), CALLS_VIEW) == 0;
    if (*arg)
        begin_calls(c, arg);
    else if (here || !model_calls(c->tui->model))
        ask_words(c);
    else if (screen_act(c->tui->screen, c->tui->model, ACTION_VIEW, CALLS_VIEW, &err) < 0)
        tui_message(c->tui, STYLE_ERROR, "%s", err.text);
}

/* Measuring starts with the next window, in a new session. */
static void act_time(void *own, const char *arg)
{
    struct tui_calls *c = own;
    struct error err = {0};
    struct options *o = &c->tui->settings.options;
    (void)arg;
    if (option_toggle(o, OPTION_CALLS_TIME, &err) != 0) {
        tui_message(c->tui, STYLE_ERROR, "%s", err.text);
        return;
    }
    tui_message(c->tui, STYLE_MESSAGE,
                option_bool(o, OPTION_CALLS_TIME)
                    ? "own time of the top functions is measured in a second window"
                    : "only calls are counted");
    if (calls_run(c))
        begin_calls(c, c->log.patterns);
}

static void act_stop(void *own, const char *arg)
{
    struct tui_calls *c = own;
    (void)arg;
    if (!tui_session_stop(&c->s))
        tui_message(c->tui, STYLE_MESSAGE, "nothing is counted");
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
        .question = calls_question,
        .begun = calls_begun,
        .ended = calls_ended,
        .begin = begin_calls};
    struct tui_calls *c = alloc_zero(1, sizeof *c);
    c->tui = t;
    calls_log_init(&c->log);
    tui_session_init(&c->s, t, &kind, c);
    return c;
}

static void free_calls(void *own)
{
    struct tui_calls *c = own;
    calls_log_clear(&c->log);
    free(c);
}

const struct tui_owner tui_calls_owner = {.acts = {[ACTION_CALLS] = act_calls,
                                                   [ACTION_CALLS_STOP] = act_stop,
                                                   [ACTION_CALLS_TIME] = act_time},
                                          .make = make_calls,
                                          .at = {[TUI_FREES] = free_calls}};
