/* The registry of views, in the order of their keys. */
#include <stdio.h>
#include <string.h>

#include "views.h"

const struct view_ops *const view_registry[] = {
    &view_top,  &view_process, &view_memory, &view_schedulers, &view_apps,
    &view_tree, &view_log,     &view_trace,  &view_armed,      &view_help,
    &view_calls, &view_owners, &view_findings,
    NULL,
};

void view_missing(struct view_page *page, const struct model *m, const char *what)
{
    if (model_recorded(m))
        snprintf(page->empty, sizeof page->empty, "Not recorded, at this tick or before: %s.", what);
    else
        snprintf(page->empty, sizeof page->empty, "Waiting for the node's answer.");
}

const struct view_ops *view_find(const char *name)
{
    const struct view_ops *found = NULL;
    size_t len = strlen(name);
    for (size_t i = 0; view_registry[i] && len > 0; i++) {
        if (strcmp(view_registry[i]->name, name) == 0)
            return view_registry[i];
        if (strncmp(view_registry[i]->name, name, len) == 0 && !found)
            found = view_registry[i];
    }
    return found;
}
