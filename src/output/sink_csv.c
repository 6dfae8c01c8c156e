/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RFC 4180: a header once, commas, quotes doubled; lines end with a newline only. */
#include "beamtop/output/fields.h"

#include <inttypes.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/etf/print.h"

static void put_csv_text(struct buf *out, const char *s, size_t len, bool spreadsheet)
{
    struct buf safe;
    buf_init(&safe, 0);
    if (spreadsheet && len > 0 && strchr("=+-@", s[0]))
        buf_put_u8(&safe, '\'');
    text_put_safe(&safe, s, len, false);
    const char *at = (const char *)safe.data;
    bool quoted = false;
    for (size_t i = 0; i < safe.len; i++)
        quoted = quoted || strchr(",\"\r\n", at[i]);
    if (quoted)
        buf_put_u8(out, '"');
    for (size_t i = 0; i < safe.len; i++) {
        if (at[i] == '"')
            buf_put_u8(out, '"');
        buf_put(out, &at[i], 1);
    }
    if (quoted)
        buf_put_u8(out, '"');
    buf_clear(&safe);
}

void csv_put_value(struct buf *out, const struct value *v, bool spreadsheet)
{
    switch (v->kind) {
    case VALUE_NONE:
        break;
    case VALUE_TEXT:
        put_csv_text(out, v->text.s, v->text.len, spreadsheet);
        break;
    case VALUE_NUMBER:
        if (v->is_integer)
            buf_printf(out, "%" PRId64, v->integer);
        else
            buf_printf(out, "%.6f", v->number);
        break;
    case VALUE_BOOL:
        buf_puts(out, v->boolean ? "true" : "false");
        break;
    case VALUE_PID:
        print_pid(out, &v->pid);
        break;
    }
}

static void put_start(struct buf *out, const struct sink_tick *r, bool spreadsheet)
{
    if (r->wall_us >= 0)
        buf_printf(out, "%" PRId64, r->wall_us);
    if (sink_tick_of_node(r)) {
        buf_put_u8(out, ',');
        put_csv_text(out, r->node.s, r->node.len, spreadsheet);
    }
}

static void put_header(struct buf *out, const struct sink_tick *r)
{
    buf_puts(out, sink_tick_of_node(r) ? "wall_us,node" : "wall_us");
    for (size_t i = 0; i < r->grid.n_columns; i++)
        buf_printf(out, ",%s", grid_field(&r->grid, i)->key);
    for (size_t s = 0; s < r->n_sections && !r->grid.present; s++)
        for (size_t i = 0; i < r->sections[s].list->n; i++)
            buf_printf(out, ",%s", r->sections[s].list->fields[i].key);
    buf_put_u8(out, '\n');
}

static void put_sections(struct buf *out, const struct sink_tick *r, bool spreadsheet)
{
    put_start(out, r, spreadsheet);
    for (size_t s = 0; s < r->n_sections; s++)
        for (size_t i = 0; i < r->sections[s].list->n; i++) {
            struct value v = field_value(&r->sections[s].list->fields[i], r->sections[s].base);
            buf_put_u8(out, ',');
            csv_put_value(out, &v, spreadsheet);
        }
    buf_put_u8(out, '\n');
}

/* Kinds with rows give a line each; the others one line for all their values. */
void csv_put(struct buf *out, const struct sink_tick *r, bool header, bool spreadsheet)
{
    if (header)
        put_header(out, r);
    if (!r->grid.present)
        put_sections(out, r, spreadsheet);
    for (size_t row = 0; row < r->grid.n_rows; row++) {
        put_start(out, r, spreadsheet);
        for (size_t i = 0; i < r->grid.n_columns; i++) {
            struct value v = field_value(grid_field(&r->grid, i), grid_row(&r->grid, row));
            buf_put_u8(out, ',');
            csv_put_value(out, &v, spreadsheet);
        }
        buf_put_u8(out, '\n');
    }
}
