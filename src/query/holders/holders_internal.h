/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the question `holders` share: holders.c answers, holders_steps.c has the steps.
 */
#ifndef BEAMTOP_QUERY_HOLDERS_INTERNAL_H
#define BEAMTOP_QUERY_HOLDERS_INTERNAL_H

#include "holders.h"
#include "holders_table.h"
#include "query/native/run.h"
#include "query/who/who_terms.h"

#define HOLDERS_SLICE 500 /* processes between two answers of who they are */

/* What the steps read: `own` of the run. */
struct holders_read {
    struct who_node node; /* whose pids they are */
    uint64_t now_ms;
    uint64_t *paid_ms; /* of scan_paid_ms() */
    struct holders_table table;

    struct etf_pid *list; /* while it is listed */
    size_t n_list;
    int64_t first; /* of the part of the list that is next; 0: all are listed */
    bool has_failed, is_cut;

    size_t next, end; /* the slice */
    struct holder *out[HOLDERS_SLICE];
    struct etf_pid pids[HOLDERS_SLICE]; /* of these */
    size_t n_out;
    bool with_binaries; /* the lists that are out */
};

void holders_begin_list(struct holders_read *r);
/* The next of those that are listed; false: there is none. */
bool holders_next_slice(struct holders_read *r);

/* Of a run that lists, and of one that reads a slice. */
extern const struct run_step holders_list_steps[], holders_slice_steps[];
extern const size_t holders_list_count, holders_slice_count;

#endif
