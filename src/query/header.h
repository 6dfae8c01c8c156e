/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question `system`, the header's numbers, asked natively (native.h): what waits for nothing in
 * one ask, what waits for every scheduler in another, which may be late by itself. A process that
 * sleeps holds the scheduler_wall_time flag. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_HEADER_H
#define BEAMTOP_QUERY_HEADER_H

#include <stdbool.h>
#include <uv.h>

#include "beamtop/link/conn.h"
#include "query/native/internal.h"
#include "query/native/native.h"
#include "query/native/price.h"

struct cursor;
struct header;

struct header *header_new(const struct way_setup *setup);
struct native_way header_way(struct header *h); /* which owns it then */
/* Of the last answer; -1: not known. */
int64_t header_processes(const struct header *h);
/* A keeper stands: it links the processes that were there before. */
void header_adopt(struct header *h);
/* {shared, Keeper, Counter}: reductions that a keeper's processes have done. */
void header_take_shared(struct header *h, struct cursor *c);

#endif
