/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question `process` asked natively (native.h), of a process that is not large: of others the
 * keeper's helpers read lists that end at their heap limit. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_PROCESS_H
#define BEAMTOP_QUERY_PROCESS_H

#include <uv.h>

#include "beamtop/link/conn.h"
#include "query/native/internal.h"
#include "query/native/native.h"
#include "query/native/price.h"

/* The most of what is shown of one process; a large one is for the keeper. */
struct native_way process_way(struct query *q, const struct price *price, struct native *native,
                              struct conn *conn, uv_loop_t *loop);

#endif
