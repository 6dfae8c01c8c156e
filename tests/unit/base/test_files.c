/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <sys/resource.h>

#include "../../test.h"
#include "beamtop/base/files.h"

static rlim_t raised(unsigned long most)
{
    struct rlimit files;
    files_raise(most);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    return files.rlim_cur;
}

TEST(test_soft_limit_is_raised_within_the_hard_one)
{
    const struct rlimit few = {.rlim_cur = 64, .rlim_max = 256};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(raised(128), 128);
    assert_int_equal(raised(32), 128);
    assert_int_equal(raised(ULONG_MAX), 256);
    assert_int_equal(raised(512), 256);
}
