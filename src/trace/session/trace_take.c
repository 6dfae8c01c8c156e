/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the target pushes, into the log; and credit for more. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace_internal.h"

#define CREDIT_BYTES_MOST (192u * 1024)
#define FAR_US 9e15 /* since the epoch: the year 2255 */
#define ROUND_NS (250u * UINT64_C(1000000))

/* ---- Clocks */

/* What the node says may be anything. */
static double within(double n, double most)
{
    return fmax(-most, fmin(most, n));
}

static double since_armed_s(const struct trace_session *t, int64_t native)
{
    return ((double)native - (double)t->mono_start) / (double)t->per_second;
}

static int64_t wall_us_of(const struct trace_session *t, int64_t native)
{
    const double wall_us = (double)t->wall_start_us + since_armed_s(t, native) * 1e6;
    return (int64_t)within(wall_us, FAR_US);
}

/* By the node's own clock: an end that comes at once has no tick before it here. */
static uint64_t since_armed_ms(const struct trace_session *t, int64_t native)
{
    return native <= t->mono_start ? 0
                                   : (uint64_t)within(since_armed_s(t, native) * 1e3 + 0.5, FAR_US);
}

/* ---- Credit */

void trace_grant(struct trace_session *t)
{
    struct credit *c = &t->credit;
    if (c->hold || !trace_is_running(t) || (c->dealt_events == 0 && c->dealt_bytes == 0))
        return;
    uint64_t events = c->dealt_events, bytes = c->dealt_bytes, now = session_now(&t->s);
    c->round_events += events;
    c->round_bytes += bytes;
    if (c->round_events >= c->events || c->round_bytes >= c->bytes) {
        uint64_t more =
            CREDIT_BYTES_MOST - c->bytes < c->bytes ? CREDIT_BYTES_MOST - c->bytes : c->bytes;
        if (now - c->round_ns <= ROUND_NS && more > 0) {
            uint64_t more_events = c->events * more / c->bytes;
            events += more_events;
            bytes += more;
            c->events += more_events;
            c->bytes += more;
        }
        c->round_events = c->round_bytes = 0;
        c->round_ns = now;
    }
    c->dealt_events = c->dealt_bytes = 0;
    struct builder *b = trace_term(t, "credit", 4);
    build_int(b, (int64_t)events);
    build_int(b, (int64_t)bytes);
    session_tell(&t->s, b);
}

/* ---- Names of processes */

static void keep_trace_name(void *arg, const struct etf_pid *pid, struct slice name)
{
    struct trace_session *t = arg;
    trace_log_name(t->log, pid, name);
}

static void on_trace_names(void *arg, const struct answer *answer)
{
    struct trace_session *t = arg;
    struct error err = {0};
    t->names.asked = false;
    /* A process without a name is shown by its number: no reason to end a trace. */
    if (answer->err.code == ERR_NONE)
        decode_names(keep_trace_name, t, answer->value, answer->len, &err);
    trace_ask_names(t);
    session_changed(&t->s);
}

void trace_ask_names(struct trace_session *t)
{
    if (session_runs(&t->s))
        name_queue_ask(&t->names, &t->s, preparation_ask_ms(&t->prep), on_trace_names);
}

/* ---- Events */

static void report_event(struct trace_session *t, const struct trace_event *e, bool finished)
{
    if (e && t->s.handlers.on_event)
        t->s.handlers.on_event(t->s.arg, e, finished);
}

/* Messages are not counted, and what is counted is by all processes: calls of the one that were
   under way to us hide as many that were missed. */
static bool counts_say_all(const struct trace_session *t)
{
    for (size_t i = 0; i < t->s.n_patterns; i++)
        if (t->s.patterns[i]->kind != PATTERN_CALL)
            return false;
    return !t->one;
}

/* Missed calls that no event has reported yet. */
static uint64_t unreported_calls(const struct trace_session *t, size_t i)
{
    uint64_t missed = trace_log_pattern(t->log, i)->counts.missed;
    return missed > t->lost_reported[i] ? missed - t->lost_reported[i] : 0;
}

/* What settled counts have added to the last loss. */
static bool owes_loss(const struct trace_session *t)
{
    uint64_t owed = 0;
    for (size_t i = 0; i < t->s.n_patterns; i++)
        owed += unreported_calls(t, i);
    return owed > 0 && *t->shut.why;
}

