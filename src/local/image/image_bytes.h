/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of DWARF, read from bytes that may end anywhere: little endian, LEB128. */
#ifndef BEAMTOP_LOCAL_IMAGE_BYTES_H
#define BEAMTOP_LOCAL_IMAGE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is beyond the end reads as 0 and sets bad. */
struct image_bytes {
    const uint8_t *at, *end;
    bool bad;
};

static inline size_t image_left(const struct image_bytes *b)
{
    return (size_t)(b->end - b->at);
}

/* The bytes that are passed over; NULL where there are fewer. */
static inline const uint8_t *image_take(struct image_bytes *b, uint64_t len)
{
    const uint8_t *from = b->at;
    if (len > image_left(b)) {
        b->at = b->end;
        b->bad = true;
        return NULL;
    }
    b->at += len;
    return from;
}

static inline uint64_t image_unsigned(struct image_bytes *b, unsigned bytes)
{
    const uint8_t *p = image_take(b, bytes);
    uint64_t v = 0;
    for (unsigned i = 0; p && i < bytes; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static inline uint64_t image_signed(struct image_bytes *b, unsigned bytes)
{
    uint64_t v = image_unsigned(b, bytes), sign = UINT64_C(1) << (8 * bytes - 1);
    return (v ^ sign) - sign;
}

static inline uint64_t image_leb(struct image_bytes *b, bool with_sign)
{
    uint64_t v = 0;
    uint8_t byte = 0x80;
    unsigned shift = 0;
    for (; byte & 0x80 && shift < 70; shift += 7) { /* 10 bytes hold 64 bits */
        byte = (uint8_t)image_unsigned(b, 1);
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
    }
    if (with_sign && (byte & 0x40) && shift < 64)
        v |= ~UINT64_C(0) << shift;
    return v;
}

static inline uint64_t image_uleb(struct image_bytes *b)
{
    return image_leb(b, false);
}

static inline uint64_t image_sleb(struct image_bytes *b)
{
    return image_leb(b, true);
}

#endif
