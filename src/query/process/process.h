/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question `process` asked natively (native.h), of a process that is not large: of others the
 * keeper's helpers read lists that end at their heap limit. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_PROCESS_H
#define BEAMTOP_QUERY_PROCESS_H

#include "query/native/internal.h"

/* The most of what is shown of one process; a large one is for the keeper. */
struct native_way process_way(const struct way_setup *setup);

#endif
