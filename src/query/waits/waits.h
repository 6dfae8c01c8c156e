/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `waits`, asked natively: which process waits for which. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_WAITS_H
#define BEAMTOP_QUERY_WAITS_H

#include "query/native/internal.h"

/* Of a node of many processes it goes on, with the next answer, where one has stopped. */
struct native_way waits_way(const struct way_setup *setup);

#endif
