/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who processes are: what the items `id` and `supervisor` of docs/queries.md say, read natively
 * (native.h) and kept. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_WHO_H
#define BEAMTOP_QUERY_WHO_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/error.h"
#include "beamtop/base/slice.h"
#include "beamtop/etf/term.h"
#include "query/native/internal.h"

struct builder;
struct who;
struct who_node;

/* Of one learn; more are not read. */
#define WHO_MOST 1000

struct who_entry {
    struct etf_pid pid;
    /* Bare terms, as in the item `id`: atom or `undefined`; {M,F,A}; UTF-8 binary or `undefined`;
     * atom or `undefined`; {M,F,A}. Then the item `supervisor`. */
    struct slice name, call, label, application, mfa, supervisor;
};

/* The item `id`; an empty term is `undefined`. */
void who_build_id(struct builder *b, const struct who_entry *who);

/* Its name, else its label; empty: who is NULL, or nothing is known. */
struct slice who_shown_name(const struct who_entry *who);
/* {M,F,A} that it was started with; empty: who is NULL. */
struct slice who_shown_call(const struct who_entry *who);
/* The one, else the other. */
void who_build_shown(struct builder *b, const struct who_entry *who);

typedef void who_fn(void *arg);

/* place: of its asks, and the one behind it. */
struct who *who_new(const struct way_setup *setup, unsigned place);
void who_free(struct who *w); /* before `native`, which may have asks of it; fn is not called */

/* Reads those of the pids that are not known, or whose age is above 15 s: pids of the node, as it
 * has said them. fn is called once, from the loop, never from within: also when nothing could be
 * read (then they are not known, or as they were). Pids that are not among these are forgotten.
 * ERR_LIMIT: the one before is not done. */
int who_learn(struct who *w, const struct etf_pid *pids, size_t n, who_fn *fn, void *arg,
              struct error *err);
/* who_learn() would ask nothing. */
bool who_is_known(const struct who *w, const struct etf_pid *pids, size_t n);
/* Until the next who_learn(), and while one runs until the loop does. NULL: not known, or gone. */
const struct who_entry *who_find(const struct who *w, const struct etf_pid *pid);
/* What can be read there; NULL: not known yet. */
const struct who_node *who_learned_node(const struct who *w);
/* CPU time of the native asks since it was last called. */
double who_take_us(struct who *w);

#endif
