/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model's state: model.c fills and returns it, model_scan.c keeps the processes of a tick in
 * it. */
#ifndef BEAMTOP_MODEL_STATE_H
#define BEAMTOP_MODEL_STATE_H

#include "internal.h"

struct slot_of {
    struct process_ref asked, last; /* whose process the next answer is of, and the last one */
};

/*
 * An answer and the one before it: the next is read into the spare place, so a bad answer leaves
 * what was there, and a good one can be compared with it. */
struct slot {
    struct arena arenas[2];
    void *values[2];
    int current;
    bool known;
    bool gap;           /* the node was away since the last answer, or is another VM */
    struct slot_of *of; /* NULL: no process was named */
    uint64_t round;     /* answers taken */
};

/* The memory of the largest processes at the first look, by pid: growth is since then. */
struct heaps_base {
    struct heap_size *sizes;
    size_t n;
    uint64_t mono_ns;
    bool known;
};
void heaps_base_clear(struct heaps_base *base);

/* All reductions of the node until a sweep of its processes. */
struct node_work {
    uint64_t mono_ns; /* 0: none was made */
    bool stale;       /* the last was made without an answer of `system` */
    int64_t reductions, own_reductions;
};

struct model {
    struct slot slots[QUESTIONS]; /* only those of QUESTION_ANSWERS are used */
    struct proc_scan taken;       /* a recording's, before it was ranked and cut; no rows: live */
    struct want_scan taken_as;
    struct recorded_position place;
    bool is_recorded;
    struct filter *filter;
    const struct trace_log *trace;
    const struct calls_log *calls;
    const struct events_run *events;
    const struct outside *outside;
    const struct samples_log *samples;
    const struct spans_run *spans;
    const struct findings_shown *findings;
    long utc_offset_s;

    struct node_work until_scan, until_apps;
    struct seen *seen;         /* rows of scans */
    struct seen *seen_process; /* the process of the details: asked at other moments */
    struct history history;
    bool is_small;
    struct ring process_memory, process_messages, process_reductions;
    struct etf_pid process_pid;
    struct heaps_base heaps_base;

    struct journal journal;
    enum link_state link;
    bool is_silent; /* since the last answer of `system` one was late */
    char link_text[240];
    char way[64];
    struct tick_cost cost;
    struct interval_info interval;
    char why[240];           /* of the interval */
    int64_t swept, to_sweep; /* of the first sweep; to_sweep 0: none is under way */
};

/* How an answer was asked for, and when it came. */
struct taking {
    const struct decoder *d;
    const struct want_scan *asked;
    uint64_t now_ns;
};
void take_scan(struct model *m, void *next, const struct taking *t);
void take_heaps(struct model *m, void *next, const struct taking *t);
void take_rows_again(struct model *m, void *next, const struct taking *t);
double node_reductions_per_s(const struct model *m); /* by the last `system`; NaN unknown */
/* What follows for one row from the model around it. reductions_per_s: the node's, over the time of
   the row's rates. */
void finish_row(const struct model *m, struct proc_row *row, double reductions_per_s);
/* The node's reductions a second, of all and of ours, since the sweep before this one of mono_ns;
 * NaN unknown. Rows of sweeps that are far apart are shares of that, not of the last second. */
void work_since(const struct model *m, struct node_work *before, double *all_per_s,
                double *own_per_s);

#endif
