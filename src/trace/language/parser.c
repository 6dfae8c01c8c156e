/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parsers of both syntaxes share: the next token, nodes, limits, errors. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "parse.h"

enum { SHOWN_TOKEN_BYTES = 24 };

void *parser_fail(struct parser *p, size_t at, const char *fmt, ...)
{
    if (p->failed)
        return NULL;
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    p->failed = true;
    p->fail_at = at;
    error_set(p->err, ERR_USAGE, "%s", text);
    return NULL;
}

void *parser_expected(struct parser *p, const char *what)
{
    const struct token *t = &p->token;
    if (t->kind == TOKEN_WRONG)
        return parser_fail(p, p->lex.wrong_at, "%s", p->lex.wrong);
    if (t->kind == TOKEN_END)
        return parser_fail(p, t->from, "expected %s, but the text ends", what);
    size_t len = t->to - t->from;
    bool whole = len <= SHOWN_TOKEN_BYTES;
    if (!whole)
        for (len = SHOWN_TOKEN_BYTES; len > 0 && (p->lex.text[t->from + len] & 0xc0) == 0x80;)
            len--;
    return parser_fail(p, t->from, "expected %s, not %.*s%s", what, (int)len, p->lex.text + t->from,
                       whole ? "" : "…");
}

void *parser_no_bif(struct parser *p, const struct token *name)
{
    const char *near = words_nearest(pattern_guards, name->text);
    return parser_fail(p, name->from, "%.*s is not allowed in a guard%s%s%s", (int)name->text.len,
                       name->text.s, near ? "; did you mean " : "", near ? near : "",
                       near ? "?" : "");
}

void parser_next(struct parser *p)
{
    p->last = p->token.to;
    lex_next(&p->lex, &p->token);
}

bool parser_take(struct parser *p, const char *mark)
{
    if (!token_is(&p->token, mark))
        return false;
    parser_next(p);
    return true;
}

bool parser_is_word(const struct parser *p, const char *word)
{
    return token_is_word(&p->token, word);
}

bool parser_take_word(struct parser *p, const char *word)
{
    if (!parser_is_word(p, word))
        return false;
    parser_next(p);
    return true;
}

bool parser_need(struct parser *p, const char *mark, const char *what)
{
    if (parser_take(p, mark))
        return true;
    parser_expected(p, what);
    return false;
}

struct node *parser_node(struct parser *p, enum node_kind kind, size_t from)
{
    if (p->failed)
        return NULL;
    if (++p->nodes > LIMIT_PATTERN_NODES)
        return parser_fail(p, from, "a pattern of more than %d parts", LIMIT_PATTERN_NODES);
    struct node *n = arena_alloc(p->arena, sizeof(*n));
    n->kind = kind;
    n->from = from;
    n->to = p->last;
    n->text = n->module = (struct slice){"", 0};
    return n;
}

struct node *parser_atom(struct parser *p, const char *name, size_t from)
{
    struct node *n = parser_node(p, NODE_ATOM, from);
    if (n)
        n->text = slice_of(name);
    return n;
}

struct node *parser_leaf(struct parser *p, enum node_kind kind)
{
    struct token t = p->token;
    parser_next(p);
    struct node *n = parser_node(p, kind, t.from);
    if (!n)
        return NULL;
    if (kind != NODE_ANY && kind != NODE_ALL)
        n->text = t.text;
    n->number = t.number;
    n->serial = t.serial;
    n->real = t.real;
    return n;
}

bool parser_constant(struct parser *p, struct node **out)
{
    static const struct {
        enum token_kind token;
        enum node_kind node;
    } constants[] = {
        {TOKEN_INTEGER, NODE_INTEGER}, {TOKEN_FLOAT, NODE_FLOAT}, {TOKEN_PID, NODE_PID},
        {TOKEN_PORT, NODE_PORT},       {TOKEN_REF, NODE_REF},
    };
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
        if (p->token.kind != constants[i].token)
            continue;
        *out = parser_leaf(p, constants[i].node);
        return true;
    }
    return false;
}

struct node *parser_pair(struct parser *p, enum node_kind kind, size_t from, struct node *a,
                         struct node *b)
{
    struct node *n = a ? parser_node(p, kind, from) : NULL;
    if (!n)
        return NULL;
    n->items = arena_alloc(p->arena, 2 * sizeof(*n->items));
    n->items[0] = a;
    n->items[1] = b;
    n->n_items = b ? 2 : 1;
    return n;
}

struct node *parser_op(struct parser *p, const char *op, struct node *a, struct node *b)
{
    struct node *n = a ? parser_pair(p, NODE_OP, a->from, a, b) : NULL;
    if (n)
        n->text = slice_of(op);
    return n;
}

bool parser_enter(struct parser *p)
{
    if (p->failed)
        return false;
    if (++p->depth <= LIMIT_PATTERN_DEPTH)
        return true;
    parser_fail(p, p->token.from, "a pattern nested deeper than %d", LIMIT_PATTERN_DEPTH);
    return false;
}

void parser_leave(struct parser *p)
{
    p->depth--;
}

