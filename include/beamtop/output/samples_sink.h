/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples as they are written out. A finished run: tables for people, JSON for programs (one
 * object, docs/json.md), folded stacks, a speedscope file or a page for flame graphs. One sample:
 * an event as `perf script` prints it, or the stack of a thread as gdb does. Text from outside is
 * made safe for its form. */
#ifndef BEAMTOP_OUTPUT_SAMPLES_SINK_H
#define BEAMTOP_OUTPUT_SAMPLES_SINK_H

#include <stdbool.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/model/samples.h"
#include "beamtop/output/writer.h"

enum samples_format {
    SAMPLES_TEXT,
    SAMPLES_JSON,
    SAMPLES_FOLDED,
    SAMPLES_SPEEDSCOPE,
    SAMPLES_HTML
};

struct samples_options {
    enum samples_format format;
    bool ascii;   /* text: nothing beyond ASCII */
    bool callers; /* text: the tree goes from each function to its callers */
    size_t rows;  /* text: of each table; 0: 20 */
    size_t depth; /* text: levels of the tree; 0: 64 */
    bool parts;   /* folded: the stacks of each part below its name, not those of all */
};

/* Writes the run, large ones in pieces. ERR_SYSTEM when the bytes could not be written; the errno
 * is in the output (EPIPE is how `| head` ends). */
int samples_put(struct sink_output *output, const struct samples_summary *run,
                const struct samples_options *options, struct error *err);

/* The frame of a sample by its id: where the sampler announced it, or stacks_frame_at(). */
struct sample_frames {
    const struct sample_frame *(*at)(const void *ctx, uint32_t id); /* NULL: no such frame */
    const void *ctx;
};
struct sample_frames sample_frames_of(const struct stacks *s);

/* "comm pid/tid [cpu] sec.usec: 1 cpu-clock:", a line for each frame, the leaf first, and an empty
 * line, as stackcollapse-perf.pl, speedscope and the Firefox Profiler read it. */
void samples_perf_script(struct buf *out, const char *thread_name, int pid,
                         const struct sample *sample, const struct sample_frames *frames);

/* The stack of a thread at one moment, of `beamtop pstack`. */
struct thread_stack {
    struct slice thread; /* "scheduler 1" */
    struct slice name;   /* of the Erlang process: registered name or label; empty: none known */
    struct slice why;    /* why there is no stack ("idle: waits for work"); empty: there is one */
    int32_t tid;         /* -1: unknown */
    const struct sample *sample; /* NULL: no stack */
};

/* A header line, then "#0  function at file:line" for each frame, the leaf first, and the flags of
 * the stack in words. A block of several begins with an empty line unless out is empty. */
void stack_text(struct buf *out, const struct thread_stack *stack,
                const struct sample_frames *frames, bool ascii);
/* All threads as one object on one line (docs/json.md). */
void stack_json(struct buf *out, struct slice label, int64_t wall_us,
                const struct thread_stack *stacks, size_t n, const struct sample_frames *frames);

#endif
