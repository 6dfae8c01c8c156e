/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a sampler says to the program that started it, over a pipe: records of a type and a length.
 * Both ends are the same program on one host, but the sampler parses a stranger's files and
 * memory: its bytes are checked as if a stranger had written them. Owner: the caller. Thread: one
 * at a time. */
#ifndef BEAMTOP_LOCAL_RECORDS_H
#define BEAMTOP_LOCAL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/sample.h"
#include "beamtop/local/threads.h"

enum record_type {
    RECORD_BEGIN = 1, /* once, first */
    RECORD_THREAD,    /* before its first sample; they are counted from 0 */
    RECORD_FRAME,     /* before the first sample with it; ids are counted from 0 */
    RECORD_SAMPLE,
    RECORD_NOTE,   /* something that limits what is seen */
    RECORD_FAILED, /* the last one */
    RECORD_END,    /* the last one */
};

/* What the sampler found before it began. */
struct record_begin {
    uint32_t functions;  /* compiled by the JIT; 0: no JIT list */
    bool by_symbol;      /* the list was found by its symbol; else by a scan */
    bool frame_pointers; /* layout of Erlang stacks */
    bool symbols;        /* names of the VM's own functions are there … */
    bool stripped;       /* … but only of those that it exports */
    bool real_time;      /* its readers run before all others on their CPU (SCHED_FIFO) */
    bool pinned;
    uint32_t cpus, threads, stop_offset;
    uint64_t setup_us; /* how long finding all this took */
};

#define RECORD_UNKNOWN UINT64_MAX
struct record_end {
    uint64_t lost;    /* samples that the kernel or the queue had no room for */
    uint64_t cpu_us;  /* of the sampler */
    uint64_t wall_us; /* from the first event to the last */
    /* CPU time of the sampled threads in that time, in user mode; RECORD_UNKNOWN: the VM ended … */
    uint64_t target_us;
    uint64_t kernel_us; /* … and in the kernel, of which there are no samples */
};

struct record {
    enum record_type type;
    union {
        struct record_begin begin;
        struct thread thread;
        struct sample_frame frame;
        struct sample sample;
        struct slice note; /* a sentence */
        struct error failed;
        struct record_end end;
    } u;
};

/* ---- writing */

void record_put_begin(struct buf *out, const struct record_begin *b);
void record_put_thread(struct buf *out, const struct thread *t);
void record_put_frame(struct buf *out, const struct sample_frame *f);
void record_put_sample(struct buf *out, const struct sample *s);
void record_put_note(struct buf *out, const char *text);
void record_put_failed(struct buf *out, const struct error *err);
void record_put_end(struct buf *out, const struct record_end *e);

/* Appends records of record_put_…(), whole ones, with other names of native frames. */
typedef struct slice record_name_fn(void *arg, struct slice name); /* never empty */
void record_put_renamed(struct buf *out, const struct buf *records, record_name_fn *fn, void *arg);

/* ---- reading */

struct records;

struct records *records_new(void);
void records_free(struct records *r); /* NULL is fine */
/* Bytes as they come, in pieces of any size. */
void records_feed(struct records *r, const void *bytes, size_t len);
/* 1: *out is the next record, borrowed until the next call. 0: more bytes are needed. Below 0:
 * ERR_FORMAT, and for ever. Frames and threads of samples have been announced. */
int records_next(struct records *r, struct record *out, struct error *err);

#endif
