/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listeners.h"

#include "beamtop/base/attr.h"

void listeners_add(struct listeners *l, uint64_t id, event_fn *fn, void *arg)
{
    for (size_t i = 0; i < ARRAY_LEN(l->all); i++)
        if (!l->all[i].fn) {
            l->all[i] = (struct listener){id, fn, arg};
            return;
        }
}

void listeners_drop(struct listeners *l, const void *arg)
{
    for (size_t i = 0; i < ARRAY_LEN(l->all); i++)
        if (l->all[i].arg == arg)
            l->all[i].fn = NULL;
}

const struct listener *listeners_find(const struct listeners *l, struct cursor c)
{
    uint64_t id = 0;
    if (!cursor_atom_is(&c, "t") || !cursor_uint64(&c, &id))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(l->all); i++)
        if (l->all[i].fn && l->all[i].id == id)
            return &l->all[i];
    return NULL;
}
