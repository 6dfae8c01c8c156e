/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of threads by perf_event_open(2): the clock of their CPU time, registers, and the top of
 * their stack. One ring for each CPU, into which the events of all threads on that CPU write, since
 * the reader of a sample must run where the thread ran. No library wraps this. Linux only.
 * Thread: a ring is drained by one thread; opening is for one thread at a time. */
#ifndef BEAMTOP_LOCAL_PERF_H
#define BEAMTOP_LOCAL_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "beamtop/base/error.h"
#include "beamtop/local/images.h"

/* One sample; borrowed until perf_next() is called again. */
struct perf_sample {
    uint64_t mono_ns;
    pid_t tid;
    uint32_t cpu;
    struct registers registers; /* known is 0: of a thread that exits */
    const uint8_t *stack;       /* memory from the stack pointer upwards */
    size_t stack_len;
    uint64_t lost; /* before it, since the last one */
};

struct perf_ring {
    int cpu;
    int first;    /* the event whose ring it is, our own; -1: none yet */
    void *mapped; /* its pages */
    size_t size;  /* of the data, a power of two */
    int *events;  /* all of this CPU, to close */
    size_t n_events;
    uint8_t *record; /* one that wraps, or is in use */
    uint64_t lost;
    bool runs;
};

#define PERF_STACK_BYTES 8192u

void perf_ring_init(struct perf_ring *r, int cpu);
void perf_ring_close(struct perf_ring *r);

/* Adds a thread: hz samples for each second of its CPU time on that CPU, once the ring runs. The
 * error names the errno and what would allow it; ERR_NOT_FOUND: the thread is gone. */
int perf_ring_add(struct perf_ring *r, pid_t tid, unsigned hz, struct error *err);
void perf_ring_drop(struct perf_ring *r); /* the thread that was added last */
void perf_ring_start(struct perf_ring *r);
/* Waits for samples, or until end_fd can be read: false. */
bool perf_ring_wait(const struct perf_ring *r, int end_fd);
/* The next sample; false: none for now. */
bool perf_next(struct perf_ring *r, struct perf_sample *out);

#endif
