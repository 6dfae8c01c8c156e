/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stack_internal.h"

#include <string.h>

enum {
    PAGE = 4096,
    CODE_BYTES = 48, /* behind a call, within which the Erlang stack is taken up again */
};

/* Behind the heap's top (struct process, erl_process.h). */
uint32_t stack_stop_offset(const struct stack_world *w)
{
    const uint32_t htop = jit_htop_offset(w->jit);
    return htop > 0 ? htop + WORD : 0;
}

bool stack_walk_words(struct stack *out, const struct stack_world *w, const uint8_t *bytes,
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
        stack_add(out, IS_COMPILED, word, false);
    }
    return false;
}

void stack_walk_memory(struct stack *out, const struct stack_world *w, uint64_t at)
{
    uint8_t piece[PAGE];
    size_t read = 0;
    if (at % WORD != 0 || at >= MACHINE_ADDRESSES)
        return;
    while (read < LIMIT_SAMPLE_STACK_BYTES && !(out->flags & SAMPLE_TRUNCATED)) {
        size_t len = PAGE - at % PAGE;
        if (!memory_read(w->memory, at, piece, len) || stack_walk_words(out, w, piece, len, false))
            return;
        at += len;
        read += len;
    }
    out->flags |= SAMPLE_TRUNCATED;
}

uint64_t stack_erlang_begin(const struct stack_world *w, const struct registers *r)
{
    uint8_t code[CODE_BYTES];
    uint64_t at = 0;
    const uint32_t stop = stack_stop_offset(w);
    size_t len = CODE_BYTES;
    while (len > 0 && !jit_code(w->jit, w->memory, r->value[w->machine->pc], code, len))
        len -= WORD;
    const int in = w->machine->find_stack(code, len, stop);
    if (in != MACHINE_STACK_IN_PROCESS)
        return registers_know(r, (unsigned)in) ? r->value[in] : 0;
    if (stop > 0 && stack_read_word(w->memory, r->value[w->machine->process] + stop, &at))
        return at;
    return 0;
}

bool stack_take_process(struct stack *out, const struct stack_world *w, uint64_t process)
{
    uint64_t word = 0;
    if (!stack_read_word(w->memory, process, &word) || (word & 15) != 3)
        return false;
    out->process = process;
    out->first_word = word;
    return true;
}
