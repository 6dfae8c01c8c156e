/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/parse.h"
#include "beamtop/trace/names.h"

static struct slice text(const char *s)
{
    return (struct slice){s, strlen(s)};
}

/* Gives an answer written in Erlang. */
static int take(struct names *n, const char *answer, struct error *err)
{
    struct builder *b = builder_new();
    struct error parse = {0};
    size_t len;
    if (etf_parse(b, answer, strlen(answer), "x@y", &parse) != 0)
        fail_msg("%s: %s", answer, parse.text);
    const uint8_t *bytes = builder_bytes(b, &len);
    int rc = names_take(n, bytes, len, err);
    builder_free(b);
    return rc;
}

static void take_well(struct names *n, const char *answer)
{
    struct error err = {0};
    if (take(n, answer, &err) != 0)
        fail_msg("%s: %s", answer, err.text);
}

TEST(test_modules)
{
    const struct slice *modules;
    struct names *n = names_new();
    assert_false(names_has_modules(n));
    assert_int_equal(names_modules(n, &modules), 0);
    take_well(n, "{modules,[<<\"lists\">>,<<\"ets\">>,<<\"Elixir.Foo\">>],900}");
    assert_true(names_has_modules(n));
    assert_int_equal(names_modules(n, &modules), 3);
    assert_memory_equal(modules[0].s, "Elixir.Foo", 10);
    assert_memory_equal(modules[1].s, "ets", 3);
    assert_memory_equal(modules[2].s, "lists", 5);
    take_well(n, "{modules,[],0}");
    assert_true(names_has_modules(n));
    assert_int_equal(names_modules(n, &modules), 0);
    names_free(n);
}

TEST(test_who)
{
    const struct slice *list;
    struct error err = {0};
    struct names *n = names_new();
    assert_false(names_has_who(n));
    assert_int_equal(names_registered(n, &list), 0);
    take_well(n, "{who,[<<\"user\">>,<<\"init\">>],[<<\"kernel\">>]}");
    assert_true(names_has_who(n));
    assert_int_equal(names_registered(n, &list), 2);
    assert_memory_equal(list[0].s, "init", 4);
    assert_int_equal(take(n, "{who,[<<\"other\">>],nonsense}", &err), ERR_FORMAT);
    assert_int_equal(names_registered(n, &list), 2);
    assert_int_equal(names_apps(n, &list), 1);
    assert_memory_equal(list[0].s, "kernel", 6);
    take_well(n, "{who,[],[]}");
    assert_true(names_has_who(n));
    assert_int_equal(names_registered(n, &list), 0);
    assert_false(names_has_modules(n));
    names_free(n);
}

TEST(test_functions)
{
    const struct names_function *f;
    size_t len;
    struct names *n = names_new();
    assert_false(names_functions(n, text("lists"), &f, &len));
    assert_int_equal(names_known(n, text("lists")), NAMES_UNKNOWN);
    take_well(n, "{functions,<<\"lists\">>,[{<<\"map\">>,2,true},{<<\"do\">>,3,false},"
                 "{<<\"do\">>,1,false}]}");
    take_well(n, "{functions,<<\"a\">>,not_loaded}");
    take_well(n, "{functions,<<\"z\">>,no_module}");
    take_well(n, "{functions,<<\"u\">>,unknown}");
    assert_true(names_functions(n, text("lists"), &f, &len));
    assert_int_equal(len, 3);
    assert_int_equal(f[0].arity, 1);
    assert_int_equal(f[1].arity, 3);
    assert_false(f[1].exported);
    assert_memory_equal(f[2].name.s, "map", 3);
    assert_true(f[2].exported);
    assert_int_equal(names_known(n, text("lists")), NAMES_LOADED);
    assert_true(names_functions(n, text("a"), &f, &len));
    assert_int_equal(len, 0);
    assert_int_equal(names_known(n, text("a")), NAMES_NOT_LOADED);
    assert_int_equal(names_known(n, text("z")), NAMES_NO_MODULE);
    assert_int_equal(names_known(n, text("u")), NAMES_NOT_LOADED);
    assert_false(names_functions(n, text("list"), &f, &len));
    take_well(n, "{functions,<<\"a\">>,[{<<\"new\">>,0,true}]}"); /* loaded meanwhile */
    assert_int_equal(names_known(n, text("a")), NAMES_LOADED);
    assert_true(names_functions(n, text("a"), &f, &len));
    assert_int_equal(len, 1);
    names_free(n);
}

