/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Terms, patterns and guards in Elixir's spelling, with Elixir's precedence. The trees are
 * Erlang's: strings are binaries, aliases are atoms, guards are Erlang's (elixir_guard.c). */
#include <string.h>

#include "parse.h"
#include "parse_ex.h"

static struct node *parse_bytes(struct parser *p)
{
    struct node *n = parser_leaf(p, NODE_BINARY);
    if (n)
        n->bits = n->text.len * 8;
    return n;
}

/* `key: value` as {key, value}. */
static struct node *parse_pair(struct parser *p, struct node_list *flat)
{
    struct node *key = parser_leaf(p, NODE_ATOM);
    if (!key)
        return NULL;
    key->to -= 1; /* the colon */
    struct node *value = parse_elixir_term(p);
    if (!value)
        return NULL;
    if (flat)
        return parser_push(p, flat, key) && parser_push(p, flat, value) ? value : NULL;
    return parser_pair(p, NODE_TUPLE, key->from, key, value);
}

/* `a: 1, b: 2` where the last argument of a call may stand. */
static struct node *parse_keywords(struct parser *p)
{
    struct node *n = parser_node(p, NODE_LIST, p->token.from);
    struct node_list items = {0};
    if (!n)
        return NULL;
    do {
        if (p->token.kind != TOKEN_KEY)
            return parser_expected(p, "another `key: value`");
        if (!parser_push(p, &items, parse_pair(p, NULL)))
            return NULL;
    } while (parser_take(p, ","));
    parser_items(n, &items);
    n->to = p->last;
    return n;
}

struct node *parse_elixir_argument(struct parser *p)
{
    return p->token.kind == TOKEN_KEY ? parse_keywords(p) : parse_elixir_term(p);
}

static struct node *parse_ex_items(struct parser *p, enum node_kind kind, const char *close,
                                   const char *what)
{
    size_t from = p->token.from;
    parser_next(p);
    struct node *n = parser_node(p, kind, from);
    struct node_list items = {0};
    if (!n)
        return NULL;
    if (!parser_take(p, close)) {
        do {
            bool pair = kind == NODE_LIST && p->token.kind == TOKEN_KEY;
            if (!parser_push(p, &items, pair ? parse_pair(p, NULL) : parse_elixir_argument(p)))
                return NULL;
        } while (parser_take(p, ","));
        if (kind == NODE_LIST && parser_take(p, "|") && !(n->tail = parse_elixir_term(p)))
            return NULL;
        if (!parser_need(p, close, what))
            return NULL;
    }
    parser_flatten(p, n, &items);
    n->to = p->last;
    return n;
}

/* Keys and values up to `}`; of structs the keys are fields. */
static bool parse_map_items(struct parser *p, struct node *n, struct node_list items)
{
    if (!parser_take(p, "}")) {
        do {
            if (p->token.kind == TOKEN_KEY) {
                if (!parse_pair(p, &items))
                    return false;
                continue;
            }
            if (n->kind == NODE_STRUCT)
                return parser_expected(p, "a field, as in `price: p`") != NULL;
            if (!parser_push(p, &items, parse_elixir_term(p)) ||
                !parser_need(p, "=>", "`=>` and the value of that key") ||
                !parser_push(p, &items, parse_elixir_term(p)))
                return false;
        } while (parser_take(p, ","));
        if (!parser_need(p, "}", "`,` or `}` of the map"))
            return false;
    }
    parser_items(n, &items);
    n->to = p->last;
    return true;
}

