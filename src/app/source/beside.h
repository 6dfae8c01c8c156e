/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions beside those of ticks, for findings and recordings: each is asked every `every_s` of
 * its row, less often where it would take more than a tenth of the
 * cost limit. */
#ifndef BEAMTOP_APP_SOURCE_BESIDE_H
#define BEAMTOP_APP_SOURCE_BESIDE_H

#include "live.h"

struct beside;

/* answered: for each answer, also one that failed (value NULL); its cost is counted already. */
struct beside *beside_new(answer_fn *answered, void *arg);
void beside_free(struct beside *b);

/* Asks those of the mask that are due and not under way. live and model are borrowed until the
 * answers. */
void beside_ask(struct beside *b, unsigned questions, struct live *live, struct model *model,
                uint64_t now_ms);
/* All are due again. lost: the connection is, so that nothing is under way. */
void beside_again(struct beside *b, bool lost);

#endif