TEST(test_answers_of_another_shape)
{
    static const char *const answers[] = {
        "x",
        "{modules,[]}",
        "{other,[],1}",
        "{modules,[lists],1}",
        "{modules,\"abc\",3}",
        "{modules,[<<\"a\">>|b],1}",
        "{functions,lists,[]}",
        "{functions,<<\"m\">>,strange}",
        "{functions,<<\"m\">>,\"abc\"}",
        "{functions,<<\"m\">>,[{<<\"a\">>,1}]}",
        "{functions,<<\"m\">>,[{<<\"a\">>,256,true}]}",
        "{functions,<<\"m\">>,[{<<\"a\">>,-1,true}]}",
        "{functions,<<\"m\">>,[{<<\"a\">>,1,maybe}]}",
        "{functions,<<\"m\">>,[{<<\"a\">>,1,true}|b]}",
    };
    struct names *n = names_new();
    take_well(n, "{functions,<<\"m\">>,[{<<\"a\">>,1,true}]}");
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct error err = {0};
        if (take(n, answers[i], &err) != ERR_FORMAT || err.code != ERR_FORMAT)
            fail_msg("%s: taken", answers[i]);
    }
    const struct names_function *f;
    size_t len;
    struct error err = {0};
    assert_false(names_has_modules(n));
    assert_true(names_functions(n, text("m"), &f, &len));
    assert_int_equal(len, 1);
    assert_int_equal(names_take(n, NULL, 0, &err), ERR_FORMAT);
    names_free(n);
}

TEST(test_a_broken_answer_is_none)
{
    struct builder *b = builder_new();
    size_t len;
    build_tuple(b, 3);
    build_atom(b, "functions");
    build_binary(b, "lists", 5);
    build_list(b, 1);
    build_tuple(b, 3);
    build_binary(b, "map", 3);
    build_int(b, 2);
    build_atom(b, "true");
    build_nil(b);
    const uint8_t *bytes = builder_bytes(b, &len);
    struct names *n = names_new();
    for (size_t i = 0; i < len; i++) {
        struct error err = {0};
        assert_int_equal(names_take(n, bytes, i, &err), ERR_FORMAT);
        assert_int_equal(names_known(n, text("lists")), NAMES_UNKNOWN);
    }
    struct error err = {0};
    assert_int_equal(names_take(n, bytes, len, &err), 0);
    builder_free(b);
    names_free(n);
}

/* ---- near misses */

static const char all_modules[] =
    "{modules,[<<\"Elixir.Enum\">>,<<\"Elixir.GenServer\">>,<<\"Elixir.MyApp.Cart\">>,"
    "<<\"Elixir.MyApp.Card\">>,<<\"ets\">>,<<\"gen_server\">>,<<\"gen_statem\">>,<<\"lists\">>,"
    "<<\"maps\">>,<<\"\xC3\xA9t\xC3\xA9\"/utf8>>],10}";

static const struct {
    const char *word;
    const char *found; /* at most three, with commas */
} modules[] = {
    {"list", "lists"},
    {"lsits", "lists"}, /* a swap counts once */
    {"lists", "lists"},
    {"mpas", "maps"},
    {"est", "ets"},
    {"et", "ets"}, /* 1 of 3 */
    {"e", ""},     /* 2 of 3 */
    {"", ""},
    {"gen_servre", "gen_server"},
    {"gen_sttaem", "gen_statem"},
    {"genserver", "gen_server,Elixir.GenServer"},
    {"Elixir.Enmu", "Elixir.Enum"},
    {"Enum", "Elixir.Enum"},
    {"Elixir.Foo", ""}, /* the prefix is no likeness */
    {"Elixir.MyApp.Cars", "Elixir.MyApp.Card,Elixir.MyApp.Cart"},
    {"\xC3\xA9ta", "\xC3\xA9t\xC3\xA9"}, /* a letter is one, whatever its bytes */
    {"nothing_like_it", ""},
};

TEST(test_near_modules)
{
    struct names *n = names_new();
    struct slice out[3];
    assert_int_equal(names_near_modules(n, text("lists"), out, 3), 0);
    take_well(n, all_modules);
    for (size_t i = 0; i < ARRAY_LEN(modules); i++) {
        struct buf found;
        buf_init(&found, 0);
        size_t len = names_near_modules(n, text(modules[i].word), out, 3);
        for (size_t k = 0; k < len; k++)
            buf_printf(&found, "%s%.*s", k > 0 ? "," : "", (int)out[k].len, out[k].s);
        if (strcmp(buf_cstr(&found), modules[i].found) != 0)
            fail_msg("%s: expected %s, found %s", modules[i].word, modules[i].found,
                     buf_cstr(&found));
        buf_clear(&found);
    }
    assert_int_equal(names_near_modules(n, text("Elixir.MyApp.Cars"), out, 1), 1);
    assert_memory_equal(out[0].s, "Elixir.MyApp.Card", out[0].len);
    assert_int_equal(names_near_modules(n, text("lists"), out, 0), 0);
    char longer[LIMIT_NAMES / 100];
    memset(longer, 'a', sizeof(longer));
    assert_int_equal(names_near_modules(n, (struct slice){longer, sizeof(longer)}, out, 3), 0);
    names_free(n);
}

