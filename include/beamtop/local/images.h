/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files that a process has mapped as code: their symbols, and the way from a native frame to
 * its caller (libelf, libdw's CFI, libiberty for names of C++ and Rust). Opening needs rights on
 * the process; parsing does not, so that a sampler that runs as root opens, becomes the user of the
 * process, and parses then. Owner: the caller. Thread: one at a time; each has its own. */
#ifndef BEAMTOP_LOCAL_IMAGES_H
#define BEAMTOP_LOCAL_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "beamtop/base/error.h"
#include "beamtop/base/sample.h"
#include "beamtop/base/slice.h"
#include "beamtop/local/jit.h"
#include "beamtop/local/memory.h"

struct images;

/* Registers of x86-64 in DWARF's order: 0 RAX … 7 RSP … 16 the instruction pointer. */
enum { REG_RBX = 3, REG_RBP = 6, REG_RSP = 7, REG_R13 = 13, REG_R15 = 15, REG_RIP = 16, REGS };

struct registers {
    uint64_t value[REGS];
    uint32_t known; /* bit r: value[r] is known */
};

/* Opens the files of /proc/PID/maps that are executable, and checks that they are those mapped
 * (device, inode). A file that cannot be opened stays without symbols. ERR_SYSTEM: maps. */
int images_open(struct images **out, pid_t pid, struct error *err);
/* Parses headers and symbol tables; m is for the vdso and must live as long. */
void images_parse(struct images *i, const struct memory *m);
void images_free(struct images *i); /* NULL is fine */

/* A library that the process has loaded since: to open, parse again. One small read. */
bool images_changed(const struct images *i);

struct image_symbol {
    enum frame_kind kind; /* FRAME_RUNTIME, FRAME_NIF, FRAME_LIBC, FRAME_UNKNOWN */
    struct slice object;  /* base name of the file; "[vdso]"; empty: none there */
    struct slice name;    /* demangled; empty: none that covers the address */
    uint64_t start;       /* of the symbol */
};

/* What stands at that address. False: no image there. Borrowed until images_free(). */
bool images_symbol(struct images *i, uint64_t address, struct image_symbol *out);
/* The address of a symbol of the executable; 0: it has none of that name. */
uint64_t images_find(struct images *i, const char *name);
/* Writable segments of the executable, for jit_scan(); the number written. */
size_t images_writable(const struct images *i, struct jit_range *out, size_t size);
/* The executable has a symbol table for its own functions: their names can be told. */
bool images_has_symbols(const struct images *i);

enum step {
    STEP_CALLER,     /* registers are those of the caller, rip the return address */
    STEP_OUTERMOST,  /* the thread began here */
    STEP_NO_IMAGE,   /* no file is mapped at rip: JIT code, or none */
    STEP_NO_RULE,    /* no CFI for it */
    STEP_EXPRESSION, /* a rule that is not evaluated */
    STEP_MEMORY,     /* the stack could not be read */
};

/*
 * From a frame to its caller by the CFI of its image (DWARF 5, section 6.4; rows are kept by
 * address). leaf: rip is where it was interrupted, else a return address. The stack is read
 * through `stack`. */
enum step images_step(struct images *i, struct registers *r, bool leaf, const struct memory *stack);

#endif
