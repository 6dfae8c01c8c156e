/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "beamtop/trace/calls_log.h"
#include "tui_internal.h"

/* clang-format off */
#define TICK_MS 100u
#define QUIT_WAIT_MS 2000u /* for the proof, when the program is left */
#define CALLS_VIEW "calls"
#define MARK "calls> "
/* clang-format on */
#define HINT                                                                                       \
    "module:function/arity, a module, app:NAME, /expression/:_; empty: every function\n"           \
    "Tab completes, Up recalls, Enter starts; the cost is measured first"

struct tui_calls {
    struct tui *tui;
    struct session *session;     /* NULL: none yet */
    struct calls_log log;        /* what the screen shows */
    enum session_phase reported; /* last one in the journal */
    bool asked;                  /* whether to count what is expensive */
    bool alone;                  /* before OTP 27: excludes a trace */
    char *next;                  /* words that wait for its end; NULL: none */
    uv_timer_t timer;
    uint64_t quit_by_ms; /* leave when it has ended, or then; 0: stay */
    char proof[240];     /* that it is off */
};

static bool runs(const struct tui_calls *c)
{
    return c->session && calls_log_runs(&c->log);
}

/* ---- events of the session */

/* Our own questions would be among the calls; windows without a pause leave no time for others. */
static void hold_ticks(struct tui_calls *c)
{
    if (c->tui->live)
        live_hold(c->tui->live,
                  calls_session_counts(c->session) && calls_session_leaves_time(c->session));
}

static void show(struct tui_calls *c)
{
    if (!c->tui->paused)
        screen_update(c->tui->screen);
    tui_touch(c->tui);
}

static void journal(struct tui_calls *c, bool trouble, const char *text)
{
    model_journal(c->tui->model, clock_wall_us(), trouble, "%s", text);
}

static void estimate_text(char *out, size_t size, const struct calls_state *s)
{
    char functions[32], rate[32];
    snprintf(out, size, "%s functions, about %s calls/s: counting costs about %.2g%% of the node",
             text_integer(functions, sizeof functions, (int64_t)s->functions),
             text_count(rate, sizeof rate, s->calls_per_s), s->load * 100);
}

static void tell_begin(struct tui_calls *c, const struct calls_state *s)
{
    char estimate[160], text[240];
    estimate_text(estimate, sizeof estimate, s);
    snprintf(text, sizeof text, "calls counted: %.60s: %s",
             *c->log.words ? c->log.words : "every function", estimate);
    journal(c, false, text);
    tui_message(c->tui, STYLE_MESSAGE, "%s%s%s", estimate, *s->others ? "; also there: " : "",
                s->others);
}

static void tell_end(struct tui_calls *c, const struct calls_state *s)
{
    bool trouble = s->status.phase == SESSION_FAILED || !s->status.check.clean ||
                   s->status.error.code != ERR_NONE;
    char text[240];
    if (s->status.phase == SESSION_FAILED)
        snprintf(text, sizeof text, "nothing was counted: %.200s", s->status.error.text);
    else if (s->status.check.done && s->status.check.clean)
        snprintf(text, sizeof text,
                 "counting ended after %u window%s; target clean: nothing of "
                 "it is left, checked %.0f ms after%s%.80s",
                 s->windows, s->windows == 1 ? "" : "s", (double)s->status.check.after_us / 1000,
                 s->status.error.code != ERR_NONE ? "; " : "", s->status.error.text);
    else
        snprintf(text, sizeof text, "counting ended: %.100s%s%.100s", s->status.error.text,
                 *s->status.check.text ? "; " : "",
                 *s->status.check.text  ? s->status.check.text
                 : s->status.check.done ? ""
                                        : " not verified");
    snprintf(c->proof, sizeof c->proof, "%s", text);
    journal(c, trouble, text);
    if (!c->next && c->quit_by_ms == 0)
        tui_message(c->tui, trouble ? STYLE_ERROR : STYLE_MESSAGE, "%s", text);
}

static void answered(struct tui *t, bool yes)
{
    struct tui_calls *c = t->calls;
    if (!runs(c))
        return;
    if (yes)
        session_confirm(c->session);
    else
        session_stop(c->session);
}

static void ask_expensive(struct tui_calls *c, const struct calls_state *s)
{
    char estimate[160], text[200];
    if (c->asked || c->quit_by_ms != 0 || prompt_is_open(c->tui->prompt))
        return;
    c->asked = true;
    estimate_text(estimate, sizeof estimate, s);
    snprintf(text, sizeof text, "%s. Count anyway? (y/n) ", estimate);
    tui_ask(c->tui, text, answered);
}

