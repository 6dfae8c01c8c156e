/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of stack.c: frames as they are found, from the leaf up. What they read is the VM's and
 * may change at any moment: nothing of it is trusted. Thread: as stack_of(). */
#ifndef BEAMTOP_LOCAL_STACK_INTERNAL_H
#define BEAMTOP_LOCAL_STACK_INTERNAL_H

#include "stack.h"

enum { WORD = 8 };

/* ---- stack.c */

/* Beyond LIMIT_SAMPLE_FRAMES the stack is truncated. */
void stack_add(struct stack *out, enum stack_frame_is is, uint64_t address, bool leaf);
bool stack_read_word(const struct memory *m, uint64_t at, uint64_t *out);

/* ---- stack_erlang.c */

/* Where a process keeps its stack pointer; 0: not known. */
uint32_t stack_stop_offset(const struct stack_world *w);
/* Return addresses among those words. True: the last one, where a process begins, was met. */
bool stack_walk_words(struct stack *out, const struct stack_world *w, const uint8_t *bytes,
                      size_t len, bool unaligned_first);
/* The Erlang stack from that address up, read from the VM piece by piece. */
void stack_walk_memory(struct stack *out, const struct stack_world *w, uint64_t at);
/* Where the Erlang stack begins behind a return into compiled code; 0: unknown. */
uint64_t stack_erlang_begin(const struct stack_world *w, const struct registers *r);
/* False: what is there is no process. */
bool stack_take_process(struct stack *out, const struct stack_world *w, uint64_t process);

/* ---- stack_linked.c: where a machine's Erlang stack is apart (struct machine) */

/* The callers of the fragment that native code returns to: they are on the native stack, up to a
 * function. False: the stack could not be read. */
bool stack_add_linked(struct stack *out, const struct stack_world *w, const struct registers *r,
                      const struct memory *stack);
/* The Erlang stack of a thread that was interrupted in compiled code. */
void stack_walk_linked(struct stack *out, const struct stack_world *w, const struct registers *r,
                       const struct jit_function *leaf);
/* Takes a frame away that is also the first of the Erlang stack behind it. */
void stack_join_linked(struct stack *out, size_t erlang);

#endif
