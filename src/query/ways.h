/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The questions of one connection that are asked natively. What is kept for one (up to some MiB) is
 * made when it is asked for the first time. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_WAYS_H
#define BEAMTOP_QUERY_WAYS_H

#include "header.h"
#include "query/native/internal.h"

struct ways;

struct ways *ways_new(const struct way_setup *setup, struct header *header);   /* which it owns */
const struct native_way *ways_find(struct ways *ways, enum question question); /* NULL: none */
void ways_free(struct ways *ways); /* before setup's `native` */

#endif
