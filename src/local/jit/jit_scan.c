/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The head of the list, found by its form: OTP 29 of Debian hides the symbol. */
#include <string.h>

#include "beamtop/base/limits.h"
#include "jit_internal.h"

enum { CHUNK_BYTES = 64 * 1024, HEAD_BYTES = sizeof(struct jit_descriptor), STEP_BYTES = 8 };

struct scan {
    const struct memory *m;
    size_t bytes, candidates; /* that may still be looked at */
};

bool jit_plausible(uint64_t address)
{
    return address >= 4096 && address < MACHINE_ADDRESSES && address % 8 == 0;
}

bool jit_size_fits(uint64_t symfile_size)
{
    return symfile_size >= 16 && symfile_size < LIMIT_JIT_ENTRY_BYTES;
}

bool jit_head_read(const struct memory *m, uint64_t at, struct jit_descriptor *d,
                   struct jit_entry *newest)
{
    *newest = (struct jit_entry){0};
    return memory_read(m, at, d, sizeof *d) && d->version == 1 && d->action <= 2 &&
           (d->first == 0 ||
            (jit_plausible(d->first) && memory_read(m, d->first, newest, sizeof *newest)));
}

/* The newest entry's `prev` is not checked: OTP 25 does not set it. */
static bool is_list(const struct memory *m, uint64_t first)
{
    struct jit_entry newest, second;
    uint32_t kind = 0;
    return memory_read(m, first, &newest, sizeof newest) && jit_plausible(newest.next) &&
           memory_read(m, newest.next, &second, sizeof second) && second.prev == first &&
           jit_size_fits(newest.symfile_size) &&
           memory_read(m, newest.symfile, &kind, sizeof kind) && kind <= 1;
}

/* The offset of a descriptor in the bytes; SIZE_MAX: none. */
static size_t scan_bytes(struct scan *s, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i + HEAD_BYTES <= len; i += STEP_BYTES) {
        struct jit_descriptor d;
        memcpy(&d, bytes + i, sizeof d);
        if (d.version != 1 || d.action > 2 || !jit_plausible(d.first))
            continue;
        if (s->candidates == 0)
            return SIZE_MAX;
        s->candidates--;
        if (is_list(s->m, d.first))
            return i;
    }
    return SIZE_MAX;
}

/* Chunks overlap, so that each descriptor is whole in one of them. */
static uint64_t scan_range(struct scan *s, const struct jit_range *range)
{
    uint8_t bytes[CHUNK_BYTES];
    uint64_t at = (range->start + STEP_BYTES - 1) & ~(uint64_t)(STEP_BYTES - 1);
    while (at < range->end && range->end - at >= HEAD_BYTES && s->bytes >= HEAD_BYTES) {
        size_t len = range->end - at < sizeof bytes ? (size_t)(range->end - at) : sizeof bytes;
        len = len < s->bytes ? len : s->bytes;
        s->bytes -= len;
        size_t found =
            memory_read(s->m, at, bytes, len) ? scan_bytes(s, bytes, len) : (size_t)SIZE_MAX;
        if (found != SIZE_MAX)
            return at + found;
        if (len < sizeof bytes)
            break;
        at += len - HEAD_BYTES + STEP_BYTES;
    }
    return 0;
}

uint64_t jit_scan(const struct memory *m, const struct jit_range *ranges, size_t n)
{
    struct scan s = {m, LIMIT_JIT_SCAN_BYTES, LIMIT_JIT_CANDIDATES};
    uint64_t found = 0;
    for (size_t i = 0; i < n && found == 0; i++)
        found = scan_range(&s, &ranges[i]);
    return found;
}
