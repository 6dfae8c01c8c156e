/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "../../test.h"
#include "beamtop/base/clock.h"

TEST(test_monotonic_does_not_go_back)
{
    uint64_t last = clock_mono_ns();
    for (int i = 0; i < 1000; i++) {
        uint64_t now = clock_mono_ns();
        assert_true(now >= last);
        last = now;
    }
}
