/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/rules/work.h"

const char *const owner_sort_keys[OWNER_SORTS] = {"application", "supervisor", "module",
                                                  "name",        "label",      "kin"};

void work_take_owners(struct arena *a, struct recording *r, int64_t from, int64_t to,
                      struct owner_list out[OWNER_SORTS])
{
    for (enum owner_sort sort = 0; sort < OWNER_SORTS; sort++) {
        const struct period_owner *list;
        size_t n = recording_owners(r, owner_sort_keys[sort], from, to, &list);
        struct period_owner *copy = arena_alloc(a, (n + 1) * sizeof *copy);
        for (size_t i = 0; i < n; i++) {
            copy[i] = list[i];
            copy[i].owner = slice_keep(a, list[i].owner);
            copy[i].kind = slice_keep(a, list[i].kind);
        }
        out[sort] = (struct owner_list){copy, n};
    }
}

void work_take_calls(struct arena *a, struct recording *r, int64_t from, int64_t to,
                     struct recorded_window *out)
{
    const struct recorded_call *list;
    size_t n = recording_calls(r, from, to, &list, out);
    struct recorded_call *copy = arena_alloc(a, (n + 1) * sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        copy[i] = list[i];
        copy[i].module = slice_keep(a, list[i].module);
        copy[i].function = slice_keep(a, list[i].function);
    }
    out->top = copy;
    out->n_top = n;
}
