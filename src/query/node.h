/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question `node`, what does not change, asked natively (native.h): what cannot fail in one
 * ask, and in two more what servers of the node say, who may hang. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_NODE_H
#define BEAMTOP_QUERY_NODE_H

#include <uv.h>

#include "query/native/internal.h"
#include "query/native/native.h"
#include "query/native/price.h"

struct node_ask;

/* The answer goes to query_reply(), from the loop, once for each node_ask_start(), unless
 * node_ask_cancel() is first. */
struct node_ask *node_ask_new(struct query *q, const struct price *price, struct native *native,
                              uv_loop_t *loop);
void node_ask_free(struct node_ask *n);
int node_ask_start(struct node_ask *n, struct error *err);
void node_ask_cancel(struct node_ask *n); /* its deadline has passed */

#endif
