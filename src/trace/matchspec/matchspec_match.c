/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Guards that are true when the value of an expression matches a pattern. */
#include <assert.h>

#include "matchspec_internal.h"

static struct spec *quoted_literal(struct scope *s, const struct node *n)
{
    struct spec *literal = spec_literal(s, n);
    return literal ? spec_call(s, "const", literal, NULL) : NULL;
}

static bool match_literal(struct scope *s, const struct node *n, struct spec *value)
{
    struct spec *literal = quoted_literal(s, n);
    if (!literal)
        return false;
    scope_guard(s, spec_call(s, "=:=", value, literal, NULL));
    return true;
}

static bool match_variable(struct scope *s, const struct node *n, struct spec *value)
{
    struct spec_variable *found = scope_find(s, n->text);
    if (!found) {
        scope_bind(s, n->text, value, NULL);
        return true;
    }
    if (found->why)
        return scope_fail(s, n, "%s", found->why) != NULL;
    scope_guard(s, spec_call(s, "=:=", value, found->value, NULL));
    return true;
}

static bool match_list(struct scope *s, const struct node *n, struct spec *value)
{
    for (size_t i = 0; i < n->n_items; i++) {
        scope_guard(s, spec_call(s, "is_list", value, NULL));
        scope_guard(s, spec_call(s, "=/=", value, spec_new(s, SPEC_LIST), NULL));
        if (!spec_match(s, n->items[i], spec_call(s, "hd", value, NULL)))
            return false;
        value = spec_call(s, "tl", value, NULL);
    }
    if (n->tail)
        return spec_match(s, n->tail, value);
    scope_guard(s, spec_call(s, "=:=", value, spec_new(s, SPEC_LIST), NULL));
    return true;
}

static void match_size(struct scope *s, struct spec *value, size_t size)
{
    scope_guard(s, spec_call(s, "is_tuple", value, NULL));
    scope_guard(s, spec_call(s, "=:=", spec_call(s, "size", value, NULL),
                             spec_integer(s, (int64_t)size), NULL));
}

static bool match_element(struct scope *s, const struct node *n, struct spec *value, size_t i)
{
    return spec_match(s, n, spec_call(s, "element", spec_integer(s, (int64_t)i), value, NULL));
}

static bool match_tuple(struct scope *s, const struct node *n, struct spec *value)
{
    match_size(s, value, n->n_items);
    for (size_t i = 0; i < n->n_items; i++) {
        if (!match_element(s, n->items[i], value, i + 1))
            return false;
    }
    return true;
}

static void match_name(struct scope *s, const struct node *n, struct spec *value)
{
    struct spec *name = spec_call(s, "const", spec_name(s, n->text), NULL);
    scope_guard(s, spec_call(s, "=:=", value, name, NULL));
}

static bool match_record(struct scope *s, const struct node *n, struct spec *value)
{
    size_t count;
    const struct node **fields = record_fields(s, n, &count);
    if (!fields)
        return false;
    match_size(s, value, count + 1);
    match_name(s, n, spec_call(s, "element", spec_integer(s, 1), value, NULL));
    for (size_t i = 0; i < count; i++) {
        if (fields[i] && !match_element(s, fields[i], value, i + 2))
            return false;
    }
    return true;
}

static bool match_map(struct scope *s, const struct node *n, struct spec *value)
{
    scope_guard(s, spec_call(s, "is_map", value, NULL));
    if (n->kind == NODE_STRUCT) {
        size_t count;
        if (!record_fields(s, n, &count))
            return false;
        struct spec *key = spec_atom(s, "__struct__");
        scope_guard(s, spec_call(s, "is_map_key", key, value, NULL));
        match_name(s, n, spec_call(s, "map_get", key, value, NULL));
    }
    for (size_t i = 0; i < n->n_items; i += 2) {
        const struct node *k = n->items[i];
        struct spec *key = node_is_literal(k) ? quoted_literal(s, k) : spec_expression(s, k);
        if (!key)
            return false;
        scope_guard(s, spec_call(s, "is_map_key", key, value, NULL));
        if (!spec_match(s, n->items[i + 1], spec_call(s, "map_get", key, value, NULL)))
            return false;
    }
    return true;
}

/*
 * The least bit string of as many bits or fewer that is above all that start with this one: its
 * last 0 turned to 1, what follows dropped. NULL: nothing is above, all bits are 1. */
