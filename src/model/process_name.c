/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/process_name.h"

#include <string.h>

#include "beamtop/base/attr.h"

/* Beginnings of calls that start, or are the loop of, any kind of process. */
static const char *const generic[] = {
    "erlang:apply/", "erlang:hibernate/", "proc_lib:",  "gen:",
    "gen_server:",   "gen_statem:",       "gen_event:",
};

bool process_call_is_generic(struct slice initial_call)
{
    for (size_t i = 0; i < ARRAY_LEN(generic); i++)
        if (slice_begins(initial_call, generic[i]))
            return true;
    return false;
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
