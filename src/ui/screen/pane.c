/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pane: its stack of views, its page, its title. */
#include "pane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/model/filter.h"
#include "ui/widgets/page.h"

static struct pane_entry *entry_new(const struct view_ops *ops)
{
    struct pane_entry *e = alloc_zero(1, sizeof *e);
    e->ops = ops;
    e->state = alloc_zero(1, ops->state_bytes ? ops->state_bytes : 1);
    view_init(ops, e->state);
    table_init(&e->table);
    doc_init(&e->doc);
    flame_init(&e->flame);
    page_init(&e->pages[0]);
    page_init(&e->pages[1]);
    e->dirty = true;
    return e;
}

static void entry_free(struct pane_entry *e)
{
    if (e->ops->clear)
        e->ops->clear(e->state);
    free(e->state);
    table_clear(&e->table);
    flame_clear(&e->flame);
    filter_free(e->own);
    page_clear(&e->pages[0]);
    page_clear(&e->pages[1]);
    free(e);
}

enum view_kind pane_kind(const struct pane_entry *e)
{
    return e->pages[e->current].flame ? VIEW_FLAME : e->ops->kind;
}

struct pane_entry *pane_top(const struct pane *pane)
{
    return pane->stack[pane->depth - 1];
}

struct view_page *pane_page(const struct pane *pane)
{
    struct pane_entry *e = pane_top(pane);
    return &e->pages[e->current];
}

int pane_rows(const struct pane *pane)
{
    return pane->body.rows > 0 ? pane->body.rows : 20;
}

static void push_entry(struct pane *pane, struct pane_entry *e)
{
    if (pane->depth == PANE_DEPTH) {
        entry_free(pane->stack[0]);
        memmove(&pane->stack[0], &pane->stack[1], (PANE_DEPTH - 1) * sizeof pane->stack[0]);
        pane->depth--;
    }
    pane->stack[pane->depth++] = e;
}

/* The uppermost of the stack that shows it; -1: none. */
static int index_of(const struct pane *pane, const struct view_ops *ops)
{
    int i = pane->depth - 1;
    while (i >= 0 && pane->stack[i]->ops != ops)
        i--;
    return i;
}

static bool raise_known(struct pane *pane, const struct view_ops *ops)
{
    int i = index_of(pane, ops);
    if (i < 0)
        return false;
    struct pane_entry *e = pane->stack[i];
    memmove(&pane->stack[i], &pane->stack[i + 1],
            (size_t)(pane->depth - i - 1) * sizeof pane->stack[0]);
    pane->stack[pane->depth - 1] = e;
    e->dirty = true;
    return true;
}

int pane_show(struct pane *pane, const struct view_ops *ops, const struct view_link *link,
              struct error *err)
{
    if (!link && raise_known(pane, ops))
        return 0;
    if (link && !ops->open)
        return error_set(err, ERR_USAGE, "the view %s takes no argument", ops->name);
    struct pane_entry *e = entry_new(ops);
    if (link) {
        int status = ops->open(e->state, link, err);
        if (status < 0) {
            entry_free(e);
            return status;
        }
        e->link = *link;
    }
    push_entry(pane, e);
    return 0;
}

bool pane_has(const struct pane *pane, const struct view_ops *ops, const struct view_link *link)
{
    int i = index_of(pane, ops);
    const struct view_link *on = i >= 0 ? &pane->stack[i]->link : NULL;
    return on && on->kind == link->kind && strcmp(on->name, link->name) == 0 &&
           pid_same(&on->pid, &link->pid);
}

bool pane_back(struct pane *pane)
{
    if (pane->depth < 2)
        return false;
    entry_free(pane->stack[--pane->depth]);
    pane_top(pane)->dirty = true;
    return true;
}

void pane_drop(struct pane *pane)
{
    while (pane->depth > 0)
        entry_free(pane->stack[--pane->depth]);
}

struct view_link pane_link(const struct pane *pane)
{
    const struct pane_entry *e = pane_top(pane);
    const struct view_page *page = &e->pages[e->current];
    struct view_link none = {.kind = TARGET_NONE};
    if (pane_kind(e) == VIEW_FLAME)
        return flame_link(&e->flame);
    if (e->ops->kind == VIEW_TABLE)
        return e->table.cursor < page->n_rows ? page->rows[e->table.cursor].link : none;
    return e->doc.cursor >= 0 && (size_t)e->doc.cursor < page->n_lines
               ? page->lines[e->doc.cursor].link
               : none;
}

