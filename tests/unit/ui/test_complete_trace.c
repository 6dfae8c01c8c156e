/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion of a trace's line, from names that a target played here has told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/trace/session.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/parse.h"
#include "beamtop/ui/complete_trace.h"

#define MANY 20000 /* functions of one module */

struct target {
    struct assist *assist;
    bool open;
    enum question question;
    answer_fn *fn;
    void *fn_arg;
};

static int fake_ask(void *ctx, enum question question, const struct builder *arg,
                    unsigned deadline_ms, answer_fn *fn, void *fn_arg, struct error *err)
{
    struct target *t = ctx;
    (void)arg;
    (void)deadline_ms;
    (void)err;
    assert_false(t->open);
    t->open = true;
    t->question = question;
    t->fn = fn;
    t->fn_arg = fn_arg;
    return 0;
}

static int fake_tell(void *ctx, enum question question, const struct builder *term,
                     struct error *err)
{
    (void)ctx;
    (void)question;
    (void)term;
    (void)err;
    fail();
    return 0;
}

static void fake_drop(void *ctx, const void *fn_arg)
{
    (void)ctx;
    (void)fn_arg;
}

static uint64_t fake_now(void *ctx)
{
    (void)ctx;
    return 1;
}

static void give(struct target *t, const struct builder *b)
{
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    assert_true(t->open);
    t->open = false;
    t->fn(t->fn_arg, &(struct answer){.question = t->question, .value = bytes + 1, .len = len - 1});
}

static void answer(struct target *t, const char *text)
{
    struct builder *b = builder_new();
    struct error err = {0};
    if (etf_parse(b, text, strlen(text), "there@host", &err))
        fail_msg("%s: %s", text, err.text);
    give(t, b);
    builder_free(b);
}

#define MODULES                                                                                    \
    "{modules, [<<\"Elixir.MyApp.Cart\">>, <<\"Elixir.MyApp.Web\">>, <<\"lists\">>, "              \
    "<<\"odd-name\">>, <<\"sets\">>, <<\"shop\">>], 6}"
#define LISTS                                                                                      \
    "{functions, <<\"lists\">>, [{<<\"append\">>, 1, true}, {<<\"append\">>, 2, true}, "           \
    "{<<\"map\">>, 2, true}, {<<\"mapfoldl\">>, 3, true}, {<<\"seq\">>, 2, true}, "                \
    "{<<\"seq\">>, 3, true}, {<<\"seq_loop\">>, 3, false}, {<<\"zip\">>, 2, true}]}"
#define WHO                                                                                        \
    "{who, [<<\"odd-name\">>, <<\"rex\">>, <<\"shop_cart\">>, <<\"shop_front\">>], "               \
    "[<<\"kernel\">>, <<\"shop\">>]}"
#define CART                                                                                       \
    "{functions, <<\"Elixir.MyApp.Cart\">>, [{<<\"add\">>, 2, true}, {<<\"add?\">>, 2, true}]}"

static int set_up(void **state)
{
    struct target *t = calloc(1, sizeof *t);
    const struct session_port port = {.ask = fake_ask,
                                      .tell = fake_tell,
                                      .drop = fake_drop,
                                      .now_ns = fake_now,
                                      .ctx = t,
                                      .node = "there@host",
                                      .creation = 3,
                                      .otp = 27};
    t->assist = assist_new(NULL, NULL);
    assist_set_port(t->assist, &port);
    assist_begin(t->assist);
    answer(t, MODULES);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct target *t = *state;
    assist_free(t->assist);
    free(t);
    return 0;
}

typedef bool complete_fn(struct completion *out, struct assist *a, enum syntax syntax,
                         const char *line, size_t point);

/* Completes at the end of the line; the words, with bars between, in `out`. */
static bool complete_by(complete_fn *by, struct target *t, const char *line, char *out, size_t size)
{
    struct completion c;
    struct buf text;
    completion_init(&c);
    buf_init(&text, 0);
    bool known = by(&c, t->assist, SYNTAX_AUTO, line, strlen(line));
    for (size_t i = 0; i < c.len; i++)
        buf_printf(&text, "%s%s", i > 0 ? "|" : "", c.items[i].word);
    if (c.len > 0)
        assert_true(c.from <= c.to && c.to == strlen(line));
    snprintf(out, size, "%s", buf_cstr(&text));
    buf_clear(&text);
    completion_clear(&c);
    return known;
}

static bool complete(struct target *t, const char *line, char *out, size_t size)
{
    return complete_by(complete_trace, t, line, out, size);
}

