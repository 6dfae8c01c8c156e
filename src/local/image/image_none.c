/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where libelf is missing, or the machine is of another kind: images.h that opens nothing. */
#include "config.h"
#include "beamtop/local/images.h"
#include "local/image/image_name.h"

#if !defined HAVE_ELFUTILS || !defined MACHINE_IS_SAMPLED
int images_open(struct images **out, pid_t pid, struct error *err)
{
    (void)pid;
    *out = NULL;
#ifndef MACHINE_IS_SAMPLED
    return error_set(err, ERR_REFUSED,
                     "native functions are found only on x86-64 and aarch64: this beamtop is for "
                     "another architecture");
#else
    return error_set(
        err, ERR_REFUSED,
        "this beamtop was built without elfutils: install libelf-dev and libiberty-dev "
        "(Fedora: elfutils-libelf-devel binutils-devel), then configure and build it "
        "again");
#endif
}

void images_parse(struct images *i, const struct memory *m)
{
    (void)i;
    (void)m;
}

void images_free(struct images *i)
{
    (void)i;
}

bool images_changed(const struct images *i)
{
    (void)i;
    return false;
}

bool images_symbol(struct images *i, uint64_t address, struct image_symbol *out)
{
    (void)i;
    (void)address;
    *out = (struct image_symbol){.kind = FRAME_UNKNOWN};
    return false;
}

struct slice image_demangle(struct arena *arena, const char *name, unsigned *slow)
{
    (void)slow;
    return slice_keep(arena, slice_of(name));
}

uint64_t images_find(struct images *i, const char *name)
{
    (void)i;
    (void)name;
    return 0;
}

size_t images_writable(const struct images *i, struct jit_range *out, size_t size)
{
    (void)i;
    (void)out;
    (void)size;
    return 0;
}

bool images_is_denied(const struct images *i)
{
    (void)i;
    return false;
}

bool images_has_symbols(const struct images *i)
{
    (void)i;
    return false;
}

bool images_is_stripped(const struct images *i)
{
    (void)i;
    return true;
}

enum step images_step(struct images *i, struct registers *r, bool *leaf, const struct memory *stack)
{
    (void)i;
    (void)r;
    (void)leaf;
    (void)stack;
    return STEP_NO_IMAGE;
}
#endif
