/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/ring.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"

void ring_init(struct ring *r, size_t cap)
{
    assert(cap > 0);
    *r = (struct ring){.values = alloc_zero(cap, sizeof(*r->values)), .cap = cap};
}

void ring_clear(struct ring *r)
{
    free(r->values);
    *r = (struct ring){0};
}

void ring_push(struct ring *r, double v)
{
    r->values[r->next] = v;
    r->next = (r->next + 1) % r->cap;
    if (r->len < r->cap)
        r->len++;
}

void ring_set(struct ring *r, double v)
{
    assert(r->len > 0);
    r->values[(r->next + r->cap - 1) % r->cap] = v;
}

double ring_at(const struct ring *r, size_t age)
{
    if (age >= r->len)
        return NAN;
    return r->values[(r->next + r->cap - 1 - age) % r->cap];
}
