/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the registers of a caller are found: the rows of `.eh_frame` (DWARF 5, section 6.4; LSB,
 * "Exception Frames"). Evaluated here: libdw's execute_cfi() sizes its memory by register numbers
 * of the file and remembers states without a bound, and these files are hostile. */
#ifndef BEAMTOP_LOCAL_IMAGE_CFI_H
#define BEAMTOP_LOCAL_IMAGE_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/local/images.h"

enum cfi_how {
    CFI_UNDEFINED,
    CFI_SAME,
    CFI_OFFSET,           /* saved at the CFA + offset */
    CFI_VALUE_OFFSET,     /* is the CFA + offset */
    CFI_REGISTER,         /* is in register offset */
    CFI_EXPRESSION,       /* saved where that says */
    CFI_VALUE_EXPRESSION, /* is what that says */
};

struct cfi_rule {
    uint8_t how;
    uint8_t len; /* of the expression */
    union {
        uint64_t offset;
        const uint8_t *expression;
    };
};

struct cfi_row {
    uint8_t cfa_register;
    struct cfi_rule cfa; /* CFI_VALUE_OFFSET from cfa_register, or CFI_VALUE_EXPRESSION */
    struct cfi_rule rule[REGISTERS];
    bool signal; /* the caller was interrupted there */
};

struct cfi_cie {
    size_t at; /* where it stands in the section */
    uint64_t code_factor, data_factor;
    const uint8_t *program, *end;
    uint8_t encoding;
    bool sized, signal;
};

struct cfi_fde {
    uint64_t start, end;
    const uint8_t *program, *program_end;
    uint32_t cie;
};

struct cfi {
    const struct machine *machine;
    const uint8_t *bytes; /* borrowed */
    size_t len;
    uint64_t address; /* of the section */
    struct cfi_cie *cies;
    struct cfi_fde *fdes; /* by start */
    size_t n_cies, n_fdes;
};

/* How many of n items of that size, sorted by the uint64_t that each begins with, are at or before
 * the address. */
size_t cfi_until(const void *items, size_t n, size_t size, uint64_t address);

/* What cannot be read is left out. */
void cfi_read(struct cfi *c, const struct machine *machine, const uint8_t *bytes, size_t len,
              uint64_t address);
void cfi_clear(struct cfi *c);
/* The row for that address of the file; false: none. */
bool cfi_row(const struct cfi *c, uint64_t pc, struct cfi_row *out);

/*
 * An expression of a rule. cfa: what is on the stack in the beginning; NULL: nothing. Operations:
 * lit, const, breg, plus, minus, and, shl, ge, deref. STEP_CALLER: *out is its value. */
enum step cfi_expression(const uint8_t *bytes, size_t len, const struct registers *r,
                         const uint64_t *cfa, const struct memory *stack, uint64_t *out);

/* From the registers of a frame to those of its caller; untouched unless STEP_CALLER. leaf: as of
 * images_step(). */
enum step cfi_step(const struct machine *machine, const struct cfi_row *row, bool leaf,
                   struct registers *r, const struct memory *stack);

/* Where no row is: of an interrupted frame, the link register has the return address. So it is in
 * .plt, which linkers of aarch64 give no CFI. STEP_NO_RULE: another frame, or another machine. */
enum step cfi_step_link(const struct machine *machine, bool leaf, struct registers *r);

/* Likewise of the frame that the kernel makes for a signal, known by machine->signal_code, to the
 * interrupted one. STEP_NO_RULE: another frame. */
enum step cfi_step_signal(const struct machine *machine, struct registers *r,
                          const struct memory *memory);

#endif
