/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/model/fields.h"
#include "ui/widgets/rows.h"
#include "views.h"

#define BY(column)                                                                                 \
    {                                                                                              \
        .word = (column), .fields = &tables_fields, .sort = "memory_bytes", .groups = true         \
    }
static const struct rows_of tables_rows[] = {
    {.word = "table", .fields = &tables_fields, .sort = "memory_bytes"},
    BY("owner_name"),
    BY("name"),
    BY("application"),
    BY("type"),
};

/* Several have no page, but an owner; so has one whose name does not fit. */
static void link_table(struct view_link *link, const struct tables_row *t)
{
    *link = (struct view_link){.kind = TARGET_TABLE, .pid = t->owner};
    if (t->tables == 1 && t->id.len < sizeof link->name)
        snprintf(link->name, sizeof link->name, "%.*s", (int)t->id.len, t->id.s);
}

static void about_table(const struct rows *rows, struct view_page *page, struct view_row *row,
                        const void *of)
{
    const struct tables_row *t = of;
    if (t->has_owner)
        link_table(&row->link, t);
    if (t->tables > 1)
        page_cell(page, row, 0, STYLE_DIM, t->id.s, t->id.len);
    rows_mark_older(rows, page, row, "memory_bytes", t->memory_older, t->memory_age_s);
}

/* Of Mnesia, where it runs. */
static void say_mnesia(struct view_page *page, const struct model *m)
{
    const struct table_detail *t = model_mnesia(m);
    const struct mnesia_row *row = t && t->n_rows > 0 ? t->rows : NULL;
    char n[3][32], commits[32] = "";
    if (!row)
        return;
    if (!isnan(row->commits_per_s))
        snprintf(commits, sizeof commits, ", %s commits/s",
                 text_count(n[2], sizeof n[2], row->commits_per_s));
    snprintf(page->note, sizeof page->note,
             "Mnesia runs on %lld of %lld nodes%s%.*s%s%s, %s locks held, %s waited for%s",
             (long long)row->running_nodes, (long long)row->schema_nodes,
             row->down_nodes.len > 0 ? " (not on " : "",
             row->down_nodes.len < 100 ? (int)row->down_nodes.len : 100,
             row->down_nodes.len > 0 ? row->down_nodes.s : "",
             row->cut_nodes.len == 0                     ? ""
             : row->cut_nodes.len == row->down_nodes.len ? ", but connected: partitioned?"
                                                         : ", some connected: partitioned?",
             row->down_nodes.len > 0 ? ")" : "", text_integer(n[0], sizeof n[0], row->held_locks),
             text_integer(n[1], sizeof n[1], row->waiting_locks), commits);
}

static void tables_page(void *state, const struct model *m, struct view_page *page)
{
    const struct table_detail *table = rows_of_table(state, page, m, QUESTION_TABLES, about_table);
    const struct tables_row *rows = table ? table->rows : NULL;
    struct older older = {0};
    double n = 0, bytes = 0;
    char count[32], size[32];
    if (!table)
        return;
    for (size_t i = 0; i < table->n_rows; i++) {
        older_add(&older, rows[i].memory_older, rows[i].memory_age_s);
        n += fmax((double)rows[i].tables, 0);
        bytes += fmax((double)rows[i].memory_bytes, 0);
    }
    snprintf(page->summary, sizeof page->summary, "%s ETS tables, %s%s",
             text_integer(count, sizeof count, (int64_t)fmin(n, 1e15)),
             text_bytes(size, sizeof size, bytes), table->partial ? ", some not known yet" : "");
    say_mnesia(page, m);
    older_say_why(&older, page, "counters by scheduler, or many tables");
}

static const struct view_act tables_acts[] = {
    {.action = ACTION_BY, .run = rows_by},
    {.action = ACTION_FOLD, .folds = true, .run = rows_fold},
    {.run = NULL}};
static const struct view_hint tables_hints[] = {
    {ACTION_ENTER, "open"}, {ACTION_BY, "group"}, {ACTION_TRACE_ROW, "who writes"}, {.does = NULL}};

const struct view_ops view_tables = {
    .name = "tables",
    .title = "Tables",
    .alias = "ets",
    .key = 'Z',
    .hinted = true,
    .help = "Memory, objects, growth and owner of ETS tables; grouped by owner, name, application.",
    .kind = VIEW_TABLE,
    .state_bytes = sizeof(struct rows),
    .rows = tables_rows,
    .n_rows = ARRAY_LEN(tables_rows),
    .needs = NEED(TABLES) | NEED(MNESIA),
    .acts = tables_acts,
    .hints = tables_hints,
    .page = tables_page,
    .sort = rows_sort,
};
