/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Going through the processes of a node in slices, those first that read themselves at once: whose
 * status says that they wait. A running one is asked later, in small slices that may be late. Pure,
 * of one question; one thread: the loop's. */
#ifndef BEAMTOP_QUERY_SEEK_H
#define BEAMTOP_QUERY_SEEK_H

#include "query/stepped/stepped.h"

#define SEEK_MOST 20000  /* processes of one question; of a larger node the oldest */
#define SEEK_SLICE 500   /* in an ask */
#define SEEK_FEW 16      /* of those that run */
#define SEEK_LATE_MS 300 /* for such an ask, which is ended then */

enum seek_phase { SEEK_STATUS, SEEK_WAITING, SEEK_RUNNING };

struct seek {
    const char *node;     /* borrowed */
    struct etf_pid *list; /* those from `next` on are to be looked at … */
    size_t n_list, next;
    size_t n_later; /* … and the first n_later later, since they run */
    struct etf_pid out[SEEK_SLICE];
    size_t n_out; /* of the ask that is out */
    enum seek_phase phase;
    int64_t processes; /* on the node; -1: not known */
    int64_t read;      /* of them; the question counts what it has understood */
};

void seek_init(struct seek *s);
void seek_clear(struct seek *s);
void seek_begin(struct seek *s, const char *node);

/* Two calls: how many there are, and which. */
void seek_add_list(struct seek *s, struct run_calls *calls);
void seek_take_list(struct seek *s, const struct slice *values, size_t n);

/* The next s->out. Where the phase is SEEK_STATUS the call has been added; else it is the
 * question's to add what it asks of each. false: all have been looked at. */
bool seek_next(struct seek *s, bool may_run, struct run_calls *calls);
/* An ask before is late: those that are left stay unread. */
void seek_give_up(struct seek *s);
/* false: the answer was the status, or it was none; true: it is what the question asked. */
bool seek_take(struct seek *s, const struct slice *values);

#endif
