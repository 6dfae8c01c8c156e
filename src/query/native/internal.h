/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the questions that are asked natively need of query.c. */
#ifndef BEAMTOP_QUERY_INTERNAL_H
#define BEAMTOP_QUERY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "beamtop/base/error.h"
#include "beamtop/base/question.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/term.h"

struct query;
struct conn;
struct native;
struct price;
struct scan;

/*
 * A question that is asked natively. query_reply() comes once for each ask(), from the loop, unless
 * cancel() is first (its deadline has passed); or query_pass(), where it is for the keeper after
 * all. One of a kind at a time.
 */
struct native_way {
    void *own;
    /* arg: with version byte, borrowed until it has ended. false: it is for the keeper. NULL: it
       takes all. */
    bool (*takes)(void *own, const uint8_t *arg, size_t len);
    int (*ask)(void *own, unsigned deadline_ms, struct error *err); /* what it has taken last */
    void (*cancel)(void *own);
    void (*free)(void *own); /* before `native`, which may have asks of it */
};

/* What a way is made with: all of it is the query's, and outlives the way. */
struct way_setup {
    enum question question;
    struct query *query;
    const struct price *price;
    struct native *native;
    struct scan *scan; /* for questions beside it; NULL: of those that are before it */
    struct conn *conn;
    uv_loop_t *loop;
};

/* The answer: of docs/queries.md, with version byte, borrowed; or NULL and why. It may free q. */
void query_reply(struct query *q, enum question question, const struct builder *value,
                 double target_us, const struct error *err);
/* The one that is out goes to the keeper. */
void query_pass(struct query *q, enum question question);
/* Deadlines of native asks have changed. */
void query_arm(struct query *q);
/* The keeper links a process of ours that it has not started; false: there is none, or pid is NULL.
 */
bool query_adopt(struct query *q, const struct etf_pid *pid);
const struct etf_pid *query_keeper(const struct query *q); /* NULL: there is none */
/* Of the last header; -1: not known. */
int64_t query_processes(const struct query *q);

#endif
