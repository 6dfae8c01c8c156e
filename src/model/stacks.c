/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/stacks.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/arena.h"
#include "beamtop/base/hash.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"

/* Its key has all that two frames can differ in; the texts of the frame lie within it. */
struct frame_entry {
    struct sample_frame frame;
    uint32_t id;
    uint64_t identity;
    UT_hash_handle hh;
};

struct step {
    uint32_t parent, frame;
};

struct node_entry {
    struct stacks_node node;
    struct step step;
    uint32_t index;
    UT_hash_handle hh;
};

struct stacks {
    struct arena arena; /* entries and keys: they stay where they are */
    struct frame_entry *by_key, **frames;
    struct node_entry *by_step, **nodes;
    size_t n_frames, n_nodes, text_bytes;
    double shortened;
};

/* Room for one more pointer: doubled whenever the number is a power of two. */
#define GROW(array, n)                                                                             \
    do {                                                                                           \
        if (((n) & ((n)-1)) == 0)                                                                  \
            (array) = alloc_resize(array, (n) > 0 ? 2 * (n) : 1, sizeof *(array));                 \
    } while (0)

static uint32_t new_node(struct stacks *s, struct step step)
{
    struct node_entry *e = arena_alloc(&s->arena, sizeof *e);
    e->index = (uint32_t)s->n_nodes;
    e->step = step;
    e->node = (struct stacks_node){.frame = step.frame, .parent = step.parent};
    GROW(s->nodes, s->n_nodes);
    s->nodes[s->n_nodes++] = e;
    if (e->index == 0)
        return 0;
    struct stacks_node *parent = &s->nodes[step.parent]->node;
    e->node.next = parent->child;
    parent->child = e->index;
    HASH_ADD(hh, s->by_step, step, sizeof e->step, e);
    return e->index;
}

struct stacks *stacks_new(void)
{
    struct stacks *s = alloc_zero(1, sizeof *s);
    arena_init(&s->arena);
    new_node(s, (struct step){0, STACKS_NO_FRAME});
    return s;
}

void stacks_free(struct stacks *s)
{
    if (!s)
        return;
    HASH_CLEAR(hh, s->by_key);
    HASH_CLEAR(hh, s->by_step);
    free(s->frames);
    free(s->nodes);
    arena_clear(&s->arena);
    free(s);
}

/* ---- frames */

struct key_head {
    uint32_t kind, line, name, object, file; /* lengths of the texts behind it */
};

static struct slice key_text(const char **at, size_t len)
{
    struct slice text = {*at, len};
    *at += len;
    return text;
}

static uint32_t keep_frame(struct stacks *s, const void *key, size_t len)
{
    struct frame_entry *e = arena_alloc(&s->arena, sizeof *e);
    const char *kept = arena_strndup(&s->arena, key, len), *at = kept + sizeof(struct key_head);
    struct key_head head;
    memcpy(&head, kept, sizeof head);
    e->id = (uint32_t)s->n_frames;
    e->identity = text_identity(kept, len);
    e->frame.kind = (enum frame_kind)head.kind;
    e->frame.line = head.line;
    e->frame.name = key_text(&at, head.name);
    e->frame.object = key_text(&at, head.object);
    e->frame.file = key_text(&at, head.file);
    GROW(s->frames, s->n_frames);
    s->frames[s->n_frames++] = e;
    s->text_bytes += len;
    HASH_ADD_KEYPTR(hh, s->by_key, kept, len, e);
    return e->id;
}

static uint32_t put_key_part(char *key, size_t *len, struct slice text)
{
    size_t n = text.len < LIMIT_STACK_NAME_BYTES ? text.len : LIMIT_STACK_NAME_BYTES;
    if (n > 0)
        memcpy(key + *len, text.s, n);
    *len += n;
    return (uint32_t)n;
}

static uint32_t intern_frame(struct stacks *s, const struct sample_frame *frame, bool full)
{
    char key[sizeof(struct key_head) + 3 * LIMIT_STACK_NAME_BYTES];
    struct key_head head = {.kind = frame->kind, .line = frame->line};
    struct frame_entry *e;
    size_t len = sizeof head;
    head.name = put_key_part(key, &len, frame->name.len > 0 ? frame->name : slice_of("[unknown]"));
    head.object = put_key_part(key, &len, frame->object);
    head.file = put_key_part(key, &len, frame->file);
    memcpy(key, &head, sizeof head);
    HASH_FIND(hh, s->by_key, key, len, e);
    if (e)
        return e->id;
    return full ? STACKS_NO_FRAME : keep_frame(s, key, len);
}

uint32_t stacks_frame_of_rest(struct stacks *s)
{
    static const struct sample_frame rest = {.kind = FRAME_UNKNOWN, .name = {"…", sizeof "…" - 1}};
    return intern_frame(s, &rest, false);
}

uint32_t stacks_frame(struct stacks *s, const struct sample_frame *frame)
{
    bool full = s->n_frames >= LIMIT_STACK_FRAMES || s->text_bytes >= LIMIT_STACK_TEXT_BYTES;
    uint32_t id = intern_frame(s, frame, full);
    return id != STACKS_NO_FRAME ? id : stacks_frame_of_rest(s);
}

