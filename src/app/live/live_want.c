/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which questions what is shown needs. */
#include <string.h>

#include "live_internal.h"

bool live_is_seldom(const struct want *want)
{
    return (want->needs & NEED(SCAN)) && want->scan.seldom;
}

question_mask live_wanted(const struct want *want)
{
    return (want->needs & ~question_paced(PACE_ONCE) & ~question_paced(PACE_BETWEEN) &
            ~(live_is_seldom(want) ? NEED(SCAN) : 0)) |
           QUESTION_BIT(QUESTION_SYSTEM);
}

static bool covers_scan(const struct want_scan *a, const struct want_scan *b)
{
    return strcmp(a->sort_key ? a->sort_key : "", b->sort_key ? b->sort_key : "") == 0 &&
           a->by_delta == b->by_delta && a->ascending == b->ascending && a->own == b->own &&
           (a->items & ~b->items) == 0 && a->rows <= b->rows;
}

bool live_wants_more(const struct want *now, const struct want *before)
{
    if (live_wanted(now) & ~live_wanted(before))
        return true;
    if ((now->needs & NEED(SCAN)) && !live_is_seldom(now) &&
        (live_is_seldom(before) || !covers_scan(&now->scan, &before->scan)))
        return true;
    if ((now->needs & NEED(TREE)) && strcmp(now->tree_app, before->tree_app) != 0)
        return true;
    if ((now->needs & NEED(HEAPS)) &&
        (now->heaps > before->heaps || now->heaps_running != before->heaps_running))
        return true;
    if ((now->needs & NEED(ONE_TABLE)) && strcmp(now->table, before->table) != 0)
        return true;
    if (!(now->needs & NEED(PROCESS)))
        return false;
    return !process_ref_same(&now->process, &before->process);
}
