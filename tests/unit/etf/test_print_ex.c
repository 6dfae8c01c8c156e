/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/etf/print.h"
#include "wire_forms.h"

struct row {
    const char *text; /* Erlang */
    const char *printed;
};

/* What inspect/2 of Elixir 1.14 prints. */
static const struct row inspected[] = {
    {"a", ":a"},
    {"'q q'", ":\"q q\""},
    {"nil", "nil"},
    {"true", "true"},
    {"false", "false"},
    {"undefined", ":undefined"},
    {"'Elixir.Foo'", "Foo"},
    {"'Elixir.Foo.Bar_1'", "Foo.Bar_1"},
    {"'Elixir'", "Elixir"},
    {"'Elixir.Elixir'", "Elixir.Elixir"},
    {"'Elixir.Elixir.X'", "Elixir.Elixir.X"},
    {"'Elixir.ElixirX'", "ElixirX"},
    {"'Elixirs'", ":Elixirs"},
    {"'Elixir.foo'", ":\"Elixir.foo\""},
    {"'Elixir.'", ":\"Elixir.\""},
    {"'Elixir.Foo.'", ":\"Elixir.Foo.\""},
    {"'Elixir.Foo..Bar'", ":\"Elixir.Foo..Bar\""},
    {"'Foo'", ":Foo"},
    {"'foo?'", ":foo?"},
    {"'foo?!'", ":\"foo?!\""},
    {"'?'", ":\"?\""},
    {"foo@bar", ":foo@bar"},
    {"'@foo'", ":\"@foo\""},
    {"'1a'", ":\"1a\""},
    {"''", ":\"\""},
    {"'_'", ":_"},
    {"'end'", ":end"},
    {"'not in'", ":\"not in\""},
    {"'+'", ":+"},
    {"'|>'", ":|>"},
    {"'%{}'", ":%{}"},
    {"'...'", ":..."},
    {"'::'", ":\"::\""},
    {"'^^^'", ":\"^^^\""},
    {"'\\\\\\\\'", ":\\\\"},
    {"'a\"b'", ":\"a\\\"b\""},
    {"'a#{b}'", ":\"a\\#{b}\""},
    {"'a\\n\\000\\d\\001'", ":\"a\\n\\0\\d\\x01\""},
    {"\xC3\xA9t\xC3\xA9", ":\xC3\xA9t\xC3\xA9"},
    {"'\xD0\x94\xD0\xB0'", ":\xD0\x94\xD0\xB0"},
    {"'x\xC2\xB2'", ":\"x\xC2\xB2\""},
    {"0", "0"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"1.0", "1.0"},
    {"-0.0", "-0.0"},
    {"1.0e3", "1000.0"},
    {"-12345.5", "-12345.5"},
    {"0.0001", "0.0001"},
    {"1.2e-4", "1.2e-4"},
    {"1.0e15", "1000000000000000.0"},
    {"9007199254740994.0", "9007199254740994.0"},
    {"1.0e16", "1.0e16"},
    {"5.0e-324", "5.0e-324"},
    {"<<>>", "\"\""},
    {"<<\"abc\">>", "\"abc\""},
    {"<<\"a\\\"b\\\\'\">>", "\"a\\\"b\\\\'\""},
    {"<<\"#{x} #x\">>", "\"\\#{x} #x\""},
    {"<<7,8,9,10,11,12,13,27,127>>", "\"\\a\\b\\t\\n\\v\\f\\r\\e\\d\""},
    {"<<\"\xD0\xB4\xE2\x82\xAC\"/utf8>>", "\"\xD0\xB4\xE2\x82\xAC\""},
    {"<<0>>", "<<0>>"},
    {"<<1,2>>", "<<1, 2>>"},
    {"<<255>>", "<<255>>"},
    {"<<194,128>>", "<<194, 128>>"},
    {"<<1,2:4>>", "<<1, 2::size(4)>>"},
    {"<<1:1>>", "<<1::size(1)>>"},
    {"[]", "[]"},
    {"[1,2]", "[1, 2]"},
    {"[1|2]", "[1 | 2]"},
    {"[97,b|c]", "[97, :b | :c]"},
    {"[97|98]", "[97 | 98]"},
    {"[0]", "[0]"},
    {"[127]", "[127]"},
    {"[233]", "[233]"},
    {"[8364]", "[8364]"},
    {"[{a,1}]", "[a: 1]"},
    {"[{a,1},{'q q',2},{nil,3},{'+',4}]", "[a: 1, \"q q\": 2, nil: 3, +: 4]"},
    {"[{'Elixir',1},{'Foo',[{b,2}]}]", "[\"Elixir\": 1, Foo: [b: 2]]"},
    {"[{'Elixir.Foo',1}]", "[{Foo, 1}]"},
    {"[{a,1},{<<\"b\">>,2}]", "[{:a, 1}, {\"b\", 2}]"},
    {"[{a,1}|b]", "[{:a, 1} | :b]"},
    {"[{a,1},{b}]", "[{:a, 1}, {:b}]"},
    {"[{a,1},b]", "[{:a, 1}, :b]"},
    {"{}", "{}"},
    {"{1,a}", "{1, :a}"},
    {"{1,[{b,1}],2}", "{1, [b: 1], 2}"},
    {"#{}", "%{}"},
    {"#{a => 1}", "%{a: 1}"},
    {"#{a => #{b => []}}", "%{a: %{b: []}}"},
    {"#{a => 1,<<\"k\">> => 2}", "%{:a => 1, \"k\" => 2}"},
    {"#{'Elixir.Foo' => 1,a => 2}", "%{Foo => 1, :a => 2}"},
    {"#{1 => 2,3 => 4}", "%{1 => 2, 3 => 4}"},
    {"#{'__struct__' => nope,a => 1}", "%{__struct__: :nope, a: 1}"},
    {"#{'__struct__' => 1}", "%{__struct__: 1}"},
    {"#{'__exception__' => true,'__struct__' => 'Elixir.RuntimeError',message => <<\"x\">>}",
     "%RuntimeError{message: \"x\"}"},
    {"<0.41.2>", "#PID<0.41.2>"},
};

