/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What may stand at the end of an unfinished pattern, by its tokens. */
#include <string.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "parse.h"

/* clang-format off */
enum phase {
    PHASE_MODULE, PHASE_AFTER_MODULE, PHASE_FUNCTION, PHASE_AFTER_FUNCTION, PHASE_ARITY,
    PHASE_ARGUMENTS, PHASE_AFTER_ARGUMENTS, PHASE_GUARD, PHASE_ACTION, PHASE_AFTER_ACTION,
    PHASE_SHOW, PHASE_VALUE, PHASE_VALUE_GUARD,
};

static const enum expect expected[] = {
    [PHASE_MODULE] = EXPECT_MODULE,     [PHASE_AFTER_MODULE] = EXPECT_NOTHING,
    [PHASE_FUNCTION] = EXPECT_FUNCTION, [PHASE_AFTER_FUNCTION] = EXPECT_NOTHING,
    [PHASE_ARITY] = EXPECT_ARITY,       [PHASE_ARGUMENTS] = EXPECT_TERM,
    [PHASE_AFTER_ARGUMENTS] = EXPECT_NOTHING, [PHASE_GUARD] = EXPECT_GUARD,
    [PHASE_ACTION] = EXPECT_ACTION,     [PHASE_AFTER_ACTION] = EXPECT_NOTHING,
    [PHASE_SHOW] = EXPECT_GUARD,        [PHASE_VALUE] = EXPECT_TERM,
    [PHASE_VALUE_GUARD] = EXPECT_GUARD,
};
/* clang-format on */

struct bracket {
    bool record, at_field;
    struct slice module, name;
};

struct state {
    enum phase phase;
    bool elixir;
    struct slice module, function;
    struct bracket open[LIMIT_PATTERN_DEPTH];
    size_t depth;         /* of all that are open, those beyond LIMIT_PATTERN_DEPTH too */
    struct token last[3]; /* the latest first */
};

static bool is_named(const struct token *t)
{
    return t->kind == TOKEN_WORD || t->kind == TOKEN_ATOM || t->kind == TOKEN_UPPER ||
           t->kind == TOKEN_REGEX;
}

static struct slice exact_name(const struct state *s, const struct token *t)
{
    bool exact = t->kind == TOKEN_ATOM || t->kind == (s->elixir ? TOKEN_UPPER : TOKEN_WORD);
    return exact ? t->text : (struct slice){"", 0};
}

/* #name{, module#name{ or %Name{ */
static struct bracket bracket_of(const struct state *s)
{
    struct bracket b = {.module = s->module, .name = {"", 0}};
    const struct token *t = s->last;
    if (!s->elixir && is_named(&t[0]) && token_is(&t[1], "#")) {
        b.record = b.at_field = true;
        b.name = t[0].text;
        if (is_named(&t[2]) && t[2].to == t[1].from)
            b.module = t[2].text;
    } else if (s->elixir && is_named(&t[0]) && token_is(&t[1], "%")) {
        b.record = b.at_field = true;
        b.module = t[0].text;
    }
    return b;
}

static bool opens_bracket(const struct token *t)
{
    return token_is(t, "(") || token_is(t, "[") || token_is(t, "{") || token_is(t, "<<");
}

static bool closes_bracket(const struct token *t)
{
    return token_is(t, ")") || token_is(t, "]") || token_is(t, "}") || token_is(t, ">>");
}

/* Inside brackets: only their depth, and where fields may stand. */
static void step_inside(struct state *s, const struct token *t)
{
    if (closes_bracket(t)) {
        s->depth--;
        if (s->depth > 0)
            return;
        if (s->phase == PHASE_ARGUMENTS)
            s->phase = PHASE_AFTER_ARGUMENTS;
        else if (s->phase == PHASE_SHOW)
            s->phase = PHASE_AFTER_ACTION;
        return;
    }
    if (s->depth > LIMIT_PATTERN_DEPTH)
        return;
    struct bracket *b = &s->open[s->depth - 1];
    if (token_is(t, ","))
        b->at_field = b->record;
    else if (token_is(t, "=") || t->kind == TOKEN_KEY)
        b->at_field = false;
}

static void open_bracket(struct state *s, const struct token *t)
{
    struct bracket b = token_is(t, "{") ? bracket_of(s) : (struct bracket){0};
    if (s->depth < LIMIT_PATTERN_DEPTH)
        s->open[s->depth] = b;
    s->depth++;
}

/* Behind names a comma may end a pattern; behind a guard or an action more of it follows. */
static bool ends_pattern(const struct state *s, const struct token *t)
{
    bool named = s->phase == PHASE_AFTER_MODULE || s->phase == PHASE_AFTER_FUNCTION ||
                 s->phase == PHASE_AFTER_ARGUMENTS;
    return token_is(t, "&") || (named && token_is(t, ","));
}

/* Goes on to the next part of a pattern, in any phase after its names. */
static bool step_on(struct state *s, const struct token *t)
{
    if (ends_pattern(s, t)) {
        s->phase = PHASE_MODULE;
        s->module = s->function = (struct slice){"", 0};
    } else if (s->phase < PHASE_ACTION && (token_is(t, "->") || token_is(t, "::"))) {
        s->phase = PHASE_ACTION;
    } else if (s->phase < PHASE_ACTION && s->phase != PHASE_MODULE && token_is_word(t, "when")) {
        s->phase = PHASE_GUARD;
    } else {
        return false;
    }
    return true;
}

