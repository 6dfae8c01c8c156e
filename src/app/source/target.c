/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"
#include "beamtop/link/inside.h"
#include "beamtop/link/name.h"
#include "app/way/reach.h"
#include "nodes.h"

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

/* By what is known of it: epmd's come first, and then those of our network namespace. */
static int vm_rank(const struct discover_vm *vm)
{
    return vm->in_epmd ? 2 : !vm->other_network;
}

/* Finds the VM that is meant, and how many match. */
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
        if (!found || vm_rank(vm) > vm_rank(found))
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

/* An address in digits, by which a container may be reached from here, too. */
static bool has_address(const char *node)
{
    const char *host = strchr(node, '@');
    struct in6_addr six;
    struct in_addr four;
    if (!host)
        return false;
    if (inet_pton(AF_INET, ++host, &four) == 1)
        return ntohl(four.s_addr) >> 24 != IN_LOOPBACKNET;
    return inet_pton(AF_INET6, host, &six) == 1 && !IN6_IS_ADDR_LOOPBACK(&six);
}

/*
 * Anybody may give a VM any name. When nothing but its name says that another user's VM is meant,
 * and the name is of another host, no cookie that was given goes there: it is for that host's. */
static bool is_claimed(const char *name, const struct discover_vm *vm)
{
    char here[LIMIT_NODE_NAME_BYTES + 1] = "localhost";
    const char *at = strchr(name, '@');
    gethostname(here, sizeof here - 1);
    return vm->uid != geteuid() && vm->uid != 0 && at && !name_host_is_here(at + 1, here);
}

static bool gets_no_cookie(const struct target *t)
{
    return t->is_claimed && t->conn.cookie && !cookie_is_guarded(&t->cookie);
}

static int refuse_claimed(const struct target *t, const struct discover_vm *vm, struct error *err)
{
    return error_set(err, ERR_REFUSED,
                     "OS process %lld of this host calls itself %.200s, and runs as another user "
                     "(uid %lu): beamtop does not send it a cookie that was given (%s). Give the "
                     "OS pid in place of the name if it is meant, or the node's address with "
                     "--host",
                     (long long)vm->pid, t->name, (unsigned long)vm->uid,
                     cookie_origin_text(t->cookie.origin));
}

/* By its port, or the epmd there, of the namespace that it is in. */
static void go_inside(struct target *t, const struct discover_vm *vm)
{
    struct error refused = {0};
    if (has_address(vm->node) && inside_check(vm->pid, &refused) != 0)
        return;
    t->way = inside_way(vm->pid);
    t->conn.way = t->way;
    t->conn.dial_host = *t->address ? t->address : NULL;
    t->conn.port = vm->port;
    if (vm->epmd_port != 0)
        t->conn.epmd_port = vm->epmd_port;
}

