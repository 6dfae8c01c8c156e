/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "local/image/image_cfi.h"

#include "beamtop/base/limits.h"
#include "local/image/image_bytes.h"

/* DWARF 5, section 7.7.1 */
enum {
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08, /* then 1s 2u 2s 4u 4s 8u 8s */
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_AND = 0x1a,
    OP_MINUS = 0x1c,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_GE = 0x2a,
    OP_LIT0 = 0x30,
    OP_BREG0 = 0x70,
    OP_BREGX = 0x92,
};

struct evaluation {
    struct image_bytes in;
    uint64_t value[LIMIT_EXPRESSION_STACK];
    size_t n;
    const struct registers *r;
    const struct memory *stack;
};

static enum step push_value(struct evaluation *m, uint64_t v)
{
    if (m->n == LIMIT_EXPRESSION_STACK)
        return STEP_EXPRESSION;
    m->value[m->n++] = v;
    return STEP_CALLER;
}

static enum step push_register(struct evaluation *m, uint64_t number)
{
    uint64_t offset = image_sleb(&m->in);
    if (number >= REGISTERS || !registers_know(m->r, (unsigned)number))
        return STEP_EXPRESSION;
    return push_value(m, m->r->value[number] + offset);
}

static enum step push_constant(struct evaluation *m, uint8_t op)
{
    unsigned bytes = 1u << (op - OP_CONST1U) / 2;
    return push_value(m, op % 2 ? image_signed(&m->in, bytes) : image_unsigned(&m->in, bytes));
}

static enum step apply_two(struct evaluation *m, uint8_t op)
{
    if (m->n < 2)
        return STEP_EXPRESSION;
    uint64_t b = m->value[--m->n], *a = &m->value[m->n - 1];
    switch (op) {
    case OP_AND:
        *a &= b;
        return STEP_CALLER;
    case OP_MINUS:
        *a -= b;
        return STEP_CALLER;
    case OP_PLUS:
        *a += b;
        return STEP_CALLER;
    case OP_SHL:
        *a = b < 64 ? *a << b : 0;
        return STEP_CALLER;
    case OP_GE:
        *a = (int64_t)*a >= (int64_t)b;
        return STEP_CALLER;
    default:
        return STEP_EXPRESSION;
    }
}

static enum step apply_one(struct evaluation *m, uint8_t op)
{
    if (op >= OP_LIT0 && op < OP_LIT0 + 32)
        return push_value(m, op - OP_LIT0);
    if (op >= OP_BREG0 && op < OP_BREG0 + 32)
        return push_register(m, op - OP_BREG0);
    if (op >= OP_CONST1U && op <= OP_CONST8S)
        return push_constant(m, op);
    switch (op) {
    case OP_BREGX:
        return push_register(m, image_uleb(&m->in));
    case OP_CONSTU:
        return push_value(m, image_uleb(&m->in));
    case OP_CONSTS:
        return push_value(m, image_sleb(&m->in));
    case OP_PLUS_UCONST:
        if (m->n == 0)
            return STEP_EXPRESSION;
        m->value[m->n - 1] += image_uleb(&m->in);
        return STEP_CALLER;
    case OP_DEREF:
        if (m->n == 0)
            return STEP_EXPRESSION;
        uint64_t *top = &m->value[m->n - 1], at = *top;
        return memory_read(m->stack, at, top, sizeof *top) ? STEP_CALLER : STEP_MEMORY;
    default:
        return apply_two(m, op);
    }
}

enum step cfi_expression(const uint8_t *bytes, size_t len, const struct registers *r,
                         const uint64_t *cfa, const struct memory *stack, uint64_t *out)
{
    struct evaluation m = {.in = {bytes, bytes + len, false}, .r = r, .stack = stack};
    if (len > LIMIT_EXPRESSION_BYTES)
        return STEP_EXPRESSION;
    if (cfa)
        push_value(&m, *cfa);
    while (m.in.at < m.in.end) {
        enum step s = apply_one(&m, (uint8_t)image_unsigned(&m.in, 1));
        if (s != STEP_CALLER)
            return s;
    }
    if (m.in.bad || m.n == 0)
        return STEP_EXPRESSION;
    *out = m.value[m.n - 1];
    return STEP_CALLER;
}
