/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stack.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"

enum {
    WORD = 8,
    PAGE = 4096,
    CODE_BYTES = 48,           /* behind a call, within which the Erlang stack is taken up again */
    NATIVE_FRAMES = 128,       /* of one stack */
    DIRTY_WALKS = 8,           /* stacks of what looks like a process there */
    DIRTY_BYTES = 4096,        /* of a dirty scheduler's stack, searched for its process */
    CHECKED_BYTES = 2 * WORD,  /* below the boundary: read again once the Erlang stack is read */
    COUNTED_BYTES = 32 * WORD, /* of a process behind its stack pointer: what its turns change */
};
#define ADDRESSES (UINT64_C(1) << 47) /* of user space on x86-64 */

static void add_frame(struct stack *out, enum stack_frame_is is, uint64_t address, bool leaf)
{
    if (out->n == LIMIT_SAMPLE_FRAMES) {
        out->flags |= SAMPLE_TRUNCATED;
        return;
    }
    out->frames[out->n++] = (struct stack_frame){is, leaf, address};
}

/* ---- memory of the thread: the copy that came with the sample, then that of the VM */

struct copy {
    const struct perf_sample *sample;
    const struct memory *memory;
};

static bool read_copy(void *arg, uint64_t at, void *out, size_t len)
{
    const struct copy *c = arg;
    uint64_t from = c->sample->registers.value[REGISTER_RSP];
    if (at >= from && len <= c->sample->stack_len && at - from <= c->sample->stack_len - len) {
        memcpy(out, c->sample->stack + (at - from), len);
        return true;
    }
    return memory_read(c->memory, at, out, len);
}

/* Whether the thread still stands as it was copied: the words at that address, or the last ones
 * that were copied where it lies beyond them. */
static bool still_stands(const struct copy *c, uint64_t at)
{
    uint8_t now[CHECKED_BYTES];
    const uint64_t from = c->sample->registers.value[REGISTER_RSP];
    const size_t len = c->sample->stack_len;
    if (len < CHECKED_BYTES)
        return false;
    if (at < from || at - from > len - CHECKED_BYTES)
        at = from + len - CHECKED_BYTES;
    return memory_read(c->memory, at, now, CHECKED_BYTES) &&
           memcmp(now, c->sample->stack + (at - from), CHECKED_BYTES) == 0;
}

static bool read_vm_word(const struct memory *m, uint64_t at, uint64_t *out)
{
    return at % WORD == 0 && at < ADDRESSES && memory_read(m, at, out, WORD);
}

/* ---- Erlang stacks */

/* Where a process keeps its stack pointer: behind its heap's top (struct process, erl_process.h);
 * 0: not known. */
static uint32_t stop_offset(const struct stack_world *w)
{
    const uint32_t htop = jit_htop_offset(w->jit);
    return htop > 0 ? htop + WORD : 0;
}

/* Return addresses among those words. True: the last one, where a process begins, was met. */
static bool walk_words(struct stack *out, const struct stack_world *w, const uint8_t *bytes,
                       size_t len, bool unaligned_first)
{
    const uint64_t end = jit_normal_exit(w->jit);
    for (size_t i = 0; i + WORD <= len; i += WORD) {
        uint64_t word;
        memcpy(&word, bytes + i, WORD);
        if ((word & 3) != 0 && !(i == 0 && unaligned_first))
            continue;
        if (word == end) {
            out->flags |= SAMPLE_COMPLETE;
            return true;
        }
        const struct jit_function *f = word > 0 ? jit_at(w->jit, word - 1) : NULL;
        if (!f)
            continue;
        if (word > end && end >= f->start) {
            /* normal_exit is a fragment: a return into it ends the stack as well. */
            out->flags |= SAMPLE_COMPLETE;
            return true;
        }
        add_frame(out, IS_COMPILED, word, false);
    }
    return false;
}

/* The Erlang stack from that address up, read from the VM piece by piece. */
static void walk_memory(struct stack *out, const struct stack_world *w, uint64_t at)
{
    uint8_t piece[PAGE];
    size_t read = 0;
    if (at % WORD != 0 || at >= ADDRESSES)
        return;
    while (read < LIMIT_SAMPLE_STACK_BYTES && !(out->flags & SAMPLE_TRUNCATED)) {
        size_t len = PAGE - at % PAGE;
        if (!memory_read(w->memory, at, piece, len) || walk_words(out, w, piece, len, false))
            return;
        at += len;
        read += len;
    }
    out->flags |= SAMPLE_TRUNCATED;
}

