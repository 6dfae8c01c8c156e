/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"
#include "beamtop/link/inside.h"
#include "beamtop/local/rights.h"
#include "app/way/container.h"
#include "app/way/reach.h"
#include "app/way/way_methods.h"
#include "nodes.h"

/* ---- this host */

bool target_host_is_here(const char *host)
{
    char here[LIMIT_NODE_NAME_BYTES + 1];
    name_this_host(here, sizeof here);
    return name_host_is_here(host, here);
}

bool target_full_name(struct name *out, const struct target *t)
{
    char here[LIMIT_NODE_NAME_BYTES + 1] = "";
    struct error ignored = {0}; /* the connection says what is wrong with it */
    name_this_host(here, sizeof here);
    return name_parse(out, t->name, here, &ignored) == 0;
}

/* ---- which VM is meant */

/* By the part before '@' when there is no host, or only epmd knows the name. */
static bool is_meant(const struct discover_vm *vm, const char *name)
{
    const char *at = strchr(name, '@');
    if (strcmp(vm->node, name) == 0)
        return true;
    return discover_is_called(vm, name) &&
           (!at || (vm->form == DISCOVER_UNKNOWN && target_host_is_here(at + 1)));
}

/* By what is known of it: epmd's come first, and then those of our network namespace. */
static int vm_rank(const struct discover_vm *vm)
{
    return vm->in_epmd ? 2 : !vm->other_network;
}

/* The likeliest of those with that name, and how many there are. */
static const struct discover_vm *find_vm(const struct discover_list *vms, const char *name,
                                         size_t *count)
{
    const struct discover_vm *found = NULL;
    *count = 0;
    for (size_t i = 0; i < vms->count; i++) {
        const struct discover_vm *vm = &vms->vms[i];
        if (!is_meant(vm, name))
            continue;
        ++*count;
        if (!found || vm_rank(vm) > vm_rank(found))
            found = vm;
    }
    return found;
}

static const struct discover_vm *vm_of_pid(const struct discover_list *vms, int64_t os_pid)
{
    for (size_t i = 0; i < vms->count; i++)
        if (os_pid > 0 && vms->vms[i].pid == os_pid)
            return &vms->vms[i];
    return NULL;
}

void target_choose(struct target_choice *c, const struct discover_list *vms, const char *name,
                   int64_t os_pid)
{
    const struct discover_vm *chosen =
        text_is_number(name) ? vm_of_pid(vms, strtol(name, NULL, 10)) : NULL;
    const struct discover_vm *row = chosen ? NULL : vm_of_pid(vms, os_pid);
    size_t count = 0;
    if (row && is_meant(row, name))
        chosen = row;
    c->vm = find_vm(vms, chosen ? chosen->node : name, &count);
    c->by_pid = chosen;
    c->has_namesake = chosen && chosen != c->vm;
    c->vm = chosen ? chosen : c->vm;
    c->sure = chosen || count == 1 || (c->vm && c->vm->in_epmd);
}

/* Without epmd: by their command lines. only: 0: all, else that process. */
static void look_here(struct discover_list *list, pid_t only)
{
    const struct discover_options options = {.only = only};
    struct error ignored = {0}; /* without /proc the other sources serve */
    (void)discover_scan(list, &options, &ignored);
}

/* Whether that one process is all there is to know: a VM without distribution has no namesake, and
 * one that hangs says nothing to a second search. */
static bool look_at_number(struct discover_list *list, const char *name,
                           const struct cli_options *o, const struct app_env *env)
{
    struct error ignored = {0};
    const long number = text_is_number(name) ? strtol(name, NULL, 10) : 0;
    if (number < 1 || number > INT_MAX)
        return false;
    look_here(list, (pid_t)number);
    if (list->count == 0 && list->unread > 0)
        return true;
    if (list->count > 0 && list->vms[0].node[0] == '\0') {
        (void)nodes_ask_epmd(list, o, env, NODES_EPMD_MS, &ignored); /* named after its start? */
        const struct discover_vm *vm = vm_of_pid(list, number);
        if (vm && vm->node[0] == '\0')
            return true;
    }
    discover_clear(list);
    return false;
}

void target_look_for(struct discover_list *list, const char *name, const struct cli_options *o,
                     const struct app_env *env)
{
    struct target_choice c;
    struct error ignored = {0};
    if (look_at_number(list, name, o, env))
        return;
    look_here(list, 0);
    target_choose(&c, list, name, 0);
    if (!c.sure || c.vm->node[0] == '\0')
        (void)nodes_ask_epmd(list, o, env, cli_timeout_ms(o), &ignored);
}

