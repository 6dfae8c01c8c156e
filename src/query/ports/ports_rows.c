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

/* They are asked for again until both are known; who listens has no other end. */
static bool needs_addresses(const struct port *p)
{
    const bool listens = p->state && strcmp(p->state, "listening") == 0;
    return ports_is_inet(p) && (!p->local || !p->remote) && !(p->has_names && listens);
}

bool ports_ask_addresses(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    r->at = 0;
    r->n_rows = port_table_rank(&r->table, r->look, r->rows, PORTS_ROWS);
    if (ports_choose_rows(r, PORTS_ROWS, needs_addresses) == 0)
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

/* Owners of the rest, which stand together. */
static size_t add_rest_owners(struct ports_read *r, struct etf_pid *out, size_t n)
{
    size_t n_rest;
    struct port **rest = ports_list_rest(r, &n_rest);
    for (size_t i = 0; i < n_rest; i++)
        if (i == 0 || scan_compare_pids(&rest[i - 1]->owner, &rest[i]->owner) != 0)
            n = add_named(out, n, rest[i]->has_owner, &rest[i]->owner);
    free(rest);
    return n;
}

static size_t keep_once(struct etf_pid *out, size_t n)
{
    size_t kept = 0;
    qsort(out, n, sizeof *out, order_by_pid);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || scan_compare_pids(&out[kept - 1], &out[i]) != 0)
            out[kept++] = out[i];
    return kept;
}

/* Those that wait first: owners may be more than are named. */
size_t ports_whom(void *read, struct etf_pid *out)
{
    struct ports_read *r = read;
    size_t n = 0;
    for (size_t i = 0; i < r->n_rows; i++)
        n = add_named(out, n, r->rows[i]->has_sender, &r->rows[i]->sender);
    n = keep_once(out, n);
    for (size_t i = 0; i < r->n_rows; i++)
        n = add_named(out, n, r->rows[i]->has_owner, &r->rows[i]->owner);
    n = keep_once(out, n);
    return keep_once(out, add_rest_owners(r, out, n));
}
