/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "epmd_way.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"

struct epmd_way_query {
    uv_loop_t *loop;
    uv_work_t work;
    struct conn_way *way;
    struct way_request request;
    char address[LIMIT_NODE_NAME_BYTES + 1];
    char alive[LIMIT_NODE_NAME_BYTES + 1];
    bool for_names;
    uint64_t end_mono_ns;
    struct way_stream stream; /* its socket is the question's once that is asked */
    int opened;               /* what open() returned */
    enum conn_failure why;
    struct error err;
    struct epmd_query *query;
    void (*done)(void *arg, const struct epmd_answer *answer); /* NULL: cancelled */
    void *arg;
};

static void free_query(struct epmd_way_query *q)
{
    way_end(q->way, &q->stream);
    way_drop(q->way);
    close(q->request.cancel_fd);
    free(q);
}

static enum epmd_failure failure_of(enum conn_failure why)
{
    return why == CONN_FAILED_REFUSED ? EPMD_UNREACHABLE : EPMD_NO_WAY;
}

static void finish_query(struct epmd_way_query *q, const struct epmd_answer *answer)
{
    if (q->done)
        q->done(q->arg, answer);
    free_query(q);
}

/* Where the stream ended without an answer the way may know why. */
static void on_answer(void *arg, const struct epmd_answer *a)
{
    struct epmd_way_query *q = arg;
    struct epmd_answer answer = *a;
    q->query = NULL;
    if (a->failure == EPMD_NOT_EPMD && way_explain(q->way, &q->stream, &q->why, &q->err)) {
        answer.failure = failure_of(q->why);
        answer.err = q->err;
    } else if (a->failure == EPMD_SILENT) {
        answer.err = (struct error){0};
        error_set(&answer.err, ERR_TIMEOUT,
                  "epmd at port %u by %s does not answer: it is frozen, or the connection is slow. "
                  "Try --timeout 20",
                  q->request.port, q->way->text);
    }
    finish_query(q, &answer);
}

static void open_stream(uv_work_t *work)
{
    struct epmd_way_query *q = work->data;
    q->opened = q->way->class->open(q->way, &q->request, &q->stream, &q->why, &q->err);
}

static void finish_closed(struct epmd_way_query *q)
{
    struct epmd_answer answer = {.failure = failure_of(q->why), .err = q->err};
    if (q->opened > 0) {
        answer.failure = q->opened == ETIMEDOUT ? EPMD_SILENT : EPMD_UNREACHABLE;
        error_set(&answer.err, q->opened == ETIMEDOUT ? ERR_TIMEOUT : ERR_CONNECT,
                  "no epmd at port %u by %s (%s): probably no Erlang node runs there. A node "
                  "without epmd is reached by its port, with --port",
                  q->request.port, q->way->text, strerror(q->opened));
    }
    finish_query(q, &answer);
}

static unsigned ms_left(const struct epmd_way_query *q)
{
    const uint64_t now = clock_mono_ns();
    return now >= q->end_mono_ns ? 0 : (unsigned)((q->end_mono_ns - now) / 1000000u);
}

static void after_open(uv_work_t *work, int status)
{
    struct epmd_way_query *q = work->data;
    if (!q->done) {
        free_query(q);
        return;
    }
    if (status != 0 || q->opened != 0) {
        finish_closed(q);
        return;
    }
    const int fd = q->stream.fd;
    q->stream.fd = -1;
    q->opened = epmd_ask_over(&q->query, q->loop, fd, q->way->text, q->for_names ? NULL : q->alive,
                              ms_left(q), on_answer, q, &q->err);
    if (q->opened != 0)
        finish_closed(q);
}

int epmd_way_ask(struct epmd_way_query **out, uv_loop_t *loop, struct conn_way *way,
                 const char *address, uint16_t port, const char *alive, unsigned timeout_ms,
                 void (*done)(void *arg, const struct epmd_answer *answer), void *arg,
                 struct error *err)
{
    struct epmd_way_query *q = alloc_zero(1, sizeof *q);
    *out = NULL;
    q->request.cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (q->request.cancel_fd < 0) {
        const int e = errno;
        free(q);
        return error_set_errno(err, e, "no event descriptor for the question to epmd");
    }
    snprintf(q->address, sizeof q->address, "%s", address ? address : "");
    snprintf(q->alive, sizeof q->alive, "%s", alive ? alive : "");
    q->request.address = address ? q->address : NULL;
    q->request.port = port;
    q->request.timeout_ms = timeout_ms;
    q->end_mono_ns = clock_mono_ns() + (uint64_t)timeout_ms * 1000000u;
    q->for_names = !alive;
    q->loop = loop;
    q->way = way_take(way);
    q->stream.fd = -1;
    q->why = CONN_FAILED_WAY;
    q->done = done;
    q->arg = arg;
    q->work.data = q;
    uv_queue_work(loop, &q->work, open_stream, after_open); /* fails only without a function */
    *out = q;
    return 0;
}

void epmd_way_cancel(struct epmd_way_query *q)
{
    const uint64_t one = 1;
    if (!q)
        return;
    q->done = NULL;
    if (q->query) {
        epmd_cancel(q->query);
        free_query(q);
    } else if (uv_cancel((uv_req_t *)&q->work) != 0) {
        const ssize_t n = write(q->request.cancel_fd, &one, sizeof one);
        (void)n; /* a write to an event descriptor at 0 never blocks */
    }
}
