/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording from its first tick to its end, in the foreground or detached. */
#ifndef BEAMTOP_APP_RECORDER_RECORD_RUN_H
#define BEAMTOP_APP_RECORDER_RECORD_RUN_H

#include "app/cli/cli.h"
#include "app/command/settings.h"

struct record_setup {
    const struct cli_options *options;
    const struct app_env *env;
    const char *node; /* as it was typed */
    const char *file;
    const char *const *patterns; /* of calls to count */
    size_t n_patterns;
    const char *const *traced; /* patterns of calls and messages to trace; none: no trace */
    size_t n_traced;
    struct settings_trace trace;
    bool calls;    /* count them; without patterns those of every function */
    bool detached; /* no progress, and the end of a terminal does not end it */
    int ready_fd;  /* gets "ok" at the first tick, or the error; -1: none */
};

/* Runs to the end, prints on stderr what went wrong and what was written. The exit code. */
int record_run(const struct record_setup *setup);

#endif
