/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question `scan` of a small node, asked natively (native.h): the program keeps what each
 * process has done, ranks, and reads the rest of the rows that are shown and that have moved. One
 * thread: the loop's. */
#ifndef BEAMTOP_QUERY_SCAN_H
#define BEAMTOP_QUERY_SCAN_H

#include <uv.h>

#include "beamtop/link/conn.h"
#include "query/native/internal.h"
#include "query/native/native.h"
#include "query/native/price.h"
#include "query/who/who.h"

struct scan;
struct scan_table;

/* A scan of a node of many processes, by a filter or another column is for the keeper: what was
 * known is forgotten then. */
struct native_way scan_way(struct query *q, const struct price *price, struct native *native,
                           struct conn *conn, uv_loop_t *loop);

/* The processes as the last scan saw them (scan_table.h), for questions beside it: until the loop
 * runs; while a scan is out, what it has read already is in it. NULL: the keeper scans, or none has
 * been for some seconds. s: `own` of the way. */
const struct scan_table *scan_seen(const struct scan *s);

#endif