const struct sample_frame *stacks_frame_at(const struct stacks *s, uint32_t id)
{
    return id < s->n_frames ? &s->frames[id]->frame : NULL;
}

uint64_t stacks_frame_identity(const struct stacks *s, uint32_t id)
{
    return s->frames[id]->identity;
}

size_t stacks_frames(const struct stacks *s)
{
    return s->n_frames;
}

/* ---- the tree */

/* 0: there is no room for it. */
static uint32_t child_of(struct stacks *s, uint32_t parent, uint32_t frame)
{
    const struct step step = {parent, frame};
    struct node_entry *e;
    HASH_FIND(hh, s->by_step, &step, sizeof step, e);
    if (e)
        return e->index;
    return s->n_nodes < LIMIT_STACK_NODES ? new_node(s, step) : 0;
}

/* Of a stack that is too deep: the frames that stay at its root, and at its leaf. */
enum { ROOT_HALF = LIMIT_STACK_DEPTH / 2, LEAF_HALF = LIMIT_STACK_DEPTH - ROOT_HALF - 1 };

void stacks_add(struct stacks *s, const uint32_t *frames, size_t n, double weight)
{
    if (!(weight > 0) || !isfinite(weight))
        return;
    bool deep = n > LIMIT_STACK_DEPTH, full = false;
    struct stacks_node *node = &s->nodes[0]->node;
    node->total += weight;
    for (size_t i = 0, at = 0; i < n; i++) {
        uint32_t frame = frames[i];
        assert(frame < s->n_frames);
        if (deep && i == ROOT_HALF) {
            frame = stacks_frame_of_rest(s);
            i = n - LEAF_HALF - 1;
        }
        at = child_of(s, (uint32_t)at, frame);
        full = at == 0;
        if (full)
            break;
        node = &s->nodes[at]->node;
        node->total += weight;
    }
    node->self += weight;
    if (deep || full)
        s->shortened += weight;
}

uint32_t stacks_step(struct stacks *s, uint32_t index, uint32_t frame)
{
    assert(index < s->n_nodes && frame < s->n_frames);
    uint32_t child = child_of(s, index, frame);
    return child != 0 ? child : index;
}

void stacks_weigh(struct stacks *s, uint32_t index, double weight)
{
    assert(index < s->n_nodes);
    if (!(weight > 0) || !isfinite(weight))
        return;
    s->nodes[index]->node.self += weight;
    s->nodes[0]->node.total += weight;
    for (; index != 0; index = s->nodes[index]->node.parent)
        s->nodes[index]->node.total += weight;
}

double stacks_total(const struct stacks *s)
{
    return s->nodes[0]->node.total;
}

double stacks_shortened(const struct stacks *s)
{
    return s->shortened;
}

size_t stacks_nodes(const struct stacks *s)
{
    return s->n_nodes;
}

const struct stacks_node *stacks_node(const struct stacks *s, uint32_t index)
{
    assert(index < s->n_nodes);
    return &s->nodes[index]->node;
}

size_t stacks_path(const struct stacks *s, uint32_t index, uint32_t *frames)
{
    size_t n = 0, left;
    for (uint32_t at = index; at != 0; at = stacks_node(s, at)->parent)
        n++;
    left = n;
    for (uint32_t at = index; at != 0; at = stacks_node(s, at)->parent)
        frames[--left] = stacks_node(s, at)->frame;
    return n;
}

static int by_weight(const void *a, const void *b)
{
    const struct stacks_child *x = a, *y = b;
    if (x->node->total != y->node->total)
        return x->node->total < y->node->total ? 1 : -1;
    return x->index < y->index ? -1 : 1;
}

struct stacks_child *stacks_heavy_children(const struct stacks *s, uint32_t index, double least,
                                           size_t *n, struct stacks_rest *rest)
{
    const struct stacks_node *node;
    *n = 0;
    *rest = (struct stacks_rest){0};
    for (uint32_t at = stacks_node(s, index)->child; at != 0; at = node->next) {
        node = stacks_node(s, at);
        if (node->total >= least) {
            ++*n;
            continue;
        }
        rest->n++;
        rest->total += node->total;
    }
    if (*n == 0)
        return NULL;
    struct stacks_child *children = alloc_zero(*n, sizeof *children), *to = children;
    for (uint32_t at = stacks_node(s, index)->child; at != 0; at = node->next) {
        node = stacks_node(s, at);
        if (node->total >= least)
            *to++ = (struct stacks_child){at, node};
    }
    qsort(children, *n, sizeof *children, by_weight);
    return children;
}

struct walk {
    const struct stacks *s;
    double least;
    size_t depth;
    void (*each)(void *arg, const struct stacks_branch *branch);
    void *arg;
};

