/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole pattern: names, arguments, guard, actions. Terms are parse_term.c's and parse_ex.c's. */
#include <math.h>
#include <string.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "parse.h"

enum { MOST_ARITY = 255, MOST_ATOM_CHARACTERS = 255 };

static struct node *parse_any_term(struct parser *p)
{
    return p->lex.elixir ? parse_elixir_term(p) : parse_erlang_term(p);
}

static struct node *parse_guard(struct parser *p)
{
    return p->lex.elixir ? parse_elixir_guard(p) : parse_erlang_guard(p);
}

/* The bits of the action that this word is; 0: it is none. */
static unsigned action_of(const struct token *t)
{
    for (const struct pattern_word *w = pattern_actions; w->word; w++)
        if (token_is_word(t, w->word))
            return w->bits;
    return 0;
}

bool parser_at_action(const struct parser *p)
{
    if (!p->in_action)
        return false;
    struct lex after = p->lex;
    struct token word;
    lex_next(&after, &word);
    return action_of(&word) != 0;
}

/* A module's or function's name, `_` or a variable, or /a regex/. */
static bool parse_name(struct parser *p, struct pattern_name *name, const char *what)
{
    if (token_is(&p->token, "/"))
        lex_regex(&p->lex, p->token.from, &p->token);
    struct token t = p->token;
    name->from = t.from;
    name->to = t.to;
    name->text = t.text;
    bool variable = p->lex.elixir ? token_is_word(&t, "_") : t.kind == TOKEN_UPPER;
    if (t.kind == TOKEN_REGEX)
        name->kind = NAME_REGEX;
    else if (variable)
        name->kind = NAME_ANY;
    else if (t.kind == TOKEN_WORD || t.kind == TOKEN_ATOM || t.kind == TOKEN_UPPER ||
             (t.kind == TOKEN_STRING && p->lex.elixir))
        name->kind = NAME_EXACT;
    else
        return parser_expected(p, what) != NULL;
    if (name->kind == NAME_EXACT && lex_characters(t.text) > MOST_ATOM_CHARACTERS)
        return parser_fail(p, t.from, "a name has at most 255 characters") != NULL;
    if (t.kind == TOKEN_REGEX && t.text.len == 0)
        return parser_fail(p, t.from, "expected a regex between the slashes") != NULL;
    parser_next(p);
    return true;
}

bool parse_items(struct parser *p, struct node_list *items, const char *close, const char *what)
{
    if (parser_take(p, close))
        return true;
    do {
        if (!parser_push(p, items, p->lex.elixir ? parse_elixir_argument(p) : parse_erlang_term(p)))
            return false;
    } while (parser_take(p, ","));
    return parser_need(p, close, what);
}

/* Terms up to `)`; the `(` was taken. */
static bool parse_arguments(struct parser *p, struct node ***out, size_t *n)
{
    struct node_list items = {0};
    bool ok = parse_items(p, &items, ")", "`,` or `)`");
    *out = items.items;
    *n = items.n;
    return ok;
}

static bool parse_arity(struct parser *p, struct pattern *out)
{
    const struct token *t = &p->token; /* rexbug takes any name for any arity */
    if (t->kind == (p->lex.elixir ? TOKEN_WORD : TOKEN_UPPER)) {
        parser_next(p);
        return true;
    }
    if (p->token.kind != TOKEN_INTEGER || p->token.text.len > 0 || p->token.number > MOST_ARITY)
        return parser_expected(p, "an arity, 0 to 255") != NULL;
    out->arity = (int)p->token.number;
    parser_next(p);
    return true;
}

static bool at_end(const struct parser *p)
{
    return p->token.kind == TOKEN_END || token_is(&p->token, "&");
}

