/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lists to choose from: sort order, columns, nodes. */
#include "screen_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "ui/widgets/page.h"

#define PICKER_BORDER 4 /* columns beside those of the table: its frame, and one beside that */

static const struct view_column sort_columns[] = {
    {.key = "column", .title = "SORT BY", .width = 24},
    {.key = "cost", .title = "SCOPE", .width = 15},
    {.key = "help", .title = "DESCRIPTION", .width = 20, .grows = true},
};
static const struct view_column column_columns[] = {
    {.key = "shown", .title = "SHOWN", .width = 5},
    {.key = "column", .title = "COLUMN", .width = 24},
    {.key = "help", .title = "DESCRIPTION", .width = 20, .grows = true},
};
static const struct view_column choice_columns[] = {
    {.key = "title", .title = "WHAT", .width = 24, .grows = true},
    {.key = "text", .title = "PATTERN", .width = 40, .grows = true},
};
enum { NODE_NAME, NODE_OS_PID, NODE_OTP, NODE_UPTIME, NODE_MEMORY, NODE_COOKIE, NODE_NOTE };
static const struct {
    struct view_column column;
    enum style style;
    int keep; /* the lowest goes first where there is no room; 0: it stays */
} node_columns[NODE_COLUMNS] = {
    [NODE_NAME] = {{.key = "name", .title = "NODE", .grows = true}, STYLE_NAME, 0},
    [NODE_OS_PID] = {{.key = "os_pid", .title = "OS PID", .right = true}, STYLE_PID, 5},
    [NODE_OTP] = {{.key = "otp", .title = "OTP"}, STYLE_NORMAL, 4},
    [NODE_UPTIME] = {{.key = "uptime", .title = "UP", .right = true}, STYLE_NORMAL, 3},
    [NODE_MEMORY] = {{.key = "memory", .title = "RSS", .right = true}, STYLE_NORMAL, 2},
    [NODE_COOKIE] = {{.key = "cookie", .title = "COOKIE"}, STYLE_DIM, 1},
    [NODE_NOTE] = {{.key = "note", .title = "NOTE", .grows = true}, STYLE_DIM, 0},
};

static const char *const titles[] = {
    [PICKER_NONE] = "",
    [PICKER_SORT] = "Sort by",
    [PICKER_COLUMNS] = "Columns: space shows or hides, Enter when done",
    [PICKER_NODES] = "Nodes on this host",
    [PICKER_TEXTS] = "",
    [PICKER_VIEWS] = "",
};

static struct pane_entry *top_entry(const struct screen *s)
{
    return pane_top(panes_focused(s->panes));
}

/* ---- the pages */

static void sort_row(struct view_page *page, const char *key, const char *help, bool now)
{
    struct view_row *row = page_row(page);
    row->id = text_identity(key, strlen(key));
    row->marked = now;
    page_cell(page, row, 0, STYLE_NAME, key, strlen(key));
    page_cell(page, row, 2, STYLE_NORMAL, help, strlen(help));
    link_name(&row->link, TARGET_NAME, (struct slice){key, strlen(key)});
}

/* What `sort` takes, else the columns; an order that its title does not name is the first. */
static void sort_rows_of_page(const struct view_order *orders, const struct view_page *shown,
                              struct view_page *page)
{
    for (const struct view_order *o = orders; o && o->word; o++)
        sort_row(page, o->word, o->help,
                 shown->order[0] ? strcmp(shown->order, o->word) == 0 : o == orders);
    for (size_t i = 0; !orders && i < shown->n_columns; i++) {
        const struct view_column *column = &shown->columns[i];
        if (column->sortable)
            sort_row(page, column->key, column->help ? column->help : "",
                     (int)i == shown->sort_column);
    }
}

static const char *node_text(const struct picked_node *n, size_t column, char *out, size_t size)
{
    out[0] = '\0';
    switch (column) {
    case NODE_NAME:
        return n->name;
    case NODE_OS_PID:
        if (n->os_pid > 0)
            snprintf(out, size, "%lld", (long long)n->os_pid);
        return out;
    case NODE_OTP:
        return n->otp;
    case NODE_UPTIME:
        return text_duration(out, size, floor(n->uptime_s));
    case NODE_MEMORY:
        return text_bytes(out, size, n->memory_bytes);
    case NODE_COOKIE:
        return n->cookie;
    default:
        snprintf(out, size, "%s%s%s%s", n->elixir[0] ? "Elixir " : "", n->elixir,
                 n->elixir[0] && n->note[0] ? ", " : "", n->note);
        return out;
    }
}

