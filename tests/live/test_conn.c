/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connections to real nodes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/link/discover.h"
#include "beamtop/etf/build.h"
#include "fake_peer.h"
#include "node.h"
#include "probe.h"

static pid_t epmd_pid;
static uint16_t epmd_port;
/* Cookie "secret". Another test on this machine has a node of another name: names of ours are given
   out by the target's name. */
static struct node node_a;
static char name_a[64];

static struct conn_options options_for(const char *target)
{
    return probe_options(target, epmd_port);
}

static uint16_t node_port(struct node *n)
{
    char text[64];
    assert_int_equal(node_eval(n,
                               "[A, _] = string:split(atom_to_list(node()), \"@\"), "
                               "{ok, L} = erl_epmd:names({127,0,0,1}), proplists:get_value(A, L).",
                               text, sizeof text),
                     0);
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
                "register(echo, spawn(fun F() -> receive {P, link} -> link(P), P ! linked, F(); "
                "{P, unlink} -> unlink(P), P ! unlinked, F(); {_, die} -> exit(gone); "
                "{P, M} -> P ! {M, node()}, F() end end)).",
                "true");
    probe_open(&p, &o);
    expect_up(&p);
    assert_string_equal(conn_peer_node(p.conn), n->name);
    assert_string_equal(conn_notice(p.conn), "");
    send_self(&p, "echo", "hello");
    assert_true(probe_run(&p, WAIT_MS));
    char expected[512];
    snprintf(expected, sizeof expected, "{hello, '%s'}", n->name);
    assert_string_equal(p.text, expected);
    node_expect(n, "nodes().", "[]");
    node_expect(n, "length(nodes(hidden)).", "1");
    send_self(&p, "echo", "link");
    assert_true(probe_run(&p, WAIT_MS));
    assert_string_equal(p.text, "linked");
    send_self(&p, "echo", "unlink");
    assert_true(probe_run(&p, WAIT_MS));
    send_self(&p, "echo", "link");
    assert_true(probe_run(&p, WAIT_MS));
    send_self(&p, "echo", "die");
    assert_true(probe_run(&p, WAIT_MS));
    assert_int_equal(p.exits, 1);
    assert_string_equal(p.text, "gone");
    probe_close(&p);
    node_await_alone(n);
}

/* ---- what does not */

static void test_no_epmd(void **state)
{
    struct conn_options o = options_for(name_a);
    (void)state;
    int closed = node_closed_port(&o.epmd_port);
    expect_failure(&o, CONN_FAILED_NO_EPMD, "no epmd at 127.0.0.1");
    close(closed);
}

static void test_no_such_node(void **state)
{
    struct conn_options o = options_for("b@127.0.0.1");
    char knows[96];
    (void)state;
    snprintf(knows, sizeof knows, "knows: %.*s", (int)strcspn(name_a, "@"), name_a);
    expect_failure(&o, CONN_FAILED_NO_NAME, knows);
}

static void test_no_cookie(void **state)
{
    struct conn_options o = options_for(name_a);
    (void)state;
    o.cookie = NULL;
    o.no_cookie = "no cookie here";
    expect_failure(&o, CONN_FAILED_NO_COOKIE, "no cookie here");
    o.target = "nobody@127.0.0.1";
    expect_failure(&o, CONN_FAILED_NO_NAME, "nobody");
}

static void test_frozen(void **state)
{
    struct conn_options o = options_for(name_a);
    (void)state;
    o.timeout_ms = TIMEOUT_MS;
    node_freeze(&node_a);
    expect_no_answer(&o, CONN_FAILED_SILENT, "does not answer within 1.5 s");
    node_thaw(&node_a);
}

static void test_other_node(void **state)
{
    struct conn_options o = options_for("b@127.0.0.1");
    (void)state;
    char itself[96];
    o.port = node_port(&node_a);
    snprintf(itself, sizeof itself, "calls itself %s", name_a);
    expect_failure(&o, CONN_FAILED_OTHER_NODE, itself);
}

/* ---- names */

static void test_pool_of_names(void **state)
{
    struct probe p[LIMIT_NAME_POOL];
    struct conn_options o = options_for(name_a);
    (void)state;
    node_await_alone(&node_a);
    for (unsigned i = 0; i < LIMIT_NAME_POOL; i++) {
        char name[64];
        snprintf(name, sizeof name, i == 0 ? "beamtop@127.0.0.1" : "beamtop-%u@127.0.0.1", i + 1);
        probe_open(&p[i], &o);
        expect_up(&p[i]);
        assert_string_equal(conn_own_node(p[i].conn), name);
    }
    expect_failure(&o, CONN_FAILED_NAME_TAKEN, "beamtop-8@127.0.0.1");
    for (unsigned i = 0; i < LIMIT_NAME_POOL; i++) {
        probe_close(&p[i]);
    }
}

