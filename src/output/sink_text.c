/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/output/fields.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/etf/print.h"
#include "beamtop/model/related.h"
#include "beamtop/model/shown_name.h"
#include "beamtop/model/suspenders.h"
#include "table.h"

#define CELL_COLUMNS_MAX 60 /* of one cell in a table; the last column may be longer */

struct text_out {
    struct buf *out;
    struct arena arena;
    bool ascii;
};

static const char *duration_text(const struct text_out *t, double seconds, char *to, size_t size)
{
    return text_duration_as(to, size, seconds, t->ascii);
}

/* UTC; empty when there is no such time. */
static const char *wall_utc(int64_t wall_us, char *to, size_t size)
{
    char text[40];
    bool known = text_date_time(text, sizeof text, wall_us, ' ', 0);
    snprintf(to, size, "%s%s", text, known ? "Z" : "");
    return to;
}

static const char *number_text(struct text_out *t, const struct value *v, char *to, size_t size)
{
    if (v->form == FIELD_MS)
        return duration_text(t, v->number / 1000, to, size);
    if (v->form == FIELD_WALL_US)
        return wall_utc(v->integer, to, size);
    if (v->form == FIELD_CPUS) {
        snprintf(to, size, "%.2f", v->number);
        return to;
    }
    switch (v->type) {
    case COLUMN_BYTES:
        return text_bytes(to, size, v->number);
    case COLUMN_BYTE_RATE:
        text_bytes(to, size, fabs(v->number));
        return arena_printf(&t->arena, "%s%s/s", v->number < 0 ? "-" : "", to);
    case COLUMN_SHARE:
        return text_percent(to, size, v->number);
    case COLUMN_SECONDS:
        return duration_text(t, v->number, to, size);
    case COLUMN_RATE:
        return text_count(to, size, v->number);
    case COLUMN_COUNT:
    case COLUMN_TEXT:
    case COLUMN_PID:
    case COLUMN_BOOL:
        break;
    }
    return v->is_integer ? text_integer(to, size, v->integer) : text_count(to, size, v->number);
}

/* A cell as safe text, owned by the arena. */
static struct slice cell_text(struct text_out *t, const struct value *v)
{
    const struct slice text = v->kind == VALUE_TEXT ? shown_name(&t->arena, v->text) : v->text;
    struct buf b;
    char number[64];
    buf_init(&b, 0);
    switch (v->kind) {
    case VALUE_NONE:
        buf_puts(&b, t->ascii ? "-" : "–");
        break;
    case VALUE_TEXT:
        text_put_safe(&b, text.s, text.len, t->ascii);
        break;
    case VALUE_NUMBER:
        if (v->type == COLUMN_TEXT) /* a name that is a number: no grouping of digits */
            buf_printf(&b, "%" PRId64, v->integer);
        else
            buf_puts(&b, number_text(t, v, number, sizeof number));
        break;
    case VALUE_BOOL:
        buf_puts(&b, v->boolean ? "yes" : "no");
        break;
    case VALUE_PID:
        print_pid(&b, &v->pid);
        break;
    }
    return slice_take(&t->arena, &b);
}

/* What was read some time ago comes with its age. */
static struct slice process_text(struct text_out *t, const struct field *f, const void *of,
                                 const struct value *v)
{
    const struct proc_row *row = of;
    struct slice text = cell_text(t, v);
    char age[32];
    if (v->kind != VALUE_NUMBER)
        return text;
    if (proc_column_is_least(f, row))
        return slice_of(arena_printf(&t->arena, "%s%s", t->ascii ? ">=" : "≥", text.s));
    if (proc_column_is_older(f, row))
        return slice_of(arena_printf(&t->arena, "~%s %s ago", text.s,
                                     duration_text(t, row->older_s, age, sizeof age)));
    return text;
}

/* A cell of a table, which may be longer in the last column. */
static const char *process_cell(struct text_out *t, const struct field *f, const void *row,
                                bool last)
{
    const struct value v =
        f->type == COLUMN_TEXT ? text_value(proc_column_text(f, row)) : field_value(f, row);
    const struct slice text = process_text(t, f, row, &v);
    size_t columns;
    const size_t bytes =
        last ? text.len : text_prefix(text.s, text.len, CELL_COLUMNS_MAX, &columns);
    return arena_strndup(&t->arena, text.s, bytes);
}

