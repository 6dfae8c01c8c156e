/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values of an argument list as it travelled: it may have been cut, and lists of small integers
 * travel as bytes. Embedded; plain data. */
#ifndef BEAMTOP_TRACE_VALUES_H
#define BEAMTOP_TRACE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/etf/cursor.h"

struct trace_values {
    struct cursor c;
    struct cursor_list list;
    size_t left;
    uint8_t small[2];
};

bool trace_values_init(struct trace_values *v, struct slice list); /* false: not a list */
/* The next one; what a cut list ends in instead of [] comes last. *term is borrowed until the next
   call. False: there are no more. */
bool trace_values_next(struct trace_values *v, struct slice *term);

#endif
