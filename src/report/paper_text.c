/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as text for a terminal or a mail. */
#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "paper.h"

struct page {
    struct buf *out;
    size_t columns, gap; /* between columns of tables */
    bool ascii;
};

static void put_spaces(struct buf *out, size_t n)
{
    while (n-- > 0)
        buf_put_u8(out, ' ');
}

static void put_part(const struct page *p, const char *s, size_t len)
{
    text_put_safe(p->out, s, len, p->ascii);
}

/* Of a word; in ASCII an ellipsis is three full stops. */
static size_t word_width(const struct page *p, const char *s, size_t len)
{
    static const char ellipsis[] = "…";
    size_t width = text_width(s, len);
    for (size_t i = 0; p->ascii && i + strlen(ellipsis) <= len; i++)
        width += memcmp(s + i, ellipsis, strlen(ellipsis)) == 0 ? 2 : 0;
    return width;
}

/* Words in lines; the first begins at column `at`, the others are indented. */
static void put_wrapped(const struct page *p, const char *s, size_t at, size_t indent)
{
    size_t column = at;
    for (bool first = true; *s; first = false) {
        size_t len = strcspn(s, " "), width = word_width(p, s, len);
        if (!first && column + 1 + width > p->columns) {
            buf_puts(p->out, "\n");
            put_spaces(p->out, indent);
            column = indent;
        } else if (!first) {
            buf_puts(p->out, " ");
            column++;
        }
        put_part(p, s, len);
        column += width;
        s += len;
        s += strspn(s, " ");
    }
    buf_puts(p->out, "\n");
}

/* ---- tables */

static void measure_columns(const struct block *b, size_t *widths)
{
    for (size_t i = 0; i < b->columns; i++) {
        widths[i] = text_width(b->titles[i], strlen(b->titles[i]));
        for (const struct paper_row *r = b->rows; r; r = r->next) {
            size_t width = text_width(r->cells[i], strlen(r->cells[i]));
            widths[i] = width > widths[i] ? width : widths[i];
        }
    }
}

static size_t longest_word(const char *s)
{
    size_t longest = 0;
    while (*s) {
        size_t len = strcspn(s, " "), width = text_width(s, len);
        longest = width > longest ? width : longest;
        s += len;
        s += strspn(s, " ");
    }
    return longest;
}

static size_t table_width(const struct page *p, const struct block *b, const size_t *widths)
{
    size_t sum = 2 + p->gap * (b->columns - 1);
    for (size_t i = 0; i < b->columns; i++)
        sum += widths[i];
    return sum;
}

/* Takes columns from the widest until the table fits: first where a line can end between words. */
static void fit_table(const struct page *p, const struct block *b, size_t *widths)
{
    size_t words[PAPER_COLUMNS];
    for (size_t i = 0; i < b->columns; i++) {
        words[i] = longest_word(b->titles[i]);
        for (const struct paper_row *r = b->rows; r; r = r->next) {
            size_t word = longest_word(r->cells[i]);
            words[i] = word > words[i] ? word : words[i];
        }
    }
    while (table_width(p, b, widths) > p->columns) {
        size_t widest = 0, wordy = b->columns;
        for (size_t i = 0; i < b->columns; i++) {
            widest = widths[i] > widths[widest] ? i : widest;
            if (widths[i] > words[i] && (wordy == b->columns || widths[i] > widths[wordy]))
                wordy = i;
        }
        if (wordy < b->columns)
            widths[wordy]--;
        else if (widths[widest] > 8)
            widths[widest]--;
        else
            return;
    }
}

static void put_text_cell(const struct page *p, const char *s, size_t len, size_t width, char align,
                          bool last)
{
    size_t shown = text_width(s, len);
    bool cut = shown > width;
    if (cut)
        len = text_prefix(s, len, width - (p->ascii ? 3 : 1), &shown);
    size_t pad = width - shown - (cut ? (p->ascii ? 3 : 1) : 0);
    if (align == 'r')
        put_spaces(p->out, pad);
    put_part(p, s, len);
    if (cut)
        buf_puts(p->out, p->ascii ? "..." : "…");
    if (align != 'r' && !last)
        put_spaces(p->out, pad);
}

