/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question `node`, what does not change, asked natively (native.h): what cannot fail in one
 * ask, and in two more what servers of the node say, who may hang. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_NODE_H
#define BEAMTOP_QUERY_NODE_H

#include "query/native/internal.h"

struct native_way node_way(const struct way_setup *setup);

#endif
