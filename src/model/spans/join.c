/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A capture of another node, put into this one: by messages between the two, whose sending and
 * taking each node has by its own clock. */
#include <assert.h>
#include <math.h>
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

static struct crossing_key key_of_crossing(const struct span_event *e, const struct etf_pid *sender)
{
    return (struct crossing_key){.serial = e->serial, .sender = *sender, .label = e->label};
}

static struct crossing *find_crossing(const struct crossings *c, const struct span_event *e,
                                      const struct etf_pid *sender)
{
    const struct crossing_key key = key_of_crossing(e, sender);
    struct crossing *found;
    HASH_FIND(hh, c->by_key, &key, sizeof key, found);
    return found;
}

static void note_message_sent(struct crossings *c, const struct span_event *e)
{
    struct crossing *same = find_crossing(c, e, &e->process.pid);
    if (same) {
        same->twice = true;
        return;
    }
    struct crossing *sent = &c->list[c->n++];
    *sent = (struct crossing){.key = key_of_crossing(e, &e->process.pid), .sent = e->at_ns};
    HASH_ADD(hh, c->by_key, key, sizeof sent->key, sent);
}

static void note_message_taken(struct crossings *c, const struct span_event *e)
{
    struct crossing *sent = find_crossing(c, e, &e->peer.pid);
    if (!sent)
        return;
    sent->twice = sent->twice || sent->is_taken;
    sent->is_taken = true;
    sent->taken = e->at_ns;
}

/* Messages that a node sent, and the other one took. */
static void match_messages(struct crossings *c, const struct spans *from, const struct spans *to)
{
    struct span_event e;
    *c = (struct crossings){0};
    c->list = alloc_zero(spans_events(from) + 1, sizeof *c->list);
    for (size_t i = 0; i < spans_events(from); i++) {
        spans_event_at(from, i, &e);
        if (e.kind == SPAN_EVENT_SEND && e.process.node.len == 0)
            note_message_sent(c, &e);
    }
    for (size_t i = 0; i < spans_events(to); i++) {
        spans_event_at(to, i, &e);
        if (e.kind == SPAN_EVENT_RECEIVE && slice_equal(e.peer.node, spans_about(from)->node))
            note_message_taken(c, &e);
    }
}

static void crossings_clear(struct crossings *c)
{
    HASH_CLEAR(hh, c->by_key);
    free(c->list);
}

/* ---- the clocks */

/* A bound for how far the other clock is ahead, in ns, so many s after its first event. */
struct bound {
    double s, ns;
};
struct bounds {
    struct bound *most, *least;
    size_t n_most, n_least;
};

#define MOST_SLOPE 1e6 /* ns a second: drifts of more than a thousandth are not looked for */

static void add_bounds(struct bound *list, size_t *n, const struct crossings *c, bool there,
                       int64_t since)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct crossing *m = &c->list[i];
        const int64_t at = there ? m->taken : m->sent, here = there ? m->sent : m->taken;
        if (m->is_taken && !m->twice)
            list[(*n)++] = (struct bound){((double)at - (double)since) / 1e9, (double)(at - here)};
    }
}

/* The distance between the bounds along a line of this slope, and its middle at s = 0. As a
   function of the slope it is concave. */
static double room_along(const struct bounds *b, double slope, double *middle)
{
    double most = b->most[0].ns - slope * b->most[0].s;
    double least = b->least[0].ns - slope * b->least[0].s;
    for (size_t i = 1; i < b->n_most; i++)
        most = fmin(most, b->most[i].ns - slope * b->most[i].s);
    for (size_t i = 1; i < b->n_least; i++)
        least = fmax(least, b->least[i].ns - slope * b->least[i].s);
    *middle = least + (most - least) / 2;
    return most - least;
}

/* The slope with the most room, by thirds. */
static double best_slope(const struct bounds *b)
{
    double from = -MOST_SLOPE, to = MOST_SLOPE, unused;
    for (int i = 0; i < 60; i++) {
        const double third = (to - from) / 3;
        if (room_along(b, from + third, &unused) < room_along(b, to - third, &unused))
            from += third;
        else
            to -= third;
    }
    return (from + to) / 2;
}

/* Bounded, so that no sum of times overflows. */
static int64_t ns_of(double ns)
{
    return (int64_t)fmax(-0x1p61, fmin(0x1p61, ns));
}

static void set_line(struct spans_clock *clock, const struct bounds *b)
{
    double level, sloped, most = room_along(b, 0, &level);
    clock->drift_ppm = 0;
    if (clock->there > 0 && clock->back > 0) {
        const double slope = best_slope(b), more = room_along(b, slope, &sloped);
        if (more > 2 * fmax(most, 0)) {
            most = more;
            level = sloped;
            clock->drift_ppm = slope / 1e3;
        }
    }
    clock->ahead_ns = ns_of(level);
    clock->within_ns = most >= 0 ? ns_of(most / 2) : -1;
}

/* Estimates the other clock from messages of both ways; without any, from the bounds in `clock`. */
static void align_clock(struct spans_clock *clock, const struct crossings *there,
                        const struct crossings *back, int64_t since)
{
    struct bounds b = {0};
    b.most = alloc_zero(there->n + 1, sizeof *b.most);
    b.least = alloc_zero(back->n + 1, sizeof *b.least);
    add_bounds(b.most, &b.n_most, there, true, since);
    add_bounds(b.least, &b.n_least, back, false, since);
    clock->there = b.n_most;
    clock->back = b.n_least;
    if (b.n_most == 0)
        b.most[b.n_most++].ns = (double)clock->most_ns;
    if (b.n_least == 0)
        b.least[b.n_least++].ns = (double)clock->least_ns;
    set_line(clock, &b);
    free(b.most);
    free(b.least);
}

static int64_t moved_time(int64_t at, const struct spans_clock *clock, int64_t since)
{
    const double drifted = ((double)at - (double)since) / 1e9 * clock->drift_ppm * 1e3;
    return at - clock->ahead_ns - ns_of(drifted);
}

/* The time of its first event. */
static int64_t first_of(const struct spans *s)
{
    int64_t first = 0;
    for (size_t i = 0; i < s->n_events; i++)
        if (i == 0 || s->events[i].at < first)
            first = s->events[i].at;
    return first;
}

/* ---- the events */

/* Names a process of the other node as this node's events name it. */
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
    const int64_t since = first_of(other);
    match_messages(&there, s, other);
    match_messages(&back, other, s);
    align_clock(clock, &there, &back, since);
    crossings_clear(&there);
    crossings_clear(&back);
    for (size_t i = 0; i < spans_events(other); i++) {
        struct span_event e;
        spans_event_at(other, i, &e);
        e.at_ns = moved_time(e.at_ns, clock, since);
        rename_process(&e.process, s, other);
        rename_process(&e.peer, s, other);
        if (find_label(labels, &e.label))
            (void)spans_feed(s, &e); /* it counts what it drops */
        else
            s->fed.leaked++;
    }
    name_processes(s, other);
    spans_add_dropped(s, &other->fed);
    HASH_CLEAR(hh, labels);
    free(list);
}
