/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/local/threads.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"

static const char *const keys[] = {
#define KEY(name, key) [name] = key,
    THREAD_KIND_LIST(KEY)
#undef KEY
};

const char *thread_kind_key(enum thread_kind kind)
{
    return (size_t)kind < ARRAY_LEN(keys) ? keys[kind] : keys[THREAD_OTHER];
}

enum thread_kind thread_kind_find(const char *key)
{
    unsigned k = 0;
    while (k < THREAD_KINDS && strcmp(keys[k], key) != 0)
        k++;
    return (enum thread_kind)k;
}

/* The kernel keeps 15 bytes: "1_dirty_cpu_sch". The number is before or behind. */
static const struct {
    const char *older, *newer;
    enum thread_kind kind;
} names[] = {
    {"_scheduler", "erts_sched_", THREAD_SCHEDULER},
    {"_dirty_cpu_s", "erts_dcpus_", THREAD_DIRTY_CPU},
    {"_dirty_io_s", "erts_dios_", THREAD_DIRTY_IO},
    {"_aux", "erts_aux_", THREAD_AUX},
    {"_poller", "erts_poll_", THREAD_POLL},
    {NULL, "erts_async_", THREAD_ASYNC},
    {NULL, "async_", THREAD_ASYNC},
};

void thread_name_parse(struct thread *t, const char *name)
{
    char *end = NULL;
    unsigned long before = isdigit((unsigned char)name[0]) ? strtoul(name, &end, 10) : 0;
    t->kind = THREAD_OTHER;
    t->number = 0;
    snprintf(t->name, sizeof t->name, "%s", name);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t newer = strlen(names[i].newer);
        bool is_newer = strncmp(name, names[i].newer, newer) == 0;
        bool is_older =
            end && names[i].older && strncmp(end, names[i].older, strlen(names[i].older)) == 0;
        if (!is_newer && !is_older)
            continue;
        t->kind = names[i].kind;
        t->number = (unsigned)(is_newer ? strtoul(name + newer, NULL, 10) : before);
        return;
    }
}

void thread_title(char *out, size_t size, const struct thread *t)
{
    static const char *const kinds[] = {
        [THREAD_SCHEDULER] = "scheduler",
        [THREAD_DIRTY_CPU] = "dirty CPU scheduler",
        [THREAD_DIRTY_IO] = "dirty I/O scheduler",
        [THREAD_AUX] = "aux",
        [THREAD_POLL] = "poll",
        [THREAD_ASYNC] = "async",
    };
    if ((size_t)t->kind < ARRAY_LEN(kinds))
        snprintf(out, size, "%s %u", kinds[t->kind], t->number);
    else
        snprintf(out, size, "%s (%d)", t->name, (int)t->tid);
}

/* Where a process is: its directory, or its pid with dir AT_FDCWD. */
struct place {
    int dir;
    pid_t pid;
};

static void put_task_path(char *out, size_t size, const struct place *at, const char *below)
{
    if (at->dir == AT_FDCWD)
        snprintf(out, size, "/proc/%d/%s", (int)at->pid, below);
    else
        snprintf(out, size, "%s", below);
}

/* The start of task/TID/FILE; the bytes, or -1. */
static ssize_t read_task(const struct place *at, pid_t tid, const char *file, char *out,
                         size_t size)
{
    char below[48], path[80];
    snprintf(below, sizeof below, "task/%d/%s", (int)tid, file);
    put_task_path(path, sizeof path, at, below);
    int fd = openat(at->dir, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, out, size - 1);
    close(fd);
    out[n < 0 ? 0 : n] = '\0';
    return n;
}

