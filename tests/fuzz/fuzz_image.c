/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file with code: its symbols, and steps from several places. */
#include "config.h"
#include "fuzz.h"
#include "beamtop/local/machine.h"

#if defined HAVE_ELFUTILS && defined MACHINE_IS_SAMPLED
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "beamtop/base/arena.h"
#include "local/image/image_file.h"
#include "local/image/image_name.h"

enum { BUDGET = 8 * 1024 * 1024, STEPS = 32, PLACES = 64 };

/* A stack whose words are addresses of the file. */
static bool read_stack(void *arg, uint64_t at, void *out, size_t len)
{
    const struct cfi *c = arg;
    uint64_t word = at;
    if (c->n_fdes > 0)
        word = c->fdes[at / 8 % c->n_fdes].start + at % 16;
    memset(out, 0, len);
    memcpy(out, &word, len < sizeof word ? len : sizeof word);
    return at % 4096 != 0;
}

static void steps(struct image_file *f, uint64_t pc)
{
    const struct memory m = {read_stack, &f->cfi};
    struct cfi_row row;
    const struct machine *machine = f->machine;
    const uint64_t all = (UINT64_C(1) << machine->n_registers) - 1;
    struct registers r = {.known = all};
    for (size_t i = 0; i < REGISTERS; i++)
        r.value[i] = 0x7fff00000008 + 16 * i;
    r.value[machine->pc] = pc;
    for (int i = 0; i < STEPS && cfi_row(&f->cfi, r.value[machine->pc], &row); i++) {
        const struct registers before = r;
        if (cfi_step(machine, &row, i == 0, &r, &m) != STEP_CALLER) {
            FUZZ_REQUIRE(memcmp(&before, &r, sizeof r) == 0);
            break;
        }
        FUZZ_REQUIRE((r.known & ~all) == 0 && registers_know(&r, machine->pc));
    }
}

static void symbols(struct image_file *f)
{
    struct arena a;
    unsigned slow = 1;
    arena_init(&a);
    for (size_t i = 0; i < f->n_names && i < PLACES; i++) {
        const struct image_name *n = image_name_at(f, f->names[i].start);
        FUZZ_REQUIRE(n && f->names[i].start - n->start < n->size);
        struct slice s = image_demangle(&a, n->name.s, &slow);
        FUZZ_REQUIRE(s.len > 0 && s.len <= LIMIT_SYMBOL_BYTES);
        FUZZ_REQUIRE(i == 0 || f->names[i - 1].start < f->names[i].start);
    }
    arena_clear(&a);
    image_symbol_find(f, "main");
    image_names_cover(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_file f = {0};
    uint64_t budget = BUDGET, bias = 0;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    if (image_file_read(&f, fd, &budget)) {
        FUZZ_REQUIRE(budget <= BUDGET && f.n_segments <= LIMIT_IMAGE_SEGMENTS);
        symbols(&f);
        for (size_t i = 0; i < f.cfi.n_fdes && i < PLACES; i++) {
            const struct cfi_fde *fde = &f.cfi.fdes[i];
            FUZZ_REQUIRE(fde->start < fde->end);
            steps(&f, fde->start);
            steps(&f, fde->start + (fde->end - fde->start) / 2);
            steps(&f, fde->end - 1);
        }
        image_file_bias(&f, 0x7fff00000000, size > 0 ? data[size - 1] * 4096u : 0, &bias);
        for (size_t i = 0; image_file_needed(&f, i).len > 0; i++)
            FUZZ_REQUIRE(i < LIMIT_IMAGE_DYNAMIC);
    }
    image_file_clear(&f);
    close(fd);
    return 0;
}
#else
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    return 0;
}
#endif
