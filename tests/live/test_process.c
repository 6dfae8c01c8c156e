/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One process of a real node, natively: byte for byte what the keeper's expression says. */
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
#define TRIES 6 /* some of the node's own processes work in between */
#define LINKS "9"
/* The expression takes another key, natively it is refused. */
#define NATIVELY "#{stack => 60, links => " LINKS "}"
#define BY_KEEPER "#{stack => 60, links => " LINKS ", x => 1}"

struct asked {
    struct probe probe;
    struct query *query;
    bool is_ready, has_keeper, has_answer, may_be_late;
    struct buf answer; /* without its time */
};

static pid_t epmd_pid;
static uint16_t epmd_port;

/* ---- the node's processes */

#define LOAD                                                                                       \
    "Wait = fun(L) -> receive stop -> L end end, Idle = [spawn(fun() -> Wait([]) end) || _ <- "    \
    "lists:seq(1, 12000)], First = fun(N) -> lists:sublist(Idle, N) end, Port = "                  \
    "hd(erlang:ports()), "                                                                         \
    "register(p_first, hd(Idle)), Start = fun(Name, Fun) -> S = self(), spawn(fun() -> "           \
    "register(Name, self()), L = Fun(), S ! Name, Wait(L) end), receive Name -> ok end end, "      \
    "Bins = fun(N) -> [binary:copy(<<1>>, 100 + I rem 50) || I <- lists:seq(1, N)] end, "
#define START                                                                                      \
    "Start(p_few, fun() -> [link(P) || P <- First(3)], erlang:monitor(process, p_few), "           \
    "link(Port) "                                                                                  \
    "end), Start(p_links, fun() -> [link(P) || P <- First(300)] end), Start(p_monitors, fun() -> " \
    "[erlang:monitor(K, W) || {K, W} <- [{process, hd(Idle)}, {port, Port}, {process, {p_none, "   \
    "'no@where'}}, {time_offset, clock_service}]], [erlang:monitor(process, P) || P <- "           \
    "First(40)] end), Start(p_suspends, fun() -> erlang:suspend_process(lists:last(Idle)) end), "  \
    "Start(p_binaries, fun() -> B = Bins(300), {B, B} end), "                                      \
    "Start(p_many_binaries, fun() -> Bins(3000) end), "                                            \
    "Start(p_many_links, fun() -> [link(P) || P <- Idle] end), "                                   \
    "Start(p_large, fun() -> lists:seq(1, 500000) end), "                                          \
    "Start(p_queue, fun() -> [self() ! {x, I} || I <- lists:seq(1, 60000)] end), "                 \
    "Up = fun(Name, A) -> Start(Name, fun() -> put('$ancestors', A) end) end, "                    \
    "Up(p_odd, [self(), kernel_sup, {a}, \"ab\", 1]), Up(p_none, none), "                          \
    "Up(p_chars, \"abc\"), Up(p_deep, lists:duplicate(50, self())), "                              \
    "Up('Elixir.P.Alias', none), ok."

static const char *const names[] = {"<<\"p_first\">>",       "<<\"p_few\">>",
                                    "<<\"p_links\">>",       "<<\"p_monitors\">>",
                                    "<<\"p_suspends\">>",    "<<\"p_binaries\">>",
                                    "<<\"p_odd\">>",         "<<\"p_none\">>",
                                    "<<\"p_chars\">>",       "<<\"p_deep\">>",
                                    "<<\"kernel_sup\">>",    "<<\"init\">>",
                                    "<<\"code_server\">>",   "<<\"application_controller\">>",
                                    "<<\"<0.0.0>\">>",       "<<\"<0.1.0>\">>",
                                    "<<\"<0.1.700>\">>",     "<<\"<0.0.0\">>",
                                    "<<\"<7.0.0>\">>",       "<<\"surely no atom of it\">>",
                                    "<<\"kernel_config\">>", "<<\"Elixir.P.Alias\">>",
                                    "<<\"P.None\">>",        "<<\"P.Alias\">>"};
/* The keeper is asked for these in the end. */
static const char *const large[] = {"<<\"p_many_binaries\">>", "<<\"p_many_links\">>",
                                    "<<\"p_large\">>", "<<\"p_queue\">>"};

/* ---- the connection */

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

/* ---- the two ways */

