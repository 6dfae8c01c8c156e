/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/local/resident.h"
#include "beamtop/local/threads.h"
#include "outside_file.h"

#define THREADS_NS UINT64_C(1000000000) /* of a look, for threads: a VM can have thousands */

struct outside_reader {
    pid_t pid;
    int dir; /* of the process, also when its number is given to another one */
    char proc[256], cgroup[256];
    uint64_t looked_ns; /* 0: not yet */
    uint64_t user_ticks, kernel_ticks;
};

bool outside_file(int dir, const char *path, char *out, size_t size)
{
    const int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);
    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}

int outside_open(struct outside_reader **out, pid_t pid, const struct outside_places *places,
                 struct error *err)
{
    char path[300];
    struct outside_reader *r = alloc_zero(1, sizeof *r);
    *out = NULL;
    r->pid = pid;
    snprintf(r->proc, sizeof r->proc, "%.255s", places->proc ? places->proc : "/proc");
    snprintf(r->cgroup, sizeof r->cgroup, "%.255s",
             places->cgroup ? places->cgroup : "/sys/fs/cgroup");
    snprintf(path, sizeof path, "%s/%ld", r->proc, (long)pid);
    r->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->dir < 0) {
        free(r);
        return error_set(err, ERR_NOT_FOUND, "there is no OS process %ld on this host", (long)pid);
    }
    *out = r;
    return 0;
}

void outside_close(struct outside_reader *r)
{
    if (!r)
        return;
    close(r->dir);
    free(r);
}

/* ---- the parts of a look */

static void read_status(struct outside *o, int dir)
{
    struct resident of;
    const int fd = resident_open_at(dir);
    (void)resident_read(fd, &of); /* one that has ended has no memory, but all else */
    if (fd >= 0)
        close(fd);
    o->tracer = of.tracer;
    o->resident_bytes = of.resident_bytes;
    o->peak_bytes = of.peak_bytes;
    o->swap_bytes = of.swap_bytes;
}

/* Both may be read by everyone. The size of the directory is their number from Linux 6.2 on, and 0
 * before. */
static void read_descriptors(struct outside *o, int dir)
{
    char text[4096];
    struct stat st;
    o->descriptors = fstatat(dir, "fd", &st, 0) == 0 ? st.st_size : 0;
    o->descriptor_limit = outside_file(dir, "limits", text, sizeof text)
                              ? outside_parse_key(text, "Max open files")
                              : -1;
}

static void take_times(struct outside_reader *r, struct outside *o, const struct outside_stat *stat)
{
    const double per_s = (double)sysconf(_SC_CLK_TCK);
    char path[300], text[128];
    o->state = stat->state;
    o->parent = stat->parent;
    o->cpu = o->kernel = NAN;
    o->uptime_s = NAN;
    if (o->period_s > 0) {
        const uint64_t user = stat->user_ticks - r->user_ticks;
        const uint64_t kernel = stat->kernel_ticks - r->kernel_ticks;
        o->cpu = (double)(user + kernel) / per_s / o->period_s;
        o->kernel = (double)kernel / per_s / o->period_s;
    }
    r->user_ticks = stat->user_ticks;
    r->kernel_ticks = stat->kernel_ticks;
    snprintf(path, sizeof path, "%s/uptime", r->proc);
    if (outside_file(AT_FDCWD, path, text, sizeof text))
        o->uptime_s = strtod(text, NULL) - (double)stat->start_ticks / per_s;
}

/* The same thread as before, by its number: they come in the same order. */
static const struct outside_thread *find_before(const struct outside *o, int64_t tid, size_t near)
{
    for (size_t i = 0; i < o->n_threads; i++) {
        const struct outside_thread *t = &o->threads[(near + i) % o->n_threads];
        if (t->tid == tid)
            return t;
    }
    return NULL;
}

static struct outside_thread look_at_thread(const struct outside_reader *r,
                                            const struct outside_thread *before, double period_s,
                                            const struct thread *t)
{
    struct thread_times times = {.state = '?'};
    struct outside_thread out = {.tid = t->tid, .cpu = NAN, .ready = NAN};
    if (before) {
        times = (struct thread_times){
            .cpu_us = before->cpu_us, .ready_us = before->ready_us, .state = before->state};
        memcpy(times.waits_in, before->waits_in, sizeof times.waits_in);
    }
    out.is_scheduler = t->kind == THREAD_SCHEDULER;
    (void)thread_times_update_at(&times, r->dir, t->tid, out.is_scheduler);
    thread_title(out.name, sizeof out.name, t);
    out.state = times.state;
    out.cpu_us = times.cpu_us;
    snprintf(out.waits_in, sizeof out.waits_in, "%s", times.waits_in);
    out.ready_us = times.ready_us;
    if (!before || !(period_s > 0))
        return out;
    if (times.cpu_us >= before->cpu_us)
        out.cpu = (double)(times.cpu_us - before->cpu_us) / 1e6 / period_s;
    if (times.ready_us >= before->ready_us)
        out.ready = (double)(times.ready_us - before->ready_us) / 1e6 / period_s;
    return out;
}

/* Schedulers and those that had taken CPU, then the others as far as the time goes: half of it is
 * for names, half for what they do. */
static void read_threads(const struct outside_reader *r, struct outside *o)
{
    struct thread *list = NULL;
    size_t n = 0, read = 0, left = 0;
    struct error ignored = {0};
    const uint64_t begun_ns = clock_mono_ns();
    if (threads_list_at(&list, &n, &left, r->dir, begun_ns + THREADS_NS / 2, &ignored) != 0)
        n = 0;
    struct outside_thread *threads = n > 0 ? alloc_zero(n, sizeof *threads) : NULL;
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < n; i++) {
            const struct outside_thread *before = find_before(o, list[i].tid, i);
            const bool first = list[i].kind == THREAD_SCHEDULER || (before && before->cpu_us > 0);
            if (first == (turn == 0) && (turn == 0 || clock_mono_ns() < begun_ns + THREADS_NS))
                threads[i] = look_at_thread(r, before, o->period_s, &list[i]);
        }
    for (size_t i = 0; i < n; i++)
        if (threads[i].tid > 0)
            threads[read++] = threads[i];
    free(list);
    free(o->threads);
    o->threads = threads;
    o->n_threads = read;
    o->threads_left = left + n - read;
}

bool outside_read(struct outside_reader *r, struct outside *o, uint64_t mono_ns)
{
    char text[2048];
    struct outside_stat stat;
    if (!outside_file(r->dir, "stat", text, sizeof text) || !outside_parse_stat(&stat, text)) {
        o->ended = true;
        return false;
    }
    o->os_pid = r->pid;
    o->period_s = r->looked_ns > 0 ? (double)(mono_ns - r->looked_ns) / 1e9 : 0;
    r->looked_ns = mono_ns;
    take_times(r, o, &stat);
    read_status(o, r->dir);
    outside_read_cgroup(o, r->dir, r->cgroup);
    read_threads(r, o);
    read_descriptors(o, r->dir);
    outside_read_dump(o, r->dir, o->period_s);
    return true;
}
