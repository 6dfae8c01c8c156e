/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "print.h"

#include <inttypes.h>

#include "beamtop/base/text.h"
#include "internal.h"

/* Terms between commas, as many as are shown; the others are skipped. True when all were shown. */
static bool print_terms(struct printer *p, struct cursor *c, size_t count)
{
    for (size_t i = 0; i < count && !p->full && !cursor_failed(c); i++) {
        if (p->max_items > 0 && i == p->max_items) {
            for (; i < count && !cursor_failed(c); i++)
                cursor_skip(c);
            return false;
        }
        if (i > 0)
            printer_puts(p, p->spelling->comma);
        print_value(p, c);
    }
    return true;
}

static void print_pairs(struct printer *p, struct cursor *c, size_t pairs, const char *between)
{
    for (size_t i = 0; i < pairs && !p->full && !cursor_failed(c); i++) {
        if (i > 0)
            printer_puts(p, ",");
        if (p->max_items > 0 && i == p->max_items) {
            printer_puts(p, "...");
            for (; i < pairs && !cursor_failed(c); i++) {
                cursor_skip(c);
                cursor_skip(c);
            }
            return;
        }
        if (print_is_pair_left_out(p, c)) {
            print_value(p, c);
            cursor_skip(c);
            continue;
        }
        print_value(p, c);
        printer_puts(p, between);
        print_value(p, c);
    }
}

bool print_is_left_out(const struct printer *p, const struct cursor *c)
{
    return p->cuts && cursor_peek_atom(c, "...");
}

bool print_is_pair_left_out(const struct printer *p, const struct cursor *c)
{
    struct cursor value = *c;
    return print_is_left_out(p, c) && cursor_skip(&value) && print_is_left_out(p, &value);
}

/* {'$cut', Bytes, Head}: a term that the target truncated. True when the next term was one. */
static bool print_cut(struct printer *p, struct cursor *c)
{
    struct cursor inside = *c;
    size_t arity;
    uint64_t bytes;
    if (!p->cuts || !cursor_tuple(&inside, &arity) || arity != 3 ||
        !cursor_peek_atom(&inside, "$cut"))
        return false;
    if (!cursor_skip(&inside) || !cursor_uint64(&inside, &bytes))
        return false;
    *c = inside;
    print_value(p, c);
    printer_printf(p, PRINT_ELLIPSIS " (%" PRIu64 " bytes)", bytes);
    return true;
}

static void print_tuple(struct printer *p, struct cursor *c)
{
    if (print_cut(p, c))
        return;
    size_t arity;
    if (!cursor_tuple(c, &arity))
        return;
    printer_puts(p, "{");
    if (!print_terms(p, c, arity))
        printer_printf(p, "%s...", p->spelling->comma);
    printer_puts(p, "}");
}

static void print_map(struct printer *p, struct cursor *c)
{
    size_t pairs;
    if (!cursor_map(c, &pairs))
        return;
    printer_puts(p, "#{");
    print_pairs(p, c, pairs, " => ");
    printer_puts(p, "}");
}

/* True when the list at c is one of printable characters, and not empty. */
static bool is_text_list(const struct printer *p, const struct cursor *c)
{
    struct cursor look = *c;
    struct cursor_list list;
    if (!cursor_list(&look, &list) || list.count == 0)
        return false;
    for (size_t i = 0; i < list.count; i++) {
        int64_t v;
        if (cursor_kind(&look) != ETF_KIND_INTEGER || !cursor_int64(&look, &v))
            return false;
        if (v < 0 || v > 0x10FFFF || !p->spelling->is_list_text((int32_t)v))
            return false;
    }
    return list.string || cursor_kind(&look) == ETF_KIND_NIL;
}

static void print_characters(struct printer *p, struct cursor *c)
{
    struct cursor_list list;
    cursor_list(c, &list);
    printer_puts(p, p->spelling->characters);
    int64_t v, next = -1;
    cursor_int64(c, &next);
    for (size_t i = 0; i < list.count && !p->full; i++) {
        v = next;
        next = -1;
        if (i + 1 < list.count)
            cursor_int64(c, &next);
        p->spelling->character(p, (int32_t)v, (int32_t)next, '"');
    }
    printer_puts(p, "\"");
    if (!p->full)
        cursor_list_end(c, &list);
}