/* Tells the time that the budget was shut, with what it cost as far as that is known. */
static void tell_shut(struct trace_session *t)
{
    if (!t->shut.any)
        return;
    struct trace_event e = {
        .kind = EVENT_LOST,
        .mono_ns = trace_ns(t, t->shut.from),
        .until_ns = trace_ns(t, t->shut.until),
        .wall_us = wall_us_of(t, t->shut.from),
    };
    memcpy(e.why, t->shut.why, sizeof e.why);
    for (size_t i = 0; i < t->s.n_patterns; i++) {
        uint64_t news = unreported_calls(t, i);
        e.lost += news;
        e.at_most |= news > 0 && trace_log_pattern(t->log, i)->counts.missed_at_most;
        t->lost_reported[i] += news;
    }
    t->shut.any = false;
    /* Else there were no calls in between. */
    if (e.lost > 0 || !counts_say_all(t))
        report_event(t, trace_log_add(t->log, &e), true);
}

/* Those between two counts are one event: the counts do not separate them. */
static void note_shut(struct trace_session *t, const struct trace_event *e)
{
    t->dry = true;
    if (!t->shut.any)
        t->shut = (struct shut_time){.any = true, .from = e->mono_ns};
    t->shut.until = e->until_ns;
    memcpy(t->shut.why, e->why, sizeof t->shut.why);
}

static void note_size(struct trace_session *t, const struct kept_term *term)
{
    uint64_t bytes = term->full_bytes > 0 ? term->full_bytes : term->bytes.len;
    if (bytes > t->state->used[CAP_TERM_BYTES])
        t->state->used[CAP_TERM_BYTES] = bytes;
}

/* Fills in what the node does not send. False: no pattern of this trace. */
static bool complete_event(struct trace_session *t, struct trace_event *e)
{
    const struct session_port *port = session_port(&t->s);
    if (e->pattern >= t->s.n_patterns || (port->is_own && port->is_own(port->ctx, &e->pid)))
        return false;
    const struct pattern *p = t->s.patterns[e->pattern];
    if (e->kind == EVENT_CALL) {
        e->shown_only = (p->actions & TRACE_SHOW) != 0;
        e->outcome = p->actions & TRACE_RETURN ? OUTCOME_OPEN : OUTCOME_NONE;
    }
    e->wall_us = wall_us_of(t, e->mono_ns);
    e->mono_ns = trace_ns(t, e->mono_ns);
    note_size(t, &e->args);
    note_size(t, &e->message);
    return true;
}

/* Credit is given back as it was taken there: an event is a call or a message, its result comes
   with it; bytes are those that the status counts. */
static void take_trace_event(struct trace_session *t, struct pushed_event *pushed)
{
    struct trace_event *e = &pushed->event;
    const struct trace_event *kept;
    switch (pushed->kind) {
    case PUSHED_CALL:
    case PUSHED_SEND:
    case PUSHED_RECEIVE:
        t->credit.dealt_events++;
        if (!complete_event(t, e))
            return;
        kept = trace_log_add(t->log, e);
        if (kept->name.len == 0)
            name_queue_add(&t->names, &kept->pid);
        report_event(t, kept, false);
        break;
    case PUSHED_RETURN:
    case PUSHED_EXCEPTION:
        note_size(t, &e->result);
        trace_log_finish(t->log, e->id, e->outcome, e->class, &e->result, trace_ns(t, e->mono_ns));
        report_event(t, trace_log_find(t->log, e->id), true);
        break;
    case PUSHED_LOST:
        note_shut(t, e);
        break;
    case PUSHED_OFF_CPU:
    case PUSHED_FOLLOW:
        trace_report_running(t, pushed);
        break;
    }
}

static void end_batch(struct trace_session *t, struct push *p)
{
    uint64_t before = t->state->used[CAP_BYTES];
    t->credit.dealt_bytes += p->status.bytes > before ? p->status.bytes - before : 0;
    trace_take_status(t, &p->status);
    trace_grant(t);
    trace_ask_names(t);
}

/* ---- The end */

/* The collector was killed above its limit and has reported no size. One that ends by itself far
   below it saw the VM hold too much for the calls (releases before OTP 25). */
static void heap_text(const struct trace_state *s, char *out, size_t size)
{
    char used[32], cap[32];
    uint64_t most = s->caps.value[CAP_HEAP_BYTES];
    cap_format(cap, sizeof cap, CAP_HEAP_BYTES, most);
    if (s->used[CAP_HEAP_BYTES] == 0)
        snprintf(out, size, "heap: the collector passed %s", cap);
    else if (s->used[CAP_HEAP_BYTES] < most / 2)
        snprintf(out, size, "heap: the VM held too much memory for the calls");
    else
        snprintf(out, size, "heap: the collector grew to %s of %s",
                 cap_format(used, sizeof used, CAP_HEAP_BYTES, s->used[CAP_HEAP_BYTES]), cap);
}

