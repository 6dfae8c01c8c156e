/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the screen shows of counting calls: the patterns it began with, its state, its last window.
 * It stays when the session is gone, until the next one begins. One thread. */
#ifndef BEAMTOP_TRACE_CALLS_LOG_H
#define BEAMTOP_TRACE_CALLS_LOG_H

#include <stdbool.h>

#include "beamtop/base/arena.h"
#include "beamtop/trace/calls_state.h"

struct calls_log {
    char patterns[400];       /* as typed; empty: every function */
    struct calls_state state; /* as last delivered */
    bool has_window;
    struct calls_window window; /* the last one; its texts are the log's */
    struct arena arena;
};

void calls_log_init(struct calls_log *log);
void calls_log_clear(struct calls_log *log);
/* A new session with these patterns: nothing is known of it yet. */
void calls_log_begin(struct calls_log *log, const char *patterns);
void calls_log_state(struct calls_log *log, const struct calls_state *state);
void calls_log_window(struct calls_log *log, const struct calls_window *window); /* copied */
/* It counts, or is about to: it has not come to its end. */
bool calls_log_runs(const struct calls_log *log);

/* "about 3.2%", "below 0.01%": what counting costs, a share of all schedulers. */
const char *calls_cost_text(char *out, size_t size, double load);

#endif
