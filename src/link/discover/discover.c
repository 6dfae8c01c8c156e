/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/link/discover.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/link/aside.h"
#include "beamtop/link/name.h"
#include "discover_place.h"
#include "link/proc.h"
#include "link/sockets/listener.h"

#define EPMD_TIMEOUT_MS 1000

/* The thread's while a part runs. */
struct places {
    char proc_root[4096];
    char this_host[LIMIT_NODE_NAME_BYTES + 1];
    uint16_t epmd_port;
    bool is_scanned;
    bool was_found; /* the list is that of a scan before */
    struct discover_list list;
    struct epmd_name *names;
    size_t n_names;
};

struct discover {
    uv_loop_t *loop;
    struct aside *aside;
    struct places *places;
    struct epmd_query *query;
    unsigned timeout_ms;
    void (*done)(void *arg, struct discover_list *list);
    void *arg;
};

void discover_clear(struct discover_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        cookie_wipe(&list->vms[i].cookie);
    free(list->vms);
    *list = (struct discover_list){0};
}

bool discover_is_tls(const struct discover_vm *vm)
{
    return strcmp(vm->dist_protocol, "inet_tls") == 0 ||
           strcmp(vm->dist_protocol, "inet6_tls") == 0;
}

bool discover_is_called(const struct discover_vm *vm, const char *name)
{
    const size_t len = strcspn(name, "@");
    return strncmp(vm->node, name, len) == 0 && vm->node[len] == '@';
}

/* ---- the two lists joined */

/* A VM whose environment names its own epmd is in that one only. */
static bool is_alive(const struct discover_vm *vm, const char *alive, uint16_t epmd_port)
{
    size_t len = strlen(alive);
    const bool elsewhere = epmd_port != 0 && vm->epmd_port != 0 && vm->epmd_port != epmd_port;
    return !vm->other_network && !elsewhere && strncmp(vm->node, alive, len) == 0 &&
           vm->node[len] == '@';
}

/* The first VM that has the name, and how many have it. */
static struct discover_vm *find_alive(struct discover_list *list, const char *alive,
                                      uint16_t epmd_port, size_t *claims)
{
    struct discover_vm *found = NULL;
    *claims = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (is_alive(&list->vms[i], alive, epmd_port)) {
            found = found ? found : &list->vms[i];
            ++*claims;
        }
    }
    return found;
}

/* ---- who listens at the ports that epmd knows: each VM's descriptors are read once for all */

struct owned {
    uint64_t inode;
    uint16_t port;
    uid_t uid;
    pid_t pid; /* 0: none of the list */
};

struct owners {
    struct owned list[LIMIT_EPMD_NAMES];
    size_t count;
    const struct discover_vm *vm; /* whose descriptors are read */
};

static void add_port(struct owners *o, const char *tree, uint16_t port)
{
    struct listener l;
    struct sockaddr_storage to = {0};
    struct sockaddr_in *four = (struct sockaddr_in *)&to;
    for (size_t i = 0; i < o->count; i++)
        if (o->list[i].port == port)
            return;
    *four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (o->count < LIMIT_EPMD_NAMES && listener_look(&l, tree, &to, NULL) && l.found)
        o->list[o->count++] = (struct owned){.inode = l.inode, .port = port, .uid = l.uid};
}

