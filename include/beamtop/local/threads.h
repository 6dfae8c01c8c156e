/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The threads of a VM, as its host lists them, and what the VM calls them
 * (erts/emulator/beam/erl_process.c: "1_scheduler" up to OTP 25, "erts_sched_1" later). */
#ifndef BEAMTOP_LOCAL_THREADS_H
#define BEAMTOP_LOCAL_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "beamtop/base/error.h"

/* clang-format off */
#define THREAD_KIND_LIST(X)                                                                       \
    X(THREAD_SCHEDULER, "scheduler")                                                               \
    X(THREAD_DIRTY_CPU, "dirty_cpu")                                                               \
    X(THREAD_DIRTY_IO, "dirty_io")                                                                 \
    X(THREAD_AUX, "aux")     /* delayed frees, and other work of the runtime */                    \
    X(THREAD_POLL, "poll")   /* waits for sockets */                                               \
    X(THREAD_ASYNC, "async") /* of drivers */                                                      \
    X(THREAD_OTHER, "other") /* of NIF libraries; signals; the first thread */
/* clang-format on */

#define THREAD_ENUM(name, key) name,
enum thread_kind { THREAD_KIND_LIST(THREAD_ENUM) THREAD_KINDS };
#undef THREAD_ENUM

const char *thread_kind_key(enum thread_kind kind);
/* The kind of that key; THREAD_KINDS: none. */
enum thread_kind thread_kind_find(const char *key);

struct thread {
    pid_t tid;
    enum thread_kind kind;
    unsigned number; /* of its kind, as the VM counts; 0: without number */
    char name[16];   /* as the kernel has it: at most 15 bytes, any bytes */
};

/* What a thread's name says. */
void thread_name_parse(struct thread *t, const char *name);
/* "scheduler 1", "dirty CPU scheduler 2", or the thread's name with its number. */
void thread_title(char *out, size_t size, const struct thread *t);

/* All threads of a process, schedulers first, by kind and number. *out is owned by the caller.
 * ERR_NOT_FOUND: no such process. At most LIMIT_THREADS. */
int threads_list(struct thread **out, size_t *n, pid_t pid, struct error *err);
/* The same by an open directory /proc/PID: also when the number is given to another process. From
 * until_mono_ns on threads are only counted, in *left. */
int threads_list_at(struct thread **out, size_t *n, size_t *left, int dir, uint64_t until_mono_ns,
                    struct error *err);

/* What /proc says of one thread: µs of CPU time, of that in the kernel, and µs in which it was
 * ready but had no CPU (0 where the kernel does not count them); its state's letter and what it
 * waits in ("" when that may not be read). */
struct thread_times {
    uint64_t cpu_us, kernel_us, ready_us;
    char state;
    char waits_in[40];
};
int thread_times_read(struct thread_times *out, pid_t pid, pid_t tid);
/* The same as threads_list_at(). *out has what was read before, or state '?': of a thread that has
 * not run since, only that is read. waits: also what it waits in when it has not run yet, or
 * sleeps. */
int thread_times_update_at(struct thread_times *out, int dir, pid_t tid, bool waits);

#endif
