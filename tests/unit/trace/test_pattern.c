/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/limits.h"
#include "beamtop/trace/library.h"
#include "beamtop/trace/pattern.h"

/* The tree in one line: what is indented below a line stands in parentheses behind it. */
static void flatten(struct buf *out, const char *tree)
{
    unsigned depth = 0;
    for (const char *line = tree, *end; *line != '\0'; line = end + 1) {
        unsigned indent = (unsigned)strspn(line, " ") / 2;
        end = strchr(line, '\n');
        if (indent > depth)
            buf_puts(out, "(");
        for (; depth > indent; depth--)
            buf_puts(out, ")");
        if (line != tree && indent == depth && out->data[out->len - 1] != '(')
            buf_puts(out, " ");
        depth = indent;
        buf_put(out, line + 2 * indent, (size_t)(end - line) - 2 * indent);
    }
    for (; depth > 0; depth--)
        buf_puts(out, ")");
}

/* Several trees are joined by " & ". */
static char *parse_flat(const char *text, enum syntax syntax, size_t *offset, struct error *err)
{
    struct pattern **p;
    size_t n;
    if (patterns_parse(&p, &n, text, strlen(text), syntax, offset, err) != 0)
        return NULL;
    struct buf tree, flat;
    buf_init(&tree, 0);
    buf_init(&flat, 0);
    for (size_t i = 0; i < n; i++) {
        buf_reset(&tree);
        pattern_print_tree(&tree, p[i]);
        buf_puts(&flat, i == 0 ? "" : " & ");
        flatten(&flat, buf_cstr(&tree));
    }
    patterns_free(p, n);
    buf_clear(&tree);
    return buf_take(&flat);
}

struct good {
    const char *text, *tree;
};
struct wrong {
    const char *text;
    size_t offset;
    const char *message;
};

#include "pattern_rows.h"

static void check_good(const struct good *row, size_t n)
{
    for (; n > 0; n--, row++) {
        struct error err = {0};
        size_t offset = 0;
        char *tree = parse_flat(row->text, SYNTAX_AUTO, &offset, &err);
        if (!tree)
            fail_msg("%s: refused at %zu: %s", row->text, offset, err.text);
        if (strcmp(tree, row->tree) != 0)
            fail_msg("%s:\n%s\nnot\n%s", row->text, tree, row->tree);
        free(tree);
    }
}

static void check_wrong(const struct wrong *row, size_t n)
{
    for (; n > 0; n--, row++) {
        struct error err = {0};
        size_t offset = SIZE_MAX;
        char *tree = parse_flat(row->text, SYNTAX_AUTO, &offset, &err);
        if (tree)
            fail_msg("%s: taken as %s", row->text, tree);
        if (err.code != ERR_USAGE || offset != row->offset || strcmp(err.text, row->message) != 0)
            fail_msg("%s: at %zu \"%s\", not at %zu \"%s\"", row->text, offset, err.text,
                     row->offset, row->message);
    }
}

/* What is typed so far never does harm, in either spelling, and an error points into it. */
static void check_prefixes(const struct good *row, size_t n)
{
    for (; n > 0; n--, row++) {
        for (size_t len = 0; len <= strlen(row->text); len++) {
            char *part = malloc(len + 1);
            memcpy(part, row->text, len);
            part[len] = '\0';
            for (int syntax = SYNTAX_AUTO; syntax <= SYNTAX_ELIXIR; syntax++) {
                struct error err = {0};
                size_t offset = SIZE_MAX;
                char *tree = parse_flat(part, (enum syntax)syntax, &offset, &err);
                if (!tree && (offset > len || err.text[0] == '\0'))
                    fail_msg("%s: refused at %zu: %s", part, offset, err.text);
                free(tree);
            }
            free(part);
        }
    }
}

#define ROWS(table) table, sizeof(table) / sizeof((table)[0])

TEST(test_erlang)
{
    check_good(ROWS(erlang_good));
}

TEST(test_erlang_wrong)
{
    check_wrong(ROWS(erlang_wrong));
}

TEST(test_elixir)
{
    check_good(ROWS(elixir_good));
}

TEST(test_elixir_wrong)
{
    check_wrong(ROWS(elixir_wrong));
}

