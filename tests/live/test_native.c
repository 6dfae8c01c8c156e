/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks that compiled code of a real node answers: each end that one can have, and what is left. */
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
#include "beamtop/etf/parse.h"
#include "beamtop/etf/print.h"
#include "node.h"
#include "probe.h"
#include "query/native/native.h"

#define ANY_MS 60000

struct asked {
    struct probe probe;
    struct native *native;
    enum native_end end;
    char text[4096]; /* the value, printed */
    unsigned answers;
};

static pid_t epmd_pid;
static uint16_t epmd_port;

/* ---- one connection with asks */

static void on_spawned(struct conn *c, void *arg, uint64_t id, const struct etf_pid *pid,
                       struct slice error)
{
    struct asked *a = arg;
    (void)c;
    native_spawned(a->native, id, pid, error);
}

static void on_link_exit(struct conn *c, void *arg, const struct etf_pid *from, struct slice reason)
{
    struct asked *a = arg;
    (void)c;
    assert_true(native_exited(a->native, from, reason));
    uv_stop(&a->probe.loop);
}

static void on_native(void *arg, const struct native_answer *answer)
{
    static const struct print_limits limits = {.depth = 20, .items = 100, .bytes = 4000};
    struct asked *a = arg;
    struct buf text;
    buf_init(&text, sizeof a->text);
    a->answers++;
    a->end = answer->end;
    if (answer->value.len > 0)
        print_term(&text, (const uint8_t *)answer->value.s, answer->value.len, &limits);
    snprintf(a->text, sizeof a->text, "%s", buf_cstr(&text));
    buf_clear(&text);
}

static void open_asked(struct asked *a, const struct node *n)
{
    static const struct conn_handlers handlers = {.on_link_exit = on_link_exit,
                                                  .on_spawned = on_spawned};
    struct conn_options o = probe_options(n->name, epmd_port);
    *a = (struct asked){0};
    probe_open(&a->probe, &o);
    expect_up(&a->probe);
    conn_receive(a->probe.conn, &handlers, a);
    a->native = native_new(a->probe.conn);
}

static void close_asked(struct asked *a)
{
    native_free(a->native);
    probe_close(&a->probe);
}

static void make_call(struct native_call *call, const char *module, const char *function,
                      const char *args)
{
    struct error err = {0};
    struct builder *b = builder_new();
    assert_int_equal(etf_parse(b, args, strlen(args), NULL, &err), 0);
    native_call_init(call, module, function, b);
    builder_free(b);
}

static void ask(struct asked *a, unsigned place, const struct native_call *call,
                unsigned deadline_ms)
{
    struct error err = {0};
    a->answers = 0;
    assert_int_equal(
        native_ask(a->native, place, call, uv_now(&a->probe.loop), deadline_ms, on_native, a, &err),
        0);
}

static void await_answer(struct asked *a)
{
    for (int i = 0; i < 600 && a->answers == 0; i++) {
        probe_run(&a->probe, 100);
        uv_update_time(&a->probe.loop);
        (void)native_expire(a->native, uv_now(&a->probe.loop));
    }
    assert_int_equal(a->answers, 1);
}

static void await_free(struct asked *a, unsigned place)
{
    for (int i = 0; i < 600 && native_is_out(a->native, place); i++)
        probe_run(&a->probe, 100);
    assert_false(native_is_out(a->native, place));
}

/* ---- the ends */

struct end_case {
    const char *module, *function, *args;
    enum native_end end;
    const char *text; /* "": none */
    uint64_t max_heap_words;
    unsigned deadline_ms;
};

static void check_end(struct asked *a, const struct end_case *k)
{
    struct native_call call;
    print_message("# %s:%s%s\n", k->module, k->function, k->args);
    make_call(&call, k->module, k->function, k->args);
    if (k->max_heap_words > 0)
        call.max_heap_words = k->max_heap_words;
    ask(a, 0, &call, k->deadline_ms);
    await_answer(a);
    assert_int_equal(a->end, k->end);
    assert_string_equal(a->text, k->text);
    await_free(a, 0);
    native_call_clear(&call);
}

