/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers with the names of processes. */
#include "beamtop/model/samples.h"
#include "decode.h"

int decode_names(names_fn *fn, void *arg, const uint8_t *term, size_t len, struct error *err)
{
    const struct process_who *who = NULL;
    struct arena arena;
    size_t n = 0;
    arena_init(&arena);
    int rc = process_who_decode(&who, &n, &arena, term, len, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        fn(arg, &who[i].pid, who[i].name);
    arena_clear(&arena);
    return rc;
}
