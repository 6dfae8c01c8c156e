/* Connections to real nodes and to peers that are none. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <ei.h>
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

/* By libei: a reader that is not ours. */
static void print(struct probe *p, const uint8_t *term, size_t len)
{
    int index = 0;
    int version = 0;
    char *text = NULL;
    (void)len;
    ei_decode_version((const char *)term, &index, &version);
    ei_s_print_term(&text, (const char *)term, &index);
    snprintf(p->text, sizeof p->text, "%s", text);
    free(text);
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
    return (struct conn_options){
        .target = target, .epmd_port = epmd_port, .cookie = "secret", .timeout_ms = TIMEOUT_MS};
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
                "case whereis(echo) of undefined -> ok; "
                "Old -> exit(Old, kill), timer:sleep(20) end, "
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
    snprintf(expected, sizeof expected, "{hello, '%s'}", n->name);
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

/* ---- what does not */

static void expect_failure(const struct conn_options *o, const char *word, const char *part)
{
    struct probe p;
    probe_open(&p, o);
    expect_down(&p, word, part);
    probe_close(&p);
}

static void test_no_epmd(void **state)
{
    struct conn_options o = options_for("a@127.0.0.1");
    (void)state;
    o.epmd_port = node_free_port();
    expect_failure(&o, "no-epmd", "no epmd at 127.0.0.1");
}

static void test_no_such_node(void **state)
{
    struct conn_options o = options_for("b@127.0.0.1");
    (void)state;
    expect_failure(&o, "no-such-node", "knows: a");
}

static void test_host_not_found(void **state)
{
    struct conn_options o = options_for("a@no-such-host.invalid");
    struct probe p;
    (void)state;
    probe_open(&p, &o);
    /* Without a name server the lookup may take longer than we wait: both are told. */
    assert_true(p.why == CONN_FAILED_HOST || p.why == CONN_FAILED_LOOKUP);
    assert_non_null(strstr(p.err.text, "no-such-host.invalid"));
    assert_true(p.elapsed_ms < TIMEOUT_MS + 500);
    probe_close(&p);
}

static void test_refused(void **state)
{
    struct conn_options o = options_for("a@127.0.0.1");
    (void)state;
    o.port = node_free_port();
    expect_failure(&o, "refused", "refuses the connection");
}

/* A listener whose queue is full drops what comes, as a firewall does. */
static void test_filtered(void **state)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    socklen_t len = sizeof sa;
    struct conn_options o = options_for("a@127.0.0.1");
    int fillers[8];
    (void)state;
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
    assert_int_equal(listen(fd, 0), 0);
    getsockname(fd, (struct sockaddr *)&sa, &len);
    for (size_t i = 0; i < 8; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(fillers[i], (struct sockaddr *)&sa, sizeof sa);
    }
    o.port = ntohs(sa.sin_port);
    expect_failure(&o, "filtered", "firewall");
    for (size_t i = 0; i < 8; i++) {
        close(fillers[i]);
    }
    close(fd);
}

static void test_wrong_cookie(void **state)
{
    struct conn_options o = options_for("a@127.0.0.1");
    (void)state;
    o.cookie = "not-the-one";
    expect_failure(&o, "wrong-cookie", "does not take our cookie");
}

static void test_not_allowed(void **state)
{
    struct conn_options o = options_for("a@127.0.0.1");
    struct node n;
    struct node_options no = {
        .name = "strict@127.0.0.1", .long_name = true, .epmd_port = epmd_port};
    (void)state;
    assert_int_equal(node_start(&n, &no), 0);
    node_expect(&n, "net_kernel:allow(['only@127.0.0.1']).", "ok");
    o.target = n.name;
    expect_failure(&o, "not-allowed", "net_kernel:allow/1");
    node_stop(&n);
}

static void test_frozen(void **state)
{
    struct conn_options o = options_for("a@127.0.0.1");
    (void)state;
    kill(node_a.pid, SIGSTOP);
    expect_failure(&o, "silent", "does not answer within 1.5 s");
    kill(node_a.pid, SIGCONT);
}

