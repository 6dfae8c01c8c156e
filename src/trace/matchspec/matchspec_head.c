/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Patterns: as terms of a clause's head where the VM matches those as Erlang does, and as guards on
 * a variable of the head where it does not. */
#include <assert.h>

#include "matchspec_internal.h"

/* Bound: a test that it is the same. Not bound: it is now. */
static struct spec *head_variable(struct scope *s, const struct node *n)
{
    struct spec_variable *found = scope_find(s, n->text);
    if (!found) {
        struct spec *fresh = scope_fresh(s);
        scope_bind(s, n->text, fresh, NULL);
        return fresh;
    }
    if (found->why)
        return scope_fail(s, n, "%s", found->why);
    s->narrow = true;
    if (found->value->kind == SPEC_ATOM)
        return found->value;
    struct spec *fresh = scope_fresh(s);
    scope_guard(s, spec_call(s, "=:=", fresh, found->value, NULL));
    return fresh;
}

static struct spec *head_items(struct scope *s, const struct node *n, enum spec_kind kind)
{
    s->narrow = true;
    return spec_compound(s, kind, n, spec_head);
}

/* Keys that the VM takes as they stand, each once. */
static bool keys_are_plain(const struct node *n)
{
    for (size_t i = 0; i < n->n_items; i += 2) {
        const struct node *key = n->items[i];
        if (key->kind != NODE_ATOM && (key->kind != NODE_BINARY || !node_is_literal(key)))
            return false;
        if (key->kind == NODE_ATOM && spec_is_special(key->text))
            return false;
        for (size_t j = 0; j < i; j += 2) {
            const struct node *other = n->items[j];
            if (other->kind == key->kind && slice_equal(other->text, key->text))
                return false;
        }
    }
    return true;
}

static struct spec *head_map(struct scope *s, const struct node *n)
{
    struct spec_list items = {0};
    s->narrow = true;
    for (size_t i = 0; i < n->n_items; i++) {
        struct spec *item = i % 2 == 0 ? spec_literal(s, n->items[i]) : spec_head(s, n->items[i]);
        if (!item)
            return NULL;
        spec_add(s, &items, item);
    }
    return spec_items(s, SPEC_MAP, items.items, items.n);
}

static struct spec *head_struct(struct scope *s, const struct node *n)
{
    size_t count;
    if (!record_fields(s, n, &count))
        return NULL;
    s->narrow = true;
    struct spec *name = spec_name(s, n->text);
    struct spec *map = head_map(s, n);
    if (!map)
        return NULL;
    struct spec_list items = {0};
    spec_add(s, &items, spec_atom(s, "__struct__"));
    spec_add(s, &items, name);
    for (size_t i = 0; i < map->n_items; i++)
        spec_add(s, &items, map->items[i]);
    return spec_items(s, SPEC_MAP, items.items, items.n);
}

static struct spec *head_record(struct scope *s, const struct node *n)
{
    size_t count;
    const struct node **fields = record_fields(s, n, &count);
    if (!fields)
        return NULL;
    struct spec_list items = {0};
    s->narrow = true;
    spec_add(s, &items, spec_name(s, n->text));
    for (size_t i = 0; i < count; i++) {
        struct spec *item = fields[i] ? spec_head(s, fields[i]) : spec_atom(s, "_");
        if (!item)
            return NULL;
        spec_add(s, &items, item);
    }
    return spec_tuple(s, items.items, items.n);
}

/* A variable in the head, and guards on it. */
static struct spec *head_by_guards(struct scope *s, const struct node *n)
{
    struct spec *fresh = scope_fresh(s);
    return spec_match(s, n, fresh) ? fresh : NULL;
}

static bool is_zero(double v)
{
    return !(v < 0) && !(v > 0);
}

struct spec *spec_head(struct scope *s, const struct node *n)
{
    switch (n->kind) {
    case NODE_ANY:
        return spec_atom(s, "_");
    case NODE_VAR:
        return head_variable(s, n);
    case NODE_ATOM:
        if (spec_is_special(n->text))
            return head_by_guards(s, n);
        break;
    case NODE_FLOAT: /* heads distinguish 0.0 from -0.0 where the language does not, before OTP 27
                      */
        if (is_zero(n->real))
            return head_by_guards(s, n);
        break;
    case NODE_BINARY:
        if (!node_is_literal(n))
            return head_by_guards(s, n);
        break;
    case NODE_LIST:
        return head_items(s, n, SPEC_LIST);
    case NODE_TUPLE:
        return head_items(s, n, SPEC_TUPLE);
    case NODE_MAP:
        return n->n_items > 0 && keys_are_plain(n) ? head_map(s, n) : head_by_guards(s, n);
    case NODE_STRUCT:
        return head_struct(s, n);
    case NODE_RECORD:
        return head_record(s, n);
    case NODE_ALIAS:
        return head_by_guards(s, n);
    default:
        if (!node_is_literal(n))
            return scope_fail(s, n, "this cannot be part of a pattern; it can be in a guard");
    }
    s->narrow = true;
    return spec_literal(s, n);
}
