/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A window of counted calls of several nodes: sums over those whose windows are complete, with the
 * least and the most of a node, and a row of each node. Pure. Texts are borrowed from the windows,
 * arrays are the arena's. Unknown is CALLS_UNKNOWN, NaN in a double. */
#ifndef BEAMTOP_TRACE_CALLS_SEVERAL_H
#define BEAMTOP_TRACE_CALLS_SEVERAL_H

#include "beamtop/base/arena.h"
#include "beamtop/etf/print.h"
#include "beamtop/model/field.h"
#include "beamtop/trace/calls_state.h"

/* What a node has given for it. */
struct calls_part {
    struct slice node;
    const struct calls_window *window; /* NULL: nothing */
    bool counted;                      /* it is in the sums: it has a window */
    struct slice why;                  /* it is not */
};

/* What one node has of a function. */
struct calls_node_function {
    struct slice node;
    uint64_t calls;
    double calls_per_s;
    uint64_t timed_calls, own_us, words;
    double us_per_call;
    struct slice name; /* of the function, for people, where it was set */
};

/* Of a function, over the nodes that are in the sums. A list of a node may end above it, or leave
 * it out: then `calls` is what the others have, and `unlisted` so many more at most. */
struct calls_several_function {
    struct slice module, function, application;
    uint64_t arity;
    uint64_t nodes; /* that list it */
    uint64_t calls, unlisted;
    enum field_bound bound; /* of `calls` */
    double calls_per_s, share;
    double least_per_s, most_per_s; /* of a node; one that has called nothing counts as 0 */
    struct slice least_node, most_node;
    uint64_t timed_calls, own_us, words; /* of those that have timed it */
    double us_per_call, words_per_call;
    double least_us, most_us; /* per call, of a node */
    struct slice least_us_node, most_us_node;
    const struct calls_node_function *by_node; /* most calls per second first */
    size_t n_by_node;
    struct slice name; /* as in calls_function */
};

/* A node of the window. */
struct calls_node {
    struct slice node, why;
    bool counted;
    int64_t wall_us;
    uint64_t interval_us, asked_us, functions, called, lost, calls, not_counted;
    double calls_per_s, load;
    uint64_t target_us, bytes; /* as in calls_window */
};

struct calls_several {
    uint64_t number;         /* of the window */
    uint64_t nodes, counted; /* in all; in the sums */
    uint64_t calls;
    double calls_per_s;
    bool has_time, has_memory;
    const struct calls_node *parts;
    size_t n_parts;
    const struct calls_several_function *rows; /* most calls first */
    size_t n_rows;
    const struct calls_sum *modules, *applications; /* without a change */
    size_t n_modules, n_applications;
};

/* top: rows and modules at most. */
void calls_several_make(struct calls_several *out, struct arena *arena, uint64_t number,
                        const struct calls_part *parts, size_t n, size_t top);

extern const struct field_list calls_several_fields, calls_node_fields,
    calls_several_function_fields, calls_node_function_fields;
/* The columns of its functions: with times and words where it has them. */
const char *calls_several_columns(const struct calls_several *w);

#endif
