/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scan_terms.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/cursor.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "scan_walks.h"

/* ---- items */

#define MEMORY "memory"
#define HEAPS "total_heap_size"
#define NAME "registered_name"
#define ID "id"

enum item_source { ITEM_OF_SWEEP, ITEM_OF_INFO, ITEM_OF_WHO, ITEM_OF_NOBODY };

/* Those of docs/queries.md that no list is counted for. */
static const struct {
    const char *name;
    enum item_source source;
} item_rows[] = {
    {ID, ITEM_OF_WHO},
    {"reductions", ITEM_OF_SWEEP},
    {"message_queue_len", ITEM_OF_SWEEP},
    {MEMORY, ITEM_OF_INFO},
    {HEAPS, ITEM_OF_INFO},
    {"heap_size", ITEM_OF_INFO},
    {"stack_size", ITEM_OF_INFO},
    {"status", ITEM_OF_INFO},
    {"priority", ITEM_OF_INFO},
    {"current_function", ITEM_OF_INFO},
    {"dictionary", ITEM_OF_NOBODY},
    {"garbage_collection", ITEM_OF_INFO},
    {"group_leader", ITEM_OF_INFO},
    {"trap_exit", ITEM_OF_INFO},
    {"message_queue_data", ITEM_OF_INFO},
    {"supervisor", ITEM_OF_WHO},
};

static const char *item_name(const struct scan_ask *ask, size_t i)
{
    return item_rows[ask->items[i]].name;
}

static enum item_source item_source(const struct scan_ask *ask, size_t i)
{
    return item_rows[ask->items[i]].source;
}

static bool is_walking(const char *key)
{
    return strcmp(key, MEMORY) == 0 || strcmp(key, HEAPS) == 0;
}

/* ---- the argument */

static bool read_item(struct cursor *c, struct scan_ask *out)
{
    struct slice name;
    if (out->n_items == SCAN_ITEMS || !cursor_atom(c, &name))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(item_rows); i++)
        if (slice_is(name, item_rows[i].name)) {
            out->items[out->n_items++] = (uint8_t)i;
            out->wants_id |= item_rows[i].source == ITEM_OF_WHO;
            out->wants_info |=
                item_rows[i].source == ITEM_OF_INFO || strcmp(item_rows[i].name, ID) == 0;
            out->walks |= is_walking(item_rows[i].name);
            return true;
        }
    return false;
}

static bool read_items(struct cursor *c, struct scan_ask *out)
{
    struct cursor_list list;
    bool ok = cursor_list(c, &list) && !list.string;
    for (size_t i = 0; ok && i < list.count; i++)
        ok = read_item(c, out);
    return ok && cursor_list_end(c, &list);
}

static bool read_pids(struct cursor *c, struct etf_pid *pids, size_t *n)
{
    struct cursor_list list;
    bool ok = cursor_list(c, &list) && !list.string && list.count <= SCAN_PIDS;
    for (*n = 0; ok && *n < list.count; ++*n)
        ok = cursor_pid(c, &pids[*n], NULL);
    return ok && cursor_list_end(c, &list);
}

/* Of two atoms: whether it is the second. */
static bool read_either(struct cursor *c, const char *first, const char *second, bool *out)
{
    struct slice name;
    if (!cursor_atom(c, &name))
        return false;
    *out = slice_is(name, second);
    return *out || slice_is(name, first);
}

static bool read_pair(struct cursor *c, struct scan_ask *out, struct scan_filter *filter)
{
    struct slice key;
    int64_t rows = 0;
    if (!cursor_atom(c, &key))
        return false;
    if (slice_is(key, "attr"))
        return read_either(c, "reductions", "message_queue_len", &out->rank.by_queue);
    if (slice_is(key, "mode"))
        return read_either(c, "absolute", "delta", &out->rank.by_delta);
    if (slice_is(key, "order"))
        return read_either(c, "desc", "asc", &out->rank.ascending);
    if (slice_is(key, "items"))
        return read_items(c, out);
    if (slice_is(key, "pids"))
        return read_pids(c, out->pids, &out->n_pids);
    if (slice_is(key, "own"))
        return cursor_bool(c, &out->own);
    if (slice_is(key, "filter"))
        return scan_filter_read(filter, c);
    if (slice_is(key, "watch"))
        return read_pids(c, out->watch, &out->n_watch);
    if (slice_is(key, "rows") && cursor_int64(c, &rows) && rows >= 0 && rows <= LIMIT_ROWS) {
        out->rows = (size_t)rows;
        return true;
    }
    return slice_is(key, "reset") && cursor_skip(c);
}

