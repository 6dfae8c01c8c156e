/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures of other nodes, put into this one: by messages between them, whose sending and taking
 * each node has by its own clock. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "join.h"

#define NOWHERE UINT32_MAX /* of none of these nodes */

static uint32_t party_of(const struct party *parties, size_t n, uint32_t own, struct slice node)
{
    uint32_t i = 0;
    if (node.len == 0)
        return own;
    while (i < n && !slice_equal(node, spans_about(parties[i].spans)->node))
        i++;
    return i < n ? i : NOWHERE;
}

/* ---- messages between them */

/* A message is known by token, sender and serial. The VM gives a sender the same serial again once
   it has spawned some 16 processes with its token: such a one is not used. */
struct crossing_key { /* without padding */
    uint64_t serial;
    struct etf_pid sender, label;
    uint32_t from, label_from;
};
static_assert(sizeof(struct crossing_key) == 40, "its bytes are the key");
struct crossing {
    struct crossing_key key;
    int64_t sent, taken; /* by the clocks of the two nodes */
    uint32_t to;
    bool is_taken, twice;
    UT_hash_handle hh;
};
struct crossings {
    struct crossing *by_key, *list;
    size_t n;
};

static void note_message_sent(struct crossings *c, const struct crossing_key *key, int64_t at)
{
    struct crossing *same;
    HASH_FIND(hh, c->by_key, key, sizeof *key, same);
    if (same) {
        same->twice = true;
        return;
    }
    struct crossing *sent = &c->list[c->n++];
    *sent = (struct crossing){.key = *key, .sent = at};
    HASH_ADD(hh, c->by_key, key, sizeof sent->key, sent);
}

static void note_message_taken(struct crossings *c, const struct crossing_key *key, int64_t at,
                               uint32_t by)
{
    struct crossing *sent;
    HASH_FIND(hh, c->by_key, key, sizeof *key, sent);
    if (!sent)
        return;
    sent->twice = sent->twice || sent->is_taken;
    sent->is_taken = true;
    sent->taken = at;
    sent->to = by;
}

/* All that a node sent, or all that it took of the others. */
static void note_messages(struct crossings *c, const struct party *parties, size_t n, uint32_t of,
                          bool sent)
{
    const struct spans *s = parties[of].spans;
    for (size_t i = 0; i < spans_events(s); i++) {
        struct span_event e;
        spans_event_at(s, i, &e);
        const struct span_process *sender = sent ? &e.process : &e.peer;
        const struct crossing_key key = {.serial = e.serial,
                                         .sender = sender->pid,
                                         .label = e.label,
                                         .from = party_of(parties, n, of, sender->node),
                                         .label_from = party_of(parties, n, of, e.label_node)};
        if (sent && e.kind == SPAN_EVENT_SEND && key.from == of)
            note_message_sent(c, &key, e.at_ns);
        else if (!sent && e.kind == SPAN_EVENT_RECEIVE && key.from != of)
            note_message_taken(c, &key, e.at_ns, of);
    }
}

/* Those that one node sent, and another one took; the caller frees them. */
static struct passed *find_passed(const struct party *parties, size_t n, size_t *n_passed)
{
    struct crossings c = {0};
    size_t most = 1;
    *n_passed = 0;
    for (size_t i = 0; i < n; i++)
        most += spans_events(parties[i].spans);
    c.list = alloc_zero(most, sizeof *c.list);
    for (uint32_t i = 0; i < 2 * n; i++)
        note_messages(&c, parties, n, i % (uint32_t)n, i < n);
    struct passed *list = alloc_zero(c.n + 1, sizeof *list);
    for (size_t i = 0; i < c.n; i++) {
        const struct crossing *m = &c.list[i];
        if (m->is_taken && !m->twice)
            list[(*n_passed)++] = (struct passed){m->key.from, m->to, m->sent, m->taken};
    }
    HASH_CLEAR(hh, c.by_key);
    free(c.list);
    return list;
}

/* ---- roots */

struct label {
    struct label_key {
        struct etf_pid pid;
        uint32_t party;
    } key;
    UT_hash_handle hh;
};
static_assert(sizeof(struct label_key) == 16, "its bytes are the key");

static struct label *find_label(struct label *labels, const struct label_key *key)
{
    struct label *found;
    HASH_FIND(hh, labels, key, sizeof *key, found);
    return found;
}

