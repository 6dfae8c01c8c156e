/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"

static const struct view_column log_columns[] = {
    {"time", "TIME", 12, false, false, false, "when, in local time"},
    {"kind", "", 8, false, false, false, "trouble, or what was done"},
    {"text", "WHAT BEAMTOP DID ON THE NODE", 40, false, true, false, "in words"},
};

#define BESIDE_TEXT 23 /* columns of the other two, and between */
#define TEXT_LEAST 16

/* The text, in as many rows as it takes. */
static void put_entry_text(struct view_page *page, struct view_row *row,
                           const struct journal_entry *e, int columns)
{
    const size_t room =
        (size_t)(columns > BESIDE_TEXT + TEXT_LEAST ? columns - BESIDE_TEXT : TEXT_LEAST);
    const char *at = e->text;
    for (size_t left = strlen(at), part, next;; at += next, left -= next) {
        part = text_break(at, left, room, &next);
        page_cell(page, row, 2, e->trouble ? STYLE_ALARM : STYLE_NORMAL, at, part);
        if (next >= left)
            return;
        uint64_t id = row->id + 1;
        row = page_row(page);
        row->id = id;
        row->continued = true;
    }
}

static void add_entry(struct view_page *page, const struct journal_entry *e, long utc_offset_s,
                      int columns)
{
    struct view_row *row = page_row(page);
    char text[16];
    text_time(text, sizeof text, e->wall_us, utc_offset_s, 3);
    row->id = text_identity(e->text, strlen(e->text)) ^ (uint64_t)e->wall_us;
    page_cell_printf(page, row, 0, STYLE_DIM, "%s", text);
    page_cell_printf(page, row, 1, e->trouble ? STYLE_ALARM : STYLE_DIM, "%s",
                     e->trouble ? "trouble" : "did");
    put_entry_text(page, row, e, columns);
}

static void log_page(void *state, const struct model *m, struct view_page *page)
{
    char n[32];
    size_t len = model_journal_len(m);
    (void)state;
    page_columns(page, log_columns, ARRAY_LEN(log_columns));
    for (size_t age = 0; age < len; age++)
        add_entry(page, model_journal_at(m, age), model_utc_offset(m), page->pane_columns);
    snprintf(page->summary, sizeof page->summary, "newest first, %s lines",
             text_integer(n, sizeof n, (int64_t)len));
    snprintf(page->empty, sizeof page->empty, "Nothing yet.");
}

static const struct view_hint log_hints[] = {
    {ACTION_PAGE_DOWN, "older"}, {ACTION_BACK, "back"}, {.does = NULL}};

const struct view_ops view_log = {
    .name = "log",
    .title = "Log",
    .key = '7',
    .help = "Log of what beamtop did on the node, and of errors.",
    .kind = VIEW_TABLE,
    .no_processes = true,
    .own_facts = true,
    .needs = NEED(SYSTEM),
    .page = log_page,
    .hints = log_hints,
};
