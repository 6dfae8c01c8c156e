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
#include "app/cli/tell.h"
#include "tui_trace_internal.h"

#define TICK_MS 100u
#define QUIT_WAIT_MS 2000u /* for the proof, when the program is left */

const struct trace_state *tui_trace_state(const struct tui_trace *tr)
{
    return tr->session ? trace_log_state(trace_session_log(tr->session)) : NULL;
}

bool tui_trace_runs(const struct tui_trace *tr)
{
    const struct trace_state *s = tui_trace_state(tr);
    return s != NULL && session_status_runs(&s->status);
}

/* ---- the journal: what we did on the target */

static void journal(struct tui_trace *tr, bool trouble, const char *text)
{
    model_journal(tr->tui->model, clock_wall_us(), trouble, "%s", text);
}

static void journal_armed(struct tui_trace *tr, const struct trace_state *s)
{
    char text[240];
    snprintf(text, sizeof text, "trace armed: %llu function%s, %.60s: %.120s",
             (unsigned long long)s->preflight.functions, s->preflight.functions == 1 ? "" : "s",
             *s->status.procs ? s->status.procs : "all processes", tr->line);
    journal(tr, false, text);
}

static void journal_ended(struct tui_trace *tr, const struct trace_state *s)
{
    char text[240];
    const struct session_check *check = &s->status.check;
    tr->proof[0] = '\0';
    if (s->status.phase == SESSION_FAILED) {
        snprintf(text, sizeof text, "nothing was traced: %.200s", s->status.error.text);
        journal(tr, true, text);
        return;
    }
    snprintf(text, sizeof text, "trace ended: %s", s->end_text);
    journal(tr, s->end == END_KILLED || s->end == END_LINK, text);
    if (check->done && check->clean)
        snprintf(text, sizeof text,
                 "target clean: nothing of the trace is left, checked %.0f ms after",
                 (double)check->after_us / 1000);
    else
        snprintf(text, sizeof text, "%s", *check->text ? check->text : "never armed");
    journal(tr, *check->text != '\0', text);
    snprintf(tr->proof, sizeof tr->proof, "%s", text);
}

/* ---- events of the session */

static bool writable(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) != 0;
}

/* What is not visible is not fetched. */
static void hold(struct tui_trace *tr)
{
    if (tr->session)
        trace_hold(tr->session, tr->tui->paused || !writable());
}

static void answered(struct tui *t, bool yes)
{
    struct tui_trace *tr = t->trace;
    if (!tr->session)
        return;
    if (yes)
        session_confirm(tr->session);
    else
        session_stop(tr->session);
}

static void ask_expensive(struct tui_trace *tr, const struct trace_state *s)
{
    char text[200], rate[32];
    if (tr->asked || prompt_is_open(tr->tui->prompt))
        return;
    tr->asked = true;
    /* Short: its end must be visible at 80 columns; the view shows the rest. */
    snprintf(text, sizeof text,
             "%s calls/s would cost %.0f%% of one scheduler. Trace anyway? (y/n) ",
             text_count(rate, sizeof rate, s->preflight.calls_per_s), s->preflight.load * 100);
    tui_ask(tr->tui, text, answered);
}

static void show(struct tui_trace *tr)
{
    if (!tr->tui->paused)
        screen_update(tr->tui->screen);
    tui_touch(tr->tui);
}

/* Opens the prompt again for what you can correct; shows the rest. */
static void tell_failure(struct tui_trace *tr, const struct trace_state *s)
{
    enum err code = s->status.error.code;
    bool words = code == ERR_NOT_FOUND || code == ERR_LIMIT || code == ERR_USAGE;
    if (words && tr->quit_by_ms == 0 && !prompt_is_open(tr->tui->prompt))
        tui_trace_mistake(tr, tr->line, s->status.error.text);
    else
        tui_message(tr->tui, STYLE_ERROR, "%s", s->status.error.text);
}

static void on_change(void *arg)
{
    struct tui_trace *tr = arg;
    const struct trace_state *s = tui_trace_state(tr);
    if (s == NULL)
        return;
    if (s->status.phase == SESSION_ASKING)
        ask_expensive(tr, s);
    if (s->status.phase == SESSION_RUNNING && tr->reported < SESSION_RUNNING)
        journal_armed(tr, s);
    if (!tui_trace_runs(tr) && tr->reported != s->status.phase)
        journal_ended(tr, s);
    if (s->status.phase == SESSION_FAILED && tr->reported != SESSION_FAILED)
        tell_failure(tr, s);
    tr->reported = s->status.phase;
    show(tr);
}

static void on_timer(uv_timer_t *timer);

void tui_trace_after_calls(struct tui_trace *tr, const char *line)
{
    char *next = alloc_strdup(line); /* the line may be ours */
    free(tr->next);
    tr->next = next;
    tr->next_agreed = true;
    (void)tui_calls_stop(tr->tui->calls);
    tui_message(tr->tui, STYLE_MESSAGE, "the counting ends, then the trace begins");
    uv_timer_start(&tr->timer, on_timer, TICK_MS, TICK_MS);
}

static void start_next(struct tui_trace *tr)
{
    if (!tr->next_agreed)
        return;
    char *next = tr->next;
    tr->next = NULL;
    tr->next_agreed = false;
    tui_trace_submit(tr, next);
    free(next);
}