static struct spec *after_prefix(struct scope *s, const char *bytes, size_t bits)
{
    while (bits > 0 && bytes[(bits - 1) / 8] & (0x80 >> (bits - 1) % 8))
        bits--;
    if (bits == 0)
        return NULL;
    char *copy = arena_strndup(&s->arena, bytes, (bits + 7) / 8);
    size_t last = (bits - 1) / 8;
    unsigned char keep = (unsigned char)(0xff00u >> ((bits - 1) % 8 + 1));
    copy[last] = (char)(((unsigned char)copy[last] & keep) | 0x80 >> (bits - 1) % 8);
    return spec_bits(s, copy, bits);
}

/* Guards on the number of bits: exactly n, or n and more, in steps of a byte or a bit. */
static void match_bit_size(struct scope *s, const struct node *n, struct spec *value)
{
    size_t least = n->bits + n->gap;
    struct spec *size = spec_call(s, "bit_size", value, NULL);
    struct spec *bits = spec_integer(s, (int64_t)least);
    if (!n->tail) {
        scope_guard(s, spec_call(s, "=:=", size, bits, NULL));
        return;
    }
    if (n->unit == 1 || n->gap > 0) /* fails for terms that are not bit strings */
        scope_guard(s, spec_call(s, ">=", size, bits, NULL));
    if (n->unit == 1)
        return;
    if (least % 8 == 0) {
        scope_guard(s, spec_call(s, "is_binary", value, NULL));
        return;
    }
    struct spec *rest = spec_call(s, "-", size, bits, NULL);
    scope_guard(s, spec_call(s, "=:=", spec_call(s, "rem", rest, spec_integer(s, 8), NULL),
                             spec_integer(s, 0), NULL));
}

/*
 * Binaries are ordered by their bits, so those with a prefix are one range of that order: that asks
 * for no part of them, which releases before 25 could not cut out in a guard. */
static void match_prefix(struct scope *s, const struct node *n, struct spec *value)
{
    if (n->bits == 0)
        return;
    scope_guard(s, spec_call(s, ">=", value, spec_bits(s, n->text.s, n->bits), NULL));
    struct spec *after = after_prefix(s, n->text.s, n->bits);
    if (after)
        scope_guard(s, spec_call(s, "<", value, after, NULL));
}

/* Why a variable cannot have the rest of this binary; NULL: it can. */
static const char *why_no_rest(const struct scope *s, const struct node *n)
{
    if (n->unit == 1)
        return "the VM cannot cut bits out of a bit string: its rest can only be _";
    if ((n->bits + n->gap) % 8 != 0)
        return "the rest of this binary is not whole bytes from its start";
    return scope_lacks(s, 25) ? "OTP before 25 cannot cut a binary while it traces: "
                                "remove the variable of its tail"
                              : NULL;
}

static bool match_binary(struct scope *s, const struct node *n, struct spec *value)
{
    match_bit_size(s, n, value);
    match_prefix(s, n, value);
    if (!n->tail || n->tail->kind == NODE_ANY)
        return true;
    if (n->tail->kind != NODE_VAR)
        return scope_fail(s, n->tail, "after the start of a binary there can be _ or a variable") !=
               NULL;
    size_t before = n->bits + n->gap;
    if (before == 0)
        return match_variable(s, n->tail, value);
    const char *why = why_no_rest(s, n);
    if (why && scope_find(s, n->tail->text))
        return scope_fail(s, n->tail, "%s", why) != NULL;
    if (why) {
        scope_bind(s, n->tail->text, NULL, why);
        return true;
    }
    struct spec *start = spec_integer(s, (int64_t)before / 8);
    struct spec *size = spec_call(s, "-", spec_call(s, "byte_size", value, NULL), start, NULL);
    return match_variable(s, n->tail, spec_call(s, "binary_part", value, start, size, NULL));
}

bool spec_match(struct scope *s, const struct node *n, struct spec *value)
{
    switch (n->kind) {
    case NODE_ANY:
        return true;
    case NODE_VAR:
        return match_variable(s, n, value);
    case NODE_LIST:
        return match_list(s, n, value);
    case NODE_TUPLE:
        return match_tuple(s, n, value);
    case NODE_RECORD:
        return match_record(s, n, value);
    case NODE_MAP:
    case NODE_STRUCT:
        return match_map(s, n, value);
    case NODE_ALIAS:
        return spec_match(s, n->items[1], value) && spec_match(s, n->items[0], value);
    case NODE_BINARY:
        if (!node_is_literal(n))
            return match_binary(s, n, value);
        break;
    default:
        if (!node_is_literal(n))
            return scope_fail(s, n, "this cannot be part of a pattern; it can be in a guard") !=
                   NULL;
    }
    return match_literal(s, n, value);
}