/* Marked rows, and the visible ones of a held list, keep their values when they rank too low. */
static void want_kept(const struct pane_entry *e, int body, struct want *want)
{
    const struct view_page *page = &e->pages[e->current];
    for (size_t i = 0; i < e->table.n_marks; i++)
        if (table_mark_is_process(&e->table.marks[i]))
            want_add_pid(&want->scan, &e->table.marks[i].pid);
    for (size_t i = e->table.top; e->table.held && i < page->n_rows; i++) {
        if (i >= e->table.top + (size_t)body)
            break;
        if (page->rows[i].link.kind == TARGET_PROCESS)
            want_add_pid(&want->scan, &page->rows[i].link.pid);
    }
}

void pane_want(const struct pane *pane, struct want *want)
{
    struct pane_entry *e = pane_top(pane);
    int body = pane->body.rows > 1 ? pane->body.rows - 1 : 20;
    int rows = body;
    while (rows < LIMIT_ROWS && rows < (int)e->table.cursor + body)
        rows += body; /* whole pages ahead of the cursor, so that the end is not felt */
    rows = rows > LIMIT_ROWS || e->table.to_end ? LIMIT_ROWS : rows;
    e->table.asked = e->ops->filters_on_target ? rows : 0;
    view_want(e->ops, e->state, rows, want);
    if (e->ops->filters_on_target)
        want_kept(e, body, want);
}

/* ---- the page */

/* How many rows stand there for one thing. */
static size_t rows_of_one(const struct view_page *page, size_t first)
{
    size_t n = 1;
    while (first + n < page->n_rows && page->rows[first + n].continued)
        n++;
    return n;
}

/* The filter of a list that the program has whole: rows without a match are left out. */
static void filter_rows(struct view_page *page, struct regex *re)
{
    size_t kept = 0, all = page->n_rows;
    for (size_t i = 0, n; i < all; i += n) {
        bool matches = false;
        n = rows_of_one(page, i);
        for (size_t k = 0; k < n && !matches; k++)
            matches = table_row_matches(page, &page->rows[i + k], re);
        for (size_t k = 0; k < n && matches; k++)
            page->rows[kept++] = page->rows[i + k];
    }
    page->n_rows = kept;
    char n[32], total[32];
    snprintf(page->summary, sizeof page->summary, "%s of %s matching",
             text_integer(n, sizeof n, (int64_t)kept),
             text_integer(total, sizeof total, (int64_t)all));
    if (all > 0)
        snprintf(page->empty, sizeof page->empty, "Nothing matches the filter.");
}

/* An empty list says how to see all of it. */
static void add_hint(const struct pane_entry *e, struct view_page *page,
                     const struct pane_look *look)
{
    char key[64];
    size_t len = strlen(page->empty);
    if (page->n_rows == 0 && len > 0 && look->filter[0] &&
        keymap_first_key_of(look->keymap, view_context(e->ops), ACTION_BACK, NULL, key, sizeof key))
        snprintf(page->empty + len, sizeof page->empty - len, " %s clears the filter.", key);
}

static void make_entry_page(struct pane_entry *e, struct rect body, bool ascii,
                            const struct pane_look *look)
{
    if (!e->dirty && e->made_rows == body.rows && e->made_columns == body.columns)
        return;
    if (e->made_columns != body.columns)
        table_forget_widths(&e->table);
    e->dirty = false;
    e->made_rows = body.rows;
    e->made_columns = body.columns;
    const struct view_page *before = &e->pages[e->current];
    e->current = !e->current;
    struct view_page *page = &e->pages[e->current];
    page_reset(page);
    page->ascii = ascii;
    page->match = look->match;
    page->syntax = look->syntax;
    page->keymap = look->keymap;
    page->pane_rows = body.rows;
    page->pane_columns = body.columns;
    e->ops->page(e->state, look->model, page);
    page->match = NULL;
    if (e->ops->kind == VIEW_DOC) {
        doc_take(&e->doc, page);
        return;
    }
    if (page->flame) {
        flame_take(&e->flame, page->flame, page->flame_unit, body.columns, look->match);
        return;
    }
    if (look->match && !e->ops->filters_on_target)
        filter_rows(page, look->match);
    else if (page->in_place)
        table_hide_folded(&e->table, page);
    add_hint(e, page, look);
    table_take(&e->table, page, before);
}

/* ---- the rule with the title */

#define PIECES 8
struct piece {
    char text[300];
    enum style style;
    int rank; /* the highest leaves first */
};
struct pieces {
    struct piece all[PIECES];
    int n;
};

static void add_piece(struct pieces *p, int rank, enum style style, const char *text)
{
    if (!text[0])
        return;
    struct piece *new = &p->all[p->n++];
    snprintf(new->text, sizeof new->text, "%s", text);
    new->style = style;
    new->rank = rank;
}

