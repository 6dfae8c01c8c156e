/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the question `suspenders`, of one process. Pure. */
#ifndef BEAMTOP_MODEL_SUSPENDERS_H
#define BEAMTOP_MODEL_SUSPENDERS_H

#include "beamtop/model/detail.h"

/* The rows of that process, of which there is one at least, borrowed; NULL: it is not suspended, or
 * the answer, which may be NULL, is not about it. */
const struct suspenders_row *suspenders_of(const struct table_detail *answer,
                                           const struct etf_pid *pid);
/* Of a row without a process: where it was looked for, in words. Returns `to`. */
const char *suspenders_none(char *to, size_t size, const struct suspenders_row *row);

#endif