/* %{…}, %Name{…}, %_{…}: any struct is a map that has the key. */
static struct node *parse_ex_map(struct parser *p)
{
    size_t from = p->token.from;
    parser_next(p);
    struct token name = p->token;
    bool named = name.kind == TOKEN_UPPER || name.kind == TOKEN_ATOM;
    bool any = !p->values && token_is_word(&name, "_");
    if (named || any)
        parser_next(p);
    struct node *n = parser_node(p, named ? NODE_STRUCT : NODE_MAP, from);
    struct node_list items = {0};
    if (!n || (any && (!parser_push(p, &items, parser_atom(p, "__struct__", from)) ||
                       !parser_push(p, &items, parser_node(p, NODE_ANY, from)))))
        return NULL;
    if (named)
        n->text = name.text;
    if (!parser_need(p, "{", named ? "`{` and the struct's fields" : "`{` or a struct's name"))
        return NULL;
    return parse_map_items(p, n, items) ? n : NULL;
}

/* `pid(0, 41, 0)` is what iex prints as #PID<0.41.0>. */
static struct node *parse_ex_pid(struct parser *p, size_t from)
{
    int64_t numbers[3] = {0};
    for (size_t i = 0; i < 3; i++) {
        if (i > 0 && !parser_need(p, ",", "`,`"))
            return NULL;
        if (p->token.kind != TOKEN_INTEGER || p->token.text.len > 0 || p->token.number > UINT32_MAX)
            return parser_expected(p, "a number of the pid, as in pid(0, 41, 0)");
        numbers[i] = p->token.number;
        parser_next(p);
    }
    if (!parser_need(p, ")", "`)`"))
        return NULL;
    struct node *n = parser_node(p, NODE_PID, from);
    if (n) {
        n->number = numbers[1];
        n->serial = (uint32_t)numbers[2];
    }
    return n;
}

static struct node *parse_ex_call(struct parser *p, const struct token *name, bool erlang)
{
    struct node_list items = {0};
    parser_next(p); /* ( */
    if (slice_is(name->text, "pid"))
        return parse_ex_pid(p, name->from);
    if (!p->values)
        return parser_fail(p, name->from, "a call cannot stand in a pattern; put it behind `when`");
    return parse_items(p, &items, ")", "`,` or `)`") ? elixir_call(p, name, &items, erlang) : NULL;
}

/* map.field, as Elixir's guards read it. */
static struct node *parse_fields(struct parser *p, struct node *n)
{
    while (n && p->values && parser_take(p, ".")) {
        if (p->token.kind != TOKEN_WORD)
            return parser_expected(p, "a field's name");
        struct node *key = parser_leaf(p, NODE_ATOM);
        n = elixir_bif(p, "map_get", key, n, n->from);
    }
    return n;
}

static struct node *parse_word(struct parser *p)
{
    static const char *const atoms[] = {"nil", "true", "false"};
    static const char *const reserved[] = {"when", "and", "or", "not", "in", "fn", "do", "end"};
    struct token t = p->token;
    for (size_t i = 0; i < 3; i++)
        if (slice_is(t.text, atoms[i]))
            return parser_leaf(p, NODE_ATOM);
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (slice_is(t.text, reserved[i]))
            return parser_expected(p, p->values ? "a value" : "a term");
    parser_next(p);
    if (token_is(&p->token, "("))
        return parse_ex_call(p, &t, false);
    bool any = t.text.s[0] == '_' && t.text.len == 1;
    if (any && p->values)
        return parser_fail(p, t.from, "_ has no value; give it a name to use it here");
    struct node *n = parser_node(p, any ? NODE_ANY : NODE_VAR, t.from);
    if (n && !any)
        n->text = t.text;
    return any ? n : parse_fields(p, n);
}

static struct node *parse_ex_atom(struct parser *p)
{
    bool all = p->values && slice_is(p->token.text, "$_");
    bool erlang = slice_is(p->token.text, "erlang");
    bool kernel =
        slice_is(p->token.text, "Elixir.Kernel") || slice_is(p->token.text, "Elixir.Bitwise");
    struct node *n = parser_leaf(p, all ? NODE_ALL : NODE_ATOM);
    if (!n || !p->values || !(erlang || kernel) || !parser_take(p, "."))
        return n;
    struct token name = p->token;
    if (name.kind != TOKEN_WORD)
        return parser_expected(p, "a function of guards");
    parser_next(p);
    if (!token_is(&p->token, "("))
        return parser_expected(p, "`(`");
    size_t from = n->from;
    n = parse_ex_call(p, &name, erlang);
    if (n)
        n->from = from;
    return n;
}

