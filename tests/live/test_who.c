/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who the processes of a real node are, natively: byte for byte what the keeper's scan says. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/buf.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/etf/parse.h"
#include "beamtop/etf/print.h"
#include "beamtop/query/query.h"
#include "node.h"
#include "probe.h"
#include "query/native/native.h"
#include "query/native/price.h"
#include "query/who/who.h"

#define SCAN                                                                                       \
    "#{attr => reductions, mode => absolute, order => desc, rows => 1000, "                        \
    "items => [id, supervisor], pids => [], own => false, filter => none, reset => false}"
#define SCAN_MS 30000
#define TRIES 6 /* some of the node's own processes work in between */

/* Two connections of one loop: the keeper's, and one for native asks. */
struct looked {
    struct probe probe;
    struct query *query;
    struct conn *conn;
    struct native *native;
    struct who *who;
    struct price price;
    bool is_ready, is_up, is_closed, has_scan, has_learned;
    struct buf scan; /* the answer */
};

static pid_t epmd_pid;
static uint16_t epmd_port;

/* ---- the node's processes */

#define LOAD                                                                                       \
    "Load = fun(Text) -> Forms = [begin {ok, T, _} = erl_scan:string(F ++ \".\"), "                \
    "{ok, X} = erl_parse:parse_form(T), X end || F <- string:split(Text, \". \", all)], "          \
    "{ok, M, B} = compile:forms(Forms), code:load_binary(M, \"x\", B) end, "
#define SERVER                                                                                     \
    "Load(\"-module(who_server). -export([init/1,handle_call/3,handle_cast/2,handle_info/2]). "    \
    "init(S) -> {ok, S}. handle_call(_, _, S) -> {reply, ok, S}. "                                 \
    "handle_cast(stay, S) -> receive leave -> {noreply, S} end; "                                  \
    "handle_cast(sleep, S) -> {noreply, S, hibernate}. handle_info(_, S) -> {noreply, S}\"), "
#define SUPERVISOR                                                                                 \
    "Load(\"-module(who_sup). -export([init/1]). init(Kids) -> {ok, {{one_for_one, 1, 5}, "        \
    "[{K, {gen_server, start_link, [who_server, K, []]}, permanent, brutal_kill, worker, "         \
    "[who_server]} || K <- Kids]}}\"), "
#define OTHER                                                                                      \
    "Load(\"-module(who_others). -export([init/1]). init(_) -> {ok, {{one_for_one, 1, 5}, "        \
    "[{sub, {supervisor, start_link, [who_sup, [d, e]]}, permanent, infinity, supervisor, "        \
    "[who_sup]}]}}\"), "
#define START                                                                                      \
    "Wait = fun() -> timer:sleep(infinity) end, "                                                  \
    "[register(N, spawn(Wait)) || N <- [who_named, who_gone]], spawn(timer, sleep, [infinity]), "  \
    "[proc_lib:spawn(M, F, [A]) || {M, F, A} <- [{timer, sleep, infinity}]], "                     \
    "proc_lib:spawn(erlang, hibernate, [erlang, exit, [normal]]), "                                \
    "spawn(erlang, hibernate, [erlang, exit, [normal]]), "                                         \
    "proc_lib:spawn(fun() -> proc_lib:spawn(fun() -> proc_lib:spawn(Wait), Wait() end) end), "     \
    "spawn(fun() -> supervisor:start_link({local, who_top_sup}, who_sup, [a, b]), "                \
    "supervisor:start_link(who_sup, [c]), supervisor:start_link(who_others, []), "                 \
    "supervisor:start_link({local, who_tops}, who_others, []), "                                   \
    "gen_server:start_link({local, who_alone}, who_server, [], []), proc_lib:spawn_link(Wait), "   \
    "gen_event:start_link({local, who_events}), Wait() end), ok."
#define CASTS                                                                                      \
    "[gen_server:cast(P, C) || {{_, P, _, _}, C} <- "                                              \
    "lists:zip(supervisor:which_children(who_top_sup), [stay, sleep])], ok."
