/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connections by another way, over socket pairs whose far ends the test plays. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../test.h"
#include "beamtop/base/limits.h"
#include "beamtop/link/conn.h"
#include "beamtop/link/epmd.h"
#include "beamtop/link/way.h"

#define STREAMS (LIMIT_NAME_POOL + 2) /* a name each, once more by TLS, and epmd's */

struct played {
    struct conn_way way;
    int refused;        /* open() returns this */
    const char *answer; /* what the far end sends, then it closes; NULL: nothing, and stays open */
    size_t answer_len;
    const char *reason; /* explain() has this */
    uint16_t ports[STREAMS];
    int far[STREAMS];
    unsigned opened, ended, released;
};

/* A stream ends on the loop's thread while another one opens. */
static pthread_mutex_t played_lock = PTHREAD_MUTEX_INITIALIZER;

static int played_open(struct conn_way *way, const struct way_request *request,
                       struct way_stream *out, enum conn_failure *why, struct error *err)
{
    struct played *p = (struct played *)way;
    int ends[2];
    if (p->refused < 0) {
        *why = CONN_FAILED_WAY;
        return error_set(err, ERR_CONNECT, "the way is closed");
    }
    if (p->refused > 0)
        return p->refused;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    if (p->answer) {
        assert_int_equal(write(ends[1], p->answer, p->answer_len), (ssize_t)p->answer_len);
        shutdown(ends[1], SHUT_WR);
    }
    pthread_mutex_lock(&played_lock);
    assert_true(p->opened < STREAMS);
    p->ports[p->opened] = request->port;
    p->far[p->opened++] = ends[1];
    *out = (struct way_stream){.fd = ends[0], .id = p->opened};
    pthread_mutex_unlock(&played_lock);
    return 0;
}

static bool played_explain(struct conn_way *way, uint64_t id, enum conn_failure *why,
                           struct error *err)
{
    const struct played *p = (const struct played *)way;
    pthread_mutex_lock(&played_lock);
    assert_in_range(id, 1, p->opened);
    pthread_mutex_unlock(&played_lock);
    if (!p->reason)
        return false;
    *why = CONN_FAILED_WAY;
    error_set(err, ERR_CONNECT, "%s", p->reason);
    return true;
}

static void played_end(struct conn_way *way, uint64_t id)
{
    struct played *p = (struct played *)way;
    pthread_mutex_lock(&played_lock);
    assert_in_range(id, 1, p->opened);
    close(p->far[id - 1]);
    p->ended++;
    pthread_mutex_unlock(&played_lock);
}

static void played_release(struct conn_way *way)
{
    ((struct played *)way)->released++;
}

static const struct conn_way_class played_class = {
    .open = played_open,
    .explain = played_explain,
    .end = played_end,
    .release = played_release,
};

struct seen {
    bool down;
    enum conn_failure why;
    struct error err;
};

static void see_down(struct conn *c, void *arg, enum conn_failure why, const struct error *err)
{
    struct seen *s = arg;
    *s = (struct seen){.down = true, .why = why, .err = *err};
    conn_close(c, NULL, NULL);
}

