/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the registry of views is asked. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "ui/widgets/rows.h"
#include "views.h"

void view_missing_scan(struct view_page *page, const struct model *m)
{
    int64_t done, all;
    char so_far[32], total[32];
    if (!model_sweep(m, &done, &all)) {
        page_missing(page, m, "processes");
        return;
    }
    snprintf(page->empty, sizeof page->empty, "First sweep of all processes: %s of %s (%d%%).",
             text_integer(so_far, sizeof so_far, done), text_integer(total, sizeof total, all),
             (int)(100.0 * (double)done / (double)all));
}

struct process_ref view_process_ref(const struct view_link *link)
{
    struct process_ref ref = {.pid = link->pid};
    if (link->kind == TARGET_NAME)
        snprintf(ref.name, sizeof ref.name, "%s", link->name);
    return ref;
}

const struct process_detail *view_process_detail(const struct view_link *link,
                                                 const struct model *model)
{
    const struct process_ref ref = view_process_ref(link);
    return process_ref_same(model_answer_of(model, QUESTION_PROCESS), &ref) ? model_process(model)
                                                                            : NULL;
}

void view_init(const struct view_ops *ops, void *state)
{
    if (ops->rows)
        rows_init(state, ops->rows, ops->n_rows);
    if (ops->init)
        ops->init(state);
}

void view_want(const struct view_ops *ops, const void *state, int rows, struct want *want)
{
    want->needs |= ops->needs;
    if (ops->want)
        ops->want(state, rows, want);
}

bool view_opens(const struct view_ops *ops, enum link_kind kind)
{
    return (ops->opens & 1u << kind) != 0;
}

const struct view_ops *view_opening(enum link_kind kind)
{
    for (size_t i = 0; view_registry[i]; i++)
        if (view_opens(view_registry[i], kind))
            return view_registry[i];
    return NULL;
}

const struct view_ops *view_shown_by(enum action action)
{
    for (size_t i = 0; view_registry[i]; i++)
        if (view_registry[i]->shown_by == action)
            return view_registry[i];
    return NULL;
}

const struct view_act *view_act_of(const struct view_ops *ops, enum action action)
{
    for (const struct view_act *act = ops->acts; act && act->run; act++)
        if (act->action == action)
            return act;
    return NULL;
}

bool view_has(enum action action)
{
    for (size_t i = 0; view_registry[i]; i++)
        if (view_act_of(view_registry[i], action))
            return true;
    return false;
}

bool view_takes(const struct view_ops *ops, enum action action)
{
    const struct action_row *row = &action_table[action];
    switch (row->on) {
    case ON_ALL:
        return row->owner != OWNER_VIEW || view_act_of(ops, action);
    case ON_ROWS:
        return ops->kind == VIEW_TABLE;
    case ON_ORDER:
        return ops->sort || ops->sort_word;
    case ON_SORTED:
        return ops->sort;
    case ON_COLUMNS:
        return ops->chooser;
    case ON_PROCESS:
        return !ops->no_processes;
    case ON_OWN:
        return ops->own;
    case ON_NODES:
        return ops->nodes;
    case ON_RUN:
        return ops->stop && action_table[ops->stop].owner == row->owner;
    }
    return true;
}

bool view_runs(const struct view_ops *ops, const struct model *model)
{
    return ops->stop && ops->runs(model);
}

bool view_key(const struct view_ops *ops, const struct keymap *keymap, enum context context,
              char *out, size_t size)
{
    return keymap_first_key_of(keymap, context, ACTION_VIEW, ops->name, out, size) ||
           (ops->alias &&
            keymap_first_key_of(keymap, context, ACTION_VIEW, ops->alias, out, size)) ||
           (ops->shown_by && keymap_first_key_of(keymap, context, ops->shown_by, NULL, out, size));
}

const struct view_ops *view_find(const char *name)
{
    const struct view_ops *found = NULL;
    size_t len = strlen(name);
    for (size_t i = 0; view_registry[i] && len > 0; i++) {
        const char *alias = view_registry[i]->alias;
        if (strcmp(view_registry[i]->name, name) == 0 || (alias && strcmp(alias, name) == 0))
            return view_registry[i];
        if (strncmp(view_registry[i]->name, name, len) == 0 && !found)
            found = view_registry[i];
    }
    return found;
}

enum context view_context(const struct view_ops *ops)
{
    if (ops->context != CONTEXT_GLOBAL)
        return ops->context;
    return ops->kind == VIEW_TABLE ? CONTEXT_TABLE : CONTEXT_DOC;
}
