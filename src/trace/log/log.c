/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/hash.h"
#include "beamtop/base/limits.h"

/* An event with its stack and bytes behind it in one piece; its result comes later. */
struct entry {
    struct trace_event event;
    char *result; /* class and value */
    size_t bytes;
    UT_hash_handle hh; /* by event.id */
};

#define PID_BYTES offsetof(struct etf_pid, creation) /* a node's own have all the same */

struct named {
    struct etf_pid pid;
    struct slice name;
    UT_hash_handle hh; /* by pid */
};

struct trace_log {
    struct trace_state state;
    struct entry **ring;
    size_t most_events, most_bytes;
    size_t first, len, bytes;
    uint64_t dropped;
    uint64_t calls;      /* since the last EVENT_LOST */
    struct entry *by_id; /* those with an id */
    struct trace_pattern_info patterns[LIMIT_TRACE_PATTERNS];
    size_t n_patterns;
    struct trace_function *functions;
    char *function_names;
    size_t n_functions;
    struct trace_node *nodes;
    size_t n_nodes;
    struct named *named;
};

static const char *const end_names[] = {
    [END_NONE] = "none", [END_TIME] = "time",       [END_EVENTS] = "events",
    [END_RATE] = "rate", [END_BYTES] = "bytes",     [END_HEAP] = "heap",
    [END_LINK] = "link", [END_STOPPED] = "stopped", [END_KILLED] = "killed",
    [END_GONE] = "gone",
};

const char *trace_end_name(enum trace_end end)
{
    assert((size_t)end < ARRAY_LEN(end_names));
    return end_names[end];
}

struct trace_log *trace_log_new(size_t most_events, size_t most_bytes)
{
    assert(most_events > 0);
    struct trace_log *l = alloc_zero(1, sizeof *l);
    l->ring = alloc_zero(most_events, sizeof *l->ring);
    l->most_events = most_events;
    l->most_bytes = most_bytes;
    caps_init(&l->state.caps);
    return l;
}

static void event_entry_free(struct entry *e)
{
    free(e->result);
    free(e);
}

void trace_log_free(struct trace_log *l)
{
    struct named *n, *next;
    if (!l)
        return;
    HASH_CLEAR(hh, l->by_id);
    for (size_t i = 0; i < l->len; i++)
        event_entry_free(l->ring[(l->first + i) % l->most_events]);
    HASH_ITER (hh, l->named, n, next) {
        HASH_DEL(l->named, n);
        free(n);
    }
    free(l->functions);
    free(l->function_names);
    free(l->nodes);
    free(l->ring);
    free(l);
}

/* ---- The ring */

size_t trace_log_len(const struct trace_log *l)
{
    return l->len;
}

const struct trace_event *trace_log_at(const struct trace_log *l, size_t index)
{
    assert(index < l->len);
    return &l->ring[(l->first + index) % l->most_events]->event;
}

static struct entry *find_entry(const struct trace_log *l, uint64_t id)
{
    struct entry *e;
    HASH_FIND(hh, l->by_id, &id, sizeof id, e);
    return e;
}

const struct trace_event *trace_log_find(const struct trace_log *l, uint64_t id)
{
    const struct entry *e = find_entry(l, id);
    return e ? &e->event : NULL;
}

uint64_t trace_log_dropped(const struct trace_log *l)
{
    return l->dropped;
}

static void drop_oldest(struct trace_log *l)
{
    struct entry *oldest = l->ring[l->first];
    if (oldest->event.id != 0)
        HASH_DEL(l->by_id, oldest);
    l->bytes -= oldest->bytes;
    event_entry_free(oldest);
    l->first = (l->first + 1) % l->most_events;
    l->len--;
    l->dropped++;
}

/* The newest event is kept whatever its size, since it is about to be shown. */
static void drop_bytes(struct trace_log *l, size_t keep)
{
    while (l->len > keep && l->bytes > l->most_bytes)
        drop_oldest(l);
}

/* ---- Copies */

/* Puts the bytes at *at and moves it on; NULL stays NULL. */
static struct slice put_copy(char **at, struct slice s)
{
    if (!s.s)
        return s;
    if (s.len > 0)
        memcpy(*at, s.s, s.len);
    struct slice copy = {*at, s.len};
    *at += s.len;
    return copy;
}

static size_t mfa_bytes(const struct mfa *m)
{
    return m->module.len + m->function.len;
}

static struct mfa put_mfa_copy(char **at, const struct mfa *m)
{
    struct mfa copy = *m;
    copy.module = put_copy(at, m->module);
    copy.function = put_copy(at, m->function);
    return copy;
}