static int by_thread_kind(const void *a, const void *b)
{
    const struct thread *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static DIR *open_tasks(const struct place *at)
{
    char path[80];
    put_task_path(path, sizeof path, at, "task");
    const int fd = openat(at->dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
    if (!tasks && fd >= 0)
        close(fd);
    return tasks;
}

static int list_threads(struct thread **out, size_t *n, size_t *left, const struct place *at,
                        uint64_t until_mono_ns, struct error *err)
{
    char comm[32];
    *out = NULL;
    *n = *left = 0;
    DIR *tasks = open_tasks(at);
    if (!tasks)
        return errno == ENOENT
                   ? error_set(err, ERR_NOT_FOUND, "no process %d on this host", (int)at->pid)
                   : error_set_errno(err, errno, "/proc/%d/task", (int)at->pid);
    for (struct dirent *e; *n < LIMIT_THREADS && (e = readdir(tasks));) {
        pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
        *left += tid > 0 && clock_mono_ns() >= until_mono_ns;
        if (tid <= 0 || *left > 0 || read_task(at, tid, "comm", comm, sizeof comm) <= 0)
            continue;
        comm[strcspn(comm, "\n")] = '\0';
        *out = alloc_grow(*out, *n, sizeof **out);
        struct thread *t = *out + (*n)++;
        t->tid = tid;
        thread_name_parse(t, comm);
    }
    closedir(tasks);
    if (*n > 0)
        qsort(*out, *n, sizeof **out, by_thread_kind);
    return 0;
}

int threads_list(struct thread **out, size_t *n, pid_t pid, struct error *err)
{
    const struct place at = {AT_FDCWD, pid};
    size_t left;
    return list_threads(out, n, &left, &at, UINT64_MAX, err);
}

int threads_list_at(struct thread **out, size_t *n, size_t *left, int dir, uint64_t until_mono_ns,
                    struct error *err)
{
    const struct place at = {dir, 0};
    return list_threads(out, n, left, &at, until_mono_ns, err);
}

/* False where the kernel does not count. */
static bool read_schedule(struct thread_times *out, const struct place *at, pid_t tid)
{
    char text[128];
    unsigned long long run = 0, ready = 0;
    if (read_task(at, tid, "schedstat", text, sizeof text) <= 0 ||
        sscanf(text, "%llu %llu", &run, &ready) != 2 || run == 0)
        return false;
    out->cpu_us = run / 1000;
    out->ready_us = ready / 1000;
    return true;
}

static int read_stat(struct thread_times *out, const struct place *at, pid_t tid)
{
    char text[1024];
    unsigned long long user = 0, kernel = 0;
    *out = (struct thread_times){.state = '?'};
    if (read_task(at, tid, "stat", text, sizeof text) <= 0)
        return -1;
    /* The name can have brackets and blanks: fields are counted from the last bracket. */
    const char *behind = strrchr(text, ')');
    if (!behind || sscanf(behind, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
                          &out->state, &user, &kernel) != 3)
        return -1;
    const unsigned long long per_s = (unsigned long long)sysconf(_SC_CLK_TCK);
    out->kernel_us = kernel * 1000000 / per_s;
    out->cpu_us = user * 1000000 / per_s + out->kernel_us;
    return 0;
}

static void read_waits(struct thread_times *out, const struct place *at, pid_t tid)
{
    if (read_task(at, tid, "wchan", out->waits_in, sizeof out->waits_in) <= 0 ||
        strcmp(out->waits_in, "0") == 0)
        out->waits_in[0] = '\0';
}

static int update_times(struct thread_times *out, const struct place *at, pid_t tid, bool waits)
{
    struct thread_times now = {0};
    const bool known = out->state != '?', counted = read_schedule(&now, at, tid);
    if (counted && known && now.cpu_us == out->cpu_us && now.ready_us == out->ready_us)
        return 0;
    if (read_stat(out, at, tid) != 0)
        return -1;
    if (counted) {
        out->cpu_us = now.cpu_us;
        out->ready_us = now.ready_us;
    }
    if (known || waits || !strchr("SI", out->state))
        read_waits(out, at, tid);
    return 0;
}

int thread_times_read(struct thread_times *out, pid_t pid, pid_t tid)
{
    const struct place at = {AT_FDCWD, pid};
    *out = (struct thread_times){.state = '?'};
    return update_times(out, &at, tid, true);
}

int thread_times_update_at(struct thread_times *out, int dir, pid_t tid, bool waits)
{
    const struct place at = {dir, 0};
    return update_times(out, &at, tid, waits);
}
