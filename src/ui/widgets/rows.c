/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/model/detail.h"
#include "beamtop/model/table.h"

static void set_by(struct rows *r, size_t by)
{
    r->by = by;
    r->sort = r->of[by].sort;
    r->ascending = false;
    r->opened = 0;
}

void rows_init(struct rows *r, const struct rows_of *of, size_t n_of)
{
    r->of = of;
    r->n_of = n_of;
    set_by(r, 0);
}

static int column_of(const struct rows *r, const char *key)
{
    for (size_t i = 0; key && i < r->n; i++)
        if (strcmp(r->columns[i].key, key) == 0)
            return (int)i;
    return -1;
}

void rows_begin(struct rows *r, struct view_page *page, const char *columns)
{
    const struct rows_of *of = &r->of[r->by];
    r->n = of->groups ? table_group_columns(of->fields, field_find(of->fields, slice_of(of->word)),
                                            false, r->fields, ROWS_COLUMNS)
                      : field_columns(of->fields, columns, r->fields, ROWS_COLUMNS);
    for (size_t i = 0; i < r->n; i++) {
        const struct field *f = r->fields[i];
        const char *title = field_title(f, true, r->titles[i]);
        r->columns[i] = (struct view_column){.key = f->key,
                                             .title = title,
                                             .width = f->width,
                                             .right = field_is_number(f) && f->type != COLUMN_TEXT,
                                             .grows = f->grows,
                                             .sortable = of->sort && *title,
                                             .help = f->help};
    }
    page_columns(page, r->columns, r->n);
    page->sort_column = column_of(r, r->sort);
    page->sort_descending = !r->ascending;
    if (page->sort_column >= 0)
        snprintf(page->order, sizeof page->order, "%s", r->sort);
}

static struct slice group_name(struct slice name)
{
    return name.len > 0 ? name : slice_of("(none)");
}

static enum style style_of_text(enum field_look look)
{
    switch (look) {
    case LOOK_NAME:
        return STYLE_NAME;
    case LOOK_FUNCTION:
        return STYLE_FUNCTION;
    case LOOK_PID:
        return STYLE_PID;
    case LOOK_MARK:
        return STYLE_MARK;
    case LOOK_ASIDE:
        return STYLE_DIM;
    case LOOK_PLAIN:
    case LOOK_SHORT:
    case LOOK_CHANGE:
    case LOOK_MICROSECONDS:
    case LOOK_ABOVE:
    case LOOK_ERROR:
    case LOOK_OFFSET:
        break;
    }
    return STYLE_NORMAL;
}

static void add_number(struct view_page *page, struct view_row *row, size_t column,
                       const struct field *f, const void *base, double n)
{
    char text[48];
    const bool idle =
        n == 0 && (f->look == LOOK_SHORT || f->type == COLUMN_RATE || f->type == COLUMN_BYTES);
    enum style style = idle || f->look == LOOK_ERROR ? STYLE_DIM : STYLE_NORMAL;
    if (f->look == LOOK_CHANGE && f->type == COLUMN_SHARE && fabs(n) < 0.05)
        style = STYLE_DIM;
    else if (f->look == LOOK_CHANGE)
        style = n > 0 ? STYLE_RISING : n < 0 ? STYLE_FALLING : STYLE_DIM;
    page_cell_printf(page, row, column, style, "%s%s", field_bound_text(f, base, page->ascii),
                     field_number_text(f, n, page->ascii, text, sizeof text));
}

struct view_row *rows_add(const struct rows *r, struct view_page *page, const void *base)
{
    struct view_row *row = page_row(page);
    for (size_t i = 0; i < r->n; i++) {
        const struct field *f = r->fields[i];
        const double n = field_number(f, base);
        const struct slice text = field_text(f, base);
        if (!field_is_number(f))
            page_cell(page, row, i, style_of_text(f->look), text.s, text.len);
        else if (isnan(n))
            page_cell_printf(page, row, i, STYLE_DIM, "%s", page->ascii ? "-" : "–");
        else
            add_number(page, row, i, f, base, n);
        if (page->sort_column == (int)i)
            row->key = n;
    }
    return row;
}

typedef void about_fn(const struct rows *r, struct view_page *page, struct view_row *row,
                      const void *of);

static struct view_row *add_of_table(const struct rows *r, struct view_page *page, const void *of,
                                     about_fn *about)
{
    struct view_row *row = rows_add(r, page, of);
    const struct slice id = table_key(r->of[r->by].fields, of);
    row->id = text_identity(id.s, id.len);
    if (about)
        about(r, page, row, of);
    return row;
}

