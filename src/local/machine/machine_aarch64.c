/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions are words of 32 bits; those that are looked for are the forms that asmjit has for
 * the code of erts/emulator/beam/jit/arm. The JIT has no frame pointers on the Erlang stack there
 * (+JPperf), so a process's stack is the same in all layouts. */
#include "beamtop/local/machine.h"

#include <elf.h>
#include <string.h>

enum {
    SCHEDULER = 19, /* registers of this thread's scheduler */
    STACK = 20,
    PROCESS = 21,
    REDUCTIONS = 22,
    HTOP = 23,
    LINK = 30,
    SP = 31,
    PC = 32,
    COUNT,

    WORD_BYTES = 4,
    LOOKED_BACK = 8, /* instructions between a pop of the link register and the jump behind */
};

#define PUSH_LINK 0xf81f8e9eu /* str x30, [x20, #-8]! */
#define POP_LINK 0xf840869eu  /* ldr x30, [x20], #8 */
#define KEEP_LINK 0xa9bf7bfdu /* stp x29, x30, [sp, #-16]! */

static const uint8_t perf_order[COUNT] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                          11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                          22, 23, 24, 25, 26, 27, 28, 29, 30, SP, PC};

/* __kernel_rt_sigreturn: mov x8, #__NR_rt_sigreturn; svc #0. It has no CFI since Linux 5.8. */
static const uint8_t signal_code[MACHINE_SIGNAL_BYTES] = {0x68, 0x11, 0x80, 0xd2,
                                                          0x01, 0x00, 0x00, 0xd4};

/* Of struct rt_sigframe: siginfo, then ucontext, in which sigcontext begins at 176, with the
 * address of a fault. */
enum { SIGNAL_REGISTERS = 128 + 176 + 8 };

static uint32_t instruction_at(const uint8_t *code, size_t at)
{
    uint32_t i;
    memcpy(&i, code + at, sizeof i);
    return i;
}

/* `stp first, second, [base, #imm]` or ldp of 64 bits: *offset in bytes. */
static bool is_pair(uint32_t i, bool load, unsigned first, unsigned second, unsigned base,
                    int64_t *offset)
{
    const uint32_t imm = i >> 15 & 0x7f;
    if ((i & 0xffc00000u) != (load ? 0xa9400000u : 0xa9000000u) || (i & 31) != first ||
        (i >> 10 & 31) != second || (i >> 5 & 31) != base)
        return false;
    *offset = ((int64_t)imm - (imm & 0x40 ? 0x80 : 0)) * 8;
    return true;
}

/* `str reg, [base, #imm]` or ldr of 64 bits. */
static bool is_single(uint32_t i, bool load, unsigned reg, unsigned base, uint32_t *offset)
{
    if ((i & 0xffc00000u) != (load ? 0xf9400000u : 0xf9000000u) || (i & 31) != reg ||
        (i >> 5 & 31) != base)
        return false;
    *offset = (i >> 10 & 0xfff) * 8;
    return true;
}

/* Control does not go on behind it: b, bl, br, blr, ret. */
static bool is_transfer(uint32_t i)
{
    return (i & 0x7c000000u) == 0x14000000u || (i & 0xff000000u) == 0xd6000000u;
}

/* `stp x23, x20, [x21, #htop]`: htop and stop are neighbours (ERTS_CT_ASSERT_FIELD_PAIR). */
static uint32_t find_htop(const uint8_t *code, size_t len)
{
    int64_t offset;
    for (size_t at = 0; at + WORD_BYTES <= len; at += WORD_BYTES)
        if (is_pair(instruction_at(code, at), false, HTOP, STACK, PROCESS, &offset) &&
            offset >= 16 && offset < 256)
            return (uint32_t)offset;
    return 0;
}

/* `str x2, [x21, #i]`: context_switch_simplified is given it in ARG3. */
static uint32_t find_resume(const uint8_t *code, size_t len)
{
    uint32_t found = 0, offset;
    for (size_t at = 0; at + WORD_BYTES <= len; at += WORD_BYTES) {
        if (!is_single(instruction_at(code, at), false, 2, PROCESS, &offset))
            continue;
        if (found != 0 && offset != found)
            return 0;
        found = offset;
    }
    return found;
}

/* E is preserved in its register, unless the process may have got another stack: then it is loaded
 * before control goes elsewhere (emit_leave_runtime with eStack). */
static int find_stack(const uint8_t *code, size_t len, uint32_t stop)
{
    for (size_t at = 0; stop > 0 && at + WORD_BYTES <= len; at += WORD_BYTES) {
        const uint32_t i = instruction_at(code, at);
        int64_t pair;
        uint32_t single;
        if ((is_pair(i, true, HTOP, STACK, PROCESS, &pair) && pair + 8 == (int64_t)stop) ||
            (is_single(i, true, STACK, PROCESS, &single) && single == stop))
            return MACHINE_STACK_IN_PROCESS;
        if (is_transfer(i))
            break;
    }
    return STACK;
}

/* `stp x2, x3, [x19, #TMP_MEM1q]`: the calling instruction, then the Export. */
static uint64_t find_export(const uint8_t *code, size_t len, const struct registers *r)
{
    int64_t offset;
    for (size_t at = 0; registers_know(r, SCHEDULER) && at + WORD_BYTES <= len; at += WORD_BYTES)
        if (is_pair(instruction_at(code, at), false, 2, 3, SCHEDULER, &offset))
            return r->value[SCHEDULER] + (uint64_t)offset + 8;
    return 0;
}

/* Before a function has pushed it, which is the first that one does, and behind the pop in front of
 * a return or of a call in tail position. */
static bool link_is_live(const uint8_t *code, size_t len, size_t pc)
{
    if (pc + WORD_BYTES <= len && instruction_at(code, pc) == PUSH_LINK)
        return true;
    for (size_t n = 1; n <= LOOKED_BACK && n * WORD_BYTES <= pc; n++) {
        const uint32_t i = instruction_at(code, pc - n * WORD_BYTES);
        if (i == POP_LINK)
            return true;
        if (i == PUSH_LINK || is_transfer(i))
            return false;
    }
    return false;
}

static bool keeps_link(const uint8_t *code, size_t len)
{
    for (size_t at = 0; at + WORD_BYTES <= len; at += WORD_BYTES)
        if (instruction_at(code, at) == KEEP_LINK)
            return true;
    return false;
}

const struct machine machine_aarch64 = {
    .name = "aarch64",
    .elf = EM_AARCH64,
    .n_registers = COUNT,
    .pc = PC,
    .sp = SP,
    .return_column = LINK,
    .preserved = UINT64_C(0x7ff80000), /* x19 … x29, and the link register of one that calls none */
    .code = MACHINE_ADDRESSES - 1,
    .signal_code = signal_code,
    .signal_registers = SIGNAL_REGISTERS,
    .perf_registers = (UINT64_C(1) << COUNT) - 1,
    .perf_order = perf_order,
    .process = PROCESS,
    .reductions = REDUCTIONS,
    .stack = STACK,
    .find_htop = find_htop,
    .find_resume = find_resume,
    .find_stack = find_stack,
    .find_export = find_export,
    .link_is_live = link_is_live,
    .keeps_link = keeps_link,
    .doubt = "tried on emulated arm64 machines, not on hardware",
};
