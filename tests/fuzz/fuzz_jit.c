/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of a VM from address 4096 on, with the descriptor at 4104: what is read fits, by
 * address, and the same by the scan. */
#include <string.h>

#include "beamtop/local/jit.h"
#include "fuzz.h"

enum { BASE = 4096, DESCRIPTOR = BASE + 8 };

struct bytes {
    const uint8_t *data;
    size_t size;
};

static bool read_bytes(void *arg, uint64_t at, void *out, size_t len)
{
    const struct bytes *b = arg;
    if (at < BASE || len > b->size || at - BASE > b->size - len)
        return false;
    memcpy(out, b->data + (at - BASE), len);
    return true;
}

static void check(const struct jit *j, const struct memory *m)
{
    uint64_t last = 0;
    uint8_t code[48];
    for (size_t i = 0; i < jit_count(j); i++) {
        const struct jit_function *f = jit_function(j, i);
        struct slice file = {NULL, 0};
        uint32_t line = 0;
        FUZZ_REQUIRE(f->start >= last && f->start < f->end && f->name.len > 0);
        FUZZ_REQUIRE(jit_at(j, f->start) == f && jit_at(j, f->end - 1) == f);
        FUZZ_REQUIRE(strlen(f->name.s) <= f->name.len);
        if (jit_line(j, f, f->end - 1, &file, &line))
            FUZZ_REQUIRE(file.s && f->lines > 0);
        (void)jit_code(j, m, f->start, code, sizeof code);
        last = f->end;
    }
    FUZZ_REQUIRE(!jit_changed(j, m));
    FUZZ_REQUIRE(jit_htop_offset(j) < 256 && jit_resume_offset(j) < 2048 &&
                 jit_layout(j) <= JIT_FRAME_POINTERS);
}

static void read_as(const struct machine *machine, const struct memory *m)
{
    struct error err = {0};
    struct jit *j = NULL;
    int rc = jit_read(&j, machine, m, DESCRIPTOR, &err);
    FUZZ_REQUIRE((rc == 0) == (j != NULL) && err.code == (enum err)rc);
    if (j)
        check(j, m);
    jit_free(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    const struct memory m = {read_bytes, &bytes};
    const struct jit_range all = {BASE, BASE + size};
    uint64_t found = jit_scan(&m, &all, 1);
    FUZZ_REQUIRE(found == 0 || (found >= BASE && found + 24 <= BASE + size));
    read_as(&machine_x86_64, &m);
    read_as(&machine_aarch64, &m);
    return 0;
}
