/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Causal spans: requests, the tree and the critical path of one, where the time of all goes. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "ui/spans/spans_title.h"
#include "ui/widgets/rows.h"
#include "views.h"

enum spans_by { BY_ROOT, BY_TREE, BY_PATH, BY_PART, BY_FLAME };
static const struct rows_of spans_rows_of[] = {
    [BY_ROOT] = {"roots", &spans_request_fields, "duration_us", NULL, NULL, false},
    [BY_TREE] = {"tree", &spans_span_fields, NULL, NULL, NULL, false},
    [BY_PATH] = {"path", &spans_step_fields, NULL, NULL, NULL, false},
    [BY_PART] = {"parts", &spans_part_fields, "us", NULL, NULL, false},
    [BY_FLAME] = {"flame", &spans_span_fields, NULL, NULL, NULL, false},
};

/* clang-format off */
#define WIDE 118 /* columns for all of a tree; else the bars stand before what can be scrolled to */
#define ROWS_MOST 2000 /* of a tree or a path */
#define DEEPEST 12u    /* levels that are indented */
/* clang-format on */

/* Which run, and how much of it: what is made of it holds while these are the same. */
struct made {
    const struct spans_run *run;
    uint64_t version;
    int64_t mono_ns;
};

struct spans_view {
    struct rows rows;
    bool raw_waits, stacks_raw; /* stacks_raw: as of the stacks */
    uint64_t root;              /* trace_id[0] of the tree's and the path's; 0: the slowest */
    struct made stacks_of, sum_of;
    struct stacks *stacks;
    struct spans_sum sum;
};

static void spans_clear(void *state)
{
    struct spans_view *s = state;
    stacks_free(s->stacks);
    spans_sum_clear(&s->sum);
}

/* ---- columns */

static bool is_tree(const struct spans_view *s)
{
    return s->rows.by == BY_TREE || s->rows.by == BY_PATH;
}

/* Those of a tree and a path grow, and the bars stand last, where there is room for all. */
static void begin_columns(struct spans_view *s, struct view_page *page, int columns)
{
    static const char *const narrow[] = {
        [BY_TREE] = "operation duration_us bars outcome name kind offset_us queued_us self_us",
        [BY_PATH] = "operation part duration_us share bars name offset_us",
        [BY_FLAME] = "",
    };
    struct rows *rows = &s->rows;
    const bool is_narrow = is_tree(s) && columns < WIDE;
    rows_begin(rows, page, is_narrow || rows->by == BY_FLAME ? narrow[rows->by] : NULL);
    for (size_t i = 0; i < rows->n; i++) {
        rows->columns[i].grows = rows->columns[i].grows && !is_narrow;
        if (strcmp(rows->columns[i].key, "bars") == 0)
            page->bar_column = (int)i;
    }
    page->in_place = is_tree(s);
}

/* ---- rows */

static const enum style outcome_styles[SPAN_OUTCOMES] = {
    [SPAN_OK] = STYLE_NORMAL,      [SPAN_UNKNOWN] = STYLE_DIM,   [SPAN_OPEN] = STYLE_WARN,
    [SPAN_ELSEWHERE] = STYLE_WARN, [SPAN_LATE] = STYLE_WARN,     [SPAN_EXCEPTION] = STYLE_ERROR,
    [SPAN_EXIT] = STYLE_ERROR,     [SPAN_TIMEOUT] = STYLE_ERROR, [SPAN_NOPROC] = STYLE_ERROR,
};

struct adding {
    const struct spans_view *view;
    struct view_page *page;
    long utc_offset_s;
};

