/* Terms, patterns and guards in Erlang's spelling, with Erlang's precedence. */
#include <string.h>

#include "trace/parse.h"

static struct node *parse_primary(struct parser *p);

/* What begins a token's node: the token is taken. */
static struct node *leaf(struct parser *p, enum node_kind kind)
{
    struct token t = p->token;
    parser_next(p);
    struct node *n = parser_node(p, kind, t.from);
    if (n == NULL)
        return NULL;
    n->text = t.text;
    n->number = t.number;
    n->serial = t.serial;
    n->real = t.real;
    return n;
}

static struct node *parse_items(struct parser *p, struct node *n, const char *close,
                                const char *what)
{
    struct node_list items = {0};
    if (n == NULL)
        return NULL;
    if (!parser_take(p, close)) {
        do {
            if (!parser_push(p, &items, parse_erlang_term(p)))
                return NULL;
        } while (parser_take(p, ","));
        if (!parser_need(p, close, what))
            return NULL;
    }
    parser_items(n, &items);
    n->to = p->last;
    return n;
}

static struct node *parse_tuple(struct parser *p)
{
    size_t from = p->token.from;
    parser_next(p);
    return parse_items(p, parser_node(p, NODE_TUPLE, from), "}", "`,` or `}` of the tuple");
}

static struct node *parse_list(struct parser *p)
{
    struct node *n = parser_node(p, NODE_LIST, p->token.from);
    struct node_list items = {0};
    parser_next(p);
    if (n == NULL)
        return NULL;
    if (!parser_take(p, "]")) {
        do {
            if (!parser_push(p, &items, parse_erlang_term(p)))
                return NULL;
        } while (parser_take(p, ","));
        if (parser_take(p, "|") && (n->tail = parse_erlang_term(p)) == NULL)
            return NULL;
        if (!parser_need(p, "]", n->tail ? "`]` of the list" : "`,`, `|` or `]` of the list"))
            return NULL;
    }
    /* A tail that is a whole list is only more of it. */
    if (n->tail != NULL && n->tail->kind == NODE_LIST) {
        for (size_t i = 0; i < n->tail->n_items; i++)
            parser_push(p, &items, n->tail->items[i]);
        n->tail = n->tail->tail;
    }
    parser_items(n, &items);
    n->to = p->last;
    return n;
}

