/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as one HTML file: style and charts within, no script, nothing from the network. */
#include <string.h>

#include "beamtop/base/text.h"
#include "paper.h"

#define CHART_WIDTH 720.0
#define CHART_HEIGHT 100.0
#define PROSE 28 /* bytes of a cell that is broken into lines */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>";
static const char style[] =
    "</title>\n<style>\n"
    ":root{--ink:#1c2128;--faint:#59636e;--line:#d1d9e0;--paper:#fff;--band:#f6f8fa;--mark:#0969da;"
    "--act:#b3261e;--look:#8a5a00;--note:#3d6b35}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--faint:#9198a1;--line:#3d444d;"
    "--paper:#0d1117;--band:#151b23;--mark:#4493f8;--act:#ff8f86;--look:#e3b341;--note:#7ec46c}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:60rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.6rem}h2{font-size:1.2rem;border-bottom:1px solid var(--line);margin-top:2rem}\n"
    "h3{font-size:1rem;margin:1.4rem 0 .2rem}\n"
    /* A shade at the side where a table goes on, covered at its end. */
    ".scroll{overflow-x:auto;background:"
    "linear-gradient(90deg,var(--paper) 40%,transparent) 0/2rem 100% no-repeat local,"
    "linear-gradient(270deg,var(--paper) 40%,transparent) 100%/2rem 100% no-repeat local,"
    "linear-gradient(90deg,var(--line),transparent) 0/.6rem 100% no-repeat scroll,"
    "linear-gradient(270deg,var(--line),transparent) 100%/.6rem 100% no-repeat scroll}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.2rem 1rem .2rem 0;text-align:left;vertical-align:top;white-space:nowrap}\n"
    "th{color:var(--faint);font-weight:600}tr+tr td{border-top:1px solid var(--line)}\n"
    "th:first-child,td:first-child{position:sticky;left:0;background:var(--paper)}\n"
    ".r{text-align:right;min-width:3.6rem}"
    ".t{white-space:normal;overflow-wrap:anywhere;min-width:15rem;max-width:30rem}\n"
    "p,li,h1,h2,h3{overflow-wrap:anywhere}ul{padding-left:1.4rem}\n"
    ".aside{color:var(--faint);margin:.1rem 0}\n"
    ".word{font-size:.8rem;padding:.05rem .45rem;border-radius:.6rem;border:1px solid;"
    "margin-right:.5rem}.fix{color:var(--act)}.check{color:var(--look)}.info{color:var(--note)}\n"
    "figure{margin:1.2rem 0;break-inside:avoid}figcaption{margin-bottom:.4rem}\n"
    "h2,h3,table{clear:both}.beside{float:right;width:24rem;margin:.2rem 0 .6rem 1.6rem}"
    ".beside svg{height:4.5rem}\n"
    ".plot{display:grid;grid-template-columns:4.2rem 1fr;gap:.6rem}\n"
    ".axis{display:flex;flex-direction:column;justify-content:space-between;text-align:right}\n"
    ".axis,.ends{color:var(--faint);font-size:.8rem;line-height:1.2}\n"
    ".ends{display:flex;justify-content:space-between;gap:.2rem 1rem;margin:.2rem 0 0 4.8rem}\n"
    "svg{width:100%;height:6.5rem;display:block;overflow:visible;border-top:1px solid var(--line);"
    "border-bottom:1px solid var(--line)}\n"
    "svg .area{fill:var(--mark);opacity:.18}"
    "svg .curve{fill:none;stroke:var(--mark);stroke-width:1.5;vector-effect:non-scaling-stroke}\n"
    "@media(max-width:40rem){body{margin:1rem auto}table{font-size:.85rem}"
    "th,td{padding-right:.7rem}.t{min-width:13rem}.t:first-child{min-width:9rem;max-width:42vw}"
    ".ends{margin-left:0;flex-wrap:wrap}.beside{float:none;width:auto;margin-left:0}}\n"
    "</style>\n</head>\n<body>\n";

static void put_html(struct buf *out, const char *s)
{
    text_put_html(out, s, strlen(s));
}

static void put_element(struct buf *out, const char *open, const char *text, const char *close)
{
    buf_puts(out, open);
    put_html(out, text);
    buf_puts(out, close);
}

/* A long name may be broken behind its parts, so that it is not within a word. */
static void put_breakable(struct buf *out, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "._:/");
        len += text[len] != '\0';
        text_put_html(out, text, len);
        text += len;
        buf_puts(out, *text ? "<wbr/>" : "");
    }
}

