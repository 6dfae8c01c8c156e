/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reach_prepare.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/pod/pod_cookie.h"
#include "app/pod/pod_debug.h"
#include "app/fleet/fleet.h"
#include "app/source/nodes.h"
#include "app/way/container.h"
#include "app/way/reach_login.h"
#include "app/way/way_methods.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/link/epmd.h"

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

static int find_node(struct conn_way *way, struct way_url *url, const struct cli_options *o,
                     const struct app_env *env, struct error *err)
{
    struct epmd_name *names = alloc_zero(LIMIT_EPMD_NAMES, sizeof *names);
    uint16_t port = 0;
    size_t n = 0;
    int rc = nodes_epmd_port(o, env, &port, err);
    if (rc == 0)
        rc = ask_names(way, port != 0 ? port : EPMD_PORT, cli_timeout_ms(o), names, &n, err);
    if (rc == 0)
        rc = choose(url, way, names, keep_names(url, names, n), err);
    free(names);
    return rc;
}

/* Of a node in a pod that no cookie was given for: the one that it has there. */
static void find_cookie(struct conn_way *way, const struct way_url *url,
                        const struct cli_options *o, const struct app_env *env)
{
    struct cookie found;
    if (url->scheme != WAY_K8S || o->cookie || o->cookie_file || o->cookies || env->cookie)
        return;
    if (pod_cookie(&found, url, cli_timeout_ms(o)))
        reach_lend(way, url->node, &found);
    cookie_wipe(&found);
}

/* A host of several that is not reached fails its connections only, which need its nodes' names. */
static int login(struct reach *w, const struct fleet_names *names, const struct cli_options *o,
                 const struct app_env *env, struct error *err)
{
    const bool can_ask = (env->in_tty && env->err_tty) || env->ssh_askpass;
    struct reach_login *logins = alloc_zero(names->n, sizeof *logins);
    size_t n = 0;
    int rc = 0;
    for (size_t i = 0; i < names->n && rc == 0; i++) {
        struct way_url url;
        if (!way_is_url(names->names[i]))
            continue;
        rc = way_url_parse(&url, names->names[i], err);
        if (url.scheme == WAY_SSH)
            logins[n++] = (struct reach_login){.url = names->names[i],
                                               .is_needed = names->n == 1 || *url.node == '\0'};
    }
    if (rc == 0)
        reach_login_all(w, logins, n, can_ask, cli_timeout_ms(o));
    for (size_t i = 0; i < n && rc == 0; i++)
        if (logins[i].rc != 0 && logins[i].is_needed) {
            *err = logins[i].err;
            rc = logins[i].rc;
        }
    free(logins);
    return rc;
}

/* The node of a container of this host, by its VM. ERR_NOT_FOUND, ERR_REFUSED: its engine's program
 * is the way. */
static int find_container_node(struct reach *w, struct way_url *url, const struct cli_options *o,
                               const struct app_env *env, struct error *err)
{
    struct discover_vm vm;
    const int rc = container_find_vm(&vm, url, reach_container_answer(w), cli_timeout_ms(o), err);
    if (rc != 0)
        return rc;
    if (vm.node[0] != '\0') {
        snprintf(url->node, sizeof url->node, "%.*s", (int)strcspn(vm.node, "@"), vm.node);
        return 0;
    }
    struct conn_way *way = container_way(url, &vm);
    const int found = find_node(way, url, o, env, err);
    way_drop(way);
    return found;
}

/* By the process of streams; to a pod maybe through another container of it. */
static int prepare_far(struct reach *w, struct way_url *url, const struct cli_options *o,
                       const struct app_env *env, struct error *err)
{
    struct conn_way *way;
    struct buf changed;
    int rc = url->scheme == WAY_K8S ? pod_debug_prepare(url, o, env, err) : 0;
    if (rc != 0)
        return rc;
    buf_init(&changed, 0);
    way_url_put(&changed, url, url->node);
    rc = reach_find(w, &way, url, buf_cstr(&changed), err);
    buf_clear(&changed);
    if (rc == 0 && *url->node == '\0')
        rc = find_node(way, url, o, env, err);
    if (rc == 0)
        find_cookie(way, url, o, env);
    return rc;
}

static int prepare_url(struct reach *w, struct way_url *url, const struct cli_options *o,
                       const struct app_env *env, struct error *err)
{
    if (!way_engine(url->scheme))
        return prepare_far(w, url, o, env, err);
    const int rc = *url->node == '\0' ? find_container_node(w, url, o, env, err) : 0;
    if (rc != ERR_NOT_FOUND && rc != ERR_REFUSED)
        return rc;
    *err = (struct error){0};
    return prepare_far(w, url, o, env, err);
}

/* Appends the name; a URL gets its node. */
static int put_name(struct reach *w, struct buf *out, const char *name, const struct cli_options *o,
                    const struct app_env *env, struct error *err)
{
    struct way_url url;
    if (!way_is_url(name)) {
        buf_puts(out, name);
        return 0;
    }
    int rc = way_url_parse(&url, name, err);
    if (rc == 0)
        rc = prepare_url(w, &url, o, env, err);
    if (rc == 0)
        way_url_put(out, &url, url.node);
    return rc;
}

static bool is_file(const char *names)
{
    return names && *names == '@';
}

/* The names of a file are read again by who needs them. */
static int prepare_names(struct reach *w, const char **text, const struct cli_options *o,
                         const struct app_env *env, struct error *err)
{
    struct fleet_names names;
    struct buf out;
    int rc = fleet_names_take(&names, *text, err);
    buf_init(&out, 0);
    if (rc == 0)
        rc = login(w, &names, o, env, err);
    for (size_t i = 0; i < names.n && rc == 0 && !is_file(*text); i++) {
        buf_puts(&out, i > 0 ? "," : "");
        rc = put_name(w, &out, names.names[i], o, env, err);
    }
    fleet_names_clear(&names);
    if (rc == 0 && !is_file(*text))
        *text = reach_keep(w, buf_take(&out));
    else
        buf_clear(&out);
    return rc;
}

static bool has_url(const char *names)
{
    for (const char *at = names; at && *at != '\0'; at += strcspn(at, ","), at += *at == ',')
        if (way_is_url(at))
            return true;
    return false;
}

int reach_prepare_command(struct reach *w, const struct cli_command *command, struct cli_options *o,
                          const struct app_env *env, struct error *err)
{
    const bool records = strcmp(command->name, "record") == 0;
    const bool starts = records && o->target && strcmp(o->target, "start") == 0;
    const char **node = starts ? &o->second : &o->target;
    int rc = 0;
    if (has_url(*node) || is_file(*node))
        rc = prepare_names(w, node, o, env, err);
    if (rc == 0 && has_url(o->with))
        rc = prepare_names(w, &o->with, o, env, err);
    if (rc == ERR_TIMEOUT) /* of the connection, for the exit code */
        err->code = rc = ERR_CONNECT;
    if (rc == 0 || strcmp(command->name, "doctor") != 0)
        return rc;
    reach_note(w, err); /* its checks say the rest */
    *err = (struct error){0};
    return 0;
}
