/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Registers and memory of an emulated VM, as they were at some moments (tests/unit/local/aarch64-*;
 * docs/testing.md says how they were made). A file is a row of records: a letter, an address (u64)
 * and a length (u32), little-endian, then bytes. `E`: CFI, as .eh_frame at that address. `N`: a
 * moment begins, its name. `M`: memory, of all moments before the first `N`, else of that moment.
 * `S`: 33 registers in DWARF's order, then the native stack from the stack pointer up.
 *
 * Here are also images.h's questions that stack.c asks, answered from the CFI: no file is mapped.
 */
#ifndef TESTS_UNIT_LOCAL_RECORDED_H
#define TESTS_UNIT_LOCAL_RECORDED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/alloc.h"
#include "local/image/image_cfi.h"
#include "local/sampler/stack.h"

enum { RECORDED_BLOCKS = 4096, RECORDED_MOMENTS = 16, RECORDED_HEAD = 13 };

/* Where the list of compiled code is in each file. */
#define RECORDED_LIST UINT64_C(0x10000)

struct recorded_block {
    uint64_t at;
    const uint8_t *bytes;
    uint32_t len;
    int moment; /* 0: of all */
};

struct images {
    struct cfi cfi[8];
    size_t n;
};

struct recorded {
    uint8_t *bytes;
    struct recorded_block blocks[RECORDED_BLOCKS];
    size_t n;
    struct images images;
    struct slice names[RECORDED_MOMENTS];
    struct perf_sample samples[RECORDED_MOMENTS];
    int moments, now;
};

static inline bool recorded_read(void *arg, uint64_t at, void *out, size_t len)
{
    const struct recorded *r = arg;
    for (size_t i = 0; i < r->n; i++) {
        const struct recorded_block *b = &r->blocks[i];
        if ((b->moment == 0 || b->moment == r->now) && at >= b->at && len <= b->len &&
            at - b->at <= b->len - len) {
            memcpy(out, b->bytes + (at - b->at), len);
            return true;
        }
    }
    return false;
}

static inline uint64_t recorded_number(const uint8_t *at, size_t len)
{
    uint64_t v = 0;
    for (size_t i = 0; i < len; i++)
        v |= (uint64_t)at[i] << 8 * i;
    return v;
}

static inline void recorded_take(struct recorded *r, char kind, uint64_t at, const uint8_t *bytes,
                                 uint32_t len)
{
    struct perf_sample *s = &r->samples[r->moments];
    const size_t registers = (size_t)machine_aarch64.n_registers * 8;
    switch (kind) {
    case 'E':
        cfi_read(&r->images.cfi[r->images.n++], &machine_aarch64, bytes, len, at);
        break;
    case 'N':
        r->names[++r->moments] = (struct slice){(const char *)bytes, len};
        break;
    case 'M':
        r->blocks[r->n++] = (struct recorded_block){at, bytes, len, r->moments};
        break;
    default:
        for (size_t i = 0; i < machine_aarch64.n_registers; i++)
            s->registers.value[i] = recorded_number(bytes + 8 * i, 8);
        s->registers.known = machine_aarch64.perf_registers;
        s->stack = bytes + registers;
        s->stack_len = len - registers;
    }
}

static inline struct recorded *recorded_open(const char *name)
{
    char path[1024];
    const char *top = getenv("BEAMTOP_SRCDIR");
    snprintf(path, sizeof path, "%.900s/tests/unit/local/%.60s", top ? top : ".", name);
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot open %s", path);
    struct recorded *r = alloc_zero(1, sizeof *r);
    r->bytes = alloc_zero(1, 1024 * 1024);
    const size_t len = fread(r->bytes, 1, 1024 * 1024, f);
    fclose(f);
    for (size_t at = 0; at + RECORDED_HEAD <= len;) {
        const uint8_t *head = r->bytes + at;
        const uint32_t size = (uint32_t)recorded_number(head + 9, 4);
        recorded_take(r, (char)head[0], recorded_number(head + 1, 8), head + RECORDED_HEAD, size);
        at += RECORDED_HEAD + size;
    }
    return r;
}

static inline void recorded_close(struct recorded *r)
{
    for (size_t i = 0; i < r->images.n; i++)
        cfi_clear(&r->images.cfi[i]);
    free(r->bytes);
    free(r);
}

/* ---- images.h */

bool images_symbol(struct images *i, uint64_t address, struct image_symbol *out)
{
    (void)i;
    (void)address;
    *out = (struct image_symbol){.kind = FRAME_UNKNOWN};
    return false;
}

enum step images_step(struct images *i, struct registers *r, bool *leaf, const struct memory *stack)
{
    const struct machine *machine = &machine_aarch64;
    const uint64_t at = r->value[machine->pc] - (*leaf ? 0 : 1);
    struct cfi_row row;
    for (size_t k = 0; k < i->n; k++)
        if (cfi_row(&i->cfi[k], at, &row)) {
            const enum step s = cfi_step(machine, &row, *leaf, r, stack);
            *leaf = s == STEP_CALLER ? row.signal : *leaf;
            return s;
        }
    const enum step s = cfi_step_link(machine, *leaf, r);
    *leaf = *leaf && s != STEP_CALLER;
    return s;
}

#endif
