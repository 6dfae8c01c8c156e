/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "local/image/image_cfi.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "local/image/image_bytes.h"

/* Encodings of pointers: DW_EH_PE_…, LSB section 10.5.1. */
enum { PE_PCREL = 0x10, PE_OMIT = 0xff };
enum { KEPT = 8 }; /* states remembered at once; compilers use 1 */

static size_t offset_of(const struct cfi *c, const uint8_t *p)
{
    return (size_t)(p - c->bytes);
}

/* Absolute, or relative to its place; another kind, or an indirect one, is bad. */
static uint64_t read_pointer(const struct cfi *c, struct image_bytes *in, uint8_t encoding)
{
    uint64_t base = encoding & PE_PCREL ? c->address + offset_of(c, in->at) : 0;
    switch (encoding & ~PE_PCREL) {
    case 0x00:
    case 0x04:
    case 0x0c:
        return base + image_unsigned(in, 8);
    case 0x03:
        return base + image_unsigned(in, 4);
    case 0x0b:
        return base + image_signed(in, 4);
    default:
        in->bad = true;
        return 0;
    }
}

/* Reads the augmentation, by its letters after "z". */
static void read_augmentation(const struct cfi *c, struct cfi_cie *cie, const char *letters,
                              struct image_bytes data)
{
    for (; *letters && !data.bad; letters++) {
        if (*letters == 'R') {
            cie->encoding = (uint8_t)image_unsigned(&data, 1);
        } else if (*letters == 'S') {
            cie->signal = true;
        } else if (*letters == 'B' || *letters == 'G') {
            continue; /* aarch64: the key of authentication, tagged memory */
        } else if (*letters == 'L') {
            image_unsigned(&data, 1);
        } else if (*letters == 'P') {
            uint8_t encoding = (uint8_t)image_unsigned(&data, 1);
            read_pointer(c, &data, encoding & 0x7f); /* indirect: as long */
        } else {
            return;
        }
    }
}

static void read_cie(struct cfi *c, struct image_bytes in, size_t at)
{
    struct cfi_cie cie = {.at = at, .end = in.end};
    uint8_t version = (uint8_t)image_unsigned(&in, 1);
    const uint8_t *letters = in.at, *nul = memchr(in.at, 0, image_left(&in));
    if ((version != 1 && version != 3) || !nul || c->n_cies == LIMIT_IMAGE_CIES)
        return;
    in.at = nul + 1;
    cie.code_factor = image_uleb(&in);
    cie.data_factor = image_sleb(&in);
    uint64_t return_address = version == 1 ? image_unsigned(&in, 1) : image_uleb(&in);
    if (*letters == 'z') {
        uint64_t len = image_uleb(&in);
        const uint8_t *data = image_take(&in, len);
        cie.sized = true;
        if (data)
            read_augmentation(c, &cie, (const char *)letters + 1,
                              (struct image_bytes){data, data + len, false});
    } else if (*letters) {
        return;
    }
    cie.program = in.at;
    if (in.bad || return_address != c->machine->return_column)
        return;
    c->cies = alloc_resize(c->cies, c->n_cies + 1, sizeof *c->cies);
    c->cies[c->n_cies++] = cie;
}

static int compare_at(const void *key, const void *item)
{
    size_t at = *(const size_t *)key, other = ((const struct cfi_cie *)item)->at;
    return at < other ? -1 : at > other;
}

static void read_fde(struct cfi *c, struct image_bytes in, size_t cie_at)
{
    const struct cfi_cie *cie =
        c->n_cies ? bsearch(&cie_at, c->cies, c->n_cies, sizeof *cie, compare_at) : NULL;
    if (!cie || c->n_fdes == LIMIT_IMAGE_FRAMES)
        return;
    struct cfi_fde f = {.cie = (uint32_t)(cie - c->cies), .program_end = in.end};
    f.start = read_pointer(c, &in, cie->encoding);
    f.end = f.start + read_pointer(c, &in, cie->encoding & 0x0f);
    if (cie->sized)
        image_take(&in, image_uleb(&in));
    f.program = in.at;
    if (in.bad || f.end <= f.start)
        return;
    c->fdes = alloc_grow(c->fdes, c->n_fdes, sizeof *c->fdes);
    c->fdes[c->n_fdes++] = f;
}

