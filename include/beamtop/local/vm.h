/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A VM of this host, by its OS pid: how what is in its memory is found. Blocks for some ms. */
#ifndef BEAMTOP_LOCAL_VM_H
#define BEAMTOP_LOCAL_VM_H

#include <sys/types.h>

#include "beamtop/base/error.h"
#include "beamtop/local/jit.h"
#include "beamtop/local/memory.h"

/*
 * The compiled functions of a VM; m is its memory. ERR_NOT_FOUND: it has no JIT, or has ended;
 * ERR_SYSTEM: it may not be read, with what is missing; others as jit_read(). */
int vm_jit(struct jit **out, pid_t pid, const struct memory *m, struct error *err);

#endif
