/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `alloc`, asked natively. */
#ifndef BEAMTOP_QUERY_ALLOCATORS_H
#define BEAMTOP_QUERY_ALLOCATORS_H

#include "query/stepped/stepped.h"

extern const struct stepped allocators_question; /* its `read`: struct allocators_read */

#endif
