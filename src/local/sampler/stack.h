/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a sample of a thread to its stack: native frames by the CFI of their images, until the
 * return address lies in compiled code; from there the Erlang stack of the process that runs.
 *
 * Sources: erts/emulator/beam/jit/{x86,arm}/beam_asm.hpp for the registers that hold the process
 * and its Erlang stack (struct machine), on which a return address is a word whose two lowest bits
 * are 0; the collector relies on the same. */
#ifndef BEAMTOP_LOCAL_STACK_H
#define BEAMTOP_LOCAL_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/sample.h"
#include "beamtop/local/images.h"
#include "beamtop/local/jit.h"
#include "beamtop/local/machine.h"
#include "beamtop/local/memory.h"
#include "perf.h"

/* What a stack is made from; borrowed. */
struct stack_world {
    const struct machine *machine;
    const struct jit *jit; /* NULL: native frames only */
    struct images *images;
    const struct memory *memory; /* of the VM */
};

enum stack_frame_is { IS_NATIVE, IS_COMPILED, IS_BIF };

struct stack_frame {
    enum stack_frame_is is;
    bool leaf;        /* interrupted there; else a return address */
    uint64_t address; /* of a BIF: of its stub in compiled code */
};

struct stack {
    struct stack_frame frames[LIMIT_SAMPLE_FRAMES]; /* the leaf first */
    size_t n;
    enum sample_class in;
    unsigned flags;      /* SAMPLE_… */
    uint64_t process;    /* its address in the VM; 0: none */
    uint64_t first_word; /* of the process: its id and tag */
    uint64_t call;       /* as in struct sample */
};

/* dirty: the thread is a dirty scheduler, on which no compiled code runs. The CPU of the thread
 * should be held while this reads: what moved on is noticed and dropped. */
void stack_of(struct stack *out, const struct stack_world *w, const struct perf_sample *s,
              bool scheduler, bool dirty);

#endif
