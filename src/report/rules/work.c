/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/rules/work.h"

#include <math.h>

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

json_t *fact_at(struct recording *r, const char *key, int64_t tick)
{
    const char *text = recording_fact(r, key, tick);
    return text ? json_loads(text, 0, NULL) : NULL;
}

double fact_number(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

const char *fact_text(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

const json_t *fact_process(const json_t *fact, struct slice pid)
{
    const json_t *row;
    size_t i;
    json_array_foreach (json_object_get(fact, "processes"), i, row)
        if (slice_is(pid, fact_text(row, "pid")))
            return row;
    return NULL;
}