static void add_row(void *to, const struct spans_row *from)
{
    const struct adding *adding = to;
    const struct rows *rows = &adding->view->rows;
    struct view_row *row = rows_add(rows, adding->page, from);
    struct text_span *operation = rows_cell(rows, row, "operation"),
                     *outcome = rows_cell(rows, row, "outcome"),
                     *started = rows_cell(rows, row, "started_at");
    char text[16];
    row->id = from->id;
    row->indent = 2 * (int)(from->depth < DEEPEST ? from->depth : DEEPEST);
    row->bars = from->bars;
    if (from->is != SPANS_ROW_SPAN)
        operation->style = STYLE_DIM;
    else if (!from->is_function && rows->by != BY_ROOT)
        operation->style = STYLE_NORMAL;
    if (outcome)
        outcome->style = outcome_styles[from->ended];
    if (started && from->wall_us >= 0) {
        text_time(text, sizeof text, from->wall_us, adding->utc_offset_s, 3);
        page_cell_printf(adding->page, row, (size_t)(started - row->cells), STYLE_DIM, "%s", text);
    }
    if (from->is == SPANS_ROW_WORDS && from->link_id == 0)
        return;
    link_name(&row->link, rows->by == BY_ROOT ? TARGET_REQUEST : TARGET_SPAN, from->function);
    row->link.id = from->link_id;
    if (from->who.node.len == 0)
        row->link.pid = from->who.pid;
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

static const struct spans_sum *sum_of(struct spans_view *s, const struct spans_run *run)
{
    const uint32_t n = (uint32_t)spans_count(run->spans);
    uint32_t *roots;
    size_t n_roots = 0;
    if (is_made(&s->sum_of, run))
        return &s->sum;
    roots = alloc_zero(n + 1, sizeof *roots);
    for (uint32_t i = 0; i < n; i++)
        if (spans_at(run->spans, i)->parent == SPAN_NONE)
            roots[n_roots++] = i;
    spans_sum_clear(&s->sum);
    spans_sum_make(&s->sum, run->spans, roots, n_roots, true);
    free(roots);
    return &s->sum;
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

static void add_requests(const struct spans_rows *r, struct adding *to)
{
    const uint32_t *counts = spans_counted(r->arena, r->run->spans);
    for (uint32_t i = 0; i < spans_count(r->run->spans); i++)
        if (spans_at(r->run->spans, i)->parent == SPAN_NONE) {
            const struct spans_row row = spans_request_row(r, i, counts[i]);
            add_row(to, &row);
        }
}

static void add_rows(struct view_page *page, struct spans_view *s, const struct spans_run *run,
                     long utc_offset_s)
{
    const struct spans_rows r = {.run = run,
                                 .arena = &page->arena,
                                 .ascii = page->ascii,
                                 .raw_waits = s->raw_waits,
                                 .most = ROWS_MOST};
    struct adding to = {s, page, utc_offset_s};
    const uint32_t root = find_root(s, run->spans);
    if (root == SPAN_NONE)
        return;
    switch ((enum spans_by)s->rows.by) {
    case BY_ROOT:
        add_requests(&r, &to);
        break;
    case BY_TREE:
        spans_tree_rows(&r, root, add_row, &to);
        break;
    case BY_PATH:
        spans_path_rows(&r, root, add_row, &to);
        break;
    case BY_PART:
        spans_operation_rows(&r, sum_of(s, run), add_row, &to);
        break;
    case BY_FLAME:
        page->flame = stacks_of(s, run);
        page->flame_unit = "µs";
        break;
    }
}

static void spans_page(void *state, const struct model *m, struct view_page *page)
{
    struct spans_view *s = state;
    const struct spans_run *run = model_spans(m);
    begin_columns(s, page, page->pane_columns);
    if (!run)
        page->order[0] = '\0';
    if (!run && model_recorded(m))
        page_missing(page, m, "causal spans");
    else
        spans_empty(page, run);
    if (!run)
        return;
    spans_title(page, run, s->rows.by == BY_PART ? sum_of(s, run) : NULL, model_recorded(m) != NULL,
                page->pane_columns);
    add_rows(page, s, run, model_utc_offset(m));
    page_sort(page);
}

/* ---- what the user does to it */

/* From a request to its tree. */
static int spans_by_word(void *state, const struct view_call *call)
{
    if (call->at->kind == TARGET_REQUEST)
        ((struct spans_view *)state)->root = call->at->id;
    return rows_by(state, call);
}

/* "view spans flame", or a request's tree. */
static int spans_open_on(void *state, const struct view_link *link, struct error *err)
{
    struct spans_view *s = state;
    s->root = link->kind == TARGET_REQUEST ? link->id : 0;
    return rows_show(&s->rows, link->kind == TARGET_REQUEST ? "tree" : link->name, err);
}

/* Where they are seen: from other rows, the tree. */
static int spans_raw_waits(void *state, const struct view_call *call)
{
    struct spans_view *s = state;
    s->raw_waits = !s->raw_waits;
    if (s->rows.by == BY_TREE || s->rows.by == BY_FLAME || !s->raw_waits)
        return 0;
    const struct view_call tree = {ACTION_BY, call->at, "tree", call->err};
    return spans_by_word(s, &tree);
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
    .rows = spans_rows_of,
    .n_rows = ARRAY_LEN(spans_rows_of),
    .clear = spans_clear,
    .page = spans_page,
    .sort = rows_sort,
    .open = spans_open_on,
    .acts = spans_acts,
    .hints = spans_hints,
    .runs = spans_runs,
};
