/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Erlang's records, and the tests for them. */

#include "parse.h"

/* `_` is every field that is not named. */
static struct node *parse_field(struct parser *p)
{
    if (p->token.kind == TOKEN_UPPER && slice_is(p->token.text, "_"))
        return parser_leaf(p, NODE_ANY);
    if (!token_is_atom(&p->token))
        return parser_expected(p, "a field's name");
    return parser_leaf(p, NODE_ATOM);
}

struct node *parse_erlang_record(struct parser *p, size_t from, struct slice module, bool fields)
{
    if (!token_is_atom(&p->token))
        return parser_expected(p, "a record's name");
    struct slice name = p->token.text;
    if (module.len == 0)
        module = p->module;
    if (module.len == 0)
        return parser_fail(p, from, "which module's record? write module#name{…}");
    parser_next(p);
    struct node *n = parser_node(p, NODE_RECORD, from);
    struct node_list items = {0};
    if (!n)
        return NULL;
    n->text = name;
    n->module = module;
    if (!fields || !parser_take(p, "{") || parser_take(p, "}"))
        return n;
    do {
        if (!parser_push(p, &items, parse_field(p)) ||
            !parser_need(p, "=", "`=` and the field's value") ||
            !parser_push(p, &items, parse_erlang_term(p)))
            return NULL;
    } while (parser_take(p, ","));
    if (!parser_need(p, "}", "`,` or `}` of the record"))
        return NULL;
    parser_items(n, &items);
    n->to = p->last;
    return n;
}

struct node *parse_erlang_is_record(struct parser *p, size_t from)
{
    struct node *n = parser_node(p, NODE_TEST_RECORD, from), *record = NULL;
    struct node_list items = {0};
    struct token first = p->token;
    struct lex back = p->lex;
    if (!n)
        return NULL;
    if (token_is_atom(&first)) {
        parser_next(p);
        if (parser_take(p, "#"))
            record = parse_erlang_record(p, first.from, first.text, false);
        else {
            p->lex = back;
            p->token = first;
        }
    } else if (parser_take(p, "#")) {
        record = parse_erlang_record(p, first.from, (struct slice){"", 0}, false);
    }
    if (p->failed)
        return NULL;
    bool turned = !record;
    if (!turned && !parser_need(p, ",", "`,` and the value to test"))
        return NULL;
    if (!parser_push(p, &items, parse_erlang_term(p)))
        return NULL;
    if (turned) {
        if (!parser_need(p, ",", "`,` and the record's name"))
            return NULL;
        if (!token_is_atom(&p->token))
            return parser_expected(p, "a record's name");
        if (!(record = parser_leaf(p, NODE_ATOM)))
            return NULL;
    }
    if (turned && parser_take(p, ",")) {
        n->kind = NODE_CALL;
        n->text = slice_of("is_record");
        if (!parser_push(p, &items, record) || !parser_push(p, &items, parse_erlang_term(p)))
            return NULL;
    } else {
        n->text = record->text;
        n->module = record->kind == NODE_RECORD ? record->module : p->module;
        if (n->module.len == 0)
            return parser_fail(p, record->from, "which module's record? write module#name");
    }
    parser_items(n, &items);
    if (!parser_need(p, ")", "`)`"))
        return NULL;
    n->to = p->last;
    return n;
}
