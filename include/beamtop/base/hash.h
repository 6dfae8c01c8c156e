/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uthash with our allocator: memory that is not there ends the program as everywhere (alloc.h). */
#ifndef BEAMTOP_BASE_HASH_H
#define BEAMTOP_BASE_HASH_H

#include <stdlib.h>

#include "beamtop/base/alloc.h"

#define uthash_malloc(bytes) alloc_zero(1, bytes)
#define uthash_fatal(text) abort()
#include <uthash.h> /* IWYU pragma: export */

#endif
