/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui_session.h"

#include "tui_owners.h"

#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "app/cli/tell.h"

#define TICK_MS 100u
#define QUIT_WAIT_MS 2000u /* for the proof, when the program is left */

/* ---- what it says */

void tui_session_proof(struct tui_session *s)
{
    session_check_text(s->proof, sizeof s->proof, &session_status(s->session)->check, "the node");
}

void tui_session_end(struct tui_session *s, const char *nothing, const char *did, const char *stays)
{
    const struct session_status *status = session_status(s->session);
    const char *why = status->error.text;
    bool trouble = status->phase == SESSION_FAILED || !status->check.clean || *why;
    char left[sizeof s->proof];
    session_check_text(left, sizeof left, &status->check, "the node");
    if (status->phase == SESSION_FAILED)
        snprintf(s->proof, sizeof s->proof, "%s: %.200s", nothing, why);
    else if (status->check.unarmed)
        snprintf(s->proof, sizeof s->proof, "%s: it was stopped before it was set", nothing);
    else
        snprintf(s->proof, sizeof s->proof, "%s; %.150s%s%.80s", did, stays ? stays : left,
                 *why ? "; " : "", why);
    tui_journal(s->tui, trouble, "%s", s->proof);
    if (!s->next && s->quit_by_ms == 0)
        tui_message(s->tui, trouble ? STYLE_ERROR : STYLE_MESSAGE, "%s", s->proof);
}

void tui_session_show(struct tui_session *s)
{
    if (!s->tui->paused)
        screen_update(s->tui->screen);
    tui_touch(s->tui);
}

static void consent_answered(void *arg, bool yes)
{
    struct tui_session *s = arg;
    if (s->session && yes)
        session_confirm(s->session);
    else if (s->session)
        session_stop(s->session);
}

static void ask_consent(struct tui_session *s)
{
    char estimate[240], text[300];
    if (s->asked || s->quit_by_ms != 0 || prompt_is_open(s->tui->prompt))
        return;
    s->asked = true;
    s->kind->estimate(s, estimate, sizeof estimate);
    snprintf(text, sizeof text, "%s. %s anyway? (y/n) ", estimate, s->kind->verb);
    tui_ask(s->tui, text, consent_answered, s);
}

void tui_session_changed(void *arg)
{
    struct tui_session *s = arg;
    if (!s->session)
        return;
    enum session_phase phase = session_status(s->session)->phase;
    bool begun = phase == SESSION_RUNNING && s->reported < SESSION_RUNNING;
    bool ended = !session_runs(s->session) && s->reported != phase;
    if (phase == SESSION_ASKING)
        ask_consent(s);
    if (begun || ended)
        s->reported = phase;
    if (begun)
        s->kind->begun(s);
    if (ended)
        s->kind->ended(s);
    tui_session_show(s);
}

/* ---- its timer */

/* Not from within the session: what follows its end may free it. */
static void on_session_timer(uv_timer_t *timer)
{
    struct tui_session *s = timer->data;
    bool late = s->quit_by_ms != 0 && uv_now(&s->tui->rt.loop) >= s->quit_by_ms;
    if (s->session && session_status(s->session)->phase == SESSION_ASKING)
        ask_consent(s);
    if (session_runs(s->session) && !late) {
        if (s->kind->turn)
            s->kind->turn(s);
        session_tick(s->session);
        return;
    }
    char *next = s->next;
    s->next = NULL;
    uv_timer_stop(timer);
    if (s->quit_by_ms != 0)
        tui_leave(s->tui);
    else if (next)
        s->kind->begin(s, next);
    free(next);
}

void tui_session_then(struct tui_session *s, const char *words)
{
    char *next = words ? alloc_strdup(words) : NULL; /* they may be s->next */
    free(s->next);
    s->next = next;
    if (next)
        uv_timer_start(&s->timer, on_session_timer, TICK_MS, TICK_MS);
}

/* One of a kind is about to begin while another runs that excludes it. */
static void meet_running(struct tui_session *s, const char *words, struct tui_session *other,
                         const struct tui_session_before *how)
{
    char key[64];
    if (how->ends) {
        tui_session_then(s, words);
        if (other != s)
            tui_session_then(other, NULL);
        session_stop(other->session);
        if (how->said)
            tui_message(s->tui, STYLE_MESSAGE, "%s", how->said);
    } else {
        tui_message(s->tui, STYLE_ERROR, "%s (%s)", how->said,
                    how->stop ? how->stop
                              : tui_key(s->tui, ACTION_VIEW, other->kind->view, key, sizeof key));
    }
}

bool tui_session_waits(struct tui_session *s, const char *words)
{
    for (struct tui_session *o = s->tui->own[TUI_SESSIONS]; o; o = o->other)
        for (size_t i = 0; i < ARRAY_LEN(s->kind->before); i++)
            if (s->kind->before[i].running == o->kind->node_question &&
                session_excludes(o->session, s->kind->node_question)) {
                meet_running(s, words, o, &s->kind->before[i]);
                return true;
            }
    return false;
}

