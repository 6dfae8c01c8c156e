/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of counted calls, from the words to the proof that nothing is left. */
#include "beamtop/trace/calls.h"

#include <stdio.h>

#include "calls_internal.h"

#define MOST_ARMED 1000
#define VERIFY_NS (2u * UINT64_C(1000000000)) /* for what ends to be gone */
#define VERIFY_EVERY_NS (200u * UINT64_C(1000000))

static uint64_t calls_now_ns(const struct calls_session *s)
{
    return s->port.now_ns(s->port.ctx);
}

void calls_changed(struct calls_session *s)
{
    if (s->handlers.on_change != NULL)
        s->handlers.on_change(s->arg);
}

void calls_enter(struct calls_session *s, enum calls_stage stage, enum calls_phase phase)
{
    s->stage = stage;
    s->state.phase = phase;
}

void calls_fail(struct calls_session *s, const struct error *why)
{
    calls_enter(s, CALLS_STAGE_OVER, CALLS_FAILED);
    s->state.error = *why;
    calls_changed(s);
}

static void over(struct calls_session *s)
{
    calls_enter(s, CALLS_STAGE_OVER, CALLS_ENDED);
    calls_changed(s);
}

/* Frees arg. */
int calls_ask(struct calls_session *s, enum question question, struct builder *arg,
              unsigned deadline_ms, answer_fn *fn, struct error *err)
{
    int rc = s->port.ask(s->port.ctx, question, arg, deadline_ms, fn, s, err);
    builder_free(arg);
    return rc;
}

void calls_tell_stop(struct calls_session *s)
{
    struct error err = {0};
    struct builder *b = builder_new();
    build_atom(b, "stop");
    s->port.tell(s->port.ctx, b, &err);
    builder_free(b);
}

/* ---- The end and its proof */

