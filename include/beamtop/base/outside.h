/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the operating system says of a VM of this host that does not answer: nothing is asked of the
 * VM. The reader fills it in (local/outside.h), the program adds name, sockets and stacks, the view
 * and the sink show it. Texts come from other users' processes: they hold any bytes and are made
 * safe where they are written. Owner: whoever calls outside_clear(). */
#ifndef BEAMTOP_BASE_OUTSIDE_H
#define BEAMTOP_BASE_OUTSIDE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/slice.h"

#define OUTSIDE_FRAME_BYTES 160
#define OUTSIDE_FRAMES 12

struct outside_thread {
    char name[48]; /* "scheduler 1", or as the kernel has it */
    int64_t tid;
    bool is_scheduler;         /* a normal one */
    char state;                /* as in struct outside */
    uint64_t cpu_us, ready_us; /* since its start; ready: it had no CPU */
    double cpu, ready;         /* in period_s: 1 is all the time; NaN: unknown */
    char waits_in[40];         /* function of the kernel; "": it runs, or this may not be read */
};

/* A TCP socket that takes connections. */
struct outside_socket {
    char address[INET6_ADDRSTRLEN]; /* "*": every one */
    int64_t port;
};

struct outside_frame {
    char text[OUTSIDE_FRAME_BYTES]; /* "lists:foldl/3" */
    char place[64];                 /* "lists.erl:1263", or a library; "": unknown */
};

/* What a thread did when it was sampled last. */
struct outside_stack {
    char thread[48];                             /* as in outside_thread */
    char process[32];                            /* "<0.120.0>"; "": none */
    struct outside_frame frames[OUTSIDE_FRAMES]; /* the newest call first */
    size_t n_frames;
    size_t more; /* frames that had no room */
};

enum outside_dump {
    OUTSIDE_DUMP_NONE,
    OUTSIDE_DUMP_WRITING, /* the VM has it open for writing */
    OUTSIDE_DUMP_UNKNOWN, /* its descriptors may not be read */
};

/* Numbers below zero and NaN are unknown. */
struct outside {
    int64_t os_pid;
    char node[LIMIT_NODE_NAME_BYTES + 1]; /* "": not distributed, or not known */
    char command[128], user[64], otp[32]; /* "": unknown */
    char trouble[512]; /* why it is looked at from outside: what the connection said; "": nothing */
    int64_t wall_us;

    bool ended; /* there is no such process any more: all below is of the last look */
    /* The process and its threads by the letters of proc(5): R runs or is ready, S sleeps, D is
       blocked in the kernel, T stopped by a signal, t by a debugger, Z has ended. '?': unknown. */
    char state;
    bool frozen;            /* by its cgroup, or one above */
    char thaw[256];         /* … the command that thaws it; "": unknown */
    int64_t parent, tracer; /* OS pids; tracer 0: none */
    double uptime_s;
    double period_s;    /* between the two looks of the rates; 0: there was one look */
    double cpu, kernel; /* CPUs taken in that time, of them in the kernel */
    int64_t resident_bytes, peak_bytes, swap_bytes;
    int64_t limit_bytes;      /* the tightest of its cgroup and those above; -1: none, or unknown */
    int64_t limit_used_bytes; /* that counts towards it */

    int64_t descriptors, descriptor_limit; /* open ones, and how many may be; 0, -1: unknown */

    struct outside_thread *threads; /* schedulers first; owned, as are the next two */
    size_t n_threads;
    size_t threads_left; /* that were not read in time */
    struct outside_socket *sockets;
    size_t n_sockets;
    struct outside_stack *stacks;
    size_t n_stacks;
    bool only_schedulers;     /* were sampled, normal and dirty CPU ones: of that many threads */
    char why_no_sockets[160]; /* each: "" when they could be read */
    char why_no_stacks[400];

    enum outside_dump dump;
    char dump_path[256];   /* its last bytes */
    bool dump_regular;     /* a file; else a FIFO: its size says nothing */
    int64_t dump_bytes;    /* of a FIFO -1 */
    double dump_per_s;     /* bytes that it grew, of a FIFO that the VM wrote */
    int64_t written_bytes; /* by the VM since its start, to anything */

    double late_s; /* for so long /proc has not answered; 0: it has */
};

/* Frees what it owns; the rest stays. */
void outside_clear(struct outside *o);

#endif
