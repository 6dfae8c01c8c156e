/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/link/epmd.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "link/internal.h"

#define NAMES_REQUEST 110
#define PORT2_REQUEST 122
#define PORT2_RESPONSE 119
#define READ_BYTES 4096

struct epmd_query {
    uv_loop_t *loop;
    uv_tcp_t tcp;
    uv_timer_t timer;
    uv_connect_t connect;
    uv_write_t write;
    struct buf request;
    struct buf in;
    char read_buf[READ_BYTES];
    char where[96]; /* the address, for people */
    bool for_names;
    unsigned timeout_ms; /* for the answer, over a stream that is open already */
    bool finished;
    unsigned open_handles;
    struct epmd_answer answer;
    void (*done)(void *arg, const struct epmd_answer *answer);
    void *arg;
};

/* ---- the answers */

int epmd_parse_port(const uint8_t *bytes, size_t len, uint16_t *port, int *result)
{
    if (len < 1)
        return 1;
    if (bytes[0] != PORT2_RESPONSE)
        return -1;
    if (len < 2)
        return 1;
    *result = bytes[1];
    if (*result != 0)
        return 0;
    if (len < 4)
        return 1;
    *port = (uint16_t)(bytes[2] << 8 | bytes[3]);
    return 0;
}

/* One "name NAME at port N" without its newline. */
static int parse_name_line(const char *line, size_t len, struct epmd_name *out)
{
    static const char before[] = "name ";
    static const char between[] = " at port ";
    if (len < sizeof before - 1 || memcmp(line, before, sizeof before - 1) != 0)
        return -1;
    line += sizeof before - 1;
    len -= sizeof before - 1;
    const char *at = memmem(line, len, between, sizeof between - 1);
    if (!at || at == line || (size_t)(at - line) >= sizeof out->alive)
        return -1;
    const char *digits = at + sizeof between - 1;
    unsigned long port = 0;
    for (; digits < line + len; digits++) {
        if (*digits < '0' || *digits > '9' || port > 65535)
            return -1;
        port = port * 10 + (unsigned long)(*digits - '0');
    }
    if (port == 0 || port > 65535)
        return -1;
    memcpy(out->alive, line, (size_t)(at - line));
    out->alive[at - line] = '\0';
    out->port = (uint16_t)port;
    return 0;
}

int epmd_parse_names(const uint8_t *bytes, size_t len, struct epmd_name *names, size_t max,
                     size_t *count)
{
    *count = 0;
    if (len < 4)
        return 1;
    const char *at = (const char *)bytes + 4;
    const char *end = (const char *)bytes + len;
    while (at < end) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        struct epmd_name name;
        if (!nl || parse_name_line(at, (size_t)(nl - at), &name) != 0)
            return -1;
        if (*count < max)
            names[(*count)++] = name;
        at = nl + 1;
    }
    return 0;
}

/* ---- the question */

static void on_query_closed(uv_handle_t *h)
{
    struct epmd_query *q = h->data;
    q->open_handles--;
    if (q->open_handles == 0) {
        buf_clear(&q->request);
        buf_clear(&q->in);
        free(q->answer.names);
        free(q);
    }
}

static void close_query(struct epmd_query *q)
{
    q->finished = true;
    uv_close((uv_handle_t *)&q->tcp, on_query_closed);
    uv_close((uv_handle_t *)&q->timer, on_query_closed);
}

static void finish_query(struct epmd_query *q, enum epmd_failure failure)
{
    if (q->finished)
        return;
    q->answer.failure = failure;
    close_query(q);
    q->done(q->arg, &q->answer);
}

static int explain_unreachable(const struct epmd_query *q, int status, struct error *err)
{
    if (is_no_way(-status))
        return error_set(err, ERR_CONNECT, "epmd at %s " NO_WAY_TEXT, q->where,
                         uv_strerror(status));
    return error_set(err, ERR_CONNECT,
                     "no epmd at %s (%s): probably no Erlang node runs there. A node without epmd "
                     "is reached by its port, with --port",
                     q->where, uv_strerror(status));
}

static void finish_unreachable(struct epmd_query *q, int status)
{
    explain_unreachable(q, status, &q->answer.err);
    finish_query(q, EPMD_UNREACHABLE);
}

static void finish_silent(struct epmd_query *q)
{
    error_set(&q->answer.err, ERR_TIMEOUT,
              "epmd at %s does not answer: a firewall may block the port, or epmd is frozen",
              q->where);
    finish_query(q, EPMD_SILENT);
}

static void finish_not_epmd(struct epmd_query *q)
{
    error_set(&q->answer.err, ERR_CONNECT,
              "the service at %s is not epmd: set ERL_EPMD_PORT to the node's value", q->where);
    finish_query(q, EPMD_NOT_EPMD);
}

static void finish_port(struct epmd_query *q, int result)
{
    if (result != 0) {
        error_set(&q->answer.err, ERR_CONNECT, "epmd at %s knows no such node", q->where);
        finish_query(q, EPMD_NO_NAME);
    } else {
        finish_query(q, EPMD_OK);
    }
}

static void on_answer_end(struct epmd_query *q)
{
    int rc = -1;
    if (q->for_names && !q->in.overflow) {
        q->answer.names = alloc_zero(LIMIT_EPMD_NAMES, sizeof *q->answer.names);
        rc = epmd_parse_names(q->in.data, q->in.len, q->answer.names, LIMIT_EPMD_NAMES,
                              &q->answer.count);
    }
    if (rc != 0)
        finish_not_epmd(q);
    else
        finish_query(q, EPMD_OK);
}

static void on_epmd_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *out)
{
    struct epmd_query *q = h->data;
    (void)suggested;
    *out = uv_buf_init(q->read_buf, sizeof q->read_buf);
}

