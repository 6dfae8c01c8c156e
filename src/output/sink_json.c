/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/output/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/etf/print.h"

/* Text of a target may be any bytes: what is no UTF-8 is replaced, the rest is kept as it is. */
static json_t *json_text(struct slice text)
{
    json_t *j = json_stringn(text.s, text.len);
    if (j)
        return j;
    struct buf safe;
    buf_init(&safe, 0);
    text_put_safe(&safe, text.s, text.len, false);
    j = json_stringn((const char *)safe.data, safe.len);
    buf_clear(&safe);
    return j;
}

static json_t *json_pid(const struct etf_pid *pid)
{
    struct buf text;
    buf_init(&text, 0);
    print_pid(&text, pid);
    json_t *j = json_stringn((const char *)text.data, text.len);
    buf_clear(&text);
    return j;
}

json_t *json_number(double v)
{
    if (!isfinite(v))
        return json_null();
    return json_real(fabs(v) < 1e9 ? round(v * 1e6) / 1e6 : v);
}

static json_t *json_value(const struct value *v)
{
    switch (v->kind) {
    case VALUE_NONE:
        return json_null();
    case VALUE_TEXT:
        return json_text(v->text);
    case VALUE_NUMBER:
        if (v->is_integer)
            return json_integer(v->integer);
        return json_number(v->number);
    case VALUE_BOOL:
        return json_boolean(v->boolean);
    case VALUE_PID:
        return json_pid(&v->pid);
    }
    return json_null();
}

json_t *json_known(int64_t v)
{
    return v < 0 ? json_null() : json_integer(v);
}

json_t *json_slice(struct slice s)
{
    struct value v = text_value(s);
    return json_value(&v);
}

json_t *json_chars(const char *text)
{
    return json_slice(slice_of(text));
}

json_t *json_texts(const struct slice *texts, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_slice(texts[i]));
    return array;
}

void json_add_fields(json_t *object, const struct field_list *list, const void *row)
{
    for (size_t i = 0; i < list->n; i++) {
        struct value v = field_value(&list->fields[i], row);
        json_object_set_new(object, list->fields[i].key, json_value(&v));
    }
}

json_t *json_row(const struct field_list *list, const void *row)
{
    json_t *object = json_object();
    json_add_fields(object, list, row);
    return object;
}

json_t *json_rows(const struct field_list *list, const void *rows, size_t n, size_t row_bytes)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_row(list, (const char *)rows + i * row_bytes));
    return array;
}

static json_t *json_grid(const struct grid *g)
{
    json_t *rows = json_array();
    for (size_t row = 0; row < g->n_rows; row++) {
        json_t *object = json_object();
        for (size_t i = 0; i < g->n_columns; i++) {
            const struct field *f = grid_field(g, i);
            const struct proc_row *process = g->columns ? grid_row(g, row) : NULL;
            struct value v = field_value(f, grid_row(g, row));
            json_object_set_new(object, f->key, json_value(&v));
            if (process && proc_column_is_older(f, process)) { /* without these columns, too */
                json_object_set_new(object, "memory_older", json_true());
                json_object_set_new(object, "memory_age_s", json_number(process->older_s));
            }
        }
        json_array_append_new(rows, object);
    }
    return rows;
}

static json_t *json_related(const struct related *r)
{
    return json_pack("{s:o,s:o,s:o,s:o}", "pid", r->is_pid ? json_pid(&r->pid) : json_null(),
                     "text", r->is_pid ? json_null() : json_slice(r->text), "name",
                     r->is_call ? json_null() : json_slice(r->name), "initial_call",
                     r->is_call ? json_slice(r->name) : json_null());
}

static json_t *json_related_list(const struct related_list *list)
{
    json_t *items = json_array();
    for (size_t i = 0; i < list->n; i++)
        json_array_append_new(items, json_related(&list->items[i]));
    return json_pack("{s:o,s:o}", "count", json_known(list->count), "items", items);
}

static json_t *json_location(const struct frame_location *f)
{
    return json_pack("{s:o,s:o,s:o}", "function", json_slice(f->function), "file",
                     json_slice(f->file), "line",
                     f->line > 0 ? json_integer(f->line) : json_null());
}

static json_t *json_stack(const struct process_detail *p)
{
    json_t *frames = json_array();
    for (size_t i = 0; i < p->n_stack; i++)
        json_array_append_new(frames, json_location(&p->stack[i]));
    return frames;
}

static json_t *json_gc(const struct process_detail *p)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < p->n_gc; i++)
        json_array_append_new(rows, json_pack("{s:o,s:o}", "key", json_slice(p->gc[i].key), "value",
                                              json_known(p->gc[i].value)));
    return rows;
}

static json_t *json_dictionary(const struct process_detail *p)
{
    json_t *keys = json_array();
    for (size_t i = 0; i < p->n_dictionary; i++)
        json_array_append_new(keys,
                              json_pack("{s:o,s:o}", "key", json_slice(p->dictionary[i].key),
                                        "value_bytes", json_known(p->dictionary[i].value_bytes)));
    return json_pack("{s:o,s:o}", "count", json_known(p->dictionary_count), "keys", keys);
}

static json_t *json_binaries(const struct process_detail *p)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < p->n_binaries; i++)
        json_array_append_new(rows,
                              json_pack("{s:o,s:o}", "bytes", json_known(p->binaries[i].bytes),
                                        "refs", json_known(p->binaries[i].refs)));
    return rows;
}