static void check_ends(struct asked *a)
{
    static const struct end_case cases[] = {
        {"erlang", "abs", "[-7]", NATIVE_RETURNED, "7", 0, ANY_MS},
        {"erlang", "throw", "[ball]", NATIVE_RAISED, "ball", 0, ANY_MS},
        {"erlang", "exit", "[over]", NATIVE_RAISED, "over", 0, ANY_MS},
        {"erlang", "abs", "[seven]", NATIVE_RAISED, "badarg", 0, ANY_MS},
        {"erlang", "no_such_function", "[]", NATIVE_RAISED, "undef", 0, ANY_MS},
        {"lists", "seq", "[1, 20000000]", NATIVE_KILLED, "", 0, ANY_MS},
        {"timer", "sleep", "[infinity]", NATIVE_LATE, "", 0, 100},
        {"lists", "seq", "[1, 3]", NATIVE_RETURNED, "[1,2,3]", 0, ANY_MS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_end(a, &cases[i]);
}

/* Of a batch all values, or what failed. */
static void check_batch(struct asked *a)
{
    static const struct native_step steps[] = {{"erlang", "abs", "[-1]", NULL},
                                               {"lists", "max", "[[1,5,2]]", NULL},
                                               {"erlang", "length", "[[a,b]]", NULL}};
    static const struct native_step fails[] = {{"erlang", "abs", "[-1]", NULL},
                                               {"lists", "max", "[[]]", NULL}};
    struct native_call call;
    native_batch_init(&call, steps, 3, false);
    ask(a, 1, &call, ANY_MS);
    await_answer(a);
    assert_int_equal(a->end, NATIVE_RETURNED);
    assert_string_equal(a->text, "[1,5,2]");
    native_call_clear(&call);
    native_batch_init(&call, fails, 2, false);
    ask(a, 1, &call, ANY_MS);
    await_answer(a);
    assert_int_equal(a->end, NATIVE_RAISED);
    assert_string_equal(a->text, "function_clause");
    native_call_clear(&call);
}

/* [[…, atom_2, atom_1, Fun]]: more atoms than one message names, and a fun, whose size counts its
 * atoms. */
static struct builder *build_cached(unsigned atoms)
{
    static const uint8_t fun[] = "p\0\0\0\x40\1" /* no code of the node */
                                 "0123456789abcdef\0\0\0\0\0\0\0\1"
                                 "w\5shop1a\0a\1Xw\3a@b\0\0\0\1\0\0\0\0\0\0\0\2w\4left";
    struct builder *b = builder_new();
    char name[32];
    build_list(b, 1);
    build_list(b, atoms + 1);
    for (unsigned i = atoms; i > 0; i--) {
        snprintf(name, sizeof name, "atom_%u", i);
        build_atom(b, name);
    }
    build_raw(b, fun, sizeof fun - 1);
    build_nil(b);
    build_nil(b);
    return b;
}

/* Both ways, and again when both ends know the atoms: 4,710 bytes, then 2,570. */
static void check_atoms(struct asked *a)
{
    static const char expected[] = "[#Fun<shop1.0.1>,atom_1,atom_2,atom_3,";
    for (int i = 0; i < 3; i++) {
        const struct conn_stats before = *conn_stats(a->probe.conn);
        struct native_call call;
        struct builder *args = build_cached(400);
        native_call_init(&call, "lists", "reverse", args);
        builder_free(args);
        ask(a, 3, &call, ANY_MS);
        await_answer(a);
        assert_int_equal(a->end, NATIVE_RETURNED);
        a->text[sizeof expected - 1] = '\0';
        assert_string_equal(a->text, expected);
        await_free(a, 3);
        native_call_clear(&call);
        const struct conn_stats *after = conn_stats(a->probe.conn);
        if (i > 0) {
            assert_in_range(after->bytes_out - before.bytes_out, 1000, 3000);
            assert_in_range(after->bytes_in - before.bytes_in, 1000, 3000);
        }
    }
}

/* One that stays for ever holds what it set, until the connection is closed. */
static void check_stays(struct asked *a, struct node *n)
{
    static const struct native_step steps[] = {
        {"erlang", "system_flag", "[scheduler_wall_time, true]", NULL},
        {"erlang", "hibernate", "[erlang, exit, [normal]]", NULL}};
    struct native_call call;
    native_batch_init(&call, steps, 2, true);
    ask(a, 2, &call, 0);
    for (int i = 0; i < 600 && !native_pid(a->native, 2); i++)
        probe_run(&a->probe, 100);
    assert_non_null(native_pid(a->native, 2));
    node_await(n, "is_list(erlang:statistics(scheduler_wall_time)).", "true");
    native_call_clear(&call);
}

static void check_release(struct node *n)
{
    struct asked a;
    char processes[64];
    node_expect(n,
                "persistent_term:put(logged, counters:new(1, [])), "
                "logger:add_primary_filter(count, {fun(E, _) -> "
                "counters:add(persistent_term:get(logged), 1, 1), E end, []}).",
                "ok");
    assert_int_equal(node_eval(n, "length(processes()).", processes, sizeof processes), 0);
    open_asked(&a, n);
    check_ends(&a);
    check_batch(&a);
    check_atoms(&a);
    check_stays(&a, n);
    close_asked(&a);
    node_await_alone(n);
    node_await(n, "erlang:statistics(scheduler_wall_time).", "undefined");
    node_await(n, "length(processes()).", processes);
    node_expect(n, "counters:get(persistent_term:get(logged), 1).", "0");
}

static void test_native(void **state)
{
    const char *release = *state;
    char root[256], name[64];
    struct node n;
    if (!node_find_root(release, root, sizeof root))
        skip();
    snprintf(name, sizeof name, "native%s_%ld@127.0.0.1", release, (long)getpid());
    struct node_options o = {.root = root, .name = name, .long_name = true, .epmd_port = epmd_port};
    assert_int_equal(node_start(&n, &o), 0);
    check_release(&n);
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
    int rc = node_run_on_releases("native", test_native);
    node_kill(epmd_pid);
    return rc;
}
