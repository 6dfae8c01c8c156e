/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of a table, never its objects: each is the next of the one before. */
#include <inttypes.h>
#include <string.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/print.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"
#include "tables_one.h"

#define KEY_TEXT_BYTES 300
#define AHEAD_MOST 10 /* of one ask, which copies the n-th key n times */
#define ASK_US 100.0

struct keys_read {
    struct table_id id;
    struct arena arena; /* keys of this question */
    struct slice keys[LIMIT_TABLE_KEYS];
    size_t n, most, ahead;
    bool exists, is_private, is_fixed, is_done, partial;
};

static bool ask_id(void *own, struct run_calls *calls)
{
    const struct keys_read *k = own;
    table_ask_id(&k->id, calls);
    return true;
}

static void take_id(void *own, const struct slice *values, size_t n)
{
    struct keys_read *k = own;
    table_take_id(&k->id, values, n);
}

static bool ask_protection(void *own, struct run_calls *calls)
{
    const struct keys_read *k = own;
    if (k->id.term.len == 0)
        return false;
    table_add_info(&k->id, calls, "protection");
    table_add_info(&k->id, calls, "type");
    table_add_info(&k->id, calls, "fixed");
    return true;
}

static void take_protection(void *own, const struct slice *values, size_t n)
{
    struct keys_read *k = own;
    k->exists = values && n == 3 && !who_term_is(values[0], "undefined");
    if (!k->exists)
        return;
    k->is_private = who_term_is(values[0], "private");
    /* While it is fixed, next/2 passes all that was deleted, without a yield. */
    k->is_fixed = who_term_is(values[2], "true") && !who_term_is(values[1], "ordered_set");
    k->ahead = who_term_is(values[1], "set") || who_term_is(values[1], "ordered_set")
                   ? AHEAD_MOST
                   : 1; /* of a bag it passes all objects of a key */
}

static bool ask_first(void *own, struct run_calls *calls)
{
    const struct keys_read *k = own;
    struct builder *b = builder_new();
    build_list(b, 1);
    build_raw(b, k->id.term.data, k->id.term.len);
    build_nil(b);
    run_add(calls, "ets", "first", b);
    return k->exists && !k->is_private && !k->is_fixed;
}

static void keep_key(struct keys_read *k, struct slice key)
{
    if (who_term_is(key, "$end_of_table"))
        k->is_done = true;
    else if (!k->is_done && k->n < k->most)
        k->keys[k->n++] = slice_keep(&k->arena, key);
}

static void take_first(void *own, const struct slice *values, size_t n)
{
    struct keys_read *k = own;
    k->partial = !values || n != 1;
    k->is_done = k->partial;
    if (!k->partial)
        keep_key(k, values[0]);
}

/* lists:zipwith3(fun lists:foldl/3, [fun ets:next/2, …], [Key, …], [[Table], [Table, Table], …]) */
static struct builder *next_args(const struct keys_read *k, size_t ahead)
{
    const struct slice last = k->keys[k->n - 1];
    struct builder *b = builder_new();
    build_list(b, 4);
    build_export(b, "lists", "foldl", 3);
    build_list(b, ahead);
    for (size_t i = 0; i < ahead; i++)
        build_export(b, "ets", "next", 2);
    build_nil(b);
    build_list(b, ahead);
    for (size_t i = 0; i < ahead; i++)
        build_raw(b, (const uint8_t *)last.s, last.len);
    build_nil(b);
    build_list(b, ahead);
    for (size_t i = 0; i < ahead; i++) {
        build_list(b, i + 1);
        for (size_t at = 0; at <= i; at++)
            build_raw(b, k->id.term.data, k->id.term.len);
        build_nil(b);
    }
    build_nil(b);
    build_nil(b);
    return b;
}

static bool ask_next(void *own, struct run_calls *calls)
{
    struct keys_read *k = own;
    if (k->n == 0 || k->n >= k->most || k->is_done)
        return false;
    if (k->ahead > k->most - k->n)
        k->ahead = k->most - k->n;
    run_add(calls, "lists", "zipwith3", next_args(k, k->ahead));
    calls->most_us = ASK_US;
    return true;
}

