/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question `node`, what does not change, asked natively (native.h): what cannot fail in one
 * ask, and in two more what servers of the node say, who may hang. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_NODE_H
#define BEAMTOP_QUERY_NODE_H

#include <uv.h>

#include "query/native/internal.h"
#include "query/native/native.h"
#include "query/native/price.h"

struct native_way node_way(struct query *q, const struct price *price, struct native *native,
                           uv_loop_t *loop);

#endif