/* Every text of the library is a pattern, recognised as what it is. */
TEST(test_library)
{
    for (const struct library_row *row = library_table; row->title; row++) {
        for (int syntax = SYNTAX_ERLANG; syntax <= SYNTAX_ELIXIR; syntax++) {
            const char *text = library_text(row, (enum syntax)syntax);
            struct pattern **p;
            size_t n, offset = 0;
            struct error err = {0};
            if (patterns_parse(&p, &n, text, strlen(text), SYNTAX_AUTO, &offset, &err) != 0)
                fail_msg("%s: refused at %zu: %s", text, offset, err.text);
            if (p[0]->kind == PATTERN_CALL && p[0]->syntax != (enum syntax)syntax)
                fail_msg("%s: taken for syntax %d", text, (int)p[0]->syntax);
            patterns_free(p, n);
        }
    }
}

TEST(test_prefixes)
{
    check_prefixes(ROWS(erlang_good));
    check_prefixes(ROWS(elixir_good));
}

static char *repeated(const char *first, const char *again, size_t times, const char *last)
{
    struct buf b;
    buf_init(&b, 0);
    buf_puts(&b, first);
    for (size_t i = 0; i < times; i++)
        buf_puts(&b, again);
    buf_puts(&b, last);
    return buf_take(&b);
}

static void check_limit(char *text, const char *message)
{
    struct error err = {0};
    size_t offset;
    char *tree = parse_flat(text, SYNTAX_AUTO, &offset, &err);
    assert_null(tree);
    if (!strstr(err.text, message))
        fail_msg("\"%s\", not \"%s\"", err.text, message);
    free(text);
}

TEST(test_limits)
{
    check_limit(repeated("m:f(", "[", 400, ""), "nested deeper than 100");
    check_limit(repeated("m:f(X) when ", "not ", 400, "X"), "nested deeper than 100");
    check_limit(repeated("m:f(X) when X", "+X", 400, ""), "nested deeper than 100");
    check_limit(repeated("m:f([a", ",a", 2000, "])"), "more than 2000 parts");
    check_limit(repeated("m:f(a", ",a", 255, ")"), "more than 255 arguments");
    check_limit(repeated("m:f(", " ", 5000, ")"), "more than 4096 bytes");
    check_limit(repeated("m", "&m", LIMIT_TRACE_PATTERNS, ""), "more than 32 patterns");
    check_limit(repeated("", "m", 256, ":f"), "at most 255 characters");
    check_limit(repeated("m:f(<<1:", "9", 12, ">>)"), "more than 4096 bytes");
}

TEST(test_one_only)
{
    struct pattern *p = NULL;
    struct error err = {0};
    size_t offset = 0;
    assert_int_equal(pattern_parse(&p, "a:b & c:d", 9, SYNTAX_AUTO, &offset, &err), ERR_USAGE);
    assert_int_equal(offset, 4);
    assert_null(p);
}

TEST(test_records)
{
    static const char text[] = "m:f(#a{x=#b{}}, o#a{}, #a{}) when is_record(o#c, X)";
    struct pattern *p;
    struct error err = {0};
    struct record_name names[3];
    assert_int_equal(pattern_parse(&p, text, strlen(text), SYNTAX_AUTO, NULL, &err), 0);
    assert_int_equal(pattern_records(p, names, 3), 4);
    assert_memory_equal(names[0].module.s, "m", 1);
    assert_memory_equal(names[1].name.s, "b", 1);
    assert_memory_equal(names[2].module.s, "o", 1);
    assert_int_equal(names[2].at, 16);
    pattern_free(p);
}

