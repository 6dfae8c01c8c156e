/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/cli/tell.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/spawn.h"
#include "container.h"
#include "reach.h"
#include "way_server.h"
#include "way_wire.h"

#define SERVER_END_MS 4000 /* more than it takes to end by itself */
#define LOOK_MS 5
#define ANSWER_FOLLOWS 1

struct stream {
    uint64_t id;
    int status; /* from the process of streams */
};

struct lent {
    struct lent *next;
    struct cookie cookie;
    char node[]; /* as URLs have it */
};

struct way {
    struct conn_way base; /* first: what connections have */
    struct reach *all;
    char *url, *text, *note;
    struct lent *lent;
};

struct reach {
    uv_mutex_t server_lock; /* of the next two: asks come from any thread */
    pid_t server;           /* 0: not started */
    int asks;
    struct way **ways;
    size_t n;
    char *prepared[2]; /* texts that reach_prepare() has made */
    size_t n_prepared;
    struct error failed;
    struct container_answer *container;
    uv_mutex_t lock; /* of what follows: streams come and go on any thread */
    struct stream *streams;
    size_t n_streams;
    uint64_t last_id;
};

/* ---- streams that are open */

static uint64_t keep_stream(struct reach *w, int status)
{
    uv_mutex_lock(&w->lock);
    w->streams = alloc_grow(w->streams, w->n_streams, sizeof *w->streams);
    const uint64_t id = ++w->last_id;
    w->streams[w->n_streams++] = (struct stream){.id = id, .status = status};
    uv_mutex_unlock(&w->lock);
    return id;
}

/* -1: there is no such stream any more. taken: it is forgotten. */
static int status_of(struct reach *w, uint64_t id, bool taken)
{
    int status = -1;
    uv_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->n_streams && status < 0; i++) {
        if (w->streams[i].id != id)
            continue;
        status = w->streams[i].status;
        if (taken)
            w->streams[i] = w->streams[--w->n_streams];
    }
    uv_mutex_unlock(&w->lock);
    return status;
}

static bool way_explain_stream(struct conn_way *way, uint64_t id, enum conn_failure *why,
                               struct error *err)
{
    const struct way *of = (const struct way *)(const void *)way;
    struct way_say say;
    int fd = -1;
    const int status = status_of(of->all, id, false);
    if (status < 0 || way_wire_receive(status, &say, sizeof say, &fd) != 0 ||
        say.state != WAY_SAYS_ENDED)
        return false;
    say.text[sizeof say.text - 1] = '\0';
    *why = (enum conn_failure)say.why;
    error_set(err, ERR_CONNECT, "%s", say.text);
    return true;
}

static void way_end_stream(struct conn_way *way, uint64_t id)
{
    const struct way *of = (const struct way *)(const void *)way;
    const int status = status_of(of->all, id, true);
    if (status >= 0)
        close(status);
}

/* ---- asks */

static int fail_server(struct error *err)
{
    return error_set(err, ERR_SYSTEM,
                     "the process that carries streams to other hosts does not answer: start "
                     "beamtop again");
}

/* Waits for what the ask is answered. cancel_fd: -1: none. 0, ECANCELED, ETIMEDOUT or EPIPE. */
static int await(int status, int cancel_fd, int timeout_ms)
{
    struct pollfd fds[] = {{.fd = status, .events = POLLIN}, {.fd = cancel_fd, .events = POLLIN}};
    const uint64_t end_ns = clock_mono_ns() + (uint64_t)timeout_ms * 1000000u;
    for (;;) {
        const uint64_t now = clock_mono_ns();
        const int left = timeout_ms < 0 ? -1 : now >= end_ns ? 0 : (int)((end_ns - now) / 1000000u);
        const int n = poll(fds, 2, left);
        if (n > 0)
            return fds[1].revents != 0 ? ECANCELED : 0;
        if (n == 0)
            return ETIMEDOUT;
        if (errno != EINTR)
            return errno;
    }
}

static int start_server(struct reach *w, struct error *err);

static bool has_ended(struct reach *w)
{
    return waitpid(w->server, NULL, WNOHANG) != 0;
}

