/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the target counted, and so what was missed. */
#include <stdio.h>
#include <string.h>

#include "trace_internal.h"

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

void trace_take_status(struct trace_session *t, const struct trace_status *s)
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

void trace_take_counts(struct trace_session *t, struct push *p)
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

void trace_last_counts(struct trace_session *t)
{
    for (size_t i = 0; i < t->s.n_patterns; i++) {
        note_fewer(t, i, true);
        count_missed(t, i);
        note_own(t, i);
    }
    sum_counts(t);
}
