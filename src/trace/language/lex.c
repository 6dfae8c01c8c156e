/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lex.h"

#include <string.h>

#include "beamtop/base/text.h"

static bool is_lower(int c)
{
    return (c >= 'a' && c <= 'z') || c >= 0x80;
}

bool lex_is_name(int c)
{
    return is_lower(c) || text_is_capital(c) || (c >= '0' && c <= '9') || c == '_';
}

bool token_is(const struct token *t, const char *mark)
{
    return t->kind == TOKEN_MARK && slice_is(t->text, mark);
}

bool token_is_word(const struct token *t, const char *word)
{
    return t->kind == TOKEN_WORD && slice_is(t->text, word);
}

bool token_is_atom(const struct token *t)
{
    return t->kind == TOKEN_WORD || t->kind == TOKEN_ATOM;
}

/* Erlang's comment lasts to the end of the line; Elixir's would hide #PID<…> and is none here. */
static void skip_ignored(struct lex *l)
{
    for (; l->at < l->len; l->at++) {
        int c = lex_peek(l, 0);
        if (c == '%' && !l->elixir)
            while (l->at + 1 < l->len && lex_peek(l, 1) != '\n')
                l->at++;
        else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
            break;
    }
}

static struct slice text_taken(const struct lex *l, size_t from)
{
    return (struct slice){l->text + from, l->at - from};
}

/* `at_signs`: it may have @ in it. */
static void skip_name(struct lex *l, bool at_signs)
{
    while (lex_is_name(lex_peek(l, 0)) || (lex_peek(l, 0) == '@' && at_signs))
        l->at++;
    if (l->elixir && (lex_peek(l, 0) == '?' || lex_peek(l, 0) == '!') && lex_peek(l, 1) != '=')
        l->at++;
}

/* `name:` or `"name":` of Elixir, when a colon is next that begins no other token. */
static void take_key(struct lex *l, struct token *out)
{
    int after = lex_peek(l, 1);
    if (!l->elixir || lex_peek(l, 0) != ':' || after == ':' || lex_is_name(after) || after == '"')
        return;
    l->at++;
    out->kind = TOKEN_KEY;
}

static void take_word(struct lex *l, struct token *out)
{
    skip_name(l, !l->elixir);
    out->kind = TOKEN_WORD;
    out->text = text_taken(l, out->from);
    take_key(l, out);
}

static void take_upper(struct lex *l, struct token *out)
{
    skip_name(l, !l->elixir);
    while (l->elixir && lex_peek(l, 0) == '.' && text_is_capital(lex_peek(l, 1))) {
        l->at++;
        skip_name(l, !l->elixir);
    }
    out->kind = TOKEN_UPPER;
    out->text = text_taken(l, out->from);
    if (!l->elixir)
        return;
    take_key(l, out);
    static const char prefix[] = "Elixir.";
    bool whole = slice_is(out->text, "Elixir") || slice_begins(out->text, prefix);
    if (out->kind == TOKEN_UPPER && !whole) {
        char *s = arena_printf(l->arena, "%s%.*s", prefix, (int)out->text.len, out->text.s);
        out->text = slice_of(s);
    }
}

static void take_quoted_token(struct lex *l, struct token *out, size_t open, char quote,
                              enum token_kind kind)
{
    l->at += open;
    bool bytes = l->elixir && kind == TOKEN_STRING;
    out->kind = lex_quoted(l, quote, bytes, &out->text) ? kind : TOKEN_WRONG;
    if (kind == TOKEN_STRING && out->kind == kind)
        take_key(l, out);
}

/* `$c` and `?c`. */
static void take_char(struct lex *l, struct token *out)
{
    int32_t codepoint = 0;
    l->at++;
    out->kind = lex_character(l, &codepoint) ? TOKEN_INTEGER : TOKEN_WRONG;
    out->number = codepoint;
}

