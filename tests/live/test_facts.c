/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings of a real node, natively, against what it says of itself. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/buf.h"
#include "beamtop/etf/print.h"
#include "beamtop/query/query.h"
#include "node.h"
#include "probe.h"

#define ASK_MS 30000
#define TEXT_BYTES 200000

struct asked {
    struct probe probe;
    struct query *query;
    bool is_ready, has_keeper, has_answer;
    char failed[200];
    struct buf answer; /* as text */
};

static pid_t epmd_pid;
static uint16_t epmd_port;

/* ---- what the node has, and says of itself */

#define MODULE(name, exports, behaviours) "Make(" name ", " exports ", " behaviours "), "
#define MAKE                                                                                       \
    "Make = fun(Name, Exports, Behaviours) -> {ok, Name, Code} = compile:forms([{attribute, 1, "   \
    "module, Name}, {attribute, 1, export, Exports}] ++ [{attribute, 1, behaviour, B} || B <- "    \
    "Behaviours] ++ [{function, 1, F, A, [{clause, 1, lists:duplicate(A, {var, 1, '_'}), [], "     \
    "[{atom, 1, ok}]}]} || {F, A} <- Exports]), {module, Name} = code:load_binary(Name, \"\", "    \
    "Code) end, "
#define MODULES                                                                                    \
    MODULE("facts_own", "[{log, 2}]", "[]")                                                        \
    MODULE("'Elixir.Facts.Repo'", "[{'__adapter__', 0}]", "['Elixir.Facts', 'Elixir.Ecto.Repo']")  \
    MODULE("facts_other", "[{'__adapter__', 0}]", "[]")                                            \
    MODULE("facts_none", "[]", "['Elixir.Ecto.Repo']")
#define TABLES                                                                                     \
    "Fill = fun(T, N) -> [ets:insert(T, {I, I}) || I <- lists:seq(1, N)] end, Own = self(), "      \
    "spawn(fun() -> register(facts_owner, self()), Fill(ets:new(facts_table, [public]), 200000), " \
    "Fill(ets:new(facts_spread, [named_table, public, {write_concurrency, true}, "                 \
    "{decentralized_counters, true}]), 150000), Own ! made, receive stop -> ok end end), receive " \
    "made -> ok end, "
#define HANDLERS                                                                                   \
    "ok = logger:update_handler_config(default, config, #{sync_mode_qlen => 0, drop_mode_qlen => " \
    "500, flush_qlen => 2000}), ok = logger:add_handler(own, facts_own, #{config => #{fd => {a, "  \
    "[self()]}, mode => {odd}, sync_mode_qlen => 3}}), ok = logger:add_handler(facts_owner, "      \
    "facts_own, #{}), "
#define ELIXIR                                                                                     \
    "ok = application:load({application, logger, [{vsn, \"1.14.0\"}, {env, [{sync_threshold, "     \
    "20}, {discard_threshold, 500}]}]}), "

#define MATCH                                                                                      \
    "{facts, Mono, #{logger := Logger, cpus := Cpus, distribution := #{busy_limit_bytes := "       \
    "Limit, nodes := Nodes}, repositories := Repositories, ets := #{tables := Tables}}} = F, "     \
    "true = abs(erlang:monotonic_time(nanosecond) - Mono) < 60000000000, Limit = "                 \
    "erlang:system_info(dist_buf_busy_limit), "
/* A root of another release has no /proc. */
#define CPUS                                                                                       \
    "case filelib:is_dir(\"/proc/self/task\") of true -> #{schedulers := S, run_us := Run, "       \
    "wait_us := Wait, host_ticks := Host, steal_ticks := Steal, mono_us := Us, periods := P, "     \
    "throttled_periods := T} = Cpus, S = erlang:system_info(schedulers), true = Us =:= Mono div "  \
    "1000, true = Run > 0 andalso Wait >= 0 andalso Host > Steal, true = is_integer(P) =:= "       \
    "is_integer(T); false -> undefined = Cpus end, "
#define LARGEST                                                                                    \
    "Words = [W || T0 <- ets:all(), W <- [ets:info(T0, memory)], is_integer(W)], 10 = "            \
    "length(Tables), "
/* As it was started. */
#define BEFORE                                                                                     \
    MATCH CPUS LARGEST                                                                             \
        "#{handlers := [#{id := <<\"default\">>, module := logger_std_h, process := "              \
        "logger_std_h_default, mode := async, sync_mode_qlen := 10, drop_mode_qlen := 200, "       \
        "flush_qlen := 1000}], elixir := undefined} = Logger, [] = Nodes, [] = Repositories, "     \
        "error = try list_to_existing_atom(\"__\" ++ \"adapter__\") catch _:_ -> error end, "      \
        "true = lists:any(fun(#{name := N, owner := O}) -> N =:= ac_tab andalso O =:= "            \
        "application_controller end, Tables) orelse length(Words) > 10, ok."
