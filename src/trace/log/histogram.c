/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/histogram.h"

/* Bucket 0 is below a microsecond. */
size_t histogram_bucket(uint64_t ns)
{
    uint64_t us = ns / 1000;
    if (us == 0)
        return 0;
    size_t power = 0;
    while (us >> (power + 1))
        power++;
    /* The step within [2^power, 2^(power+1)), in whole nanoseconds. */
    uint64_t low_ns = (UINT64_C(1) << power) * 1000;
    size_t step = (size_t)((ns - low_ns) * HISTOGRAM_STEPS / low_ns);
    size_t bucket = 1 + power * HISTOGRAM_STEPS + step;
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

uint64_t histogram_edge_ns(size_t bucket)
{
    if (bucket == 0)
        return 1000;
    size_t power = (bucket - 1) / HISTOGRAM_STEPS, step = (bucket - 1) % HISTOGRAM_STEPS;
    uint64_t low_ns = (UINT64_C(1) << power) * 1000;
    return low_ns + (low_ns * (step + 1) + HISTOGRAM_STEPS - 1) / HISTOGRAM_STEPS;
}

void histogram_add(struct histogram *h, uint64_t ns)
{
    if (h->total == 0 || ns < h->min_ns)
        h->min_ns = ns;
    if (ns > h->max_ns)
        h->max_ns = ns;
    h->count[histogram_bucket(ns)]++;
    h->total++;
}

uint64_t histogram_at(const struct histogram *h, double share)
{
    double wanted = share * (double)h->total, so_far = 0.0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS && h->total > 0; i++) {
        so_far += (double)h->count[i];
        if (h->count[i] > 0 && so_far >= wanted) {
            uint64_t edge = histogram_edge_ns(i);
            return edge < h->max_ns ? edge : h->max_ns;
        }
    }
    return h->max_ns;
}
