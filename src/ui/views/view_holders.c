/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all processes hold, added up by what they are. */
#include <math.h>
#include <stdio.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/model/fields.h"
#include "ui/widgets/rows.h"
#include "views.h"

#define BY(column)                                                                                 \
    {                                                                                              \
        .word = (column), .fields = &holders_fields, .sort = "memory_bytes", .groups = true        \
    }
static const struct rows_of holders_rows[] = {
    BY("initial_call"), BY("application"),
    BY("supervisor"),   BY("label"),
    BY("function"),     {.word = "all", .fields = &holders_fields, .sort = "memory_bytes"},
};

static void about_holders(const struct rows *rows, struct view_page *page, struct view_row *row,
                          const void *of)
{
    const struct holders_row *h = of;
    const struct text_span *cell = rows_cell(rows, row, "largest");
    char pid[40];
    if (h->has_largest)
        link_process(&row->link, &h->largest, h->largest_name);
    if (h->has_largest && cell)
        page_cell_printf(page, row, (size_t)(cell - row->cells), STYLE_PID, "%s",
                         pid_text(pid, sizeof pid, &h->largest));
    rows_mark_older(rows, page, row, "memory_bytes", h->memory_older, h->memory_age_s);
}

/* "34,000 of 120,000 processes looked at", or what they hold. */
static void say_holders(struct view_page *page, const struct table_detail *table,
                        const struct system_sample *system)
{
    const struct holders_row *rows = table->rows;
    char count[32], all[32], memory[32], binaries[32], since[32];
    double n = 0, bytes = 0, binary_bytes = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        n += fmax((double)rows[i].processes, 0);
        bytes += fmax((double)rows[i].memory_bytes, 0);
        binary_bytes += fmax((double)rows[i].binary_bytes, 0);
    }
    text_integer(count, sizeof count, (int64_t)fmin(n, 1e15));
    if (table->partial && system && system->processes > 0)
        snprintf(page->summary, sizeof page->summary, "%s of %s processes looked at", count,
                 text_integer(all, sizeof all, system->processes));
    else
        snprintf(page->summary, sizeof page->summary, "%s processes, %s, %s of binaries; + in %s",
                 count, text_bytes(memory, sizeof memory, bytes),
                 text_bytes(binaries, sizeof binaries, binary_bytes),
                 page_duration(page, since, sizeof since, table->n_rows > 0 ? rows[0].since_s : 0));
}

static void holders_page(void *state, const struct model *m, struct view_page *page)
{
    const struct table_detail *table =
        rows_of_table(state, page, m, QUESTION_HOLDERS, about_holders);
    if (table)
        say_holders(page, table, model_system(m));
}

static const struct view_act holders_acts[] = {
    {.action = ACTION_BY, .run = rows_by},
    {.action = ACTION_FOLD, .folds = true, .run = rows_fold},
    {.run = NULL}};
static const struct view_hint holders_hints[] = {
    {ACTION_ENTER, "open"}, {ACTION_BY, "group"}, {.does = NULL}};

const struct view_ops view_holders = {
    .name = "holders",
    .title = "Holders",
    .hinted = true,
    .help = "Memory, binaries, queues and growth of all processes, by what they are.",
    .kind = VIEW_TABLE,
    .state_bytes = sizeof(struct rows),
    .rows = holders_rows,
    .n_rows = ARRAY_LEN(holders_rows),
    .needs = NEED(HOLDERS),
    .acts = holders_acts,
    .hints = holders_hints,
    .page = holders_page,
    .sort = rows_sort,
};
