/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk through /proc: first all processes, then files of the VMs. A process whose memory or
 * files hang blocks its reader: another thread goes on behind it. What was found until none gets
 * further is what the caller gets. */
#include "beamtop/link/discover.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/link/name.h"
#include "discover_look.h"
#include "discover_place.h"
#include "link/proc.h"

#define SCAN_NS UINT64_C(10000000000) /* all of it */
#define IDLE_NS UINT64_C(2000000000)  /* without a process more, it ends */
#define STUCK_NS UINT64_C(200000000)  /* … and another thread goes on */
#define WALKERS 16u

/* Shared by the caller and its walkers; the last of them frees it. */
struct walk {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned holders, begun, running;
    bool is_over;                    /* the caller has the list: what comes later is dropped */
    DIR *dir;                        /* NULL: all processes were looked at, or are */
    pid_t only;                      /* in place of all; 0: it was taken, or all are meant */
    pid_t at[WALKERS];               /* what each looks at; 0: nothing */
    bool within[LIMIT_DISCOVER_VMS]; /* … of the list, that files of the VM were or are */
    size_t looked;
    struct discover_list list;
    struct discover_look look;
    char tree[4096], host[LIMIT_NODE_NAME_BYTES + 1];
};

static void release_walk(struct walk *w)
{
    pthread_mutex_lock(&w->lock);
    const unsigned left = --w->holders;
    pthread_mutex_unlock(&w->lock);
    if (left > 0)
        return;
    if (w->dir)
        closedir(w->dir);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    discover_clear(&w->list);
    free(w);
}

/* ---- a walker */

static struct discover_vm *find_placed(struct walk *w, const struct discover_vm *vm)
{
    for (size_t i = 0; i < w->list.count; i++)
        if (w->list.vms[i].pid == vm->pid)
            return &w->list.vms[i];
    return NULL;
}

static void on_vm(void *arg, const struct discover_vm *vm)
{
    struct walk *w = arg;
    pthread_mutex_lock(&w->lock);
    struct discover_vm *place = w->is_over ? NULL : find_placed(w, vm);
    if (place)
        *place = *vm;
    else if (!w->is_over && (place = discover_place(&w->list, vm)))
        w->within[place - w->list.vms] = false;
    pthread_mutex_unlock(&w->lock);
}

/* The number of the next process; 0: there is none. The lock is held. */
static pid_t next_process(struct walk *w)
{
    const struct dirent *e = NULL;
    const pid_t only = w->only;
    w->only = 0;
    if (only != 0)
        return only;
    while (w->dir && (e = readdir(w->dir)))
        if (isdigit((unsigned char)e->d_name[0]))
            return (pid_t)atol(e->d_name);
    if (w->dir)
        closedir(w->dir);
    w->dir = NULL;
    return 0;
}

/* The next VM whose files are to be looked at; -1: there is none. The lock is held. */
static int next_vm(const struct walk *w)
{
    for (size_t i = 0; i < w->list.count; i++)
        if (!w->within[i])
            return (int)i;
    return -1;
}

/* What a walker does next. False: nothing. The lock is held. */
static bool take_next(struct walk *w, pid_t *pid, bool *within)
{
    *pid = next_process(w);
    *within = *pid == 0;
    const int vm = *within ? next_vm(w) : -1;
    if (vm >= 0) {
        w->within[vm] = true;
        *pid = w->list.vms[vm].pid;
    }
    return *pid != 0;
}

static void *walk_on(void *arg)
{
    struct walk *w = arg;
    bool within = false;
    pthread_mutex_lock(&w->lock);
    const unsigned own = w->begun++;
    while (!w->is_over && take_next(w, &w->at[own], &within)) {
        const pid_t pid = w->at[own];
        pthread_mutex_unlock(&w->lock);
        (void)(within ? discover_look_within : discover_look)(&w->look, pid);
        pthread_mutex_lock(&w->lock);
        w->at[own] = 0;
        w->looked++;
    }
    w->running--;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    release_walk(w);
    return NULL;
}

/* ---- the caller */

/* The lock is held. */
static bool add_walker(struct walk *w)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    const bool ok = pthread_create(&thread, &attr, walk_on, w) == 0;
    pthread_attr_destroy(&attr);
    w->running += ok;
    w->holders += ok;
    return ok;
}

