/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"
#include "local/image/image_name.h"
#if defined HAVE_ELFUTILS && defined __x86_64__

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#include "beamtop/base/limits.h"

/* A name of 100 bytes can stand for one of 2^30, and libiberty has no bound: what gives it the
 * pieces leaves it in the middle. What that may lose is one identifier of Rust in punycode. */
struct pieces {
    char text[LIMIT_SYMBOL_BYTES];
    size_t len;
    jmp_buf full;
};

static void piece(const char *bytes, size_t len, void *arg)
{
    struct pieces *p = arg;
    size_t room = sizeof p->text - p->len, take = len < room ? len : room;
    memcpy(p->text + p->len, bytes, take);
    p->len += take;
    if (take < len)
        longjmp(p->full, 1);
}

static bool demangle(struct pieces *p, const char *name)
{
    if (setjmp(p->full) != 0)
        return true; /* truncated */
    return rust_demangle_callback(name, DMGL_NO_OPTS, piece, p) ||
           (p->len = 0, cplus_demangle_v3_callback(name, DMGL_NO_OPTS, piece, p));
}

struct slice image_demangle(struct arena *arena, const char *name)
{
    struct pieces p;
    struct slice all = {name, strnlen(name, LIMIT_SYMBOL_BYTES)};
    p.len = 0;
    if (name[0] == '_' && all.len < LIMIT_SYMBOL_BYTES && demangle(&p, name) && p.len > 0)
        all = (struct slice){p.text, p.len};
    return slice_keep(arena, all);
}

#endif
