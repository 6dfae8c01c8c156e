/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/output/fields.h"

#include <math.h>

size_t section_len(const struct section *s)
{
    return s->list != NULL ? s->list->n : (size_t)proc_columns_len;
}

const char *section_key(const struct section *s, size_t i)
{
    return s->list != NULL ? s->list->fields[i].key : proc_columns[i].key;
}

const char *section_title(const struct section *s, size_t i)
{
    return s->list != NULL ? s->list->fields[i].title : proc_columns[i].key;
}

struct value section_value(const struct section *s, size_t i)
{
    return s->list != NULL ? field_value(&s->list->fields[i], s->base)
                           : column_value(&proc_columns[i], s->base);
}

const char *grid_key(const struct grid *g, size_t column)
{
    return g->list != NULL ? g->list->fields[column].key : g->columns[column]->key;
}

const char *grid_title(const struct grid *g, size_t column)
{
    return g->list != NULL ? g->list->fields[column].title : g->columns[column]->title;
}

enum column_type grid_type(const struct grid *g, size_t column)
{
    return g->list != NULL ? g->list->fields[column].type : g->columns[column]->type;
}

struct value grid_value(const struct grid *g, size_t row, size_t column)
{
    const void *base = (const char *)g->rows + row * g->row_bytes;
    return g->list != NULL ? field_value(&g->list->fields[column], base)
                           : column_value(g->columns[column], base);
}

static void add_section(struct report *r, const char *name, const struct field_list *list,
                        const void *base)
{
    r->sections[r->n_sections++] = (struct section){.list = list, .name = name, .base = base};
}

static void set_grid(struct report *r, const struct field_list *list, const void *rows, size_t n,
                     size_t row_bytes)
{
    r->grid = (struct grid){.list = list, .n_columns = list->n, .rows = rows, .n_rows = n,
                            .row_bytes = row_bytes, .present = true};
}

bool report_lacks(const struct report *r, size_t column)
{
    if (r->kind != SINK_TOP)
        return false;
    const struct proc_scan *scan = r->sections[0].base;
    return scan->recorded >= 0 && (r->grid.columns[column]->items & ~scan->recorded_items) != 0;
}

static int64_t interval_us(double interval_s)
{
    return interval_s >= 0 && interval_s < 9e12 ? (int64_t)(interval_s * 1e6) : -1;
}

static int missing(enum sink_kind kind, const struct model *m, struct error *err)
{
    if (kind == SINK_PROCESS && model_process(m) != NULL)
        return error_set(err, ERR_NOT_FOUND, "there is no such process on the node");
    return error_set(err, ERR_NOT_FOUND, "the node has not answered what `%s` shows",
                     sink_kind_name(kind));
}

static bool fill_top(struct report *r, const struct model *m, const struct sink_options *o)
{
    const struct proc_scan *scan = model_scan(m);
    if (scan == NULL)
        return false;
    r->interval_us = interval_us(scan->interval_s);
    add_section(r, "scan", &scan_fields, scan);
    r->grid = (struct grid){.columns = o->columns, .n_columns = (size_t)o->n_columns,
                            .rows = scan->rows, .n_rows = scan->n_rows,
                            .row_bytes = sizeof scan->rows[0], .present = true};
    return true;
}

static bool fill_process(struct report *r, const struct model *m)
{
    r->process = model_process(m);
    if (r->process == NULL || r->process->gone)
        return false;
    add_section(r, "process", NULL, &r->process->row);
    return true;
}

static bool fill_memory(struct report *r, const struct model *m)
{
    const struct alloc_detail *alloc = model_alloc(m);
    if (alloc == NULL)
        return false;
    add_section(r, "allocation", &alloc_fields, alloc);
    set_grid(r, &allocator_fields, alloc->rows, alloc->n_rows, sizeof alloc->rows[0]);
    return true;
}

static bool fill_apps(struct report *r, const struct model *m)
{
    const struct apps_detail *apps = model_apps(m);
    if (apps == NULL)
        return false;
    r->interval_us = interval_us(apps->interval_s);
    add_section(r, "applications", &apps_fields, apps);
    set_grid(r, &app_fields, apps->rows, apps->n_rows, sizeof apps->rows[0]);
    return true;
}

/* People get a table that fits a terminal; programs get all that there is. */
static bool fill_armed(struct report *r, const struct model *m, const struct sink_options *o)
{
    const struct armed_detail *armed = model_armed(m);
    if (armed == NULL)
        return false;
    add_section(r, "armed", &armed_fields, armed);
    set_grid(r, o->format == SINK_TEXT ? &armed_text_fields : &armed_row_fields, armed->rows,
             armed->n_rows, sizeof armed->rows[0]);
    return true;
}

static bool fill(struct report *r, const struct model *m, const struct sink_options *o)
{
    switch (r->kind) {
    case SINK_TOP:
        return fill_top(r, m, o);
    case SINK_INFO:
        if (model_node(m) == NULL)
            return false;
        add_section(r, "info", &info_fields, model_node(m));
        return true;
    case SINK_PROCESS:
        return fill_process(r, m);
    case SINK_MEMORY:
        return fill_memory(r, m);
    case SINK_SCHEDULERS:
        if (r->system == NULL)
            return false;
        set_grid(r, &scheduler_fields, r->system->schedulers, r->system->n_schedulers,
                 sizeof r->system->schedulers[0]);
        return true;
    case SINK_APPS:
        return fill_apps(r, m);
    case SINK_ARMED:
        return fill_armed(r, m, o);
    case SINK_NODES:
    case SINK_KINDS:
        break;
    }
    return false;
}

int report_make(struct report *out, enum sink_kind kind, const struct model *m,
                const struct sink_options *options, struct error *err)
{
    const struct node_info *node = model_node(m);
    *out = (struct report){
        .kind = kind,
        .node = node == NULL ? (struct slice){"", 0} : node->name,
        .wall_us = -1,
        .interval_us = -1,
        .cost = model_cost(m),
        .system = model_system(m),
        .recorded = model_recorded(m),
    };
    if (out->system != NULL) {
        out->wall_us = out->system->wall_us;
        out->interval_us = interval_us(out->system->interval_s);
    }
    return fill(out, m, options) ? 0 : missing(kind, m, err);
}

void report_nodes(struct report *out, const struct sink_node *nodes, size_t n, int64_t wall_us)
{
    *out = (struct report){.kind = SINK_NODES, .node = {"", 0}, .wall_us = wall_us,
                           .interval_us = -1};
    set_grid(out, &node_fields, nodes, n, sizeof nodes[0]);
}