static void print_bytes_list(struct printer *p, struct cursor *c, const struct cursor_list *list)
{
    bool all = true;
    for (size_t i = 0; i < list->count && !p->full; i++) {
        int64_t v = 0;
        cursor_int64(c, &v);
        if (p->max_items > 0 && i >= p->max_items)
            all = false;
        else
            printer_printf(p, "%s%d", i > 0 ? p->spelling->comma : "", (int)v);
    }
    printer_printf(p, "%s]", all ? "" : p->spelling->more);
}

static void print_list(struct printer *p, struct cursor *c)
{
    if (is_text_list(p, c)) {
        print_characters(p, c);
        return;
    }
    if (p->spelling->pairs && p->spelling->is_pairs(p, c)) {
        p->spelling->pairs(p, c);
        return;
    }
    struct cursor_list list;
    if (!cursor_list(c, &list))
        return;
    printer_puts(p, "[");
    if (list.nil) {
        printer_puts(p, "]");
        return;
    }
    if (list.string) {
        print_bytes_list(p, c, &list);
        return;
    }
    bool all = print_terms(p, c, list.count);
    if (p->full)
        return;
    bool proper = cursor_kind(c) == ETF_KIND_NIL;
    if (!all)
        printer_puts(p, p->spelling->more);
    else if (!proper)
        printer_puts(p, p->spelling->bar);
    if (proper || !all)
        cursor_skip(c);
    else
        print_value(p, c);
    printer_puts(p, "]");
}

static bool is_printable_utf8(const struct printer *p, struct slice bytes, bool *ascii)
{
    *ascii = true;
    for (size_t at = 0; at < bytes.len;) {
        int32_t cp;
        size_t n = text_decode(bytes.s + at, bytes.len - at, &cp);
        if (n == 0 || !p->spelling->is_binary_text(cp))
            return false;
        *ascii = *ascii && n == 1;
        at += n;
    }
    return bytes.len > 0 || p->spelling->empty_text;
}

static void print_text_binary(struct printer *p, struct slice bytes, bool ascii)
{
    printer_puts(p, "<<\"");
    printer_quoted(p, bytes, false, '"');
    printer_puts(p, ascii ? "\">>" : "\"/utf8>>");
}

static void print_binary(struct printer *p, struct cursor *c)
{
    struct slice raw, bytes;
    struct cursor look = *c;
    if (!cursor_raw(c, &raw) || !cursor_binary(&look, &bytes))
        return;
    unsigned bits = (uint8_t)raw.s[0] == ETF_BIT_BINARY && bytes.len > 0 ? (uint8_t)raw.s[5] : 8;
    bool ascii;
    if (bits == 8 && is_printable_utf8(p, bytes, &ascii)) {
        p->spelling->text_binary(p, bytes, ascii);
        return;
    }
    printer_puts(p, "<<");
    for (size_t i = 0; i < bytes.len && !p->full; i++) {
        if (p->max_items > 0 && i == p->max_items) {
            printer_printf(p, "%s...", p->spelling->comma);
            break;
        }
        unsigned v = (uint8_t)bytes.s[i];
        printer_puts(p, i > 0 ? p->spelling->comma : "");
        if (bits < 8 && i + 1 == bytes.len)
            printer_printf(p, "%u%s%u%s", v >> (8 - bits), p->spelling->bits, bits,
                           p->spelling->bits_end);
        else
            printer_printf(p, "%u", v);
    }
    printer_puts(p, ">>");
}

static void print_integer(struct printer *p, struct cursor *c)
{
    struct cursor look = *c;
    struct slice raw;
    int64_t v;
    if (!cursor_raw(c, &raw))
        return;
    if (cursor_int64(&look, &v)) {
        printer_printf(p, "%" PRId64, v);
        return;
    }
    const uint8_t *bytes = (const uint8_t *)raw.s;
    size_t header = bytes[0] == ETF_SMALL_BIG ? 3 : 6;
    printer_integer(p, bytes[header - 1] != 0, bytes + header, raw.len - header);
}

static void print_number(struct printer *p, struct cursor *c)
{
    double v;
    if (cursor_number(c, &v))
        printer_float(p, v);
}

static void print_atom_at(struct printer *p, struct cursor *c)
{
    struct slice name;
    uint8_t tag = *c->at;
    bool left_out = print_is_left_out(p, c);
    if (!cursor_atom(c, &name))
        return;
    if (left_out)
        printer_puts(p, PRINT_ELLIPSIS);
    else
        p->spelling->atom(p, name, tag == ETF_ATOM_LATIN1 || tag == ETF_SMALL_ATOM_LATIN1);
}

