/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mnesia, where it runs: plain reads of its tables, none of its processes is asked. */
#include <string.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"
#include "tables_one.h"

#define COLUMNS 14
#define NODES_MOST 1000
#define DOWN_BYTES 1000 /* of the names of nodes */

/* What is looked up, in this order. */
/* clang-format off */
enum fact {
    VERSION, STATUS, RUNNING, RAM, DISC, DISC_ONLY,
    COMMITS, FAILURES, RESTARTS, LOG_WRITES, LOG_LEFT, FACTS
};
static const char *const lookups[FACTS] = {
    "[mnesia_gvar,version]", "[mnesia_gvar,mnesia_status]", "[mnesia_gvar,{current,db_nodes}]",
    "[mnesia_gvar,{schema,ram_copies}]", "[mnesia_gvar,{schema,disc_copies}]",
    "[mnesia_gvar,{schema,disc_only_copies}]", "[mnesia_stats,trans_commits]",
    "[mnesia_stats,trans_failures]", "[mnesia_stats,trans_restarts]",
    "[mnesia_stats,trans_log_writes]", "[mnesia_stats,trans_log_writes_left]"
};
enum size { HELD, WAITING, OF_TRANSACTIONS, SIZES };
static const char *const sizes[SIZES] = {
    "[mnesia_held_locks,size]", "[mnesia_lock_queue,size]", "[mnesia_tid_locks,size]"
};
/* clang-format on */

struct mnesia_read {
    struct arena arena; /* of this question */
    bool runs;
    bool is_read;
    struct slice fact[FACTS];
    int64_t size[SIZES];
    struct slice connected; /* the nodes that this one is connected to */
};

static bool ask_whether(void *own, struct run_calls *calls)
{
    (void)own;
    run_add_text(calls, "erlang", "whereis", "[mnesia_sup]");
    return true;
}

static void take_whether(void *own, const struct slice *values, size_t n)
{
    struct mnesia_read *r = own;
    r->runs = values && n == 1 && !who_term_is(values[0], "undefined");
}

static bool ask_facts(void *own, struct run_calls *calls)
{
    const struct mnesia_read *r = own;
    for (size_t i = 0; i < FACTS; i++)
        run_add_text(calls, "ets", "lookup", lookups[i]);
    for (size_t i = 0; i < SIZES; i++)
        run_add_text(calls, "ets", "info", sizes[i]);
    run_add_text(calls, "erlang", "nodes", "[]");
    return r->runs;
}

/* It may have just stopped: then nothing is known. */
static void take_facts(void *own, const struct slice *values, size_t n)
{
    struct mnesia_read *r = own;
    struct slice found[1], pair[2];
    if (!values || n != FACTS + SIZES + 1)
        return;
    for (size_t i = 0; i < FACTS; i++)
        if (values_read_list(values[i], found, 1) && values_read_tuple(found[0], 2, pair, 2))
            r->fact[i] = slice_keep(&r->arena, pair[1]);
    for (size_t i = 0; i < SIZES; i++)
        if (!values_read_integer(values[FACTS + i], &r->size[i]) || r->size[i] > VALUES_MOST)
            r->size[i] = -1;
    r->connected = slice_keep(&r->arena, values[FACTS + SIZES]);
    r->is_read = true;
}

/* ---- the answer */

/* Atoms of a list, those that fit; unknown: -1. */
static int64_t read_nodes(struct slice list, struct slice *out, size_t most)
{
    struct cursor c;
    struct slice node;
    size_t n, named = 0;
    if (list.len == 0 || !values_enter_list(list, &c, &n))
        return -1;
    for (size_t i = 0; i < n && named < most && cursor_raw(&c, &node); i++)
        if (who_atom_of(node).len > 0)
            out[named++] = who_atom_of(node);
    return (int64_t)named;
}

static bool is_among(struct slice node, const struct slice *nodes, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (slice_equal(node, nodes[i]))
            return true;
    return false;
}

/* Those of the schema: each has a copy of one kind. */
static int64_t read_schema(const struct mnesia_read *r, struct slice *out)
{
    int64_t n = 0;
    for (size_t i = RAM; i <= DISC_ONLY; i++) {
        const int64_t more = read_nodes(r->fact[i], out + n, NODES_MOST - (size_t)n);
        if (more < 0)
            return -1;
        n += more;
    }
    return n;
}

