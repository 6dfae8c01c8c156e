/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports and comparisons of recordings: `beamtop report` and `beamtop diff`. Pure but for the
 * files that they read. */
#ifndef BEAMTOP_REPORT_SUMMARY_H
#define BEAMTOP_REPORT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/recording/recording.h"

enum summary_format { SUMMARY_TEXT, SUMMARY_MARKDOWN, SUMMARY_HTML, SUMMARY_JSON };

/* One recording, or a part of it: a column of a comparison. */
struct summary_input {
    struct recording *recording;
    const char *name; /* its label, else the file's name */
    int64_t from, to; /* ticks, inclusive */
    /* Of nodes: how far its clock was from the recorder's, in words; or NULL. */
    const char *clock_begin, *clock_end;
};

/* Nodes that were recorded twice: two recordings of each, before and after, one after the other. */
struct summary_pairs {
    const char *before, *after; /* what the two sides are called */
    const struct summary_unpaired {
        const char *node;
        const char *no_before, *no_after; /* why there is none; NULL: there is one */
    } * unpaired;
    size_t n_unpaired;
};

struct summary_options {
    enum summary_format format;
    int columns; /* of text */
    bool ascii;
    bool nodes;                        /* the recordings are of several nodes at the same time */
    const struct summary_pairs *pairs; /* they are pairs of recordings; or NULL */
};

/*
 * One source: duration, memory, run queue, owners, functions, charts, findings and the table of
 * actions. Several: a table with a column each, and what changed significantly.
 * Several nodes: findings of all as one list, which nodes differ and by what.
 * Pairs: what changed, in one list, with the nodes on which it did. */
int summary_write(struct buf *out, const struct summary_input *inputs, size_t n,
                  const struct summary_options *options, struct error *err);

/* A threshold of `--fail-on`: "memory_total_bytes+10%", "run_queue>16", "finding:fix". */
struct summary_limit;
int summary_limit_parse(struct summary_limit **out, const char *text, struct error *err);
void summary_limit_free(struct summary_limit *l);
/* True when B, compared with A, is beyond the threshold; writes why. */
bool summary_limit_fails(const struct summary_limit *l, const struct summary_input *a,
                         const struct summary_input *b, struct buf *why);
/* True when neither A nor B has the threshold's owner, perhaps a mistyped name, whose share is
 * 0. Writes so. */
bool summary_limit_is_of_nobody(const struct summary_limit *l, const struct summary_input *a,
                                const struct summary_input *b, struct buf *why);

#endif
