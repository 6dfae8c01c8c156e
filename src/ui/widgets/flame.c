/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "page.h"

#define ABOUT_ROWS 2 /* about the cursor's box; in low panes 1 */

void flame_init(struct flame *f)
{
    *f = (struct flame){.matched = NAN};
    arena_init(&f->arena);
}

void flame_clear(struct flame *f)
{
    free(f->way);
    free(f->boxes);
    arena_clear(&f->arena);
    flame_init(f);
}

/* ---- the way to the cursor */

static void set_way(struct flame *f, size_t level, uint64_t frame)
{
    if (level >= f->cap_way) {
        f->cap_way = 2 * level + 16;
        f->way = alloc_resize(f->way, f->cap_way, sizeof *f->way);
    }
    f->way[level] = frame;
}

/* The child with that frame; 0: none. */
static uint32_t child_with(const struct flame *f, const struct stacks *s, uint32_t node,
                           size_t level)
{
    uint32_t at = stacks_node(s, node)->child;
    while (at != 0 && stacks_frame_identity(s, stacks_node(s, at)->frame) != f->way[level])
        at = stacks_node(s, at)->next;
    return at;
}

/* Cuts the remembered way where these stacks do not have it. Returns its nodes, the root first. */
static uint32_t *nodes_on_way(struct flame *f, const struct stacks *s)
{
    uint32_t *nodes = alloc_zero(f->n_way + 1, sizeof *nodes);
    for (size_t i = 0; i < f->n_way; i++) {
        nodes[i + 1] = child_with(f, s, nodes[i], i);
        if (nodes[i + 1] == 0)
            f->n_way = i;
    }
    f->zoom = f->zoom < f->n_way ? f->zoom : f->n_way;
    f->at = f->at < f->n_way ? f->at : f->n_way;
    return nodes;
}

void flame_goto(struct flame *f, size_t box)
{
    const struct flame_box *b = &f->boxes[box];
    bool same = b->level <= f->n_way; /* the way may go on from here */
    f->cursor = box;
    f->at = b->level;
    for (; b->level > 0; b = &f->boxes[b->parent]) {
        same = same && f->way[b->level - 1] == b->frame;
        set_way(f, b->level - 1, b->frame);
    }
    if (!same)
        f->n_way = f->at;
}

/* ---- layout */

struct layout {
    struct flame *f;
    const struct stacks *s;
    struct flame_frame *frames; /* by id */
    const uint32_t *way;        /* nodes */
    double scale;               /* columns of a weight of 1 */
    struct regex *match;
};

static bool frame_matches(const struct layout *l, const struct sample_frame *frame)
{
    return l->match && regex_match(l->match, frame->name.s, frame->name.len);
}

static const struct flame_frame *text_of(const struct layout *l, uint32_t id)
{
    struct flame_frame *text = &l->frames[id];
    if (!text->copied) {
        text->frame = *stacks_frame_at(l->s, id);
        text->frame.name = slice_keep(&l->f->arena, text->frame.name);
        text->frame.object = slice_keep(&l->f->arena, text->frame.object);
        text->frame.file = slice_keep(&l->f->arena, text->frame.file);
        text->copied = true;
    }
    return text;
}

/* Nothing where it would have no cell. */
static void add_box(const struct layout *l, struct flame_box box)
{
    struct flame *f = l->f;
    box.from = (int)lround(box.at);
    box.to = (int)lround(box.at + box.width);
    if (box.to <= box.from)
        return;
    if (f->n_boxes == f->cap_boxes) {
        f->cap_boxes = f->cap_boxes > 0 ? 2 * f->cap_boxes : 64;
        f->boxes = alloc_resize(f->boxes, f->cap_boxes, sizeof *f->boxes);
    }
    f->boxes[f->n_boxes++] = box;
}

