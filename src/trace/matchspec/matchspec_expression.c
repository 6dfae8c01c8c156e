/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions of guards and actions. */
#include <assert.h>
#include <string.h>

#include "matchspec_internal.h"

/* Expressions that replace a function on releases without it. */
typedef struct spec *stand_in(struct scope *s, struct spec **args);

static struct spec *integer_of(struct scope *s, struct spec *condition, int64_t yes, int64_t no)
{
    struct spec *pairs[] = {spec_atom(s, "true"), spec_integer(s, yes), spec_atom(s, "false"),
                            spec_integer(s, no)};
    struct spec *map = spec_call(s, "const", spec_items(s, SPEC_MAP, pairs, 4), NULL);
    return spec_call(s, "map_get", condition, map, NULL);
}

/* size/1 takes binaries too: a minus sign before `false` raises, as tuple_size/1 does. */
static struct spec *tuple_size(struct scope *s, struct spec **args)
{
    struct spec *size = spec_call(s, "andalso", spec_call(s, "is_tuple", args[0], NULL),
                                  spec_call(s, "size", args[0], NULL), NULL);
    return spec_call(s, "-", spec_call(s, "-", size, NULL), NULL);
}

static struct spec *byte_size(struct scope *s, struct spec **args)
{
    struct spec *bits = spec_call(s, "bit_size", args[0], NULL);
    struct spec *up = spec_call(s, "+", bits, spec_integer(s, 7), NULL);
    return spec_call(s, "div", up, spec_integer(s, 8), NULL);
}

static struct spec *one_of(struct scope *s, const char *comparison, struct spec **args)
{
    struct spec *place = integer_of(s, spec_call(s, comparison, args[0], args[1], NULL), 1, 2);
    struct spec *pair = spec_tuple(s, args, 2);
    return spec_call(s, "element", place, spec_tuple(s, &pair, 1), NULL);
}

static struct spec *least_of(struct scope *s, struct spec **args)
{
    return one_of(s, "=<", args);
}

static struct spec *most_of(struct scope *s, struct spec **args)
{
    return one_of(s, ">=", args);
}

static struct spec *round_to(struct scope *s, struct spec *x, const char *comparison, int64_t by)
{
    struct spec *whole = spec_call(s, "trunc", x, NULL);
    struct spec *off = integer_of(s, spec_call(s, comparison, x, whole, NULL), by, 0);
    return spec_call(s, "+", whole, off, NULL);
}

static struct spec *round_down(struct scope *s, struct spec **args)
{
    return round_to(s, args[0], "<", -1);
}

static struct spec *round_up(struct scope *s, struct spec **args)
{
    return round_to(s, args[0], ">", 1);
}

static struct spec *is_boolean(struct scope *s, struct spec **args)
{
    return spec_call(s, "orelse", spec_call(s, "=:=", args[0], spec_atom(s, "true"), NULL),
                     spec_call(s, "=:=", args[0], spec_atom(s, "false"), NULL), NULL);
}

/* True for a term of none of the other types. */
static struct spec *is_bitstring(struct scope *s, struct spec **args)
{
    static const char *const others[] = {"is_atom",      "is_number", "is_list",
                                         "is_tuple",     "is_pid",    "is_port",
                                         "is_reference", "is_map",    "is_function"};
    struct spec *any = spec_atom(s, "false");
    for (size_t i = sizeof(others) / sizeof(others[0]); i-- > 0;)
        any = spec_call(s, "orelse", spec_call(s, others[i], args[0], NULL), any, NULL);
    return spec_call(s, "not", any, NULL);
}

static struct spec *is_between(struct scope *s, struct spec **args)
{
    struct spec *above = spec_call(s, "=<", args[1], args[0], NULL);
    struct spec *below = spec_call(s, "=<", args[0], args[2], NULL);
    return spec_call(s, "andalso", spec_call(s, "is_integer", args[0], NULL),
                     spec_call(s, "andalso", above, below, NULL), NULL);
}

/* A tuple whose size compares so, with that name as its first element. */
static struct spec *is_named_tuple(struct scope *s, struct spec **args, const char *comparison,
                                   struct spec *size)
{
    struct spec *first = spec_call(s, "element", spec_integer(s, 1), args[0], NULL);
    struct spec *fits = spec_call(s, comparison, spec_call(s, "size", args[0], NULL), size, NULL);
    struct spec *name = spec_call(s, "=:=", first, args[1], NULL);
    return spec_call(s, "andalso", spec_call(s, "is_tuple", args[0], NULL),
                     spec_call(s, "andalso", fits, name, NULL), NULL);
}

