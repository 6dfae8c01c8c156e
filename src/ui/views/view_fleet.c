/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several nodes, a row each. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/model/fields.h"
#include "ui/canvas/graph.h"
#include "ui/widgets/rows.h"
#include "views.h"

#define BY(column)                                                                                 \
    {                                                                                              \
        .word = (column), .fields = &fleet_fields, .sort = "memory_bytes", .groups = true          \
    }
static const struct rows_of fleet_rows[] = {
    {.word = "node", .fields = &fleet_fields, .sort = ""},
    BY("host"),
    BY("role"),
    BY("otp"),
    BY("apps"),
    BY("state"),
};

static void mark_cell(const struct rows *rows, struct view_page *page, struct view_row *row,
                      const char *key, enum style style, struct slice text)
{
    const struct text_span *cell = rows_cell(rows, row, key);
    if (cell)
        page_cell(page, row, (size_t)(cell - row->cells), style, text.s, text.len);
}

static void mark_odd(const struct rows *rows, struct view_page *page, struct view_row *row,
                     const struct fleet_row *f)
{
    const bool waits = slice_is(f->state, "waiting") || slice_is(f->state, "connecting");
    const enum style limit = graph_limit_style(f->limit_share);
    char text[32];
    if (!slice_is(f->state, "up") && !slice_is(f->state, "recorded"))
        mark_cell(rows, page, row, "state", waits ? STYLE_DIM : STYLE_ERROR, f->state);
    if (slice_begins(f->unlike, "otp"))
        mark_cell(rows, page, row, "otp", STYLE_WARN, f->otp);
    if (slice_is(f->apps, "same"))
        mark_cell(rows, page, row, "apps", STYLE_DIM, f->apps);
    else if (f->unlike.len > strlen("otp"))
        mark_cell(rows, page, row, "apps", STYLE_WARN, f->apps);
    if (limit != STYLE_OK)
        mark_cell(rows, page, row, "memory_limit_share", limit,
                  slice_of(text_percent(text, sizeof text, f->limit_share)));
    if (f->busy_links > 0 && f->link_queue_bytes >= 0)
        mark_cell(rows, page, row, "link_queue_bytes", STYLE_WARN,
                  slice_of(text_bytes(text, sizeof text, (double)f->link_queue_bytes)));
}

static void about_node(const struct rows *rows, struct view_page *page, struct view_row *row,
                       const void *of)
{
    const struct fleet_row *f = of;
    if (rows->by > 0)
        return;
    link_name(&row->link, TARGET_NODE, f->node);
    mark_odd(rows, page, row, f);
}

/* What is odd among them the view of their links says. */
static size_t count_findings(const struct model *m)
{
    const struct table_detail *mesh = model_mesh(m);
    const struct mesh_row *rows = mesh ? mesh->rows : NULL;
    size_t n = 0;
    for (size_t i = 0; mesh && i < mesh->n_rows; i++)
        n += slice_is(rows[i].level, "fix") || slice_is(rows[i].level, "check");
    return n;
}

static void fleet_page(void *state, const struct model *m, struct view_page *page)
{
    const struct table_detail *table = rows_of_table(state, page, m, QUESTION_FLEET, about_node);
    if (!table) {
        snprintf(page->empty, sizeof page->empty,
                 "This is the screen of one node. Of several: beamtop NODE,NODE, beamtop --cluster "
                 "NODE, or beamtop @FILE, a file with a name on each line.");
        return;
    }
    const size_t findings = count_findings(m);
    char odd[48] = "";
    if (findings > 0)
        snprintf(odd, sizeof odd, ", %zu finding%s (:mesh)", findings, findings > 1 ? "s" : "");
    snprintf(page->summary, sizeof page->summary, "%zu node%s%s", table->n_rows,
             table->n_rows == 1 ? "" : "s", odd);
}

static const struct view_act fleet_acts[] = {
    {.action = ACTION_BY, .run = rows_by},
    {.action = ACTION_FOLD, .folds = true, .run = rows_fold},
    {.run = NULL}};
static const struct view_hint fleet_hints[] = {
    {ACTION_ENTER, "its screen"},      {ACTION_MARK, "mark"}, {ACTION_PICK_NODE, "add a node"},
    {ACTION_REMOVE_NODE, "remove it"}, {ACTION_BY, "group"},  {.does = NULL}};

const struct view_ops view_fleet = {
    .name = "fleet",
    .title = "Fleet",
    .help = "Several nodes: state, memory, load, longest queue, clock; grouped.",
    .kind = VIEW_TABLE,
    .nodes = true,
    .several = true,
    .no_processes = true,
    .own_facts = true,
    .state_bytes = sizeof(struct rows),
    .rows = fleet_rows,
    .n_rows = ARRAY_LEN(fleet_rows),
    .acts = fleet_acts,
    .hints = fleet_hints,
    .page = fleet_page,
    .sort = rows_sort,
};