static void step_action(struct state *s, const struct token *t)
{
    bool more = token_is(t, ",") || token_is(t, ";");
    if (s->phase == PHASE_ACTION)
        s->phase = token_is_word(t, "returns") || token_is_word(t, "raises") ? PHASE_VALUE
                   : token_is_word(t, "show")                                ? PHASE_SHOW
                                                                             : PHASE_AFTER_ACTION;
    else if (s->phase == PHASE_VALUE && token_is_word(t, "when"))
        s->phase = PHASE_VALUE_GUARD;
    else if (more && s->phase != PHASE_GUARD && (s->phase != PHASE_VALUE_GUARD || s->elixir))
        s->phase = PHASE_ACTION;
}

static void step_token(struct state *s, const struct token *t)
{
    if (opens_bracket(t) && s->phase != PHASE_MODULE && s->phase != PHASE_FUNCTION) {
        if (s->depth == 0 && s->phase <= PHASE_AFTER_FUNCTION)
            s->phase = PHASE_ARGUMENTS;
        open_bracket(s, t);
    } else if (s->depth > 0) {
        step_inside(s, t);
    } else if (step_on(s, t)) {
        return;
    } else if (s->phase == PHASE_MODULE && is_named(t)) {
        s->module = exact_name(s, t);
        s->phase = PHASE_AFTER_MODULE;
    } else if (s->phase == PHASE_AFTER_MODULE && token_is(t, s->elixir ? "." : ":")) {
        s->phase = PHASE_FUNCTION;
    } else if (s->phase == PHASE_FUNCTION && is_named(t)) {
        s->function = t->text;
        s->phase = PHASE_AFTER_FUNCTION;
    } else if (s->phase == PHASE_AFTER_FUNCTION && token_is(t, "/")) {
        s->phase = PHASE_ARITY;
    } else if (s->phase == PHASE_ARITY) {
        s->phase = PHASE_AFTER_ARGUMENTS;
    } else if (s->phase >= PHASE_ACTION) {
        step_action(s, t);
    }
}

static void next_token(struct state *s, struct lex *l, struct token *t)
{
    lex_next(l, t);
    if ((s->phase == PHASE_MODULE || s->phase == PHASE_FUNCTION) && token_is(t, "/"))
        lex_regex(l, t->from, t);
}

/* True when the token at the end is still being typed. */
static bool is_typed(const struct state *s, const char *text, const struct token *t, size_t point)
{
    /* a colon of Elixir, a quote of Erlang: an atom begins */
    if (t->kind == TOKEN_WRONG)
        return s->elixir ? t->from + 1 == point : text[t->from] == '\'';
    return t->to == point && t->kind != TOKEN_REGEX && (is_named(t) || t->kind == TOKEN_INTEGER);
}

static void copy_name(char out[256], struct slice s)
{
    size_t n = s.len < 255 ? s.len : 255;
    while (n < s.len && n > 0 && (s.s[n] & 0xc0) == 0x80)
        n--;
    memcpy(out, s.s, n);
    out[n] = '\0';
}

static bool is_message(const struct state *s)
{
    return s->function.len == 0 && (slice_is(s->module, "send") || slice_is(s->module, "receive"));
}

static void set_expected(const struct state *s, struct expectation *out)
{
    out->what = expected[s->phase];
    if (s->phase >= PHASE_ACTION && is_message(s))
        out->what = EXPECT_NOTHING; /* messages have no actions */
    struct slice module = s->module, record = {"", 0};
    if (s->phase == PHASE_SHOW && s->depth == 0)
        out->what = EXPECT_NOTHING; /* `(` first */
    if (s->depth > 0 && s->depth <= LIMIT_PATTERN_DEPTH && s->open[s->depth - 1].at_field) {
        out->what = EXPECT_FIELD;
        module = s->open[s->depth - 1].module;
        record = s->open[s->depth - 1].name;
    }
    copy_name(out->module, module);
    copy_name(out->function, s->function);
    copy_name(out->record, record);
}

void pattern_expect(const char *text, size_t point, struct expectation *out)
{
    *out = (struct expectation){.what = EXPECT_NOTHING, .syntax = SYNTAX_ERLANG, .from = point};
    if (point > LIMIT_PATTERN_BYTES || !text_is_utf8(text, point))
        return;
    struct arena arena;
    arena_init(&arena);
    struct error ignored = {0}; /* an unfinished list is none yet */
    char *part = arena_strndup(&arena, text, point);
    (void)patterns_unwrap(part, point, NULL, &ignored);
    out->syntax = syntax_recognise(part);
    struct state s = {
        .elixir = out->syntax == SYNTAX_ELIXIR, .module = {"", 0}, .function = {"", 0}};
    struct lex l = {.text = part, .len = point, .elixir = s.elixir, .arena = &arena};
    struct token t;
    for (next_token(&s, &l, &t); t.kind != TOKEN_END; next_token(&s, &l, &t)) {
        if (is_typed(&s, part, &t, point)) {
            out->from = t.from;
            break;
        }
        if (t.kind == TOKEN_WRONG)
            break;
        step_token(&s, &t);
        s.last[2] = s.last[1];
        s.last[1] = s.last[0];
        s.last[0] = t;
    }
    if (t.kind != TOKEN_WRONG || out->from < point)
        set_expected(&s, out);
    arena_clear(&arena);
}
