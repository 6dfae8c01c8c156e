/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A native question that is one run (run.h): its steps read, and its answer is made of that. One
 * thread: the loop's. */
#ifndef BEAMTOP_QUERY_STEPPED_H
#define BEAMTOP_QUERY_STEPPED_H

#include <uv.h>

#include "internal.h"
#include "native.h"
#include "price.h"
#include "run.h"

/* Constant. `read` is of `bytes`, zeroed, and lives as long as the connection. */
struct stepped {
    enum question question;
    size_t bytes;
    const struct run_step *steps; /* their `own`: read */
    size_t n_steps;
    void (*init)(void *read, struct conn *conn); /* once */
    /* arg: of struct native_way's takes(). May be NULL: it takes all. */
    bool (*takes)(void *read, const uint8_t *arg, size_t len);
    void (*begin)(void *read, uint64_t now_ms);                    /* a question */
    void (*build)(struct builder *b, void *read, int64_t mono_ns); /* its answer */
    void (*clear)(void *read);
};

/* It asks in the places NATIVE_QUESTION + 2 * question, and the one behind. */
struct native_way stepped_way(const struct stepped *kind, struct query *q,
                              const struct price *price, struct native *native, struct conn *conn,
                              uv_loop_t *loop);

#endif