#define LABELS                                                                                     \
    "Set = fun(L) -> proc_lib:spawn(fun() -> put('$process_label', L), timer:sleep(infinity) "     \
    "end) end, Keep = fun F(L) -> put('$process_label', L), receive M -> F(M) end end, "           \
    "register(who_labelled, spawn(fun() -> Keep(<<\"before\">>) end)), "                           \
    "[Set(L) || L <- [<<\"a b\">>, <<195, 164, 255, 65>>, <<5:3>>, \"text\", [8364, 246], "        \
    "[0, 1], [$a | $b], [$a, {b}], [], {x, 1, \"y\"}, #{k => v}, worker, 'A b', 'maybe', 'else', " \
    "true, 'und-efined', 17, 1.5, self(), lists:duplicate(300, $x), "                              \
    "lists:duplicate(199, $x) ++ [8364], lists:duplicate(2000, 8364), lists:seq(1, 1000), "        \
    "binary:copy(<<\"ab\">>, 700), binary:copy(<<195, 164>>, 150), {binary:copy(<<7>>, 5000)}, "   \
    "lists:duplicate(20000, {a, b})]], ok."

#define DICTIONARIES                                                                               \
    "Put = fun(K, V) -> spawn(fun() -> put(K, V), timer:sleep(infinity) end) end, "                \
    "Me = self(), Top = whereis(who_top_sup), "                                                    \
    "[Put('$ancestors', A) || A <- [[who_nobody, who_top_sup], [Me, Top], none, "                  \
    "\"ab\", "                                                                                     \
    "lists:duplicate(5, Me) ++ [Top], lists:duplicate(20, Me) ++ [Top], "                          \
    "lists:duplicate(5000, who_top_sup), [spawn(fun() -> ok end)], [list_to_atom([300, 301])]]], " \
    "[Put('$initial_call', C) || C <- [{supervisor, x, 1}, {a, b, \"c\"}, {1, 2, 3}, {a, b, "      \
    "3}]], "                                                                                       \
    "ok."
/* 16 MiB without sharing, more than an ask may hold. */
#define HEAVY                                                                                      \
    "register(who_heavy, spawn(fun() -> put('$process_label', lists:foldl(fun(_, T) -> [T | T] "   \
    "end, [], lists:seq(1, 20))), timer:sleep(infinity) end)), ok."

static void start_processes(struct node *n, const char *release)
{
    node_expect(n, LOAD SERVER SUPERVISOR OTHER START, "ok");
    node_await(n, "is_pid(whereis(who_events)).", "true");
    node_expect(n, CASTS, "ok");
    if (strcmp(release, "27") >= 0) {
        node_expect(n, DICTIONARIES, "ok");
        node_expect(n, LABELS, "ok");
    }
}

/* ---- connections */

static void on_ready(void *arg)
{
    struct looked *l = arg;
    l->is_ready = true;
    uv_stop(&l->probe.loop);
}

static void on_failed(void *arg, const struct error *err)
{
    (void)arg;
    fail_msg("%s", err->text);
}

static void on_up(struct conn *c, void *arg)
{
    struct looked *l = arg;
    (void)c;
    l->is_up = true;
    uv_stop(&l->probe.loop);
}

static void on_down(struct conn *c, void *arg, enum conn_failure why, const struct error *err)
{
    (void)c;
    (void)arg;
    (void)why;
    fail_msg("%s", err->text);
}

static void on_spawned(struct conn *c, void *arg, uint64_t id, const struct etf_pid *pid,
                       struct slice error)
{
    struct looked *l = arg;
    (void)c;
    native_spawned(l->native, id, pid, error);
}

static void on_link_exit(struct conn *c, void *arg, const struct etf_pid *from, struct slice reason)
{
    struct looked *l = arg;
    (void)c;
    assert_true(native_exited(l->native, from, reason));
}

static void on_closed(void *arg)
{
    struct looked *l = arg;
    l->is_closed = true;
    uv_stop(&l->probe.loop);
}

static void await(struct looked *l, const bool *what)
{
    for (int i = 0; i < 600 && !*what; i++) {
        probe_run(&l->probe, 100);
        if (l->native)
            (void)native_expire(l->native, uv_now(&l->probe.loop));
    }
    assert_true(*what);
}

