/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the helper process of a connection is started, and what is asked where it cannot be. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/limits.h"
#include "beamtop/query/query.h"
#include "node.h"
#include "probe.h"

#define ANY_MS 60000u
#define OPEN_MS 1000u /* the time that a start has where it cannot succeed */
#define TURNS 1200

struct asked {
    struct probe probe;
    struct query *query;
    unsigned ready, keepers, failed;
    unsigned answers, values; /* values: those that are no error */
    enum question order[LIMIT_CALLS_IN_FLIGHT];
    struct error err; /* the last one */
};

static pid_t epmd_pid;
static uint16_t epmd_port;

/* ---- one connection with questions */

static void on_ready(void *arg)
{
    ((struct asked *)arg)->ready++;
}

static void on_keeper(void *arg)
{
    ((struct asked *)arg)->keepers++;
}

static void on_failed(void *arg, const struct error *err)
{
    struct asked *a = arg;
    a->failed++;
    a->err = *err;
}

static void on_answer(void *arg, const struct answer *answer)
{
    struct asked *a = arg;
    a->order[a->answers++ % LIMIT_CALLS_IN_FLIGHT] = answer->question;
    a->values += answer->value != NULL;
    a->err = answer->err;
    uv_stop(&a->probe.loop);
}

/* Until as many answers are there, or for a moment. */
static void await_answers(struct asked *a, unsigned n)
{
    for (int i = 0; i < TURNS && a->answers < n; i++)
        probe_run(&a->probe, 100);
    assert_int_equal(a->answers, n);
}

static void open_asked(struct asked *a, const struct node *n, unsigned deadline_ms)
{
    static const struct query_handlers handlers = {
        .on_ready = on_ready, .on_failed = on_failed, .on_keeper = on_keeper};
    struct error err = {0};
    struct conn_options o = probe_options(n->name, epmd_port);
    *a = (struct asked){0};
    probe_open(&a->probe, &o);
    expect_up(&a->probe);
    assert_int_equal(
        query_open(&a->query, &a->probe.loop, a->probe.conn, &handlers, a, deadline_ms, &err), 0);
    for (int i = 0; i < TURNS && a->ready == 0 && a->failed == 0; i++)
        probe_run(&a->probe, 100);
    assert_int_equal(a->ready, 1);
}

static void close_asked(struct asked *a)
{
    query_close(a->query);
    probe_close(&a->probe);
}

static int try_to_ask(struct asked *a, enum question question, struct error *err)
{
    struct builder *b = builder_new();
    build_nil(b);
    int rc = query_ask(a->query, question, b, ANY_MS, on_answer, a, err);
    builder_free(b);
    return rc;
}

static void ask(struct asked *a, enum question question)
{
    struct error err = {0};
    if (try_to_ask(a, question, &err) != 0)
        fail_msg("%s: %s", question_name(question), err.text);
}

/* ---- the cases */

#define KEEPERS                                                                                    \
    "length([N || N <- nodes(hidden), lists:prefix(\"beamtop\", atom_to_list(N)), "                \
    "is_pid(whereis(N))])."

/* What the node is, and the header, need none; the first other question starts it, and those that
 * come meanwhile are answered in their order. */
static void check_late_start(struct node *n)
{
    struct asked a;
    open_asked(&a, n, ANY_MS);
    ask(&a, QUESTION_NODE);
    ask(&a, QUESTION_SYSTEM);
    await_answers(&a, 2);
    assert_int_equal(a.values, 2);
    assert_int_equal(a.keepers, 0);
    assert_true(query_creation(a.query) != 0);
    node_expect(n, KEEPERS, "0");
    struct error err = {0};
    assert_int_equal(query_end(a.query, QUESTION_THREADS, &err), 0);
    node_expect(n, KEEPERS, "0");
    ask(&a, QUESTION_WHO);
    ask(&a, QUESTION_THREADS);
    ask(&a, QUESTION_NODE);
    await_answers(&a, 5);
    assert_int_equal(a.values, 5);
    assert_int_equal(a.keepers, 1);
    assert_int_equal(a.order[2], QUESTION_NODE);
    node_await(n, KEEPERS, "1");
    close_asked(&a);
    node_await_alone(n);
}

/* Servers that could start it hang: what needs it fails at its start's deadline, then at once, and
 * the rest is answered. When they go on, one comes, and the other that was asked for is ended. */
static void check_no_start(struct node *n)
{
    struct asked a;
    struct error err = {0};
    open_asked(&a, n, OPEN_MS);
    node_expect(n, "[sys:suspend(S) || S <- [rex, net_kernel]].", "[ok,ok]");
    ask(&a, QUESTION_WHO);
    ask(&a, QUESTION_THREADS);
    ask(&a, QUESTION_SYSTEM);
    ask(&a, QUESTION_SCAN); /* with this argument none that is asked natively */
    await_answers(&a, 4);
    assert_int_equal(a.values, 1);
    assert_int_equal(a.order[0], QUESTION_SYSTEM);
    assert_int_equal(a.err.code, ERR_TIMEOUT);
    assert_non_null(strstr(a.err.text, "the node did not answer in 1 s"));
    assert_int_equal(try_to_ask(&a, QUESTION_WHO, &err), ERR_TIMEOUT);
    assert_non_null(strstr(err.text, "the node did not answer in 1 s"));
    ask(&a, QUESTION_SYSTEM);
    await_answers(&a, 5);
    assert_int_equal(a.values, 2);
    assert_int_equal(a.keepers, 0);
    assert_int_equal(a.failed, 0);
    node_expect(n, "[sys:resume(S) || S <- [rex, net_kernel]].", "[ok,ok]");
    for (int i = 0; i < TURNS && a.keepers == 0; i++)
        probe_run(&a.probe, 100);
    ask(&a, QUESTION_WHO);
    await_answers(&a, 6);
    assert_int_equal(a.values, 3);
    assert_int_equal(a.keepers, 1);
    close_asked(&a);
    node_await_alone(n);
}

/* What each process is that was not there before, but for those of OTP's that look up a name, as
 * the node does where it sends to a node that is gone. */
#define NEW_PROCESSES                                                                              \
    "[{P, I} || P <- processes() -- persistent_term:get(before), "                                 \
    "I <- [process_info(P, [initial_call, current_function, dictionary])], "                       \
    "string:find(io_lib:format(\"~p\", [I]), \"inet_gethost\") =:= nomatch]."

static void check_release(struct node *n)
{
    /* After it, processes of the node's own that a connection starts are there. */
    check_late_start(n);
    node_expect(n, "persistent_term:put(before, processes()).", "ok");
    check_late_start(n);
    check_no_start(n);
    node_await(n, NEW_PROCESSES, "[]");
}

static void test_keeper(void **state)
{
    const char *release = *state;
    char root[256], name[64];
    struct node n;
    if (!node_find_root(release, root, sizeof root))
        skip();
    snprintf(name, sizeof name, "keeper%s_%ld@127.0.0.1", release, (long)getpid());
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
    int rc = node_run_on_releases("keeper", test_keeper);
    node_kill(epmd_pid);
    return rc;
}
