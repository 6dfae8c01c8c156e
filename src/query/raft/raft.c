/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plain reads of two named tables of `ra`; none of its processes is asked. */
#include "raft.h"

#include <string.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/print.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

#define COLUMNS 7
#define GROUPS_MOST 500
#define SERVERS_MOST 1000
#define TABLE_MOST 20000 /* rows: a longer table is not gone through */
#define MEMBERS_MOST 20
#define NODES_BYTES 1000 /* of the names of nodes */
#define GROUP_BYTES 200  /* of a group's name, printed */

/* {Group, {Name, Node} | undefined, [{Name, Node}]}; names are bounded, since a row is copied. */
#define GROUPS                                                                                     \
    "[ra_leaderboard,[{{'$1','$2','$3'},"                                                          \
    "[{'orelse',{is_atom,'$1'},{'andalso',{is_binary,'$1'},{'=<',{size,'$1'},255}},"               \
    "{'andalso',{is_list,'$1'},{'=<',{length,'$1'},255}}},"                                        \
    "{is_list,'$3'},{'=<',{length,'$3'},20}],['$_']}],500]"

/* {Name, State}, and since ra 2.7 {Name, State, Membership}. */
#define SERVERS                                                                                    \
    "[ra_state,[{{'$1','$2'},[{is_atom,'$1'},{is_atom,'$2'}],['$_']},"                             \
    "{{'$1','$2','$3'},[{is_atom,'$1'},{is_atom,'$2'},{is_atom,'$3'}],['$_']}],1000]"

enum table { LEADERS, STATES, TABLES };

struct server {
    struct slice name, state, membership;
};

struct raft_read {
    struct arena arena; /* of this question */
    const char *node;
    int64_t size[TABLES]; /* -1: there is none */
    struct slice groups;  /* rows; len 0: none */
    struct server servers[SERVERS_MOST];
    size_t n_servers;
};

/* ---- what is asked */

static bool ask_lengths(void *own, struct run_calls *calls)
{
    (void)own;
    run_add_text(calls, "ets", "info", "[ra_leaderboard,size]");
    run_add_text(calls, "ets", "info", "[ra_state,size]");
    return true;
}

static void take_lengths(void *own, const struct slice *values, size_t n)
{
    struct raft_read *r = own;
    for (size_t i = 0; i < TABLES; i++)
        r->size[i] = values && n == TABLES ? values_count(values[i]) : -1;
}

static bool is_short(int64_t size)
{
    return size > 0 && size <= TABLE_MOST;
}

static bool ask_rows(void *own, struct run_calls *calls)
{
    const struct raft_read *r = own;
    _Static_assert(GROUPS_MOST == 500 && SERVERS_MOST == 1000 && MEMBERS_MOST == 20,
                   "as the texts have it");
    if (!is_short(r->size[LEADERS]))
        return false;
    run_add_text(calls, "ets", "select", GROUPS);
    if (is_short(r->size[STATES]))
        run_add_text(calls, "ets", "select", SERVERS);
    return true;
}

/* Rows of {Rows, Continuation}; len 0: '$end_of_table'. */
static struct slice rows_of(struct slice found)
{
    struct slice rows[1];
    return values_read_tuple(found, 2, rows, 1) ? rows[0] : (struct slice){0};
}

static void take_servers(struct raft_read *r, struct slice rows)
{
    struct cursor c;
    struct slice row, v[3];
    size_t n;
    if (!values_enter_list(rows, &c, &n))
        return;
    for (size_t i = 0; i < n && r->n_servers < SERVERS_MOST && cursor_raw(&c, &row); i++) {
        const bool is_long = values_read_tuple(row, 3, v, 3);
        if (is_long || values_read_tuple(row, 2, v, 2))
            r->servers[r->n_servers++] = (struct server){
                slice_keep(&r->arena, who_atom_of(v[0])), slice_keep(&r->arena, who_atom_of(v[1])),
                slice_keep(&r->arena, is_long ? who_atom_of(v[2]) : (struct slice){0})};
    }
}

/* A table may have gone since: then nothing is known. */
static void take_rows(void *own, const struct slice *values, size_t n)
{
    struct raft_read *r = own;
    if (!values || n == 0)
        return;
    r->groups = slice_keep(&r->arena, rows_of(values[0]));
    if (n > 1)
        take_servers(r, rows_of(values[1]));
}

/* ---- the answer */