static struct node *parse_ex_parens(struct parser *p)
{
    size_t from = p->token.from;
    parser_next(p);
    struct node *n = parse_elixir_term(p);
    if (!n || !parser_need(p, ")", "`)`"))
        return NULL;
    n->from = from;
    n->to = p->last;
    return parse_fields(p, n);
}

static struct node *parse_ex_mark(struct parser *p)
{
    size_t from = p->token.from;
    if (token_is(&p->token, "{"))
        return parse_ex_items(p, NODE_TUPLE, "}", "`,` or `}` of the tuple");
    if (token_is(&p->token, "["))
        return parse_ex_items(p, NODE_LIST, "]", "`,`, `|` or `]` of the list");
    if (token_is(&p->token, "("))
        return parse_ex_parens(p);
    if (token_is(&p->token, "%"))
        return parse_ex_map(p);
    if (parser_take(p, "<<"))
        return parse_binary(p, from);
    if (token_is(&p->token, "^"))
        return parser_fail(p, from, "nothing is bound here that ^ could stand for");
    return parser_expected(p, p->values ? "a value" : "a term");
}

static struct node *parse_ex_primary(struct parser *p)
{
    struct node *n;
    switch (p->token.kind) {
    case TOKEN_WORD:
        return parse_word(p);
    case TOKEN_ATOM:
    case TOKEN_UPPER:
        return parse_ex_atom(p);
    case TOKEN_STRING:
        return parse_bytes(p);
    case TOKEN_CHARS:
        return parser_leaf(p, NODE_STRING);
    default:
        return parser_constant(p, &n) ? n : parse_ex_mark(p);
    }
}

/* Elixir's operators of two sides, tightest first, and what Erlang has in their place. */
/* clang-format off */
enum level {
    LEVEL_MULTIPLY, LEVEL_ADD, LEVEL_APPEND, LEVEL_IN, LEVEL_SHIFT, LEVEL_COMPARE, LEVEL_EQUAL,
    LEVEL_AND, LEVEL_OR,
};
/* clang-format on */
static const struct operator operators[] = {
    {"*", "*", LEVEL_MULTIPLY, false},   {"/", "/", LEVEL_MULTIPLY, false},
    {"+", "+", LEVEL_ADD, false},        {"-", "-", LEVEL_ADD, false},
    {"++", "++", LEVEL_APPEND, false},   {"<>", "<>", LEVEL_APPEND, false},
    {"..", "..", LEVEL_APPEND, false},   {"in", "in", LEVEL_IN, true},
    {"not", "not in", LEVEL_IN, true},   {"<<<", "bsl", LEVEL_SHIFT, false},
    {">>>", "bsr", LEVEL_SHIFT, false},  {"<", "<", LEVEL_COMPARE, false},
    {">", ">", LEVEL_COMPARE, false},    {"<=", "=<", LEVEL_COMPARE, false},
    {">=", ">=", LEVEL_COMPARE, false},  {"==", "==", LEVEL_EQUAL, false},
    {"!=", "/=", LEVEL_EQUAL, false},    {"===", "=:=", LEVEL_EQUAL, false},
    {"!==", "=/=", LEVEL_EQUAL, false},  {"and", "andalso", LEVEL_AND, true},
    {"&&", "andalso", LEVEL_AND, false}, {"&&&", "band", LEVEL_AND, false},
    {"or", "orelse", LEVEL_OR, true},    {"||", "orelse", LEVEL_OR, false},
    {"|||", "bor", LEVEL_OR, false},     {NULL, NULL, 0, false},
};
static const struct operator prefixes[] = {
    {"-", "-", LEVEL_SIGN, false},
    {"+", "+", LEVEL_SIGN, false},
    {"not", "not", LEVEL_TIGHTEST, true},
    {"!", "not", LEVEL_TIGHTEST, false},
    {NULL, NULL, 0, false},
};

