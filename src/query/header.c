/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "header.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/query/query.h"
#include "header_terms.h"

/* What has not come so long after the counts is shown as not known: the way there and back does not
 * count as late. */
#define LATE_MS 400 /* of four calls, one after the other */
#define RESIDENT_MS 100
/* For the question which schedulers are late, which has 50 ms of it. */
#define WHICH_MS 500
/* The node reads a file for it. */
#define RESIDENT_EVERY_MS 5000

/* Places of native.h, and what an answer waits for. */
enum header_part {
    PART_COUNTS = NATIVE_HEADER,
    PART_WAITS,
    PART_RESIDENT,
    PART_FLAG = NATIVE_FLAG
};
#define PART_BIT(part) (1u << (part))

/* {atomics, Ref}: it is sent with each question. */
#define COUNTER_BYTES 1024

/* More reductions than others can have done. */
#define GONE_MOST (INT64_C(1) << 60)

/* Reductions that a keeper's processes have done. */
struct counter {
    char node[LIMIT_NODE_NAME_BYTES + 1]; /* its client, under whose name it is registered */
    struct etf_pid keeper;                /* that shares it */
    struct buf term;                      /* a bare term; empty: asked for */
    bool counted;                         /* read with the counts */
    bool read;
    int64_t first, last; /* what it had */
};

struct header {
    struct query *query;
    const struct price *price;
    struct native *native;
    struct conn *conn;
    uv_loop_t *loop;
    struct native_call counts, waits, waits_and_memory, flag, resident;
    bool without_memory;  /* it is not supported there */
    bool flag_is_adopted; /* the keeper knows that it is ours */

    bool asking, local;
    unsigned open;                                    /* parts that the answer waits for */
    struct buf counts_value, waits_value, late_value; /* of this answer; empty: none */
    size_t counted;                                   /* counters that are read with the counts */
    int64_t processes;
    uint64_t asked_ms, waits_asked_ms;
    double waited_ms; /* the longest of the waits that are over, since the last answer */
    double us;        /* CPU time since the last answer */
    struct header_memory memory;
    bool has_memory; /* what `memory` says was read when it was due last */
    uint64_t memory_ms;

    struct counter counters[HEADER_COUNTERS];
    size_t n_counters;
    bool has_new_counter;
    int64_t gone_reductions; /* of those that are gone */
};

static void on_counts(void *arg, const struct native_answer *answer);
static void on_waits(void *arg, const struct native_answer *answer);
static void on_resident(void *arg, const struct native_answer *answer);

static bool is_open(const struct header *h, enum header_part part)
{
    return h->asking && (h->open & PART_BIT(part));
}

/* ---- the answer */

static void send_answer(struct header *h, const struct builder *value, const struct error *err)
{
    const double us = h->us;
    buf_reset(&h->late_value);
    h->asking = false;
    h->us = h->waited_ms = 0;
    query_reply(h->query, QUESTION_SYSTEM, value, us, err);
}

static int64_t late_ms(const struct header *h)
{
    double ms = h->waited_ms;
    if (native_is_out(h->native, PART_WAITS))
        ms = fmax(ms, (double)(uv_now(h->loop) - h->waits_asked_ms));
    return (int64_t)ms;
}

static struct slice bytes_of(const struct buf *b)
{
    return (struct slice){(const char *)b->data, b->len};
}

static void fail_answer(struct header *h, const struct native_answer *why)
{
    struct error err = {0};
    native_explain(why, "system", &err);
    send_answer(h, NULL, &err);
}

static bool is_own_counter(const struct header *h, const struct counter *c)
{
    return strcmp(c->node, conn_own_node(h->conn)) == 0;
}

/* Since each was first seen, and of our keeper since its start, which the connection saw. */
static int64_t own_reductions(const struct header *h)
{
    int64_t sum = h->gone_reductions;
    for (size_t i = 0; i < h->n_counters; i++)
        sum += h->counters[i].last - h->counters[i].first;
    return sum;
}

/* Once nothing is open any more. */
static void close_part(struct header *h, enum header_part part)
{
    h->open &= ~PART_BIT(part);
    if (h->open != 0 || !h->asking)
        return;
    const struct header_values v = {.counts = bytes_of(&h->counts_value),
                                    .own_reductions = own_reductions(h),
                                    .waits = bytes_of(&h->waits_value),
                                    .memory = h->has_memory ? &h->memory : NULL,
                                    .late_ms = late_ms(h),
                                    .late = bytes_of(&h->late_value)};
    struct builder *b = builder_new();
    if (header_build(b, &v))
        send_answer(h, b, &(struct error){0});
    else
        fail_answer(h, &(struct native_answer){.end = NATIVE_RETURNED});
    builder_free(b);
}

