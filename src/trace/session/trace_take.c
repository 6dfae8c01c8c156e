/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the target pushes, into the log; and credit for more. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace_internal.h"

#define CREDIT_BYTES_MOST (192u * 1024)
#define ROUND_NS (250u * UINT64_C(1000000))

/* ---- Clocks */

static int64_t wall_us_of(const struct trace_session *t, int64_t native)
{
    double since = (double)(native - t->mono_start) * 1e6 / (double)t->per_second;
    return t->wall_start_us + (int64_t)since;
}

/* By the node's own clock: an end that comes at once has no tick before it here. */
static uint64_t since_armed_ms(const struct trace_session *t, int64_t native)
{
    return native <= t->mono_start
               ? 0
               : (uint64_t)((double)(native - t->mono_start) * 1e3 / (double)t->per_second + 0.5);
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

/* ---- Status and counts */

/* A function that several patterns name was called once, though each of them counts it. */
static uint64_t calls_once(const struct trace_session *t)
{
    uint64_t calls = 0;
    for (size_t i = 0; t->functions && i < t->prep.preflight.n_functions; i++)
        calls += t->functions[i].again ? 0 : t->functions[i].calls;
    return calls;
}

static void sum_counts(struct trace_session *t)
{
    struct trace_counts sum = {.calls_known = true, .shown = t->state->total.shown};
    bool any_calls = false;
    for (size_t i = 0; i < t->s.n_patterns; i++) {
        const struct trace_counts *c = &trace_log_pattern(t->log, i)->counts;
        any_calls |= c->calls_known;
        sum.calls += c->calls;
        sum.seen += c->seen;
        sum.filtered += c->filtered;
        sum.cut += c->cut;
        sum.over += c->over;
        sum.lost += c->lost;
        sum.missed += c->missed;
        sum.missed_at_most |= c->missed_at_most;
        sum.open += c->open;
        sum.time_us += c->time_us;
    }
    sum.calls_known = any_calls;
    if (t->s.n_patterns > 1) {
        sum.calls = calls_once(t);
        if (sum.missed_at_most && sum.calls >= sum.seen && sum.missed > sum.calls - sum.seen)
            sum.missed = sum.calls - sum.seen;
    }
    sum.lost += t->unread;
    t->state->total = sum;
}

void trace_lift_calls(struct trace_session *t)
{
    for (size_t i = 0; i < t->s.n_patterns; i++) {
        struct trace_counts *c = &trace_log_pattern_edit(t->log, i)->counts;
        if (c->calls_known && c->calls < c->seen)
            c->calls = c->seen;
    }
    sum_counts(t);
    struct trace_counts *sum = &t->state->total;
    if (sum->calls_known && sum->calls < sum->seen)
        sum->calls = sum->seen;
}

static bool is_shut(const char *shut)
{
    return *shut && strcmp(shut, "open") != 0 && strcmp(shut, "spent") != 0;
}

static void take_status(struct trace_session *t, const struct trace_status *s)
{
    struct trace_state *state = t->state;
    state->shut = strcmp(s->shut, "open") != 0;
    snprintf(state->shut_why, sizeof state->shut_why, "%s", state->shut ? s->shut : "");
    t->dry |= is_shut(s->shut);
    state->used[CAP_RATE_PER_S] = s->rate;
    state->used[CAP_WINDOW] = s->window;
    state->used[CAP_BYTES] = s->bytes;
    state->used[CAP_HEAP_BYTES] = s->heap;
    state->mailbox = s->mailbox;
    for (size_t i = 0; i < s->n_patterns; i++) {
        const struct status_pattern *p = &s->patterns[i];
        if (p->index >= t->s.n_patterns)
            continue;
        struct trace_counts *c = &trace_log_pattern_edit(t->log, p->index)->counts;
        c->seen = p->seen;
        c->filtered = p->filtered;
        c->cut = p->cut;
        c->over = p->over;
        c->lost = p->lost;
        c->open = p->open;
    }
    sum_counts(t);
}

static void reset_counts(struct trace_session *t)
{
    for (size_t i = 0; i < t->s.n_patterns; i++) {
        struct trace_counts *c = &trace_log_pattern_edit(t->log, i)->counts;
        if (t->s.patterns[i]->kind != PATTERN_CALL)
            continue;
        c->calls = c->time_us = 0;
        c->calls_known = true;
    }
}

/* The VM's counters never go back: this one went with its breakpoint. */
static void loaded_anew(struct trace_session *t, const struct trace_function *f)
{
    const struct slice m = f->mfa.module;
    snprintf(t->state->note, sizeof t->state->note,
             "%.*s was reloaded: its calls are no longer traced. Start the trace again",
             (int)(m.len < 100 ? m.len : 100), m.s);
}

static void take_count(void *arg, unsigned index, size_t nth, bool is_time, uint64_t n)
{
    struct trace_session *t = arg;
    if (index >= t->s.n_patterns || nth >= t->prep.preflight.patterns[index].n)
        return;
    struct trace_function *f = &t->functions[t->prep.preflight.patterns[index].first + nth];
    struct trace_counts *c = &trace_log_pattern_edit(t->log, index)->counts;
    uint64_t before = is_time ? f->time_us : f->calls;
    if (n == COUNT_GONE || (!is_time && n < before)) {
        loaded_anew(t, f);
        n = before;
    }
    *(is_time ? &f->time_us : &f->calls) = n;
    *(is_time ? &c->time_us : &c->calls) += n;
}

/* Reloaded before the first counts: fewer calls than seen. Counts lag by a moment, so only those
   that do so twice, or at the end, say it. */
static void note_fewer(struct trace_session *t, size_t i, bool at_end)
{
    struct trace_counts *c = &trace_log_pattern_edit(t->log, i)->counts;
    bool fewer = c->calls_known && c->calls < c->seen;
    size_t first = t->prep.preflight.patterns[i].first;
    if (fewer && (at_end || t->fewer[i]) && t->prep.preflight.patterns[i].n > 0) {
        size_t k = 0;
        while (k + 1 < t->prep.preflight.patterns[i].n && t->functions[first + k].calls > 0)
            k++;
        if (!*t->state->note)
            loaded_anew(t, &t->functions[first + k]);
        c->calls = c->seen;
        if (t->prep.preflight.patterns[i].n == 1 && t->functions) {
            t->functions[first].calls = c->seen;
            trace_log_set_functions(t->log, t->functions, t->prep.preflight.n_functions);
        }
    }
    t->fewer[i] = fewer;
}

static bool counts_alone(const struct pattern *p)
{
    return (p->actions & (TRACE_COUNT | TRACE_TIME)) != 0;
}

static bool may_overlap(const struct pattern_name *a, const struct pattern_name *b)
{
    return a->kind != NAME_EXACT || b->kind != NAME_EXACT || slice_equal(a->text, b->text);
}

/* A call of a function that several patterns name is seen by one of them, and counted for all. */
static bool shares_functions(const struct trace_session *t, size_t i)
{
    const struct pattern *p = t->s.patterns[i];
    for (size_t k = 0; k < t->s.n_patterns; k++) {
        const struct pattern *other = t->s.patterns[k];
        if (k != i && other->kind == PATTERN_CALL && may_overlap(&p->module, &other->module) &&
            may_overlap(&p->function, &other->function))
            return true;
    }
    return false;
}

/* What these counts add. Calls that were not seen while the budget stood open were refused by the
   pattern, or came after the last event: no shut budget cost them. Settled: nothing is under way,
   so what a loss cost is exact. */
static void count_unseen(struct trace_session *t, size_t i, bool settled)
{
    struct unseen *u = &t->unseen[i];
    const struct trace_counts *c = &trace_log_pattern(t->log, i)->counts;
    /* What was over the event cap has been seen too. */
    uint64_t now = c->calls > c->seen ? c->calls - c->seen : 0;
    if (t->dry) {
        u->shut += now > u->counted ? now - u->counted : 0;
        u->settled = now;
    } else if (now < u->settled || (settled && t->dry_ever)) {
        u->settled = now; /* those were under way to us */
    }
    u->counted = now;
}

/* A pattern that lets only some calls pass, or only some processes traced: the calls that were not
   seen are not all missed ones. */
static void count_missed(struct trace_session *t, size_t i)
{
    struct trace_counts *c = &trace_log_pattern_edit(t->log, i)->counts;
    const struct unseen *u = &t->unseen[i];
    c->missed = 0;
    if (!c->calls_known || counts_alone(t->s.patterns[i]))
        return;
    const struct procs *procs = &t->s.procs;
    bool everybody = procs->n == 1 && procs->items[0].kind == PROCS_ALL && procs->one_in <= 1;
    bool exact = everybody && !t->one && !t->prep.specs[i].narrow && !t->narrowed &&
                 !shares_functions(t, i) && !trace_own_function(t, i);
    c->missed = exact ? u->settled : u->shut;
    /* Behind the last event calls are counted too, until the counters are off. */
    bool behind = t->state->end == END_EVENTS && t->dry_last;
    c->missed_at_most = c->missed > 0 && (!exact || behind);
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

static void take_counts(struct trace_session *t, struct push *p)
{
    reset_counts(t);
    decode_counts(p, take_count, t);
    t->dry_ever |= t->dry;
    for (size_t i = 0; i < t->s.n_patterns; i++) {
        note_fewer(t, i, false);
        count_unseen(t, i, p->kind == PUSH_SETTLED);
        count_missed(t, i);
    }
    t->dry_last = t->dry;
    t->dry = is_shut(t->state->shut_why);
    sum_counts(t);
    trace_log_set_functions(t->log, t->functions, t->prep.preflight.n_functions);
    tell_shut(t);
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
    take_status(t, &p->status);
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

/* More calls than were seen: some of them are ours. */
static void note_own(struct trace_session *t, size_t i)
{
    const struct trace_counts *c = &trace_log_pattern(t->log, i)->counts;
    const struct mfa *own = trace_own_function(t, i);
    if (!own || !c->calls_known || c->calls <= c->seen || *t->state->note)
        return;
    snprintf(t->state->note, sizeof t->state->note,
             "calls that beamtop itself makes on the node, such as of %.*s, are counted too",
             (int)own->module.len, own->module.s);
}

static void take_end(struct trace_session *t, const struct push *p)
{
    take_status(t, &p->status);
    t->state->ended_mono_ns = trace_ns(t, p->status.mono);
    t->state->used[CAP_TIME_MS] = since_armed_ms(t, p->status.mono);
    t->state->shut = true;
    if (t->state->end == END_NONE) {
        t->state->end = p->end;
        end_text(t, p);
    }
    for (size_t i = 0; i < t->s.n_patterns; i++) {
        note_fewer(t, i, true);
        count_missed(t, i);
        note_own(t, i);
    }
    sum_counts(t);
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
        take_status(t, &p.status);
        break;
    case PUSH_COUNTS:
    case PUSH_SETTLED:
        take_counts(t, &p);
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