/* Bytes of a word that is too long for its cell: up to the last mark that fits, else what fits. */
static size_t part_of_word(const char *s, size_t width)
{
    size_t shown, fits = text_prefix(s, strlen(s), width, &shown);
    for (size_t len = fits; len > fits / 3; len--)
        if (strchr("-_./:@", s[len - 1]))
            return len;
    return fits;
}

/* Bytes of s that go into a line of a cell: words, or a part of one. */
static size_t line_of(const char *s, size_t width)
{
    size_t len = 0;
    while (s[len]) {
        size_t next = len + strspn(s + len, " ");
        next += strcspn(s + next, " ");
        if (text_width(s, next) > width)
            break;
        len = next;
    }
    if (len == 0 && *s)
        len = part_of_word(s, width);
    return len > 0 ? len : strlen(s);
}

/* Cells of more words than fit go on in the lines below. */
static void put_cells(const struct page *p, const struct block *b, const char *const *cells,
                      const size_t *widths)
{
    const char *left[PAPER_COLUMNS];
    bool more = true;
    for (size_t i = 0; i < b->columns; i++)
        left[i] = cells[i];
    while (more) {
        buf_puts(p->out, "  ");
        more = false;
        for (size_t i = 0; i < b->columns; i++) {
            size_t len = line_of(left[i], widths[i]);
            if (i > 0)
                put_spaces(p->out, p->gap);
            put_text_cell(p, left[i], len, widths[i], b->align[i], i + 1 == b->columns);
            left[i] += len;
            left[i] += strspn(left[i], " ");
            more = more || *left[i];
        }
        while (p->out->data[p->out->len - 1] == ' ')
            p->out->len--;
        buf_puts(p->out, "\n");
    }
}

static void put_text_table(const struct page *p, const struct block *b)
{
    size_t widths[PAPER_COLUMNS];
    measure_columns(b, widths);
    fit_table(p, b, widths);
    put_cells(p, b, b->titles, widths);
    for (const struct paper_row *r = b->rows; r; r = r->next)
        put_cells(p, b, r->cells, widths);
}

/* ---- tables of recordings: where one of them is too wide, these go by letters in all */

static bool table_fits(const struct page *p, const struct block *b)
{
    size_t widths[PAPER_COLUMNS];
    measure_columns(b, widths);
    return table_width(p, b, widths) <= p->columns;
}

static bool too_narrow(const struct page *p, const struct paper *paper)
{
    for (const struct block *b = paper->first; b; b = b->next)
        if (b->kind == BLOCK_TABLE && b->recordings && !table_fits(p, b))
            return true;
    return false;
}

static const char *letter_of(struct arena *a, size_t recording)
{
    return arena_printf(a, "%c", (char)('A' + recording));
}

static void move_row(struct block *b, struct paper_row *row)
{
    *b->last_row = row;
    b->last_row = &row->next;
}

/* A line a recording: its letter, its name, and the legend. */
static void put_legend(const struct page *p, struct arena *a, const struct block *b)
{
    const char *titles[PAPER_COLUMNS] = {"", "recording"};
    struct block legend = {
        .kind = BLOCK_TABLE, .columns = 2, .titles = titles, .align = "llllllllllllllll"};
    legend.last_row = &legend.rows;
    for (const struct paper_row *r = b->rows; r; r = r->next)
        if (r->legend)
            titles[legend.columns++] = r->cells[0];
    for (size_t i = 1; i < b->columns; i++) {
        struct paper_row *row = arena_alloc(a, sizeof *row);
        size_t n = 0;
        *row = (struct paper_row){0};
        row->cells[n++] = letter_of(a, i - 1);
        row->cells[n++] = b->titles[i];
        for (const struct paper_row *r = b->rows; r; r = r->next)
            if (r->legend)
                row->cells[n++] = r->cells[i];
        move_row(&legend, row);
    }
    put_text_table(p, &legend);
    buf_puts(p->out, "\n");
}

/* "37.1 MiB" as "37.1MiB". */
static const char *squeeze_number(struct arena *a, const char *s)
{
    char *out = arena_strndup(a, s, strlen(s)), *to = out;
    for (; *s; s++)
        if (*s != ' ' || to == out || to[-1] < '0' || to[-1] > '9')
            *to++ = *s;
    *to = '\0';
    return out;
}

