/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Work that can block for longer than anybody waits, such as getaddrinfo() or reading /proc of a VM
 * that hangs. It runs on another thread, which is left behind when its owner closes it: a thread of
 * libuv's pool would hold up the end of the program. All functions: on the loop's thread. */
#ifndef BEAMTOP_LINK_ASIDE_H
#define BEAMTOP_LINK_ASIDE_H

#include <stdbool.h>
#include <uv.h>

struct aside;

struct aside_kind {
    void (*run)(void *work); /* on the thread: the work is its until `done` */
    void (*done)(void *arg); /* from the loop, after each run, unless it is closed before; it may
                                close it */
    void (*late)(void *arg); /* from the loop: a run has passed its limit, and goes on; `done`
                                follows unless this closes it. NULL: no run has one */
    void (*release)(void *work); /* the last use of the work; any thread */
};

/* 0 or a libuv error; then the work is released, and *out is NULL. */
int aside_open(struct aside **out, uv_loop_t *loop, const struct aside_kind *kind, void *work,
               void *arg);
/* Starts a run. 0, EBUSY while one runs, or an errno value: there is no thread. */
int aside_run(struct aside *a);
/* The same, with a limit to the run. */
int aside_run_within(struct aside *a, unsigned timeout_ms);
bool aside_runs(const struct aside *a); /* also until `done` is called */
void aside_close(struct aside *a);      /* NULL is fine */

#endif
