/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A VM seen from outside (base/outside.h) in words, for screen and text alike. Pure.
 * Owner: the caller. Thread: any. Numbers below zero and NaN are unknown. */
#ifndef BEAMTOP_MODEL_OUTSIDE_H
#define BEAMTOP_MODEL_OUTSIDE_H

#include "beamtop/base/outside.h"

enum outside_mark { OUTSIDE_PLAIN, OUTSIDE_DIM, OUTSIDE_WARN, OUTSIDE_ALARM };

struct outside_line {
    const char *label; /* "memory"; static */
    char text[512];    /* may hold any bytes of a path or a name */
    char next[256];    /* a command to go on with; "": none */
    enum outside_mark mark;
};

#define OUTSIDE_LINES 9
/* What is known, a line each; the first says what the VM does, or what keeps it from that. */
size_t outside_lines(const struct outside *o, struct outside_line out[OUTSIDE_LINES]);
/* That first line: "stopped by a signal …". */
void outside_verdict(const struct outside *o, struct outside_line *out);
/* "stopped", "sleeping": a state's letter in words. */
const char *outside_state_word(char state);
/* Threads worth a row: schedulers, and others that run, are blocked or are stopped. */
bool outside_thread_counts(const struct outside_thread *t);

#endif
