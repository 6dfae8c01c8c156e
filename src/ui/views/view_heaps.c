/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of the largest processes: heaps, stack, fragments, binaries, and its growth. */
#include "views.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "beamtop/model/owners.h"

/* clang-format off */
enum { PID, NAME, MEMORY, GROWTH, YOUNG, BLOCK, OLD, STACK, FRAGMENTS, BINARIES, REFC, QUEUE };
/* clang-format on */

static const struct view_column heap_columns[] = {
    [PID] = {"pid", "PID", 11, false, false, false, "its pid"},
    [NAME] = {"name", "NAME", 20, false, true, true, "registered name, label or initial call"},
    [MEMORY] = {"memory_bytes", "MEMORY", 9, true, false, true, "heaps, stack, message queue"},
    [GROWTH] = {"growth_bytes", "GROWTH", 10, true, false, true, "since the first measurement"},
    [YOUNG] = {"young_bytes", "YOUNG", 9, true, false, true, "used in the young heap"},
    [BLOCK] = {"young_block_bytes", "BLOCK", 9, true, false, true, "the young heap's block"},
    [OLD] = {"old_bytes", "OLD", 9, true, false, true, "used in the old heap"},
    [STACK] = {"stack_bytes", "STACK", 9, true, false, true, "used by the stack"},
    [FRAGMENTS] = {"fragment_bytes", "FRAGS", 9, true, false, true, "heap fragments, messages"},
    [BINARIES] = {"binary_bytes", "BINARIES", 9, true, false, true, "refc binaries (off-heap)"},
    [REFC] = {"binaries", "REFC", 7, true, false, true, "how many of them"},
    [QUEUE] = {"message_queue_len", "MSGQ", 8, true, false, true, "messages in its queue"},
};

enum { OWNER, PROCESSES, OWNER_MEMORY, OWNER_GROWTH, OWNER_BINARIES, OWNER_QUEUE };

static const struct view_column owner_columns[] = {
    [OWNER] = {"owner", "OWNER", 30, false, true, true, "who: see the order above"},
    [PROCESSES] = {"processes", "PROCS", 8, true, false, true, "of the largest processes"},
    [OWNER_MEMORY] = {"memory_bytes", "MEMORY", 9, true, false, true, "of these"},
    [OWNER_GROWTH] = {"growth_bytes", "GROWTH", 10, true, false, true,
                      "since the first measurement"},
    [OWNER_BINARIES] = {"binary_bytes", "BINARIES", 9, true, false, true,
                        "refc binaries (off-heap)"},
    [OWNER_QUEUE] = {"message_queue_len", "MSGQ", 8, true, false, true, "messages in their queues"},
};

struct heaps {
    int by;           /* enum owner_by, or -1: each process */
    const char *sort; /* key of a column */
    bool ascending;
    uint64_t opened; /* the row of an owner whose processes are below it; 0: none */
};

static void heaps_init(void *state)
{
    *(struct heaps *)state = (struct heaps){.by = -1, .sort = heap_columns[MEMORY].key};
}

static void heaps_want(const void *state, int rows, struct want *want)
{
    const struct heaps *s = state;
    const struct want mine = {.needs = NEED_HEAPS,
                              .heaps = s->by >= 0 || rows > HEAPS_MOST ? HEAPS_MOST
                                       : rows > HEAPS_ROWS             ? rows
                                                                       : HEAPS_ROWS};
    want_merge(want, &mine);
}

static void put_bytes(struct view_page *page, struct view_row *row, size_t column, double n)
{
    char text[32];
    page_cell_printf(page, row, column, n > 0 ? STYLE_NORMAL : STYLE_DIM, "%s",
                     text_bytes(text, sizeof text, n));
}

static void put_growth(struct view_page *page, struct view_row *row, size_t column, double n)
{
    char text[32];
    enum style style = n > 0 ? STYLE_RISING : n < 0 ? STYLE_FALLING : STYLE_DIM;
    page_cell_printf(page, row, column, style, "%s%s", n > 0 ? "+" : "",
                     text_bytes(text, sizeof text, n));
}

static void put_count(struct view_page *page, struct view_row *row, size_t column, int64_t n)
{
    char text[32];
    page_cell_printf(page, row, column, n > 0 ? STYLE_NORMAL : STYLE_DIM, "%s",
                     text_count(text, sizeof text, known_or_nan(n)));
}

