/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line at the trace prompt as it is typed: its error, or what it asks for and matches. */
#include <stdio.h>
#include <string.h>

#include "assist_internal.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/print.h"
#include "beamtop/trace/calls.h"

#define NO_NODE "nonode@nohost" /* of pids, while none is connected */
#define SOME_FUNCTIONS 3        /* shown by name */
#define NEAR_LOOKS 8            /* answers waited for */

void typed_clear(struct typed_line *t)
{
    for (size_t i = 0; i < t->n_specs; i++)
        matchspec_clear(&t->specs[i]);
    if (t->patterns)
        patterns_free(t->patterns, t->n);
    trace_request_clear(&t->request);
    *t = (struct typed_line){0};
}

/* ---- errors */

static void mark_error(struct assist *a, size_t offset, const struct error *err, size_t end)
{
    struct assist_line *l = &a->line;
    a->typed.pending = false;
    l->known = l->wrong = true;
    l->offset = offset;
    l->unfinished = offset >= end;
    snprintf(l->text, sizeof l->text, "%s", err->text);
}

static size_t text_end(const char *line)
{
    size_t end = strlen(line);
    while (end > 0 && text_is_blank(line[end - 1]))
        end--;
    return end;
}

/* Blanks and line breaks of a printed form become single blanks. */
static void one_line(char *out, size_t size, const char *s)
{
    size_t n = 0;
    for (; *s && n + 4 < size; s++) {
        bool blank = *s == ' ' || *s == '\n';
        if (!blank)
            out[n++] = *s;
        else if (n > 0 && out[n - 1] != ' ' && out[n - 1] != '[' && out[n - 1] != '{')
            out[n++] = ' ';
    }
    while (*s && n > 0 && ((unsigned char)*s & 0xc0) == 0x80)
        s--, n--;
    while (!*s && n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
    if (*s)
        strcpy(out + n, "…");
}

static void describe_line(struct assist *a)
{
    struct buf text;
    buf_init(&text, 0);
    for (size_t i = 0; i < a->typed.n; i++) {
        buf_puts(&text, i > 0 ? " & " : "");
        pattern_describe(&text, a->typed.patterns[i]);
    }
    one_line(a->line.sentence, sizeof a->line.sentence, buf_cstr(&text));
    buf_clear(&text);
}

/* 0, or the error is reported. */
static int take_apart(struct assist *a, const struct trace_request *defaults, const char *line)
{
    struct typed_line *t = &a->typed;
    struct error err = {0};
    size_t offset = 0, end = trace_request_pattern_end(line);
    t->request = *defaults;
    if (trace_request_parse(&t->request, REQUEST_TRACE, line, &offset, &err) != 0) {
        mark_error(a, offset, &err, text_end(line));
        return -1;
    }
    const char *text = t->request.pattern;
    if (patterns_parse(&t->patterns, &t->n, text, strlen(text), t->request.syntax, &offset, &err) !=
        0) {
        mark_error(a, t->request.pattern_at + offset, &err, end);
        return -1;
    }
    if (procs_parse(&t->procs, t->request.procs, &offset, &err) != 0) {
        mark_error(a, t->request.procs_at + offset, &err, text_end(line));
        return -1;
    }
    describe_line(a);
    return 0;
}

/* False: the line is blank, so nothing is asked about it. */
static bool begin_line(struct assist *a, const char *line)
{
    typed_clear(&a->typed);
    a->looked++;
    a->line = (struct assist_line){.known = line[strspn(line, " \t")] == '\0'};
    return !a->line.known;
}

void assist_look(struct assist *a, const struct trace_request *defaults, const char *line)
{
    if (!begin_line(a, line) || take_apart(a, defaults, line) != 0)
        return;
    a->typed.pending = true;
    if (a->has_port) {
        assist_pump(a);
        return;
    }
    typed_compile(a);
    a->typed.pending = false;
    a->line.known = true;
}

const struct assist_line *assist_line(const struct assist *a)
{
    return &a->line;
}

/* ---- the match specification */

size_t typed_records(const struct assist *a, struct record_name *out, size_t most)
{
    size_t n = prepare_records(a->typed.patterns, a->typed.n, out, most), missing = 0;
    for (size_t i = 0; i < n; i++)
        if (!record_store_find(&a->records, out[i].module, out[i].name))
            out[missing++] = out[i];
    return missing;
}

void typed_compile(struct assist *a)
{
    struct typed_line *t = &a->typed;
    struct error err = {0};
    struct buf text;
    size_t offset = 0;
    for (size_t i = t->n_specs; i < t->n; i++) {
        const struct matchspec_options options = {
            .index = (unsigned)i,
            .otp = a->has_port ? a->port.otp : 0,
            .node = a->has_port ? a->port.node : NO_NODE,
            .creation = a->has_port ? a->port.creation : 0,
            .records = a->records.defs,
            .n_records = a->records.n,
            .stack_depth = PREPARE_STACK_FRAMES,
        };
        if (matchspec_build(&t->specs[i], t->patterns[i], &options, &offset, &err) != 0) {
            mark_error(a, t->request.pattern_at + offset, &err, SIZE_MAX);
            return;
        }
        t->n_specs = i + 1;
    }
    if (t->n == 0)
        return;
    buf_init(&text, 0);
    matchspec_print(&text, &t->specs[t->n - 1]);
    one_line(a->line.spec, sizeof a->line.spec, buf_cstr(&text));
    buf_clear(&text);
}

/* ---- what it matches */

static void put_total(struct buf *out, uint64_t n, const char *one, const char *many)
{
    char text[32];
    buf_printf(out, "%s %s", text_integer(text, sizeof text, (int64_t)n), n == 1 ? one : many);
}

static enum print_syntax syntax_of(const struct pattern *p)
{
    return p->syntax == SYNTAX_ELIXIR ? PRINT_ELIXIR : PRINT_ERLANG;
}

static void put_matched(struct buf *out, const struct typed_line *t, const struct preflight *p)
{
    uint64_t total = 0;
    bool cut = false, calls = false, messages = false;
    for (size_t i = 0; i < p->n_patterns; i++) {
        total += p->patterns[i].total;
        cut = cut || strcmp(p->patterns[i].why, "too_many") == 0;
        calls = calls || t->patterns[i]->kind == PATTERN_CALL;
        messages = messages || t->patterns[i]->kind != PATTERN_CALL;
    }
    if (!calls) {
        buf_puts(out, "messages");
        return;
    }
    put_total(out, total, "function", "functions");
    if (cut) {
        char most[32];
        buf_printf(out, " match, and a trace takes %s: narrow the pattern",
                   text_integer(most, sizeof most, (int64_t)t->request.caps.value[CAP_FUNCTIONS]));
        return;
    }
    for (size_t i = 0; i < p->n_functions && p->n_functions <= SOME_FUNCTIONS; i++) {
        const struct mfa *f = &p->functions[i].mfa;
        buf_puts(out, i == 0 ? ": " : ", ");
        print_mfa_as(out, syntax_of(t->patterns[0]), f->module, f->function, f->arity);
    }
    buf_puts(out, messages ? "; messages" : "");
}

static void put_found(struct buf *out, const struct typed_line *t, const struct preflight *p)
{
    struct buf words;
    buf_init(&words, 0);
    procs_print(&words, &t->procs);
    buf_puts(out, "; ");
    put_total(out, p->n_procs, "process", "processes");
    buf_printf(out, " (%.100s)", buf_cstr(&words));
    buf_clear(&words);
}

static void tell_no_match(struct assist *a, const struct names *names)
{
    const struct pattern *p = a->typed.none;
    const struct slice source = p->typed;
    char why[400];
    prepare_why_none(why, sizeof why, p, &a->typed.found, names);
    snprintf(a->line.text, sizeof a->line.text, "nothing to %s: %.*s: %s",
             a->typed.counts ? "count" : "trace", (int)(source.len < 100 ? source.len : 100),
             source.s, why);
}

static void tell_nobody(struct assist *a, const struct names *names)
{
    prepare_why_nobody(a->line.text, sizeof a->line.text, &a->typed.procs, a->typed.nobody, names);
}

/* Finds the first pattern that matches nothing. */
static bool find_none(struct typed_line *t, const struct preflight *p)
{
    char why[400];
    for (size_t i = 0; i < p->n_patterns && !t->none; i++) {
        if (p->patterns[i].total > 0)
            continue;
        prepare_why_none(why, sizeof why, t->patterns[i], &p->patterns[i], NULL);
        if (*why != '\0') {
            t->none = t->patterns[i];
            t->found = p->patterns[i];
            t->found.mfas = (struct slice){NULL, 0}; /* freed with the answer */
        }
    }
    return t->none != NULL;
}

/* Counting takes the local functions of `_:_` too; patterns may name the same functions. */
static void tell_count(struct assist *a, const struct preflight *p)
{
    const struct typed_line *t = &a->typed;
    bool more = false;
    uint64_t total = 0;
    struct buf out;
    for (size_t i = 0; p && i < p->n_patterns; i++) {
        total += p->patterns[i].total;
        more |=
            t->patterns[i]->module.kind == NAME_ANY && t->patterns[i]->function.kind == NAME_ANY;
    }
    a->line.known = true;
    if (!p)
        return;
    buf_init(&out, 0);
    buf_puts(&out, more ? "at least " : p->n_patterns > 1 ? "at most " : "");
    put_total(&out, total, "function", "functions");
    snprintf(a->line.text, sizeof a->line.text, "%s", buf_cstr(&out));
    buf_clear(&out);
}

static void tell_match(struct assist *a, const struct preflight *p)
{
    struct typed_line *t = &a->typed;
    struct buf out;
    if (find_none(t, p)) {
        a->line.nothing = true;
        a->line.offset = t->request.pattern_at + t->none->at;
        tell_no_match(a, NULL);
        return;
    }
    if (t->counts) {
        tell_count(a, p);
        return;
    }
    size_t unknown = prepare_unknown(t->specs, t->n, p);
    if (unknown < t->n) {
        const struct pattern *of = t->patterns[unknown];
        a->line.known = a->line.nothing = true;
        a->line.offset = t->request.pattern_at + prepare_place(of, p->unknown);
        prepare_why_unknown(a->line.text, sizeof a->line.text, of->syntax, p);
        return;
    }
    if (p->procs == PREFLIGHT_NONE) {
        snprintf(t->nobody, sizeof t->nobody, "%s", p->procs_why);
        a->line.nothing = true;
        a->line.offset = t->request.procs_at;
        tell_nobody(a, NULL);
        return;
    }
    buf_init(&out, 0);
    put_matched(&out, t, p);
    put_found(&out, t, p);
    if (*p->others)
        buf_printf(&out, "; set by others: %s", p->others);
    snprintf(a->line.text, sizeof a->line.text, "%s", buf_cstr(&out));
    a->line.known = true;
    buf_clear(&out);
}

void typed_matched(struct assist *a, const struct answer *answer)
{
    struct preflight found;
    struct error err = answer->err;
    if (err.code == ERR_NONE &&
        decode_preflight(&found, a->typed.n, answer->value, answer->len, &err) == 0) {
        tell_match(a, &found);
        preflight_clear(&found);
        return;
    }
    a->line.known = true;
    snprintf(a->line.text, sizeof a->line.text, "unknown: %.300s", err.text);
}

/* ---- functions to count */

void assist_count(struct assist *a, enum syntax syntax, const char *line)
{
    struct typed_line *t = &a->typed;
    struct error err = {0};
    size_t offset = 0;
    if (!begin_line(a, line))
        return;
    if (patterns_parse_for(calls_pattern_check, &t->patterns, &t->n, line, syntax, &offset, &err) !=
            0 ||
        procs_parse(&t->procs, NULL, &offset, &err) != 0) {
        mark_error(a, offset, &err, text_end(line));
        return;
    }
    caps_init(&t->request.caps);
    t->request.caps.value[CAP_FUNCTIONS] = 1; /* the answer has their number anyway */
    t->counts = true;
    t->pending = a->has_port && t->n > 0;
    if (t->pending)
        assist_pump(a);
    else
        tell_count(a, NULL);
}

/* ---- near misses */

void assist_spell_module(struct buf *out, enum syntax syntax, struct slice module)
{
    struct buf text;
    buf_init(&text, 0);
    print_mfa_as(&text, syntax == SYNTAX_ELIXIR ? PRINT_ELIXIR : PRINT_ERLANG, module,
                 (struct slice){"f", 1}, 0);
    buf_put(out, text.data, text.len - strlen(":f/0"));
    buf_clear(&text);
}

void assist_spell_function(struct buf *out, enum syntax syntax, struct slice function)
{
    struct buf text;
    size_t before = strlen(syntax == SYNTAX_ELIXIR ? ":m." : "m:");
    buf_init(&text, 0);
    print_mfa_as(&text, syntax == SYNTAX_ELIXIR ? PRINT_ELIXIR : PRINT_ERLANG,
                 (struct slice){"m", 1}, function, 0);
    buf_put(out, text.data + before, text.len - before - strlen("/0"));
    buf_clear(&text);
}

/* True when the names to search for near misses are here; else asks for them. */
static bool has_names(struct assist *a, const struct pattern *p, enum prepare_near near)
{
    char module[256];
    if (near == NEAR_MODULES)
        return assist_modules(a);
    snprintf(module, sizeof module, "%.*s", (int)p->module.text.len, p->module.text.s);
    return assist_functions(a, module);
}

static bool has_who(struct assist *a)
{
    if (!prepare_nobody_named(&a->typed.procs, a->typed.nobody))
        return true;
    if (!assist_who(a))
        return false;
    tell_nobody(a, a->names);
    return true;
}

void typed_near(struct assist *a)
{
    struct typed_line *t = &a->typed;
    if ((!t->none && !*t->nobody) || a->line.known)
        return;
    if (!t->none) {
        a->line.known = ++t->near_looks > NEAR_LOOKS || has_who(a);
        return;
    }
    enum prepare_near near = prepare_near(t->none, &t->found);
    if (near == NEAR_NOTHING || ++t->near_looks > NEAR_LOOKS) {
        a->line.known = true;
        return;
    }
    if (!has_names(a, t->none, near))
        return;
    if (near == NEAR_MODULES || names_known(a->names, t->none->module.text) == NAMES_LOADED)
        tell_no_match(a, a->names);
    a->line.known = true;
}
