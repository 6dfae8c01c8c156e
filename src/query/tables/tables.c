/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/scan/scan_table.h"
#include "query/who/who.h"
#include "tables_internal.h"

#define LIST_EVERY_MS 30000 /* where their number has not changed */
#define LIST_MS 1000
#define SPREAD_MS 1000
#define LIST_WORDS (UINT64_C(8) << 20) /* of heap: LISTED_MOST references, and their copies */
#define LISTED_MOST 150000             /* ets:all/0 lists all there are */
#define LIST_US 0.5                    /* of each, at most */
#define ITEM_US 1.0
#define WAY_US 0.35 /* measured: of a term there and an item back, beside the call */
#define WORD_BYTES_MOST 8
/* Tables of one question: of those that are not known yet, and of those that are read again. */
#define NEW_MOST 20000
#define AGAIN_MOST 5000
#define SPREAD_MOST 50

/* ---- the list */

static bool ask_count(void *own, struct run_calls *calls)
{
    (void)own;
    run_add_text(calls, "erlang", "system_info", "[ets_count]");
    run_add_text(calls, "erlang", "system_info", "[wordsize]");
    return true;
}

static void take_count(void *own, const struct slice *values, size_t n)
{
    struct tables_read *t = own;
    int64_t count, bytes;
    t->count = -1;
    if (values && n == 2 && values_read_integer(values[0], &count) &&
        values_read_integer(values[1], &bytes) && bytes > 0 && bytes <= WORD_BYTES_MOST) {
        t->count = count;
        t->word_bytes = bytes;
    }
}

/* lists:sublist(ets:all(), TABLES_MOST + 1); abs/1 hands the number on. */
static bool ask_ids(void *own, struct run_calls *calls)
{
    static const struct args_call inner[] = {{"ets", "all", 0, "[]", NULL},
                                             {"erlang", "abs", 1, "[100001]", NULL}};
    _Static_assert(TABLES_MOST == 100000, "as the text says");
    struct tables_read *t = own;
    const bool is_known = t->listed_ms > 0 && t->count == t->listed_count;
    if (t->count < 0 || t->count > LISTED_MOST ||
        (t->tried_ms > 0 && t->now_ms - t->tried_ms < (is_known ? LIST_EVERY_MS : t->failed_ms)))
        return false;
    t->tried_ms = t->now_ms;
    run_add(calls, "lists", "foldl", args_of_calls("lists", "sublist", 2, inner, 2));
    calls->most_us = LIST_US * (double)t->count;
    calls->way_us = WAY_US * (double)t->count;
    calls->waits = 1;
    calls->heap_words = LIST_WORDS;
    return true;
}

static void rank_tables(struct tables_read *t)
{
    if (t->is_ranked)
        return;
    free(t->ranked);
    t->ranked = alloc_zero(t->list.n + 1, sizeof(struct ets_table *));
    ets_list_rank(&t->list, t->ranked);
    t->is_ranked = true;
}

static void take_ids(void *own, const struct slice *values, size_t n)
{
    struct tables_read *t = own;
    t->failed_ms = LIST_EVERY_MS; /* until it is asked again where it was late, or too large */
    if (!values || n != 1 || !ets_list_take(&t->list, values[0], &t->left_out))
        return;
    t->failed_ms = 0;
    t->listed_ms = t->now_ms;
    t->listed_count = t->count;
    t->is_ranked = false;
}

/* ---- parts of the list */

bool tables_choose(struct tables_read *t, wants_fn *wants, size_t most)
{
    if (t->part != wants) {
        t->part = wants;
        t->is_ranked = false;
        t->at = 0;
        t->budget = NEW_MOST;
    }
    rank_tables(t);
    for (t->n_asked = 0; t->at < t->list.n && t->n_asked < most && t->n_asked < t->budget; t->at++)
        if (wants(t, t->ranked[t->at]))
            t->asked[t->n_asked++] = t->ranked[t->at];
    t->budget -= t->n_asked;
    return t->n_asked > 0;
}

static bool has_own_name(const struct ets_table *table)
{
    return who_atom_of(table->id).len > 0;
}

