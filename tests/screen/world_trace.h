/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces of a made-up node, in the states that the user sees them in. */
#ifndef TESTS_SCREEN_WORLD_TRACE_H
#define TESTS_SCREEN_WORLD_TRACE_H

#include "beamtop/trace/log.h"

enum trace_world {
    TRACED_NOT,
    TRACED_PREPARING,
    TRACED_ASKING,
    TRACED_RUNNING, /* two patterns: cut terms, an exception, an open call, lost ones, messages */
    TRACED_TRIPPED, /* over, at its cap, with nothing left */
    TRACED_LEFT,    /* over, with something left */
    TRACED_FAILED,
    TRACED_ELIXIR,
    TRACED_SILENT,  /* without an event, though there are calls */
    TRACED_COUNTED, /* counters of the VM alone */
    TRACED_SEVERAL, /* nodes: one runs, one was lost, one takes no part */
};

struct traced {
    struct trace_log *log;
    struct pattern **patterns;
    size_t n_patterns;
};

void world_trace(struct traced *t, enum trace_world world);
void world_trace_clear(struct traced *t);

#endif
