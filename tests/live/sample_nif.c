/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A NIF that spins for some ms, on a normal and on a dirty scheduler, and one that spins thirty
 * times as long. Without the C library, so that it loads in any root directory. */
#include <erl_nif.h>

static ERL_NIF_TERM spin_native(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    unsigned sum = 0;
    (void)argc;
    for (volatile unsigned i = 0; i < 2000000; i++)
        sum += i;
    enif_consume_timeslice(env, 50);
    return sum == 1 ? enif_make_int(env, 1) : argv[0];
}

static ERL_NIF_TERM spin_long(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    unsigned sum = 0;
    (void)argc;
    for (volatile unsigned i = 0; i < 60000000; i++)
        sum += i;
    enif_consume_timeslice(env, 100);
    return sum == 1 ? enif_make_int(env, 1) : argv[0];
}

static ErlNifFunc functions[] = {
    {"long_spin", 1, spin_long, 0},
    {"spin", 1, spin_native, 0},
    {"dirty_spin", 1, spin_native, ERL_NIF_DIRTY_JOB_CPU_BOUND},
};

ERL_NIF_INIT(sample_load, functions, 0, 0, 0, 0)
