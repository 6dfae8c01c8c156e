/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of several nodes see each other: as a list, what is odd first, or all pairs as a matrix. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/model/fields.h"
#include "ui/widgets/rows.h"
#include "views.h"

static const struct rows_of mesh_rows[] = {{.word = "list", .fields = &mesh_fields, .sort = ""},
                                           {.word = "matrix", .fields = &matrix_fields}};
enum { BY_LIST, BY_MATRIX };
enum { NUMBER, NODE, SIGNS }; /* columns of the matrix; from SIGNS on one of each node */

struct mesh_state {
    struct rows rows;
    struct view_column columns[SIGNS + MATRIX_NODES];
    char titles[MATRIX_NODES][8];
};

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

/* ---- the matrix */

static enum style style_of_sign(char sign)
{
    return sign == 'o'                                 ? STYLE_OK
           : sign == '-' || sign == '<' || sign == '>' ? STYLE_ERROR
           : sign == '#' || sign == '~'                ? STYLE_WARN
           : sign == '.' || sign == '?'                ? STYLE_DIM
                                                       : STYLE_NORMAL;
}

static void set_columns(struct mesh_state *s, size_t nodes, struct view_page *page)
{
    s->columns[NUMBER] =
        (struct view_column){.key = "number", .title = "NR", .width = 3, .right = true};
    s->columns[NODE] =
        (struct view_column){.key = "node", .title = "NODE", .width = 16, .grows = true};
    for (size_t k = 0; k < nodes; k++) {
        snprintf(s->titles[k], sizeof s->titles[k], "%zu", k + 1);
        s->columns[SIGNS + k] = (struct view_column){
            .key = s->titles[k], .title = s->titles[k], .width = 1, .right = true};
    }
    page_columns(page, s->columns, SIGNS + nodes);
    page->sort_column = -1;
    page->in_place = true;
}

static void add_node(struct view_page *page, const struct matrix_row *node, size_t nodes)
{
    struct view_row *row = page_row(page);
    row->id = text_identity(node->node.s, node->node.len);
    link_name(&row->link, TARGET_NODE, node->node);
    page_cell_printf(page, row, NUMBER, STYLE_DIM, "%lld", (long long)node->number);
    page_cell(page, row, NODE, STYLE_NAME, node->node.s, node->node.len);
    for (size_t k = 0; k < nodes && k < node->signs.len; k++)
        page_cell(page, row, SIGNS + k, style_of_sign(node->signs.s[k]), node->signs.s + k, 1);
}

static void matrix_page(struct mesh_state *s, const struct table_detail *table,
                        struct view_page *page)
{
    const struct matrix_row *rows = table->rows;
    const size_t n = table->n_rows < MATRIX_NODES ? table->n_rows : MATRIX_NODES;
    set_columns(s, n, page);
    for (size_t i = 0; i < n; i++)
        add_node(page, &rows[i], n);
    snprintf(page->note, sizeof page->note,
             "o up, - not, > row only, < column only, h hidden, # held, ~ flaps, ? unknown");
    snprintf(page->summary, sizeof page->summary, "%zu nodes%s", n,
             table->partial ? ", those that stand out before others" : "");
}

/* ---- the list */

static void mesh_page(void *state, const struct model *m, struct view_page *page)
{
    struct mesh_state *s = state;
    const struct table_detail *matrix = model_matrix(m);
    if (s->rows.by == BY_MATRIX && matrix) {
        matrix_page(s, matrix, page);
        return;
    }
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

static const struct view_act mesh_acts[] = {{.action = ACTION_BY, .run = rows_by}, {.run = NULL}};
static const struct view_hint mesh_hints[] = {
    {ACTION_ENTER, "its screen"}, {ACTION_BY, "list or matrix"}, {.does = NULL}};

const struct view_ops view_mesh = {
    .name = "mesh",
    .title = "Mesh",
    .help = "Which of several nodes see each other; what is odd with one of them.",
    .kind = VIEW_TABLE,
    .several = true,
    .no_processes = true,
    .own_facts = true,
    .state_bytes = sizeof(struct mesh_state),
    .rows = mesh_rows,
    .n_rows = ARRAY_LEN(mesh_rows),
    .acts = mesh_acts,
    .hints = mesh_hints,
    .page = mesh_page,
    .sort = rows_sort,
};
