/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of the `:` prompt: an action, or the name of a view. */
#include <stdio.h>
#include <string.h>

#include "beamtop/trace/names.h"
#include "screen_internal.h"

#define VIEWS_MOST 64

static size_t put_views(struct slice *names)
{
    size_t n = 0;
    for (; view_registry[n] && n < VIEWS_MOST; n++)
        names[n] = slice_of(view_registry[n]->name);
    return n;
}

int screen_no_view(const char *name, struct error *err)
{
    struct slice names[VIEWS_MOST];
    char hint[80];
    names_suggest(hint, sizeof hint, names, put_views(names), slice_of(name));
    return error_set(err, ERR_USAGE, "unknown view “%s”%s", name,
                     hint[0] ? hint : ": `view ` and Tab lists all views");
}

static int fail_unknown(const char *name, size_t len, struct error *err)
{
    struct slice names[VIEWS_MOST + ACTIONS];
    char hint[80];
    size_t n = put_views(names);
    for (int i = 0; i < ACTIONS; i++)
        names[n++] = slice_of(action_table[i].name);
    names_suggest(hint, sizeof hint, names, n, (struct slice){name, len});
    return error_set(err, ERR_USAGE, "unknown action or view “%.*s”%s", len < 40 ? (int)len : 40,
                     name, hint[0] ? hint : ": Tab lists all");
}

/* A view and an action share the name: the view comes first, unless it is in front already. The
 * program's action then asks for more or fills the view. Actions of the screen open their view
 * themselves. */
static bool goes_to_view(const struct screen *s, const struct action_call *call,
                         const struct view_ops *ops, const char *name)
{
    const enum action_owner owner = action_table[call->action].owner;
    return !*call->arg && ops && strcmp(ops->name, name) == 0 && owner != OWNER_SCREEN &&
           owner != OWNER_VIEW && ops != pane_top(panes_focused(s->panes))->ops;
}

int screen_command(const struct screen *s, const char *line, struct action_call *out,
                   struct error *err)
{
    const char *name = line + strspn(line, " \t");
    const size_t len = strcspn(name, " \t");
    char word[64];
    size_t offset = 0;
    snprintf(word, sizeof word, "%.*s", (int)len, name);
    const struct view_ops *ops = view_find(word);
    const int rc = action_parse(line, out, &offset, err);
    const bool is_action = rc == 0 || offset != (size_t)(name - line);
    if (is_action && (rc != 0 || !goes_to_view(s, out, ops, word)))
        return rc;
    error_clear(err);
    if (!ops)
        return fail_unknown(name, len, err);
    *out = (struct action_call){ACTION_VIEW, name};
    return 0;
}