TEST(test_describe)
{
    static const struct {
        const char *text, *sentence;
    } rows[] = {
        {"lists:map/2 -> return", "calls of lists:map/2, showing the result"},
        {"m:f(_, X) when X > 1 -> stack",
         "calls of m:f/2 with (_, X) when X > 1, showing the stack"},
        {"send(To, {error, _})", "messages sent like (To, {error, _})"},
        {"MyApp.Cart.add(_, x)", "calls of MyApp.Cart.add/2 with (_, x)"},
        {"_:_/3 -> count", "calls of every function with 3 arguments, only counted"},
        {"a & m:f(X) -> slower 5ms", "calls of m:f/1 with (X), if slower than 5.0 ms, showing the "
                                     "result"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pattern **p;
        size_t n;
        struct error err = {0};
        struct buf b;
        buf_init(&b, 0);
        assert_int_equal(
            patterns_parse(&p, &n, rows[i].text, strlen(rows[i].text), SYNTAX_AUTO, NULL, &err), 0);
        pattern_describe(&b, p[n - 1]);
        assert_string_equal(buf_cstr(&b), rows[i].sentence);
        buf_clear(&b);
        patterns_free(p, n);
    }
}

/* The user is at the end of the text; what stands from `from` on is being typed. */
TEST(test_expect)
{
    static const struct {
        const char *text;
        enum expect what;
        size_t from;
        const char *module, *record;
    } rows[] = {
        {"", EXPECT_MODULE, 0, "", ""},
        {"lis", EXPECT_MODULE, 0, "", ""},
        {":et", EXPECT_MODULE, 0, "", ""},
        {":", EXPECT_MODULE, 0, "", ""},
        {"MyApp.Ca", EXPECT_MODULE, 0, "", ""},
        {"lists:", EXPECT_FUNCTION, 6, "lists", ""},
        {"lists:ma", EXPECT_FUNCTION, 6, "lists", ""},
        {"'a b':c", EXPECT_FUNCTION, 6, "a b", ""},
        {"MyApp.Cart.ad", EXPECT_FUNCTION, 11, "Elixir.MyApp.Cart", ""},
        {":ets.", EXPECT_FUNCTION, 5, "ets", ""},
        {"lists:map/", EXPECT_ARITY, 10, "lists", ""},
        {"lists:map(", EXPECT_TERM, 10, "lists", ""},
        {"lists:map([a, ", EXPECT_TERM, 14, "lists", ""},
        {"lists:map(X) ", EXPECT_NOTHING, 13, "lists", ""},
        {"lists:map(X) when is_", EXPECT_GUARD, 18, "lists", ""},
        {"lists:map(X) -> re", EXPECT_ACTION, 16, "lists", ""},
        {"lists:map(X) -> return, ", EXPECT_ACTION, 24, "lists", ""},
        {"send(_, X) -> ", EXPECT_NOTHING, 14, "send", ""},
        {"send:f -> ", EXPECT_ACTION, 10, "send", ""},
        {"Enum.map(x) :: st", EXPECT_ACTION, 15, "Elixir.Enum", ""},
        {"m:f -> show(X, ", EXPECT_GUARD, 15, "m", ""},
        {"m:f -> slower 5ms ", EXPECT_NOTHING, 18, "m", ""},
        {"m:f -> returns {ok, ", EXPECT_TERM, 20, "m", ""},
        {"m:f -> returns X when ", EXPECT_GUARD, 22, "m", ""},
        {"m:f(#rec{", EXPECT_FIELD, 9, "m", "rec"},
        {"m:f(#rec{na", EXPECT_FIELD, 9, "m", "rec"},
        {"m:f(#rec{name = ", EXPECT_TERM, 16, "m", ""},
        {"m:f(o#rec{name = X, a", EXPECT_FIELD, 20, "o", "rec"},
        {"M.f(%Item{pr", EXPECT_FIELD, 10, "Elixir.Item", ""},
        {"M.f(%Item{price: ", EXPECT_TERM, 17, "Elixir.M", ""},
        {"a:b & c", EXPECT_MODULE, 6, "", ""},
        {"send(", EXPECT_TERM, 5, "send", ""},
        {"m:f(\"ab", EXPECT_NOTHING, 7, "", ""},
        {"/ab", EXPECT_NOTHING, 3, "", ""},
        {"/ab/:c", EXPECT_FUNCTION, 5, "", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct expectation e;
        pattern_expect(rows[i].text, strlen(rows[i].text), &e);
        if (e.what != rows[i].what || e.from != rows[i].from ||
            strcmp(e.module, rows[i].module) != 0 || strcmp(e.record, rows[i].record) != 0)
            fail_msg("%s: %d from %zu of \"%s\" \"%s\"", rows[i].text, e.what, e.from, e.module,
                     e.record);
    }
}
