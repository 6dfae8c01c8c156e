/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The questions `holders` and `held`, asked natively: what all processes hold, added up by what
 * they are, as rows, and as facts of those that hold most. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_HOLDERS_H
#define BEAMTOP_QUERY_HOLDERS_H

#include <uv.h>

#include "query/native/internal.h"
#include "query/native/native.h"
#include "query/native/price.h"
#include "query/scan/scan.h"

/* Of a node of many processes it goes on, with the next answer, where one has stopped. */
struct native_way holders_way(enum question question, struct query *q, const struct price *price,
                              struct native *native, struct scan *scan, struct conn *conn,
                              uv_loop_t *loop);

#endif
