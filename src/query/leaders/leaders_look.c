/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Message queues, memory, binaries, links, and who works. */
#include "leaders_internal.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/link/conn.h"
#include "query/scan/scan.h"

#define LEAST_MESSAGES 10
#define LEAST_IDLE_MESSAGES 5 /* before one that does nothing */
#define IDLE_MOST 50

/* What has not moved since it was looked at is not looked at again: our own reads are reductions,
 * too. One with much beside its heaps takes long, and has its turn every so many answers. */
#define LOOKED_MOST 250 /* in one ask */
#define MOVED 30
#define HEAVY_BYTES (INT64_C(400) << 10) /* links that take a millisecond */
#define HEAVY_ANSWERS 6
#define LOOKED_US 10

/* Below it neither collections nor waits are worth a look. */
#define BUSY_REDUCTIONS 100000
#define GC_MS 250
/* erlang:delay_trap/2: the module `timer` may not be loaded. */
#define GC_WAIT "[true,250]"
#define MOMENTS 12
#define MOMENT_MS 20
#define MOMENT_WAIT "[true,20]"
#define WORKERS_MOST 40

#define LEAST_BINARY_BYTES 65536
#define BINARY_MS 200
#define LEAST_TIES_BYTES 32768
#define COUNTED_BYTES (INT64_C(2) << 20)
#define ONCE_TIES_BYTES (INT64_C(16) << 20) /* counted once, and killed above its heap limit */

void leaders_ask_infos(struct leaders_ask *a, struct run_calls *calls, const char *items)
{
    run_add(calls, "lists", "zipwith",
            leaders_infos(conn_peer_node(a->conn), a->out, a->n_out, items));
    calls->most_us += LOOKED_US * (double)a->n_out;
    for (size_t i = 0; i < a->n_out; i++)
        scan_count_signal(a->scan, &a->out[i]->pid);
}

bool leaders_read_each(const struct leaders_ask *a, struct slice value, struct slice *each)
{
    return values_read_list(value, each, a->n_out);
}

/* ---- message queues, and who sleeps before one */

static bool ask_asleep(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    run_add_text(calls, "erlang", "system_info", "[dist_ctrl]");
    a->n_out = 0;
    for (size_t i = 0; i < a->table.n && a->n_out < IDLE_MOST; i++)
        if (a->table.all[i].queue > 0 && a->table.all[i].is_idle)
            a->out[a->n_out++] = &a->table.all[i];
    if (a->n_out > 0)
        leaders_ask_infos(a, calls, "current_function");
    return true;
}

static bool is_asleep(const struct leaders_ask *a, const struct leader *l)
{
    for (size_t i = 0; i < a->n_asleep; i++)
        if (a->asleep[i] == l)
            return true;
    return false;
}

/* Few messages are a moment's, but before one that does nothing. Sleepers come last. */
static void choose_longest(struct leaders_ask *a)
{
    struct leader *of[LEADERS_LONGEST + ASLEEP_MOST];
    struct leader_list *list = &a->answer.longest;
    const size_t n = leaders_best(&a->table, leader_queue, LEAST_IDLE_MESSAGES, of, ARRAY_LEN(of));
    list->n = 0;
    for (size_t i = 0; i < n && list->n + a->n_asleep < a->answer.most; i++)
        if (!is_asleep(a, of[i]) && (of[i]->queue >= LEAST_MESSAGES || of[i]->is_idle))
            list->of[list->n++] = of[i];
    for (size_t i = 0; i < a->n_asleep; i++)
        list->of[list->n++] = a->asleep[i];
}

static void take_asleep(void *own, const struct slice *values, size_t n)
{
    struct leaders_ask *a = own;
    struct slice each[IDLE_MOST];
    buf_reset(&a->connections);
    a->n_asleep = 0;
    if (values)
        buf_put(&a->connections, values[0].s, values[0].len);
    const bool ok = values && n == 2 && leaders_read_each(a, values[1], each);
    for (size_t i = 0; ok && i < a->n_out && a->n_asleep < ASLEEP_MOST; i++)
        if (leaders_is_asleep(values_of_pair(each[i], "current_function")))
            a->asleep[a->n_asleep++] = a->out[i];
    choose_longest(a);
}

/* ---- memory, and words held in binaries */