/* As wide as what stands in it, so that nothing is cut. */
static int node_width(const struct screen *s, size_t column)
{
    char text[200];
    int widest = (int)strlen(node_columns[column].column.title);
    for (size_t i = 0; i < s->n_nodes; i++) {
        const char *cell = node_text(&s->nodes[i], column, text, sizeof text);
        int width = text_columns(cell);
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* Those that there is room for, in order: their places in node_columns. Returns how many. */
static size_t choose_node_columns(struct screen *s, size_t shown[NODE_COLUMNS])
{
    struct picker *p = &s->picker;
    int width[NODE_COLUMNS], total = 0, gone = 0;
    size_t n = 0;
    for (size_t i = 0; i < NODE_COLUMNS; i++)
        total += (width[i] = node_width(s, i)) + 1;
    for (int keep = 1; p->room > 0 && total > p->room && keep <= NODE_COLUMNS; keep++)
        for (size_t i = 0; i < NODE_COLUMNS; i++)
            if (node_columns[i].keep == keep) {
                total -= width[i] + 1;
                gone = keep;
            }
    for (size_t i = 0; i < NODE_COLUMNS; i++) {
        if (node_columns[i].keep != 0 && node_columns[i].keep <= gone)
            continue;
        p->columns[n] = node_columns[i].column;
        p->columns[n].width = width[i];
        shown[n++] = i;
    }
    return n;
}

static void node_rows(struct screen *s, struct view_page *page)
{
    size_t shown[NODE_COLUMNS], columns = choose_node_columns(s, shown);
    char text[200];
    page_columns(page, s->picker.columns, columns);
    for (size_t i = 0; i < s->n_nodes; i++) {
        const struct picked_node *n = &s->nodes[i];
        struct view_row *row = page_row(page);
        row->id = i + 1;
        row->dim = n->refusal[0] != '\0';
        for (size_t k = 0; k < columns; k++) {
            const char *cell = node_text(n, shown[k], text, sizeof text);
            page_cell(page, row, k, node_columns[shown[k]].style, cell, strlen(cell));
        }
        link_name(&row->link, TARGET_NAME, (struct slice){n->name, strlen(n->name)});
    }
    snprintf(page->empty, sizeof page->empty, "No Erlang node was found on this host.");
}

static void text_rows(const struct screen *s, struct view_page *page)
{
    char index[24];
    for (size_t i = 0; i < s->n_texts; i++) {
        const struct picked_text *t = &s->texts[i];
        struct view_row *row = page_row(page);
        row->id = i + 1;
        page_cell(page, row, 0, STYLE_DIM, t->title, strlen(t->title));
        page_cell(page, row, 1, STYLE_NORMAL, t->text, strlen(t->text));
        snprintf(index, sizeof index, "%zu", i);
        link_name(&row->link, TARGET_NAME, (struct slice){index, strlen(index)});
    }
    snprintf(page->empty, sizeof page->empty, "There is nothing to choose.");
}

/* Its page, from what is chosen now. */
static void make_picker_page(struct screen *s, bool ascii)
{
    struct view_page *page = &s->picker.page;
    const struct view_chooser *chooser = top_entry(s)->ops->chooser;
    page_reset(page);
    page->ascii = ascii;
    switch (s->picker.kind) {
    case PICKER_NONE:
        return;
    case PICKER_SORT:
        page_columns(page, sort_columns, ARRAY_LEN(sort_columns));
        if (chooser)
            chooser->orders(top_entry(s)->state, page);
        else
            sort_rows_of_page(top_entry(s)->ops->orders, pane_page(panes_focused(s->panes)), page);
        break;
    case PICKER_COLUMNS:
        page_columns(page, column_columns, ARRAY_LEN(column_columns));
        chooser->columns(top_entry(s)->state, page);
        break;
    case PICKER_NODES:
        node_rows(s, page);
        break;
    case PICKER_TEXTS:
        page_columns(page, choice_columns, ARRAY_LEN(choice_columns));
        text_rows(s, page);
        break;
    case PICKER_VIEWS:
        picker_view_rows(s, page);
        break;
    }
    table_take(&s->picker.table, page, NULL);
}

/* ---- nodes and texts of the owner's */

static void copy_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "");
}

