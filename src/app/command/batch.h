/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running a source without a screen: the same ticks, printed by a sink or drawn into a capture. */
#ifndef BEAMTOP_APP_COMMAND_BATCH_H
#define BEAMTOP_APP_COMMAND_BATCH_H

#include <stdbool.h>

#include "beamtop/model/model.h"
#include "app/cli/cli.h"

struct batch;

struct batch_job {
    const struct cli_options *options;
    const struct app_env *env;
    struct want want;
    int64_t ticks;       /* 0: until interrupted */
    bool rates;          /* the first tick only gives the numbers to compare with: not counted */
    const char *filter;  /* NULL or "": none */
    /* A tick is there. A negative enum err ends the run with it; ERR_CANCELLED ends it quietly. */
    int (*on_tick)(void *arg, const struct model *m, struct error *err);
    void *arg;
};

/* Runs to the end. Prints what went wrong on stderr. Returns the exit code. */
int batch_run(const struct batch_job *job);

#endif
