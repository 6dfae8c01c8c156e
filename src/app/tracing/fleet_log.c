/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/hash.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"

#define TIME_MOST (INT64_C(1) << 61) /* ns: what a node says that is beyond is not believed */

struct event_key {
    uint64_t node, id;
};

/* An event of a node that is in the log, by its number there. */
struct put_event {
    struct event_key key;
    uint64_t id;
    UT_hash_handle hh; /* by key */
};

struct kept_event {
    struct merge_line line; /* first: it is freed by it */
    struct trace_event lost;
};

/* A function of patterns that count, with the calls of all nodes. */
struct counted {
    uint64_t key;
    struct trace_function function; /* its texts are those of a node's log */
    UT_hash_handle hh;              /* by key */
};

struct fleet_log {
    struct trace_log *log;
    struct pattern **patterns;
    size_t n_patterns;
    struct trace_node *nodes; /* all of the fleet; those that are meant have a name */
    size_t n_nodes;
    struct put_event *put;
    uint64_t number; /* of events */
    uint64_t first;  /* events anywhere that end it; 0: each node has its part */
    /* Of the sum that is made. */
    struct trace_state sum;
    struct trace_pattern_info sums[LIMIT_TRACE_PATTERNS];
    size_t taken;
    struct counted *counted;
    bool counts; /* also by function */
};

int fleet_log_new(struct fleet_log **out, const struct trace_request *request, size_t nodes,
                  size_t *offset, struct error *err)
{
    struct fleet_log *l = alloc_zero(1, sizeof *l);
    const size_t len = strlen(request->pattern);
    const int rc = patterns_parse(&l->patterns, &l->n_patterns, request->pattern, len,
                                  request->syntax, offset, err);
    if (rc != 0) {
        free(l);
        return rc;
    }
    l->log = trace_log_new(LIMIT_TRACE_EVENTS, LIMIT_TRACE_KEPT_BYTES);
    for (size_t i = 0; i < l->n_patterns; i++)
        trace_log_add_pattern(l->log, l->patterns[i]);
    struct trace_state *state = trace_log_state_edit(l->log);
    state->caps = request->caps;
    state->preflight.calls_per_s = NAN;
    l->first = request->first;
    l->nodes = alloc_zero(nodes + 1, sizeof *l->nodes);
    l->n_nodes = nodes;
    *out = l;
    return 0;
}

static void put_counted(struct fleet_log *l)
{
    struct trace_function *all = alloc_zero(HASH_COUNT(l->counted) + 1, sizeof *all);
    struct counted *c, *next;
    size_t n = 0;
    HASH_ITER (hh, l->counted, c, next) {
        all[n++] = c->function;
        HASH_DEL(l->counted, c);
        free(c);
    }
    trace_log_set_functions(l->log, all, n);
    free(all);
}

void fleet_log_free(struct fleet_log *l)
{
    struct put_event *e, *next;
    if (!l)
        return;
    put_counted(l);
    HASH_ITER (hh, l->put, e, next) {
        HASH_DEL(l->put, e);
        free(e);
    }
    trace_log_free(l->log);
    patterns_free(l->patterns, l->n_patterns);
    free(l->nodes);
    free(l);
}

const struct trace_log *fleet_log_trace(const struct fleet_log *l)
{
    return l->log;
}

void fleet_log_name(struct fleet_log *l, size_t node, const char *name)
{
    snprintf(l->nodes[node].name, sizeof l->nodes[node].name, "%s", name);
}

static void set_nodes(struct fleet_log *l)
{
    struct trace_node *named = alloc_zero(l->n_nodes + 1, sizeof *named);
    size_t n = 0;
    for (size_t i = 0; i < l->n_nodes; i++)
        if (*l->nodes[i].name)
            named[n++] = l->nodes[i];
    trace_log_set_nodes(l->log, named, n);
    free(named);
}

void fleet_log_fail(struct fleet_log *l, const struct error *why)
{
    struct trace_state *state = trace_log_state_edit(l->log);
    state->status.phase = SESSION_FAILED;
    state->status.error = *why;
    set_nodes(l);
}

void fleet_log_refused(struct fleet_log *l)
{
    set_nodes(l);
    l->taken = 0;
}

void fleet_log_leave_out(struct fleet_log *l, size_t node, const char *why)
{
    l->nodes[node].phase = SESSION_FAILED;
    snprintf(l->nodes[node].says, sizeof l->nodes[node].says, "%s", why);
}

/* ---- events */