/* ets:info(Table, Item) of each that is chosen, or of those of them that are known by a name. */
static size_t add_info(const struct tables_read *t, struct run_calls *calls, const char *item,
                       bool named)
{
    size_t n = 0;
    struct slice *ids = alloc_zero(TABLES_BATCH, sizeof *ids);
    for (size_t i = 0; i < t->n_asked; i++)
        if (!named || has_own_name(t->asked[i]))
            ids[n++] = t->asked[i]->id;
    run_add(calls, "lists", "zipwith", args_of_zip("ets", "info", ids, n, item));
    calls->most_us = ITEM_US * (double)(calls->n * t->n_asked) + PRICE_BATCH_US;
    calls->way_us += WAY_US * (double)n;
    free(ids);
    return n;
}

static void add_item(const struct tables_read *t, struct run_calls *calls, const char *item)
{
    (void)add_info(t, calls, item, false);
}

/* The values of an item, one after the other. */
struct item_values {
    struct cursor c;
    struct cursor_list list;
};

/* false: there are not as many as were asked for. */
static bool enter_values(struct slice value, size_t n, struct item_values *out)
{
    out->c = values_cursor(value);
    return cursor_list(&out->c, &out->list) && out->list.count == n;
}

static bool enter_item(const struct tables_read *t, struct slice value, struct item_values *out)
{
    return enter_values(value, t->n_asked, out);
}

/* Small numbers come as a string. */
static int64_t next_number(struct item_values *v)
{
    struct cursor term;
    int64_t n = -1;
    if (v->list.string)
        (void)cursor_int64(&v->c, &n);
    else if (!cursor_apart(&v->c, &term) || !cursor_int64(&term, &n))
        n = -1;
    return n >= 0 && n <= VALUES_MOST ? n : -1;
}

static struct slice next_term(struct item_values *v)
{
    struct slice term = {0};
    if (!v->list.string)
        (void)cursor_raw(&v->c, &term);
    return term;
}

/* ---- what each is */

static bool wants_base(const struct tables_read *t, const struct ets_table *table)
{
    (void)t;
    return !table->is_base_known || table->is_another;
}

static bool ask_base(void *own, struct run_calls *calls)
{
    struct tables_read *t = own;
    const bool asks = tables_choose(t, wants_base, TABLES_BATCH);
    add_item(t, calls, "decentralized_counters");
    add_item(t, calls, "name");
    add_item(t, calls, "owner");
    return asks;
}

static void read_owner(const struct tables_read *t, struct ets_table *table, struct slice term)
{
    table->has_owner = who_read_pid(term, &t->node, &table->owner);
}

static void take_base(void *own, const struct slice *values, size_t n)
{
    struct tables_read *t = own;
    struct item_values spread, names, owners;
    if (!values || n != 3 || !enter_item(t, values[0], &spread) ||
        !enter_item(t, values[1], &names) || !enter_item(t, values[2], &owners))
        return;
    for (size_t i = 0; i < t->n_asked; i++) {
        struct ets_table *table = t->asked[i];
        const struct slice name = next_term(&names);
        table->is_base_known = true;
        table->is_another = false;
        table->is_spread = who_term_is(next_term(&spread), "true");
        if (who_atom_of(name).len > 0 && !who_term_is(name, "undefined"))
            table->name = slice_keep(&t->list.arena, name);
        read_owner(t, table, next_term(&owners));
    }
}

/* ---- sizes, and which table has a name now */

static void add_sizes(struct tables_read *t, struct run_calls *calls)
{
    add_item(t, calls, "memory");
    add_item(t, calls, "size");
    t->n_named = add_info(t, calls, "id", true);
}

static bool is_same_ref(const struct etf_ref *a, const struct etf_ref *b)
{
    return a->n == b->n && a->creation == b->creation &&
           memcmp(a->words, b->words, a->n * sizeof a->words[0]) == 0;
}

/* What is known of the one before is not of this one. */
static void read_tid(struct ets_table *table, struct slice term)
{
    struct etf_ref tid = {0};
    struct cursor c = values_cursor(term);
    if (cursor_kind(&c) != ETF_KIND_REF || !cursor_ref(&c, &tid))
        return;
    if (table->tid.n > 0 && !is_same_ref(&table->tid, &tid)) {
        table->is_another = true;
        table->detail_ms = 0;
    }
    table->tid = tid;
}

/* Of a large node those that were never read, the largest, and the others in turn. */
static bool wants_sizes(const struct tables_read *t, const struct ets_table *table)
{
    if (!table->is_base_known || table->is_spread)
        return false;
    const size_t at = (size_t)(table - t->list.all);
    const bool has_turn = (at + t->list.n - t->turn) % t->list.n < AGAIN_MOST;
    return t->list.n <= AGAIN_MOST || table->read_ms == 0 || t->at < TABLES_ROWS || has_turn;
}

