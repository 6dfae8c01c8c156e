/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options of traces and of captures of causal spans, one table for the command line and the
 * prompts; and what was typed at a prompt, taken apart: patterns, then options as the command line
 * has them: `shop_cart:add(_, _) -> return --procs <0.912.0> --events 50`. Pure. */
#ifndef BEAMTOP_TRACE_REQUEST_H
#define BEAMTOP_TRACE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/trace/caps.h"
#include "beamtop/trace/pattern.h"

/* Ceilings of a capture of spans; the node keeps to them whatever it is sent. */
#define SPANS_MOST_MS 600000u
#define SPANS_MOST_EVENTS 20000u
#define SPANS_MOST_EVERY 100000u

/* Texts are borrowed, or point into `line`. */
struct trace_request {
    const char *pattern; /* begins at byte `pattern_at` of the line; NULL: `process` is the root */
    size_t pattern_at;
    const char *procs;  /* NULL: all; of spans: which processes may begin a root */
    size_t procs_at;    /* where they begin in the line */
    struct caps caps;   /* of a trace */
    uint64_t slower_us; /* of call patterns without `slower`; 0: none */
    enum syntax syntax;
    bool on_rate_stop; /* end instead of shedding */
    bool on_rate_auto; /* not chosen: depends on the pattern */
    bool force;        /* do not ask first when it is expensive; lifts no cap */
    unsigned first;    /* of a trace of several nodes: events anywhere that end it; 0: none */
    /* Of spans. */
    const char *calls;     /* functions whose calls are spans within those of a root; NULL: none */
    const char *process;   /* as of `procs`, a single one; NULL: the patterns */
    unsigned for_ms;       /* up to SPANS_MOST_MS */
    unsigned roots, every; /* up to LIMIT_SPAN_ROOTS roots, of every K-th call */
    unsigned events;       /* up to SPANS_MOST_EVENTS */
    bool full;             /* also running, exits and arrivals of those that take part */
    bool context;          /* reads who called the process of a root: struct span */
    /* No message, value or reason is copied on the node: breakpoints show calls of gen_server and
       gen_statem in place of the token's events. Light mode, patterns and all processes only. */
    bool no_payloads;
    char *line; /* owned */
};

enum request_kind { REQUEST_TRACE = 1, REQUEST_SPANS = 2 };

/* clang-format off */
enum request_type {
    REQUEST_FLAG, REQUEST_TEXT, REQUEST_NUMBER, REQUEST_MS, REQUEST_US, REQUEST_SYNTAX,
    REQUEST_ON_RATE, REQUEST_CAP,
};
/* clang-format on */

struct request_option {
    const char *name;
    unsigned kinds; /* a mask of enum request_kind */
    enum request_type type;
    size_t offset;      /* of the value in struct trace_request; of a cap its number */
    double least, most; /* of numbers, and of times in seconds */
    const char *help;
};

/* The defaults of all options. */
void trace_request_init(struct trace_request *r);
void trace_request_clear(struct trace_request *r);
/* The options of a kind, from 0; false: no more. The texts are static. */
bool trace_request_option(struct request_option *out, enum request_kind kind, size_t index);
bool trace_request_find(struct request_option *out, enum request_kind kind, const char *name);
/* `value` is borrowed, and NULL of a flag. ERR_USAGE begins with the option's name. */
int trace_request_set(struct trace_request *r, const struct request_option *option,
                      const char *value, struct error *err);

/*
 * `out` holds what options are not given keep. ERR_USAGE with *offset, the byte of the line that is
 * wrong, and nothing to clear. What is in the pattern is not looked at here. */
int trace_request_parse(struct trace_request *out, enum request_kind kind, const char *line,
                        size_t *offset, struct error *err);
/* Bytes of the line that are the pattern: up to the first option, without blanks before it. */
size_t trace_request_pattern_end(const char *line);

#endif
