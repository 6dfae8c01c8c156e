/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/shown_name.h"

#include <ctype.h>
#include <string.h>

#include "beamtop/base/text.h"

#define PREFIX "Elixir."

static bool is_plain_name(struct slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.s[i] != '.' && name.s[i] != '_' && !isalnum((unsigned char)name.s[i]))
            return false;
    return name.len > 0;
}

/* Of a module and what follows it, a call begins with a colon. */
static struct slice join_call(struct arena *arena, struct slice module, struct slice after)
{
    char *text = arena_alloc(arena, module.len + after.len + 1);
    memcpy(text, module.s, module.len);
    memcpy(text + module.len, after.s, after.len);
    text[module.len] = '.';
    return (struct slice){text, module.len + after.len};
}

struct slice shown_name(struct arena *arena, struct slice name)
{
    const bool quoted = slice_begins(name, "'" PREFIX);
    const struct slice rest = slice_without(name, quoted ? "'" PREFIX : PREFIX);
    if (rest.len == 0 || !text_is_capital(rest.s[0])) /* Elixir.foo is typed so, too */
        return name;
    const char *end = rest.len < name.len ? memchr(rest.s, quoted ? '\'' : ':', rest.len) : NULL;
    if (!end)
        return quoted ? name : rest;
    const struct slice module = {rest.s, (size_t)(end - rest.s)};
    const struct slice after = {end + quoted, rest.len - module.len - quoted};
    if (!is_plain_name(module) || (after.len > 0 && after.s[0] != ':'))
        return quoted ? name : rest;
    return after.len > 0 ? join_call(arena, module, after) : module;
}

/* ---- within a text */

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '@' || c == '.';
}

/* Of "add/2" at the end of a call. */
static size_t function_start(struct slice text)
{
    size_t end = 0;
    if (text.len == 0 || !(islower((unsigned char)text.s[0]) || text.s[0] == '_'))
        return 0;
    while (end < text.len && (is_of_name(text.s[end]) || strchr("?!/", text.s[end])))
        end++;
    return end;
}

/* How long the name is that begins there; 0: none does. */
static size_t name_at(struct slice text, size_t at)
{
    const struct slice here = {text.s + at, text.len - at};
    const bool quoted = slice_begins(here, "'" PREFIX);
    size_t end = strlen(PREFIX) + quoted;
    const char before = at > 0 ? text.s[at - 1] : ' ';
    if ((!quoted && !slice_begins(here, PREFIX)) || is_of_name(before) || before == '\'')
        return 0;
    while (end < here.len && is_of_name(here.s[end]))
        end++;
    if (quoted && (end == here.len || here.s[end++] != '\''))
        return 0;
    if (end == here.len || here.s[end] != ':')
        return end;
    const size_t function = function_start((struct slice){here.s + end + 1, here.len - end - 1});
    return function > 0 ? end + 1 + function : end;
}

struct slice shown_names(struct arena *arena, struct slice text)
{
    char *out = NULL;
    size_t len = 0;
    for (size_t at = 0; at < text.len;) {
        const size_t n = name_at(text, at);
        if (n > 0 && !out) {
            out = arena_alloc(arena, text.len + 1); /* what is shown is never longer */
            memcpy(out, text.s, len);
        }
        const struct slice part = {text.s + at, n > 0 ? n : 1};
        const struct slice shown = n > 0 ? shown_name(arena, part) : part;
        if (out)
            memcpy(out + len, shown.s, shown.len);
        len += shown.len;
        at += part.len;
    }
    if (!out)
        return text;
    out[len] = '\0';
    return (struct slice){out, len};
}