static void add_node(const struct layout *l, size_t parent, uint32_t index, double at, double width)
{
    const struct stacks_node *node = stacks_node(l->s, index);
    add_box(l, (struct flame_box){.level = l->f->boxes[parent].level + 1,
                                  .parent = parent,
                                  .at = at,
                                  .width = width,
                                  .self = node->self,
                                  .total = node->total,
                                  .node = index,
                                  .frame = stacks_frame_identity(l->s, node->frame),
                                  .text = text_of(l, node->frame)});
}

static void add_children(const struct layout *l, size_t parent)
{
    struct flame_box box = l->f->boxes[parent];
    size_t n;
    struct stacks_rest rest;
    struct stacks_child *wide =
        stacks_heavy_children(l->s, box.node, (1 - 1e-9) / l->scale, &n, &rest);
    double at = box.at;
    for (size_t i = 0; i < n; i++) {
        double width = wide[i].node->total * l->scale;
        add_node(l, parent, wide[i].index, at, width);
        at += width;
    }
    free(wide);
    l->f->visited += n + rest.n;
    if (rest.n > 0)
        add_box(l, (struct flame_box){.level = box.level + 1,
                                      .parent = parent,
                                      .at = at,
                                      .width = rest.total * l->scale,
                                      .total = rest.total,
                                      .merged = rest.n});
}

/* Puts the cursor on its box, or on the deepest box of the way that is wide enough. */
static void find_flame_cursor(struct flame *f)
{
    size_t at = 0;
    for (size_t i = 1; i < f->n_boxes && f->boxes[i].level <= f->at; i++)
        if (f->boxes[i].parent == at && f->boxes[i].level == f->boxes[at].level + 1 &&
            f->boxes[i].merged == 0 && f->boxes[i].frame == f->way[f->boxes[at].level])
            at = i;
    f->cursor = at;
}

/* What matches; and the weight of all stacks with such a frame, each counted once. */
static void match_all(const struct layout *l)
{
    struct flame *f = l->f;
    f->matched = NAN;
    if (!l->match)
        return;
    f->matched = 0;
    for (uint32_t id = 0; id < stacks_frames(l->s); id++)
        l->frames[id].matches = frame_matches(l, stacks_frame_at(l->s, id));
    bool *within = alloc_zero(stacks_nodes(l->s), sizeof *within);
    for (uint32_t i = 1; i < stacks_nodes(l->s); i++) { /* parents come before their children */
        const struct stacks_node *node = stacks_node(l->s, i);
        within[i] = within[node->parent] || l->frames[node->frame].matches;
        if (within[i] && !within[node->parent])
            f->matched += node->total;
    }
    free(within);
    f->gave_up = regex_is_spent(l->match);
}

void flame_take(struct flame *f, const struct stacks *s, const char *unit, int columns,
                struct regex *match)
{
    uint32_t *way = nodes_on_way(f, s);
    double wide = columns > 1 ? columns : 1, zoomed = stacks_node(s, way[f->zoom])->total;
    arena_reset(&f->arena);
    f->n_boxes = f->visited = 0;
    f->unit = unit;
    f->total = stacks_total(s);
    struct layout l = {.f = f, .s = s, .way = way, .match = match};
    l.frames = arena_alloc(&f->arena, (stacks_frames(s) + 1) * sizeof *l.frames);
    l.scale = zoomed > 0 ? wide / zoomed : 1;
    match_all(&l);
    add_box(&l,
            (struct flame_box){.width = wide, .self = stacks_node(s, 0)->self, .total = f->total});
    for (size_t i = 0; i < f->n_boxes; i++) {
        if (f->boxes[i].level < f->zoom)
            add_node(&l, i, way[f->boxes[i].level + 1], 0, wide);
        else if (f->boxes[i].merged == 0)
            add_children(&l, i);
    }
    free(way);
    find_flame_cursor(f);
}

/* ---- moving */

