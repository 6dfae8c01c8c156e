/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a native scan asks, and the answer that is made of it. Pure: no clock, no connection. */
#ifndef BEAMTOP_QUERY_SCAN_TERMS_H
#define BEAMTOP_QUERY_SCAN_TERMS_H

#include "query/native/native.h"
#include "query/who/who.h"
#include "scan_filter.h"
#include "scan_table.h"

/* A row has an element for each. */
#define SCAN_ITEMS 21
/* Of a scan: followed and marked ones, and those that findings watch. */
#define SCAN_PIDS 256

/* The argument of `scan` of docs/queries.md. */
struct scan_ask {
    struct scan_rank rank; /* `first` is not of it */
    bool own;
    size_t rows;
    uint8_t items[SCAN_ITEMS]; /* places in a table of scan_terms.c */
    size_t n_items;
    struct etf_pid pids[SCAN_PIDS], watch[SCAN_PIDS];
    size_t n_pids, n_watch;
    bool walks;                /* it has items that may walk what is long */
    bool wants_id, wants_info; /* who it is; what a sweep does not bring */
};
/* Whether it is one that is asked natively: ranked by what a sweep brings, no item that is counted
 * over a list, no filter that looks at pids. What the filter has read is borrowed from arg. */
bool scan_read_ask(const uint8_t *arg, size_t len, struct scan_ask *out,
                   struct scan_filter *filter);

bool scan_same_items(const struct scan_ask *a, const struct scan_ask *b);

/* ---- asks, freed by native_call_clear(); `sure` as of native_batch_init() */

/* All processes. */
void scan_call_list(struct native_call *call, bool sure);
/* Reductions and message queue of each. */
void scan_call_sweep(struct native_call *call, const char *node, struct scan_proc *const *procs,
                     size_t n, bool sure);
/* The current function of each. */
void scan_call_functions(struct native_call *call, const char *node, struct scan_proc *const *procs,
                         size_t n, bool sure);
/* What the rows show beside; `spared`: without what walks (scan_walks.h). */
void scan_call_info(struct native_call *call, const char *node, const struct scan_ask *ask,
                    bool spared, struct scan_proc *const *procs, size_t n, bool sure);

/* ---- values; false: they are of another form */

struct scan_clock {
    int64_t began_ns, ended_ns; /* the node's monotonic time */
    int64_t processes;          /* its count of them */
    int64_t reductions;         /* of all, before */
};
/* pids: freed by the caller. */
bool scan_read_list(struct slice value, struct scan_clock *clock, struct etf_pid **pids, size_t *n);
/* In the order in which they were asked for. before_ns: of the scan before. */
bool scan_read_sweep(struct slice value, struct scan_clock *clock, struct scan_proc *const *procs,
                     size_t n, int64_t before_ns, uint64_t now_ms);
bool scan_read_functions(struct slice value, struct scan_clock *clock,
                         struct scan_proc *const *procs, size_t n);
bool scan_read_info(struct slice value, struct scan_clock *clock, bool spared,
                    struct scan_proc *const *procs, size_t n, uint64_t now_ms);

/* ---- the answer */

/* Nothing is known of one: empty terms. */
typedef struct who_entry scan_who_fn(const void *arg, const struct scan_proc *proc);

struct scan_answer {
    const struct scan_ask *ask;
    const char *node;
    struct scan_rank rank;
    int64_t mono_ns, interval_ns, sweep_us;
    int64_t total, passing, own; /* passing: by the filter */
    struct scan_filter *filter;  /* NULL: none */
    uint64_t now_ms;             /* of the table's clock */
    struct scan_proc *const *rows, *const *watched;
    size_t n_rows, n_watched;
    scan_who_fn *who;
    const void *who_arg;
};
void scan_build(struct builder *b, const struct scan_answer *answer);

#endif
