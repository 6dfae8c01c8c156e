/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of the asks of the header, or of `node`: one byte for which, and for what is there,
 * the first value, the second. What is made of them is a term again. */
#include <stdlib.h>

#include "beamtop/etf/check.h"
#include "fuzz.h"
#include "query/header_terms.h"
#include "query/node_terms.h"
#include "query/native/price.h"

enum { HAS_WAITS = 1, HAS_COUNTERS = 2, IS_LATE = 4, IS_NODE = 8 };

static bool build_header(struct builder *b, uint8_t which, struct slice first, struct slice second)
{
    struct header_counts counts;
    double us;
    header_read_counts(first, which & HAS_COUNTERS ? 2 : 0, &counts);
    header_read_waits(second, &us);
    const struct header_values v = {.counts = first,
                                    .waits = which & HAS_WAITS ? second : (struct slice){0},
                                    .late = which & IS_LATE ? second : (struct slice){0}};
    return second.len > 0 && header_build(b, &v);
}

static bool build_node(struct builder *b, uint8_t which, struct slice first, struct slice second)
{
    struct price price;
    (void)price_take(&price, second);
    const struct node_values v = {.facts = first,
                                  .mode = which & HAS_WAITS ? second : (struct slice){0},
                                  .ticktime = which & IS_LATE ? second : (struct slice){0}};
    return node_build(b, &v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    size_t used = 0;
    if (size < 2 || etf_check(data + 1, size - 1, &used, &err) != 0)
        return 0;
    const struct slice first = {(const char *)data + 2, used - 1}; /* without their version bytes */
    struct slice second = {0};
    if (1 + used < size && etf_check(data + 1 + used, size - 1 - used, &used, &err) == 0)
        second = (struct slice){first.s + first.len + 1, used - 1};
    struct builder *b = builder_new();
    if (data[0] & IS_NODE ? build_node(b, data[0], first, second)
                          : build_header(b, data[0], first, second)) {
        size_t len = 0;
        const uint8_t *bytes = builder_bytes(b, &len);
        if (etf_check(bytes, len, &used, &err) != 0 || used != len)
            abort();
    }
    builder_free(b);
    error_clear(&err);
    return 0;
}
