/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"

enum { APP, PROCESSES, REDS, SHARE, MEMORY, GROWTH, QUEUE, VERSION, DESCRIPTION };

static const struct view_column app_columns[] = {
    [APP] = {"application", "APPLICATION", 20, false, true, true, "name"},
    [PROCESSES] = {"processes", "PROCS", 8, true, false, true, "processes of it"},
    [REDS] = {"reductions_per_s", "RED/s", 7, true, false, true, "reductions per second"},
    [SHARE] = {"reductions_share", "SHARE", 7, true, false, true, "of all reductions"},
    [MEMORY] = {"memory_bytes", "MEMORY", 9, true, false, true, "of its processes"},
    [GROWTH] = {"memory_bytes_per_s", "MEM/s", 10, true, false, true, "growth per second"},
    [QUEUE] = {"message_queue_len", "MSGQ", 8, true, false, true,
               "messages waiting in all of them"},
    [VERSION] = {"version", "VERSION", 9, false, false, true, "version that runs"},
    [DESCRIPTION] = {"description", "DESCRIPTION", 16, false, true, false, "its own words"},
};

struct apps {
    int sort;
    bool ascending;
};

static void apps_init(void *state)
{
    ((struct apps *)state)->sort = REDS;
}

static void apps_want(const void *state, int rows, struct want *want)
{
    (void)state;
    (void)rows;
    want->needs |= NEED_APPS;
}

static double number(const struct app_row *a, int column)
{
    switch (column) {
    case PROCESSES:
        return known_or_nan(a->processes);
    case REDS:
        return isnan(a->reductions_per_s) ? (double)a->reductions : a->reductions_per_s;
    case SHARE:
        return a->reductions_share;
    case MEMORY:
        return known_or_nan(a->memory_bytes);
    case GROWTH:
        return a->memory_per_s;
    case QUEUE:
        return known_or_nan(a->message_queue_len);
    default:
        return NAN; /* text */
    }
}

static void change_cell(struct view_page *page, struct view_row *row, size_t column, double v,
                        bool bytes)
{
    char text[32];
    if (isnan(v)) {
        page_cell(page, row, column, STYLE_DIM, "–", 3);
        return;
    }
    if (bytes)
        text_bytes(text, sizeof text, v);
    else
        text_count(text, sizeof text, v);
    enum style style = v == 0   ? STYLE_DIM
                       : !bytes ? STYLE_NORMAL
                       : v > 0  ? STYLE_RISING
                                : STYLE_FALLING;
    page_cell_printf(page, row, column, style, "%s%s", bytes && v > 0 ? "+" : "", text);
}

static void add_app(struct view_page *page, const struct app_row *a, int sort)
{
    struct view_row *row = page_row(page);
    char text[32];
    bool none = a->name.len == 0;
    struct slice shown = none ? (struct slice){"(none)", 6} : a->name;
    row->id = text_identity(shown.s, shown.len);
    row->key = number(a, sort);
    if (!none)
        link_name(&row->link, TARGET_APP, a->name);
    page_cell(page, row, APP, none ? STYLE_DIM : STYLE_NAME, shown.s, shown.len);
    page_cell_printf(page, row, PROCESSES, STYLE_NORMAL, "%s",
                     text_integer(text, sizeof text, a->processes));
    change_cell(page, row, REDS, a->reductions_per_s, false);
    page_cell_printf(page, row, SHARE, STYLE_NORMAL, "%s",
                     text_percent(text, sizeof text, a->reductions_share));
    page_cell_printf(page, row, MEMORY, STYLE_NORMAL, "%s%s",
                     older_sign(a->memory_older, a->memory_age_s),
                     text_bytes(text, sizeof text, number(a, MEMORY)));
    change_cell(page, row, GROWTH, a->memory_per_s, true);
    page_cell_printf(page, row, QUEUE, a->message_queue_len > 0 ? STYLE_NORMAL : STYLE_DIM, "%s",
                     text_count(text, sizeof text, number(a, QUEUE)));
    page_cell(page, row, VERSION, STYLE_DIM, a->version.s, a->version.len);
    page_cell(page, row, DESCRIPTION, STYLE_DIM, a->description.s, a->description.len);
}

static void apps_page(void *state, const struct model *m, int rows, int columns,
                      struct view_page *page)
{
    const struct apps *s = state;
    const struct apps_detail *a = model_apps(m);
    char n[32];
    (void)rows;
    (void)columns;
    page_columns(page, app_columns, ARRAY_LEN(app_columns));
    page->sort_column = s->sort;
    page->sort_descending = !s->ascending;
    snprintf(page->order, sizeof page->order, "%s", app_columns[s->sort].key);
    if (!a) {
        view_missing(page, m, "applications");
        return;
    }
    struct older older = {0};
    for (size_t i = 0; i < a->n_rows; i++) {
        add_app(page, &a->rows[i], s->sort);
        older_add(&older, a->rows[i].memory_older, a->rows[i].memory_age_s);
    }
    page_sort(page);
    snprintf(page->summary, sizeof page->summary, "%s applications%s",
             text_integer(n, sizeof n, (int64_t)a->n_rows),
             a->partial ? ", cut short by the deadline" : "");
    older_say(&older, page);
}

static void apps_sort(void *state, const char *key, int direction)
{
    struct apps *s = state;
    for (int i = 0; i < (int)ARRAY_LEN(app_columns); i++) {
        if (!app_columns[i].sortable || strcmp(app_columns[i].key, key) != 0)
            continue;
        bool text = i == APP || i == VERSION;
        s->ascending = direction ? direction < 0 : i == s->sort ? !s->ascending : text;
        s->sort = i;
    }
}

const struct view_ops view_apps = {
    .name = "applications",
    .title = "Applications",
    .alias = "apps",
    .key = '5',
    .help = "Processes, reductions, memory and message queues of each application.",
    .kind = VIEW_TABLE,
    .no_processes = true,
    .state_bytes = sizeof(struct apps),
    .init = apps_init,
    .want = apps_want,
    .page = apps_page,
    .sort = apps_sort,
};
