/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A grid of cells: the only thing that is drawn to. The terminal, captures and golden tests all
 * read it. Text is made safe here, once: no control byte can enter
 * a cell. */
#ifndef BEAMTOP_UI_CANVAS_H
#define BEAMTOP_UI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/attr.h"
#include "beamtop/ui/style.h"

#define CANVAS_CELL_BYTES 16 /* one grapheme cluster; a longer one is shown as its replacement */

struct canvas_cell {
    char text[CANVAS_CELL_BYTES]; /* UTF-8, NUL-terminated; "" in the second half of a wide one */
    uint8_t width;                /* 1, 2, or 0 for the second half */
    uint8_t style;                /* enum style */
};

struct canvas {
    struct canvas_cell *cells; /* rows * columns */
    int rows, columns;
    bool ascii; /* box drawing, sparklines and text keep to ASCII */
};

struct rect {
    int row, column, rows, columns;
};

/* Sizes are clamped to LIMIT_CANVAS_*. */
void canvas_init(struct canvas *c, int rows, int columns, bool ascii);
void canvas_clear(struct canvas *c);                         /* frees */
void canvas_resize(struct canvas *c, int rows, int columns); /* and erases */
void canvas_erase(struct canvas *c, enum style style);

/*
 * Puts text within the rectangle's row `row` (relative) from its column `column`, clipped; returns
 * the columns used. Unsafe bytes become a replacement; a wide character that would be cut in half
 * becomes a space. A negative column clips on the left
 * (horizontal scroll). */
int canvas_put(struct canvas *c, struct rect r, int row, int column, enum style style,
               const char *s, size_t len);
int canvas_puts(struct canvas *c, struct rect r, int row, int column, enum style style,
                const char *s);
int canvas_printf(struct canvas *c, struct rect r, int row, int column, enum style style,
                  const char *fmt, ...) ATTR_PRINTF(6, 7);
/* A text over as many rows as it needs, broken at blanks; returns how many it took. */
int canvas_put_wrapped(struct canvas *c, struct rect r, int row, int column, enum style style,
                       const char *s);
struct rect canvas_clip(const struct canvas *c, struct rect r); /* the part on the canvas */
void canvas_fill(struct canvas *c, struct rect r, enum style style, char ch);
/* Gives `columns` cells the style, keeping their text: cursor rows. */
void canvas_restyle(struct canvas *c, struct rect r, int row, int column, int columns,
                    enum style style);
/* A horizontal rule with a title set into it, as "── title ─────". */
void canvas_rule(struct canvas *c, struct rect r, int row, enum style style, const char *title);
const struct canvas_cell *canvas_at(const struct canvas *c, int row, int column);

#endif
