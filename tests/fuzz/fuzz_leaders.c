/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A value of the asks of `leaders`, taken for each of them: looks, moments, binaries, pids. */
#include "one_term.h"
#include "query/leaders/leaders_read.h"

#define PIDS 3

static void read_value(struct slice value)
{
    struct etf_pid pids[PIDS];
    struct leader l = {.reductions = 7, .looked_reductions = -1};
    struct leaders_waits sums = {0};
    leaders_take_look(&l, value);
    FUZZ_REQUIRE(l.memory >= 0 && l.binary_bytes >= 0);
    leaders_take_moment(&sums, value);
    FUZZ_REQUIRE(sums.moments == 1 && sums.logger >= 0 && sums.calls >= 0 && sums.running >= 0);
    leaders_take_binaries(&l, value);
    (void)leaders_take_counts(&l, value, true);
    FUZZ_REQUIRE(l.binaries >= 0);
    FUZZ_REQUIRE(leaders_read_pids(value, "n@h", pids, PIDS) <= PIDS);
    FUZZ_REQUIRE(leaders_minor_gcs(value) >= -1);
    (void)leaders_is_asleep(value);
    (void)leaders_is_sending(value);
    (void)values_of_pair(value, "links");
}
