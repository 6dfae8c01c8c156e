/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of the header's asks: one byte for what is there, the counts, the waits. What is made
 * of them is a term again. */
#include <stdlib.h>

#include "beamtop/etf/check.h"
#include "fuzz.h"
#include "query/header_terms.h"

enum { HAS_WAITS = 1, HAS_COUNTERS = 2, IS_LATE = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct header_counts counts;
    double us;
    size_t used = 0;
    if (size < 2 || etf_check(data + 1, size - 1, &used, &err) != 0)
        return 0;
    const struct slice first = {(const char *)data + 2, used - 1}; /* without their version bytes */
    struct slice second = {0};
    if (1 + used < size && etf_check(data + 1 + used, size - 1 - used, &used, &err) == 0)
        second = (struct slice){first.s + first.len + 1, used - 1};
    header_read_counts(first, data[0] & HAS_COUNTERS ? 2 : 0, &counts);
    header_read_waits(second, &us);
    const struct header_values v = {.counts = first,
                                    .waits = data[0] & HAS_WAITS ? second : (struct slice){0},
                                    .late = data[0] & IS_LATE ? second : (struct slice){0}};
    struct builder *b = builder_new();
    if (second.len > 0 && header_build(b, &v)) {
        size_t len = 0;
        const uint8_t *bytes = builder_bytes(b, &len);
        if (etf_check(bytes, len, &used, &err) != 0 || used != len)
            abort();
    }
    builder_free(b);
    error_clear(&err);
    return 0;
}
