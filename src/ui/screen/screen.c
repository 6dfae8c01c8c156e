/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "screen_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "beamtop/ui/header.h"
#include "ui/widgets/page.h"

struct screen *screen_new(const char *view, struct error *err)
{
    const struct view_ops *ops = view_find(view);
    if (!ops) {
        char names[256] = "";
        for (size_t i = 0, used = 0; view_registry[i] && used < sizeof names; i++)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                     view_registry[i]->name);
        error_set(err, ERR_USAGE, "no view \"%s\": choose one of %s", view, names);
        return NULL;
    }
    struct screen *s = alloc_zero(1, sizeof *s);
    s->panes = panes_new(ops);
    s->filter_error_at = -1;
    return s;
}

void screen_free(struct screen *s)
{
    if (!s)
        return;
    picker_close(s);
    picker_clear_texts(s);
    panes_free(s->panes);
    free(s->nodes);
    free(s);
}

/* ---- what the owner knows */

void screen_set_clock(struct screen *s, const char *clock)
{
    snprintf(s->clock, sizeof s->clock, "%s", clock ? clock : "");
}

void screen_set_paused(struct screen *s, bool paused)
{
    s->paused = paused;
}

void screen_set_recording(struct screen *s, const struct header_recording *recording)
{
    s->recording = *recording;
}

void screen_set_frozen_s(struct screen *s, double seconds)
{
    s->frozen_s = seconds;
}

void screen_set_next_s(struct screen *s, double seconds)
{
    s->next_s = seconds;
}

void screen_set_message(struct screen *s, enum style style, const char *text)
{
    s->message_style = style;
    snprintf(s->message, sizeof s->message, "%s", text ? text : "");
}

void screen_end_notice(struct screen *s)
{
    if (s->message_style == STYLE_MESSAGE)
        screen_set_message(s, STYLE_MESSAGE, NULL);
}

void screen_set_prompt(struct screen *s, const struct prompt *prompt)
{
    s->prompt = prompt;
}

void screen_tell(const struct screen *s, struct pane_entry *e)
{
    if (e->ops->own)
        e->ops->own(e->state, s->own);
}

static void tell_all(struct screen *s)
{
    for (int i = 0; i < panes_count(s->panes); i++) {
        struct pane *pane = panes_at(s->panes, i);
        for (int k = 0; k < pane->depth; k++)
            screen_tell(s, pane->stack[k]);
    }
    screen_update(s);
}

void screen_set_keymap(struct screen *s, const struct keymap *keymap)
{
    s->keymap = keymap;
    tell_all(s);
}

void screen_forget_process(struct screen *s)
{
    s->last_process.kind = TARGET_NONE;
}

void screen_set_own(struct screen *s, bool shown)
{
    s->own = shown;
    tell_all(s);
    for (int i = 0; i < panes_count(s->panes); i++) {
        struct pane_entry *e = pane_top(panes_at(s->panes, i));
        table_ask_order(&e->table);
        table_forget_widths(&e->table);
    }
    screen_ask(s, REQUEST_REFRESH, NULL, "");
}

void screen_set_filter(struct screen *s, const char *pattern, struct regex *re, long error_at)
{
    struct pane_entry *e = pane_top(panes_focused(s->panes));
    snprintf(s->filter, sizeof s->filter, "%s", pattern ? pattern : "");
    memcpy(e->filter, s->filter, sizeof e->filter);
    s->match = re;
    s->filter_error_at = error_at;
    screen_update(s);
    for (int i = 0; i < panes_count(s->panes); i++)
        table_ask_order(&pane_top(panes_at(s->panes, i))->table);
}

const char *screen_filter_due(const struct screen *s)
{
    const struct pane_entry *e = pane_top(panes_focused(s->panes));
    return strcmp(e->filter, s->filter) == 0 ? NULL : e->filter;
}

bool screen_filters_on_target(const struct screen *s)
{
    return pane_top(panes_focused(s->panes))->ops->filters_on_target;
}

