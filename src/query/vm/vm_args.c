/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vm_args.h"

#include <ctype.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "query/native/values.h"

#define CHECKED_MOST 65536 /* bytes of an argument that are searched for a secret */
#define VALUES_BYTES 800   /* of a flag */
#define HIDDEN "(hidden)"

static const char *const secrets[] = {"cookie", "passw",  "passphrase", "secret",     "token",
                                      "creden", "apikey", "api_key",    "private_key"};

struct arguments {
    struct vm_rows *rows;
    struct buf flag, values; /* of the row that is open; flag.len 0: none */
    bool is_emulators;       /* before the first "--" */
    bool hides;              /* the values of this flag from here on */
    bool hides_next;         /* the argument behind a secret's name, whatever it looks like */
    bool is_hidden;          /* one of the row was */
    size_t n, most;
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
    if (a->flag.len > 0 && a->n < a->most)
        vm_rows_add(a->rows, VM_TEXT(a->is_emulators ? "flags" : "arguments", buf_cstr(&a->flag),
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

static void begin_row(struct arguments *a, struct slice term, const struct buf *lower)
{
    const bool is_secret = names_secret(lower);
    end_row(a);
    if (a->hides_next || (is_secret && !is_plain_name(lower))) {
        put_hidden(a, &a->flag);
    } else {
        const size_t at = a->flag.len;
        (void)vm_put_term(&a->flag, term);
        if (a->is_emulators && a->flag.len > at)
            a->flag.data[at] = '+'; /* as it is typed; the VM has a '-' there */
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

static void add_argument(struct arguments *a, struct slice term)
{
    struct buf lower;
    buf_init(&lower, 0);
    put_lower(&lower, term);
    const bool is_end = lower.len == 2 && memcmp(lower.data, "--", 2) == 0;
    const bool is_flag = lower.len > 1 && lower.data[0] == '-';
    if (is_end && !a->hides_next) {
        end_row(a);
        a->is_emulators = false;
    } else if (is_flag) {
        begin_row(a, term, &lower);
    } else {
        add_value(a, term, &lower);
    }
    buf_clear(&lower);
}

void vm_add_args(struct vm_rows *rows, struct slice args, size_t most)
{
    struct arguments a = {.rows = rows, .is_emulators = true, .most = most};
    struct cursor c;
    struct slice term;
    size_t n;
    if (!values_enter_list(args, &c, &n)) {
        vm_rows_add(rows, VM_TEXT("arguments", "all",
                                  .note = "not read: larger than the 8 MiB that an ask may take"));
        return;
    }
    buf_init(&a.flag, 0);
    buf_init(&a.values, 0);
    for (size_t i = 0; i < n && cursor_raw(&c, &term); i++)
        if (i > 0) /* the program */
            add_argument(&a, term);
    end_row(&a);
    buf_clear(&a.flag);
    buf_clear(&a.values);
}