static size_t event_bytes(const struct trace_event *e)
{
    size_t bytes = mfa_bytes(&e->mfa) + mfa_bytes(&e->caller) + e->name.len + e->args.bytes.len +
                   e->message.bytes.len + e->to.bytes.len + e->result.bytes.len + e->class.len +
                   e->node.len;
    for (size_t i = 0; i < e->n_stack; i++)
        bytes += mfa_bytes(&e->stack[i]) + sizeof *e->stack;
    return bytes;
}

static struct entry *event_entry_new(const struct trace_event *event)
{
    size_t bytes = sizeof(struct entry) + event_bytes(event);
    struct entry *entry = alloc_zero(1, bytes);
    entry->bytes = bytes;
    entry->event = *event;
    struct trace_event *e = &entry->event;
    struct mfa *stack = (struct mfa *)(entry + 1);
    char *at = (char *)(stack + event->n_stack);
    for (size_t i = 0; i < event->n_stack; i++)
        stack[i] = put_mfa_copy(&at, &event->stack[i]);
    e->stack = event->n_stack > 0 ? stack : NULL;
    e->mfa = put_mfa_copy(&at, &event->mfa);
    e->caller = put_mfa_copy(&at, &event->caller);
    e->name = put_copy(&at, event->name);
    e->args.bytes = put_copy(&at, event->args.bytes);
    e->message.bytes = put_copy(&at, event->message.bytes);
    e->to.bytes = put_copy(&at, event->to.bytes);
    e->result.bytes = put_copy(&at, event->result.bytes);
    e->class = put_copy(&at, event->class);
    e->node = put_copy(&at, event->node);
    return entry;
}

/* ---- Names of processes */

static struct slice known_name(const struct trace_log *l, const struct etf_pid *pid)
{
    struct named *n;
    HASH_FIND(hh, l->named, pid, PID_BYTES, n);
    return n ? n->name : (struct slice){0};
}

void trace_log_name(struct trace_log *l, const struct etf_pid *pid, struct slice name)
{
    /* A name is never freed before the log: events point to it. */
    if (name.len == 0 || known_name(l, pid).len > 0 || HASH_COUNT(l->named) >= LIMIT_TRACE_EVENTS)
        return;
    struct named *n = alloc_zero(1, sizeof *n + name.len);
    char *kept = memcpy(n + 1, name.s, name.len);
    n->pid = *pid;
    n->name = (struct slice){kept, name.len};
    HASH_ADD(hh, l->named, pid, PID_BYTES, n);
    for (size_t i = 0; i < l->len; i++) {
        struct trace_event *e = &l->ring[(l->first + i) % l->most_events]->event;
        if (e->pid.id == pid->id && e->pid.serial == pid->serial && e->name.len == 0 &&
            e->kind != EVENT_LOST)
            e->name = n->name;
    }
}

/* ---- Adding */

static void count_latency(struct trace_log *l, const struct trace_event *e)
{
    bool back = e->outcome == OUTCOME_RETURN || e->outcome == OUTCOME_EXCEPTION;
    if (back && e->pattern < l->n_patterns)
        histogram_add(&l->patterns[e->pattern].latency, e->latency_ns);
}

static void count_open(struct trace_log *l, unsigned pattern, int by)
{
    struct trace_counts *of_pattern = pattern < l->n_patterns ? &l->patterns[pattern].counts : NULL;
    if (by > 0 || l->state.total.open > 0)
        l->state.total.open += (uint64_t)(int64_t)by;
    if (of_pattern && (by > 0 || of_pattern->open > 0))
        of_pattern->open += (uint64_t)(int64_t)by;
}

static void count_added(struct trace_log *l, struct trace_event *e)
{
    l->calls += e->kind == EVENT_CALL;
    if (e->kind == EVENT_LOST) {
        e->shown = l->calls;
        l->calls = 0;
        return;
    }
    l->state.total.shown++;
    if (e->pattern < l->n_patterns)
        l->patterns[e->pattern].counts.shown++;
    if (e->outcome == OUTCOME_OPEN)
        count_open(l, e->pattern, 1);
    count_latency(l, e);
}