const char *screen_target_filter(const struct screen *s)
{
    if (screen_filters_on_target(s))
        return s->filter;
    for (int i = 0; i < panes_count(s->panes); i++) {
        struct pane *pane = panes_at(s->panes, i);
        if (pane_top(pane)->ops->filters_on_target && panes_is_visible(s->panes, pane))
            return pane_top(pane)->filter;
    }
    return "";
}

/* ---- going on */

void screen_update(struct screen *s)
{
    panes_dirty(s->panes);
}

void screen_set_syntax(struct screen *s, enum syntax syntax)
{
    s->syntax = syntax;
    screen_update(s);
}

void screen_want(const struct screen *s, struct want *want)
{
    want->needs |= NEED(SYSTEM);
    struct pane *focus = panes_focused(s->panes);
    pane_want(focus, want);
    for (int i = 0; i < panes_count(s->panes); i++) {
        struct pane *pane = panes_at(s->panes, i);
        if (pane != focus && panes_is_visible(s->panes, pane))
            pane_want(pane, want);
    }
    want->scan.filtered = screen_filters_on_target(s) ? s->match && s->filter[0] != '\0'
                                                      : screen_target_filter(s)[0] != '\0';
}

void screen_ask(struct screen *s, enum screen_request_kind kind, const struct etf_pid *pid,
                const char *text)
{
    for (int i = 0; i < s->n_requests; i++)
        if (kind == REQUEST_REFRESH && s->requests[i].kind == kind)
            return;
    if (s->n_requests == SCREEN_REQUESTS) {
        s->n_requests--;
        memmove(&s->requests[0], &s->requests[1], sizeof s->requests[0] * (SCREEN_REQUESTS - 1));
    }
    struct screen_request *r = &s->requests[s->n_requests++];
    *r = (struct screen_request){0};
    r->kind = kind;
    if (pid)
        r->pid = *pid;
    snprintf(r->text, sizeof r->text, "%s", text ? text : "");
}

void screen_ask_action(struct screen *s, enum action action)
{
    screen_ask(s, REQUEST_ACT, NULL, "");
    s->requests[s->n_requests - 1].action = action;
}

void screen_ask_confirm(struct screen *s, enum action action, const char *text)
{
    screen_ask(s, REQUEST_CONFIRM, NULL, text);
    s->requests[s->n_requests - 1].action = action;
}

bool screen_take_request(struct screen *s, struct screen_request *out)
{
    if (s->n_requests == 0)
        return false;
    *out = s->requests[0];
    s->n_requests--;
    memmove(&s->requests[0], &s->requests[1], sizeof s->requests[0] * (size_t)s->n_requests);
    return true;
}

/* ---- what is there */

enum context screen_context(const struct screen *s)
{
    if (s->picker.kind != PICKER_NONE)
        return CONTEXT_PICKER;
    return view_context(pane_top(panes_focused(s->panes))->ops);
}

const char *screen_view(const struct screen *s)
{
    return pane_top(panes_focused(s->panes))->ops->name;
}

void screen_orders(const struct screen *s, word_put *put, void *out)
{
    const struct pane *pane = panes_focused(s->panes);
    const struct view_ops *ops = pane_top(pane)->ops;
    const struct view_page *page = pane_page(pane);
    for (const struct view_order *o = ops->orders; o && o->word; o++)
        put(out, o->word, o->help);
    if (ops->chooser)
        ops->chooser->words(put, out);
    for (size_t i = 0; !ops->chooser && ops->kind == VIEW_TABLE && i < page->n_columns; i++)
        if (page->columns[i].sortable)
            put(out, page->columns[i].key, page->columns[i].help);
}

struct view_link screen_link(const struct screen *s)
{
    return pane_link(panes_focused(s->panes));
}

size_t screen_rows(const struct screen *s, bool marked, struct view_link *out, size_t most)
{
    const struct view_page *page = pane_page(panes_focused(s->panes));
    size_t n = 0;
    for (size_t i = 0; i < page->n_rows; i++) {
        if (marked && !page->rows[i].marked)
            continue;
        if (n < most)
            out[n] = page->rows[i].link;
        n++;
    }
    return n;
}

/* ---- drawing */

