/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a program prints, carried to its stream from the line WAY_OPEN_LINE on: before it stands
 * what the login shell of the far side prints. One thread. */
#ifndef BEAMTOP_APP_WAY_WAY_CARRY_H
#define BEAMTOP_APP_WAY_WAY_CARRY_H

#include <stdbool.h>
#include <stddef.h>

#define WAY_CARRY_BYTES 16384 /* read at once, and held while the stream takes no more */
#define WAY_BEFORE_MOST 65536 /* before the line: more is not skipped */

struct way_carry {
    size_t matched; /* bytes of the line that came last */
    size_t skipped; /* with the line */
    bool found;
    size_t at, len; /* of held: from where, and how far it is to be sent */
    char held[WAY_CARRY_BYTES];
};

/* Carries what is there from *from, which it closes at its end, to a socket that may be full, or
 * have no other end: then it is dropped. Never blocks. heard gets what stands before the line. */
void way_carry(struct way_carry *y, int *from, int to,
               void (*heard)(void *arg, const char *bytes, size_t n), void *arg);
/* `to` is full: there is more once it is writable. */
bool way_carry_waits(const struct way_carry *y);
/* Takes bytes before the line and of it, and returns how many; y->found: it has come. */
size_t way_carry_skip(struct way_carry *y, const char *bytes, size_t n);

#endif
