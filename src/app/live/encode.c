/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "encode.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/etf/cursor.h"
#include "beamtop/base/limits.h"
#include "beamtop/model/column.h"

/* Sizes of what a process view asks for at most. */
#define STACK_FRAMES 60
#define LINKS_SHOWN 200
/* Of a supervision tree. */
#define TREE_MAX_NODES 2000
#define TREE_MS 3000

static void build_pair_atom(struct builder *b, const char *key, const char *value)
{
    build_atom(b, key);
    build_atom(b, value);
}

/* Names that the user gave travel as binaries: a term with an unknown atom would add it there. */
static void build_pair_int(struct builder *b, const char *key, int64_t value)
{
    build_atom(b, key);
    build_int(b, value);
}

static void build_items(struct builder *b, uint32_t items)
{
    size_t n = 0;
    for (int i = 0; i < PROC_ITEMS; i++)
        n += (items >> i) & 1u;
    build_list(b, n);
    for (int i = 0; i < PROC_ITEMS; i++)
        if ((items >> i) & 1u)
            build_atom(b, proc_item_name((enum proc_item)i));
    build_nil(b);
}

static void build_pids(struct builder *b, const struct etf_pid *pids, int n, const char *node)
{
    if (n > 0)
        build_list(b, (size_t)n);
    for (int i = 0; i < n; i++)
        build_pid(b, node, &pids[i]);
    build_nil(b);
}

static void build_set(struct builder *b, enum filter_field field, const struct filter_set *set)
{
    build_atom(b, filter_field_name(field));
    build_map(b, set->n);
    for (size_t i = 0; i < set->n; i++) {
        build_raw(b, (const uint8_t *)set->terms[i].s, set->terms[i].len);
        build_nil(b);
    }
}

/* {Seq, Fields, Maps} */
static void build_filter_maps(struct builder *b, const struct filter_maps *maps)
{
    size_t n = 0;
    build_tuple(b, 3);
    build_int(b, maps->seq);
    for (int i = 0; i < FILTER_FIELDS; i++)
        n += (maps->fields >> i) & 1u;
    build_list(b, n);
    for (int i = 0; i < FILTER_FIELDS; i++)
        if ((maps->fields >> i) & 1u)
            build_atom(b, filter_field_name((enum filter_field)i));
    build_nil(b);
    build_map(b, FILTER_FIELDS);
    for (int i = 0; i < FILTER_FIELDS; i++)
        if (i != FILTER_PID)
            build_set(b, (enum filter_field)i, &maps->sets[i]);
    build_atom(b, filter_field_name(FILTER_PID));
    if (!maps->pid_pattern) {
        build_atom(b, "none");
        return;
    }
    build_tuple(b, 3);
    build_atom(b, "re");
    build_binary(b, maps->pid_pattern, strlen(maps->pid_pattern));
    build_nil(b);
}

static struct builder *encode_scan(const struct want *wanted, const struct filter *filter,
                                   const char *node)
{
    const struct want_scan *want = &wanted->scan;
    const struct field *sort =
        proc_column_find(want->sort_key ? want->sort_key : "reductions_per_s");
    /* Columns that the node does not rank by are sorted here, among its busiest processes. */
    bool ranked = sort && sort->sweep;
    const char *attr = ranked ? sort->sweep : "reductions";
    struct builder *b = builder_new();

    build_map(b, want->n_watched > 0 ? 10 : 9);
    build_pair_atom(b, "attr", attr);
    build_pair_atom(b, "mode", !ranked || want->by_delta ? "delta" : "absolute");
    build_pair_atom(b, "order", ranked && want->ascending ? "asc" : "desc");
    build_pair_int(b, "rows", ranked ? want->rows : LIMIT_ROWS);
    build_atom(b, "items");
    build_items(b, want->items);
    build_atom(b, "pids");
    build_pids(b, want->pids, want->n_pids, node);
    if (want->n_watched > 0) {
        build_atom(b, "watch");
        build_pids(b, want->watched, want->n_watched, node);
    }
    build_atom(b, "own");
    build_bool(b, want->own);
    build_atom(b, "filter");
    if (filter && filter_maps(filter))
        build_filter_maps(b, filter_maps(filter));
    else
        build_atom(b, "none");
    build_atom(b, "reset");
    build_bool(b, false);
    return b;
}