static void on_epmd_read(uv_stream_t *s, ssize_t n, const uv_buf_t *bytes)
{
    struct epmd_query *q = s->data;
    int result = 0;
    if (n < 0) {
        on_answer_end(q);
        return;
    }
    buf_put(&q->in, bytes->base, (size_t)n);
    if (q->in.overflow) {
        finish_not_epmd(q);
    } else if (!q->for_names) {
        int rc = epmd_parse_port(q->in.data, q->in.len, &q->answer.port, &result);
        if (rc < 0)
            finish_not_epmd(q);
        else if (rc == 0)
            finish_port(q, result);
    }
}

static void on_request_written(uv_write_t *req, int status)
{
    struct epmd_query *q = req->data;
    if (status != 0 && status != UV_ECANCELED)
        finish_not_epmd(q);
}

static void send_request(struct epmd_query *q)
{
    uv_buf_t bytes = uv_buf_init((char *)q->request.data, (unsigned)q->request.len);
    q->write.data = q;
    if (uv_write(&q->write, (uv_stream_t *)&q->tcp, &bytes, 1, on_request_written) != 0 ||
        uv_read_start((uv_stream_t *)&q->tcp, on_epmd_alloc, on_epmd_read) != 0)
        finish_not_epmd(q);
}

static void on_epmd_connected(uv_connect_t *req, int status)
{
    struct epmd_query *q = req->data;
    if (q->finished || status == UV_ECANCELED)
        return;
    if (status != 0)
        finish_unreachable(q, status);
    else
        send_request(q);
}

static void on_epmd_timeout(uv_timer_t *t)
{
    finish_silent(t->data);
}

static void set_where(struct epmd_query *q, const struct sockaddr *addr)
{
    char ip[64] = "?";
    unsigned port = 0;
    if (addr->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)addr;
        uv_ip6_name(in6, ip, sizeof ip);
        port = ntohs(in6->sin6_port);
        snprintf(q->where, sizeof q->where, "[%s]:%u", ip, port);
    } else {
        const struct sockaddr_in *in = (const void *)addr;
        uv_ip4_name(in, ip, sizeof ip);
        port = ntohs(in->sin_port);
        snprintf(q->where, sizeof q->where, "%s:%u", ip, port);
    }
}

static void put_request(struct epmd_query *q, const char *alive)
{
    buf_init(&q->request, 0);
    buf_init(&q->in, LIMIT_EPMD_ANSWER_BYTES);
    if (!alive) {
        buf_put_u16be(&q->request, 1);
        buf_put_u8(&q->request, NAMES_REQUEST);
    } else {
        buf_put_u16be(&q->request, (uint16_t)(1 + strlen(alive)));
        buf_put_u8(&q->request, PORT2_REQUEST);
        buf_puts(&q->request, alive);
    }
}

/* A question that is not on its way yet; NULL: no socket. */
static struct epmd_query *new_query(uv_loop_t *loop, const char *alive, unsigned timeout_ms,
                                    void (*done)(void *arg, const struct epmd_answer *answer),
                                    void *arg, struct error *err)
{
    struct epmd_query *q = alloc_zero(1, sizeof *q);
    int rc = uv_tcp_init(loop, &q->tcp);
    if (rc != 0) {
        free(q);
        error_set(err, ERR_SYSTEM, "no socket for epmd: %s", uv_strerror(rc));
        return NULL;
    }
    uv_timer_init(loop, &q->timer);
    q->loop = loop;
    q->tcp.data = q->timer.data = q->connect.data = q;
    q->open_handles = 2;
    q->for_names = !alive;
    q->done = done;
    q->arg = arg;
    put_request(q, alive);
    uv_timer_start(&q->timer, on_epmd_timeout, timeout_ms, 0);
    return q;
}

int epmd_ask(struct epmd_query **out, uv_loop_t *loop, const struct sockaddr *addr,
             const char *alive, unsigned timeout_ms,
             void (*done)(void *arg, const struct epmd_answer *answer), void *arg,
             struct error *err)
{
    struct epmd_query *q = new_query(loop, alive, timeout_ms, done, arg, err);
    *out = NULL;
    if (!q)
        return ERR_SYSTEM;
    set_where(q, addr);
    int rc = uv_tcp_connect(&q->connect, &q->tcp, addr, on_epmd_connected);
    if (rc != 0) {
        explain_unreachable(q, rc, err);
        close_query(q);
        return err->code;
    }
    *out = q;
    return 0;
}

static void on_stream_opened(uv_timer_t *t)
{
    struct epmd_query *q = t->data;
    uv_timer_start(&q->timer, on_epmd_timeout, q->timeout_ms, 0);
    send_request(q);
}

int epmd_ask_over(struct epmd_query **out, uv_loop_t *loop, int fd, const char *where,
                  const char *alive, unsigned timeout_ms,
                  void (*done)(void *arg, const struct epmd_answer *answer), void *arg,
                  struct error *err)
{
    struct epmd_query *q = new_query(loop, alive, timeout_ms, done, arg, err);
    *out = NULL;
    if (!q) {
        close(fd);
        return ERR_SYSTEM;
    }
    snprintf(q->where, sizeof q->where, "%.90s", where);
    int rc = uv_tcp_open(&q->tcp, fd);
    if (rc != 0) {
        error_set(err, ERR_SYSTEM, "no stream to epmd at %s: %s", q->where, uv_strerror(rc));
        close(fd);
        close_query(q);
        return ERR_SYSTEM;
    }
    q->timeout_ms = timeout_ms;
    uv_timer_start(&q->timer, on_stream_opened, 0, 0); /* `done` is never called from in here */
    *out = q;
    return 0;
}

void epmd_cancel(struct epmd_query *q)
{
    if (q && !q->finished)
        close_query(q);
}
