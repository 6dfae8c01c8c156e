/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Terms, patterns and guards in Erlang's spelling, with Erlang's precedence. */
#include <string.h>

#include "parse.h"

/* Guards with `,` and `;`, which become that operator. */
static struct node *parse_alternatives(struct parser *p, const char *op);

static struct node *parse_erl_items(struct parser *p, struct node *n, const char *close,
                                    const char *what)
{
    struct node_list items = {0};
    if (!n || !parse_items(p, &items, close, what))
        return NULL;
    parser_items(n, &items);
    n->to = p->last;
    return n;
}

static struct node *parse_erl_tuple(struct parser *p)
{
    size_t from = p->token.from;
    parser_next(p);
    return parse_erl_items(p, parser_node(p, NODE_TUPLE, from), "}", "`,` or `}` of the tuple");
}

static struct node *parse_erl_list(struct parser *p)
{
    struct node *n = parser_node(p, NODE_LIST, p->token.from);
    struct node_list items = {0};
    parser_next(p);
    if (!n)
        return NULL;
    if (!parser_take(p, "]")) {
        do {
            if (!parser_push(p, &items, parse_erlang_term(p)))
                return NULL;
        } while (parser_take(p, ","));
        if (parser_take(p, "|") && !(n->tail = parse_erlang_term(p)))
            return NULL;
        if (!parser_need(p, "]", n->tail ? "`]` of the list" : "`,`, `|` or `]` of the list"))
            return NULL;
    }
    parser_flatten(p, n, &items);
    n->to = p->last;
    return n;
}

static struct node *parse_erl_map(struct parser *p, size_t from)
{
    struct node *n = parser_node(p, NODE_MAP, from);
    struct node_list items = {0};
    if (!n || parser_take(p, "}"))
        return n;
    do {
        if (!parser_push(p, &items, parse_erlang_term(p)))
            return NULL;
        if (!parser_take(p, ":=") && !parser_take(p, "=>"))
            return parser_expected(p, "`:=` and the value of that key");
        if (!parser_push(p, &items, parse_erlang_term(p)))
            return NULL;
    } while (parser_take(p, ","));
    if (!parser_need(p, "}", "`,` or `}` of the map"))
        return NULL;
    parser_items(n, &items);
    n->to = p->last;
    return n;
}

/* The `(` was taken. */
static struct node *parse_erl_call(struct parser *p, const struct token *name)
{
    const struct pattern_word *bif = guard_bif_find(name->text);
    if (!bif)
        return parser_no_bif(p, name);
    if (slice_is(name->text, "is_record"))
        return parse_erlang_is_record(p, name->from);
    struct node *n = parse_erl_items(p, parser_node(p, NODE_CALL, name->from), ")", "`,` or `)`");
    if (!n)
        return NULL;
    n->text = name->text;
    if (n->n_items < bif->least || n->n_items > bif->most)
        return parser_fail(p, name->from, "%s takes %u argument%s, not %zu", bif->word,
                           n->n_items < bif->least ? bif->least : bif->most,
                           bif->most == 1 ? "" : "s", n->n_items);
    return n;
}

