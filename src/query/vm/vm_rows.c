/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vm_rows.h"

#include <inttypes.h>
#include <string.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

#define ELLIPSIS "…"
#define REPLACEMENT 0xfffd

/* ---- texts of the node */

static void put_point(struct buf *out, int32_t point)
{
    char bytes[4];
    if (point == '\n')
        buf_puts(out, "\\n");
    else if (point == '\t')
        buf_puts(out, "\\t");
    else if (point < 0x20 || (point >= 0x7f && point < 0xa0))
        buf_printf(out, "\\x%02x", (unsigned)point);
    else
        buf_put(out, bytes, text_encode(point, bytes));
}

void vm_put_safe(struct buf *out, struct slice text)
{
    size_t at = 0, n = 0;
    for (; at < text.len && n < VM_TEXT_MOST; n++) {
        int32_t point;
        const size_t len = text_decode(text.s + at, text.len - at, &point);
        put_point(out, len > 0 ? point : REPLACEMENT);
        at += len > 0 ? len : 1;
    }
    if (at < text.len)
        buf_puts(out, ELLIPSIS);
}

static bool is_point(int64_t n)
{
    return n >= 0 && n <= 0x10ffff && !(n >= 0xd800 && n < 0xe000);
}

static bool put_chars(struct buf *out, struct slice term)
{
    struct cursor c = values_cursor(term);
    struct cursor_list list;
    if (!cursor_list(&c, &list))
        return false;
    for (size_t i = 0; i < list.count && i < VM_TEXT_MOST; i++) {
        int64_t point;
        if (!cursor_list_int64(&c, &list, &point))
            return false;
        put_point(out, is_point(point) ? (int32_t)point : REPLACEMENT);
    }
    if (list.count > VM_TEXT_MOST)
        buf_puts(out, ELLIPSIS);
    return true;
}

bool vm_put_term(struct buf *out, struct slice term)
{
    struct cursor c = values_cursor(term);
    struct slice text = who_atom_of(term);
    int64_t n;
    if (term.len == 0)
        return false;
    if (text.len > 0 || (cursor_kind(&c) == ETF_KIND_BINARY && cursor_binary(&c, &text))) {
        vm_put_safe(out, text);
        return true;
    }
    if (values_read_integer(term, &n)) {
        buf_printf(out, "%" PRId64, n);
        return true;
    }
    return put_chars(out, term);
}

/* ---- rows */

void vm_rows_init(struct vm_rows *rows)
{
    *rows = (struct vm_rows){.terms = builder_new()};
}

static const char *number_text(const struct vm_line *row, int64_t n, char *out, size_t size)
{
    if (n < 0)
        return NULL;
    return row->unit && strcmp(row->unit, "bytes") == 0 ? text_bytes(out, size, (double)n)
                                                        : text_integer(out, size, n);
}

void vm_rows_add(struct vm_rows *rows, const struct vm_line *row)
{
    struct builder *b = rows->terms;
    char value[40], limit[40];
    struct buf id;
    if (rows->n == LIMIT_TABLE_ROWS) {
        rows->partial = true;
        return;
    }
    buf_init(&id, 0);
    buf_printf(&id, "%s.%s", row->section, row->item);
    if (row->index > 0)
        buf_printf(&id, ".%zu", row->index);
    rows->n++;
    build_tuple(b, 9);
    build_binary(b, id.data, id.len);
    values_build_words(b, row->section);
    values_build_words(b, row->item);
    values_build_words(b, row->value ? row->value
                                     : number_text(row, row->number, value, sizeof value));
    values_build_words(b, number_text(row, row->limit, limit, sizeof limit));
    build_known_int(b, row->number);
    build_known_int(b, row->limit);
    values_build_words(b, row->unit);
    values_build_words(b, row->note);
    buf_clear(&id);
}

void vm_rows_end(struct vm_rows *rows, struct builder *b, int64_t mono_ns)
{
    size_t len;
    const uint8_t *bytes = builder_bytes(rows->terms, &len);
    build_tuple(b, 4);
    build_atom(b, "vm");
    build_int(b, mono_ns);
    build_list(b, rows->n);
    build_raw(b, bytes + 1, len - 1);
    build_nil(b);
    build_bool(b, rows->partial);
    builder_free(rows->terms);
}