/* Where the Erlang stack begins, as the code behind a call takes it up again; 0: unknown. */
static uint64_t erlang_stack(const struct stack_world *w, const struct registers *r)
{
    uint8_t code[CODE_BYTES];
    uint64_t at = 0;
    const uint32_t stop = stop_offset(w);
    size_t len = CODE_BYTES;
    while (len > 0 && !jit_code(w->jit, w->memory, r->value[REGISTER_RIP], code, len))
        len -= WORD;
    for (size_t i = 0; i + 4 <= len; i++) {
        if (memcmp(code + i, "\x48\x89\xec", 3) == 0) /* mov rsp, rbp */
            return r->known & (1u << REGISTER_RBP) ? r->value[REGISTER_RBP] : 0;
        if (memcmp(code + i, "\x49\x8b\x65", 3) == 0 && stop > 0 && code[i + 3] == stop)
            break; /* mov rsp, [r13 + stop] */
    }
    if (stop > 0 && read_vm_word(w->memory, r->value[REGISTER_R13] + stop, &at))
        return at;
    return 0;
}

static bool take_vm_process(struct stack *out, const struct stack_world *w, uint64_t process)
{
    uint64_t word = 0;
    if (!read_vm_word(w->memory, process, &word) || (word & 15) != 3)
        return false;
    out->process = process;
    out->first_word = word;
    return true;
}

/* ---- the boundary between native and compiled code */

enum boundary { BOUNDARY_CODE, BOUNDARY_SCHEDULE, BOUNDARY_BIF, BOUNDARY_NIF, BOUNDARY_GC };

static enum boundary boundary_of(const struct jit_function *f)
{
    static const struct {
        const char *name;
        enum boundary is;
    } fragments[] = {
        {"global::process_main", BOUNDARY_SCHEDULE},
        {"global::call_light_bif_shared", BOUNDARY_BIF},
        {"global::call_bif_shared", BOUNDARY_BIF},
        {"global::call_nif_shared", BOUNDARY_NIF},
        {"global::garbage_collect", BOUNDARY_GC},
    };
    for (size_t i = 0; f->global && i < ARRAY_LEN(fragments); i++)
        if (slice_is(f->name, fragments[i].name))
            return fragments[i].is;
    return BOUNDARY_CODE;
}

/* The class of a sample behind that boundary; code: where it is compiled Erlang code. */
static enum sample_class class_of(enum boundary is, enum sample_class code)
{
    static const enum sample_class classes[] = {
        [BOUNDARY_SCHEDULE] = SAMPLE_SCHEDULER,
        [BOUNDARY_BIF] = SAMPLE_BIF,
        [BOUNDARY_NIF] = SAMPLE_NIF,
        [BOUNDARY_GC] = SAMPLE_GC,
    };
    return is == BOUNDARY_CODE ? code : classes[is];
}

/* The words above the last native frame: the calling instruction, then the Export of the BIF, whose
 * first word is its stub (beam_asm: call_light_bif_shared). */
static void take_bif(struct stack *out, const struct stack_world *w, const struct memory *copy,
                     uint64_t cfa)
{
    uint64_t entry = 0, stub = 0;
    if (!read_vm_word(copy, cfa + WORD + WORD, &entry) || !read_vm_word(w->memory, entry, &stub))
        return;
    const struct jit_function *f = jit_at(w->jit, stub);
    if (f && !f->global)
        add_frame(out, IS_BIF, stub, true);
}

/*
 * One call of native code, while it lasts: where it was made from, and what of the process changes
 * when it makes another one or has another turn. Each call costs a reduction (register r14), and
 * each turn counts those that were used (fcalls, reds and heap of struct process, erl_process.h).
 * A call that changes these itself ends too early here, never too late. */
static uint64_t call_of(const struct stack *out, const struct stack_world *w,
                        const struct registers *r, uint64_t at)
{
    struct {
        uint64_t process, back, at, reductions;
        uint8_t counted[COUNTED_BYTES];
    } call = {out->first_word, r->value[REGISTER_RIP], at, 0, {0}};
    const uint32_t stop = stop_offset(w);
    if (!(r->known & (1u << REGISTER_R14)))
        return 0;
    call.reductions = r->value[REGISTER_R14];
    if (stop == 0 ||
        !memory_read(w->memory, out->process + stop + WORD, call.counted, sizeof call.counted))
        return 0;
    return text_identity((const char *)&call, sizeof call);
}

