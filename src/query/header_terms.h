/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the header's asks are, and the answer that is made of their values. Pure: no clock, no
 * connection. */
#ifndef BEAMTOP_QUERY_HEADER_TERMS_H
#define BEAMTOP_QUERY_HEADER_TERMS_H

#include <stdbool.h>

#include "beamtop/base/limits.h"
#include "query/native/native.h"

/* Counters of reductions that are read with the counts: the keeper's, and those of other beamtops.
 * As many as there are names of ours. */
#define HEADER_COUNTERS LIMIT_NAME_POOL

/* What waits for nothing. `counters`: bare terms of counters:new/2; without them it cannot fail. */
void header_call_counts(struct native_call *call, const struct slice *counters, size_t n);
/* What waits for every scheduler. Memory fails where the allocators are switched off; the rest
 * cannot. */
void header_call_waits(struct native_call *call, bool with_memory);
/* A process that turns the scheduler_wall_time flag on, and sleeps. */
void header_call_flag(struct native_call *call);
/* The text of the VM's own /proc/self/status. */
void header_call_resident(struct native_call *call);

/* What the counts say beside the answer. */
struct header_counts {
    double us; /* of wall time, nothing in it waits */
    int64_t processes;
    int64_t dirty_io_queue; /* processes that wait for a dirty I/O scheduler */
    struct slice nodes;     /* hidden ones, a bare list */
    int64_t counters[HEADER_COUNTERS];
};
bool header_read_counts(struct slice value, size_t counters, struct header_counts *out);

/* The longest of what waits for every scheduler. */
bool header_read_waits(struct slice value, double *longest_us);

/* Bytes of the VM, of the text of its /proc/self/status. */
struct header_memory {
    int64_t resident, virtual;
};
/* Of {ok, Text} in a list of one; false: one of them is not there. */
bool header_read_memory(struct slice value, struct header_memory *out);

struct header_values {
    struct slice counts; /* of header_call_counts() */
    int64_t own_reductions;
    struct slice waits;                 /* len 0: late */
    const struct header_memory *memory; /* NULL: not known */
    int64_t late_ms;
    struct slice late; /* a bare list of the schedulers that are late; len 0: not known */
};
/* Appends the answer to `system` of docs/queries.md. false: a value is of another form. */
bool header_build(struct builder *b, const struct header_values *v);

#endif
