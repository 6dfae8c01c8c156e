/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/buf.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"

enum { FIRST_BYTES = 64 };

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_init_wiped(struct buf *b)
{
    *b = (struct buf){.wiped = true};
}

void buf_clear(struct buf *b)
{
    if (b->wiped)
        alloc_free_wiped(b->data, b->cap);
    else
        free(b->data);
    *b = (struct buf){.max = b->max, .wiped = b->wiped};
}

void buf_reset(struct buf *b)
{
    b->len = 0;
    b->overflow = false;
}

void buf_recycle(struct buf *b, size_t keep)
{
    if (b->cap > keep)
        buf_clear(b);
    else
        buf_reset(b);
}

/* Makes room for more bytes and a NUL beyond them; false past the cap. */
static bool reserve_bytes(struct buf *b, size_t more)
{
    if (b->overflow)
        return false;
    if (b->max > 0 && more > b->max - b->len) {
        b->overflow = true;
        return false;
    }
    assert(more < SIZE_MAX / 4 && b->len < SIZE_MAX / 4);
    size_t need = b->len + more + 1;
    if (need <= b->cap)
        return true;
    size_t cap = b->cap > 0 ? b->cap * 2 : FIRST_BYTES;
    if (cap < need)
        cap = need;
    b->data = b->wiped ? alloc_resize_wiped(b->data, b->cap, cap) : alloc_resize(b->data, cap, 1);
    b->cap = cap;
    return true;
}

void buf_put(struct buf *b, const void *bytes, size_t len)
{
    if (!reserve_bytes(b, len) || len == 0)
        return;
    memcpy(b->data + b->len, bytes, len);
    b->len += len;
}

void buf_put_u8(struct buf *b, uint8_t v)
{
    buf_put(b, &v, 1);
}

void buf_put_u16be(struct buf *b, uint16_t v)
{
    uint8_t bytes[2] = {(uint8_t)(v >> 8), (uint8_t)v};
    buf_put(b, bytes, sizeof(bytes));
}

void buf_put_u32be(struct buf *b, uint32_t v)
{
    uint8_t bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(v >> (24 - 8 * i));
    buf_put(b, bytes, sizeof(bytes));
}

void buf_puts(struct buf *b, const char *s)
{
    buf_put(b, s, strlen(s));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    assert(n >= 0);
    size_t len = (size_t)n;
    if (!reserve_bytes(b, len))
        return;
    va_start(args, fmt);
    vsnprintf((char *)b->data + b->len, len + 1, fmt, args);
    va_end(args);
    b->len += len;
}

void buf_drop_front(struct buf *b, size_t len)
{
    assert(len <= b->len);
    if (len == 0)
        return;
    memmove(b->data, b->data + len, b->len - len);
    b->len -= len;
}

bool buf_write(const struct buf *b, int fd)
{
    for (size_t done = 0; done < b->len;) {
        const ssize_t n = write(fd, b->data + done, b->len - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

const char *buf_cstr(struct buf *b)
{
    if (!b->data) {
        b->data = alloc_zero(FIRST_BYTES, 1);
        b->cap = FIRST_BYTES;
    }
    b->data[b->len] = '\0'; /* reserve_bytes() leaves room for it */
    return (const char *)b->data;
}

char *buf_take(struct buf *b)
{
    buf_cstr(b);
    char *s = (char *)b->data;
    buf_init(b, b->max);
    return s;
}
