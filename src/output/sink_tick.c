/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/suspenders.h"
#include "beamtop/output/fields.h"

#include <math.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/model/table.h"

const char *field_old_key(const char *key)
{
    static const struct {
        const char *key, *old;
    } renamed[] = {
        {"scheduler_utilisation", "scheduler_use"},
        {"dirty_cpu_utilisation", "dirty_cpu_use"},
        {"dirty_io_utilisation", "dirty_io_use"},
        {"truncated", "cut"},
        {"not_returned", "open"},
        {"functions_capped", "functions_cut"},
        {"expensive", "dear"},
        {"stopped_early", "cut"},
    };
    for (size_t i = 0; i < ARRAY_LEN(renamed); i++)
        if (strcmp(renamed[i].key, key) == 0)
            return renamed[i].old;
    return NULL;
}

const struct field *grid_field(const struct grid *g, size_t column)
{
    return g->columns ? g->columns[column] : &g->list->fields[column];
}

const void *grid_row(const struct grid *g, size_t row)
{
    return (const char *)g->rows + row * g->row_bytes;
}

static void add_section(struct sink_tick *r, const char *name, const struct field_list *list,
                        const void *base)
{
    r->sections[r->n_sections++] = (struct section){.list = list, .name = name, .base = base};
}

const char *sink_section_name(const struct sink_kind *kind)
{
    return kind->section == &table_fields ? question_rows[kind->question].what
                                          : kind->section->name;
}

static struct grid grid_of(const struct field_list *list, const void *rows, size_t n,
                           size_t row_bytes)
{
    return (struct grid){.list = list,
                         .n_columns = list->n,
                         .rows = rows,
                         .n_rows = n,
                         .row_bytes = row_bytes,
                         .present = true};
}

static struct grid grid_in(const struct field_list *list, const char *answer, size_t rows_at,
                           size_t n_at, size_t row_bytes)
{
    const void *rows;
    size_t n;
    memcpy(&rows, answer + rows_at, sizeof rows);
    memcpy(&n, answer + n_at, sizeof n);
    return grid_of(list, rows, n, row_bytes);
}

bool sink_tick_of_node(const struct sink_tick *r)
{
    return r->kind->question != QUESTIONS && r->kind->question != QUESTION_FLEET;
}

bool sink_tick_lacks(const struct sink_tick *r, size_t column)
{
    if (r->kind->question != QUESTION_SCAN)
        return false;
    const struct proc_scan *scan = r->sections[0].base;
    return scan->recorded >= 0 && (r->grid.columns[column]->items & ~scan->recorded_items) != 0;
}

static int64_t interval_us(double interval_s)
{
    return interval_s >= 0 && interval_s < 9e12 ? (int64_t)(interval_s * 1e6) : -1;
}

static int no_answer(const struct sink_kind *kind, const struct model *m, struct error *err)
{
    if (kind->question == QUESTION_PROCESS && model_process(m))
        return error_set(err, ERR_NOT_FOUND, "there is no such process on the node");
    return error_set(err, ERR_NOT_FOUND, "the node has not answered what `%s` shows", kind->name);
}

/* ---- the kinds */

bool sink_fill_top(struct sink_tick *r, const void *answer, const struct sink_options *o)
{
    const struct proc_scan *scan = answer;
    r->grid = grid_of(&proc_fields, scan->rows, scan->n_rows, sizeof scan->rows[0]);
    r->grid.columns = o->columns;
    r->grid.n_columns = (size_t)o->n_columns;
    return true;
}

bool sink_fill_process(struct sink_tick *r, const void *answer, const struct sink_options *o)
{
    (void)o;
    r->process = answer;
    if (r->process->gone)
        return false;
    add_section(r, proc_fields.name, &proc_fields, &r->process->row);
    return true;
}

bool sink_fill_table(struct sink_tick *r, const void *answer, const struct sink_options *o)
{
    const struct table_detail *table = answer;
    (void)o;
    if (table->sums)
        add_section(r, waits_sums_fields.name, &waits_sums_fields, table->sums);
    return true;
}