static struct pane_look look_of(const struct screen *s, const struct model *m)
{
    return (struct pane_look){
        .model = m,
        .keymap = s->keymap,
        .live = header_is_live(m),
        .paused = s->paused,
        .filter = s->filter,
        .match = s->match,
        .syntax = s->syntax,
        .filter_is_wrong = s->filter_error_at >= 0,
        .on_target = screen_target_filter(s),
    };
}

/* A long message says what to do next at its end: it gets up to MESSAGE_ROWS rows, broken at
 * blanks. */
#define MESSAGE_ROWS 4

/* Draws it when there is a canvas; returns how many rows it takes. */
static int put_screen_message(const struct screen *s, struct canvas *c, struct rect r)
{
    const char *at = s->message;
    size_t left = strlen(at);
    int row = 0;
    for (; left > 0 && row < MESSAGE_ROWS; row++) {
        size_t next, room = r.columns > 2 ? (size_t)r.columns - 2 : 1;
        size_t part = text_break(at, left, room, &next);
        if (row == MESSAGE_ROWS - 1)
            part = next = left;
        if (c)
            canvas_put(c, r, row, 1, s->message_style, at, part);
        at += next;
        left -= next;
    }
    return row;
}

/* 0: asks for nothing. One that has become more severe is another. */
static uint64_t asking_key(const struct finding *f)
{
    return f->severity == FINDING_NOTE ? 0 : finding_identity(f) + f->severity;
}

static bool is_seen(const struct screen *s, uint64_t key)
{
    for (size_t i = 0; i < s->n_findings_seen; i++)
        if (s->findings_seen[i] == key)
            return true;
    return false;
}

static bool all_seen(const struct screen *s, const struct findings *found)
{
    for (size_t i = 0; i < found->len; i++) {
        uint64_t key = asking_key(&found->items[i]);
        if (key != 0 && !is_seen(s, key))
            return false;
    }
    return true;
}

static void note_hit(struct screen *s, struct rect r, int at, int end, enum action action,
                     const char *arg)
{
    if (s->n_hits < BOTTOM_HITS)
        s->hits[s->n_hits++] = (struct bottom_hit){r.row, r.column + at, end - at, action, arg};
}

/* How many findings ask for something: in the colour of the worst until they have been looked at,
   bold after. Returns the columns. */
static int put_findings(struct screen *s, const struct model *m, struct canvas *c, struct rect r)
{
    const struct findings_shown *shown = model_findings(m);
    const struct view_ops *there = view_opening(TARGET_FINDING);
    char text[96], keys[64] = "";
    size_t n = findings_asking(shown);
    if (n == 0 || pane_top(panes_focused(s->panes))->ops == there)
        return 1;
    bool act = shown->found.items[0].severity == FINDING_ACT;
    enum style style = all_seen(s, &shown->found) ? STYLE_VALUE : act ? STYLE_ALARM : STYLE_WARN;
    if (s->keymap)
        keymap_keys_of(s->keymap, screen_context(s), ACTION_VIEW, there->name, keys, sizeof keys);
    snprintf(text, sizeof text, " %s%s%zu finding%s ", keys, keys[0] ? " " : "", n,
             n == 1 ? "" : "s");
    int end = 1 + canvas_puts(c, r, 0, 1, style, text);
    note_hit(s, r, 1, end, ACTION_VIEW, there->name);
    return end + 2;
}

static bool anything_runs(const struct model *m)
{
    for (size_t i = 0; view_registry[i]; i++)
        if (view_runs(view_registry[i], m))
            return true;
    return false;
}

enum screen_stop screen_stops(const struct screen *s, const struct model *m, struct error *err)
{
    const struct pane_entry *e = pane_top(panes_focused(s->panes));
    if (view_runs(e->ops, m))
        return STOP_VIEW;
    if (e->ops->of_others && e->ops->of_others(m, e->table.cursor_id, err) < 0)
        return STOP_OTHERS;
    bool records = s->recording.state == RECORDING_STARTS || s->recording.state == RECORDING_RUNS;
    return records && !anything_runs(m) ? STOP_RECORDING : STOP_NOTHING;
}