/* Until `until_ns`, or a walker ends. */
static void wait_until(struct walk *w, uint64_t until_ns)
{
    const struct timespec at = {.tv_sec = (time_t)(until_ns / 1000000000),
                                .tv_nsec = (long)(until_ns % 1000000000)};
    (void)pthread_cond_timedwait(&w->changed, &w->lock, &at);
}

/* The lock is held, but for the time of waiting. */
static void wait_for_walkers(struct walk *w)
{
    uint64_t now_ns = clock_mono_ns(), moved_ns = now_ns;
    const uint64_t end_ns = now_ns + SCAN_NS;
    unsigned walkers = 1;
    while (w->running > 0 && now_ns < end_ns && now_ns < moved_ns + IDLE_NS) {
        const size_t looked = w->looked;
        wait_until(w, now_ns + STUCK_NS);
        now_ns = clock_mono_ns();
        const bool adds = w->running > 0 && w->looked == looked && walkers < WALKERS &&
                          (w->dir || next_vm(w) >= 0) && add_walker(w);
        walkers += adds;
        if (adds || w->looked != looked)
            moved_ns = now_ns;
    }
}

/* What was found, and what was not looked at. */
static void take_found(struct walk *w, struct discover_list *out)
{
    w->is_over = true;
    *out = w->list;
    for (size_t i = 0; i < WALKERS; i++) {
        out->unread += w->at[i] != 0;
        out->blocked = out->blocked != 0 ? out->blocked : w->at[i];
    }
    for (size_t i = 0; i < out->count; i++)
        out->unread += !w->within[i];
    while (next_process(w) != 0)
        out->unread++;
    w->list = (struct discover_list){0};
}

static double read_uptime(DIR *tree)
{
    char text[128];
    if (proc_read(dirfd(tree), "uptime", text, sizeof text) <= 0)
        return -1;
    return strtod(text, NULL);
}

/* Anybody may open this file of the first process, but for hidepid. */
static bool is_hidden(DIR *tree)
{
    const int fd = openat(dirfd(tree), "1/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd < 0;
}

static struct walk *walk_new(DIR *dir, const char *tree, const struct discover_options *o)
{
    pthread_condattr_t attr;
    struct walk *w = alloc_zero(1, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &attr);
    pthread_condattr_destroy(&attr);
    w->holders = 1;
    w->dir = dir;
    w->only = o->only;
    w->list.hidden = is_hidden(dir);
    w->list.vms = alloc_zero(LIMIT_DISCOVER_VMS, sizeof *w->list.vms);
    snprintf(w->tree, sizeof w->tree, "%s", tree);
    name_host_or_this(w->host, sizeof w->host, o->this_host);
    w->look = (struct discover_look){.tree = w->tree,
                                     .this_host = w->host,
                                     .uptime_s = read_uptime(dir),
                                     .found = on_vm,
                                     .arg = w};
    if (w->only != 0) {
        closedir(dir);
        w->dir = NULL;
    }
    return w;
}

int discover_scan(struct discover_list *out, const struct discover_options *o, struct error *err)
{
    const char *tree = o->proc_root ? o->proc_root : "/proc";
    DIR *dir = opendir(tree);
    *out = (struct discover_list){0};
    if (!dir)
        return error_set_errno(err, errno, "%.300s cannot be read, so no VM can be found there",
                               tree);
    struct walk *w = walk_new(dir, tree, o);
    pthread_mutex_lock(&w->lock);
    if (!add_walker(w)) { /* no thread: it waits for all of them */
        w->holders++;
        w->running++;
        pthread_mutex_unlock(&w->lock);
        (void)walk_on(w);
        pthread_mutex_lock(&w->lock);
    }
    wait_for_walkers(w);
    take_found(w, out);
    pthread_mutex_unlock(&w->lock);
    release_walk(w);
    return 0;
}

enum discover_kind discover_kind(pid_t pid)
{
    const struct discover_options options = {.only = pid};
    struct discover_list list = {0};
    struct error ignored = {0}; /* without /proc there is none */
    if (discover_has_name(pid))
        return DISCOVER_IS_VM;
    (void)discover_scan(&list, &options, &ignored);
    const bool is_vm = list.count > 0, unread = list.unread > 0;
    discover_clear(&list);
    return is_vm ? DISCOVER_IS_VM : unread ? DISCOVER_IS_UNREAD : DISCOVER_IS_OTHER;
}
