/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/model/fields.h"
#include "ui/widgets/rows.h"
#include "views.h"

#define ONLY(kind, by)                                                                             \
    {                                                                                              \
        .word = (kind), .fields = &terms_fields, .sort = (by), .where = "kind", .only = (kind)     \
    }
/* In the order of the answer: sums, then each kind, the largest or newest first. */
static const struct rows_of terms_rows[] = {
    {.word = "all", .fields = &terms_fields, .sort = ""},
    {.word = "kind", .fields = &terms_fields, .sort = "memory_bytes", .groups = true},
    ONLY("persistent", "unshared_bytes"),
    ONLY("atoms", ""),
    ONLY("modules", "memory_bytes"),
    ONLY("timers", "count"),
    {.word = "application", .fields = &terms_fields, .sort = "memory_bytes", .groups = true},
};

/* count: NaN where that of some is unknown. */
static void add_count(const struct table_detail *table, const char *kind, double *count,
                      double *limit)
{
    const struct terms_row *rows = table->rows;
    *count = *limit = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        if (slice_is(rows[i].kind, kind)) {
            *count += rows[i].count >= 0 ? (double)rows[i].count : (double)NAN;
            *limit += fmax((double)rows[i].limit, 0);
        }
}

static size_t count_listed(const struct table_detail *table)
{
    const struct terms_row *rows = table->rows;
    size_t n = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        n += slice_is(rows[i].kind, "persistent");
    return n > 0 ? n - 1 : 0; /* one is of all others */
}

static const char *count_text(char *out, size_t size, double n)
{
    return isnan(n) ? "–" : text_integer(out, size, (int64_t)fmin(n, 1e15));
}

static void terms_page(void *state, const struct model *m, struct view_page *page)
{
    const struct table_detail *table = rows_of_table(state, page, m, QUESTION_TERMS, NULL);
    double atoms, limit, persistent, none;
    char n[32], count[32], share[32] = "", listed[40] = "";
    if (!table)
        return;
    add_count(table, "persistent", &persistent, &none);
    add_count(table, "atoms", &atoms, &limit);
    if (limit > 0 && !isnan(atoms))
        snprintf(share, sizeof share, " (%.0f%%)", atoms / limit * 100);
    if (persistent > (double)count_listed(table) && count_listed(table) > 0)
        snprintf(listed, sizeof listed, " (the first %s listed)",
                 text_integer(n, sizeof n, (int64_t)count_listed(table)));
    snprintf(page->summary, sizeof page->summary, "%s persistent terms%s, %s atoms%s%s",
             count_text(count, sizeof count, persistent), listed, count_text(n, sizeof n, atoms),
             share, table->partial ? ", some not known yet" : "");
}

static const struct view_act terms_acts[] = {
    {.action = ACTION_BY, .run = rows_by},
    {.action = ACTION_FOLD, .folds = true, .run = rows_fold},
    {.run = NULL}};
static const struct view_hint terms_hints[] = {{ACTION_BY, "kind"}, {.does = NULL}};

const struct view_ops view_terms = {
    .name = "terms",
    .title = "Terms",
    .hinted = true,
    .help = "Persistent terms, the newest atoms, modules and old code, timers.",
    .kind = VIEW_TABLE,
    .state_bytes = sizeof(struct rows),
    .rows = terms_rows,
    .n_rows = ARRAY_LEN(terms_rows),
    .needs = NEED(TERMS),
    .acts = terms_acts,
    .hints = terms_hints,
    .page = terms_page,
    .sort = rows_sort,
};
