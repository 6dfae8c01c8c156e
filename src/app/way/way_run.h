/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that is run to its end for what it prints, within a time. Blocks. */
#ifndef BEAMTOP_APP_WAY_WAY_RUN_H
#define BEAMTOP_APP_WAY_WAY_RUN_H

#include "way_methods.h"

#define WAY_RUN_BYTES 8192 /* kept of what is printed, the last ones: as text, without NUL */

struct way_ran {
    int code; /* its exit code; -1: a signal has ended it */
    char printed[WAY_RUN_BYTES], said[WAY_RUN_BYTES];
};

/* Frees the words. ERR_CONNECT: there is no such program; ERR_TIMEOUT: it was killed; ERR_SYSTEM.
 * In front: before there is a screen, any thread; a Ctrl-C ends it with this program. */
int way_run(struct way_words *words, unsigned timeout_ms, struct way_ran *out, struct error *err);
/* The same beside a screen: any thread. What it starts ends with it, and a byte at cancel_fd (-1:
 * none) ends both with ERR_SYSTEM. */
int way_run_aside(struct way_words *words, unsigned timeout_ms, int cancel_fd, struct way_ran *out,
                  struct error *err);

#endif
