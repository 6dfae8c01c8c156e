/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop record start` run by the screen: from its arguments to the word that it has begun. */
#ifndef BEAMTOP_APP_RECORDER_RECORD_STARTER_H
#define BEAMTOP_APP_RECORDER_RECORD_STARTER_H

#include <uv.h>

#include "beamtop/base/error.h"
#include "beamtop/ui/option.h"
#include "app/cli/cli.h"

struct record_starter;

struct record_start {
    const struct cli_options *cli; /* how nodes are reached */
    const struct app_env *env;
    const struct options *options; /* record-… */
    const char *node;
    const char *file; /* a whole path */
};

/* err NULL: the first tick is in the file. The starter is gone afterwards. */
typedef void record_started_fn(void *arg, const struct error *err);

/* NULL: err says why there is no process. fn is never called before it has returned. */
struct record_starter *record_starter_new(uv_loop_t *loop, const struct record_start *start,
                                          record_started_fn *fn, void *arg, struct error *err);
/* The process goes on. NULL is fine. */
void record_starter_leave(struct record_starter *s);

#endif
