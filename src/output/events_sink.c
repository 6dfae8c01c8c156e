/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/output/events_sink.h"

#include <inttypes.h>
#include <string.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/text.h"
#include "beamtop/output/json.h"
#include "table.h"

static int put_output(struct events_sink *s, struct buf *out, struct error *err)
{
    int rc = sink_output_put(&s->output, (const char *)out->data, out->len, err);
    buf_clear(out);
    return rc;
}

static json_t *object_of(const struct events_sink *s, const char *schema)
{
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string(schema));
    json_object_set_new(root, "node", json_chars(s->options.node ? s->options.node : ""));
    return root;
}

/* ---- Rows as JSON and CSV */

static void put_json(struct events_sink *s, struct buf *out, const char *schema,
                     const struct field_list *list, const void *row)
{
    json_t *root = object_of(s, schema);
    json_add_fields(root, list, row);
    json_put_line(out, root);
}

static void put_csv(struct events_sink *s, struct buf *out, const struct field_list *list,
                    const void *row)
{
    struct value value = text_value(slice_of(s->options.node ? s->options.node : ""));
    if (!s->header_written) {
        buf_puts(out, "node");
        for (size_t i = 0; i < list->n; i++)
            buf_printf(out, ",%s", list->fields[i].key);
        buf_put_u8(out, '\n');
        s->header_written = true;
    }
    csv_put_value(out, &value, s->options.spreadsheet);
    for (size_t i = 0; i < list->n; i++) {
        value = field_value(&list->fields[i], row);
        buf_put_u8(out, ',');
        csv_put_value(out, &value, s->options.spreadsheet);
    }
    buf_put_u8(out, '\n');
}

/* ---- A line for people */

static void put_cell(struct buf *out, struct arena *arena, const char *text, size_t width,
                     bool ascii, bool last)
{
    const char *cell = last ? text : text_fit(arena, text, width, ascii);
    buf_puts(out, cell);
    if (!last)
        text_pad(out, text_width(cell, strlen(cell)), width + 2);
}

static void put_line(struct events_sink *s, struct buf *out, const struct system_event *e)
{
    const struct field *columns[COLUMNS_MAX];
    const bool ascii = s->options.ascii;
    const size_t n = field_columns(&system_event_fields, NULL, columns, COLUMNS_MAX);
    char title[FIELD_TITLE_BYTES];
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; !s->header_written && i < n; i++)
        put_cell(out, &arena, field_title(columns[i], true, title), (size_t)columns[i]->width,
                 ascii, i + 1 == n);
    if (!s->header_written)
        buf_put_u8(out, '\n');
    s->header_written = true;
    for (size_t i = 0; i < n; i++)
        put_cell(out, &arena, text_cell(&arena, columns[i], e, ascii), (size_t)columns[i]->width,
                 ascii, i + 1 == n);
    buf_put_u8(out, '\n');
    arena_clear(&arena);
}

int events_sink_event(struct events_sink *s, const struct system_event *e, struct error *err)
{
    struct buf out;
    buf_init(&out, 0);
    if (s->options.format == EVENTS_JSON)
        put_json(s, &out, "beamtop.events/1", &system_event_fields, e);
    else if (s->options.format == EVENTS_CSV)
        put_csv(s, &out, &system_event_fields, e);
    else
        put_line(s, &out, e);
    return put_output(s, &out, err);
}

/* ---- Groups */

int events_sink_groups(struct events_sink *s, const struct system_event_groups *groups,
                       enum events_by by, struct error *err)
{
    const struct text_rows rows = {&system_event_group_fields, NULL, groups->rows, groups->n,
                                   sizeof groups->rows[0],     NULL};
    struct buf out;
    buf_init(&out, 0);
    if (s->options.format == EVENTS_TEXT && groups->n > 0)
        text_rows_put(&out, &rows, s->options.ascii);
    for (size_t i = 0; i < groups->n && s->options.format != EVENTS_TEXT; i++) {
        const struct system_event_group *g = &groups->rows[i];
        if (s->options.format == EVENTS_CSV) {
            put_csv(s, &out, &system_event_group_fields, g);
            continue;
        }
        json_t *root = object_of(s, "beamtop.event_groups/1");
        json_object_set_new(root, "by", json_string(events_by_name(by)));
        json_add_fields(root, &system_event_group_fields, g);
        json_put_line(&out, root);
    }
    return put_output(s, &out, err);
}

int events_sink_end(struct events_sink *s, const struct events_run *run, struct error *err)
{
    if (s->options.format != EVENTS_JSON)
        return 0;
    struct buf out;
    json_t *root = object_of(s, "beamtop.events_end/1"), *limits = json_object();
    json_object_set_new(root, "ended", json_string(events_end_key(run->end)));
    json_object_set_new(root, "seen", json_integer((json_int_t)run->seen));
    json_object_set_new(root, "missed", json_integer((json_int_t)run->missed));
    json_object_set_new(root, "session", json_boolean(run->session));
    json_object_set_new(root, "arm_us", json_number(run->arm_us));
    for (int i = 0; i < SYSTEM_EVENTS; i++)
        json_object_set_new(limits, system_event_rows[i].word,
                            run->limits[i] > 0 ? json_integer(run->limits[i]) : json_null());
    json_object_set_new(root, "limits", limits);
    json_object_set_new(root, "verification", json_check(&run->status.check));
    buf_init(&out, 0);
    json_put_line(&out, root);
    return put_output(s, &out, err);
}