/* The rows of a group below it, each by its own name. */
static void add_members(const struct rows *r, struct view_page *page,
                        const struct table_detail *table, about_fn *about)
{
    const struct field_list *list = r->of[r->by].fields;
    const struct field *by = r->fields[0], *name;
    const size_t n = page->n_rows, at = page_opened(page, r->opened);
    if (at == n || field_columns(list, NULL, &name, 1) == 0)
        return;
    page->in_place = true;
    for (size_t i = 0; i < table->n_rows; i++) {
        const char *of = (const char *)table->rows + i * list->row_bytes;
        const struct slice in = group_name(field_text(by, of)), text = field_text(name, of);
        if (text_identity(in.s, in.len) != r->opened)
            continue;
        struct view_row *row = add_of_table(r, page, of, about);
        page_cell(page, row, 0, style_of_text(name->look), text.s, text.len);
        row->indent = 2;
        row->continued = true;
    }
    page_sort_below(page, n, at);
}

static void add_groups(const struct rows *r, struct view_page *page,
                       const struct table_detail *table, about_fn *about)
{
    struct table_detail groups;
    table_group(&groups, table, r->of[r->by].fields, r->fields[0], &page->arena);
    for (size_t i = 0; i < groups.n_rows; i++) {
        const char *of = (const char *)groups.rows + i * r->of[r->by].fields->row_bytes;
        struct view_row *row = add_of_table(r, page, of, about);
        const struct slice text = field_text(r->fields[0], of), name = group_name(text);
        row->id = text_identity(name.s, name.len);
        row->link = (struct view_link){.kind = TARGET_KIN, .id = row->id};
        page_cell(page, row, 0, text.len > 0 ? style_of_text(r->fields[0]->look) : STYLE_DIM,
                  name.s, name.len);
    }
    page_sort(page);
    if (r->opened != 0)
        add_members(r, page, table, about);
}

const struct table_detail *rows_of_table(struct rows *r, struct view_page *page,
                                         const struct model *m, enum question question,
                                         about_fn *about)
{
    const struct table_detail *table = model_answer(m, question);
    const struct rows_of *of = &r->of[r->by];
    struct table_detail shown;
    char n[32];
    rows_begin(r, page, NULL);
    if (!table) {
        page_missing(page, m, question_rows[question].what);
        return NULL;
    }
    shown = *table;
    if (of->only)
        table_choose(&shown, of->fields, field_find(of->fields, slice_of(of->where)),
                     slice_of(of->only), &page->arena);
    if (of->groups) {
        add_groups(r, page, &shown, about);
    } else {
        for (size_t i = 0; i < shown.n_rows; i++)
            (void)add_of_table(r, page, (const char *)shown.rows + i * of->fields->row_bytes,
                               about);
        page_sort(page);
    }
    snprintf(page->summary, sizeof page->summary, "%s %s%s",
             text_integer(n, sizeof n, (int64_t)shown.n_rows), question_rows[question].what,
             table->partial ? ", some left out" : "");
    return table;
}

struct text_span *rows_cell(const struct rows *r, struct view_row *row, const char *key)
{
    int at = column_of(r, key);
    return at < 0 ? NULL : &row->cells[at];
}

void rows_sort(void *state, const char *key, int direction)
{
    struct rows *r = state;
    int at = column_of(r, key);
    if (at < 0 || !r->columns[at].sortable)
        return;
    const bool text = !field_is_number(r->fields[at]), same = r->sort && strcmp(r->sort, key) == 0;
    r->ascending = direction ? direction < 0 : same ? !r->ascending : text;
    r->sort = r->columns[at].key;
}

int rows_show(struct rows *r, const char *arg, struct error *err)
{
    char words[200] = "";
    if (!*arg) {
        set_by(r, (r->by + 1) % r->n_of);
        return 0;
    }
    for (size_t i = 0; i < r->n_of; i++) {
        const size_t used = strlen(words);
        if (strcmp(r->of[i].word, arg) == 0) {
            set_by(r, i);
            return 0;
        }
        snprintf(words + used, sizeof words - used, "%s%s",
                 i == 0             ? ""
                 : i + 1 == r->n_of ? " or "
                                    : ", ",
                 r->of[i].word);
    }
    return error_set(err, ERR_USAGE, "rows are by %s, not \"%s\"", words, arg);
}

int rows_by(void *state, const struct view_call *call)
{
    return rows_show(state, call->arg, call->err);
}

int rows_fold(void *state, const struct view_call *call)
{
    struct rows *r = state;
    if (call->at->kind != TARGET_KIN)
        return error_set(call->err, ERR_USAGE, "put the cursor on a row of several processes");
    r->opened = r->opened == call->at->id ? 0 : call->at->id;
    return 0;
}