static void on_change(void *arg)
{
    struct tui_calls *c = arg;
    const struct calls_state *s = calls_session_state(c->session);
    bool over = s->status.phase == SESSION_ENDED || s->status.phase == SESSION_FAILED;
    calls_log_state(&c->log, s);
    hold_ticks(c);
    if (s->status.phase == SESSION_ASKING)
        ask_expensive(c, s);
    if (s->status.phase == SESSION_RUNNING && c->reported < SESSION_RUNNING) {
        tell_begin(c, s);
        c->reported = SESSION_RUNNING;
    }
    if (over && c->reported != s->status.phase) {
        tell_end(c, s);
        c->reported = s->status.phase;
    }
    show(c);
}

static void on_window(void *arg, const struct calls_window *window)
{
    struct tui_calls *c = arg;
    calls_log_window(&c->log, window);
    tui_findings_window(c->tui->findings, window);
    show(c);
}

/* ---- beginning */

static void forget_session(struct tui_calls *c)
{
    session_free(c->session);
    c->session = NULL;
}

static unsigned milliseconds(const struct tui_calls *c, enum option option)
{
    return (unsigned)(option_double(&c->tui->settings.options, option) * 1000 + 0.5);
}

static int open_session(struct tui_calls *c, const char *words, size_t *offset, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = on_change,
                                                     .on_window = on_window};
    const struct options *o = &c->tui->settings.options;
    struct settings_trace traces;
    struct session_port port;
    settings_trace_caps(&c->tui->settings, false, &traces);
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
    c->alone = rc == 0 && session_port_is_shared(&port);
    if (rc == 0)
        rc = calls_open(&c->session, &options, &port, &handlers, c, NULL, offset, err);
    return rc;
}

static void on_timer(uv_timer_t *timer);

static int start(struct tui_calls *c, const char *words, size_t *offset, struct error *err)
{
    struct error view_err = {.code = ERR_NONE};
    char copy[sizeof c->log.words];
    words += strspn(words, " ");
    if (strlen(words) >= sizeof copy)
        return error_set(err, ERR_USAGE, "at most %zu characters", sizeof copy - 1);
    snprintf(copy, sizeof copy, "%s", words); /* they may be ours */
    forget_session(c);
    int rc = open_session(c, copy, offset, err);
    if (rc != 0)
        return rc;
    calls_log_begin(&c->log, copy);
    calls_log_state(&c->log, calls_session_state(c->session));
    c->reported = SESSION_PREPARING;
    c->asked = false;
    model_set_calls(c->tui->model, &c->log);
    uv_timer_start(&c->timer, on_timer, TICK_MS, TICK_MS);
    if (screen_act(c->tui->screen, c->tui->model, ACTION_VIEW, CALLS_VIEW, &view_err) < 0)
        tui_message(c->tui, STYLE_ERROR, "%s", view_err.text);
    show(c);
    return 0;
}

static void begin(struct tui_calls *c, const char *words);

/* Not from within the session: what follows its end frees it. */
static void on_timer(uv_timer_t *timer)
{
    struct tui_calls *c = timer->data;
    bool late = c->quit_by_ms != 0 && uv_now(&c->tui->loop) >= c->quit_by_ms;
    if (runs(c) && c->log.state.status.phase == SESSION_ASKING)
        ask_expensive(c, &c->log.state);
    if (runs(c) && !late) {
        session_tick(c->session);
        return;
    }
    uv_timer_stop(timer);
    if (c->quit_by_ms != 0) {
        tui_quit(c->tui, EXIT_DONE, NULL);
    } else if (c->next) {
        char *next = c->next;
        c->next = NULL;
        begin(c, next);
        free(next);
    }
}

/* ---- the prompt */

static void accepted(void *ctx, const char *line)
{
    begin(ctx, line);
}

/* A mistake at the end of the line is not marked: the rest is still to be typed. */
static void changed(void *ctx, const char *line)
{
    struct tui_calls *c = ctx;
    struct settings_trace traces;
    struct pattern **patterns = NULL;
    struct error err = {.code = ERR_NONE};
    size_t n = 0, offset = 0;
    tui_trace_names_drop(c->tui->trace);
    if (line[strspn(line, " ")] == '\0')
        return;
    settings_trace_caps(&c->tui->settings, false, &traces);
    if (calls_patterns_parse(&patterns, &n, line, traces.syntax, &offset, &err) == 0)
        patterns_free(patterns, n);
    else if (offset < strlen(line))
        prompt_mark_error(c->tui->prompt, offset, err.text);
}

static void complete(void *ctx, const char *line, size_t point, struct completion *out)
{
    struct tui_calls *c = ctx;
    tui_trace_names_complete(c->tui->trace, line, point, out);
}

