/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/trace/histogram.h"

/* Every value lies below the upper edge of its bucket and not below that of the one before. */
TEST(test_edges)
{
    for (uint64_t ns = 1; ns < UINT64_C(4000000000000); ns += 1 + ns / 7) {
        size_t bucket = histogram_bucket(ns);
        assert_in_range(bucket, 0, HISTOGRAM_BUCKETS - 1);
        if (bucket < HISTOGRAM_BUCKETS - 1)
            assert_true(ns < histogram_edge_ns(bucket));
        if (bucket > 0)
            assert_true(ns >= histogram_edge_ns(bucket - 1));
    }
    assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Percentiles are never below the true ones, nor more than a step of a power of two above. */
TEST(test_percentiles)
{
    enum { N = 5000 };
    static uint64_t values[N];
    struct histogram h;
    h = (struct histogram){0};
    uint64_t seed = 42;
    for (size_t i = 0; i < N; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        values[i] = 1000 + (seed >> 33) % (i % 10 == 0 ? 90000000 : 90000);
        histogram_add(&h, values[i]);
    }
    qsort(values, N, sizeof *values, compare);
    static const double shares[] = {0.01, 0.5, 0.9, 0.99, 1.0};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        size_t rank = (size_t)(shares[i] * N + 0.5);
        uint64_t truth = values[rank > 0 ? rank - 1 : 0];
        uint64_t told = histogram_at(&h, shares[i]);
        assert_true(told >= truth);
        assert_true((double)told <= (double)truth * 1.033);
    }
    assert_int_equal(histogram_at(&h, 1.0), values[N - 1]);
    assert_int_equal(h.total, N);
    assert_int_equal(h.min_ns, values[0]);
}

TEST(test_empty)
{
    struct histogram h;
    h = (struct histogram){0};
    assert_int_equal(histogram_at(&h, 0.5), 0);
    histogram_add(&h, 0);
    assert_int_equal(histogram_at(&h, 0.5), 0);
    assert_int_equal(h.total, 1);
}