/* Where inspect/2 does otherwise: charlists as newer releases, structs by what is in them. */
static const struct row ours[] = {
    {"\"ab'\\\"\\n\\\\\"", "~c\"ab'\\\"\\n\\\\\""},
    {"\"#{x}\"", "~c\"\\#{x}\""},
    {"[7,97]", "~c\"\\aa\""},
    {"#{'__struct__' => 'Elixir.Foo',a => 1}", "%Foo{a: 1}"},
    {"#{'__struct__' => 'Elixir.Foo'}", "%Foo{}"},
    {"#{'__struct__' => 'Elixir.Foo',1 => 2}", "%{:__struct__ => Foo, 1 => 2}"},
    {"#{'__struct__' => 'Elixir.Range',first => 1,last => 2,step => 1}",
     "%Range{first: 1, last: 2, step: 1}"},
    {"<<\"\\x{202E}x\"/utf8>>", "\"\\u202Ex\""},
    {"<<\"\\x{E0001}\"/utf8>>", "\"\\u{E0001}\""},
    {"'\\x{202E}'", ":\"\\u202E\""},
    {"{'$cut',12,[1]}", "{:\"$cut\", 12, [1]}"},
};

static void expect(const char *text, const struct print_limits *limits, const char *printed)
{
    struct buf out;
    buf_init(&out, 0);
    print_text(&out, text, limits);
    if (strcmp(buf_cstr(&out), printed) != 0)
        fail_msg("%s: expected %s, found %s", text, printed, buf_cstr(&out));
    buf_clear(&out);
}

TEST(test_spelling)
{
    const struct print_limits limits = {.syntax = PRINT_ELIXIR};
    for (size_t i = 0; i < ARRAY_LEN(inspected); i++)
        expect(inspected[i].text, &limits, inspected[i].printed);
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        expect(ours[i].text, &limits, ours[i].printed);
}