static void open_prompt(struct tui_calls *c, const char *initial)
{
    const struct prompt_calls calls = {
        .changed = changed, .accepted = accepted, .complete = complete, .ctx = c};
    tui_trace_names_begin(c->tui->trace);
    prompt_open(c->tui->prompt, PROMPT_CALLS, MARK, initial, &calls);
    prompt_set_hint(c->tui->prompt, STYLE_DIM, HINT);
    tui_touch(c->tui);
}

/* At once, or when what is counted now has ended. */
static void begin(struct tui_calls *c, const char *words)
{
    struct error err = {.code = ERR_NONE};
    size_t offset = 0;
    if (strcmp(words, "all") == 0) /* a module of that name is all:_ */
        words = "";
    if (runs(c)) {
        free(c->next);
        c->next = alloc_strdup(words);
        session_stop(c->session);
        return;
    }
    if (start(c, words, &offset, &err) == 0)
        return;
    if (err.code != ERR_USAGE) {
        tui_message(c->tui, STYLE_ERROR, "%s", err.text);
        return;
    }
    open_prompt(c, words);
    prompt_mark_error(c->tui->prompt, offset, err.text);
}

/* ---- what a person does */

static void act_calls(struct tui_calls *c, const char *arg)
{
    struct error err = {.code = ERR_NONE};
    bool here = strcmp(screen_view(c->tui->screen), CALLS_VIEW) == 0;
    if (*arg)
        begin(c, arg);
    else if (here || !model_calls(c->tui->model))
        open_prompt(c, c->log.words);
    else if (screen_act(c->tui->screen, c->tui->model, ACTION_VIEW, CALLS_VIEW, &err) < 0)
        tui_message(c->tui, STYLE_ERROR, "%s", err.text);
}

/* Measuring starts with the next window, in a new session. */
static void act_time(struct tui_calls *c, const char *arg)
{
    struct error err = {.code = ERR_NONE};
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
    if (runs(c))
        begin(c, c->log.words);
}

bool tui_calls_stop(struct tui_calls *c)
{
    if (!runs(c))
        return false;
    free(c->next);
    c->next = NULL;
    session_stop(c->session);
    return true;
}

bool tui_calls_in_the_way(const struct tui_calls *c)
{
    return runs(c) && c->alone;
}

static void act_stop(struct tui_calls *c, const char *arg)
{
    (void)arg;
    if (!tui_calls_stop(c))
        tui_message(c->tui, STYLE_MESSAGE, "nothing is counted");
}

static void (*const handlers[ACTIONS])(struct tui_calls *c, const char *arg) = {
    [ACTION_CALLS] = act_calls,
    [ACTION_CALLS_STOP] = act_stop,
    [ACTION_CALLS_TIME] = act_time,
};

bool tui_calls_has(enum action action)
{
    return handlers[action] != NULL;
}

void tui_calls_act(struct tui *t, enum action action, const char *arg)
{
    handlers[action](t->calls, arg);
}

/* ---- news of the source */

static void lose(struct tui_calls *c, const char *why)
{
    struct error err = {.code = ERR_NONE};
    error_set(&err, ERR_LOST, "%s", why);
    if (c->session)
        session_link_lost(c->session, &err);
}

void tui_calls_link(struct tui_calls *c, bool up)
{
    if (!up)
        lose(c, "the connection is lost");
}

void tui_calls_leave(struct tui_calls *c)
{
    (void)tui_calls_stop(c);
    lose(c, "another node was chosen");
}

/* ---- leaving */

bool tui_calls_quit(struct tui_calls *c)
{
    if (!runs(c) || c->quit_by_ms != 0)
        return false;
    (void)tui_calls_stop(c);
    c->quit_by_ms = uv_now(&c->tui->loop) + QUIT_WAIT_MS;
    tui_message(c->tui, STYLE_MESSAGE, "ending the counting…");
    return true;
}

void tui_calls_print_end(const struct tui_calls *c)
{
    if (c->quit_by_ms != 0)
        fprintf(stderr, "beamtop: %s\n",
                runs(c) ? "the node takes off with the connection what is "
                          "left of the counting"
                        : c->proof);
}

/* ---- life */

struct tui_calls *tui_calls_new(struct tui *t)
{
    struct tui_calls *c = alloc_zero(1, sizeof *c);
    c->tui = t;
    calls_log_init(&c->log);
    uv_timer_init(&t->loop, &c->timer);
    c->timer.data = c;
    return c;
}

void tui_calls_close(struct tui_calls *c)
{
    uv_timer_stop(&c->timer);
    if (c->tui->model)
        model_set_calls(c->tui->model, NULL);
    forget_session(c);
}

void tui_calls_free(struct tui_calls *c)
{
    calls_log_clear(&c->log);
    free(c->next);
    free(c);
}