/* ---- asking */

static int ask_part(struct header *h, enum header_part part, const struct native_call *call,
                    unsigned deadline_ms, native_fn *fn, struct error *err)
{
    int rc = native_ask(h->native, part, call, uv_now(h->loop), deadline_ms, fn, h, err);
    query_arm(h->query);
    return rc;
}

/* The counters that are known are read with the counts. */
static void make_counts(struct header *h)
{
    struct slice terms[HEADER_COUNTERS];
    h->counted = 0;
    for (size_t i = 0; i < h->n_counters; i++) {
        struct counter *c = &h->counters[i];
        c->counted = c->term.len > 0 && native_has_erpc(h->native);
        if (c->counted)
            terms[h->counted++] = bytes_of(&c->term);
    }
    native_call_clear(&h->counts);
    header_call_counts(&h->counts, terms, h->counted);
    h->has_new_counter = !native_has_erpc(h->native);
}

static int ask_counts(struct header *h, struct error *err)
{
    if (native_is_out(h->native, PART_COUNTS))
        return 0; /* of a question before, whose deadline has passed */
    if (h->has_new_counter)
        make_counts(h);
    return ask_part(h, PART_COUNTS, &h->counts, 0, on_counts, err);
}

/* Somebody ended it: the next question starts another. */
static void on_flag(void *arg, const struct native_answer *answer)
{
    struct header *h = arg;
    (void)answer;
    h->flag_is_adopted = false;
}

static void adopt_flag(struct header *h)
{
    if (!h->flag_is_adopted)
        h->flag_is_adopted = query_adopt(h->query, native_pid(h->native, PART_FLAG));
}

static void limit_waits(struct header *h)
{
    native_set_deadline(h->native, PART_WAITS, uv_now(h->loop) + LATE_MS);
    query_arm(h->query);
}

static int ask_waits(struct header *h, struct error *err)
{
    int rc = 0;
    if (!native_is_out(h->native, PART_FLAG))
        rc = ask_part(h, PART_FLAG, &h->flag, 0, on_flag, err);
    if (rc != 0 || native_is_out(h->native, PART_WAITS))
        return rc;
    const bool memory = !h->without_memory && native_has_erpc(h->native);
    h->waits_asked_ms = uv_now(h->loop);
    h->open |= PART_BIT(PART_WAITS);
    rc = ask_part(h, PART_WAITS, memory ? &h->waits_and_memory : &h->waits, 0, on_waits, err);
    if (rc == 0)
        limit_waits(h);
    return rc;
}

/* `local`: the program reads the resident memory of a VM of its host itself. */
static bool take_header_argument(void *own, const uint8_t *arg, size_t len)
{
    struct header *h = own;
    struct cursor c;
    cursor_init(&c, arg, len);
    h->local = cursor_peek_atom(&c, "local");
    return true;
}

static int ask_header(void *own, unsigned deadline_ms, struct error *err)
{
    struct header *h = own;
    (void)deadline_ms; /* its parts have their own */
    h->open = PART_BIT(PART_COUNTS);
    h->asked_ms = uv_now(h->loop);
    buf_reset(&h->counts_value);
    buf_reset(&h->waits_value);
    int rc = ask_counts(h, err);
    h->asking = rc == 0;
    return rc;
}

int64_t header_processes(const struct header *h)
{
    return h->processes;
}

static void cancel_header(void *own)
{
    struct header *h = own;
    h->asking = false;
}

/* Only where no process waits for a dirty I/O scheduler: a read that waits there ends after
 * beamtop, and the next beamtop must not add one. */
static void ask_resident(struct header *h, const struct header_counts *counts)
{
    struct error ignored = {0}; /* of a lost connection */
    const uint64_t now = uv_now(h->loop);
    if (h->local)
        h->has_memory = false;
    if (h->local || (h->memory_ms != 0 && now < h->memory_ms + RESIDENT_EVERY_MS))
        return;
    h->has_memory = false;
    if (counts->dirty_io_queue > 0 || native_is_out(h->native, PART_RESIDENT))
        return;
    h->memory_ms = now;
    const uint64_t way_ms = now - h->asked_ms;
    const unsigned due_ms = RESIDENT_MS + (unsigned)(way_ms < LATE_MS ? way_ms : LATE_MS);
    if (ask_part(h, PART_RESIDENT, &h->resident, due_ms, on_resident, &ignored) == 0)
        h->open |= PART_BIT(PART_RESIDENT);
}

/* ---- what comes */

