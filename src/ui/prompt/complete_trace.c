/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/complete_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/print.h"
#include "beamtop/trace/request.h"

/* What is completed: words that begin with what is typed from `from` on. */
struct completing {
    struct completion *out;
    struct assist *assist;
    enum syntax syntax; /* of a line that does not show it */
    const char *typed;  /* what is there of the word, NUL-terminated */
    struct expectation at;
    enum request_kind kind; /* whose options */
    const char *behind;     /* put behind a word that is the only one; "" */
    struct buf word;
};

static void offer_word(struct completing *c, const char *word, const char *help)
{
    if (slice_begins(slice_of(word), c->typed))
        completion_add(c->out, word, help);
}

static void offer_words(struct completing *c, const struct pattern_word *words)
{
    for (; words->word; words++)
        offer_word(c, words->word, words->help);
}

/* ---- names */

/* An empty line may become Erlang or Elixir: each module keeps its own syntax. */
static enum syntax spelling_of(const struct completing *c, struct slice module)
{
    bool is_elixir = slice_begins(module, "Elixir.");
    if (*c->typed == '\0' && c->syntax == SYNTAX_AUTO && is_elixir)
        return SYNTAX_ELIXIR;
    return c->at.syntax;
}

static bool offer_modules(struct completing *c)
{
    const struct slice *modules;
    if (!assist_modules(c->assist))
        return false;
    size_t n = names_modules(assist_names(c->assist), &modules);
    for (size_t i = 0; i < n; i++) {
        buf_reset(&c->word);
        assist_spell_module(&c->word, spelling_of(c, modules[i]), modules[i]);
        offer_word(c, buf_cstr(&c->word), "");
    }
    c->behind = c->at.syntax == SYNTAX_ELIXIR ? "." : ":";
    return true;
}

static bool functions_of(struct completing *c, const struct names_function **out, size_t *n)
{
    *n = 0;
    if (!assist_functions(c->assist, c->at.module))
        return false;
    (void)names_functions(assist_names(c->assist), slice_of(c->at.module), out, n);
    return true;
}

/* Quickly: a name that is typed without a quote goes on as it is typed. */
static bool may_fit(const struct completing *c, struct slice name)
{
    bool quoted = *c->typed == '\'' || *c->typed == '"';
    return quoted || slice_begins(name, c->typed);
}

/* Names, or with their arities when one is typed in full and none goes on from it. */
static bool offer_functions(struct completing *c)
{
    const struct names_function *f;
    size_t n;
    if (*c->at.module == '\0')
        return true;
    if (!functions_of(c, &f, &n))
        return false;
    bool full = true;
    for (int pass = 0; pass < 2 && (pass == 0 || full); pass++) {
        completion_clear(c->out);
        for (size_t i = 0; i < n; i++) {
            if (!may_fit(c, f[i].name))
                continue;
            buf_reset(&c->word);
            assist_spell_function(&c->word, c->at.syntax, f[i].name);
            full = full && (!slice_begins(slice_of(buf_cstr(&c->word)), c->typed) ||
                            strcmp(buf_cstr(&c->word), c->typed) == 0);
            if (pass == 1)
                buf_printf(&c->word, "/%d", f[i].arity);
            else if (i > 0 && slice_equal(f[i].name, f[i - 1].name))
                continue;
            offer_word(c, buf_cstr(&c->word), f[i].exported ? "" : "local");
        }
    }
    return true;
}

static bool offer_arities(struct completing *c)
{
    const struct names_function *f;
    const struct slice function = slice_of(c->at.function);
    char text[16];
    size_t n;
    if (*c->at.module == '\0')
        return true;
    if (!functions_of(c, &f, &n))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!slice_equal(f[i].name, function))
            continue;
        snprintf(text, sizeof text, "%d", f[i].arity);
        offer_word(c, text, f[i].exported ? "" : "local");
    }
    return true;
}