/* The first box of a level, or behind the last one. */
static size_t first_of(const struct flame *f, size_t level)
{
    size_t low = 0, high = f->n_boxes;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->boxes[middle].level < level)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool to_sibling(struct flame *f, int direction)
{
    size_t i = f->cursor;
    do {
        if (direction < 0 && i == 0)
            return false;
        i = direction < 0 ? i - 1 : i + 1;
        if (i >= f->n_boxes || f->boxes[i].level != f->boxes[f->cursor].level)
            return false;
    } while (f->boxes[i].merged > 0);
    flame_goto(f, i);
    return true;
}

static bool to_parent(struct flame *f)
{
    if (f->boxes[f->cursor].level == 0)
        return false;
    flame_goto(f, f->boxes[f->cursor].parent);
    return true;
}

/* The child that the cursor came from, else the heaviest. */
static bool to_child(struct flame *f)
{
    size_t level = f->boxes[f->cursor].level, found = 0;
    for (size_t i = first_of(f, level + 1); i < f->n_boxes && f->boxes[i].level == level + 1; i++) {
        const struct flame_box *b = &f->boxes[i];
        if (b->parent != f->cursor || b->merged > 0)
            continue;
        if (found == 0 || (level < f->n_way && b->frame == f->way[level]))
            found = i;
    }
    if (found == 0)
        return false;
    flame_goto(f, found);
    return true;
}

static bool step_level(struct flame *f, bool down)
{
    return down != f->root_below ? to_child(f) : to_parent(f);
}

static int about_rows(int rows)
{
    return rows < 8 ? 1 : ABOUT_ROWS;
}

static int graph_rows(int rows)
{
    int graph = rows - about_rows(rows);
    return graph > 1 ? graph : 1;
}

bool flame_move(struct flame *f, enum move move, int rows)
{
    bool moved = false;
    if (f->n_boxes == 0)
        return false;
    switch (move) {
    case MOVE_UP:
    case MOVE_DOWN:
        return step_level(f, move == MOVE_DOWN);
    case MOVE_PAGE_UP:
    case MOVE_PAGE_DOWN:
        for (int i = 0; i < graph_rows(rows) && step_level(f, move == MOVE_PAGE_DOWN); i++)
            moved = true;
        return moved;
    case MOVE_LEFT:
    case MOVE_RIGHT:
        return to_sibling(f, move == MOVE_LEFT ? -1 : 1);
    case MOVE_FIRST:
        while (f->boxes[f->cursor].level > f->zoom && to_parent(f))
            moved = true;
        return moved;
    case MOVE_LAST:
        while (to_child(f))
            moved = true;
        return moved;
    }
    return false;
}

bool flame_find(struct flame *f, int direction)
{
    size_t n = f->n_boxes;
    for (size_t i = 1; i <= n; i++) {
        size_t at = direction > 0 ? (f->cursor + i) % n : (f->cursor + n - i % n) % n;
        if (f->boxes[at].text && f->boxes[at].text->matches) {
            flame_goto(f, at);
            return true;
        }
    }
    return false;
}

static void show_zoom(struct flame *f)
{
    f->top = f->zoom > 0 ? f->zoom - 1 : 0; /* with its caller */
}

void flame_zoom(struct flame *f)
{
    size_t level = f->n_boxes > 0 ? f->boxes[f->cursor].level : 0;
    if (level == f->zoom)
        return;
    while (f->n_outer > 0 && f->outer[f->n_outer - 1] >= level)
        f->n_outer--;
    if (f->zoom < level && f->n_outer < FLAME_ZOOMS)
        f->outer[f->n_outer++] = f->zoom;
    f->zoom = f->at = level;
    show_zoom(f);
}

bool flame_zoom_out(struct flame *f)
{
    if (f->zoom == 0)
        return false;
    while (f->n_outer > 0 && f->outer[f->n_outer - 1] >= f->zoom)
        f->n_outer--;
    f->at = f->zoom;
    f->zoom = f->n_outer > 0 ? f->outer[--f->n_outer] : 0;
    show_zoom(f);
    return true;
}