/* Those of all nodes; *list is their memory. */
static struct label *find_labels(const struct party *parties, size_t n, struct label **list)
{
    struct label *labels = NULL;
    size_t most = 1;
    for (size_t i = 0; i < n; i++)
        most += spans_events(parties[i].spans);
    struct label *next = *list = alloc_zero(most, sizeof **list);
    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < spans_events(parties[i].spans); k++) {
            struct span_event e;
            spans_event_at(parties[i].spans, k, &e);
            const struct label_key key = {e.process.pid, i};
            if (e.kind != SPAN_EVENT_ROOT || e.process.node.len > 0 || find_label(labels, &key))
                continue;
            next->key = key;
            HASH_ADD(hh, labels, key, sizeof next->key, next);
            next++;
        }
    return labels;
}

/* ---- the events */

/* Names a node as the events of the first one do. */
static struct slice renamed_node(struct slice node, const struct spans *s, const struct spans *from)
{
    if (node.len == 0)
        return spans_about(from)->node;
    return slice_equal(node, spans_about(s)->node) ? (struct slice){0} : node;
}

static void rename_process(struct span_process *p, const struct spans *s, const struct spans *from)
{
    if (p->pid.id != 0 || p->pid.serial != 0 || p->name.len > 0)
        p->node = renamed_node(p->node, s, from);
}

static void name_processes(struct spans *s, const struct spans *from)
{
    for (uint32_t id = 1; id < spans_processes(from); id++) {
        struct slice given;
        struct span_process p = spans_process_at(from, id, &given);
        rename_process(&p, s, from);
        if (given.len > 0)
            spans_name(s, &p, given);
    }
}

/* Without those of tokens of other captures. An event without a label is of its process. */
static void feed_party(struct spans *s, const struct party *parties, size_t n, uint32_t of,
                       struct label *labels)
{
    const struct spans *from = parties[of].spans;
    for (size_t i = 0; i < spans_events(from); i++) {
        struct span_event e;
        spans_event_at(from, i, &e);
        const struct label_key key = {e.label, party_of(parties, n, of, e.label_node)};
        const bool unlabelled = e.label.id == 0 && e.label.serial == 0;
        if (!unlabelled && !find_label(labels, &key)) {
            s->fed.leaked++;
            continue;
        }
        e.at_ns = join_time(&parties[of], e.at_ns);
        rename_process(&e.process, s, from);
        rename_process(&e.peer, s, from);
        e.label_node = unlabelled ? (struct slice){0} : renamed_node(e.label_node, s, from);
        (void)spans_feed(s, &e); /* it counts what it drops */
    }
    name_processes(s, from);
    spans_add_dropped(s, &from->fed);
}

/* ---- joining */

static int64_t first_of(const struct spans *s)
{
    int64_t first = 0;
    for (size_t i = 0; i < s->n_events; i++)
        if (i == 0 || s->events[i].at < first)
            first = s->events[i].at;
    return first;
}

static void note_clock(struct spans_clock *clock, const struct party *p)
{
    clock->ahead_ns = (int64_t)fmax(-0x1p61, fmin(0x1p61, p->ahead));
    clock->within_ns = p->within < 0 ? -1 : (int64_t)fmin(0x1p61, p->within);
    clock->drift_ppm = p->slope / 1e3;
}

void spans_join(struct spans *s, struct spans_joined *others, size_t n)
{
    size_t n_passed;
    struct label *list;
    struct party *parties = alloc_zero(n + 1, sizeof *parties);
    for (size_t i = 0; i <= n; i++) {
        const struct spans *from = i == 0 ? s : others[i - 1].spans;
        parties[i] = (struct party){.spans = from, .since = first_of(from)};
    }
    struct passed *messages = find_passed(parties, n + 1, &n_passed);
    join_clocks(parties, n + 1, messages, n_passed, others);
    struct label *labels = find_labels(parties, n + 1, &list);
    for (uint32_t i = 1; i <= n; i++) {
        struct spans_clock *clock = &others[i - 1].clock;
        clock->there = clock->back = 0;
        for (size_t k = 0; k < n_passed; k++) {
            clock->there += messages[k].to == i;
            clock->back += messages[k].from == i;
        }
        note_clock(clock, &parties[i]);
        feed_party(s, parties, n + 1, i, labels);
    }
    HASH_CLEAR(hh, labels);
    free(list);
    free(messages);
    free(parties);
}