bool scan_read_ask(const uint8_t *arg, size_t len, struct scan_ask *out, struct scan_filter *filter)
{
    struct cursor c;
    size_t pairs = 0;
    *out = (struct scan_ask){0};
    cursor_init(&c, arg, len);
    bool ok = cursor_map(&c, &pairs);
    for (size_t i = 0; ok && i < pairs; i++)
        ok = read_pair(&c, out, filter);
    return ok;
}

bool scan_same_items(const struct scan_ask *a, const struct scan_ask *b)
{
    return a->n_items == b->n_items && memcmp(a->items, b->items, a->n_items) == 0;
}

/* ---- asks */

enum { STEP_BEGAN, STEP_COUNT, STEP_REDUCTIONS, STEP_VALUE, STEP_ENDED, STEPS };

/* Between two clocks; nothing in it fails. */
static void make_call(struct native_call *call, struct native_step value, bool sure)
{
    const struct native_step steps[STEPS] = {
        [STEP_BEGAN] = NATIVE_CLOCK,
        [STEP_COUNT] = {"erlang", "system_info", "[process_count]", NULL},
        [STEP_REDUCTIONS] = {"erlang", "statistics", "[reductions]", NULL},
        [STEP_VALUE] = value,
        [STEP_ENDED] = NATIVE_CLOCK,
    };
    native_batch_init(call, steps, STEPS, sure);
    call->priority = "high";
}

void scan_call_list(struct native_call *call, bool sure)
{
    make_call(call, (struct native_step){"erlang", "processes", "[]", NULL}, sure);
}

/* lists:zipwith(fun erlang:process_info/2, Pids, [Keys, …]). */
static void make_reads(struct native_call *call, const char *node, const struct builder *keys,
                       struct scan_proc *const *procs, size_t n, bool sure)
{
    struct etf_pid *pids = alloc_zero(n + 1, sizeof *pids);
    for (size_t i = 0; i < n; i++)
        pids[i] = procs[i]->pid;
    struct builder *b = args_of_infos(node, pids, n, keys);
    make_call(call, (struct native_step){"lists", "zipwith", NULL, b}, sure);
    builder_free(b);
    free(pids);
}

void scan_call_sweep(struct native_call *call, const char *node, struct scan_proc *const *procs,
                     size_t n, bool sure)
{
    struct builder *keys = args_of_text("[reductions,message_queue_len]");
    make_reads(call, node, keys, procs, n, sure);
    builder_free(keys);
}

void scan_call_functions(struct native_call *call, const char *node, struct scan_proc *const *procs,
                         size_t n, bool sure)
{
    struct builder *key = args_of_text("current_function");
    make_reads(call, node, key, procs, n, sure);
    builder_free(key);
}

/* memory, total_heap_size and garbage_collection_info walk: of one that has the first, the second
 * says whether it has many links. */
static size_t list_keys(const struct scan_ask *ask, bool spared, const char **keys)
{
    size_t n = 0;
    bool walks = false;
    for (size_t i = 0; i < ask->n_items; i++) {
        const char *name = item_name(ask, i);
        walks |= is_walking(name);
        if (item_source(ask, i) == ITEM_OF_INFO && !is_walking(name) &&
            !(spared && strcmp(name, "heap_size") == 0))
            keys[n++] = name;
    }
    if (ask->wants_id)
        keys[n++] = NAME;
    if (spared) {
        keys[n++] = "heap_size";
    } else if (walks) {
        keys[n++] = MEMORY;
        keys[n++] = HEAPS;
    }
    return n;
}

void scan_call_info(struct native_call *call, const char *node, const struct scan_ask *ask,
                    bool spared, struct scan_proc *const *procs, size_t n, bool sure)
{
    const char *names[SCAN_ITEMS + 3];
    const size_t count = list_keys(ask, spared, names);
    struct builder *keys = builder_new();
    build_list(keys, count);
    for (size_t i = 0; i < count; i++)
        build_atom(keys, names[i]);
    build_nil(keys);
    make_reads(call, node, keys, procs, n, sure);
    builder_free(keys);
}

/* ---- values */