#define AFTER                                                                                      \
    MATCH CPUS LARGEST                                                                             \
        "#{handlers := Handlers, elixir := #{version := <<\"1.14.0\">>, sync_threshold := 20, "    \
        "discard_threshold := 500}} = Logger, [#{process := logger_std_h_default, mode := async, " \
        "sync_mode_qlen := 0, drop_mode_qlen := 500, flush_qlen := 2000}] = [H || #{id := "        \
        "<<\"default\">>} = H <- Handlers], [#{process := undefined, mode := undefined, "          \
        "sync_mode_qlen := 3, drop_mode_qlen := undefined}] = [H || #{id := <<\"own\">>} = H <- "  \
        "Handlers], [#{process := facts_owner, mode := undefined}] = [H || #{id := "               \
        "<<\"facts_owner\">>} = H <- Handlers], ['Elixir.Facts.Repo'] = Repositories, [#{node := " \
        "Peer, queue_bytes := 0}] = Nodes, [Peer] = nodes(), [#{name := facts_table, owner := "    \
        "facts_owner, memory_bytes := Most}, #{name := facts_spread, owner := facts_owner} | _] "  \
        "= "                                                                                       \
        "Tables, Most = lists:max(Words) * erlang:system_info(wordsize), ok."

/* Scheduler 2 compares two terms for seconds: who waits for all of them is late. The other one
 * wakes up again and again, and takes what was queued there. */
#define BUSY                                                                                       \
    "Awake = fun A(N) -> receive after 1 -> N > 0 andalso A(N - 1) end end, spawn_opt(fun() -> "   \
    "Awake(60000) end, [{scheduler, 1}]), spawn_opt(fun() -> Twice = fun() -> "                    \
    "lists:foldl(fun(_, X) -> {X, X} end, x, lists:seq(1, 30)) end, Twice() =:= Twice() end, "     \
    "[{scheduler, 2}]), ok."
#define WITHOUT_TABLES                                                                             \
    "{facts, _, #{logger := #{}, distribution := #{}, ets := undefined}} = F, ok."

/* A configuration above the heap of an ask, and more tables than are looked at. */
#define LARGE                                                                                      \
    "ok = logger:add_handler(large, facts_own, #{config => #{large => lists:seq(1, 2000000)}}), "  \
    "Own = self(), spawn(fun() -> [ets:new(facts_many, [public]) || _ <- lists:seq(1, 6000)], "    \
    "Own ! made, receive stop -> ok end end), receive made -> ok end."
#define LARGELY                                                                                    \
    MATCH "undefined = Logger, ['Elixir.Facts.Repo'] = Repositories, [_] = Nodes, 10 = "           \
          "length(Tables), true = Cpus =:= undefined orelse is_map(Cpus), ok."

/* ---- asking */

static void on_ready(void *arg)
{
    struct asked *a = arg;
    a->is_ready = true;
    uv_stop(&a->probe.loop);
}

static void on_failed(void *arg, const struct error *err)
{
    (void)arg;
    fail_msg("%s", err->text);
}

static void on_keeper(void *arg)
{
    struct asked *a = arg;
    a->has_keeper = true;
}

static void await(struct asked *a, const bool *what)
{
    for (int i = 0; i < 600 && !*what; i++)
        probe_run(&a->probe, 100);
    assert_true(*what);
}

static void open_asked(struct asked *a, const struct node *n)
{
    static const struct query_handlers handlers = {
        .on_ready = on_ready, .on_failed = on_failed, .on_keeper = on_keeper};
    struct conn_options o = probe_options(n->name, epmd_port);
    struct error err = {0};
    *a = (struct asked){0};
    buf_init(&a->answer, 0);
    probe_open(&a->probe, &o);
    expect_up(&a->probe);
    assert_int_equal(
        query_open(&a->query, &a->probe.loop, a->probe.conn, &handlers, a, ASK_MS, &err), 0);
    await(a, &a->is_ready);
}

static void close_asked(struct asked *a)
{
    query_close(a->query);
    probe_close(&a->probe);
    buf_clear(&a->answer);
}

