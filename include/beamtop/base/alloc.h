/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocation of our own sizes: aborts with a message when memory is out, so no caller checks. Sizes
 * that come from the wire or a file pass a cap of base/limits.h first. */
#ifndef BEAMTOP_BASE_ALLOC_H
#define BEAMTOP_BASE_ALLOC_H

#include <stddef.h>

#include "beamtop/base/attr.h"

/* Zeroed. Overflow of the product aborts, here and below. */
void *alloc_zero(size_t count, size_t size) ATTR_MUST_USE;
/* As realloc: the new part is not zeroed. */
void *alloc_resize(void *old, size_t count, size_t size) ATTR_MUST_USE;
/* Room for element n of an array that has grown only by this, from NULL on. */
void *alloc_grow(void *old, size_t n, size_t size) ATTR_MUST_USE;
/* Of what must not stay in memory: as alloc_resize() from so many bytes to others, and as free().
 * Both wipe what they give back. */
void *alloc_resize_wiped(void *old, size_t old_bytes, size_t bytes) ATTR_MUST_USE;
void alloc_free_wiped(void *p, size_t bytes); /* NULL is fine */
char *alloc_strdup(const char *s) ATTR_MUST_USE;
/* Copies exactly len bytes and adds NUL. */
char *alloc_strndup(const char *s, size_t len) ATTR_MUST_USE;
char *alloc_printf(const char *fmt, ...) ATTR_PRINTF(1, 2) ATTR_MUST_USE;

/* Says that memory is out and aborts: for libraries that report it. */
void alloc_fail(void) ATTR_NORETURN;

#endif
