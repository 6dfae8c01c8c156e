/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked about those that are out. */
#include "ports_internal.h"
#include "query/native/args.h"
#include "query/native/values.h"

#define ITEM_US 4.0 /* at most, of one port, on a slow machine */

static void build_port(struct builder *b, const struct ports_read *r, const struct port *p)
{
    if (!p->is_socket) {
        values_build(b, p->term);
        return;
    }
    build_tuple(b, 2);
    build_atom(b, "$socket");
    build_ref(b, r->node, &p->ref);
}

struct builder *ports_build_terms(const struct ports_read *r, const char *module,
                                  const char *function, unsigned arity)
{
    struct builder *b = builder_new();
    build_list(b, arity + 1);
    build_export(b, module, function, arity);
    build_list(b, r->n_out);
    for (size_t i = 0; i < r->n_out; i++)
        build_port(b, r, r->out[i]);
    build_nil(b);
    return b;
}

void ports_build_same(struct builder *b, const char *text, size_t n)
{
    struct builder *same = args_of_text(text);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_term(b, same);
    build_nil(b);
    builder_free(same);
}

void ports_add_each(struct ports_read *r, struct run_calls *calls, const char *module,
                    const char *function)
{
    struct builder *b = ports_build_terms(r, module, function, 1);
    build_nil(b);
    run_add(calls, "lists", "map", b);
    calls->most_us += ITEM_US * (double)r->n_out;
}

void ports_add_zip(struct ports_read *r, struct run_calls *calls, const char *module,
                   const char *function, const char *second)
{
    struct builder *b = ports_build_terms(r, module, function, 2);
    ports_build_same(b, second, r->n_out);
    build_nil(b);
    run_add(calls, "lists", "zipwith", b);
    calls->most_us += ITEM_US * (double)r->n_out;
}

size_t ports_choose_rows(struct ports_read *r, size_t most, bool (*wants)(const struct port *p))
{
    for (r->n_out = 0; r->at < r->n_rows && r->n_out < most; r->at++)
        if (!r->rows[r->at]->is_gone && wants(r->rows[r->at]))
            r->out[r->n_out++] = r->rows[r->at];
    if (r->n_out == 0 || most >= PORTS_ROWS)
        r->at = 0;
    return r->n_out;
}

void ports_begin_looks(struct ports_read *r)
{
    for (size_t i = 0; i < r->n_out; i++)
        if (r->out[i])
            ports_begin_look(r, r->out[i]);
}

bool ports_is_inet(const struct port *p)
{
    return !p->is_socket && (p->kind == PORT_TCP || p->kind == PORT_UDP || p->kind == PORT_SCTP);
}