/* "call shop_cart": a span of a process. */
static bool is_span(struct slice name)
{
    return memchr(name.s, ' ', name.len) && !memchr(name.s, ':', name.len);
}

struct view_link flame_link(const struct flame *f)
{
    struct view_link link = {.kind = TARGET_NONE};
    const struct flame_frame *text = f->n_boxes > 0 ? f->boxes[f->cursor].text : NULL;
    if (text && frame_is_function(text->frame.kind) && !is_span(text->frame.name))
        link_name(&link, TARGET_FUNCTION, text->frame.name);
    return link;
}

/* ---- drawing */

static void scroll_boxes(struct flame *f, int rows)
{
    size_t room = (size_t)graph_rows(rows), level = f->boxes[f->cursor].level;
    size_t levels = f->boxes[f->n_boxes - 1].level + 1;
    if (f->top + room > levels)
        f->top = levels > room ? levels - room : 0;
    if (level < f->top)
        f->top = level;
    if (level >= f->top + room)
        f->top = level - room + 1;
}

/* The row of a level in sight: counted from the other end where the root is below. */
static int row_of_level(const struct flame *f, size_t level, int rows)
{
    int row = (int)(level - f->top);
    return f->root_below ? graph_rows(rows) - 1 - row : row;
}

static enum style style_of(const struct flame *f, size_t box, const struct table_look *look)
{
    static const enum style styles[FRAME_KINDS] = {
        [FRAME_ERLANG] = STYLE_FLAME_ERLANG, [FRAME_SHARED] = STYLE_FLAME_RUNTIME,
        [FRAME_BIF] = STYLE_FLAME_BIF,       [FRAME_RUNTIME] = STYLE_FLAME_RUNTIME,
        [FRAME_NIF] = STYLE_FLAME_NIF,       [FRAME_LIBC] = STYLE_FLAME_LIBC,
        [FRAME_UNKNOWN] = STYLE_FLAME_OTHER,
    };
    const struct flame_frame *text = f->boxes[box].text;
    if (box == f->cursor)
        return look->focused ? STYLE_CURSOR : STYLE_CURSOR_IDLE;
    if (text && text->matches)
        return STYLE_MATCH;
    return text && f->boxes[box].level >= f->zoom ? styles[text->frame.kind] : STYLE_FLAME_OTHER;
}

/* Cut to the room, with a sign that it is. */
static int cut_text(struct canvas *c, struct rect r, int row, int at, int room, enum style style,
                    struct slice text)
{
    size_t width;
    size_t bytes = text_prefix(text.s, text.len, room > 0 ? (size_t)room : 0, &width);
    if (bytes == text.len)
        return canvas_put(c, r, row, at, style, text.s, text.len);
    bytes = text_prefix(text.s, text.len, room > 1 ? (size_t)room - 1 : 0, &width);
    canvas_put(c, r, row, at, style, text.s, bytes);
    if (room > 0)
        canvas_puts(c, r, row, at + (int)width, style, "…");
    return room > 0 ? (int)width + 1 : 0;
}

static struct slice box_name(const struct flame_box *b, char *out, size_t size)
{
    if (b->text)
        return b->text->frame.name;
    if (b->merged > 0)
        snprintf(out, size, "… %u", b->merged);
    else
        snprintf(out, size, "all");
    return slice_of(out);
}

static void draw_box(const struct flame *f, size_t box, struct canvas *c, struct rect r,
                     const struct table_look *look)
{
    const struct flame_box *b = &f->boxes[box];
    enum style style = style_of(f, box, look);
    const char *edge = c->ascii ? "|" : "│";
    int row = row_of_level(f, b->level, r.rows), width = b->to - b->from;
    char text[32];
    struct slice name = box_name(b, text, sizeof text);
    canvas_fill(c, (struct rect){r.row + row, r.column + b->from, 1, width}, style, ' ');
    canvas_puts(c, r, row, b->from, style, width == 1 && b->merged > 0 ? "…" : edge);
    if (width > 2)
        cut_text(c, r, row, b->from + 1, width - 1, style, name);
    bool last = box + 1 == f->n_boxes || f->boxes[box + 1].level != b->level ||
                f->boxes[box + 1].from != b->to;
    if (last) /* nothing begins where it ends */
        canvas_puts(c, r, row, b->to, STYLE_DIM, edge);
}