static void put_pid(struct printer *p, const struct etf_pid *pid)
{
    printer_printf(p, "%s.%" PRIu32 ".%" PRIu32 ">", p->spelling->pid, pid->id, pid->serial);
}

static void print_pid_at(struct printer *p, struct cursor *c)
{
    struct etf_pid pid;
    if (cursor_pid(c, &pid, NULL))
        put_pid(p, &pid);
}

/* What is behind the node's name in a checked port or reference whose name is at `name_at`. */
static const uint8_t *behind_node(struct slice raw, size_t name_at)
{
    const uint8_t *bytes = (const uint8_t *)raw.s;
    struct slice name;
    return bytes + name_at + etf_atom_at(bytes + name_at, bytes + raw.len, &name);
}

static void print_port(struct printer *p, struct cursor *c)
{
    struct slice raw;
    if (!cursor_raw(c, &raw))
        return;
    const uint8_t *id = behind_node(raw, 1);
    uint64_t v = etf_be(id, 4);
    if ((uint8_t)raw.s[0] == ETF_V4_PORT)
        v = v << 32 | etf_be(id + 4, 4);
    printer_printf(p, "#Port<0.%" PRIu64 ">", v);
}

static void print_ref(struct printer *p, struct cursor *c)
{
    struct slice raw;
    if (!cursor_raw(c, &raw))
        return;
    uint8_t tag = (uint8_t)raw.s[0];
    bool old = tag == ETF_REFERENCE;
    size_t words = old ? 1 : etf_be((const uint8_t *)raw.s + 1, 2);
    const uint8_t *ids = behind_node(raw, old ? 1 : 3);
    if (!old)
        ids += tag == ETF_NEWER_REFERENCE ? 4 : 1;
    printer_puts(p, p->spelling->reference);
    for (size_t i = words; i > 0; i--)
        printer_printf(p, ".%" PRIu32, etf_be(ids + 4 * (i - 1), 4));
    printer_puts(p, ">");
}

static void print_external_fun(struct printer *p, struct cursor *c)
{
    printer_puts(p, "fun ");
    print_value(p, c);
    printer_puts(p, ":");
    print_value(p, c);
    printer_puts(p, "/");
    print_value(p, c);
}

static void print_fun(struct printer *p, struct cursor *c)
{
    enum { FIXED_BYTES = 1 + 4 + 1 + 16 + 4 + 4 }; /* up to the module of a NEW_FUN_EXT */
    struct slice raw;
    if (!cursor_raw(c, &raw))
        return;
    const uint8_t *bytes = (const uint8_t *)raw.s;
    size_t skipped = bytes[0] == ETF_EXPORT ? 1 : FIXED_BYTES;
    struct cursor inside;
    cursor_init(&inside, bytes + skipped, raw.len - skipped);
    if (bytes[0] == ETF_EXPORT) {
        print_external_fun(p, &inside);
        return;
    }
    printer_puts(p, "#Fun<");
    print_value(p, &inside);
    printer_puts(p, ".");
    print_value(p, &inside);
    printer_puts(p, ".");
    print_value(p, &inside);
    printer_puts(p, ">");
}

bool printer_record(struct cursor *c, size_t *fields)
{
    enum { HEADER_BYTES = 1 + 4 + 1 };
    if (c->end - c->at < HEADER_BYTES) {
        cursor_skip(c); /* sets the cursor's error */
        return false;
    }
    *fields = etf_be(c->at + 1, 4);
    c->at += HEADER_BYTES;
    return true;
}

static void print_record(struct printer *p, struct cursor *c)
{
    size_t pairs;
    if (!printer_record(c, &pairs))
        return;
    printer_puts(p, "#");
    print_value(p, c);
    printer_puts(p, ":");
    print_value(p, c);
    printer_puts(p, "{");
    print_pairs(p, c, pairs, " = ");
    printer_puts(p, "}");
}

static void print_mfa_parts(struct printer *p, struct slice mod, struct slice fun, int64_t arity)
{
    printer_atom(p, mod, false);
    printer_puts(p, ":");
    printer_atom(p, fun, false);
    printer_printf(p, "/%" PRId64, arity);
}

