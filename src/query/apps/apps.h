/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `apps` of a small node, asked natively (run.h). One thread: the loop's. */
#ifndef BEAMTOP_QUERY_APPS_H
#define BEAMTOP_QUERY_APPS_H

#include "query/native/internal.h"

/* What scans have seen of the processes is not asked again. Of a node of many it is for the keeper.
 */
struct native_way apps_way(const struct way_setup *setup);

#endif
