/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes at the end of a way: the names that the epmd there knows. */
#ifndef BEAMTOP_APP_WAY_WAY_NAMES_H
#define BEAMTOP_APP_WAY_WAY_NAMES_H

#include "beamtop/link/way.h"
#include "way_url.h"

/*
 * The URL gets the only node of that epmd. Blocks, within the time; any thread. ERR_USAGE: several
 * are there, and their URLs; ERR_CONNECT, ERR_TIMEOUT: why none is known. */
int way_names_find(struct way_url *url, struct conn_way *way, uint16_t port, unsigned timeout_ms,
                   struct error *err);

#endif