/* "reductions_per_s" to "by reductions/s ▼". */
static void order_text(char *out, size_t size, const struct view_page *page)
{
    char key[sizeof page->order];
    static const struct {
        const char *from, *to;
    } endings[] = {{"_bytes_per_s", "/s"}, {"_len_per_s", " growth/s"},
                   {"_per_s", "/s"},       {"_bytes", ""},
                   {"_len", ""},           {"_s", ""}};
    snprintf(key, sizeof key, "%s", page->order);
    char rest[sizeof key] = "";
    size_t len = strcspn(key, " ,");
    snprintf(rest, sizeof rest, "%s", key + len);
    key[len] = '\0';
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t end = strlen(endings[i].from);
        if (len > end && strcmp(key + len - end, endings[i].from) == 0) {
            snprintf(key + len - end, sizeof key - (len - end), "%s", endings[i].to);
            break;
        }
    }
    for (char *at = key; *at; at++)
        *at = *at == '_' ? ' ' : *at;
    snprintf(out, size, "by %s%s %s", key, rest, page->sort_descending ? "▼" : "▲");
}

static void collect_title(const struct pane_entry *e, const struct pane_look *look, bool focused,
                          struct pieces *p)
{
    const struct view_page *page = &e->pages[e->current];
    char text[300];
    add_piece(p, 0, focused ? STYLE_TITLE : STYLE_TITLE_IDLE, e->ops->title);
    if (!look->live && !e->ops->own_facts)
        add_piece(p, 1, STYLE_WARN, "stale");
    else if (look->paused)
        add_piece(p, 1, STYLE_WARN, "paused");
    if (page->order[0]) {
        order_text(text, sizeof text, page);
        add_piece(p, 4, STYLE_TITLE_IDLE, text);
    }
    if (pane_kind(e) == VIEW_TABLE && e->table.held) {
        char key[64];
        bool bound = look->keymap && keymap_first_key_of(look->keymap, view_context(e->ops),
                                                         ACTION_FIRST, NULL, key, sizeof key);
        snprintf(text, sizeof text, "frozen%s%s%s", bound ? ": " : "", bound ? key : "",
                 bound ? " sorts again" : "");
        add_piece(p, 5, STYLE_DIM, text);
    }
    if (e->filter[0] && (e->ops->kind == VIEW_TABLE || e->ops->filters_page)) {
        snprintf(text, sizeof text, "filter %.200s%s", e->filter,
                 !look->filter[0]        ? " (not applied: another list has one)"
                 : look->filter_is_wrong ? " (invalid: the last valid one applies)"
                                         : "");
        add_piece(p, 2, look->filter_is_wrong ? STYLE_ERROR : STYLE_MATCH, text);
    }
    if (e->table.n_marks > 0 && e->ops->nodes) {
        snprintf(text, sizeof text, "%zu marked", e->table.n_marks);
        add_piece(p, 2, STYLE_MARK, text);
    }
    add_piece(p, 3, STYLE_TITLE_IDLE, page->summary);
}

/* The other views with their keys, in the order of these, as many as there is room for. */
static void draw_views(struct pane *pane, struct canvas *c, struct rect r, int at, int end,
                       const struct keymap *keymap)
{
    const struct view_ops *shown = pane_top(pane)->ops;
    for (size_t i = 0; view_registry[i] && pane->n_tabs < PANE_TABS; i++) {
        const struct view_ops *ops = view_registry[i];
        char key[64] = {ops->key, '\0'}, text[70];
        if (ops == shown ||
            (keymap && !view_key(ops, keymap, view_context(shown), key, sizeof key)))
            continue;
        snprintf(text, sizeof text, " %s ", key);
        if (at + text_columns(ops->name) + text_columns(text) + 1 > end)
            return;
        struct pane_tab *tab = &pane->tabs[pane->n_tabs++];
        tab->ops = ops;
        tab->column = r.column + at;
        at += canvas_puts(c, r, 0, at, STYLE_KEY, text);
        at += canvas_puts(c, r, 0, at, STYLE_DIM, ops->name);
        canvas_puts(c, r, 0, at, STYLE_DIM, " ");
        tab->columns = r.column + at - tab->column;
    }
}

const struct view_ops *pane_tab_at(const struct pane *pane, int row, int column)
{
    for (int i = 0; row == pane->rect.row && i < pane->n_tabs; i++)
        if (column >= pane->tabs[i].column && column < pane->tabs[i].column + pane->tabs[i].columns)
            return pane->tabs[i].ops;
    return NULL;
}