/* The node may load a module of its own meanwhile, once: atoms of ours would come each time. */
static void test_no_atoms_per_connection(void **state)
{
    struct conn_options o = options_for(name_a);
    char before[64] = "";
    char after[64] = "";
    (void)state;
    for (int tries = 0; tries < 3 && (tries == 0 || strcmp(before, after) != 0); tries++) {
        node_eval(&node_a, "erlang:system_info(atom_count).", before, sizeof before);
        for (int i = 0; i < 50; i++) {
            struct probe p;
            probe_open(&p, &o);
            expect_up(&p);
            probe_close(&p);
        }
        node_eval(&node_a, "erlang:system_info(atom_count).", after, sizeof after);
    }
    assert_string_equal(before, after);
}

/* In a child: so many connections, one after the other. The number that failed. */
static int open_and_close(const struct conn_options *o, int times)
{
    int failed = 0;
    for (int i = 0; i < times; i++) {
        struct probe p;
        probe_open(&p, o);
        if (!p.up) {
            fprintf(stderr, "# %s\n", p.err.text);
            failed++;
        }
        probe_close(&p);
    }
    return failed;
}

/* The node ends a handshake when another one begins under the same name. */
static void test_at_the_same_time(void **state)
{
    enum { PROCESSES = 6, TIMES = 15 };
    struct conn_options o = options_for(name_a);
    pid_t pids[PROCESSES];
    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            _exit(open_and_close(&o, TIMES));
        }
    }
    int failed = 0;
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        failed += WIFEXITED(status) ? WEXITSTATUS(status) : TIMES;
    }
    assert_int_equal(failed, 0);
}

struct form_case {
    const char *name; /* of the node; in place of the * comes our process id */
    bool long_name;
    const char *target; /* so too */
    const char *own;    /* NULL: with the name of this host */
    bool notice;
};

static void put_pid(char *out, size_t size, const char *text)
{
    int head = (int)strcspn(text, "*");
    snprintf(out, size, "%.*s%ld%s", head, text, (long)getpid(), text + head + 1);
}

