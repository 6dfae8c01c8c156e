/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of compiled functions, as jit_read.c fills it and jit.c answers from it. */
#ifndef BEAMTOP_LOCAL_JIT_INTERNAL_H
#define BEAMTOP_LOCAL_JIT_INTERNAL_H

#include "beamtop/base/arena.h"
#include "beamtop/local/jit.h"
#include "beamtop/local/machine.h"

#define JIT_PROCESS_BYTES 2048 /* struct process is smaller */

/* As they are in the VM's memory. */
struct jit_descriptor {
    uint32_t version, action;
    uint64_t relevant, first;
};

struct jit_entry {
    uint64_t next, prev, symfile, symfile_size;
};

struct jit_line {
    uint32_t start; /* offset in the function */
    uint32_t line;
    uint32_t file; /* index */
};

struct jit {
    const struct machine *machine;
    struct arena texts;
    struct jit_function *functions;
    size_t count;
    struct jit_line *lines;
    size_t n_lines;
    struct slice *files;
    size_t n_files;
    enum jit_layout layout;
    uint64_t normal_exit;
    uint32_t htop_offset, resume_offset;
    uint64_t descriptor; /* where the list was found, and how it began then */
    uint64_t first;
    struct jit_entry newest;
};

/* The descriptor and the newest entry behind it; false: unreadable, or no descriptor. */
bool jit_head_read(const struct memory *m, uint64_t at, struct jit_descriptor *d,
                   struct jit_entry *newest);
/* Where an entry can be. */
bool jit_plausible(uint64_t address);
bool jit_size_fits(uint64_t symfile_size);

/* Sorts the functions by address; of two that claim one address the first of the list stays. */
void jit_settle(struct jit *j);
/* Read the code of the shared fragments. */
void jit_find_htop(struct jit *j, const struct memory *m);
void jit_find_resume(struct jit *j, const struct memory *m);

#endif
