/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connections to what is no node, or turns bad after a good handshake. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/build.h"
#include "fake_peer.h"
#include "node.h"
#include "probe.h"

/* Without an epmd: a test gives the port, of the node or of what stands in epmd's place. */
static struct conn_options options_for(const char *target)
{
    return probe_options(target, 1);
}

static void test_refused(void **state)
{
    struct conn_options o = options_for("a@127.0.0.1");
    (void)state;
    int closed = node_closed_port(&o.port);
    expect_failure(&o, CONN_FAILED_REFUSED, "refuses the connection");
    close(closed);
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
    o.timeout_ms = TIMEOUT_MS;
    expect_no_answer(&o, CONN_FAILED_FILTERED, "firewall");
    for (size_t i = 0; i < 8; i++) {
        close(fillers[i]);
    }
    close(fd);
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
        if (conn_open(&c, &loop, &o, &probe_handlers, NULL, &err) != ERR_USAGE) {
            fail_msg("'%s' was taken for a name", names[i]);
        }
        assert_null(c);
        assert_int_equal(uv_loop_close(&loop), 0);
    }
}

static void test_host_not_found(void **state)
{
    struct conn_options o = options_for("a@no-such-host.invalid");
    struct probe p;
    (void)state;
    o.timeout_ms = TIMEOUT_MS;
    /* Without a name server the lookup may take longer than we wait: both are told. */
    probe_open(&p, &o);
    assert_true(p.down && (p.why == CONN_FAILED_HOST || p.why == CONN_FAILED_LOOKUP));
    assert_non_null(strstr(p.err.text, "no-such-host.invalid"));
    probe_close(&p);
}

/* ---- peers that are none */

#define BYTES(s) s, sizeof(s) - 1

/* What a peer does with each connection: of the child that is started next. */
static struct said {
    const char *bytes;
    size_t len;
    bool stays; /* else it closes */
} said;

static void serve_silence(int fd)
{
    char b[64];
    while (read(fd, b, sizeof b) > 0) {
    }
}

/* A close with something unread would reset the connection. */
static void say(int fd)
{
    (void)!write(fd, said.bytes, said.len);
    if (said.stays)
        sleep(60);
    shutdown(fd, SHUT_WR);
    serve_silence(fd);
}

static void hear_and_say(int fd)
{
    char b[4096];
    if (read(fd, b, sizeof b) > 0)
        say(fd);
}

/* Never a whole name, for much longer than anybody waits. */
static void serve_drip(int fd)
{
    static const char status[] = {0, 3, 's', 'o', 'k', 0, 100, 'N'};
    ssize_t written = write(fd, status, sizeof status);
    for (int i = 0; i < 90 && written > 0; i++) {
        struct timespec pause = {0, 300000000};
        nanosleep(&pause, NULL);
        written = write(fd, "", 1);
    }
}

#define HTTP BYTES("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

