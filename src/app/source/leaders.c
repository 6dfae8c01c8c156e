/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "leaders.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/model/column.h"
#include "encode.h"

#define EVERY_MS 10000.0
#define DEADLINE_MS 10000u
#define BUDGET_SHARE 0.1  /* of what beamtop may cost: a dear answer comes seldomer */
#define ROWS 60           /* of a scan that nothing else asks for */

_Static_assert(3 * LEADERS_MOST <= WANT_WATCHED, "all leaders can be watched");

/* What is watched; holders of binaries are told by a fact, which is enough for their rule. */
static const struct {
    const char *key;
    bool busiest;
} sorts[] = {
    {"message_queue_len", false},
    {"memory", false},
    {"reductions", true},
};

struct leaders {
    bool busiest;
    void (*answered)(void *arg, const uint8_t *value, size_t len);
    void *arg;
    struct live *live; /* that was asked last, and what it fills */
    struct model *model;
    uint64_t due_ms; /* 0: at the next tick */
    bool waits, told;
    struct etf_pid pids[WANT_WATCHED];
    int n_pids;
};

/* ---- the answer */

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
        if (strlen(sorts[i].key) == key.len && memcmp(sorts[i].key, key.s, key.len) == 0)
            return l->busiest || !sorts[i].busiest;
    return false;
}

/* {leaders, MonoNs, Facts, #{Sort => [Pid]}} */
static void take_pids(struct leaders *l, const uint8_t *value, size_t len)
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

static void tell(struct leaders *l, double cost_us, double every_ms)
{
    char cost[32], every[32];
    if (l->told)
        return;
    l->told = true;
    model_journal(l->model, clock_wall_us(), false,
                  "looked for the longest mailboxes, the largest and busiest processes and those "
                  "that hold binaries, for findings: %s, every %s; they are watched",
                  text_duration(cost, sizeof cost, cost_us / 1e6),
                  text_duration(every, sizeof every, every_ms / 1000));
}

static void on_answer(void *arg, const struct answer *answer)
{
    struct leaders *l = arg;
    double budget = model_interval(l->model).budget;
    double every_ms = budget > 0 ? answer->target_us / 1000 / (budget * BUDGET_SHARE) : 0;
    l->waits = false;
    if (every_ms > EVERY_MS)
        l->due_ms += (uint64_t)(every_ms - EVERY_MS);
    else
        every_ms = EVERY_MS;
    live_note_cost(l->live, answer->target_us);
    if (answer->value == NULL)
        return; /* rules tell what they could not know */
    tell(l, answer->target_us, every_ms);
    take_pids(l, answer->value, answer->len);
    l->answered(l->arg, answer->value, answer->len);
}

/* ---- asking */

void leaders_tick(struct leaders *l, struct live *live, struct model *model, uint64_t now_ms)
{
    struct error ignored = {.code = ERR_NONE}; /* asked again when it is due */
    if (l->waits || now_ms < l->due_ms)
        return;
    l->live = live;
    l->model = model;
    l->due_ms = now_ms + (uint64_t)EVERY_MS;
    struct builder *arg = encode_question(QUESTION_LEADERS, NULL, NULL, NULL);
    l->waits = live_ask(live, QUESTION_LEADERS, arg, DEADLINE_MS, on_answer, l, &ignored) == 0;
    builder_free(arg);
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

void leaders_forget(struct leaders *l)
{
    l->waits = l->told = false;
    l->due_ms = 0;
    l->n_pids = 0;
}

struct leaders *leaders_new(bool busiest,
                            void (*answered)(void *arg, const uint8_t *value, size_t len),
                            void *arg)
{
    struct leaders *l = alloc_zero(1, sizeof *l);
    l->busiest = busiest;
    l->answered = answered;
    l->arg = arg;
    return l;
}

void leaders_free(struct leaders *l)
{
    free(l);
}