/* One that was killed is started again: streams that stand go on without it. */
static int send_to_server(struct reach *w, const struct way_ask *ask, int answers)
{
    struct error ignored = {0};
    uv_mutex_lock(&w->server_lock);
    int rc = way_wire_send(w->asks, ask, sizeof *ask, answers);
    if (rc != 0 && rc != EAGAIN && w->server > 0 && has_ended(w)) {
        close(w->asks);
        w->asks = -1;
        w->server = 0;
        rc = start_server(w, &ignored) == 0 ? way_wire_send(w->asks, ask, sizeof *ask, answers)
                                            : EPIPE;
    }
    uv_mutex_unlock(&w->server_lock);
    return rc;
}

/* Sends an ask; *status is where the answers come. */
static int send_ask(struct reach *w, const struct way_ask *ask, int *status, struct error *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set_errno(err, errno, "no socket for a stream");
    int rc = send_to_server(w, ask, ends[1]);
    struct pollfd full = {.fd = w->asks, .events = POLLOUT};
    while (rc == EAGAIN && poll(&full, 1, (int)ask->timeout_ms) != 0)
        rc = send_to_server(w, ask, ends[1]);
    close(ends[1]);
    if (rc == 0) {
        *status = ends[0];
        return 0;
    }
    close(ends[0]);
    return fail_server(err);
}

/* What ssh says, beside its prompt. */
static int tell_words(const char *text)
{
    fputc('\n', stderr);
    tell_line("ssh says: %s", text);
    return ANSWER_FOLLOWS;
}

/* 0, ANSWER_FOLLOWS, or an error. */
static int take_answer(int status, int *fd, enum conn_failure *why, bool *prompts,
                       struct error *err)
{
    struct way_say say;
    *why = CONN_FAILED_WAY;
    *prompts = false;
    if (way_wire_receive(status, &say, sizeof say, fd) != 0)
        return fail_server(err);
    say.text[sizeof say.text - 1] = '\0';
    if (say.state == WAY_SAYS_OPEN)
        return 0;
    if (say.state == WAY_SAYS_WORDS)
        return tell_words(say.text);
    *why = (enum conn_failure)say.why;
    *prompts = say.prompts != 0;
    return error_set(err, ERR_CONNECT, "%s", say.text);
}

static bool is_address(const char *address)
{
    return *address != '\0' && *address != '-' && strlen(address) < 256 &&
           address[strspn(address, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "_.:-")] == '\0';
}

static int way_open_stream(struct conn_way *way, const struct way_request *request,
                           struct way_stream *out, enum conn_failure *why, struct error *err)
{
    struct way *of = (struct way *)(void *)way;
    const char *address = request->address ? request->address : "127.0.0.1";
    struct way_ask ask = {
        .kind = WAY_ASKS_STREAM, .port = request->port, .timeout_ms = request->timeout_ms};
    int status = -1, fd = -1;
    bool prompts;
    *why = CONN_FAILED_WAY;
    if (!is_address(address))
        return error_set(err, ERR_USAGE, "--host: “%.100s” is not a host's name or address",
                         address);
    snprintf(ask.address, sizeof ask.address, "%.255s", address);
    snprintf(ask.url, sizeof ask.url, "%.511s", of->url);
    int rc = send_ask(of->all, &ask, &status, err);
    if (rc != 0)
        return rc;
    rc = await(status, request->cancel_fd, (int)request->timeout_ms);
    if (rc == ETIMEDOUT)
        rc = error_set(err, ERR_TIMEOUT, "%s: no stream to port %u in %.3g s. Try --timeout 20",
                       way->text, request->port, request->timeout_ms / 1000.0);
    else if (rc == 0)
        rc = take_answer(status, &fd, why, &prompts, err);
    if (rc != 0 || fd < 0) {
        close(status);
        return rc != 0 ? rc : error_set_errno(err, EMFILE, "%s: no stream", way->text);
    }
    *out = (struct way_stream){.fd = fd, .id = keep_stream(of->all, status)};
    return 0;
}

/* Ways live as long as their owner. */
static void way_release(struct conn_way *way)
{
    (void)way;
}

