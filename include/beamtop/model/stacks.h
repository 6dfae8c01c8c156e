/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Weighted stacks: one tree of frames, in which each stack that was seen is a way from the root,
 * with the weight that ended there. Samples make them; counted calls and spans can. Tables,
 * trees, flame graphs and files are made from it. Owner: the caller. Thread: one at a time. */
#ifndef BEAMTOP_MODEL_STACKS_H
#define BEAMTOP_MODEL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/sample.h"
#include "beamtop/base/slice.h"

struct stacks;

struct stacks *stacks_new(void);
void stacks_free(struct stacks *s); /* NULL is fine */

/* The id of a frame, the same for the same kind, name, object, file and line; texts are copied.
 * From LIMIT_STACK_FRAMES on the id of one frame "…", which stands for all that follow. */
uint32_t stacks_frame(struct stacks *s, const struct sample_frame *frame);
const struct sample_frame *stacks_frame_at(const struct stacks *s, uint32_t id);
size_t stacks_frames(const struct stacks *s);

/* Adds weight to the stack of these frames, the root first. Deeper than LIMIT_STACK_DEPTH, or
 * beyond LIMIT_STACK_NODES, it is added to the deepest node that is kept. */
void stacks_add(struct stacks *s, const uint32_t *frames, size_t n, double weight);
double stacks_total(const struct stacks *s);

/* Nodes of the tree by index; 0 is the root, which has no frame. Children follow their parent. */
struct stacks_node {
    uint32_t frame;       /* id */
    uint32_t parent;      /* index; of the root: 0 */
    uint32_t child, next; /* first child, next sibling; 0: none */
    double self, total;   /* weight that ended here; with all below */
};
size_t stacks_nodes(const struct stacks *s);
const struct stacks_node *stacks_node(const struct stacks *s, uint32_t index);

/* Each frame once: its own weight, and that of the stacks in which it stands, each counted once
 * however often it recurs there. */
struct stacks_sum {
    uint32_t frame;
    double self, total;
};
/* Owned by the caller, sorted by self, then total, then name; *n of them. */
struct stacks_sum *stacks_sums(const struct stacks *s, size_t *n);
/* The same stacks with the leaf as their root: who called it. Owned by the caller. */
struct stacks *stacks_inverted(const struct stacks *s);

#endif
