/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the asks of the question `node` are, and the answer that is made of their values. Pure: no
 * clock, no connection. */
#ifndef BEAMTOP_QUERY_NODE_TERMS_H
#define BEAMTOP_QUERY_NODE_TERMS_H

#include <stdbool.h>

#include "query/native/native.h"

/* What waits for nobody, and cannot fail. */
void node_call_facts(struct native_call *call);
/* What `init` was started with: the code server takes its mode from there. */
void node_call_mode(struct native_call *call);
/* Asks net_kernel. */
void node_call_ticktime(struct native_call *call);

struct node_values {
    struct slice facts;    /* of node_call_facts() */
    struct slice mode;     /* len 0: not known */
    struct slice ticktime; /* len 0: not known: then it is what it was set to at the start */
};
/* Appends the answer to `node` of docs/queries.md. false: a value is of another form. */
bool node_build(struct builder *b, const struct node_values *v);

#endif