static void take_boundary(struct stack *out, const struct stack_world *w, const struct registers *r,
                          const struct memory *copy)
{
    const uint64_t back = r->value[REGISTER_RIP], cfa = r->value[REGISTER_RSP];
    const enum boundary is = boundary_of(jit_at(w->jit, back - 1));
    if (out->in != SAMPLE_GC && out->in != SAMPLE_NIF)
        out->in = class_of(is, SAMPLE_RUNTIME);
    add_frame(out, IS_COMPILED, back, false);
    if (is == BOUNDARY_SCHEDULE) {
        out->in = SAMPLE_SCHEDULER;
        out->flags |= SAMPLE_COMPLETE;
        return;
    }
    if (is == BOUNDARY_BIF)
        take_bif(out, w, copy, cfa);
    const size_t native = out->n;
    uint64_t at = erlang_stack(w, r);
    if (at == 0 || !take_vm_process(out, w, r->value[REGISTER_R13])) {
        out->flags |= SAMPLE_UNRESOLVED;
        return;
    }
    walk_memory(out, w, at);
    if (!still_stands(copy->arg, cfa - CHECKED_BYTES)) {
        out->n = native;
        out->flags = (out->flags & ~(unsigned)SAMPLE_COMPLETE) | SAMPLE_MOVED_ON;
    } else {
        out->call = call_of(out, w, r, at);
    }
}

/* ---- a sample in native code */

/* Classifies the stack by a native frame; the one nearest the root comes last. */
static void classify_native(struct stack *out, const struct stack_world *w, uint64_t address)
{
    struct image_symbol symbol;
    if (!images_symbol(w->images, address, &symbol))
        return;
    if (symbol.kind == FRAME_NIF)
        out->in = SAMPLE_NIF;
    else if (symbol.kind == FRAME_RUNTIME && out->in == SAMPLE_OTHER &&
             slice_is(symbol.name, "erts_schedule"))
        out->in = SAMPLE_SCHEDULER;
    else if (symbol.kind == FRAME_RUNTIME && out->in != SAMPLE_NIF &&
             slice_begins(symbol.name, "erts_garbage_collect"))
        out->in = SAMPLE_GC;
}

/* A process that a dirty scheduler collects was about to call a function, which is not on its stack
 * yet: where it goes on. Of a NIF or BIF there is no compiled code. */
static void take_resume(struct stack *out, const struct stack_world *w, uint64_t process)
{
    const uint32_t resume = jit_resume_offset(w->jit);
    uint64_t at = 0;
    if (out->in == SAMPLE_NIF || resume == 0 || !read_vm_word(w->memory, process + resume, &at))
        return;
    const struct jit_function *f = jit_at(w->jit, at);
    if (f && !f->global)
        add_frame(out, IS_COMPILED, at, true);
}

/* Whether what begins at p may be a process, and where its Erlang stack is then. */
static bool may_be_process(const struct stack_world *w, uint64_t p, uint64_t *stack)
{
    const uint32_t stop = stop_offset(w);
    uint64_t htop = 0, id = 0;
    return p % WORD == 0 && p < ADDRESSES && p >= PAGE && read_vm_word(w->memory, p, &id) &&
           (id & 15) == 3 && read_vm_word(w->memory, p + jit_htop_offset(w->jit), &htop) &&
           read_vm_word(w->memory, p + stop, stack) && htop % WORD == 0 && *stack % WORD == 0 &&
           htop != 0 && htop <= *stack;
}

/* The stack of that process, up to its end or as deep as is kept; false: it is none, or its stack
 * has moved. */
static bool walk_process(struct stack *out, const struct stack_world *w, uint64_t p, uint64_t stack)
{
    const size_t native = out->n;
    uint64_t again = 0;
    out->flags &= ~(unsigned)(SAMPLE_COMPLETE | SAMPLE_TRUNCATED);
    take_resume(out, w, p);
    walk_memory(out, w, stack);
    if ((out->flags & SAMPLE_COMPLETE || out->n == LIMIT_SAMPLE_FRAMES) &&
        read_vm_word(w->memory, p + stop_offset(w), &again) && again == stack &&
        take_vm_process(out, w, p))
        return true;
    out->n = native;
    return false;
}