/* One attempt over p, to its end; all that it opened is ended, and the way is given back. */
static struct seen try_way(struct played *p, uint16_t port, bool cookie)
{
    static const struct conn_handlers handlers = {.on_down = see_down};
    uv_loop_t loop;
    struct conn *c;
    struct error err = {0};
    struct seen seen = {0};
    way_init(&p->way, &played_class);
    p->way.text = "a played way";
    const struct conn_options o = {.target = "n@far",
                                   .way = &p->way,
                                   .port = port,
                                   .cookie = cookie ? "c" : NULL,
                                   .no_cookie = cookie ? NULL : "there is none",
                                   .this_host = "here",
                                   .timeout_ms = 400};
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(conn_open(&c, &loop, &o, &handlers, &seen, &err), 0);
    assert_false(seen.down); /* never from inside conn_open */
    way_drop(&p->way);
    assert_int_equal(p->released, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_true(seen.down);
    assert_int_equal(p->ended, p->opened);
    assert_int_equal(p->released, 1);
    return seen;
}

#define FOUND "\167\0\22\64\115\0\0\5\0\5\0\1\0\0"

TEST(test_the_port_comes_by_the_way)
{
    struct played p = {.answer = FOUND, .answer_len = sizeof FOUND - 1};
    struct seen seen = try_way(&p, 0, true);
    assert_int_equal(p.ports[0], EPMD_PORT);
    assert_int_equal(p.ports[1], 0x1234);
    assert_int_equal(seen.why, CONN_FAILED_NOT_ERLANG); /* epmd's answer is no handshake */
}

TEST(test_epmd_is_not_asked_for_a_known_port)
{
    struct played p = {.answer = ""};
    struct seen seen = try_way(&p, 77, true);
    assert_int_equal(p.ports[0], 77);
    assert_int_equal(seen.why, CONN_FAILED_NOT_ERLANG);
}

TEST(test_no_cookie)
{
    struct played p = {.answer = ""};
    struct seen seen = try_way(&p, 77, false);
    assert_int_equal(seen.why, CONN_FAILED_NO_COOKIE);
    assert_int_equal(p.opened, 0);
}

TEST(test_a_name_that_epmd_does_not_know)
{
    struct played p = {.answer = "\167\1", .answer_len = 2};
    struct seen seen = try_way(&p, 0, true);
    assert_int_equal(seen.why, CONN_FAILED_NO_NAME);
    assert_int_equal(p.opened, 2); /* the second for the names */
}

TEST(test_failures_of_the_way)
{
    static const struct {
        const char *name;
        int refused;
        const char *reason;
        uint16_t port;
        enum conn_failure why;
        const char *text;
    } cases[] = {
        {"epmd's port is closed", ECONNREFUSED, NULL, 0, CONN_FAILED_NO_EPMD, "a played way"},
        {"epmd does not answer", ETIMEDOUT, NULL, 0, CONN_FAILED_EPMD_SILENT, "a played way"},
        {"the node's port is closed", ECONNREFUSED, NULL, 7, CONN_FAILED_REFUSED, "refuses"},
        {"the way is closed to epmd", -1, NULL, 0, CONN_FAILED_WAY, "the way is closed"},
        {"the way is closed to the node", -1, NULL, 7, CONN_FAILED_WAY, "the way is closed"},
        {"the stream to epmd ends", 0, "it broke", 0, CONN_FAILED_WAY, "it broke"},
        {"the stream to the node ends", 0, "it broke", 7, CONN_FAILED_WAY, "it broke"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct played p = {.refused = cases[i].refused, .answer = "", .reason = cases[i].reason};
        print_message("# %s\n", cases[i].name);
        struct seen seen = try_way(&p, cases[i].port, true);
        assert_int_equal(seen.why, cases[i].why);
        assert_non_null(strstr(seen.err.text, cases[i].text));
    }
}

TEST(test_silence)
{
    struct played epmd = {0};
    assert_int_equal(try_way(&epmd, 0, true).why, CONN_FAILED_EPMD_SILENT);
    struct played node = {0};
    assert_int_equal(try_way(&node, 7, true).why, CONN_FAILED_SILENT);
}

static void close_now(uv_timer_t *t)
{
    conn_close(t->data, NULL, NULL);
    uv_close((uv_handle_t *)t, NULL);
}

TEST(test_given_up_on_the_way)
{
    static const struct conn_handlers handlers = {.on_down = see_down};
    static const uint16_t ports[] = {0, 7};
    for (size_t i = 0; i < 2; i++) {
        for (unsigned ms = 0; ms < 40; ms += 20) {
            struct played p = {0};
            struct error err = {0};
            struct seen seen = {0};
            uv_loop_t loop;
            uv_timer_t timer;
            struct conn *c;
            way_init(&p.way, &played_class);
            p.way.text = "a played way";
            const struct conn_options o = {.target = "n@far",
                                           .way = &p.way,
                                           .port = ports[i],
                                           .cookie = "c",
                                           .this_host = "here"};
            assert_int_equal(uv_loop_init(&loop), 0);
            uv_timer_init(&loop, &timer);
            assert_int_equal(conn_open(&c, &loop, &o, &handlers, &seen, &err), 0);
            way_drop(&p.way);
            timer.data = c;
            uv_timer_start(&timer, close_now, ms, 0);
            uv_run(&loop, UV_RUN_DEFAULT);
            assert_int_equal(uv_loop_close(&loop), 0);
            assert_false(seen.down);
            assert_int_equal(p.ended, p.opened);
            assert_int_equal(p.released, 1);
        }
    }
}
