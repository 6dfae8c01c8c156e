/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A VM of this host that is looked at from outside: what /proc says (reading.h), and what its
 * threads run, as the sampler sees it. Nothing is asked of the VM. Owner: the caller. Thread: that
 * of the loop. */
#ifndef BEAMTOP_APP_OUTSIDE_LOOK_H
#define BEAMTOP_APP_OUTSIDE_LOOK_H

#include <uv.h>

#include "beamtop/base/outside.h"
#include "beamtop/link/discover.h"

struct look;

struct look_options {
    const struct discover_vm *vm; /* borrowed for the call */
    /* One call within so long, of which 0.3 s and more are what rates are over; 0: one each
     * second. */
    unsigned once_ms;
    /* *o is borrowed until the next call. It may stop the look. */
    void (*looked)(void *arg, const struct outside *o);
    void *arg;
};

/* ERR_NOT_FOUND: there is no such process. */
int look_start(struct look **out, uv_loop_t *loop, const struct look_options *options,
               struct error *err);
void look_stop(struct look *l); /* frees it; looked is not called any more. NULL is fine */

#endif
