/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of what the VM was started with. Values that may be a secret are not in them. Pure. */
#ifndef BEAMTOP_QUERY_VM_ARGS_H
#define BEAMTOP_QUERY_VM_ARGS_H

#include "vm_rows.h"

/* Of the emulator: system_info(emu_args), up to its first "--". Of another form: a row says so. */
void vm_add_flags(struct vm_rows *rows, struct slice flags);
/* Of init:get_arguments/0: [{Flag, [Value]}]. has_cookie: there were others, which set a cookie. */
void vm_add_args(struct vm_rows *rows, struct slice args, bool has_cookie);

#endif
