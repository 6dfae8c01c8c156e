/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the view of causal spans: requests, the tree and the critical path of one, sums. */
#ifndef BEAMTOP_UI_SPANS_SPANS_ROWS_H
#define BEAMTOP_UI_SPANS_SPANS_ROWS_H

#include "beamtop/trace/spans_run.h"
#include "ui/widgets/page.h"

/* A row of any mode. Times are seconds; unknown is NaN. */
struct spans_cells {
    struct slice name, process, kind, on;
    struct slice outcome;
    enum style name_style, outcome_style;
    double started, offset, duration, queued, self, wait, off_cpu, share, slow, spans;
    bool at_least, duration_at_most;
    bool at_most; /* self: light mode */
    bool wait_at_most;
};

/* Where the critical paths of all roots go, summed by operation and name of the process. */
struct path_parts {
    struct span_sum *sum; /* owned */
    int64_t ns, slow_ns;  /* of all roots, of the slowest 1% */
    size_t roots, slow;
    int64_t slow_from_ns; /* the shortest of the slowest */
};
void path_parts_make(struct path_parts *parts, const struct spans *spans);
void path_parts_clear(struct path_parts *parts);
int64_t path_part_ns(const int64_t ns[SPAN_STEPS]); /* of all kinds */

/* What rows are made of. */
struct spans_rows {
    struct view_page *page;
    const struct spans_run *run;
    uint32_t root; /* of a tree or a path */
    bool raw_waits;
    /* Adds a row, with what the line says in each column that is shown. */
    struct view_row *(*add)(struct view_page *page, const void *view, const struct spans_cells *l);
    const void *view;
};
void spans_add_roots(const struct spans_rows *r);
void spans_add_tree(const struct spans_rows *r);
void spans_add_path(const struct spans_rows *r);
void spans_add_parts(const struct spans_rows *r, const struct path_parts *parts);

double spans_seconds(int64_t ns); /* NaN where it is unknown, -1 */

#endif
