/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sampler beside a capture of spans, of a VM of this host: what processes do on a CPU, put into
 * the spans that they have at that moment. Thread: the loop's. */
#ifndef BEAMTOP_APP_SPANS_BESIDE_H
#define BEAMTOP_APP_SPANS_BESIDE_H

#include <stdbool.h>
#include <uv.h>

#include "app/search/local_target.h"
#include "beamtop/base/error.h"
#include "beamtop/trace/spans_run.h"

struct beside;

/* *vm is the node's, which is looked for first. on_change is never called from within. */
int beside_open(struct beside **out, uv_loop_t *loop, const struct local_wanted *vm, unsigned hz,
                void (*on_change)(void *arg), void *arg, struct error *err);
bool beside_has_begun(const struct beside *b);
/* It has ended, or never began: beside_error() says why, ERR_NONE: as it was asked to. */
bool beside_is_over(const struct beside *b);
const struct error *beside_error(const struct beside *b);
void beside_stop(struct beside *b); /* it is over soon */
/* Its samples so far go to the spans of a capture that has ended. Once. */
void beside_give(struct beside *b, const struct spans_run *run);
/* Frees it, before the loop is closed. NULL is fine. */
void beside_close(struct beside *b);

#endif