static void add_process(struct view_page *page, const struct heap_row *h, const char *sort)
{
    struct view_row *row = page_row(page);
    const double bytes[] = {[MEMORY] = known_or_nan(h->row.memory_bytes),
                            [GROWTH] = h->growth_bytes,
                            [YOUNG] = known_or_nan(h->young_bytes),
                            [BLOCK] = known_or_nan(h->young_block_bytes),
                            [OLD] = known_or_nan(h->old_bytes),
                            [STACK] = known_or_nan(h->stack_bytes),
                            [FRAGMENTS] = known_or_nan(h->fragment_bytes),
                            [BINARIES] = known_or_nan(h->binary_bytes),
                            [REFC] = known_or_nan(h->binaries),
                            [QUEUE] = known_or_nan(h->row.message_queue_len)};
    row->id = text_identity(h->pid_text.s, h->pid_text.len);
    link_process(&row->link, &h->row.pid, h->who);
    page_cell(page, row, PID, STYLE_PID, h->pid_text.s, h->pid_text.len);
    page_cell(page, row, NAME, STYLE_NAME, h->who.s, h->who.len);
    row->key = NAN;
    for (size_t i = MEMORY; i < ARRAY_LEN(heap_columns); i++) {
        if (strcmp(heap_columns[i].key, sort) == 0)
            row->key = bytes[i];
        if (i != GROWTH && i != REFC && i != QUEUE)
            put_bytes(page, row, i, bytes[i]);
    }
    char memory[32];
    if (h->older)
        page_cell_printf(page, row, MEMORY, STYLE_DIM, "%s%s", older_sign(true, h->row.older_s),
                         text_bytes(memory, sizeof memory, bytes[MEMORY]));
    put_growth(page, row, GROWTH, h->growth_bytes);
    put_count(page, row, REFC, h->binaries);
    put_count(page, row, QUEUE, h->row.message_queue_len);
}

/* ---- by owner */

static struct slice owner_name(struct slice name)
{
    return name.len > 0 ? name : slice_of("(none)");
}

static struct view_row *put_numbers(struct view_page *page, const struct heap_owner *o,
                                    const char *sort)
{
    struct view_row *row = page_row(page);
    const double keys[] = {[OWNER] = NAN,
                           [PROCESSES] = (double)o->processes,
                           [OWNER_MEMORY] = o->memory_bytes,
                           [OWNER_GROWTH] = o->growth_bytes,
                           [OWNER_BINARIES] = o->binary_bytes,
                           [OWNER_QUEUE] = (double)o->message_queue_len};
    for (size_t i = 0; i < ARRAY_LEN(owner_columns); i++)
        if (strcmp(owner_columns[i].key, sort) == 0)
            row->key = keys[i];
    put_count(page, row, PROCESSES, o->processes);
    put_bytes(page, row, OWNER_MEMORY, o->memory_bytes);
    put_growth(page, row, OWNER_GROWTH, o->growth_bytes);
    put_bytes(page, row, OWNER_BINARIES, o->binary_bytes);
    put_count(page, row, OWNER_QUEUE, o->message_queue_len);
    return row;
}

/* Several processes are opened below their owner, one is opened itself. */
static void add_owner(struct view_page *page, const struct heap_owner *o, const struct heaps *s)
{
    const struct slice name = owner_name(o->name);
    struct view_row *row = put_numbers(page, o, s->sort);
    row->id = text_identity(name.s, name.len);
    if (s->by == OWNER_APPLICATION && o->name.len > 0)
        link_name(&row->link, TARGET_APP, name);
    else if (o->processes > 1)
        row->link = (struct view_link){.kind = TARGET_KIN, .id = row->id};
    else
        link_process(&row->link, &o->first->row.pid, o->first->row.name);
    page_cell(page, row, OWNER, o->name.len > 0 ? STYLE_NAME : STYLE_DIM, name.s, name.len);
}

static void add_owned(struct view_page *page, const struct heap_row *h, const struct heaps *s)
{
    const struct heap_owner one = {.processes = 1,
                                   .memory_bytes = known_or_nan(h->row.memory_bytes),
                                   .growth_bytes = h->growth_bytes,
                                   .binary_bytes = known_or_nan(h->binary_bytes),
                                   .message_queue_len = h->row.message_queue_len};
    struct view_row *row = put_numbers(page, &one, s->sort);
    row->indent = 2;
    row->continued = true;
    row->id = pid_identity(&h->row.pid);
    link_process(&row->link, &h->row.pid, h->row.name);
    page_cell_printf(page, row, OWNER, STYLE_PID, "%.*s%s%.*s", (int)h->pid_text.len, h->pid_text.s,
                     h->row.label.len > 0 ? " " : "", (int)h->row.label.len, h->row.label.s);
}

static void open_owner(struct view_page *page, const struct heaps_detail *h, const struct heaps *s)
{
    const size_t n = page->n_rows, at = page_opened(page, s->opened);
    if (at == n)
        return;
    page->in_place = true;
    for (size_t i = 0; i < h->n_rows; i++) {
        const struct slice name =
            owner_name(owner_of((enum owner_by)s->by, &h->rows[i].row, &page->arena));
        if (text_identity(name.s, name.len) == s->opened)
            add_owned(page, &h->rows[i], s);
    }
    page_sort_below(page, n, at);
}

