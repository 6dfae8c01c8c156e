/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Causal spans: requests, the tree and the critical path of one, where the time of all goes. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "ui/spans/spans_rows.h"
#include "ui/spans/spans_title.h"
#include "views.h"

enum spans_by { BY_ROOT, BY_TREE, BY_PATH, BY_PART, BY_FLAME, SPANS_SORTS };
static const char *const by_words[SPANS_SORTS] = {"roots", "tree", "path", "parts", "flame"};

enum form { TEXT, CLOCK, TIME, OFFSET, SHARE, COUNT, BARS };
enum {
    ROOTS = 1 << BY_ROOT,
    TREE = 1 << BY_TREE,
    PATH = 1 << BY_PATH,
    PARTS = 1 << BY_PART,
};

#define WIDE                                                                                       \
    118 /* columns for all of a tree; else the bars stand before what can be scrolled to           \
         */

#define AT(member) offsetof(struct spans_cells, member)
/* Text columns are slices, the others doubles. */
static const struct {
    struct view_column column;
    enum form form;
    unsigned by;
    size_t offset;
    /* clang-format off */
} all[] = {
    {{"started", "STARTED", 12, false, false, true, "time of day by the node's clock"}, CLOCK,
     ROOTS, AT(started)},
    {{"operation", "REQUEST", 20, false, true, true, "root function"}, TEXT, ROOTS, AT(name)},
    {{"operation", "SPAN", 22, false, true, false, "function, or first atom of the message"}, TEXT,
     TREE | PATH, AT(name)},
    {{"operation", "OPERATION", 20, false, true, true, "function, or first atom of the message"},
     TEXT, PARTS, AT(name)},
    {{"process", "PROCESS", 14, false, true, true, "name of the process"}, TEXT, PARTS,
     AT(process)},
    {{"step", "STEP", 12, false, true, false, "what the request did or waited for"}, TEXT, PATH,
     AT(kind)},
    {{"duration", "TIME", 9, true, false, true, "from start to end"}, TIME, ROOTS | TREE | PATH,
     AT(duration)},
    {{"time", "TIME", 9, true, false, true, "on the critical paths of all requests"}, TIME, PARTS,
     AT(duration)},
    {{"share", "SHARE", 7, true, false, true, "of the time of all requests"}, SHARE, PARTS,
     AT(share)},
    {{"share", "SHARE", 7, true, false, false, "of the time of the request"}, SHARE, PATH,
     AT(share)},
    {{"slowest", "SLOWEST", 8, true, false, true, "share of the time of the slowest 1%"}, SHARE,
     PARTS, AT(slow)},
    {{"bars", "", 14, false, false, false, "when, from the start to the end of the request"}, BARS,
     TREE | PATH, 0},
    {{"outcome", "OUTCOME", 8, false, true, true, "how it ended, and why"}, TEXT, ROOTS | TREE,
     AT(outcome)},
    {{"wait", "WAIT", 8, true, false, true, "its largest wait"}, TIME, ROOTS, AT(wait)},
    {{"on", "FOR", 14, false, true, true, "the process it waited for, or the function in which"},
     TEXT, ROOTS, AT(on)},
    {{"process", "PROCESS", 14, false, true, true, "name of the process, or pid"}, TEXT, ROOTS,
     AT(process)},
    {{"process", "PROCESS", 14, false, true, false, "name of the process, or pid"}, TEXT,
     TREE | PATH, AT(process)},
    {{"kind", "KIND", 8, false, false, false, "what began it"}, TEXT, TREE, AT(kind)},
    {{"offset", "START", 8, true, false, false, "after the start of the request"}, OFFSET,
     TREE | PATH, AT(offset)},
    {{"queued", "QUEUED", 8, true, false, false, "its message in the queue"}, TIME, TREE,
     AT(queued)},
    {{"self", "SELF", 8, true, false, false, "it ran, or nobody knows what else"}, TIME, TREE,
     AT(self)},
    {{"self", "SELF", 8, true, false, true, "ran"}, TIME, PARTS, AT(self)},
    {{"waited", "WAIT", 8, true, false, true, "for what is not captured"}, TIME, PARTS, AT(wait)},
    {{"queued", "QUEUED", 8, true, false, true, "messages in queues"}, TIME, PARTS, AT(queued)},
    {{"off_cpu", "OFF CPU", 8, true, false, true, "ready to run"}, TIME, PARTS, AT(off_cpu)},
    {{"spans", "SPANS", 6, true, false, true, "in its tree"}, COUNT, ROOTS, AT(spans)},
};
/* clang-format on */