/* Numbers and short names stay in one line. */
static void put_html_cell(struct buf *out, const char *text, char align)
{
    if (align == 'r' || strlen(text) <= PROSE) {
        put_element(out, align == 'r' ? "<td class=\"r\">" : "<td>", text, "</td>");
        return;
    }
    buf_puts(out, "<td class=\"t\">");
    if (strchr(text, ' '))
        put_html(out, text);
    else
        put_breakable(out, text);
    buf_puts(out, "</td>");
}

static void put_html_table(struct buf *out, const struct block *b)
{
    buf_puts(out, "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>");
    for (size_t i = 0; i < b->columns; i++)
        put_element(out, b->align[i] == 'r' ? "<th class=\"r\">" : "<th>", b->titles[i], "</th>");
    buf_puts(out, "</tr></thead>\n<tbody>\n");
    for (const struct paper_row *r = b->rows; r; r = r->next) {
        buf_puts(out, "<tr>");
        for (size_t i = 0; i < b->columns; i++)
            put_html_cell(out, r->cells[i], b->align[i]);
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</tbody></table></div>\n");
}

/* The points of the curve, left to right; a single value is a level. */
static void put_points(struct buf *out, const struct block *b)
{
    size_t n = b->n_values == 1 ? 2 : b->n_values;
    for (size_t i = 0; i < n; i++) {
        double value = b->values[b->n_values == 1 ? 0 : i];
        double part = b->top > 0 ? value / b->top : 0;
        buf_printf(out, "%.1f,%.1f ", CHART_WIDTH * (double)i / (double)(n - 1),
                   CHART_HEIGHT * (1 - part));
    }
}

/* Texts stand beside the drawing, which is stretched to the width that there is. */
static void put_html_chart(struct buf *out, const struct block *b)
{
    buf_puts(out, b->beside ? "<figure class=\"beside\">" : "<figure>");
    put_element(out, "<figcaption><b>", b->text, "</b> ");
    put_element(out, "<span class=\"aside\">", b->aside, "</span></figcaption>\n");
    put_element(out, "<div class=\"plot\"><div class=\"axis\"><span>", b->high, "</span>");
    put_element(out, "<span>", b->low, "</span></div>");
    buf_printf(out, "<svg viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\" role=\"img\">",
               CHART_WIDTH, CHART_HEIGHT);
    put_element(out, "<title>", b->text, "</title>\n");
    if (b->n_values > 0) {
        buf_printf(out, "<polygon class=\"area\" points=\"0,%.0f ", CHART_HEIGHT);
        put_points(out, b);
        buf_printf(out, "%.0f,%.0f\"/>\n<polyline class=\"curve\" points=\"", CHART_WIDTH,
                   CHART_HEIGHT);
        put_points(out, b);
        buf_puts(out, "\"/>");
    }
    put_element(out, "</svg></div>\n<div class=\"ends\"><span>", b->begin, "</span>");
    put_element(out, "<span>", b->end, "</span></div></figure>\n");
}

static void put_html_finding(struct buf *out, const struct block *b)
{
    buf_printf(out, "<h3><span class=\"word %s\">%s</span>", b->word, b->word);
    put_element(out, "", b->text, "</h3>\n");
    put_element(out, "<p class=\"aside\">", b->aside, "</p>\n");
}

static void put_html_block(struct buf *out, const struct block *b)
{
    switch (b->kind) {
    case BLOCK_HEADING:
        buf_printf(out, "<h%d>", b->level);
        put_html(out, b->text);
        buf_printf(out, "</h%d>\n", b->level);
        break;
    case BLOCK_TEXT:
        put_element(out, "<p>", b->text, "</p>\n");
        break;
    case BLOCK_ITEM:
        put_element(out, "<li>", b->text, "</li>\n");
        break;
    case BLOCK_TABLE:
        put_html_table(out, b);
        break;
    case BLOCK_CHART:
        put_html_chart(out, b);
        break;
    case BLOCK_FINDING:
        put_html_finding(out, b);
        break;
    }
}

void paper_put_html(struct buf *out, const struct paper *p)
{
    enum block_kind before = BLOCK_TEXT;
    put_element(out, head, p->title, style);
    for (const struct block *b = p->first; b; b = b->next) {
        if (b->kind == BLOCK_ITEM && before != BLOCK_ITEM)
            buf_puts(out, "<ul>\n");
        if (b->kind != BLOCK_ITEM && before == BLOCK_ITEM)
            buf_puts(out, "</ul>\n");
        put_html_block(out, b);
        before = b->kind;
    }
    buf_puts(out, before == BLOCK_ITEM ? "</ul>\n</body>\n</html>\n" : "</body>\n</html>\n");
}
