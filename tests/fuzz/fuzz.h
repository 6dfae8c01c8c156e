/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every fuzz target defines, and what libFuzzer or driver.c calls. */
#ifndef BEAMTOP_TESTS_FUZZ_H
#define BEAMTOP_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that must hold for every input: also where NDEBUG takes assert away. */
#define FUZZ_REQUIRE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
