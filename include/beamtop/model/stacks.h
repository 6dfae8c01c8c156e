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

/*
 * The id of a frame, the same for the same kind, name, object, file and line. Texts are copied, up
 * to LIMIT_STACK_NAME_BYTES each; an empty name becomes "[unknown]". Beyond LIMIT_STACK_FRAMES or
 * LIMIT_STACK_TEXT_BYTES, the id of one frame "…" that stands for all that follow. */
uint32_t stacks_frame(struct stacks *s, const struct sample_frame *frame);
uint32_t stacks_frame_of_rest(struct stacks *s); /* the id of that one */
const struct sample_frame *stacks_frame_at(const struct stacks *s, uint32_t id); /* NULL: none */
/* The same in all stacks for the same kind, name, object, file and line; never 0. */
uint64_t stacks_frame_identity(const struct stacks *s, uint32_t id);
size_t stacks_frames(const struct stacks *s); /* ids 0 to n-1 */

/*
 * Adds weight (above 0, else nothing happens) to the stack of these frames, the root first; of no
 * frames, to the root. A stack deeper than LIMIT_STACK_DEPTH keeps its root half and its leaf half,
 * with one frame "…" between. Beyond LIMIT_STACK_NODES it ends at the deepest node there is. */
void stacks_add(struct stacks *s, const uint32_t *frames, size_t n, double weight);
/* The same step by step, for who has a tree: the child of a node for a frame, made when it is new
 * (where there is no room, the node itself); then weight to a node. */
uint32_t stacks_step(struct stacks *s, uint32_t index, uint32_t frame);
void stacks_weigh(struct stacks *s, uint32_t index, double weight);
double stacks_total(const struct stacks *s);
double stacks_shortened(const struct stacks *s); /* of it, in stacks that stand shortened */

/* Nodes of the tree by index; 0 is the root. Children have larger indexes than their parent. */
#define STACKS_NO_FRAME UINT32_MAX
struct stacks_node {
    uint32_t frame;       /* id; of the root: STACKS_NO_FRAME */
    uint32_t parent;      /* index; of the root: 0 */
    uint32_t child, next; /* first child, next sibling; 0: none */
    double self, total;   /* weight that ended here; with all below */
};
size_t stacks_nodes(const struct stacks *s);
/* Borrowed until the stacks are freed, and kept up to date by stacks_add(). */
const struct stacks_node *stacks_node(const struct stacks *s, uint32_t index);
/* The frames down to a node, the root first; returns their number: LIMIT_STACK_DEPTH at most. */
size_t stacks_path(const struct stacks *s, uint32_t index, uint32_t *frames);

struct stacks_child {
    uint32_t index;
    const struct stacks_node *node;
};
/* Children that are left out: how many, their weight. */
struct stacks_rest {
    uint32_t n;
    double total;
};
/* Those of a weight of `least` or more, owned by the caller, the heaviest first, then the oldest;
 * *n of them, NULL where there are none. */
struct stacks_child *stacks_heavy_children(const struct stacks *s, uint32_t index, double least,
                                           size_t *n, struct stacks_rest *rest);

/*
 * The tree in depth, the heaviest child first. What is lighter than `least`, or below `depth`
 * levels, is left out: one branch for each parent that has such children. */
struct stacks_branch {
    uint32_t index; /* of the node; 0: of what is left out */
    size_t depth;   /* levels above it; 0: below the root */
    double self, total;
};
void stacks_walk(const struct stacks *s, double least, size_t depth,
                 void (*each)(void *arg, const struct stacks_branch *branch), void *arg);

/* Each frame once: its own weight, and that of the stacks in which it stands, each counted once
 * however often the frame recurs there. */
struct stacks_sum {
    uint32_t frame;
    const struct sample_frame *at; /* borrowed from the stacks */
    double self, total;
};
/* Owned by the caller, sorted by self, then total, then name; *n of them. */
struct stacks_sum *stacks_sums(const struct stacks *s, size_t *n);
/* The same stacks with the leaf as their root: its callers. Ids are the same. Owned by the caller.
 */
struct stacks *stacks_inverted(const struct stacks *s);
/*
 * The same stacks without the lightest nodes: the root and `most` others stay at most, each with a
 * total of `least` or more. A stack that ends below those ends in a frame "…" there instead: one
 * more node for each that has such stacks. Frames of no stack are left out; *left_out: the weight
 * that ends in these nodes. Owned by the caller. */
struct stacks *stacks_pruned(const struct stacks *s, size_t most, double least, double *left_out);

#endif
