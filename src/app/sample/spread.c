/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spread.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"

void spread_add(struct spread *s, uint32_t place)
{
    size_t i = 0;
    s->moves += s->samples > 0 && place != s->last;
    s->samples++;
    s->last = place;
    while (i < s->n && s->list[i].place != place)
        i++;
    if (i == LIMIT_SAMPLED_PLACES)
        return;
    if (i == s->n) {
        s->list = alloc_grow(s->list, s->n, sizeof *s->list);
        s->list[s->n++] = (struct spread_place){.place = place};
    }
    s->list[i].samples++;
}

void spread_clear(struct spread *s)
{
    free(s->list);
    *s = (struct spread){0};
}

static int by_samples_down(const void *a, const void *b)
{
    const struct spread_place *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

void spread_sort(struct spread *s)
{
    if (s->n > 1)
        qsort(s->list, s->n, sizeof *s->list, by_samples_down);
}
