/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waits in a send to a port whose driver has enough: by the functions that processes are in. A
 * port does not say which these are; from OTP 27 on they monitor it. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "ports_internal.h"
#include "query/leaders/leaders_read.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/scan/scan_table.h"
#include "query/who/who_terms.h"

#define PROCESSES_MOST 5000
#define PROCESS_US 5.0
#define LIST_US 5000

static bool is_held(const struct port *p)
{
    return !p->is_gone && !p->is_socket && (p->is_busy || p->numbers.queue_bytes > 0);
}

static int order_senders(const void *a, const void *b)
{
    return scan_compare_pids(&((const struct ports_sender *)a)->pid,
                             &((const struct ports_sender *)b)->pid);
}

static void add_sender(struct ports_read *r, const struct etf_pid *pid, struct port *to)
{
    if (r->n_senders < PORTS_SENDERS)
        r->senders[r->n_senders++] = (struct ports_sender){.pid = *pid, .to = to};
}

/* ---- asks */

bool ports_ask_monitors(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    struct slice held[PORTS_HELD];
    r->n_held = r->n_senders = 0;
    for (size_t i = 0; i < r->n_rows; i++) {
        r->rows[i]->has_sender = false;
        if (!r->rows[i]->is_socket)
            r->rows[i]->writers = 0;
        if (is_held(r->rows[i]) && r->n_held < PORTS_HELD)
            r->held[r->n_held++] = r->rows[i];
    }
    for (size_t i = 0; i < r->n_held; i++)
        held[i] = r->held[i]->term;
    if (r->n_held > 0)
        run_add(calls, "lists", "zipwith",
                args_of_zip("erlang", "port_info", held, r->n_held, "monitored_by"));
    return r->n_held > 0;
}

static void add_monitors(struct ports_read *r, struct port *to, struct slice value)
{
    struct cursor c, each;
    struct etf_pid pid;
    size_t n;
    if (!values_enter_list(values_of_pair(value, "monitored_by"), &c, &n))
        return;
    for (size_t i = 0; i < n && cursor_apart(&c, &each); i++)
        if (cursor_kind(&each) == ETF_KIND_PID && cursor_pid(&each, &pid, NULL))
            add_sender(r, &pid, to);
}

void ports_take_monitors(void *own, const struct slice *values, size_t n)
{
    struct ports_read *r = own;
    struct cursor c;
    struct slice value;
    size_t count;
    (void)n;
    if (values && values_enter_list(values[0], &c, &count) && count == r->n_held)
        for (size_t i = 0; i < count && cursor_raw(&c, &value); i++)
            add_monitors(r, r->held[i], value);
    for (size_t i = 0; i < r->n_held; i++)
        if (r->held[i]->has_owner)
            add_sender(r, &r->held[i]->owner, NULL);
}

bool ports_ask_processes(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    static const struct args_call inner[] = {{"erlang", "processes", 0, "[]", NULL},
                                             {"erlang", "hd", 1, "[[5001]]", NULL}};
    _Static_assert(PROCESSES_MOST == 5000, "as the text has it");
    if (r->n_held == 0)
        return false;
    run_add(calls, "lists", "foldl", args_of_calls("lists", "sublist", 2, inner, ARRAY_LEN(inner)));
    calls->most_us = LIST_US;
    return true;
}

/* Of more processes only those that are likely. */
void ports_take_processes(void *own, const struct slice *values, size_t n)
{
    struct ports_read *r = own;
    struct cursor c, each;
    struct etf_pid pid;
    size_t count;
    (void)n;
    r->has_processes =
        values && values_enter_list(values[0], &c, &count) && count <= PROCESSES_MOST;
    for (size_t i = 0; r->has_processes && i < count && cursor_apart(&c, &each); i++)
        if (cursor_kind(&each) == ETF_KIND_PID && cursor_pid(&each, &pid, NULL))
            add_sender(r, &pid, NULL);
}

/* Each once: what is known of its port stands before. */
static void order_once(struct ports_read *r)
{
    size_t kept = 0;
    qsort(r->senders, r->n_senders, sizeof *r->senders, order_senders);
    for (size_t i = 0; i < r->n_senders; i++)
        if (kept == 0 || order_senders(&r->senders[kept - 1], &r->senders[i]) != 0)
            r->senders[kept++] = r->senders[i];
        else if (!r->senders[kept - 1].to)
            r->senders[kept - 1].to = r->senders[i].to;
    r->n_senders = kept;
}

