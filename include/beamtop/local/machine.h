/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What differs between the machines whose VMs are sampled: one constant row each. Both rows are in
 * every build, so that images of either machine are tested on the other.
 *
 * Sources: psABI of x86-64 and of aarch64 (DWARF numbers, preserved registers, pointer
 * authentication), asm/perf_regs.h of Linux, and erts/emulator/beam/jit/{x86,arm}/beam_asm.hpp of
 * OTP 25 to 29. Constant, so any thread may read it. */
#ifndef BEAMTOP_LOCAL_MACHINE_H
#define BEAMTOP_LOCAL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined __x86_64__ || defined __aarch64__
#define MACHINE_IS_SAMPLED 1 /* machine_of_host() has a row */
#endif

#define MACHINE_ADDRESSES                                                                          \
    (UINT64_C(1) << 48) /* of user space: 47 bits on x86-64, 48 on aarch64                         \
                         */

enum { REGISTERS = 33 }; /* as many as a machine has at most */

/* By DWARF numbers. */
struct registers {
    uint64_t value[REGISTERS];
    uint64_t known; /* bit r: value[r] is known */
};

static inline bool registers_know(const struct registers *r, unsigned number)
{
    return r->known >> number & 1;
}

enum { MACHINE_STACK_IN_PROCESS = -1, MACHINE_SIGNAL_BYTES = 8 };

struct machine {
    const char *name;
    uint16_t elf;        /* e_machine of its files */
    uint8_t n_registers; /* DWARF numbers below this one */
    uint8_t pc, sp;
    uint8_t return_column; /* of CFI: a return address; pc, or the register that calls write */
    uint64_t preserved;    /* bits: what a function leaves as it was, return_column too if it may */
    uint64_t code;         /* bits of an address of code: others authenticate a return address */

    /*
     * The code that a signal handler returns to, MACHINE_SIGNAL_BYTES of it, where the kernel's has
     * no CFI; NULL: it has. The interrupted registers are by number, that far above the stack
     * pointer there. */
    const uint8_t *signal_code;
    uint16_t signal_registers;

    uint64_t perf_registers;   /* sample_regs_user; as many bits as n_registers */
    const uint8_t *perf_order; /* DWARF number of each bit */

    /*
     * In compiled code: the process (c_p), its reductions (FCALLS), and its Erlang stack (E). The
     * stack pointer is E on x86-64. On aarch64 E is apart: a return address is in the link register
     * until the callee pushes it, and code that modules share is called without a push. */
    uint8_t process, reductions, stack;

    /* Of code: the offset of Process.htop, from where both htop and stop are stored; 0: not
     * there. With frame pointers in the layout, the pair is stop and the frame pointer. */
    uint32_t (*find_htop)(const uint8_t *code, size_t len);
    /* Of global::process_main: the offset of Process.i; 0: not there, or not the same twice. */
    uint32_t (*find_resume)(const uint8_t *code, size_t len);
    /* Where E is when the code behind a call of native code takes it up: a register, or
     * MACHINE_STACK_IN_PROCESS: in Process.stop, whose offset is given. */
    int (*find_stack)(const uint8_t *code, size_t len, uint32_t stop);
    /* Where global::call_light_bif_shared has kept the Export of the BIF, from the registers at
     * the return from native code; 0: unknown. */
    uint64_t (*find_export)(const uint8_t *code, size_t len, const struct registers *r);

    /* NULL where the stack pointer is E; else of the code from a little before pc, which is at
     * that offset, to a word behind: the link register has the return address, which is not on
     * the Erlang stack. */
    bool (*link_is_live)(const uint8_t *code, size_t len, size_t pc);
    /* NULL with the one before. Of the code of a fragment up to a call: it keeps the frame pointer
     * and the link register on the native stack. */
    bool (*keeps_link)(const uint8_t *code, size_t len);

    const char *doubt; /* what users must know of it; NULL: nothing */
};

extern const struct machine machine_x86_64, machine_aarch64;

/* The one whose files have that e_machine; NULL: of another kind. */
const struct machine *machine_of_elf(uint16_t elf);
/* The one that this program was built for; NULL: of another kind. */
const struct machine *machine_of_host(void);

#endif
