/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of a run as text share. */
#ifndef BEAMTOP_OUTPUT_SPANS_TEXT_H
#define BEAMTOP_OUTPUT_SPANS_TEXT_H

#include "spans.h"

struct spans_page {
    struct spans_form *f;
    struct buf *out;
    size_t columns;
    bool ascii;
};

/* Safe texts of the form's arena. */
const char *spans_safe(const struct spans_page *p, struct slice text);
const char *spans_named(const struct spans_page *p, const struct span_process *process);
/* Texts with ", " between, folded at the width. */
struct spans_line {
    const struct spans_page *p;
    size_t first, indent; /* of the first line, of the others */
    size_t at;            /* 0: nothing is there yet */
};
void spans_put_item(struct spans_line *line, const char *text);
#define SPANS_PUT(line, ...) spans_put_item(line, arena_printf(&(line)->p->f->arena, __VA_ARGS__))

/* The spans of a root with their times, and bars. */
void spans_put_tree(const struct spans_page *p, uint32_t root);

#endif