int target_several(const struct discover_list *vms, const char *name, struct error *err)
{
    struct buf pids;
    buf_init(&pids, 256);
    for (size_t i = 0; i < vms->count; i++)
        if (vms->vms[i].pid != 0 && is_meant(&vms->vms[i], name))
            buf_printf(&pids, "%s%d", pids.len > 0 ? ", " : "", (int)vms->vms[i].pid);
    error_set(err, ERR_USAGE, "several VMs of this host are called %.200s: give the OS pid (%s)",
              name, buf_cstr(&pids));
    buf_clear(&pids);
    return ERR_USAGE;
}

/* ---- where it is, and whether it gets a cookie */

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
 * Anybody may give a VM any name. Where nothing but that says which VM is meant, no cookie that was
 * given goes to one in another network namespace, as in a container, nor to another user's that
 * calls itself a node of another host. */
static bool is_claimed(const char *name, const struct discover_vm *vm)
{
    const char *at = strchr(name, '@');
    return vm->other_network ||
           (vm->uid != geteuid() && vm->uid != 0 && at && !target_host_is_here(at + 1));
}

static bool gets_no_cookie(const struct target *t)
{
    return t->is_claimed && t->conn.cookie && !cookie_is_guarded(&t->cookie);
}

static int refuse_claimed(const struct target *t, const struct discover_vm *vm, struct error *err)
{
    char whose[40] = "";
    if (!vm->other_network)
        snprintf(whose, sizeof whose, " and runs as uid %lu", (unsigned long)vm->uid);
    return error_set(err, ERR_REFUSED,
                     "OS process %lld%s calls itself %.200s%s: beamtop does not send it a cookie "
                     "that was given (%s). Give the OS pid in place of the name if it is meant, or "
                     "the node's address with --host",
                     (long long)vm->pid, vm->other_network ? " of another network namespace" : "",
                     t->name, whose, cookie_origin_text(t->cookie.origin));
}

/* By its port, or the epmd there, of the namespace that it is in. */
static void set_port_inside(struct target *t, const struct discover_vm *vm)
{
    memcpy(t->address, vm->address, sizeof t->address);
    t->conn.dial_host = *t->address ? t->address : NULL;
    t->conn.port = vm->port;
    if (vm->epmd_port != 0)
        t->conn.epmd_port = vm->epmd_port;
}

static void go_inside(struct target *t, const struct discover_vm *vm)
{
    t->way =
        inside_way(vm->pid, vm->started, has_address(vm->node) ? strchr(vm->node, '@') + 1 : NULL);
    t->conn.way = t->way;
    set_port_inside(t, vm);
}