static struct node *parse_map(struct parser *p, size_t from)
{
    struct node *n = parser_node(p, NODE_MAP, from);
    struct node_list items = {0};
    if (n == NULL || parser_take(p, "}"))
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

static bool is_atom(const struct token *t)
{
    return t->kind == TOKEN_WORD || t->kind == TOKEN_ATOM;
}

static struct node *parse_field(struct parser *p)
{
    if (!is_atom(&p->token))
        return parser_expected(p, "a field's name");
    return leaf(p, NODE_ATOM);
}

/* Behind `#` or `module#`: the record's name, and its fields when there are some. */
static struct node *parse_record(struct parser *p, size_t from, struct slice module, bool fields)
{
    if (!is_atom(&p->token))
        return parser_expected(p, "a record's name");
    struct slice name = p->token.text;
    if (module.len == 0)
        module = p->module;
    if (module.len == 0)
        return parser_fail(p, from, "which module's record? write module#name{…}");
    parser_next(p);
    struct node *n = parser_node(p, NODE_RECORD, from);
    struct node_list items = {0};
    if (n == NULL)
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

/* is_record(#rec, X), is_record(mod#rec, X), is_record(X, rec): the `(` was taken. */
static struct node *parse_is_record(struct parser *p, size_t from)
{
    struct node *n = parser_node(p, NODE_TEST_RECORD, from), *record = NULL;
    struct node_list items = {0};
    struct token first = p->token;
    struct lex back = p->lex;
    if (n == NULL)
        return NULL;
    if (is_atom(&first)) {
        parser_next(p);
        if (parser_take(p, "#"))
            record = parse_record(p, first.from, first.text, false);
        else {
            p->lex = back;
            p->token = first;
        }
    } else if (parser_take(p, "#")) {
        record = parse_record(p, first.from, (struct slice){"", 0}, false);
    }
    if (p->failed)
        return NULL;
    bool turned = record == NULL;
    if (!turned && !parser_need(p, ",", "`,` and the value to test"))
        return NULL;
    if (!parser_push(p, &items, parse_erlang_term(p)))
        return NULL;
    if (turned) {
        if (!parser_need(p, ",", "`,` and the record's name"))
            return NULL;
        if (!is_atom(&p->token))
            return parser_expected(p, "a record's name");
        if ((record = leaf(p, NODE_ATOM)) == NULL)
            return NULL;
    }
    if (turned && parser_take(p, ",")) {
        n->kind = NODE_CALL;
        n->text = (struct slice){"is_record", strlen("is_record")};
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

/* The `(` was taken. */
static struct node *parse_call(struct parser *p, const struct token *name)
{
    const struct guard_bif *bif = guard_bif_find(name->text);
    if (bif == NULL) {
        const char *near = words_nearest(pattern_guards, name->text);
        return parser_fail(p, name->from, "%.*s is no function that a guard may call%s%s%s",
                           (int)name->text.len, name->text.s, near ? "; did you mean " : "",
                           near ? near : "", near ? "?" : "");
    }
    if (slice_is(name->text, "is_record"))
        return parse_is_record(p, name->from);
    struct node *n = parse_items(p, parser_node(p, NODE_CALL, name->from), ")", "`,` or `)`");
    if (n == NULL)
        return NULL;
    n->text = name->text;
    if (n->n_items < bif->least || n->n_items > bif->most)
        return parser_fail(p, name->from, "%s takes %u argument%s, not %zu", bif->name,
                           n->n_items < bif->least ? bif->least : bif->most,
                           bif->most == 1 ? "" : "s", n->n_items);
    return n;
}

static bool is_reserved(struct slice word)
{
    static const char *const words[] = {
        "after", "and", "andalso", "band", "begin", "bnot", "bor", "bsl", "bsr", "bxor", "case",
        "catch", "div", "end", "fun", "if", "not", "of", "or", "orelse", "receive", "rem", "try",
        "when", "xor",
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (slice_is(word, words[i]))
            return true;
    return false;
}

/* An atom, or what begins with one: mod#rec{…}, a guard's call, erlang:call(…). */
static struct node *parse_atom(struct parser *p)
{
    struct token t = p->token;
    const size_t from = t.from;
    if (t.kind == TOKEN_WORD && is_reserved(t.text))
        return parser_fail(p, t.from, "expected %s; as an atom it is '%.*s'",
                           p->values ? "a value" : "a term", (int)t.text.len, t.text.s);
    parser_next(p);
    if (parser_take(p, "#"))
        return parse_record(p, t.from, t.text, true);
    if (p->values && slice_is(t.text, "erlang") && parser_take(p, ":")) {
        t = p->token;
        if (!is_atom(&t))
            return parser_expected(p, "a function of guards");
        parser_next(p);
        if (!token_is(&p->token, "("))
            return parser_expected(p, "`(`");
    }
    if (token_is(&p->token, "(")) {
        if (!p->values)
            return parser_fail(p, t.from, "a call cannot stand in a pattern; put it behind `when`");
        parser_next(p);
        struct node *call = parse_call(p, &t);
        if (call != NULL)
            call->from = from;
        return call;
    }
    bool all = p->values && slice_is(t.text, "$_");
    struct node *n = parser_node(p, all ? NODE_ALL : NODE_ATOM, t.from);
    if (n != NULL && !all)
        n->text = t.text;
    return n;
}

static struct node *parse_variable(struct parser *p)
{
    if (!slice_is(p->token.text, "_"))
        return leaf(p, NODE_VAR);
    if (p->values)
        return parser_fail(p, p->token.from, "_ has no value; give it a name to use it here");
    struct node *n = leaf(p, NODE_ANY);
    if (n != NULL)
        n->text = (struct slice){"", 0};
    return n;
}

static struct node *parse_string(struct parser *p)
{
    struct node *n = leaf(p, NODE_STRING);
    while (n != NULL && p->token.kind == TOKEN_STRING) {
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

static struct node *parse_parens(struct parser *p)
{
    size_t from = p->token.from;
    parser_next(p);
    struct node *n = parse_erlang_term(p);
    if (n == NULL || !parser_need(p, ")", "`)`"))
        return NULL;
    n->from = from;
    n->to = p->last;
    return n;
}

static struct node *parse_mark(struct parser *p)
{
    size_t from = p->token.from;
    if (token_is(&p->token, "{"))
        return parse_tuple(p);
    if (token_is(&p->token, "["))
        return parse_list(p);
    if (token_is(&p->token, "("))
        return parse_parens(p);
    if (parser_take(p, "<<"))
        return parse_binary(p, from);
    if (parser_take(p, "#"))
        return parser_take(p, "{") ? parse_map(p, from)
                                   : parse_record(p, from, (struct slice){"", 0}, true);
    return parser_expected(p, p->values ? "a value" : "a term");
}

static struct node *parse_primary(struct parser *p)
{
    switch (p->token.kind) {
    case TOKEN_WORD:
    case TOKEN_ATOM:
        return parse_atom(p);
    case TOKEN_UPPER:
        return parse_variable(p);
    case TOKEN_INTEGER:
        return leaf(p, NODE_INTEGER);
    case TOKEN_FLOAT:
        return leaf(p, NODE_FLOAT);
    case TOKEN_STRING:
        return parse_string(p);
    case TOKEN_PID:
        return leaf(p, NODE_PID);
    case TOKEN_PORT:
        return leaf(p, NODE_PORT);
    case TOKEN_REF:
        return leaf(p, NODE_REF);
    default:
        return parse_mark(p);
    }
}

static struct node *parse_unary(struct parser *p)
{
    size_t from = p->token.from;
    const char *op = token_is(&p->token, "-") ? "-" : token_is(&p->token, "+") ? "+" :
                     p->values && parser_is_word(p, "not") ? "not" :
                     p->values && parser_is_word(p, "bnot") ? "bnot" : NULL;
    if (!parser_enter(p))
        return NULL;
    struct node *n = NULL;
    if (op == NULL) {
        n = parse_primary(p);
    } else {
        parser_next(p);
        n = parse_unary(p);
        if (op[0] == '-')
            n = parser_negate(p, n, from);
        else if (op[0] != '+')
            n = parser_op(p, op, n, NULL);
        if (n != NULL)
            n->from = from;
    }
    parser_leave(p);
    return n;
}

/* Erlang's operators of two sides, tightest first. */
enum { LEVEL_MULTIPLY, LEVEL_ADD, LEVEL_APPEND, LEVEL_COMPARE, LEVEL_ANDALSO, LEVEL_ORELSE };
static const struct operator {
    const char *name;
    int level;
    bool word;
} operators[] = {
    {"*", LEVEL_MULTIPLY, false},   {"/", LEVEL_MULTIPLY, false},  {"div", LEVEL_MULTIPLY, true},
    {"rem", LEVEL_MULTIPLY, true},  {"band", LEVEL_MULTIPLY, true}, {"and", LEVEL_MULTIPLY, true},
    {"+", LEVEL_ADD, false},        {"-", LEVEL_ADD, false},       {"bor", LEVEL_ADD, true},
    {"bxor", LEVEL_ADD, true},      {"bsl", LEVEL_ADD, true},      {"bsr", LEVEL_ADD, true},
    {"or", LEVEL_ADD, true},        {"xor", LEVEL_ADD, true},      {"++", LEVEL_APPEND, false},
    {"==", LEVEL_COMPARE, false},   {"/=", LEVEL_COMPARE, false},  {"=<", LEVEL_COMPARE, false},
    {"<", LEVEL_COMPARE, false},    {">=", LEVEL_COMPARE, false},  {">", LEVEL_COMPARE, false},
    {"=:=", LEVEL_COMPARE, false},  {"=/=", LEVEL_COMPARE, false},
    {"andalso", LEVEL_ANDALSO, true}, {"orelse", LEVEL_ORELSE, true},
};

static const struct operator *operator_here(const struct parser *p)
{
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        const struct operator *o = &operators[i];
        if (!p->values && o->level != LEVEL_APPEND)
            continue;
        if (o->word ? parser_is_word(p, o->name) : token_is(&p->token, o->name))
            return o;
    }
    return NULL;
}

/* `and` without parentheses: redbug reads `A == 1 and B == 2` as two comparisons. */
static bool is_bare_logic(const struct node *n)
{
    return n->kind == NODE_OP && n->n_items == 2 && n->items[0]->from == n->from &&
           (slice_is(n->text, "and") || slice_is(n->text, "or") || slice_is(n->text, "xor"));
}

static struct node *parse_operators(struct parser *p, int level);

/*
 * Comparisons do not chain in Erlang. Where one does, and what stands between is `X and Y`, both
 * sides are comparisons, as in redbug.
 */
static struct node *parse_compare(struct parser *p)
{
    struct node *logic = NULL, *left = parse_operators(p, LEVEL_COMPARE - 1);
    const char *join = NULL;
    const struct operator *o;
    while (left != NULL && (o = operator_here(p)) != NULL && o->level == LEVEL_COMPARE) {
        size_t at = p->token.from;
        parser_next(p);
        struct node *right = parse_operators(p, LEVEL_COMPARE - 1);
        if (right == NULL)
            return NULL;
        const struct operator *more = operator_here(p);
        bool chained = more != NULL && more->level == LEVEL_COMPARE;
        if (chained && !is_bare_logic(right))
            return parser_fail(p, p->token.from, "comparisons do not chain: write andalso between");
        if (chained && is_bare_logic(right->items[0]))
            return parser_fail(p, at, "put parentheses around what `%.*s` joins",
                               (int)right->text.len, right->text.s);
        struct node *compare = parser_op(p, o->name, left, chained ? right->items[0] : right);
        logic = join == NULL ? compare : parser_op(p, join, logic, compare);
        if (!chained)
            return logic;
        join = slice_is(right->text, "and") ? "and" : slice_is(right->text, "or") ? "or" : "xor";
        left = right->items[1];
    }
    return left;
}

static struct node *parse_operators(struct parser *p, int level)
{
    if (level < 0)
        return parse_unary(p);
    if (level == LEVEL_COMPARE)
        return parse_compare(p);
    struct node *left = parse_operators(p, level - 1);
    const struct operator *o;
    while (left != NULL && (o = operator_here(p)) != NULL && o->level == level) {
        if (!parser_enter(p))
            return NULL;
        parser_next(p);
        bool right_first = level >= LEVEL_ANDALSO || level == LEVEL_APPEND;
        struct node *right = parse_operators(p, right_first ? level : level - 1);
        parser_leave(p);
        if (right == NULL)
            return NULL;
        left = level == LEVEL_APPEND ? parser_append(p, left, right)
                                     : parser_op(p, o->name, left, right);
    }
    return left;
}

/* Marks of other languages, where an operator could stand. */
static bool is_foreign(struct parser *p)
{
    static const struct { const char *mark, *erlang; } foreign[] = {
        {"<=", "=<"}, {"!=", "/="}, {"&&", "andalso"}, {"||", "orelse"},
        {"=", "== or =:="},
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
    struct node *n = parse_operators(p, p->values ? LEVEL_ORELSE : LEVEL_APPEND);
    if (n != NULL && !p->values && parser_take(p, "="))
        n = parser_alias(p, n, parse_erlang_term(p));
    if (n != NULL && p->values && is_foreign(p))
        n = NULL;
    parser_leave(p);
    return n;
}

static struct node *parse_conjunction(struct parser *p)
{
    struct node *left = parse_erlang_term(p);
    while (left != NULL && token_is(&p->token, ",") && !parser_at_action(p)) {
        parser_next(p);
        struct node *right = parse_erlang_term(p);
        left = right == NULL ? NULL : parser_op(p, "andalso", left, right);
    }
    return left;
}

struct node *parse_erlang_guard(struct parser *p)
{
    bool values = p->values;
    p->values = true;
    struct node *left = parse_conjunction(p);
    while (left != NULL && token_is(&p->token, ";") && !parser_at_action(p)) {
        parser_next(p);
        struct node *right = parse_conjunction(p);
        left = right == NULL ? NULL : parser_op(p, ";", left, right);
    }
    p->values = values;
    return left;
}
