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

/* Who writes to it: what has no name is known by its owner only. */
static void link_table(struct view_link *link, const struct tables_row *t)
{
    const bool is_named = t->tables == 1 && t->id.len > 0 && t->id.s[0] != '#';
    *link = (struct view_link){.kind = TARGET_TABLE, .pid = t->owner};
    snprintf(link->name, sizeof link->name, "ets:insert(%.*s, _) -> caller",
             is_named ? (int)t->id.len : 1, is_named ? t->id.s : "_");
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
        n += (double)rows[i].tables;
        bytes += fmax((double)rows[i].memory_bytes, 0);
    }
    snprintf(page->summary, sizeof page->summary, "%s ETS tables, %s%s",
             text_integer(count, sizeof count, (int64_t)fmin(n, 1e15)),
             text_bytes(size, sizeof size, bytes), table->partial ? ", some not known yet" : "");
    older_say_why(&older, page, "counters by scheduler, or many tables");
}

static const struct view_act tables_acts[] = {
    {.action = ACTION_BY, .run = rows_by}, {ACTION_FOLD, true, rows_fold}, {.run = NULL}};
static const struct view_hint tables_hints[] = {{ACTION_ENTER, "owner"},
                                                {ACTION_BY, "group"},
                                                {ACTION_TRACE_ROW, "who writes"},
                                                {.does = NULL}};

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
    .needs = NEED(TABLES),
    .acts = tables_acts,
    .hints = tables_hints,
    .page = tables_page,
    .sort = rows_sort,
};
