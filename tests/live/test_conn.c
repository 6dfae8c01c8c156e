/* Connections to real nodes and to peers that are none. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/dist/conn.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/print.h"
#include "fake_peer.h"
#include "node.h"

#define TIMEOUT_MS 1500

struct probe {
    uv_loop_t loop;
    struct conn *conn;
    bool up;
    bool down;
    bool closed;
    bool expired;
    enum conn_failure why;
    struct error err;
    unsigned messages;
    unsigned exits;
    unsigned skipped;
    char text[4096]; /* the last message, printed */
    uint64_t started_ns;
    unsigned elapsed_ms; /* until up or down */
};

static pid_t epmd_pid;
static uint16_t epmd_port;
static struct node node_a; /* a@127.0.0.1, cookie "secret" */

static void settle(struct probe *p)
{
    p->elapsed_ms = (unsigned)((clock_mono_ns() - p->started_ns) / 1000000);
    uv_stop(&p->loop);
}

static void on_up(struct conn *c, void *arg)
{
    struct probe *p = arg;
    (void)c;
    p->up = true;
    settle(p);
}

static void on_down(struct conn *c, void *arg, enum conn_failure why, const struct error *err)
{
    struct probe *p = arg;
    (void)c;
    assert_false(p->down);
    p->down = true;
    p->why = why;
    p->err = *err;
    settle(p);
}

static void print(struct probe *p, const uint8_t *term, size_t len)
{
    struct buf out;
    buf_init(&out, 0);
    print_term(&out, term, len, &(struct print_limits){0});
    snprintf(p->text, sizeof p->text, "%s", buf_cstr(&out));
    buf_clear(&out);
}

static void on_message(struct conn *c, void *arg, const struct conn_message *m)
{
    struct probe *p = arg;
    (void)c;
    assert_false(p->down);
    p->messages++;
    print(p, m->term, m->len);
    uv_stop(&p->loop);
}

static void on_link_exit(struct conn *c, void *arg, const struct etf_pid *from, struct slice reason)
{
    struct probe *p = arg;
    (void)c;
    (void)from;
    p->exits++;
    print(p, (const uint8_t *)reason.s, reason.len);
    uv_stop(&p->loop);
}

static void on_skipped(struct conn *c, void *arg, uint64_t bytes)
{
    struct probe *p = arg;
    (void)c;
    (void)bytes;
    p->skipped++;
    uv_stop(&p->loop);
}

static void on_closed(void *arg)
{
    struct probe *p = arg;
    p->closed = true;
}

static void on_expired(uv_timer_t *t)
{
    struct probe *p = t->data;
    p->expired = true;
    uv_stop(&p->loop);
}

static const struct conn_handlers handlers = {on_up, on_message, on_link_exit, on_skipped, on_down};

/* Runs the loop until something happens, for at most ms. */
static bool run(struct probe *p, unsigned ms)
{
    uv_timer_t t;
    uv_timer_init(&p->loop, &t);
    t.data = p;
    p->expired = false;
    uv_timer_start(&t, on_expired, ms, 0);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&t, NULL);
    uv_run(&p->loop, UV_RUN_NOWAIT);
    return !p->expired;
}

static void probe_open(struct probe *p, const struct conn_options *o)
{
    struct error err = {0};
    memset(p, 0, sizeof *p);
    uv_loop_init(&p->loop);
    p->started_ns = clock_mono_ns();
    assert_int_equal(conn_open(&p->conn, &p->loop, o, &handlers, p, &err), 0);
    run(p, 20000);
}

static void probe_close(struct probe *p)
{
    conn_close(p->conn, on_closed, p);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    assert_true(p->closed);
    assert_int_equal(uv_loop_close(&p->loop), 0);
}

static struct conn_options options_for(const char *target)
{
    return (struct conn_options){.target = target,
                                 .epmd_port = epmd_port,
                                 .cookie = "secret",
                                 .timeout_ms = TIMEOUT_MS};
}

static void expect_up(struct probe *p)
{
    if (!p->up) {
        fail_msg("not up: %s: %s", p->down ? conn_failure_word(p->why) : "no answer", p->err.text);
    }
}