static void open_looked(struct looked *l, const struct node *n)
{
    static const struct conn_handlers handlers = {
        .on_up = on_up, .on_down = on_down, .on_link_exit = on_link_exit, .on_spawned = on_spawned};
    static const struct query_handlers asked = {.on_ready = on_ready, .on_failed = on_failed};
    struct conn_options o = probe_options(n->name, epmd_port);
    struct error err = {0};
    *l = (struct looked){0};
    buf_init(&l->scan, 0);
    price_init(&l->price, 1e9, 0);
    probe_open(&l->probe, &o);
    expect_up(&l->probe);
    assert_int_equal(query_open(&l->query, &l->probe.loop, l->probe.conn, &asked, l, SCAN_MS, &err),
                     0);
    await(l, &l->is_ready);
    assert_int_equal(conn_open(&l->conn, &l->probe.loop, &o, &handlers, l, &err), 0);
    await(l, &l->is_up);
    l->native = native_new(l->conn);
    l->who = who_new(&(struct way_setup){.query = l->query,
                                         .price = &l->price,
                                         .native = l->native,
                                         .conn = l->conn,
                                         .loop = &l->probe.loop},
                     NATIVE_WHO);
}

static void close_looked(struct looked *l)
{
    who_free(l->who);
    native_free(l->native);
    l->native = NULL;
    conn_close(l->conn, on_closed, l);
    await(l, &l->is_closed);
    query_close(l->query);
    probe_close(&l->probe);
    buf_clear(&l->scan);
}

/* ---- the two ways */

static void on_scan(void *arg, const struct answer *answer)
{
    struct looked *l = arg;
    if (!answer->value)
        fail_msg("%s", answer->err.text);
    buf_reset(&l->scan);
    buf_put(&l->scan, answer->value, answer->len);
    l->has_scan = true;
    uv_stop(&l->probe.loop);
}

static void on_learned(void *arg)
{
    struct looked *l = arg;
    l->has_learned = true;
    uv_stop(&l->probe.loop);
}

static void scan(struct looked *l)
{
    struct error err = {0};
    struct builder *b = builder_new();
    assert_int_equal(etf_parse(b, SCAN, strlen(SCAN), NULL, &err), 0);
    l->has_scan = false;
    assert_int_equal(query_ask(l->query, QUESTION_SCAN, b, SCAN_MS, on_scan, l, &err), 0);
    builder_free(b);
    await(l, &l->has_scan);
}

struct row {
    struct etf_pid pid;
    struct slice values[6]; /* in the order of struct who_entry */
};

/* {scan, Mono, Interval, Sweep, Total, Candidates, Own, [{Pid, Value, Delta, {Id, Supervisor}}], …}
 */
static size_t read_rows(struct looked *l, struct row *rows)
{
    struct cursor c;
    struct cursor_list list;
    cursor_init(&c, l->scan.data, l->scan.len);
    assert_true(cursor_tuple_of(&c, 9));
    for (int i = 0; i < 7; i++)
        assert_true(cursor_skip(&c));
    assert_true(cursor_list(&c, &list) && list.count <= WHO_MOST);
    for (size_t i = 0; i < list.count; i++) {
        struct slice *v = rows[i].values;
        assert_true(cursor_tuple_of(&c, 4) && cursor_pid(&c, &rows[i].pid, NULL));
        assert_true(cursor_skip(&c) && cursor_skip(&c) && cursor_tuple_of(&c, 2));
        assert_true(cursor_tuple_of(&c, 5));
        for (int k = 0; k < 6; k++)
            assert_true(cursor_raw(&c, &v[k]));
    }
    return list.count;
}