static int by_inode(const void *a, const void *b)
{
    const struct owned *x = a, *y = b;
    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static bool take_owner(void *arg, uint64_t inode)
{
    struct owners *o = arg;
    const struct owned key = {.inode = inode};
    struct owned *found = bsearch(&key, o->list, o->count, sizeof key, by_inode);
    if (found && found->pid == 0 && found->uid == o->vm->uid)
        found->pid = o->vm->pid;
    return false;
}

/* Of the names that the command lines leave open. */
static struct owners *find_owners(struct discover_list *list, const struct epmd_name *names,
                                  size_t count, const char *tree, uint16_t epmd_port)
{
    size_t claims = 0;
    struct owners *o = alloc_zero(1, sizeof *o);
    for (size_t i = 0; i < count; i++) {
        (void)find_alive(list, names[i].alive, epmd_port, &claims);
        if (claims != 1)
            add_port(o, tree, names[i].port);
    }
    qsort(o->list, o->count, sizeof *o->list, by_inode);
    for (size_t i = 0; o->count > 0 && i < list->count; i++) {
        o->vm = &list->vms[i];
        if (o->vm->pid != 0 && !o->vm->other_network)
            (void)proc_first_socket(tree, o->vm->pid, take_owner, o);
    }
    return o;
}

/* The VM that listens at a port of this host. */
static struct discover_vm *find_owner(struct discover_list *list, const struct owners *o,
                                      uint16_t port)
{
    pid_t pid = 0;
    for (size_t i = 0; i < o->count; i++)
        if (o->list[i].port == port)
            pid = o->list[i].pid;
    for (size_t i = 0; pid != 0 && i < list->count; i++)
        if (list->vms[i].pid == pid)
            return &list->vms[i];
    return NULL;
}

/* The VM of a name that epmd knows: by its command line, else by its port. */
static struct discover_vm *find_named(struct discover_list *list, const struct epmd_name *name,
                                      const struct owners *owners, const struct discover_options *o)
{
    size_t claims = 0;
    struct name parsed;
    struct error ignored = {0};
    struct discover_vm *vm = find_alive(list, name->alive, o->epmd_port, &claims);
    if (claims == 1)
        return vm;
    struct discover_vm *owner = find_owner(list, owners, name->port);
    if (owner && is_alive(owner, name->alive, o->epmd_port))
        return owner;
    if (owner && claims == 0 && owner->node[0] == '\0' &&
        name_parse(&parsed, name->alive, o->this_host, &ignored) == 0) {
        owner->form = DISCOVER_UNKNOWN;
        memcpy(owner->node, parsed.full, sizeof owner->node);
        return owner;
    }
    return vm;
}

static struct discover_vm *add_unknown(struct discover_list *list, const char *alive,
                                       const char *this_host)
{
    struct name name;
    struct error ignored = {0};
    if (name_parse(&name, alive, this_host, &ignored) != 0)
        return NULL;
    struct discover_vm vm = {.form = DISCOVER_UNKNOWN, .in_epmd = true, .uptime_s = -1};
    memcpy(vm.node, name.full, sizeof vm.node);
    return discover_place(list, &vm);
}

static int compare_vms(const void *a, const void *b)
{
    const struct discover_vm *x = a;
    const struct discover_vm *y = b;
    bool x_node = x->node[0] != '\0';
    bool y_node = y->node[0] != '\0';
    if (x_node != y_node)
        return x_node ? -1 : 1;
    int by_name = strcmp(x->node, y->node);
    return by_name != 0 ? by_name : (x->pid > y->pid) - (x->pid < y->pid);
}

void discover_join(struct discover_list *list, const struct epmd_name *names, size_t count,
                   const struct discover_options *o)
{
    const char *tree = o->proc_root ? o->proc_root : "/proc";
    if (!list->vms)
        list->vms = alloc_zero(LIMIT_DISCOVER_VMS, sizeof *list->vms);
    struct owners *owners = find_owners(list, names, count, tree, o->epmd_port);
    for (size_t i = 0; i < count; i++) {
        struct discover_vm *vm = find_named(list, &names[i], owners, o);
        if (!vm)
            vm = add_unknown(list, names[i].alive, o->this_host);
        if (vm) {
            vm->in_epmd = true;
            vm->port = names[i].port;
        }
    }
    free(owners);
    qsort(list->vms, list->count, sizeof *list->vms, compare_vms);
}

/* ---- both, from the loop */

static void release_places(void *work)
{
    struct places *p = work;
    discover_clear(&p->list);
    free(p->names);
    free(p);
}

/* It reads descriptors of VMs, whose number is theirs to choose, and /proc can block: not on the
 * loop's thread. */
static void run_part(void *work)
{
    struct places *p = work;
    struct error ignored = {0}; /* without /proc there is still epmd's list */
    const struct discover_options o = {
        .proc_root = p->proc_root, .this_host = p->this_host, .epmd_port = p->epmd_port};
    if (!p->is_scanned && p->was_found)
        return;
    if (!p->is_scanned) {
        (void)discover_scan(&p->list, &o, &ignored);
        return;
    }
    discover_join(&p->list, p->names, p->n_names, &o);
    for (size_t i = 0; i < p->list.count; i++)
        discover_port(&p->list.vms[i], &o);
}

static void finish_discover(struct discover *d)
{
    struct discover_list list = d->places->list;
    void (*done)(void *arg, struct discover_list *list) = d->done;
    void *arg = d->arg;
    d->places->list = (struct discover_list){0};
    discover_stop(d);
    done(arg, &list);
}

static void on_epmd_list(void *arg, const struct epmd_answer *a)
{
    struct discover *d = arg;
    struct places *p = d->places;
    d->query = NULL;
    p->list.epmd_asked = true;
    p->list.epmd = a->failure;
    p->n_names = a->count;
    p->names = alloc_zero(a->count + 1, sizeof *p->names);
    if (a->count > 0)
        memcpy(p->names, a->names, a->count * sizeof *p->names);
    if (aside_run(d->aside) != 0)
        finish_discover(d);
}

static void begin_names(struct discover *d)
{
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(d->places->epmd_port)};
    struct error err = {0};
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (epmd_ask(&d->query, d->loop, (const struct sockaddr *)&sa, NULL, d->timeout_ms,
                 on_epmd_list, d, &err) != 0) {
        struct epmd_answer none = {.failure = EPMD_UNREACHABLE};
        on_epmd_list(d, &none);
    }
}