/* Which run, and how much of it: what is made of it holds while these are the same. */
struct made {
    const struct spans_run *run;
    uint64_t version;
    int64_t mono_ns;
};

struct spans_view {
    enum spans_by by;
    bool raw_waits, stacks_raw; /* stacks_raw: as of the stacks */
    uint64_t root;              /* trace_id[0] of the tree's and the path's; 0: the slowest */
    char sort[24];              /* key */
    bool ascending;
    struct view_column columns[ARRAY_LEN(all)]; /* those shown, and which they are */
    size_t index[ARRAY_LEN(all)], n_columns;
    long utc_offset_s;
    const struct keymap *keymap; /* NULL: unknown */
    struct made stacks_of, parts_of;
    struct stacks *stacks;
    struct path_parts parts;
};

static void spans_clear(void *state)
{
    struct spans_view *s = state;
    stacks_free(s->stacks);
    path_parts_clear(&s->parts);
}

/* Only the session asks the node. */
static void spans_want(const void *state, int rows, struct want *want)
{
    (void)state;
    (void)rows;
    (void)want;
}

static void spans_keys(void *state, const struct keymap *keymap)
{
    ((struct spans_view *)state)->keymap = keymap;
}

/* ---- columns */

static bool is_tree(const struct spans_view *s)
{
    return s->by == BY_TREE || s->by == BY_PATH;
}

static void take_column(struct spans_view *s, size_t i, bool wide)
{
    struct view_column *column = &s->columns[s->n_columns];
    *column = all[i].column;
    column->grows = column->grows && (wide || !is_tree(s));
    s->index[s->n_columns++] = i;
}

/* The bars stand last where there is room for all. */
static void choose_columns(struct spans_view *s, int columns)
{
    bool wide = columns >= WIDE;
    s->n_columns = 0;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if ((all[i].by & 1u << s->by) && !(wide && all[i].form == BARS))
            take_column(s, i, wide);
    for (size_t i = 0; wide && i < ARRAY_LEN(all); i++)
        if ((all[i].by & 1u << s->by) && all[i].form == BARS)
            take_column(s, i, wide);
}

static int bar_column(const struct spans_view *s)
{
    for (size_t i = 0; i < s->n_columns; i++)
        if (all[s->index[i]].form == BARS)
            return (int)i;
    return -1;
}

static int column_of(const struct spans_view *s, const char *key)
{
    for (size_t i = 0; i < s->n_columns && !is_tree(s); i++)
        if (s->columns[i].sortable && strcmp(s->columns[i].key, key) == 0)
            return (int)i;
    return -1;
}

/* What was asked for, where there is such a column; else by time. */
static int sorted_column(const struct spans_view *s)
{
    int at = column_of(s, s->sort);
    return at >= 0 ? at : column_of(s, s->by == BY_PART ? "time" : "duration");
}

/* ---- rows */

static struct slice text_at(const struct spans_cells *l, size_t column)
{
    return *(const struct slice *)((const char *)l + all[column].offset);
}

static double value_at(const struct spans_cells *l, size_t column)
{
    enum form form = all[column].form;
    return form == TEXT || form == BARS ? (double)NAN
                                        : *(const double *)((const char *)l + all[column].offset);
}

static void put_clock(struct view_page *page, struct view_row *row, size_t at, double seconds,
                      long utc_offset_s)
{
    char text[16];
    text_time(text, sizeof text, llround(seconds * 1e6), utc_offset_s, 3);
    page_cell_printf(page, row, at, STYLE_DIM, "%s", text);
}

/* What is more than the number says, or less. */
static const char *bound_of(const struct view_page *page, const struct spans_cells *l,
                            size_t column, double v)
{
    size_t offset = all[column].offset;
    if (offset == AT(duration) && l->at_least)
        return page->ascii ? ">=" : "≥";
    if (!(v > 0))
        return "";
    if ((offset == AT(self) && l->at_most) || (offset == AT(wait) && l->wait_at_most) ||
        (offset == AT(duration) && l->duration_at_most))
        return page->ascii ? "<=" : "≤";
    return "";
}

