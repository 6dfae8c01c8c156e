/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looks at an OS process on another thread, one look at a time: what /proc says of a process that
 * hangs in the kernel can block its reader. A thread that is blocked is left behind.
 * Owner: the caller. Thread: that of the loop. */
#ifndef BEAMTOP_APP_OUTSIDE_READING_H
#define BEAMTOP_APP_OUTSIDE_READING_H

#include <uv.h>

#include "beamtop/base/outside.h"
#include "beamtop/link/discover.h"

struct reading;

/* looked: after each look that was asked for, unless it is stopped before. ERR_NOT_FOUND: there is
 * no such process. */
int reading_open(struct reading **out, uv_loop_t *loop, const struct discover_vm *vm,
                 void (*looked)(void *arg), void *arg, struct error *err);
void reading_close(struct reading *r); /* NULL is fine */

/* Asks for a look; false: the one before has not come back. */
bool reading_ask(struct reading *r);
/* Replaces what the last look has of *o: all but its stacks and trouble. */
void reading_take(const struct reading *r, struct outside *o);

#endif
