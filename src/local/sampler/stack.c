/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stack_internal.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"

enum {
    FIRST_PAGE = 4096,         /* nothing is mapped below it */
    FRAGMENT_BYTES = 256,      /* of a fragment's code, from its start */
    NATIVE_FRAMES = 128,       /* of one stack */
    DIRTY_WALKS = 8,           /* stacks of what looks like a process there */
    DIRTY_BYTES = 4096,        /* of a dirty scheduler's stack, searched for its process */
    CHECKED_BYTES = 2 * WORD,  /* below the boundary: read again once the Erlang stack is read */
    COUNTED_BYTES = 32 * WORD, /* of a process behind its stack pointer: what its turns change */
};

void stack_add(struct stack *out, enum stack_frame_is is, uint64_t address, bool leaf)
{
    if (out->n == LIMIT_SAMPLE_FRAMES) {
        out->flags |= SAMPLE_TRUNCATED;
        return;
    }
    out->frames[out->n++] = (struct stack_frame){is, leaf, address};
}

/* ---- memory of the thread: the copy that came with the sample, then that of the VM */

struct copy {
    const struct machine *machine;
    const struct perf_sample *sample;
    const struct memory *memory;
};

static bool read_copy(void *arg, uint64_t at, void *out, size_t len)
{
    const struct copy *c = arg;
    uint64_t from = c->sample->registers.value[c->machine->sp];
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
    const uint64_t from = c->sample->registers.value[c->machine->sp];
    const size_t len = c->sample->stack_len;
    if (len < CHECKED_BYTES)
        return false;
    if (at < from || at - from > len - CHECKED_BYTES)
        at = from + len - CHECKED_BYTES;
    return memory_read(c->memory, at, now, CHECKED_BYTES) &&
           memcmp(now, c->sample->stack + (at - from), CHECKED_BYTES) == 0;
}

