/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of the largest processes: heaps, stack, fragments, binaries, and its growth. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "beamtop/model/fields.h"
#include "beamtop/model/owners.h"
#include "ui/widgets/rows.h"
#include "views.h"

#define BY(by_word)                                                                                \
    {                                                                                              \
        .word = (by_word), .fields = &heap_owner_fields, .sort = "memory_bytes"                    \
    }
static const struct rows_of heaps_rows[] = {
    {.word = "process", .fields = &heap_row_fields, .sort = "memory_bytes"},
    BY("application"),
    BY("module"),
    BY("name"),
    BY("label"),
    BY("kin"),
    BY("kind"),
};

static void heaps_want(const void *state, int rows, struct want *want)
{
    const struct rows *s = state;
    const struct want mine = {.needs = NEED(HEAPS),
                              .heaps = s->by > 0 || rows > HEAPS_MOST ? HEAPS_MOST
                                       : rows > HEAPS_ROWS            ? rows
                                                                      : HEAPS_ROWS};
    want_merge(want, &mine);
}

static void add_heap_process(struct view_page *page, const struct rows *s, const struct heap_row *h)
{
    struct view_row *row = rows_add(s, page, h);
    row->id = text_identity(h->pid_text.s, h->pid_text.len);
    link_process(&row->link, &h->row.pid, h->who);
    rows_mark_older(s, page, row, "memory_bytes", h->older, h->row.older_s);
}

/* ---- by owner */

static enum owner_by owner_of_rows(const struct rows *s)
{
    enum owner_by by = OWNER_APPLICATION;
    owner_by_heap(heaps_rows[s->by].word, &by);
    return by;
}

static struct slice owner_name(struct slice name)
{
    return name.len > 0 ? name : slice_of("(none)");
}

/* Several processes are opened below their owner, one is opened itself. */
static void add_owner(struct view_page *page, const struct rows *s, const struct heap_owner *o)
{
    const struct slice name = owner_name(o->name);
    struct view_row *row = rows_add(s, page, o);
    row->id = text_identity(name.s, name.len);
    if (o->name.len == 0)
        page_cell(page, row, 0, STYLE_DIM, name.s, name.len);
    else if (owner_of_rows(s) == OWNER_APPLICATION)
        link_name(&row->link, TARGET_APP, name);
    if (row->link.kind == TARGET_NONE && o->processes > 1)
        row->link = (struct view_link){.kind = TARGET_KIN, .id = row->id};
    else if (row->link.kind == TARGET_NONE)
        link_process(&row->link, &o->first->row.pid, o->first->row.name);
}

static void add_owned(struct view_page *page, const struct rows *s, const struct heap_row *h)
{
    const struct heap_owner one = {.processes = 1,
                                   .memory_bytes = known_or_nan(h->row.memory_bytes),
                                   .growth_bytes = h->growth_bytes,
                                   .binary_bytes = known_or_nan(h->binary_bytes),
                                   .message_queue_len = h->row.message_queue_len};
    struct view_row *row = rows_add(s, page, &one);
    row->indent = 2;
    row->continued = true;
    row->id = pid_identity(&h->row.pid);
    link_process(&row->link, &h->row.pid, h->row.name);
    page_cell_printf(page, row, 0, STYLE_PID, "%.*s%s%.*s", (int)h->pid_text.len, h->pid_text.s,
                     h->row.label.len > 0 ? " " : "", (int)h->row.label.len, h->row.label.s);
}

static void open_owner(struct view_page *page, const struct heaps_detail *h, const struct rows *s)
{
    const size_t n = page->n_rows, at = page_opened(page, s->opened);
    if (at == n)
        return;
    page->in_place = true;
    for (size_t i = 0; i < h->n_rows; i++) {
        const struct slice name =
            owner_name(owner_of(owner_of_rows(s), &h->rows[i].row, &page->arena));
        if (text_identity(name.s, name.len) == s->opened)
            add_owned(page, s, &h->rows[i]);
    }
    page_sort_below(page, n, at);
}

static void summarise_heaps(struct view_page *page, const struct heaps_detail *h)
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

static void heaps_page(void *state, const struct model *m, struct view_page *page)
{
    struct rows *s = state;
    const struct heaps_detail *h = model_heaps(m);
    rows_begin(s, page, NULL);
    if (!h) {
        page_missing(page, m, "heaps");
        return;
    }
    if (s->by > 0)
        snprintf(page->order, sizeof page->order, "%s by %s", s->sort, s->of[s->by].word);
    const enum owner_by by = owner_of_rows(s);
    for (size_t i = 0; s->by == 0 && i < h->n_rows; i++)
        add_heap_process(page, s, &h->rows[i]);
    for (size_t i = 0; s->by > 0 && i < h->by[by].n; i++)
        add_owner(page, s, &h->by[by].items[i]);
    page_sort(page);
    if (s->by > 0 && s->opened != 0)
        open_owner(page, h, s);
    summarise_heaps(page, h);
}

static const struct view_act heaps_acts[] = {
    {.action = ACTION_BY, .run = rows_by},
    {.action = ACTION_FOLD, .folds = true, .run = rows_fold},
    {.run = NULL}};
static const struct view_hint heaps_hints[] = {
    {ACTION_ENTER, "open"}, {ACTION_BY, "group"}, {.does = NULL}};

const struct view_ops view_heaps = {
    .name = "heaps",
    .title = "Heaps",
    .key = 'U',
    .help = "Heaps, stack, binaries and message queue of the largest processes, and growth.",
    .kind = VIEW_TABLE,
    .state_bytes = sizeof(struct rows),
    .rows = heaps_rows,
    .n_rows = ARRAY_LEN(heaps_rows),
    .want = heaps_want,
    .page = heaps_page,
    .sort = rows_sort,
    .acts = heaps_acts,
    .hints = heaps_hints,
};