static bool parse_call_pattern(struct parser *p, struct pattern *out)
{
    out->kind = PATTERN_CALL;
    if (p->lex.elixir && p->token.kind == TOKEN_WORD && !parser_is_word(p, "_"))
        return parser_expected(p, "a module, such as MyApp.Cart or :lists") != NULL;
    if (p->token.kind == TOKEN_STRING || !parse_name(p, &out->module, "a module's name"))
        return parser_expected(p, "a module's name") != NULL;
    if (out->module.kind == NAME_EXACT)
        p->module = out->module.text;
    if (!parser_take(p, p->lex.elixir ? "." : ":")) {
        out->function = (struct pattern_name){NAME_ANY, {"_", 1}, p->last, p->last};
        return true;
    }
    struct token t = p->token;
    if (!parse_name(p, &out->function, "a function's name"))
        return false;
    if (t.kind == TOKEN_UPPER && out->function.kind == NAME_EXACT)
        out->function.text = (struct slice){p->lex.text + t.from, t.to - t.from};
    if (parser_take(p, "/"))
        return parse_arity(p, out);
    size_t at = p->token.from;
    if (!parser_take(p, "("))
        return true;
    if (!parse_arguments(p, &out->args, &out->n_args))
        return false;
    if (out->n_args > MOST_ARITY)
        return parser_fail(p, at, "more than %d arguments", MOST_ARITY) != NULL;
    out->has_args = true;
    out->arity = (int)out->n_args;
    return true;
}

/* send(To, Message) and receive(Message): the word was taken. */
static bool parse_message(struct parser *p, struct pattern *out)
{
    size_t want = out->kind == PATTERN_SEND ? 2 : 1, at = p->token.from;
    out->module = out->function = (struct pattern_name){NAME_ANY, {"_", 1}, p->last, p->last};
    if (!parser_take(p, "("))
        return true;
    if (!parse_arguments(p, &out->args, &out->n_args))
        return false;
    if (out->n_args != want)
        return parser_fail(p, at,
                           out->kind == PATTERN_SEND
                               ? "send takes two: send(To, Message)"
                               : "receive takes one: receive(Message)") != NULL;
    out->has_args = true;
    return true;
}

static bool is_module_mark(const struct parser *p, const struct token *t)
{
    return token_is(t, p->lex.elixir ? "." : ":");
}

/* `send` and `receive`, also as atoms, unless a module of that name is meant. */
static bool is_message(const struct parser *p, const struct token *t, struct lex after)
{
    struct token mark;
    if (!token_is_atom(t) || !(slice_is(t->text, "send") || slice_is(t->text, "receive")))
        return false;
    lex_next(&after, &mark);
    return !is_module_mark(p, &mark);
}

/* True at a comma that another pattern follows, not an action. */
static bool at_next_pattern(const struct parser *p)
{
    struct lex after = p->lex;
    struct token name, mark;
    if (!token_is(&p->token, ","))
        return false;
    lex_next(&after, &name);
    if (is_message(p, &name, after))
        return true;
    bool word = token_is_atom(&name), upper = name.kind == TOKEN_UPPER;
    lex_next(&after, &mark);
    if (!word && !upper)
        return false;
    bool ends = mark.kind == TOKEN_END || token_is(&mark, ",") || token_is(&mark, "&") ||
                token_is(&mark, "->");
    return is_module_mark(p, &mark) || (ends && action_of(&name) == 0);
}

/* 5ms, 1.5 s, 200us: microseconds. */
static bool parse_time(struct parser *p, uint64_t *us)
{
    static const struct {
        const char *unit;
        double us;
    } units[] = {
        {"us", 1}, {"µs", 1}, {"μs", 1}, {"ms", 1e3}, {"s", 1e6}, {"m", 60e6}, {"min", 60e6},
    };
    struct token t = p->token;
    bool number = (t.kind == TOKEN_INTEGER && t.text.len == 0) || t.kind == TOKEN_FLOAT;
    if (!number)
        return parser_expected(p, "a time, such as 5ms") != NULL;
    parser_next(p);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (!parser_is_word(p, units[i].unit))
            continue;
        double v = (t.kind == TOKEN_FLOAT ? t.real : (double)t.number) * units[i].us;
        if (v < 1 || v > 3600e6)
            return parser_fail(p, t.from, "a time from 1us to 60min") != NULL;
        *us = (uint64_t)llround(v);
        parser_next(p);
        return true;
    }
    return parser_expected(p, "the time's unit: us, ms, s or min") != NULL;
}

