/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_names.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/link/epmd.h"
#include "reach.h"

#define NAMES_SHOWN 20
#define NAMES_PORT_BYTES 4
#define QUIET_MS 1500   /* behind the last byte of an answer that is not ended */
#define EXPLAIN_MS 1000 /* for the reason of a stream that has ended */

static const uint8_t names_request[] = {0, 1, 110};

/* Whole lines, behind a port: an answer, maybe with more to come. */
static bool may_be_all(const struct buf *in)
{
    return in->len == NAMES_PORT_BYTES ||
           (in->len > NAMES_PORT_BYTES && in->data[in->len - 1] == '\n');
}

/* Reads to the end, within the time; also where nothing follows an answer, since some that carry a
 * stream (nc of OpenBSD, ncat) do not end it. False: it does not come. */
static bool read_all(struct buf *out, int fd, uint64_t end_ns)
{
    char bytes[4096];
    for (;;) {
        const ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n > 0)
            buf_put(out, bytes, (size_t)n);
        if (n == 0 || out->overflow)
            return true;
        if (n > 0 || errno == EINTR)
            continue;
        if (errno != EAGAIN)
            return true; /* reset: what came is judged */
        const uint64_t now = clock_mono_ns();
        struct pollfd more = {.fd = fd, .events = POLLIN};
        const int left = now < end_ns ? (int)((end_ns - now) / 1000000u) + 1 : 0;
        const bool quiet = may_be_all(out) && left > QUIET_MS;
        if (left == 0 || poll(&more, 1, quiet ? QUIET_MS : left) == 0)
            return quiet;
    }
}

static int fail_refused(const struct conn_way *way, uint16_t port, struct error *err)
{
    *err = (struct error){0};
    return error_set(err, ERR_CONNECT,
                     "%s: no epmd at port %u there: probably no Erlang node runs. A node without "
                     "epmd is reached by its port: give its name in the URL, and --port",
                     way->text, port);
}

static int fail_names(struct conn_way *way, struct way_stream *stream, uint16_t port, bool is_late,
                      const struct buf *in, struct error *err)
{
    enum conn_failure why;
    if (is_late)
        return error_set(err, ERR_TIMEOUT, "%s: epmd at port %u does not answer: it is frozen",
                         way->text, port);
    if (in->len == 0 && reach_await_end(way, stream, EXPLAIN_MS) &&
        way_explain(way, stream, &why, err))
        return why == CONN_FAILED_REFUSED ? fail_refused(way, port, err) : (int)err->code;
    return error_set(err, ERR_CONNECT,
                     "%s: the service at port %u there is not epmd: set ERL_EPMD_PORT to the "
                     "node's value",
                     way->text, port);
}

/* The names that the epmd there knows. */
static int ask_names(struct conn_way *way, uint16_t port, unsigned timeout_ms,
                     struct epmd_name *names, size_t *n, struct error *err)
{
    const struct way_request request = {.port = port, .timeout_ms = timeout_ms, .cancel_fd = -1};
    const uint64_t end_ns = clock_mono_ns() + (uint64_t)timeout_ms * 1000000u;
    struct way_stream stream = {.fd = -1};
    enum conn_failure why = CONN_FAILED_WAY;
    struct buf in;
    int rc = way->class->open(way, &request, &stream, &why, err);
    if (rc != 0 && why == CONN_FAILED_REFUSED)
        return fail_refused(way, port, err);
    if (rc != 0)
        return rc < 0 ? rc : error_set_errno(err, rc, "%s", way->text);
    buf_init(&in, LIMIT_EPMD_ANSWER_BYTES);
    (void)send(stream.fd, names_request, sizeof names_request, MSG_NOSIGNAL);
    const bool is_late = !read_all(&in, stream.fd, end_ns);
    if (is_late || in.overflow ||
        epmd_parse_names(in.data, in.len, names, LIMIT_EPMD_NAMES, n) != 0)
        rc = fail_names(way, &stream, port, is_late, &in, err);
    buf_clear(&in);
    way_end(way, &stream);
    return rc;
}

/* Anyone there may give epmd a name: one with a host would choose the cookie of a pattern, and one
 * that no URL can have is not reached. */
static size_t keep_names(const struct way_url *url, struct epmd_name *names, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct way_url again;
        struct error ignored = {0};
        struct buf text;
        buf_init(&text, 0);
        way_url_put(&text, url, names[i].alive);
        if (!strchr(names[i].alive, '@') && way_url_parse(&again, buf_cstr(&text), &ignored) == 0)
            names[kept++] = names[i];
        buf_clear(&text);
    }
    return kept;
}

static int choose(struct way_url *url, const struct conn_way *way, const struct epmd_name *names,
                  size_t n, struct error *err)
{
    struct buf list;
    if (n == 1) {
        memcpy(url->node, names[0].alive, sizeof names[0].alive);
        return 0;
    }
    if (n == 0)
        return error_set(err, ERR_CONNECT,
                         "%s: epmd there knows no node: probably it was started without -name and "
                         "-sname",
                         way->text);
    buf_init(&list, 0);
    for (size_t i = 0; i < n && i < NAMES_SHOWN; i++) {
        buf_puts(&list, i > 0 ? ", " : "");
        way_url_put(&list, url, names[i].alive);
    }
    if (n > NAMES_SHOWN)
        buf_printf(&list, " and %zu more", n - NAMES_SHOWN);
    error_set(err, ERR_USAGE, "%s: %zu nodes are there, give one: %s", way->text, n,
              buf_cstr(&list));
    buf_clear(&list);
    return ERR_USAGE;
}

int way_names_find(struct way_url *url, struct conn_way *way, uint16_t port, unsigned timeout_ms,
                   struct error *err)
{
    struct epmd_name *names = alloc_zero(LIMIT_EPMD_NAMES, sizeof *names);
    size_t n = 0;
    int rc = ask_names(way, port, timeout_ms, names, &n, err);
    if (rc == 0)
        rc = choose(url, way, names, keep_names(url, names, n), err);
    free(names);
    return rc;
}