static void test_name_forms(void **state)
{
    static const struct form_case cases[] = {
        {"s*@localhost", false, "s*@localhost", "beamtop@localhost", false},
        {"s*@localhost", false, "s*@127.0.0.1", "beamtop@localhost", true},
        {"s*@localhost", false, "s*", NULL, false},
        {"l*@127.0.0.1", true, "l*@localhost", "beamtop@127.0.0.1", true},
        {"l*@127.0.0.1", true, "l*", "beamtop@127.0.0.1", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct form_case *k = &cases[i];
        char name[64], target[64];
        put_pid(name, sizeof name, k->name);
        put_pid(target, sizeof target, k->target);
        struct node_options no = {.name = name, .long_name = k->long_name, .epmd_port = epmd_port};
        struct conn_options o = options_for(target);
        struct node n;
        struct probe p;
        assert_int_equal(node_start(&n, &no), 0);
        probe_open(&p, &o);
        print_message("# node %s asked for as %s\n", name, target);
        expect_up(&p);
        if (k->own) {
            assert_string_equal(conn_own_node(p.conn), k->own);
        }
        assert_string_equal(conn_peer_node(p.conn), name);
        assert_int_equal(conn_notice(p.conn)[0] != '\0', k->notice);
        probe_close(&p);
        node_stop(&n);
    }
}

/* ---- IPv6 */

static bool have_ipv6(void)
{
    struct sockaddr_in6 sa = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool ok = fd >= 0 && bind(fd, (struct sockaddr *)&sa, sizeof sa) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return ok;
}

static void test_ipv6(void **state)
{
    struct node n;
    struct node_options no = {.name = "six@::1",
                              .long_name = true,
                              .epmd_port = epmd_port,
                              .flags = {"-proto_dist", "inet6_tcp"}};
    (void)state;
    if (!have_ipv6()) {
        print_message("# no IPv6 on this machine\n");
        skip();
    }
    assert_int_equal(node_start(&n, &no), 0);
    check_talk(&n);
    struct conn_options refused = options_for("six@::1");
    int closed = node_closed_port(&refused.epmd_port);
    expect_failure(&refused, CONN_FAILED_NO_EPMD, "[::1]:");
    close(closed);
    node_stop(&n);
}

/* ---- the peer's end */

static void test_node_ends(void **state)
{
    struct node n;
    struct node_options no = {.name = "ends@127.0.0.1", .long_name = true, .epmd_port = epmd_port};
    struct conn_options o = options_for("ends@127.0.0.1");
    struct probe p;
    (void)state;
    assert_int_equal(node_start(&n, &no), 0);
    probe_open(&p, &o);
    expect_up(&p);
    node_stop(&n);
    assert_true(probe_run(&p, WAIT_MS));
    assert_true(p.down);
    assert_int_equal(p.why, CONN_LOST);
    probe_close(&p);
}

/* One a second: after four without an answer the node would hang up. */
static void test_ticks_keep_it_up(void **state)
{
    struct node n;
    struct node_options no = {.name = "ticks@127.0.0.1",
                              .long_name = true,
                              .epmd_port = epmd_port,
                              .flags = {"-kernel", "net_ticktime", "4"}};
    struct conn_options o = options_for("ticks@127.0.0.1");
    struct probe p;
    (void)state;
    assert_int_equal(node_start(&n, &no), 0);
    probe_open(&p, &o);
    expect_up(&p);
    for (int i = 0; i < 300 && conn_stats(p.conn)->ticks_in < 6; i++)
        assert_false(probe_run(&p, 200));
    assert_true(conn_stats(p.conn)->ticks_in >= 6);
    node_expect(&n, "length(nodes(hidden)).", "1");
    probe_close(&p);
    node_stop(&n);
}

/* A monitor on us gets an answer: there is no such process. */
static void test_monitors(void **state)
{
    struct conn_options o = options_for(name_a);
    struct probe p;
    (void)state;
    probe_open(&p, &o);
    expect_up(&p);
    char text[300];
    snprintf(text, sizeof text,
             "R = erlang:monitor(process, {nobody, '%s'}), "
             "receive {'DOWN', R, _, _, Why} -> Why after 20000 -> none end.",
             conn_own_node(p.conn));
    node_ask(&node_a, text);
    for (int i = 0; i < 300 && !node_has_said(&node_a); i++) {
        assert_false(probe_run(&p, 100));
    }
    assert_int_equal(node_answer(&node_a, text, sizeof text), 0);
    assert_string_equal(text, "noproc");
    probe_close(&p);
}

/* ---- what goes through */

/* Messages beyond what the socket takes at once, both ways, and one over the cap. */
static void test_large_messages(void **state)
{
    static const size_t sizes[] = {100000, 3000000};
    struct conn_options o = options_for(name_a);
    struct probe p;
    struct error err = {0};
    (void)state;
    node_expect(&node_a,
                "register(big, spawn(fun F() -> receive {P, B} when is_binary(B) -> "
                "P ! byte_size(B), F(); {P, over} -> P ! binary:copy(<<0>>, 20000000), F(); "
                "{P, N} -> P ! binary:copy(<<0>>, 8000000), P ! N, F() end end)).",
                "true");
    probe_open(&p, &o);
    expect_up(&p);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t len = 0;
        char expected[32];
        char *bytes = calloc(1, sizes[i]);
        struct builder *b = builder_new();
        build_tuple(b, 2);
        build_pid(b, conn_own_node(p.conn), conn_self(p.conn));
        build_binary(b, bytes, sizes[i]);
        const uint8_t *payload = builder_bytes(b, &len);
        assert_int_equal(conn_send_name(p.conn, "big", payload, len, &err), 0);
        assert_true(probe_run(&p, WAIT_MS));
        snprintf(expected, sizeof expected, "%zu", sizes[i]);
        assert_string_equal(p.text, expected);
        builder_free(b);
        free(bytes);
    }
    uint64_t before = conn_stats(p.conn)->bytes_in;
    send_self(&p, "big", "done");
    while (strcmp(p.text, "done") != 0) {
        assert_true(probe_run(&p, WAIT_MS));
    }
    assert_true(conn_stats(p.conn)->bytes_in - before > 8000000);
    send_self(&p, "big", "over");
    while (p.skipped == 0) {
        assert_true(probe_run(&p, WAIT_MS));
    }
    assert_false(p.down);
    probe_close(&p);
}

/* ---- discovery */

static void take_list(void *arg, struct discover_list *list)
{
    struct discover_list *out = arg;
    *out = *list;
}

static void discover_now(struct discover_list *list)
{
    struct error err = {0};
    struct discover_options o = {.epmd_port = epmd_port};
    struct discover *search = NULL;
    uv_loop_t loop;
    uv_loop_init(&loop);
    *list = (struct discover_list){0};
    assert_int_equal(discover_start(&search, &loop, &o, take_list, list, &err), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static const struct discover_vm *find_pid(const struct discover_list *list, pid_t pid)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->vms[i].pid == pid) {
            return &list->vms[i];
        }
    }
    fail_msg("no VM of pid %d", pid);
    abort(); /* fail_msg does not return, which the compiler cannot know */
}