/* An atom of Elixir: :name, :"name", :Name, :name?. False when the colon is something else. */
static bool take_colon_atom(struct lex *l, struct token *out)
{
    int next = lex_peek(l, 1);
    if (next == '"' || next == '\'') {
        take_quoted_token(l, out, 2, (char)next, TOKEN_ATOM);
        return true;
    }
    if (!lex_is_name(next) || (next >= '0' && next <= '9'))
        return false;
    l->at++;
    size_t from = l->at;
    skip_name(l, true);
    out->kind = TOKEN_ATOM;
    out->text = text_taken(l, from);
    return true;
}

/* Longest first. */
static const char *const erlang_marks[] = {
    "=:=", "=/=", "->", "::", ":=", "=>", "==", "/=", "=<", ">=", "<<", ">>", "++",
    "--",  "||",  "<=", "!=", "&&", "#",  "(",  ")",  "[",  "]",  "{",  "}",  ",",
    ";",   ":",   "/",  "|",  "=",  "<",  ">",  "+",  "-",  "*",  "&",  ".",  NULL,
};
static const char *const elixir_marks[] = {
    "===", "!==", "&&&", "|||", "<<<", ">>>", "->", "::", "=>", "==", "!=", "<=", ">=", "<<", ">>",
    "<>",  "++",  "--",  "&&",  "||",  "..",  "%",  "(",  ")",  "[",  "]",  "{",  "}",  ",",  ";",
    "/",   "|",   "=",   "<",   ">",   "+",   "-",  "*",  "&",  ".",  "!",  "^",  NULL,
};

static void take_mark(struct lex *l, struct token *out)
{
    for (const char *const *m = l->elixir ? elixir_marks : erlang_marks; *m; m++) {
        size_t n = strlen(*m);
        if (l->len - l->at < n || memcmp(l->text + l->at, *m, n) != 0)
            continue;
        l->at += n;
        out->kind = TOKEN_MARK;
        out->text = (struct slice){*m, n};
        return;
    }
    lex_fail(l, l->at, "this character has no meaning here");
    out->kind = TOKEN_WRONG;
}

static void take_token(struct lex *l, struct token *out)
{
    int c = lex_peek(l, 0), next = lex_peek(l, 1);
    if (c >= '0' && c <= '9')
        lex_number(l, out);
    else if (text_is_capital(c) || (c == '_' && !l->elixir))
        take_upper(l, out);
    else if (is_lower(c) || c == '_')
        take_word(l, out);
    else if (c == '"')
        take_quoted_token(l, out, 1, '"', TOKEN_STRING);
    else if (c == '\'')
        take_quoted_token(l, out, 1, '\'', l->elixir ? TOKEN_CHARS : TOKEN_ATOM);
    else if (l->elixir && c == '~' && next == 'c' &&
             (lex_peek(l, 2) == '"' || lex_peek(l, 2) == '\''))
        take_quoted_token(l, out, 3, (char)lex_peek(l, 2), TOKEN_CHARS);
    else if (c == (l->elixir ? '?' : '$') && l->at + 1 < l->len)
        take_char(l, out);
    else if (l->elixir && c == ':' && take_colon_atom(l, out))
        return;
    else if (!lex_identifier(l, out))
        take_mark(l, out);
}

void lex_next(struct lex *l, struct token *out)
{
    skip_ignored(l);
    *out = (struct token){.kind = TOKEN_END, .from = l->at, .text = {"", 0}};
    if (l->at < l->len)
        take_token(l, out);
    out->to = l->at;
}

void lex_regex(struct lex *l, size_t at, struct token *out)
{
    *out = (struct token){.kind = TOKEN_REGEX, .from = at};
    char *s = arena_alloc(l->arena, l->len - at + 1);
    size_t n = 0;
    for (l->at = at + 1; l->at < l->len && lex_peek(l, 0) != '/'; l->at++) {
        if (lex_peek(l, 0) == '\\' && l->at + 1 < l->len) {
            if (lex_peek(l, 1) != '/')
                s[n++] = '\\';
            l->at++;
        }
        s[n++] = l->text[l->at];
    }
    if (l->at >= l->len) {
        lex_fail(l, at, "no closing / of this regex");
        out->kind = TOKEN_WRONG;
    } else {
        l->at++;
    }
    out->to = l->at;
    out->text = (struct slice){s, n};
}
