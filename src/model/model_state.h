/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model's state: model.c has it made and told, model_scan.c keeps the processes of a tick in it. */
#ifndef BEAMTOP_MODEL_STATE_H
#define BEAMTOP_MODEL_STATE_H

#include "internal.h"

/*
 * Two arenas for each kind of answer: the next is read into the spare one, so a bad answer leaves
 * what was there, and a good one can be compared with it.
 */
struct slot {
    struct arena arenas[2];
    int current;
    bool known;
};

struct model {
    struct slot node_slot, system_slot, scan_slot, process_slot, mailbox_slot, state_slot;
    struct slot alloc_slot, apps_slot, tree_slot, armed_slot;
    struct node_info node;
    struct system_sample system;
    struct proc_scan scan;
    struct proc_scan taken;      /* a recording's, before it was ranked and cut; no rows: live */
    struct want_scan taken_as;
    struct process_detail process;
    struct mailbox_detail mailbox;
    struct state_detail state;
    struct alloc_detail alloc;
    struct apps_detail apps;
    struct tree_detail tree;
    struct armed_detail armed;
    struct recorded_place place;
    bool is_recorded;
    const struct trace_log *trace;
    const struct calls_log *calls;
    const struct findings_shown *findings;
    long utc_offset_s;
    bool system_gap, apps_gap; /* the next sample has none before it */
    bool gap_since_node;       /* since the node was told last */

    struct seen *seen;        /* rows of scans */
    struct seen *seen_process; /* the process of the details: asked at other moments */
    struct history history;
    struct ring process_memory, process_messages, process_reductions;
    struct etf_pid process_pid;

    struct journal journal;
    enum link_state link;
    char link_text[240];
    struct tick_cost cost;
    double asked_s, real_s, budget;
    char why[240];
};

/* The spare arena: where the next answer goes. */
struct arena *slot_next(struct slot *slot);
/* Takes the answer in the spare arena as the current one, or drops it. Returns rc. */
int slot_end(struct slot *slot, int rc);
/* What follows for one row from the model around it. */
void finish_row(const struct model *m, struct proc_row *row);
double own_share_of(const struct model *m); /* of all reductions, by the last `system`; NaN unknown */

#endif
