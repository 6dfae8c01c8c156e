/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a person, the link and the clock do to a trace. */
#include <stdio.h>
#include <string.h>

#include "beamtop/etf/print.h"
#include "session_internal.h"

#define END_NS (3u * UINT64_C(1000000000))     /* for the target to tell the end */
#define SILENT_NS (15u * UINT64_C(1000000000)) /* a status comes each second */
#define VERIFY_EVERY_NS (200u * UINT64_C(1000000))

void trace_confirm(struct trace_session *t)
{
    if (t->stage == STAGE_ASK && !t->dry_run)
        session_proceed(t);
}

void trace_stop(struct trace_session *t)
{
    switch (t->stage) {
    case STAGE_RECORDS:
    case STAGE_PREFLIGHT:
    case STAGE_NEAR:
    case STAGE_ASK:
    case STAGE_BASELINE:
        session_over_unarmed(t);
        break;
    case STAGE_COUNT: /* the counters are off when the answer is here */
        t->stopping = true;
        break;
    case STAGE_ARM: /* the answer is waited for; the word to stop goes right behind */
        if (!t->stopping)
            session_tell(t, session_term(t, "stop", 2));
        t->stopping = true;
        break;
    case STAGE_RUN:
        session_end(t);
        break;
    case STAGE_END:
    case STAGE_VERIFY:
    case STAGE_OVER:
        break;
    }
}

void trace_pause(struct trace_session *t, bool paused)
{
    if (t->stage != STAGE_RUN || paused == (t->state->phase == TRACE_PAUSED))
        return;
    struct builder *b = session_term(t, "pause", 3);
    build_bool(b, paused);
    session_tell(t, b);
    t->state->phase = paused ? TRACE_PAUSED : TRACE_RUNNING;
    session_changed(t);
}

int trace_set_cap(struct trace_session *t, enum cap cap, uint64_t value, struct error *err)
{
    bool armed = t->stage >= STAGE_ARM;
    const char *atom = session_cap_atom(cap);
    if (armed && atom == NULL)
        return error_set(err, ERR_USAGE, "%s is decided before a trace is armed",
                         cap_table[cap].key);
    int rc = caps_set(&t->state->caps, cap, value, err);
    if (rc)
        return rc;
    if (t->stage == STAGE_ARM || t->stage == STAGE_RUN) {
        struct builder *b = session_term(t, "cap", 4);
        build_atom(b, atom);
        build_int(b, (int64_t)value);
        session_tell(t, b);
    }
    session_changed(t);
    return 0;
}

static void narrowed(struct trace_session *t, struct slice to)
{
    t->narrowed = true;
    snprintf(t->state->note, sizeof t->state->note, "narrowed to %.*s",
             (int)(to.len < 150 ? to.len : 150), to.s);
    session_changed(t);
}

void trace_narrow_pid(struct trace_session *t, const struct etf_pid *pid)
{
    if (t->stage != STAGE_RUN)
        return;
    struct buf text;
    buf_init(&text, 0);
    print_pid(&text, pid);
    narrowed(t, (struct slice){buf_cstr(&text), text.len});
    buf_clear(&text);
    struct etf_pid there = *pid;
    there.creation = t->port.creation;
    struct builder *b = session_term(t, "narrow", 3);
    build_tuple(b, 2);
    build_atom(b, "pid");
    build_pid(b, t->port.node, &there);
    session_tell(t, b);
}

void trace_narrow_pattern(struct trace_session *t, unsigned pattern)
{
    if (t->stage != STAGE_RUN || pattern >= t->n_patterns)
        return;
    narrowed(t, t->patterns[pattern]->source);
    struct builder *b = session_term(t, "narrow", 3);
    build_tuple(b, 2);
    build_atom(b, "pattern");
    build_int(b, pattern);
    session_tell(t, b);
}

void trace_hold(struct trace_session *t, bool hold)
{
    t->credit.hold = hold;
    session_grant(t);
}

void trace_message(struct trace_session *t, const uint8_t *payload, size_t len)
{
    if (t->stage == STAGE_RUN || t->stage == STAGE_END) {
        session_take(t, payload, len);
        return;
    }
    if (t->stage != STAGE_ARM)
        return;
    /* Times cannot be told before the clock of the answer is known. What is more than the first
       credit is no trace's: it is left out, and what is armed is looked at in the end anyway. */
    if (t->held.len + sizeof len + len > t->held.max)
        return;
    buf_put(&t->held, &len, sizeof len);
    buf_put(&t->held, payload, len);
}

void trace_link_lost(struct trace_session *t, const struct error *why)
{
    struct trace_check *check = &t->state->check;
    char text[200];
    if (t->stage == STAGE_OVER)
        return;
    if (t->stage < STAGE_ARM) {
        session_fail(t, why);
        return;
    }
    check->done = false;
    snprintf(check->text, sizeof check->text,
             "not asked, the link is lost; a trace ends on the node with its link");
    snprintf(text, sizeof text, "link: %.180s", why->text);
    session_lift_calls(t);
    session_over(t, END_LINK, text);
}

static void lose_patience(struct trace_session *t, uint64_t now)
{
    if (t->stage == STAGE_END && now - t->stopped_ns > END_NS)
        session_verify(t);
    if (t->stage == STAGE_RUN && now - t->heard_ns > SILENT_NS) {
        t->state->end = END_KILLED;
        snprintf(t->state->end_text, sizeof t->state->end_text,
                 "killed: no word of the trace for 15 s");
        session_end(t);
    }
}

void trace_tick(struct trace_session *t)
{
    uint64_t now = session_now(t);
    if (t->stage == STAGE_OVER)
        return;
    lose_patience(t, now);
    if (t->stage == STAGE_VERIFY && !t->verify_asked && now - t->ended_ns >= VERIFY_EVERY_NS)
        session_verify_again(t);
    if (t->stage == STAGE_RUN || t->stage == STAGE_END) {
        t->state->used[CAP_TIME_MS] = (now - t->armed_ns) / 1000000;
        session_rates(t, now);
        session_ask_names(t);
        session_changed(t);
    }
}
