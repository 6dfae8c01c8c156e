/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Thousands of events: how many lines each takes is remembered, and their text is written when they
 * come into sight. */

#include "beamtop/base/text.h"
#include "view_trace.h"

/* All that the number of lines of an event that is closed depends on, and who it is. */
static uint64_t shape_of(const struct event_look *l, const struct trace_event *e)
{
    const uint64_t parts[] = {
        e->id,
        (uint64_t)e->wall_us,
        e->pid.id,
        (uint64_t)l->columns,
        (uint64_t)l->text_at,
        (uint64_t)e->outcome,
        e->result.bytes.len,
        e->name.len,
        l->ended,
        l->page->ascii,
        l->syntax,
    };
    return text_identity((const char *)parts, sizeof parts);
}

void event_announce(const struct event_look *l, const struct trace_event *e,
                    struct event_height *heights)
{
    struct event_height *known = &heights[e->id % TRACE_HEIGHTS];
    uint64_t shape = shape_of(l, e);
    size_t before = l->page->n_lines;
    if (e->id == 0 || known->shape != shape) {
        event_put(l, e, NULL);
        *known = (struct event_height){e->id ? shape : 0, l->page->n_lines - before};
        return;
    }
    for (size_t i = 0; i < known->lines; i++) {
        struct view_line *line = page_line(l->page);
        line->announced = true;
        if (i == 0)
            event_link(l, line, e, 0);
    }
}

struct announced {
    struct event_look look;
    const struct model *model;
};

/* The events may be of a trace that is not shown any more: then there is nothing to write. */
static void fill_announced(struct view_page *page, size_t line)
{
    const struct announced *a = page->fill_arg;
    size_t first = line, n = 1, before = page->n_lines;
    while (first > 0 && page->lines[first].link.kind == TARGET_NONE)
        first--;
    while (first + n < before && page->lines[first + n].announced &&
           page->lines[first + n].link.kind == TARGET_NONE)
        n++;
    const struct trace_event *e = model_trace(a->model) == a->look.log
                                      ? trace_log_find(a->look.log, page->lines[first].link.id)
                                      : NULL;
    if (e)
        event_put(&a->look, e, NULL);
    for (size_t i = 0; i < n; i++) {
        struct view_link link = page->lines[first + i].link;
        page->lines[first + i] = (struct view_line){.link = link};
        if (before + i < page->n_lines)
            page->lines[first + i] = page->lines[before + i];
    }
    page->n_lines = before;
}

void event_fill_later(const struct event_look *l, const struct model *model)
{
    struct announced *a = arena_alloc(&l->page->arena, sizeof *a);
    *a = (struct announced){*l, model};
    l->page->fill = fill_announced;
    l->page->fill_arg = a;
}
