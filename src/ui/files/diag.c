/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"

#define SHOWN_BYTES 400 /* of a line that has an error */

void diags_init(struct diags *d)
{
    *d = (struct diags){0};
}

void diags_clear(struct diags *d)
{
    for (size_t i = 0; i < d->len; i++) {
        free(d->items[i].file);
        free(d->items[i].line_text);
        free(d->items[i].text);
    }
    free(d->items);
    diags_init(d);
}

void diags_add(struct diags *d, const char *file, size_t line, size_t column, const char *line_text,
               size_t line_len, const char *fmt, ...)
{
    if (d->len == LIMIT_CONFIG_ERRORS) {
        d->dropped++;
        return;
    }
    if (!d->items)
        d->items = alloc_zero(LIMIT_CONFIG_ERRORS, sizeof *d->items);
    char text[768];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    d->items[d->len++] = (struct diag){
        .file = alloc_strdup(file),
        .line = line,
        .column = column,
        .line_text = alloc_strndup(line_text, line_len),
        .text = alloc_strdup(text),
    };
}

/* The part of a long line around the column, so that the caret is in sight. */
static void put_excerpt(const struct diag *d, struct buf *out)
{
    size_t len = strlen(d->line_text);
    size_t at = d->column > 0 && d->column - 1 < len ? d->column - 1 : len;
    size_t from = at > SHOWN_BYTES / 2 ? at - SHOWN_BYTES / 2 : 0;
    while (from < at && ((unsigned char)d->line_text[from] & 0xc0) == 0x80)
        from++;
    size_t shown = len - from < SHOWN_BYTES ? len - from : SHOWN_BYTES;
    struct buf line;
    buf_init(&line, 0);
    buf_puts(out, "    ");
    for (size_t i = from; i < from + shown; i++)
        buf_put_u8(&line, (uint8_t)(d->line_text[i] == '\t' ? ' ' : d->line_text[i]));
    text_put_safe(out, (const char *)line.data, line.len, false);
    buf_puts(out, "\n    ");
    size_t before = line.len > 0 ? text_width((const char *)line.data, at - from) : 0;
    for (size_t i = 0; i < before; i++)
        buf_put_u8(out, ' ');
    buf_puts(out, "^\n");
    buf_clear(&line);
}

void diags_print(const struct diags *d, struct buf *out)
{
    for (size_t i = 0; i < d->len; i++) {
        const struct diag *item = &d->items[i];
        text_put_safe(out, item->file, strlen(item->file), false);
        buf_printf(out, ":%zu:%zu: ", item->line, item->column);
        text_put_safe(out, item->text, strlen(item->text), false);
        buf_puts(out, "\n");
        put_excerpt(item, out);
    }
    if (d->dropped > 0)
        buf_printf(out, "… and %zu more errors\n", d->dropped);
}
