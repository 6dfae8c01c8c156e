/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of the processes of a small node from one answer to the next. Pure. */
#ifndef BEAMTOP_QUERY_LEADERS_TABLE_H
#define BEAMTOP_QUERY_LEADERS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/etf/term.h"
#include "query/scan/scan_table.h"

#define LEADER_WORD_BYTES 8 /* of 64 bits; of 32 the bytes are twice what they are */

/* The lists that a process may have most of. */
enum leader_tie { TIE_MONITORS, TIE_MONITORED_BY, TIE_LINKS, TIES };

struct leader {
    struct etf_pid pid;
    int64_t queue;
    int64_t reductions, did; /* since the answer before; at the first, since the scan before */
    bool is_idle;            /* it has not moved for some seconds */
    bool is_walked;          /* a read of its memory walks what is long */
    bool is_long;            /* … its message queue */
    /* As they were looked at when it had done looked_reductions; -1: not yet. */
    int64_t looked_reductions;
    int64_t memory, binary_bytes, beside_bytes; /* beside: than its heaps; 0: unknown */
    /* Distinct binaries, and their bytes; -1: unknown. Of this binary_bytes. */
    int64_t binaries, distinct_bytes, listed_binary_bytes;
    int64_t ties[TIES]; /* how many; -1: not counted */
    int mostly;         /* enum leader_tie; TIES: unknown */
    bool was_tied;      /* counted once, though it has many */
    double minor_gcs_per_s;
    bool is_near_known, has_near;
    struct etf_pid near; /* who started it, or one that it is linked to */
    bool is_spawned;     /* … the first */
};

struct leaders_table {
    struct leader *all; /* by pid */
    size_t n;
};

void leaders_table_clear(struct leaders_table *t);
/* As scans have seen them, beamtops' left out; who has ended leaves. now_ms: of the scans. */
void leaders_table_merge(struct leaders_table *t, const struct scan_table *seen, uint64_t now_ms);
struct leader *leaders_table_find(const struct leaders_table *t, const struct etf_pid *pid);

typedef int64_t leader_value_fn(const struct leader *l);
int64_t leader_queue(const struct leader *l);
int64_t leader_did(const struct leader *l);
int64_t leader_memory(const struct leader *l);
int64_t leader_binary_bytes(const struct leader *l);
int64_t leader_beside_bytes(const struct leader *l);
/* Those with the largest values, `least` at least, the largest first: `most` at most into out. */
size_t leaders_best(const struct leaders_table *t, leader_value_fn *value, int64_t least,
                    struct leader **out, size_t most);

#endif
