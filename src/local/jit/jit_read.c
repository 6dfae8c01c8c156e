/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The walk over the list. Every number of it comes from the other process, and may have been torn:
 * an entry that does not fit ends the walk with ERR_FORMAT, and it is made again. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "jit_internal.h"

/*
 * What an entry points to is packed: a number of 32 bits says its kind, at 8 its content begins.
 * Structures end with a text, and the next one begins where their size as C has it, and the text,
 * end. */
enum {
    KIND_EMULATOR = 0,
    EMULATOR_LAYOUT = 8, /* u32 */
    EMULATOR_EXIT = 16,  /* u64 */
    EMULATOR_BYTES = 24,

    KIND_MODULE = 1,
    MODULE_BASE = 8,      /* u64 */
    MODULE_RANGES = 16,   /* u32 */
    MODULE_CODE = 20,     /* u32: bytes of code */
    MODULE_NAME_LEN = 24, /* u16 */
    MODULE_BYTES = 32,

    RANGE_START = 0, /* u32: offset to the base */
    RANGE_END = 4,
    RANGE_LINES = 8,
    RANGE_NAME_LEN = 12, /* u16: with its NUL */
    RANGE_NAME = 14,
    RANGE_BYTES = 16,

    LINE_START = 0, /* u32: offset to the base */
    LINE_LINE = 4,
    LINE_FILE_LEN = 8, /* u16 */
    LINE_FILE = 10,
    LINE_BYTES = 12,
};

struct symfile {
    const uint8_t *bytes;
    size_t len, at;
    uint64_t base;
    uint32_t code_size;
};

struct walk {
    struct jit *j;
    const struct memory *m;
    uint8_t *bytes; /* of one entry */
    size_t capacity, total;
    struct error *err;
};

/* ---- numbers and errors */

