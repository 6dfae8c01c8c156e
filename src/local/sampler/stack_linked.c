/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A return address is in the link register until the callee pushes it to the Erlang stack. Code
 * that modules share (fragments) does not push it: it keeps the register on the native stack, with
 * the frame pointer, while it calls native code (emit_enter_runtime_frame). */
#include "stack_internal.h"

#include <string.h>

#include "beamtop/base/attr.h"

enum {
    LOOKED_BYTES = 256, /* of code before the interrupted instruction, or before a call */
    FRAGMENTS = 4,      /* that call each other */
};

/* What they jump to has the frame of a function, which is on the Erlang stack; their link register
 * is older. */
static bool is_jumped_to(const struct jit_function *f)
{
    static const char *const names[] = {"global::call_bif_shared",   "global::call_nif_shared",
                                        "global::dispatch_bif",      "global::dispatch_nif",
                                        "global::export_trampoline", "global::process_main"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (slice_is(f->name, names[i]))
            return true;
    return false;
}

static bool ends_with(struct slice name, const char *end)
{
    const size_t len = strlen(end);
    return name.len > len && memcmp(name.s + name.len - len, end, len) == 0;
}

/* Fragments; some have the names of functions that processes return into (erts_beamasm). Behind
 * the functions of a module are jumps to fragments that are too far for one instruction. */
static bool is_shared(const struct jit_function *f)
{
    return f->global || slice_begins(f->name, "erts_beamasm:") ||
           ends_with(f->name, "::codeFooter");
}

/* Up to LOOKED_BYTES of the function's code before that address; the number. */
static size_t code_before(const struct stack_world *w, const struct jit_function *f,
                          uint64_t address, uint8_t *out)
{
    const uint64_t all = address - f->start;
    const size_t len = all < LOOKED_BYTES ? (size_t)all : LOOKED_BYTES;
    return memory_read(w->memory, address - len, out, len) ? len : 0;
}

bool stack_add_linked(struct stack *out, const struct stack_world *w, const struct registers *r,
                      const struct memory *stack)
{
    uint8_t code[LOOKED_BYTES];
    uint64_t at = r->value[w->machine->sp], back = r->value[w->machine->pc];
    for (int i = 0; i < FRAGMENTS; i++) {
        const struct jit_function *f = jit_at(w->jit, back - 1);
        if (!f || !is_shared(f) || is_jumped_to(f) ||
            !w->machine->keeps_link(code, code_before(w, f, back, code)))
            return true;
        if (!stack_read_word(stack, at + WORD, &back))
            return false;
        back &= w->machine->code;
        if (back == 0 || !jit_at(w->jit, back - 1))
            return true;
        stack_add(out, IS_COMPILED, back, false);
        at += 2 * WORD;
    }
    return true;
}

void stack_join_linked(struct stack *out, size_t erlang)
{
    if (erlang == 0 || erlang >= out->n ||
        out->frames[erlang].address != out->frames[erlang - 1].address)
        return;
    out->n--;
    memmove(out->frames + erlang, out->frames + erlang + 1,
            (out->n - erlang) * sizeof *out->frames);
}

/* Whether the link register is a return address that is not on the Erlang stack yet. */
static bool is_live(const struct stack_world *w, const struct registers *r,
                    const struct jit_function *leaf)
{
    uint8_t code[LOOKED_BYTES + WORD];
    const uint64_t pc = r->value[w->machine->pc];
    if (is_shared(leaf))
        return !is_jumped_to(leaf);
    const size_t before = code_before(w, leaf, pc, code);
    return memory_read(w->memory, pc, code + before, WORD / 2) &&
           w->machine->link_is_live(code, before + WORD / 2, before);
}

/*
 * The stack is read after the thread was interrupted, and only the link register says whether it
 * is that of this moment: what it holds is the frame that the function pushed, until the function
 * calls another one, whose return leaves an address of the function there. */
static bool fits_link(const struct stack *out, size_t erlang, const struct jit_function *back,
                      const struct jit_function *leaf, uint64_t link)
{
    return !back || is_shared(back) || is_shared(leaf) || slice_equal(back->name, leaf->name) ||
           (erlang < out->n && out->frames[erlang].address == link);
}

void stack_walk_linked(struct stack *out, const struct stack_world *w, const struct registers *r,
                       const struct jit_function *leaf)
{
    const uint64_t link = r->value[w->machine->return_column] & w->machine->code;
    const struct jit_function *back = link > 0 ? jit_at(w->jit, link - 1) : NULL;
    const bool live = back && !is_shared(back) && is_live(w, r, leaf);
    uint64_t top = 0, again = 0;
    const uint64_t at = r->value[w->machine->stack];
    if (!stack_read_word(w->memory, at, &top)) {
        out->flags |= SAMPLE_UNRESOLVED;
        return;
    }
    const size_t leaf_only = out->n;
    if (live)
        stack_add(out, IS_COMPILED, link, false);
    const size_t erlang = out->n;
    stack_walk_memory(out, w, at);
    if (!stack_read_word(w->memory, at, &again) || again != top ||
        (!live && !fits_link(out, erlang, back, leaf, link))) {
        out->n = leaf_only;
        out->flags = (out->flags & ~(unsigned)SAMPLE_COMPLETE) | SAMPLE_MOVED_ON;
    } else if (live && is_shared(leaf)) {
        stack_join_linked(out, erlang);
    }
}