static const struct conn_way_class way_class = {.open = way_open_stream,
                                                .explain = way_explain_stream,
                                                .end = way_end_stream,
                                                .release = way_release};

/* ---- the process of streams */

static int start_server(struct reach *w, struct error *err)
{
    char name[] = "beamtop", word[] = "streams";
    char *words[] = {name, word, NULL};
    if (w->server > 0)
        return 0;
    const int rc = spawn_own(&w->server, words, &w->asks);
    if (rc == 0)
        return 0;
    w->server = 0;
    if (rc == ENOENT)
        return error_set(err, ERR_SYSTEM,
                         "no process for streams to other hosts: no /proc is mounted here. "
                         "mount -t proc proc /proc");
    return error_set_errno(err, rc, "no process for streams to other hosts");
}

int command_streams(const struct cli_options *o, const struct app_env *env)
{
    int type = 0;
    socklen_t size = sizeof type;
    (void)o;
    if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET)
        return EXIT_USAGE; /* it is for beamtop, not for a person */
    /* What was inherited is not kept open by ssh's shared connections. */
    (void)syscall(SYS_close_range, STDERR_FILENO + 1U, ~0U, 0U);
    way_server_run(STDIN_FILENO, env->xdg_runtime_dir);
    return EXIT_DONE;
}

int reach_login_start(struct reach *w, const char *url, enum reach_asks asks, unsigned timeout_ms,
                      int *login, struct error *err)
{
    struct way_ask ask = {
        .kind = WAY_ASKS_LOGIN, .terminal = asks == REACH_ASKS_PERSON, .timeout_ms = timeout_ms};
    const int rc = start_server(w, err);
    snprintf(ask.url, sizeof ask.url, "%.511s", url);
    return rc != 0 ? rc : send_ask(w, &ask, login, err);
}

int reach_login_end(int login, int timeout_ms, bool *prompts, struct error *err)
{
    enum conn_failure why;
    int fd = -1;
    int rc;
    *prompts = false;
    do
        rc = await(login, -1, timeout_ms) == 0
                 ? take_answer(login, &fd, &why, prompts, err)
                 : error_set(err, ERR_TIMEOUT, "ssh does not answer. Try --timeout 20");
    while (rc == ANSWER_FOLLOWS);
    if (fd >= 0)
        close(fd);
    close(login);
    return rc;
}

bool reach_await_end(struct conn_way *way, const struct way_stream *stream, int timeout_ms)
{
    const struct way *of = (const struct way *)(const void *)way;
    const int status = status_of(of->all, stream->id, false);
    return status >= 0 && await(status, -1, timeout_ms) == 0;
}

/* ---- cookies that were found there */

void reach_lend(struct conn_way *way, const char *node, const struct cookie *cookie)
{
    struct way *of = (struct way *)(void *)way;
    struct lent *lent = alloc_zero(1, sizeof *lent + strlen(node) + 1);
    lent->cookie = *cookie;
    memcpy(lent->node, node, strlen(node) + 1);
    lent->next = of->lent;
    of->lent = lent;
}

const struct cookie *reach_lent(const struct conn_way *way, const char *node)
{
    const struct way *of = (const struct way *)(const void *)way;
    for (const struct lent *lent = of->lent; lent; lent = lent->next)
        if (strcmp(lent->node, node) == 0)
            return &lent->cookie;
    return NULL;
}

static void free_way(struct way *way)
{
    for (struct lent *lent = way->lent, *next; lent; lent = next) {
        next = lent->next;
        cookie_wipe(&lent->cookie);
        free(lent);
    }
    free(way->url);
    free(way->text);
    free(way->note);
    free(way);
}

/* ---- life */

struct reach *reach_new(void)
{
    struct reach *w = alloc_zero(1, sizeof *w);
    w->asks = -1;
    w->container = container_answer_new();
    if (uv_mutex_init(&w->lock) != 0 || uv_mutex_init(&w->server_lock) != 0)
        alloc_fail();
    return w;
}

/* One that somebody has stopped goes on, or is killed: it is not waited for without a limit. False:
 * it was killed, and has tidied up nothing. */
