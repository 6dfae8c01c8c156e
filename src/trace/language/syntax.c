/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which spelling a text is in. */
#include <string.h>

#include "beamtop/base/text.h"
#include "parse.h"

/* Signs that only Elixir's terms have: %{, %Name, :atom, key:, <>. The text ends with NUL. */
static bool has_signs(const char *s)
{
    char before = ' ';
    for (; *s != '\0'; before = *s++) {
        if (*s == '"' || *s == '\'') {
            char quote = *s++;
            for (; *s != '\0' && *s != quote; s++)
                if (*s == '\\' && s[1] != '\0')
                    s++;
            if (*s == '\0')
                return false;
            continue;
        }
        if (*s == '%' && (s[1] == '{' || text_is_capital(s[1])))
            return true;
        if (*s == '<' && s[1] == '>')
            return true;
        if (*s == '&' && before != '&' && s[1] != '&')
            return false; /* the next pattern */
        if (*s != ':')
            continue;
        bool atom = strchr(" ({[,|=", before) &&
                    (lex_is_name((unsigned char)s[1]) || s[1] == '"') &&
                    !(s[1] >= '0' && s[1] <= '9');
        if (atom || (lex_is_name((unsigned char)before) && s[1] == ' '))
            return true;
    }
    return false;
}

enum syntax syntax_recognise(const char *s)
{
    s += strspn(s, " \t\r\n");
    const char *after = s;
    if (*s == ':')
        return SYNTAX_ELIXIR;
    if (*s == '/') {
        for (after++; *after != '\0' && *after != '/'; after++)
            if (*after == '\\' && after[1] != '\0')
                after++;
        after += *after == '/';
    } else {
        while (lex_is_name((unsigned char)*after))
            after++;
    }
    after += strspn(after, " \t\r\n");
    if (text_is_capital(*s))
        return *after == ':' && after[1] != ':' ? SYNTAX_ERLANG : SYNTAX_ELIXIR;
    if (*after == '.' && (*s == '/' || *s == '_'))
        return SYNTAX_ELIXIR;
    if (*after == ':' && after[1] != ':')
        return SYNTAX_ERLANG;
    return has_signs(after) ? SYNTAX_ELIXIR : SYNTAX_ERLANG;
}