TEST(test_limits)
{
    static const struct {
        const char *text;
        struct print_limits limits;
        const char *printed;
    } cut[] = {
        {"{a,{b,{c,[d]}}}", {.depth = 2}, "{:a, {:b, ...}}"},
        {"#{a => #{b => c}}", {.depth = 1}, "%{a: ...}"},
        {"[{a,[{b,c}]}]", {.depth = 1}, "[a: ...]"},
        {"[1,2,3,4]", {.items = 2}, "[1, 2, ...]"},
        {"{[a,b,c],x}", {.items = 2}, "{[:a, :b, ...], :x}"},
        {"{[{a,1},{b,2},{c,3}],x}", {.items = 2}, "{[a: 1, b: 2, ...], :x}"},
        {"{1,2,3}", {.items = 2}, "{1, 2, ...}"},
        {"{#{a => 1,b => 2,c => 3},x}", {.items = 2}, "{%{a: 1, b: 2, ...}, :x}"},
        {"#{1 => 2,3 => 4,5 => 6}", {.items = 2}, "%{1 => 2, 3 => 4, ...}"},
        {"#{'__struct__' => 'Elixir.Foo',a => 1,b => 2}", {.items = 2}, "%Foo{a: 1, b: 2}"},
        {"[1,2,3|4]", {.items = 2}, "[1, 2, ...]"},
        {"<<1,2,3>>", {.items = 2}, "<<1, 2, ...>>"},
        {"{aaaa,bbbb}", {.bytes = 6}, "{:aaaa..."},
        {"{aaaa,bbbb}", {.bytes = 14}, "{:aaaa, :bbbb}"},
        {"<<\"\\x{20AC}\\x{20AC}\"/utf8>>", {.bytes = 6}, "\"\xE2\x82\xAC..."},
        {"[[[[[x]]]]]", {.bytes = 3}, "[[[..."},
        {"[{a,1},{b,2}]", {.bytes = 3}, "[a:..."},
    };
    for (size_t i = 0; i < ARRAY_LEN(cut); i++) {
        struct print_limits limits = cut[i].limits;
        limits.syntax = PRINT_ELIXIR;
        expect(cut[i].text, &limits, cut[i].printed);
    }
}

#define DOTS "\xE2\x80\xA6"

