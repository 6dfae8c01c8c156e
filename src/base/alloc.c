/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/alloc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The one place below app/ that prints: there is nothing to go on with. */
void alloc_fail(void)
{
    fputs("beamtop: out of memory\n", stderr);
    abort();
}

void *alloc_zero(size_t count, size_t size)
{
    if (count == 0 || size == 0)
        count = size = 1;
    void *p = calloc(count, size); /* checks the product itself */
    if (!p)
        alloc_fail();
    return p;
}

void *alloc_resize(void *old, size_t count, size_t size)
{
    if (size > 0 && count > SIZE_MAX / size)
        alloc_fail();
    size_t bytes = count * size;
    void *p = realloc(old, bytes > 0 ? bytes : 1);
    if (!p)
        alloc_fail();
    return p;
}

void *alloc_grow(void *old, size_t n, size_t size)
{
    return n & (n - 1) ? old : alloc_resize(old, n > 0 ? 2 * n : 1, size);
}

void *alloc_resize_wiped(void *old, size_t old_bytes, size_t bytes)
{
    void *p = alloc_resize(NULL, bytes, 1);
    if (old)
        memcpy(p, old, old_bytes < bytes ? old_bytes : bytes);
    alloc_free_wiped(old, old_bytes);
    return p;
}

void alloc_free_wiped(void *p, size_t bytes)
{
    if (p)
        explicit_bzero(p, bytes);
    free(p);
}

char *alloc_strdup(const char *s)
{
    return alloc_strndup(s, strlen(s));
}

char *alloc_strndup(const char *s, size_t len)
{
    if (len == SIZE_MAX)
        alloc_fail();
    char *copy = alloc_resize(NULL, len + 1, 1);
    if (len > 0)
        memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *alloc_printf(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    assert(len >= 0);
    char *s = alloc_resize(NULL, (size_t)len + 1, 1);
    va_start(args, fmt);
    vsnprintf(s, (size_t)len + 1, fmt, args);
    va_end(args);
    return s;
}