static int compare_start(const void *a, const void *b)
{
    const struct cfi_fde *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

void cfi_read(struct cfi *c, const struct machine *machine, const uint8_t *bytes, size_t len,
              uint64_t address)
{
    *c = (struct cfi){.machine = machine, .bytes = bytes, .len = len, .address = address};
    struct image_bytes all = {bytes, bytes + len, false};
    while (image_left(&all) >= 8) {
        size_t at = offset_of(c, all.at);
        uint64_t entry_len = image_unsigned(&all, 4);
        size_t id_at = offset_of(c, all.at);
        struct image_bytes in = {.at = image_take(&all, entry_len)};
        if (!in.at || entry_len < 4) /* the end, 64 bits, or cut */
            break;
        in.end = in.at + entry_len;
        uint64_t id = image_unsigned(&in, 4);
        if (id == 0) {
            read_cie(c, in, at);
        } else if (id <= id_at) {
            read_fde(c, in, id_at - id);
        }
    }
    if (c->n_fdes > 1)
        qsort(c->fdes, c->n_fdes, sizeof *c->fdes, compare_start);
}

void cfi_clear(struct cfi *c)
{
    free(c->cies);
    free(c->fdes);
    *c = (struct cfi){0};
}

/* ---- programs */

struct program {
    struct cfi_row row, initial;
    struct cfi_row kept[KEPT];
    size_t n_kept;
    uint64_t at, pc;
    const struct machine *machine;
    const struct cfi_cie *cie;
    struct image_bytes in;
    bool in_cie;
};

/* Rules of other registers (vector registers) are never read. */
static void set_rule(struct program *p, uint64_t number, struct cfi_rule rule)
{
    if (number < REGISTERS)
        p->row.rule[number] = rule;
}

static void set_offset_rule(struct program *p, uint64_t number, enum cfi_how how, uint64_t offset)
{
    set_rule(p, number, (struct cfi_rule){.how = (uint8_t)how, .offset = offset});
}

static struct cfi_rule read_block(struct program *p, enum cfi_how how)
{
    uint64_t len = image_uleb(&p->in);
    const uint8_t *bytes = image_take(&p->in, len);
    if (len > LIMIT_EXPRESSION_BYTES)
        p->in.bad = true;
    return (struct cfi_rule){.how = (uint8_t)how, .len = (uint8_t)len, .expression = bytes};
}

static void set_cfa(struct program *p, uint64_t number, uint64_t offset)
{
    if (number >= REGISTERS)
        p->in.bad = true;
    p->row.cfa_register = (uint8_t)number;
    p->row.cfa = (struct cfi_rule){.how = CFI_VALUE_OFFSET, .offset = offset};
}

/* Only after a register and an offset. */
static void change_cfa(struct program *p, uint64_t number, uint64_t offset)
{
    if (p->row.cfa.how != CFI_VALUE_OFFSET)
        p->in.bad = true;
    set_cfa(p, number, offset);
}

static void restore_rule(struct program *p, uint64_t number)
{
    if (number < REGISTERS)
        set_rule(p, number, p->initial.rule[number]);
}

static void keep_state(struct program *p)
{
    if (p->n_kept == KEPT) {
        p->in.bad = true;
    } else {
        p->kept[p->n_kept++] = p->row;
    }
}

static void restore_state(struct program *p)
{
    if (p->n_kept == 0) {
        p->in.bad = true;
    } else {
        p->row = p->kept[--p->n_kept];
    }
}

static void advance_row(struct program *p, uint64_t by)
{
    p->at += by * p->cie->code_factor;
    if (p->in_cie)
        p->in.bad = true;
}

/* Operands are read in order: each in a separate statement. */
static void run_extended(struct program *p, uint8_t op)
{
    struct image_bytes *in = &p->in;
    uint64_t factor = p->cie->data_factor, number = image_uleb(in);
    switch (op) {
    case 0x05: /* DW_CFA_offset_extended */
        set_offset_rule(p, number, CFI_OFFSET, image_uleb(in) * factor);
        break;
    case 0x06: /* DW_CFA_restore_extended */
        restore_rule(p, number);
        break;
    case 0x07: /* DW_CFA_undefined */
        set_offset_rule(p, number, CFI_UNDEFINED, 0);
        break;
    case 0x08: /* DW_CFA_same_value */
        set_offset_rule(p, number, CFI_SAME, 0);
        break;
    case 0x09: /* DW_CFA_register */
        set_offset_rule(p, number, CFI_REGISTER, image_uleb(in));
        break;
    case 0x0c: /* DW_CFA_def_cfa */
        set_cfa(p, number, image_uleb(in));
        break;
    case 0x0d: /* DW_CFA_def_cfa_register */
        change_cfa(p, number, p->row.cfa.offset);
        break;
    case 0x10: /* DW_CFA_expression */
        set_rule(p, number, read_block(p, CFI_EXPRESSION));
        break;
    case 0x11: /* DW_CFA_offset_extended_sf */
        set_offset_rule(p, number, CFI_OFFSET, image_sleb(in) * factor);
        break;
    case 0x12: /* DW_CFA_def_cfa_sf */
        set_cfa(p, number, image_sleb(in) * factor);
        break;
    case 0x14: /* DW_CFA_val_offset */
        set_offset_rule(p, number, CFI_VALUE_OFFSET, image_uleb(in) * factor);
        break;
    case 0x15: /* DW_CFA_val_offset_sf */
        set_offset_rule(p, number, CFI_VALUE_OFFSET, image_sleb(in) * factor);
        break;
    case 0x16: /* DW_CFA_val_expression */
        set_rule(p, number, read_block(p, CFI_VALUE_EXPRESSION));
        break;
    case 0x2e: /* DW_CFA_GNU_args_size */
        break;
    default:
        in->bad = true;
    }
}

static void run_instruction(struct program *p, uint8_t op)
{
    struct image_bytes *in = &p->in;
    switch (op) {
    case 0x00: /* DW_CFA_nop */
        break;
    case 0x02: /* DW_CFA_advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        advance_row(p, image_unsigned(in, 1u << (op - 0x02)));
        break;
    case 0x0a: /* DW_CFA_remember_state */
        keep_state(p);
        break;
    case 0x0b: /* DW_CFA_restore_state */
        restore_state(p);
        break;
    case 0x0e: /* DW_CFA_def_cfa_offset */
        change_cfa(p, p->row.cfa_register, image_uleb(in));
        break;
    case 0x0f: /* DW_CFA_def_cfa_expression */
        p->row.cfa = read_block(p, CFI_VALUE_EXPRESSION);
        break;
    case 0x2d: /* DW_CFA_AARCH64_negate_ra_state: machine->code is enough */
        in->bad |= p->machine != &machine_aarch64;
        break;
    case 0x13: /* DW_CFA_def_cfa_offset_sf */
        change_cfa(p, p->row.cfa_register, image_sleb(in) * p->cie->data_factor);
        break;
    default:
        run_extended(p, op);
    }
}

/* Runs instructions up to the row of pc; false: an invalid instruction. */
static bool run_program(struct program *p, const uint8_t *from, const uint8_t *end)
{
    p->in = (struct image_bytes){from, end, false};
    for (size_t n = 0; p->in.at < end && !p->in.bad; n++) {
        if (n == LIMIT_IMAGE_INSTRUCTIONS)
            return false;
        uint8_t op = (uint8_t)image_unsigned(&p->in, 1), low = op & 0x3f;
        uint64_t offset = op >> 6 == 2 ? image_uleb(&p->in) : 0;
        if (op >> 6 == 1) { /* DW_CFA_advance_loc */
            advance_row(p, low);
        } else if (op >> 6 == 2) { /* DW_CFA_offset */
            set_offset_rule(p, low, CFI_OFFSET, offset * p->cie->data_factor);
        } else if (op >> 6 == 3) { /* DW_CFA_restore */
            restore_rule(p, low);
        } else {
            run_instruction(p, op);
        }
        if (p->at > p->pc) /* the next row begins here; nothing of it is in the row yet */
            break;
    }
    return !p->in.bad;
}

/* The ABI's rules: registers that a function preserves, and its caller's stack pointer. */
static void abi_row(struct cfi_row *row, const struct machine *machine)
{
    for (size_t i = 0; i < machine->n_registers; i++)
        if (machine->preserved >> i & 1)
            row->rule[i].how = CFI_SAME;
    row->rule[machine->sp].how = CFI_VALUE_OFFSET;
}

size_t cfi_until(const void *items, size_t n, size_t size, uint64_t address)
{
    size_t low = 0;
    while (low < n) {
        const size_t mid = low + (n - low) / 2;
        uint64_t start;
        memcpy(&start, (const uint8_t *)items + mid * size, sizeof start);
        if (start <= address)
            low = mid + 1;
        else
            n = mid;
    }
    return low;
}

static const struct cfi_fde *find_fde(const struct cfi *c, uint64_t pc)
{
    const size_t n = cfi_until(c->fdes, c->n_fdes, sizeof *c->fdes, pc);
    return n > 0 && pc < c->fdes[n - 1].end ? &c->fdes[n - 1] : NULL;
}

bool cfi_row(const struct cfi *c, uint64_t pc, struct cfi_row *out)
{
    const struct cfi_fde *f = find_fde(c, pc);
    if (!f)
        return false;
    struct program p;
    p.row = (struct cfi_row){0};
    p.machine = c->machine;
    p.cie = &c->cies[f->cie];
    p.at = f->start;
    p.pc = pc;
    p.n_kept = 0;
    p.in_cie = true;
    abi_row(&p.row, c->machine);
    p.initial = p.row;
    if (!run_program(&p, p.cie->program, p.cie->end))
        return false;
    p.initial = p.row;
    p.in_cie = false;
    if (!run_program(&p, f->program, f->program_end) || p.row.cfa.how == CFI_UNDEFINED)
        return false;
    *out = p.row;
    out->signal = p.cie->signal;
    return true;
}

/* ---- steps */

static enum step canonical_address(const struct cfi_row *row, const struct registers *r,
                                   const struct memory *stack, uint64_t *cfa)
{
    if (row->cfa.how == CFI_VALUE_EXPRESSION)
        return cfi_expression(row->cfa.expression, row->cfa.len, r, NULL, stack, cfa);
    if (!registers_know(r, row->cfa_register))
        return STEP_NO_RULE;
    *cfa = r->value[row->cfa_register] + row->cfa.offset;
    return STEP_CALLER;
}

static enum step value_of(const struct cfi_rule *rule, const struct registers *r, uint64_t cfa,
                          const struct memory *stack, uint64_t *out)
{
    uint64_t at = cfa + rule->offset;
    if (rule->how == CFI_VALUE_OFFSET) {
        *out = at;
        return STEP_CALLER;
    }
    if (rule->how != CFI_OFFSET) {
        enum step s = cfi_expression(rule->expression, rule->len, r, &cfa, stack, &at);
        if (s != STEP_CALLER || rule->how == CFI_VALUE_EXPRESSION) {
            *out = at;
            return s;
        }
    }
    return memory_read(stack, at, out, sizeof *out) ? STEP_CALLER : STEP_MEMORY;
}

static enum step one_register(const struct cfi_row *row, unsigned number, uint64_t cfa,
                              const struct registers *r, const struct memory *stack,
                              struct registers *caller)
{
    const struct cfi_rule *rule = &row->rule[number];
    uint64_t from = rule->how == CFI_REGISTER ? rule->offset : number;
    uint64_t v = 0;
    enum step s = STEP_CALLER;
    if (rule->how == CFI_UNDEFINED || from >= REGISTERS)
        return STEP_CALLER;
    if (rule->how == CFI_SAME || rule->how == CFI_REGISTER) {
        if (!registers_know(r, (unsigned)from))
            return STEP_CALLER;
        v = r->value[from];
    } else {
        s = value_of(rule, r, cfa, stack, &v);
    }
    caller->value[number] = v;
    caller->known |= UINT64_C(1) << number;
    return s;
}

/* A caller's frame is above this one; without this check a walk would never end. One that keeps its
 * return address in a register may have no frame, if it has called nothing. */
static bool frame_ends(const struct machine *machine, const struct cfi_row *row, bool leaf,
                       const struct registers *r, uint64_t cfa)
{
    if (row->signal)
        return true;
    const bool frameless = leaf && machine->return_column != machine->pc &&
                           row->rule[machine->return_column].how == CFI_SAME;
    return registers_know(r, machine->sp) &&
           (cfa > r->value[machine->sp] || (frameless && cfa == r->value[machine->sp]));
}

static void return_to(const struct machine *machine, struct registers *r)
{
    r->value[machine->pc] = r->value[machine->return_column] & machine->code;
    r->known |= UINT64_C(1) << machine->pc;
}

enum step cfi_step(const struct machine *machine, const struct cfi_row *row, bool leaf,
                   struct registers *r, const struct memory *stack)
{
    const unsigned back = machine->return_column;
    struct registers caller = {0};
    uint64_t cfa = 0;
    enum step s = canonical_address(row, r, stack, &cfa);
    for (unsigned i = 0; i < machine->n_registers && s == STEP_CALLER; i++)
        s = one_register(row, i, cfa, r, stack, &caller);
    if (s != STEP_CALLER)
        return s;
    if (!registers_know(&caller, back) || (caller.value[back] & machine->code) == 0)
        return STEP_OUTERMOST;
    if (!frame_ends(machine, row, leaf, r, cfa))
        return STEP_NO_RULE;
    return_to(machine, &caller);
    *r = caller;
    return STEP_CALLER;
}

enum step cfi_step_link(const struct machine *machine, bool leaf, struct registers *r)
{
    const unsigned back = machine->return_column;
    if (!leaf || back == machine->pc || !registers_know(r, back) ||
        (r->value[back] & machine->code) == 0)
        return STEP_NO_RULE;
    return_to(machine, r);
    return STEP_CALLER;
}

enum step cfi_step_signal(const struct machine *machine, struct registers *r,
                          const struct memory *memory)
{
    uint8_t code[MACHINE_SIGNAL_BYTES];
    struct registers caller = {.known = (UINT64_C(1) << machine->n_registers) - 1};
    if (!machine->signal_code || !registers_know(r, machine->sp) ||
        !memory_read(memory, r->value[machine->pc], code, sizeof code) ||
        memcmp(code, machine->signal_code, sizeof code) != 0)
        return STEP_NO_RULE;
    if (!memory_read(memory, r->value[machine->sp] + machine->signal_registers, caller.value,
                     machine->n_registers * sizeof *caller.value))
        return STEP_MEMORY;
    *r = caller;
    return STEP_CALLER;
}
