/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tokens of a pattern, with their places, in Erlang's or Elixir's spelling. Private to trace/. */
#ifndef BEAMTOP_TRACE_LANGUAGE_LEX_H
#define BEAMTOP_TRACE_LANGUAGE_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/arena.h"
#include "beamtop/etf/term.h"

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,    /* a name in lower case: an atom of Erlang, a variable or word of Elixir */
    TOKEN_UPPER,   /* a variable of Erlang; an alias of Elixir, as its atom: Elixir.MyApp.Cart */
    TOKEN_ATOM,    /* 'quoted' of Erlang, :name of Elixir */
    TOKEN_KEY,     /* `name:` of Elixir */
    TOKEN_INTEGER, /* number, or text when it has more than 64 bits: decimal digits */
    TOKEN_FLOAT,
    TOKEN_STRING, /* "…": a list in Erlang, bytes in Elixir */
    TOKEN_CHARS,  /* a list in Elixir: '…' or ~c"…" */
    TOKEN_PID,
    TOKEN_PORT,
    TOKEN_REF,
    TOKEN_REGEX, /* only where lex_regex is asked */
    TOKEN_MARK,  /* an operator or bracket */
    TOKEN_WRONG, /* lex.wrong says why, lex.wrong_at where */
};

struct token {
    enum token_kind kind;
    size_t from, to;
    struct slice text; /* what it means; its bytes are the arena's or the text's */
    int64_t number;
    uint32_t serial;
    double real;
};

struct lex {
    const char *text; /* UTF-8; outlives the tokens */
    size_t len, at;
    bool elixir;
    struct arena *arena;
    const char *wrong; /* a constant */
    size_t wrong_at;
};

static inline int lex_peek(const struct lex *l, size_t ahead) /* 0: past the end */
{
    return l->at + ahead < l->len ? (unsigned char)l->text[l->at + ahead] : 0;
}

bool lex_is_name(int c); /* a byte that a name may have */
void lex_next(struct lex *l, struct token *out);
/* The expression that begins with the slash at `at`; what the token says has no slashes. */
void lex_regex(struct lex *l, size_t at, struct token *out);
bool token_is(const struct token *t, const char *mark); /* that operator or bracket */
bool token_is_word(const struct token *t, const char *word);
bool token_is_atom(const struct token *t); /* of Erlang */

/* Parts of lex_next, by file. Each leaves l->at behind the token. */
void lex_number(struct lex *l, struct token *out);
/* Characters up to `quote`, escapes taken, from l->at on; bytes: \xFF is one byte (Elixir). */
bool lex_quoted(struct lex *l, char quote, bool bytes, struct slice *out);
bool lex_character(struct lex *l, int32_t *codepoint);    /* one, with escapes */
bool lex_fail(struct lex *l, size_t at, const char *why); /* false */
size_t lex_characters(struct slice s);
/* The character at `at`: returns its bytes; of what is not UTF-8 one, as the character. */
size_t lex_codepoint(struct slice s, size_t at, int32_t *codepoint);
/* <0.1.2>, #Port<0.1>, #Ref<0.1.2.3>, #PID<0.1.2>: true when one stands there. */
bool lex_identifier(struct lex *l, struct token *out);

#endif
