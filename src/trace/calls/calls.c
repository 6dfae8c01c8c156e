/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of counted calls, from parsing to the check that nothing is left on the node. */
#include <stdio.h>

#include "calls_internal.h"
#include "trace/session/prepare.h"

/* ---- The end */

static void on_closed(void *arg, const struct answer *answer)
{
    (void)answer; /* session_verify() checks what is left in any case */
    session_verify(arg);
}

/* Ends the windows, with an error or without. */
static void close_windows(struct calls_session *s, const struct error *why)
{
    struct error err = {0};
    struct builder *b = builder_new();
    if (why)
        s->state.status.error = *why;
    session_enter(&s->s, SESSION_ENDING);
    build_atom(b, "close");
    if (session_ask(&s->s, QUESTION_CALLS, b, CALLS_ASK_MS, on_closed, &err) != 0)
        session_verify(&s->s);
}

static void close_calls(struct session *base)
{
    struct calls_session *s = (struct calls_session *)base;
    if (base->touched) {
        base->stopping = true;
        close_windows(s, NULL);
    } else {
        base->status->check.unarmed = base->status->check.clean = true;
        session_over(base);
    }
}

static void calls_broken(struct session *base, const struct error *why)
{
    struct calls_session *s = (struct calls_session *)base;
    if (s->began_ns > 0)
        close_windows(s, why);
    else
        session_fail(base, why);
}

/* ---- Windows */

static void next_window(struct session *base);

static void deliver_window(struct calls_session *s)
{
    struct calls_kept *kept = &s->kept[s->now];
    struct calls_window *w = &kept->window;
    calls_window_derive(kept, &s->kept[!s->now], s->state.schedulers);
    w->number = ++s->state.windows;
    w->cut = s->s.stopping && w->interval_us < s->state.window_ms * UINT64_C(1000);
    if (s->state.window_ms < s->state.asked_ms)
        w->asked_us = s->state.asked_ms * UINT64_C(1000);
    w->excluded = s->excluded;
    w->n_excluded = s->state.excluded;
    s->s.handlers.on_window(s->s.arg, w);
    if (!session_runs(&s->s))
        return;
    bool last = s->options.windows > 0 && s->state.windows >= s->options.windows;
    if (s->s.stopping || last) {
        close_windows(s, NULL);
        return;
    }
    session_enter(&s->s, SESSION_WAITING);
    if (!s->options.paced && calls_session_due_ms(&s->s) == 0)
        next_window(&s->s);
    else
        session_changed(&s->s);
}

static void note_cost(struct calls_session *s, const struct answer *answer)
{
    struct calls_window *w = &s->kept[s->now].window;
    w->target_us += (uint64_t)answer->target_us;
    w->bytes += answer->len;
}

/* Delivers the window also without its times. */
static void on_timed(void *arg, const struct answer *answer)
{
    struct calls_session *s = arg;
    char refused[400] = "";
    struct error err = answer->err;
    struct calls_kept *kept = &s->kept[s->now];
    struct calls_window *w = &kept->window;
    note_cost(s, answer);
    if (err.code == ERR_NONE)
        decode_calls_timed(kept, refused, answer->value, answer->len, &err);
    snprintf(w->timed_why, sizeof w->timed_why, "%.150s", refused[0] ? refused : err.text);
    w->has_time = w->timed && s->options.time;
    w->has_memory = w->timed && s->options.memory;
    deliver_window(s);
}

static void ask_time(struct calls_session *s)
{
    struct builder *b = builder_new();
    build_tuple(b, 4);
    build_atom(b, "time");
    build_int(b, s->state.window_ms);
    build_list(b, (size_t)s->options.time + (size_t)s->options.memory);
    if (s->options.time)
        build_atom(b, "call_time");
    if (s->options.memory)
        build_atom(b, "call_memory");
    build_nil(b);
    build_term(b, s->who);
    session_step(&s->s, SESSION_TIMING, QUESTION_CALLS, b, s->state.window_ms + CALLS_ASK_MS,
                 on_timed);
}