TEST_WITH(test_words, set_up, tear_down)
{
    static const struct {
        const char *line, *words;
    } rows[] = {
        {"", "'odd-name'|MyApp.Cart|MyApp.Web|lists|sets|shop"},
        {"s", "sets|shop"},
        {"se", "sets:"},
        {"'odd", "'odd-name':"},
        {"My", "MyApp.Cart|MyApp.Web"},
        {"MyApp.W", "MyApp.Web."},
        {":l", ":lists."},
        {"nothing_like_it", ""},
        {"lists:m", "map|mapfoldl"},
        {"lists:map", "map|mapfoldl"},
        {"lists:zip", "zip/2"},
        {"lists:append", "append/1|append/2"},
        {"lists:se", "seq|seq_loop"},
        {"lists:seq/", "2|3"},
        {"lists:append/2 & lists:z", "zip"},
        {":lists.z", "zip"},
        {"lists:map(", ""},
        {"lists:map(_, _) -> re", "return|returns"},
        {"lists:map(_, _) -> return, st", "stack"},
        {"lists:map(_, X) when is_ma", "is_map|is_map_key"},
        {"lists:map(_, X) when is_tu", "is_tuple("},
        {"lists:map/2 --ev", "--events "},
        {"lists:map/2 --p", "--processes|--procs"},
        {"lists:map/2 --on-rate s", "shed|stop"},
        {"lists:map/2 --procs new,r", "rex|running"},
        {"lists:map/2 --procs new,ru", "running"},
        {"lists:map/2 --procs sh", "shop_cart|shop_front"},
        {"lists:map/2 --procs shop_c", "shop_cart"},
        {"lists:map/2 --procs 'od", "'odd-name'"},
        {"lists:map/2 --procs ap", "app:"},
        {"lists:map/2 --procs app:", "app:kernel|app:shop"},
        {"lists:map/2 --procs new,app:s", "app:shop"},
        {"lists:map/2 --syntax e", "elixir|erlang"},
        {"lists:map/2 --events ", ""},
        {"lists:map/2 --time 5s --on", "--on-rate "},
        {"lists:map(\"--p", ""},
    };
    struct target *t = *state;
    char words[4000];
    assert_false(complete(t, "lists:", words, sizeof words));
    answer(t, LISTS);
    assert_false(complete(t, "lists:map/2 --procs s", words, sizeof words));
    answer(t, WHO);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool known = complete(t, rows[i].line, words, sizeof words);
        if (!known || strcmp(words, rows[i].words) != 0)
            fail_msg("“%s”: “%s” instead of “%s”", rows[i].line, words, rows[i].words);
        if (t->open)
            fail_msg("“%s” asks", rows[i].line);
    }
}

TEST_WITH(test_functions_to_count, set_up, tear_down)
{
    static const struct {
        const char *line, *words;
    } rows[] = {
        {"", "'odd-name'|MyApp.Cart|MyApp.Web|app|lists|sets|shop"},
        {"se", "sets:"},
        {"a", "app:"},
        {"app:", "kernel|shop"},
        {"app:s", "shop"},
        {"app:shop & li", "lists:"},
        {"app:shop, li", "lists:"},
        {"lists:zip", "zip/2"},
        {"lists:seq/", "2|3"},
        {"app:shop/", ""},
        {"MyApp.W", "MyApp.Web."},
        {"lists:map(_, _) -> re", ""},
        {"lists:map/2 --ev", ""},
    };
    struct target *t = *state;
    char words[4000];
    assert_false(complete_by(complete_calls, t, "lists:", words, sizeof words));
    answer(t, LISTS);
    assert_false(complete_by(complete_calls, t, "app:", words, sizeof words));
    answer(t, WHO);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool known = complete_by(complete_calls, t, rows[i].line, words, sizeof words);
        if (!known || strcmp(words, rows[i].words) != 0)
            fail_msg("“%s”: “%s” instead of “%s”", rows[i].line, words, rows[i].words);
    }
}

TEST_WITH(test_names_that_are_to_come, set_up, tear_down)
{
    struct target *t = *state;
    char words[400];
    assert_false(complete(t, "MyApp.Cart.a", words, sizeof words));
    assert_string_equal(words, "");
    answer(t, CART);
    assert_true(complete(t, "MyApp.Cart.a", words, sizeof words));
    assert_string_equal(words, "add|add?");
    assert_false(complete(t, "gone:a", words, sizeof words));
    answer(t, "{functions, <<\"gone\">>, no_module}");
    assert_true(complete(t, "gone:a", words, sizeof words));
    assert_string_equal(words, "");
}

TEST_WITH(test_fields, set_up, tear_down)
{
    struct target *t = *state;
    char words[400];
    assert_false(complete(t, "shop:add(#cart{", words, sizeof words));
    answer(
        t,
        "{records, [{<<\"shop\">>, <<\"cart\">>, [<<\"id\">>, <<\"items\">>, <<\"odd-one\">>]}]}");
    assert_true(complete(t, "shop:add(#cart{", words, sizeof words));
    assert_string_equal(words, "'odd-one'|id|items");
    assert_true(complete(t, "shop:add(#cart{id = 1, it", words, sizeof words));
    assert_string_equal(words, "items=");
    assert_false(complete(t, "MyApp.Cart.add(%MyApp.Cart{", words, sizeof words));
    answer(t, "{records, [{<<\"Elixir.MyApp.Cart\">>, <<>>, [<<\"price\">>]}]}");
    assert_true(complete(t, "MyApp.Cart.add(%MyApp.Cart{pr", words, sizeof words));
    assert_string_equal(words, "price: ");
}

TEST_WITH(test_many_functions_are_quick, set_up, tear_down)
{
    struct target *t = *state;
    struct builder *b = builder_new();
    struct completion c;
    char name[32];
    complete(t, "big:", name, sizeof name);
    build_tuple(b, 3);
    build_atom(b, "functions");
    build_binary(b, "big", 3);
    build_list(b, MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "function_%05d", i);
        build_tuple(b, 3);
        build_binary(b, name, strlen(name));
        build_int(b, i % 10);
        build_bool(b, true);
    }
    build_nil(b);
    give(t, b);
    builder_free(b);
    completion_init(&c);
    uint64_t before = clock_mono_ns();
    assert_true(complete_trace(&c, t->assist, SYNTAX_AUTO, "big:f", 5));
    double ms = (double)(clock_mono_ns() - before) / 1e6;
    assert_int_equal(c.len, LIMIT_COMPLETIONS);
    assert_int_equal(completion_common(&c), strlen("function_"));
    completion_clear(&c);
    print_message("%d functions are completed in %.1f ms\n", MANY, ms);
}
