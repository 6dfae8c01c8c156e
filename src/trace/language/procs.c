/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/procs.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/regex.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/parse.h"
#include "beamtop/etf/print.h"

#define ONE_IN_MOST 1000000u

struct reader {
    const char *text, *at;
    size_t *offset; /* never NULL */
    struct error *err;
};

static const struct {
    const char *word;
    enum procs_kind kind;
} words[] = {
    {"all", PROCS_ALL},
    {"new", PROCS_NEW},
    {"running", PROCS_RUNNING},
};

static const struct {
    const char *word;
    enum procs_kind kind;
    const char *atom; /* of the target's side */
    bool regex;
} prefixes[] = {
    {"app:", PROCS_APP, "app", false},
    {"label:", PROCS_LABEL, "label", true},
    {"call:", PROCS_CALL, "call", true},
};

static int fail_at(struct reader *r, const char *at, const char *why)
{
    *r->offset = (size_t)(at - r->text);
    return error_set(r->err, ERR_USAGE, "%s", why);
}

static void skip_spaces(struct reader *r)
{
    r->at += strspn(r->at, " \t");
}

static int keep_text(struct reader *r, struct procs_item *item, const char *s, size_t len)
{
    if (len == 0)
        return fail_at(r, s, "a name is expected here");
    if (len >= sizeof item->text)
        return fail_at(r, s, "this is longer than any name: 255 bytes at most");
    memcpy(item->text, s, len);
    item->text[len] = '\0';
    return 0;
}

/* A regex between slashes; a slash within it is written \/ and kept so. */
static int read_regex(struct reader *r, struct procs_item *item)
{
    if (*r->at != '/')
        return fail_at(r, r->at, "a regex between slashes is expected here: label:/^worker/");
    const char *from = ++r->at;
    while (*r->at != '\0' && *r->at != '/')
        r->at += r->at[0] == '\\' && r->at[1] != '\0' ? 2 : 1;
    if (*r->at != '/')
        return fail_at(r, r->at, "the closing slash of the regex is missing");
    if (keep_text(r, item, from, (size_t)(r->at - from)))
        return ERR_USAGE;
    r->at++;
    struct regex *re = NULL;
    size_t wrong = 0;
    if (regex_new(&re, item->text, &wrong, r->err)) {
        *r->offset = (size_t)(from - r->text) + wrong;
        return ERR_USAGE;
    }
    regex_free(re);
    return 0;
}

static int read_quoted(struct reader *r, struct procs_item *item)
{
    const char *from = ++r->at;
    char name[sizeof item->text];
    size_t len = 0;
    for (; *r->at != '\0' && *r->at != '\'' && len < sizeof name; r->at++) {
        if (r->at[0] == '\\' && r->at[1] != '\0')
            r->at++;
        name[len++] = *r->at;
    }
    if (*r->at != '\'' && len < sizeof name)
        return fail_at(r, r->at, "the closing quote of the name is missing");
    if (len == 0 || len == sizeof name)
        return keep_text(r, item, from, len);
    r->at++;
    return keep_text(r, item, name, len);
}

/* As typed, or in quotes; :name and Some.Module are Elixir's atoms. */
static int read_name(struct reader *r, struct procs_item *item)
{
    if (*r->at == ':')
        r->at++;
    if (*r->at == '\'')
        return read_quoted(r, item);
    const char *from = r->at;
    size_t len = strcspn(from, ", \t+");
    r->at += len;
    if (!text_is_capital(*from) || strncmp(from, "Elixir.", 7) == 0)
        return keep_text(r, item, from, len);
    char alias[sizeof item->text + 8];
    if (len >= sizeof item->text - 7)
        return keep_text(r, item, from, sizeof item->text);
    int made = snprintf(alias, sizeof alias, "Elixir.%.*s", (int)len, from);
    return keep_text(r, item, alias, (size_t)made);
}

static int read_pid(struct reader *r, struct procs_item *item)
{
    char text[64];
    const char *from = r->at;
    size_t len = strcspn(from, ", \t+");
    if (len < sizeof text) {
        memcpy(text, from, len);
        text[len] = '\0';
        if (etf_parse_pid(text, &item->pid) == 0) {
            r->at += len;
            return 0;
        }
    }
    return fail_at(r, from, "this is not a process: they are written <0.123.0>");
}

static bool read_procs_word(struct reader *r, struct procs_item *item)
{
    size_t len = strcspn(r->at, ", \t+");
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strlen(words[i].word) == len && strncmp(words[i].word, r->at, len) == 0) {
            item->kind = words[i].kind;
            r->at += len;
            return true;
        }
    }
    return false;
}

static int read_item(struct reader *r, struct procs_item *item)
{
    if (read_procs_word(r, item))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        size_t len = strlen(prefixes[i].word);
        if (strncmp(r->at, prefixes[i].word, len) == 0) {
            item->kind = prefixes[i].kind;
            r->at += len;
            return prefixes[i].regex ? read_regex(r, item) : read_name(r, item);
        }
    }
    if (*r->at == '<' || (*r->at >= '0' && *r->at <= '9')) {
        item->kind = PROCS_PID;
        return read_pid(r, item);
    }
    item->kind = PROCS_NAME;
    return read_name(r, item);
}

