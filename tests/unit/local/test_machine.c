/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/attr.h"
#include "beamtop/local/machine.h"
#include "local/image/image_cfi.h"

static const struct machine *const arm = &machine_aarch64;

#define CODE(...) .code = {__VA_ARGS__}, .len = sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

#define NOP 0xd503201fu
#define STORE_TOPS 0xa90552b7u   /* stp x23, x20, [x21, #80] */
#define LOAD_TOPS 0xa94552b7u    /* ldp x23, x20, [x21, #80] */
#define LOAD_STOP 0xf9402eb4u    /* ldr x20, [x21, #88] */
#define LOAD_OTHER 0xf94032b4u   /* ldr x20, [x21, #96] */
#define STORE_I 0xf9007ea2u      /* str x2, [x21, #248] */
#define STORE_I_2 0xf90082a2u    /* str x2, [x21, #256] */
#define STORE_OTHER 0xf9007ea8u  /* str x8, [x21, #248] */
#define PUSH 0xf81f8e9eu         /* str x30, [x20, #-8]! */
#define POP 0xf840869eu          /* ldr x30, [x20], #8 */
#define KEEP 0xa9bf7bfdu         /* stp x29, x30, [sp, #-16]! */
#define EXPORT 0xa9020e62u       /* stp x2, x3, [x19, #32] */
#define EXPORT_BELOW 0xa93f0e62u /* stp x2, x3, [x19, #-16] */
#define RET 0xd65f03c0u
#define BRANCH 0x14000004u
#define CALL 0x97fffffcu
#define CALL_REGISTER 0xd63f0100u /* blr x8 */
#define BRANCH_IF 0x54000040u

struct offset_row {
    const char *name;
    uint32_t code[6];
    size_t len;
    uint32_t offset;
};