static uint64_t above(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static void judge(struct calls_session *s, const struct armed *now)
{
    uint64_t breakpoints = above(now->breakpoints, s->baseline.breakpoints);
    uint64_t flags = above(now->flags, s->baseline.flags);
    uint64_t sessions = above(now->sessions, s->baseline.sessions);
    uint64_t processes = above(now->processes, s->baseline.processes);
    s->state.verified = true;
    s->state.clean = breakpoints == 0 && flags == 0 && sessions == 0 && processes == 0;
    s->state.left[0] = '\0';
    if (!s->state.clean)
        snprintf(s->state.left, sizeof s->state.left,
                 "still there: %llu breakpoints, %llu trace flags, %llu sessions, %llu processes "
                 "of ours that trace",
                 (unsigned long long)breakpoints, (unsigned long long)flags,
                 (unsigned long long)sessions, (unsigned long long)processes);
}

static void on_verified(void *arg, const struct answer *answer)
{
    struct calls_session *s = arg;
    struct armed now;
    struct error err = answer->err;
    s->verify_asked = false;
    if (s->stage != CALLS_STAGE_VERIFY)
        return;
    if (err.code == ERR_NONE && decode_armed(&now, answer->value, answer->len, &err) == 0)
        judge(s, &now);
    else
        snprintf(s->state.left, sizeof s->state.left, "not known: %.150s", err.text);
    uint64_t after_ns = calls_now_ns(s) - s->ended_ns;
    s->state.verified_us = after_ns / 1000;
    if (s->state.clean || after_ns >= VERIFY_NS)
        over(s);
}

void calls_ask_armed(struct calls_session *s, answer_fn *fn, struct error *err)
{
    struct builder *b = builder_new();
    build_map(b, 1);
    build_atom(b, "most");
    build_int(b, MOST_ARMED);
    s->asked_ns = calls_now_ns(s);
    calls_ask(s, QUESTION_ARMED, b, CALLS_ASK_MS, fn, err);
}

static void verify_again(struct calls_session *s)
{
    struct error err = {0};
    calls_ask_armed(s, on_verified, &err);
    s->verify_asked = err.code == ERR_NONE;
    if (err.code == ERR_NONE)
        return;
    snprintf(s->state.left, sizeof s->state.left, "not known: %.150s", err.text);
    over(s);
}

static void verify(struct calls_session *s)
{
    calls_enter(s, CALLS_STAGE_VERIFY, CALLS_VERIFYING);
    s->ended_ns = calls_now_ns(s);
    verify_again(s);
    if (s->stage == CALLS_STAGE_VERIFY)
        calls_changed(s);
}

static void on_closed(void *arg, const struct answer *answer)
{
    struct calls_session *s = arg;
    (void)answer; /* what is left is looked at in any case */
    if (s->stage == CALLS_STAGE_CLOSE)
        verify(s);
}

/* Ends the windows, with an error or without. */
void calls_close(struct calls_session *s, const struct error *why)
{
    struct error err = {0};
    struct builder *b = builder_new();
    if (why != NULL)
        s->state.error = *why;
    calls_enter(s, CALLS_STAGE_CLOSE, CALLS_VERIFYING);
    build_atom(b, "close");
    if (calls_ask(s, QUESTION_CALLS, b, CALLS_ASK_MS, on_closed, &err) != 0)
        verify(s);
}

/* ---- Windows */

static void deliver(struct calls_session *s)
{
    struct calls_kept *kept = &s->kept[s->now];
    struct calls_window *w = &kept->window;
    calls_window_derive(kept, &s->kept[!s->now], s->state.schedulers);
    w->number = ++s->state.windows;
    w->cut = s->stopping && w->interval_us < s->options.for_ms * UINT64_C(1000);
    s->handlers.on_window(s->arg, w);
    if (s->stage == CALLS_STAGE_OVER)
        return;
    bool last = s->options.windows > 0 && s->state.windows >= s->options.windows;
    if (s->stopping || last) {
        calls_close(s, NULL);
        return;
    }
    calls_enter(s, CALLS_STAGE_WAIT, CALLS_WAITING);
    if (calls_session_due_ms(s) == 0)
        calls_next_window(s);
    else
        calls_changed(s);
}

bool calls_session_counts(const struct calls_session *s)
{
    return s->state.phase == CALLS_COUNTING || s->state.phase == CALLS_TIMING;
}

bool calls_session_leaves_time(const struct calls_session *s)
{
    return s->options.every_ms >= 2 * s->options.for_ms;
}

unsigned calls_session_due_ms(const struct calls_session *s)
{
    uint64_t gone_ms = (calls_now_ns(s) - s->began_ns) / 1000000;
    return gone_ms >= s->options.every_ms ? 0 : s->options.every_ms - (unsigned)gone_ms;
}

static void note_cost(struct calls_session *s, const struct answer *answer)
{
    struct calls_window *w = &s->kept[s->now].window;
    w->target_us += (uint64_t)answer->target_us;
    w->bytes += answer->len;
}

/* Without its times the window is told all the same. */
static void on_timed(void *arg, const struct answer *answer)
{
    struct calls_session *s = arg;
    char refused[400] = "";
    struct error err = answer->err;
    if (s->stage != CALLS_STAGE_TIME)
        return;
    struct calls_kept *kept = &s->kept[s->now];
    struct calls_window *w = &kept->window;
    note_cost(s, answer);
    if (err.code == ERR_NONE)
        decode_calls_timed(kept, refused, answer->value, answer->len, &err);
    snprintf(w->timed_why, sizeof w->timed_why, "%.150s", refused[0] ? refused : err.text);
    w->has_time = w->timed && s->options.time;
    w->has_memory = w->timed && s->options.memory;
    deliver(s);
}

static void ask_time(struct calls_session *s)
{
    struct error err = {0};
    struct builder *b = builder_new();
    size_t len;
    const uint8_t *who = builder_bytes(s->who, &len);
    build_tuple(b, 4);
    build_atom(b, "time");
    build_int(b, s->options.for_ms);
    build_list(b, (size_t)s->options.time + (size_t)s->options.memory);
    if (s->options.time)
        build_atom(b, "call_time");
    if (s->options.memory)
        build_atom(b, "call_memory");
    build_nil(b);
    build_raw(b, who + 1, len - 1);
    calls_enter(s, CALLS_STAGE_TIME, CALLS_TIMING);
    if (calls_ask(s, QUESTION_CALLS, b, s->options.for_ms + CALLS_ASK_MS, on_timed, &err) != 0)
        calls_close(s, &err);
    else
        calls_changed(s);
}

static void on_counted(void *arg, const struct answer *answer)
{
    struct calls_session *s = arg;
    char refused[400] = "";
    struct error err = answer->err;
    if (s->stage != CALLS_STAGE_COUNT)
        return;
    struct calls_kept *kept = &s->kept[s->now];
    note_cost(s, answer);
    if (err.code == ERR_NONE)
        decode_calls_counted(kept, refused, answer->value, answer->len, &err);
    if (refused[0] != '\0')
        error_set(&err, ERR_REFUSED, "%s", refused);
    if (err.code != ERR_NONE)
        calls_close(s, &err);
    else if ((s->options.time || s->options.memory) && !s->stopping && kept->window.n_rows > 0)
        ask_time(s);
    else
        deliver(s);
}

void calls_next_window(struct calls_session *s)
{
    struct error err = {0};
    s->now = !s->now;
    struct calls_kept *kept = &s->kept[s->now];
    arena_clear(&kept->arena);
    *kept = (struct calls_kept){.arena = kept->arena};
    struct builder *b = builder_new();
    build_tuple(b, 4);
    build_atom(b, "count");
    build_int(b, s->options.for_ms);
    calls_build_chosen(b, s->all, s->n_all);
    build_int(b, s->options.top);
    s->began_ns = calls_now_ns(s);
    calls_enter(s, CALLS_STAGE_COUNT, CALLS_COUNTING);
    if (calls_ask(s, QUESTION_CALLS, b, s->options.for_ms + CALLS_ASK_MS, on_counted, &err) != 0)
        calls_close(s, &err);
    else
        calls_changed(s);
}

/* ---- What a person, the link and the clock do */

void calls_confirm(struct calls_session *s)
{
    if (s->stage == CALLS_STAGE_ASK && !s->options.dry_run)
        calls_next_window(s);
}

void calls_stop(struct calls_session *s)
{
    switch (s->stage) {
    case CALLS_STAGE_PREFLIGHT: /* nothing has been armed yet */
    case CALLS_STAGE_BASELINE:
        s->state.clean = true;
        over(s);
        break;
    case CALLS_STAGE_SAMPLE:
    case CALLS_STAGE_COUNT:
    case CALLS_STAGE_TIME: /* its answer is waited for */
        if (!s->stopping)
            calls_tell_stop(s);
        s->stopping = true;
        break;
    case CALLS_STAGE_ASK:
    case CALLS_STAGE_WAIT:
        s->stopping = true;
        calls_close(s, NULL);
        break;
    case CALLS_STAGE_CLOSE:
    case CALLS_STAGE_VERIFY:
    case CALLS_STAGE_OVER:
        break;
    }
}

void calls_link_lost(struct calls_session *s, const struct error *why)
{
    if (s->stage != CALLS_STAGE_OVER)
        calls_fail(s, why);
}

void calls_tick(struct calls_session *s)
{
    uint64_t now = calls_now_ns(s);
    if (s->stage == CALLS_STAGE_WAIT && calls_session_due_ms(s) == 0)
        calls_next_window(s);
    else if (s->stage == CALLS_STAGE_VERIFY && !s->verify_asked && now - s->asked_ns >= VERIFY_EVERY_NS)
        verify_again(s);
}
