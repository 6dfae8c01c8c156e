/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a sampler has said, summed up: weighted stacks, classes, processes, threads. */
#ifndef BEAMTOP_APP_SAMPLE_SAMPLED_H
#define BEAMTOP_APP_SAMPLE_SAMPLED_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/etf/term.h"
#include "beamtop/local/records.h"
#include "beamtop/model/samples.h"

struct sampled_options {
    bool only_erlang; /* Erlang functions and BIFs; native time belongs to what called it */
    bool prologues;   /* keeps the functions in whose prologue a sample was */
    bool by_thread;   /* keeps the stacks of each thread too */
    bool one_process; /* only samples of the process below */
    uint64_t pid_number, pid_serial;
};

struct sampled;

struct sampled *sampled_new(const struct sampled_options *o);
void sampled_free(struct sampled *s); /* NULL is fine */
/* RECORD_THREAD, RECORD_FRAME, RECORD_SAMPLE; others are not for it. True: a sample counted. */
bool sampled_take(struct sampled *s, const struct record *r);

/* From here on they come from the node (sampled_add()); there are none yet. */
void sampled_at_yields(struct sampled *s);
/* A stack that a process had at so many looks, the root first. */
void sampled_add(struct sampled *s, const struct sample_frame *frames, size_t n,
                 const struct etf_pid *pid, int64_t samples, double weight);

const struct stacks *sampled_stacks(const struct sampled *s);
/* The frames of a sample that are kept, by their ids in the stacks, the root first, and with
 * addresses unless NULL; both have room for LIMIT_SAMPLE_FRAMES. How many there are. */
size_t sampled_frames(const struct sampled *s, const struct sample *sample, uint32_t *ids,
                      uint64_t *addresses);
size_t sampled_threads(const struct sampled *s);
const struct thread *sampled_thread(const struct sampled *s, size_t i);
int64_t sampled_count(const struct sampled *s);

/* The pids with most samples, at most `most`; returns how many. */
size_t sampled_pids(struct sampled *s, struct etf_pid *pids, size_t most);
void sampled_name(struct sampled *s, const struct etf_pid *pid, struct slice name); /* copied */
/* Of the process of a sample; empty: not known. */
struct slice sampled_name_of(const struct sampled *s, const struct sample *sample);

/* All but label, OTP, times and rate is filled in; what it refers to belongs to s. */
void sampled_summary(struct sampled *s, struct samples_summary *out);

#endif