/* What `stop` does now, where the view has `does` to stop; NULL: nothing. */
static const char *what_stops(const struct screen *s, const struct model *m, const char *does)
{
    struct error ignored = {0}; /* said when the key is pressed */
    enum screen_stop stop = screen_stops(s, m, &ignored);
    return stop == STOP_VIEW ? does : stop == STOP_RECORDING ? "stop recording" : NULL;
}

/* What a hint says; NULL: its action does nothing now. */
static const char *hint_now(const struct screen *s, const struct model *m,
                            const struct view_hint *hint)
{
    const struct pane *pane = panes_focused(s->panes);
    const struct view_ops *ops = pane_top(pane)->ops;
    const struct action_row *row = &action_table[hint->action];
    const struct view_page *page = pane_page(pane);
    if (row->content && page->n_rows == 0 && page->n_lines == 0 && page->empty[0])
        return NULL;
    if (!view_takes(ops, hint->action) ||
        (model_recorded(m) ? row->live : row->running && !view_runs(ops, m)))
        return NULL;
    if (hint->action == ACTION_ENTER && !screen_opens(s))
        return NULL;
    if (hint->action == ACTION_BACK && pane_top(pane)->filter[0])
        return "clear";
    if (hint->action == ACTION_BACK && pane->depth == 1 && pane_kind(pane_top(pane)) != VIEW_FLAME)
        return NULL;
    return hint->action == ACTION_STOP ? what_stops(s, m, hint->does) : hint->does;
}

/* The first key of an action, and what it does, at column `at` where there is room; returns where
   the next one stands, -1: nowhere. does: NULL is nothing. */
static int put_hint(struct screen *s, struct canvas *c, struct rect r, int at, enum action action,
                    const char *does)
{
    char key[64];
    const char *arg = action == ACTION_VIEW ? does : NULL;
    if (at < 0 || !does ||
        !keymap_first_key_of(s->keymap, screen_context(s), action, arg, key, sizeof key))
        return at;
    int width = (int)(text_width(key, strlen(key)) + strlen(does)) + 1;
    if (at + width >= r.columns)
        return -1;
    note_hit(s, r, at, at + width, action, arg);
    at += canvas_puts(c, r, 0, at, STYLE_KEY, key) + 1;
    return at + canvas_puts(c, r, 0, at, STYLE_DIM, does) + 3;
}

/* As many as there is room for; what stops something stands before them. A recording has no node to
   act on, and what has ended is not to be stopped. */
static int put_hints(struct screen *s, const struct model *m, struct canvas *c, struct rect r,
                     int at, const struct view_hint *hints)
{
    for (; hints->does; hints++)
        if (hints->action != ACTION_STOP)
            at = put_hint(s, c, r, at, hints->action, hint_now(s, m, hints));
    return at;
}

/* Tools that look into the node. */
static const struct view_hint tools[] = {
    {ACTION_SAMPLE, "sample"}, {ACTION_CALLS, "calls"}, {ACTION_SPANS, "spans"}, {.does = NULL}};

static int put_tools(struct screen *s, const struct model *m, struct canvas *c, struct rect r,
                     int at)
{
    at = put_hints(s, m, c, r, at, tools);
    for (size_t i = 0; view_registry[i]; i++)
        if (view_registry[i]->hinted)
            at = put_hint(s, c, r, at, ACTION_VIEW, view_registry[i]->name);
    return at;
}

/* Other keys close the list to choose from, or are typed into it. */
static void draw_picker_keys(struct screen *s, struct canvas *c, struct rect r)
{
    int at = 1;
    for (const struct view_hint *hint = picker_hints(s); hint->does; hint++)
        at = put_hint(s, c, r, at, hint->action, hint->does);
}

