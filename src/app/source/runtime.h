/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What batch, recorder and screen run on: a loop with timers and signals, the first end with its
 * exit code, the first error. Order of closing: the user frees its sessions, closes its source and
 * what else has handles, then the runtime. Thread: that which runs the loop. */
#ifndef BEAMTOP_APP_SOURCE_RUNTIME_H
#define BEAMTOP_APP_SOURCE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "beamtop/base/error.h"

struct runtime {
    uv_loop_t loop;
    uint64_t started_ms;
    bool ended;
    int exit_code;
    struct error err; /* to print once all is closed */

    uv_timer_t *timers[12]; /* runtime.c: to close */
    uv_signal_t signals[6];
    size_t n_timers, n_signals;
};

void runtime_init(struct runtime *r);
/* A timer of the user, which must live until runtime_close(). */
void runtime_timer(struct runtime *r, uv_timer_t *timer, void *data);
/* Once; at most 6. Signals do not keep the loop running. */
void runtime_catch(struct runtime *r, const int *numbers, size_t n, uv_signal_cb caught,
                   void *data);
/* Keeps the first end, and the first error; err may be NULL. False: it has ended before. */
bool runtime_ends(struct runtime *r, int exit_code, const struct error *err);
/* The same, and stops the loop, which runs. */
void runtime_end(struct runtime *r, int exit_code, const struct error *err);
/* Closes timers and signals, waits for what still says goodbye, and frees the loop. */
void runtime_close(struct runtime *r);

#endif
