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
const char *spans_time(const struct spans_page *p, int64_t ns); /* a dash below zero */
/* "≥50 ms", "≤50 ms" */
const char *spans_at_least(const struct spans_page *p, int64_t ns);
const char *spans_at_most(const struct spans_page *p, int64_t ns);
/* "wl:root/1", "call shop_cart add": as it stands, not safe yet. */
void spans_put_label(struct buf *out, const struct span *span);
/* "ok", "exit: boom" */
const char *spans_outcome(const struct spans_page *p, const struct span *span);
/* The text in so many columns: cut, or filled up with spaces where `fill`. */
void spans_put_fit(const struct spans_page *p, const char *text, size_t width, bool fill);
/* To the right. */
void spans_put_right(const struct spans_page *p, const char *text, size_t width);

/* Texts with ", " between, folded at the width. */
struct spans_line {
    const struct spans_page *p;
    size_t first, indent; /* of the first line, of the others */
    size_t at;            /* 0: nothing is there yet */
};
void spans_put_item(struct spans_line *line, const char *text);

/* The spans of a root with their times, and bars. */
void spans_put_tree(const struct spans_page *p, uint32_t root);

#endif
