/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "print_ex.h"

#include <inttypes.h>

#include "internal.h"

/* How keys and values are written. */
enum pairs_form {
    PAIRS_LIST,   /* [a: 1]: each is a tuple of two */
    PAIRS_KEYS,   /* a: 1 */
    PAIRS_FIELDS, /* as keys, without what marks a struct */
    PAIRS_ARROWS, /* 1 => 2 */
};

static bool is_latin1(const struct cursor *c)
{
    return *c->at == ETF_ATOM_LATIN1 || *c->at == ETF_SMALL_ATOM_LATIN1;
}

static void put_ex_key(struct printer *p, struct cursor *c, enum pairs_form form)
{
    struct slice name;
    if (form == PAIRS_ARROWS || cursor_kind(c) != ETF_KIND_ATOM) {
        print_value(p, c);
        printer_puts(p, " => ");
        return;
    }
    bool latin1 = is_latin1(c);
    if (cursor_atom(c, &name))
        print_ex_key(p, name, latin1);
}

static void skip_terms(struct cursor *c, size_t count)
{
    for (size_t i = 0; i < count && !cursor_failed(c); i++)
        cursor_skip(c);
}

static bool is_struct_mark(const struct cursor *c)
{
    return cursor_peek_atom(c, "__struct__") || cursor_peek_atom(c, "__exception__");
}

static void put_pair(struct printer *p, struct cursor *c, enum pairs_form form)
{
    size_t arity;
    if (form == PAIRS_LIST && print_is_left_out(p, c)) {
        print_value(p, c);
        return;
    }
    if (form == PAIRS_LIST)
        cursor_tuple(c, &arity);
    if (print_is_pair_left_out(p, c)) {
        print_value(p, c);
        cursor_skip(c);
        return;
    }
    put_ex_key(p, c, form);
    print_value(p, c);
}

static void put_pairs(struct printer *p, struct cursor *c, size_t count, enum pairs_form form)
{
    size_t terms = form == PAIRS_LIST ? 1 : 2, shown = 0;
    for (size_t i = 0; i < count && !p->full && !cursor_failed(c); i++) {
        if (form == PAIRS_FIELDS && is_struct_mark(c)) {
            skip_terms(c, terms);
            continue;
        }
        if (shown > 0)
            printer_puts(p, ", ");
        if (p->max_items > 0 && shown == p->max_items) {
            printer_puts(p, "...");
            skip_terms(c, terms * (count - i));
            return;
        }
        put_pair(p, c, form);
        shown++;
    }
}

/* A proper list of {Atom, Value}, not empty; where terms may be cut, what is left out counts. */
static bool is_keywords(const struct printer *p, const struct cursor *c)
{
    struct cursor look = *c;
    struct cursor_list list;
    struct slice name;
    size_t arity, pairs = 0;
    if (cursor_kind(c) != ETF_KIND_LIST || !cursor_list(&look, &list))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (print_is_left_out(p, &look)) {
            cursor_skip(&look);
            continue;
        }
        if (cursor_kind(&look) != ETF_KIND_TUPLE || !cursor_tuple(&look, &arity) || arity != 2)
            return false;
        if (!cursor_atom(&look, &name) || print_ex_is_prefixed(name) || !cursor_skip(&look))
            return false;
        pairs++;
    }
    return pairs > 0 && cursor_kind(&look) == ETF_KIND_NIL;
}

static void print_keywords(struct printer *p, struct cursor *c)
{
    struct cursor_list list;
    if (!cursor_list(c, &list))
        return;
    printer_puts(p, "[");
    put_pairs(p, c, list.count, PAIRS_LIST);
    printer_puts(p, "]");
    if (!p->full)
        cursor_list_end(c, &list);
}

/* What stands before the braces of a map, and how its pairs are written. */
static enum pairs_form look_at_map(struct cursor look, size_t pairs, struct slice *module)
{
    bool prefixed = false;
    *module = (struct slice){NULL, 0};
    for (size_t i = 0; i < pairs; i++) {
        struct slice key, name;
        bool marks = cursor_peek_atom(&look, "__struct__");
        if (cursor_kind(&look) != ETF_KIND_ATOM || !cursor_atom(&look, &key))
            return PAIRS_ARROWS;
        prefixed = prefixed || print_ex_is_prefixed(key);
        struct cursor value = look;
        if (marks && cursor_kind(&value) == ETF_KIND_ATOM && cursor_atom(&value, &name) &&
            print_ex_is_alias(name))
            *module = name;
        if (!cursor_skip(&look))
            return PAIRS_ARROWS;
    }
    if (module->s)
        return PAIRS_FIELDS;
    return prefixed ? PAIRS_ARROWS : PAIRS_KEYS;
}

