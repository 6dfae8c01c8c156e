/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Data of counted calls: a window with its rows and sums, and the state of a session. Sinks,
 * recordings and views read them; trace/calls.h makes them. */
#ifndef BEAMTOP_TRACE_CALLS_STATE_H
#define BEAMTOP_TRACE_CALLS_STATE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/etf/term.h"
#include "beamtop/trace/status.h"

#define CALLS_UNKNOWN UINT64_MAX

static inline double calls_or_nan(uint64_t n)
{
    return n == CALLS_UNKNOWN ? (double)NAN : (double)n;
}

/* A row of a window. Texts are the window's. Unknown is CALLS_UNKNOWN, NaN in a double. */
struct calls_function {
    struct slice module, function, application; /* application: empty when of none */
    uint64_t arity;
    uint64_t calls;
    double calls_per_s, share; /* of all calls of the window */
    double change;             /* calls_per_s over that of the window before, less 1 */
    uint64_t timed_calls;      /* of the second window, as all that follows */
    uint64_t own_us, words;
    double us_per_call, words_per_call;
    double own_share;  /* of one scheduler's time */
    bool lost;         /* its counter in the second window was lost */
    struct slice name; /* for people: calls_function_name(), where it was set */
};

/* A sum over a module, or an application (then `module` is empty). */
struct calls_sum {
    struct slice module, application;
    uint64_t functions, calls;
    double calls_per_s, share, change;
    struct slice name; /* for people: calls_sum_name(), where it was set */
};

struct calls_window {
    uint64_t number; /* 1, 2 … */
    int64_t wall_us; /* its end, by the node's clock */
    uint64_t interval_us;
    uint64_t functions, called; /* counted; called at least once */
    uint64_t calls;
    double calls_per_s;
    double load;                      /* estimated cost of the counting: of all schedulers */
    uint64_t lost;                    /* functions reloaded in the window, or unreadable */
    const struct slice *lost_modules; /* some of them */
    size_t n_lost_modules;
    uint64_t asked_us;            /* the window asked for; unknown: this is not shorter */
    const struct slice *excluded; /* functions not counted: their calls cost too much */
    size_t n_excluded;
    bool cut;   /* ended early, by a stop */
    bool timed; /* the second window is there */
    bool has_time, has_memory;
    uint64_t timed_interval_us, processes; /* of the second; unknown without it */
    char timed_why[160];                   /* why it is not, though asked for */
    const struct calls_function *rows;     /* most calls first */
    size_t n_rows;
    const struct calls_sum *modules, *applications;
    size_t n_modules, n_applications;
    uint64_t listed_us, armed_us, read_us, disarmed_us; /* on the target, both windows */
    uint64_t target_us, bytes; /* its work for the window; the size of its answers */
};

struct calls_state {
    struct session_status status;
    /* The estimate: NaN before it. */
    uint64_t functions, schedulers;
    double calls_per_s, load;     /* load: of all schedulers */
    double arms;                  /* calls of the VM that arm it */
    bool expensive;               /* beyond the limit even in what follows */
    unsigned asked_ms, window_ms; /* a window as asked for, and as the cost limit allows it */
    size_t excluded;              /* how many of the functions called most are not counted */
    char others[240];             /* other tools that trace; empty: none */
    unsigned windows;             /* done */
};

#endif
