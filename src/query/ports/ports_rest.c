/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Those that have no row of their own. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "ports_internal.h"
#include "query/scan/scan_table.h"

const char *ports_state(const struct port *p)
{
    return p->kernel ? p->kernel : p->state;
}

static int compare_numbers(unsigned a, unsigned b)
{
    return (a > b) - (a < b);
}

static unsigned number_of_kind(const struct port *p)
{
    return (unsigned)p->kind << 3 | (unsigned)p->is_socket << 2 | (unsigned)p->is_local << 1 |
           (p->link > 0);
}

int ports_compare_kinds(const void *a, const void *b)
{
    const struct port *x = *(struct port *const *)a, *y = *(struct port *const *)b;
    const char *s = ports_state(x), *t = ports_state(y);
    const int order = compare_numbers(number_of_kind(x), number_of_kind(y));
    return order ? order : strcmp(s ? s : "", t ? t : "");
}

int ports_compare_kin(const void *a, const void *b)
{
    const struct port *x = *(struct port *const *)a, *y = *(struct port *const *)b;
    const int known = compare_numbers(x->has_owner, y->has_owner);
    const int order = known || !x->has_owner ? known : scan_compare_pids(&x->owner, &y->owner);
    return order ? order : ports_compare_kinds(a, b);
}

static size_t add_rest(struct port **to, size_t n, struct port *all, size_t n_all)
{
    for (size_t i = 0; i < n_all; i++)
        if (!all[i].is_gone && !all[i].has_row)
            to[n++] = &all[i];
    return n;
}

struct port **ports_list_rest(struct ports_read *r, size_t *n)
{
    struct port_table *t = &r->table;
    struct port **rest = alloc_zero(t->n_ports + t->n_sockets + 1, sizeof(struct port *));
    for (size_t i = 0; i < t->n_ports; i++)
        t->ports[i].has_row = false;
    for (size_t i = 0; i < t->n_sockets; i++)
        t->sockets[i].has_row = false;
    for (size_t i = 0; i < r->n_rows; i++)
        r->rows[i]->has_row = true;
    *n = add_rest(rest, 0, t->ports, t->n_ports);
    *n = add_rest(rest, *n, t->sockets, t->n_sockets);
    qsort(rest, *n, sizeof(struct port *), ports_compare_kin);
    return rest;
}
