/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question `scan` of a small node, asked natively (native.h): the program keeps what each
 * process has done, ranks, and reads the rest of the rows that are shown and that have moved. One
 * thread: the loop's. */
#ifndef BEAMTOP_QUERY_SCAN_H
#define BEAMTOP_QUERY_SCAN_H

#include "query/native/internal.h"
#include "query/who/who.h"

struct scan;
struct scan_table;

/* A scan of a node of many processes, by a filter or another column is for the keeper: what was
 * known is forgotten then. */
struct native_way scan_way(const struct way_setup *setup);

/* Above it the keeper's scan costs fewer bytes; one with more stays large until it has half. */
#define SCAN_SMALL_MOST 1000
/* processes: -1: not known. *large: whether it was, and is. */
bool scan_is_small(int64_t processes, bool *large);

/* What scans have seen, for questions beside them. */
struct scan_seen {
    /* The processes (scan_table.h), until the loop runs; while a scan is out, what it has read
     * already is in it. */
    struct scan_table *table;
    /* Since the first scan, but beamtops': of all, and of those that were spawned or ended between
     * two scans. They only rise. */
    int64_t reductions, of_ended;
};
/* false: the keeper scans, or none has been for some seconds. s: `own` of the way. */
bool scan_has_seen(struct scan *s, struct scan_seen *out);
/* Until then reads that walk what is long are paid for (scan_walks.h), those of others too. */
uint64_t *scan_paid_ms(struct scan *s);
/* It is read by a signal, which is a reduction of its: it has not moved by that. */
void scan_count_signal(struct scan *s, const struct etf_pid *pid);

#endif
