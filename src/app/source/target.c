/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/text.h"
#include "beamtop/link/inside.h"
#include "beamtop/link/name.h"
#include "nodes.h"
#include "app/way/reach.h"

/* By the part before '@' when there is no host, or only epmd knows the name. */
bool target_is_meant(const struct discover_vm *vm, const char *name)
{
    char here[LIMIT_NODE_NAME_BYTES + 1] = "localhost";
    size_t len = strcspn(name, "@");
    if (strcmp(vm->node, name) == 0)
        return true;
    if (strncmp(vm->node, name, len) != 0 || vm->node[len] != '@')
        return false;
    gethostname(here, sizeof here - 1);
    return name[len] == '\0' ||
           (vm->form == DISCOVER_UNKNOWN && name_host_is_here(name + len + 1, here));
}

const struct discover_vm *target_of_pid(const struct discover_list *vms, const char *name,
                                        int64_t os_pid)
{
    for (size_t i = 0; i < vms->count; i++)
        if (os_pid > 0 && vms->vms[i].pid == os_pid && target_is_meant(&vms->vms[i], name))
            return &vms->vms[i];
    return NULL;
}

/* Finds the VM that is meant, and how many match: those that epmd knows come first. */
static const struct discover_vm *find_vm(const struct discover_list *vms, const char *name,
                                         size_t *count)
{
    const struct discover_vm *found = NULL;
    *count = 0;
    for (size_t i = 0; i < vms->count; i++) {
        const struct discover_vm *vm = &vms->vms[i];
        if (!target_is_meant(vm, name))
            continue;
        ++*count;
        if (!found || (vm->in_epmd && !found->in_epmd))
            found = vm;
    }
    return found;
}

/* Without epmd: by their command lines. */
static size_t look_here(struct discover_list *list, const struct discover_vm **vm, const char *name)
{
    const struct discover_options options = {0};
    struct error ignored = {0}; /* without /proc the other sources serve */
    size_t count = 0;
    (void)discover_scan(list, &options, &ignored);
    *vm = find_vm(list, name, &count);
    return count;
}

size_t target_look_for(struct discover_list *list, const struct discover_vm **vm, const char *name,
                       const struct cli_options *o, const struct app_env *env)
{
    struct error ignored = {0};
    size_t count = look_here(list, vm, name);
    if (count == 1)
        return count;
    discover_clear(list);
    (void)nodes_find(list, o, env, (unsigned)(o->timeout_s * 1000), &ignored);
    *vm = find_vm(list, name, &count);
    return count > 1 && (*vm)->in_epmd ? 1 : count;
}

static bool way_given(const struct cli_options *o)
{
    return o->host || o->port != 0;
}

/* Its port, or the epmd there, of the namespace that it is in. */
static void go_inside(struct target *t, const struct discover_vm *vm)
{
    t->way = inside_way(vm->pid);
    t->conn.way = t->way;
    t->conn.dial_host = *t->address ? t->address : NULL;
    t->conn.port = vm->port;
    if (vm->epmd_port != 0)
        t->conn.epmd_port = vm->epmd_port;
}

/* The way to a VM of this host, unless one was given. */
static void set_local(struct target *t, const struct discover_vm *vm, const struct cli_options *o,
                      bool has_namesake)
{
    const struct discover_options options = {0};
    if (vm->pid == 0 || way_given(o))
        return;
    struct discover_vm found = *vm;
    discover_port(&found, &options);
    memcpy(t->address, found.address, sizeof t->address);
    if (vm->other_network) {
        go_inside(t, &found);
    } else {
        t->conn.local = (struct conn_local){.os_pid = found.pid,
                                            .epmd_port = found.epmd_port,
                                            .port = found.port,
                                            .address = t->address};
        if (has_namesake)
            t->conn.port = found.port;
    }
    cookie_wipe(&found.cookie);
}

static bool cookie_given(const struct cli_options *o, const struct app_env *env)
{
    return o->cookie || o->cookie_file || env->cookie;
}

/* By the file of patterns that was named; the one of the configuration does not stand above a
 * cookie that was given. ERR_NOT_FOUND: there is none for this node. */
static int match_cookie(struct target *t, const struct cli_options *o, const struct app_env *env,
                        struct error *err)
{
    char dir[512], path[600], here[LIMIT_NODE_NAME_BYTES + 1] = "localhost";
    struct name full;
    struct error ignored = {0};
    gethostname(here, sizeof here - 1);
    if (name_parse(&full, t->name, here, &ignored) != 0)
        return ERR_NOT_FOUND; /* the connection says what is wrong with it */
    if (o->cookies)
        return cookie_match_file(&t->cookie, o->cookies, full.full, err);
    cli_config_dir(dir, sizeof dir, env);
    snprintf(path, sizeof path, "%s/cookies", dir);
    if (*dir == '\0' || cookie_given(o, env) || o->no_config || access(path, F_OK) != 0)
        return ERR_NOT_FOUND;
    return cookie_match_file(&t->cookie, path, full.full, err);
}

static int find_cookie(struct target *t, const struct cli_options *o, const struct app_env *env,
                       const struct discover_vm *vm, struct error *err)
{
    const int rc = match_cookie(t, o, env, err);
    struct cookie_places sources = {
        .file = o->cookie_file,
        .env = env->cookie,
        .option = o->cookie,
        .discovered = vm && vm->cookie_from != DISCOVER_COOKIE_NONE ? vm->cookie.text : NULL,
        .discovered_uid = vm ? vm->uid : 0,
        .home = env->home,
        .xdg_config_home = env->xdg_config_home,
    };
    if (rc != ERR_NOT_FOUND)
        return rc;
    *err = (struct error){0};
    return cookie_find(&t->cookie, &sources, err);
}