static void test_other_node(void **state)
{
    struct conn_options o = options_for("b@127.0.0.1");
    (void)state;
    o.port = node_port(&node_a);
    expect_failure(&o, "other-node", "calls itself a@127.0.0.1");
}

static void test_bad_names(void **state)
{
    static const char *const names[] = {"", "@", "a@", "@b", "a@b@c", "a b@c", "a@b\x1b"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct conn_options o = options_for(names[i]);
        struct error err = {0};
        struct conn *c = NULL;
        uv_loop_t loop;
        uv_loop_init(&loop);
        if (conn_open(&c, &loop, &o, &handlers, NULL, &err) != ERR_USAGE) {
            fail_msg("'%s' was taken for a name", names[i]);
        }
        assert_null(c);
        assert_int_equal(uv_loop_close(&loop), 0);
    }
}

/* ---- names */

static void test_pool_of_names(void **state)
{
    struct probe p[LIMIT_NAME_POOL];
    struct conn_options o = options_for("a@127.0.0.1");
    (void)state;
    for (unsigned i = 0; i < LIMIT_NAME_POOL; i++) {
        char name[64];
        snprintf(name, sizeof name, i == 0 ? "beamtop@127.0.0.1" : "beamtop-%u@127.0.0.1", i + 1);
        probe_open(&p[i], &o);
        expect_up(&p[i]);
        assert_string_equal(conn_own_node(p[i].conn), name);
    }
    expect_failure(&o, "name-taken", "beamtop-8@127.0.0.1");
    for (unsigned i = 0; i < LIMIT_NAME_POOL; i++) {
        probe_close(&p[i]);
    }
}

static void test_no_atoms_per_connection(void **state)
{
    struct conn_options o = options_for("a@127.0.0.1");
    char before[64];
    char after[64];
    (void)state;
    node_eval(&node_a, "erlang:system_info(atom_count).", before, sizeof before);
    for (int i = 0; i < 50; i++) {
        struct probe p;
        probe_open(&p, &o);
        expect_up(&p);
        probe_close(&p);
    }
    node_eval(&node_a, "erlang:system_info(atom_count).", after, sizeof after);
    assert_string_equal(before, after);
}

struct form_case {
    const char *name; /* of the node */
    bool long_name;
    const char *target;
    const char *own; /* NULL: with the name of this host */
    bool notice;
};

static void test_name_forms(void **state)
{
    static const struct form_case cases[] = {
        {"s@localhost", false, "s@localhost", "beamtop@localhost", false},
        {"s@localhost", false, "s@127.0.0.1", "beamtop@localhost", true},
        {"s@localhost", false, "s", NULL, false},
        {"l@127.0.0.1", true, "l@localhost", "beamtop@127.0.0.1", true},
        {"l@127.0.0.1", true, "l", "beamtop@127.0.0.1", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct form_case *k = &cases[i];
        struct node_options no = {
            .name = k->name, .long_name = k->long_name, .epmd_port = epmd_port};
        struct conn_options o = options_for(k->target);
        struct node n;
        struct probe p;
        assert_int_equal(node_start(&n, &no), 0);
        probe_open(&p, &o);
        print_message("# node %s asked for as %s\n", k->name, k->target);
        expect_up(&p);
        if (k->own != NULL) {
            assert_string_equal(conn_own_node(p.conn), k->own);
        }
        assert_string_equal(conn_peer_node(p.conn), k->name);
        assert_int_equal(conn_notice(p.conn)[0] != '\0', k->notice);
        probe_close(&p);
        node_stop(&n);
    }
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
    assert_true(run(&p, 5000));
    assert_true(p.down);
    assert_int_equal(p.why, CONN_LOST);
    probe_close(&p);
}

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
    assert_false(run(&p, 8000));
    assert_true(conn_is_up(p.conn));
    assert_true(conn_stats(p.conn)->ticks_in >= 2);
    node_expect(&n, "length(nodes(hidden)).", "1");
    probe_close(&p);
    node_stop(&n);
}

