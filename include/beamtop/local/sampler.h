/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampler: a separate process, so that a fault over a stranger's files and memory ends only
 * this one. It opens what needs rights, becomes the user of the VM, and parses then. One reader
 * for each CPU, pinned to it: it takes the CPU that the sampled thread had, so that the thread
 * stands still while its Erlang stack is read (13 to 25 µs). */
#ifndef BEAMTOP_LOCAL_SAMPLER_H
#define BEAMTOP_LOCAL_SAMPLER_H

#include <stdbool.h>
#include <sys/types.h>

#include "beamtop/base/error.h"
#include "beamtop/local/threads.h"

enum { SAMPLER_HZ = 99, SAMPLER_HZ_MAX = 999 };

struct sampler_options {
    pid_t pid;
    unsigned hz;     /* 1 to SAMPLER_HZ_MAX, for each second of a thread's CPU time */
    double for_s;    /* 0: until standard input ends */
    bool lines;      /* frames of Erlang code by line, not by function */
    bool addresses;  /* sent with each sample */
    unsigned kinds;  /* bits of enum thread_kind to sample; 0: all */
    unsigned number; /* of these, only that one; 0: all */
    pid_t tid;       /* only that thread; 0: all */
};

/* Runs until its time is over, standard input ends, or the VM does, and writes records to out_fd;
 * the last is RECORD_END or RECORD_FAILED. The exit code of the process. */
int sampler_run(const struct sampler_options *o, int out_fd);

#endif
