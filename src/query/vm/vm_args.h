/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the VM was started with: system_info(emu_args), the arguments of its OS process. Pure. */
#ifndef BEAMTOP_QUERY_VM_ARGS_H
#define BEAMTOP_QUERY_VM_ARGS_H

#include "vm_rows.h"

/* Appends a row for each flag with its values, most rows at most. What follows `-setcookie`, and
 * values that name a secret, are not shown. args: a list of texts; of another form: a row says so.
 */
void vm_add_args(struct vm_rows *rows, struct slice args, size_t most);

#endif
