/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/local/jit.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "jit_internal.h"

void jit_free(struct jit *j)
{
    if (!j)
        return;
    arena_clear(&j->texts);
    free(j->functions);
    free(j->lines);
    free(j->files);
    free(j);
}

/* ---- by address */

/* Where two start at one address, the newer is first, as it is in the list. */
static int by_code_start(const void *a, const void *b)
{
    const struct jit_function *x = *(const struct jit_function *const *)a;
    const struct jit_function *y = *(const struct jit_function *const *)b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x > y) - (x < y);
}

/*
 * What overlaps a newer one is old code, of which the VM has given the memory to other code: all
 * of it goes. OTP 25 never takes such code off its list. */
void jit_settle(struct jit *j)
{
    const struct jit_function **kept = alloc_zero(j->count + 1, sizeof *kept);
    struct jit_function *settled = alloc_zero(j->count + 1, sizeof *settled);
    size_t n = 0;
    for (size_t i = 0; i < j->count; i++)
        kept[i] = &j->functions[i];
    qsort(kept, j->count, sizeof *kept, by_code_start);
    for (size_t i = 0; i < j->count; i++) {
        bool overlaps = n > 0 && kept[n - 1]->end > kept[i]->start;
        if (overlaps && kept[n - 1] < kept[i])
            continue;
        n -= overlaps;
        kept[n++] = kept[i];
    }
    for (size_t i = 0; i < n; i++)
        settled[i] = *kept[i];
    free(kept);
    free(j->functions);
    j->functions = settled;
    j->count = n;
}

size_t jit_count(const struct jit *j)
{
    return j->count;
}

const struct jit_function *jit_function(const struct jit *j, size_t i)
{
    return &j->functions[i];
}

const struct jit_function *jit_at(const struct jit *j, uint64_t address)
{
    size_t from = 0, to = j->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const struct jit_function *f = &j->functions[middle];
        if (address >= f->start && address < f->end)
            return f;
        if (address < f->start)
            to = middle;
        else
            from = middle + 1;
    }
    return NULL;
}

bool jit_line(const struct jit *j, const struct jit_function *f, uint64_t address,
              struct slice *file, uint32_t *line)
{
    const struct jit_line *found = NULL;
    for (uint32_t i = 0; i < f->lines; i++) {
        const struct jit_line *l = &j->lines[f->first_line + i];
        if (f->start + l->start <= address && (!found || l->start >= found->start))
            found = l;
    }
    if (!found)
        return false;
    *file = j->files[found->file];
    *line = found->line;
    return true;
}

bool jit_first_line(const struct jit *j, const struct jit_function *f, struct slice *file,
                    uint32_t *line)
{
    const struct jit_line *first = NULL;
    for (uint32_t i = 0; i < f->lines; i++) {
        const struct jit_line *l = &j->lines[f->first_line + i];
        if (!first || l->start < first->start)
            first = l;
    }
    return first && jit_line(j, f, f->start + first->start, file, line);
}

/* ---- the code */

bool jit_code(const struct jit *j, const struct memory *m, uint64_t address, void *out, size_t len)
{
    const struct jit_function *f = jit_at(j, address);
    const struct jit_function *end = j->functions + j->count;
    if (!f || len > MACHINE_ADDRESSES)
        return false;
    while (f->end < address + len)
        if (f + 1 == end || f[1].start != f->end)
            return false;
        else
            f++;
    return memory_read(m, address, out, len);
}

/* Shared fragments store htop and stop side by side; with frame pointers, stop and the frame
   pointer behind it. */
void jit_find_htop(struct jit *j, const struct memory *m)
{
    uint8_t *code = alloc_zero(LIMIT_JIT_CODE_BYTES, 1);
    uint32_t found = 0;
    size_t left = LIMIT_JIT_SCAN_BYTES / LIMIT_JIT_CODE_BYTES;
    for (size_t i = 0; i < j->count && found == 0 && left > 0; i++) {
        const struct jit_function *f = &j->functions[i];
        uint64_t len = f->end - f->start;
        if (!f->global || len > LIMIT_JIT_CODE_BYTES)
            continue;
        left--;
        if (memory_read(m, f->start, code, (size_t)len))
            found = j->machine->find_htop(code, (size_t)len);
    }
    free(code);
    if (found != 0)
        j->htop_offset = found - (j->layout == JIT_FRAME_POINTERS ? 8 : 0);
}

void jit_find_resume(struct jit *j, const struct memory *m)
{
    for (size_t i = 0; i < j->count; i++) {
        const struct jit_function *f = &j->functions[i];
        const uint64_t len = f->end - f->start;
        if (!f->global || len > LIMIT_JIT_CODE_BYTES || !slice_is(f->name, "global::process_main"))
            continue;
        uint8_t *code = alloc_zero(len + 1, 1);
        if (memory_read(m, f->start, code, (size_t)len))
            j->resume_offset = j->machine->find_resume(code, (size_t)len);
        if (j->resume_offset % 8 != 0 || j->resume_offset >= JIT_PROCESS_BYTES)
            j->resume_offset = 0;
        free(code);
        return;
    }
}

/* ---- what holds for all */

bool jit_changed(const struct jit *j, const struct memory *m)
{
    struct jit_descriptor d;
    struct jit_entry newest;
    return !jit_head_read(m, j->descriptor, &d, &newest) || d.first != j->first ||
           newest.next != j->newest.next || newest.symfile != j->newest.symfile ||
           newest.symfile_size != j->newest.symfile_size;
}

enum jit_layout jit_layout(const struct jit *j)
{
    return j->layout;
}

uint32_t jit_htop_offset(const struct jit *j)
{
    return j->htop_offset;
}

uint32_t jit_resume_offset(const struct jit *j)
{
    return j->resume_offset;
}

uint64_t jit_normal_exit(const struct jit *j)
{
    return j->normal_exit;
}
