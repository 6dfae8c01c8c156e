/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a refused session is tried again: first after the time between windows or traces, then
   after twice as long each time. A refusal is reported when its reason changes, and when the
   session works again. Pure: time is an argument. */
#ifndef BEAMTOP_APP_RECORDER_RECORD_RETRY_H
#define BEAMTOP_APP_RECORDER_RECORD_RETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"

#define RECORD_RETRY_BYTES (sizeof((struct error *)0)->text)

/* Zeroed: nothing was refused. */
struct record_retry {
    uint64_t due_ns; /* 0: now */
    double wait_s;   /* before the next try; 0: nothing was refused since it worked last */
    char why[RECORD_RETRY_BYTES];
};

/* A reason that differs only in numbers is the same. True: report it. */
bool record_retry_refused(struct record_retry *r, const char *why, double every_s, uint64_t now_ns);
/* It is not tried again. */
void record_retry_gives_up(struct record_retry *r, const char *why);
/* "what: why; tried again in 10 s, then less often"; returns out. */
char *record_retry_text(char *out, size_t size, const struct record_retry *r, const char *what,
                        bool again);
/* It worked. True: it was refused before, so report that it works now. */
bool record_retry_works(struct record_retry *r);
/* The node has been away: what kept it may be gone. */
void record_retry_soon(struct record_retry *r);
bool record_retry_is_due(const struct record_retry *r, uint64_t now_ns);

#endif
