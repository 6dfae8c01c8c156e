/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for the addresses of stacks. Each frame is announced once, by a record; samples refer to
 * it by its number. Not locked: the caller holds what guards the VM's tables. */
#ifndef BEAMTOP_LOCAL_NAMER_H
#define BEAMTOP_LOCAL_NAMER_H

#include <stdbool.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/sample.h"
#include "stack.h"
#include "beamtop/local/vm.h"

struct namer;

struct namer *namer_new(bool lines, bool addresses);
void namer_free(struct namer *n); /* NULL is fine */
/* Compiled code may be elsewhere now; what was announced stays valid. */
void namer_forget(struct namer *n);

/* Whether an address of no file was met since the last call. */
bool namer_met_unknown(struct namer *n);
/* Fills what the stack says into *sample, and appends its record, after those of new frames. */
void namer_sample(struct namer *n, const struct vm *v, const struct stack *stack,
                  struct sample *sample, struct buf *out);

#endif