static bool parse_show(struct parser *p, struct pattern *out)
{
    if (!parser_need(p, "(", "`(` and the values to show"))
        return false;
    p->values = true;
    bool ok = parse_arguments(p, &out->show, &out->n_show);
    p->values = false;
    return ok &&
           (out->n_show > 0 || parser_fail(p, p->last, "show what? show(X) with a variable X"));
}

/* A term with an optional guard, of `returns` and `raises`. */
static bool parse_result(struct parser *p, struct node **value, struct node **guard)
{
    *value = parse_any_term(p);
    if (*value && parser_take_word(p, "when"))
        *guard = parse_guard(p);
    return !p->failed;
}

static bool parse_raises(struct parser *p, struct pattern *out)
{
    bool alone = p->token.kind == TOKEN_END || token_is(&p->token, ",") ||
                 token_is(&p->token, ";") || token_is(&p->token, "&");
    return alone || parse_result(p, &out->raises, &out->raises_guard);
}

static bool parse_action(struct parser *p, struct pattern *out)
{
    struct token t = p->token;
    const unsigned bits = action_of(&t);
    if (out->kind != PATTERN_CALL)
        return parser_fail(p, t.from,
                           "a message has no actions: it is shown whole, and chosen by "
                           "its pattern and `when`") != NULL;
    const char *near = t.kind == TOKEN_WORD ? words_nearest(pattern_actions, t.text) : NULL;
    if (bits == 0 && near)
        return parser_fail(p, t.from, "there is no action %.*s; did you mean %s?", (int)t.text.len,
                           t.text.s, near) != NULL;
    if (bits == 0)
        return parser_expected(p, "an action: return, stack, caller, time, count, show(X), "
                                  "slower 5ms, returns X, raises") != NULL;
    const unsigned own = bits & ~(unsigned)TRACE_RETURN;
    if ((out->actions & own & (TRACE_SHOW | TRACE_SLOWER | TRACE_RETURNS | TRACE_RAISES)) != 0)
        return parser_fail(p, t.from, "%.*s stands there twice", (int)t.text.len, t.text.s) != NULL;
    out->actions |= bits;
    parser_next(p);
    switch (own) {
    case TRACE_SHOW:
        return parse_show(p, out);
    case TRACE_SLOWER:
        return parse_time(p, &out->slower_us);
    case TRACE_RETURNS:
        return parse_result(p, &out->returns, &out->returns_guard);
    case TRACE_RAISES:
        return parse_raises(p, out);
    default:
        return true;
    }
}

static bool parse_actions(struct parser *p, struct pattern *out)
{
    p->in_action = true;
    do {
        if (!parse_action(p, out))
            return false;
    } while (!at_next_pattern(p) && (parser_take(p, ",") || parser_take(p, ";")));
    p->in_action = false;
    return true;
}

/* How far it is to the deepest leaf: chains of operators nest without the parser recursing. */
static size_t node_depth(const struct node *n)
{
    size_t deepest = n->tail ? node_depth(n->tail) : 0;
    for (size_t i = 0; i < n->n_items; i++) {
        size_t d = node_depth(n->items[i]);
        deepest = d > deepest ? d : deepest;
    }
    return deepest + 1;
}

static bool is_shallow(struct parser *p, struct node *const *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (nodes[i] && node_depth(nodes[i]) > LIMIT_PATTERN_DEPTH)
            return parser_fail(p, nodes[i]->from, "a pattern nested deeper than %d",
                               LIMIT_PATTERN_DEPTH) != NULL;
    return true;
}