/* All but when, and the reductions: each read is one more. */
static void keep_answer(struct buf *out, const uint8_t *value, size_t len)
{
    struct cursor c, item;
    struct cursor_list list;
    struct slice part;
    cursor_init(&c, value, len);
    if (cursor_peek_atom(&c, "gone")) {
        buf_puts(out, "gone");
        return;
    }
    assert_true(cursor_tuple_of(&c, 5) && cursor_skip(&c) && cursor_skip(&c));
    for (int i = 0; i < 2; i++) {
        assert_true(cursor_raw(&c, &part));
        buf_put(out, part.s, part.len);
    }
    assert_true(cursor_list(&c, &list));
    for (size_t i = 0; i < list.count; i++) {
        assert_true(cursor_raw(&c, &part));
        cursor_init(&item, (const uint8_t *)part.s, part.len);
        assert_true(cursor_tuple_of(&item, 2));
        if (!cursor_peek_atom(&item, "reductions"))
            buf_put(out, part.s, part.len);
    }
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
static bool start_ask(struct asked *a, const char *name, const char *limits, unsigned ms)
{
    struct error err = {0};
    struct builder *b = builder_new();
    char text[200];
    snprintf(text, sizeof text, "{%s, %s}", name, limits);
    assert_int_equal(etf_parse(b, text, strlen(text), NULL, &err), 0);
    a->has_answer = false;
    const int rc = query_ask(a->query, QUESTION_PROCESS, b, ms, on_answer, a, &err);
    assert_true(rc == 0 || rc == ERR_LIMIT);
    assert_false(a->has_answer);
    builder_free(b);
    return rc == 0;
}

static void ask_process(struct asked *a, const char *name, const char *limits)
{
    assert_true(start_ask(a, name, limits, ASK_MS));
    await(a, &a->has_answer);
}

static bool is_same(struct asked *a, const char *name)
{
    struct buf native;
    buf_init(&native, 0);
    ask_process(a, name, NATIVELY);
    buf_put(&native, a->answer.data, a->answer.len);
    ask_process(a, name, BY_KEEPER);
    const bool same =
        native.len == a->answer.len && memcmp(native.data, a->answer.data, native.len) == 0;
    buf_clear(&native);
    return same;
}

static void expect_same(struct asked *a, const char *name)
{
    for (int i = 0; i < TRIES; i++)
        if (is_same(a, name))
            return;
    fail_msg("%s: another answer natively", name);
}

/* It is late while the node stands still, and is asked again when what was asked has ended. */
static void expect_late(struct asked *a, struct node *n, const char *name)
{
    a->may_be_late = true;
    node_freeze(n);
    assert_true(start_ask(a, name, NATIVELY, 100));
    await(a, &a->has_answer);
    assert_string_equal(buf_cstr(&a->answer), "late");
    assert_false(start_ask(a, name, NATIVELY, 100));
    node_thaw(n);
    a->may_be_late = false;
    for (int i = 0; i < 600 && !start_ask(a, name, NATIVELY, ASK_MS); i++)
        probe_run(&a->probe, 100);
    await(a, &a->has_answer);
}

#define ATOMS "erlang:system_info(atom_count)."

static void test_release(void **state)
{
    const char *release = *state;
    char root[256], name[64], atoms[32];
    struct node n = {0};
    struct asked a;
    if (!node_find_root(release, root, sizeof root))
        skip();
    snprintf(name, sizeof name, "process%s_%ld@127.0.0.1", release, (long)getpid());
    const struct node_options o = {
        .root = root, .name = name, .long_name = true, .epmd_port = epmd_port};
    assert_int_equal(node_start(&n, &o), 0);
    node_expect(&n, LOAD START, "ok");
    open_asked(&a, &n);
    ask_process(&a, "<<\"kernel_sup\">>", NATIVELY); /* with names of functions and items */
    assert_int_equal(node_eval(&n, ATOMS, atoms, sizeof atoms), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ask_process(&a, names[i], NATIVELY);
    assert_string_not_equal(buf_cstr(&a.answer), "gone"); /* P.Alias is the last of them */
    assert_false(a.has_keeper);
    node_expect(&n, ATOMS, atoms);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_same(&a, names[i]);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        expect_same(&a, large[i]);
    expect_late(&a, &n, "<<\"kernel_sup\">>");
    expect_late(&a, &n, "<<\"p_few\">>");
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
    int rc = node_run_on_releases("process", test_release);
    node_kill(epmd_pid);
    return rc;
}
