/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"

#define ANSWER_MS 3000u
#define WAIT_MS                                                                                    \
    5000u /* a recorder that waits for the disk, or for a core, is not one that is gone */
/* clang-format off */
#define KNOCK_MS 100u /* a stopped recorder is not waited for */
#define STOP_MS 50000u /* for the proof 20 s; a long write-ahead log is moved into the file */
#define REPLY_BYTES 16384u
/* clang-format on */

struct record_client {
    uv_pipe_t pipe;
    uv_timer_t late;
    uv_connect_t connecting;
    uv_write_t writing;
    struct buf line, reply;
    char bytes[2048];
    char path[RECORD_SOCKET_BYTES];
    record_client_fn *fn; /* NULL: not wanted any more */
    void *arg;
    int open_handles;
    bool ended;
};

static void on_client_closed(uv_handle_t *handle)
{
    struct record_client *c = handle->data;
    if (--c->open_handles > 0)
        return;
    buf_clear(&c->line);
    buf_clear(&c->reply);
    free(c);
}

static void end_client(struct record_client *c, const struct error *err)
{
    if (c->ended)
        return;
    c->ended = true;
    if (c->fn)
        c->fn(c->arg, buf_cstr(&c->reply), err);
    uv_close((uv_handle_t *)&c->pipe, on_client_closed);
    uv_close((uv_handle_t *)&c->late, on_client_closed);
}

static void fail_client(struct record_client *c, int status)
{
    struct error err = {0};
    bool absent = status == UV_ECONNREFUSED || status == UV_ENOENT;
    if (status == UV_EAGAIN) /* as many wait for it as may */
        record_silent_error(&err, c->path);
    error_set(&err, absent ? ERR_NOT_FOUND : ERR_SYSTEM, "the recorder: %s", uv_strerror(status));
    end_client(c, &err);
}

static void on_answer_late(uv_timer_t *timer)
{
    struct record_client *c = timer->data;
    struct error err = {0};
    record_silent_error(&err, c->path);
    end_client(c, &err);
}

static void on_client_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct record_client *c = handle->data;
    (void)suggested;
    *buf = uv_buf_init(c->bytes, sizeof c->bytes);
}

static void on_client_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct record_client *c = stream->data;
    if (n == UV_EOF)
        end_client(c, NULL);
    else if (n < 0)
        fail_client(c, (int)n);
    else if (c->reply.len + (size_t)n > REPLY_BYTES)
        fail_client(c, UV_E2BIG);
    else
        buf_put(&c->reply, buf->base, (size_t)n);
}

static void on_written(uv_write_t *request, int status)
{
    struct record_client *c = request->data;
    if (status < 0 && !c->ended)
        fail_client(c, status);
}

static void on_connected(uv_connect_t *request, int status)
{
    struct record_client *c = request->data;
    if (c->ended)
        return;
    const uv_buf_t line = uv_buf_init((char *)c->line.data, (unsigned)c->line.len);
    if (status == 0)
        status = uv_read_start((uv_stream_t *)&c->pipe, on_client_alloc, on_client_read);
    if (status == 0)
        status = uv_write(&c->writing, (uv_stream_t *)&c->pipe, &line, 1, on_written);
    if (status != 0)
        fail_client(c, status);
}

static struct record_client *ask_recorder(uv_loop_t *loop, const char *path, const char *line,
                                          unsigned answer_ms, record_client_fn *fn, void *arg)
{
    struct record_client *c = alloc_zero(1, sizeof *c);
    c->fn = fn;
    c->arg = arg;
    snprintf(c->path, sizeof c->path, "%s", path);
    buf_init(&c->line, 0);
    buf_init(&c->reply, 0);
    buf_printf(&c->line, "%s\n", line);
    uv_pipe_init(loop, &c->pipe, 0);
    uv_timer_init(loop, &c->late);
    c->open_handles = 2;
    c->pipe.data = c->late.data = c->connecting.data = c->writing.data = c;
    uv_timer_start(&c->late, on_answer_late, strcmp(line, "stop") == 0 ? STOP_MS : answer_ms, 0);
    uv_pipe_connect(&c->connecting, &c->pipe, path, on_connected);
    return c;
}

struct record_client *record_client_ask(uv_loop_t *loop, const char *path, const char *line,
                                        record_client_fn *fn, void *arg)
{
    return ask_recorder(loop, path, line, ANSWER_MS, fn, arg);
}

void record_client_cancel(struct record_client *c)
{
    if (!c)
        return;
    c->fn = NULL;
    end_client(c, NULL);
}

/* ---- without a loop */

struct waiting {
    struct buf *reply;
    struct error *err;
};

static void on_reply(void *arg, const char *reply, const struct error *err)
{
    const struct waiting *w = arg;
    if (err)
        *w->err = *err;
    else
        buf_puts(w->reply, reply);
}

int record_peer_ask(const char *path, const char *line, struct buf *reply, struct error *err)
{
    struct waiting w = {reply, err};
    uv_loop_t loop;
    uv_loop_init(&loop);
    ask_recorder(&loop, path, line, record_is_stopped(path) ? KNOCK_MS : WAIT_MS, on_reply, &w);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return (int)err->code;
}

/* ---- all of them */

/* False: there is none. */
static bool ask_peer_status(struct record_peer *p, const char *path)
{
    struct error err = {0};
    struct buf status;
    buf_init(&status, 0);
    int rc = record_peer_ask(path, "status", &status, &err);
    bool answers = rc == 0 && status.len > 0;
    bool is_there = answers || err.code == ERR_TIMEOUT;
    if (err.code == ERR_NOT_FOUND)
        unlink(path); /* its recorder was killed */
    if (is_there) {
        memcpy(p->path, path, sizeof p->path);
        p->status = answers ? alloc_strdup(buf_cstr(&status)) : NULL;
    }
    buf_clear(&status);
    return is_there;
}

int record_peers_find(struct record_peer **out, size_t *n, const struct app_env *env,
                      struct error *err)
{
    char paths[LIMIT_RECORD_PEERS][RECORD_SOCKET_BYTES];
    struct record_peer *peers = alloc_zero(LIMIT_RECORD_PEERS, sizeof *peers);
    size_t listed = 0;
    int rc = record_sockets_list(paths, &listed, env, err);
    *n = 0;
    *out = peers;
    for (size_t i = 0; i < listed; i++)
        *n += ask_peer_status(&peers[*n], paths[i]);
    return rc;
}

void record_peers_free(struct record_peer *peers, size_t n)
{
    for (size_t i = 0; peers && i < n; i++)
        free(peers[i].status);
    free(peers);
}
