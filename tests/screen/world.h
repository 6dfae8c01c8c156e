/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models of made-up nodes, from fixed answers: what the golden screens show. */
#ifndef TESTS_SCREEN_WORLD_H
#define TESTS_SCREEN_WORLD_H

#include "beamtop/model/model.h"
#include "beamtop/ui/canvas.h"

enum world {
    WORLD_BUSY,     /* a broker with odd names and huge numbers */
    WORLD_ANOTHERS, /* as BUSY; another beamtop traces there */
    WORLD_SMALL,    /* one scheduler, no memory counts, no rss, nothing known of rates */
    WORLD_WIDE,     /* 1024 schedulers of each kind */
    WORLD_LOST,     /* busy, then the connection was lost */
    WORLD_NOTHING,  /* not connected yet */
    WORLD_SWEEPING, /* busy, its first scan under way */
    WORLD_NODES,    /* several nodes, none of them open */
};

struct model *world_new(enum world world);
/* The answer to what is wanted, as that node gives it; `tick` counts up from 1. */
void world_answer(struct model *m, enum world world, const struct want *want, int tick);
#define WORLD_LATE 1000 /* the tick from which on the tree has a child more */
/* So many seconds after the scan: the header, and the rows of the scan again, the second one gone.
 */
void world_between(struct model *m, enum world world, const struct want *want, int seconds);
void world_counters(struct model *m, bool ours); /* a counter before OTP 27, which has no tracer */
void world_process_ends(struct model *m);        /* the one that was asked for */
/* It has a long message queue, too many monitors, binaries. */
void world_process_is_large(struct model *m);
/* Copies of a process, in answer to a question about this one. */
void world_mailbox(struct model *m, const struct etf_pid *pid, bool ask);
void world_mailbox_refused(struct model *m, const struct etf_pid *pid);
void world_state(struct model *m, const struct etf_pid *pid, bool ask);
void world_collect(struct model *m, const struct etf_pid *pid, bool ask);

/* The text of a row but for its first column, the cursor's; until the next call. */
const char *world_row(const struct canvas *c, int row);

#endif
