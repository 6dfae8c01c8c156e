/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Terms that stand for themselves. */
#include "matchspec_internal.h"
#include "trace/language/lex.h"

bool node_is_literal(const struct node *n)
{
    switch (n->kind) {
    case NODE_INTEGER:
    case NODE_FLOAT:
    case NODE_ATOM:
    case NODE_STRING:
    case NODE_PID:
    case NODE_PORT:
    case NODE_REF:
        return true;
    case NODE_BINARY:
        return !n->tail && n->gap == 0;
    case NODE_LIST:
    case NODE_TUPLE:
    case NODE_MAP:
        for (size_t i = 0; i < n->n_items; i++) {
            if (!node_is_literal(n->items[i]))
                return false;
        }
        return !n->tail || node_is_literal(n->tail);
    default:
        return false;
    }
}

static struct spec *literal_leaf(struct scope *s, const struct node *n)
{
    bool of_node = n->kind == NODE_PID || n->kind == NODE_PORT || n->kind == NODE_REF;
    if (of_node && !s->options->node)
        return scope_fail(s, n, "a pid, port or reference can only be asked for on a node");
    struct spec *spec = spec_new(s, SPEC_LEAF);
    spec->node = n;
    return spec;
}

static struct spec *literal_atom(struct scope *s, const struct node *n)
{
    if (lex_characters(n->text) > 255)
        return scope_fail(s, n, "an atom has 255 characters at most");
    return spec_name(s, n->text);
}

static struct spec *literal_compound(struct scope *s, const struct node *n)
{
    enum spec_kind kind = n->kind == NODE_LIST    ? SPEC_LIST
                          : n->kind == NODE_TUPLE ? SPEC_TUPLE
                                                  : SPEC_MAP;
    struct spec *spec = spec_compound(s, kind, n, spec_literal);
    for (size_t i = 0; spec && kind == SPEC_MAP && i < spec->n_items; i += 2) {
        for (size_t j = 0; j < i; j += 2) {
            if (spec_equal(spec->items[i], spec->items[j]))
                return scope_fail(s, n->items[i], "this key is there twice");
        }
    }
    return spec;
}

struct spec *spec_literal(struct scope *s, const struct node *n)
{
    struct spec *spec;
    switch (n->kind) {
    case NODE_INTEGER:
        return n->text.len > 0 ? literal_leaf(s, n) : spec_integer(s, n->number);
    case NODE_FLOAT:
        spec = spec_new(s, SPEC_FLOAT);
        spec->real = n->real;
        return spec;
    case NODE_ATOM:
        return literal_atom(s, n);
    case NODE_BINARY:
        return spec_bits(s, n->text.s, n->bits);
    case NODE_LIST:
    case NODE_TUPLE:
    case NODE_MAP:
        return literal_compound(s, n);
    default:
        return literal_leaf(s, n);
    }
}

static bool leaf_equal(const struct node *a, const struct node *b)
{
    return a->kind == b->kind && a->number == b->number && a->serial == b->serial &&
           slice_equal(a->text, b->text);
}

bool spec_equal(const struct spec *a, const struct spec *b)
{
    if (a->kind != b->kind || a->n_items != b->n_items || a->number != b->number ||
        a->real < b->real || a->real > b->real || !slice_equal(a->text, b->text))
        return false;
    if (a->kind == SPEC_LEAF)
        return leaf_equal(a->node, b->node);
    for (size_t i = 0; i < a->n_items; i++) {
        if (!spec_equal(a->items[i], b->items[i]))
            return false;
    }
    if (!a->tail || !b->tail)
        return a->tail == b->tail;
    return spec_equal(a->tail, b->tail);
}