static void expect_down(const struct probe *p, const char *word, const char *part)
{
    if (!p->down || strcmp(conn_failure_word(p->why), word) != 0) {
        fail_msg("expected %s, got %s: %s", word, p->down ? conn_failure_word(p->why) : "no end",
                 p->err.text);
    }
    if (strstr(p->err.text, part) == NULL) {
        fail_msg("'%s' is not in: %s", part, p->err.text);
    }
    print_message("# %-14s %5u ms  %s\n", word, p->elapsed_ms, p->err.text);
    assert_true(p->elapsed_ms < TIMEOUT_MS + 500);
}

static uint16_t node_port(struct node *n)
{
    char text[64];
    node_eval(n,
              "{ok, [{L, _}|_]} = {ok, [{X, Y} || {X, Y} <- element(2, "
              "erl_epmd:names({127,0,0,1})), X =:= hd(string:split(atom_to_list(node()), \"@\"))]}, "
              "element(2, hd([{X, Y} || {X, Y} <- element(2, erl_epmd:names({127,0,0,1})), "
              "X =:= L])).",
              text, sizeof text);
    return (uint16_t)atoi(text);
}

/* {self, word} to a registered process. */
static void send_self(struct probe *p, const char *name, const char *word)
{
    struct error err = {0};
    size_t len = 0;
    struct builder *b = builder_new();
    build_tuple(b, 2);
    build_pid(b, conn_own_node(p->conn), conn_self(p->conn));
    build_atom(b, word);
    const uint8_t *bytes = builder_bytes(b, &len);
    assert_int_equal(conn_send_name(p->conn, name, bytes, len, &err), 0);
    builder_free(b);
}

/* ---- what works */

static void check_talk(struct node *n)
{
    struct probe p;
    struct conn_options o = options_for(n->name);
    node_expect(n,
                "case whereis(echo) of undefined -> ok; Old -> exit(Old, kill), timer:sleep(20) end, "
                "register(echo, spawn(fun F() -> receive {P, link} -> link(P), P ! linked, F(); "
                "{P, unlink} -> unlink(P), P ! unlinked, F(); {_, die} -> exit(gone); "
                "{P, M} -> P ! {M, node()}, F() end end)).",
                "true");
    probe_open(&p, &o);
    expect_up(&p);
    assert_string_equal(conn_peer_node(p.conn), n->name);
    assert_string_equal(conn_notice(p.conn), "");
    send_self(&p, "echo", "hello");
    assert_true(run(&p, 5000));
    char expected[512];
    snprintf(expected, sizeof expected, "{hello,'%s'}", n->name);
    assert_string_equal(p.text, expected);
    node_expect(n, "nodes().", "[]");
    node_expect(n, "length(nodes(hidden)).", "1");
    send_self(&p, "echo", "link");
    assert_true(run(&p, 5000));
    assert_string_equal(p.text, "linked");
    send_self(&p, "echo", "unlink");
    assert_true(run(&p, 5000));
    send_self(&p, "echo", "link");
    assert_true(run(&p, 5000));
    send_self(&p, "echo", "die");
    assert_true(run(&p, 5000));
    assert_int_equal(p.exits, 1);
    assert_string_equal(p.text, "gone");
    probe_close(&p);
    node_expect(n, "timer:sleep(50), nodes(hidden).", "[]");
}

static void test_talk(void **state)
{
    (void)state;
    check_talk(&node_a);
}

int main(void)
{
    struct error err = {0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_talk),
    };
    signal(SIGPIPE, SIG_IGN);
    if (!node_available(NULL)) {
        printf("1..0 # SKIP there is no erl on this machine\n");
        return 77;
    }
    conn_global_init(&err);
    epmd_pid = node_epmd_start(&epmd_port);
    struct node_options a = {.name = "a@127.0.0.1", .long_name = true, .epmd_port = epmd_port};
    if (node_start(&node_a, &a) != 0) {
        return 1;
    }
    int rc = cmocka_run_group_tests_name("conn", tests, NULL, NULL);
    node_stop(&node_a);
    node_kill(epmd_pid);
    return rc;
}