static bool is_reserved(struct slice word)
{
    static const char *const words[] = {
        "after", "and",    "andalso", "band", "begin", "bnot", "bor", "bsl", "bsr",
        "bxor",  "case",   "catch",   "div",  "end",   "fun",  "if",  "not", "of",
        "or",    "orelse", "receive", "rem",  "try",   "when", "xor",
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (slice_is(word, words[i]))
            return true;
    return false;
}

/* An atom, or what begins with one: mod#rec{…}, a guard's call, erlang:call(…). */
static struct node *parse_erl_atom(struct parser *p)
{
    struct token t = p->token;
    const size_t from = t.from;
    if (t.kind == TOKEN_WORD && is_reserved(t.text))
        return parser_fail(p, t.from, "expected %s; as an atom it is '%.*s'",
                           p->values ? "a value" : "a term", (int)t.text.len, t.text.s);
    parser_next(p);
    if (parser_take(p, "#"))
        return parse_erlang_record(p, t.from, t.text, true);
    if (p->values && slice_is(t.text, "erlang") && parser_take(p, ":")) {
        t = p->token;
        if (!token_is_atom(&t))
            return parser_expected(p, "a function of guards");
        parser_next(p);
        if (!token_is(&p->token, "("))
            return parser_expected(p, "`(`");
    }
    if (token_is(&p->token, "(")) {
        if (!p->values)
            return parser_fail(p, t.from, "a call cannot stand in a pattern; put it behind `when`");
        parser_next(p);
        struct node *call = parse_erl_call(p, &t);
        if (call)
            call->from = from;
        return call;
    }
    bool all = p->values && slice_is(t.text, "$_");
    struct node *n = parser_node(p, all ? NODE_ALL : NODE_ATOM, t.from);
    if (n && !all)
        n->text = t.text;
    return n;
}

static struct node *parse_variable(struct parser *p)
{
    if (!slice_is(p->token.text, "_"))
        return parser_leaf(p, NODE_VAR);
    if (p->values)
        return parser_fail(p, p->token.from, "_ has no value; give it a name to use it here");
    return parser_leaf(p, NODE_ANY);
}

static struct node *parse_erl_string(struct parser *p)
{
    struct node *n = parser_leaf(p, NODE_STRING);
    while (n && p->token.kind == TOKEN_STRING) {
        struct slice more = p->token.text;
        char *s = arena_alloc(p->arena, n->text.len + more.len + 1);
        memcpy(s, n->text.s, n->text.len);
        memcpy(s + n->text.len, more.s, more.len);
        n->text = (struct slice){s, n->text.len + more.len};
        parser_next(p);
        n->to = p->last;
    }
    return n;
}

/* Whole guards may stand in parentheses, as in redbug: `not (X == a; X == b)`. */
static struct node *parse_erl_parens(struct parser *p)
{
    size_t from = p->token.from;
    parser_next(p);
    struct node *n = p->values ? parse_alternatives(p, "orelse") : parse_erlang_term(p);
    if (!n || !parser_need(p, ")", "`)`"))
        return NULL;
    n->from = from;
    n->to = p->last;
    return n;
}

static struct node *parse_erl_mark(struct parser *p)
{
    size_t from = p->token.from;
    if (token_is(&p->token, "{"))
        return parse_erl_tuple(p);
    if (token_is(&p->token, "["))
        return parse_erl_list(p);
    if (token_is(&p->token, "("))
        return parse_erl_parens(p);
    if (parser_take(p, "<<"))
        return parse_binary(p, from);
    if (parser_take(p, "#"))
        return parser_take(p, "{") ? parse_erl_map(p, from)
                                   : parse_erlang_record(p, from, (struct slice){"", 0}, true);
    return parser_expected(p, p->values ? "a value" : "a term");
}

static struct node *parse_erl_primary(struct parser *p)
{
    struct node *n;
    switch (p->token.kind) {
    case TOKEN_WORD:
    case TOKEN_ATOM:
        return parse_erl_atom(p);
    case TOKEN_UPPER:
        return parse_variable(p);
    case TOKEN_STRING:
        return parse_erl_string(p);
    default:
        return parser_constant(p, &n) ? n : parse_erl_mark(p);
    }
}

/*
 * Erlang's operators of two sides, tightest first; but `and`, `or` and `xor` join comparisons, as
 * in redbug: `A == 1 and B == 2`. In Erlang they bind as tightly as `*` and `+`. */
/* clang-format off */
enum {
    LEVEL_MULTIPLY, LEVEL_ADD, LEVEL_APPEND, LEVEL_COMPARE, LEVEL_AND, LEVEL_OR, LEVEL_ANDALSO,
    LEVEL_ORELSE,
};
static const struct operator operators[] = {
    {"*", "*", LEVEL_MULTIPLY, false},        {"/", "/", LEVEL_MULTIPLY, false},
    {"div", "div", LEVEL_MULTIPLY, true},     {"rem", "rem", LEVEL_MULTIPLY, true},
    {"band", "band", LEVEL_MULTIPLY, true},   {"+", "+", LEVEL_ADD, false},
    {"-", "-", LEVEL_ADD, false},             {"bor", "bor", LEVEL_ADD, true},
    {"bxor", "bxor", LEVEL_ADD, true},        {"bsl", "bsl", LEVEL_ADD, true},
    {"bsr", "bsr", LEVEL_ADD, true},          {"++", "++", LEVEL_APPEND, false},
    {"==", "==", LEVEL_COMPARE, false},       {"/=", "/=", LEVEL_COMPARE, false},
    {"=<", "=<", LEVEL_COMPARE, false},       {"<", "<", LEVEL_COMPARE, false},
    {">=", ">=", LEVEL_COMPARE, false},       {">", ">", LEVEL_COMPARE, false},
    {"=:=", "=:=", LEVEL_COMPARE, false},     {"=/=", "=/=", LEVEL_COMPARE, false},
    {"and", "and", LEVEL_AND, true},          {"or", "or", LEVEL_OR, true},
    {"xor", "xor", LEVEL_OR, true},           {"andalso", "andalso", LEVEL_ANDALSO, true},
    {"orelse", "orelse", LEVEL_ORELSE, true}, {NULL, NULL, 0, false},
};
/* clang-format on */
static const struct operator prefixes[] = {
    {"-", "-", LEVEL_SIGN, false},
    {"+", "+", LEVEL_SIGN, false},
    {"not", "not", LEVEL_TIGHTEST, true},
    {"bnot", "bnot", LEVEL_TIGHTEST, true},
    {NULL, NULL, 0, false},
};

static const struct operator* erl_operator(const struct parser *p)
{
    return parser_operator(p, operators, LEVEL_APPEND);
}

static struct node *parse_erl_operators(struct parser *p, int level)
{
    if (level < 0)
        return parser_unary(p, prefixes, parse_erl_primary);
    struct node *left = parse_erl_operators(p, level - 1);
    const struct operator* o;
    while (left && (o = erl_operator(p)) && o->level == level) {
        if (!parser_enter(p))
            return NULL;
        parser_next(p);
        bool right_first = level >= LEVEL_ANDALSO || level == LEVEL_APPEND;
        struct node *right = parse_erl_operators(p, right_first ? level : level - 1);
        parser_leave(p);
        if (!right)
            return NULL;
        left = level == LEVEL_APPEND ? parser_append(p, left, right)
                                     : parser_op(p, o->name, left, right);
        if (left && level == LEVEL_COMPARE && (o = erl_operator(p)) && o->level == level)
            return parser_fail(p, p->token.from, "comparisons do not chain: write andalso between");
    }
    return left;
}

/* Marks of other languages, where an operator could stand. */
static bool is_foreign(struct parser *p)
{
    static const struct {
        const char *mark, *erlang;
    } foreign[] = {
        {"<=", "=<"}, {"!=", "/="}, {"&&", "andalso"}, {"||", "orelse"}, {"=", "== or =:="},
    };
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        if (!token_is(&p->token, foreign[i].mark))
            continue;
        parser_fail(p, p->token.from, "Erlang writes %s, not %s", foreign[i].erlang,
                    foreign[i].mark);
        return true;
    }
    return false;
}