/* No host has such a name: it is a recording that does not exist, so the error names no nodes. */
static bool is_recordings(const char *name)
{
    static const char end[] = ".btr";
    return text_ends_with(name, end) && strlen(name) > strlen(end);
}

int target_check_name(const char *name, struct error *err)
{
    struct stat st;
    if (way_is_url(name) && !strchr(name, ','))
        return 0;
    if (name[0] == '@' || strchr(name, ',') || strstr(name, "@dns:") || strstr(name, "@srv:"))
        return error_set(err, ERR_USAGE, "%.300s: this command takes one node", name);
    if (!strchr(name, '/') && !is_recordings(name))
        return 0;
    if (stat(name, &st) != 0)
        return error_set(err, ERR_USAGE, "%.300s: %s", name, strerror(errno));
    return error_set(err, ERR_USAGE, "%.300s is neither a recording's file nor a node's name",
                     name);
}

static void set_conn(struct target *t, const struct cli_options *o, uint16_t epmd_port)
{
    t->conn = (struct conn_options){
        .target = t->name,
        .dial_host = o->host,
        .port = (uint16_t)o->port,
        .epmd_port = epmd_port,
        .cookie = t->no_cookie.code == ERR_NONE ? t->cookie.text : NULL,
        .no_cookie = t->no_cookie.text,
        .cookie_origin = t->cookie.origin,
        .cookie_uid = t->cookie.uid,
        .timeout_ms = (unsigned)(o->timeout_s * 1000),
    };
}

/* By its URL: nothing that is known of this host counts. */
static int init_by_way(struct target *t, const char *text, const struct cli_options *o,
                       const struct app_env *env, uint16_t epmd_port, struct error *err)
{
    struct conn_way *way = NULL;
    struct way_url url;
    int rc = reach_find(env->reach, &way, &url, text, err);
    if (rc == 0 && *url.node == '\0')
        rc = error_set(err, ERR_USAGE, "%.300s: the URL lacks the node, as in %s…/NAME", text,
                       way_schemes[url.scheme]);
    if (rc != 0)
        return rc;
    reach_node_name(t->name, sizeof t->name, &url);
    rc = find_cookie(t, o, env, NULL, &t->no_cookie);
    if (rc == ERR_NOT_FOUND && !o->cookie_file)
        rc = 0;
    else if (rc != 0)
        *err = t->no_cookie;
    set_conn(t, o, epmd_port);
    t->conn.way = way;
    t->conn.any_host = !strchr(url.node, '@');
    return rc;
}

int target_init(struct target *t, const char *name, const struct cli_options *o,
                const struct app_env *env, const struct discover_list *vms, int64_t os_pid,
                struct error *err)
{
    struct discover_list own = {0};
    uint16_t epmd_port = 0;
    *t = (struct target){0};
    int rc = target_check_name(name, err);
    if (rc == 0)
        rc = nodes_epmd_port(o, env, &epmd_port, err);
    if (rc != 0)
        return rc;
    if (way_is_url(name))
        return init_by_way(t, name, o, env, epmd_port, err);
    const struct discover_vm *vm = NULL, *chosen = NULL;
    size_t count = 0;
    if (vms) {
        vm = find_vm(vms, name, &count);
        chosen = target_of_pid(vms, name, os_pid);
    } else if (!cookie_given(o, env) || !strchr(name, '@')) {
        count = target_look_for(&own, &vm, name, o, env);
    } else if (!way_given(o)) {
        count = look_here(&own, &vm, name);
    }
    const bool has_namesake = chosen && chosen != vm; /* then epmd knows that one, or none */
    if (chosen)
        vm = chosen, count = 1;
    snprintf(t->name, sizeof t->name, "%s", vm && !strchr(name, '@') ? vm->node : name);
    rc = find_cookie(t, o, env, vm, &t->no_cookie);
    if (rc == ERR_NOT_FOUND && !o->cookie_file)
        rc = 0;
    else if (rc != 0)
        *err = t->no_cookie;
    set_conn(t, o, epmd_port);
    if (vm && (count == 1 || vm->in_epmd))
        set_local(t, vm, o, has_namesake);
    if (rc == 0 && has_namesake && !way_given(o) && t->conn.port == 0)
        rc = error_set(
            err, ERR_NOT_FOUND,
            "several VMs are called %.255s, and no port of OS process %lld was found: it "
            "is in another network namespace, or runs as another user. Give its port with "
            "--port",
            t->name, (long long)vm->pid);
    discover_clear(&own);
    return rc;
}

void target_lend(struct target *t, const struct cookie *cookie)
{
    if (!cookie || cookie->origin == COOKIE_NONE || t->cookie.origin == COOKIE_PATTERNS)
        return;
    t->cookie = *cookie;
    t->no_cookie = (struct error){0};
    t->conn.cookie = t->cookie.text;
    t->conn.cookie_origin = t->cookie.origin;
    t->conn.cookie_uid = t->cookie.uid;
}

void target_clear(struct target *t)
{
    cookie_wipe(&t->cookie);
    way_drop(t->way);
    t->way = NULL;
}