TEST(test_offset_of_htop)
{
    static const struct offset_row rows[] = {
        {"stored", CODE(NOP, STORE_TOPS, RET), 80},
        {"loaded", CODE(NOP, LOAD_TOPS, RET), 0},
        {"below a process's first words", CODE(0xa90052b7), 0},
        {"negative", CODE(0xa93f52b7), 0},
        {"none", CODE(NOP), 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint8_t *code = (const uint8_t *)rows[i].code;
        if (arm->find_htop(code, rows[i].len * 4) != rows[i].offset)
            fail_msg("%s: %u", rows[i].name, arm->find_htop(code, rows[i].len * 4));
    }
    /* Ends within the instruction. */
    const uint32_t cut[] = {STORE_TOPS};
    assert_int_equal(arm->find_htop((const uint8_t *)cut, 3), 0);
}

TEST(test_offset_of_resume)
{
    static const struct offset_row rows[] = {
        {"once", CODE(NOP, STORE_I, RET), 248},
        {"twice", CODE(STORE_I, NOP, STORE_I), 248},
        {"two offsets", CODE(STORE_I, STORE_I_2), 0},
        {"another register", CODE(STORE_OTHER), 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (arm->find_resume((const uint8_t *)rows[i].code, rows[i].len * 4) != rows[i].offset)
            fail_msg("%s", rows[i].name);
}

TEST(test_where_the_stack_is)
{
    static const struct {
        const char *name;
        uint32_t code[4];
        size_t len;
        uint32_t stop;
        int in;
    } rows[] = {
        {"loaded with htop", CODE(NOP, LOAD_TOPS, RET), 88, MACHINE_STACK_IN_PROCESS},
        {"loaded apart", CODE(LOAD_STOP), 88, MACHINE_STACK_IN_PROCESS},
        {"behind a condition", CODE(BRANCH_IF, LOAD_STOP), 88, MACHINE_STACK_IN_PROCESS},
        {"behind a return", CODE(NOP, RET, LOAD_TOPS), 88, 20},
        {"behind a jump", CODE(BRANCH, LOAD_TOPS), 88, 20},
        {"behind another call", CODE(CALL_REGISTER, LOAD_TOPS), 88, 20},
        {"another field", CODE(LOAD_OTHER), 88, 20},
        {"stop unknown", CODE(LOAD_TOPS), 0, 20},
        {"none", CODE(NOP), 88, 20},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (arm->find_stack((const uint8_t *)rows[i].code, rows[i].len * 4, rows[i].stop) !=
            rows[i].in)
            fail_msg("%s", rows[i].name);
}

TEST(test_where_the_export_is)
{
    const uint32_t above[] = {NOP, EXPORT}, below[] = {EXPORT_BELOW}, none[] = {NOP, KEEP};
    struct registers r = {.known = 1u << 19};
    r.value[19] = 0x1000;
    assert_int_equal(arm->find_export((const uint8_t *)above, 8, &r), 0x1000 + 40);
    assert_int_equal(arm->find_export((const uint8_t *)below, 4, &r), 0x1000 - 8);
    assert_int_equal(arm->find_export((const uint8_t *)none, 8, &r), 0);
    r.known = 0;
    assert_int_equal(arm->find_export((const uint8_t *)above, 8, &r), 0);
}

/* pc: the index of the interrupted instruction. */
TEST(test_link_register)
{
    static const struct {
        const char *name;
        uint32_t code[12];
        size_t len, pc;
        bool live;
    } rows[] = {
        {"before the push", CODE(NOP, PUSH, NOP), 1, true},
        {"behind it", CODE(NOP, PUSH, NOP), 2, false},
        {"before the pop", CODE(NOP, POP, RET), 1, false},
        {"before the return", CODE(NOP, POP, RET), 2, true},
        {"before a call in tail position", CODE(POP, NOP, BRANCH), 2, true},
        {"behind a condition that was not met", CODE(POP, BRANCH_IF, RET), 2, true},
        {"behind a return", CODE(POP, RET, NOP), 2, false},
        {"behind a call", CODE(POP, CALL, NOP), 2, false},
        {"at the code's begin", CODE(NOP), 0, false},
        {"long before", CODE(POP, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP), 9, false},
        {"at its end", CODE(NOP), 1, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (arm->link_is_live((const uint8_t *)rows[i].code, rows[i].len * 4, rows[i].pc * 4) !=
            rows[i].live)
            fail_msg("%s", rows[i].name);
    const uint32_t kept[] = {NOP, KEEP}, not_kept[] = {NOP, PUSH};
    assert_true(arm->keeps_link((const uint8_t *)kept, 8));
    assert_false(arm->keeps_link((const uint8_t *)not_kept, 8));
    assert_false(arm->keeps_link((const uint8_t *)kept, 7));
}

/* Each DWARF number is that of one bit of the kernel's. */
TEST(test_registers)
{
    const struct machine *const all[] = {&machine_x86_64, &machine_aarch64};
    for (size_t k = 0; k < ARRAY_LEN(all); k++) {
        const struct machine *m = all[k];
        uint64_t met = 0;
        assert_int_equal(__builtin_popcountll(m->perf_registers), m->n_registers);
        for (size_t i = 0; i < m->n_registers; i++)
            met |= UINT64_C(1) << m->perf_order[i];
        assert_true(met == (UINT64_C(1) << m->n_registers) - 1);
        assert_true(m->n_registers <= REGISTERS && m->pc < m->n_registers);
        assert_ptr_equal(machine_of_elf(m->elf), m);
    }
    assert_null(machine_of_elf(EM_386));
}

/* ---- frames of aarch64 */

static bool read_words(void *arg, uint64_t at, void *out, size_t len)
{
    if (at < 0x1000 || at - 0x1000 > 64 - len)
        return false;
    memcpy(out, (const uint8_t *)arg + (at - 0x1000), len);
    return true;
}

/* A frame of 32 bytes whose return address has a code of authentication. */
TEST(test_authenticated_return)
{
    static const uint8_t section[] = {
        /* CIE "zRB": pointers of 8 bytes, cfa x31 + 0 */
        16, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 'B', 0, 4, 0x78, 30, 1, 0x00, 0x0c, 31,
        /* (its offset is the next byte) */
    };
    uint8_t bytes[80] = {0};
    memcpy(bytes, section, sizeof section);
    bytes[0] = 20; /* of the entry: 4 of padding */
    bytes[20] = 0; /* cfa + 0 */
    size_t at = 24;
    const uint8_t fde[] = {36, 0, 0, 0, 28, 0, 0, 0};
    memcpy(bytes + at, fde, sizeof fde);
    const uint64_t start = 0x4000, size = 0x40;
    memcpy(bytes + at + 8, &start, 8);
    memcpy(bytes + at + 16, &size, 8);
    /* no augmentation; negate_ra_state; +4: cfa + 32, x29 at -32, x30 at -24 */
    const uint8_t program[] = {0, 0x2d, 0x41, 0x0e, 32, 0x80 | 29, 4, 0x80 | 30, 3};
    memcpy(bytes + at + 24, program, sizeof program);
    struct cfi c;
    struct cfi_row row;
    cfi_read(&c, arm, bytes, at + 40, 0);
    assert_int_equal(c.n_fdes, 1);
    uint64_t words[8] = {0x2000, UINT64_C(0x2a7f000000005678)};
    const struct memory m = {read_words, words};
    struct registers r = {.known = arm->perf_registers};
    r.value[arm->sp] = 0x1000;
    r.value[arm->pc] = 0x4010;
    r.value[20] = 77;
    assert_true(cfi_row(&c, 0x4010, &row));
    assert_int_equal(cfi_step(arm, &row, false, &r, &m), STEP_CALLER);
    assert_true(r.value[arm->pc] == UINT64_C(0x5678));
    assert_int_equal(r.value[arm->sp], 0x1020);
    assert_int_equal(r.value[29], 0x2000);
    assert_true(registers_know(&r, 20) && r.value[20] == 77 && !registers_know(&r, 0));
    cfi_clear(&c);
    /* Not an instruction of other machines. */
    cfi_read(&c, &machine_x86_64, bytes, at + 40, 0);
    assert_int_equal(c.n_fdes, 0);
    cfi_clear(&c);
}

/* A function that has called none has no frame: only as the interrupted one. */
TEST(test_frameless)
{
    struct cfi_row row = {.cfa_register = 31, .cfa = {.how = CFI_VALUE_OFFSET}};
    row.rule[arm->sp].how = CFI_VALUE_OFFSET;
    row.rule[arm->return_column].how = CFI_SAME;
    struct registers r = {.known = arm->perf_registers};
    r.value[arm->sp] = 0x1000;
    r.value[arm->return_column] = 0x5678;
    const struct registers before = r;
    assert_int_equal(cfi_step(arm, &row, false, &r, NULL), STEP_NO_RULE);
    assert_memory_equal(&r, &before, sizeof r);
    assert_int_equal(cfi_step(arm, &row, true, &r, NULL), STEP_CALLER);
    assert_int_equal(r.value[arm->pc], 0x5678);
    assert_int_equal(cfi_step_link(arm, false, &r), STEP_NO_RULE);
    assert_int_equal(cfi_step_link(&machine_x86_64, true, &r), STEP_NO_RULE);
    r.value[arm->return_column] = 0x9abc;
    assert_int_equal(cfi_step_link(arm, true, &r), STEP_CALLER);
    assert_int_equal(r.value[arm->pc], 0x9abc);
    r.value[arm->return_column] = UINT64_C(0x2a7f000000000000);
    assert_int_equal(cfi_step_link(arm, true, &r), STEP_NO_RULE);
}

/* Code at 0x1000, and behind it a stack with what the kernel puts there for a signal. */
struct signal_world {
    uint32_t code[4];
    uint8_t stack[128 + 176 + 8]; /* siginfo, ucontext up to sigcontext, fault_address */
    uint64_t registers[33];       /* regs[31], sp, pc */
};

enum { SIGNAL_AT = 0x1000, SIGNAL_STACK = SIGNAL_AT + offsetof(struct signal_world, stack) };

static bool read_signal_world(void *arg, uint64_t at, void *out, size_t len)
{
    if (at < SIGNAL_AT || at - SIGNAL_AT > sizeof(struct signal_world) ||
        len > sizeof(struct signal_world) - (at - SIGNAL_AT))
        return false;
    memcpy(out, (const uint8_t *)arg + (at - SIGNAL_AT), len);
    return true;
}

/* The kernel's code that a handler returns to has no CFI. */
TEST(test_signal_frame)
{
    struct signal_world world = {.code = {NOP, 0xd2801168u, 0xd4000001u, NOP}};
    const struct memory m = {read_signal_world, &world};
    for (unsigned i = 0; i < ARRAY_LEN(world.registers); i++)
        world.registers[i] = 0x100 + i;
    struct registers r = {.known = arm->perf_registers};
    r.value[arm->sp] = SIGNAL_STACK;
    r.value[arm->pc] = SIGNAL_AT;
    const struct registers before = r;
    assert_int_equal(cfi_step_signal(arm, &r, &m), STEP_NO_RULE);
    assert_memory_equal(&r, &before, sizeof r);
    r.value[arm->pc] = SIGNAL_AT + 4;
    assert_int_equal(cfi_step_signal(&machine_x86_64, &r, &m), STEP_NO_RULE);
    assert_int_equal(cfi_step_signal(arm, &r, &m), STEP_CALLER);
    assert_int_equal(r.value[0], 0x100);
    assert_int_equal(r.value[arm->sp], 0x11f);
    assert_int_equal(r.value[arm->pc], 0x120);
    r.value[arm->pc] = SIGNAL_AT + 4;
    r.value[arm->sp] = SIGNAL_STACK + 8; /* the last register is not there */
    assert_int_equal(cfi_step_signal(arm, &r, &m), STEP_MEMORY);
    r.known = UINT64_C(1) << arm->pc;
    assert_int_equal(cfi_step_signal(arm, &r, &m), STEP_NO_RULE);
    r.value[arm->pc] = 0;
    assert_int_equal(cfi_step_signal(arm, &r, &m), STEP_NO_RULE);
}
