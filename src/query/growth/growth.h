/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question `growth` of a small node, asked natively (native.h): the program keeps the marks,
 * and asks about what has grown since. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_GROWTH_H
#define BEAMTOP_QUERY_GROWTH_H

#include "query/native/internal.h"

/* Where the keeper scans, or there are many tables, it is for the keeper. */
struct native_way growth_way(const struct way_setup *setup);

#endif
