/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The questions `holders` and `held`, asked natively: what all processes hold, added up by what
 * they are, as rows, and as facts of those that hold most. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_HOLDERS_H
#define BEAMTOP_QUERY_HOLDERS_H

#include "query/native/internal.h"

/* Of a node of many processes it goes on, with the next answer, where one has stopped. */
struct native_way holders_way(const struct way_setup *setup);

#endif