static void put_number(struct view_page *page, struct view_row *row, size_t at, size_t column,
                       const struct spans_cells *l, long utc_offset_s)
{
    char text[48];
    double v = value_at(l, column);
    if (isnan(v))
        page_cell_printf(page, row, at, STYLE_DIM, "%s", page->ascii ? "-" : "–");
    else if (all[column].form == CLOCK)
        put_clock(page, row, at, v, utc_offset_s);
    else if (all[column].form == SHARE)
        page_cell_printf(page, row, at, STYLE_NORMAL, "%s", text_percent(text, sizeof text, v));
    else if (all[column].form == COUNT)
        page_cell_printf(page, row, at, STYLE_NORMAL, "%s",
                         text_integer(text, sizeof text, (int64_t)v));
    else
        page_cell_printf(page, row, at, v > 0 ? STYLE_NORMAL : STYLE_DIM, "%s%s%s",
                         bound_of(page, l, column, v), all[column].form == OFFSET ? "+" : "",
                         page_duration(page, text, sizeof text, v));
}

static void put_text(struct view_page *page, struct view_row *row, size_t at, size_t column,
                     const struct spans_cells *l)
{
    struct slice text = text_at(l, column);
    size_t offset = all[column].offset;
    enum style style = offset == AT(name)      ? l->name_style
                       : offset == AT(outcome) ? l->outcome_style
                       : offset == AT(kind)    ? STYLE_DIM
                                               : STYLE_NAME;
    page_cell(page, row, at, style, text.s, text.len);
}

static struct view_row *add_line(struct view_page *page, const void *view,
                                 const struct spans_cells *l)
{
    const struct spans_view *s = view;
    struct view_row *row = page_row(page);
    for (size_t i = 0; i < s->n_columns; i++) {
        size_t column = s->index[i];
        if (all[column].form == TEXT)
            put_text(page, row, i, column, l);
        else if (all[column].form != BARS)
            put_number(page, row, i, column, l, s->utc_offset_s);
    }
    if (page->sort_column >= 0)
        row->key = value_at(l, s->index[page->sort_column]);
    return row;
}

/* ---- what is made of a run */

static bool is_made(struct made *made, const struct spans_run *run)
{
    bool same = made->run == run && made->version == run->version && made->mono_ns == run->mono_ns;
    *made = (struct made){run, run->version, run->mono_ns};
    return same;
}

static const struct stacks *stacks_of(struct spans_view *s, const struct spans_run *run)
{
    if (is_made(&s->stacks_of, run) && s->stacks && s->stacks_raw == s->raw_waits)
        return s->stacks;
    s->stacks_raw = s->raw_waits;
    stacks_free(s->stacks);
    s->stacks = spans_stacks(run->spans, SPAN_NONE, s->raw_waits);
    return s->stacks;
}

static const struct path_parts *parts_of(struct spans_view *s, const struct spans_run *run)
{
    if (!is_made(&s->parts_of, run) || !s->parts.sum)
        path_parts_make(&s->parts, run->spans);
    return &s->parts;
}

/* The one that was chosen, else the slowest; SPAN_NONE: there is none. */
static uint32_t find_root(const struct spans_view *s, const struct spans *spans)
{
    uint32_t found = SPAN_NONE;
    int64_t longest = -1;
    for (uint32_t i = 0; i < spans_count(spans); i++) {
        const struct span *span = spans_at(spans, i);
        if (span->parent != SPAN_NONE)
            continue;
        if (s->root != 0 && span->trace_id[0] == s->root)
            return i;
        if (span_duration(span) > longest) {
            longest = span_duration(span);
            found = i;
        }
    }
    return found;
}

/* ---- the page */

static void add_rows(struct view_page *page, struct spans_view *s, const struct spans_run *run)
{
    const struct spans_rows rows = {.page = page,
                                    .run = run,
                                    .root = find_root(s, run->spans),
                                    .raw_waits = s->raw_waits,
                                    .add = add_line,
                                    .view = s};
    if (rows.root == SPAN_NONE)
        return;
    switch (s->by) {
    case BY_ROOT:
        spans_add_roots(&rows);
        break;
    case BY_TREE:
        spans_add_tree(&rows);
        break;
    case BY_PATH:
        spans_add_path(&rows);
        break;
    case BY_PART:
        spans_add_parts(&rows, parts_of(s, run));
        break;
    case BY_FLAME:
        page->flame = stacks_of(s, run);
        page->flame_unit = "µs";
        break;
    case SPANS_SORTS:
        break;
    }
}

