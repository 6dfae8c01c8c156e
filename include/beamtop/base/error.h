/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors of the world outside (wire, files, keyboard, target). Our own faults are asserts.
 *
 * A fallible function returns 0 or a negative `enum err` and, on failure, fills the caller's
 * `struct error`. The first cause wins: error_set() on an error that is already set changes
 * nothing. The text is for the user and says what to do next; it is made of safe bytes only
 * (every control byte, newlines too, is replaced), so that it may be printed as it is:
 * one line. */
#ifndef BEAMTOP_BASE_ERROR_H
#define BEAMTOP_BASE_ERROR_H

#include "beamtop/base/attr.h"

enum err {
    ERR_NONE = 0,
    ERR_USAGE = -1,      /* invalid input: an option, a pattern, the configuration */
    ERR_FORMAT = -2,     /* bytes from outside are not what they should be */
    ERR_LIMIT = -3,      /* a named cap of base/limits.h was reached */
    ERR_SYSTEM = -4,     /* a system call failed; the text has its strerror */
    ERR_CONNECT = -5,    /* no connection could be made (link/conn.h has the reasons) */
    ERR_LOST = -6,       /* a connection that stood is gone */
    ERR_TIMEOUT = -7,    /* a deadline passed */
    ERR_TARGET = -8,     /* the target answered with an exception */
    ERR_REFUSED = -9,    /* refused for safety */
    ERR_NOT_FOUND = -10, /* what was asked for is not there (a process that has exited) */
    ERR_CANCELLED = -11, /* the user cancelled it */
};

struct error {
    enum err code; /* ERR_NONE while nothing has failed */
    char text[768];
};

/* Sets the error unless one is set. Returns `code`, so that `return error_set(…)` works. */
int error_set(struct error *err, enum err code, const char *fmt, ...) ATTR_PRINTF(3, 4);

/* As error_set with ERR_SYSTEM and ": strerror(errnum)" appended. */
int error_set_errno(struct error *err, int errnum, const char *fmt, ...) ATTR_PRINTF(3, 4);

/* Puts "context: " before the text, once, where a layer knows more than the one below. */
void error_context(struct error *err, const char *fmt, ...) ATTR_PRINTF(2, 3);

void error_clear(struct error *err);

/* What to do about a VM that does not answer, with its name: nothing is asked of it there. */
#define ERROR_LOOK_OUTSIDE "On its host, `beamtop outside %s` shows what holds it"

#endif
