/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reading.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/link/aside.h"
#include "beamtop/local/outside.h"

/* The thread's while a look runs. */
struct look_work {
    struct outside_reader *reader;
    struct outside now;
    uid_t uid;
};

struct reading {
    struct look_work *work;
    struct aside *aside;
    void (*looked)(void *arg);
    void *arg;
};

static void release_work(void *arg)
{
    struct look_work *w = arg;
    outside_close(w->reader);
    outside_clear(&w->now);
    free(w);
}

/* ---- the thread */

static void read_sockets(struct outside *o, uid_t uid)
{
    struct discover_socket found[LIMIT_OUTSIDE_SOCKETS];
    const long n = discover_sockets(found, LIMIT_OUTSIDE_SOCKETS, NULL, (pid_t)o->os_pid, uid);
    free(o->sockets);
    o->sockets = NULL;
    o->n_sockets = 0;
    o->why_no_sockets[0] = '\0';
    if (n < 0)
        snprintf(o->why_no_sockets, sizeof o->why_no_sockets,
                 "its descriptors cannot be read (%s). Run beamtop as root, or as user %s",
                 strerror(errno), o->user[0] ? o->user : "of the VM");
    if (n <= 0)
        return;
    o->sockets = alloc_zero((size_t)n, sizeof *o->sockets);
    o->n_sockets = (size_t)n;
    for (long i = 0; i < n; i++) {
        memcpy(o->sockets[i].address, found[i].address, sizeof o->sockets[i].address);
        o->sockets[i].port = found[i].port;
    }
}

static void run_look(void *arg)
{
    struct look_work *w = arg;
    if (outside_read(w->reader, &w->now, clock_mono_ns()))
        read_sockets(&w->now, w->uid);
    w->now.wall_us = clock_wall_us();
}

/* ---- the loop */

static void on_looked(void *arg)
{
    const struct reading *r = arg;
    r->looked(r->arg);
}

int reading_open(struct reading **out, uv_loop_t *loop, const struct discover_vm *vm,
                 void (*looked)(void *arg), void *arg, struct error *err)
{
    static const struct aside_kind kind = {
        .run = run_look, .done = on_looked, .release = release_work};
    const struct outside_places places = {NULL, NULL};
    struct outside_reader *reader = NULL;
    *out = NULL;
    if (outside_open(&reader, vm->pid, &places, err) != 0)
        return err->code;
    struct look_work *w = alloc_zero(1, sizeof *w);
    w->reader = reader;
    w->uid = vm->uid;
    w->now = (struct outside){.os_pid = vm->pid,
                              .state = '?',
                              .cpu = NAN,
                              .kernel = NAN,
                              .uptime_s = NAN,
                              .resident_bytes = -1,
                              .limit_bytes = -1,
                              .dump = OUTSIDE_DUMP_UNKNOWN,
                              .dump_per_s = NAN,
                              .written_bytes = -1};
    snprintf(w->now.why_no_sockets, sizeof w->now.why_no_sockets, "/proc has not answered");
    snprintf(w->now.node, sizeof w->now.node, "%s", vm->node);
    snprintf(w->now.command, sizeof w->now.command, "%s", vm->command);
    snprintf(w->now.user, sizeof w->now.user, "%s", vm->user);
    snprintf(w->now.otp, sizeof w->now.otp, "%s", vm->otp);
    struct reading *r = alloc_zero(1, sizeof *r);
    const int rc = aside_open(&r->aside, loop, &kind, w, r);
    if (rc != 0) {
        free(r);
        return error_set(err, ERR_SYSTEM, "no look can be taken: %s", uv_strerror(rc));
    }
    r->work = w;
    r->looked = looked;
    r->arg = arg;
    *out = r;
    return 0;
}

void reading_close(struct reading *r)
{
    if (!r)
        return;
    aside_close(r->aside);
    free(r);
}

bool reading_ask(struct reading *r)
{
    return aside_run(r->aside) == 0;
}

static void *copy_rows(const void *rows, size_t n, size_t bytes)
{
    void *out = n > 0 ? alloc_zero(n, bytes) : NULL;
    if (out)
        memcpy(out, rows, n * bytes);
    return out;
}

void reading_take(const struct reading *r, struct outside *o)
{
    const struct outside before = *o, *now = &r->work->now;
    if (aside_runs(r->aside))
        return;
    free(o->threads);
    free(o->sockets);
    *o = *now;
    o->threads = copy_rows(now->threads, now->n_threads, sizeof *now->threads);
    o->sockets = copy_rows(now->sockets, now->n_sockets, sizeof *now->sockets);
    o->stacks = before.stacks;
    o->n_stacks = before.n_stacks;
    o->only_schedulers = before.only_schedulers;
    memcpy(o->why_no_stacks, before.why_no_stacks, sizeof o->why_no_stacks);
    memcpy(o->trouble, before.trouble, sizeof o->trouble);
}
