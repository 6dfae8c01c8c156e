/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/local/machine.h"

#include <elf.h>
#include <string.h>

#include "beamtop/base/attr.h"

enum { RBX = 3, RBP = 6, RSP = 7, R12 = 12, R13 = 13, R14 = 14, R15 = 15, RIP = 16, COUNT };

/* AX BX CX DX SI DI BP SP IP, R8 … R15, in the order of their bits. */
static const uint8_t perf_order[] = {0, 3, 2, 1, 4, 5, 6, RSP, RIP, 8, 9, 10, 11, 12, 13, 14, 15};

/* The offset of the last operand of the first `movups [r13 + X], xmm0` of the code, in SSE or AVX;
   0: none. */
static uint32_t find_htop(const uint8_t *code, size_t len)
{
    static const uint8_t avx[] = {0xc4, 0xc1, 0x7a, 0x7f, 0x45};
    static const uint8_t sse[] = {0x41, 0x0f, 0x11, 0x45};
    for (size_t i = 0; i < len; i++) {
        size_t size = 0;
        if (len - i > sizeof avx && memcmp(code + i, avx, sizeof avx) == 0)
            size = sizeof avx;
        else if (len - i > sizeof sse && memcmp(code + i, sse, sizeof sse) == 0)
            size = sizeof sse;
        uint8_t offset = size > 0 ? code[i + size] : 0;
        if (offset >= 16 && offset < 128 && offset % 8 == 0)
            return offset;
    }
    return 0;
}

/* What process_main does with a process whose turn ends: `mov [r13 + X], rdx`, once. */
static uint32_t find_resume(const uint8_t *code, size_t len)
{
    static const uint8_t store[] = {0x49, 0x89, 0x95};
    uint32_t found = 0, offset;
    for (size_t i = 0; i + sizeof store + sizeof offset <= len; i++) {
        if (memcmp(code + i, store, sizeof store) != 0)
            continue;
        memcpy(&offset, code + i + sizeof store, sizeof offset);
        if (offset % 8 != 0 || (found != 0 && offset != found))
            return 0;
        found = offset;
    }
    return found;
}

static int find_stack(const uint8_t *code, size_t len, uint32_t stop)
{
    for (size_t i = 0; i + 4 <= len; i++) {
        if (memcmp(code + i, "\x48\x89\xec", 3) == 0) /* mov rsp, rbp */
            return RBP;
        if (memcmp(code + i, "\x49\x8b\x65", 3) == 0 && stop > 0 && code[i + 3] == stop)
            break; /* mov rsp, [r13 + stop] */
    }
    return MACHINE_STACK_IN_PROCESS;
}

/* The words above the last native frame: the calling instruction, then the Export (beam_asm:
 * call_light_bif_shared). */
static uint64_t find_export(const uint8_t *code, size_t len, const struct registers *r)
{
    (void)code;
    (void)len;
    return r->value[RSP] + 2 * sizeof(uint64_t);
}

const struct machine machine_x86_64 = {
    .name = "x86-64",
    .elf = EM_X86_64,
    .n_registers = COUNT,
    .pc = RIP,
    .sp = RSP,
    .return_column = RIP,
    .preserved = 1u << RBX | 1u << RBP | 1u << R12 | 1u << R13 | 1u << R14 | 1u << R15,
    .code = UINT64_MAX,
    .perf_registers = UINT64_C(0xff01ff),
    .perf_order = perf_order,
    .process = R13,
    .reductions = R14,
    .stack = RSP,
    .find_htop = find_htop,
    .find_resume = find_resume,
    .find_stack = find_stack,
    .find_export = find_export,
};