/* 1/N; *found: whether it is one. */
static int read_one_in(struct reader *r, struct procs *p, bool *found)
{
    *found = strncmp(r->at, "1/", 2) == 0;
    if (!*found)
        return 0;
    const char *from = r->at + 2;
    size_t digits = strspn(from, "0123456789");
    unsigned long n = digits > 0 && digits < 9 ? strtoul(from, NULL, 10) : 0;
    if (n < 1 || n > ONE_IN_MOST)
        return fail_at(r, from, "a number from 1 to 1000000 is expected here: 1/10 is every tenth");
    if (p->one_in != 0)
        return fail_at(r, r->at, "1/N may stand there once");
    p->one_in = (unsigned)n;
    r->at = from + digits;
    return 0;
}

static int read_part(struct reader *r, struct procs *p)
{
    bool one_in;
    int rc = read_one_in(r, p, &one_in);
    if (rc || one_in)
        return rc;
    if (p->n == PROCS_ITEMS)
        return fail_at(r, r->at, "more than 32 kinds of processes; use label:/RE/ or app:NAME");
    rc = read_item(r, &p->items[p->n]);
    if (rc == 0)
        p->n++;
    return rc;
}

static int read_list(struct reader *r, struct procs *p)
{
    static const char children[] = "+children";
    skip_spaces(r);
    while (*r->at != '\0' && *r->at != '+') {
        int rc = read_part(r, p);
        if (rc)
            return rc;
        skip_spaces(r);
        if (*r->at == '\0' || *r->at == '+')
            break;
        if (*r->at != ',')
            return fail_at(r, r->at, "a comma is expected here");
        r->at++;
        skip_spaces(r);
        if (*r->at == '\0' || *r->at == '+')
            return fail_at(r, r->at, "a process is expected after the comma");
    }
    if (strncmp(r->at, children, strlen(children)) == 0) {
        p->children = true;
        r->at += strlen(children);
        skip_spaces(r);
    }
    return *r->at == '\0' ? 0 : fail_at(r, r->at, "only +children may stand here, at the end");
}

/* 1/N samples existing processes: of all it takes the running ones, and `new` is an error. */
static int settle_procs(struct reader *r, struct procs *p)
{
    for (size_t i = 0; p->one_in > 1 && i < p->n; i++) {
        if (p->items[i].kind == PROCS_NEW)
            return fail_at(r, r->text,
                           "1/N takes of processes that exist: it does not go with `new`");
        if (p->items[i].kind == PROCS_ALL)
            p->items[i].kind = PROCS_RUNNING;
    }
    if (p->n == 0)
        p->items[p->n++].kind = p->one_in > 1 ? PROCS_RUNNING : PROCS_ALL;
    return 0;
}

int procs_parse(struct procs *out, const char *text, size_t *offset, struct error *err)
{
    size_t unused;
    struct reader r = {.offset = offset ? offset : &unused, .err = err};
    r.text = r.at = text ? text : "";
    *out = (struct procs){0};
    int rc = read_list(&r, out);
    return rc ? rc : settle_procs(&r, out);
}

bool procs_read_one(const char *text, struct etf_pid *pid, char *name, size_t size)
{
    size_t unused;
    struct error ignored = {0};
    struct procs_item one = {.kind = PROCS_PID};
    struct reader r = {.text = text, .at = text, .offset = &unused, .err = &ignored};
    name[0] = '\0';
    if ((*text == '<' || (*text >= '0' && *text <= '9')) && read_pid(&r, &one) == 0 &&
        *r.at == '\0') {
        *pid = one.pid;
        return true;
    }
    r.at = text;
    bool reads = read_name(&r, &one) == 0 && *r.at == '\0';
    snprintf(name, size, "%s", reads ? one.text : text);
    return false;
}

static const char *kind_prefix(enum procs_kind kind)
{
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (prefixes[i].kind == kind)
            return prefixes[i].word;
    return "";
}

static void print_item(struct buf *out, const struct procs_item *item)
{
    switch (item->kind) {
    case PROCS_ALL:
    case PROCS_NEW:
    case PROCS_RUNNING:
        buf_puts(out, words[item->kind].word);
        break;
    case PROCS_PID:
        print_pid(out, &item->pid);
        break;
    case PROCS_NAME:
    case PROCS_APP:
        buf_puts(out, kind_prefix(item->kind));
        print_atom(out, item->text, strlen(item->text));
        break;
    case PROCS_LABEL:
    case PROCS_CALL:
        buf_printf(out, "%s/%s/", kind_prefix(item->kind), item->text);
        break;
    }
}

void procs_print(struct buf *out, const struct procs *p)
{
    for (size_t i = 0; i < p->n; i++) {
        buf_puts(out, i > 0 ? "," : "");
        print_item(out, &p->items[i]);
    }
    if (p->one_in > 1)
        buf_printf(out, ",1/%u", p->one_in);
    if (p->children)
        buf_puts(out, "+children");
}

static void build_item(struct builder *b, const struct procs_item *item)
{
    if (item->kind <= PROCS_RUNNING) {
        build_atom(b, words[item->kind].word);
        return;
    }
    struct buf text;
    buf_init(&text, 0);
    const char *atom = item->kind == PROCS_PID ? "pid" : "name";
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (prefixes[i].kind == item->kind)
            atom = prefixes[i].atom;
    if (item->kind == PROCS_PID)
        print_pid(&text, &item->pid);
    else
        buf_puts(&text, item->text);
    build_tuple(b, 2);
    build_atom(b, atom);
    build_binary(b, text.data, text.len);
    buf_clear(&text);
}

void procs_build(struct builder *b, const struct procs *p)
{
    build_tuple(b, 3);
    build_int(b, p->one_in > 1 ? p->one_in : 1);
    build_bool(b, p->children);
    build_list(b, p->n);
    for (size_t i = 0; i < p->n; i++)
        build_item(b, &p->items[i]);
    build_nil(b);
}
