/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions that a VM's JIT has compiled, read from outside: the list that the VM keeps for
 * debuggers (__jit_debug_descriptor, erts/emulator/beam/jit/beam_jit_metadata.cpp, OTP 25 and
 * later). No lock of the VM is taken, so a walk may be torn by loading code: whatever does not fit
 * ends it, and it is made again, some times. Owner: the caller. Thread: one at a time. */
#ifndef BEAMTOP_LOCAL_JIT_H
#define BEAMTOP_LOCAL_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/base/slice.h"
#include "beamtop/local/machine.h"
#include "beamtop/local/memory.h"

struct jit;

struct jit_function {
    uint64_t start, end; /* addresses: [start, end) */
    struct slice name;   /* "mod:fun/arity", "global::fragment"; without "-CodeInfoPrologue" */
    bool prologue;       /* it had that suffix */
    bool global;         /* a fragment that modules share */
    uint32_t first_line, lines; /* its line records; see jit_line() */
};

enum jit_layout { JIT_RETURN_ADDRESSES, JIT_FRAME_POINTERS };

/* One range of memory to look for the descriptor in: a writable segment of the executable. */
struct jit_range {
    uint64_t start, end;
};

/* The address of the descriptor in one of the ranges (erts/…: version 1, action 0 to 2, an entry
 * that fits); 0: there is none. */
uint64_t jit_scan(const struct memory *m, const struct jit_range *ranges, size_t n);

/* All functions, of a VM on that machine. ERR_NOT_FOUND: no list there (no JIT), ERR_FORMAT: it
 * never fitted, ERR_LIMIT. */
int jit_read(struct jit **out, const struct machine *machine, const struct memory *m,
             uint64_t descriptor, struct error *err);
void jit_free(struct jit *j); /* NULL is fine */
/* Whether code was loaded since; one small read. */
bool jit_changed(const struct jit *j, const struct memory *m);

size_t jit_count(const struct jit *j);
/* By address; ranges do not overlap: the newest claim holds. */
const struct jit_function *jit_function(const struct jit *j, size_t i);
const struct jit_function *jit_at(const struct jit *j, uint64_t address); /* NULL: none */
/* The last line recorded at or before that address of the function; false: none. */
bool jit_line(const struct jit *j, const struct jit_function *f, uint64_t address,
              struct slice *file, uint32_t *line);
/* The first line recorded of the function: that of its head, or of the first call within it. */
bool jit_first_line(const struct jit *j, const struct jit_function *f, struct slice *file,
                    uint32_t *line);

enum jit_layout jit_layout(const struct jit *j);
/* Offset of Process.htop from the process, as the code of the JIT has it; 0: not found. */
uint32_t jit_htop_offset(const struct jit *j);
/* Offset of Process.i, where a process that does not run goes on; 0: not found. */
uint32_t jit_resume_offset(const struct jit *j);
uint64_t jit_normal_exit(const struct jit *j); /* where each Erlang stack ends */
/* The code itself: len bytes at that address, all within compiled code; false: not. */
bool jit_code(const struct jit *j, const struct memory *m, uint64_t address, void *out, size_t len);

#endif
