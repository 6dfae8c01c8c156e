/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user, the connection and the clock do to a trace. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/etf/print.h"
#include "trace_internal.h"

#define FAR_NS 0x1p61                          /* a time of which more would not fit */
#define END_NS (3u * UINT64_C(1000000000))     /* for the target to report the end */
#define SILENT_NS (15u * UINT64_C(1000000000)) /* a status comes each second */

void trace_stop(struct session *s)
{
    struct trace_session *t = (struct trace_session *)s;
    if (trace_is_running(t)) {
        trace_finish(t);
        return;
    }
    /* An answer is waited for. After that to arming the word to stop goes right behind; when that
       to counting is here, the counters are off. */
    if (trace_is_set(t) && !s->stopping)
        session_tell(s, trace_term(t, "stop", 2));
    s->stopping = true;
}

void trace_pause(struct session *s, bool paused)
{
    struct trace_session *t = (struct trace_session *)s;
    if (!trace_is_running(t) || paused == (t->state->status.phase == SESSION_PAUSED))
        return;
    struct builder *b = trace_term(t, "pause", 3);
    build_bool(b, paused);
    session_tell(&t->s, b);
    t->state->status.phase = paused ? SESSION_PAUSED : SESSION_RUNNING;
    session_changed(&t->s);
}

int trace_check_cap(const struct session *s, enum cap cap, uint64_t value, struct error *err)
{
    struct caps ignored = {0};
    if (s->touched && s->status->phase >= SESSION_ARMING && !cap_table[cap].atom)
        return error_set(err, ERR_USAGE, "%s can only be set before a trace starts",
                         cap_table[cap].key);
    return caps_set(&ignored, cap, value, err);
}

int trace_set_cap(struct session *s, enum cap cap, uint64_t value, struct error *err)
{
    struct trace_session *t = (struct trace_session *)s;
    int rc = trace_check_cap(s, cap, value, err);
    if (rc)
        return rc;
    t->state->caps.value[cap] = value;
    if (trace_is_set(t)) {
        struct builder *b = trace_term(t, "cap", 4);
        build_atom(b, cap_table[cap].atom);
        build_int(b, (int64_t)value);
        session_tell(&t->s, b);
    }
    session_changed(&t->s);
    return 0;
}

static uint64_t extended_cap(const struct trace_session *t, enum cap cap)
{
    uint64_t value = t->state->used[cap] + t->asked.value[cap];
    if (cap == CAP_TIME_MS)
        value += 999 - (value + 999) % 1000; /* nobody wants milliseconds */
    return value < cap_table[cap].ceiling ? value : cap_table[cap].ceiling;
}

int trace_extend(struct session *s, struct error *err)
{
    const struct trace_session *t = (struct trace_session *)s;
    const int rc = trace_set_cap(s, CAP_TIME_MS, extended_cap(t, CAP_TIME_MS), err);
    return rc ? rc : trace_set_cap(s, CAP_EVENTS, extended_cap(t, CAP_EVENTS), err);
}

static void note_narrowed(struct trace_session *t, struct slice to)
{
    t->narrowed = true;
    snprintf(t->state->note, sizeof t->state->note, "narrowed to %.*s",
             (int)(to.len < 150 ? to.len : 150), to.s);
    session_changed(&t->s);
}

void trace_narrow_pid(struct session *s, const struct etf_pid *pid)
{
    struct trace_session *t = (struct trace_session *)s;
    if (!trace_is_running(t))
        return;
    struct buf text;
    buf_init(&text, 0);
    print_pid(&text, pid);
    note_narrowed(t, (struct slice){buf_cstr(&text), text.len});
    buf_clear(&text);
    struct etf_pid there = *pid;
    there.creation = t->s.port.creation;
    struct builder *b = trace_term(t, "narrow", 3);
    build_tuple(b, 2);
    build_atom(b, "pid");
    build_pid(b, t->s.port.node, &there);
    session_tell(&t->s, b);
}

void trace_narrow_pattern(struct session *s, unsigned pattern)
{
    struct trace_session *t = (struct trace_session *)s;
    if (!trace_is_running(t) || pattern >= t->s.n_patterns)
        return;
    note_narrowed(t, t->s.patterns[pattern]->typed);
    struct builder *b = trace_term(t, "narrow", 3);
    build_tuple(b, 2);
    build_atom(b, "pattern");
    build_int(b, pattern);
    session_tell(&t->s, b);
}

void trace_hold(struct session *s, bool hold)
{
    struct trace_session *t = (struct trace_session *)s;
    t->credit.hold = hold;
    trace_grant(t);
}

void trace_lost(struct session *s, const struct error *why)
{
    struct trace_session *t = (struct trace_session *)s;
    struct session_check *check = &s->status->check;
    if (!s->touched || s->status->phase < SESSION_ARMING) {
        session_fail(s, why);
        return;
    }
    check->done = false;
    snprintf(check->text, sizeof check->text,
             "unknown: %.150s; a trace ends on the node with its connection", why->text);
    trace_lift_calls(t);
    const bool says_so = strncmp(why->text, "connection lost", strlen("connection lost")) == 0;
    trace_set_end(t, END_LINK, "%s%.140s", says_so ? "" : "connection lost: ", why->text);
    session_over(s);
}

static void lose_patience(struct trace_session *t, uint64_t now)
{
    if (t->state->status.phase == SESSION_ENDING && now - t->stopped_ns > END_NS) {
        trace_set_end(t, END_STOPPED, "stopped");
        session_verify(&t->s);
    }
    if (trace_is_running(t) && now - t->heard_ns > SILENT_NS) {
        trace_set_end(t, END_KILLED, "killed: nothing from the collector for 15 s");
        trace_finish(t);
    }
}

void trace_tick(struct session *s)
{
    struct trace_session *t = (struct trace_session *)s;
    uint64_t now = session_now(s);
    lose_patience(t, now);
    if (trace_is_running(t) || s->status->phase == SESSION_ENDING) {
        t->state->used[CAP_TIME_MS] = (now - t->armed_ns) / 1000000;
        trace_rates(t, now);
        trace_ask_names(t);
        session_changed(s);
    }
}

/* ---- The node's clock, and when the one process runs */

int64_t trace_ns(const struct trace_session *t, int64_t native)
{
    uint64_t per_second = t->per_second;
    if (per_second == 1000000000)
        return native;
    return (int64_t)fmax(-FAR_NS, fmin(FAR_NS, (double)native * (1e9 / (double)per_second)));
}

void trace_report_running(struct trace_session *t, struct pushed_event *e)
{
    e->off.from_ns = trace_ns(t, e->off.from_ns);
    e->off.until_ns = trace_ns(t, e->off.until_ns);
    if (e->kind == PUSHED_FOLLOW && t->s.handlers.on_follow)
        t->s.handlers.on_follow(t->s.arg, e->off.from_ns, e->follow);
    if (e->kind == PUSHED_OFF_CPU && t->s.handlers.on_off_cpu)
        t->s.handlers.on_off_cpu(t->s.arg, &e->off);
}