static void summarise(struct view_page *page, const struct heaps_detail *h)
{
    char n[32], all[32], bytes[32], share[32], since[32];
    int len = snprintf(
        page->summary, sizeof page->summary, "%s largest of %s processes, %s, %s of all processes",
        text_integer(n, sizeof n, (int64_t)h->n_rows), text_integer(all, sizeof all, h->total),
        text_bytes(bytes, sizeof bytes, h->rows_bytes),
        text_percent(share, sizeof share, h->share));
    if (!isnan(h->over_s) && len > 0 && (size_t)len < sizeof page->summary)
        len += snprintf(page->summary + len, sizeof page->summary - (size_t)len,
                        " · growth over %s", text_duration(since, sizeof since, h->over_s));
    if (h->partial && len > 0 && (size_t)len < sizeof page->summary)
        snprintf(page->summary + len, sizeof page->summary - (size_t)len,
                 " · cut short by the deadline");
    struct older older = {0};
    for (size_t i = 0; i < h->n_rows; i++)
        older_add(&older, h->rows[i].older, h->rows[i].row.older_s);
    older_say(&older, page);
}

static void heaps_page(void *state, const struct model *m, int rows, int columns,
                       struct view_page *page)
{
    const struct heaps *s = state;
    const struct heaps_detail *h = model_heaps(m);
    const struct view_column *all = s->by < 0 ? heap_columns : owner_columns;
    size_t n = s->by < 0 ? ARRAY_LEN(heap_columns) : ARRAY_LEN(owner_columns);
    (void)rows;
    (void)columns;
    page_columns(page, all, n);
    page->sort_descending = !s->ascending;
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].key, s->sort) == 0)
            page->sort_column = (int)i;
    snprintf(page->order, sizeof page->order, "%s%s%s", s->sort, s->by < 0 ? "" : " by ",
             s->by < 0 ? "" : owner_by_key((enum owner_by)s->by));
    if (!h) {
        view_missing(page, m, "heaps");
        return;
    }
    for (size_t i = 0; s->by < 0 && i < h->n_rows; i++)
        add_process(page, &h->rows[i], s->sort);
    for (size_t i = 0; s->by >= 0 && i < h->by[s->by].n; i++)
        add_owner(page, &h->by[s->by].items[i], s);
    page_sort(page);
    if (s->by >= 0 && s->opened != 0)
        open_owner(page, h, s);
    summarise(page, h);
}

static void heaps_sort(void *state, const char *key, int direction)
{
    struct heaps *s = state;
    const struct view_column *all = s->by < 0 ? heap_columns : owner_columns;
    size_t n = s->by < 0 ? ARRAY_LEN(heap_columns) : ARRAY_LEN(owner_columns);
    for (size_t i = 0; i < n; i++) {
        if (!all[i].sortable || strcmp(all[i].key, key) != 0)
            continue;
        bool text = i == (s->by < 0 ? (size_t)NAME : (size_t)OWNER);
        s->ascending = direction ? direction < 0 : strcmp(s->sort, key) == 0 ? !s->ascending : text;
        s->sort = all[i].key;
    }
}

static int heaps_by(void *state, const struct view_link *at, const char *arg, struct error *err)
{
    static const int order[] = {-1,         OWNER_APPLICATION, OWNER_MODULE,
                                OWNER_NAME, OWNER_KIN,         OWNER_KIND};
    struct heaps *s = state;
    enum owner_by by = OWNER_APPLICATION;
    size_t next = 0;
    (void)at;
    if (*arg && strcmp(arg, "process") != 0 && !owner_by_heap(arg, &by))
        return error_set(err, ERR_USAGE, "“%s” is not process, " OWNER_HEAP_SORTS, arg);
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        next = order[i] == s->by ? (i + 1) % ARRAY_LEN(order) : next;
    s->by = !*arg ? order[next] : strcmp(arg, "process") == 0 ? -1 : (int)by;
    s->sort = heap_columns[MEMORY].key;
    s->ascending = false;
    s->opened = 0;
    return 0;
}

static int heaps_open(void *state, const struct view_link *at, const char *arg, struct error *err)
{
    struct heaps *s = state;
    (void)arg;
    return link_fold(at, &s->opened, err);
}

static const struct view_act heaps_acts[] = {
    {.action = ACTION_BY, .run = heaps_by}, {ACTION_FOLD, true, heaps_open}, {.run = NULL}};
static const struct view_hint heaps_hints[] = {
    {ACTION_ENTER, "open"}, {ACTION_BY, "group"}, {.does = NULL}};

const struct view_ops view_heaps = {
    .name = "heaps",
    .title = "Heaps",
    .key = 'U',
    .help = "Heaps, stack, binaries and message queue of the largest processes, and growth.",
    .kind = VIEW_TABLE,
    .state_bytes = sizeof(struct heaps),
    .init = heaps_init,
    .want = heaps_want,
    .page = heaps_page,
    .sort = heaps_sort,
    .acts = heaps_acts,
    .hints = heaps_hints,
};
