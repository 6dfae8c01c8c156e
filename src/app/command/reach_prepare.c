/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reach_prepare.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "app/fleet/fleet.h"
#include "app/job/together.h"
#include "app/pod/pod_cookie.h"
#include "app/pod/pod_debug.h"
#include "app/source/nodes.h"
#include "app/way/container.h"
#include "app/way/reach_login.h"
#include "app/way/way_methods.h"
#include "app/way/way_names.h"
#include "beamtop/base/alloc.h"
#include "beamtop/link/epmd.h"

/* One name of a list. */
struct asked {
    struct way_url url;
    struct conn_way *way; /* where the rest is asked; NULL: nothing is asked */
    struct cookie cookie;
    bool is_url, has_cookie;
    int rc;
    struct error err;
};

struct asking {
    struct asked *all;
    size_t n;
    const struct cli_options *o;
    const struct app_env *env;
    atomic_bool has_failed; /* then the others are not begun */
};

static int find_node(struct way_url *url, struct conn_way *way, const struct cli_options *o,
                     const struct app_env *env, struct error *err)
{
    uint16_t port = 0;
    const int rc = nodes_epmd_port(o, env, &port, err);
    return rc != 0 ? rc
                   : way_names_find(url, way, port != 0 ? port : EPMD_PORT, cli_timeout_ms(o), err);
}

/* What only the far side knows: any thread. */
static void ask_far(void *arg, size_t i)
{
    struct asking *ask = arg;
    struct asked *a = &ask->all[i];
    if (!a->way || atomic_load(&ask->has_failed))
        return;
    if (*a->url.node == '\0')
        a->rc = find_node(&a->url, a->way, ask->o, ask->env, &a->err);
    if (a->rc != 0)
        atomic_store(&ask->has_failed, true);
    else if (a->url.scheme == WAY_K8S && pod_cookie_is_sought(ask->o, ask->env))
        a->has_cookie = pod_cookie(&a->cookie, &a->url, cli_timeout_ms(ask->o));
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
    const int found = find_node(url, way, o, env, err);
    way_drop(way);
    return found;
}

/* By the process of streams; to a pod maybe through another container of it. */
static int prepare_far(struct reach *w, struct asked *a, const struct cli_options *o,
                       const struct app_env *env, struct error *err)
{
    struct buf changed;
    int rc = a->url.scheme == WAY_K8S ? pod_debug_prepare(&a->url, o, env, err) : 0;
    if (rc != 0)
        return rc;
    buf_init(&changed, 0);
    way_url_put(&changed, &a->url, a->url.node);
    rc = reach_find(w, &a->way, &a->url, buf_cstr(&changed), err);
    buf_clear(&changed);
    return rc;
}

static int prepare_url(struct reach *w, struct asked *a, const struct cli_options *o,
                       const struct app_env *env, struct error *err)
{
    if (!way_engine(a->url.scheme))
        return prepare_far(w, a, o, env, err);
    const int rc = *a->url.node == '\0' ? find_container_node(w, &a->url, o, env, err) : 0;
    if (rc != ERR_NOT_FOUND && rc != ERR_REFUSED)
        return rc;
    *err = (struct error){0};
    return prepare_far(w, a, o, env, err);
}

static int prepare_name(struct reach *w, struct asked *a, const char *name,
                        const struct cli_options *o, const struct app_env *env, struct error *err)
{
    *a = (struct asked){.is_url = way_is_url(name)};
    if (!a->is_url)
        return 0;
    const int rc = way_url_parse(&a->url, name, err);
    return rc != 0 ? rc : prepare_url(w, a, o, env, err);
}

/* All far sides at the same time. The error is of the first URL that has one. */
static int ask_all(struct asking *ask, struct error *err)
{
    int rc = 0;
    together(ask->n, ask_far, ask);
    for (size_t i = 0; i < ask->n; i++) {
        struct asked *a = &ask->all[i];
        if (rc == 0 && a->rc != 0) {
            rc = a->rc;
            *err = a->err;
        }
        if (a->has_cookie)
            reach_lend(a->way, a->url.node, &a->cookie);
        cookie_wipe(&a->cookie);
    }
    return rc;
}

/* Reaches all names; then *out has them, and each URL has its node. */
static int find_all(struct buf *out, struct reach *w, const struct fleet_names *names,
                    const struct cli_options *o, const struct app_env *env, struct error *err)
{
    struct asking ask = {
        .all = alloc_zero(names->n, sizeof *ask.all), .n = names->n, .o = o, .env = env};
    int rc = 0;
    for (size_t i = 0; i < names->n && rc == 0; i++)
        rc = prepare_name(w, &ask.all[i], names->names[i], o, env, err);
    if (rc == 0)
        rc = ask_all(&ask, err);
    for (size_t i = 0; i < names->n && rc == 0; i++) {
        buf_puts(out, i > 0 ? "," : "");
        if (ask.all[i].is_url)
            way_url_put(out, &ask.all[i].url, ask.all[i].url.node);
        else
            buf_puts(out, names->names[i]);
    }
    free(ask.all);
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
    if (rc == 0 && !is_file(*text))
        rc = find_all(&out, w, &names, o, env, err);
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