/* Enters the list, up to the value; the rest is read by read_ended(). */
static bool read_began(struct cursor *c, struct slice value, struct scan_clock *clock)
{
    struct cursor_list list;
    int64_t since = 0;
    *clock = (struct scan_clock){0};
    if (value.len == 0)
        return false;
    *c = values_cursor(value);
    return cursor_list(c, &list) && !list.string && list.count == STEPS &&
           cursor_int64(c, &clock->began_ns) && cursor_int64(c, &clock->processes) &&
           cursor_tuple_of(c, 2) && cursor_int64(c, &clock->reductions) &&
           cursor_int64(c, &since) && clock->reductions >= 0 && clock->reductions <= VALUES_MOST &&
           clock->processes >= 0 && clock->processes <= VALUES_MOST;
}

static bool read_ended(struct cursor *c, struct scan_clock *clock)
{
    return cursor_int64(c, &clock->ended_ns) && clock->ended_ns >= clock->began_ns;
}

/* The least that a pid takes on the wire. */
#define PID_BYTES 10

bool scan_read_list(struct slice value, struct scan_clock *clock, struct etf_pid **pids, size_t *n)
{
    struct cursor c;
    struct cursor_list list;
    *n = 0;
    *pids = NULL;
    if (!read_began(&c, value, clock) || !cursor_list(&c, &list) || list.string ||
        list.count > value.len / PID_BYTES)
        return false;
    *pids = alloc_zero(list.count + 1, sizeof **pids);
    while (*n < list.count && cursor_pid(&c, &(*pids)[*n], NULL))
        ++*n;
    return *n == list.count && cursor_list_end(&c, &list) && read_ended(&c, clock);
}

/* Enters the list of what process_info/2 said of n processes. */
static bool enter_infos(struct cursor *c, size_t n)
{
    struct cursor_list list;
    return cursor_list(c, &list) && !list.string && list.count == n;
}

static bool read_number(struct cursor *c, const char *key, int64_t *out)
{
    return cursor_tuple_of(c, 2) && cursor_atom_is(c, key) && cursor_int64(c, out) && *out >= 0 &&
           *out <= VALUES_MOST;
}

static bool read_swept(struct cursor *c, struct scan_proc *p, const struct scan_moment *now)
{
    struct cursor_list list;
    int64_t reductions = 0, queue = 0;
    if (cursor_peek_atom(c, "undefined")) {
        scan_proc_end(p);
        return cursor_skip(c);
    }
    if (!cursor_list(c, &list) || list.count != 2 || !read_number(c, "reductions", &reductions) ||
        !read_number(c, "message_queue_len", &queue) || !cursor_list_end(c, &list))
        return false;
    scan_proc_take(p, reductions, queue, now);
    return true;
}

static bool leave_infos(struct cursor *c, size_t n, struct scan_clock *clock)
{
    const struct cursor_list list = {.count = n, .nil = n == 0};
    return cursor_list_end(c, &list) && read_ended(c, clock);
}

bool scan_read_sweep(struct slice value, struct scan_clock *clock, struct scan_proc *const *procs,
                     size_t n, int64_t before_ns, uint64_t now_ms)
{
    struct cursor c;
    bool ok = read_began(&c, value, clock) && enter_infos(&c, n);
    const struct scan_moment now = {clock->began_ns, before_ns, now_ms};
    for (size_t i = 0; ok && i < n; i++)
        ok = read_swept(&c, procs[i], &now);
    return ok && leave_infos(&c, n, clock);
}

#define FUNCTION_BYTES 1024 /* {M,F,A} */

/* {current_function, {M,F,A}}; it waits for its process, which has not moved by that. */
static bool keep_function(struct cursor *c, struct scan_proc *p)
{
    struct slice function = {0};
    const bool ended = cursor_peek_atom(c, "undefined");
    bool ok = ended ? cursor_skip(c)
                    : cursor_tuple_of(c, 2) && cursor_atom_is(c, "current_function") &&
                          cursor_raw(c, &function) && function.len <= FUNCTION_BYTES;
    if (!ok)
        return false;
    if (ended)
        scan_proc_end(p);
    buf_reset(&p->function);
    buf_put(&p->function, function.s, function.len);
    p->has_function = true;
    p->signals++;
    return true;
}

bool scan_read_functions(struct slice value, struct scan_clock *clock,
                         struct scan_proc *const *procs, size_t n)
{
    struct cursor c;
    bool ok = read_began(&c, value, clock) && enter_infos(&c, n);
    for (size_t i = 0; ok && i < n; i++)
        ok = keep_function(&c, procs[i]);
    return ok && leave_infos(&c, n, clock);
}

/* Of a row, 16 items of some 100 bytes at most. */
#define INFO_BYTES 4096