/* A monitor on us gets an answer: there is no such process. */
static void test_monitors(void **state)
{
    struct conn_options o = options_for("a@127.0.0.1");
    struct probe p;
    (void)state;
    probe_open(&p, &o);
    expect_up(&p);
    node_ask(&node_a, "R = erlang:monitor(process, {nobody, 'beamtop@127.0.0.1'}), "
                      "receive {'DOWN', R, _, _, Why} -> Why after 3000 -> none end.");
    assert_false(run(&p, 500));
    char text[64];
    assert_int_equal(node_answer(&node_a, text, sizeof text), 0);
    assert_string_equal(text, "noproc");
    probe_close(&p);
}

/* ---- peers that are none */

static void serve_silence(int fd)
{
    char b[64];
    while (read(fd, b, sizeof b) > 0) {
    }
}

static void serve_http(int fd)
{
    static const char answer[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    char b[256];
    if (read(fd, b, sizeof b) > 0) {
        (void)!write(fd, answer, sizeof answer - 1);
        sleep(5);
    }
}

static void serve_tls(int fd)
{
    static const char alert[] = {0x15, 3, 3, 0, 2, 2, 50};
    char b[256];
    if (read(fd, b, sizeof b) > 0) {
        (void)!write(fd, alert, sizeof alert);
    }
}

static void serve_close(int fd)
{
    char b[256];
    (void)!read(fd, b, sizeof b);
}

static void serve_drip(int fd)
{
    static const char status[] = {0, 3, 's', 'o', 'k', 0, 30, 'N'};
    for (size_t i = 0; i < sizeof status; i++) {
        struct timespec pause = {0, 300000000};
        (void)!write(fd, status + i, 1);
        nanosleep(&pause, NULL);
    }
}

static void serve_old(int fd)
{
    static const char old[] = {0, 3, 's', 'o', 'k', 0, 15, 'n', 0,   5,   0,
                               0, 0, 0,   1,   2,   3, 4,  'a', '@', 'b', 'c'};
    char b[256];
    (void)!read(fd, b, sizeof b);
    (void)!write(fd, old, sizeof old);
    sleep(5);
}

static void serve_random(int fd)
{
    char b[4096];
    int r = open("/dev/urandom", O_RDONLY);
    (void)!read(r, b, sizeof b);
    b[0] = (char)0xff;
    (void)!write(fd, b, sizeof b);
    close(r);
    sleep(5);
}

static void test_no_nodes(void **state)
{
    static const struct {
        const char *name;
        void (*serve)(int fd);
        const char *word;
        const char *part;
    } cases[] = {
        {"silent", serve_silence, "silent", "does not answer within"},
        {"http", serve_http, "not-erlang", "not as an Erlang node does"},
        {"tls", serve_tls, "not-erlang", "speaks TLS"},
        {"closes", serve_close, "not-erlang", "closes the connection without a word"},
        {"drips", serve_drip, "silent", "does not finish the handshake within"},
        {"old", serve_old, "incompatible", "older than OTP 23"},
        {"random", serve_random, "not-erlang", "not as an Erlang node does"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct conn_options o = options_for("fake@127.0.0.1");
        pid_t pid = fake_tcp_start(&o.port, cases[i].serve);
        print_message("# %s\n", cases[i].name);
        expect_failure(&o, cases[i].word, cases[i].part);
        node_kill(pid);
    }
}

/* The same, in epmd's place. */
static void test_no_epmds(void **state)
{
    static const struct {
        const char *name;
        void (*serve)(int fd);
        const char *word;
    } cases[] = {
        {"silent", serve_silence, "epmd-silent"},
        {"http", serve_http, "not-epmd"},
        {"closes", serve_close, "not-epmd"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct conn_options o = options_for("fake@127.0.0.1");
        pid_t pid = fake_tcp_start(&o.epmd_port, cases[i].serve);
        print_message("# %s\n", cases[i].name);
        expect_failure(&o, cases[i].word, "epmd");
        node_kill(pid);
    }
}

/* ---- peers that turn bad after a good handshake */

static void after_close(int fd)
{
    (void)fd;
}

static void after_garbage(int fd)
{
    (void)!write(fd, "\0\0\0\5hello", 9);
    sleep(5);
}

static void after_http(int fd)
{
    (void)!write(fd, "HTTP/1.1 200 OK\r\n\r\n", 19);
    sleep(5);
}

static void after_truncated(int fd)
{
    static const char frame[] = {0, 0, 0, 6, 112, (char)131, 104, 3, 97, 2};
    (void)!write(fd, frame, sizeof frame);
    sleep(5);
}

static void after_half(int fd)
{
    (void)!write(fd, "\0\0\1\0p", 5);
}

static void after_nested(int fd)
{
    char frame[4096] = {0, 0, 0x0f, (char)0xfc, 112, (char)131};
    for (size_t i = 6; i + 1 < sizeof frame; i += 2) {
        frame[i] = 104;
        frame[i + 1] = 1;
    }
    (void)!write(fd, frame, sizeof frame);
    sleep(5);
}

static void after_bare_send(int fd)
{
    static const char frame[] = {0, 0, 0, 12, 112, (char)131, 104, 3, 97, 2, 119, 0, 97, 1, 97, 1};
    (void)!write(fd, frame, sizeof frame);
    sleep(5);
}

static void test_bad_after_handshake(void **state)
{
    static const struct {
        const char *name;
        void (*serve)(int fd);
        enum conn_failure why;
    } cases[] = {
        {"closes", after_close, CONN_LOST},
        {"garbage", after_garbage, CONN_LOST_GARBAGE},
        {"http", after_http, CONN_LOST_GARBAGE},
        {"truncated term", after_truncated, CONN_LOST_GARBAGE},
        {"half a frame", after_half, CONN_LOST},
        {"endless nesting", after_nested, CONN_LOST_GARBAGE},
        {"send to no pid", after_bare_send, CONN_LOST_GARBAGE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct conn_options o = options_for("fake@127.0.0.1");
        struct probe p;
        pid_t pid = fake_node_start(&o.port, cases[i].serve);
        probe_open(&p, &o);
        print_message("# %s\n", cases[i].name);
        expect_up(&p);
        assert_true(p.down || run(&p, 3000));
        assert_true(p.down);
        print_message("#   %s\n", p.err.text);
        assert_int_equal(p.why, cases[i].why);
        probe_close(&p);
        node_kill(pid);
    }
}

static void after_oversized(int fd)
{
    static char block[1024 * 1024];
    static const char head[] = {0x02, 0, 0, 0}; /* 32 MiB */
    static const char tick[] = {0, 0, 0, 0};
    (void)!write(fd, head, sizeof head);
    for (int i = 0; i < 32; i++) {
        (void)!write(fd, block, sizeof block);
    }
    (void)!write(fd, tick, sizeof tick);
    sleep(5);
}

static void test_oversized_frame_is_skipped(void **state)
{
    struct conn_options o = options_for("fake@127.0.0.1");
    struct probe p;
    (void)state;
    pid_t pid = fake_node_start(&o.port, after_oversized);
    probe_open(&p, &o);
    expect_up(&p);
    assert_true(run(&p, 3000));
    assert_int_equal(p.skipped, 1);
    assert_false(run(&p, 200));
    assert_true(conn_is_up(p.conn));
    assert_int_equal(conn_stats(p.conn)->ticks_in, 1);
    probe_close(&p);
    node_kill(pid);
}

static void after_no_reading(int fd)
{
    (void)fd;
    sleep(20);
}

static void test_stalled_peer(void **state)
{
    struct conn_options o = options_for("fake@127.0.0.1");
    struct probe p;
    struct error err = {0};
    size_t len = 0;
    static const char block[256 * 1024];
    (void)state;
    pid_t pid = fake_node_start(&o.port, after_no_reading);
    probe_open(&p, &o);
    expect_up(&p);
    struct builder *b = builder_new();
    build_binary(b, block, sizeof block);
    const uint8_t *bytes = builder_bytes(b, &len);
    int rc = 0;
    for (int i = 0; i < 200 && rc == 0; i++) {
        rc = conn_send_name(p.conn, "sink", bytes, len, &err);
    }
    builder_free(b);
    assert_int_equal(rc, ERR_LIMIT);
    assert_false(p.down);
    assert_true(run(&p, 1000));
    assert_true(p.down);
    assert_int_equal(p.why, CONN_LOST_STALLED);
    probe_close(&p);
    node_kill(pid);
}

/* ---- giving up */

static void test_close_on_the_way(void **state)
{
    static const unsigned waits_ms[] = {0, 1, 5, 20, 100};
    (void)state;
    for (size_t i = 0; i < sizeof waits_ms / sizeof waits_ms[0]; i++) {
        struct conn_options o = options_for("fake@127.0.0.1");
        struct probe p;
        struct error err = {0};
        pid_t pid = fake_tcp_start(&o.port, serve_silence);
        memset(&p, 0, sizeof p);
        uv_loop_init(&p.loop);
        assert_int_equal(conn_open(&p.conn, &p.loop, &o, &handlers, &p, &err), 0);
        if (waits_ms[i] > 0) {
            run(&p, waits_ms[i]);
        }
        uint64_t from = clock_mono_ns();
        probe_close(&p);
        assert_true(clock_mono_ns() - from < 1000000000u);
        assert_false(p.up || p.down);
        node_kill(pid);
    }
}

/* ---- the other releases */

static void test_other_releases(void **state)
{
    static const char *const roots[] = {"/var/cache/beamtop/otp-23", "/var/cache/beamtop/otp-27",
                                        "/var/cache/beamtop/otp-29"};
    unsigned tried = 0;
    (void)state;
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        struct node_options no = {
            .root = roots[i], .name = "other@127.0.0.1", .long_name = true, .epmd_port = epmd_port};
        struct conn_options bad = options_for("other@127.0.0.1");
        struct node n;
        if (!node_available(roots[i])) {
            print_message("# no erl in %s\n", roots[i]);
            continue;
        }
        tried++;
        assert_int_equal(node_start(&n, &no), 0);
        check_talk(&n);
        bad.cookie = "not-the-one";
        expect_failure(&bad, "wrong-cookie", "cookie");
        node_expect(&n, "net_kernel:allow(['only@127.0.0.1']).", "ok");
        struct conn_options shut = options_for("other@127.0.0.1");
        expect_failure(&shut, "not-allowed", "net_kernel:allow/1");
        node_stop(&n);
    }
    if (tried == 0) {
        skip();
    }
}

int main(void)
{
    struct error err = {0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_talk),
        cmocka_unit_test(test_no_epmd),
        cmocka_unit_test(test_no_such_node),
        cmocka_unit_test(test_host_not_found),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_filtered),
        cmocka_unit_test(test_wrong_cookie),
        cmocka_unit_test(test_not_allowed),
        cmocka_unit_test(test_frozen),
        cmocka_unit_test(test_other_node),
        cmocka_unit_test(test_bad_names),
        cmocka_unit_test(test_pool_of_names),
        cmocka_unit_test(test_no_atoms_per_connection),
        cmocka_unit_test(test_name_forms),
        cmocka_unit_test(test_node_ends),
        cmocka_unit_test(test_ticks_keep_it_up),
        cmocka_unit_test(test_monitors),
        cmocka_unit_test(test_no_nodes),
        cmocka_unit_test(test_no_epmds),
        cmocka_unit_test(test_bad_after_handshake),
        cmocka_unit_test(test_oversized_frame_is_skipped),
        cmocka_unit_test(test_stalled_peer),
        cmocka_unit_test(test_close_on_the_way),
        cmocka_unit_test(test_other_releases),
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
