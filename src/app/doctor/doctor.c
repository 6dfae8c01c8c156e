/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tries of several nodes: the host's addresses, and one connection each. */
#include "doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/outside/look.h"
#include "app/way/reach.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/link/inside.h"
#include "beamtop/link/lookup.h"

#define LOOKUP_MS 2000
#define LOOK_MS 1500
#define ENTER_NS UINT64_C(10000000000) /* for all namespaces: one may take a second */

struct tries;

struct
try {
    struct tries *all;
    struct doctor_facts *facts;
    struct lookup *lookup;
    struct conn *conn;
    struct look *look;
    unsigned open; /* parts that have not ended */
};

struct tries {
    uv_loop_t loop;
    struct try *list;
    size_t n, begun, running;
    uint64_t enter_until_ns;
    const struct cli_options *options;
    const struct app_env *env;
};

static void begin_tries(struct tries *all);

static void part_ended(struct try *t)
{
    if (--t->open > 0)
        return;
    t->all->running--;
    begin_tries(t->all);
}

/* ---- its host */

static void on_host(void *arg, const struct address *addresses, size_t count,
                    const struct error *err)
{
    struct try *t = arg;
    struct doctor_facts *f = t->facts;
    t->lookup = NULL;
    f->addresses = count;
    if (count > 0)
        lookup_text(f->address, sizeof f->address, &addresses[0]);
    else
        f->no_address = *err;
    part_ended(t);
}

/* ---- its VM, when that does not answer */

static void on_try_looked(void *arg, const struct outside *o)
{
    struct try *t = arg;
    outside_verdict(o, &t->facts->seen);
    look_stop(t->look);
    t->look = NULL;
    part_ended(t);
}

static void begin_look(struct try *t)
{
    const struct discover_vm *vm = t->facts->vm;
    struct error ignored = {0};
    const struct look_options options = {
        .vm = vm, .once_ms = LOOK_MS, .looked = on_try_looked, .arg = t};
    if (vm && vm->pid != 0 && look_start(&t->look, &t->all->loop, &options, &ignored) == 0)
        t->open++;
}

/* ---- its connection */

static void on_try_closed(void *arg)
{
    part_ended(arg);
}

static void end_try(struct try *t)
{
    snprintf(t->facts->tls_note, sizeof t->facts->tls_note, "%s", conn_tls_note(t->conn));
    conn_close(t->conn, on_try_closed, t);
    t->conn = NULL;
}

static void on_try_up(struct conn *c, void *arg)
{
    struct try *t = arg;
    struct doctor_facts *f = t->facts;
    f->up = true;
    f->is_tls = conn_is_tls(c);
    snprintf(f->own, sizeof f->own, "%s", conn_own_node(c));
    snprintf(f->peer, sizeof f->peer, "%s", conn_peer_node(c));
    end_try(t);
}

static void on_try_down(struct conn *c, void *arg, enum conn_failure why, const struct error *err)
{
    struct try *t = arg;
    (void)c;
    t->facts->why = why;
    t->facts->down = *err;
    if (why != CONN_FAILED_COOKIE)
        begin_look(t);
    end_try(t);
}

/* ---- one of them */

static void look_from_outside(struct doctor_facts *f, uint64_t until_ns)
{
    if (!f->vm || f->vm->pid == 0)
        return;
    if (f->vm->other_network && clock_mono_ns() < until_ns)
        (void)inside_check(f->vm->pid, &f->no_entry);
    else if (f->vm->other_network)
        error_set(&f->no_entry, ERR_TIMEOUT,
                  "not checked: those of other VMs took too long. Next: beamtop doctor %d",
                  (int)f->vm->pid);
    ladder_try(&f->ladder, f->vm->pid);
}

/* A cookie that was given, but for no node by its name, goes to sockets of this user only: whoever
 * gets its digest can try passwords on it. A VM of another user gets the one that it has itself. */
static void guard_given(struct target *t, const struct discover_vm *vm)
{
    const enum cookie_origin origin = t->cookie.origin;
    const uid_t us = geteuid();
    if (!t->conn.cookie ||
        (origin != COOKIE_FILE && origin != COOKIE_ENV && origin != COOKIE_OPTION))
        return;
    t->conn.cookie_origin = COOKIE_DISCOVERED;
    t->conn.cookie_uid = us;
    if (vm->uid != us && vm->cookie_from != DISCOVER_COOKIE_NONE) {
        struct cookie found = vm->cookie;
        found.uid = vm->uid;
        target_lend(t, &found);
        cookie_wipe(&found);
    }
}

/* Erlang refuses a cookie file that others may read or write; beamtop does not. */
static void look_at_cookie_file(struct doctor_facts *f, const char *path)
{
    struct stat st;
    f->open_file = f->target.cookie.origin == COOKIE_FILE && path && stat(path, &st) == 0 &&
                           S_ISREG(st.st_mode) && (st.st_mode & 077) != 0
                       ? path
                       : NULL;
}

/* What blocks, and would take the time of connections that are being opened. */
static void prepare_try(const struct try *t)
{
    struct doctor_facts *f = t->facts;
    const bool of_list = f->vm && f->asked == f->vm->node; /* not one that was asked for */
    look_from_outside(f, t->all->enter_until_ns);
    if (!f->vm) /* one of a container of this host needs nothing there */
        doctor_look_far(&f->far, f->asked);
    (void)target_init(&f->target, f->asked, t->all->options, t->all->env, f->vms,
                      of_list ? f->vm->pid : 0, &f->no_target);
    if (f->no_target.code != ERR_NONE && reach_failed(t->all->env->reach)->code != ERR_NONE)
        f->no_target = *reach_failed(t->all->env->reach);
    look_at_cookie_file(f, t->all->options->cookie_file);
    if (of_list && f->no_target.code == ERR_NONE)
        guard_given(&f->target, f->vm);
}

static void begin_try(struct try *t)
{
    static const struct conn_handlers handlers = {.on_up = on_try_up, .on_down = on_try_down};
    struct doctor_facts *f = t->facts;
    struct tries *all = t->all;
    const int rc = f->no_target.code;
    t->open = 1; /* this call */
    all->running++;
    const bool is_far = f->target.conn.way && !f->vm; /* its host has no name here */
    const char *at = rc == 0 && !is_far ? strchr(f->target.name, '@') : NULL;
    if (at &&
        lookup_start(&t->lookup, &all->loop, at + 1, LOOKUP_MS, on_host, t, &f->no_address) == 0)
        t->open++;
    if (rc == 0 &&
        conn_open(&t->conn, &all->loop, &f->target.conn, &handlers, t, &f->no_target) == 0)
        t->open++;
    if (f->no_target.code != ERR_NONE)
        begin_look(t);
    part_ended(t);
}

static void begin_tries(struct tries *all)
{
    while (all->begun < all->n && all->running < DOCTOR_AT_ONCE)
        begin_try(&all->list[all->begun++]);
}

void doctor_try(struct doctor_facts *facts, size_t n, const struct cli_options *o,
                const struct app_env *env)
{
    struct tries all = {
        .n = n, .options = o, .env = env, .enter_until_ns = clock_mono_ns() + ENTER_NS};
    all.list = alloc_zero(n + 1, sizeof *all.list);
    for (size_t i = 0; i < n; i++)
        all.list[i] = (struct try){.all = &all, .facts = &facts[i]};
    for (size_t i = 0; i < n; i++)
        prepare_try(&all.list[i]);
    uv_loop_init(&all.loop);
    begin_tries(&all);
    uv_run(&all.loop, UV_RUN_DEFAULT);
    uv_loop_close(&all.loop);
    free(all.list);
}
