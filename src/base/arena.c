/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"

enum {
    FIRST_BLOCK_BYTES = 4096,
    LARGEST_BLOCK_BYTES = 256 * 1024, /* they double up to here; a larger wish has its own */
};

struct arena_block {
    struct arena_block *next;
    size_t size; /* bytes after the header */
    size_t used;
    max_align_t data[];
};

void arena_init(struct arena *a)
{
    a->head = NULL;
    a->used_bytes = 0;
}

static void free_chain(struct arena_block *b)
{
    while (b) {
        struct arena_block *next = b->next;
        free(b);
        b = next;
    }
}

void arena_clear(struct arena *a)
{
    free_chain(a->head);
    arena_init(a);
}

void arena_reset(struct arena *a)
{
    if (!a->head || a->head->size > LARGEST_BLOCK_BYTES) {
        arena_clear(a);
        return;
    }
    a->used_bytes = 0;
    /* The newest block is the largest of the doubling ones: the next round likely fits in it. */
    free_chain(a->head->next);
    a->head->next = NULL;
    a->head->used = 0;
}

static struct arena_block *add_block(struct arena *a, size_t bytes)
{
    size_t size = a->head ? a->head->size * 2 : FIRST_BLOCK_BYTES;
    if (size > LARGEST_BLOCK_BYTES)
        size = LARGEST_BLOCK_BYTES;
    if (size < bytes)
        size = bytes;
    assert(size < SIZE_MAX - sizeof(struct arena_block));
    struct arena_block *b = alloc_resize(NULL, sizeof(*b) + size, 1);
    b->next = a->head;
    b->size = size;
    b->used = 0;
    a->head = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    const size_t align = _Alignof(max_align_t);
    assert(bytes < SIZE_MAX / 2);
    size_t rounded = bytes == 0 ? align : (bytes + align - 1) / align * align;
    struct arena_block *b = a->head;
    if (!b || b->size - b->used < rounded)
        b = add_block(a, rounded);
    char *p = (char *)b->data + b->used;
    b->used += rounded;
    a->used_bytes += rounded;
    return memset(p, 0, rounded);
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
    char *copy = arena_alloc(a, len + 1);
    if (len > 0)
        memcpy(copy, s, len);
    return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    assert(len >= 0);
    char *s = arena_alloc(a, (size_t)len + 1);
    va_start(args, fmt);
    vsnprintf(s, (size_t)len + 1, fmt, args);
    va_end(args);
    return s;
}
