/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "namer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/local/records.h"

enum { NAME_BYTES = 1024 };

struct known {
    struct {
        uint64_t start; /* of the function, the symbol, or the address itself */
        uint64_t line;  /* with its kind */
    } key;
    uint32_t id;
    UT_hash_handle hh;
};

/* Announced once: code that is loaded again has other addresses, but the same names. */
struct named {
    uint64_t identity;
    uint32_t id;
    UT_hash_handle hh;
};

struct namer {
    struct known *known;
    struct named *named;
    bool met_unknown;
    uint32_t announced;
    bool lines, addresses;
    uint32_t ids[LIMIT_SAMPLE_FRAMES];
    uint64_t at[LIMIT_SAMPLE_FRAMES];
};

struct namer *namer_new(bool lines, bool addresses)
{
    struct namer *n = alloc_zero(1, sizeof *n);
    n->lines = lines;
    n->addresses = addresses;
    return n;
}

void namer_forget(struct namer *n)
{
    struct known *k, *next;
    HASH_ITER (hh, n->known, k, next) {
        HASH_DEL(n->known, k);
        free(k);
    }
}

void namer_free(struct namer *n)
{
    struct named *k, *next;
    if (!n)
        return;
    namer_forget(n);
    HASH_ITER (hh, n->named, k, next) {
        HASH_DEL(n->named, k);
        free(k);
    }
    free(n);
}

bool namer_met_unknown(struct namer *n)
{
    const bool met = n->met_unknown;
    n->met_unknown = false;
    return met;
}

static uint64_t frame_identity(const struct sample_frame *f)
{
    const uint64_t parts[] = {
        (uint64_t)f->kind << 32 | f->line,
        text_identity(f->name.s, f->name.len),
        text_identity(f->object.s, f->object.len),
        text_identity(f->file.s, f->file.len),
    };
    return text_identity((const char *)parts, sizeof parts);
}

/* Frames beyond the limit share one name. */
static uint32_t announce_frame(struct namer *n, const struct sample_frame *f, struct buf *out)
{
    struct named *named = NULL;
    const uint64_t identity = frame_identity(f);
    HASH_FIND(hh, n->named, &identity, sizeof identity, named);
    if (named)
        return named->id;
    if (n->announced >= LIMIT_SAMPLER_FRAMES)
        return LIMIT_SAMPLER_FRAMES - 1;
    named = alloc_zero(1, sizeof *named);
    named->identity = identity;
    named->id = n->announced;
    HASH_ADD(hh, n->named, identity, sizeof named->identity, named);
    struct sample_frame kept = *f;
    if (n->announced == LIMIT_SAMPLER_FRAMES - 1)
        kept = (struct sample_frame){.kind = FRAME_UNKNOWN, .name = slice_of("…")};
    kept.name.len = kept.name.len < NAME_BYTES ? kept.name.len : NAME_BYTES;
    kept.object.len = kept.object.len < NAME_BYTES ? kept.object.len : NAME_BYTES;
    kept.file.len = kept.file.len < NAME_BYTES ? kept.file.len : NAME_BYTES;
    record_put_frame(out, &kept);
    return n->announced++;
}

static uint32_t known_id(struct namer *n, uint64_t start, uint64_t line,
                         const struct sample_frame *f, struct buf *out)
{
    struct known *k = NULL, wanted = {.key = {start, line << 8 | (uint64_t)f->kind}};
    HASH_FIND(hh, n->known, &wanted.key, sizeof wanted.key, k);
    if (k)
        return k->id;
    k = alloc_zero(1, sizeof *k);
    k->key = wanted.key;
    k->id = announce_frame(n, f, out);
    HASH_ADD(hh, n->known, key, sizeof k->key, k);
    return k->id;
}

static bool is_in_prologue(const struct stack_frame *leaf, const struct jit *jit)
{
    const struct jit_function *f = leaf->is == IS_NATIVE ? NULL : jit_at(jit, leaf->address);
    return f && leaf->leaf && f->prologue;
}

static uint32_t compiled_id(struct namer *n, const struct jit *jit, const struct stack_frame *frame,
                            struct buf *out)
{
    const uint64_t at = frame->leaf ? frame->address : frame->address - 1;
    const struct jit_function *f = jit_at(jit, at);
    struct sample_frame named = {.kind = frame->is == IS_BIF ? FRAME_BIF
                                         : f && f->global    ? FRAME_SHARED
                                         : f                 ? FRAME_ERLANG
                                                             : FRAME_UNKNOWN,
                                 .name = f ? f->name : slice_of("[unknown]")};
    if (n->lines && named.kind == FRAME_ERLANG)
        jit_line(jit, f, at, &named.file, &named.line);
    return known_id(n, f ? f->start : 0, named.line, &named, out);
}

static uint32_t native_id(struct namer *n, struct images *images, const struct stack_frame *frame,
                          struct buf *out)
{
    struct image_symbol symbol = {.kind = FRAME_UNKNOWN};
    char name[NAME_BYTES];
    const uint64_t at = frame->leaf ? frame->address : frame->address - 1;
    const bool is_there = images_symbol(images, at, &symbol);
    n->met_unknown |= !is_there;
    struct sample_frame named = {.kind = symbol.kind, .name = symbol.name, .object = symbol.object};
    if (!is_there || named.name.len == 0) {
        int len = snprintf(name, sizeof name, "[%.*s]", (int)(is_there ? symbol.object.len : 7),
                           is_there ? symbol.object.s : "unknown");
        named.name = (struct slice){name, (size_t)len < sizeof name ? (size_t)len : 0};
        /* All of a file without names are one frame. */
        symbol.start = text_identity(name, named.name.len);
    }
    return known_id(n, symbol.start, 0, &named, out);
}

void namer_sample(struct namer *n, const struct vm *v, const struct stack *stack,
                  struct sample *sample, struct buf *out)
{
    for (size_t i = 0; i < stack->n; i++) {
        const struct stack_frame *f = stack->frames + stack->n - 1 - i;
        n->at[i] = f->address;
        n->ids[i] = f->is == IS_NATIVE ? native_id(n, vm_images(v), f, out)
                                       : compiled_id(n, vm_jit(v), f, out);
    }
    sample->in = stack->in;
    sample->flags = stack->flags;
    sample->call = stack->call;
    if (stack->n > 0 && is_in_prologue(stack->frames, vm_jit(v)))
        sample->flags |= SAMPLE_IN_PROLOGUE;
    if (stack->process)
        vm_erl_pid(v, stack->first_word, &sample->pid_number, &sample->pid_serial);
    sample->frames = n->ids;
    sample->n_frames = stack->n;
    sample->addresses = n->addresses ? n->at : NULL;
    record_put_sample(out, sample);
}