/* A pid that the user typed is sent as text, and the node parses it. As a term, a number beyond
 * the release's range would be corrupt: the node would log it and drop the connection. */
static void build_asked_pid(struct builder *b, const char *node, const struct etf_pid *pid)
{
    if (pid->creation != 0) {
        build_pid(b, node, pid);
        return;
    }
    char text[40];
    int len = snprintf(text, sizeof text, PID_FORMAT, PID_NUMBERS(pid));
    build_binary(b, text, (size_t)len);
}

static struct builder *encode_process(const struct want *want, const struct filter *filter,
                                      const char *node)
{
    struct builder *b = builder_new();
    (void)filter;
    build_tuple(b, 2);
    if (*want->process.name)
        build_binary(b, want->process.name, strlen(want->process.name));
    else
        build_asked_pid(b, node, &want->process.pid);
    build_map(b, 2);
    build_pair_int(b, "stack", STACK_FRAMES);
    build_pair_int(b, "links", LINKS_SHOWN);
    return b;
}

struct builder *encode_place(bool local)
{
    struct builder *b = builder_new();
    if (local)
        build_atom(b, "local");
    else
        build_nil(b);
    return b;
}

static void build_resident(struct builder *b, const struct resident *r, enum question q)
{
    build_tuple(b, q == QUESTION_SYSTEM ? 2 : 4);
    build_known_int(b, r->resident_bytes);
    if (q == QUESTION_SYSTEM) {
        build_known_int(b, r->virtual_bytes);
        return;
    }
    build_known_int(b, r->anon_bytes);
    build_known_int(b, r->swap_bytes);
    build_known_int(b, r->peak_bytes);
}

struct builder *encode_resident(enum question q, const uint8_t *value, size_t len,
                                const struct resident *r)
{
    /* Elements of an answer, and which of them, from 0, is the resident memory. */
    static const struct {
        size_t elements, at;
    } places[QUESTIONS] = {[QUESTION_SYSTEM] = {11, 9}, [QUESTION_ALLOC] = {6, 5}};
    struct cursor c;
    struct slice element;
    size_t arity = 0;
    cursor_init(&c, value, len);
    if (places[q].elements == 0 || !cursor_tuple(&c, &arity) || arity != places[q].elements)
        return NULL;
    struct builder *b = builder_new();
    build_tuple(b, arity);
    for (size_t i = 0; i < arity && cursor_raw(&c, &element); i++)
        if (i == places[q].at)
            build_resident(b, r, q);
        else
            build_raw(b, (const uint8_t *)element.s, element.len);
    if (!cursor_failed(&c))
        return b;
    builder_free(b);
    return NULL;
}

static void build_rows(struct builder *b, const struct proc_scan *scan, const char *node)
{
    build_list(b, scan->n_rows);
    for (size_t i = 0; i < scan->n_rows; i++)
        build_pid(b, node, &scan->rows[i].pid);
    build_nil(b);
}

struct builder *encode_rows(const struct proc_scan *scan, uint32_t items, const char *node)
{
    struct builder *b = builder_new();
    build_tuple(b, 2);
    build_items(b, items & PROC_ITEMS_AGAIN);
    build_rows(b, scan, node);
    return b;
}

struct builder *encode_leaders(const struct proc_scan *busiest, bool first, const char *node)
{
    struct builder *b = builder_new();
    build_map(b, first || busiest ? 3 : 2);
    build_pair_int(b, "most", LEADERS_MOST);
    build_pair_int(b, "all", LIMIT_LEADERS_ALL);
    if (first) {
        build_atom(b, "first");
        build_bool(b, true);
    } else if (busiest) {
        build_atom(b, "busiest");
        build_rows(b, busiest, node);
    }
    return b;
}