static bool mentions_variable(const struct node *n, struct slice name)
{
    bool found = n->kind == NODE_VAR && slice_equal(n->text, name);
    for (size_t i = 0; i < n->n_items && !found; i++)
        found = mentions_variable(n->items[i], name);
    return found || (n->tail && mentions_variable(n->tail, name));
}

/* `_`, or a name that nothing else has: it takes any value. */
static bool takes_all(const struct pattern *p, size_t argument)
{
    const struct node *n = p->args[argument];
    for (size_t i = 0; i < p->n_args; i++) {
        const struct node *o = p->args[i];
        if (i != argument && n->kind == NODE_VAR && mentions_variable(o, n->text))
            return false;
    }
    return n->kind == NODE_ANY || n->kind == NODE_VAR;
}

/* The VM's counters know functions, not what they are called with. */
static bool check_counters(struct parser *p, const struct pattern *out)
{
    const char *word = out->actions & TRACE_COUNT ? "count" : "time";
    const struct node *narrows = out->guard;
    for (size_t i = out->n_args; i-- > 0;)
        narrows = takes_all(out, i) ? narrows : out->args[i];
    return !narrows ||
           parser_fail(p, narrows->from, "%s takes all calls of the function: expected %s here",
                       word, narrows == out->guard ? "`->`, without a guard," : "`_`");
}

static bool check_parsed(struct parser *p, struct pattern *out)
{
    struct node *single[] = {out->guard, out->returns, out->returns_guard, out->raises,
                             out->raises_guard};
    if (!is_shallow(p, single, sizeof(single) / sizeof(single[0])) ||
        !is_shallow(p, out->args, out->n_args) || !is_shallow(p, out->show, out->n_show))
        return false;
    unsigned counters = TRACE_TIME | TRACE_COUNT;
    if ((out->actions & counters) != 0 && (out->actions & ~counters) != 0)
        return parser_fail(p, out->module.from,
                           "time and count show no single calls: no other "
                           "action goes with them") != NULL;
    return (out->actions & counters) == 0 || check_counters(p, out);
}

static const char *what_next(const struct parser *p, const struct pattern *out)
{
    if (out->actions != 0)
        return "`,` and another action, or the end";
    if (out->guard)
        return out->kind == PATTERN_CALL ? "an operator or `->`" : "an operator, or the end";
    if (out->kind != PATTERN_CALL)
        return out->has_args ? "`when`, or the end" : "`(`, `when`, or the end";
    if (out->has_args || out->arity >= 0)
        return "`when` or `->`";
    if (out->kind == PATTERN_CALL && out->function.from == out->function.to)
        return p->lex.elixir ? "`.`, `when` or `->`" : "`:`, `when` or `->`";
    return "`(`, `/`, `when` or `->`";
}

bool parse_pattern(struct parser *p, struct pattern *out)
{
    struct token first = p->token;
    if (is_message(p, &p->token, p->lex)) {
        out->kind = slice_is(p->token.text, "send") ? PATTERN_SEND : PATTERN_RECEIVE;
        parser_next(p);
        if (!parse_message(p, out))
            return false;
    } else if (!parse_call_pattern(p, out)) {
        return false;
    }
    if (parser_take_word(p, "when") && !(out->guard = parse_guard(p)))
        return false;
    bool colons = token_is(&p->token, "::"); /* rexbug takes it without actions, too */
    if ((parser_take(p, "->") || parser_take(p, "::")) && !(colons && at_end(p)) &&
        !parse_actions(p, out))
        return false;
    if (!at_end(p) && !at_next_pattern(p))
        return parser_expected(p, what_next(p, out)) != NULL;
    /* patterns_unwrap() has removed quotes around a whole pattern; more of them are an error. */
    bool quoted = !p->lex.elixir && first.kind == TOKEN_ATOM && p->last == first.to;
    if (quoted && memchr(first.text.s, ':', first.text.len))
        return parser_fail(p, first.from, "write this pattern without quotes") != NULL;
    return check_parsed(p, out);
}
