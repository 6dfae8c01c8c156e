/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/related.h"

static struct slice name_related(const struct related *r)
{
    return r->is_pid ? r->name : r->text;
}

size_t related_groups(const struct related_list *list, struct related_group out[RELATED_NAMED])
{
    size_t groups = 0;
    if (list->count <= RELATED_NAMED || list->n < RELATED_NAMED)
        return 0;
    for (size_t i = 0; i < RELATED_NAMED; i++) {
        const struct slice name = name_related(&list->items[i]);
        size_t at = 0;
        while (at < groups && !slice_equal(out[at].name, name))
            at++;
        if (at == groups)
            out[groups++] = (struct related_group){name, 0};
        out[at].n++;
    }
    return groups;
}
