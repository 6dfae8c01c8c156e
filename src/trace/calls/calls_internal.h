/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of counting calls share. */
#ifndef BEAMTOP_TRACE_CALLS_CALLS_INTERNAL_H
#define BEAMTOP_TRACE_CALLS_CALLS_INTERNAL_H

#include "beamtop/base/arena.h"
#include "beamtop/trace/calls.h"
#include "trace/log/decode.h"
#include "trace/session/session_base.h"

/* ---- calls_pattern.c */

/* `Chosen` of docs/calls.md. */
void calls_build_chosen(struct builder *b, struct pattern *const *patterns, size_t n);

/* ---- calls_decode.c: answers as plain structs, borrowed from their bytes */

struct calls_sample {
    uint64_t interval_ns, schedulers, functions, calls, arms;
    size_t none;       /* the first pattern without functions; SIZE_MAX: all have some */
    char why[160];     /* why it has none, in words */
    char refused[400]; /* why the node refused; empty: it did not */
};

/* A window with all that its rows need, until it is cleared. */
struct calls_kept {
    struct arena arena;
    struct calls_window window;
    struct calls_function *rows;
    struct calls_sum *modules, *applications;
};
/* `sampled`; the functions called most, most first, become the rows of hot. */
int decode_calls_sample(struct calls_sample *out, struct calls_kept *hot, const uint8_t *term,
                        size_t len, struct error *err);
/* `counted` into an empty window; refused (of 400 bytes) says why there is none. */
int decode_calls_counted(struct calls_kept *out, char *refused, const uint8_t *term, size_t len,
                         struct error *err);
/* `timed` into the rows of the same functions. */
int decode_calls_timed(struct calls_kept *out, char *refused, const uint8_t *term, size_t len,
                       struct error *err);

struct calls_session {
    struct session s;
    struct calls_options options;
    struct calls_state state;
    struct builder *who;       /* as the target takes it, once it is known */
    struct calls_kept kept[2]; /* this window and the one before */
    unsigned now;              /* the index of this window */
    struct calls_kept hot;     /* of the last look before the first window */
    unsigned looks;
    double looked_calls, looked_ns; /* of all looks */
    struct slice *excluded;         /* names of functions left out, in hot's arena */
    uint64_t began_ns;              /* of the window; 0: there was none */
};

#define CALLS_ASK_MS 15000u /* for an answer, beside the window itself */
#define CALLS_CALL_S 10e-9  /* what a counted call costs */

/* ---- calls.c */

extern const struct session_kind calls_kind;

/* ---- calls_window.c */

/* Rates, shares and changes against the window before, which may be empty. */
void calls_window_derive(struct calls_kept *now, const struct calls_kept *before,
                         uint64_t schedulers);

#endif