static void keep_value(struct buf *out, struct slice value)
{
    buf_reset(out);
    buf_put(out, value.s, value.len);
}

/* Of another beamtop that is gone the counter is gone, too, and nothing says which: those of others
 * are asked for again. */
static bool forget_others(struct header *h)
{
    bool forgot = false;
    size_t kept = 0;
    for (size_t i = 0; i < h->n_counters; i++) {
        struct counter *c = &h->counters[i];
        if (is_own_counter(h, c)) {
            h->counters[kept++] = *c;
            continue;
        }
        forgot |= c->term.len > 0;
        h->gone_reductions += c->last - c->first;
        buf_clear(&c->term);
    }
    if (llabs(h->gone_reductions) > GONE_MOST)
        h->gone_reductions = 0;
    h->n_counters = kept;
    h->has_new_counter = true;
    return forgot;
}

/* The place of a client's keeper, a new one where it has none; NULL: there is no room. */
static struct counter *place_of_keeper(struct header *h, struct slice node)
{
    for (size_t i = 0; i < h->n_counters; i++)
        if (slice_is(node, h->counters[i].node))
            return &h->counters[i];
    if (h->n_counters == HEADER_COUNTERS || node.len >= sizeof h->counters->node)
        return NULL;
    struct counter *c = &h->counters[h->n_counters++];
    *c = (struct counter){0};
    memcpy(c->node, node.s, node.len);
    buf_init(&c->term, 0);
    return c;
}

/* Again, until it has answered: it may not be registered yet. */
static void ask_keeper(struct header *h, struct slice node)
{
    struct error ignored = {0}; /* of a lost connection */
    const struct counter *c = place_of_keeper(h, node);
    size_t len = 0;
    if (!c || c->term.len > 0)
        return;
    struct builder *b = builder_new();
    build_tuple(b, 2);
    build_atom(b, "share");
    build_pid(b, conn_own_node(h->conn), conn_self(h->conn));
    const uint8_t *bytes = builder_bytes(b, &len);
    (void)conn_send_name(h->conn, c->node, bytes, len, &ignored);
    builder_free(b);
}

/* Nothing of ours counts there yet. */
static bool is_without_keeper(const struct header *h, struct slice node)
{
    return slice_is(node, conn_own_node(h->conn)) && !query_keeper(h->query);
}

/* A keeper is registered under the name of its client's node. */
static void look_for_keepers(struct header *h, struct slice nodes)
{
    static const char prefix[] = "beamtop";
    struct cursor c;
    struct cursor_list list;
    struct slice node;
    cursor_init(&c, (const uint8_t *)nodes.s, nodes.len);
    if (!cursor_list(&c, &list))
        return;
    for (size_t i = 0; i < list.count && cursor_atom(&c, &node); i++)
        if (slice_begins(node, prefix) && !is_without_keeper(h, node))
            ask_keeper(h, node);
}

/* Before the next counts, which its start is in. */
void header_adopt(struct header *h)
{
    adopt_flag(h);
    (void)query_adopt(h->query, native_pid(h->native, PART_WAITS));
    (void)query_adopt(h->query, native_pid(h->native, PART_RESIDENT));
    ask_keeper(h, slice_of(conn_own_node(h->conn)));
}

/* In the order in which make_counts() lists them. */
static void take_counters(struct header *h, const int64_t *values)
{
    size_t n = 0;
    for (size_t i = 0; i < h->n_counters; i++) {
        struct counter *c = &h->counters[i];
        if (!c->counted)
            continue;
        c->last = values[n++];
        if (!c->read)
            c->first = is_own_counter(h, c) ? 0 : c->last;
        c->read = true;
    }
}

static void on_counts(void *arg, const struct native_answer *answer)
{
    struct header *h = arg;
    struct header_counts counts;
    struct error ignored = {0}; /* then the question has no answer by its deadline */
    if (answer->end == NATIVE_RETURNED && header_read_counts(answer->value, h->counted, &counts)) {
        h->us += price_of_ask(h->price, counts.us);
        h->processes = counts.processes;
        take_counters(h, counts.counters);
        adopt_flag(h);
        if (!is_open(h, PART_COUNTS))
            return;
        keep_value(&h->counts_value, answer->value);
        (void)ask_waits(h, &ignored); /* beside it, it would be in the run queue */
        look_for_keepers(h, counts.nodes);
        ask_resident(h, &counts);
        close_part(h, PART_COUNTS);
    } else if (answer->end == NATIVE_RAISED && forget_others(h)) {
        (void)ask_counts(h, &ignored);
    } else if (is_open(h, PART_COUNTS)) {
        fail_answer(h, answer);
    }
}

