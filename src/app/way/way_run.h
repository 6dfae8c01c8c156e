/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that is run to its end for what it prints, within a time. Blocks: main's thread, before
 * there is a screen. A Ctrl-C ends it with this program. */
#ifndef BEAMTOP_APP_WAY_WAY_RUN_H
#define BEAMTOP_APP_WAY_WAY_RUN_H

#include "way_methods.h"

#define WAY_RUN_BYTES 8192 /* kept of what is printed, the last ones: as text, without NUL */

struct way_ran {
    int code; /* its exit code; -1: a signal has ended it */
    char printed[WAY_RUN_BYTES], said[WAY_RUN_BYTES];
};

/* Frees the words. ERR_CONNECT: there is no such program; ERR_TIMEOUT: it was killed; ERR_SYSTEM.
 */
int way_run(struct way_words *words, unsigned timeout_ms, struct way_ran *out, struct error *err);

#endif
