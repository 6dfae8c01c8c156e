/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "parse.h"

static const char *const syntax_names[] = {"auto", "erlang", "elixir"};

int syntax_parse(const char *word, enum syntax *out)
{
    for (size_t i = 0; i < sizeof(syntax_names) / sizeof(syntax_names[0]); i++) {
        if (strcmp(word, syntax_names[i]) == 0) {
            *out = (enum syntax)i;
            return 0;
        }
    }
    return -1;
}

static void set_offset(size_t *offset, size_t at)
{
    if (offset)
        *offset = at;
}

static int check_text(const char *text, size_t len, size_t *offset, struct error *err)
{
    if (len > LIMIT_PATTERN_BYTES) {
        set_offset(offset, LIMIT_PATTERN_BYTES);
        return error_set(err, ERR_USAGE, "a pattern of more than %u bytes", LIMIT_PATTERN_BYTES);
    }
    if (text_is_utf8(text, len))
        return 0;
    int32_t codepoint;
    size_t at = 0, used;
    while ((used = text_decode(text + at, len - at, &codepoint)) > 0)
        at += used;
    set_offset(offset, at);
    return error_set(err, ERR_USAGE, "this byte is not UTF-8");
}

/* One pattern from byte `at` on; *end is where its `&` or the text's end is. */
static int parse_one(struct pattern **out, const char *text, size_t len, size_t at,
                     enum syntax syntax, size_t *end, size_t *offset, struct error *err)
{
    struct pattern *made = alloc_zero(1, sizeof(*made));
    arena_init(&made->arena);
    const char *copy = arena_strndup(&made->arena, text, len);
    if (syntax == SYNTAX_AUTO)
        syntax = syntax_recognise(copy + at);
    struct parser p = {
        .arena = &made->arena,
        .lex = {.text = copy,
                .len = len,
                .at = at,
                .elixir = syntax == SYNTAX_ELIXIR,
                .arena = &made->arena},
        .last = at,
        .module = {"", 0},
        .err = err,
    };
    made->syntax = syntax;
    made->arity = -1;
    p.token.to = at;
    parser_next(&p);
    made->at = p.token.from;
    if (!parse_pattern(&p, made)) {
        set_offset(offset, p.fail_at);
        pattern_free(made);
        return ERR_USAGE;
    }
    made->typed = (struct slice){copy + made->at, p.last - made->at};
    *end = p.token.from;
    *out = made;
    return 0;
}

/* What is parsed: the text out of its brackets and quotes. Owned; NULL when it is none. */
static char *unwrap_text(const char *text, size_t len, size_t *offset, struct error *err)
{
    if (check_text(text, len, offset, err) != 0)
        return NULL;
    char *plain = alloc_zero(len + 1, 1);
    memcpy(plain, text, len);
    if (patterns_unwrap(plain, len, offset, err) == 0)
        return plain;
    free(plain);
    return NULL;
}

int pattern_parse(struct pattern **out, const char *text, size_t len, enum syntax syntax,
                  size_t *offset, struct error *err)
{
    size_t end = 0;
    char *plain = unwrap_text(text, len, offset, err);
    if (!plain)
        return ERR_USAGE;
    int rc = parse_one(out, plain, len, 0, syntax, &end, offset, err);
    free(plain);
    if (rc != 0 || end >= len)
        return rc;
    pattern_free(*out);
    *out = NULL;
    set_offset(offset, end);
    return error_set(err, ERR_USAGE, "only one pattern can stand here");
}

int patterns_parse(struct pattern ***out, size_t *n, const char *text, size_t len,
                   enum syntax syntax, size_t *offset, struct error *err)
{
    int rc = 0;
    char *plain = unwrap_text(text, len, offset, err);
    if (!plain)
        return ERR_USAGE;
    struct pattern **made = alloc_zero(LIMIT_TRACE_PATTERNS, sizeof(struct pattern *));
    size_t count = 0, at = 0, end = 0;
    do {
        if (count == LIMIT_TRACE_PATTERNS) {
            set_offset(offset, at);
            rc = error_set(err, ERR_USAGE, "more than %d patterns", LIMIT_TRACE_PATTERNS);
            break;
        }
        rc = parse_one(&made[count], plain, len, at, syntax, &end, offset, err);
        count += rc == 0;
        at = end + 1;
    } while (rc == 0 && end < len);
    free(plain);
    if (rc != 0) {
        patterns_free(made, count);
        return rc;
    }
    *out = made;
    *n = count;
    return 0;
}

int patterns_parse_for(pattern_check_fn *check, struct pattern ***out, size_t *n, const char *text,
                       enum syntax syntax, size_t *offset, struct error *err)
{
    size_t unused = 0;
    if (!offset)
        offset = &unused;
    int rc = patterns_parse(out, n, text, strlen(text), syntax, offset, err);
    if (rc != 0)
        return rc;
    for (size_t i = 0; check && rc == 0 && i < *n; i++)
        rc = check((*out)[i], text, offset, err);
    if (rc != 0) {
        patterns_free(*out, *n);
        *out = NULL;
        *n = 0;
    }
    return rc;
}

int patterns_check(pattern_check_fn *check, const char *text, enum syntax syntax, size_t *offset,
                   struct error *err)
{
    struct pattern **patterns = NULL;
    size_t n = 0;
    int rc = patterns_parse_for(check, &patterns, &n, text, syntax, offset, err);
    patterns_free(patterns, n);
    return rc;
}

void pattern_free(struct pattern *p)
{
    if (!p)
        return;
    struct arena arena = p->arena;
    free(p);
    arena_clear(&arena);
}

void patterns_free(struct pattern **p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pattern_free(p[i]);
    free(p);
}

struct collected {
    struct record_name *out;
    size_t most, n;
};

static void collect_records(struct collected *c, const struct node *n)
{
    if (!n)
        return;
    bool record = n->kind == NODE_RECORD || n->kind == NODE_TEST_RECORD;
    if (record || n->kind == NODE_STRUCT) {
        struct record_name name = {record ? n->module : n->text,
                                   record ? n->text : (struct slice){"", 0}, n->from};
        size_t i = 0;
        while (
            i < c->n && i < c->most &&
            !(slice_equal(c->out[i].module, name.module) && slice_equal(c->out[i].name, name.name)))
            i++;
        if (i == c->n && i < c->most)
            c->out[i] = name;
        c->n += i == c->n || i == c->most;
    }
    for (size_t i = 0; i < n->n_items; i++)
        collect_records(c, n->items[i]);
    collect_records(c, n->tail);
}

size_t pattern_records(const struct pattern *p, struct record_name *out, size_t most)
{
    struct collected c = {out, most, 0};
    for (size_t i = 0; i < p->n_args; i++)
        collect_records(&c, p->args[i]);
    for (size_t i = 0; i < p->n_show; i++)
        collect_records(&c, p->show[i]);
    collect_records(&c, p->guard);
    collect_records(&c, p->returns);
    collect_records(&c, p->returns_guard);
    collect_records(&c, p->raises);
    collect_records(&c, p->raises_guard);
    return c.n;
}
