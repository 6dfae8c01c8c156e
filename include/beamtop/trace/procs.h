/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who is traced: a list with commas of
 *   all | new | running | <0.1.2> | NAME | app:NAME | label:/RE/ | call:/RE/ | 1/N
 * `+children` at the end adds what they spawn. `running` are those that exist at the start. 1/N
 * takes one of N of the processes that the rest names (of `running` without other parts), by hash
 * of the pid. Default: all. */
#ifndef BEAMTOP_TRACE_PROCS_H
#define BEAMTOP_TRACE_PROCS_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/term.h"

/* clang-format off */
enum procs_kind {
    PROCS_ALL, PROCS_NEW, PROCS_RUNNING, PROCS_PID, PROCS_NAME, PROCS_APP, PROCS_LABEL, PROCS_CALL,
};
/* clang-format on */
#define PROCS_ITEMS 32

struct procs_item {
    enum procs_kind kind;
    struct etf_pid pid;
    char text[256]; /* name or expression */
};

struct procs {
    struct procs_item items[PROCS_ITEMS];
    size_t n;
    unsigned one_in; /* 0, 1: all of them */
    bool children;
};

/* Empty or NULL text is `all`. ERR_USAGE with *offset (may be NULL). */
int procs_parse(struct procs *out, const char *text, size_t *offset, struct error *err);
/* One process: a pid (true) or a name, in every form that the list takes: Shop.Cart,
 * Elixir.Shop.Cart, 'Elixir.Shop.Cart', :cart, cart. What is neither is a name as it stands, cut to
 * the size. */
bool procs_read_one(const char *text, struct etf_pid *pid, char *name, size_t size);
void procs_print(struct buf *out, const struct procs *p);
/* As the target takes it (docs/tracing.md); names are binaries. */
void procs_build(struct builder *b, const struct procs *p);

#endif
