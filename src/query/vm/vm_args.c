/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vm_args.h"

#include <ctype.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

#define CHECKED_MOST 65536 /* bytes of an argument that are searched for a secret */
#define VALUES_BYTES 800   /* of a flag */
#define ROWS_MOST 300      /* of each section */
#define HIDDEN "(hidden)"

static const char *const secrets[] = {"cookie", "passw",  "passphrase", "secret",     "token",
                                      "creden", "apikey", "api_key",    "private_key"};

struct arguments {
    struct vm_rows *rows;
    struct buf flag, values; /* of the row that is open; flag.len 0: none */
    const char *section;
    bool hides;      /* the values of this flag from here on */
    bool hides_next; /* the argument behind a secret's name, whatever it looks like */
    bool is_hidden;  /* one of the row was */
    size_t n;
};

/* ---- secrets */

/* The first bytes of an argument as they are compared: what is not ASCII names no secret. */
static void put_lower(struct buf *out, struct slice term)
{
    struct cursor c = values_cursor(term);
    struct cursor_list list;
    struct slice text;
    int64_t point;
    if (cursor_kind(&c) == ETF_KIND_BINARY && cursor_binary(&c, &text)) {
        for (size_t i = 0; i < text.len && i < CHECKED_MOST; i++)
            buf_put_u8(out, (uint8_t)tolower((unsigned char)text.s[i]));
    } else if (cursor_list(&c, &list)) {
        for (size_t i = 0; i < list.count && i < CHECKED_MOST; i++)
            buf_put_u8(out, cursor_list_int64(&c, &list, &point) && point > 0 && point < 128
                                ? (uint8_t)tolower((int)point)
                                : '?');
    }
}

static bool names_secret(const struct buf *lower)
{
    for (size_t i = 0; lower->len > 0 && i < ARRAY_LEN(secrets); i++)
        if (memmem(lower->data, lower->len, secrets[i], strlen(secrets[i])))
            return true;
    return false;
}

/* A name and nothing else: "-setcookie", not "--cookie=abc". */
static bool is_plain_name(const struct buf *lower)
{
    for (size_t i = 0; i < lower->len; i++)
        if (!isalnum(lower->data[i]) && !strchr("-_", lower->data[i]))
            return false;
    return true;
}

/* ---- rows */

static void end_row(struct arguments *a)
{
    const char *note = a->is_hidden         ? "may be a secret: not shown"
                       : a->values.len == 0 ? "set, without a value"
                                            : NULL;
    if (a->flag.len > 0 && a->n < ROWS_MOST)
        vm_rows_add(a->rows, VM_TEXT(a->section, buf_cstr(&a->flag),
                                     .value = a->values.len > 0 ? buf_cstr(&a->values) : NULL,
                                     .index = ++a->n, .note = note));
    else if (a->flag.len > 0)
        a->rows->partial = true;
    buf_reset(&a->flag);
    buf_reset(&a->values);
    a->hides = a->is_hidden = false;
}

static void put_hidden(struct arguments *a, struct buf *out)
{
    buf_puts(out, HIDDEN);
    a->is_hidden = true;
}

/* sign: how it is typed, before the name. */
static void begin_row(struct arguments *a, const char *sign, struct slice name,
                      const struct buf *lower)
{
    const bool is_secret = names_secret(lower);
    end_row(a);
    if (a->hides_next || (is_secret && !is_plain_name(lower))) {
        put_hidden(a, &a->flag);
    } else {
        buf_puts(&a->flag, sign);
        vm_put_safe(&a->flag, name);
    }
    a->hides = is_secret || a->hides_next;
    a->hides_next = is_secret && !a->hides_next;
}

static void add_value(struct arguments *a, struct slice term, const struct buf *lower)
{
    const bool is_secret = names_secret(lower);
    a->hides = a->hides || a->hides_next || is_secret;
    a->hides_next = is_secret && !a->hides_next && is_plain_name(lower);
    if (a->flag.len == 0)
        buf_puts(&a->flag, "(none)");
    if (a->values.len > VALUES_BYTES || (a->hides && a->is_hidden))
        return;
    if (a->values.len > 0)
        buf_puts(&a->values, " ");
    if (a->hides)
        put_hidden(a, &a->values);
    else
        (void)vm_put_term(&a->values, term);
}

static void open_rows(struct arguments *a, struct vm_rows *rows, const char *section)
{
    *a = (struct arguments){.rows = rows, .section = section};
    buf_init(&a->flag, 0);
    buf_init(&a->values, 0);
}

static void close_rows(struct arguments *a)
{
    end_row(a);
    buf_clear(&a->flag);
    buf_clear(&a->values);
}

/* The VM has a '-' where a '+' is typed. */
static void add_flag(struct arguments *a, struct slice term)
{
    struct buf lower, text;
    buf_init(&lower, 0);
    buf_init(&text, 0);
    put_lower(&lower, term);
    (void)vm_put_term(&text, term);
    if (lower.len > 1 && lower.data[0] == '-')
        begin_row(a, "+", (struct slice){(const char *)text.data + 1, text.len - 1}, &lower);
    else
        add_value(a, term, &lower);
    buf_clear(&lower);
    buf_clear(&text);
}

void vm_add_flags(struct vm_rows *rows, struct slice flags)
{
    struct arguments a;
    struct cursor c;
    struct slice term;
    size_t n;
    if (!values_enter_list(flags, &c, &n)) {
        vm_rows_add(rows, VM_TEXT("flags", "all", .note = "the node did not say them"));
        return;
    }
    open_rows(&a, rows, "flags");
    for (size_t i = 0; i < n && cursor_raw(&c, &term); i++)
        if (i > 0) /* the program */
            add_flag(&a, term);
    close_rows(&a);
}

static void add_pair(struct arguments *a, struct slice term)
{
    struct slice pair[2], name, value;
    struct cursor c;
    struct buf lower;
    size_t n;
    if (!values_read_tuple(term, 2, pair, 2) || (name = who_atom_of(pair[0])).len == 0)
        return;
    buf_init(&lower, 0);
    for (size_t i = 0; i < name.len && i < CHECKED_MOST; i++)
        buf_put_u8(&lower, (uint8_t)tolower((unsigned char)name.s[i]));
    begin_row(a, "-", name, &lower);
    if (values_enter_list(pair[1], &c, &n))
        for (size_t i = 0; i < n && cursor_raw(&c, &value); i++) {
            buf_reset(&lower);
            put_lower(&lower, value);
            add_value(a, value, &lower);
        }
    buf_clear(&lower);
}

void vm_add_args(struct vm_rows *rows, struct slice args, bool has_cookie)
{
    struct arguments a;
    struct cursor c;
    struct slice term;
    size_t n;
    if (has_cookie)
        vm_rows_add(rows, VM_TEXT("arguments", "-setcookie", .value = HIDDEN,
                                  .note = "a secret: neither sent to beamtop nor shown"));
    if (!values_enter_list(args, &c, &n)) {
        vm_rows_add(rows, VM_TEXT("arguments", "all",
                                  .note = "not read: init did not answer, or they are above the 8 "
                                          "MiB of an ask"));
        return;
    }
    open_rows(&a, rows, "arguments");
    for (size_t i = 0; i < n && cursor_raw(&c, &term); i++)
        add_pair(&a, term);
    close_rows(&a);
}
