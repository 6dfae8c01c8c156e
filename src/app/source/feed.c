/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "feed.h"

#include <math.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/model/column.h"
#include "beamtop/model/detail.h"
#include "beamtop/recording/recording.h"
#include "app/live/encode.h"

#define DEADLINE_MS 10000u
#define BUDGET_SHARE 0.1 /* of the cost limit, for each question */
#define FIRST_SHARE 0.25 /* of it, for what the first answer will cost */
#define SELDOM_S 60      /* a failure of what is asked so seldom is reported */
#define LEAST_QUEUE 10   /* messages */
#define ROWS 60          /* of a scan that nothing else asks for */
#define BUSIEST_LEAST 20 /* rows of a scan: as many busy processes as leaders keep */

_Static_assert(3 * LEADERS_MOST <= WANT_WATCHED, "all leaders can be watched");

/* ---- the processes to watch */

/* What is watched; holders of binaries come with a fact, which is enough for their rule. */
static const struct {
    const char *key;
    bool busiest;
} sorts[] = {
    {"message_queue_len", false},
    {"memory", false},
    {"reductions", true},
};

static void add_pid(struct feed *f, const struct etf_pid *pid)
{
    for (int i = 0; i < f->n_pids; i++)
        if (memcmp(&f->pids[i], pid, sizeof *pid) == 0)
            return;
    if (f->n_pids < WANT_WATCHED)
        f->pids[f->n_pids++] = *pid;
}

static bool is_watched(const struct feed *f, struct slice key)
{
    for (size_t i = 0; i < ARRAY_LEN(sorts); i++)
        if (slice_is(key, sorts[i].key))
            return f->busiest || !sorts[i].busiest;
    return false;
}

/* {leaders, MonoNs, Facts, #{Sort => [Pid]}} */
static void take_leaders(struct feed *f, const uint8_t *value, size_t len)
{
    struct cursor c;
    struct cursor_list list;
    size_t pairs = 0;
    cursor_init(&c, value, len);
    f->n_pids = 0;
    f->looked = true;
    if (!cursor_tuple_of(&c, 4) || !cursor_skip(&c) || !cursor_skip(&c) || !cursor_skip(&c) ||
        !cursor_map(&c, &pairs))
        return;
    for (size_t i = 0; i < pairs; i++) {
        struct slice key;
        if (!cursor_atom(&c, &key) || !cursor_list(&c, &list))
            return;
        bool watched = is_watched(f, key);
        for (size_t k = 0; k < list.count; k++) {
            struct etf_pid pid;
            if (list.string || !cursor_pid(&c, &pid, NULL))
                return;
            if (watched)
                add_pid(f, &pid);
        }
        if (!cursor_list_end(&c, &list))
            return;
    }
}

/* Until the node has said who they are: the longest message queue that was seen. It would be lost
 * when its process is no longer among the rows. */
static void watch_longest(struct feed *f)
{
    uint64_t ignored;
    const struct proc_row *row = f->looked ? NULL : model_longest_queue(f->model, &ignored);
    if (!row || row->message_queue_len < LEAST_QUEUE ||
        (f->n_pids > 0 && pid_same(&f->pids[0], &row->pid)))
        return;
    f->pids[0] = row->pid;
    f->n_pids = 1;
    f->watch(f->arg);
}

/* What no view asks for comes seldom on a large node, where it is not cheap. */
static bool is_large(const struct model *model)
{
    const struct system_sample *now = model_system(model);
    return !now || now->processes > LIMIT_FILTER_CALLS;
}

void feed_want(const struct feed *f, struct want *want)
{
    const bool seldom = !(want->needs & NEED(SCAN)) && is_large(f->model);
    struct want mine = {.needs = NEED(SCAN)};
    mine.scan.sort_key = "reductions_per_s";
    mine.scan.by_delta = true;
    mine.scan.rows = want->needs & NEED(SCAN) ? 0 : ROWS;
    mine.scan.items = UINT32_C(1) << ITEM_ID | UINT32_C(1) << ITEM_REDUCTIONS |
                      UINT32_C(1) << ITEM_MESSAGE_QUEUE_LEN | UINT32_C(1) << ITEM_MEMORY |
                      UINT32_C(1) << ITEM_CURRENT_FUNCTION;
    want_merge(want, &mine);
    memcpy(want->scan.watched, f->pids, sizeof f->pids);
    want->scan.n_watched = f->n_pids;
    want->scan.watches = f->looked;
    want->scan.seldom = seldom;
}

