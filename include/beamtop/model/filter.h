/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The filter of a process list, our side of it: PCRE2 over the distinct names that the target
 * sends, and the sets of those that match, for the target to compare with (docs/queries.md,
 * "Filter"). Expression: PCRE2, or one of the prefixes name= app= init= fn= pid= label= and PCRE2.
 * Without a prefix it looks at name, label, initial call, application and current function, and at
 * the pid when it is written like one. The current function costs the target a signal to every
 * process: on a large node (LIMIT_FILTER_CALLS) it is looked at only when asked for
 * with fn=. */
#ifndef BEAMTOP_MODEL_FILTER_H
#define BEAMTOP_MODEL_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/model/snapshot.h"

/* clang-format off */
enum filter_field {
    FILTER_NAME, FILTER_LABEL, FILTER_INITIAL_CALL, FILTER_APPLICATION, FILTER_CURRENT_FUNCTION,
    FILTER_PID, FILTER_FIELDS,
};
/* clang-format on */
const char *filter_field_name(enum filter_field field);   /* the atom of docs/queries.md */
const char *filter_field_prefix(enum filter_field field); /* "app=" */

/* What goes to the target. Borrowed until the next filter_set or filter_take. */
struct filter_maps {
    int64_t seq;       /* counts expressions */
    uint64_t revision; /* changes whenever anything here does */
    uint32_t fields;   /* bits of enum filter_field */
    struct filter_set {
        struct slice *terms; /* keys, as terms without version byte (build_raw) */
        size_t n;
    } sets[FILTER_FIELDS];   /* empty for FILTER_PID */
    const char *pid_pattern; /* NULL: pids are not looked at */
};

struct filter;

struct filter *filter_new(void);
void filter_free(struct filter *f);   /* NULL is fine */
void filter_forget(struct filter *f); /* the names, for those of another node */

/*
 * Takes another expression; "" turns the filter off. When it is bad: ERR_USAGE, *error_offset the
 * byte in `expression`; ERR_LIMIT: it takes too many steps on the names known. The last good one
 * stays. */
int filter_set(struct filter *f, const char *expression, size_t *error_offset, struct error *err);
/* Whether an expression without a prefix looks at current functions: the node is small enough. */
void filter_set_calls(struct filter *f, bool yes);
bool filter_is_on(const struct filter *f);
/* To mark what matches, by steps of the caller's (regex_allow); until filter_set(). NULL: off. */
struct regex *filter_regex(const struct filter *f);

/* Takes the labels out of an answer of `scan`, and judges them. On a bad answer nothing
 * is taken. */
int filter_take(struct filter *f, const uint8_t *scan, size_t len, struct error *err);
const struct filter_maps *filter_maps(const struct filter *f); /* NULL while off */
size_t filter_labels(const struct filter *f);
/* In words, once each for an expression, else NULL: a match ran into its limits, also in steps of
 * the caller's; names beyond LIMIT_FILTER_LABELS or LIMIT_FILTER_LABEL_BYTES were left out. */
const char *filter_trouble(struct filter *f);

/* Before many rows are judged: they share one allowance of steps (LIMIT_REGEX_PASS_STEPS). */
void filter_pass(struct filter *f);
/* Judges a row that is here already; true while off. */
bool filter_match_row(struct filter *f, const struct proc_row *row);

#endif
