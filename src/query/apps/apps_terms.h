/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `apps` asks of a small node, what is known of its processes, and the answer. Who has not
 * moved is not read again. Pure, but for what scans have seen: no clock, no connection. */
#ifndef BEAMTOP_QUERY_APPS_TERMS_H
#define BEAMTOP_QUERY_APPS_TERMS_H

#include "beamtop/base/buf.h"
#include "query/native/run.h"
#include "query/scan/scan.h"
#include "query/scan/scan_table.h"
#include "query/who/who_leaders.h"

/* Of these `next` are asked for next, and n_out before it are out. */
struct apps_set {
    struct scan_proc *of[SCAN_SMALL_MOST];
    size_t n, next, n_out;
};

enum apps_end { APPS_READ, APPS_MANY, APPS_FAILED };

struct apps_read {
    struct scan *scan; /* NULL: no scan has seen the processes: they are listed */
    uint64_t *paid_ms; /* of scan_paid_ms() */
    struct who_node node;
    bool (*is_own)(const void *own, const struct etf_pid *pid); /* of those listed */
    const void *own;
    uint64_t now_ms; /* of the question */
    int64_t mono_ns;

    enum apps_end end;
    struct scan_table table; /* `info` has the group leader, and what is read of memory */
    bool is_chosen;          /* who is read in this answer: */
    struct apps_set plain, spared, walked;
    struct who_leaders leaders;
    struct buf loaded; /* [{Application, Description, Version}] */
    uint64_t loaded_ms;
};

void apps_init(struct apps_read *a);
void apps_begin(struct apps_read *a, uint64_t now_ms); /* a question */
void apps_clear(struct apps_read *a);                  /* what is known; as new */

/* Of a run whose `own` is a struct apps_read. */
#define APPS_STEPS 7
extern const struct run_step apps_steps[APPS_STEPS];

/* The answer to `apps` of docs/queries.md; APPS_READ. */
void apps_build(struct builder *b, const struct apps_read *a);

/* ---- apps_build.c */

/* One that runs has not been loaded when the others were read. */
bool apps_has_unknown(const struct apps_read *a);

#endif