static bool is_looked_at(struct leaders_ask *a, const struct leader *l)
{
    if (l->is_walked ||
        (l->looked_reductions >= 0 && l->reductions - l->looked_reductions <= MOVED))
        return false;
    if (l->beside_bytes <= HEAVY_BYTES)
        return true;
    const bool has_turn =
        l->beside_bytes <= ONCE_TIES_BYTES && !a->is_heavy && a->answers % HEAVY_ANSWERS == 0;
    a->is_heavy |= has_turn;
    return has_turn;
}

static bool ask_look(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    for (a->n_out = 0; a->next < a->table.n && a->n_out < LOOKED_MOST; a->next++)
        if (is_looked_at(a, &a->table.all[a->next]))
            a->out[a->n_out++] = &a->table.all[a->next];
    if (a->n_out > 0)
        leaders_ask_infos(a, calls, "[memory,garbage_collection_info]");
    return a->n_out > 0;
}

static void take_look(void *own, const struct slice *values, size_t n)
{
    struct leaders_ask *a = own;
    struct slice each[LOOKED_MOST];
    (void)n;
    if (!values || !leaders_read_each(a, values[0], each))
        return;
    for (size_t i = 0; i < a->n_out; i++)
        leaders_take_look(a->out[i], each[i]);
}

static void choose_leaders(struct leaders_ask *a)
{
    struct leaders_answer *to = &a->answer;
    to->large.n = leaders_best(&a->table, leader_memory, 1, to->large.of, to->most);
    to->holders.n = leaders_best(&a->table, leader_binary_bytes, LEAST_BINARY_BYTES, to->holders.of,
                                 LEADERS_HOLDERS);
    to->tied.n =
        leaders_best(&a->table, leader_beside_bytes, LEAST_TIES_BYTES, to->tied.of, LEADERS_TIED);
    a->next_tied = a->next_holder = 0;
    a->is_once = false;
    to->looked_at = 0;
    for (size_t i = 0; i < a->table.n; i++)
        to->looked_at += a->table.all[i].memory > 0;
}

/* ---- who works: collections, and what they wait for */

void leaders_choose_busy(struct leaders_ask *a)
{
    int64_t all = 0;
    for (size_t i = 0; i < a->table.n; i++)
        all += a->table.all[i].did;
    a->answer.busy.n = leaders_best(&a->table, leader_did, all / 1000 + MOVED + 1,
                                    a->answer.busy.of, LEADERS_BUSY);
}

static bool ask_gcs(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    choose_leaders(a);
    a->n_out = 0;
    for (size_t i = 0; i < a->answer.busy.n; i++)
        if (a->answer.busy.of[i]->did >= BUSY_REDUCTIONS)
            a->out[a->n_out++] = a->answer.busy.of[i];
    if (a->n_out == 0)
        return false;
    leaders_ask_infos(a, calls, "garbage_collection");
    run_add_text(calls, "erlang", "delay_trap", GC_WAIT);
    leaders_ask_infos(a, calls, "garbage_collection");
    calls->waited_us = GC_MS * 1000;
    return true;
}

/* The number starts again with each full collection: then there were so many or more. */
static void take_gcs(void *own, const struct slice *values, size_t n)
{
    struct leaders_ask *a = own;
    struct slice before[LEADERS_BUSY], after[LEADERS_BUSY];
    (void)n;
    if (!values || !leaders_read_each(a, values[0], before) ||
        !leaders_read_each(a, values[2], after))
        return;
    for (size_t i = 0; i < a->n_out; i++) {
        const int64_t then = leaders_minor_gcs(before[i]), now = leaders_minor_gcs(after[i]);
        const int64_t did = then >= 0 && now >= then ? now - then : now;
        a->out[i]->minor_gcs_per_s = did > 0 ? (double)did * 1000 / GC_MS : 0;
    }
}

static bool ask_moments(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    a->n_out = leaders_best(&a->table, leader_did, BUSY_REDUCTIONS / 10, a->out, WORKERS_MOST);
    if (a->n_out == 0 || a->out[0]->did < BUSY_REDUCTIONS)
        return false;
    for (size_t i = 0; i < MOMENTS; i++) {
        run_add(calls, "lists", "foldl", leaders_moment(conn_peer_node(a->conn), a->out, a->n_out));
        run_add_text(calls, "erlang", "delay_trap", MOMENT_WAIT);
    }
    calls->waited_us = MOMENTS * MOMENT_MS * 1000;
    calls->most_us += MOMENTS * LOOKED_US * (double)a->n_out;
    return true;
}