static bool ask_sizes(void *own, struct run_calls *calls)
{
    struct tables_read *t = own;
    const bool asks = tables_choose(t, wants_sizes, TABLES_BATCH);
    add_sizes(t, calls);
    return asks;
}

static void take_sizes(void *own, const struct slice *values, size_t n)
{
    struct tables_read *t = own;
    struct item_values words, objects, tids;
    if (!values || n != 3 || !enter_item(t, values[0], &words) ||
        !enter_item(t, values[1], &objects) || !enter_values(values[2], t->n_named, &tids))
        return;
    for (size_t i = 0; i < t->n_asked; i++) {
        t->asked[i]->words = next_number(&words);
        t->asked[i]->objects = next_number(&objects);
        t->asked[i]->read_ms = t->now_ms;
        t->asked[i]->is_base_known &= t->asked[i]->words >= 0; /* else it is gone */
        if (has_own_name(t->asked[i]))
            read_tid(t->asked[i], next_term(&tids));
    }
}

/* Waits until each scheduler has passed: those that were read longest ago. */
static int compare_reads(const void *a, const void *b)
{
    const struct ets_table *x = *(struct ets_table *const *)a, *y = *(struct ets_table *const *)b;
    const int order = (x->read_ms > y->read_ms) - (x->read_ms < y->read_ms);
    return order ? order : (x->words < y->words) - (x->words > y->words);
}

static bool ask_spread(void *own, struct run_calls *calls)
{
    struct tables_read *t = own;
    struct ets_table **spread = alloc_zero(t->list.n + 1, sizeof(struct ets_table *));
    size_t n = 0;
    for (size_t i = 0; i < t->list.n; i++)
        if (t->list.all[i].is_spread)
            spread[n++] = &t->list.all[i];
    qsort(spread, n, sizeof(struct ets_table *), compare_reads);
    t->n_asked = n < t->spread_most ? n : t->spread_most;
    memcpy(t->asked, spread, t->n_asked * sizeof(struct ets_table *));
    free(spread);
    add_sizes(t, calls);
    calls->waits = (double)t->n_asked;
    return n > 0;
}

static void take_spread(void *own, const struct slice *values, size_t n)
{
    struct tables_read *t = own;
    if (!values)
        t->spread_most = t->spread_most > 1 ? t->spread_most / 2 : 1;
    else
        t->spread_most = t->spread_most * 2 < SPREAD_MOST ? t->spread_most * 2 : SPREAD_MOST;
    take_sizes(own, values, n);
}

/* ---- the rest, of those that are shown */

static bool wants_detail(const struct tables_read *t, const struct ets_table *table)
{
    return t->at < TABLES_ROWS && table->is_base_known &&
           (table->detail_ms == 0 || t->now_ms - table->detail_ms >= TABLES_DETAIL_MS);
}

enum detail {
    TYPE,
    PROTECTION,
    WRITE,
    READ,
    COMPRESSED,
    FIXED,
    KEY_POSITION,
    HEIR,
    OWNER,
    SPREAD,
    DETAILS
};

static const char *const detail_items[DETAILS] = {
    [TYPE] = "type",
    [PROTECTION] = "protection",
    [WRITE] = "write_concurrency",
    [READ] = "read_concurrency",
    [COMPRESSED] = "compressed",
    [FIXED] = "fixed",
    [KEY_POSITION] = "keypos",
    [HEIR] = "heir",
    [OWNER] = "owner",
    [SPREAD] = "decentralized_counters",
};

static bool ask_details(void *own, struct run_calls *calls)
{
    struct tables_read *t = own;
    const bool asks = tables_choose(t, wants_detail, TABLES_BATCH / 4);
    for (size_t i = 0; i < DETAILS; i++)
        add_item(t, calls, detail_items[i]);
    return asks;
}