static bool offer_fields(struct completing *c)
{
    const struct slice *fields;
    size_t n;
    if (!assist_fields(c->assist, c->at.module, c->at.record, &fields, &n))
        return false;
    for (size_t i = 0; i < n; i++) {
        buf_reset(&c->word);
        assist_spell_function(&c->word, c->at.syntax, fields[i]);
        offer_word(c, buf_cstr(&c->word), "");
    }
    c->behind = c->at.syntax == SYNTAX_ELIXIR ? ": " : "=";
    return true;
}

/* ---- a pattern */

static bool complete_pattern(struct completing *c)
{
    switch (c->at.what) {
    case EXPECT_NOTHING:
    case EXPECT_TERM:
        break;
    case EXPECT_MODULE:
        return offer_modules(c);
    case EXPECT_FUNCTION:
        return offer_functions(c);
    case EXPECT_ARITY:
        return offer_arities(c);
    case EXPECT_GUARD:
        offer_words(c, pattern_guards);
        c->behind = "(";
        break;
    case EXPECT_ACTION:
        offer_words(c, pattern_actions);
        break;
    case EXPECT_FIELD:
        return offer_fields(c);
    }
    return true;
}

/* ---- options */

static const struct {
    const char *option, *word, *help;
} values[] = {
    {"--procs", "all", "every process, now and later"},
    {"--procs", "new", "those that begin from now on"},
    {"--procs", "running", "those that are there now"},
    {"--procs", "app:", "app:NAME: those of an application"},
    {"--procs", "label:/", "label:/RE/: whose label matches"},
    {"--procs", "call:/", "call:/RE/: whose initial call matches"},
    {"--procs", "1/", "1/N: one of N"},
    {"--on-rate", "shed", "skip events above the rate, and count them"},
    {"--on-rate", "stop", "end the trace"},
    {"--syntax", "auto", "as the pattern looks"},
    {"--syntax", "erlang", "shop:add(_, X)"},
    {"--syntax", "elixir", "Shop.add(_, x)"},
};

static void offer_options(struct completing *c)
{
    struct request_option option;
    for (size_t i = 0; trace_request_option(&option, c->kind, i); i++) {
        buf_reset(&c->word);
        buf_printf(&c->word, "--%s", option.name);
        offer_word(c, buf_cstr(&c->word), option.help);
    }
    c->behind = " ";
}

/* Atoms from the node, each after a word of ours. */
static void offer_names(struct completing *c, const char *prefix, const struct slice *names,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buf_reset(&c->word);
        buf_puts(&c->word, prefix);
        print_atom(&c->word, names[i].s, names[i].len);
        offer_word(c, buf_cstr(&c->word), "");
    }
}

/* Registered processes, or the applications that run: as a list of processes has them. */
static bool offer_who(struct completing *c)
{
    static const char prefix[] = "app:";
    const struct slice *names;
    bool app = slice_begins(slice_of(c->typed), prefix);
    if (!assist_who(c->assist))
        return false;
    const struct names *known = assist_names(c->assist);
    size_t n = app ? names_apps(known, &names) : names_registered(known, &names);
    offer_names(c, app ? prefix : "", names, n);
    return true;
}

/* A kind that is typed in full is not offered any more. */
static bool offer_values(struct completing *c, struct slice option)
{
    bool is_procs = slice_is(option, "--procs");
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (slice_is(option, values[i].option) &&
            !(is_procs && strcmp(values[i].word, c->typed) == 0))
            offer_word(c, values[i].word, values[i].help);
    return !is_procs || offer_who(c);
}

/*
 * Where the word begins that is typed as an option, or as the value of `*option`; SIZE_MAX when the
 * point is in the pattern. */