static void check_discovered(struct node *n, bool other_root, uint64_t started_ns)
{
    struct discover_list list;
    char release[32];
    discover_now(&list);
    const struct discover_vm *vm = find_pid(&list, n->pid);
    assert_string_equal(vm->node, n->name);
    assert_int_equal(vm->form, DISCOVER_LONG);
    assert_int_equal(vm->other_root, other_root);
    assert_true(vm->in_epmd);
    assert_int_equal(vm->port, node_port(n));
    assert_int_equal(vm->cookie_from, DISCOVER_COOKIE_ARGUMENT);
    assert_string_equal(vm->cookie.text, "secret");
    double since_s = (double)(clock_mono_ns() - started_ns) / 1e9;
    assert_true(vm->uptime_s >= 0 && vm->uptime_s < since_s + 60);
    assert_true(vm->rss_bytes > 1000000);
    assert_false(vm->other_network);
    node_eval(n, "list_to_integer(erlang:system_info(otp_release)).", release, sizeof release);
    assert_int_equal(strncmp(vm->otp, release, strlen(release)), 0);
    discover_clear(&list);
}

/* ---- releases */

/* Those of other releases live in root directories of their own. */
static void test_release(void **state)
{
    const char *release = *state;
    char root[512];
    struct node_options no = {
        .root = root, .name = "other@127.0.0.1", .long_name = true, .epmd_port = epmd_port};
    struct conn_options bad = options_for("other@127.0.0.1"), shut = bad;
    struct node n;
    if (!node_find_root(release, root, sizeof root))
        skip();
    uint64_t started_ns = clock_mono_ns();
    assert_int_equal(node_start(&n, &no), 0);
    check_talk(&n);
    check_discovered(&n, *root != '\0', started_ns);
    bad.cookie = "not-the-one";
    expect_failure(&bad, CONN_FAILED_COOKIE, "rejected the cookie");
    node_expect(&n, "net_kernel:allow(['only@127.0.0.1']).", "ok");
    expect_failure(&shut, CONN_FAILED_NOT_ALLOWED, "net_kernel:allow/1");
    node_stop(&n);
}

/* One test for each release. */
static int run_all(const struct CMUnitTest *tests, size_t n)
{
    static struct CMUnitTest all[64];
    static char names[NODE_RELEASES][16];
    assert_true(n + NODE_RELEASES <= sizeof all / sizeof all[0]);
    memcpy(all, tests, n * sizeof *tests);
    for (size_t i = 0; i < NODE_RELEASES; i++) {
        const char *release = node_releases[i];
        if (!node_is_chosen(release) && !node_is_chosen_once(release))
            continue;
        snprintf(names[i], sizeof names[i], "OTP %s", release);
        all[n++] =
            (struct CMUnitTest){names[i], test_release, NULL, NULL, (void *)(uintptr_t)release};
    }
    return _cmocka_run_group_tests("conn", all, n, NULL, NULL);
}

int main(void)
{
    struct error err = {0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_epmd),          cmocka_unit_test(test_no_such_node),
        cmocka_unit_test(test_no_cookie),        cmocka_unit_test(test_frozen),
        cmocka_unit_test(test_other_node),       cmocka_unit_test(test_pool_of_names),
        cmocka_unit_test(test_at_the_same_time), cmocka_unit_test(test_no_atoms_per_connection),
        cmocka_unit_test(test_name_forms),       cmocka_unit_test(test_node_ends),
        cmocka_unit_test(test_ticks_keep_it_up), cmocka_unit_test(test_monitors),
        cmocka_unit_test(test_large_messages),   cmocka_unit_test(test_ipv6),
    };
    signal(SIGPIPE, SIG_IGN);
    if (!node_available(NULL)) {
        printf("1..0 # SKIP there is no erl on this machine\n");
        return 0; /* with TAP the line above is the skip; another exit code would be an error */
    }
    conn_global_init(&err);
    epmd_pid = node_epmd_start(&epmd_port);
    snprintf(name_a, sizeof name_a, "a%ld@127.0.0.1", (long)getpid());
    struct node_options a = {.name = name_a, .long_name = true, .epmd_port = epmd_port};
    if (node_start(&node_a, &a) != 0) {
        return 1;
    }
    int rc = run_all(tests, sizeof tests / sizeof tests[0]);
    node_stop(&node_a);
    node_kill(epmd_pid);
    return rc;
}
