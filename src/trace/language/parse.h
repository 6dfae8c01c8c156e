/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parser's state and what its files share. Private to trace/. */
#ifndef BEAMTOP_TRACE_LANGUAGE_PARSE_H
#define BEAMTOP_TRACE_LANGUAGE_PARSE_H

#include "beamtop/base/attr.h"
#include "beamtop/trace/pattern.h"
#include "lex.h"

struct parser {
    struct arena *arena;
    struct lex lex;
    struct token token;  /* the one that is next */
    size_t last;         /* where the token before it ended */
    bool values;         /* guards and actions: operators and calls, but no `_` */
    bool in_action;      /* an action's word ends the guard */
    struct slice module; /* the pattern's, when it is one: whose records #name{} are */
    bool failed;
    size_t fail_at;
    unsigned depth, nodes;
    struct error *err;
};

/* A growing list of nodes in the arena. */
struct node_list {
    struct node **items;
    size_t n, cap;
};

/* The first failure counts. They return NULL, so that `return parser_fail(…)` works. */
void *parser_fail(struct parser *p, size_t at, const char *fmt, ...) ATTR_PRINTF(3, 4);
void *parser_expected(struct parser *p, const char *what); /* … instead of the next token */

void parser_next(struct parser *p);
bool parser_take(struct parser *p, const char *mark);
bool parser_take_word(struct parser *p, const char *word);
bool parser_need(struct parser *p, const char *mark, const char *what);
bool parser_is_word(const struct parser *p, const char *word);
bool parser_at_action(const struct parser *p); /* an action's word is next */

/* A node that begins at `from` and ends where the last token did; NULL past a limit. */
struct node *parser_node(struct parser *p, enum node_kind kind, size_t from);
struct node *parser_atom(struct parser *p, const char *name, size_t from);
/* With a and b as its items, or only a; NULL when a is. */
struct node *parser_pair(struct parser *p, enum node_kind kind, size_t from, struct node *a,
                         struct node *b);
struct node *parser_op(struct parser *p, const char *op, struct node *a, struct node *b);
/* Takes the next token; the node has its text and number, but for `_` and $_. */
struct node *parser_leaf(struct parser *p, enum node_kind kind);
/* A number or an identifier; false when none is next. */
bool parser_constant(struct parser *p, struct node **out);
bool parser_enter(struct parser *p); /* false when the tree is too deep */
void parser_leave(struct parser *p);
bool parser_push(struct parser *p, struct node_list *list, struct node *n); /* false: n is NULL */
void parser_items(struct node *n, const struct node_list *list);

/* A list's items; a tail that is a list itself is only more of them. */
void parser_flatten(struct parser *p, struct node *list, struct node_list *items);

/* An operator, how tightly it binds (0: the most), and what Erlang has in its place. A table ends
   with a NULL name; in patterns only those of one level may stand. */
struct operator
{
    const char *name, *erlang;
    int level;
    bool word;
};
const struct operator* parser_operator(const struct parser *p, const struct operator* table,
                                       int in_patterns); /* NULL: none is next */
enum { LEVEL_SIGN = -2, LEVEL_TIGHTEST = -1 };           /* of what stands before its one side */
struct node *parser_unary(struct parser *p, const struct operator* prefixes,
                          struct node *(*primary)(struct parser *p));

/* left ++ right: left is a string or a list without a tail. */
struct node *parser_append(struct parser *p, struct node *left, struct node *right);
struct node *parser_alias(struct parser *p, struct node *left, struct node *right);

/* Rewrites a pasted list and pasted quotes to `P1 & P2` of the same length; fails as
   patterns_parse(), with what could be rewritten done. */
int patterns_unwrap(char *text, size_t len, size_t *offset, struct error *err);
/* The syntax of a text, ended by NUL: that of its first pattern. */
enum syntax syntax_recognise(const char *text);
/* Everything up to the end, a `&`, or a comma that another pattern follows. */
bool parse_pattern(struct parser *p, struct pattern *out);
/* Arguments up to the closing mark, the opening one taken. */
bool parse_items(struct parser *p, struct node_list *items, const char *close, const char *what);
/* A term or pattern; in p->values mode any expression of a guard. */
struct node *parse_erlang_term(struct parser *p);
struct node *parse_erlang_guard(struct parser *p); /* with `,` and `;` */
/* Behind `#` or `module#`: the record's name, and its fields when they are wanted. */
struct node *parse_erlang_record(struct parser *p, size_t from, struct slice module, bool fields);
/* is_record(#rec, X), is_record(mod#rec, X), is_record(X, rec): the `(` was taken. */
struct node *parse_erlang_is_record(struct parser *p, size_t from);
struct node *parse_elixir_term(struct parser *p);
/* An argument: a term, or keywords that are the last one. */
struct node *parse_elixir_argument(struct parser *p);
struct node *parse_elixir_guard(struct parser *p);
/* The segments up to `>>`, the opening `<<` taken. */
struct node *parse_binary(struct parser *p, size_t from);

const struct pattern_word *guard_bif_find(struct slice name); /* of pattern_guards, or NULL */
/* Fails for a call that a guard does not allow. NULL. */
void *parser_no_bif(struct parser *p, const struct token *name);
/* The nearest of the words, or NULL when none is near. */
const char *words_nearest(const struct pattern_word *words, struct slice word);

#endif