static void spans_page(void *state, const struct model *m, int rows, int columns,
                       struct view_page *page)
{
    struct spans_view *s = state;
    const struct spans_run *run = model_spans(m);
    (void)rows;
    s->utc_offset_s = model_utc_offset(m);
    choose_columns(s, columns);
    page_columns(page, s->columns, s->n_columns);
    page->bar_column = bar_column(s);
    page->in_place = is_tree(s);
    page->sort_column = sorted_column(s);
    page->sort_descending = !s->ascending;
    if (!run && model_recorded(m))
        page_missing(page, m, "causal spans");
    else
        spans_empty(page, run, s->keymap);
    if (!run)
        return;
    const struct path_parts *parts = s->by == BY_PART ? parts_of(s, run) : NULL;
    spans_title(page, run, parts, model_recorded(m) != NULL, columns);
    if (page->sort_column >= 0)
        snprintf(page->order, sizeof page->order, "%s", s->columns[page->sort_column].key);
    add_rows(page, s, run);
    page_sort(page);
}

/* ---- what the user does to it */

static void spans_sort(void *state, const char *key, int direction)
{
    struct spans_view *s = state;
    int at = column_of(s, key);
    if (at < 0)
        return;
    bool text = all[s->index[at]].form == TEXT, same = at == sorted_column(s);
    s->ascending = direction ? direction < 0 : same ? !s->ascending : text;
    snprintf(s->sort, sizeof s->sort, "%s", key);
}

static int set_by(struct spans_view *s, const char *word, struct error *err)
{
    int by = 0;
    while (by < SPANS_SORTS && strcmp(by_words[by], word) != 0)
        by++;
    if (by == SPANS_SORTS)
        return error_set(err, ERR_USAGE,
                         "spans are shown as roots, tree, path, parts or flame, not \"%s\"", word);
    s->by = (enum spans_by)by;
    s->ascending = false;
    s->sort[0] = '\0';
    return 0;
}

/* From a request to its tree. */
static int spans_by_word(void *state, const struct view_link *at, const char *arg,
                         struct error *err)
{
    struct spans_view *s = state;
    if (at->kind == TARGET_REQUEST)
        s->root = at->id;
    return set_by(s, *arg ? arg : by_words[(s->by + 1) % SPANS_SORTS], err);
}

/* "view spans flame", or a request's tree. */
static int spans_open_on(void *state, const struct view_link *link, struct error *err)
{
    struct spans_view *s = state;
    s->root = link->kind == TARGET_REQUEST ? link->id : 0;
    return set_by(s, link->kind == TARGET_REQUEST ? "tree" : link->name, err);
}

/* Where they are seen: from other rows, the tree. */
static int spans_raw_waits(void *state, const struct view_link *at, const char *arg,
                           struct error *err)
{
    struct spans_view *s = state;
    (void)arg;
    s->raw_waits = !s->raw_waits;
    if (s->by == BY_TREE || s->by == BY_FLAME || !s->raw_waits)
        return 0;
    return spans_by_word(s, at, by_words[BY_TREE], err);
}

static const struct view_act spans_acts[] = {
    {ACTION_BY, .run = spans_by_word}, {ACTION_RAW_WAITS, .run = spans_raw_waits}, {.run = NULL}};

static const struct view_hint spans_hints[] = {
    {ACTION_STOP, "stop"},           {ACTION_ENTER, "open or zoom"}, {ACTION_BY, "by"},
    {ACTION_RAW_WAITS, "raw waits"}, {ACTION_BACK, "back"},          {.does = NULL},
};

static bool spans_runs(const struct model *m)
{
    const struct spans_run *run = model_spans(m);
    return run && session_status_runs(&run->status);
}

const struct view_ops view_spans = {
    .name = "spans",
    .title = "Spans",
    .key = 'Y',
    .help = "Requests across processes: where each one waited, and where the time of all goes.",
    .kind = VIEW_TABLE,
    .opens = 1u << TARGET_REQUEST,
    .stop = ACTION_SPANS_STOP,
    .shown_by = ACTION_SPANS,
    .state_bytes = sizeof(struct spans_view),
    .clear = spans_clear,
    .want = spans_want,
    .page = spans_page,
    .sort = spans_sort,
    .open = spans_open_on,
    .keys = spans_keys,
    .acts = spans_acts,
    .hints = spans_hints,
    .runs = spans_runs,
};