/* On a busy machine some are late: then again. */
static void learn(struct looked *l, const struct row *rows, size_t n)
{
    struct error err = {0};
    struct etf_pid *pids = calloc(n + 1, sizeof *pids);
    for (size_t i = 0; i < n; i++)
        pids[i] = rows[i].pid;
    pids[n++] = (struct etf_pid){.id = 32000, .creation = rows->pid.creation}; /* nobody's */
    for (int i = 0; i < TRIES && (i == 0 || !who_is_known(l->who, pids, n)); i++) {
        l->has_learned = false;
        assert_int_equal(who_learn(l->who, pids, n, on_learned, l, &err), 0);
        assert_false(l->has_learned);
        await(l, &l->has_learned);
    }
    assert_true(who_is_known(l->who, pids, n));
    assert_null(who_find(l->who, &pids[n - 1]));
    free(pids);
}

/* Until what is known is read again. */
static void await_age(struct looked *l)
{
    struct row rows[WHO_MOST];
    const size_t n = read_rows(l, rows);
    while (n > 0 && who_is_known(l->who, &rows->pid, 1))
        probe_run(&l->probe, 100);
}

static void print_difference(const struct row *row, const struct slice *ours, size_t k)
{
    static const struct print_limits limits = {.depth = 20, .items = 100, .bytes = 400};
    const struct slice both[] = {row->values[k], ours[k]};
    struct buf text;
    buf_init(&text, 0);
    for (int i = 0; i < 2; i++) {
        print_term(&text, (const uint8_t *)both[i].s, both[i].len, &limits);
        buf_puts(&text, i == 0 ? " and natively " : "");
    }
    print_message("# " PID_FORMAT ": %zu: %s\n", PID_NUMBERS(&row->pid), k, buf_cstr(&text));
    buf_clear(&text);
}

/* The node cuts what is long before it makes text of it; natively the text is cut, or it is not
 * read. */
static bool is_odd_label(struct slice label)
{
    struct cursor c;
    struct slice text;
    cursor_init(&c, (const uint8_t *)label.s, label.len);
    return cursor_binary(&c, &text) &&
           (text.len > 100 || memmem(text.s, text.len, "(a label of", strlen("(a label of")));
}

static bool is_same(const struct looked *l, const struct row *row, size_t *found)
{
    const struct who_entry *e = who_find(l->who, &row->pid);
    bool same = true;
    if (!e)
        return true;
    const struct slice ours[] = {e->name, e->call, e->label, e->application, e->mfa, e->supervisor};
    ++*found;
    for (size_t k = 0; k < 6; k++)
        if (!slice_equal(row->values[k], ours[k]) && !(k == 2 && is_odd_label(ours[k]))) {
            print_difference(row, ours, k);
            same = false;
        }
    return same;
}

static bool compare_once(struct looked *l)
{
    struct row rows[WHO_MOST];
    size_t found = 0, supervised = 0;
    bool same = true;
    scan(l);
    const size_t n = read_rows(l, rows);
    learn(l, rows, n);
    for (size_t i = 0; i < n; i++) {
        struct cursor c;
        cursor_init(&c, (const uint8_t *)rows[i].values[5].s, rows[i].values[5].len);
        supervised += !cursor_peek_atom(&c, "undefined");
        same &= is_same(l, &rows[i], &found);
    }
    print_message("# %zu of %zu processes, %zu supervised, %.0f us\n", found, n, supervised,
                  who_take_us(l->who));
    return same && found + 3 >= n && n > 30 && supervised > 10;
}

/* Refreshed each time. */
static void compare(struct looked *l)
{
    for (int i = 0; i < TRIES; i++) {
        if (compare_once(l))
            return;
        await_age(l);
    }
    fail_msg("they differ");
}

static void expect_print(struct slice term, const char *expected)
{
    static const struct print_limits limits = {.depth = 20, .items = 100, .bytes = 400};
    struct buf text;
    buf_init(&text, 0);
    print_term(&text, (const uint8_t *)term.s, term.len, &limits);
    assert_string_equal(buf_cstr(&text), expected);
    buf_clear(&text);
}

/* What is not the same on each release is only what scans say, too. */
static const struct who_entry *find_named(struct looked *l, const char *name)
{
    struct row rows[WHO_MOST];
    const size_t n = read_rows(l, rows);
    for (size_t i = 0; i < n; i++) {
        const struct who_entry *e = who_find(l->who, &rows[i].pid);
        struct cursor c;
        if (!e)
            continue;
        cursor_init(&c, (const uint8_t *)e->name.s, e->name.len);
        if (cursor_peek_atom(&c, name))
            return e;
    }
    fail_msg("no %s", name);
    return NULL;
}

