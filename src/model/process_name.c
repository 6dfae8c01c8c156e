/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/process_name.h"

#include "beamtop/base/attr.h"

/* Beginnings of calls that are the loop of, or start, any kind of process. */
static const char *const loops[] = {
    "proc_lib:", "gen:", "gen_server:", "gen_statem:", "gen_event:"};
static const char *const starts[] = {"erlang:apply/", "erlang:hibernate/"};

static bool begins(struct slice call, const char *const *with, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slice_begins(call, with[i]))
            return true;
    return false;
}

bool process_call_is_loop(struct slice initial_call)
{
    return begins(initial_call, loops, ARRAY_LEN(loops));
}

bool process_call_is_generic(struct slice initial_call)
{
    return process_call_is_loop(initial_call) || begins(initial_call, starts, ARRAY_LEN(starts));
}

struct slice process_name(const struct process_names *n)
{
    if (n->name.len > 0)
        return n->name;
    if (n->label.len > 0)
        return n->label;
    return n->initial_call.len > 0 ? n->initial_call : n->pid;
}

static void put(struct buf *out, struct slice text)
{
    buf_put(out, text.s, text.len);
}

void process_name_put(struct buf *out, const struct process_names *n)
{
    put(out, process_name(n));
    if (n->name.len > 0)
        return;
    bool tells = n->label.len > 0 || !process_call_is_generic(n->initial_call);
    if (!tells && n->near.len > 0) {
        buf_puts(out, " (");
        put(out, n->near);
        buf_puts(out, ")");
    }
    if (n->pid.len > 0 && process_name(n).s != n->pid.s) {
        buf_puts(out, " ");
        put(out, n->pid);
    }
}
