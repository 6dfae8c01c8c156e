/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captured causal spans, of the events of real nodes in tests/unit/model/spans. */
#ifndef TESTS_SCREEN_WORLD_SPANS_H
#define TESTS_SCREEN_WORLD_SPANS_H

#include "beamtop/trace/spans_run.h"

enum spanned_world {
    SPANNED_NOT,
    SPANNED_CHAIN,   /* full mode: a request through three servers */
    SPANNED_LIGHT,   /* the same in light mode, still running */
    SPANNED_CRASH,   /* the callee crashes */
    SPANNED_MANY,    /* requests of ten kinds, some without an answer */
    SPANNED_CALLED,  /* light mode: who called, and a span of OpenTelemetry */
    SPANNED_HOSTILE, /* names with control bytes, quotes, and very long ones */
    SPANNED_ASKS,
    SPANNED_WAITS, /* armed; no request yet */
    SPANNED_NONE,  /* ended without one */
    SPANNED_FAILED,
};

/* The caller's; NULL of SPANNED_NOT. */
struct spans_run *world_spans(enum spanned_world world);
/* One more request comes, which began before those that are there. */
void world_spans_earlier(struct spans_run *run);

#endif
