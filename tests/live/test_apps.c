/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applications and allocators of a real node, natively: applications byte for byte as the keeper's
 * expression says them, allocators as the node itself does. */
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
#include "beamtop/etf/cursor.h"
#include "beamtop/etf/parse.h"
#include "beamtop/etf/print.h"
#include "beamtop/query/query.h"
#include "node.h"
#include "probe.h"

#define ASK_MS 30000
#define TRIES 8 /* some of the node's own processes work in between */
#define TEXT_BYTES 100000
#define NATIVELY "#{}"
#define BY_KEEPER "#{ms => 25000}"
#define SCAN                                                                                       \
    "#{attr => reductions, mode => delta, order => desc, rows => 10, items => [reductions], "      \
    "pids => [], own => false, filter => none, reset => false}"

struct asked {
    struct probe probe;
    struct query *query;
    bool is_ready, has_keeper, has_answer, may_be_late;
    struct buf answer; /* as text, from behind its time */
};

static pid_t epmd_pid;
static uint16_t epmd_port;

/* ---- the node */

/* Of two applications, of none, of a leader elsewhere; one with a description that is not text. */
#define LOAD                                                                                       \
    "ok = application:start(sasl), Wait = fun() -> receive stop -> ok end end, [spawn(Wait) || "   \
    "_ <- lists:seq(1, 600)], Leader = spawn(Wait), Own = self(), spawn(fun() -> "                 \
    "group_leader(Leader, self()), spawn(Wait), Own ! led, Wait() end), receive led -> ok end, "   \
    "ok."
#define MORE "[spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 600)], ok."
/* 120,000 messages, and one whose links are many. */
#define LONG                                                                                       \
    "P = spawn(fun() -> receive stop -> ok end end), [P ! {x, I} || I <- lists:seq(1, 120000)], "  \
    "ok."

/* Rows of {alloc, Mono, Rows, Segments, Parts, Resident}: as large as the node says. */
#define ALLOCATED                                                                                  \
    "{Rows, {Hits, Calls}, Parts, _} = F, Names = [N || {N, _, _, _, _} <- Rows], Names = "        \
    "erlang:system_info(alloc_util_allocators), true = Calls >= Hits, true = length(Parts) =< "    \
    "100, All = lists:sum([B1 + B2 + B3 || {_, _, {_, B1, _, _}, {_, B2, _, _}, {_, _, B3}} <- "   \
    "Rows]), true = abs(All - erlang:memory(total)) < erlang:memory(total) / 3, [begin {_, I, "    \
    "{N1, _, K1, C1}, _, _} = lists:keyfind(A, 1, Rows), I = length([x || {instance, _, _} <- "    \
    "erlang:system_info({allocator, A})]), true = N1 > 0 andalso K1 > 0 andalso C1 > 100000 end "  \
    "|| A <- [ets_alloc, ll_alloc]], Unused = [C - B || {_, _, _, B, _, C} <- Parts], Unused = "   \
    "lists:reverse(lists:sort(Unused)), [] = [x || {_, N, _, _, _, _} <- Parts, N < 0], ok."

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

#define REDUCTIONS 5 /* of a row of applications: each read is one more */

static void put_term(struct buf *out, struct slice term)
{
    static const struct print_limits limits = {.bytes = TEXT_BYTES};
    print_term(out, (const uint8_t *)term.s, term.len, &limits);
}

static void keep_rows(struct buf *out, struct cursor *c)
{
    struct cursor_list list;
    struct slice part;
    size_t arity = 0;
    assert_true(cursor_list(c, &list));
    buf_puts(out, "{[");
    for (size_t i = 0; i < list.count; i++) {
        assert_true(cursor_tuple(c, &arity));
        buf_puts(out, i > 0 ? ",{" : "{");
        for (size_t k = 0; k < arity; k++) {
            assert_true(cursor_raw(c, &part));
            buf_puts(out, k > 0 ? "," : "");
            if (k == REDUCTIONS)
                buf_puts(out, "0");
            else
                put_term(out, part);
        }
        buf_puts(out, "}");
    }
    assert_true(cursor_list_end(c, &list) && cursor_raw(c, &part));
    buf_puts(out, "],");
    put_term(out, part);
    buf_puts(out, "}");
}

static void keep_answer(struct buf *out, const uint8_t *value, size_t len)
{
    struct cursor c;
    struct slice part;
    size_t arity = 0;
    cursor_init(&c, value, len);
    assert_true(cursor_tuple(&c, &arity));
    const bool apps = cursor_peek_atom(&c, "apps");
    assert_true(cursor_skip(&c) && cursor_skip(&c));
    if (apps) {
        keep_rows(out, &c);
        return;
    }
    buf_puts(out, "{");
    for (size_t i = 2; i < arity; i++) {
        assert_true(cursor_raw(&c, &part));
        buf_puts(out, i > 2 ? "," : "");
        put_term(out, part);
    }
    buf_puts(out, "}");
}

static void on_answer(void *arg, const struct answer *answer)
{
    struct asked *a = arg;
    if (!answer->value && !a->may_be_late)
        fail_msg("%s", answer->err.text);
    buf_reset(&a->answer);
    if (!answer->value)
        buf_puts(&a->answer, "late");
    else
        keep_answer(&a->answer, answer->value, answer->len);
    a->has_answer = true;
    uv_stop(&a->probe.loop);
}

/* false: the one before has not ended on the node. */
static bool start_ask(struct asked *a, enum question question, const char *text, unsigned ms)
{
    struct error err = {0};
    struct builder *b = builder_new();
    assert_int_equal(etf_parse(b, text, strlen(text), NULL, &err), 0);
    a->has_answer = false;
    const int rc = query_ask(a->query, question, b, ms, on_answer, a, &err);
    assert_true(rc == 0 || rc == ERR_LIMIT);
    builder_free(b);
    return rc == 0;
}