static bool read_server(struct slice term, struct slice *name, struct slice *node)
{
    struct slice v[2];
    if (!values_read_tuple(term, 2, v, 2))
        return false;
    *name = who_atom_of(v[0]);
    *node = who_atom_of(v[1]);
    return name->len > 0 && node->len > 0;
}

/* Nodes of the members, with a space between; *here: the name of this node's. Their number. */
static int64_t put_members(struct buf *nodes, const struct raft_read *r, struct slice list,
                           struct slice *here)
{
    struct cursor c;
    struct slice term, name, node;
    size_t n;
    *here = (struct slice){0};
    if (!values_enter_list(list, &c, &n))
        return 0;
    for (size_t i = 0; i < n && i < MEMBERS_MOST && cursor_raw(&c, &term); i++) {
        if (!read_server(term, &name, &node))
            continue;
        if (slice_is(node, r->node))
            *here = name;
        if (nodes->len + node.len < NODES_BYTES)
            buf_printf(nodes, "%s%.*s", nodes->len > 0 ? " " : "", (int)node.len, node.s);
    }
    return (int64_t)n;
}

static struct server find_server(const struct raft_read *r, struct slice name)
{
    for (size_t i = 0; name.len > 0 && i < r->n_servers; i++)
        if (slice_equal(r->servers[i].name, name))
            return r->servers[i];
    return (struct server){.name = name};
}

/* False: it is none. */
static bool build_group(struct builder *b, const struct raft_read *r, struct slice row)
{
    static const struct print_limits limits = {.bytes = GROUP_BYTES};
    struct slice v[3], leader, leader_node, here;
    struct buf nodes;
    if (!values_read_tuple(row, 3, v, 3))
        return false;
    if (who_term_is(v[1], "undefined"))
        leader_node = slice_of("none");
    else if (!read_server(v[1], &leader, &leader_node))
        return false;
    buf_init(&nodes, 0);
    const int64_t members = put_members(&nodes, r, v[2], &here);
    const struct server server = find_server(r, here);
    build_tuple(b, COLUMNS);
    values_build_printed(b, v[0], &limits);
    build_known_text(b, leader_node);
    build_known_text(b, server.name);
    build_known_text(b, server.state);
    build_known_text(b, server.membership);
    build_known_int(b, members);
    build_known_text(b, (struct slice){(const char *)nodes.data, nodes.len});
    buf_clear(&nodes);
    return true;
}

static int64_t build_groups(struct builder *b, const struct raft_read *r)
{
    struct builder *groups[GROUPS_MOST];
    struct cursor c;
    struct slice row;
    size_t n, built = 0;
    if (values_enter_list(r->groups, &c, &n))
        for (size_t i = 0; i < n && i < GROUPS_MOST && cursor_raw(&c, &row); i++) {
            groups[built] = builder_new();
            if (build_group(groups[built], r, row))
                built++;
            else
                builder_free(groups[built]);
        }
    if (built > 0)
        build_list(b, built);
    for (size_t i = 0; i < built; i++) {
        build_term(b, groups[i]);
        builder_free(groups[i]);
    }
    return (int64_t)built;
}

static void build_raft(struct builder *b, void *read, int64_t mono_ns,
                       const struct stepped_who *who)
{
    const struct raft_read *r = read;
    (void)who;
    build_tuple(b, 4);
    build_atom(b, "raft");
    build_int(b, mono_ns);
    const int64_t built = build_groups(b, r);
    build_nil(b);
    build_bool(b, built < r->size[LEADERS]);
}

/* ---- the question */

static const struct run_step steps[] = {
    {ask_lengths, take_lengths, 0, false},
    {ask_rows, take_rows, 0, false},
};

static void init_raft(void *read)
{
    struct raft_read *r = read;
    arena_init(&r->arena);
}

static void begin_raft(void *read, const struct stepped_now *now)
{
    struct raft_read *r = read;
    arena_reset(&r->arena);
    r->node = now->node;
    r->size[LEADERS] = r->size[STATES] = -1;
    r->groups = (struct slice){0};
    r->n_servers = 0;
}

static void clear_raft(void *read)
{
    struct raft_read *r = read;
    arena_clear(&r->arena);
}

const struct stepped raft_question = {
    .question = QUESTION_RAFT,
    .bytes = sizeof(struct raft_read),
    .forgets = true,
    .steps = steps,
    .n_steps = ARRAY_LEN(steps),
    .init = init_raft,
    .begin = begin_raft,
    .build = build_raft,
    .clear = clear_raft,
};