static uint16_t u16_at(const uint8_t *at)
{
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

static uint32_t u32_at(const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

static uint64_t u64_at(const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

static int fail_torn(struct walk *w)
{
    return error_set(w->err, ERR_FORMAT,
                     "the VM's list of compiled code did not fit in any of %d walks: code is being "
                     "loaded, or its form is unknown. Try again",
                     LIMIT_JIT_WALKS);
}

static int too_much(struct walk *w, const char *what, unsigned long most)
{
    return error_set(w->err, ERR_LIMIT, "the VM's list of compiled code has more than %lu %s", most,
                     what);
}

/* The text of a structure, without the NUL at its end; at moves to what follows it. */
static bool take_struct_text(struct symfile *s, size_t len_at, size_t text_at, size_t size,
                             struct slice *out)
{
    size_t len = u16_at(s->bytes + s->at + len_at);
    if (s->len - s->at < size || s->len - s->at - size < len)
        return false;
    *out = (struct slice){(const char *)s->bytes + s->at + text_at, len};
    while (out->len > 0 && out->s[out->len - 1] == '\0')
        out->len--;
    s->at += size + len;
    return true;
}

/* ---- what an entry points to */

/* Lines follow each other by files, so only the last one is compared. */
static uint32_t file_index(struct jit *j, struct slice file)
{
    if (j->n_files > 0 && slice_equal(j->files[j->n_files - 1], file))
        return (uint32_t)j->n_files - 1;
    j->files = alloc_grow(j->files, j->n_files, sizeof *j->files);
    j->files[j->n_files] = slice_keep(&j->texts, file);
    return (uint32_t)j->n_files++;
}

/* The record of a function's head stands before its code: it holds from the first instruction on,
 * and where the body is on the same line there is no other. On OTP 25 the function before may end
 * with it: there it is not kept. */
static int take_line(struct walk *w, struct symfile *s, struct jit_function *f)
{
    struct jit *j = w->j;
    struct slice file;
    if (s->len - s->at < LINE_BYTES)
        return fail_torn(w);
    const uint8_t *at = s->bytes + s->at;
    uint64_t start = s->base + u32_at(at + LINE_START);
    uint32_t line = u32_at(at + LINE_LINE);
    if (!take_struct_text(s, LINE_FILE_LEN, LINE_FILE, LINE_BYTES, &file))
        return fail_torn(w);
    if (start >= f->end)
        return 0;
    if (start < f->start)
        start = f->start;
    if (j->n_lines == LIMIT_JIT_LINES)
        return too_much(w, "line records", LIMIT_JIT_LINES);
    j->lines = alloc_grow(j->lines, j->n_lines, sizeof *j->lines);
    j->lines[j->n_lines++] =
        (struct jit_line){(uint32_t)(start - f->start), line, file_index(j, file)};
    f->lines++;
    return 0;
}

/* The header of a module named `global` has such a name too, and is not code. */
static bool is_global(struct slice name)
{
    return slice_begins(name, "global::") && !slice_is(name, "global::codeHeader");
}

static struct slice without_prologue(struct slice name, bool *had)
{
    static const char suffix[] = "-CodeInfoPrologue";
    size_t len = sizeof suffix - 1;
    *had = name.len > len && memcmp(name.s + name.len - len, suffix, len) == 0;
    return (struct slice){name.s, name.len - (*had ? len : 0)};
}

static int take_range(struct walk *w, struct symfile *s)
{
    struct jit *j = w->j;
    struct slice name;
    if (s->len - s->at < RANGE_BYTES)
        return fail_torn(w);
    const uint8_t *at = s->bytes + s->at;
    uint32_t start = u32_at(at + RANGE_START), end = u32_at(at + RANGE_END);
    uint32_t lines = u32_at(at + RANGE_LINES);
    if (!take_struct_text(s, RANGE_NAME_LEN, RANGE_NAME, RANGE_BYTES, &name) || name.len == 0 ||
        start >= end || end > s->code_size)
        return fail_torn(w);
    if (j->count == LIMIT_JIT_FUNCTIONS)
        return too_much(w, "functions", LIMIT_JIT_FUNCTIONS);
    j->functions = alloc_grow(j->functions, j->count, sizeof *j->functions);
    struct jit_function *f = &j->functions[j->count++];
    *f = (struct jit_function){.start = s->base + start,
                               .end = s->base + end,
                               .global = is_global(name),
                               .first_line = (uint32_t)j->n_lines};
    f->name = slice_keep(&j->texts, without_prologue(name, &f->prologue));
    for (; lines > 0; lines--) {
        int rc = take_line(w, s, f);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int take_module(struct walk *w, struct symfile *s)
{
    struct slice name;
    if (s->len < MODULE_BYTES)
        return fail_torn(w);
    s->base = u64_at(s->bytes + MODULE_BASE);
    s->code_size = u32_at(s->bytes + MODULE_CODE);
    uint32_t ranges = u32_at(s->bytes + MODULE_RANGES);
    if (s->base >= MACHINE_ADDRESSES - s->code_size ||
        !take_struct_text(s, MODULE_NAME_LEN, MODULE_NAME_LEN + 2, MODULE_BYTES, &name))
        return fail_torn(w);
    for (; ranges > 0; ranges--) {
        int rc = take_range(w, s);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int take_emulator(struct walk *w, const struct symfile *s)
{
    if (s->len < EMULATOR_BYTES || u32_at(s->bytes + EMULATOR_LAYOUT) > JIT_FRAME_POINTERS)
        return fail_torn(w);
    w->j->layout = (enum jit_layout)u32_at(s->bytes + EMULATOR_LAYOUT);
    w->j->normal_exit = u64_at(s->bytes + EMULATOR_EXIT);
    return 0;
}

static int take_symfile(struct walk *w, const struct jit_entry *e)
{
    if (!jit_size_fits(e->symfile_size))
        return fail_torn(w);
    size_t len = (size_t)e->symfile_size;
    if (len > LIMIT_JIT_BYTES - w->total)
        return too_much(w, "bytes", LIMIT_JIT_BYTES);
    w->total += len;
    if (len > w->capacity) {
        w->bytes = alloc_resize(w->bytes, len, 1);
        w->capacity = len;
    }
    if (!memory_read(w->m, e->symfile, w->bytes, len))
        return fail_torn(w);
    struct symfile s = {.bytes = w->bytes, .len = len};
    switch (u32_at(w->bytes)) {
    case KIND_EMULATOR:
        return take_emulator(w, &s);
    case KIND_MODULE:
        return take_module(w, &s);
    default:
        return fail_torn(w);
    }
}

/* ---- the list */

/* From `at`, whose entry is e. A list that comes back to its begin is torn; longer rings end at
   the cap. */
static int walk_jit_entries(struct walk *w, uint64_t at, struct jit_entry e)
{
    for (size_t n = 1;; n++) {
        int rc = take_symfile(w, &e);
        if (rc != 0 || e.next == 0)
            return rc;
        if (n == LIMIT_JIT_ENTRIES)
            return too_much(w, "modules", LIMIT_JIT_ENTRIES);
        uint64_t from = at;
        at = e.next;
        if (!jit_plausible(at) || at == w->j->first || !memory_read(w->m, at, &e, sizeof e) ||
            e.prev != from)
            return fail_torn(w);
    }
}

static int walk_list(struct walk *w, uint64_t descriptor)
{
    struct jit *j = w->j;
    struct jit_descriptor d;
    if (!jit_head_read(w->m, descriptor, &d, &j->newest))
        return fail_torn(w);
    if (d.first == 0)
        return error_set(w->err, ERR_NOT_FOUND, "the VM has no compiled code: no JIT");
    j->descriptor = descriptor;
    j->first = d.first;
    return walk_jit_entries(w, d.first, j->newest);
}

int jit_read(struct jit **out, const struct machine *machine, const struct memory *m,
             uint64_t descriptor, struct error *err)
{
    struct error own = {0};
    struct walk w = {.m = m, .err = &own};
    int rc = ERR_FORMAT;
    *out = NULL;
    if (descriptor == 0)
        return error_set(err, ERR_NOT_FOUND, "the VM has no list of compiled code: no JIT");
    for (int i = 0; i < LIMIT_JIT_WALKS && rc == ERR_FORMAT; i++) {
        error_clear(&own);
        w.total = 0;
        w.j = alloc_zero(1, sizeof *w.j);
        w.j->machine = machine;
        arena_init(&w.j->texts);
        rc = walk_list(&w, descriptor);
        if (rc != 0)
            jit_free(w.j);
    }
    free(w.bytes);
    if (rc != 0)
        return error_set(err, (enum err)rc, "%s", own.text);
    jit_settle(w.j);
    jit_find_htop(w.j, m);
    jit_find_resume(w.j, m);
    *out = w.j;
    return 0;
}