static void on_answer(void *arg, const struct answer *answer)
{
    static const struct print_limits limits = {.bytes = TEXT_BYTES};
    struct asked *a = arg;
    buf_reset(&a->answer);
    snprintf(a->failed, sizeof a->failed, "%s", answer->value ? "" : answer->err.text);
    if (answer->value)
        print_term(&a->answer, answer->value, answer->len, &limits);
    a->has_answer = true;
    uv_stop(&a->probe.loop);
}

/* false: the one before has not ended on the node. */
static bool ask_facts(struct asked *a, unsigned ms)
{
    struct error err = {0};
    struct builder *b = builder_new();
    build_nil(b);
    a->has_answer = false;
    const int rc = query_ask(a->query, QUESTION_FACTS, b, ms, on_answer, a, &err);
    builder_free(b);
    if (rc == 0)
        await(a, &a->has_answer);
    return rc == 0;
}

/* Pids as what the node can parse. */
static void put_expression(struct buf *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        const char *end = *at == '<' && at[1] >= '0' && at[1] <= '9' ? strchr(at, '>') : NULL;
        if (!end) {
            buf_put(out, at, 1);
            continue;
        }
        buf_printf(out, "(list_to_pid(\"%.*s\"))", (int)(end + 1 - at), at);
        at = end;
    }
}

static void expect_facts(struct asked *a, struct node *n, const char *checks)
{
    struct buf expression;
    assert_true(ask_facts(a, ASK_MS));
    assert_string_equal(a->failed, "");
    buf_init(&expression, 0);
    buf_puts(&expression, "F = ");
    put_expression(&expression, buf_cstr(&a->answer));
    buf_printf(&expression, ", %s", checks);
    char value[4000];
    assert_int_equal(node_eval(n, buf_cstr(&expression), value, sizeof value), 0);
    if (strcmp(value, "ok") != 0)
        fail_msg("%s\n%s", value, buf_cstr(&a->answer));
    buf_clear(&expression);
}

static void await_facts(struct asked *a, const char *words)
{
    for (int i = 0; i < 600; i++) {
        assert_true(ask_facts(a, ASK_MS));
        if (strstr(buf_cstr(&a->answer), words))
            return;
        probe_run(&a->probe, 100);
    }
    fail_msg("%s is not in %s", words, buf_cstr(&a->answer));
}

/* It is late while the node stands still, and is asked again when what was asked has ended. */
static void expect_late(struct asked *a, struct node *n)
{
    node_freeze(n);
    assert_true(ask_facts(a, 100));
    assert_string_not_equal(a->failed, "");
    node_thaw(n);
    for (int i = 0; i < 600 && !ask_facts(a, ASK_MS); i++)
        probe_run(&a->probe, 100);
    assert_string_equal(a->failed, "");
}

#define ATOMS "erlang:system_info(atom_count)."

static void start_node(struct node *n, const char *root, const char *kind, const char *release)
{
    char name[80];
    snprintf(name, sizeof name, "%s%s_%ld@127.0.0.1", kind, release, (long)getpid());
    const struct node_options o = {.root = root,
                                   .name = name,
                                   .long_name = true,
                                   .epmd_port = epmd_port,
                                   .flags = {"+S", "2:2"}};
    assert_int_equal(node_start(n, &o), 0);
}

static void test_release(void **state)
{
    const char *release = *state;
    char root[256], atoms[32], connect[200];
    struct node n = {0}, peer = {0};
    struct asked a;
    if (!node_find_root(release, root, sizeof root))
        skip();
    start_node(&n, root, "facts", release);
    start_node(&peer, root, "peer", release);
    open_asked(&a, &n);
    expect_facts(&a, &n, BEFORE);
    assert_int_equal(node_eval(&n, ATOMS, atoms, sizeof atoms), 0);
    assert_true(ask_facts(&a, ASK_MS));
    node_expect(&n, ATOMS, atoms);
    node_expect(&n, MAKE MODULES TABLES HANDLERS ELIXIR "ok.", "ok");
    snprintf(connect, sizeof connect, "net_kernel:connect_node('%s').", peer.name);
    node_expect(&n, connect, "true");
    expect_facts(&a, &n, AFTER);
    expect_late(&a, &n);
    expect_facts(&a, &n, AFTER);
    node_expect(&n, BUSY, "ok");
    expect_facts(&a, &n, WITHOUT_TABLES);
    await_facts(&a, "#{name => facts_table");
    node_expect(&n, LARGE, "ok");
    expect_facts(&a, &n, LARGELY);
    assert_false(a.has_keeper);
    close_asked(&a);
    node_stop(&peer);
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
    int rc = node_run_on_releases("facts", test_release);
    node_kill(epmd_pid);
    return rc;
}
