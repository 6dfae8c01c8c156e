/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `facts`, asked natively (run.h). One thread: the loop's. */
#ifndef BEAMTOP_QUERY_FACTS_H
#define BEAMTOP_QUERY_FACTS_H

#include <uv.h>

#include "query/native/internal.h"
#include "query/native/native.h"
#include "query/native/price.h"

struct native_way facts_way(struct query *q, const struct price *price, struct native *native,
                            uv_loop_t *loop);

#endif