/* A text of the program's. */
static struct slice read_word(struct slice term)
{
    static const char *const words[] = {"set",    "ordered_set", "bag",     "duplicate_bag",
                                        "public", "protected",   "private", "true",
                                        "false",  "auto"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (who_term_is(term, words[i]))
            return slice_of(words[i]);
    return (struct slice){0};
}

static void read_detail(const struct tables_read *t, struct ets_table *table,
                        struct item_values item[DETAILS])
{
    table->type = read_word(next_term(&item[TYPE]));
    table->protection = read_word(next_term(&item[PROTECTION]));
    table->write = read_word(next_term(&item[WRITE]));
    table->read_concurrency = who_term_is(next_term(&item[READ]), "true");
    table->compressed = who_term_is(next_term(&item[COMPRESSED]), "true");
    table->fixed = who_term_is(next_term(&item[FIXED]), "true");
    table->key_position = next_number(&item[KEY_POSITION]);
    table->has_heir = who_read_pid(next_term(&item[HEIR]), &t->node, &table->heir);
    read_owner(t, table, next_term(&item[OWNER]));
    /* One of that name may be another. */
    table->is_spread = who_term_is(next_term(&item[SPREAD]), "true");
    table->detail_ms = t->now_ms;
}

static void take_details(void *own, const struct slice *values, size_t n)
{
    struct tables_read *t = own;
    struct item_values item[DETAILS];
    if (!values || n != DETAILS)
        return;
    for (size_t k = 0; k < DETAILS; k++)
        if (!enter_item(t, values[k], &item[k]))
            return;
    for (size_t i = 0; i < t->n_asked; i++)
        read_detail(t, t->asked[i], item);
}

/* ---- the question */

static const struct run_step steps[] = {
    {ask_count, take_count, 0, false},
    {ask_ids, take_ids, LIST_MS, false},
    {ask_base, take_base, 0, true},
    {ask_sizes, take_sizes, 0, true},
    {ask_spread, take_spread, SPREAD_MS, false},
    {ask_details, take_details, 0, true},
    {tables_ask_keepers, tables_take_keepers, 0, false},
    {tables_ask_files, tables_take_files, 0, false},
    {tables_ask_mnesia, tables_take_mnesia, 0, false},
    {tables_ask_copies, tables_take_copies, 0, true},
};

static void init_tables(void *read)
{
    struct tables_read *t = read;
    arena_init(&t->list.arena);
    arena_init(&t->kept);
    t->asked = alloc_zero(TABLES_BATCH, sizeof(struct ets_table *));
    t->spread_most = SPREAD_MOST;
}

static void begin_tables(void *read, const struct stepped_now *now)
{
    struct tables_read *t = read;
    t->now_ms = now->ms;
    t->node = (struct who_node){.name = now->node, .creation = now->creation};
    t->part = NULL;
    t->is_ranked = false;
    t->turn = t->list.n > 0 ? (t->turn + AGAIN_MOST) % t->list.n : 0;
}

static size_t add_person(struct etf_pid *out, size_t n, const struct etf_pid *pid)
{
    size_t k = 0;
    while (k < n && scan_compare_pids(&out[k], pid) != 0)
        k++;
    if (k == n && n < WHO_MOST)
        out[n++] = *pid;
    return n;
}

/* Owners of those that have rows. */
static size_t find_owners(void *read, struct etf_pid *out)
{
    struct tables_read *t = read;
    size_t n = 0;
    rank_tables(t);
    for (size_t i = 0; i < t->list.n && i < TABLES_ROWS; i++) {
        const struct ets_table *table = t->ranked[i];
        if (table->has_owner)
            n = add_person(out, n, &table->owner);
    }
    for (size_t i = 0; i < t->n_files; i++)
        if (t->files[i].has_pid)
            n = add_person(out, n, &t->files[i].pid);
    return n;
}

static void clear_tables(void *read)
{
    struct tables_read *t = read;
    ets_list_clear(&t->list);
    arena_clear(&t->kept);
    free(t->ranked);
    free(t->asked);
}

/* What lists them would take more memory of the node than it may. */
static bool refuse_many(void *read, struct error *err)
{
    const struct tables_read *t = read;
    if (t->count > LISTED_MOST)
        (void)error_set(err, ERR_LIMIT,
                        "the node has %" PRId64 " ETS tables: at most %d are listed", t->count,
                        LISTED_MOST);
    return t->count > LISTED_MOST;
}

const struct stepped tables_question = {
    .question = QUESTION_TABLES,
    .bytes = sizeof(struct tables_read),
    .steps = steps,
    .n_steps = ARRAY_LEN(steps),
    .init = init_tables,
    .begin = begin_tables,
    .whom = find_owners,
    .refuses = refuse_many,
    .build = tables_build,
    .clear = clear_tables,
};