static void ask(struct asked *a, enum question question, const char *text)
{
    assert_true(start_ask(a, question, text, ASK_MS));
    await(a, &a->has_answer);
}

/* ---- the two ways */

static bool is_same(struct asked *a, bool scans)
{
    struct buf native, keeper;
    buf_init(&native, 0);
    buf_init(&keeper, 0);
    if (scans)
        ask(a, QUESTION_SCAN, SCAN);
    ask(a, QUESTION_APPS, NATIVELY);
    buf_put(&native, a->answer.data, a->answer.len);
    ask(a, QUESTION_APPS, BY_KEEPER);
    buf_put(&keeper, a->answer.data, a->answer.len);
    const bool same = strcmp(buf_cstr(&native), buf_cstr(&keeper)) == 0;
    if (!same)
        print_message("# natively  %.400s\n# by keeper %.400s\n", buf_cstr(&native),
                      buf_cstr(&keeper));
    buf_clear(&native);
    buf_clear(&keeper);
    return same;
}

static void expect_same(struct asked *a, bool scans)
{
    for (int i = 0; i < TRIES; i++)
        if (is_same(a, scans))
            return;
    fail_msg("another answer natively");
}

static void expect_holds(struct asked *a, struct node *n, const char *matches)
{
    struct buf text;
    buf_init(&text, 0);
    buf_printf(&text, "F = %s, %s", buf_cstr(&a->answer), matches);
    node_expect(n, buf_cstr(&text), "ok");
    buf_clear(&text);
}

/* It is late while the node stands still, and is asked again when what was asked has ended. */
static void expect_late(struct asked *a, struct node *n, enum question question, const char *arg)
{
    a->may_be_late = true;
    node_freeze(n);
    assert_true(start_ask(a, question, arg, 100));
    await(a, &a->has_answer);
    assert_string_equal(buf_cstr(&a->answer), "late");
    (void)start_ask(a, question, arg, 100);
    node_thaw(n);
    a->may_be_late = false;
    for (int i = 0; i < 600 && !start_ask(a, question, arg, ASK_MS); i++)
        probe_run(&a->probe, 100);
    await(a, &a->has_answer);
}

/* Scheduler 2 compares two terms for seconds: the sizes are late, and then there again. */
#define BUSY                                                                                       \
    "Awake = fun A(N) -> receive after 1 -> N > 0 andalso A(N - 1) end end, spawn_opt(fun() -> "   \
    "Awake(60000) end, [{scheduler, 1}]), spawn_opt(fun() -> Twice = fun() -> "                    \
    "lists:foldl(fun(_, X) -> {X, X} end, x, lists:seq(1, 31)) end, Twice() =:= Twice() end, "     \
    "[{scheduler, 2}]), ok."

static void await_sizes(struct asked *a, bool late)
{
    for (int i = 0; i < 600; i++) {
        ask(a, QUESTION_ALLOC, "local");
        if ((strcmp(buf_cstr(&a->answer), "{[],undefined,[],undefined}") == 0) == late)
            return;
        probe_run(&a->probe, 100);
    }
    fail_msg("sizes are always %s: %.200s", late ? "there" : "late", buf_cstr(&a->answer));
}

static void expect_late_schedulers(struct asked *a, struct node *n)
{
    node_expect(n, BUSY, "ok");
    await_sizes(a, true);
    ask(a, QUESTION_ALLOC, "local"); /* the one before is out: nothing else is asked */
    await_sizes(a, false);
    expect_holds(a, n, ALLOCATED);
}

static void test_release(void **state)
{
    const char *release = *state;
    char root[256], name[64];
    struct node n = {0};
    struct asked a;
    if (!node_find_root(release, root, sizeof root))
        skip();
    snprintf(name, sizeof name, "apps%s_%ld@127.0.0.1", release, (long)getpid());
    const struct node_options o = {.root = root,
                                   .name = name,
                                   .long_name = true,
                                   .epmd_port = epmd_port,
                                   .flags = {"+S", "2:2"}};
    assert_int_equal(node_start(&n, &o), 0);
    node_expect(&n, LOAD, "ok");
    open_asked(&a, &n);
    ask(&a, QUESTION_SYSTEM, "local");
    ask(&a, QUESTION_APPS, NATIVELY);
    ask(&a, QUESTION_ALLOC, "[]");
    expect_holds(&a, &n, ALLOCATED);
    assert_false(a.has_keeper);
    ask(&a, QUESTION_APPS, BY_KEEPER);
    assert_true(a.has_keeper);
    expect_same(&a, false);
    ask(&a, QUESTION_SCAN, SCAN);
    expect_same(&a, true);
    node_expect(&n, LONG, "ok");
    ask(&a, QUESTION_SCAN, SCAN);
    ask(&a, QUESTION_APPS, NATIVELY);
    expect_holds(&a, &n,
                 "{Rows, false} = F, true = lists:sum([Q || {_, _, _, _, _, _, Q} <- Rows]) >= "
                 "120000, ok.");
    expect_late(&a, &n, QUESTION_APPS, NATIVELY);
    expect_late(&a, &n, QUESTION_ALLOC, "[]");
    expect_late_schedulers(&a, &n);
    node_expect(&n, MORE, "ok"); /* more than are read natively: the keeper answers, as before */
    ask(&a, QUESTION_SYSTEM, "local");
    expect_same(&a, false);
    close_asked(&a);
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
    int rc = node_run_on_releases("apps", test_release);
    node_kill(epmd_pid);
    return rc;
}
