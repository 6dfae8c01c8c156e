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
        r->senders[r->n_senders++] = (struct ports_sender){*pid, to};
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
            add_sender(r, &r->held[i]->owner, r->held[i]);
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

bool ports_ask_functions(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    if (r->n_held == 0)
        return false;
    order_once(r);
    if (r->n_senders == 0)
        return false;
    struct etf_pid *pids = alloc_zero(r->n_senders, sizeof *pids);
    struct builder *items = args_of_text("[status,current_function]");
    for (size_t i = 0; i < r->n_senders; i++)
        pids[i] = r->senders[i].pid;
    run_add(calls, "lists", "zipwith", args_of_infos(r->node, pids, r->n_senders, items));
    calls->most_us = PROCESS_US * (double)r->n_senders;
    builder_free(items);
    free(pids);
    return true;
}

/* ---- answers */

static bool is_in_send(struct slice mfa)
{
    return leaders_is_in(mfa, "erts_internal", "port_command") ||
           leaders_is_in(mfa, "prim_inet", "send_recv_reply") ||
           leaders_is_in(mfa, "prim_inet", "send");
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

static void count_sender(struct ports_read *r, const struct ports_sender *s, struct slice info)
{
    const struct slice mfa = values_find(info, "current_function");
    const bool suspended = who_term_is(values_find(info, "status"), "suspended");
    const bool to_node = suspended && leaders_is_sending(mfa);
    if (!to_node && !is_in_send(mfa))
        return;
    struct port *to = s->to && (s->to->link > 0) == to_node ? s->to : find_only(r, to_node);
    if (!to)
        return;
    to->writers++;
    to->is_busy = true;
    if (!to->has_sender)
        to->sender = s->pid;
    to->has_sender = true;
}

void ports_take_functions(void *own, const struct slice *values, size_t n)
{
    struct ports_read *r = own;
    struct cursor c;
    struct slice info;
    size_t count;
    const bool known = values && values_enter_list(values[0], &c, &count) && count == r->n_senders;
    (void)n;
    for (size_t i = 0; known && i < count && cursor_raw(&c, &info); i++)
        count_sender(r, &r->senders[i], info);
    for (size_t i = 0; i < r->n_held; i++) {
        struct port *p = r->held[i];
        const bool is_only = find_only(r, p->link > 0) == p;
        if (p->writers == 0 && !(known && r->has_processes && is_only))
            p->writers = -1;
    }
}
