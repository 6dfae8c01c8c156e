/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace_columns.h"

#include <jansson.h>
#include <stdlib.h>

#include "beamtop/output/json.h"
#include "event_term.h"

#define AT(member) offsetof(struct trace_line, member)
const struct trace_column trace_columns[TRACE_COLUMNS] = {
    {"number", TRACE_COLUMN_INT, false, AT(id)},
    {"wall_us", TRACE_COLUMN_INT, false, AT(wall_us)},
    {"mono_ns", TRACE_COLUMN_SIGNED, true, AT(mono_ns)},
    {"pattern", TRACE_COLUMN_TEXT, false, AT(pattern_text)},
    {"pid", TRACE_COLUMN_WORD, false, AT(pid)},
    {"name", TRACE_COLUMN_TEXT, false, AT(name)},
    {"mfa", TRACE_COLUMN_TEXT, false, AT(mfa)},
    {"caller", TRACE_COLUMN_TEXT, false, AT(caller)},
    {"depth", TRACE_COLUMN_INT, true, AT(depth)},
    {"args", TRACE_COLUMN_ARGS, true, AT(args)},
    {"shown_only", TRACE_COLUMN_BOOL, false, AT(shown_only)},
    {"stack", TRACE_COLUMN_STACK, true, AT(stack)},
    {"latency_us", TRACE_COLUMN_REAL, false, AT(latency_us)},
    {"class", TRACE_COLUMN_WORD, false, AT(class)},
    {"result", TRACE_COLUMN_WORD, true, AT(result)},
    {"receiver", TRACE_COLUMN_WORD, true, AT(to)},
    {"message", TRACE_COLUMN_WORD, true, AT(message)},
    {"no_receiver", TRACE_COLUMN_BOOL, true, AT(no_receiver)},
    {"full_bytes", TRACE_COLUMN_INT, true, AT(full_bytes)},
    {"lost", TRACE_COLUMN_INT, false, AT(lost)},
    {"at_most", TRACE_COLUMN_BOOL, false, AT(at_most)},
    {"why", TRACE_COLUMN_WORD, true, AT(why)},
    {"duration_us", TRACE_COLUMN_INT, true, AT(duration_us)},
};
#undef AT

static const char *const types[] = {
    [TRACE_COLUMN_INT] = "INTEGER", [TRACE_COLUMN_SIGNED] = "INTEGER",
    [TRACE_COLUMN_REAL] = "REAL",   [TRACE_COLUMN_BOOL] = "INTEGER",
    [TRACE_COLUMN_WORD] = "TEXT",   [TRACE_COLUMN_TEXT] = "INTEGER",
    [TRACE_COLUMN_ARGS] = "TEXT",   [TRACE_COLUMN_STACK] = "TEXT",
};

void trace_columns_declare(struct buf *sql)
{
    for (size_t i = 0; i < TRACE_COLUMNS; i++)
        if (!trace_columns[i].printed)
            buf_printf(sql, ", %s %s", trace_columns[i].name, types[trace_columns[i].form]);
}

void trace_columns_select(struct buf *sql, bool printed)
{
    buf_puts(sql, printed ? "kind, NULL" : "kind, term");
    for (size_t i = 0; i < TRACE_COLUMNS; i++) {
        const struct trace_column *c = &trace_columns[i];
        bool id = c->form == TRACE_COLUMN_TEXT;
        if (printed || !c->printed)
            buf_printf(sql, id ? ", (SELECT text FROM text WHERE id = event.%s)" : ", %s", c->name);
    }
}

struct slice trace_texts_json(struct arena *arena, const struct slice *items, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array,
                              json_stringn_nocheck(items[i].s ? items[i].s : "", items[i].len));
    char *text = json_dumps(array, JSON_COMPACT);
    struct slice kept = {0};
    if (text)
        kept = slice_of(arena_strdup(arena, text));
    free(text);
    json_decref(array);
    return kept;
}

/* False: it is none. What is not text in it is empty. */
static bool read_texts(struct slice json, struct arena *arena, const struct slice **out, size_t *n)
{
    json_t *array = json.len == 0 ? NULL : json_loadb(json.s, json.len, 0, NULL);
    *n = json_array_size(array);
    struct slice *items = arena_alloc(arena, (*n + 1) * sizeof *items);
    for (size_t i = 0; i < *n; i++) {
        const json_t *item = json_array_get(array, i);
        const char *text = json_string_value(item);
        items[i] = slice_keep(arena, (struct slice){text, text ? json_string_length(item) : 0});
    }
    bool is_array = json_is_array(array);
    json_decref(array);
    *out = items;
    return is_array;
}

static bool read_kind(struct slice text, enum trace_line_kind *kind)
{
    for (enum trace_line_kind k = LINE_CALL; k < LINE_KINDS; k++) {
        if (!slice_is(text, trace_line_kind_name(k)))
            continue;
        *kind = k;
        return true;
    }
    return false;
}

/* All of the line that is in the term. */
static bool read_term(const struct trace_columns_reader *how, struct slice term,
                      struct trace_line *out)
{
    enum trace_line_kind kind = out->kind;
    struct pushed_event pushed;
    if (!event_term_read(term, &pushed))
        return false;
    if (!how->has_values)
        pushed.event.args.bytes = (struct slice){NULL, 0};
    trace_line_make(out, &how->layout, NULL, &pushed.event, pushed.event.outcome > OUTCOME_OPEN);
    out->class = slice_keep(how->layout.arena, out->class);
    out->why = slice_keep(how->layout.arena, out->why);
    return out->kind == kind;
}

static void read_column(sqlite3_stmt *row, int at, const struct trace_column *c,
                        struct trace_line *out, struct arena *arena)
{
    void *to = (char *)out + c->offset;
    switch (c->form) {
    case TRACE_COLUMN_INT:
        *(int64_t *)to = db_column_int(row, at);
        break;
    case TRACE_COLUMN_SIGNED:
        *(int64_t *)to = db_column_signed(row, at);
        break;
    case TRACE_COLUMN_REAL:
        *(double *)to = db_column_real(row, at);
        break;
    case TRACE_COLUMN_BOOL:
        *(bool *)to = sqlite3_column_int(row, at) != 0;
        break;
    case TRACE_COLUMN_WORD:
    case TRACE_COLUMN_TEXT:
        *(struct slice *)to = slice_keep(arena, db_column_text(row, at));
        break;
    case TRACE_COLUMN_ARGS:
        out->has_args = read_texts(db_column_text(row, at), arena, &out->args, &out->n_args);
        break;
    case TRACE_COLUMN_STACK:
        (void)read_texts(db_column_text(row, at), arena, &out->stack, &out->n_stack);
        break;
    }
}

bool trace_columns_read(sqlite3_stmt *row, const struct trace_columns_reader *how,
                        struct trace_line *out)
{
    int at = 2;
    *out = (struct trace_line){.kind = LINE_CALL};
    if (!read_kind(db_column_text(row, 0), &out->kind))
        return false;
    const void *term = sqlite3_column_blob(row, 1);
    struct slice bytes = {term, (size_t)sqlite3_column_bytes(row, 1)};
    if (!how->printed && !read_term(how, bytes, out))
        return false;
    for (size_t i = 0; i < TRACE_COLUMNS; i++)
        if (how->printed || !trace_columns[i].printed)
            read_column(row, at++, &trace_columns[i], out, how->layout.arena);
    out->cut = out->full_bytes > 0;
    out->has_args = out->has_args || out->shown_only;
    return true;
}
