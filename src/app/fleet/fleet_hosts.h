/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The names that epmd knows on the other hosts of a fleet, for completion. They come as epmd
 * answers: who reads them early has fewer. One thread: the loop's. */
#ifndef BEAMTOP_APP_FLEET_FLEET_HOSTS_H
#define BEAMTOP_APP_FLEET_FLEET_HOSTS_H

#include "fleet.h"

struct fleet_hosts;

/* Asks up to 16 hosts, once. epmd_port 0: the usual one. The fleet is read now only. */
struct fleet_hosts *fleet_hosts_ask(const struct fleet *f, uv_loop_t *loop, uint16_t epmd_port);
/* NAME@HOST, in any order; borrowed until the next turn of the loop. */
const struct fleet_names *fleet_hosts_names(const struct fleet_hosts *h);
void fleet_hosts_close(struct fleet_hosts *h); /* NULL is fine */

#endif