/* ---- facts beside the ticks */

static void tell_cost(struct feed *f, enum question q, double cost_us, double every_ms)
{
    char cost[32], every[32];
    if (f->asked[q].reported || !question_rows[q].log)
        return;
    f->asked[q].reported = true;
    model_journal(f->model, clock_wall_us(), false, "%s: cost %s, every %s", question_rows[q].log,
                  text_duration(cost, sizeof cost, cost_us / 1e6),
                  text_duration(every, sizeof every, every_ms / 1000));
}

/* An answer as it came: seldom where it is asked for often. */
static void keep_last(struct feed *f, const struct answer *answer)
{
    const enum question q = answer->question;
    if (f->asked[q].due_ms < f->asked[q].keep_ms)
        return;
    f->asked[q].keep_ms = f->asked[q].due_ms + (uint64_t)question_rows[q].kept_every_s * 1000;
    recorder_answer(f->recorder, question_name(q), answer->value, answer->len, NULL);
}

/* What findings and the view of a process read of it is in the model, whoever has asked. */
static void take_beside(struct feed *f, const struct answer *answer, struct error *err)
{
    if (question_rows[answer->question].judged)
        (void)model_take(f->model, answer->question, answer->value, answer->len, NULL,
                         clock_mono_ns(), err);
}

static void keep_feed_answer(struct feed *f, const struct answer *answer)
{
    enum question q = answer->question;
    struct error err = answer->err;
    if (!answer->value && question_rows[q].every_s < SELDOM_S)
        return; /* soon asked again; rules tell what they could not know */
    if (answer->value && f->recorder && question_rows[q].kept == KEPT_FACTS)
        (void)recorder_facts(f->recorder, q, answer->value, answer->len, &err);
    else if (answer->value && f->recorder)
        keep_last(f, answer);
    if (answer->value)
        take_beside(f, answer, &err);
    if (err.code != ERR_NONE && f->trouble)
        f->trouble(f->arg, &err);
}

/* Time until the budget pays for a question that costs so much for each process. */
static double first_wait_ms(const struct feed *f, double each_us)
{
    const struct system_sample *now = model_system(f->model);
    double budget = model_interval(f->model).budget;
    return now && budget > 0 ? (double)now->processes * each_us / 1000 / (budget * FIRST_SHARE) : 0;
}

static void take_feed_answer(struct feed *f, const struct answer *answer)
{
    enum question q = answer->question;
    double budget = model_interval(f->model).budget, least_ms = f->asked[q].wait_s * 1000.0;
    double every_ms = budget > 0 ? answer->target_us / 1000 / (budget * BUDGET_SHARE) : 0;
    bool first = f->asked[q].first;
    f->asked[q].waits = f->asked[q].first = false;
    if (first)
        every_ms = fmax(every_ms, first_wait_ms(f, question_rows[q].each_us));
    if (every_ms > least_ms)
        f->asked[q].due_ms += (uint64_t)(every_ms - least_ms);
    else
        every_ms = least_ms;
    f->asked[q].us_per_s = answer->target_us / (every_ms / 1000);
    if (!first) {
        if (answer->value)
            tell_cost(f, q, answer->target_us, every_ms);
        keep_feed_answer(f, answer);
    }
    if (q == QUESTION_LEADERS && answer->value) {
        take_leaders(f, answer->value, answer->len);
        f->watch(f->arg);
    }
}

static void on_feed_answer(void *arg, const struct answer *answer)
{
    struct feed *f = arg;
    struct answer whole = *answer;
    struct builder *b = live_complete(f->live, &whole);
    take_feed_answer(f, &whole);
    builder_free(b);
}

/* On a large node a question about all processes waits at the start: its cost is not known yet,
 * and the first scan sweeps them too. */
static bool may_ask(struct feed *f, enum question q, uint64_t now_ms)
{
    const struct question_row *row = &question_rows[q];
    if (f->asked[q].due_ms == 0 && row->each_us > 0) {
        if (!model_system(f->model) || model_interval(f->model).budget <= 0)
            return false; /* nobody knows how large it is */
        const bool large = is_large(f->model);
        f->asked[q].first = large && row->first_us > 0 && f->asked[q].us_per_s <= 0;
        const double each_us = f->asked[q].first ? row->first_us : row->each_us;
        if (large)
            f->asked[q].due_ms = now_ms + (uint64_t)first_wait_ms(f, each_us);
    }
    return now_ms >= f->asked[q].due_ms;
}