static void test_no_nodes(void **state)
{
    static const struct {
        const char *name;
        void (*serve)(int fd);
        struct said said;
        enum conn_failure why;
        const char *part;
        unsigned timeout_ms; /* of the silent */
    } cases[] = {
        {"silent",
         serve_silence,
         {0},
         CONN_FAILED_SILENT,
         "its net_kernel hangs, or its code server",
         TIMEOUT_MS},
        {"drips", serve_drip, {0}, CONN_FAILED_SILENT, "its process `auth` hangs", 2 * TIMEOUT_MS},
        {"http",
         hear_and_say,
         {HTTP, true},
         CONN_FAILED_NOT_ERLANG,
         "not as an Erlang node does",
         0},
        {"tls",
         hear_and_say,
         {BYTES("\x15\3\3\0\2\2\x32"), false},
         CONN_FAILED_TLS,
         "ended TLS with alert 50 (decode error)",
         0},
        {"tls, which is off",
         hear_and_say,
         {BYTES("\x15\3\3\0\2\2\x32"), false},
         CONN_FAILED_TLS_NEEDED,
         "leave out --no-tls",
         0},
        {"closes",
         hear_and_say,
         {0},
         CONN_FAILED_NOT_ERLANG,
         "closed the connection during the handshake",
         0},
        /* As a node that got another handshake under the same name. */
        {"pushes",
         hear_and_say,
         {BYTES("\0\3sok"), false},
         CONN_FAILED_INCOMPATIBLE,
         "in the middle of the handshake",
         0},
        {"old",
         hear_and_say,
         {BYTES("\0\3sok\0\xfn\0\5\0\0\0\0\1\2\3\4a@bc"), true},
         CONN_FAILED_INCOMPATIBLE,
         "older than OTP 23",
         0},
        {"without the flags of OTP 23",
         hear_and_say,
         {BYTES("\0\3sok\0\x21N\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1\0\16fake@127.0.0.1"), true},
         CONN_FAILED_INCOMPATIBLE,
         "lacks what the handshake of OTP 23",
         0},
        {"not allowed",
         hear_and_say,
         {BYTES("\0\14snot_allowed"), true},
         CONN_FAILED_NOT_ALLOWED,
         "net_kernel:allow/1",
         0},
        {"garbage",
         hear_and_say,
         {BYTES("\xff\x9b\1\0\x80 no node says this"), true},
         CONN_FAILED_NOT_ERLANG,
         "not as an Erlang node does",
         0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct conn_options o = options_for("fake@127.0.0.1");
        said = cases[i].said;
        pid_t pid = fake_tcp_start(&o.port, cases[i].serve);
        print_message("# %s\n", cases[i].name);
        if (cases[i].why == CONN_FAILED_TLS_NEEDED)
            o.tls = TLS_NEVER;
        if (cases[i].timeout_ms > 0) {
            o.timeout_ms = cases[i].timeout_ms;
            expect_no_answer(&o, cases[i].why, cases[i].part);
        } else {
            expect_failure(&o, cases[i].why, cases[i].part);
        }
        node_kill(pid);
    }
}

/* The same, in epmd's place. */
static void test_no_epmds(void **state)
{
    static const struct {
        const char *name;
        void (*serve)(int fd);
        struct said said;
        enum conn_failure why;
    } cases[] = {
        {"silent", serve_silence, {0}, CONN_FAILED_EPMD_SILENT},
        {"http", hear_and_say, {HTTP, true}, CONN_FAILED_NOT_EPMD},
        {"closes", hear_and_say, {0}, CONN_FAILED_NOT_EPMD},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct conn_options o = options_for("fake@127.0.0.1");
        said = cases[i].said;
        pid_t pid = fake_tcp_start(&o.epmd_port, cases[i].serve);
        print_message("# %s\n", cases[i].name);
        if (cases[i].why == CONN_FAILED_EPMD_SILENT) {
            o.timeout_ms = TIMEOUT_MS;
            expect_no_answer(&o, cases[i].why, "epmd");
        } else {
            expect_failure(&o, cases[i].why, "epmd");
        }
        node_kill(pid);
    }
}

/* ---- peers that turn bad after a good handshake */

static void after_nested(int fd)
{
    char frame[4096] = {0, 0, 0x0f, (char)0xfc, 112, (char)131};
    for (size_t i = 6; i + 1 < sizeof frame; i += 2) {
        frame[i] = 104;
        frame[i + 1] = 1;
    }
    (void)!write(fd, frame, sizeof frame);
    sleep(60);
}

static void test_bad_after_handshake(void **state)
{
    static const char garbage[] = "beamtop closed the connection to";
    static const struct {
        const char *name;
        void (*serve)(int fd);
        struct said said;
        enum conn_failure why;
        const char *text;
    } cases[] = {
        {"closes", say, {0}, CONN_LOST, "the node stopped or disconnected beamtop"},
        {"ticks", say, {BYTES("\0\0\0\0"), false}, CONN_LOST, "the node stopped or"},
        {"garbage", say, {BYTES("\0\0\0\5hello"), true}, CONN_LOST_GARBAGE, garbage},
        {"http", say, {HTTP, true}, CONN_LOST_GARBAGE, garbage},
        {"truncated term", say, {BYTES("\0\0\0\6p\x83h\3a\2"), true}, CONN_LOST_GARBAGE, garbage},
        {"half a frame", say, {BYTES("\0\0\1\0p"), false}, CONN_LOST, "in the middle of a message"},
        {"half a long one",
         say,
         {BYTES("\2\0\0\0p"), false},
         CONN_LOST,
         "in the middle of a message"},
        {"endless nesting", after_nested, {0}, CONN_LOST_GARBAGE, garbage},
        {"send to no pid",
         say,
         {BYTES("\0\0\0\xcp\x83h\3a\2w\0a\1a\1"), true},
         CONN_LOST_GARBAGE,
         garbage},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct conn_options o = options_for("fake@127.0.0.1");
        struct probe p;
        said = cases[i].said;
        pid_t pid = fake_node_start(&o.port, cases[i].serve);
        probe_open(&p, &o);
        print_message("# %s\n", cases[i].name);
        expect_up(&p);
        assert_true(p.down || probe_run(&p, WAIT_MS));
        assert_true(p.down);
        print_message("#   %s\n", p.err.text);
        assert_int_equal(p.why, cases[i].why);
        assert_non_null(strstr(p.err.text, cases[i].text));
        probe_close(&p);
        node_kill(pid);
    }
}

static void after_hearing(int fd)
{
    char b[4096];
    if (read(fd, b, sizeof b) > 0)
        (void)!write(fd, BYTES("\0\0\1\0p"));
    _exit(0);
}

/* What was sent to it fails before its last words are read: they say more than "broken pipe". */
static void test_last_words_are_read(void **state)
{
    struct conn_options o = options_for("fake@127.0.0.1");
    struct probe p;
    struct error err = {0};
    siginfo_t ended;
    size_t len;
    (void)state;
    pid_t pid = fake_node_start(&o.port, after_hearing);
    probe_open(&p, &o);
    expect_up(&p);
    struct builder *b = builder_new();
    build_atom(b, "hello");
    const uint8_t *bytes = builder_bytes(b, &len);
    assert_int_equal(conn_send_name(p.conn, "sink", bytes, len, &err), 0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
    for (int i = 0; i < 3; i++) /* the first finds out, the next fail */
        (void)conn_send_name(p.conn, "sink", bytes, len, &err);
    builder_free(b);
    assert_true(probe_run(&p, WAIT_MS));
    assert_true(p.down);
    assert_non_null(strstr(p.err.text, "in the middle of a message"));
    probe_close(&p);
    node_kill(pid);
}

/* ---- names that no node of ours would choose */

static void test_peers_with_odd_names(void **state)
{
    static const struct {
        const char *name;
        bool taken;
    } cases[] = {
        {"fake@caf\xc3\xa9.\xc2\x9b", true}, {"fake@\xe2\x80\xae.moc", true},
        {"fake@caf\xe9.org", true}, /* as Erlang sends it */
        {"fake@127.0.0.1\xff", true},        {"fake@a.\xed\xa0\x80", true},
        {"fake@a.b\x1b[31m", false},         {"fa\xc3", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct conn_options o = options_for("fake@127.0.0.1");
        static const uint8_t one[] = {131, 97, 1};
        struct etf_pid there = {.id = 40, .creation = 7};
        struct error err = {0};
        struct probe p;
        pid_t pid = fake_named_start(&o.port, cases[i].name, serve_silence);
        probe_open(&p, &o);
        print_message("# %zu\n", i);
        if (cases[i].taken) {
            expect_up(&p);
            assert_int_equal(conn_send(p.conn, &there, one, sizeof one, &err), 0);
        } else {
            expect_down(&p, CONN_FAILED_OTHER_NODE, "calls itself");
        }
        assert_null(strpbrk(p.err.text, "\x1b\xff"));
        probe_close(&p);
        node_kill(pid);
    }
}

/* Any process of a node may ask after a name here, or link to a pid that it makes up. */
static const struct odd {
    uint8_t tag; /* of the atom */
    uint8_t width;
    const char *unit;
    unsigned units;
} odd_atoms[] = {
    {ETF_ATOM_UTF8, 2, "a", 255},
    {ETF_ATOM_UTF8, 2, "\xc3\xa9", 255}, /* 255 bytes end inside a character */
    {ETF_ATOM_UTF8, 2, "\xe2\x82\xac", 86},
    {ETF_ATOM_UTF8, 2, "\xf0\x9f\x98\x80", 255},
    {ETF_SMALL_ATOM_UTF8, 1, "\xc2\x9b", 9},
    {ETF_SMALL_ATOM_LATIN1, 1, "\xe9", 1},
    {ETF_ATOM_LATIN1, 2, "\xff", 255},
};

static void put_odd(struct buf *out, const struct odd *atom)
{
    size_t len = strlen(atom->unit) * atom->units;
    buf_put_u8(out, atom->tag);
    if (atom->width == 2) {
        buf_put_u16be(out, (uint16_t)len);
    } else {
        buf_put_u8(out, (uint8_t)len);
    }
    for (unsigned i = 0; i < atom->units; i++) {
        buf_puts(out, atom->unit);
    }
}

static void put_odd_pid(struct buf *out, const struct odd *node)
{
    buf_put_u8(out, ETF_NEW_PID);
    put_odd(out, node);
    buf_put_u32be(out, 77);
    buf_put_u32be(out, 0);
    buf_put_u32be(out, 5);
}

static void send_control(int fd, const struct buf *control)
{
    struct buf frame;
    buf_init(&frame, 0);
    buf_put_u32be(&frame, (uint32_t)control->len + 2);
    buf_put_u8(&frame, 112);
    buf_put_u8(&frame, ETF_VERSION);
    buf_put(&frame, control->data, control->len);
    (void)!write(fd, frame.data, frame.len);
    buf_clear(&frame);
}

/* Whether the next frame is this control message. */
static bool hears(int fd, const struct buf *control)
{
    struct buf in;
    uint8_t byte;
    buf_init(&in, 0);
    size_t len = 6 + control->len;
    while (in.len < len && read(fd, &byte, 1) == 1) {
        buf_put_u8(&in, byte);
        if (in.len == 4 && memcmp(in.data, "\0\0\0\0", 4) == 0) {
            buf_reset(&in); /* a tick */
        }
    }
    bool same = in.len == len && memcmp(in.data + 6, control->data, control->len) == 0;
    buf_clear(&in);
    return same;
}

/* A control message: its head, then p for a pid or a for an atom of that name, then its end. */
static void put_control(struct buf *out, const struct odd *atom, const char *head, size_t head_len,
                        const char *ends, const char *end, size_t end_len)
{
    buf_init(out, 0);
    buf_put(out, head, head_len);
    for (; *ends != '\0'; ends++) {
        *ends == 'p' ? put_odd_pid(out, atom) : put_odd(out, atom);
    }
    buf_put(out, end, end_len);
}

/* MONITOR of a name, LINK and UNLINK_ID between pids: each end comes back as it went. */
static bool odd_answered(int fd, const struct odd *atom)
{
#define REF "\x5a\0\1w\1a\0\0\0\5\0\0\0\1"
    struct buf ask[3], answer[3];
    bool ok = true;
    put_control(&ask[0], atom, BYTES("h\4a\x13"), "pa", BYTES(REF));
    put_control(&answer[0], atom, BYTES("h\5a\x15"), "ap", BYTES(REF "w\6noproc"));
    put_control(&ask[1], atom, BYTES("h\3a\1"), "pp", BYTES(""));
    put_control(&answer[1], atom, BYTES("h\4a\3"), "pp", BYTES("w\6noproc"));
    put_control(&ask[2], atom,
                BYTES("h\4a\x23"
                      "a\1"),
                "pp", BYTES(""));
    put_control(&answer[2], atom,
                BYTES("h\4a\x24"
                      "a\1"),
                "pp", BYTES(""));
    for (int i = 0; i < 3; i++) {
        send_control(fd, &ask[i]);
        ok = ok && hears(fd, &answer[i]);
        buf_clear(&ask[i]);
        buf_clear(&answer[i]);
    }
    return ok;
}

/* A tick says that all were answered; else it closes the connection. */
static void after_odd_names(int fd)
{
    for (size_t i = 0; i < sizeof odd_atoms / sizeof odd_atoms[0]; i++) {
        if (!odd_answered(fd, &odd_atoms[i])) {
            return;
        }
    }
    (void)!write(fd, "\0\0\0\0", 4);
    sleep(60);
}

static void test_odd_names_are_answered(void **state)
{
    struct conn_options o = options_for("fake@127.0.0.1");
    struct probe p;
    (void)state;
    pid_t pid = fake_node_start(&o.port, after_odd_names);
    probe_open(&p, &o);
    expect_up(&p);
    for (int i = 0; i < 100 && !p.down && conn_stats(p.conn)->ticks_in == 0; i++) {
        probe_run(&p, 200);
    }
    assert_false(p.down);
    assert_int_equal(conn_stats(p.conn)->ticks_in, 1);
    probe_close(&p);
    node_kill(pid);
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
    sleep(60);
}

static void test_oversized_frame_is_skipped(void **state)
{
    struct conn_options o = options_for("fake@127.0.0.1");
    struct probe p;
    (void)state;
    pid_t pid = fake_node_start(&o.port, after_oversized);
    probe_open(&p, &o);
    expect_up(&p);
    assert_true(p.skipped == 1 || probe_run(&p, WAIT_MS));
    assert_int_equal(p.skipped, 1);
    for (int i = 0; i < 100 && conn_stats(p.conn)->ticks_in == 0; i++) {
        assert_false(probe_run(&p, 200));
    }
    assert_false(p.down);
    assert_int_equal(conn_stats(p.conn)->ticks_in, 1);
    probe_close(&p);
    node_kill(pid);
}

static void after_no_reading(int fd)
{
    (void)fd;
    sleep(120);
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
    assert_true(probe_run(&p, WAIT_MS));
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
        p = (struct probe){0};
        uv_loop_init(&p.loop);
        assert_int_equal(conn_open(&p.conn, &p.loop, &o, &probe_handlers, &p, &err), 0);
        if (waits_ms[i] > 0) {
            probe_run(&p, waits_ms[i]);
        }
        probe_close(&p);
        assert_false(p.up || p.down);
        node_kill(pid);
    }
}

int main(void)
{
    struct error err = {0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_not_found),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_filtered),
        cmocka_unit_test(test_bad_names),
        cmocka_unit_test(test_no_nodes),
        cmocka_unit_test(test_no_epmds),
        cmocka_unit_test(test_bad_after_handshake),
        cmocka_unit_test(test_last_words_are_read),
        cmocka_unit_test(test_peers_with_odd_names),
        cmocka_unit_test(test_odd_names_are_answered),
        cmocka_unit_test(test_oversized_frame_is_skipped),
        cmocka_unit_test(test_stalled_peer),
        cmocka_unit_test(test_close_on_the_way),
    };
    signal(SIGPIPE, SIG_IGN);
    conn_global_init(&err);
    return cmocka_run_group_tests_name("conn_peers", tests, NULL, NULL);
}
