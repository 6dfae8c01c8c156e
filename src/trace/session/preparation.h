/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session of patterns before it is armed: definitions of records, match specifications, the
 * preflight, counted calls. A kind has its checks, its limits and what a call costs. */
#ifndef BEAMTOP_TRACE_SESSION_PREPARATION_H
#define BEAMTOP_TRACE_SESSION_PREPARATION_H

#include "prepare.h"
#include "session_base.h"

#define EXPENSIVE_LOAD 0.03 /* of a core: above it the user is asked */

struct preparation_kind {
    unsigned stack_depth;
    unsigned count_ms;                /* bursts are seen; many calls end it sooner */
    unsigned ask_ms, ask_function_ms; /* deadline; more, for each function */
    /* Where a pattern cannot be compiled on the node's records; may be NULL. */
    void (*wrong)(struct session *s, size_t pattern, size_t offset);
    /* The preflight has come: leads to preparation_checked(). */
    void (*found)(struct session *s);
    /* The calls that were counted, NAN before; returns whether they are expensive. */
    bool (*counted)(struct session *s, double calls_per_s, double count_ms);
};

struct preparation {
    const struct preparation_kind *kind;
    const struct caps *caps;  /* of the preflight */
    const struct mfa *beside; /* counted with the functions; NULL: none */
    struct matchspec specs[LIMIT_TRACE_PATTERNS];
    struct record_store records;
    uint8_t *preflight_bytes; /* what `preflight` points into */
    struct preflight preflight;
};

void preparation_init(struct preparation *p, struct session *s, const struct preparation_kind *kind,
                      const struct caps *caps);
void preparation_clear(struct preparation *p);
/* For a question that is answered with so many functions more. */
unsigned preparation_ask_ms(const struct preparation *p);
/* Asks for records if there are any, else compiles and asks for the preflight. ERR_USAGE: a pattern
   cannot be compiled, with its number and the offset. */
int preparation_start(struct session *s, size_t *pattern, size_t *offset, struct error *err);
/* Fails with an error, else counts calls where that disturbs nobody, and estimates. */
void preparation_checked(struct session *s, const struct error *err);

#endif