static void put_grid(struct text_out *t, const struct grid *g)
{
    const struct text_rows rows = {g->list, NULL, g->rows, g->n_rows, g->row_bytes, NULL};
    const size_t n = g->n_columns;
    if (!g->columns) {
        text_rows_put(t->out, &rows, t->ascii);
        return;
    }
    const char **cells = arena_alloc(&t->arena, (n * g->n_rows + 1) * sizeof *cells);
    for (size_t i = 0; i < n * g->n_rows; i++) {
        const struct field *f = g->columns[i % n];
        const void *row = grid_row(g, i / n);
        cells[i] = g->list == &proc_fields ? process_cell(t, f, row, i % n + 1 == n)
                                           : text_cell(&t->arena, f, row, t->ascii);
    }
    const struct text_cells table = {g->columns, n, cells, g->n_rows};
    text_cells_put(t->out, &table, SIZE_MAX, t->ascii);
}

static void put_section(struct text_out *t, const struct section *s)
{
    const bool process = s->list == &proc_fields; /* people read its keys */
    for (size_t i = 0; i < s->list->n; i++) {
        const struct field *f = &s->list->fields[i];
        struct value v = field_value(f, s->base);
        struct slice text = process ? process_text(t, f, s->base, &v) : cell_text(t, &v);
        char title[FIELD_TITLE_BYTES];
        if (v.kind != VALUE_NONE)
            buf_printf(t->out, "%-28s%.*s\n", process ? f->key : field_title(f, false, title),
                       (int)text.len, text.s);
    }
}

static void put_related(struct text_out *t, const char *title, const struct related *r)
{
    struct value v = r->is_pid ? pid_value(&r->pid) : text_value(r->text);
    struct value name = text_value(r->name);
    struct slice who = cell_text(t, &v), called = cell_text(t, &name);
    if (v.kind == VALUE_NONE)
        return;
    buf_printf(t->out, "%-28s%.*s", title, (int)who.len, who.s);
    if (name.kind != VALUE_NONE)
        buf_printf(t->out, "  %.*s", (int)called.len, called.s);
    buf_put_u8(t->out, '\n');
}

/* As many as the page of the process shows. */
static void put_related_groups(struct text_out *t, const char *title, int64_t count,
                               const struct related_group *groups, size_t n)
{
    char text[32];
    buf_printf(t->out, "%-28s%s, of the first %d:\n", title, text_integer(text, sizeof text, count),
               RELATED_NAMED);
    for (size_t i = 0; i < n; i++) {
        const struct value v = text_value(groups[i].name);
        const struct slice name = v.kind == VALUE_NONE ? slice_of("unknown") : cell_text(t, &v);
        buf_printf(t->out, "%-28s%2" PRId64 "  %.*s\n", "", groups[i].n, (int)name.len, name.s);
    }
}

static void put_related_list(struct text_out *t, const char *title, const struct related_list *l)
{
    struct related_group groups[RELATED_NAMED];
    const size_t n_groups = related_groups(l, groups);
    const size_t listed = n_groups > 0 ? RELATED_LISTED : l->n;
    char text[32];
    if (n_groups > 0)
        put_related_groups(t, title, l->count, groups, n_groups);
    for (size_t i = 0; i < listed; i++)
        put_related(t, i == 0 && n_groups == 0 ? title : "", &l->items[i]);
    if (l->count > (int64_t)listed)
        buf_printf(t->out, "%-28s%s more\n", listed == 0 ? title : "",
                   text_integer(text, sizeof text, l->count - (int64_t)listed));
}

static void put_frame(struct text_out *t, const char *title, const struct frame_location *f)
{
    struct value function = text_value(f->function), file = text_value(f->file);
    struct slice what = cell_text(t, &function), where = cell_text(t, &file);
    buf_printf(t->out, "%-28s%.*s", title, (int)what.len, what.s);
    if (file.kind != VALUE_NONE)
        buf_printf(t->out, "  %.*s:%" PRId64, (int)where.len, where.s, f->line);
    buf_put_u8(t->out, '\n');
}

static void put_suspenders(struct text_out *t, const struct sink_tick *r)
{
    char text[96];
    for (size_t i = 0; i < r->n_suspenders; i++) {
        const struct suspenders_row *row = &r->suspenders[i];
        const struct related by = {.is_pid = true, .pid = row->by, .name = row->by_name};
        if (row->has_by)
            put_related(t, i == 0 ? "suspended by" : "", &by);
        else
            buf_printf(t->out, "%-28s%s\n", "suspended by",
                       suspenders_none(text, sizeof text, row));
    }
}

static void put_process_facts(struct text_out *t, const struct process_detail *p)
{
    put_related(t, "parent", &p->parent);
    put_related_list(t, "ancestors", &p->ancestors);
    put_related_list(t, "linked to", &p->links);
    put_related_list(t, "monitors", &p->monitors);
    put_related_list(t, "monitored by", &p->monitored_by);
    for (size_t i = 0; i < p->n_stack; i++)
        put_frame(t, i == 0 ? "stack" : "", &p->stack[i]);
    for (size_t i = 0; i < p->n_dictionary; i++) {
        struct value key = text_value(p->dictionary[i].key);
        struct slice s = cell_text(t, &key);
        char bytes[32];
        text_bytes(bytes, sizeof bytes, (double)p->dictionary[i].value_bytes);
        buf_printf(t->out, "%-28s%.*s  %s\n", i == 0 ? "dictionary" : "", (int)s.len, s.s, bytes);
    }
}