/* Names recordings by letters, and leaves less space where that does not suffice. */
static void put_lettered(const struct page *p, struct arena *a, const struct block *b)
{
    const char *titles[PAPER_COLUMNS] = {b->titles[0]};
    struct page narrow = *p;
    struct block by_letters = *b;
    by_letters.titles = titles;
    for (size_t i = 1; i < b->columns; i++)
        titles[i] = letter_of(a, i - 1);
    for (int pass = 0; pass < 2; pass++) {
        by_letters.rows = NULL;
        by_letters.last_row = &by_letters.rows;
        for (const struct paper_row *r = b->rows; r; r = r->next) {
            struct paper_row *row = arena_alloc(a, sizeof *row);
            *row = *r;
            row->next = NULL;
            for (size_t i = 1; pass == 1 && i < b->columns; i++)
                row->cells[i] = squeeze_number(a, r->cells[i]);
            if (!r->legend)
                move_row(&by_letters, row);
        }
        if (table_fits(&narrow, &by_letters))
            break;
        narrow.gap = 1;
    }
    put_text_table(&narrow, &by_letters);
}

/* ---- charts: a line of blocks */

static void put_text_chart(const struct page *p, const struct block *b)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char plain[] = "_.-:=+*#";
    size_t room = p->columns > 70 ? p->columns - 50 : 20;
    size_t n = b->n_values < room ? b->n_values : room;
    buf_puts(p->out, "  ");
    put_text_cell(p, b->text, strlen(b->text), 20, 'l', false);
    buf_puts(p->out, " ");
    for (size_t i = 0; i < n; i++) {
        size_t begin = i * b->n_values / n, end = (i + 1) * b->n_values / n;
        double sum = 0;
        for (size_t k = begin; k < end; k++)
            sum += b->values[k];
        double part = b->top > 0 ? sum / (double)(end - begin) / b->top : 0;
        int level = !(part > 0) ? 0 : part >= 1 ? 7 : (int)(part * 8);
        if (p->ascii)
            buf_put_u8(p->out, (uint8_t)plain[level]);
        else
            buf_puts(p->out, bars[level]);
    }
    buf_puts(p->out, "  ");
    put_part(p, b->aside, strlen(b->aside));
    buf_puts(p->out, "\n");
}

/* ---- the whole */

static void put_heading(const struct page *p, const struct block *b)
{
    size_t width = text_width(b->text, strlen(b->text));
    buf_puts(p->out, p->out->len > 0 ? "\n" : "");
    put_part(p, b->text, strlen(b->text));
    buf_puts(p->out, "\n");
    for (size_t i = 0; b->level < 3 && i < width; i++)
        buf_puts(p->out, b->level == 1 ? "=" : "-");
    buf_puts(p->out, b->level < 3 ? "\n" : "");
}

static void put_text_finding(const struct page *p, const struct block *b)
{
    size_t len = strlen(b->word);
    buf_puts(p->out, "\n");
    buf_printf(p->out, "[%s] ", b->word);
    put_wrapped(p, b->text, len + 3, len + 3);
    put_spaces(p->out, len + 3);
    put_wrapped(p, b->aside, len + 3, len + 3);
}

void paper_put_text(struct buf *out, const struct paper *paper, int columns, bool ascii)
{
    const struct page p = {out, columns >= 40 ? (size_t)columns : 100, 2, ascii};
    bool by_letters = too_narrow(&p, paper), explained = false;
    struct arena arena;
    arena_init(&arena);
    for (const struct block *b = paper->first; b; b = b->next) {
        switch (b->kind) {
        case BLOCK_HEADING:
            put_heading(&p, b);
            break;
        case BLOCK_TEXT:
            put_wrapped(&p, b->text, 0, 0);
            break;
        case BLOCK_ITEM:
            buf_puts(out, "  - ");
            put_wrapped(&p, b->text, 4, 4);
            break;
        case BLOCK_TABLE:
            if (by_letters && b->recordings && !explained)
                put_legend(&p, &arena, b);
            explained = explained || b->recordings;
            if (by_letters && b->recordings)
                put_lettered(&p, &arena, b);
            else
                put_text_table(&p, b);
            break;
        case BLOCK_CHART:
            put_text_chart(&p, b);
            break;
        case BLOCK_FINDING:
            put_text_finding(&p, b);
            break;
        }
    }
    arena_clear(&arena);
}
