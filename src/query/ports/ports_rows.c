/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked about those of the answer. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "ports_internal.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/scan/scan_table.h"
#include "query/who/who.h"

/* ---- ports */

static bool is_port(const struct port *p)
{
    return !p->is_socket;
}

bool ports_ask_owners(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    r->at = 0;
    r->n_rows = port_table_rank(&r->table, r->look, r->rows, PORTS_ROWS);
    if (ports_choose_rows(r, PORTS_ROWS, is_port) == 0)
        return false;
    ports_add_zip(r, calls, "erlang", "port_info", "connected");
    ports_add_zip(r, calls, "erlang", "port_info", "os_pid");
    return true;
}

void ports_take_owners(void *own, const struct slice *values, size_t n)
{
    struct ports_read *r = own;
    (void)n;
    if (!values)
        return;
    ports_take_each(r, values[0], ports_take_owner);
    ports_take_each(r, values[1], ports_take_os_pid);
}

bool ports_ask_status(void *own, struct run_calls *calls)
{
    if (ports_choose_rows(own, PORTS_ROWS, ports_is_inet) == 0)
        return false;
    ports_add_each(own, calls, "prim_inet", "getstatus");
    return true;
}

void ports_take_status(void *own, const struct slice *values, size_t n)
{
    (void)n;
    if (values)
        ports_take_each(own, values[0], ports_take_flags);
}

/* They are asked for again until both are known; who listens has no other end. */
static bool needs_addresses(const struct port *p)
{
    const bool listens = p->state && strcmp(p->state, "listening") == 0;
    return ports_is_inet(p) && (!p->local || !p->remote) && !(p->has_names && listens);
}

bool ports_ask_addresses(void *own, struct run_calls *calls)
{
    if (ports_choose_rows(own, PORTS_ROWS, needs_addresses) == 0)
        return false;
    ports_add_each(own, calls, "prim_inet", "sockname");
    ports_add_each(own, calls, "prim_inet", "peername");
    return true;
}

void ports_take_addresses(void *own, const struct slice *values, size_t n)
{
    struct ports_read *r = own;
    (void)n;
    if (!values)
        return;
    ports_take_each(r, values[0], ports_take_local);
    ports_take_each(r, values[1], ports_take_remote);
}

/* What the kernel says of a connection: the first 60 bytes of struct tcp_info of Linux. */
static bool has_kernel(const struct port *p)
{
    return ports_is_inet(p) && p->kind == PORT_TCP && !p->is_local;
}

bool ports_ask_kernel(void *own, struct run_calls *calls)
{
    if (ports_choose_rows(own, PORTS_ROWS, has_kernel) == 0)
        return false;
    ports_add_zip(own, calls, "prim_inet", "getopts", "[{raw,6,11,60}]");
    return true;
}

void ports_take_kernel(void *own, const struct slice *values, size_t n)
{
    (void)n;
    if (values)
        ports_take_each(own, values[0], ports_take_tcp);
}

/* ---- whose names the answer has */

static int order_by_pid(const void *a, const void *b)
{
    return scan_compare_pids(a, b);
}

static size_t add_named(struct etf_pid *out, size_t n, bool known, const struct etf_pid *pid)
{
    if (known && n < WHO_MOST)
        out[n++] = *pid;
    return n;
}

/* Those that wait first: owners may be more than are named. */
size_t ports_whom(void *read, struct etf_pid *out)
{
    const struct ports_read *r = read;
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < r->n_rows; i++)
        n = add_named(out, n, r->rows[i]->has_sender, &r->rows[i]->sender);
    for (size_t i = 0; i < r->n_rows; i++)
        n = add_named(out, n, r->rows[i]->has_owner, &r->rows[i]->owner);
    qsort(out, n, sizeof *out, order_by_pid);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || scan_compare_pids(&out[kept - 1], &out[i]) != 0)
            out[kept++] = out[i];
    return kept;
}
