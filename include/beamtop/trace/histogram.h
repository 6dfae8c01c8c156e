/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Latencies in logarithmic buckets: 32 to a power of two from 1 us to about 70 min, so that a
 * percentile read from them is at most 3.2 % above the true one. Embedded; plain data, 8 KiB. */
#ifndef BEAMTOP_TRACE_HISTOGRAM_H
#define BEAMTOP_TRACE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_STEPS 32 /* to a power of two */
#define HISTOGRAM_BUCKETS (2 + 32 * HISTOGRAM_STEPS)

struct histogram {
    uint64_t count[HISTOGRAM_BUCKETS];
    uint64_t total;
    uint64_t max_ns, min_ns;
};

void histogram_add(struct histogram *h, uint64_t ns);
/* The upper edge of the bucket where that share (0..1) of the values is reached, never above
   max_ns; 0 when empty. */
uint64_t histogram_at(const struct histogram *h, double share);
size_t histogram_bucket(uint64_t ns);
uint64_t histogram_edge_ns(size_t bucket); /* upper */

#endif
