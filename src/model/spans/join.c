/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A capture of another node, put into this one: by messages between the two, whose sending and
 * taking each node has by its own clock. */
#include <assert.h>
#include <stdlib.h>

#include "internal.h"

/* A message is known by token, sender and serial. The VM gives a sender the same serial again once
   it has spawned some 16 processes with its token: such a one is not used. */
struct crossing_key { /* without padding */
    uint64_t serial;
    struct etf_pid sender, label;
};
static_assert(sizeof(struct crossing_key) == 32, "its bytes are the key");
struct crossing {
    struct crossing_key key;
    int64_t sent, taken; /* by the clocks of the two nodes */
    bool is_taken, twice;
    UT_hash_handle hh;
};
/* Messages of one way. */
struct crossings {
    struct crossing *by_key, *list;
    size_t n;
};

static struct crossing_key key_of(const struct span_event *e, const struct etf_pid *sender)
{
    return (struct crossing_key){.serial = e->serial, .sender = *sender, .label = e->label};
}

static struct crossing *find(const struct crossings *c, const struct span_event *e,
                             const struct etf_pid *sender)
{
    const struct crossing_key key = key_of(e, sender);
    struct crossing *found;
    HASH_FIND(hh, c->by_key, &key, sizeof key, found);
    return found;
}

static void note_sent(struct crossings *c, const struct span_event *e)
{
    struct crossing *same = find(c, e, &e->process.pid);
    if (same) {
        same->twice = true;
        return;
    }
    struct crossing *sent = &c->list[c->n++];
    *sent = (struct crossing){.key = key_of(e, &e->process.pid), .sent = e->at_ns};
    HASH_ADD(hh, c->by_key, key, sizeof sent->key, sent);
}

static void note_taken(struct crossings *c, const struct span_event *e)
{
    struct crossing *sent = find(c, e, &e->peer.pid);
    if (!sent)
        return;
    sent->twice = sent->twice || sent->is_taken;
    sent->is_taken = true;
    sent->taken = e->at_ns;
}

/* Messages that a node sent, and the other one took. */
static void cross(struct crossings *c, const struct spans *from, const struct spans *to)
{
    struct span_event e;
    *c = (struct crossings){0};
    c->list = alloc_zero(spans_events(from) + 1, sizeof *c->list);
    for (size_t i = 0; i < spans_events(from); i++) {
        spans_event_at(from, i, &e);
        if (e.kind == SPAN_EVENT_SEND && e.process.node.len == 0)
            note_sent(c, &e);
    }
    for (size_t i = 0; i < spans_events(to); i++) {
        spans_event_at(to, i, &e);
        if (e.kind == SPAN_EVENT_RECEIVE && slice_equal(e.peer.node, spans_about(from)->node))
            note_taken(c, &e);
    }
}

static void crossings_clear(struct crossings *c)
{
    HASH_CLEAR(hh, c->by_key);
    free(c->list);
}

static bool counts(const struct crossing *c)
{
    return c->is_taken && !c->twice;
}

/* Whatever the nodes say, sums of two stay within the type. */
static int64_t within_range(int64_t ns)
{
    const int64_t most = INT64_C(1) << 61;
    return ns < -most ? -most : ns > most ? most : ns;
}

/* Of all of them the least time on the way: what the clocks differ by is in it. How many there
 * were.
 */
static uint64_t least_way(const struct crossings *c, int64_t *least)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const int64_t way = within_range(c->list[i].taken - c->list[i].sent);
        if (!counts(&c->list[i]))
            continue;
        *least = n == 0 || way < *least ? way : *least;
        n++;
    }
    return n;
}

/* No message is taken before it is sent: each way has a bound for how far the other clock is ahead,
   and the truth is between them. */
