/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of a system sample by their JSON key: for conditions (`--when 'run_queue > 8'`). */
#ifndef BEAMTOP_OUTPUT_NUMBER_H
#define BEAMTOP_OUTPUT_NUMBER_H

#include <stddef.h>

#include "beamtop/base/buf.h"
#include "beamtop/model/snapshot.h"

struct field;

const struct field *number_find(const char *key, size_t len); /* static; NULL: none */
const char *number_key(const struct field *number);
double number_get(const struct field *number, const struct system_sample *s); /* NaN: unknown */
void number_names(struct buf *out); /* all keys, with commas between */

#endif