static void ask_infos(const struct ports_read *r, struct run_calls *calls, const char *items)
{
    struct etf_pid *pids = alloc_zero(r->n_senders, sizeof *pids);
    struct builder *of = args_of_text(items);
    for (size_t i = 0; i < r->n_senders; i++)
        pids[i] = r->senders[i].pid;
    run_add(calls, "lists", "zipwith", args_of_infos(r->node, pids, r->n_senders, of));
    calls->most_us = PROCESS_US * (double)r->n_senders;
    builder_free(of);
    free(pids);
}

/* It needs no signal, for which a process that does not yield would be waited for. */
bool ports_ask_statuses(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    if (r->n_held > 0)
        order_once(r);
    if (r->n_senders > 0)
        ask_infos(r, calls, "[status]");
    return r->n_senders > 0;
}

/* The only one that is held, of connections to nodes or of others; NULL: there are several. */
static struct port *find_only(const struct ports_read *r, bool link)
{
    struct port *only = NULL;
    for (size_t i = 0; i < r->n_held; i++)
        if ((r->held[i]->link > 0) == link) {
            if (only)
                return NULL;
            only = r->held[i];
        }
    return only;
}

/* That nobody waits is known only of the only one, among all processes. */
static void hide_unknown(struct ports_read *r, bool known)
{
    for (size_t i = 0; i < r->n_held; i++) {
        struct port *p = r->held[i];
        const bool is_only = find_only(r, p->link > 0) == p;
        if (p->writers == 0 && !(known && r->has_processes && is_only))
            p->writers = -1;
    }
}

/* Who sends and is held does not run. */
void ports_take_statuses(void *own, const struct slice *values, size_t n)
{
    struct ports_read *r = own;
    struct cursor c;
    struct slice info;
    size_t count, kept = 0;
    (void)n;
    const bool known = values && values_enter_list(values[0], &c, &count) && count == r->n_senders;
    for (size_t i = 0; known && i < count && cursor_raw(&c, &info); i++) {
        const struct slice status = values_find(info, "status");
        const bool suspended = who_term_is(status, "suspended");
        if (!suspended && !who_term_is(status, "waiting"))
            continue;
        r->senders[kept] = r->senders[i];
        r->senders[kept++].is_suspended = suspended;
    }
    r->n_senders = kept;
    if (kept == 0)
        hide_unknown(r, known);
}

bool ports_ask_functions(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    if (r->n_senders > 0)
        ask_infos(r, calls, "[current_function]");
    return r->n_senders > 0;
}

/* ---- answers */

static bool is_in_send(struct slice mfa)
{
    return leaders_is_in(mfa, "erts_internal", "port_command") ||
           leaders_is_in(mfa, "prim_inet", "send_recv_reply") ||
           leaders_is_in(mfa, "prim_inet", "send");
}

static void mark_owners(struct ports_read *r)
{
    for (size_t i = 0; i < r->table.n_ports; i++) {
        struct port *p = &r->table.ports[i];
        if (!p->has_owner || p->is_gone || !(is_held(p) || ports_is_inet(p)))
            continue;
        const struct ports_sender key = {.pid = p->owner};
        struct ports_sender *s = bsearch(&key, r->senders, r->n_senders, sizeof key, order_senders);
        if (s) {
            s->owned = p;
            s->n_owned++;
        }
    }
}

/* Of a sender that monitors none: one that owns a port may be in a send to that. */
static struct port *guess_port(const struct ports_read *r, const struct ports_sender *s,
                               bool to_node)
{
    if (to_node || s->n_owned == 0)
        return find_only(r, to_node);
    return s->n_owned == 1 && is_held(s->owned) && s->owned->link == 0 ? s->owned : NULL;
}

/* false: it is in a send, and what to is not known. */
static bool count_sender(struct ports_read *r, const struct ports_sender *s, struct slice info)
{
    const struct slice mfa = values_find(info, "current_function");
    const bool to_node = s->is_suspended && leaders_is_sending(mfa);
    if (!to_node && !is_in_send(mfa))
        return true;
    const bool monitors = s->to && (s->to->link > 0) == to_node;
    struct port *to = monitors ? s->to : guess_port(r, s, to_node);
    if (!to)
        return false;
    to->writers++;
    to->is_busy = to->is_busy || monitors;
    if (!to->has_sender)
        to->sender = s->pid;
    to->has_sender = true;
    return true;
}

void ports_take_functions(void *own, const struct slice *values, size_t n)
{
    struct ports_read *r = own;
    struct cursor c;
    struct slice info;
    size_t count;
    const bool known = values && values_enter_list(values[0], &c, &count) && count == r->n_senders;
    (void)n;
    if (known && r->n_senders > 0)
        mark_owners(r);
    bool all = known;
    for (size_t i = 0; known && i < count && cursor_raw(&c, &info); i++)
        all = count_sender(r, &r->senders[i], info) && all;
    hide_unknown(r, all);
}