bool parser_push(struct parser *p, struct node_list *list, struct node *n)
{
    if (!n)
        return false;
    if (list->n == list->cap) {
        list->cap = list->cap == 0 ? 4 : list->cap * 2;
        struct node **more = arena_alloc(p->arena, list->cap * sizeof(struct node *));
        if (list->n > 0)
            memcpy(more, list->items, list->n * sizeof(struct node *));
        list->items = more;
    }
    list->items[list->n++] = n;
    return true;
}

void parser_items(struct node *n, const struct node_list *list)
{
    n->items = list->items;
    n->n_items = list->n;
}

void parser_flatten(struct parser *p, struct node *list, struct node_list *items)
{
    struct node *tail = list->tail;
    if (tail && tail->kind == NODE_LIST) {
        for (size_t i = 0; i < tail->n_items; i++)
            parser_push(p, items, tail->items[i]);
        list->tail = tail->tail;
    }
    parser_items(list, items);
}

/* A string's code points, one node each. */
static bool code_points(struct parser *p, struct node_list *list, const struct node *string)
{
    for (size_t i = 0; i < string->text.len;) {
        int32_t codepoint;
        struct node *n = parser_node(p, NODE_INTEGER, string->from);
        if (!parser_push(p, list, n))
            return false;
        i += lex_codepoint(string->text, i, &codepoint);
        n->to = string->to;
        n->number = codepoint;
    }
    return true;
}

struct node *parser_append(struct parser *p, struct node *left, struct node *right)
{
    if (!left || !right)
        return NULL;
    bool list = left->kind == NODE_LIST && !left->tail;
    if (!list && left->kind != NODE_STRING)
        return parser_fail(p, left->from, "only a list that is written out may stand before ++");
    struct node *n = parser_node(p, NODE_LIST, left->from);
    struct node_list items = {0};
    if (!n || (!list && !code_points(p, &items, left)))
        return NULL;
    for (size_t i = 0; list && i < left->n_items; i++)
        parser_push(p, &items, left->items[i]);
    n->tail = right;
    if (right->kind == NODE_LIST || right->kind == NODE_STRING) {
        n->tail = right->tail;
        if (right->kind == NODE_STRING && !code_points(p, &items, right))
            return NULL;
        for (size_t i = 0; right->kind == NODE_LIST && i < right->n_items; i++)
            parser_push(p, &items, right->items[i]);
    }
    parser_items(n, &items);
    return n;
}

struct node *parser_alias(struct parser *p, struct node *left, struct node *right)
{
    if (!left || !right)
        return NULL;
    bool swap = left->kind == NODE_VAR && right->kind != NODE_VAR;
    struct node *pattern = swap ? right : left, *variable = swap ? left : right;
    if (variable->kind != NODE_VAR)
        return parser_fail(p, left->from, "one side of = has to be a variable");
    return parser_pair(p, NODE_ALIAS, left->from, pattern, variable);
}

/* The sign of a number is the number's own; of anything else it is an operator. */
static struct node *negate_node(struct parser *p, struct node *n, size_t from)
{
    static const char beyond[] = "9223372036854775808"; /* INT64_MAX + 1 */
    if (!n)
        return NULL;
    if (n->kind == NODE_FLOAT) {
        n->real = -n->real;
    } else if (n->kind == NODE_INTEGER && n->text.len == 0 && n->number == INT64_MIN) {
        n->number = 0;
        n->text = (struct slice){beyond, sizeof(beyond) - 1};
    } else if (n->kind == NODE_INTEGER && n->text.len == 0) {
        n->number = -n->number;
    } else if (n->kind == NODE_INTEGER && slice_is(n->text, beyond)) {
        n->number = INT64_MIN;
        n->text = (struct slice){"", 0};
    } else if (n->kind == NODE_INTEGER && n->text.s[0] == '-') {
        n->text = (struct slice){n->text.s + 1, n->text.len - 1};
    } else if (n->kind == NODE_INTEGER) {
        char *s = arena_printf(p->arena, "-%.*s", (int)n->text.len, n->text.s);
        n->text = slice_of(s);
    } else if (p->values) {
        n = parser_op(p, "-", n, NULL);
    } else {
        return parser_fail(p, from, "only a number may have a sign here");
    }
    if (n)
        n->from = from;
    return n;
}

const struct operator*
    parser_operator(const struct parser *p, const struct operator* table, int in_patterns)
{
    for (const struct operator* o = table; o->name; o++) {
        if (!p->values && o->level != in_patterns)
            continue;
        if (o->word ? parser_is_word(p, o->name) : token_is(&p->token, o->name))
            return o;
    }
    return NULL;
}

struct node *parser_unary(struct parser *p, const struct operator* prefixes,
                          struct node *(*primary)(struct parser *p))
{
    size_t from = p->token.from;
    const struct operator* o = parser_operator(p, prefixes, LEVEL_SIGN);
    if (!parser_enter(p))
        return NULL;
    struct node *n = NULL;
    if (!o) {
        n = primary(p);
    } else {
        parser_next(p);
        n = parser_unary(p, prefixes, primary);
        if (o->erlang[0] == '-')
            n = negate_node(p, n, from);
        else if (o->erlang[0] != '+')
            n = parser_op(p, o->erlang, n, NULL);
        if (n)
            n->from = from;
    }
    parser_leave(p);
    return n;
}