/* The way to a VM of this host, unless one was given. ERR_REFUSED: it may be another's. */
static int set_local(struct target *t, const struct discover_vm *vm, const struct cli_options *o,
                     bool has_namesake, struct error *err)
{
    const struct discover_options options = {0};
    if (vm->pid == 0 || way_given(o))
        return 0;
    if (gets_no_cookie(t))
        return vm->other_network && !has_address(t->name) ? refuse_claimed(t, vm, err) : 0;
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
    return 0;
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

/* ---- which VM is meant */

/* The VM of a name, of an OS pid in its place, or of a row of a list. */
struct choice {
    const struct discover_vm *vm; /* NULL: none of this host */
    bool sure;                    /* it is meant, and no other of that name */
    bool by_pid;                  /* it was chosen itself, not by what it calls itself */
    bool has_namesake;            /* epmd knows another one of its name, or none */
};

static const struct discover_vm *vm_of_number(const struct discover_list *vms, const char *name)
{
    const long number = strtol(name, NULL, 10);
    for (size_t i = 0; i < vms->count; i++)
        if (number > 0 && vms->vms[i].pid == number)
            return &vms->vms[i];
    return NULL;
}

static bool is_number(const char *name)
{
    return *name != '\0' && name[strspn(name, "0123456789")] == '\0';
}

int target_several(const struct discover_list *vms, const char *name, struct error *err)
{
    struct buf pids;
    buf_init(&pids, 256);
    for (size_t i = 0; i < vms->count; i++)
        if (vms->vms[i].pid != 0 && target_is_meant(&vms->vms[i], name))
            buf_printf(&pids, "%s%d", pids.len > 0 ? ", " : "", (int)vms->vms[i].pid);
    error_set(err, ERR_USAGE, "several VMs of this host are called %.200s: give the OS pid (%s)",
              name, buf_cstr(&pids));
    buf_clear(&pids);
    return ERR_USAGE;
}

/* The name leads to one of them at most: 0 when that is the one. */
static int fail_several(const struct choice *c, const struct discover_list *vms, const char *name,
                        struct error *err)
{
    return c->vm->other_network ? target_several(vms, name, err) : 0;
}

static int choose_of_list(struct choice *c, const struct discover_list *vms, const char *name,
                          const struct cli_options *o, int64_t os_pid, struct error *err)
{
    const struct discover_vm *chosen = is_number(name) ? vm_of_number(vms, name) : NULL;
    size_t count = 0;
    if (chosen && chosen->node[0] == '\0')
        return error_set(err, ERR_NOT_FOUND, TARGET_NO_NODE, (long long)chosen->pid,
                         chosen->command, (long long)chosen->pid);
    if (!chosen)
        chosen = target_of_pid(vms, name, os_pid);
    c->vm = find_vm(vms, chosen ? chosen->node : name, &count);
    c->by_pid = chosen;
    c->has_namesake = chosen && chosen != c->vm;
    c->vm = chosen ? chosen : c->vm;
    c->sure = chosen || count == 1 || (c->vm && c->vm->in_epmd);
    return count > 1 && !chosen && !way_given(o) ? fail_several(c, vms, name, err) : 0;
}

/* `own` is read where no list is given: the caller clears it. */
static int choose_vm(struct choice *c, struct discover_list *own, const char *name,
                     const struct cli_options *o, const struct app_env *env,
                     const struct discover_list *vms, int64_t os_pid, struct error *err)
{
    size_t count = 0;
    *c = (struct choice){0};
    if (vms)
        return choose_of_list(c, vms, name, o, os_pid, err);
    if (!cookie_given(o, env) || !strchr(name, '@'))
        count = target_look_for(own, &c->vm, name, o, env);
    else if (!way_given(o))
        count = look_here(own, &c->vm, name);
    c->sure = count == 1 || (c->vm && c->vm->in_epmd);
    if (count == 0 && is_number(name))
        return choose_of_list(c, own, name, o, 0, err);
    return count > 1 && !way_given(o) ? fail_several(c, own, name, err) : 0;
}

/* ---- all of it */

static void set_options(struct target *t, const struct cli_options *o, uint16_t epmd_port)
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

/* With the VM that is meant: the name, the cookie, the way. */
static int fill_target(struct target *t, const char *name, const struct choice *c,
                       const struct cli_options *o, const struct app_env *env, uint16_t epmd_port,
                       struct error *err)
{
    const struct discover_vm *vm = c->vm;
    snprintf(t->name, sizeof t->name, "%s", vm && !strchr(name, '@') ? vm->node : name);
    int rc = find_cookie(t, o, env, vm, &t->no_cookie);
    if (rc != 0 && (rc != ERR_NOT_FOUND || o->cookie_file)) {
        *err = t->no_cookie;
        return rc;
    }
    set_options(t, o, epmd_port);
    t->is_claimed = vm && !c->by_pid && is_claimed(name, vm);
    rc = vm && c->sure ? set_local(t, vm, o, c->has_namesake, err) : 0;
    if (rc == 0)
        rc = target_set_tls(t, o, env, way_given(o) || gets_no_cookie(t) || !c->sure ? NULL : vm,
                            err);
    if (rc != 0)
        return rc;
    if (c->has_namesake && !way_given(o) && t->conn.port == 0 && !t->way)
        return error_set(err, ERR_NOT_FOUND,
                         "several VMs are called %.255s, and no port of OS process %lld was found: "
                         "it runs as another user. Give its port with --port",
                         t->name, (long long)vm->pid);
    return 0;
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
    set_options(t, o, epmd_port);
    t->conn.way = way;
    t->conn.any_host = !strchr(url.node, '@');
    return rc != 0 ? rc : target_set_tls(t, o, env, NULL, err);
}

int target_init(struct target *t, const char *name, const struct cli_options *o,
                const struct app_env *env, const struct discover_list *vms, int64_t os_pid,
                struct error *err)
{
    struct discover_list own = {0};
    struct choice choice;
    uint16_t epmd_port = 0;
    *t = (struct target){0};
    int rc = target_check_name(name, err);
    if (rc == 0)
        rc = nodes_epmd_port(o, env, &epmd_port, err);
    if (rc == 0 && way_is_url(name))
        return init_by_way(t, name, o, env, epmd_port, err);
    if (rc == 0)
        rc = choose_vm(&choice, &own, name, o, env, vms, os_pid, err);
    if (rc == 0)
        rc = fill_target(t, name, &choice, o, env, epmd_port, err);
    if (rc != 0)
        target_clear(t);
    discover_clear(&own);
    return rc;
}

void target_lend(struct target *t, const struct cookie *cookie)
{
    if (!cookie || cookie->origin == COOKIE_NONE || t->cookie.origin == COOKIE_PATTERNS ||
        (t->is_claimed && !cookie_is_guarded(cookie)))
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
    tls_context_drop(t->tls);
    t->tls = NULL;
}