static void align(struct spans_clock *clock, const struct crossings *there,
                  const struct crossings *back)
{
    int64_t most = 0, least = 0;
    const uint64_t ways = least_way(there, &most), returns = least_way(back, &least);
    least = -least;
    clock->ahead_ns = within_range(clock->ahead_ns);
    clock->messages = ways + returns;
    clock->within_ns = -1;
    if (ways > 0 && returns > 0) {
        clock->ahead_ns = least + (most - least) / 2;
        clock->within_ns = (most > least ? most - least : least - most) / 2;
    } else if (ways > 0 && clock->ahead_ns > most) {
        clock->ahead_ns = most;
    } else if (returns > 0 && clock->ahead_ns < least) {
        clock->ahead_ns = least;
    }
}

/* The clocks may drift: also then nothing is taken before it is sent. */
static int64_t moved(const struct span_event *e, int64_t ahead, const struct crossings *there,
                     const struct crossings *back)
{
    const int64_t at = e->at_ns - ahead;
    const bool sends = e->kind == SPAN_EVENT_SEND;
    const struct crossing *c =
        sends ? find(back, e, &e->process.pid)
              : (e->kind == SPAN_EVENT_RECEIVE ? find(there, e, &e->peer.pid) : NULL);
    if (!c || !counts(c))
        return at;
    if (sends)
        return at < c->taken ? at : c->taken - 1;
    return at > c->sent ? at : c->sent + 1;
}

/* As the events of this node name a process of the other's. */
static void rename_process(struct span_process *p, const struct spans *s, const struct spans *other)
{
    const bool nobody = p->pid.id == 0 && p->pid.serial == 0 && p->name.len == 0;
    if (p->node.len == 0 && !nobody)
        p->node = spans_about(other)->node;
    else if (slice_equal(p->node, spans_about(s)->node))
        p->node = (struct slice){0};
}

struct label {
    struct etf_pid pid;
    UT_hash_handle hh;
};

static struct label *find_label(struct label *labels, const struct etf_pid *pid)
{
    struct label *found;
    HASH_FIND(hh, labels, pid, sizeof *pid, found);
    return found;
}

/* The roots of this node; *list is their memory. */
static struct label *labels_of(const struct spans *s, struct label **list)
{
    struct label *labels = NULL;
    size_t n = 0;
    *list = alloc_zero(spans_events(s) + 1, sizeof **list);
    for (size_t i = 0; i < spans_events(s); i++) {
        struct span_event e;
        spans_event_at(s, i, &e);
        struct label *l = &(*list)[n];
        if (e.kind != SPAN_EVENT_ROOT || find_label(labels, &e.process.pid))
            continue;
        l->pid = e.process.pid;
        HASH_ADD(hh, labels, pid, sizeof l->pid, l);
        n++;
    }
    return labels;
}

static void name_processes(struct spans *s, const struct spans *other)
{
    for (uint32_t id = 1; id < spans_processes(other); id++) {
        struct slice given;
        struct span_process p = spans_process_at(other, id, &given);
        rename_process(&p, s, other);
        if (given.len > 0)
            spans_name(s, &p, given);
    }
}

void spans_join(struct spans *s, const struct spans *other, struct spans_clock *clock)
{
    struct crossings there, back;
    struct label *list, *labels = labels_of(s, &list);
    cross(&there, s, other);
    cross(&back, other, s);
    align(clock, &there, &back);
    for (size_t i = 0; i < spans_events(other); i++) {
        struct span_event e;
        spans_event_at(other, i, &e);
        e.at_ns = moved(&e, clock->ahead_ns, &there, &back);
        rename_process(&e.process, s, other);
        rename_process(&e.peer, s, other);
        if (find_label(labels, &e.label))
            (void)spans_feed(s, &e); /* it counts what it drops */
        else
            s->fed.leaked++;
    }
    name_processes(s, other);
    spans_add_dropped(s, &other->fed);
    crossings_clear(&there);
    crossings_clear(&back);
    HASH_CLEAR(hh, labels);
    free(list);
}