static bool keep_info(struct cursor *c, struct scan_proc *p, bool spared, uint64_t now_ms)
{
    struct slice info;
    const bool ended = cursor_peek_atom(c, "undefined");
    if (!cursor_raw(c, &info) || info.len > INFO_BYTES)
        return false;
    if (ended)
        scan_proc_end(p);
    buf_reset(&p->info);
    buf_put(&p->info, info.s, ended ? 0 : info.len);
    p->info_ms = now_ms;
    p->is_spared = spared;
    p->stale = false;
    p->signals++;
    return true;
}

bool scan_read_info(struct slice value, struct scan_clock *clock, bool spared,
                    struct scan_proc *const *procs, size_t n, uint64_t now_ms)
{
    struct cursor c;
    bool ok = read_began(&c, value, clock) && enter_infos(&c, n);
    for (size_t i = 0; ok && i < n; i++)
        ok = keep_info(&c, procs[i], spared, now_ms);
    return ok && leave_infos(&c, n, clock);
}

/* ---- the answer */

/* [] of one without a name. */
static struct slice name_of(struct slice info, const struct who_entry *who)
{
    static const struct slice none = {0};
    const struct slice name = values_find(info, NAME);
    const struct cursor c = values_cursor(name);
    if (name.len == 0)
        return who->name;
    return cursor_kind(&c) == ETF_KIND_ATOM ? name : none;
}

static void build_id(struct builder *b, struct slice info, const struct who_entry *who)
{
    struct who_entry named = *who;
    named.name = name_of(info, who);
    who_build_id(b, &named);
}

/* {MinorGcs, FullsweepAfter} */
static void build_collections(struct builder *b, struct slice settings)
{
    const struct slice minor = values_find(settings, "minor_gcs");
    const struct slice full = values_find(settings, "fullsweep_after");
    if (minor.len == 0 || full.len == 0) {
        build_atom(b, "undefined");
        return;
    }
    build_tuple(b, 2);
    values_build_known(b, minor);
    values_build_known(b, full);
}

static void build_item(struct builder *b, const struct scan_answer *a, const char *name,
                       const struct scan_proc *p, const struct who_entry *who)
{
    const struct slice info = {(const char *)p->info.data, p->info.len};
    if (strcmp(name, ID) == 0)
        build_id(b, info, who);
    else if (strcmp(name, "supervisor") == 0)
        values_build_known(b, who->supervisor);
    else if (strcmp(name, "reductions") == 0)
        build_int(b, p->reductions);
    else if (strcmp(name, "message_queue_len") == 0)
        build_int(b, p->queue);
    else if (p->is_spared && is_walking(name))
        scan_walk_build(b, p, strcmp(name, MEMORY) == 0, a->now_ms);
    else if (strcmp(name, "garbage_collection") == 0)
        build_collections(b, values_find(info, name));
    else
        values_build_known(b, values_find(info, name));
}

/* {Pid, Value, Delta, Values} */
static void build_row(struct builder *b, const struct scan_answer *a, const struct scan_proc *p)
{
    const struct who_entry who = a->ask->wants_id ? a->who(a->who_arg, p) : (struct who_entry){0};
    build_tuple(b, 4);
    build_pid(b, a->node, &p->pid);
    build_int(b, scan_value(p, &a->rank));
    if (a->rank.first)
        build_atom(b, "undefined");
    else
        build_int(b, scan_delta(p, &a->rank));
    build_tuple(b, a->ask->n_items);
    for (size_t i = 0; i < a->ask->n_items; i++)
        build_item(b, a, item_name(a->ask, i), p, &who);
}

static void build_rows(struct builder *b, const struct scan_answer *a,
                       struct scan_proc *const *rows, size_t n)
{
    size_t shown = 0;
    for (size_t i = 0; i < n; i++)
        shown += rows[i]->listed;
    build_list(b, shown);
    for (size_t i = 0; i < n; i++)
        if (rows[i]->listed)
            build_row(b, a, rows[i]);
    build_nil(b);
}

void scan_build(struct builder *b, const struct scan_answer *a)
{
    build_tuple(b, a->ask->n_watch > 0 ? 10 : 9);
    build_atom(b, "scan");
    build_int(b, a->mono_ns);
    build_int(b, a->interval_ns);
    build_int(b, a->sweep_us);
    build_int(b, a->total);
    build_int(b, a->passing);
    build_int(b, a->own);
    build_rows(b, a, a->rows, a->n_rows);
    if (a->filter)
        scan_filter_build(a->filter, b);
    else
        build_nil(b);
    if (a->ask->n_watch > 0)
        build_rows(b, a, a->watched, a->n_watched);
}
