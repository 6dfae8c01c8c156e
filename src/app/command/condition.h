/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A threshold on one of the node's numbers: `run_queue > 8`, `memory_total_bytes >= 2GiB`. */
#ifndef BEAMTOP_APP_COMMAND_CONDITION_H
#define BEAMTOP_APP_COMMAND_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/error.h"
#include "beamtop/model/snapshot.h"
#include "beamtop/output/number.h"

struct condition {
    const struct field *number;
    unsigned op; /* how the number may stand to the value: condition.c */
    double value;
};

/* ERR_USAGE names the numbers there are, or points at the byte that is wrong. */
int condition_parse(struct condition *out, const char *text, struct error *err);
/* An unknown number fulfils nothing. */
bool condition_holds(const struct condition *c, const struct system_sample *s);

#endif