struct builder *encode_peek(const struct etf_pid *pid, const char *node, int number, int bytes,
                            bool agreed)
{
    struct builder *b = builder_new();
    build_tuple(b, 4);
    build_asked_pid(b, node, pid);
    build_int(b, number);
    build_int(b, bytes);
    build_bool(b, agreed);
    return b;
}

struct builder *encode_collect(const struct etf_pid *pid, const char *node, bool agreed)
{
    struct builder *b = builder_new();
    build_tuple(b, 3);
    if (pid)
        build_asked_pid(b, node, pid);
    else
        build_binary(b, node, strlen(node));
    build_int(b, COLLECT_MS);
    build_bool(b, agreed);
    return b;
}

static struct builder *encode_heaps(const struct want *want, const struct filter *filter,
                                    const char *node)
{
    struct builder *b = builder_new();
    (void)filter;
    (void)node;
    build_map(b, 2);
    build_pair_int(b, "most", want->heaps > 0 ? want->heaps : 1);
    build_atom(b, "running");
    build_bool(b, want->heaps_running);
    return b;
}

static struct builder *encode_tree(const struct want *want, const struct filter *filter,
                                   const char *node)
{
    struct builder *b = builder_new();
    (void)filter;
    (void)node;
    build_tuple(b, 3);
    build_binary(b, want->tree_app, strlen(want->tree_app));
    build_int(b, TREE_MAX_NODES);
    build_int(b, TREE_MS);
    return b;
}

static struct builder *encode_table(const struct want *want, const struct filter *filter,
                                    const char *node)
{
    struct builder *b = builder_new();
    (void)filter;
    (void)node;
    build_binary(b, want->table, strlen(want->table));
    return b;
}

static struct builder *encode_module(const struct want *want, const struct filter *filter,
                                     const char *node)
{
    struct builder *b = builder_new();
    (void)filter;
    (void)node;
    build_binary(b, want->module, strlen(want->module));
    return b;
}

static struct builder *encode_keys(const struct want *want, const struct filter *filter,
                                   const char *node)
{
    struct builder *b = builder_new();
    (void)filter;
    (void)node;
    build_tuple(b, 2);
    build_binary(b, want->table, strlen(want->table));
    build_int(b, want->keys);
    return b;
}

/* How an argument is made: by a function, or as a map with at most one number. Else it is []. */
static const struct {
    struct builder *(*make)(const struct want *want, const struct filter *filter, const char *node);
    bool is_map;
    const char *key;
    int value;
} args[QUESTIONS] = {
    [QUESTION_SCAN] = {.make = encode_scan},
    [QUESTION_PROCESS] = {.make = encode_process},
    [QUESTION_SUSPENDERS] = {.make = encode_process},
    [QUESTION_OLD_CODE] = {.make = encode_module},
    [QUESTION_HEAPS] = {.make = encode_heaps},
    [QUESTION_TREE] = {.make = encode_tree},
    [QUESTION_ONE_TABLE] = {.make = encode_table},
    [QUESTION_TABLE_KEYS] = {.make = encode_keys},
    [QUESTION_APPS] = {.is_map = true},
    [QUESTION_ARMED] = {.is_map = true, .key = "most", .value = LIMIT_ARMED},
    [QUESTION_GROWTH] = {.is_map = true},
};

struct builder *encode_question(enum question q, const struct want *want,
                                const struct filter *filter, const char *node)
{
    if (args[q].make)
        return args[q].make(want, filter, node);
    struct builder *b = builder_new();
    if (!args[q].is_map)
        build_nil(b);
    else
        build_map(b, args[q].key ? 1 : 0);
    if (args[q].key)
        build_pair_int(b, args[q].key, args[q].value);
    return b;
}