static void put_node(struct buf *out, struct slice node)
{
    if (out->len < DOWN_BYTES)
        buf_printf(out, "%s%.*s", out->len > 0 ? " " : "", (int)node.len, node.s);
}

static void build_nodes(struct builder *b, const struct mnesia_read *r)
{
    struct slice running[NODES_MOST], schema[NODES_MOST], connected[NODES_MOST];
    const int64_t n_running = read_nodes(r->fact[RUNNING], running, NODES_MOST);
    const int64_t n_schema = read_schema(r, schema);
    const int64_t n_connected = read_nodes(r->connected, connected, NODES_MOST);
    struct buf down, cut;
    buf_init(&down, 0);
    buf_init(&cut, 0);
    for (int64_t i = 0; n_running >= 0 && i < n_schema; i++) {
        if (is_among(schema[i], running, n_running))
            continue;
        put_node(&down, schema[i]);
        if (is_among(schema[i], connected, n_connected))
            put_node(&cut, schema[i]);
    }
    build_known_int(b, n_running);
    build_known_int(b, n_schema);
    build_known_text(b, (struct slice){(const char *)down.data, down.len});
    build_known_text(b, (struct slice){(const char *)cut.data, cut.len});
    buf_clear(&down);
    buf_clear(&cut);
}

/* Characters of its version. */
static void build_version(struct builder *b, struct slice chars)
{
    struct buf text;
    buf_init(&text, 0);
    if (chars.len > 0 && values_put_chars(&text, chars))
        build_binary(b, text.data, text.len);
    else
        build_binary(b, "unknown", strlen("unknown"));
    buf_clear(&text);
}

static void build_count(struct builder *b, struct slice value)
{
    int64_t n = -1;
    if (value.len == 0 || !values_read_integer(value, &n) || n > VALUES_MOST)
        n = -1;
    build_known_int(b, n);
}

static void build_mnesia_row(struct builder *b, const struct mnesia_read *r)
{
    build_tuple(b, COLUMNS);
    build_version(b, r->fact[VERSION]);
    values_build_known(b,
                       who_atom_of(r->fact[STATUS]).len > 0 ? r->fact[STATUS] : (struct slice){0});
    build_nodes(b, r);
    for (size_t i = 0; i < SIZES; i++)
        build_known_int(b, r->size[i]);
    for (size_t i = COMMITS; i <= LOG_LEFT; i++)
        build_count(b, r->fact[i]);
}

static void build_mnesia(struct builder *b, void *read, int64_t mono_ns,
                         const struct stepped_who *who)
{
    const struct mnesia_read *r = read;
    (void)who;
    build_tuple(b, 4);
    build_atom(b, "mnesia");
    build_int(b, mono_ns);
    if (r->is_read) {
        build_list(b, 1);
        build_mnesia_row(b, r);
    }
    build_nil(b);
    build_bool(b, r->runs && !r->is_read);
}

/* ---- the question */

static const struct run_step steps[] = {
    {ask_whether, take_whether, 0, false},
    {ask_facts, take_facts, 0, false},
};

static void init_mnesia(void *read)
{
    struct mnesia_read *r = read;
    arena_init(&r->arena);
}

static void begin_mnesia(void *read, const struct stepped_now *now)
{
    struct mnesia_read *r = read;
    (void)now;
    arena_reset(&r->arena);
    memset(r->fact, 0, sizeof r->fact);
    r->connected = (struct slice){0};
    for (size_t i = 0; i < SIZES; i++)
        r->size[i] = -1;
    r->runs = r->is_read = false;
}

static void clear_mnesia(void *read)
{
    struct mnesia_read *r = read;
    arena_clear(&r->arena);
}

const struct stepped mnesia_question = {
    .question = QUESTION_MNESIA,
    .bytes = sizeof(struct mnesia_read),
    .steps = steps,
    .n_steps = ARRAY_LEN(steps),
    .init = init_mnesia,
    .begin = begin_mnesia,
    .build = build_mnesia,
    .clear = clear_mnesia,
};
