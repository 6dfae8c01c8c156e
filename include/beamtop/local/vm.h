/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A VM of this host, opened for looking at it from outside: its files, and the code that its JIT
 * has compiled. vm_open() needs rights on the process, all else only process_vm_readv(2). */
#ifndef BEAMTOP_LOCAL_VM_H
#define BEAMTOP_LOCAL_VM_H

#include <stdbool.h>
#include <sys/types.h>

#include "beamtop/base/error.h"
#include "beamtop/local/images.h"
#include "beamtop/local/jit.h"
#include "beamtop/local/memory.h"
#include "beamtop/local/records.h"

struct vm;

int vm_open(struct vm **out, pid_t pid, struct error *err);
/* Reads symbols and the list of compiled code. Where there is none, vm_why_no_code() says why. */
void vm_parse(struct vm *v);
void vm_close(struct vm *v); /* NULL is fine */
/* The error of a process that cannot be read for that errno: why, and what would lift it. */
int vm_refused(pid_t pid, int why, struct error *err);

const struct jit *vm_jit(const struct vm *v); /* NULL: none */
const char *vm_why_no_code(const struct vm *v);
struct images *vm_images(const struct vm *v);
const struct memory *vm_memory(const struct vm *v);
/* After code was loaded: vm_read_again() reads the list into *out in 2 ms, vm_exchange() takes
 * it at once and returns the old one for jit_free(). */
bool vm_read_again(struct vm *v, struct jit **out);
struct jit *vm_exchange(struct vm *v, struct jit *now);
/* Takes the files read again; returns the old ones for images_free(). */
struct images *vm_exchange_images(struct vm *v, struct images *now);

/* The <0.number.serial> of the process that begins with that word. */
void vm_erl_pid(const struct vm *v, uint64_t first_word, uint64_t *number, uint64_t *serial);
void vm_describe(const struct vm *v, struct record_begin *out);

#endif