static struct put_event *find_put(const struct fleet_log *l, size_t node, uint64_t id)
{
    const struct event_key key = {node, id};
    struct put_event *e;
    HASH_FIND(hh, l->put, &key, sizeof key, e);
    return e;
}

/* Both may be anything. */
static int64_t later(int64_t from_ns, uint64_t ns)
{
    return from_ns > TIME_MOST || ns > (uint64_t)TIME_MOST ? from_ns : from_ns + (int64_t)ns;
}

/* The log takes times of this host's clock: the end of a call is its beginning there, and what it
 * took on its node. */
static void finish_event(struct fleet_log *l, uint64_t id, const struct trace_event *event)
{
    const struct trace_event *begun = trace_log_find(l->log, id);
    if (begun && (event->outcome == OUTCOME_RETURN || event->outcome == OUTCOME_EXCEPTION))
        trace_log_finish(l->log, id, event->outcome, event->class, &event->result,
                         later(begun->mono_ns, event->latency_ns));
}

struct merge_line *fleet_log_keep(struct fleet_log *l, size_t node, const struct trace_event *event,
                                  bool finished)
{
    const bool is_lost = event->kind == EVENT_LOST;
    const struct put_event *put = finished && !is_lost ? find_put(l, node, event->id) : NULL;
    if (put)
        finish_event(l, put->id, event);
    if (finished && !is_lost)
        return NULL;
    struct kept_event *kept = alloc_zero(1, sizeof *kept);
    arena_init(&kept->line.arena);
    kept->line.line.kind = is_lost                     ? LINE_LOST
                           : event->kind == EVENT_CALL ? LINE_CALL
                           : event->kind == EVENT_SEND ? LINE_SEND
                                                       : LINE_RECEIVE;
    kept->line.line.id = (int64_t)event->id;
    kept->line.line.mono_ns = event->mono_ns;
    if (is_lost)
        kept->lost = *event;
    return &kept->line;
}

/* No more than the log keeps: the first was let go there before. */
static void note_put(struct fleet_log *l, size_t node, uint64_t id)
{
    struct put_event *e = find_put(l, node, id) ? NULL : alloc_zero(1, sizeof *e), *first = l->put;
    if (!e)
        return; /* a number that came twice */
    if (HASH_COUNT(l->put) >= LIMIT_TRACE_EVENTS) {
        HASH_DEL(l->put, first);
        free(first);
    }
    e->key = (struct event_key){node, id};
    e->id = l->number;
    HASH_ADD(hh, l->put, key, sizeof e->key, e);
}

void fleet_log_put(struct fleet_log *l, const struct trace_log *of_node,
                   const struct merge_line *line, const struct trace_place *place)
{
    const struct trace_event *from = line->line.kind == LINE_LOST
                                         ? &((const struct kept_event *)line)->lost
                                         : trace_log_find(of_node, (uint64_t)line->line.id);
    if (!from)
        return; /* let go to save room */
    struct trace_event e = *from;
    const bool lasted = e.until_ns > e.mono_ns;
    e.until_ns = later(place->here_ns, lasted ? (uint64_t)e.until_ns - (uint64_t)e.mono_ns : 0);
    e.mono_ns = place->here_ns;
    e.wall_us = place->here_us;
    e.node = place->node;
    e.bound_us = place->bound_us;
    e.same_time = place->same_time;
    e.late = place->late;
    if (e.kind != EVENT_LOST) {
        e.id = ++l->number;
        if (e.kind == EVENT_CALL)
            note_put(l, line->node, from->id);
    }
    struct trace_event *added = trace_log_add(l->log, &e);
    if (e.kind == EVENT_LOST)
        added->shown = from->shown; /* of its node: the log counts those of all */
}

/* ---- the sums */

static void add_counts(struct trace_counts *to, const struct trace_counts *c)
{
    const bool known = to->calls_known && c->calls_known;
    to->calls += c->calls;
    to->seen += c->seen;
    to->filtered += c->filtered;
    to->cut += c->cut;
    to->over += c->over;
    to->lost += c->lost;
    to->missed += c->missed;
    to->time_us += c->time_us;
    to->missed_at_most |= c->missed_at_most;
    to->calls_known = known;
}

