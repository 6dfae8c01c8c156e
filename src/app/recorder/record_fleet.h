/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop record` of several nodes: a recorder for each, in a separate process, and one index. */
#ifndef BEAMTOP_APP_RECORDER_RECORD_FLEET_H
#define BEAMTOP_APP_RECORDER_RECORD_FLEET_H

#include "record_state.h"

/* Makes the directory setup->file, with an empty index: of two that do so at once one fails.
 * ERR_USAGE: it has recordings already, or cannot be one. */
int record_fleet_make(const char *dir, struct error *err);
void record_fleet_unmake(const char *dir); /* an index that is empty still */
/*
 * Until all recorders have ended: starts them, ten at a time, hands on signals, writes the index.
 * Of nodes that DNS or their cluster names it follows who comes and goes, until it is stopped.
 * setup: its file is the directory, a whole path; setup->ready_fd gets "ok", or why no node is
 * recorded, when each has its first tick or has failed. Before anything has used libuv. The exit
 * code: the first of a recorder that is not 0. */
int record_fleet_run(const struct record_setup *setup);

#endif