/* Keys that are small numbers come as a string. */
static void keep_number(struct keys_read *k, struct cursor *c)
{
    int64_t number = 0;
    size_t len;
    struct builder *b = builder_new();
    if (cursor_int64(c, &number)) {
        build_int(b, number);
        const uint8_t *bytes = builder_bytes(b, &len);
        keep_key(k, (struct slice){(const char *)bytes + 1, len - 1});
    }
    builder_free(b);
}

/* Behind the last key there is none: an ask that goes beyond it fails, as one does whose key was
 * deleted, or whose keys are too large. */
static void take_next(void *own, const struct slice *values, size_t n)
{
    struct keys_read *k = own;
    struct cursor c = values_cursor(values && n == 1 ? values[0] : (struct slice){0});
    struct cursor_list list;
    struct slice key;
    if (!values || !cursor_list(&c, &list) || list.count != k->ahead) {
        k->is_done = k->partial = k->ahead <= 1;
        k->ahead /= 2;
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        if (list.string)
            keep_number(k, &c);
        else if (cursor_raw(&c, &key))
            keep_key(k, key);
}

static const struct run_step steps[] = {
    {ask_id, take_id, 0, false},
    {ask_protection, take_protection, 0, false},
    {ask_first, take_first, 0, false},
    {ask_next, take_next, 0, true},
};

/* ---- the question */

static void init_keys(void *read)
{
    struct keys_read *k = read;
    arena_init(&k->arena);
    buf_init(&k->id.term, 0);
}

/* {Table, Most} */
static bool take_argument(void *read, const uint8_t *arg, size_t len)
{
    struct keys_read *k = read;
    struct cursor c;
    struct slice text = {0};
    int64_t most = 0;
    cursor_init(&c, arg, len);
    (void)(cursor_tuple_of(&c, 2) && cursor_binary(&c, &text) && cursor_int64(&c, &most));
    (void)table_take_text(&k->id, text);
    k->most = most > 0 && most <= LIMIT_TABLE_KEYS ? (size_t)most : LIMIT_TABLE_KEYS;
    return true;
}

static void begin_keys(void *read, const struct stepped_now *now)
{
    struct keys_read *k = read;
    (void)now;
    arena_reset(&k->arena);
    k->n = 0;
    k->ahead = AHEAD_MOST;
    k->exists = k->is_private = k->is_fixed = k->is_done = k->partial = false;
}

static bool refuse_keys(void *read, struct error *err)
{
    const struct keys_read *k = read;
    if (!k->exists)
        (void)error_set(err, ERR_NOT_FOUND, "the node has no ETS table %s", k->id.text);
    else if (k->is_private)
        (void)error_set(err, ERR_REFUSED,
                        "the ETS table %s is private: the node lets only its owner read it",
                        k->id.text);
    else if (k->is_fixed)
        (void)error_set(err, ERR_REFUSED,
                        "the ETS table %s is fixed: until its process releases it, reading a key "
                        "passes all that was deleted since",
                        k->id.text);
    return !k->exists || k->is_private || k->is_fixed;
}

static void build_keys(struct builder *b, void *read, int64_t mono_ns,
                       const struct stepped_who *who)
{
    static const struct print_limits limits = {.bytes = KEY_TEXT_BYTES};
    const struct keys_read *k = read;
    (void)who;
    build_tuple(b, 4);
    build_atom(b, "table_keys");
    build_int(b, mono_ns);
    if (k->n > 0)
        build_list(b, k->n);
    for (size_t i = 0; i < k->n; i++) {
        build_tuple(b, 1);
        values_build_printed(b, k->keys[i], &limits);
    }
    build_nil(b);
    build_bool(b, k->partial);
}

static void clear_keys(void *read)
{
    struct keys_read *k = read;
    arena_clear(&k->arena);
    buf_clear(&k->id.term);
}

const struct stepped table_keys_question = {
    .question = QUESTION_TABLE_KEYS,
    .bytes = sizeof(struct keys_read),
    .steps = steps,
    .n_steps = ARRAY_LEN(steps),
    .init = init_keys,
    .takes = take_argument,
    .begin = begin_keys,
    .refuses = refuse_keys,
    .build = build_keys,
    .clear = clear_keys,
};
