/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An answer of a target: one byte for its kind, then the term. */
#include "fuzz.h"

#include "../unit/model/answers.h"
#include "beamtop/etf/check.h"
#include "beamtop/model/filter.h"
#include "beamtop/model/samples.h"
#include "beamtop/base/arena.h"

static void give_filter(const uint8_t *bytes, size_t len)
{
    struct filter *f = filter_new();
    struct error err = {0};
    size_t offset;
    filter_set(f, "name=^[a-m]", &offset, &err);
    error_clear(&err);
    filter_take(f, bytes, len, &err);
    filter_free(f);
}

static void give_samples(const uint8_t *bytes, size_t len)
{
    struct error err = {0};
    struct arena arena;
    struct yield_stacks stacks;
    const struct process_who *who;
    size_t n;
    arena_init(&arena);
    if (yield_stacks_decode(&stacks, &arena, bytes, len, &err) != 0) {
        error_clear(&err);
        process_who_decode(&who, &n, &arena, bytes, len, &err);
    }
    arena_clear(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    size_t used;
    if (size < 2 || etf_check(data + 1, size - 1, &used, &err) < 0)
        return 0;
    uint8_t kind = data[0] % (ANSWER_KINDS + 1);
    if (kind == ANSWER_KINDS) {
        give_filter(data + 1, size - 1);
        give_samples(data + 1, size - 1);
        return 0;
    }
    /* Twice: the second has one before it to be compared with. */
    struct model *m = model_new();
    for (int i = 0; i < 2; i++) {
        error_clear(&err);
        give_bytes(m, (enum answer_kind)kind, data + 1, size - 1, &scan_want, (uint64_t)i, &err);
    }
    model_free(m);
    return 0;
}
