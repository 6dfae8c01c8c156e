/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Elixir's guard functions and `in`, as Erlang has them. */

#include "parse_ex.h"

struct node *elixir_bif(struct parser *p, const char *name, struct node *a, struct node *b,
                        size_t from)
{
    struct node *n = parser_pair(p, NODE_CALL, from, a, b);
    if (n)
        n->text = slice_of(name);
    return n;
}

static struct node *make_op(struct parser *p, const char *name, struct node *a, struct node *b)
{
    return !a || !b ? NULL : parser_op(p, name, a, b);
}

/* Elixir counts a tuple's elements from 0. */
static struct node *make_elem(struct parser *p, struct node **args, size_t from)
{
    struct node *at = args[1];
    if (at->kind == NODE_INTEGER && at->text.len == 0 && at->number < INT64_MAX) {
        at->number++;
    } else {
        struct node *one = parser_node(p, NODE_INTEGER, at->from);
        if (!one)
            return NULL;
        one->number = 1;
        at = parser_op(p, "+", at, one);
    }
    return elixir_bif(p, "element", at, args[0], from);
}

static struct node *is_nil(struct parser *p, struct node **args, size_t from)
{
    return make_op(p, "=:=", args[0], parser_atom(p, "nil", from));
}

/* A struct is a map with the key __struct__, an atom; with a name, that one. */
static struct node *is_struct(struct parser *p, struct node *value, struct node *name, size_t from)
{
    static const char key[] = "__struct__";
    struct node *has = elixir_bif(p, "is_map_key", parser_atom(p, key, from), value, from);
    struct node *got = elixir_bif(p, "map_get", parser_atom(p, key, from), value, from);
    struct node *fits =
        name ? make_op(p, "=:=", got, name) : elixir_bif(p, "is_atom", got, NULL, from);
    struct node *map = elixir_bif(p, "is_map", value, NULL, from);
    return make_op(p, "andalso", make_op(p, "andalso", map, has), fits);
}

static struct node *any_struct(struct parser *p, struct node **args, size_t from)
{
    return is_struct(p, args[0], NULL, from);
}

static struct node *that_struct(struct parser *p, struct node **args, size_t from)
{
    return is_struct(p, args[0], args[1], from);
}

static struct node *is_map_key(struct parser *p, struct node **args, size_t from)
{
    return elixir_bif(p, "is_map_key", args[1], args[0], from);
}

/* Names that Erlang has not, or has with other arguments; either an operator or a function. */
static const struct other {
    const char *name;
    size_t n_args;
    const char *op;
    struct node *(*make)(struct parser *p, struct node **args, size_t from);
    /* clang-format off */
} others[] = {
    {"elem", 2, NULL, make_elem},        {"is_nil", 1, NULL, is_nil},
    {"is_struct", 1, NULL, any_struct},  {"is_struct", 2, NULL, that_struct},
    {"is_map_key", 2, NULL, is_map_key}, {"div", 2, "div", NULL},
    {"rem", 2, "rem", NULL},             {"band", 2, "band", NULL},
    {"bor", 2, "bor", NULL},             {"bxor", 2, "bxor", NULL},
    {"bsl", 2, "bsl", NULL},             {"bsr", 2, "bsr", NULL},
    {"bnot", 1, "bnot", NULL},           {"xor", 2, "xor", NULL},
};
/* clang-format on */

static const char *const not_elixir[] = {"is_record", "float", NULL};

static struct node *call_other(struct parser *p, const struct other *o, struct node **args,
                               size_t from)
{
    struct node *n = o->op ? parser_op(p, o->op, args[0], o->n_args > 1 ? args[1] : NULL)
                           : o->make(p, args, from);
    if (n) {
        n->from = from;
        n->to = p->last;
    }
    return n;
}

struct node *elixir_call(struct parser *p, const struct token *name,
                         const struct node_list *arguments, bool erlang)
{
    size_t takes = SIZE_MAX;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (!slice_is(name->text, others[i].name) || (erlang && !others[i].op))
            continue;
        takes = others[i].n_args;
        if (arguments->n == takes)
            return call_other(p, &others[i], arguments->items, name->from);
    }
    const struct pattern_word *bif = takes == SIZE_MAX ? guard_bif_find(name->text) : NULL;
    if (!bif && takes == SIZE_MAX)
        return parser_no_bif(p, name);
    for (size_t i = 0; !erlang && not_elixir[i]; i++)
        if (slice_is(name->text, not_elixir[i]))
            return parser_fail(p, name->from, "%s is Erlang's: write :erlang.%s", not_elixir[i],
                               not_elixir[i]);
    if (!bif || arguments->n < bif->least || arguments->n > bif->most) {
        size_t want = !bif ? takes : arguments->n < bif->least ? bif->least : bif->most;
        return parser_fail(p, name->from, "%.*s takes %zu argument%s, not %zu", (int)name->text.len,
                           name->text.s, want, want == 1 ? "" : "s", arguments->n);
    }
    struct node *n = parser_node(p, NODE_CALL, name->from);
    if (!n)
        return NULL;
    n->text = name->text;
    parser_items(n, arguments);
    return n;
}

static struct node *in_list(struct parser *p, struct node *value, struct node *list)
{
    struct node *any = NULL;
    for (size_t i = 0; i < list->n_items; i++) {
        struct node *same = make_op(p, "=:=", value, list->items[i]);
        any = any ? make_op(p, "orelse", any, same) : same;
        if (!any)
            return NULL;
    }
    return any ? any : parser_atom(p, "false", value->from);
}

static struct node *in_range(struct parser *p, struct node *value, struct node **ends)
{
    struct node *integer = elixir_bif(p, "is_integer", value, NULL, value->from);
    struct node *above = make_op(p, ">=", value, ends[0]),
                *below = make_op(p, "=<", value, ends[1]);
    return make_op(p, "andalso", make_op(p, "andalso", integer, above), below);
}

/* `not x in list` is not (x in list), as in Elixir. */
struct node *elixir_in(struct parser *p, struct node *value, struct node *range, bool negated)
{
    bool bare_not =
        value->kind == NODE_OP && slice_is(value->text, "not") && p->lex.text[value->from] != '(';
    struct node *n;
    if (bare_not)
        value = value->items[0];
    if (range->kind == NODE_LIST && !range->tail)
        n = in_list(p, value, range);
    else if (range->kind == NODE_OP && slice_is(range->text, ".."))
        n = in_range(p, value, range->items);
    else
        return parser_fail(p, range->from, "expected a list or a range behind `in`");
    if (bare_not)
        negated = !negated;
    return negated && n ? parser_op(p, "not", n, NULL) : n;
}