static void check_changes(struct looked *l, struct node *n, const char *release)
{
    const bool has_labels = strcmp(release, "27") >= 0;
    node_expect(n,
                "P = whereis(who_named), unregister(who_named), register(who_renamed, P), "
                "gen_server:cast(who_alone, stay), exit(whereis(who_gone), kill), ok.",
                "ok");
    node_await(n, "whereis(who_gone).", "undefined");
    node_await(n, "process_info(whereis(who_alone), current_function).",
               "{current_function,{who_server,handle_cast,2}}");
    if (has_labels)
        node_expect(n, "who_labelled ! {new, 1}, ok.", "ok");
    await_age(l);
    compare(l);
    expect_print(find_named(l, "who_renamed")->supervisor, "undefined");
    expect_print(find_named(l, "who_alone")->call, "{who_server,init,1}");
    if (has_labels)
        expect_print(find_named(l, "who_labelled")->label, "<<\"{new,1}\">>");
}

/* The others are read nevertheless, and so is the rest of it. The keeper's scan would end. */
static void check_heavy(struct looked *l, struct node *n)
{
    struct row rows[WHO_MOST];
    char pid[64];
    node_expect(n, HEAVY, "ok");
    node_await(n, "process_info(whereis(who_heavy), current_function).",
               "{current_function,{timer,sleep,1}}");
    await_age(l);
    const size_t many = read_rows(l, rows);
    assert_int_equal(node_eval(n, "whereis(who_heavy).", pid, sizeof pid), 0);
    assert_int_equal(etf_parse_pid(pid, &rows[many].pid), 0);
    rows[many].pid.creation = rows->pid.creation;
    learn(l, rows, many + 1);
    const struct who_entry *e = who_find(l->who, &rows[many].pid);
    assert_non_null(e);
    expect_print(e->name, "who_heavy");
    expect_print(e->label, "undefined");
    expect_print(find_named(l, "who_labelled")->label, "<<\"{new,1}\">>");
}

static void check_release(struct node *n, const char *release)
{
    struct looked l;
    char processes[64];
    start_processes(n, release);
    node_expect(n,
                "persistent_term:put(logged, counters:new(1, [])), "
                "logger:add_primary_filter(count, {fun(E, _) -> "
                "counters:add(persistent_term:get(logged), 1, 1), E end, []}).",
                "ok");
    assert_int_equal(node_eval(n, "length(processes()).", processes, sizeof processes), 0);
    open_looked(&l, n);
    compare(&l);
    close_looked(&l);
    node_await_alone(n);
    node_await(n, "length(processes()).", processes);
    open_looked(&l, n);
    compare(&l);
    check_changes(&l, n, release);
    if (strcmp(release, "27") >= 0)
        check_heavy(&l, n);
    close_looked(&l);
    node_await_alone(n);
    node_expect(n, "counters:get(persistent_term:get(logged), 1).", "0");
}

static void test_who(void **state)
{
    const char *release = *state;
    char root[256], name[64];
    struct node n;
    if (!node_find_root(release, root, sizeof root))
        skip();
    snprintf(name, sizeof name, "who%s_%ld@127.0.0.1", release, (long)getpid());
    struct node_options o = {.root = root, .name = name, .long_name = true, .epmd_port = epmd_port};
    assert_int_equal(node_start(&n, &o), 0);
    check_release(&n, release);
    node_stop(&n);
}

int main(void)
{
    if (!node_available(NULL)) {
        printf("1..0 # SKIP no erl on this machine\n");
        return 0;
    }
    struct error err = {0};
    signal(SIGPIPE, SIG_IGN);
    conn_global_init(&err);
    epmd_pid = node_epmd_start(&epmd_port);
    int rc = node_run_on_releases("who", test_who);
    node_kill(epmd_pid);
    return rc;
}