bool stack_read_word(const struct memory *m, uint64_t at, uint64_t *out)
{
    return at % WORD == 0 && at < MACHINE_ADDRESSES && memory_read(m, at, out, WORD);
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

/* The first word of the Export is the stub of the BIF. */
static void take_bif(struct stack *out, const struct stack_world *w, const struct registers *r,
                     const struct memory *copy, const struct jit_function *fragment)
{
    uint8_t code[FRAGMENT_BYTES];
    uint64_t entry = 0, stub = 0, len = fragment->end - fragment->start;
    if (len > sizeof code)
        len = sizeof code;
    if (!memory_read(w->memory, fragment->start, code, (size_t)len))
        return;
    const uint64_t at = w->machine->find_export(code, (size_t)len, r);
    if (at == 0 || !stack_read_word(copy, at, &entry) || !stack_read_word(w->memory, entry, &stub))
        return;
    const struct jit_function *f = jit_at(w->jit, stub);
    if (f && !f->global)
        stack_add(out, IS_BIF, stub, true);
}

/*
 * One call of native code, while it lasts: where it was made from, and what of the process changes
 * when it makes another one or has another turn. Each call costs a reduction (a register), and
 * each turn counts those that were used (fcalls, reds and heap of struct process, erl_process.h).
 * A call that changes these itself ends too early here, never too late. */
static uint64_t call_of(const struct stack *out, const struct stack_world *w,
                        const struct registers *r, uint64_t at)
{
    struct {
        uint64_t process, back, at, reductions;
        uint8_t counted[COUNTED_BYTES];
    } call = {out->first_word, r->value[w->machine->pc], at, 0, {0}};
    const uint32_t stop = stack_stop_offset(w);
    if (!registers_know(r, w->machine->reductions))
        return 0;
    call.reductions = r->value[w->machine->reductions];
    if (stop == 0 ||
        !memory_read(w->memory, out->process + stop + WORD, call.counted, sizeof call.counted))
        return 0;
    return text_identity((const char *)&call, sizeof call);
}

/*
 * Whether the thread is still in the call of native code from which it will return to r. The last
 * native frame, that of a function called by compiled code, begins at `lowest`. Where calls push
 * the return address, it is the frame's highest word; where calls keep it in a register, the
 * function has stored it first, and the fragment's is above. */
static bool still_called(const struct copy *copy, const struct stack_world *w,
                         const struct registers *r, uint64_t lowest)
{
    const uint64_t cfa = r->value[w->machine->sp];
    if (w->machine->return_column == w->machine->pc)
        return still_stands(copy, cfa - CHECKED_BYTES);
    return still_stands(copy, cfa) && (lowest == cfa || still_stands(copy, lowest));
}

/* lowest: as of still_called(). */
static void take_boundary(struct stack *out, const struct stack_world *w, const struct registers *r,
                          const struct memory *copy, uint64_t lowest)
{
    const uint64_t back = r->value[w->machine->pc];
    const struct jit_function *f = jit_at(w->jit, back - 1);
    const enum boundary is = boundary_of(f);
    if (out->in != SAMPLE_GC && out->in != SAMPLE_NIF)
        out->in = class_of(is, SAMPLE_RUNTIME);
    stack_add(out, IS_COMPILED, back, false);
    if (is == BOUNDARY_SCHEDULE) {
        out->in = SAMPLE_SCHEDULER;
        out->flags |= SAMPLE_COMPLETE;
        return;
    }
    if (is == BOUNDARY_BIF)
        take_bif(out, w, r, copy, f);
    const size_t native = out->n;
    const uint64_t at = stack_erlang_begin(w, r);
    if (at == 0 || !stack_take_process(out, w, r->value[w->machine->process]) ||
        (w->machine->keeps_link && !stack_add_linked(out, w, r, copy))) {
        out->flags |= SAMPLE_UNRESOLVED;
        return;
    }
    const size_t erlang = out->n;
    stack_walk_memory(out, w, at);
    if (!still_called(copy->arg, w, r, lowest)) {
        out->n = native;
        out->flags = (out->flags & ~(unsigned)SAMPLE_COMPLETE) | SAMPLE_MOVED_ON;
        return;
    }
    if (erlang > native)
        stack_join_linked(out, erlang);
    out->call = call_of(out, w, r, at);
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
    if (out->in == SAMPLE_NIF || resume == 0 || !stack_read_word(w->memory, process + resume, &at))
        return;
    const struct jit_function *f = jit_at(w->jit, at);
    if (f && !f->global)
        stack_add(out, IS_COMPILED, at, true);
}

/* Whether what begins at p may be a process, and where its Erlang stack is then. */
static bool may_be_process(const struct stack_world *w, uint64_t p, uint64_t *stack)
{
    const uint32_t stop = stack_stop_offset(w);
    uint64_t htop = 0, id = 0;
    return p % WORD == 0 && p < MACHINE_ADDRESSES && p >= FIRST_PAGE &&
           stack_read_word(w->memory, p, &id) && (id & 15) == 3 &&
           stack_read_word(w->memory, p + jit_htop_offset(w->jit), &htop) &&
           stack_read_word(w->memory, p + stop, stack) && htop % WORD == 0 && *stack % WORD == 0 &&
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
    stack_walk_memory(out, w, stack);
    if ((out->flags & SAMPLE_COMPLETE || out->n == LIMIT_SAMPLE_FRAMES) &&
        stack_read_word(w->memory, p + stack_stop_offset(w), &again) && again == stack &&
        stack_take_process(out, w, p))
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
    if (stack_stop_offset(w) == 0)
        return;
    for (size_t i = 0; walks < DIRTY_WALKS && i < REGISTERS + len / WORD; i++) {
        uint64_t p = 0, stack = 0;
        if (i < REGISTERS)
            p = registers_know(&s->registers, (unsigned)i) ? s->registers.value[i] : 0;
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
    struct copy c = {w->machine, s, w->memory};
    const unsigned pc = w->machine->pc;
    const struct memory copy = {read_copy, &c};
    struct registers r = s->registers;
    enum step step = STEP_CALLER;
    bool leaf = true;
    for (int i = 0; i < NATIVE_FRAMES && step == STEP_CALLER; i++) {
        const uint64_t lowest = r.value[w->machine->sp];
        stack_add(out, IS_NATIVE, r.value[pc], leaf);
        classify_native(out, w, r.value[pc] - !leaf);
        step = images_step(w->images, &r, &leaf, &copy);
        if (step == STEP_CALLER && w->jit && jit_at(w->jit, r.value[pc] - 1)) {
            take_boundary(out, w, &r, &copy, lowest);
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
    stack_add(out, IS_COMPILED, s->registers.value[w->machine->pc], true);
    out->in = class_of(is, SAMPLE_ERLANG);
    if (is == BOUNDARY_SCHEDULE) {
        out->flags |= SAMPLE_COMPLETE;
        return;
    }
    stack_take_process(out, w, s->registers.value[w->machine->process]);
    if (w->machine->link_is_live) {
        stack_walk_linked(out, w, &s->registers, leaf);
        return;
    }
    if (stack_walk_words(out, w, s->stack, s->stack_len, true))
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
    const struct machine *m = w->machine;
    const uint64_t needed = UINT64_C(1) << m->pc | UINT64_C(1) << m->sp;
    if ((s->registers.known & needed) != needed) {
        out->flags = SAMPLE_UNRESOLVED;
        return;
    }
    const struct jit_function *leaf = w->jit ? jit_at(w->jit, s->registers.value[m->pc]) : NULL;
    if (leaf)
        compiled_stack(out, w, s, leaf);
    else
        native_stack(out, w, s, scheduler, dirty);
}
