/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of the sampler that never were: stacks as letters, a frame each. */
#ifndef TESTS_RECORDING_MADE_SAMPLES_H
#define TESTS_RECORDING_MADE_SAMPLES_H

#include <stdint.h>

#include "beamtop/base/attr.h"
#include "beamtop/model/samples.h"

struct made_stack {
    const char *letters;
    double samples;
};

static inline struct sample_frame made_frame(char letter)
{
    static const struct {
        char letter;
        enum frame_kind kind;
        const char *name, *object, *file;
        uint32_t line;
    } rows[] = {
        {'p', FRAME_ERLANG, "proc_lib:init_p_do_apply/3", "", "", 0},
        {'l', FRAME_ERLANG, "shop:loop/1", "", "shop.erl", 42},
        {'m', FRAME_ERLANG, "lists:map/2", "", "", 0},
        {'h', FRAME_BIF, "erlang:phash2/1", "", "", 0},
        {'s', FRAME_BIF, "erlang:send/2", "", "", 0},
        {'c', FRAME_RUNTIME, "copy_struct_x", "beam.smp", "", 0},
        {'g', FRAME_RUNTIME, "erts_garbage_collect_nobump", "beam.smp", "", 0},
        {'n', FRAME_NIF, "jose_sign", "jose_nif.so", "", 0},
        {'v', FRAME_RUNTIME, "[beam.smp]", "beam.smp", "", 0},
        {'e', FRAME_RUNTIME, "enif_make_copy", "beam.smp", "", 0},
        {'o', FRAME_NIF, "sign", "libsign.so", "", 0},
        {'t', FRAME_LIBC, "memcpy", "libc.so.6", "", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].letter == letter)
            return (struct sample_frame){rows[i].kind, slice_of(rows[i].name),
                                         slice_of(rows[i].object), slice_of(rows[i].file),
                                         rows[i].line};
    return (struct sample_frame){.kind = FRAME_UNKNOWN, .name = slice_of("[unknown]")};
}

/* Owned by the caller. */
static inline struct stacks *made_stacks(const struct made_stack *list, size_t n)
{
    struct stacks *s = stacks_new();
    for (size_t i = 0; i < n; i++) {
        uint32_t ids[64];
        size_t depth = 0;
        for (const char *at = list[i].letters; *at != '\0'; at++) {
            const struct sample_frame f = made_frame(*at);
            ids[depth++] = stacks_frame(s, &f);
        }
        stacks_add(s, ids, depth, list[i].samples);
    }
    return s;
}

/* 10 s of a run, all samples in Erlang code. */
static inline struct samples_summary made_run(const struct stacks *s)
{
    static const struct samples_place cart[] = {{{"scheduler 1", 11}, 88},
                                                {{"scheduler 2", 11}, 2}};
    static const struct samples_place cpus[] = {{{"CPU 0", 5}, 60}, {{"CPU 1", 5}, 39}};
    static const struct samples_source processes[] = {
        {{"<0.123.0>", 9}, {"shop_cart", 9}, 90, cart, ARRAY_LEN(cart), 3},
        {{"<0.7.1>", 7}, {0}, 5, NULL, 0, 0}};
    static const struct samples_source threads[] = {
        {{"scheduler 1", 11}, {"normal", 6}, 99, cpus, ARRAY_LEN(cpus), 7}};
    static const struct samples_held held[] = {{.call = {"jose_sign", 9},
                                                .object = {"jose_nif.so", 11},
                                                .caller = {"shop:sign/1", 11},
                                                .process = {"<0.123.0>", 9},
                                                .name = {"shop_cart", 9},
                                                .thread = {"scheduler 1", 11},
                                                .seconds = 0.25,
                                                .samples = 26},
                                               {.call = {"erlang:phash2/1", 15},
                                                .process = {"<0.7.1>", 7},
                                                .thread = {"scheduler 2", 11},
                                                .seconds = 0.02,
                                                .samples = 2}};
    const int64_t samples = (int64_t)stacks_total(s);
    return (struct samples_summary){.label = slice_of("mq1@host"),
                                    .otp = slice_of("27"),
                                    .wall_us = 1700000001500000,
                                    .seconds = 10,
                                    .hz = 99,
                                    .samples = samples,
                                    .lost = 2,
                                    .held = held,
                                    .n_held = ARRAY_LEN(held),
                                    .moved_on = 3,
                                    .truncated = 1,
                                    .unresolved = 0,
                                    .complete = samples / 2,
                                    .sampler_cpu_s = 0.02,
                                    .target_cpu_s = 9.5,
                                    .classes = {[SAMPLE_ERLANG] = samples},
                                    .processes = processes,
                                    .n_processes = ARRAY_LEN(processes),
                                    .threads = threads,
                                    .n_threads = ARRAY_LEN(threads),
                                    .stacks = s};
}

#endif
