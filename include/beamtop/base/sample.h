/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One sample of a thread of a VM: where it was, and what called that. The sampler makes them
 * (local/), weighted stacks sum them (model/stacks.h), sinks print them one by one. Sources: the
 * order of frames is that of folded stacks, the root first. */
#ifndef BEAMTOP_BASE_SAMPLE_H
#define BEAMTOP_BASE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/slice.h"

/* What a frame is: enum, key in JSON and columns. */
#define FRAME_KIND_LIST(X)                                                                         \
    X(FRAME_ERLANG, "erlang")   /* a function of a module, compiled by the JIT */                  \
    X(FRAME_SHARED, "jit")      /* code that the JIT shares: global::garbage_collect */            \
    X(FRAME_BIF, "bif")         /* a native function that Erlang code calls, by its Erlang name */ \
    X(FRAME_RUNTIME, "runtime") /* native code of the VM's own executable */                       \
    X(FRAME_NIF, "nif")         /* native code of a library that a module loaded */                \
    X(FRAME_LIBC, "libc")       /* native code of a system library, or of the vdso */              \
    X(FRAME_UNKNOWN, "unknown") /* an address without a name */

/* Where the CPU time of a sample goes: one class for each sample. */
#define SAMPLE_CLASS_LIST(X)                                                                       \
    X(SAMPLE_ERLANG, "erlang")       /* in compiled Erlang code */                                 \
    X(SAMPLE_BIF, "bif")             /* in a native function that Erlang code called */            \
    X(SAMPLE_GC, "gc")               /* in garbage collection */                                   \
    X(SAMPLE_RUNTIME, "runtime")     /* elsewhere in the VM, for a process */                      \
    X(SAMPLE_NIF, "nif")             /* in a NIF library, or in what it called */                  \
    X(SAMPLE_SCHEDULER, "scheduler") /* no process: scheduling, polling, busy waiting */           \
    X(SAMPLE_OTHER, "other")         /* other threads; not resolved */

#define SAMPLE_ENUM(name, key) name,
enum frame_kind { FRAME_KIND_LIST(SAMPLE_ENUM) FRAME_KINDS };
enum sample_class { SAMPLE_CLASS_LIST(SAMPLE_ENUM) SAMPLE_CLASSES };
#undef SAMPLE_ENUM

/* A frame of which the name is known. Its index in the sampler's order of announcing is its id. */
struct sample_frame {
    enum frame_kind kind;
    struct slice name;   /* "mod:fun/arity", "global::fragment", a native symbol; never empty */
    struct slice object; /* of native code: the file's base name; empty else */
    struct slice file;   /* of Erlang code: the last recorded line at or before; empty: unknown */
    uint32_t line;       /* 0: unknown */
};

/* How a stack ended, and where it began. */
enum {
    SAMPLE_COMPLETE = 1 << 0,   /* its root is the first function of the process or thread */
    SAMPLE_TRUNCATED = 1 << 1,  /* deeper than what was copied */
    SAMPLE_MOVED_ON = 1 << 2,   /* the thread ran on while its Erlang stack was read: none kept */
    SAMPLE_UNRESOLVED = 1 << 3, /* native frames could not be followed to the Erlang code */
    /* It stood in the prologue for breakpoints, which the JIT puts before each function. */
    SAMPLE_IN_PROLOGUE = 1 << 4,
};

struct sample {
    uint64_t mono_ns; /* CLOCK_MONOTONIC of this host */
    int32_t tid;
    int32_t cpu;
    uint32_t thread; /* index of its thread among those announced */
    enum sample_class in;
    unsigned flags;                  /* SAMPLE_… */
    uint64_t pid_number, pid_serial; /* of the Erlang process; number 0: none */
    uint64_t call; /* of native code on a scheduler: the same while one call lasts; 0: unknown */
    const uint32_t *frames; /* ids, the root first; borrowed */
    size_t n_frames;
    const uint64_t *addresses; /* as many; NULL: not sent */
};

const char *frame_kind_key(enum frame_kind kind);
const char *frame_kind_name(enum frame_kind kind); /* for people: "Erlang", "system library" */
bool frame_is_function(enum frame_kind kind);      /* its name is that of an Erlang function */
#define FRAME_PLACE_BYTES (LIMIT_STACK_NAME_BYTES + 16)
/* "file:line" or the object; "": unknown. Returns out. */
const char *frame_place(char *out, size_t size, const struct sample_frame *f);
const char *sample_class_key(enum sample_class in);
const char *sample_class_name(enum sample_class in); /* for people: "Erlang", "GC" */

/* Half of the 95% interval of a share of n samples, of few samples the longer side of the Wilson
 * interval; NaN of none. */
double sample_error(double share, double n);

#endif
