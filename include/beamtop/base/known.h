/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What may be unknown: an integer is negative then, a double is NaN. */
#ifndef BEAMTOP_BASE_KNOWN_H
#define BEAMTOP_BASE_KNOWN_H

#include <math.h>
#include <stdint.h>

static inline double known_or_nan(int64_t n)
{
    return n < 0 ? (double)NAN : (double)n;
}

/* The sum of two of 0 and more: INT64_MAX at most. */
static inline int64_t known_plus(int64_t a, int64_t b)
{
    return a < INT64_MAX - b ? a + b : INT64_MAX;
}

#endif
