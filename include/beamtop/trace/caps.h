/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The caps of a trace: what the user may set, and the ceilings that no option passes. The target's
 * expression has the same ceilings and keeps to them whatever it is sent. */
#ifndef BEAMTOP_TRACE_CAPS_H
#define BEAMTOP_TRACE_CAPS_H

#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"

enum cap {
    CAP_TIME_MS,
    CAP_EVENTS, /* calls and messages that are shown */
    CAP_RATE_PER_S,
    CAP_WINDOW,       /* events in flight: the budget opened at a time */
    CAP_WINDOW_BYTES, /* of heap, by the size of the events seen */
    CAP_TERM_BYTES,   /* one argument list, result or message; larger ones are cut */
    CAP_BYTES,        /* the whole answer */
    CAP_HEAP_BYTES,   /* of the collector */
    CAP_FUNCTIONS,    /* matched by the patterns of a trace */
    CAP_PROCESSES,    /* chosen one by one */
    CAPS,
};

enum cap_unit { UNIT_COUNT, UNIT_MS, UNIT_PER_S, UNIT_BYTES };

struct cap_row {
    const char *key;   /* "time": option, configuration, JSON */
    const char *title; /* of its bar */
    enum cap_unit unit;
    uint64_t value; /* by default */
    uint64_t least, ceiling;
    const char *atom; /* on the target, of those that a running trace has; NULL: set before it */
    const char *help;
};

extern const struct cap_row cap_table[CAPS];

struct caps {
    uint64_t value[CAPS];
};

void caps_init(struct caps *c); /* the defaults */
/* ERR_USAGE names the cap and its range. */
int caps_set(struct caps *c, enum cap cap, uint64_t value, struct error *err);
/* "15s", "250ms", "2KiB", "100": by the cap's unit; a bare number of a time is seconds. */
int caps_parse(struct caps *c, enum cap cap, const char *text, struct error *err);
/* "events 100": a key and a value, as one types them. ERR_USAGE names the keys that a running trace
 * has, or the range. */
int caps_parse_words(struct caps *c, const char *words, enum cap *cap, struct error *err);
int cap_find(const char *key, enum cap *out); /* 0 or -1 */
/* "15 s", "100", "200/s", "2.0 KiB" */
char *cap_format(char *out, size_t size, enum cap cap, uint64_t value);

#endif