static void walk_below(const struct walk *w, uint32_t index, size_t depth)
{
    size_t n;
    struct stacks_rest rest;
    double least = depth < w->depth ? w->least : (double)INFINITY;
    struct stacks_child *children = stacks_heavy_children(w->s, index, least, &n, &rest);
    for (size_t i = 0; i < n; i++) {
        const struct stacks_node *node = children[i].node;
        w->each(w->arg, &(struct stacks_branch){children[i].index, depth, node->self, node->total});
        walk_below(w, children[i].index, depth + 1);
    }
    free(children);
    if (rest.n > 0)
        w->each(w->arg, &(struct stacks_branch){.depth = depth, .total = rest.total});
}

void stacks_walk(const struct stacks *s, double least, size_t depth,
                 void (*each)(void *arg, const struct stacks_branch *branch), void *arg)
{
    const struct walk w = {s, least, depth, each, arg};
    walk_below(&w, 0, 0);
}

/* ---- sums */

/* The tree in depth: open counts how often each frame stands on the way to the node. */
static void sum_nodes(const struct stacks *s, struct stacks_sum *sums, uint32_t *open)
{
    for (uint32_t at = s->nodes[0]->node.child; at != 0;) {
        const struct stacks_node *node = stacks_node(s, at);
        struct stacks_sum *sum = &sums[node->frame];
        sum->self += node->self;
        if (open[node->frame]++ == 0)
            sum->total += node->total;
        if (node->child != 0) {
            at = node->child;
            continue;
        }
        for (;; node = stacks_node(s, at)) {
            open[node->frame]--;
            at = node->next != 0 ? node->next : node->parent;
            if (node->next != 0 || at == 0)
                break;
        }
    }
}

static int by_self(const void *a, const void *b)
{
    const struct stacks_sum *x = a, *y = b;
    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    int order = slice_order(x->at->name, y->at->name);
    return order != 0 ? order : x->frame < y->frame ? -1 : 1;
}

struct stacks_sum *stacks_sums(const struct stacks *s, size_t *n)
{
    struct stacks_sum *sums = alloc_zero(s->n_frames + 1, sizeof *sums);
    uint32_t *open = alloc_zero(s->n_frames + 1, sizeof *open);
    for (uint32_t id = 0; id < s->n_frames; id++) {
        sums[id].frame = id;
        sums[id].at = stacks_frame_at(s, id);
    }
    sum_nodes(s, sums, open);
    free(open);
    size_t kept = 0; /* a frame that was only named stands in no stack */
    for (size_t i = 0; i < s->n_frames; i++)
        if (sums[i].total > 0)
            sums[kept++] = sums[i];
    if (kept > 0)
        qsort(sums, kept, sizeof *sums, by_self);
    *n = kept;
    return sums;
}

struct stacks *stacks_inverted(const struct stacks *s)
{
    uint32_t frames[LIMIT_STACK_DEPTH];
    struct stacks *out = stacks_new();
    for (uint32_t id = 0; id < s->n_frames; id++)
        intern_frame(out, stacks_frame_at(s, id), false);
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const struct stacks_node *node = stacks_node(s, i);
        if (node->self <= 0)
            continue;
        size_t n = 0;
        for (uint32_t at = i; at != 0; at = stacks_node(s, at)->parent)
            frames[n++] = stacks_node(s, at)->frame;
        stacks_add(out, frames, n, node->self);
    }
    out->shortened = fmin(out->shortened + s->shortened, stacks_total(out));
    return out;
}

/* ---- the heaviest nodes */

struct ranked {
    double total;
    uint32_t index;
};

/* A parent before its children: it weighs no less, and came first. */
static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return x->index < y->index ? -1 : 1;
}

/* By index, whether a node stays; owned by the caller. */
static bool *find_heaviest(const struct stacks *s, size_t most, double least)
{
    struct ranked *ranks = alloc_zero(s->n_nodes, sizeof *ranks);
    bool *stays = alloc_zero(s->n_nodes, sizeof *stays);
    for (uint32_t i = 0; i < s->n_nodes; i++)
        ranks[i] = (struct ranked){stacks_node(s, i)->total, i};
    qsort(ranks, s->n_nodes, sizeof *ranks, by_rank);
    for (size_t i = 0; i < s->n_nodes; i++)
        stays[ranks[i].index] = i <= most && ranks[i].total >= least;
    stays[0] = true;
    free(ranks);
    return stays;
}

struct stacks *stacks_pruned(const struct stacks *s, size_t most, double least, double *left_out)
{
    uint32_t path[LIMIT_STACK_DEPTH];
    bool *stays = find_heaviest(s, most, least);
    struct stacks *out = stacks_new();
    *left_out = 0;
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const double weight = stacks_node(s, i)->self;
        uint32_t last = i;
        while (!stays[last])
            last = stacks_node(s, last)->parent;
        size_t n = weight > 0 ? stacks_path(s, last, path) : 0;
        for (size_t k = 0; k < n; k++)
            path[k] = stacks_frame(out, stacks_frame_at(s, path[k]));
        if (weight > 0 && last != i) {
            path[n++] = stacks_frame_of_rest(out);
            *left_out += weight;
        }
        stacks_add(out, path, n, weight);
    }
    out->shortened = s->shortened;
    free(stays);
    return out;
}