static void take_moments(void *own, const struct slice *values, size_t n)
{
    struct leaders_ask *a = own;
    for (size_t i = 0; values && i < n; i += 2)
        leaders_take_moment(&a->answer.waits, values[i]);
}

/* ---- monitors and links */

static bool is_counted(const struct leader *l)
{
    return l->beside_bytes <= COUNTED_BYTES || (l->beside_bytes <= ONCE_TIES_BYTES && !l->was_tied);
}

/* One in an ask: of a list that is too long the others are not unknown. Of those with very many one
 * in an answer. */
static bool ask_ties(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    for (a->n_out = 0; a->next_tied < a->answer.tied.n && a->n_out == 0; a->next_tied++) {
        struct leader *l = a->answer.tied.of[a->next_tied];
        const bool many = l->beside_bytes > COUNTED_BYTES;
        l->ties[TIE_MONITORS] = l->ties[TIE_MONITORED_BY] = l->ties[TIE_LINKS] = -1;
        if (!is_counted(l) || (many && a->is_once))
            continue;
        a->out[a->n_out++] = l;
        l->was_tied |= many;
        a->is_once |= many;
    }
    if (a->n_out > 0)
        run_add(calls, "lists", "foldl", leaders_counts(conn_peer_node(a->conn), a->out, a->n_out));
    calls->heap_words = LEADERS_LISTS_WORDS;
    return a->n_out > 0;
}

static void take_ties(void *own, const struct slice *values, size_t n)
{
    struct leaders_ask *a = own;
    struct slice one;
    (void)n;
    if (values && leaders_read_each(a, values[0], &one))
        (void)leaders_take_counts(a->out[0], one, a->out[0]->beside_bytes <= COUNTED_BYTES);
}

/* ---- binaries */

static bool is_listed(const struct leader *l)
{
    return l->binary_bytes == l->listed_binary_bytes;
}

static bool ask_binaries(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    while (a->next_holder < a->answer.holders.n && is_listed(a->answer.holders.of[a->next_holder]))
        a->next_holder++;
    if (a->next_holder == a->answer.holders.n)
        return false;
    struct leader *l = a->out[0] = a->answer.holders.of[a->next_holder];
    a->n_out = 1;
    l->binaries = -1;
    l->listed_binary_bytes = l->binary_bytes;
    run_add(calls, "lists", "foldl", leaders_binaries(conn_peer_node(a->conn), a->out, a->n_out));
    calls->heap_words = LEADERS_LISTS_WORDS;
    return true;
}

static void take_binaries(void *own, const struct slice *values, size_t n)
{
    struct leaders_ask *a = own;
    struct slice one;
    (void)n;
    if (values && leaders_read_each(a, values[0], &one))
        leaders_take_binaries(a->out[0], one);
}

static bool ask_binary_bytes(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    a->answer.binary_bytes = -1;
    if (a->answer.holders.n > 0)
        run_add_text(calls, "erlang", "memory", "[binary]");
    return a->answer.holders.n > 0;
}

static void take_binary_bytes(void *own, const struct slice *values, size_t n)
{
    struct leaders_ask *a = own;
    (void)n;
    if (!values || !values_read_integer(values[0], &a->answer.binary_bytes))
        a->answer.binary_bytes = -1;
}

/* ---- in this order */

const struct run_step leaders_look_steps[] = {
    {.ask = ask_asleep, .take = take_asleep},
    {.ask = ask_look, .take = take_look, .repeats = true},
    {.ask = ask_gcs, .take = take_gcs},
    {.ask = ask_moments, .take = take_moments},
    {.ask = ask_ties, .take = take_ties, .repeats = true},
    {.ask = ask_binaries, .take = take_binaries, .repeats = true},
    {.ask = ask_binary_bytes, .take = take_binary_bytes, .waits_ms = BINARY_MS},
};
const size_t leaders_look_count = ARRAY_LEN(leaders_look_steps);
