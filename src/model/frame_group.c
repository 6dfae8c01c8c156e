/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/frame_group.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"

enum { NAME_BYTES = 1024 };

struct frame_group {
    const char *name;
    const char *patterns[8];
    enum frame_kind kind; /* FRAME_KINDS: any */
};

/* By the names in erts/emulator/beam/copy.c, erl_gc.c. Most of erts_gc_* do not collect: they
 * build a map (erl_map.c) or are guards that may allocate; others of erts_copy_* copy bits and
 * characters. */
static const struct frame_group groups[] = {
    {"copies",
     {"copy_struct*", "copy_shared*", "copy_shallow*", "size_object*", "size_shared*",
      "erts_copy_one_frag*", "erts_copy_literals_gc*", "db_copy_element_from_ets*"},
     FRAME_RUNTIME},
    {"gc",
     {"erts_garbage_collect*", "global::garbage_collect*", "erts_gc_after_bif_call*"},
     FRAME_KINDS},
    {"nifs", {"*"}, FRAME_NIF},
};

const struct frame_group *frame_group_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        if (strcmp(groups[i].name, name) == 0)
            return &groups[i];
    return NULL;
}

bool frame_text_matches(struct slice text, const char *pattern)
{
    char copy[NAME_BYTES];
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.s, text.len);
    copy[text.len] = '\0';
    return strcmp(copy, pattern) == 0 || fnmatch(pattern, copy, 0) == 0;
}

bool frame_group_has(const void *arg, const struct sample_frame *f)
{
    const struct frame_group *g = arg;
    if (g->kind != FRAME_KINDS && g->kind != f->kind)
        return false;
    for (size_t k = 0; k < ARRAY_LEN(g->patterns) && g->patterns[k]; k++)
        if (frame_text_matches(f->name, g->patterns[k]))
            return true;
    return false;
}

/* By node: the last Erlang frame down to it, and that above the last one of the test; an id, or the
 * number of frames: none. */
struct way {
    uint32_t erlang, caller;
    bool inside;
};

static void add_behind(struct stacks *behind, const struct stacks *s, uint32_t index)
{
    uint32_t path[LIMIT_STACK_DEPTH];
    const size_t n = stacks_path(s, index, path);
    for (size_t i = 0; i < n; i++)
        path[i] = stacks_frame(behind, stacks_frame_at(s, path[i]));
    stacks_add(behind, path, n, stacks_node(s, index)->self);
}

double frames_weight(const struct stacks *s, frame_test *test, const void *arg, double *by_caller,
                     struct stacks *behind)
{
    const size_t n = stacks_nodes(s), frames = stacks_frames(s);
    bool *has = alloc_zero(frames + 1, sizeof *has);
    struct way *ways = alloc_zero(n, sizeof *ways);
    double sum = 0;
    for (uint32_t id = 0; id < frames; id++)
        has[id] = test(arg, stacks_frame_at(s, id));
    ways[0] = (struct way){(uint32_t)frames, (uint32_t)frames, false};
    for (uint32_t i = 1; i < n; i++) {
        const struct stacks_node *node = stacks_node(s, i);
        struct way *way = &ways[i];
        *way = ways[node->parent];
        if (has[node->frame]) {
            way->inside = true;
            way->caller = way->erlang;
        }
        if (stacks_frame_at(s, node->frame)->kind == FRAME_ERLANG)
            way->erlang = node->frame;
        if (!way->inside || !(node->self > 0))
            continue;
        sum += node->self;
        if (by_caller)
            by_caller[way->caller] += node->self;
        if (behind)
            add_behind(behind, s, i);
    }
    free(has);
    free(ways);
    return sum;
}
