/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the sources of causal spans share: events with ids in place of texts, and the result. */
#ifndef BEAMTOP_MODEL_SPANS_INTERNAL_H
#define BEAMTOP_MODEL_SPANS_INTERNAL_H

#include "beamtop/base/arena.h"
#include "beamtop/base/hash.h"
#include "beamtop/base/limits.h"
#include "beamtop/model/spans.h"

/* Ids are indexes; 0 is the empty text, nobody, no reference. */
struct event {
    int64_t at, words;
    uint64_t order, serial;
    uint32_t process, peer, ref, text, label[4]; /* the last is the label's node, a text */
    uint8_t kind, tag, class;
};

struct process_key {
    uint32_t node, name, id, serial, creation;
};

struct intern { /* a text, process or reference: the same bytes have the same id */
    const void *key;
    uint32_t id;
    UT_hash_handle hh;
};
struct interned {
    struct intern *by_key, **at;
    uint32_t n;
};

struct spans {
    struct spans_options options;
    struct arena arena;
    struct interned texts, processes, refs;
    size_t text_bytes;
    struct slice *names; /* by process: given by spans_name() */
    struct event *events;
    size_t n_events;
    struct spans_dropped fed, built; /* by spans_feed(), by spans_build() */

    struct span *spans;
    struct span_wait *waits, *ends; /* by start; those of a span by end, the last first */
    uint32_t n_spans, n_waits, n_roots;

    struct stacks *stacks;      /* of samples; NULL: none were taken */
    struct span_stack *sampled; /* by span, then most samples first */
    size_t n_sampled;
};

#define ORDER(a, b) (((a) > (b)) - ((a) < (b))) /* of numbers, as qsort() asks for it */

struct slice spans_text(const struct spans *s, uint32_t id);
struct span_process spans_process(const struct spans *s, uint32_t id);

/* The steps of spans_build(): spans and waits of the sorted events; then children and durations;
   then waits for the critical paths. */
void spans_walk(struct spans *s);
void spans_measure(struct spans *s);
void spans_sort_ends(struct spans *s);

#endif