static const struct {
    const char *word;
    const char *found; /* at most three, with commas */
} functions[] = {
    {"mpa", "map/2"},
    {"map", "map/2"},
    {"fold", "foldl/2,foldl/3,foldr/3"},
    {"handel_call", "handle_call/3,handle_cast/2"},
    {"keyfnid", "keyfind/3"},
    {"sotr", "sort/1,sort/2,rotr/1"}, /* at the same distance exported ones are first */
    {"zzzz", ""},
};

TEST(test_near_functions)
{
    struct names *n = names_new();
    struct names_function out[3];
    assert_int_equal(names_near_functions(n, text("m"), text("map"), out, 3), 0);
    take_well(n, "{functions,<<\"m\">>,[{<<\"foldl\">>,2,true},{<<\"foldl\">>,3,true},"
                 "{<<\"foldr\">>,3,true},{<<\"handle_call\">>,3,true},{<<\"handle_cast\">>,2,true},"
                 "{<<\"keyfind\">>,3,true},{<<\"map\">>,2,true},{<<\"sort\">>,1,true},"
                 "{<<\"sort\">>,2,true},{<<\"sorx\">>,1,true},{<<\"rotr\">>,1,false}]}");
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        struct buf found;
        buf_init(&found, 0);
        size_t len = names_near_functions(n, text("m"), text(functions[i].word), out, 3);
        for (size_t k = 0; k < len; k++)
            buf_printf(&found, "%s%.*s/%d", k > 0 ? "," : "", (int)out[k].name.len, out[k].name.s,
                       out[k].arity);
        if (strcmp(buf_cstr(&found), functions[i].found) != 0)
            fail_msg("%s: expected %s, found %s", functions[i].word, functions[i].found,
                     buf_cstr(&found));
        buf_clear(&found);
    }
    names_free(n);
}

/* ---- many */

static void put_atom(struct buf *b, const char *name)
{
    buf_put_u8(b, ETF_SMALL_ATOM_UTF8);
    buf_put_u8(b, (uint8_t)strlen(name));
    buf_puts(b, name);
}

static void put_binary(struct buf *b, const char *s)
{
    buf_put_u8(b, ETF_BINARY);
    buf_put_u32be(b, (uint32_t)strlen(s));
    buf_puts(b, s);
}

static void put_tuple(struct buf *b, uint8_t arity)
{
    buf_put_u8(b, ETF_SMALL_TUPLE);
    buf_put_u8(b, arity);
}

/* Written byte by byte: libei's buffer grows by small steps, and these answers are large. */
static void take_many(struct names *n, const char *module, int count, int rc)
{
    struct buf b;
    struct error err = {0};
    char name[64];
    buf_init(&b, 0);
    put_tuple(&b, 3);
    put_atom(&b, "functions");
    put_binary(&b, module);
    buf_put_u8(&b, ETF_LIST);
    buf_put_u32be(&b, (uint32_t)count);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "handle_request_of_%d_and_more", i);
        put_tuple(&b, 3);
        put_binary(&b, name);
        buf_put_u8(&b, ETF_SMALL_INTEGER);
        buf_put_u8(&b, (uint8_t)(i % 5));
        put_atom(&b, i % 2 == 0 ? "true" : "false");
    }
    buf_put_u8(&b, ETF_NIL);
    assert_int_equal(names_take(n, b.data, b.len, &err), rc);
    buf_clear(&b);
}

TEST(test_the_search_finds)
{
    struct names *n = names_new();
    struct names_function out[5];
    take_many(n, "m", 20000, 0);
    size_t len =
        names_near_functions(n, text("m"), text("handle_reqeust_of_19998_and_more"), out, 5);
    assert_int_equal(len, 5);
    assert_memory_equal(out[0].name.s, "handle_request_of_19998_and_more", 32);
    names_free(n);
}

TEST(test_what_is_remembered_ends)
{
    struct names *n = names_new();
    take_many(n, "first", LIMIT_NAMES / 4, 0);
    take_many(n, "second", LIMIT_NAMES / 4, 0);
    take_many(n, "third", LIMIT_NAMES / 4, 0);
    assert_int_equal(names_known(n, text("first")), NAMES_LOADED);
    take_many(n, "fourth", LIMIT_NAMES / 4, 0);
    assert_int_equal(names_known(n, text("first")), NAMES_UNKNOWN);
    assert_int_equal(names_known(n, text("second")), NAMES_LOADED);
    assert_int_equal(names_known(n, text("fourth")), NAMES_LOADED);
    take_many(n, "all", LIMIT_NAMES + 1, ERR_LIMIT);
    assert_int_equal(names_known(n, text("fourth")), NAMES_LOADED);
    names_free(n);
}
