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
#include "beamtop/local/machine.h"
#include "beamtop/local/memory.h"

struct images;

/* Opens the files of /proc/PID/maps that are executable, and checks that they are those mapped
 * (device, inode). A file that cannot be opened stays without symbols. ERR_SYSTEM: maps. */
int images_open(struct images **out, pid_t pid, struct error *err);
/*
 * Parses headers, symbol tables and CFI; m is for the vdso, during the call. Stripped files have
 * the names of /usr/lib/debug/.build-id, which is opened here: which one is known only now. */
void images_parse(struct images *i, const struct memory *m);
void images_free(struct images *i); /* NULL is fine */

/* A library that the process has loaded since: to open, parse again. Reads the maps once, through
 * the descriptor of images_open(), so it needs no rights. */
bool images_changed(const struct images *i);

/*
 * FRAME_RUNTIME: the executable. FRAME_LIBC: the vdso, and a library that the executable needs
 * (DT_NEEDED), itself or through others. FRAME_NIF: every other, such as a library that a NIF
 * needs, but also one of LD_PRELOAD. */
struct image_symbol {
    enum frame_kind kind;
    struct slice object; /* base name of the file; "[vdso]"; empty: none there */
    struct slice name;   /* as the file has it; empty: none that covers the address */
    uint64_t start;      /* of the symbol */
};

/* What stands at that address. False: no image there. Borrowed until images_free(). */
bool images_symbol(struct images *i, uint64_t address, struct image_symbol *out);
/* The address of a symbol of the executable, as it is mapped; 0: it has none of that name. */
uint64_t images_find(struct images *i, const char *name);
/* Writable segments of the executable, for jit_scan(); the number written. */
size_t images_writable(const struct images *i, struct jit_range *out, size_t size);
/* The executable's file must not be read, so nothing of it is known. */
bool images_is_denied(const struct images *i);
/* A quarter of the executable's code or more is covered by symbols: its functions have names. */
bool images_has_symbols(const struct images *i);
/* The executable has no symbol table, nor a debug file: only what it exports has a name. */
bool images_is_stripped(const struct images *i);

enum step {
    STEP_CALLER,     /* registers are those of the caller, pc the return address */
    STEP_OUTERMOST,  /* the thread began here */
    STEP_NO_IMAGE,   /* no file is mapped at pc: JIT code, or none */
    STEP_NO_RULE,    /* no CFI for it */
    STEP_EXPRESSION, /* a rule that is not evaluated */
    STEP_MEMORY,     /* the stack could not be read */
};

/*
 * From a frame to its caller by the CFI of its image (DWARF 5, section 6.4; rows are kept by
 * address). *leaf: pc is where it was interrupted, else a return address; set for the caller,
 * which a signal may have interrupted. The stack is read through `stack`. Registers are untouched
 * unless STEP_CALLER, and no longer known where the caller's cannot be restored. */
enum step images_step(struct images *i, struct registers *r, bool *leaf,
                      const struct memory *stack);

#endif