static void end_text(struct trace_session *t, const struct push *p)
{
    const struct trace_state *s = t->state;
    char used[32], cap[32];
    char *out = t->state->end_text;
    size_t size = sizeof t->state->end_text;
    switch (p->end) {
    case END_TIME:
        snprintf(out, size, "time: %s",
                 cap_format(cap, sizeof cap, CAP_TIME_MS, s->caps.value[CAP_TIME_MS]));
        break;
    case END_EVENTS:
        snprintf(out, size, "events: %llu of %llu", (unsigned long long)s->total.shown,
                 (unsigned long long)s->caps.value[CAP_EVENTS]);
        break;
    case END_RATE:
        snprintf(out, size, "rate: more than %s",
                 cap_format(cap, sizeof cap, CAP_RATE_PER_S, s->caps.value[CAP_RATE_PER_S]));
        break;
    case END_BYTES:
        snprintf(out, size, "bytes: %s of %s",
                 cap_format(used, sizeof used, CAP_BYTES, s->used[CAP_BYTES]),
                 cap_format(cap, sizeof cap, CAP_BYTES, s->caps.value[CAP_BYTES]));
        break;
    case END_HEAP:
        heap_text(s, out, size);
        break;
    case END_KILLED:
        snprintf(out, size, "killed: %s", p->end_text);
        break;
    case END_GONE:
        snprintf(out, size, "the process ended");
        break;
    default:
        snprintf(out, size, "stopped");
        break;
    }
}

static void take_end(struct trace_session *t, const struct push *p)
{
    trace_take_status(t, &p->status);
    t->state->ended_mono_ns = trace_ns(t, p->status.mono);
    t->state->used[CAP_TIME_MS] = since_armed_ms(t, p->status.mono);
    t->state->shut = true;
    if (t->state->end == END_NONE) {
        t->state->end = p->end;
        end_text(t, p);
    }
    trace_last_counts(t);
    t->shut.any |= owes_loss(t);
    tell_shut(t);
    session_verify(&t->s);
}

/* ---- All of them */

/* Which pattern it is of is not known: it counts for all of them together. */
static void drop_unread(struct trace_session *t)
{
    t->unread++;
    if (!*t->state->note || t->unread > 1)
        snprintf(t->state->note, sizeof t->state->note,
                 "%" PRIu64 " %s not be read, and %s dropped", t->unread,
                 t->unread == 1 ? "event could" : "events could", t->unread == 1 ? "is" : "are");
}

/* Times are unknown before the clock of the answer is. What is more than the first credit is not
   from a trace: it is left out, and what is armed is looked at in the end anyway. */
static void hold_until_armed(struct trace_session *t, const uint8_t *term, size_t len)
{
    if (!trace_is_set(t) || t->held.len + sizeof len + len > t->held.max)
        return;
    buf_put(&t->held, &len, sizeof len);
    buf_put(&t->held, term, len);
}

void trace_take(void *arg, const uint8_t *term, size_t len)
{
    struct trace_session *t = arg;
    struct push p;
    struct pushed_event event;
    struct error err = {0};
    if (!trace_is_running(t) && t->state->status.phase != SESSION_ENDING) {
        hold_until_armed(t, term, len);
        return;
    }
    if (decode_push(&p, term, len, &err) != 0) {
        if (!trace_is_running(t))
            return; /* it was asked to stop; a missing end has its time */
        trace_set_end(t, END_KILLED, "killed: %.140s", err.text);
        trace_finish(t);
        return;
    }
    if (p.trace_id != t->id)
        return; /* of an earlier trace */
    t->heard_ns = session_now(&t->s);
    switch (p.kind) {
    case PUSH_BATCH:
        for (size_t i = 0; i < p.n_events; i++) {
            if (decode_event(&p, &event))
                take_trace_event(t, &event);
            else
                drop_unread(t);
        }
        end_batch(t, &p);
        break;
    case PUSH_STATUS:
        trace_take_status(t, &p.status);
        break;
    case PUSH_COUNTS:
    case PUSH_SETTLED:
        trace_take_counts(t, &p);
        tell_shut(t);
        break;
    case PUSH_ENDED:
        take_end(t, &p);
        break;
    }
    t->state->used[CAP_EVENTS] = t->state->total.shown;
    session_changed(&t->s);
}

void trace_rates(struct trace_session *t, uint64_t now)
{
    if (now - t->rate_ns < UINT64_C(900000000))
        return;
    double seconds = (double)(now - t->rate_ns) / 1e9;
    for (size_t i = 0; i < t->s.n_patterns; i++) {
        struct trace_pattern_info *p = trace_log_pattern_edit(t->log, i);
        p->rate_per_s = (double)(p->counts.shown - t->rate_shown[i]) / seconds;
        t->rate_shown[i] = p->counts.shown;
    }
    t->rate_ns = now;
}
