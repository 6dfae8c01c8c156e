/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is no answer of the kernel about sockets: nothing is overrun, and the same twice. */
#include <string.h>

#include "fuzz.h"
#include "link/sockets/diag.h"

static void count_row(void *arg, const struct socket_row *r)
{
    size_t *n = arg;
    FUZZ_REQUIRE(r->own.port <= UINT16_MAX && r->far.port <= UINT16_MAX);
    FUZZ_REQUIRE(r->six || IN6_IS_ADDR_V4MAPPED(&r->own.address));
    ++*n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t first = 0, again = 0;
    uint32_t number = 1;
    if (size >= 12)
        memcpy(&number, data + 8, sizeof number);
    const enum diag_said said = diag_read(data, size, number, count_row, &first);
    FUZZ_REQUIRE(diag_read(data, size, number, count_row, &again) == said && first == again);
    FUZZ_REQUIRE(first <= size / 72);
    return 0;
}
