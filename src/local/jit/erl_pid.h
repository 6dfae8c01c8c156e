/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pids as the VM has them in memory, and as they are printed: <0.NUMBER.SERIAL>. Pure. */
#ifndef BEAMTOP_LOCAL_JIT_ERL_PID_H
#define BEAMTOP_LOCAL_JIT_ERL_PID_H

#include <stdbool.h>
#include <stdint.h>

struct erl_pid {
    uint32_t number, serial;
};

/* Bits of an index into the process table: of the process limit, which the VM rounds up to a power
   of two. 0: that of a VM without +P. */
unsigned erl_pid_bits(int release, uint64_t process_limit);

/*
 * From the first word of a Process (erts/emulator/beam/erl_ptab.h). release: that of OTP, 23 and
 * later; up to 25 the bits do not count. False: that word is not a pid, or there are no
 * such bits. */
bool erl_pid_of_word(struct erl_pid *out, uint64_t word, int release, unsigned bits);

#endif