/* Not from within the session: what follows its end may free it. */
static void on_timer(uv_timer_t *timer)
{
    struct tui_trace *tr = timer->data;
    bool late = tr->quit_by_ms != 0 && uv_now(&tr->tui->loop) >= tr->quit_by_ms;
    const struct trace_state *s = tui_trace_state(tr);
    if (s != NULL && s->status.phase == SESSION_ASKING)
        ask_expensive(tr, s);
    if (tui_trace_runs(tr) && !late) {
        hold(tr);
        session_tick(tr->session);
        return;
    }
    if (tr->next_agreed && tui_calls_in_the_way(tr->tui->calls))
        return;
    uv_timer_stop(timer);
    if (tr->quit_by_ms != 0)
        tui_leave(tr->tui);
    else
        start_next(tr);
}

/* ---- beginning */

void tui_trace_defaults(const struct tui_trace *tr, struct trace_request *out)
{
    struct settings_trace s;
    settings_trace_caps(&tr->tui->settings, false, &s);
    *out =
        (struct trace_request){.caps = s.caps, .syntax = s.syntax, .on_rate_stop = s.on_rate_stop};
}

static void forget_session(struct tui_trace *tr)
{
    if (tr->tui->model) /* none where there is no way to the node */
        model_set_trace(tr->tui->model, NULL);
    session_free(tr->session);
    tr->session = NULL;
}

/* The words are looked at before the trace that is on the screen makes room. */
static int open_session(struct tui_trace *tr, struct session **out, const struct trace_request *r,
                        size_t *offset, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = on_change};
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
    if (r->procs != NULL && procs_parse(&procs, r->procs, &at, err) != 0) {
        *offset = r->procs_at + at;
        return err->code;
    }
    *offset = r->pattern_at;
    rc = live_port(tr->tui->live, &port, err);
    if (rc == 0)
        rc = trace_open(out, &options, &port, &handlers, tr, NULL, &at, err);
    *offset = r->pattern_at + at;
    return rc;
}

int tui_trace_start(struct tui_trace *tr, const char *line, size_t *offset, struct error *err)
{
    struct trace_request request;
    struct session *session = NULL;
    struct error view_err = {.code = ERR_NONE};
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
    forget_session(tr);
    free(tr->line);
    tr->line = copy;
    tr->session = session;
    tr->reported = SESSION_PREPARING;
    tr->asked = tr->paused_by_us = false;
    model_set_trace(tr->tui->model, trace_session_log(session));
    uv_timer_start(&tr->timer, on_timer, TICK_MS, TICK_MS);
    if (screen_act(tr->tui->screen, tr->tui->model, ACTION_VIEW, "trace", &view_err) < 0)
        tui_message(tr->tui, STYLE_ERROR, "%s", view_err.text);
    show(tr);
    return 0;
}

/* ---- news of the source */

static void lose(struct tui_trace *tr, const char *why)
{
    struct error err = {.code = ERR_NONE};
    error_set(&err, ERR_LOST, "%s", why);
    if (tr->session)
        session_link_lost(tr->session, &err);
}

void tui_trace_link(struct tui_trace *tr, bool up)
{
    if (up)
        return;
    lose(tr, "the connection is lost");
    tui_trace_assist_lost(tr);
}

void tui_trace_leave(struct tui_trace *tr)
{
    if (tui_trace_runs(tr))
        session_stop(tr->session);
    lose(tr, "another node was chosen");
    tui_trace_assist_lost(tr);
}

/* ---- news of the program */

void tui_trace_paused(struct tui_trace *tr)
{
    hold(tr);
}

void tui_trace_suspend(struct tui_trace *tr, bool stands)
{
    const struct trace_state *s = tui_trace_state(tr);
    if (s == NULL)
        return;
    if (stands && s->status.phase == SESSION_RUNNING) {
        tr->paused_by_us = true;
        trace_pause(tr->session, true);
    } else if (!stands && tr->paused_by_us) {
        tr->paused_by_us = false;
        trace_pause(tr->session, false);
    }
}

static void quit_answered(struct tui *t, bool yes)
{
    struct tui_trace *tr = t->trace;
    if (!yes)
        return;
    if (!tui_trace_runs(tr)) {
        tui_leave(t);
        return;
    }
    tr->quit_by_ms = uv_now(&t->loop) + QUIT_WAIT_MS;
    session_stop(tr->session);
    tui_message(t, STYLE_MESSAGE, "ending the trace…");
}

void tui_trace_print_end(const struct tui_trace *tr)
{
    if (tr->quit_by_ms == 0)
        return;
    tell_line("the trace was ended; %s",
              *tr->proof ? tr->proof : "the node takes off what is left of it with the connection");
}

bool tui_trace_quit(struct tui_trace *tr)
{
    if (!tui_trace_runs(tr) || tr->quit_by_ms != 0)
        return false;
    tui_ask(tr->tui, "A trace is running. Stop it and quit? (y/n) ", quit_answered);
    return true;
}

/* ---- life */

struct tui_trace *tui_trace_new(struct tui *t)
{
    struct tui_trace *tr = alloc_zero(1, sizeof *tr);
    tr->tui = t;
    uv_timer_init(&t->loop, &tr->timer);
    uv_timer_init(&t->loop, &tr->pause);
    tr->timer.data = tr->pause.data = tr;
    tr->assist = assist_new(tui_trace_assist_known, tr);
    return tr;
}

void tui_trace_close(struct tui_trace *tr)
{
    uv_timer_stop(&tr->timer);
    uv_timer_stop(&tr->pause);
    tui_trace_assist_lost(tr);
    forget_session(tr);
}

void tui_trace_free(struct tui_trace *tr)
{
    assist_free(tr->assist);
    free(tr->line);
    free(tr->next);
    free(tr->save_path);
    free(tr);
}
