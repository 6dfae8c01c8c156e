/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes of an answer of `waits`: those that wait, and those that are waited for. Pure: no
 * clock, no connection. */
#ifndef BEAMTOP_QUERY_WAITS_TABLE_H
#define BEAMTOP_QUERY_WAITS_TABLE_H

#include "beamtop/base/arena.h"
#include "waits_terms.h"

struct who;

struct waiter {
    struct etf_pid pid;
    bool known;            /* it has been looked at, and is there */
    bool steady;           /* it did not move from the first look until the second */
    struct wait_look look; /* terms: of the table's arena; place NULL: it waits in no call */
};

struct waits_table {
    struct waiter *all; /* by pid, but those that came since waits_table_sort() */
    size_t n;
    bool is_full; /* some were left out */
    struct arena arena;
};

void waits_table_init(struct waits_table *t);
void waits_table_clear(struct waits_table *t);
void waits_table_reset(struct waits_table *t); /* nobody waits */
/* Those that waited are looked at again, and nothing is known of them. */
void waits_table_again(struct waits_table *t);
void waits_table_add(struct waits_table *t, const struct etf_pid *pid);
/* In order, each once; those that are not known leave where `known`. */
void waits_table_sort(struct waits_table *t, bool known);
struct waiter *waits_table_find(const struct waits_table *t, const struct etf_pid *pid);
/* What was read of one. Its terms are copied; not kept where they are long. */
void waits_table_take(struct waits_table *t, struct waiter *w, const struct wait_look *look);
/* A term that the table keeps. */
struct slice waits_table_keep(struct waits_table *t, struct slice term);

/* {waits, MonoNs, Rows, Partial} of docs/queries.md; names of who, which may be NULL. */
void waits_table_build(struct builder *b, const struct waits_table *t, const struct who *who,
                       int64_t mono_ns, const char *node, bool partial);

#endif