struct node *parse_erlang_term(struct parser *p)
{
    if (!parser_enter(p))
        return NULL;
    struct node *n = parse_erl_operators(p, p->values ? LEVEL_ORELSE : LEVEL_APPEND);
    if (n && !p->values && parser_take(p, "="))
        n = parser_alias(p, n, parse_erlang_term(p));
    if (n && p->values && is_foreign(p))
        n = NULL;
    parser_leave(p);
    return n;
}

static struct node *parse_conjunction(struct parser *p)
{
    struct node *left = parse_erlang_term(p);
    while (left && token_is(&p->token, ",") && !parser_at_action(p)) {
        parser_next(p);
        struct node *right = parse_erlang_term(p);
        left = right ? parser_op(p, "andalso", left, right) : NULL;
    }
    return left;
}

static struct node *parse_alternatives(struct parser *p, const char *op)
{
    struct node *left = parse_conjunction(p);
    while (left && token_is(&p->token, ";") && !parser_at_action(p)) {
        parser_next(p);
        struct node *right = parse_conjunction(p);
        left = right ? parser_op(p, op, left, right) : NULL;
    }
    return left;
}

struct node *parse_erlang_guard(struct parser *p)
{
    bool values = p->values;
    p->values = true;
    struct node *n = parse_alternatives(p, ";");
    p->values = values;
    return n;
}
