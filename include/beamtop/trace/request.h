/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was typed at the trace prompt, taken apart: patterns, then options as batch spells them:
 * `shop_cart:add(_, _) -> return --procs <0.912.0> --events 50`. Pure. */
#ifndef BEAMTOP_TRACE_REQUEST_H
#define BEAMTOP_TRACE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/trace/caps.h"
#include "beamtop/trace/pattern.h"

struct trace_request {
    char *pattern; /* owned; begins at byte `pattern_at` of the line */
    size_t pattern_at;
    char *procs;     /* owned; NULL: all */
    size_t procs_at; /* where they begin in the line */
    struct caps caps;
    uint64_t slower_us;
    enum syntax syntax;
    bool on_rate_stop, force;
};

/*
 * `out` holds what options are not given keep: caps, syntax and so on of the configuration; its
 * pattern and procs are NULL before. ERR_USAGE with *offset, the byte of the line that is wrong.
 * What is in the pattern is not looked
 * at here. */
int trace_request_parse(struct trace_request *out, const char *line, size_t *offset,
                        struct error *err);
void trace_request_clear(struct trace_request *r);
/* The options there are, one by one from 0, "procs" and the like with a line of help; false: no
   more. The texts are static. */
bool trace_request_option(size_t index, struct pattern_word *out);
/* ERR_USAGE: `what` has no option of that name; the text has all that `option` gives. */
int trace_request_no_option(const char *what, bool (*option)(size_t, struct pattern_word *),
                            const char *name, struct error *err);
/* Bytes of the line that are the pattern: up to the first option, without blanks before it. */
size_t trace_request_pattern_end(const char *line);

#endif