bool feed_has_busiest(const struct proc_scan *scan, uint64_t now_ns, uint32_t creation)
{
    return scan->n_rows >= BUSIEST_LEAST && !scan->filtered && scan->by_delta && !scan->ascending &&
           scan->sorted_among < 0 && strcmp(scan->sort_key, "reductions_per_s") == 0 &&
           scan->rows[0].pid.creation == creation && now_ns >= scan->mono_ns &&
           (double)(now_ns - scan->mono_ns) / 1e9 < question_rows[QUESTION_LEADERS].every_s;
}

/* A view has asked for it just now. */
static bool is_fresh(const struct feed *f, enum question q)
{
    const struct table_detail *last = question_rows[q].judged ? model_answer(f->model, q) : NULL;
    const struct system_sample *now = model_system(f->model);
    return last && now && now->mono_ns >= last->mono_ns &&
           (double)(now->mono_ns - last->mono_ns) / 1e9 < question_rows[q].every_s / 2.0;
}

/* NULL: the node finds them itself, which is cheap on a small node. */
static const struct proc_scan *find_busiest(const struct feed *f, const struct live *live)
{
    const struct proc_scan *scan = model_scan(f->model);
    const struct system_sample *now = model_system(f->model);
    bool has = scan && now && is_large(f->model) &&
               feed_has_busiest(scan, now->mono_ns, live_peer_creation(live));
    return has ? scan : NULL;
}

static struct builder *argument_of(const struct feed *f, enum question q, const struct live *live)
{
    if (q == QUESTION_LEADERS)
        return encode_leaders(find_busiest(f, live), f->asked[q].first, live_peer_node(live));
    if (q == QUESTION_ALLOC)
        return encode_place(live_is_here(live));
    return encode_question(q, NULL, NULL, NULL);
}

int feed_wait_s(const struct question_row *row, unsigned times)
{
    if (row->again_s == 0 || times > 1)
        return row->every_s;
    return times == 0 ? row->again_s : row->every_s - row->again_s;
}

void feed_ask(struct feed *f, struct live *live, uint64_t now_ms)
{
    f->live = live;
    watch_longest(f);
    const uint64_t apart_ms = model_interval(f->model).idle ? 2000 : 1000; /* as the ticks */
    double us_per_s = 0;
    for (unsigned q = 0; q < QUESTIONS; q++)
        us_per_s += f->asked[q].us_per_s;
    live_set_beside(live, us_per_s);
    for (unsigned q = 0; q < QUESTIONS; q++) {
        struct error ignored = {0}; /* asked again when it is due */
        if (!(f->questions & QUESTION_BIT(q)) || question_rows[q].every_s == 0 || f->asked[q].waits)
            continue;
        if (!may_ask(f, (enum question)q, now_ms) || is_fresh(f, (enum question)q))
            continue;
        struct builder *arg = argument_of(f, (enum question)q, live);
        f->asked[q].wait_s = feed_wait_s(&question_rows[q], f->asked[q].times++);
        f->asked[q].due_ms = now_ms + (uint64_t)f->asked[q].wait_s * apart_ms;
        f->asked[q].waits =
            live_ask(live, (enum question)q, arg, DEADLINE_MS, on_feed_answer, f, &ignored) == 0;
        builder_free(arg);
    }
}

void feed_again(struct feed *f)
{
    for (unsigned q = 0; q < QUESTIONS; q++) {
        f->asked[q].due_ms = 0;
        f->asked[q].times = 0;
    }
}

/* ---- ticks and gaps */

int feed_tick(struct feed *f, struct error *err)
{
    const struct system_sample *now = model_system(f->model);
    if (now && now->mono_ns == f->ticked_ns) {
        /* No new answer of `system`, no tick: other answers wait for the next one. */
        if (f->has_tick && model_is_silent(f->model))
            recorder_gap(f->recorder, clock_wall_us(), "the node did not answer in time");
        f->has_tick = f->has_tick && !model_is_silent(f->model);
        return 0;
    }
    f->ticked_ns = now ? now->mono_ns : 0;
    f->has_tick = true;
    return recorder_tick(f->recorder, f->model, clock_wall_us(), err);
}

void feed_lost(struct feed *f)
{
    memset(f->asked, 0, sizeof f->asked);
    f->n_pids = 0;
    f->looked = false;
    if (f->recorder && f->has_tick)
        recorder_gap(f->recorder, clock_wall_us(), "connection lost");
    f->has_tick = false;
}
