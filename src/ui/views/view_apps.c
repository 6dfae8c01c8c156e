/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "beamtop/model/fields.h"
#include "ui/widgets/rows.h"
#include "views.h"

static const struct rows_of apps_rows = {.fields = &apps_fields, .sort = "reductions_per_s"};

static void about_app(const struct rows *rows, struct view_page *page, struct view_row *row,
                      const void *of)
{
    const struct app_row *a = of;
    if (a->name.len > 0)
        link_name(&row->link, TARGET_APP, a->name);
    else
        page_cell_printf(page, row, 0, STYLE_DIM, "(none)");
    if (isnan(a->reductions_per_s) && strcmp(rows->sort, "reductions_per_s") == 0)
        row->key = (double)a->reductions;
    rows_mark_older(rows, page, row, "memory_bytes", a->memory_older, a->memory_age_s);
}

static void apps_page(void *state, const struct model *m, struct view_page *page)
{
    const struct table_detail *table = rows_of_table(state, page, m, QUESTION_APPS, about_app);
    const struct app_row *apps = table ? table->rows : NULL;
    struct older older = {0};
    for (size_t i = 0; table && i < table->n_rows; i++)
        older_add(&older, apps[i].memory_older, apps[i].memory_age_s);
    older_say(&older, page);
}

const struct view_ops view_apps = {
    .name = "applications",
    .title = "Applications",
    .alias = "apps",
    .key = '5',
    .help = "Processes, reductions, memory and message queues of each application.",
    .kind = VIEW_TABLE,
    .no_processes = true,
    .state_bytes = sizeof(struct rows),
    .rows = &apps_rows,
    .n_rows = 1,
    .needs = NEED(APPS),
    .page = apps_page,
    .sort = rows_sort,
};
