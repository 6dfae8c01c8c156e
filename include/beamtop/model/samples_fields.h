/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run of the sampler consists of, row by row, with the fields of each kind of row. Rows and
 * what is made for them are the arena's; other texts are the run's. */
#ifndef BEAMTOP_MODEL_SAMPLES_FIELDS_H
#define BEAMTOP_MODEL_SAMPLES_FIELDS_H

#include "beamtop/base/arena.h"
#include "beamtop/model/field.h"
#include "beamtop/model/samples.h"

/* What samples are summed by. */
enum samples_by {
    SAMPLES_BY_PROCESS,
    SAMPLES_BY_THREAD,
    SAMPLES_BY_KIND,
    SAMPLES_BY_CLASS,
    SAMPLES_BY_CODE,
    SAMPLES_BY
};
struct samples_row {
    struct slice name, about;
    struct slice places; /* for people: "CPU 1 60.0%, CPU 0 40.0%" */
    int64_t samples;
    double share, error;             /* of all samples; half of its 95% interval */
    int64_t moves;                   /* -1: not known */
    const struct samples_source *of; /* NULL: no process or thread */
};
extern const struct field_list samples_class_fields, samples_code_fields, samples_kind_fields,
    samples_process_fields, samples_thread_fields;
extern const struct field_list *const samples_fields_by[SAMPLES_BY];
/* *n rows; none where it is not known. words: names for people, not keys, and places. */
const struct samples_row *samples_rows(const struct samples_summary *run, enum samples_by by,
                                       bool words, struct arena *arena, size_t *n);

/* A function, or a call of it in a tree. */
struct samples_function {
    struct slice name, kind, object, file;
    struct slice place;        /* for people: "lists.erl:1243" */
    int64_t line, self, total; /* line -1: not known */
    double self_share, self_error, total_share;
    size_t depth;                  /* levels above it in the tree */
    const struct sample_frame *at; /* NULL: of no function */
    uint32_t frame;                /* its id in the stacks */
};
extern const struct field_list samples_function_fields, stack_frame_fields;
extern const struct field_list samples_branch_fields, samples_callers_fields; /* for people */
struct samples_function samples_function_of(const struct sample_frame *f);
/* *n functions of the stacks, the first by self first. whole: the weight that shares are of. */
struct samples_function *samples_functions(const struct samples_summary *run,
                                           const struct stacks *stacks, double whole,
                                           struct arena *arena, size_t *n);
/* *n calls of the tree down to `depth` levels, with a row for what is left out below each. */
struct samples_function *samples_tree(const struct stacks *stacks, size_t depth, bool ascii,
                                      struct arena *arena, size_t *n);

extern const struct field_list samples_held_fields; /* of struct samples_held */

#endif