static const struct print_spelling spelling_erlang = {
    .comma = ",",
    .bar = "|",
    .more = "|...",
    .pid = "<0",
    .reference = "#Ref<0",
    .bits = ":",
    .bits_end = "",
    .characters = "\"",
    .base_16 = "16#",
    .is_list_text = print_is_printable,
    .is_binary_text = print_is_printable,
    .character = printer_character,
    .atom = printer_atom,
    .text_binary = print_text_binary,
    .map = print_map,
    .fun = print_fun,
    .record = print_record,
    .mfa = print_mfa_parts,
};

static void print_composite(struct printer *p, struct cursor *c,
                            void (*print)(struct printer *p, struct cursor *c))
{
    if (p->depth >= p->max_depth) {
        printer_puts(p, "...");
        cursor_skip(c);
        return;
    }
    p->depth++;
    print(p, c);
    p->depth--;
}

static void print_kind(struct printer *p, struct cursor *c)
{
    switch (cursor_kind(c)) {
    case ETF_KIND_NONE:
        cursor_skip(c); /* sets the cursor's error */
        return;
    case ETF_KIND_INTEGER:
        print_integer(p, c);
        return;
    case ETF_KIND_FLOAT:
        print_number(p, c);
        return;
    case ETF_KIND_ATOM:
        print_atom_at(p, c);
        return;
    case ETF_KIND_PID:
        print_pid_at(p, c);
        return;
    case ETF_KIND_PORT:
        print_port(p, c);
        return;
    case ETF_KIND_REF:
        print_ref(p, c);
        return;
    case ETF_KIND_BINARY:
        print_binary(p, c);
        return;
    case ETF_KIND_FUN:
        p->spelling->fun(p, c);
        return;
    case ETF_KIND_NIL:
    case ETF_KIND_STRING:
        print_list(p, c);
        return;
    case ETF_KIND_LIST:
        print_composite(p, c, print_list);
        return;
    case ETF_KIND_TUPLE:
        print_composite(p, c, print_tuple);
        return;
    case ETF_KIND_MAP:
        print_composite(p, c, p->spelling->map);
        return;
    case ETF_KIND_RECORD:
        print_composite(p, c, p->spelling->record);
        return;
    }
}

void print_value(struct printer *p, struct cursor *c)
{
    if (p->full)
        return;
    print_kind(p, c);
    if (cursor_failed(c)) {
        printer_puts(p, "#Bad");
        p->full = true; /* nothing behind it can be read */
    }
}

static struct printer unlimited_printer(struct buf *out, enum print_syntax syntax)
{
    return (struct printer){
        .out = out,
        .spelling = syntax == PRINT_ELIXIR ? &print_spelling_elixir : &spelling_erlang,
        .left = SIZE_MAX,
    };
}

void print_term(struct buf *out, const uint8_t *bytes, size_t len,
                const struct print_limits *limits)
{
    struct printer p = unlimited_printer(out, limits ? limits->syntax : PRINT_ERLANG);
    p.left = LIMIT_TERM_TEXT_BYTES;
    p.max_depth = LIMIT_TERM_DEPTH;
    p.cuts = limits && limits->cuts;
    if (limits && limits->bytes > 0)
        p.left = limits->bytes;
    if (limits && limits->depth > 0 && limits->depth < LIMIT_TERM_DEPTH)
        p.max_depth = limits->depth;
    if (limits)
        p.max_items = limits->items;
    struct cursor c;
    cursor_init(&c, bytes, len);
    print_value(&p, &c);
}

void print_atom(struct buf *out, const char *name, size_t len)
{
    struct printer p = unlimited_printer(out, PRINT_ERLANG);
    printer_atom(&p, (struct slice){name, len}, false);
}

void print_mfa_as(struct buf *out, enum print_syntax syntax, struct slice mod, struct slice fun,
                  int64_t arity)
{
    struct printer p = unlimited_printer(out, syntax);
    p.spelling->mfa(&p, mod, fun, arity);
}

void print_mfa(struct buf *out, struct slice mod, struct slice fun, int64_t arity)
{
    print_mfa_as(out, PRINT_ERLANG, mod, fun, arity);
}

void print_pid(struct buf *out, const struct etf_pid *pid)
{
    struct printer p = unlimited_printer(out, PRINT_ERLANG);
    put_pid(&p, pid);
}