static const struct operator* ex_operator(const struct parser *p)
{
    return parser_operator(p, operators, LEVEL_APPEND);
}

/* "ab" <> rest: a binary with what follows it. */
static struct node *join_binaries(struct parser *p, struct node *left, struct node *right)
{
    if (left->kind != NODE_BINARY || left->tail || left->gap > 0 || left->bits % 8 != 0)
        return parser_fail(p, left->from, "only a string that is written out may stand before <>");
    bool rest = right->kind == NODE_VAR || right->kind == NODE_ANY;
    if (!rest && right->kind != NODE_BINARY)
        return parser_fail(p, right->from, "expected a string or a variable after <>");
    struct node *n = parser_node(p, NODE_BINARY, left->from);
    if (!n)
        return NULL;
    n->text = left->text;
    n->bits = left->bits;
    n->tail = rest ? right : right->tail;
    n->gap = right->gap;
    n->unit = rest ? 8 : right->unit;
    if (!rest) {
        char *s = arena_alloc(p->arena, left->text.len + right->text.len + 1);
        memcpy(s, left->text.s, left->text.len);
        memcpy(s + left->text.len, right->text.s, right->text.len);
        n->text = (struct slice){s, left->text.len + right->text.len};
        n->bits = left->bits + right->bits;
    }
    return n;
}

static struct node *combine_sides(struct parser *p, const struct operator* o, struct node *left,
                                  struct node *right)
{
    if (strcmp(o->erlang, "++") == 0)
        return parser_append(p, left, right);
    if (strcmp(o->erlang, "<>") == 0)
        return join_binaries(p, left, right);
    if (strcmp(o->erlang, "..") == 0)
        return p->values ? parser_op(p, "..", left, right)
                         : parser_fail(p, left->from, "a range cannot stand in a pattern");
    if (o->level == LEVEL_IN)
        return elixir_in(p, left, right, o->erlang[0] == 'n');
    return parser_op(p, o->erlang, left, right);
}

static struct node *parse_ex_operators(struct parser *p, int level)
{
    if (level < 0)
        return parser_unary(p, prefixes, parse_ex_primary);
    struct node *left = parse_ex_operators(p, level - 1);
    const struct operator* o;
    while (left && (o = ex_operator(p)) && (int)o->level == level) {
        if (!parser_enter(p))
            return NULL;
        parser_next(p);
        if (strcmp(o->erlang, "not in") == 0 && !parser_take_word(p, "in"))
            return parser_expected(p, "`in`");
        struct node *right = parse_ex_operators(p, level == LEVEL_APPEND ? level : level - 1);
        parser_leave(p);
        left = right ? combine_sides(p, o, left, right) : NULL;
    }
    return left;
}

struct node *parse_elixir_term(struct parser *p)
{
    if (!parser_enter(p))
        return NULL;
    struct node *n = parse_ex_operators(p, p->values ? LEVEL_OR : LEVEL_APPEND);
    if (n && !p->values && parser_take(p, "="))
        n = parser_alias(p, n, parse_elixir_term(p));
    if (n && p->values && token_is(&p->token, "="))
        n = parser_fail(p, p->token.from, "compare with == or ===, not =");
    if (n && n->kind == NODE_OP && slice_is(n->text, ".."))
        n = parser_fail(p, n->from, "a range can only follow `in`");
    parser_leave(p);
    return n;
}

/* `when A when B` is Elixir's `;`. */
struct node *parse_elixir_guard(struct parser *p)
{
    bool values = p->values;
    p->values = true;
    struct node *left = parse_elixir_term(p);
    while (left && parser_take_word(p, "when")) {
        struct node *right = parse_elixir_term(p);
        left = right ? parser_op(p, ";", left, right) : NULL;
    }
    p->values = values;
    return left;
}
