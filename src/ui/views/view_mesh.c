/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of several nodes see each other, what is odd first. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/model/fields.h"
#include "ui/widgets/rows.h"
#include "views.h"

static const struct rows_of mesh_rows[] = {{.fields = &mesh_fields, .sort = ""}};

static void about_pair(const struct rows *rows, struct view_page *page, struct view_row *row,
                       const void *of)
{
    const struct mesh_row *p = of;
    const bool fix = slice_is(p->level, "fix");
    if (!slice_is(p->kind, "outside"))
        link_name(&row->link, TARGET_NODE, p->node);
    const struct text_span *cell = rows_cell(rows, row, "kind");
    if (cell && (fix || slice_is(p->level, "check")))
        page_cell_printf(page, row, (size_t)(cell - row->cells), fix ? STYLE_ERROR : STYLE_WARN,
                         "%.*s", (int)p->kind.len, p->kind.s);
}

static void mesh_page(void *state, const struct model *m, struct view_page *page)
{
    const struct table_detail *table = rows_of_table(state, page, m, QUESTION_MESH, about_pair);
    const struct mesh_row *rows = table ? table->rows : NULL;
    size_t links = 0, odd = 0, missing = 0;
    if (!table) {
        snprintf(page->empty, sizeof page->empty,
                 "This is the screen of one node: :links has its connections. Of several: "
                 "beamtop NODE,NODE or beamtop @FILE.");
        return;
    }
    for (size_t i = 0; i < table->n_rows; i++) {
        links += slice_is(rows[i].kind, "link") || slice_is(rows[i].kind, "hidden");
        missing += slice_is(rows[i].kind, "missing");
        odd += slice_is(rows[i].level, "fix") || slice_is(rows[i].level, "check");
    }
    snprintf(page->summary, sizeof page->summary,
             "%zu finding%s, %zu pairs connected, %zu not connected%s", odd, odd == 1 ? "" : "s",
             links, missing, table->partial ? ", some left out" : "");
}

static const struct view_hint mesh_hints[] = {{ACTION_ENTER, "its screen"}, {.does = NULL}};

const struct view_ops view_mesh = {
    .name = "mesh",
    .title = "Mesh",
    .help = "Which of several nodes see each other; what is odd with one of them.",
    .kind = VIEW_TABLE,
    .no_processes = true,
    .own_facts = true,
    .state_bytes = sizeof(struct rows),
    .rows = mesh_rows,
    .n_rows = ARRAY_LEN(mesh_rows),
    .hints = mesh_hints,
    .page = mesh_page,
    .sort = rows_sort,
};
