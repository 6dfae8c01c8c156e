/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plain.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/slice.h"

struct plain {
    char *text;
    size_t len, at;
};

/* ---- tokens */

static bool is_in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '@';
}

static void skip_comment(struct plain *p)
{
    while (p->at < p->len && p->text[p->at] != '\n')
        p->at++;
}

static void skip_quoted(struct plain *p)
{
    const char quote = p->text[p->at++];
    while (p->at < p->len && p->text[p->at] != quote)
        p->at += p->text[p->at] == '\\' ? 2 : 1;
    p->at++;
}

/* $a or $\a, whose character may be a quote. */
static void skip_character(struct plain *p)
{
    p->at += p->at + 1 < p->len && p->text[p->at + 1] == '\\' ? 3 : 2;
}

/* Space is a token as well. */
static void skip_token(struct plain *p)
{
    const char c = p->text[p->at];
    if (c == '%')
        skip_comment(p);
    else if (c == '"' || c == '\'')
        skip_quoted(p);
    else if (c == '$')
        skip_character(p);
    else
        do
            p->at++;
        while (is_in_word(c) && p->at < p->len && is_in_word(p->text[p->at]));
    if (p->at > p->len)
        p->at = p->len;
}

/* The next token that is neither space nor a comment; len 0: none. */
static struct slice next_token(struct plain *p)
{
    while (p->at < p->len) {
        const size_t from = p->at;
        skip_token(p);
        if (p->text[from] != '%' && !isspace((unsigned char)p->text[from]))
            return (struct slice){p->text + from, p->at - from};
    }
    return (struct slice){0};
}

static bool accept(struct plain *p, const char *token)
{
    const size_t from = p->at;
    const bool found = slice_is(next_token(p), token);
    if (!found)
        p->at = from;
    return found;
}

/* ---- functions */

/* Behind `fun`: whether its own `end` follows, as after `fun(` and `fun Name(`. */
static bool has_end(struct plain *p)
{
    const size_t from = p->at;
    const struct slice next = next_token(p);
    p->at = from;
    return next.len > 0 && (*next.s == '(' || *next.s == '_' || isupper((unsigned char)*next.s));
}

static bool opens(struct plain *p, struct slice token)
{
    static const char *const words[] = {"begin", "case", "if", "maybe", "receive", "try"};
    if (slice_is(token, PLAIN_FUN))
        return has_end(p);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (slice_is(token, words[i]))
            return true;
    return false;
}

static void skip_to_end(struct plain *p)
{
    size_t depth = 1;
    while (depth > 0) {
        const struct slice token = next_token(p);
        if (token.len == 0)
            return;
        depth += opens(p, token);
        depth -= slice_is(token, "end");
    }
}

/* m:f/1, or f/1. */
static void skip_name(struct plain *p)
{
    (void)next_token(p);
    if (accept(p, ":"))
        (void)next_token(p);
    if (accept(p, "/"))
        (void)next_token(p);
}

char *plain_text(const char *text, size_t len)
{
    struct plain p = {.text = alloc_strndup(text, len), .len = len};
    while (p.at < len) {
        if (!slice_is(next_token(&p), PLAIN_FUN))
            continue;
        const size_t from = p.at;
        if (has_end(&p))
            skip_to_end(&p);
        else
            skip_name(&p);
        memset(p.text + from, ' ', p.at - from);
    }
    return p.text;
}
