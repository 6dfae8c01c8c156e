/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A flame graph: weighted stacks as boxes, each as wide as its share, with what it calls in the
 * next row, the heaviest at the left. What is narrower than a cell is one box "…" for each parent.
 * Texts are copied, so nothing of the stacks is needed between two flame_take(). The cursor and
 * the zoom stay on the same frames when the stacks grow or others take their place. */
#ifndef BEAMTOP_UI_WIDGETS_FLAME_H
#define BEAMTOP_UI_WIDGETS_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/arena.h"
#include "beamtop/model/stacks.h"
#include "table.h"

struct flame_box {
    size_t level;     /* 0: the root */
    size_t parent;    /* index; of the root: 0 */
    int from, to;     /* columns of the rectangle: [from, to) */
    double at, width; /* the same, exact */
    double self, total;
    uint32_t node;   /* of the stacks, while they are laid out */
    uint64_t frame;  /* stacks_frame_identity(); of the root and of "…": 0 */
    uint32_t merged; /* children of its parent that it stands for; 0: it is one frame */
    const struct flame_frame *text; /* NULL: of the root, and of "…" */
};

/* A copy of a frame that is shown. */
struct flame_frame {
    struct sample_frame frame;
    bool copied, matches;
};

#define FLAME_ZOOMS 32 /* that are remembered */

struct flame {
    bool root_below; /* the root is the bottom row */
    /* Frames from the root: to the cursor, or to the zoom where the cursor is above it, and on to
       where the cursor came from. */
    uint64_t *way;
    size_t n_way, cap_way;
    size_t zoom, at;           /* levels on that way: the box as wide as the pane, the cursor */
    size_t outer[FLAME_ZOOMS]; /* zooms before this one */
    int n_outer;
    size_t top; /* levels above those in sight */
    /* Laid out last: by level, then from left to right. */
    struct arena arena;
    struct flame_box *boxes;
    size_t n_boxes, cap_boxes;
    size_t cursor;  /* index of its box */
    double total;   /* of the root */
    double matched; /* weight of stacks with a frame that matches; NaN: nothing is looked for */
    bool gave_up;   /* the expression was too expensive for all frames */
    size_t visited; /* nodes looked at: a measure of the work */
    const char *unit;
};

void flame_init(struct flame *f);
void flame_clear(struct flame *f);

/* Lays the stacks out for so many columns. unit: of weights, plural; static. match may be NULL. */
void flame_take(struct flame *f, const struct stacks *s, const char *unit, int columns,
                struct regex *match);

/* Left and right: on the same level; up and down: as drawn. rows: of the rectangle. False: it was
 * not possible. */
bool flame_move(struct flame *f, enum move move, int rows);
/* The next (1) or previous (-1) box with a match, level by level; false: none in sight. */
bool flame_find(struct flame *f, int direction);
/* To the cursor's box; to the zoom before, false: none. Both take effect at the next flame_take().
 */
void flame_zoom(struct flame *f);
bool flame_zoom_out(struct flame *f);
/* The box there; -1: none, or "…". */
long flame_hit(const struct flame *f, struct rect r, int row, int column);
void flame_goto(struct flame *f, size_t box);
/* A function under the cursor; TARGET_NONE: it is none. */
struct view_link flame_link(const struct flame *f);

/* The last two rows describe the cursor's box. */
void flame_draw(struct flame *f, struct canvas *c, struct rect r, const struct table_look *look);

#endif