void tui_session_begin(struct tui_session *s, const char *words)
{
    struct error err = {0};
    size_t offset = 0;
    char *line = alloc_strdup(words); /* they may be those of the session before */
    if (!tui_session_waits(s, line) && s->kind->start(s, line, &offset, &err) != 0) {
        if (err.code == ERR_USAGE) {
            s->kind->prompt(s, line);
            prompt_mark_error(s->tui->prompt, offset, err.text);
        } else {
            tui_message(s->tui, STYLE_ERROR, "%s", err.text);
        }
    }
    free(line);
}

bool tui_session_stop(struct tui_session *s)
{
    if (!session_runs(s->session))
        return false;
    tui_session_then(s, NULL);
    session_stop(s->session);
    return true;
}

void tui_session_act_stop(void *own, const char *arg)
{
    struct tui_session *s = own;
    (void)arg;
    if (!tui_session_stop(s))
        tui_message(s->tui, STYLE_MESSAGE, "%s", s->kind->idle);
}

bool tui_sessions_stop(struct tui *t)
{
    bool any = false;
    for (struct tui_session *s = t->own[TUI_SESSIONS]; s; s = s->other)
        any |= tui_session_stop(s);
    return any;
}

void tui_session_start(struct tui_session *s, struct session *session)
{
    session_free(s->session);
    s->session = session;
    s->reported = SESSION_PREPARING;
    s->asked = false;
    s->proof[0] = '\0';
    uv_timer_start(&s->timer, on_session_timer, TICK_MS, TICK_MS);
    tui_act(s->tui, ACTION_VIEW, s->kind->view);
    tui_session_show(s);
}

/* ---- its end */

static void forget_sessions(void *own)
{
    struct tui_session *s = own;
    model_set_trace(s->tui->model, NULL);
    model_set_calls(s->tui->model, NULL);
    model_set_spans(s->tui->model, NULL);
    model_set_events(s->tui->model, NULL);
    for (; s; s = s->other) {
        session_free(s->session);
        s->session = NULL;
    }
}

static void detach_sessions(struct tui_session *s, const char *why)
{
    struct error err = {0};
    error_set(&err, ERR_LOST, "%s", why);
    for (; s; s = s->other)
        if (s->session)
            session_link_lost(s->session, &err);
}

static void lose_sessions_link(void *own)
{
    detach_sessions(own, "connection lost");
}

static void leave_sessions(void *own)
{
    for (struct tui_session *s = own; s; s = s->other) {
        (void)tui_session_stop(s);
        tui_session_then(s, NULL);
    }
    detach_sessions(own, "another node was chosen");
}

static void quit_by_session(struct tui_session *s)
{
    s->quit_by_ms = uv_now(&s->tui->rt.loop) + QUIT_WAIT_MS;
    session_stop(s->session);
    tui_message(s->tui, STYLE_MESSAGE, "%s", s->kind->ending);
}

static void quit_answered(void *arg, bool yes)
{
    struct tui_session *s = arg;
    if (yes && session_runs(s->session))
        quit_by_session(s);
    else if (yes)
        tui_leave(s->tui);
}

void tui_leave(struct tui *t)
{
    if (t->several && t->several->quits(t->own[TUI_SEVERAL]))
        return;
    for (struct tui_session *s = t->own[TUI_SESSIONS]; s; s = s->other) {
        if (!session_runs(s->session) || s->quit_by_ms != 0)
            continue;
        if (s->kind->quit)
            tui_ask(t, s->kind->quit, quit_answered, s);
        else
            quit_by_session(s);
        return;
    }
    tui_quit(t, EXIT_DONE, NULL);
}

static void print_sessions_end(void *own)
{
    for (const struct tui_session *s = own; s; s = s->other)
        if (s->quit_by_ms != 0)
            tell_line("%s%s", s->kind->over,
                      *s->proof ? s->proof : "the node clears what is left with the connection");
}

/* ---- life */

void tui_session_init(struct tui_session *s, struct tui *t, const struct tui_session_kind *kind)
{
    *s = (struct tui_session){.tui = t, .kind = kind};
    runtime_timer(&t->rt, &s->timer, s);
    void **last = &t->own[TUI_SESSIONS];
    while (*last)
        last = &((struct tui_session *)*last)->other;
    *last = s;
}

static void close_sessions(void *own)
{
    forget_sessions(own);
    for (struct tui_session *s = own; s; s = s->other)
        free(s->next);
}

const struct tui_owner tui_sessions_owner = {.at = {[TUI_LOST] = lose_sessions_link,
                                                    [TUI_LEAVES] = leave_sessions,
                                                    [TUI_OPENS] = forget_sessions,
                                                    [TUI_CLOSES] = close_sessions,
                                                    [TUI_ENDED] = print_sessions_end}};