static void print_ex_map(struct printer *p, struct cursor *c)
{
    size_t pairs;
    struct slice module;
    if (!cursor_map(c, &pairs))
        return;
    enum pairs_form form = look_at_map(*c, pairs, &module);
    printer_puts(p, "%");
    if (form == PAIRS_FIELDS)
        print_ex_atom(p, module, false);
    printer_puts(p, "{");
    put_pairs(p, c, pairs, form);
    printer_puts(p, "}");
}

static void print_ex_binary(struct printer *p, struct slice bytes, bool ascii)
{
    (void)ascii;
    printer_puts(p, "\"");
    printer_quoted(p, bytes, false, '"');
    printer_puts(p, "\"");
}

/* Module.function, from two atoms. */
static void put_remote(struct printer *p, struct cursor *c)
{
    struct slice name;
    print_value(p, c);
    printer_puts(p, ".");
    bool latin1 = cursor_kind(c) == ETF_KIND_ATOM && is_latin1(c);
    if (cursor_atom(c, &name))
        print_ex_function(p, name, latin1);
}

/* A NEW_FUN_EXT has size, arity, uniq, index, free variables; then module, old index, old uniq. */
static void print_ex_fun(struct printer *p, struct cursor *c)
{
    enum { INDEX_AT = 1 + 4 + 1 + 16, MODULE_AT = INDEX_AT + 4 + 4 };
    struct slice raw, module;
    struct cursor inside;
    if (!cursor_raw(c, &raw))
        return;
    const uint8_t *bytes = (const uint8_t *)raw.s;
    size_t skipped = bytes[0] == ETF_EXPORT ? 1 : MODULE_AT;
    cursor_init(&inside, bytes + skipped, raw.len - skipped);
    if (bytes[0] == ETF_EXPORT) {
        printer_puts(p, "&");
        put_remote(p, &inside);
        printer_puts(p, "/");
        print_value(p, &inside);
        return;
    }
    printer_printf(p, "#Function<%" PRIu32 ".", etf_be(bytes + INDEX_AT, 4));
    struct cursor at_module = inside;
    cursor_atom(&inside, &module);
    cursor_skip(&inside);
    print_value(p, &inside);
    printer_printf(p, "/%u in ", bytes[5]);
    print_value(p, &at_module);
    printer_puts(p, ">");
}

static void print_ex_record(struct printer *p, struct cursor *c)
{
    size_t pairs;
    if (!printer_record(c, &pairs))
        return;
    printer_puts(p, "#");
    put_remote(p, c);
    printer_puts(p, "{");
    put_pairs(p, c, pairs, PAIRS_KEYS);
    printer_puts(p, "}");
}

static void print_ex_mfa(struct printer *p, struct slice mod, struct slice fun, int64_t arity)
{
    print_ex_atom(p, mod, false);
    printer_puts(p, ".");
    print_ex_function(p, fun, false);
    printer_printf(p, "/%" PRId64, arity);
}

const struct print_spelling print_spelling_elixir = {
    .comma = ", ",
    .bar = " | ",
    .more = ", ...",
    .pid = "#PID<0",
    .reference = "#Reference<0",
    .bits = "::size(",
    .bits_end = ")",
    .characters = "~c\"",
    .base_16 = "0x",
    .empty_text = true,
    .plain_floats = true,
    .is_list_text = print_ex_is_list_text,
    .is_binary_text = print_ex_is_binary_text,
    .character = print_ex_character,
    .atom = print_ex_atom,
    .text_binary = print_ex_binary,
    .is_pairs = is_keywords,
    .pairs = print_keywords,
    .map = print_ex_map,
    .fun = print_ex_fun,
    .record = print_ex_record,
    .mfa = print_ex_mfa,
};
