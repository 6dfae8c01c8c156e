/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/model/fields.h"
#include "ui/widgets/rows.h"
#include "views.h"

#define BY(column)                                                                                 \
    {                                                                                              \
        .word = (column), .fields = &ports_fields, .sort = "ports", .groups = true                 \
    }
/* The node has them in order: what is held first, then what moves most. */
static const struct rows_of ports_rows[] = {
    {.word = "port", .fields = &ports_fields, .sort = ""},
    BY("owner_name"),
    BY("remote_host"),
    BY("local_port"),
    BY("state"),
    BY("kind"),
    BY("application"),
};

/* A socket's name is long, and only its end differs from others'. */
static void shorten_id(struct view_page *page, struct view_row *row, struct slice id)
{
    const char *dot = id.len > 0 ? memrchr(id.s, '.', id.len) : NULL;
    if (dot && slice_begins(id, "#Socket"))
        page_cell_printf(page, row, 0, STYLE_NORMAL, "#%s%.*s", page->ascii ? ".." : "…",
                         (int)(id.s + id.len - dot - 1), dot + 1);
}

/* What it is called stands where its other end does. */
static void show_name(const struct rows *rows, struct view_page *page, struct view_row *row,
                      const struct ports_row *p)
{
    const struct text_span *cell = rows_cell(rows, row, "remote");
    if (cell && p->name.len > 0)
        page_cell_printf(page, row, (size_t)(cell - row->cells), STYLE_NORMAL, "%.*s%s%.*s",
                         (int)p->name.len, p->name.s, p->remote.len > 0 ? " " : "",
                         (int)p->remote.len, p->remote.s);
}

static void about_port(const struct rows *rows, struct view_page *page, struct view_row *row,
                       const void *of)
{
    const struct ports_row *p = of;
    if (p->has_owner)
        link_process(&row->link, &p->owner, p->owner_name);
    if (rows->by > 0 || p->id.len == 0)
        return;
    shorten_id(page, row, p->id);
    show_name(rows, page, row, p);
}

static void ports_page(void *state, const struct model *m, struct view_page *page)
{
    const struct table_detail *table = rows_of_table(state, page, m, QUESTION_PORTS, about_port);
    const struct ports_row *rows = table ? table->rows : NULL;
    int64_t all = 0, closed = 0, senders = 0;
    char n[32], words[80] = "";
    if (!table)
        return;
    for (size_t i = 0; i < table->n_rows; i++) {
        all += rows[i].ports > 0 ? rows[i].ports : 0;
        closed += rows[i].close_wait > 0 ? rows[i].close_wait : 0;
        senders += rows[i].senders > 0 ? rows[i].senders : 0;
    }
    if (senders > 0)
        snprintf(words, sizeof words, ", %s in a send", text_integer(n, sizeof n, senders));
    if (closed > 0)
        snprintf(words + strlen(words), sizeof words - strlen(words), ", %s in close_wait",
                 text_integer(n, sizeof n, closed));
    snprintf(page->summary, sizeof page->summary, "%s ports and sockets%s%s",
             text_integer(n, sizeof n, all), words, table->partial ? ", some left out" : "");
}

static const struct view_act ports_acts[] = {
    {.action = ACTION_BY, .run = rows_by},
    {.action = ACTION_FOLD, .folds = true, .run = rows_fold},
    {.run = NULL}};
static const struct view_hint ports_hints[] = {
    {ACTION_ENTER, "owner"}, {ACTION_BY, "group"}, {.does = NULL}};

const struct view_ops view_ports = {
    .name = "ports",
    .key = ';',
    .title = "Ports",
    .help = "Ports and sockets: state, queue, waiting senders, bytes, owner, addresses; grouped.",
    .kind = VIEW_TABLE,
    .state_bytes = sizeof(struct rows),
    .rows = ports_rows,
    .n_rows = ARRAY_LEN(ports_rows),
    .needs = NEED(PORTS),
    .acts = ports_acts,
    .hints = ports_hints,
    .page = ports_page,
    .sort = rows_sort,
};
