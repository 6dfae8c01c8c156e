/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Made from the tables of actions, keys and views: there is nothing here to keep up to date. */
#include "views.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/ui/action.h"

/* Where names and explanations begin, in wide panes and in narrow ones. */
#define KEYS_COLUMNS(columns) ((columns) < 100 ? 14 : 22)
#define NAME_COLUMNS(columns) ((columns) < 100 ? 30 : 44)

struct help {
    const struct view_ops *from; /* NULL: nobody asked from a view */
};

static void help_from(void *state, const struct view_ops *view)
{
    ((struct help *)state)->from = view;
}

/* The keys of an action: those of lists, else of documents, pickers, the prompt. */
static void keys_of(const struct keymap *keymap, enum action action, const char *arg, char *out,
                    size_t size)
{
    static const enum context contexts[] = {CONTEXT_TABLE, CONTEXT_PROCESSES, CONTEXT_DOC,
                                            CONTEXT_TRACE, CONTEXT_PICKER,    CONTEXT_PROMPT};
    out[0] = '\0';
    for (size_t i = 0; keymap && i < sizeof contexts / sizeof contexts[0]; i++)
        if (keymap_keys_of(keymap, contexts[i], action, arg, out, size) > 0)
            return;
}

#define LEAST_COLUMNS 16 /* of help beside a long name; else it stands below */

static int go_below(struct view_page *page, int at, int columns)
{
    page_line(page);
    page_tab(page, at + 2);
    return columns - at - 3;
}

/* Text from a column on; what is longer than the line goes on below, two columns further in. */
static void put_help(struct view_page *page, const char *text, int at, int columns)
{
    size_t left = strlen(text), next;
    page_tab(page, at);
    int room = columns - page->lines[page->n_lines - 1].width - 1;
    if (room < LEAST_COLUMNS)
        room = go_below(page, at, columns);
    while (left > 0) {
        size_t part = text_break(text, left, room > 1 ? (size_t)room : 1, &next);
        page_put(page, STYLE_NORMAL, text, part);
        text += next;
        left -= next;
        if (left > 0)
            room = go_below(page, at, columns);
    }
}

static void put_views_help(struct view_page *page, int columns)
{
    page_heading(page, "Views");
    for (size_t i = 0; view_registry[i]; i++) {
        const struct view_ops *ops = view_registry[i];
        struct view_line *line = page_line(page);
        char keys[64];
        link_name(&line->link, TARGET_VIEW, slice_of(ops->name));
        keys_of(page->keymap, ACTION_VIEW, ops->name, keys, sizeof keys);
        if (!keys[0] && ops->alias)
            keys_of(page->keymap, ACTION_VIEW, ops->alias, keys, sizeof keys);
        if (!keys[0] && ops->shown_by)
            keys_of(page->keymap, ops->shown_by, NULL, keys, sizeof keys);
        page_printf(page, STYLE_KEY, "  %s", keys);
        page_tab(page, KEYS_COLUMNS(columns));
        page_puts(page, STYLE_NAME, ops->name);
        put_help(page, ops->help, NAME_COLUMNS(columns), columns);
    }
}

static void put_key(struct view_page *page, const char *keys, const char *name, const char *arg,
                    const char *help, int columns)
{
    page_line(page);
    page_printf(page, STYLE_KEY, "  %s", keys);
    page_tab(page, KEYS_COLUMNS(columns));
    page_puts(page, STYLE_NAME, name);
    if (arg[0])
        page_printf(page, STYLE_DIM, " %s", arg);
    put_help(page, help, NAME_COLUMNS(columns), columns);
}

static void action_line(struct view_page *page, enum action action, int columns)
{
    const struct action_row *row = &action_table[action];
    char keys[128];
    if (action == ACTION_VIEW)
        keys[0] = '\0'; /* each view has listed its keys */
    else
        keys_of(page->keymap, action, NULL, keys, sizeof keys);
    put_key(page, keys, row->name, row->args, row->help, columns);
}

/* It is on the bottom row, or an earlier key does the same. */
static bool has_help_before(const struct help *h, const struct keymap *km, enum context context,
                            const struct binding *b)
{
    for (const struct view_hint *hint = h->from->hints; hint && hint->does; hint++)
        if (hint->action == b->action)
            return true;
    for (enum context at = context; at != CONTEXT_GLOBAL; at = context_kind(at))
        for (const struct binding *o = km->bindings; o < km->bindings + km->len; o++) {
            if (o == b)
                return false;
            if (o->context == at && o->action == b->action && strcmp(o->arg, b->arg) == 0 &&
                keymap_lookup(km, context, o->key) == o)
                return true;
        }
    return false;
}

/* The keys of the view that was shown before: those on its bottom row, then those of its
 * context. Leaves out actions that the view does not have. */
static void keys_here(struct view_page *page, const struct help *h, int columns)
{
    if (!h->from || !page->keymap)
        return;
    char keys[128];
    enum context context = view_context(h->from);
    page_heading(page, h->from->title);
    for (const struct view_hint *hint = h->from->hints; hint && hint->does; hint++) {
        const struct action_row *row = &action_table[hint->action];
        if (view_takes(h->from, hint->action) &&
            keymap_keys_of(page->keymap, context, hint->action, NULL, keys, sizeof keys))
            put_key(page, keys, row->name, row->args, row->help, columns);
    }
    for (enum context at = context; at != CONTEXT_GLOBAL; at = context_kind(at))
        for (size_t i = 0; i < page->keymap->len; i++) {
            const struct binding *b = &page->keymap->bindings[i];
            if (b->context != at || keymap_lookup(page->keymap, context, b->key) != b ||
                !view_takes(h->from, b->action) || has_help_before(h, page->keymap, context, b))
                continue;
            keymap_keys_of(page->keymap, context, b->action, b->arg, keys, sizeof keys);
            put_key(page, keys, action_table[b->action].name, b->arg, action_table[b->action].help,
                    columns);
        }
}

static void help_page(void *state, const struct model *m, struct view_page *page)
{
    const struct help *h = state;
    (void)m;
    snprintf(page->summary, sizeof page->summary, "every action can be typed after :");
    keys_here(page, h, page->pane_columns);
    put_views_help(page, page->pane_columns);
    for (int group = 0; group < ACTION_GROUPS; group++) {
        page_heading(page, action_group_title((enum action_group)group));
        for (int i = 0; i < ACTIONS; i++)
            if ((int)action_table[i].group == group && action_table[i].name)
                action_line(page, (enum action)i, page->pane_columns);
    }
}

const struct view_ops view_help = {
    .name = "help",
    .title = "Help",
    .key = '0',
    .help = "Every key and action.",
    .kind = VIEW_DOC,
    .no_processes = true,
    .shown_by = ACTION_HELP,
    .own_facts = true,
    .state_bytes = sizeof(struct help),
    .needs = NEED(SYSTEM),
    .page = help_page,
    .from = help_from,
};