/* What is summed over the nodes; of time and the largest term the most. */
static void add_used(struct fleet_log *l, const struct trace_state *s)
{
    static const enum cap sums[] = {CAP_EVENTS, CAP_RATE_PER_S, CAP_WINDOW, CAP_BYTES};
    static const enum cap most[] = {CAP_TIME_MS, CAP_TERM_BYTES, CAP_HEAP_BYTES};
    struct trace_state *sum = &l->sum;
    for (size_t i = 0; i < ARRAY_LEN(sums); i++)
        sum->used[sums[i]] += s->used[sums[i]];
    for (size_t i = 0; i < ARRAY_LEN(most); i++)
        if (s->used[most[i]] > sum->used[most[i]])
            sum->used[most[i]] = s->used[most[i]];
    for (enum cap cap = CAP_EVENTS; cap < CAPS; cap++)
        if (cap != CAP_TERM_BYTES && cap != CAP_HEAP_BYTES)
            sum->caps.value[cap] += s->caps.value[cap];
    sum->caps.value[CAP_TIME_MS] = s->caps.value[CAP_TIME_MS];
    sum->caps.value[CAP_TERM_BYTES] = s->caps.value[CAP_TERM_BYTES];
    sum->caps.value[CAP_HEAP_BYTES] = s->caps.value[CAP_HEAP_BYTES];
    sum->mailbox = s->mailbox > sum->mailbox ? s->mailbox : sum->mailbox;
}

static void add_preflight(struct trace_preflight *sum, const struct trace_preflight *p)
{
    sum->functions = p->functions > sum->functions ? p->functions : sum->functions;
    sum->functions_cut |= p->functions_cut;
    sum->processes += p->processes;
    sum->expensive |= p->expensive;
    if (p->count_ms <= 0 || isnan(p->calls_per_s) ||
        (!isnan(sum->calls_per_s) && p->load <= sum->load))
        return;
    sum->load = p->load; /* of the dearest, with the calls that cost it */
    sum->count_ms = p->count_ms;
    sum->calls_per_s = p->calls_per_s;
}

/* Unverified is said of the whole where one is. */
static void add_check(struct session_check *sum, const struct session_check *c, const char *node)
{
    sum->unarmed &= c->unarmed;
    sum->done &= c->done || c->unarmed;
    sum->clean &= c->clean || c->unarmed;
    sum->after_us = c->after_us > sum->after_us ? c->after_us : sum->after_us;
    sum->breakpoints += c->breakpoints;
    sum->flags += c->flags;
    sum->processes += c->processes;
    sum->sessions += c->sessions;
    sum->control_word |= c->control_word;
    sum->system_tracer |= c->system_tracer;
    if (*c->text && !*sum->text)
        snprintf(sum->text, sizeof sum->text, "%.100s: %.130s", node, c->text);
}

/* Preparing or arming lasts until the last one, running too. */
static enum session_phase join_phases(enum session_phase a, enum session_phase b)
{
    const enum session_phase early = a < b ? a : b, late = a < b ? b : a;
    if (early >= SESSION_ARMING && early <= SESSION_VERIFYING)
        return early;
    return late == SESSION_FAILED && early == SESSION_ENDED ? SESSION_ENDED : early;
}

static void note_node(struct trace_node *n, const struct trace_state *s)
{
    const bool failed = s->status.phase == SESSION_FAILED;
    n->phase = s->status.phase;
    n->check = s->status.check;
    n->counts = s->total;
    snprintf(n->says, sizeof n->says, "%.159s",
             failed ? s->status.error.text
             : s->status.phase >= SESSION_ENDED
                 ? *s->end_text ? s->end_text : trace_end_name(s->end)
             : s->shut && s->status.phase == SESSION_RUNNING ? "skipping calls"
                                                             : "");
}

static uint64_t function_key(const struct trace_function *f)
{
    const uint64_t parts[] = {text_identity(f->mfa.module.s, f->mfa.module.len),
                              text_identity(f->mfa.function.s, f->mfa.function.len),
                              (uint64_t)f->mfa.arity, f->pattern};
    return text_identity((const char *)parts, sizeof parts);
}

static void add_counted(struct fleet_log *l, const struct trace_log *of_node)
{
    const unsigned counts = TRACE_COUNT | TRACE_TIME;
    for (size_t i = 0; i < trace_log_functions(of_node); i++) {
        const struct trace_function *f = trace_log_function(of_node, i);
        const uint64_t key = function_key(f);
        struct counted *c;
        if (f->calls == 0 || f->pattern >= l->n_patterns ||
            !(l->patterns[f->pattern]->actions & counts))
            continue;
        HASH_FIND(hh, l->counted, &key, sizeof key, c);
        if (c) {
            c->function.calls += f->calls;
            c->function.time_us += f->time_us;
            continue;
        }
        c = alloc_zero(1, sizeof *c);
        c->key = key;
        c->function = *f;
        HASH_ADD(hh, l->counted, key, sizeof c->key, c);
    }
}