static void draw_rule(struct pane *pane, struct canvas *c, struct rect r,
                      const struct pane_look *look, bool focused)
{
    struct pieces p = {0};
    pane->n_tabs = 0;
    collect_title(pane_top(pane), look, focused, &p);
    for (;;) {
        int total = 3;
        for (int i = 0; i < p.n; i++)
            total += text_columns(p.all[i].text) + 4;
        int worst = 0;
        for (int i = 1; i < p.n; i++)
            worst = p.all[i].rank >= p.all[worst].rank ? i : worst;
        if (total <= r.columns || worst == 0)
            break;
        memmove(&p.all[worst], &p.all[worst + 1], (size_t)(p.n - worst - 1) * sizeof p.all[0]);
        p.n--;
    }
    canvas_rule(c, r, 0, STYLE_TITLE_IDLE, "");
    int at = 2, right = r.columns - 2;
    for (int k = 1; k < p.n; k++)
        right -= text_columns(p.all[k].text) + 2 + (k > 1 ? 2 : 0);
    for (int i = 0; i < p.n; i++) {
        if (i == 1) /* all but the title stand at the right */
            at = right;
        canvas_puts(c, r, 0, at, STYLE_TITLE_IDLE, " ");
        int used = canvas_puts(c, r, 0, at + 1, p.all[i].style, p.all[i].text);
        canvas_puts(c, r, 0, at + 1 + used, STYLE_TITLE_IDLE, " ");
        at += used + 4;
        if (i == 0 && focused)
            draw_views(pane, c, r, at, right - 2, look->keymap);
    }
}

static void draw_stale(struct canvas *c, struct rect body)
{
    for (int row = 0; row < body.rows; row++)
        for (int column = 0; column < body.columns; column++) {
            const struct canvas_cell *cell = canvas_at(c, body.row + row, body.column + column);
            if (cell && cell->style != STYLE_CURSOR && cell->style != STYLE_CURSOR_IDLE &&
                cell->style != STYLE_HEADING && cell->style != STYLE_HEADING_SORT)
                canvas_restyle(c, body, row, column, 1, STYLE_STALE);
        }
}

/* The page's note, in a line of the body where there is room for more. */
static void draw_note(struct canvas *c, struct rect *body, const char *note)
{
    if (!*note || body->rows < 4)
        return;
    size_t columns, room = (size_t)(body->columns > 2 ? body->columns - 2 : 0);
    size_t bytes = text_prefix(note, strlen(note), room, &columns);
    canvas_put(c, *body, 0, 1, STYLE_DIM, note, bytes);
    if (note[bytes])
        canvas_puts(c, *body, 0, 1 + (int)columns, STYLE_DIM, c->ascii ? "~" : "…");
    body->row++;
    body->rows--;
}

/* A view without the focus keeps its filter. The node applies one filter, so that of another
 * process list has no effect. */
static void use_own_filter(struct pane_entry *e, struct pane_look *look)
{
    struct error ignored = {0};
    size_t offset = 0;
    look->filter = "";
    look->match = NULL;
    look->filter_is_wrong = false;
    if (!e->filter[0] || (e->ops->filters_on_target && strcmp(e->filter, look->on_target) != 0))
        return;
    if (!e->own)
        e->own = filter_new();
    if (strcmp(e->own_pattern, e->filter) != 0) {
        (void)filter_set(e->own, e->filter, &offset, &ignored); /* it was accepted in focus */
        memcpy(e->own_pattern, e->filter, sizeof e->own_pattern);
    }
    look->filter = e->filter;
    look->match = filter_regex(e->own);
    if (look->match)
        regex_allow(look->match, LIMIT_REGEX_DRAW_STEPS);
}

void pane_draw(struct pane *pane, struct canvas *c, struct rect r, bool focused,
               const struct pane_look *shared)
{
    struct pane_entry *e = pane_top(pane);
    struct pane_look own = *shared;
    const struct pane_look *look = &own;
    if (!focused)
        use_own_filter(e, &own);
    pane->rect = r;
    pane->body = (struct rect){r.row + 1, r.column, r.rows > 1 ? r.rows - 1 : 0, r.columns};
    make_entry_page(e, pane->body, c->ascii, look);
    draw_note(c, &pane->body, pane_page(pane)->note);
    struct table_look how = {focused, look->match};
    if (pane_kind(e) == VIEW_FLAME)
        flame_draw(&e->flame, c, pane->body, &how);
    else if (e->ops->kind == VIEW_TABLE)
        table_draw(&e->table, pane_page(pane), c, pane->body, &how);
    else
        doc_draw(&e->doc, pane_page(pane), c, pane->body, &how);
    if (!look->live && !e->ops->own_facts)
        draw_stale(c, pane->body);
    draw_rule(pane, c, r, look, focused);
}