static struct spec *is_record(struct scope *s, struct spec **args)
{
    return is_named_tuple(s, args, ">", spec_integer(s, 0));
}

static struct spec *is_record_of(struct scope *s, struct spec **args)
{
    return is_named_tuple(s, args, "=:=", args[2]);
}

#define NEVER 1000 /* a release that is not there: the stand-in is always used */

/* Of guards, by arity. `since`: the release whose match specifications have it; 0: all do. */
static const struct function {
    const char *name;
    size_t arity;
    int since;
    stand_in *before; /* NULL: there is none, the pattern fails */
    /* clang-format off */
} functions[] = {
    {"+", 1, 0, NULL}, {"-", 1, 0, NULL}, {"bnot", 1, 0, NULL}, {"not", 1, 0, NULL},
    {"+", 2, 0, NULL}, {"-", 2, 0, NULL}, {"*", 2, 0, NULL}, {"/", 2, 0, NULL},
    {"div", 2, 0, NULL}, {"rem", 2, 0, NULL}, {"band", 2, 0, NULL}, {"bor", 2, 0, NULL},
    {"bxor", 2, 0, NULL}, {"bsl", 2, 0, NULL}, {"bsr", 2, 0, NULL}, {"and", 2, 0, NULL},
    {"or", 2, 0, NULL}, {"xor", 2, 0, NULL}, {"andalso", 2, 0, NULL}, {"orelse", 2, 0, NULL},
    {"==", 2, 0, NULL}, {"/=", 2, 0, NULL}, {"=<", 2, 0, NULL}, {"<", 2, 0, NULL},
    {">=", 2, 0, NULL}, {">", 2, 0, NULL}, {"=:=", 2, 0, NULL}, {"=/=", 2, 0, NULL},
    {"abs", 1, 0, NULL}, {"binary_part", 2, 25, NULL}, {"binary_part", 3, 25, NULL},
    {"bit_size", 1, 0, NULL}, {"byte_size", 1, 25, byte_size}, {"ceil", 1, 27, round_up},
    {"element", 2, 0, NULL}, {"float", 1, 0, NULL}, {"floor", 1, 27, round_down},
    {"hd", 1, 0, NULL}, {"is_atom", 1, 0, NULL}, {"is_binary", 1, 0, NULL},
    {"is_bitstring", 1, 27, is_bitstring}, {"is_boolean", 1, 27, is_boolean},
    {"is_float", 1, 0, NULL}, {"is_function", 1, 0, NULL}, {"is_function", 2, 27, NULL},
    {"is_integer", 1, 0, NULL}, {"is_integer", 3, 29, is_between}, {"is_list", 1, 0, NULL},
    {"is_map", 1, 0, NULL}, {"is_map_key", 2, 0, NULL}, {"is_number", 1, 0, NULL},
    {"is_pid", 1, 0, NULL}, {"is_port", 1, 0, NULL}, {"is_record", 2, NEVER, is_record},
    {"is_record", 3, NEVER, is_record_of}, {"is_reference", 1, 0, NULL},
    {"is_tuple", 1, 0, NULL}, {"length", 1, 0, NULL}, {"map_get", 2, 0, NULL},
    {"map_size", 1, 0, NULL}, {"max", 2, 27, most_of}, {"min", 2, 27, least_of},
    {"node", 0, 0, NULL}, {"node", 1, 0, NULL}, {"round", 1, 0, NULL}, {"self", 0, 0, NULL},
    {"size", 1, 0, NULL}, {"tl", 1, 0, NULL}, {"trunc", 1, 0, NULL},
    {"tuple_size", 1, 27, tuple_size},
};
/* clang-format on */

#define MOST_ARGUMENTS 3

static const struct function *function_find(const char *name, size_t arity)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (functions[i].arity == arity && strcmp(functions[i].name, name) == 0)
            return &functions[i];
    }
    return NULL;
}

int matchspec_guard_since(const char *name)
{
    int since = 0;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        const struct function *f = &functions[i];
        if (strcmp(f->name, name) == 0 && !f->before && f->since > since)
            since = f->since;
    }
    return since;
}

