/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs the program itself as a child: reads what it prints, sees its exit, kills it. Descriptors of
 * this process are closed in it. Thread: that of the loop. */
#ifndef BEAMTOP_APP_JOB_CHILD_H
#define BEAMTOP_APP_JOB_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "beamtop/base/error.h"

struct child;

enum child_flags {
    CHILD_INPUT = 1,    /* a pipe to it, which stops it when it closes; else /dev/null */
    CHILD_OUTPUT = 2,   /* what it prints is read */
    CHILD_ERRORS = 4,   /* so are its errors */
    CHILD_OUTLIVES = 8, /* in another OS session: it does not end with this terminal */
};

struct child_start {
    const char *purpose;      /* of an error: "no process PURPOSE: …" */
    const char *const *words; /* its arguments; NULL ends them */
    const char *variable;     /* "NAME=value" beside our environment, or NULL; others can read the
                                 arguments of a process */
    unsigned flags;
};

struct child_handlers {
    void (*read)(void *arg, const char *bytes, size_t n);
    /* Once a second. Ticks, not time: when this process was stopped together with its child, many
     * seconds are one tick. NULL is fine. */
    void (*tick)(void *arg);
    /* Once, the last call: it has exited, and all that it printed has been read. */
    void (*ended)(void *arg, int64_t status, int signal);
};

/* No handler is called before it has returned. ERR_SYSTEM. */
int child_start(struct child **out, uv_loop_t *loop, const struct child_start *start,
                const struct child_handlers *handlers, void *arg, struct error *err);
void child_end_input(struct child *c);
/* SIGKILL, also to one that is stopped. What it has printed and what it has started, which may hold
 * the pipe, are not waited for. */
void child_kill(struct child *c);
/* No handler is called any more; the process goes on. */
void child_leave(struct child *c);

#endif
