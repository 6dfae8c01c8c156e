/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of captured causal spans: requests, the tree and the critical path of one, where the time
 * of all goes. JSON, text and the view read them by the same fields. Rows for people have the
 * texts that people read in the places of those for programs: operation, name, outcome, part.
 *
 * Texts live as long as the run and the arena. Times are µs, unknown ones NaN. Pure. */
#ifndef BEAMTOP_TRACE_SPANS_ROWS_H
#define BEAMTOP_TRACE_SPANS_ROWS_H

#include "beamtop/base/arena.h"
#include "beamtop/model/bar.h"
#include "beamtop/model/field.h"
#include "beamtop/trace/spans_run.h"

enum spans_row_is { SPANS_ROW_SPAN, SPANS_ROW_WAIT, SPANS_ROW_WORDS };

struct spans_row {
    struct slice trace_id, span_id, parent_span_id, node, pid, name, kind, operation, started_at,
        ended_at, waiting_on_pid, waiting_on_name, outcome, reason, on_span_id, part, at, in;
    double offset_us, duration_us, net_us, queued_us, self_us, nested_us, wait_us, unattributed_us,
        off_cpu_us, share, slow_us, slow_share;
    int64_t words, spans, wall_us;
    bool ended_at_least, leaf, at_most;

    /* Of those for people. */
    enum field_bound duration_bound, self_bound, wait_bound;
    struct slice on; /* that a request waited for longest */
    enum spans_row_is is;
    uint32_t index; /* of the span; of a part, of one of them */
    uint64_t id;    /* stable identity */
    uint32_t depth;
    enum span_outcome ended;
    /* What it leads to; 0 in a row of words: nothing. */
    uint64_t link_id; /* of the request or the span */
    struct span_process who;
    struct slice function; /* empty: none */
    bool is_function;      /* the operation */
    struct bars bars;
};

/* A span without ids; a wait; a step and a part of critical paths. */
extern const struct field_list spans_span_fields, spans_wait_fields, spans_step_fields,
    spans_part_fields;
/* Only for people. */
extern const struct field_list spans_request_fields;

/* What rows are made of. */
struct spans_rows {
    const struct spans_run *run;
    struct arena *arena;
    bool ascii;
    /* Of a tree: all waits; those that did not end well. Others are those that no span explains. */
    bool raw_waits, failed_waits;
    size_t most; /* rows of a tree or a path; a last one says how many more there are */
};
typedef void spans_row_add(void *to, const struct spans_row *row);

/* ---- for programs */

struct spans_row spans_span_row(const struct spans_rows *r, const struct span *span);
struct spans_row spans_wait_row(const struct spans_rows *r, const struct span_wait *wait);
struct spans_row spans_step_row(const struct spans_rows *r, const struct span *root,
                                const struct span_step *step);

/* Texts. */
struct slice spans_pid(struct arena *arena, const struct span_process *p); /* empty: unknown */
struct slice spans_node(const struct spans_run *run, const struct span_process *p);
struct slice spans_hex(struct arena *arena, uint64_t id); /* empty of 0 */
double spans_us(int64_t ns);                              /* NaN below zero */

double spans_share(int64_t part, int64_t whole); /* NaN of nothing */

/* ---- for people */

/* A span, without bars. */
struct spans_row spans_shown_row(const struct spans_rows *r, uint32_t index);
/* How many spans are in the tree of each root, by its index. */
uint32_t *spans_counted(struct arena *arena, const struct spans *s);
struct spans_row spans_request_row(const struct spans_rows *r, uint32_t root, uint32_t n_spans);
/* Spans, each before its children, with the waits that none of them explains. */
void spans_tree_rows(const struct spans_rows *r, uint32_t root, spans_row_add *add, void *to);
/* Steps of one span and kind that follow each other are one. */
void spans_path_rows(const struct spans_rows *r, uint32_t root, spans_row_add *add, void *to);

/* ---- the critical paths of several roots, added up */

struct spans_sum {
    struct span_sum *paths;
    struct span_share *shares; /* most of the time first */
    size_t n_shares;
    int64_t ns, slow_ns; /* of all roots; of the slowest 1%, one at least */
    size_t n_roots, n_slow;
    int64_t median_ns, p99_ns; /* of roots; -1: there are none */
    int64_t slow_from_ns;      /* the shortest of the slowest */
    bool open;                 /* some are open: these are lower limits */
};
/* Of n roots, in any order; operations: what an operation does is one part. Owned by the caller. */
void spans_sum_make(struct spans_sum *sum, const struct spans *s, const uint32_t *roots, size_t n,
                    bool operations);
void spans_sum_clear(struct spans_sum *sum);
/* For programs. */
struct spans_row spans_share_row(const struct spans_rows *r, const struct spans_sum *sum,
                                 const struct span_share *share);
/* For people, of operations. */
void spans_operation_rows(const struct spans_rows *r, const struct spans_sum *sum,
                          spans_row_add *add, void *to);

#endif
