/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The filter of a native scan (docs/queries.md, "Filter"): which processes it lets pass, by terms
 * that the program has judged, and terms that it has not seen yet. Pure. */
#ifndef BEAMTOP_QUERY_SCAN_FILTER_H
#define BEAMTOP_QUERY_SCAN_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/slice.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/cursor.h"

enum scan_filter_field {
    SCAN_NAME,
    SCAN_LABEL,
    SCAN_INITIAL_CALL,
    SCAN_APPLICATION,
    SCAN_CURRENT_FUNCTION,
    SCAN_FILTER_FIELDS
};

/* Bare terms of one process; empty or `undefined`: it has none. */
struct scan_filtered {
    struct slice terms[SCAN_FILTER_FIELDS];
};

struct scan_filter {
    bool on;
    unsigned fields; /* bits of the enum */
    struct scan_filter_set {
        struct slice *terms; /* in order; borrowed from the argument */
        size_t n;
    } sets[SCAN_FILTER_FIELDS];
    struct scan_label *labels; /* hash of those that were seen */
    struct scan_label *news, **last;
    size_t n_news, n_labels;
};

void scan_filter_init(struct scan_filter *f);
void scan_filter_clear(struct scan_filter *f);
/* `none` or {Seq, Fields, Maps}. false: it is for the keeper, such as one that looks at pids. What
 * was sent stays sent. */
bool scan_filter_read(struct scan_filter *f, struct cursor *c);
bool scan_filter_has(const struct scan_filter *f, enum scan_filter_field field);
/* Whether one of them matches; keeps those that were never sent. */
bool scan_filter_passes(struct scan_filter *f, const struct scan_filtered *of);
/* [{LabelId, Label}] of these, which are sent then: 5,000 at most, the others the next time. */
void scan_filter_build(struct scan_filter *f, struct builder *b);

#endif