struct trace_event *trace_log_add(struct trace_log *l, const struct trace_event *event)
{
    if (l->len == l->most_events)
        drop_oldest(l);
    struct entry *entry = event_entry_new(event);
    struct trace_event *e = &entry->event;
    if (e->name.len == 0 && e->kind != EVENT_LOST)
        e->name = known_name(l, &e->pid);
    l->ring[(l->first + l->len) % l->most_events] = entry;
    l->len++;
    l->bytes += entry->bytes;
    if (e->id != 0)
        HASH_ADD(hh, l->by_id, event.id, sizeof entry->event.id, entry);
    count_added(l, e);
    drop_bytes(l, 1);
    return e;
}

void trace_log_finish(struct trace_log *l, uint64_t id, enum event_outcome outcome,
                      struct slice class, const struct kept_term *result, int64_t mono_ns)
{
    struct entry *entry = find_entry(l, id);
    if (!entry || entry->result)
        return;
    struct trace_event *e = &entry->event;
    size_t bytes = class.len + result->bytes.len;
    char *at = entry->result = alloc_zero(bytes + 1, 1);
    e->class = put_copy(&at, class);
    e->result = *result;
    e->result.bytes = put_copy(&at, result->bytes);
    if (e->outcome == OUTCOME_OPEN)
        count_open(l, e->pattern, -1);
    e->outcome = outcome;
    e->latency_ns = mono_ns > e->mono_ns ? (uint64_t)(mono_ns - e->mono_ns) : 0;
    count_latency(l, e);
    entry->bytes += bytes;
    l->bytes += bytes;
    if (l->ring[l->first] != entry) /* the call that just ended is kept */
        drop_bytes(l, 1);
}

/* ---- State, nodes, patterns, functions */

size_t trace_log_nodes(const struct trace_log *l)
{
    return l->n_nodes;
}

const struct trace_node *trace_log_node(const struct trace_log *l, size_t index)
{
    assert(index < l->n_nodes);
    return &l->nodes[index];
}

void trace_log_set_nodes(struct trace_log *l, const struct trace_node *nodes, size_t n)
{
    l->nodes = alloc_resize(l->nodes, n + 1, sizeof *l->nodes);
    l->n_nodes = n;
    if (n > 0)
        memcpy(l->nodes, nodes, n * sizeof *nodes);
}

const struct trace_state *trace_log_state(const struct trace_log *l)
{
    return &l->state;
}

struct trace_state *trace_log_state_edit(struct trace_log *l)
{
    return &l->state;
}

size_t trace_log_patterns(const struct trace_log *l)
{
    return l->n_patterns;
}

bool trace_log_has_messages(const struct trace_log *l)
{
    for (size_t i = 0; i < l->n_patterns; i++)
        if (trace_log_pattern(l, i)->pattern->kind != PATTERN_CALL)
            return true;
    return false;
}

enum syntax trace_log_syntax(const struct trace_log *l, enum syntax asked)
{
    if (asked == SYNTAX_AUTO && l->n_patterns > 0)
        asked = trace_log_pattern(l, 0)->pattern->syntax;
    return asked == SYNTAX_ELIXIR ? SYNTAX_ELIXIR : SYNTAX_ERLANG;
}

const struct trace_pattern_info *trace_log_pattern(const struct trace_log *l, size_t index)
{
    assert(index < l->n_patterns);
    return &l->patterns[index];
}

struct trace_pattern_info *trace_log_pattern_edit(struct trace_log *l, size_t index)
{
    assert(index < l->n_patterns);
    return &l->patterns[index];
}

struct trace_pattern_info *trace_log_add_pattern(struct trace_log *l, const struct pattern *p)
{
    assert(l->n_patterns < LIMIT_TRACE_PATTERNS);
    struct trace_pattern_info *info = &l->patterns[l->n_patterns++];
    info->pattern = p;
    return info;
}

size_t trace_log_functions(const struct trace_log *l)
{
    return l->n_functions;
}

const struct trace_function *trace_log_function(const struct trace_log *l, size_t index)
{
    assert(index < l->n_functions);
    return &l->functions[index];
}

void trace_log_set_functions(struct trace_log *l, const struct trace_function *f, size_t n)
{
    size_t bytes = 1;
    for (size_t i = 0; i < n; i++)
        bytes += mfa_bytes(&f[i].mfa);
    struct trace_function *functions = alloc_zero(n + 1, sizeof *functions);
    char *names = alloc_zero(bytes, 1), *at = names;
    for (size_t i = 0; i < n; i++) {
        functions[i] = f[i];
        functions[i].mfa = put_mfa_copy(&at, &f[i].mfa);
    }
    free(l->functions);
    free(l->function_names);
    l->functions = functions;
    l->function_names = names;
    l->n_functions = n;
}