/* null: it is not suspended, or that is not known. */
static json_t *json_suspenders(const struct sink_tick *r)
{
    json_t *items = json_array();
    for (size_t i = 0; i < r->n_suspenders; i++) {
        const struct suspenders_row *row = &r->suspenders[i];
        if (row->has_by)
            json_array_append_new(items, json_pack("{s:o,s:o,s:o}", "pid", json_pid(&row->by),
                                                   "name", json_slice(row->by_name), "times",
                                                   json_known(row->times)));
    }
    json_t *all = !r->suspenders ? json_null()
                                 : json_pack("{s:o,s:o,s:O}", "processes_read",
                                             json_known(r->suspenders->read), "processes",
                                             json_known(r->suspenders->processes), "items", items);
    json_decref(items);
    return all;
}

static void add_process_json(json_t *root, const struct process_detail *p)
{
    json_object_set_new(root, "location", json_location(&p->location));
    json_object_set_new(root, "parent", json_related(&p->parent));
    json_object_set_new(root, "group_leader", json_related(&p->group_leader));
    json_object_set_new(root, "ancestors", json_related_list(&p->ancestors));
    json_object_set_new(root, "links", json_related_list(&p->links));
    json_object_set_new(root, "monitors", json_related_list(&p->monitors));
    json_object_set_new(root, "monitored_by", json_related_list(&p->monitored_by));
    json_object_set_new(root, "stack", json_stack(p));
    json_object_set_new(root, "heap_fragment_words", json_known(p->heap_fragment_words));
    json_object_set_new(root, "garbage_collection", json_gc(p));
    json_object_set_new(root, "dictionary", json_dictionary(p));
    json_object_set_new(root, "largest_binaries", json_binaries(p));
}

static uint32_t take_utf8(const char **at)
{
    const uint8_t *s = (const uint8_t *)*at;
    int more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0x80 ? 1 : 0;
    uint32_t c = more == 0 ? s[0] : s[0] & (0x3fu >> more);
    for (int i = 1; i <= more; i++)
        c = c << 6 | (s[i] & 0x3fu);
    *at += more + 1;
    return c;
}

static void put_escape(struct buf *out, uint32_t c)
{
    if (c < 0x10000) {
        buf_printf(out, "\\u%04" PRIX32, c);
        return;
    }
    c -= 0x10000;
    buf_printf(out, "\\u%04" PRIX32 "\\u%04" PRIX32, 0xd800 + (c >> 10), 0xdc00 + (c & 0x3ff));
}

/* Writes characters that control a terminal as escapes: jansson escapes only bytes below 0x20.
 * They occur only in strings, where an escape is valid. */
static void put_escaped(struct buf *out, const char *s, size_t len)
{
    while (len > 0) {
        int width;
        bool safe;
        size_t used = text_grapheme(s, len, &width, &safe);
        if (safe)
            buf_put(out, s, used);
        else
            for (const char *at = s; at < s + used;)
                put_escape(out, take_utf8(&at));
        s += used;
        len -= used;
    }
}

void json_put_value(struct buf *out, json_t *v)
{
    char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    assert(text);
    put_escaped(out, text, strlen(text));
    free(text);
    json_decref(v);
}

void json_put_row(struct buf *out, const struct field_list *list, const void *row)
{
    json_put_value(out, json_row(list, row));
}

void json_put_item(struct sink_pieces *out, size_t i, const struct field_list *list,
                   const void *row)
{
    buf_puts(&out->buf, i > 0 ? "," : "");
    json_put_row(&out->buf, list, row);
    sink_pieces_flush(out, SINK_PIECE_BYTES);
}

void json_put_line(struct buf *out, json_t *root)
{
    json_put_value(out, root);
    buf_put_u8(out, '\n');
}

static json_t *json_lacks(const struct sink_tick *r)
{
    json_t *keys = json_array();
    for (size_t i = 0; i < r->grid.n_columns; i++)
        if (sink_tick_lacks(r, i))
            json_array_append_new(keys, json_string(grid_field(&r->grid, i)->key));
    return keys;
}

/* Where in a recording, and what of the columns shown it does not have. */
static json_t *json_recorded(const struct sink_tick *r)
{
    return json_pack("{s:I,s:I,s:b,s:o}", "tick", (json_int_t)r->recorded->tick, "ticks",
                     (json_int_t)r->recorded->ticks, "gap_before", r->recorded->gap, "not_recorded",
                     json_lacks(r));
}

void json_put(struct buf *out, const struct sink_tick *r)
{
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_sprintf("beamtop.%s/2", r->kind->name));
    if (sink_tick_of_node(r))
        json_object_set_new(root, "node", json_slice(r->node));
    json_object_set_new(root, "wall_us", json_known(r->wall_us));
    if (sink_tick_of_node(r))
        json_object_set_new(root, "interval_us", json_known(r->interval_us));
    if (r->cost)
        json_object_set_new(root, "cost", json_row(&cost_fields, r->cost));
    if (r->system)
        json_object_set_new(root, "system", json_row(&system_fields, r->system));
    for (size_t i = 0; i < r->n_sections; i++)
        json_object_set_new(root, r->sections[i].name,
                            json_row(r->sections[i].list, r->sections[i].base));
    if (r->recorded)
        json_object_set_new(root, "recording", json_recorded(r));
    if (r->process)
        add_process_json(root, r->process);
    if (r->process)
        json_object_set_new(root, "suspended_by", json_suspenders(r));
    if (r->grid.present)
        json_object_set_new(root, "rows", json_grid(&r->grid));
    if (r->more.present)
        json_object_set_new(root, r->more.list->name, json_grid(&r->more));
    json_put_line(out, root);
}
