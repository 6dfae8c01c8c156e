/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of the sampler on their way into a recording: pruned when they come, written with a tick. */
#include "beamtop/base/limits.h"
#include "recorder_internal.h"

static void add_stacks(struct recorder *r, const int64_t *run, const struct stacks *s)
{
    const size_t n = stacks_frames(s);
    const int64_t **ids = arena_alloc(&r->scratch, (n + 1) * sizeof *ids);
    for (uint32_t i = 0; i < n; i++) {
        const struct sample_frame *f = stacks_frame_at(s, i);
        const struct sample_frame_row row = {.kind = slice_of(frame_kind_key(f->kind)), .of = *f};
        ids[i] = &((struct sample_frame_row *)recorder_add(r, TABLE_SAMPLE_FRAME, &row))->id;
    }
    for (uint32_t i = 0; i < stacks_nodes(s); i++) {
        const struct stacks_node *node = stacks_node(s, i);
        const struct sample_node_row row = {.run = {.row = run},
                                            .node = i,
                                            .parent = node->parent,
                                            .frame = {.row = i > 0 ? ids[node->frame] : NULL},
                                            .samples = node->self};
        if (i > 0 || node->self > 0) /* of most runs nothing ends at the root */
            (void)recorder_add(r, TABLE_SAMPLE_NODE, &row);
    }
    arena_reset(&r->scratch);
}

static void add_source(struct recorder *r, struct sample_source_row *row, struct samples_source of)
{
    row->of = of;
    (void)recorder_add(r, TABLE_SAMPLE_SOURCE, row);
    row->rank++;
}

/* Rows of two kinds: the sources, those with most samples first, and where these were. */
static void add_sources(struct recorder *r, const int64_t *run, const char *kind,
                        const char *place_kind, const struct samples_source *list, size_t n)
{
    struct sample_source_row source = {.run = {.row = run}, .kind = slice_of(kind)};
    struct sample_source_row place = {.run = {.row = run}, .kind = slice_of(place_kind)};
    for (size_t i = 0; i < n && i < LIMIT_RECORDED_SOURCES; i++) {
        const struct samples_source *of = &list[i];
        add_source(r, &source, *of);
        if (of->n_places > 0)
            add_source(r, &place, (struct samples_source){.name = of->name, .samples = of->moves});
        for (size_t k = 0; k < of->n_places && k < LIMIT_RECORDED_PLACES; k++)
            add_source(r, &place,
                       (struct samples_source){.name = of->name,
                                               .about = of->places[k].name,
                                               .samples = of->places[k].samples});
    }
}

void recorder_samples(struct recorder *r, const struct samples_summary *of)
{
    struct sample_run_row row = {.of = *of};
    if (r->ended)
        return;
    struct stacks *pruned = stacks_pruned(of->stacks, LIMIT_RECORDED_NODES, 0, &row.left_out);
    row.of.samples = of->samples > 0 ? of->samples : 0;
    for (int i = 0; of->at_yields && i < SAMPLE_CLASSES; i++)
        row.of.classes[i] = -1;
    const struct sample_run_row *run = recorder_add(r, TABLE_SAMPLE_RUN, &row);
    add_stacks(r, &run->id, pruned);
    stacks_free(pruned);
    for (size_t i = 0; i < of->n_held && i < LIMIT_SAMPLED_HELD; i++) { /* the longest first */
        const struct sample_held_row held = {
            .run = {.row = &run->id}, .rank = (int64_t)i, .of = of->held[i]};
        (void)recorder_add(r, TABLE_SAMPLE_HELD, &held);
    }
    add_sources(r, &run->id, "process", "process_on", of->processes, of->n_processes);
    add_sources(r, &run->id, "thread", "thread_on", of->threads, of->n_threads);
}
