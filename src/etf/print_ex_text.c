/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "print_ex.h"

#include <string.h>

#include "beamtop/base/text.h"

enum atom_class {
    ATOM_ALIAS,
    ATOM_IDENTIFIER,
    ATOM_WORD,            /* needs no quotes, but cannot name a function that is called */
    ATOM_OPERATOR,        /* needs no quotes, and can be called */
    ATOM_QUOTED_OPERATOR, /* can be called, and needs quotes elsewhere */
    ATOM_QUOTED,
};

static const char prefix[] = "Elixir.";

bool print_ex_is_list_text(int32_t cp)
{
    return (cp >= 0x20 && cp <= 0x7E) || (cp >= 0x07 && cp <= 0x0D) || cp == 0x1B;
}

bool print_ex_is_binary_text(int32_t cp)
{
    return print_is_printable(cp) || cp == 0x07 || cp == 0x7F;
}

void print_ex_character(struct printer *p, int32_t cp, int32_t next, char quote)
{
    static const char named[] = "\a\b\t\n\v\f\r\x1b\x7f";
    static const char names[] = "abtnvfred";
    const char *name = cp > 0 && cp < 0x80 ? strchr(named, cp) : NULL;
    if (cp == quote || cp == '\\' || (cp == '#' && next == '{'))
        printer_printf(p, "\\%c", (char)cp);
    else if (cp == 0)
        printer_puts(p, "\\0");
    else if (name)
        printer_printf(p, "\\%c", names[name - named]);
    else if (cp < 0x20 || (cp >= 0x80 && cp < 0xA0))
        printer_printf(p, "\\x%02X", (unsigned)cp);
    else if (!printer_safe(p, cp))
        printer_printf(p, cp < 0x10000 ? "\\u%04X" : "\\u{%X}", (unsigned)cp);
}

bool print_ex_is_prefixed(struct slice name)
{
    return slice_begins(name, prefix);
}

static bool is_alias_character(char c)
{
    return text_is_capital(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

bool print_ex_is_alias(struct slice name)
{
    if (name.len + 1 == strlen(prefix))
        return memcmp(name.s, prefix, name.len) == 0;
    if (!print_ex_is_prefixed(name))
        return false;
    for (size_t at = strlen(prefix) - 1; at < name.len; at++) {
        if (name.s[at] == '.' && (++at == name.len || !text_is_capital(name.s[at])))
            return false;
        if (!is_alias_character(name.s[at]))
            return false;
    }
    return true;
}

static bool is_one_of(struct slice name, const char *const words[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slice_is(name, words[i]))
            return true;
    return false;
}

/* A class of what is made of signs; ATOM_QUOTED for all else. */
static enum atom_class sign_class(struct slice name)
{
    static const char *const operators[] = {
        "!", "!=", "!==", "&",  "&&",  "&&&", "*",  "**", "+",   "++",  "+++", "-",    "--",  "---",
        "/", "//", "<",   "<-", "<<<", "<<~", "<=", "<>", "<~",  "<~>", "=",   "==",   "===", "=~",
        ">", ">=", ">>>", "@",  "^",   "|",   "|>", "||", "|||", "~>",  "~>>", "\\\\",
    };
    static const char *const words[] = {"%", "%{}", "{}", "<<>>", "...", "..", ".", "..//", "->"};
    static const char *const quoted[] = {"::", "^^^", "~~~", "<|>"};
    if (is_one_of(name, operators, ARRAY_LEN(operators)))
        return ATOM_OPERATOR;
    if (is_one_of(name, words, ARRAY_LEN(words)))
        return ATOM_WORD;
    return is_one_of(name, quoted, ARRAY_LEN(quoted)) ? ATOM_QUOTED_OPERATOR : ATOM_QUOTED;
}

static enum atom_class classify_atom(struct slice name, bool latin1)
{
    if (print_ex_is_alias(name))
        return ATOM_ALIAS;
    bool word = false;
    for (size_t at = 0; at < name.len;) {
        int32_t cp;
        bool first = at == 0;
        at += print_decode(name, at, latin1, &cp);
        bool letter = cp == '_' || text_is_letter(cp);
        bool end = at == name.len && !first && (cp == '?' || cp == '!');
        bool later = !first && ((cp >= '0' && cp <= '9') || cp == '@' || text_is_mark(cp));
        if (!letter && !later && !end)
            return sign_class(name);
        word = word || cp == '@' || (first && text_is_upper(cp));
    }
    if (name.len == 0)
        return ATOM_QUOTED;
    return word ? ATOM_WORD : ATOM_IDENTIFIER;
}

static void put_plain_atom(struct printer *p, struct slice name, bool latin1)
{
    for (size_t at = 0; at < name.len && !p->full;) {
        int32_t cp;
        at += print_decode(name, at, latin1, &cp);
        if (!printer_safe(p, cp))
            printer_puts(p, "?");
    }
}

static void put_quoted(struct printer *p, struct slice name, bool latin1)
{
    printer_puts(p, "\"");
    printer_quoted(p, name, latin1, '"');
    printer_puts(p, "\"");
}

static bool class_needs_quotes(enum atom_class class)
{
    return class == ATOM_QUOTED || class == ATOM_QUOTED_OPERATOR;
}

void print_ex_atom(struct printer *p, struct slice name, bool latin1)
{
    static const char *const bare[] = {"nil", "true", "false", "Elixir", "Elixir.Elixir"};
    static const char twice[] = "Elixir.Elixir.";
    enum atom_class class = classify_atom(name, latin1);
    bool kept = name.len > strlen(twice) && slice_begins(name, twice);
    if (class == ATOM_ALIAS && !kept && !is_one_of(name, bare, ARRAY_LEN(bare))) {
        name.s += strlen(prefix);
        name.len -= strlen(prefix);
    } else if (class != ATOM_ALIAS && !is_one_of(name, bare, ARRAY_LEN(bare))) {
        printer_puts(p, ":");
    }
    if (class_needs_quotes(class))
        put_quoted(p, name, latin1);
    else
        put_plain_atom(p, name, latin1);
}

void print_ex_key(struct printer *p, struct slice name, bool latin1)
{
    enum atom_class class = classify_atom(name, latin1);
    if (class == ATOM_ALIAS || class_needs_quotes(class))
        put_quoted(p, name, latin1);
    else
        put_plain_atom(p, name, latin1);
    printer_puts(p, ": ");
}

void print_ex_function(struct printer *p, struct slice name, bool latin1)
{
    enum atom_class class = classify_atom(name, latin1);
    if (class == ATOM_IDENTIFIER || class == ATOM_OPERATOR || class == ATOM_QUOTED_OPERATOR)
        put_plain_atom(p, name, latin1);
    else
        put_quoted(p, name, latin1);
}
