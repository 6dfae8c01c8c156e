/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Change per second of numbers that were read twice. Pure. */
#ifndef BEAMTOP_BASE_RATE_H
#define BEAMTOP_BASE_RATE_H

#include <stdint.h>

/* Seconds between two readings of one monotonic clock; NaN when it did not move forward. */
double rate_interval(uint64_t before_ns, uint64_t now_ns);
/* Growth of a counter per second; NaN when either is unknown (negative) or it went back. */
double rate_counter(int64_t before, int64_t now, double interval_s);
/* Change of a gauge per second, either way; NaN when either is unknown. */
double rate_gauge(int64_t before, int64_t now, double interval_s);
/* 0..1; NaN when either is unknown. */
double rate_share(double part, double whole);

#endif
