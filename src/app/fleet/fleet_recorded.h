/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A directory with recordings of several nodes as rows of the view of nodes. Thread: the loop's. */
#ifndef BEAMTOP_APP_FLEET_FLEET_RECORDED_H
#define BEAMTOP_APP_FLEET_FLEET_RECORDED_H

#include <stdbool.h>

#include "beamtop/base/error.h"
#include "beamtop/model/model.h"

struct fleet_recorded;

bool fleet_recorded_is_asked(const char *target); /* it is a directory with an index */
/* Reads each recording once: one that cannot be read has a row that says why. */
int fleet_recorded_open(struct fleet_recorded **out, const char *dir, struct error *err);
void fleet_recorded_close(struct fleet_recorded *r); /* NULL is fine */
/* Puts the rows into the model, as the answer of `fleet`. */
int fleet_recorded_take(const struct fleet_recorded *r, struct model *m, struct error *err);
/* The file of the row with that name; NULL: there is none. Borrowed. */
const char *fleet_recorded_path(const struct fleet_recorded *r, const char *name);

#endif