static struct spec *spec_of_call(struct scope *s, const struct node *n)
{
    const char *name = arena_strndup(&s->arena, n->text.s, n->text.len);
    if (strcmp(name, ",") == 0)
        name = "andalso";
    const struct function *f = function_find(name, n->n_items);
    if (!f)
        return scope_fail(s, n, "the VM knows no %s/%zu while it traces", name, n->n_items);
    struct spec *args[MOST_ARGUMENTS + 1] = {0};
    for (size_t i = 0; i < n->n_items; i++) {
        args[i] = spec_expression(s, n->items[i]);
        if (!args[i])
            return NULL;
    }
    if (scope_lacks(s, f->since)) {
        if (!f->before)
            return scope_fail(s, n, "OTP before %d knows no %s/%zu while it traces", f->since, name,
                              n->n_items);
        return f->before(s, args);
    }
    return spec_call(s, f->name, args[0], args[1], args[2], NULL);
}

static struct spec *spec_of_variable(struct scope *s, const struct node *n)
{
    struct spec_variable *found = scope_find(s, n->text);
    if (!found)
        return scope_fail(s, n, "%.*s is not bound: no pattern before has it", (int)n->text.len,
                          n->text.s);
    if (found->why)
        return scope_fail(s, n, "%s", found->why);
    return found->value;
}

/* Neither a tuple nor a special atom, and nothing that may have one in it. */
static bool is_plain(const struct spec *literal)
{
    return literal->kind == SPEC_ATOM ? !spec_is_special(literal->text)
                                      : literal->n_items == 0 && literal->kind != SPEC_TUPLE;
}

/* Data, so that neither tuples nor special atoms in it are taken for expressions. */
static struct spec *spec_of_constant(struct scope *s, const struct node *n)
{
    struct spec *literal = spec_literal(s, n);
    if (!literal)
        return NULL;
    return is_plain(literal) ? literal : spec_call(s, "const", literal, NULL);
}

static struct spec *test_record(struct scope *s, const struct node *n)
{
    const struct record_def *def = record_find(s, n);
    struct spec *value = def ? spec_expression(s, n->items[0]) : NULL;
    if (!value)
        return NULL;
    struct spec *args[] = {value, spec_call(s, "const", spec_name(s, n->text), NULL),
                           spec_integer(s, (int64_t)def->n_fields + 1)};
    return is_record_of(s, args);
}

/* The keys of a map that is made are data for OTP 23 and expressions for later releases. */
static struct spec *spec_of_key(struct scope *s, const struct node *n)
{
    struct spec *literal = node_is_literal(n) ? spec_literal(s, n) : NULL;
    if ((literal && is_plain(literal)) || s->err->code != ERR_NONE)
        return literal;
    return scope_fail(s, n,
                      "the keys of a map that is made here can be atoms, numbers and binaries");
}

static struct spec *spec_of_map(struct scope *s, const struct node *n)
{
    struct spec_list items = {0};
    for (size_t i = 0; i < n->n_items; i++) {
        bool is_key = i % 2 == 0;
        struct spec *item = is_key ? spec_of_key(s, n->items[i]) : spec_expression(s, n->items[i]);
        if (!item)
            return NULL;
        for (size_t j = 0; is_key && j < i; j += 2) {
            if (spec_equal(items.items[j], item))
                return scope_fail(s, n->items[i], "this key is there twice");
        }
        spec_add(s, &items, item);
    }
    return spec_items(s, SPEC_MAP, items.items, items.n);
}

static struct spec *spec_of_tuple(struct scope *s, const struct node *n)
{
    struct spec *tuple = spec_compound(s, SPEC_TUPLE, n, spec_expression);
    return tuple ? spec_tuple(s, &tuple, 1) : NULL;
}

struct spec *spec_expression(struct scope *s, const struct node *n)
{
    if (node_is_literal(n))
        return spec_of_constant(s, n);
    switch (n->kind) {
    case NODE_VAR:
        return spec_of_variable(s, n);
    case NODE_ALL:
        return s->all ? s->all : scope_fail(s, n, "this function's arguments are not known here");
    case NODE_OP:
    case NODE_CALL:
        return spec_of_call(s, n);
    case NODE_LIST:
        return spec_compound(s, SPEC_LIST, n, spec_expression);
    case NODE_TUPLE:
        return spec_of_tuple(s, n);
    case NODE_MAP:
        return spec_of_map(s, n);
    case NODE_TEST_RECORD:
        return test_record(s, n);
    case NODE_ANY:
        return scope_fail(s, n, "_ has no value: name it in the pattern before");
    case NODE_BINARY:
        return scope_fail(s, n, "the VM cannot put binaries together while it traces");
    case NODE_RECORD:
    case NODE_STRUCT:
        return scope_fail(s, n, "records and structs can be matched, not made");
    default:
        return scope_fail(s, n, "this can only be part of a pattern");
    }
}
