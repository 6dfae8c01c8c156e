/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"

void journal_init(struct journal *j, size_t most)
{
    *j = (struct journal){.most = most};
    j->entries = alloc_zero(most, sizeof j->entries[0]);
}

void journal_clear(struct journal *j)
{
    free(j->entries);
    *j = (struct journal){0};
}

struct journal_entry *journal_add(struct journal *j)
{
    struct journal_entry *e = &j->entries[j->next];
    j->next = (j->next + 1) % j->most;
    if (j->len < j->most)
        j->len++;
    *e = (struct journal_entry){0};
    return e;
}

const struct journal_entry *journal_at(const struct journal *j, size_t age)
{
    if (age >= j->len)
        return NULL;
    return &j->entries[(j->next + j->most - 1 - age) % j->most];
}
