/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connections of the node to others, and names that it has heard of. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/model/fields.h"
#include "ui/widgets/rows.h"
#include "views.h"

static const struct rows_of links_rows[] = {{.fields = &links_fields, .sort = ""}};

static void about_link(const struct rows *rows, struct view_page *page, struct view_row *row,
                       const void *of)
{
    const struct links_row *l = of;
    const struct text_span *cell = l->busy ? rows_cell(rows, row, "queue_bytes") : NULL;
    char queued[32];
    if (cell)
        page_cell_printf(page, row, (size_t)(cell - row->cells), STYLE_WARN, "%s",
                         text_bytes(queued, sizeof queued, (double)l->queue_bytes));
}

static void put_settings(struct view_page *page, const struct links_row *self)
{
    char limit[32];
    const size_t at = strlen(page->summary);
    if (self->net_tick_s >= 0 && self->busy_limit_bytes >= 0)
        snprintf(page->summary + at, sizeof page->summary - at,
                 ", net tick %lld s, busy limit %s, prevents overlapping partitions: %s",
                 (long long)self->net_tick_s,
                 text_bytes(limit, sizeof limit, (double)self->busy_limit_bytes),
                 self->prevents_overlap.len == 0            ? "unknown"
                 : slice_is(self->prevents_overlap, "true") ? "yes"
                                                            : "no");
}

static void links_page(void *state, const struct model *m, struct view_page *page)
{
    const struct table_detail *table = rows_of_table(state, page, m, QUESTION_LINKS, about_link);
    const struct links_row *rows = table ? table->rows : NULL;
    size_t visible = 0, hidden = 0, known = 0, busy = 0;
    if (!table)
        return;
    for (size_t i = 0; i < table->n_rows; i++) {
        visible += slice_is(rows[i].how, "visible");
        hidden += slice_is(rows[i].how, "hidden");
        known += slice_is(rows[i].how, "known");
        busy += rows[i].busy;
    }
    snprintf(page->summary, sizeof page->summary, "%zu visible, %zu hidden, %zu not connected",
             visible, hidden, known);
    if (busy > 0)
        snprintf(page->summary + strlen(page->summary),
                 sizeof page->summary - strlen(page->summary), ", %zu busy", busy);
    if (table->n_rows > 0 && slice_is(rows[0].how, "self"))
        put_settings(page, &rows[0]);
    if (table->partial)
        snprintf(page->summary + strlen(page->summary),
                 sizeof page->summary - strlen(page->summary), ", some left out");
}

const struct view_ops view_links = {
    .name = "links",
    .title = "Links",
    .help = "Connections to other nodes: state, bytes, queues; names not connected.",
    .kind = VIEW_TABLE,
    .no_processes = true,
    .state_bytes = sizeof(struct rows),
    .rows = links_rows,
    .n_rows = ARRAY_LEN(links_rows),
    .needs = NEED(LINKS),
    .page = links_page,
    .sort = rows_sort,
};