void fleet_log_count(struct fleet_log *l)
{
    l->counts = true;
}

void fleet_log_take(struct fleet_log *l, size_t node, const struct trace_log *of_node)
{
    const struct trace_state *s = trace_log_state(of_node);
    struct trace_state *sum = &l->sum;
    note_node(&l->nodes[node], s);
    if (l->taken++ == 0) {
        *sum = (struct trace_state){.status.phase = s->status.phase, .preflight.calls_per_s = NAN};
        sum->status.check = (struct session_check){.unarmed = true, .done = true, .clean = true};
        memset(l->sums, 0, sizeof l->sums);
        sum->total.calls_known = true;
        for (size_t i = 0; i < l->n_patterns; i++)
            l->sums[i].counts.calls_known = true;
        memcpy(sum->status.procs, s->status.procs, sizeof sum->status.procs);
    }
    sum->status.phase = join_phases(sum->status.phase, s->status.phase);
    add_used(l, s);
    add_preflight(&sum->preflight, &s->preflight);
    if (s->status.phase != SESSION_FAILED) /* nothing was set there */
        add_check(&sum->status.check, &s->status.check, l->nodes[node].name);
    add_counts(&sum->total, &s->total);
    sum->children |= s->children;
    sum->end = sum->end == END_NONE ? s->end : sum->end;
    sum->isolated |= s->isolated;
    if (l->counts)
        add_counted(l, of_node);
    if (s->shut && !sum->shut) {
        sum->shut = true;
        memcpy(sum->shut_why, s->shut_why, sizeof sum->shut_why);
    }
    if (*s->note && !*sum->note)
        memcpy(sum->note, s->note, sizeof sum->note);
    if (*s->preflight.others && !*sum->preflight.others)
        snprintf(sum->preflight.others, sizeof sum->preflight.others, "%.80s: %.150s",
                 l->nodes[node].name, s->preflight.others);
    for (size_t i = 0; i < l->n_patterns && i < trace_log_patterns(of_node); i++) {
        const struct trace_pattern_info *info = trace_log_pattern(of_node, i);
        add_counts(&l->sums[i].counts, &info->counts);
        l->sums[i].rate_per_s += info->rate_per_s;
        if (info->functions > l->sums[i].functions)
            l->sums[i].functions = info->functions;
    }
}

/* Those that end by themselves: how many have. */
static void put_end_text(struct fleet_log *l)
{
    size_t ended = 0, part = 0;
    const char *says = "", *other = "";
    for (size_t i = 0; i < l->n_nodes; i++) {
        const struct trace_node *n = &l->nodes[i];
        if (!*n->name || n->phase == SESSION_FAILED)
            continue;
        part++;
        ended += n->phase == SESSION_ENDED;
        other = *says && strcmp(says, n->says) != 0 ? n->says : other;
        says = *says ? says : n->says;
    }
    snprintf(l->sum.end_text, sizeof l->sum.end_text, "%zu of %zu nodes%s%.60s%s%.60s", ended, part,
             *says ? ": " : "", says, *other ? ", " : "", other);
}

/* Counts of the log itself are those of what is shown. */
static void keep_shown(struct trace_counts *to, const struct trace_counts *had)
{
    to->shown = had->shown;
    to->open = had->open;
}

void fleet_log_sum(struct fleet_log *l)
{
    struct trace_state *state = trace_log_state_edit(l->log);
    if (l->taken == 0) {
        set_nodes(l);
        return;
    }
    if (l->sum.status.phase >= SESSION_ENDING)
        put_end_text(l);
    if (l->first > 0)
        l->sum.caps.value[CAP_EVENTS] = l->first;
    keep_shown(&l->sum.total, &state->total);
    *state = l->sum;
    for (size_t i = 0; i < l->n_patterns; i++) {
        struct trace_pattern_info *info = trace_log_pattern_edit(l->log, i);
        keep_shown(&l->sums[i].counts, &info->counts);
        info->counts = l->sums[i].counts;
        info->rate_per_s = l->sums[i].rate_per_s;
        info->functions = l->sums[i].functions;
    }
    set_nodes(l);
    if (l->counts)
        put_counted(l);
    l->counts = false;
    l->taken = 0;
}
