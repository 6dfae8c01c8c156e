/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question `leaders` of a small node, asked natively: which processes findings should look at,
 * by what scans have seen of all of them, and what binaries, collections, links and waits say. One
 * thread: the loop's. */
#ifndef BEAMTOP_QUERY_LEADERS_H
#define BEAMTOP_QUERY_LEADERS_H

#include "query/native/internal.h"

/* Where no scan has seen the processes it is for the keeper. */
struct native_way leaders_way(const struct way_setup *setup);

#endif