static void put_amount(struct text_out *t, const char *title, const char *text)
{
    buf_printf(t->out, "  %s %s", title, text);
}

/* Which node, or how many. */
static void put_whose(struct text_out *t, const struct sink_tick *r)
{
    struct value node = text_value(r->node);
    const struct slice name = cell_text(t, &node);
    if (r->kind->question == QUESTION_FLEET)
        buf_printf(t->out, "%zu %s", r->grid.n_rows, r->grid.n_rows == 1 ? "row" : "rows");
    else
        buf_put(t->out, name.s, name.len);
}

/* The line above every table: when, how it is, what asking cost. */
static void put_tick_title(struct text_out *t, const struct sink_tick *r)
{
    char text[64];
    put_whose(t, r);
    if (*wall_utc(r->wall_us, text, sizeof text) != '\0')
        buf_printf(t->out, "  %s", text);
    if (r->system) {
        const struct system_sample *s = r->system;
        put_amount(t, "memory", text_bytes(text, sizeof text, s->memory_bytes[MEMORY_TOTAL]));
        put_amount(t, "processes", text_integer(text, sizeof text, s->processes));
        put_amount(t, "run queue", text_integer(text, sizeof text, s->run_queue));
        if (!isnan(s->use_normal))
            put_amount(t, "schedulers", text_percent(text, sizeof text, s->use_normal));
    }
    if (r->cost && !isnan(r->cost->target_us)) {
        put_amount(t, "cost", duration_text(t, r->cost->target_us / 1e6, text, sizeof text));
        if (!isnan(r->cost->share))
            buf_printf(t->out, " %s", text_percent(text, sizeof text, r->cost->share));
        buf_printf(t->out, " %s", text_bytes(text, sizeof text, r->cost->bytes));
    }
    buf_put_u8(t->out, '\n');
}

static const char *rank_text(const struct sink_tick *r)
{
    const struct proc_scan *scan = r->sections[0].base;
    return scan->by_delta ? "by change of " : "by ";
}

static void put_scan(struct text_out *t, const struct sink_tick *r)
{
    const struct proc_scan *scan = r->sections[0].base;
    char text[32];
    buf_printf(t->out, "%zu of ", scan->n_rows);
    if (scan->filtered)
        buf_printf(t->out, "%s matching, ", text_integer(text, sizeof text, scan->matching));
    if (scan->recorded >= 0)
        buf_printf(t->out, "%s recorded, ", text_integer(text, sizeof text, scan->recorded));
    buf_printf(t->out, "%s processes, %s%s", text_integer(text, sizeof text, scan->total),
               rank_text(r), scan->sort_key);
    if (scan->sorted_among >= 0)
        buf_printf(t->out, " among the %s busiest",
                   text_integer(text, sizeof text, scan->sorted_among));
    const char *before = "; not recorded: ";
    for (size_t i = 0; i < r->grid.n_columns; i++) {
        if (!sink_tick_lacks(r, i))
            continue;
        buf_printf(t->out, "%s%s", before, grid_field(&r->grid, i)->key);
        before = ", ";
    }
    buf_put_u8(t->out, '\n');
}

void text_put(struct buf *out, const struct sink_tick *r, bool ascii)
{
    struct text_out t = {.out = out, .ascii = ascii};
    arena_init(&t.arena);
    if (sink_tick_of_node(r) || r->kind->question == QUESTION_FLEET)
        put_tick_title(&t, r);
    const struct section system = {&system_fields, "system", r->system};
    if (r->kind->system && r->system)
        put_section(&t, &system);
    if (r->kind->question == QUESTION_SCAN)
        put_scan(&t, r);
    for (size_t i = 0; i < r->n_sections && r->kind->question != QUESTION_SCAN; i++)
        put_section(&t, &r->sections[i]);
    put_suspenders(&t, r);
    if (r->process)
        put_process_facts(&t, r->process);
    if (r->kind->text_empty && r->grid.n_rows == 0)
        buf_puts(out, r->kind->text_empty);
    else if (r->grid.present)
        put_grid(&t, &r->grid);
    if (r->more.n_rows > 0)
        put_grid(&t, &r->more);
    if (r->kind->question != QUESTIONS)
        buf_put_u8(out, '\n');
    arena_clear(&t.arena);
}
