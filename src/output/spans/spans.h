/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the forms of causal spans share. */
#ifndef BEAMTOP_OUTPUT_SPANS_H
#define BEAMTOP_OUTPUT_SPANS_H

#include "beamtop/base/arena.h"
#include "beamtop/output/spans_sink.h"
#include "beamtop/output/writer.h"
#include "beamtop/trace/spans_rows.h"
#include "output/object_fields.h"

/* What is written: a run, and those of its roots that are asked for. */
struct spans_form {
    struct sink_pieces *out;
    const struct spans_run *run;
    const struct spans *s;
    const struct spans_sink_options *options;
    uint32_t *roots; /* indexes, by start */
    size_t n_roots;
    struct arena arena; /* of texts; some forms reset it after each root */
    struct spans_rows rows;
};

/* Wall clock of an instant in ns; -1: not known. */
int64_t spans_wall(const struct spans_form *f, int64_t mono_ns);

struct slice spans_span_name(struct spans_form *f, const struct span *span);
/* As span_put_wait() has it, raw where that is asked for. */
struct slice spans_wait_name(struct spans_form *f, const struct span_wait *wait);

void spans_text_put(struct spans_form *f);
void spans_json_put(struct spans_form *f);
void spans_folded_put(struct spans_form *f);
void spans_speedscope_put(struct spans_form *f);
void spans_trace_event_put(struct spans_form *f);
void spans_otlp_put(struct spans_form *f);

/* The stacks of the roots of the form. Owned by the caller. */
struct stacks *spans_form_stacks(const struct spans_form *f);

/* ---- tracks: what a process did, one thing within the other */

/* A span, or a wait of one, cut to the one that it began in. */
struct spans_item {
    uint32_t span, wait; /* wait SPAN_NONE: the span itself */
    uint32_t track, depth;
    int64_t from_ns, to_ns; /* as shown */
};
/* Spans of one process that do not nest are on several tracks. */
struct spans_track {
    const struct span_process *process;
    unsigned lane; /* from 0 */
    uint32_t node; /* the same number for tracks of the same node; from 0 */
    size_t item, n_items;
};
struct spans_tracks {
    struct spans_item *items; /* of a track by start, the outer first */
    struct spans_track *tracks;
    size_t n_items, n_tracks;
    uint32_t *of; /* by span: its track; SPAN_NONE: not written */
    int64_t from_ns, to_ns;
};
void spans_tracks_make(struct spans_tracks *t, const struct spans_form *f);
void spans_tracks_free(struct spans_tracks *t);
/* "shop_cart <0.88.0>", with the lane where there are several. */
struct slice spans_track_name(struct spans_form *f, const struct spans_track *track);
struct slice spans_item_name(struct spans_form *f, const struct spans_item *item);

#endif
