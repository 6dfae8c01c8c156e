/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was typed at the prompt of causal spans, taken apart: patterns, then options as the command
 * line has them: `shop_api:checkout(_) --roots 20 --every 10 --full`. Pure. */
#ifndef BEAMTOP_TRACE_SPANS_REQUEST_H
#define BEAMTOP_TRACE_SPANS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/error.h"
#include "beamtop/trace/pattern.h"

struct spans_request {
    char pattern[400]; /* begins at byte `pattern_at` of the line; empty: `process` is the root */
    size_t pattern_at;
    char calls[240]; /* functions whose calls within a root are shown; empty: none */
    char process[240];
    char procs[240]; /* which processes may begin a root; empty: all */
    unsigned for_ms, roots, every, events;
    bool full, context, no_payloads, force;
};

/* ERR_USAGE with *offset, the byte of the line that is wrong. The pattern is not looked at. */
int spans_request_parse(struct spans_request *out, const char *line, size_t *offset,
                        struct error *err);
/* The options there are, from 0, with a line of help; false: no more. The texts are static. */
bool spans_request_option(size_t index, struct pattern_word *out);

#endif
