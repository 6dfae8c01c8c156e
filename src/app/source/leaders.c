/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "leaders.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/model/column.h"
#include "encode.h"

#define ROWS 60 /* of a scan that nothing else asks for */

_Static_assert(3 * LEADERS_MOST <= WANT_WATCHED, "all leaders can be watched");

/* What is watched; holders of binaries come with a fact, which is enough for their rule. */
static const struct {
    const char *key;
    bool busiest;
} sorts[] = {
    {"message_queue_len", false},
    {"memory", false},
    {"reductions", true},
};

static void add_pid(struct leaders *l, const struct etf_pid *pid)
{
    for (int i = 0; i < l->n_pids; i++)
        if (memcmp(&l->pids[i], pid, sizeof *pid) == 0)
            return;
    if (l->n_pids < WANT_WATCHED)
        l->pids[l->n_pids++] = *pid;
}

static bool is_watched(const struct leaders *l, struct slice key)
{
    for (size_t i = 0; i < ARRAY_LEN(sorts); i++)
        if (slice_is(key, sorts[i].key))
            return l->busiest || !sorts[i].busiest;
    return false;
}

/* {leaders, MonoNs, Facts, #{Sort => [Pid]}} */
void leaders_take(struct leaders *l, const uint8_t *value, size_t len)
{
    struct cursor c;
    struct cursor_list list;
    size_t pairs = 0;
    cursor_init(&c, value, len);
    l->n_pids = 0;
    if (!cursor_tuple_of(&c, 4) || !cursor_skip(&c) || !cursor_skip(&c) || !cursor_skip(&c) ||
        !cursor_map(&c, &pairs))
        return;
    for (size_t i = 0; i < pairs; i++) {
        struct slice key;
        if (!cursor_atom(&c, &key) || !cursor_list(&c, &list))
            return;
        bool watched = is_watched(l, key);
        for (size_t k = 0; k < list.count; k++) {
            struct etf_pid pid;
            if (list.string || !cursor_pid(&c, &pid, NULL))
                return;
            if (watched)
                add_pid(l, &pid);
        }
        if (!cursor_list_end(&c, &list))
            return;
    }
}

/* What no view asks for is left out on a large node, where it is not cheap. */
static bool is_large(const struct model *model)
{
    const struct system_sample *now = model_system(model);
    return !now || now->processes > LIMIT_FILTER_CALLS;
}

void leaders_want(const struct leaders *l, const struct model *model, struct want *want)
{
    if (!(want->needs & NEED_SCAN) && is_large(model))
        return;
    struct want mine = {.needs = NEED_SCAN};
    mine.scan.sort_key = "reductions_per_s";
    mine.scan.by_delta = true;
    mine.scan.rows = want->needs & NEED_SCAN ? 0 : ROWS;
    mine.scan.items = UINT32_C(1) << ITEM_ID | UINT32_C(1) << ITEM_REDUCTIONS |
                      UINT32_C(1) << ITEM_MESSAGE_QUEUE_LEN | UINT32_C(1) << ITEM_MEMORY |
                      UINT32_C(1) << ITEM_CURRENT_FUNCTION;
    want_merge(want, &mine);
    memcpy(want->scan.watched, l->pids, sizeof l->pids);
    want->scan.n_watched = l->n_pids;
}
