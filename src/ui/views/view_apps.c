/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/model/fields.h"
#include "ui/widgets/rows.h"
#include "views.h"

static const struct rows_of apps_rows = {.fields = &app_fields, .sort = "reductions_per_s"};

static void apps_init(void *state)
{
    rows_init(state, &apps_rows, 1);
}

static void apps_want(const void *state, int rows, struct want *want)
{
    (void)state;
    (void)rows;
    want->needs |= NEED_APPS;
}

static void add_app(struct view_page *page, const struct rows *rows, const struct app_row *a)
{
    struct view_row *row = rows_add(rows, page, a);
    const struct slice name = a->name.len > 0 ? a->name : slice_of("(none)");
    row->id = text_identity(name.s, name.len);
    if (a->name.len > 0)
        link_name(&row->link, TARGET_APP, a->name);
    else
        page_cell(page, row, 0, STYLE_DIM, name.s, name.len);
    if (isnan(a->reductions_per_s) && strcmp(rows->sort, "reductions_per_s") == 0)
        row->key = (double)a->reductions;
    rows_mark_older(rows, page, row, "memory_bytes", a->memory_older, a->memory_age_s);
}

static void apps_page(void *state, const struct model *m, int rows, int columns,
                      struct view_page *page)
{
    const struct apps_detail *a = model_apps(m);
    char n[32];
    (void)rows;
    (void)columns;
    rows_begin(state, page, NULL);
    if (!a) {
        view_missing(page, m, "applications");
        return;
    }
    struct older older = {0};
    for (size_t i = 0; i < a->n_rows; i++) {
        add_app(page, state, &a->rows[i]);
        older_add(&older, a->rows[i].memory_older, a->rows[i].memory_age_s);
    }
    page_sort(page);
    snprintf(page->summary, sizeof page->summary, "%s applications%s",
             text_integer(n, sizeof n, (int64_t)a->n_rows),
             a->partial ? ", cut short by the deadline" : "");
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
    .init = apps_init,
    .want = apps_want,
    .page = apps_page,
    .sort = rows_sort,
};
