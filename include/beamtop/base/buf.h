/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growing byte buffer with a cap. Embedded by its owner. Appending past `max` sets `overflow`,
 * drops the bytes and is safe to go on with: check once at the end. */
#ifndef BEAMTOP_BASE_BUF_H
#define BEAMTOP_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/attr.h"

struct buf {
    uint8_t *data; /* not NUL-terminated; see buf_cstr */
    size_t len;
    size_t cap;
    size_t max; /* 0: no cap (only for what we make ourselves) */
    bool overflow;
    bool wiped; /* memory that it gives back is: it may hold a secret */
};

void buf_init(struct buf *b, size_t max);
void buf_init_wiped(struct buf *b);
void buf_clear(struct buf *b);                /* frees; ready for use again with the same max */
void buf_reset(struct buf *b);                /* length 0, memory kept */
void buf_recycle(struct buf *b, size_t keep); /* … where it is at most so many bytes */

void buf_put(struct buf *b, const void *bytes, size_t len);
void buf_put_u8(struct buf *b, uint8_t v);
void buf_put_u16be(struct buf *b, uint16_t v);
void buf_put_u32be(struct buf *b, uint32_t v);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) ATTR_PRINTF(2, 3);
void buf_drop_front(struct buf *b, size_t len); /* len <= b->len */
/* All of it to a blocking descriptor; false: not all, and errno says why. */
bool buf_write(const struct buf *b, int fd);
/* Borrowed until the next call; adds a NUL beyond len. */
const char *buf_cstr(struct buf *b);
/* Owned by the caller, NUL-terminated; b is empty after. */
char *buf_take(struct buf *b);

#endif