/* What was found, and which keys help in the view. */
static void draw_view_keys(struct screen *s, const struct model *m, struct canvas *c, struct rect r)
{
    const struct pane *pane = panes_focused(s->panes);
    const struct view_ops *ops = pane_top(pane)->ops;
    bool filters = ops->filters_page || pane_kind(pane_top(pane)) == VIEW_TABLE;
    static const struct view_hint usual[] = {
        {ACTION_ENTER, "open"}, {ACTION_BACK, "back"}, {ACTION_VIEWS, "views"}, {.does = NULL}};
    const struct view_hint first[] = {
        {ACTION_FILTER, filters ? "filter" : "find"}, {ACTION_TRACE, "trace"}, {.does = NULL}};
    const struct view_hint last[] = {{ACTION_COMMAND, "command"},
                                     {ACTION_CHOOSE_SORT, "sort"},
                                     {ACTION_CHOOSE_COLUMNS, "columns"},
                                     {ACTION_PAUSE, "pause"},
                                     {ACTION_LEAVE, pane->depth > 1 ? "close" : "quit"},
                                     {.does = NULL}};
    static const struct view_hint stop = {ACTION_STOP, "stop"};
    int at = put_findings(s, m, c, r);
    at = put_hint(s, c, r, at, stop.action, hint_now(s, m, &stop));
    at = put_hint(s, c, r, at, ACTION_HELP, "keys");
    if (ops->hints)
        at = put_hints(s, m, c, r, at, ops->hints);
    at = put_hints(s, m, c, r, at, first);
    if (!ops->hints) { /* keys that every list has come after the tools */
        at = put_tools(s, m, c, r, at);
        at = put_hints(s, m, c, r, at, usual);
    }
    at = put_hints(s, m, c, r, at, last);
    if (ops->hints)
        (void)put_tools(s, m, c, r, at);
}

/* The bottom rows: a message, or keys. */
static void draw_bottom(struct screen *s, const struct model *m, struct canvas *c, struct rect r)
{
    if (s->message[0])
        put_screen_message(s, c, r);
    else if (s->picker.kind != PICKER_NONE)
        draw_picker_keys(s, c, r);
    else
        draw_view_keys(s, m, c, r);
}

/* New findings stand out until they have been looked at, also one that comes back. */
static void note_findings(struct screen *s, const struct model *m)
{
    const struct findings_shown *shown = model_findings(m);
    bool open = view_opens(pane_top(panes_focused(s->panes))->ops, TARGET_FINDING);
    uint64_t seen[FINDINGS_MOST];
    size_t n = 0;
    for (size_t i = 0; shown && i < shown->found.len && n < FINDINGS_MOST; i++) {
        uint64_t key = asking_key(&shown->found.items[i]);
        if (key != 0 && (open || is_seen(s, key)))
            seen[n++] = key;
    }
    memcpy(s->findings_seen, seen, n * sizeof seen[0]);
    s->n_findings_seen = n;
}

void screen_draw(struct screen *s, const struct model *m, struct canvas *c,
                 struct tty_cursor *cursor)
{
    const struct header_state state = {
        s->clock,  s->paused,     s->frozen_s,
        s->next_s, &s->recording, pane_top(panes_focused(s->panes))->ops->several};
    struct pane_look look = look_of(s, m);
    struct rect all = {0, 0, c->rows, c->columns};
    bool prompting = s->prompt && prompt_is_open(s->prompt);
    int head = header_rows(c->rows);
    int bottom = prompting       ? prompt_rows(s->prompt, c->columns, c->rows / 2)
                 : s->message[0] ? put_screen_message(s, NULL, all)
                                 : 1;
    while (head > 0 && c->rows - head - bottom < PANE_LEAST_ROWS)
        head--;
    int middle = c->rows - head - bottom;
    cursor->row = cursor->column = -1;
    s->n_hits = 0;
    note_findings(s, m);
    canvas_erase(c, STYLE_NORMAL);
    if (head > 0)
        header_draw(m, &state, c, (struct rect){0, 0, head, c->columns});
    struct rect panes = {head, 0, middle > 0 ? middle : 0, c->columns};
    panes_draw(s->panes, c, panes, &look);
    picker_draw(s, c, panes);
    struct rect below = {c->rows - bottom, 0, bottom, all.columns};
    if (prompting)
        prompt_draw(s->prompt, c, below, cursor);
    else
        draw_bottom(s, m, c, below);
}

void screen_draw_pane(struct screen *s, const struct model *m, struct canvas *c)
{
    struct pane_look look = look_of(s, m);
    canvas_erase(c, STYLE_NORMAL);
    pane_draw(panes_focused(s->panes), c, (struct rect){0, 0, c->rows, c->columns}, true, &look);
}
