/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as Markdown (with GitHub's tables). */
#include <string.h>

#include "beamtop/base/text.h"
#include "paper.h"

/* Made safe, and nothing in it is a mark: a backslash before each character that could be one. */
static void put_md(struct buf *out, const char *s)
{
    struct buf safe;
    buf_init(&safe, 0);
    text_put_safe(&safe, s, strlen(s), false);
    for (size_t i = 0; i < safe.len; i++) {
        if (memchr("\\`*_{}[]<>#|&~!", safe.data[i], 15))
            buf_put_u8(out, '\\');
        buf_put_u8(out, safe.data[i]);
    }
    buf_clear(&safe);
}

/* Blocks stand apart by one empty line. */
static void put_gap(struct buf *out)
{
    if (out->len > 0 && out->data[out->len - 1] != '\n')
        buf_puts(out, "\n");
    if (out->len > 1 && out->data[out->len - 2] != '\n')
        buf_puts(out, "\n");
}

static void put_md_table(struct buf *out, const struct block *b)
{
    put_gap(out);
    buf_puts(out, "|");
    for (size_t i = 0; i < b->columns; i++) {
        buf_puts(out, " ");
        put_md(out, b->titles[i]);
        buf_puts(out, " |");
    }
    buf_puts(out, "\n|");
    for (size_t i = 0; i < b->columns; i++)
        buf_puts(out, b->align[i] == 'r' ? "---:|" : "---|");
    buf_puts(out, "\n");
    for (const struct paper_row *r = b->rows; r; r = r->next) {
        buf_puts(out, "|");
        for (size_t i = 0; i < b->columns; i++) {
            buf_puts(out, " ");
            put_md(out, r->cells[i]);
            buf_puts(out, " |");
        }
        buf_puts(out, "\n");
    }
    buf_puts(out, "\n");
}

static void put_md_chart(struct buf *out, const struct block *b)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t n = b->n_values < 40 ? b->n_values : 40;
    buf_puts(out, "- ");
    put_md(out, b->text);
    buf_puts(out, ": ");
    for (size_t i = 0; i < n; i++) {
        double part = b->top > 0 ? b->values[i * b->n_values / n] / b->top : 0;
        buf_puts(out, bars[!(part > 0) ? 0 : part >= 1 ? 7 : (int)(part * 8)]);
    }
    buf_puts(out, " ");
    put_md(out, b->aside);
    buf_puts(out, "\n");
}

static void put_md_block(struct buf *out, const struct block *b)
{
    switch (b->kind) {
    case BLOCK_HEADING:
        put_gap(out);
        for (int i = 0; i < b->level; i++)
            buf_puts(out, "#");
        buf_puts(out, " ");
        put_md(out, b->text);
        buf_puts(out, "\n\n");
        break;
    case BLOCK_TEXT:
        put_gap(out);
        put_md(out, b->text);
        buf_puts(out, "\n\n");
        break;
    case BLOCK_ITEM:
        buf_puts(out, "- ");
        put_md(out, b->text);
        buf_puts(out, "\n");
        break;
    case BLOCK_TABLE:
        put_md_table(out, b);
        break;
    case BLOCK_CHART:
        put_md_chart(out, b);
        break;
    case BLOCK_FINDING:
        put_gap(out);
        buf_printf(out, "### %s: ", b->word);
        put_md(out, b->text);
        buf_puts(out, "\n\n*");
        put_md(out, b->aside);
        buf_puts(out, "*\n\n");
        break;
    }
}

void paper_put_markdown(struct buf *out, const struct paper *p)
{
    for (const struct block *b = p->first; b; b = b->next)
        put_md_block(out, b);
}
