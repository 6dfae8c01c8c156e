/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the view of one process share. */
#ifndef BEAMTOP_UI_PROCESS_VIEW_PROCESS_H
#define BEAMTOP_UI_PROCESS_VIEW_PROCESS_H

#include "ui/views/views.h"

#define LABEL 16 /* columns of the names of numbers */
#define COPIES 3 /* of what is copied on request */

struct process {
    struct view_link link;
    bool is_suspended; /* when it was drawn last: so it asks who does that */
    bool asked[COPIES];
    uint64_t round[COPIES]; /* of the last answer before the question */
};

/* A copy is about to be asked for: `ask` of view_ops. */
void process_ask(void *state, enum action what, const struct model *m);
void process_forget_lost(struct process *p, const struct model *m);
/* The panels of those that were asked for. */
void process_copies(struct view_page *page, const struct process *p, const struct model *m,
                    int columns);
/* How many it has is unknown: the VM says only how many there are. */
void process_timers(struct view_page *page, const struct model *m);
/* Who suspends it, and what the last answers to `waits`, `tables` and `ports` say of it; nothing
 * where they do not. */
void process_near(struct view_page *page, const struct model *m, const struct etf_pid *pid);

#endif