static void on_part(void *arg)
{
    struct discover *d = arg;
    const bool was_scanned = d->places->is_scanned;
    d->places->is_scanned = true;
    if (was_scanned)
        finish_discover(d);
    else
        begin_names(d);
}

static struct places *places_new(const struct discover_options *o)
{
    struct places *p = alloc_zero(1, sizeof *p);
    p->epmd_port = o->epmd_port != 0 ? o->epmd_port : EPMD_PORT;
    snprintf(p->proc_root, sizeof p->proc_root, "%s", o->proc_root ? o->proc_root : "/proc");
    name_host_or_this(p->this_host, sizeof p->this_host, o->this_host);
    p->was_found = o->found != NULL;
    if (o->found) {
        p->list = *o->found;
        *o->found = (struct discover_list){0};
    }
    return p;
}

int discover_start(struct discover **out, uv_loop_t *loop, const struct discover_options *o,
                   void (*done)(void *arg, struct discover_list *list), void *arg,
                   struct error *err)
{
    static const struct aside_kind kind = {
        .run = run_part, .done = on_part, .release = release_places};
    struct discover *d = alloc_zero(1, sizeof *d);
    *out = NULL;
    *d = (struct discover){.loop = loop, .places = places_new(o), .done = done, .arg = arg};
    d->timeout_ms = o->timeout_ms != 0 ? o->timeout_ms : EPMD_TIMEOUT_MS;
    int rc = aside_open(&d->aside, loop, &kind, d->places, d);
    if (rc == 0 && (rc = aside_run(d->aside)) != 0)
        rc = -rc; /* as libuv has it */
    if (rc != 0) {
        discover_stop(d);
        return error_set(err, ERR_SYSTEM, "no thread to look for VMs: %s", uv_strerror(rc));
    }
    *out = d;
    return 0;
}

void discover_stop(struct discover *d)
{
    if (!d)
        return;
    epmd_cancel(d->query);
    aside_close(d->aside);
    free(d);
}
