/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The name of a process wherever one is shown: a screen row, a report, the title of a finding.
 * Pure. */
#ifndef BEAMTOP_MODEL_PROCESS_NAME_H
#define BEAMTOP_MODEL_PROCESS_NAME_H

#include <stdbool.h>

#include "beamtop/base/buf.h"
#include "beamtop/etf/term.h"

/* What is known of a process; empty: unknown. `near`: "linked to shop_sup", only in findings. */
struct process_names {
    struct slice name, label, initial_call, near, pid;
};

/* What a process without a name is called by its initial call: that; of a supervisor its module, as
   where it is said as the supervisor of others: shop_sup, not supervisor:shop_sup/1. Borrowed. */
struct slice process_call_name(struct slice initial_call);
/* Registered name, else label, else what its initial call says, else pid. Borrowed from *n. */
struct slice process_name(const struct process_names *n);
/* Whether an initial call says nothing about the process: erlang:apply/2, gen_server:loop/7 … */
bool process_call_is_generic(struct slice initial_call);
/* Whether it is the loop of a behaviour, or no more than proc_lib's own start: before OTP 26.2 the
   module of a server that waits is unknown. */
bool process_call_is_loop(struct slice initial_call);
/* Adds the name; for an anonymous process what it is near to, and its pid: "erlang:apply/2 (linked
   to logger_std_h_default) <0.81.0>". */
void process_name_put(struct buf *out, const struct process_names *n);

#endif
