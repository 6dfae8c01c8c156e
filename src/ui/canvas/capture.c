/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/capture.h"

#include <string.h>
#include <strings.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"

#define CELL_WIDTH 8.4 /* SVG: a cell in pixels, at a font size of 14 */
#define CELL_HEIGHT 18
#define FONT_SIZE 14
#define PAGE_BG 0x14171bu /* what `default` is in HTML and SVG of a theme for dark backgrounds */
#define PAGE_FG 0xd6d9dcu

const char *const capture_format_names[] = {[CAPTURE_TEXT] = "text",
                                            [CAPTURE_ANSI] = "ansi",
                                            [CAPTURE_HTML] = "html",
                                            [CAPTURE_SVG] = "svg",
                                            [CAPTURE_FORMATS] = NULL};

static const char *const suffixes[CAPTURE_FORMATS] = {"txt", "ansi", "html", "svg"};

int capture_format_of_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    for (int i = 0; dot && i < CAPTURE_FORMATS; i++)
        if (strcasecmp(suffixes[i], dot + 1) == 0)
            return i;
    return -1;
}

const char *capture_suffix(enum capture_format format)
{
    return suffixes[format];
}

/* ---- runs: cells of one row that look alike */

struct run {
    int column, columns; /* on the canvas */
    enum style style;
};

/* The next run of the row that begins at `column`; columns 0 at the end. */
static struct run next_run(const struct canvas *c, int row, int column, int end)
{
    struct run run = {column, 0, STYLE_NORMAL};
    if (column >= end)
        return run;
    run.style = (enum style)canvas_at(c, row, column)->style;
    while (column + run.columns < end &&
           canvas_at(c, row, column + run.columns)->style == run.style)
        run.columns++;
    return run;
}

static void put_cells(struct buf *out, const struct canvas *c, int row, struct run run)
{
    for (int i = run.column; i < run.column + run.columns; i++)
        buf_puts(out, canvas_at(c, row, i)->text);
}

/* In SVG it is the same. */
static void put_cells_html(struct buf *out, const struct canvas *c, int row, struct run run)
{
    for (int i = run.column; i < run.column + run.columns; i++) {
        const char *text = canvas_at(c, row, i)->text;
        text_put_html(out, text, strlen(text));
    }
}

/* The title has a node's name, which may be anything. */
static void put_capture_title(struct buf *out, const struct capture_setup *s)
{
    const char *title = s->title ? s->title : "beamtop";
    text_put_html(out, title, strlen(title));
}

/* ---- text and ANSI */

static void put_plain_text(struct buf *out, const struct canvas *c, struct rect r)
{
    for (int row = r.row; row < r.row + r.rows; row++) {
        size_t start = out->len;
        put_cells(out, c, row, (struct run){r.column, r.columns, STYLE_NORMAL});
        while (out->len > start && out->data[out->len - 1] == ' ')
            out->len--;
        buf_put_u8(out, '\n');
    }
}

static void put_sgr_color(struct buf *out, int color, bool back)
{
    if (color == COLOR_DEFAULT)
        return;
    if (color < 8)
        buf_printf(out, ";%d", (back ? 40 : 30) + color);
    else if (color < 16)
        buf_printf(out, ";%d", (back ? 100 : 90) + color - 8);
    else
        buf_printf(out, ";%d;5;%d", back ? 48 : 38, color);
}

static void put_sgr(struct buf *out, struct look look)
{
    static const struct {
        uint8_t bit, code;
    } codes[] = {{ATTRIBUTE_BOLD, 1},      {ATTRIBUTE_DIM, 2},   {ATTRIBUTE_ITALIC, 3},
                 {ATTRIBUTE_UNDERLINE, 4}, {ATTRIBUTE_BLINK, 5}, {ATTRIBUTE_REVERSE, 7}};
    buf_puts(out, "\x1b[0");
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (look.attributes & codes[i].bit)
            buf_printf(out, ";%d", codes[i].code);
    put_sgr_color(out, look.fg, false);
    put_sgr_color(out, look.bg, true);
    buf_puts(out, "m");
}

static void put_ansi(struct buf *out, const struct canvas *c, struct rect r,
                     const struct capture_setup *setup)
{
    int end = r.column + r.columns;
    for (int row = r.row; row < r.row + r.rows; row++) {
        for (int at = r.column; at < end;) {
            struct run run = next_run(c, row, at, end);
            put_sgr(out, theme_look(setup->theme, run.style, setup->depth));
            put_cells(out, c, row, run);
            at += run.columns;
        }
        buf_puts(out, "\x1b[0m\n");
    }
}

/* ---- HTML and SVG */

struct paint {
    uint32_t fg, bg;
    uint8_t attributes;
};

/* A theme that writes dark text on `default` is for light paper, also where it does not say so. */
static bool is_light(const struct theme *t)
{
    if (t->suits != BACKGROUND_ANY)
        return t->suits == BACKGROUND_LIGHT;
    struct look cursor = theme_look(t, STYLE_CURSOR_IDLE, DEPTH_256);
    uint32_t rgb = cursor.bg == COLOR_DEFAULT ? 0 : theme_rgb(cursor.bg);
    return (rgb >> 8 & 0xff) > 0x90;
}

static struct paint page_paint(const struct capture_setup *s)
{
    bool light = is_light(s->theme);
    struct look normal = theme_look(s->theme, STYLE_NORMAL, s->depth);
    return (struct paint){
        normal.fg == COLOR_DEFAULT ? (light ? 0x1b1f24u : PAGE_FG) : theme_rgb(normal.fg),
        normal.bg == COLOR_DEFAULT ? (light ? 0xffffffu : PAGE_BG) : theme_rgb(normal.bg), 0};
}

