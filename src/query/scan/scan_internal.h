/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of a native scan share: scan.c lists and sweeps, scan_rows.c ranks and reads rows.
 */
#ifndef BEAMTOP_QUERY_SCAN_INTERNAL_H
#define BEAMTOP_QUERY_SCAN_INTERNAL_H

#include "own.h"
#include "scan.h"
#include "scan_table.h"
#include "scan_terms.h"

struct scan_set {
    struct scan_proc **procs;
    size_t n;
};

struct scan {
    struct query *query;
    const struct price *price;
    struct native *native;
    struct who *who;
    struct own *own;
    struct conn *conn;
    uv_loop_t *loop;

    struct scan_ask ask;
    struct scan_filter filter;
    bool large;
    bool is_counted; /* the processes, before it is asked */
    bool asking;
    uint64_t due_ms; /* of this question */
    double us;

    struct scan_table table;
    /* What is out, in the order in which it was asked for: with a sweep or what rows show, without
       what walks, and what walks. */
    struct scan_set out, spared, walked;
    uint64_t paid_ms;               /* until then walks are paid for */
    bool has_listed, has_swept_all; /* in this scan */
    uint64_t listed_ms;
    int64_t listed; /* processes when they were listed, less those that have ended */

    bool had_sweep, by_queue; /* the scan before */
    int64_t swept_ns, before_ns;
    int64_t sweep_us;
    int64_t reductions, reductions_before; /* of the node */
    int64_t all_work, ended_work;          /* scan_seen has them */
    struct scan_proc **rows, **watched;
    size_t n_rows, n_watched;
    bool who_is_out, waits_for_who;
    bool is_ranked; /* what a filter looks at is known */
    unsigned open;  /* asks that the rows wait for */
};

/* ---- scan.c */

void scan_set_make(struct scan_set *set, size_t most);
void scan_forget_rows(struct scan *s);
void scan_send(struct scan *s, const struct builder *value, const struct error *err);
void scan_give_up(struct scan *s, const struct error *err);
void scan_fail_answer(struct scan *s, const struct native_answer *answer);
/* rc 0: true; else the scan fails. */
bool scan_go_on(struct scan *s, int rc, const struct error *err);
/* Clears the call. */
int scan_ask_call(struct scan *s, unsigned place, struct native_call *call, native_fn *fn,
                  struct error *err);
/* each_us: the most that each of n processes takes. */
void scan_add_price(struct scan *s, const struct scan_clock *clock, size_t n, double each_us);
/* Adds this scan's to the sums of scan_seen. */
void scan_count_work(struct scan *s);
/* Processes that have ended since they were listed. */
int64_t scan_count_ended(const struct scan *s);

/* ---- scan_rows.c */

/* All that ranks is known: reads what rows show, and answers. */
void scan_ask_rows(struct scan *s);

#endif