TEST(test_marks_of_cuts)
{
    static const struct {
        const char *text, *erlang, *elixir;
    } marks[] = {
        {"{'$cut',10240,[a,'...']}", "[a," DOTS "]" DOTS " (10240 bytes)",
         "[:a, " DOTS "]" DOTS " (10240 bytes)"},
        {"{x,{'$cut',12,<<\"ab\">>}}", "{x,<<\"ab\">>" DOTS " (12 bytes)}",
         "{:x, \"ab\"" DOTS " (12 bytes)}"},
        {"{'$cut',1,'...'}", DOTS DOTS " (1 bytes)", DOTS DOTS " (1 bytes)"},
        {"[a|'...']", "[a|" DOTS "]", "[:a | " DOTS "]"},
        {"[{a,1},'...']", "[{a,1}," DOTS "]", "[a: 1, " DOTS "]"},
        {"['...']", "[" DOTS "]", "[" DOTS "]"},
        {"#{a => '...',b => 1}", "#{a => " DOTS ",b => 1}", "%{a: " DOTS ", b: 1}"},
        {"{'$cut',x,[]}", "{'$cut',x,[]}", "{:\"$cut\", :x, []}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        expect(marks[i].text, &(struct print_limits){.cuts = true}, marks[i].erlang);
        expect(marks[i].text, &(struct print_limits){.cuts = true, .syntax = PRINT_ELIXIR},
               marks[i].elixir);
    }
}

/* Terms that text cannot give, as a node sends them. */
static const struct wire_form raw[] = {
    {"reference", "835a0003770378407900000000000000010000000200000003", "#Reference<0.3.2.1>"},
    {"port", "83787703784079000000010000000000000001", "#Port<0.4294967296>"},
    {"external fun", "837177056c6973747377036d61706102", "&:lists.map/2"},
    {"external fun of Elixir", "8371770a456c697869722e466f6f77037120716102", "&Foo.\"q q\"/2"},
    {"fun",
     "83700000003b0100112233445566778899aabbccddeeff0000002c0000000177016561"
     "2d6203eb3f425877037840790000000100000000000000006101",
     "#Function<44.65748802/1 in :e>"},
    {"latin-1 atom", "83640001e9", ":\xC3\xA9"},
    {"latin-1 key", "8374000000017301e96101", "%{\xC3\xA9: 1}"},
    {"native record", "8343000000020177026e727705737461746577016161017701627703666f6f",
     "#:nr.state{a: 1, b: :foo}"},
    {"bignum", "836e0900000000000000000001", "18446744073709551616"},
    {"negative bignum", "836e0901000000000000000001", "-18446744073709551616"},
    {"marks of what is left out in a map", "83740000000277032e2e2e77032e2e2e7701616101",
     "%{" DOTS ", a: 1}"},
    {"list of no element", "836c000000006a", "[]"},
    {"key and no value", "837400000001770161", "%{:a => #Bad"},
    {"keyword list that breaks off", "836c00000002680277016161016802770162", "[{:a, 1}, {:b, #Bad"},
    {"truncated", "8368026101", "{1, #Bad"},
    {"nothing", "", "#Bad"},
};

TEST(test_wire_forms)
{
    const struct print_limits limits = {.syntax = PRINT_ELIXIR, .cuts = true};
    check_wire_forms(raw, ARRAY_LEN(raw), &limits);
}

/* 2^8192 - 1: too long for decimal, so in base 16. */
TEST(test_long_integer)
{
    const struct print_limits limits = {.syntax = PRINT_ELIXIR};
    uint8_t bytes[1 + 6 + 1024] = {131, ETF_LARGE_BIG, 0, 0, 4, 0, 0};
    memset(bytes + 7, 0xFF, 1024);
    struct buf out;
    buf_init(&out, 0);
    print_term(&out, bytes, sizeof(bytes), &limits);
    assert_int_equal(out.len, 2 + 2048);
    assert_memory_equal(out.data, "0xFFFF", 6);
    buf_clear(&out);
}

TEST(test_mfa)
{
    static const struct {
        const char *mod, *fun;
        int64_t arity;
        const char *elixir, *erlang;
    } functions[] = {
        {"Elixir.Foo.Bar", "bar?", 1, "Foo.Bar.bar?/1", "'Elixir.Foo.Bar':'bar?'/1"},
        {"lists", "map", 2, ":lists.map/2", "lists:map/2"},
        {"erlang", "+", 2, ":erlang.+/2", "erlang:'+'/2"},
        {"Elixir.Kernel", "|>", 2, "Kernel.|>/2", "'Elixir.Kernel':'|>'/2"},
        {"Elixir.Bitwise", "^^^", 2, "Bitwise.^^^/2", "'Elixir.Bitwise':'^^^'/2"},
        {"Elixir.Foo", "-b/1-fun-0-", 1, "Foo.\"-b/1-fun-0-\"/1", "'Elixir.Foo':'-b/1-fun-0-'/1"},
        {"Elixir.Foo", "MACRO-x", 2, "Foo.\"MACRO-x\"/2", "'Elixir.Foo':'MACRO-x'/2"},
        {"Elixir.Foo", "X", 0, "Foo.\"X\"/0", "'Elixir.Foo':'X'/0"},
        {"Elixir.Foo", "a@b", 0, "Foo.\"a@b\"/0", "'Elixir.Foo':a@b/0"},
        {"Elixir.Foo", "%{}", 0, "Foo.\"%{}\"/0", "'Elixir.Foo':'%{}'/0"},
        {"my mod", "end", 0, ":\"my mod\".end/0", "'my mod':'end'/0"},
    };
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        struct slice mod = {functions[i].mod, strlen(functions[i].mod)};
        struct slice fun = {functions[i].fun, strlen(functions[i].fun)};
        struct buf out;
        buf_init(&out, 0);
        print_mfa_as(&out, PRINT_ELIXIR, mod, fun, functions[i].arity);
        assert_string_equal(buf_cstr(&out), functions[i].elixir);
        buf_reset(&out);
        print_mfa_as(&out, PRINT_ERLANG, mod, fun, functions[i].arity);
        assert_string_equal(buf_cstr(&out), functions[i].erlang);
        buf_clear(&out);
    }
}