static size_t option_word(const char *typed, size_t len, struct slice *option)
{
    size_t from = len, before, end = trace_request_pattern_end(typed);
    while (from > 0 && !text_is_blank(typed[from - 1]))
        from--;
    if (from > 0 && strncmp(typed + from, "--", 2) == 0 && (end <= from || !typed[from + 2]))
        return from;
    if (from <= end || end == len)
        return SIZE_MAX;
    for (before = from; before > 0 && text_is_blank(typed[before - 1]); before--)
        continue;
    size_t begin = before;
    while (begin > 0 && !text_is_blank(typed[begin - 1]))
        begin--;
    if (begin < end || strncmp(typed + begin, "--", 2) != 0)
        return SIZE_MAX;
    *option = (struct slice){typed + begin, before - begin};
    for (size_t i = from; i < len; i++)
        if (typed[i] == ',')
            from = i + 1;
    return from;
}

/* ---- a line */

/* The only word that fits gets what comes behind it. */
static void put_behind(struct completing *c)
{
    struct completion *out = c->out;
    if (out->len != 1 || !*c->behind)
        return;
    struct buf text;
    buf_init(&text, 0);
    buf_printf(&text, "%s%s", out->items[0].word, c->behind);
    free(out->items[0].word);
    out->items[0].word = buf_take(&text);
}

static bool finish_list(struct completing *c, size_t point, bool known)
{
    completion_sort(c->out);
    put_behind(c);
    c->out->from = c->at.from;
    c->out->to = point;
    buf_clear(&c->word);
    return known;
}

static bool complete_line(struct completing c, const char *line, size_t point)
{
    char *typed = alloc_strndup(line, point);
    struct slice option = {0};
    size_t from = option_word(typed, point, &option);
    bool known = true;
    buf_init(&c.word, 0);
    if (from == SIZE_MAX)
        pattern_expect(typed, point, &c.at);
    else
        c.at.from = from;
    c.typed = typed + c.at.from;
    if (from == SIZE_MAX)
        known = complete_pattern(&c);
    else if (option.len > 0)
        known = offer_values(&c, option);
    else
        offer_options(&c);
    known = finish_list(&c, point, known);
    free(typed);
    return known;
}

bool complete_trace(struct completion *out, struct assist *a, enum syntax syntax, const char *line,
                    size_t point)
{
    const struct completing c = {
        .out = out, .assist = a, .syntax = syntax, .kind = REQUEST_TRACE, .behind = ""};
    return complete_line(c, line, point);
}

bool complete_spans(struct completion *out, struct assist *a, enum syntax syntax, const char *line,
                    size_t point)
{
    const struct completing c = {
        .out = out, .assist = a, .syntax = syntax, .kind = REQUEST_SPANS, .behind = ""};
    return complete_line(c, line, point);
}

/* ---- a line of functions to count */

static const char app_word[] = "app";

/* A module is a pattern too, and `app:` begins the name of an application. */
static bool complete_function(struct completing *c)
{
    bool app = strcmp(c->at.module, app_word) == 0;
    const struct slice *names;
    size_t n;
    switch (c->at.what) {
    case EXPECT_MODULE:
        if (!offer_modules(c))
            return false;
        offer_word(c, app_word, "app:NAME: all modules of an application");
        return true;
    case EXPECT_FUNCTION:
        if (!app)
            return offer_functions(c);
        if (!assist_who(c->assist))
            return false;
        n = names_apps(assist_names(c->assist), &names);
        offer_names(c, "", names, n);
        return true;
    case EXPECT_ARITY:
        return app || offer_arities(c);
    default:
        return true; /* arguments, guards and actions do not belong to it */
    }
}

bool complete_calls(struct completion *out, struct assist *a, enum syntax syntax, const char *line,
                    size_t point)
{
    struct completing c = {.out = out, .assist = a, .syntax = syntax, .behind = ""};
    char *typed = alloc_strndup(line, point);
    buf_init(&c.word, 0);
    pattern_expect(typed, point, &c.at);
    c.typed = typed + c.at.from;
    bool known = finish_list(&c, point, complete_function(&c));
    free(typed);
    return known;
}
