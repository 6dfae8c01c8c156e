/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is on a canvas, as a file: text, ANSI escape sequences, HTML or SVG. */
#ifndef BEAMTOP_UI_CAPTURE_H
#define BEAMTOP_UI_CAPTURE_H

#include <stdbool.h>

#include "beamtop/base/error.h"
#include "beamtop/ui/canvas.h"
#include "beamtop/ui/theme.h"

struct buf;

enum capture_format { CAPTURE_TEXT, CAPTURE_ANSI, CAPTURE_HTML, CAPTURE_SVG, CAPTURE_FORMATS };

extern const char *const capture_format_names[]; /* NULL-terminated, indexed by the enum */
int capture_format_of_path(const char *path);    /* by .txt .ansi .html .svg; -1: none of them */
const char *capture_suffix(enum capture_format format); /* "svg" */

struct capture_setup {
    enum capture_format format;
    const struct theme *theme;
    enum color_depth
        depth; /* ANSI: what sequences to use; HTML and SVG: DEPTH_NONE leaves colours out */
    const char *title; /* HTML, SVG; may be NULL */
};

/* The rectangle of the canvas, as one complete file. */
void capture_put(struct buf *out, const struct canvas *c, struct rect r,
                 const struct capture_setup *setup);

/* Writes a file whole or not at all (a temporary one beside it, then rename). Without `replace`
   an existing file is ERR_REFUSED. Private: only for its owner, whatever the umask. */
int capture_write(const char *path, const struct buf *content, bool replace, bool is_private,
                  struct error *err);

/* "DIR/beamtop-NODE-20260131-104207.svg": a name with the time and the subject; unsafe bytes of
 * `what` become '_'. */
void capture_name(struct buf *out, const char *dir, const char *what, int64_t wall_us,
                  enum capture_format format);

#endif
