/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A theme: colours and attributes for each style. A theme file holds lines
 *     color STYLE FG BG [ATTR…] [mono ATTR…]
 * where a colour is default, a name (black red green yellow blue magenta cyan white, each also
 * with bright-), 0 to 255, or #rrggbb (the nearest of the 256); an attribute is bold, dim,
 * underline, reverse, italic, blink. Attributes after `mono` replace the others where there is no
 * colour. A line
 *     background dark|light
 * says for which background the colours are. Where the terminal has another one, or does not say,
 * the theme's text and background stand in for the terminal's own. Built-in themes are such
 * files, embedded. */
#ifndef BEAMTOP_UI_THEME_H
#define BEAMTOP_UI_THEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/ui/diag.h"
#include "beamtop/ui/style.h"

/* clang-format off */
enum attribute {
    ATTRIBUTE_BOLD = 1, ATTRIBUTE_DIM = 2, ATTRIBUTE_UNDERLINE = 4, ATTRIBUTE_REVERSE = 8,
    ATTRIBUTE_ITALIC = 16, ATTRIBUTE_BLINK = 32,
};
/* clang-format on */

enum color_depth { DEPTH_NONE, DEPTH_8, DEPTH_16, DEPTH_256 };

#define COLOR_DEFAULT (-1)

/* Of a theme: what it is for. Of where it is shown: what is there; BACKGROUND_ANY is a page that is
   made to suit the theme. */
enum theme_background { BACKGROUND_ANY, BACKGROUND_DARK, BACKGROUND_LIGHT, BACKGROUND_UNKNOWN };

/* How a style looks at some depth: what a terminal or a capture shows. */
struct look {
    int16_t fg, bg;     /* COLOR_DEFAULT or an index of the xterm palette within the depth */
    uint8_t attributes; /* enum attribute */
};

struct theme_entry {
    int16_t fg, bg; /* COLOR_DEFAULT or 0..255 */
    uint8_t attributes, mono;
};

#define THEME_AUTO "auto"
#define THEME_AUTO_HELP "default, or light on a light terminal"

struct theme {
    char name[64];
    enum theme_background suits;        /* what it is for */
    enum theme_background terminal;     /* what is there; it outlives a change, too */
    struct theme_entry entries[STYLES]; /* of the theme in use */
    struct theme_entry
        overrides[STYLES]; /* of `color` lines outside themes: they outlive a change */
    bool overridden[STYLES];
    uint32_t generation; /* grows with every change */
};

void theme_init(struct theme *t); /* the built-in theme "default" */

/* Names of the built-in themes, NULL beyond the last. */
const char *theme_builtin(size_t index);
/* The one after it: of THEME_AUTO and the built-in ones, in a ring. Of another name, THEME_AUTO. */
const char *theme_next(const char *name);
/* Uses a built-in theme. ERR_NOT_FOUND lists the names. */
int theme_use(struct theme *t, const char *name, struct error *err);
/* Uses the text of a theme file; errors go to diags and the rest still counts. Styles that the
   text does not name look as NORMAL does in it. */
void theme_parse(struct theme *t, const char *name, const char *text, size_t len,
                 struct diags *diags);
/* One `color` command's words after `color`: an override. *bad_word is the index of the
 * wrong one. */
int theme_color(struct theme *t, char *const words[], size_t n, size_t *bad_word,
                struct error *err);

int theme_color_find(const char *name);         /* COLOR_DEFAULT, 0..255, or -2 */
const char *theme_color_name(size_t index);     /* named colours, for completion; NULL beyond */
const char *theme_attribute_name(size_t index); /* NULL beyond */

double theme_contrast(uint32_t a, uint32_t b); /* of two colours, 1 to 21, as WCAG counts it */
/* What a background of that colour is: BACKGROUND_UNKNOWN between dark and light ones. */
enum theme_background theme_background_of(uint32_t rgb);
void theme_set_terminal(struct theme *t, enum theme_background background);
struct look theme_look(const struct theme *t, enum style style, enum color_depth depth);
/* 0xRRGGBB of an index of the xterm palette. */
uint32_t theme_rgb(int index);
int theme_nearest(uint32_t rgb); /* 16..255 */

#endif