static void on_window_counted(void *arg, const struct answer *answer)
{
    struct calls_session *s = arg;
    char refused[400] = "";
    struct error err = answer->err;
    struct calls_kept *kept = &s->kept[s->now];
    note_cost(s, answer);
    if (err.code == ERR_NONE)
        decode_calls_counted(kept, refused, answer->value, answer->len, &err);
    if (refused[0] != '\0')
        error_set(&err, ERR_REFUSED, "%s", refused);
    if (err.code != ERR_NONE)
        close_windows(s, &err);
    else if ((s->options.time || s->options.memory) && !s->s.stopping && kept->window.n_rows > 0)
        ask_time(s);
    else
        deliver_window(s);
}

static void build_excluded(struct builder *b, const struct calls_session *s)
{
    build_list(b, s->state.excluded);
    for (size_t i = 0; i < s->state.excluded; i++) {
        const struct calls_function *f = &s->hot.rows[i];
        prepare_mfa(b, &(struct mfa){f->module, f->function, (int64_t)f->arity});
    }
    build_nil(b);
}

static void next_window(struct session *base)
{
    struct calls_session *s = (struct calls_session *)base;
    s->now = !s->now;
    struct calls_kept *kept = &s->kept[s->now];
    arena_clear(&kept->arena);
    *kept = (struct calls_kept){.arena = kept->arena};
    struct builder *b = builder_new();
    build_tuple(b, s->state.excluded > 0 ? 5 : 4);
    build_atom(b, "count");
    build_int(b, s->state.window_ms);
    calls_build_chosen(b, base->patterns, base->n_patterns);
    build_int(b, s->options.top);
    if (s->state.excluded > 0)
        build_excluded(b, s);
    s->began_ns = session_now(base);
    session_step(base, SESSION_RUNNING, QUESTION_CALLS, b, s->state.window_ms + CALLS_ASK_MS,
                 on_window_counted);
}

bool calls_session_counts(const struct session *base)
{
    enum session_phase phase = session_status(base)->phase;
    return phase == SESSION_RUNNING || phase == SESSION_TIMING;
}

/* From start to start: shortened windows keep the pace of those asked for. */
static unsigned from_start_ms(const struct calls_session *s)
{
    const struct calls_state *state = &s->state;
    bool is_shorter = state->window_ms < state->asked_ms;
    return is_shorter && s->options.every_ms < state->asked_ms ? state->asked_ms
                                                               : s->options.every_ms;
}

bool calls_session_leaves_time(const struct session *base)
{
    const struct calls_session *s = (const struct calls_session *)base;
    return from_start_ms(s) >= 2 * s->state.window_ms;
}

unsigned calls_session_due_ms(const struct session *base)
{
    const struct calls_session *s = (const struct calls_session *)base;
    uint64_t gone_ms = (session_now(base) - s->began_ns) / 1000000;
    unsigned every_ms = from_start_ms(s);
    return gone_ms >= every_ms ? 0 : every_ms - (unsigned)gone_ms;
}

/* ---- Stopping, and the clock */

static void tell_stop(struct session *base)
{
    struct builder *b = builder_new();
    build_atom(b, "stop");
    session_tell(base, b);
}

/* Stops counting; the window's answer still comes. */
static void stop_calls(struct session *base)
{
    if (!base->stopping)
        tell_stop(base);
    base->stopping = true;
}

static void tick_calls(struct session *base)
{
    const struct calls_session *s = (const struct calls_session *)base;
    if (base->status->phase == SESSION_WAITING && !s->options.paced &&
        calls_session_due_ms(base) == 0)
        next_window(base);
}

void calls_session_next(struct session *base)
{
    next_window(base);
}

static void free_calls(struct session *base)
{
    struct calls_session *s = (struct calls_session *)base;
    bool samples = base->touched && base->status->phase == SESSION_PREPARING;
    if (samples || calls_session_counts(base))
        tell_stop(base);
    for (size_t i = 0; i < 2; i++)
        arena_clear(&s->kept[i].arena);
    arena_clear(&s->hot.arena);
    builder_free(s->who);
}

const struct session_kind calls_kind = {.question = QUESTION_CALLS,
                                        .session = "beamtop_calls",
                                        .cost = CALLS_COST,
                                        .proceed = next_window,
                                        .close = close_calls,
                                        .stop = stop_calls,
                                        .broken = calls_broken,
                                        .lost = session_fail,
                                        .tick = tick_calls,
                                        .free = free_calls};
