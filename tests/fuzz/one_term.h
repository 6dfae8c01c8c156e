/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The input is one term; a target says what is read of it. */
#ifndef BEAMTOP_TESTS_ONE_TERM_H
#define BEAMTOP_TESTS_ONE_TERM_H

#include "beamtop/base/slice.h"
#include "beamtop/etf/check.h"
#include "fuzz.h"

/* Checked, without its version byte. */
static void read_value(struct slice value);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    size_t used = 0;
    if (size > 0 && etf_check(data, size, &used, &err) == 0)
        read_value((struct slice){(const char *)data + 1, used - 1});
    error_clear(&err);
    return 0;
}

#endif
