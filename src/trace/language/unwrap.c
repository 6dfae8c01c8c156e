/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Patterns as people paste them from redbug's and rexbug's shells: in quotes, and several in a
 * list. The text is rewritten byte for byte, so that every place in it stays what it was: brackets
 * and quotes become blanks, and commas between patterns become `&`. */
#include <string.h>

#include "parse.h"

struct unwrap {
    char *s;
    size_t len, at;
    bool list;
    size_t *offset;
    struct error *err;
};

static int fail_unwrap(struct unwrap *u, size_t at, const char *why)
{
    if (u->offset)
        *u->offset = at;
    return error_set(u->err, ERR_USAGE, "%s", why);
}

static size_t after_blanks(const struct unwrap *u, size_t at)
{
    while (at < u->len && strchr(" \t\r\n", u->s[at]))
        at++;
    return at;
}

/* Where the text that the quote at `at` opens is closed; the length when it is not. */
static size_t closing_quote(const struct unwrap *u, size_t at)
{
    char quote = u->s[at++];
    for (; at < u->len && u->s[at] != quote; at++)
        if (u->s[at] == '\\' && at + 1 < u->len)
            at++;
    return at;
}

/* A comma or an ampersand; Elixir's operators have two or three of those. */
static bool separates_at(const struct unwrap *u, size_t at)
{
    if (at >= u->len || u->s[at] != '&')
        return at < u->len && u->s[at] == ',';
    return (at == 0 || u->s[at - 1] != '&') && (at + 1 == u->len || u->s[at + 1] != '&');
}

static bool ends_item(const struct unwrap *u, size_t at)
{
    at = after_blanks(u, at);
    return at >= u->len || separates_at(u, at) || (u->list && u->s[at] == ']');
}

/* A text in double quotes is a pattern; one in single quotes often is a name. */
static bool is_quoted_pattern(const struct unwrap *u, size_t at)
{
    if (at < u->len && u->s[at] == '"')
        return true;
    if (at >= u->len || u->s[at] != '\'')
        return false;
    size_t end = closing_quote(u, at);
    return memchr(u->s + at, ':', end - at) && ends_item(u, end + 1);
}

/* \" is a quote of the pattern's own; its blank goes to the outside of what it encloses. */
static int unwrap_quoted(struct unwrap *u)
{
    size_t open = u->at, end = closing_quote(u, open);
    bool inside = false;
    char quote = u->s[open];
    u->s[open] = ' ';
    u->at = end < u->len ? end + 1 : end;
    for (size_t i = open + 1; i < end; i++) {
        if (u->s[i] != '\\')
            continue;
        if (i + 1 >= end || u->s[i + 1] != quote)
            return fail_unwrap(u, i, "write a pattern with \\ in it without the quotes around it");
        u->s[i] = inside ? quote : ' ';
        u->s[i + 1] = inside ? ' ' : quote;
        inside = !inside;
        i++;
    }
    if (end >= u->len)
        return fail_unwrap(u, open, "no closing quote of this pattern");
    u->s[end] = ' ';
    return 0;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A slash where a name may stand opens an expression; elsewhere it comes before an arity or
 * divides. */
static bool opens_expression(const struct unwrap *u, size_t from)
{
    size_t at = u->at;
    while (at > from && strchr(" \t\r\n", u->s[at - 1]))
        at--;
    return u->s[u->at] == '/' && (at == from || strchr("&,:.", u->s[at - 1]));
}

/* Up to the list's end, or to what separates it from a pattern in quotes. */
static void take_plain(struct unwrap *u)
{
    const size_t from = u->at;
    unsigned depth = 0;
    for (; u->at < u->len; u->at++) {
        char c = u->s[u->at];
        bool character = c == '$' || (c == '?' && !(u->at > 0 && is_name(u->s[u->at - 1])));
        if (c == '"' || c == '\'' || (depth == 0 && opens_expression(u, from)))
            u->at = closing_quote(u, u->at);
        else if (character)
            u->at++;
        else if (strchr("([{", c))
            depth++;
        else if (depth > 0 && strchr(")]}", c))
            depth--;
        else if (depth == 0 && c == ']' && u->list)
            return;
        else if (depth == 0 && separates_at(u, u->at) &&
                 is_quoted_pattern(u, after_blanks(u, u->at + 1)))
            return;
    }
    u->at = u->len;
}

int patterns_unwrap(char *text, size_t len, size_t *offset, struct error *err)
{
    struct unwrap u = {.s = text, .len = len, .offset = offset, .err = err};
    u.at = after_blanks(&u, 0);
    u.list = u.at < len && text[u.at] == '[';
    if (u.list)
        text[u.at++] = ' ';
    for (;;) {
        u.at = after_blanks(&u, u.at);
        if (!is_quoted_pattern(&u, u.at))
            take_plain(&u);
        else if (unwrap_quoted(&u) != 0)
            return ERR_USAGE;
        u.at = after_blanks(&u, u.at);
        if (!separates_at(&u, u.at))
            break;
        text[u.at++] = '&';
    }
    if (u.list) {
        if (u.at >= len || text[u.at] != ']')
            return fail_unwrap(&u, u.at, "expected `,` or `]` of the list of patterns");
        text[u.at] = ' ';
        u.at = after_blanks(&u, u.at + 1);
    }
    return u.at < len ? fail_unwrap(&u, u.at, "expected `,` and another pattern, or the end") : 0;
}