/* A dirty scheduler has the process in a register or somewhere on its native stack, and no compiled
 * code. The one that ran last may be there too while the scheduler looks for the next. */
static void find_dirty(struct stack *out, const struct stack_world *w, const struct perf_sample *s)
{
    const unsigned before = out->flags;
    const size_t len = s->stack_len < DIRTY_BYTES ? s->stack_len : DIRTY_BYTES;
    size_t walks = 0;
    if (stop_offset(w) == 0)
        return;
    for (size_t i = 0; walks < DIRTY_WALKS && i < REGISTERS + len / WORD; i++) {
        uint64_t p = 0, stack = 0;
        if (i < REGISTERS)
            p = s->registers.known & (1u << i) ? s->registers.value[i] : 0;
        else
            memcpy(&p, s->stack + (i - REGISTERS) * WORD, WORD);
        if (!may_be_process(w, p, &stack))
            continue;
        walks++;
        if (walk_process(out, w, p, stack))
            return;
    }
    out->flags = before;
}

static void native_stack(struct stack *out, const struct stack_world *w,
                         const struct perf_sample *s, bool scheduler, bool dirty)
{
    struct copy c = {s, w->memory};
    const struct memory copy = {read_copy, &c};
    struct registers r = s->registers;
    enum step step = STEP_CALLER;
    bool leaf = true;
    for (int i = 0; i < NATIVE_FRAMES && step == STEP_CALLER; i++) {
        add_frame(out, IS_NATIVE, r.value[REGISTER_RIP], leaf);
        classify_native(out, w, r.value[REGISTER_RIP] - !leaf);
        step = images_step(w->images, &r, &leaf, &copy);
        if (step == STEP_CALLER && w->jit && jit_at(w->jit, r.value[REGISTER_RIP] - 1)) {
            take_boundary(out, w, &r, &copy);
            return;
        }
    }
    if (step == STEP_OUTERMOST)
        out->flags |= SAMPLE_COMPLETE;
    else
        out->flags |= SAMPLE_UNRESOLVED;
    if (dirty && w->jit && out->in != SAMPLE_SCHEDULER)
        find_dirty(out, w, s);
    if (out->process && out->in == SAMPLE_OTHER)
        out->in = SAMPLE_RUNTIME;
    else if (!out->process && (scheduler || dirty) && out->in == SAMPLE_OTHER && w->jit &&
             step == STEP_OUTERMOST)
        out->in = SAMPLE_SCHEDULER;
}

/* ---- a sample in compiled code */

static void compiled_stack(struct stack *out, const struct stack_world *w,
                           const struct perf_sample *s, const struct jit_function *leaf)
{
    const enum boundary is = boundary_of(leaf);
    add_frame(out, IS_COMPILED, s->registers.value[REGISTER_RIP], true);
    out->in = class_of(is, SAMPLE_ERLANG);
    if (is == BOUNDARY_SCHEDULE) {
        out->flags |= SAMPLE_COMPLETE;
        return;
    }
    take_vm_process(out, w, s->registers.value[REGISTER_R13]);
    if (walk_words(out, w, s->stack, s->stack_len, true))
        return;
    out->flags |= s->stack_len >= PERF_STACK_BYTES - WORD ? SAMPLE_TRUNCATED : SAMPLE_UNRESOLVED;
}

void stack_of(struct stack *out, const struct stack_world *w, const struct perf_sample *s,
              bool scheduler, bool dirty)
{
    out->n = 0;
    out->in = SAMPLE_OTHER;
    out->flags = 0;
    out->process = out->first_word = out->call = 0;
    const uint32_t needed = 1u << REGISTER_RIP | 1u << REGISTER_RSP;
    if ((s->registers.known & needed) != needed) {
        out->flags = SAMPLE_UNRESOLVED;
        return;
    }
    const struct jit_function *leaf =
        w->jit ? jit_at(w->jit, s->registers.value[REGISTER_RIP]) : NULL;
    if (leaf)
        compiled_stack(out, w, s, leaf);
    else
        native_stack(out, w, s, scheduler, dirty);
}