static struct paint paint_of(const struct capture_setup *s, enum style style)
{
    struct look look = theme_look(s->theme, style, s->depth);
    struct paint p = page_paint(s);
    if (look.fg != COLOR_DEFAULT)
        p.fg = theme_rgb(look.fg);
    if (look.bg != COLOR_DEFAULT)
        p.bg = theme_rgb(look.bg);
    if (look.attributes & ATTRIBUTE_REVERSE) {
        uint32_t fg = p.fg;
        p.fg = p.bg;
        p.bg = fg;
    }
    p.attributes = look.attributes;
    return p;
}

static void put_classes(struct buf *out, const struct capture_setup *s, const char *color)
{
    for (int i = 0; i < STYLES; i++) {
        struct paint p = paint_of(s, (enum style)i);
        buf_printf(out, ".%s{%s:#%06x", style_name((enum style)i), color, p.fg);
        if (strcmp(color, "color") == 0 && p.bg != page_paint(s).bg)
            buf_printf(out, ";background:#%06x", p.bg);
        if (p.attributes & ATTRIBUTE_BOLD)
            buf_puts(out, ";font-weight:bold");
        if (p.attributes & ATTRIBUTE_ITALIC)
            buf_puts(out, ";font-style:italic");
        if (p.attributes & ATTRIBUTE_UNDERLINE)
            buf_puts(out, ";text-decoration:underline");
        if (p.attributes & ATTRIBUTE_DIM)
            buf_puts(out, ";opacity:.7");
        buf_puts(out, "}\n");
    }
}

static void put_html(struct buf *out, const struct canvas *c, struct rect r,
                     const struct capture_setup *s)
{
    struct paint page = page_paint(s);
    int end = r.column + r.columns;
    buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    put_capture_title(out, s);
    buf_printf(out, "</title>\n<style>\nbody{margin:0;background:#%06x}\n", page.bg);
    buf_printf(out, "pre{margin:1em;color:#%06x;font:14px/18px monospace}\n", page.fg);
    put_classes(out, s, "color");
    buf_puts(out, "</style>\n</head>\n<body>\n<pre>\n");
    for (int row = r.row; row < r.row + r.rows; row++) {
        for (int at = r.column; at < end;) {
            struct run run = next_run(c, row, at, end);
            if (run.style != STYLE_NORMAL)
                buf_printf(out, "<span class=\"%s\">", style_name(run.style));
            put_cells_html(out, c, row, run);
            if (run.style != STYLE_NORMAL)
                buf_puts(out, "</span>");
            at += run.columns;
        }
        buf_puts(out, "\n");
    }
    buf_puts(out, "</pre>\n</body>\n</html>\n");
}

static bool is_empty(const struct canvas *c, int row, struct run run)
{
    for (int i = run.column; i < run.column + run.columns; i++)
        if (strcmp(canvas_at(c, row, i)->text, " ") != 0)
            return false;
    return true;
}

/* Places a run and stretches it to its cells, whatever the viewer's font is. */
static void put_svg_run(struct buf *out, const struct canvas *c, struct rect r, int row,
                        struct run run, const struct capture_setup *s)
{
    struct paint p = paint_of(s, run.style);
    double x = (run.column - r.column) * CELL_WIDTH;
    int y = (row - r.row) * CELL_HEIGHT;
    if (p.bg != page_paint(s).bg)
        buf_printf(out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#%06x\"/>\n",
                   x, y, run.columns * CELL_WIDTH, CELL_HEIGHT, p.bg);
    if (is_empty(c, row, run) && !(p.attributes & ATTRIBUTE_UNDERLINE))
        return;
    buf_printf(out,
               "<text class=\"%s\" x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" "
               "lengthAdjust=\"spacingAndGlyphs\">",
               style_name(run.style), x, y + CELL_HEIGHT - 5, run.columns * CELL_WIDTH);
    put_cells_html(out, c, row, run);
    buf_puts(out, "</text>\n");
}

static void put_svg(struct buf *out, const struct canvas *c, struct rect r,
                    const struct capture_setup *s)
{
    struct paint page = page_paint(s);
    double width = r.columns * CELL_WIDTH;
    int height = r.rows * CELL_HEIGHT;
    int end = r.column + r.columns;
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" width=\"%.1f\" "
               "height=\"%d\" "
               "viewBox=\"0 0 %.1f %d\">\n<title>",
               width, height, width, height);
    put_capture_title(out, s);
    buf_printf(out,
               "</title>\n<style>\ntext{font:%dpx \"DejaVu Sans Mono\",Menlo,Consolas,monospace;"
               "white-space:pre}\n",
               FONT_SIZE);
    put_classes(out, s, "fill");
    buf_printf(out, "</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#%06x\"/>\n", page.bg);
    for (int row = r.row; row < r.row + r.rows; row++)
        for (int at = r.column; at < end;) {
            struct run run = next_run(c, row, at, end);
            put_svg_run(out, c, r, row, run, s);
            at += run.columns;
        }
    buf_puts(out, "</svg>\n");
}

void capture_put(struct buf *out, const struct canvas *c, struct rect r,
                 const struct capture_setup *setup)
{
    r = canvas_clip(c, r);
    switch (setup->format) {
    case CAPTURE_TEXT:
        put_plain_text(out, c, r);
        return;
    case CAPTURE_ANSI:
        put_ansi(out, c, r, setup);
        return;
    case CAPTURE_HTML:
        put_html(out, c, r, setup);
        return;
    case CAPTURE_SVG:
        put_svg(out, c, r, setup);
        return;
    case CAPTURE_FORMATS:
        return;
    }
}
