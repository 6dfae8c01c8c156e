/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same questions to an epmd that another way leads to (way.h). Loop thread only. Private to the
 * layer. */
#ifndef BEAMTOP_LINK_EPMD_WAY_H
#define BEAMTOP_LINK_EPMD_WAY_H

#include "beamtop/link/epmd.h"
#include "beamtop/link/way.h"

struct epmd_way_query;

/* As epmd_ask. address as in struct way_request; copied. timeout_ms is for the stream and the
   answer. ERR_SYSTEM: no descriptor, *out is NULL. */
int epmd_way_ask(struct epmd_way_query **out, uv_loop_t *loop, struct conn_way *way,
                 const char *address, uint16_t port, const char *alive, unsigned timeout_ms,
                 void (*done)(void *arg, const struct epmd_answer *answer), void *arg,
                 struct error *err);
void epmd_way_cancel(struct epmd_way_query *q); /* `done` is not called any more; NULL is fine */

#endif
