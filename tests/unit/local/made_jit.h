/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of a VM with a list of compiled code, made byte by byte. */
#ifndef BEAMTOP_TESTS_MADE_JIT_H
#define BEAMTOP_TESTS_MADE_JIT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/local/memory.h"

#define MADE_BASE UINT64_C(0x10000) /* where it is mapped */

enum { MADE_DESCRIPTOR = 8 }; /* offset of the head */

struct made {
    struct buf bytes;
    uint64_t last; /* address of the entry before; 0: none */
    unsigned reads;
    /* Called before each read, when it is set: what changes under the reader. */
    void (*before)(struct made *made, uint64_t at);
};

static inline void made_u64(struct buf *b, uint64_t v)
{
    buf_put(b, &v, sizeof v);
}

static inline void made_u32(struct buf *b, uint32_t v)
{
    buf_put(b, &v, sizeof v);
}

static inline void made_u16(struct buf *b, uint16_t v)
{
    buf_put(b, &v, sizeof v);
}

static inline void made_set(struct made *made, uint64_t address, const void *v, size_t len)
{
    memcpy(made->bytes.data + (address - MADE_BASE), v, len);
}

static inline void made_set_u64(struct made *made, uint64_t address, uint64_t v)
{
    made_set(made, address, &v, sizeof v);
}

static inline uint64_t made_here(const struct made *made)
{
    return MADE_BASE + made->bytes.len;
}

static inline bool made_read(void *arg, uint64_t at, void *out, size_t len)
{
    struct made *made = arg;
    made->reads++;
    if (made->before)
        made->before(made, at);
    if (at < MADE_BASE || len > made->bytes.len || at - MADE_BASE > made->bytes.len - len)
        return false;
    memcpy(out, made->bytes.data + (at - MADE_BASE), len);
    return true;
}

static inline struct memory made_memory(struct made *made)
{
    return (struct memory){made_read, made};
}

static inline void made_begin(struct made *made)
{
    *made = (struct made){0};
    buf_init(&made->bytes, 0);
    made_u64(&made->bytes, 0);
    made_u32(&made->bytes, 1);
    made_u32(&made->bytes, 0);
    made_u64(&made->bytes, 0);
    made_u64(&made->bytes, 0);
}

/* The next entry, older than those before: its bytes follow. Returns its address. */
static inline uint64_t made_entry(struct made *made, uint64_t size)
{
    while (made->bytes.len % 8 != 0)
        buf_put_u8(&made->bytes, 0);
    uint64_t at = made_here(made);
    made_set_u64(made, made->last ? made->last : MADE_BASE + MADE_DESCRIPTOR + 16, at);
    made_u64(&made->bytes, 0);
    made_u64(&made->bytes, made->last);
    made_u64(&made->bytes, at + 32);
    made_u64(&made->bytes, size);
    made->last = at;
    return at;
}

/* When all bytes of the last entry are there. */
static inline void made_end(struct made *made)
{
    made_set_u64(made, made->last + 24, made_here(made) - made->last - 32);
}

static inline void made_emulator(struct made *made, uint32_t layout, uint64_t normal_exit)
{
    made_entry(made, 24);
    made_u64(&made->bytes, 0);
    made_u64(&made->bytes, layout);
    made_u64(&made->bytes, normal_exit);
}

static inline void made_text(struct buf *b, const char *text, size_t padding)
{
    static const char zero[8];
    buf_put(b, text, strlen(text) + 1);
    buf_put(b, zero, padding);
}

/* A module with so many ranges to follow. */
static inline uint64_t made_module(struct made *made, uint64_t base, uint32_t ranges, uint32_t code)
{
    uint64_t at = made_entry(made, 0);
    made_u64(&made->bytes, 1);
    made_u64(&made->bytes, base);
    made_u32(&made->bytes, ranges);
    made_u32(&made->bytes, code);
    made_u16(&made->bytes, 2);
    made_text(&made->bytes, "m", 6);
    return at;
}

static inline void made_range(struct made *made, uint32_t start, uint32_t end, uint32_t lines,
                              const char *name)
{
    made_u32(&made->bytes, start);
    made_u32(&made->bytes, end);
    made_u32(&made->bytes, lines);
    made_u16(&made->bytes, (uint16_t)(strlen(name) + 1));
    made_text(&made->bytes, name, 2);
}

static inline void made_line(struct made *made, uint32_t start, uint32_t line, const char *file)
{
    made_u32(&made->bytes, start);
    made_u32(&made->bytes, line);
    made_u16(&made->bytes, (uint16_t)(strlen(file) + 1));
    made_text(&made->bytes, file, 2);
}

/* Two modules, the shared fragments and the emulator, as a VM has them. The code of the fragments
   is there, from `code` on. */
static inline uint64_t made_good(struct made *made, uint32_t layout)
{
    static const uint8_t stores[] = {0x90, 0x41, 0x0f, 0x11, 0x45, 80, 0xc3, 0x90};
    made_begin(made);
    uint64_t code = made_here(made);
    buf_put(&made->bytes, "\x90\x90\x90\x90\x90\x90\x90\x90", 8);
    buf_put(&made->bytes, stores, sizeof stores);
    made_module(made, 0x7f0000002000, 3, 0x300);
    made_range(made, 0, 0x10, 0, "b::codeHeader");
    made_range(made, 0x10, 0x20, 0, "b:f/1-CodeInfoPrologue");
    made_range(made, 0x20, 0x80, 1, "b:f/1");
    made_line(made, 0x20, 7, "b.erl");
    made_end(made);
    made_module(made, 0x7f0000001000, 2, 0x200);
    made_range(made, 0x10, 0x100, 3, "a:f/1");
    made_line(made, 0x10, 3, "src/a.erl");
    made_line(made, 0x40, 5, "src/a.erl");
    made_line(made, 0x100, 9, "src/a.erl"); /* that of the next head, as OTP 25 has it */
    made_range(made, 0x100, 0x200, 1, "a:g/0");
    made_line(made, 0x120, 11, "a.hrl");
    made_end(made);
    made_module(made, code, 2, 16);
    made_range(made, 0, 8, 0, "global::apply_fun_shared");
    made_range(made, 8, 16, 0, "global::bs_create_bin_error_shared");
    made_end(made);
    made_emulator(made, layout, 0x7f0000000030);
    return code;
}

#endif