/* The way to a VM of this host, unless one was given. ERR_REFUSED: it may be another's. */
static int set_local(struct target *t, const struct target_choice *c, const struct cli_options *o,
                     struct error *err)
{
    const struct discover_vm *vm = c->vm;
    const struct discover_options options = {0};
    if (vm->pid == 0 || way_given(o))
        return 0;
    if (gets_no_cookie(t))
        return vm->other_network && !has_address(t->name) ? refuse_claimed(t, vm, err) : 0;
    struct discover_vm found = *vm;
    if (c->by_pid && !c->has_namesake)
        found.port = 0; /* epmd's may be another's of its name */
    discover_port(&found, &options);
    if (vm->other_network) {
        go_inside(t, &found);
    } else {
        memcpy(t->address, found.address, sizeof t->address);
        t->conn.local = (struct conn_local){.os_pid = found.pid,
                                            .uid = found.uid,
                                            .is_meant = c->by_pid,
                                            .epmd_port = found.epmd_port,
                                            .port = found.port,
                                            .address = t->address};
        if (c->has_namesake)
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
    char dir[512], path[600];
    struct name full;
    if (!target_full_name(&full, t))
        return ERR_NOT_FOUND;
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

/* Whether /proc has it: with hidepid it has those of this user only. */
static bool is_shown(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld", (long)pid);
    return access(path, F_OK) == 0;
}

int target_find_process(pid_t *pid, const char *argument, struct error *err)
{
    errno = 0;
    long number = strtol(argument, NULL, 10);
    if (errno != 0 || number < 1 || number > INT_MAX ||
        (kill((pid_t)number, 0) != 0 && errno == ESRCH))
        return error_set(err, ERR_NOT_FOUND,
                         "there is no OS process %.20s on this host: `beamtop nodes` lists its VMs",
                         argument);
    *pid = (pid_t)number;
    if (access("/proc/self", F_OK) != 0)
        return error_set(err, ERR_REFUSED,
                         "no /proc is mounted here, so VMs of this host cannot be found: mount -t "
                         "proc proc /proc");
    if (!is_shown(*pid))
        return error_set(err, ERR_REFUSED,
                         "OS process %ld is hidden: " RIGHTS_HIDDEN ", or as its user", number);
    const enum discover_kind kind = discover_kind(*pid);
    if (kind == DISCOVER_IS_UNREAD)
        return error_set(err, ERR_TIMEOUT,
                         "OS process %ld did not show its command line within 2 s, so it is not "
                         "known whether it is a BEAM VM: its memory or /proc hangs. Next: ps -o "
                         "pid,stat,wchan,comm -p %ld",
                         number, number);
    if (kind != DISCOVER_IS_VM)
        return error_set(err, ERR_USAGE,
                         "process %ld is not a BEAM VM: `beamtop nodes` lists those of this host",
                         number);
    return 0;
}

/* The VM that is meant. `own` is read where no list is given: the caller clears it. */
static int choose_vm(struct target_choice *c, struct discover_list *own, const char *name,
                     const struct cli_options *o, const struct app_env *env,
                     const struct discover_list *vms, int64_t os_pid, struct error *err)
{
    pid_t pid;
    if (!vms && (!cookie_given(o, env) || !strchr(name, '@')))
        target_look_for(own, name, o, env);
    else if (!vms && !way_given(o))
        look_here(own, 0);
    vms = vms ? vms : own;
    target_choose(c, vms, name, os_pid);
    if (c->by_pid && c->vm->node[0] == '\0')
        return error_set(err, ERR_NOT_FOUND, TARGET_NO_NODE, (long long)c->vm->pid, c->vm->command,
                         (long long)c->vm->pid);
    if (!c->vm && text_is_number(name) && !way_given(o)) { /* nor is it a name that epmd knows */
        const int rc = target_find_process(&pid, name, err);
        if (rc != 0)
            return rc;
    }
    /* The name leads to one in our network namespace at most: it is that one, then. */
    return c->vm && !c->sure && c->vm->other_network && !way_given(o)
               ? target_several(vms, name, err)
               : 0;
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
        .timeout_ms = cli_timeout_ms(o),
    };
}

/* Without one the connection fails, once it has found the node. */
static int take_cookie(struct target *t, const struct cli_options *o, const struct app_env *env,
                       const struct discover_vm *vm, struct error *err)
{
    const int rc = find_cookie(t, o, env, vm, &t->no_cookie);
    if (rc == 0 || (rc == ERR_NOT_FOUND && !o->cookie_file))
        return 0;
    *err = t->no_cookie;
    return rc;
}

/* With the VM that is meant: the name, the cookie, the way. */
static int fill_target(struct target *t, const char *name, const struct target_choice *c,
                       const struct cli_options *o, const struct app_env *env, uint16_t epmd_port,
                       struct error *err)
{
    const struct discover_vm *vm = c->vm;
    snprintf(t->name, sizeof t->name, "%s", vm && !strchr(name, '@') ? vm->node : name);
    int rc = take_cookie(t, o, env, vm, err);
    if (rc != 0)
        return rc;
    set_options(t, o, epmd_port);
    t->conn.any_host = vm && vm->form == DISCOVER_UNKNOWN && !strchr(name, '@');
    t->is_claimed = vm && !c->by_pid && is_claimed(name, vm);
    rc = vm && c->sure ? set_local(t, c, o, err) : 0;
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

/* ---- by a URL */

static int fill_by_way(struct target *t, const struct way_url *url, const struct discover_vm *vm,
                       const struct cli_options *o, const struct app_env *env, uint16_t epmd_port,
                       struct error *err)
{
    reach_node_name(t->name, sizeof t->name, url);
    const int rc = take_cookie(t, o, env, vm, err);
    set_options(t, o, epmd_port);
    t->conn.any_host = !strchr(url->node, '@');
    return rc != 0 ? rc : target_set_tls(t, o, env, way_given(o) ? NULL : vm, err);
}

/* Through the namespaces of a VM in a container of this host. */
static int init_in_container(struct target *t, const struct way_url *url,
                             const struct discover_list *vms, const struct cli_options *o,
                             const struct app_env *env, uint16_t epmd_port, struct error *err)
{
    const struct discover_vm *vm = container_choose(vms, url, err);
    const int rc = vm ? fill_by_way(t, url, vm, o, env, epmd_port, err) : (int)err->code;
    if (rc != 0)
        return rc;
    t->way = container_way(url, vm);
    t->conn.way = t->way;
    if (!way_given(o))
        set_port_inside(t, vm);
    return 0;
}

/* By a program that carries streams: nothing that is known of this host counts. */
static int init_by_program(struct target *t, const char *text, const struct error *no_process,
                           const struct cli_options *o, const struct app_env *env,
                           uint16_t epmd_port, struct error *err)
{
    struct conn_way *way = NULL;
    struct way_url url;
    int rc = reach_find(env->reach, &way, &url, text, err);
    if (rc == 0)
        rc = fill_by_way(t, &url, NULL, o, env, epmd_port, err);
    t->conn.way = way;
    if (rc != 0)
        return rc;
    const struct cookie *found = reach_lent(way, url.node);
    if (found && (t->cookie.origin == COOKIE_NONE || t->cookie.origin == COOKIE_HOME))
        target_lend(t, found);
    if (url.scheme == WAY_K8S && t->no_cookie.code == ERR_NOT_FOUND && !o->cookies) {
        t->no_cookie = (struct error){0};
        error_set(&t->no_cookie, ERR_NOT_FOUND,
                  "no cookie, and none was read in the pod: give --cookie-file FILE or "
                  "BEAMTOP_COOKIE, or name an image that reads it there with --debug-image");
    }
    if (no_process->code != ERR_NONE)
        reach_say_why(way, no_process);
    return 0;
}

static int init_by_url(struct target *t, const char *text, const struct cli_options *o,
                       const struct app_env *env, uint16_t epmd_port, struct error *err)
{
    struct discover_list vms = {0};
    struct error no_process = {0};
    struct way_url url;
    int rc = way_url_parse(&url, text, err);
    if (rc == 0 && *url.node == '\0')
        rc = error_set(err, ERR_USAGE, "%.300s: the URL lacks the node, as in %s…/NAME", text,
                       way_schemes[url.scheme]);
    if (rc != 0)
        return rc;
    if (!way_engine(url.scheme))
        return init_by_program(t, text, &no_process, o, env, epmd_port, err);
    container_answer_retry(reach_container_answer(env->reach));
    rc = container_find(&vms, &url, reach_container_answer(env->reach), cli_timeout_ms(o), -1,
                        &no_process);
    /* Not there, but with its host: maybe one that is reached from there, as of a cluster. */
    if (rc == 0 && strchr(url.node, '@') && !container_choose(&vms, &url, &no_process)) {
        discover_clear(&vms);
        rc = ERR_NOT_FOUND;
    }
    if (rc == ERR_NOT_FOUND || rc == ERR_REFUSED)
        return init_by_program(t, text, &no_process, o, env, epmd_port, err);
    if (rc == 0)
        rc = init_in_container(t, &url, &vms, o, env, epmd_port, err);
    else
        *err = no_process;
    discover_clear(&vms);
    return rc;
}

int target_init(struct target *t, const char *name, const struct cli_options *o,
                const struct app_env *env, const struct discover_list *vms, int64_t os_pid,
                struct error *err)
{
    struct discover_list own = {0};
    struct target_choice choice;
    uint16_t epmd_port = 0;
    *t = (struct target){0};
    int rc = target_check_name(name, err);
    if (rc == 0)
        rc = nodes_epmd_port(o, env, &epmd_port, err);
    const bool is_url = way_is_url(name);
    if (rc == 0)
        rc = is_url ? init_by_url(t, name, o, env, epmd_port, err)
                    : choose_vm(&choice, &own, name, o, env, vms, os_pid, err);
    if (rc == 0 && !is_url)
        rc = fill_target(t, name, &choice, o, env, epmd_port, err);
    if (rc == 0 && !is_url)
        nodes_add_left_out(&t->no_cookie, vms ? vms : &own);
    if (rc != 0)
        target_clear(t);
    discover_clear(&own);
    return rc;
}

void target_go_to_its_host(struct target *t)
{
    const char *at = strchr(t->name, '@');
    if (t->conn.way && !t->conn.way->proc_tree && !t->conn.any_host && at)
        t->conn.dial_host = at + 1;
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
    tls_source_drop(t->tls);
    t->tls = NULL;
}
