/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bars of time: what a row did, and when, from the start to the end of all rows. Pure. */
#ifndef BEAMTOP_MODEL_BAR_H
#define BEAMTOP_MODEL_BAR_H

#include <stddef.h>

enum bar_mark {
    BAR_QUEUED,
    BAR_RAN,
    BAR_WAITED, /* over what ran: whole cells of it */
    BAR_LOST,   /* waited, and nobody knows for what */
    BAR_ON,     /* it ended there or later */
    BAR_MARKS
};
/* A part of a row's time; later ones of a row stand over earlier ones. */
struct bar {
    double from, to; /* of the width, 0 to 1 */
    enum bar_mark mark;
};
struct bars {
    struct bar *at;
    size_t n;
};

/* Its sign; [1]: in ASCII. */
extern const char *const bar_signs[BAR_MARKS][2];
/* The cells of `width` that it fills, *first and those up to *end: one at least, but of a wait. */
void bar_cells(const struct bar *bar, int width, int *first, int *end);

#endif