void screen_choose_node(struct screen *s, const struct screen_node *nodes, size_t n)
{
    struct error ignored = {0}; /* it always opens */
    picker_close(s);
    free(s->nodes);
    s->nodes = n ? alloc_zero(n, sizeof *s->nodes) : NULL;
    s->n_nodes = n;
    for (size_t i = 0; i < n; i++) {
        struct picked_node *to = &s->nodes[i];
        copy_text(to->name, sizeof to->name, nodes[i].name);
        copy_text(to->otp, sizeof to->otp, nodes[i].otp);
        copy_text(to->elixir, sizeof to->elixir, nodes[i].elixir);
        copy_text(to->cookie, sizeof to->cookie, nodes[i].cookie);
        copy_text(to->note, sizeof to->note, nodes[i].note);
        copy_text(to->refusal, sizeof to->refusal, nodes[i].refusal);
        to->os_pid = nodes[i].os_pid;
        to->uptime_s = nodes[i].uptime_s;
        to->memory_bytes = nodes[i].memory_bytes;
    }
    (void)picker_open(s, PICKER_NODES, &ignored);
}

void picker_clear_texts(struct screen *s)
{
    for (size_t i = 0; i < s->n_texts; i++) {
        free(s->texts[i].title);
        free(s->texts[i].text);
    }
    free(s->texts);
    s->texts = NULL;
    s->n_texts = s->text_chosen = 0;
}

void screen_choose(struct screen *s, const char *heading, const struct screen_choice *choices,
                   size_t n)
{
    struct error ignored = {0}; /* it always opens */
    picker_close(s);
    picker_clear_texts(s);
    s->texts_heading = heading;
    s->texts = alloc_zero(n + 1, sizeof *s->texts);
    for (size_t i = 0; i < n; i++)
        s->texts[i] =
            (struct picked_text){alloc_strdup(choices[i].title), alloc_strdup(choices[i].text)};
    s->n_texts = n;
    (void)picker_open(s, PICKER_TEXTS, &ignored);
}

const char *screen_chosen(const struct screen *s)
{
    return s->text_chosen < s->n_texts ? s->texts[s->text_chosen].text : "";
}

/* ---- opening, closing, choosing */

static void start_on_marked(struct picker *p)
{
    for (size_t i = 0; i < p->page.n_rows; i++)
        if (p->page.rows[i].marked)
            table_goto(&p->table, &p->page, i);
}

int picker_open(struct screen *s, enum picker_kind kind, struct error *err)
{
    if (kind == PICKER_COLUMNS && !top_entry(s)->ops->chooser)
        return error_set(err, ERR_USAGE, "the columns of this view are fixed");
    if (kind == PICKER_SORT && !top_entry(s)->ops->sort && !top_entry(s)->ops->orders)
        return error_set(err, ERR_USAGE, "this view has one order");
    picker_close(s);
    s->picker.kind = kind;
    s->picker.typed[0] = '\0';
    table_init(&s->picker.table);
    page_init(&s->picker.page);
    make_picker_page(s, false);
    start_on_marked(&s->picker);
    return 1;
}

void picker_close(struct screen *s)
{
    if (s->picker.kind == PICKER_NONE)
        return;
    table_clear(&s->picker.table);
    page_clear(&s->picker.page);
    s->picker.kind = PICKER_NONE;
}

static void choose_sort(struct screen *s, const char *key)
{
    struct pane_entry *e = top_entry(s);
    struct error ignored = {0}; /* it is one of what the view says it takes */
    if (e->ops->sort)
        e->ops->sort(e->state, key, 1);
    else
        (void)e->ops->sort_word(e->state, key, &ignored);
    table_ask_order(&e->table);
    e->dirty = true;
    screen_ask(s, REQUEST_REFRESH, NULL, "");
}

static void toggle_column(struct screen *s, const char *key)
{
    struct pane_entry *e = top_entry(s);
    e->ops->chooser->toggle(e->state, key);
    table_forget_widths(&e->table);
    e->dirty = true;
    screen_ask(s, REQUEST_REFRESH, NULL, "");
}

int picker_mark(struct screen *s, struct error *err)
{
    struct picker *p = &s->picker;
    char key[64];
    if (p->kind == PICKER_COLUMNS && p->table.cursor < p->page.n_rows) {
        toggle_column(s, p->page.rows[p->table.cursor].link.name);
        return 1;
    }
    bool bound =
        keymap_first_key_of(s->keymap, CONTEXT_PICKER, ACTION_ENTER, NULL, key, sizeof key);
    return error_set(err, ERR_USAGE, "only columns are marked: %s chooses",
                     bound ? key : action_table[ACTION_ENTER].name);
}