static bool end_server(struct reach *w)
{
    const struct timespec look = {.tv_nsec = LOOK_MS * 1000000L};
    const uint64_t end_ns = clock_mono_ns() + SERVER_END_MS * 1000000ull;
    pid_t ended;
    int status = 0;
    close(w->asks);
    (void)kill(w->server, SIGCONT);
    while ((ended = waitpid(w->server, &status, WNOHANG)) == 0 && clock_mono_ns() < end_ns)
        nanosleep(&look, NULL);
    const bool was_killed = ended == 0 || WIFSIGNALED(status);
    if (ended == 0)
        spawn_kill(w->server);
    w->server = 0;
    w->asks = -1;
    return !was_killed;
}

void reach_free(struct reach *w)
{
    struct error ignored = {0};
    if (!w)
        return;
    for (size_t i = 0; i < w->n_streams; i++)
        close(w->streams[i].status);
    /* Another one tidies up behind one that was killed. */
    if (w->server > 0 && !end_server(w) && start_server(w, &ignored) == 0)
        (void)end_server(w);
    for (size_t i = 0; i < w->n; i++)
        free_way(w->ways[i]);
    for (size_t i = 0; i < w->n_prepared; i++)
        free(w->prepared[i]);
    container_answer_free(w->container);
    free(w->ways);
    free(w->streams);
    uv_mutex_destroy(&w->lock);
    uv_mutex_destroy(&w->server_lock);
    free(w);
}

void reach_leave(struct reach *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n_streams; i++)
        close(w->streams[i].status);
    if (w->asks >= 0)
        close(w->asks);
    w->n_streams = 0;
    w->asks = -1;
    w->server = 0;
}

void reach_note(struct reach *w, const struct error *err)
{
    w->failed = *err;
}

const struct error *reach_failed(const struct reach *w)
{
    return &w->failed;
}

struct container_answer *reach_container_answer(const struct reach *w)
{
    return w->container;
}

const char *reach_keep(struct reach *w, char *text)
{
    w->prepared[w->n_prepared++] = text;
    return text;
}

int reach_find(struct reach *w, struct conn_way **way, struct way_url *url, const char *text,
               struct error *err)
{
    static const char *const programs[WAY_SCHEMES] = {
        [WAY_SSH] = "SSH to",
        [WAY_DOCKER] = "`docker exec` in",
        [WAY_PODMAN] = "`podman exec` in",
        [WAY_K8S] = "Kubernetes in pod",
    };
    struct buf place;
    int rc = way_url_parse(url, text, err);
    if (rc == 0)
        rc = start_server(w, err);
    if (rc != 0)
        return rc;
    buf_init(&place, 0);
    way_url_put(&place, url, NULL);
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->ways[i]->url, buf_cstr(&place)) == 0) {
            *way = &w->ways[i]->base;
            buf_clear(&place);
            return 0;
        }
    struct way *new = alloc_zero(1, sizeof *new);
    way_init(&new->base, &way_class);
    new->all = w;
    new->url = buf_take(&place);
    new->text = alloc_printf("%s %s", programs[url->scheme], url->host);
    new->base.text = new->text;
    w->ways = alloc_grow(w->ways, w->n, sizeof(struct way *));
    w->ways[w->n++] = new;
    *way = &new->base;
    return 0;
}

const char *reach_ssh_place(const struct reach *w, size_t i)
{
    for (size_t k = 0; k < w->n; k++)
        if (strncmp(w->ways[k]->url, way_schemes[WAY_SSH], strlen(way_schemes[WAY_SSH])) == 0 &&
            i-- == 0)
            return w->ways[k]->url;
    return NULL;
}

void reach_say_why(struct conn_way *way, const struct error *why)
{
    struct way *of = (struct way *)(void *)way;
    if (of->note)
        return; /* connections may have it */
    of->note = alloc_printf("connected by %s: not by the container's process, since %s", of->text,
                            why->text);
    way->note = of->note;
}

void reach_node_name(char *out, size_t size, const struct way_url *url)
{
    snprintf(out, size, "%.*s%s%.255s", (int)(size < 257 ? 0 : size - 257), url->node,
             strchr(url->node, '@') ? "" : "@", strchr(url->node, '@') ? "" : url->host);
}
