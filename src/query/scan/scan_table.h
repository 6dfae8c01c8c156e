/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The processes of a small node as its scans know them: what each has done at the last sweep and at
 * the one before. Who did nothing is asked again ever less often. Pure: no clock, no connection. */
#ifndef BEAMTOP_QUERY_SCAN_TABLE_H
#define BEAMTOP_QUERY_SCAN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/slice.h"
#include "beamtop/etf/term.h"

struct scan_proc {
    struct etf_pid pid;
    bool own;                                /* a beamtop's */
    bool asked;                              /* it was spawned for an ask of one */
    bool listed;                             /* by the list that is taken; else it has ended */
    bool known;                              /* its numbers are */
    bool swept;                              /* in this scan */
    int64_t reductions, queue;               /* since its start; messages */
    int64_t reductions_before, queue_before; /* at the scan before; 0 of one that is new */
    int64_t swept_ns;                        /* by the node's clock */
    uint64_t due_ms;                         /* asked again then */
    uint64_t still_ms;                       /* since when it has not moved */
    struct buf info; /* of its row, as process_info/2 said; empty: not read */
    uint64_t info_ms;
    struct buf function; /* its current one, read for a filter when it has moved */
    bool has_function;   /* since it has moved last; a process may be in none */
    bool is_left_out;    /* by a filter */
    bool is_spared;      /* without what walks: scan_walks.h has it */
    bool stale;          /* it has moved since */
    unsigned signals;    /* of reads since it was swept: each is a reduction of its */
    /* Of one whose read takes long (scan_walks.h). */
    bool is_suspect;       /* it may have many links */
    int64_t links_ns;      /* what a walk of them costs; 0: they are few */
    int64_t cleared_bytes; /* its memory when they were */
    int64_t memory, words; /* as they were read */
    uint64_t walked_ms;    /* then; 0: never */
};

struct scan_table {
    struct scan_proc *procs; /* by pid */
    size_t n;
};

/* As the VM orders its own. */
int scan_compare_pids(const struct etf_pid *a, const struct etf_pid *b);

void scan_table_clear(struct scan_table *t);
/* What they cost stays; they have to be listed again. */
void scan_table_forget(struct scan_table *t);
/* These are all that there are. pids is put in order. */
void scan_table_list(struct scan_table *t, struct etf_pid *pids, size_t n);
struct scan_proc *scan_table_find(const struct scan_table *t, const struct etf_pid *pid);

/* A scan begins: what was is before. */
void scan_table_begin(struct scan_table *t);
/* The scan's moment, and the one before; by the node's clock. */
struct scan_moment {
    int64_t ns, before_ns;
    uint64_t ms; /* by ours */
};
/* One has ended. */
void scan_proc_end(struct scan_proc *p);
/* What one that was not asked at the scan before has done is spread over the time since it was. */
void scan_proc_take(struct scan_proc *p, int64_t reductions, int64_t queue,
                    const struct scan_moment *now);
/* Those that have ended leave. */
void scan_table_drop(struct scan_table *t);
/* Neither a beamtop's nor ended. */
size_t scan_table_count(const struct scan_table *t);
size_t scan_table_passing(const struct scan_table *t); /* of these, those that are not left out */

struct scan_rank {
    bool by_queue;  /* else by reductions */
    bool by_delta;  /* since the scan before */
    bool ascending; /* the least first */
    bool first;     /* nothing is known of before: by value */
};
/* What it is ranked by, since the scan before, 0 at the first. */
int64_t scan_value(const struct scan_proc *p, const struct scan_rank *rank);
int64_t scan_delta(const struct scan_proc *p, const struct scan_rank *rank);
/* The best that no filter leaves out, `most` at most, into out, which has room for all; beamtops'
 * own where `own`. */
size_t scan_table_rank(const struct scan_table *t, const struct scan_rank *rank, bool own,
                       struct scan_proc **out, size_t most);

#endif