/* "matched 41.2%" at the right end; returns the columns that are left. */
static int put_matched(const struct flame *f, struct canvas *c, struct rect r, int row)
{
    char share[32], text[64];
    if (isnan(f->matched) || !(f->total > 0))
        return r.columns;
    int width = snprintf(text, sizeof text, "matched %s%s", f->gave_up ? "at least " : "",
                         text_percent(share, sizeof share, f->matched / f->total));
    canvas_puts(c, r, row, r.columns - width - 1, STYLE_MATCH, text);
    return r.columns - width - 2;
}

static void put_weights(const struct flame *f, char *out, size_t size)
{
    const struct flame_box *b = &f->boxes[f->cursor], *zoom = b;
    char self[32], self_share[32], total[32], share[32], of_zoom[64] = "", n[32];
    while (zoom->level > f->zoom)
        zoom = &f->boxes[zoom->parent];
    if (f->zoom > 0 && zoom->level == f->zoom)
        snprintf(of_zoom, sizeof of_zoom, ", %s of the zoom",
                 text_percent(n, sizeof n, b->total / zoom->total));
    snprintf(out, size, "%s: self %s (%s), total %s (%s%s)", f->unit,
             text_count(self, sizeof self, b->self),
             text_percent(self_share, sizeof self_share, b->self / f->total),
             text_count(total, sizeof total, b->total),
             text_percent(share, sizeof share, b->total / f->total), of_zoom);
}

/* The whole name and where it is; what it weighs. */
static void draw_about(const struct flame *f, struct canvas *c, struct rect r)
{
    const struct flame_box *b = &f->boxes[f->cursor];
    int row = graph_rows(r.rows), rows = about_rows(r.rows);
    char weights[160], place[FRAME_PLACE_BYTES] = "", text[32];
    put_weights(f, weights, sizeof weights);
    if (b->text)
        frame_place(place, sizeof place, &b->text->frame);
    int right = rows == 1 ? (int)strlen(weights) + 2 : text_columns(place) + 2;
    int used = cut_text(c, r, row, 1, r.columns - 2 - (right < r.columns / 2 ? right : 0),
                        STYLE_NAME, box_name(b, text, sizeof text));
    if (rows == 1) {
        canvas_puts(c, r, row, used + 3, STYLE_NORMAL, weights);
        return;
    }
    canvas_puts(c, r, row, used + 3, STYLE_DIM, place);
    cut_text(c, r, row + 1, 1, put_matched(f, c, r, row + 1) - 2, STYLE_NORMAL, slice_of(weights));
}

void flame_draw(struct flame *f, struct canvas *c, struct rect r, const struct table_look *look)
{
    if (r.rows <= 0 || r.columns <= 0 || f->n_boxes == 0)
        return;
    scroll_boxes(f, r.rows);
    size_t end = f->top + (size_t)graph_rows(r.rows);
    for (size_t i = first_of(f, f->top); i < f->n_boxes && f->boxes[i].level < end; i++)
        draw_box(f, i, c, r, look);
    if (r.rows > 1)
        draw_about(f, c, r);
}

long flame_hit(const struct flame *f, struct rect r, int row, int column)
{
    size_t end = f->top + (size_t)graph_rows(r.rows);
    for (size_t i = first_of(f, f->top); i < f->n_boxes && f->boxes[i].level < end; i++) {
        const struct flame_box *b = &f->boxes[i];
        if (row - r.row == row_of_level(f, b->level, r.rows) && column - r.column >= b->from &&
            column - r.column < b->to)
            return b->merged > 0 ? -1 : (long)i;
    }
    return -1;
}
