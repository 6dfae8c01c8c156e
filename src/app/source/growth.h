/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What grows on the node and who makes it grow, for findings: the node is asked now and then
 * (docs/queries.md, `growth`), less often where the answer is expensive.
 */
#ifndef BEAMTOP_APP_SOURCE_GROWTH_H
#define BEAMTOP_APP_SOURCE_GROWTH_H

#include "live.h"

struct growth;

struct growth *growth_new(void (*answered)(void *arg, const uint8_t *value, size_t len), void *arg);
void growth_free(struct growth *g);

/* At a tick: asks when it is due. */
void growth_tick(struct growth *g, struct live *live, struct model *model, uint64_t now_ms);
/* The connection is lost, or it is another node. */
void growth_forget(struct growth *g);

#endif