bool sink_fill_heaps(struct sink_tick *r, const void *answer, const struct sink_options *o)
{
    const struct heaps_detail *heaps = answer;
    if (o->by >= 0)
        r->grid = grid_of(&heap_owner_fields, heaps->by[o->by].items, heaps->by[o->by].n,
                          sizeof heaps->by[0].items[0]);
    return true;
}

/* A table in the order that is asked for. */
static void arrange_table(struct sink_tick *r, const struct table_detail *answer,
                          const struct sink_options *o)
{
    const struct field_list *list = r->kind->grid;
    struct table_detail chosen = *answer, table;
    if (o->where)
        table_choose(&chosen, list, o->where, o->only, &r->arena);
    table = chosen;
    if (o->group) {
        table_group(&table, &chosen, list, o->group, &r->arena);
        r->grid.columns = r->group_columns;
        r->grid.n_columns = table_group_columns(list, o->group, o->format != SINK_TEXT,
                                                r->group_columns, SINK_GROUP_COLUMNS);
    }
    if (o->sort)
        table_order(&table, list, o->sort, &r->arena);
    r->grid.rows = table.rows;
    r->grid.n_rows = o->most > 0 && table.n_rows > o->most ? o->most : table.n_rows;
}

static void add_suspenders(struct sink_tick *r, const struct model *m)
{
    const struct table_detail *answer = model_suspenders(m);
    r->suspenders = r->process ? suspenders_of(answer, &r->process->row.pid) : NULL;
    r->n_suspenders = r->suspenders ? answer->n_rows : 0;
}

static bool fill_tick(struct sink_tick *r, const void *answer, const struct sink_options *o)
{
    const struct sink_kind *kind = r->kind;
    const char *base = answer;
    if (!base)
        return false;
    if (kind->section)
        add_section(r, sink_section_name(kind), kind->section, base);
    if (kind->interval_at > 0) {
        double interval_s;
        memcpy(&interval_s, base + kind->interval_at, sizeof interval_s);
        r->interval_us = interval_us(interval_s);
    }
    if (kind->grid)
        r->grid = grid_in(kind->grid, base, kind->rows_at, kind->n_rows_at,
                          kind->row_bytes > 0 ? kind->row_bytes : kind->grid->row_bytes);
    if (kind->section == &table_fields)
        arrange_table(r, answer, o);
    if (kind->more)
        r->more = grid_in(kind->more, base, kind->more_at, kind->n_more_at, kind->more_bytes);
    return !kind->fill || kind->fill(r, answer, o);
}

int sink_tick_make(struct sink_tick *out, const struct sink_kind *kind, const struct model *m,
                   const struct sink_options *options, struct error *err)
{
    const struct node_info *node = model_node(m);
    *out = (struct sink_tick){
        .kind = kind,
        .node = node ? node->name : (struct slice){"", 0},
        .wall_us = -1,
        .interval_us = -1,
        .cost = model_cost(m),
        .system = model_system(m),
        .recorded = model_recorded(m),
    };
    arena_init(&out->arena);
    if (out->system) {
        out->wall_us = out->system->wall_us;
        out->interval_us = interval_us(out->system->interval_s);
    }
    if (!fill_tick(out, model_answer(m, kind->question), options))
        return no_answer(kind, m, err);
    add_suspenders(out, m);
    return 0;
}

void sink_tick_rows(struct sink_tick *out, const char *kind, const void *rows, size_t n,
                    size_t row_bytes, int64_t wall_us)
{
    *out = (struct sink_tick){
        .kind = sink_kind_find(kind), .node = {"", 0}, .wall_us = wall_us, .interval_us = -1};
    out->grid = grid_of(out->kind->grid, rows, n, row_bytes);
}

void sink_tick_clear(struct sink_tick *r)
{
    arena_clear(&r->arena);
}
