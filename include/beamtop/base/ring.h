/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fixed ring of doubles for history. A gap is a NaN and stays a gap when drawn or averaged. */
#ifndef BEAMTOP_BASE_RING_H
#define BEAMTOP_BASE_RING_H

#include <stddef.h>

struct ring {
    double *values;
    size_t cap;
    size_t len;
    size_t next; /* where the next value goes */
};

void ring_init(struct ring *r, size_t cap);
void ring_clear(struct ring *r); /* frees */
void ring_push(struct ring *r, double v);
void ring_set(struct ring *r, double v);          /* in place of the newest; one must be there */
double ring_at(const struct ring *r, size_t age); /* 0 is the newest; NaN beyond len */

#endif