/* ---- what waits for schedulers */

static void on_which(void *arg, const struct answer *answer)
{
    struct header *h = arg;
    struct cursor c;
    struct slice ids = {0};
    if (!answer->value)
        return;
    cursor_init(&c, answer->value, answer->len);
    if (cursor_tuple_of(&c, 2) && cursor_atom_is(&c, "late") && cursor_raw(&c, &ids))
        keep_value(&h->late_value, ids);
}

/* Once for what is late: it shows again only in how long it takes. The next answer names them. */
static void ask_which(struct header *h)
{
    struct error ignored = {0}; /* then they are not named */
    struct builder *b = builder_new();
    build_nil(b);
    (void)query_ask(h->query, QUESTION_LATE, b, WHICH_MS, on_which, h, &ignored);
    builder_free(b);
}

static void take_waits(struct header *h, struct slice value)
{
    double us;
    if (!header_read_waits(value, &us))
        return;
    h->waited_ms = fmax(h->waited_ms, us / 1000);
    h->us += price_of_waits(h->price);
    if (is_open(h, PART_WAITS))
        keep_value(&h->waits_value, value);
}

static void on_waits(void *arg, const struct native_answer *answer)
{
    struct header *h = arg;
    struct error ignored = {0};
    if (answer->end == NATIVE_LATE && is_open(h, PART_WAITS)) {
        (void)query_adopt(h->query, native_pid(h->native, PART_WAITS));
        ask_which(h);
    } else if (answer->end == NATIVE_RETURNED) {
        take_waits(h, answer->value);
    } else if (answer->end == NATIVE_RAISED && !h->without_memory) {
        h->without_memory = true;
        if (is_open(h, PART_WAITS) && ask_waits(h, &ignored) == 0)
            return;
    }
    if (is_open(h, PART_WAITS))
        close_part(h, PART_WAITS);
}

static void on_resident(void *arg, const struct native_answer *answer)
{
    struct header *h = arg;
    if (answer->end == NATIVE_RETURNED)
        h->has_memory = header_read_memory(answer->value, &h->memory);
    if (answer->end == NATIVE_LATE) {
        h->memory_ms = 0; /* asked again as soon as it is back */
        (void)query_adopt(h->query, native_pid(h->native, PART_RESIDENT));
    } else {
        h->us += price_of_ask(h->price, 0);
    }
    if (is_open(h, PART_RESIDENT))
        close_part(h, PART_RESIDENT);
}

void header_take_shared(struct header *h, struct cursor *c)
{
    struct etf_pid keeper;
    struct slice term;
    if (!cursor_pid(c, &keeper, NULL) || !cursor_raw(c, &term) || term.len > COUNTER_BYTES)
        return;
    const struct etf_pid *ours = query_keeper(h->query);
    const bool own = ours && pid_same(&keeper, ours);
    struct counter *to = NULL;
    for (size_t i = 0; i < h->n_counters; i++) {
        struct counter *one = &h->counters[i];
        if (one->term.len > 0 && pid_same(&one->keeper, &keeper))
            return; /* asked twice */
        if (!to && one->term.len == 0 && is_own_counter(h, one) == own)
            to = one;
    }
    if (!to)
        return;
    to->keeper = keeper;
    keep_value(&to->term, term);
    h->has_new_counter = true;
}

/* ---- life */

struct header *header_new(const struct way_setup *setup)
{
    struct header *h = alloc_zero(1, sizeof *h);
    *h = (struct header){
        .query = setup->query,
        .price = setup->price,
        .native = setup->native,
        .conn = setup->conn,
        .loop = setup->loop,
        .processes = -1,
    };
    header_call_counts(&h->counts, NULL, 0);
    header_call_waits(&h->waits, false);
    header_call_waits(&h->waits_and_memory, true);
    header_call_flag(&h->flag);
    header_call_resident(&h->resident);
    buf_init(&h->counts_value, 0);
    buf_init(&h->waits_value, 0);
    buf_init(&h->late_value, 0);
    return h;
}

static void free_header(void *own)
{
    struct header *h = own;
    native_call_clear(&h->counts);
    native_call_clear(&h->waits);
    native_call_clear(&h->waits_and_memory);
    native_call_clear(&h->flag);
    native_call_clear(&h->resident);
    buf_clear(&h->counts_value);
    buf_clear(&h->waits_value);
    buf_clear(&h->late_value);
    for (size_t i = 0; i < h->n_counters; i++)
        buf_clear(&h->counters[i].term);
    free(h);
}

struct native_way header_way(struct header *h)
{
    return (struct native_way){h, take_header_argument, ask_header, cancel_header, free_header};
}
