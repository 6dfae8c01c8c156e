/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is read for `alloc`. */
#ifndef BEAMTOP_QUERY_ALLOCATORS_TERMS_H
#define BEAMTOP_QUERY_ALLOCATORS_TERMS_H

#include "beamtop/base/buf.h"
#include "beamtop/etf/cursor.h"

enum allocators_kind { ALLOCATORS_MBCS, ALLOCATORS_SBCS, ALLOCATORS_POOL, ALLOCATORS_KINDS };

struct allocators_sizes {
    int64_t blocks, block_bytes, carriers, carrier_bytes; /* each 0 or more */
};

struct allocators_sum {
    struct slice name; /* a term */
    int64_t instances;
    struct allocators_sizes of[ALLOCATORS_KINDS];
};

struct allocators_part { /* an instance, of all kinds */
    struct slice name;
    int64_t number;
    struct allocators_sizes sizes;
};

/* 1,024 schedulers have 10,000 instances. */
#define ALLOCATORS_MOST 32 /* allocators */
#define ALLOCATORS_PARTS_MOST 16384

struct allocators_read {
    bool local;                  /* the resident memory is not wanted */
    bool is_late;                /* the sizes asked for last did not come */
    struct buf names;            /* of the allocators; empty: not known yet */
    struct buf features;         /* those in use are among them */
    struct allocators_sum *sums; /* ALLOCATORS_MOST; the names are borrowed */
    size_t n;
    struct allocators_part *parts;
    size_t n_parts;
    bool segments_known;
    int64_t segment_hits, segment_calls;
    unsigned looks; /* for a dirty I/O scheduler without work */
    bool is_free;
    struct buf status; /* {ok, Text} of the VM's file; empty: unknown */
};

#endif
