/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/process_name.h"

#include <string.h>

#include "beamtop/base/attr.h"

/* Calls that start, or are the loop of, any kind of process: their names say nothing. */
static const char *const loops[] = {
    "proc_lib:", "gen:", "gen_server:", "gen_statem:", "gen_event:"};
static const char *const starts[] = {"erlang:apply/", "erlang:hibernate/"};

static bool begins_with_any(struct slice call, const char *const *with, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slice_begins(call, with[i]))
            return true;
    return false;
}

bool process_call_is_loop(struct slice initial_call)
{
    return begins_with_any(initial_call, loops, ARRAY_LEN(loops));
}

bool process_call_is_generic(struct slice initial_call)
{
    return process_call_is_loop(initial_call) ||
           begins_with_any(initial_call, starts, ARRAY_LEN(starts));
}

static bool ends_with(struct slice text, const char *with)
{
    const size_t len = strlen(with);
    return text.len > len && memcmp(text.s + text.len - len, with, len) == 0;
}

static struct slice without_quotes(struct slice module)
{
    const bool quoted = module.len > 2 && module.s[0] == '\'' && module.s[module.len - 1] == '\'';
    return quoted ? (struct slice){module.s + 1, module.len - 2} : module;
}

/* Between the two ends; empty: it does not have them. */
static struct slice text_between(struct slice call, const char *start, const char *end)
{
    const size_t from = strlen(start), to = strlen(end);
    if (call.len <= from + to || !slice_begins(call, start) || !ends_with(call, end))
        return (struct slice){"", 0};
    return without_quotes((struct slice){call.s + from, call.len - from - to});
}

/* As query/q/part/supervisors.erl has it. */
struct slice process_call_name(struct slice call)
{
    static const char *const behaviours[] = {"supervisor:", "supervisor_bridge:"};
    static const char *const endings[] = {"_sup", "_supervisor", "Supervisor"};
    for (size_t i = 0; i < ARRAY_LEN(behaviours); i++) {
        const struct slice module = text_between(call, behaviours[i], "/1");
        if (module.len > 0 && !slice_is(module, "init"))
            return module;
    }
    const struct slice module = text_between(call, "", ":init/1");
    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        if (ends_with(module, endings[i]))
            return module;
    return call;
}

struct slice process_name(const struct process_names *n)
{
    if (n->name.len > 0)
        return n->name;
    if (n->label.len > 0)
        return n->label;
    return n->initial_call.len > 0 ? process_call_name(n->initial_call) : n->pid;
}

static void put_slice(struct buf *out, struct slice text)
{
    buf_put(out, text.s, text.len);
}

void process_name_put(struct buf *out, const struct process_names *n)
{
    put_slice(out, process_name(n));
    if (n->name.len > 0)
        return;
    bool tells = n->label.len > 0 || !process_call_is_generic(n->initial_call);
    if (!tells && n->near.len > 0) {
        buf_puts(out, " (");
        put_slice(out, n->near);
        buf_puts(out, ")");
    }
    if (n->pid.len > 0 && process_name(n).s != n->pid.s) {
        buf_puts(out, " ");
        put_slice(out, n->pid);
    }
}