int picker_choose(struct screen *s, struct error *err)
{
    struct picker *p = &s->picker;
    if (p->table.cursor >= p->page.n_rows) {
        picker_close(s);
        return 1;
    }
    const struct view_row *row = &p->page.rows[p->table.cursor];
    if (p->kind == PICKER_NODES && *s->nodes[row->id - 1].refusal)
        return error_set(err, ERR_USAGE, "%s", s->nodes[row->id - 1].refusal);
    char key[256];
    snprintf(key, sizeof key, "%s", row->link.name);
    enum picker_kind kind = p->kind;
    const int64_t os_pid = kind == PICKER_NODES ? s->nodes[row->id - 1].os_pid : 0;
    picker_close(s);
    if (kind == PICKER_SORT)
        choose_sort(s, key);
    if (kind == PICKER_NODES) {
        screen_ask(s, REQUEST_NODE, NULL, key);
        s->requests[s->n_requests - 1].os_pid = os_pid;
    }
    if (kind == PICKER_VIEWS) {
        screen_ask(s, REQUEST_ACT, NULL, key);
        s->requests[s->n_requests - 1].action = ACTION_VIEW;
    }
    if (kind == PICKER_TEXTS) {
        s->text_chosen = strtoul(key, NULL, 10);
        screen_ask(s, REQUEST_CHOICE, NULL, "");
    }
    return 1;
}

/* ---- drawing */

static int page_columns_wanted(const struct view_page *page)
{
    int total = PICKER_BORDER;
    for (size_t i = 0; i < page->n_columns; i++) {
        int widest = page->columns[i].width;
        for (size_t row = 0; row < page->n_rows; row++) {
            int width = (int)text_width(page->rows[row].cells[i].s, page->rows[row].cells[i].len);
            widest = width > widest ? width : widest;
        }
        total += widest + 1;
    }
    return total;
}

const struct view_hint *picker_hints(const struct screen *s)
{
    static const struct view_hint choose[] = {
        {ACTION_ENTER, "choose"}, {ACTION_BACK, "close"}, {.does = NULL}};
    static const struct view_hint mark[] = {{ACTION_ENTER, "choose"},
                                            {ACTION_MARK, "show or hide"},
                                            {ACTION_BACK, "close"},
                                            {.does = NULL}};
    return s->picker.kind == PICKER_COLUMNS ? mark : choose;
}

/* "<Enter> choose   <Esc> close   3 of 12": what stands in the lower rule. */
static void put_rule(const struct screen *s, char *out, size_t size)
{
    const struct picker *p = &s->picker;
    size_t used = 0;
    for (const struct view_hint *hint = picker_hints(s); hint->does; hint++) {
        char key[64];
        if (keymap_first_key_of(s->keymap, CONTEXT_PICKER, hint->action, NULL, key, sizeof key))
            used += (size_t)snprintf(out + used, size - used, "%s %s   ", key, hint->does);
    }
    snprintf(out + used, size - used, "%zu of %zu", p->page.n_rows ? p->table.cursor + 1 : 0,
             p->page.n_rows);
}

void picker_draw(struct screen *s, struct canvas *c, struct rect r)
{
    struct picker *p = &s->picker;
    if (p->kind == PICKER_NONE)
        return;
    p->room = r.columns - PICKER_BORDER;
    make_picker_page(s, c->ascii);
    int columns = page_columns_wanted(&p->page), rows = (int)p->page.n_rows + 3;
    rows = rows < 6 ? 6 : rows;
    columns = columns < 40 ? 40 : columns;
    columns = columns > r.columns - 2 ? r.columns - 2 : columns;
    rows = rows > r.rows ? r.rows : rows;
    struct rect box = {r.row + (r.rows - rows) / 3, r.column + (r.columns - columns) / 2, rows,
                       columns};
    canvas_fill(c, box, STYLE_NORMAL, ' ');
    canvas_rule(c, box, 0, STYLE_TITLE,
                p->kind == PICKER_TEXTS   ? s->texts_heading
                : p->kind == PICKER_VIEWS ? p->heading
                                          : titles[p->kind]);
    char hints[200];
    put_rule(s, hints, sizeof hints);
    canvas_rule(c, box, rows - 1, STYLE_TITLE, hints);
    static const char *const corners[2][4] = {{"┌", "┐", "└", "┘"}, {"+", "+", "+", "+"}};
    for (int i = 0; i < 4; i++)
        canvas_puts(c, box, i < 2 ? 0 : rows - 1, i % 2 ? columns - 1 : 0, STYLE_TITLE,
                    corners[c->ascii][i]);
    p->rect = (struct rect){box.row + 1, box.column + 1, rows - 2, columns - 2};
    for (int row = 1; row < rows - 1; row++) {
        canvas_puts(c, box, row, 0, STYLE_TITLE, c->ascii ? "|" : "│");
        canvas_puts(c, box, row, columns - 1, STYLE_TITLE, c->ascii ? "|" : "│");
    }
    struct table_look look = {.focused = true, .match = NULL};
    table_draw(&p->table, &p->page, c, p->rect, &look);
}
