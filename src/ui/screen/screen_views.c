/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The menu of views: name, key and a line for each, and typing leaves those that match. */
#include "screen_internal.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "ui/widgets/page.h"

static const struct view_column columns[] = {
    {.key = "view", .title = "VIEW", .width = 14},
    {.key = "key", .title = "KEY", .width = 3},
    {.key = "help", .title = "DESCRIPTION", .width = 20, .grows = true},
};

/* Those whose name begins so come first; then those whose name or line contains it. */
static int rank_of(const struct view_ops *ops, const char *typed)
{
    if (strncmp(ops->name, typed, strlen(typed)) == 0)
        return 0;
    return strcasestr(ops->name, typed) || strcasestr(ops->help, typed) ||
                   (ops->alias && strcasestr(ops->alias, typed))
               ? 1
               : -1;
}

static void put_view(const struct screen *s, struct view_page *page, const struct view_ops *ops)
{
    const enum context context = view_context(pane_top(panes_focused(s->panes))->ops);
    struct view_row *row = page_row(page);
    char key[64] = "";
    if (s->keymap)
        (void)view_key(ops, s->keymap, context, key, sizeof key);
    row->id = text_identity(ops->name, strlen(ops->name));
    row->marked = ops == pane_top(panes_focused(s->panes))->ops;
    page_cell(page, row, 0, STYLE_NAME, ops->name, strlen(ops->name));
    page_cell(page, row, 1, STYLE_KEY, key, strlen(key));
    page_cell(page, row, 2, STYLE_NORMAL, ops->help, strlen(ops->help));
    link_name(&row->link, TARGET_NAME, (struct slice){ops->name, strlen(ops->name)});
}

void picker_view_rows(struct screen *s, struct view_page *page)
{
    struct picker *p = &s->picker;
    page_columns(page, columns, ARRAY_LEN(columns));
    for (int rank = 0; rank <= 1; rank++)
        for (size_t i = 0; view_registry[i]; i++)
            if (rank_of(view_registry[i], p->typed) == rank)
                put_view(s, page, view_registry[i]);
    snprintf(p->heading, sizeof p->heading, *p->typed ? "Views: %s" : "Views: type to filter",
             p->typed);
    snprintf(page->empty, sizeof page->empty, "No view matches.");
}

bool screen_type(struct screen *s, struct key key)
{
    struct picker *p = &s->picker;
    size_t len = strlen(p->typed);
    if (p->kind != PICKER_VIEWS || key.mods != 0)
        return false;
    if (key.code == KEYS_BACKSPACE && len > 0)
        p->typed[len - 1] = '\0';
    else if (key.code >= ' ' && key.code < 0x7f && len + 1 < sizeof p->typed)
        snprintf(p->typed + len, sizeof p->typed - len, "%c", (char)key.code);
    else
        return false;
    table_clear(&p->table);
    table_init(&p->table);
    return true;
}
