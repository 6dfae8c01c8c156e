/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question `leaders` of a small node, asked natively: which processes findings should look at,
 * by what scans have seen of all of them, and what binaries, collections, links and waits say. One
 * thread: the loop's. */
#ifndef BEAMTOP_QUERY_LEADERS_H
#define BEAMTOP_QUERY_LEADERS_H

#include <uv.h>

#include "beamtop/link/conn.h"
#include "query/native/internal.h"
#include "query/native/native.h"
#include "query/native/price.h"
#include "query/scan/scan.h"

/* Where no scan has seen the processes it is for the keeper. */
struct native_way leaders_way(struct query *q, const struct price *price, struct native *native,
                              struct scan *scan, struct conn *conn, uv_loop_t *loop);

#endif
