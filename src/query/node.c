/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "node_terms.h"
#include "query/native/price.h"

/* What a server has not said by then is known without it. */
#define SERVER_MS 500

enum node_part { PART_FACTS, PART_MODE, PART_TICKTIME, PARTS };

static const struct {
    void (*init)(struct native_call *call);
    unsigned deadline_ms;
} parts[] = {
    [PART_FACTS] = {node_call_facts, 0},
    [PART_MODE] = {node_call_mode, SERVER_MS},
    [PART_TICKTIME] = {node_call_ticktime, SERVER_MS},
};

struct node_part_ask {
    struct node_ask *of;
    struct native_call call;
    struct buf value; /* a bare term; empty: none */
    bool open;
};

struct node_ask {
    struct query *query;
    const struct price *price;
    struct native *native;
    uv_loop_t *loop;
    bool asking;
    double us;        /* CPU time of this answer */
    struct error why; /* of the ask that cannot fail */
    struct node_part_ask parts[PARTS];
};

static bool is_open(const struct node_ask *n)
{
    for (size_t i = 0; i < PARTS; i++)
        if (n->parts[i].open)
            return true;
    return false;
}

static struct slice value_of(const struct node_ask *n, enum node_part part)
{
    const struct buf *value = &n->parts[part].value;
    return (struct slice){(const char *)value->data, value->len};
}

static void send_answer(struct node_ask *n)
{
    struct builder *b = builder_new();
    const struct node_values v = {.facts = value_of(n, PART_FACTS),
                                  .mode = value_of(n, PART_MODE),
                                  .ticktime = value_of(n, PART_TICKTIME)};
    const bool ok = n->why.code == ERR_NONE && node_build(b, &v);
    if (!ok)
        native_explain(&(struct native_answer){.end = NATIVE_RETURNED}, "node", &n->why);
    n->asking = false;
    query_reply(n->query, QUESTION_NODE, ok ? b : NULL, n->us, &n->why); /* which may free n */
    builder_free(b);
}

static void on_part(void *arg, const struct native_answer *answer)
{
    struct node_part_ask *part = arg;
    struct node_ask *n = part->of;
    part->open = false;
    n->us += price_of_ask(n->price, 0);
    if (answer->end == NATIVE_RETURNED)
        buf_put(&part->value, answer->value.s, answer->value.len);
    else if (part == &n->parts[PART_FACTS])
        native_explain(answer, "node", &n->why);
    if (n->asking && !is_open(n))
        send_answer(n);
}

static int ask_node(void *own, unsigned deadline_ms, struct error *err)
{
    struct node_ask *n = own;
    int rc = 0;
    (void)deadline_ms;
    n->us = 0;
    n->why = (struct error){0};
    for (size_t i = 0; i < PARTS && rc == 0; i++) {
        struct node_part_ask *part = &n->parts[i];
        const unsigned place = NATIVE_NODE + (unsigned)i;
        buf_reset(&part->value);
        if (native_is_out(n->native, place))
            continue; /* of a question before, whose deadline has passed */
        rc = native_ask(n->native, place, &part->call, uv_now(n->loop), parts[i].deadline_ms,
                        on_part, part, err);
        part->open = rc == 0;
    }
    n->asking = rc == 0;
    return rc;
}

static void cancel_node(void *own)
{
    struct node_ask *n = own;
    n->asking = false;
}

static void free_node(void *own)
{
    struct node_ask *n = own;
    for (size_t i = 0; i < PARTS; i++) {
        native_call_clear(&n->parts[i].call);
        buf_clear(&n->parts[i].value);
    }
    free(n);
}

struct native_way node_way(const struct way_setup *setup)
{
    struct node_ask *n = alloc_zero(1, sizeof *n);
    *n = (struct node_ask){
        .query = setup->query,
        .price = setup->price,
        .native = setup->native,
        .loop = setup->loop,
    };
    for (size_t i = 0; i < PARTS; i++) {
        n->parts[i].of = n;
        parts[i].init(&n->parts[i].call);
        buf_init(&n->parts[i].value, 0);
    }
    return (struct native_way){n, NULL, ask_node, cancel_node, free_node};
}
