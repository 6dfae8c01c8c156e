/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/link/inside.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/spawn.h"
#include "inside_reply.h"

#define CHECK_MS 1000

struct inside {
    struct conn_way way; /* first */
    pid_t pid;
    uint64_t started;
    char tree[32], text[64];
    char host[INET6_ADDRSTRLEN];
};

/* ---- the helper's life */

/* 0: its answer is there, or its end; ETIMEDOUT, ECANCELED. */
static int wait_answer(int fd, int timeout_ms, int cancel_fd)
{
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = cancel_fd, .events = POLLIN}};
    int n = 0;
    while ((n = poll(fds, 2, timeout_ms)) < 0)
        if (errno != EINTR)
            return errno;
    return n == 0 ? ETIMEDOUT : fds[1].revents != 0 ? ECANCELED : 0;
}

/* 0 and the reply; an errno value of the waiting; or a negative enum err. */
static int ask_helper(pid_t pid, uint64_t started, const char *host, const struct way_request *r,
                      struct inside_reply *reply, int *socket, struct error *err)
{
    char number[16], start[24], port[8], there[INET6_ADDRSTRLEN], here[INET6_ADDRSTRLEN];
    char name[] = "beamtop", word[] = INSIDE_WORD;
    char *words[] = {name, word, number, start, there, port, here, NULL};
    int answers = -1;
    pid_t helper = 0;
    snprintf(number, sizeof number, "%d", (int)pid);
    snprintf(start, sizeof start, "%" PRIu64, started);
    snprintf(port, sizeof port, "%u", r->port);
    snprintf(there, sizeof there, "%s", r->address ? r->address : INSIDE_NONE);
    snprintf(here, sizeof here, "%s", host && *host ? host : INSIDE_NONE);
    int rc = spawn_own(&helper, words, &answers);
    if (rc != 0)
        return error_set_errno(err, rc, "no process for the node's network namespace");
    rc = wait_answer(answers, (int)r->timeout_ms, r->cancel_fd);
    if (rc == 0)
        rc = inside_reply_take(answers, reply, socket, err);
    close(answers);
    spawn_kill(helper);
    return rc;
}

/* ---- the way */

static int open_inside(struct conn_way *way, const struct way_request *request,
                       struct way_stream *out, enum conn_failure *why, struct error *err)
{
    const struct inside *in = (const struct inside *)way;
    struct inside_reply reply;
    int fd = -1;
    int rc = ask_helper(in->pid, in->started, in->host, request, &reply, &fd, err);
    if (rc == 0 && reply.stage == INSIDE_CONNECTED)
        *out = (struct way_stream){.fd = fd, .id = 1};
    else if (rc == 0 && reply.stage == INSIDE_NOT_CONNECTED)
        rc = reply.error;
    else if (rc == 0)
        rc = inside_reply_explain(&reply, in->pid, err);
    if (rc < 0) {
        *why = CONN_FAILED_WAY;
        err->code = ERR_CONNECT;
        rc = ERR_CONNECT;
    }
    return rc;
}

static void release_inside(struct conn_way *way)
{
    free(way);
}

struct conn_way *inside_way(pid_t pid, uint64_t started, const char *host)
{
    static const struct conn_way_class class = {.open = open_inside, .release = release_inside};
    struct inside *in = alloc_zero(1, sizeof *in);
    way_init(&in->way, &class);
    in->pid = pid;
    in->started = started;
    snprintf(in->host, sizeof in->host, "%s", host ? host : "");
    snprintf(in->tree, sizeof in->tree, "/proc/%d", (int)pid);
    snprintf(in->text, sizeof in->text, "the network namespace of OS process %d", (int)pid);
    in->way.proc_tree = in->tree;
    in->way.text = in->text;
    return &in->way;
}

int inside_check(pid_t pid, struct error *err)
{
    const struct way_request request = {.timeout_ms = CHECK_MS, .cancel_fd = -1};
    struct inside_reply reply;
    int fd = -1;
    const int rc = ask_helper(pid, 0, NULL, &request, &reply, &fd, err);
    if (rc > 0)
        return error_set(err, ERR_TIMEOUT,
                         "the network namespace of OS process %d: no answer "
                         "within %d s",
                         (int)pid, CHECK_MS / 1000);
    if (rc == 0 && reply.stage != INSIDE_ENTERED)
        return inside_reply_explain(&reply, pid, err);
    return rc;
}
