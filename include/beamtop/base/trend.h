/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line through values that are equally far apart. Pure. */
#ifndef BEAMTOP_BASE_TREND_H
#define BEAMTOP_BASE_TREND_H

#include <stdbool.h>
#include <stddef.h>

/* Steady: it rises in each quarter, so that it is neither a step nor a level that is being reached.
 */
struct trend {
    double first, last, fit; /* by the line; fit: -1..1, 0 where there is none; NaN: n < 3 */
    bool steady;
};
struct trend trend_of(const double *v, size_t n);

#endif
