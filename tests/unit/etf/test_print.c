/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/etf/check.h"
#include "beamtop/etf/print.h"
#include "wire_forms.h"

/* What a text prints as once parsed; NULL: as itself. */
static const struct {
    const char *text;
    const char *printed;
} rows[] = {
    {"a", NULL},
    {"'a b'", NULL},
    {"'after'", NULL},
    {"'maybe'", NULL},
    {"after", "'after'"},
    {"foo@bar_1", NULL},
    {"'Foo'", NULL},
    {"'_x'", NULL},
    {"''", NULL},
    {"'don\\'t\\n\\e\\d\\001\\237'", NULL},
    {"\xC3\xA9t\xC3\xA9", NULL},
    {"'\xD0\xB4\xD0\xB0'", NULL},
    {"0", NULL},
    {"-9223372036854775808", NULL},
    {"1.0", NULL},
    {"-0.0", NULL},
    {"100.0", NULL},
    {"1000.0", "1.0e3"},
    {"12345.0", NULL},
    {"1.0e10", NULL},
    {"0.1", NULL},
    {"0.001", NULL},
    {"0.00012", "1.2e-4"},
    {"123456.789", NULL},
    {"123456789012345.0", NULL},
    {"9.007199254740992e16", NULL},
    {"1.7976931348623157e308", NULL},
    {"5.0e-324", NULL},
    {"\"ab\\n\\\"\\\\'\"", NULL},
    {"\"\\x{434}\\x{20AC}\"", "\"\xD0\xB4\xE2\x82\xAC\""},
    {"\"a\\001\"", "[97,1]"},
    {"\"\\x{202E}x\"", "\"\\x{202E}x\""},
    /* as io_lib:printable_unicode_list/1 */
    {"[8,9,10,11,12,13,27]", "\"\\b\\t\\n\\v\\f\\r\\e\""},
    {"[7,65]", NULL},
    {"[65,14]", NULL},
    {"[65,127]", NULL},
    {"[65,128]", NULL},
    {"[65,159]", NULL},
    {"[233,255]", "\"\xC3\xA9\xC3\xBF\""},
    {"[65,55296]", NULL},
    {"[65,65534]", NULL},
    {"[65,1114112]", NULL},
    {"[65,-1]", NULL},
    {"[65,66.0]", NULL},
    {"[[65,66],[1,2]]", "[\"AB\",[1,2]]"},
    {"[]", NULL},
    {"[97|b]", NULL},
    {"[1,2,3]", NULL},
    {"[a,{b,[]},#{}]", NULL},
    {"<<>>", NULL},
    {"<<\"abc\\e\">>", NULL},
    {"<<\"\xD0\xB4\"/utf8>>", NULL},
    {"<<0,1>>", NULL},
    {"<<233>>", NULL},
    {"<<1:3>>", NULL},
    {"<<97,98,1:3>>", NULL},
    {"#{a => 1,\"b\" => {}}", NULL},
    {"<0.41.2>", NULL},
    {"{'$cut',10240,[a,'...']}", NULL},
};

TEST(test_spelling)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out;
        buf_init(&out, 0);
        print_text(&out, rows[i].text, NULL);
        const char *expected = rows[i].printed ? rows[i].printed : rows[i].text;
        if (strcmp(buf_cstr(&out), expected) != 0)
            fail_msg("%s: expected %s, found %s", rows[i].text, expected, buf_cstr(&out));
        buf_clear(&out);
    }
}

TEST(test_limits)
{
    static const struct {
        const char *text;
        struct print_limits limits;
        const char *printed;
    } cut[] = {
        {"{a,{b,{c,[d]}}}", {.depth = 2}, "{a,{b,...}}"},
        {"[{a},b|{c}]", {.depth = 1}, "[...,b|...]"},
        {"[\"text\",[],<<\"b\">>]", {.depth = 1}, "[\"text\",[],<<\"b\">>]"},
        {"[a,b,c]", {.items = 2}, "[a,b|...]"},
        {"[a,b]", {.items = 2}, "[a,b]"},
        {"{a,b,c}", {.items = 2}, "{a,b,...}"},
        {"{[1,2,3],x}", {.items = 2}, "{[1,2|...],x}"},
        {"{{a,b,c},x}", {.items = 2}, "{{a,b,...},x}"},
        {"{#{a => 1,b => 2,c => 3},x}", {.items = 2}, "{#{a => 1,b => 2,...},x}"},
        {"<<1,2,3>>", {.items = 2}, "<<1,2,...>>"},
        {"{aaaa,bbbb}", {.bytes = 6}, "{aaaa,..."},
        {"{aaaa,bbbb}", {.bytes = 11}, "{aaaa,bbbb}"},
        {"\"\\x{20AC}\\x{20AC}\"", {.bytes = 6}, "\"\xE2\x82\xAC..."},
        {"[[[[[x]]]]]", {.bytes = 3}, "[[[..."},
    };
    for (size_t i = 0; i < ARRAY_LEN(cut); i++) {
        struct buf out;
        buf_init(&out, 0);
        print_text(&out, cut[i].text, &cut[i].limits);
        if (strcmp(buf_cstr(&out), cut[i].printed) != 0)
            fail_msg("%s: expected %s, found %s", cut[i].text, cut[i].printed, buf_cstr(&out));
        buf_clear(&out);
    }
}

/* Terms that text cannot give, as a node sends them. */
static const struct wire_form raw[] = {
    {"pid of OTP 25", "83587703784079000000290000000200000001", "<0.41.2>"},
    {"old pid", "83677703784079000000290000000201", "<0.41.2>"},
    {"newer reference", "835a0003770378407900000000000000010000000200000003", "#Ref<0.3.2.1>"},
    {"new reference",
     "83720002770378407901000000010000"
     "0002",
     "#Ref<0.2.1>"},
    {"old reference", "836577037840790000000701", "#Ref<0.7>"},
    {"port",
     "83667703784079000000"
     "0701",
     "#Port<0.7>"},
    {"new port",
     "83597703784079000000"
     "0700000001",
     "#Port<0.7>"},
    {"v4 port",
     "8378770378407900000001"
     "0000000000000001",
     "#Port<0.4294967296>"},
    {"external fun", "837177056c6973747377036d61706102", "fun lists:map/2"},
    {"fun",
     "83700000003b0100112233445566778899aabbccddeeff0000002c0000000177016561"
     "2c6203eb3f425877037840790000000100000000000000006101",
     "#Fun<e.44.65748802>"},
    {"latin-1 atom",
     "836400"
     "01e9",
     "\xC3\xA9"},
    {"small latin-1 atom", "837301e9", "\xC3\xA9"},
    {"old float", "8363312e3530303030303030303030303030303030303030652b30300000000000", "1.5"},
    {"native record", "8343000000020177026e727705737461746577016161017701627703666f6f",
     "#nr:state{a = 1,b = foo}"},
    {"bignum", "836e0900000000000000000001", "18446744073709551616"},
    {"negative bignum", "836e0901000000000000000001", "-18446744073709551616"},
    {"large tuple",
     "8369000000017701"
     "61",
     "{a}"},
    {"list of no element", "836c000000006a", "[]"},
    {"empty bits", "834d0000000000", "<<>>"},
    {"no version byte", "6101", "1"},
    {"truncated", "8368026101", "{1,#Bad"},
    {"unknown tag", "8301", "#Bad"},
    {"nothing", "", "#Bad"},
    {"not a number", "83467ff8000000000000", "#Bad"},
};

TEST(test_wire_forms)
{
    check_wire_forms(raw, ARRAY_LEN(raw), NULL);
}

/* 2^8192 - 1: too long for decimal, so in base 16. */
TEST(test_long_integer)
{
    uint8_t bytes[1 + 6 + 1024] = {131, ETF_LARGE_BIG, 0, 0, 4, 0, 0};
    memset(bytes + 7, 0xFF, 1024);
    struct buf out;
    buf_init(&out, 0);
    print_term(&out, bytes, sizeof(bytes), NULL);
    assert_int_equal(out.len, 3 + 2048);
    assert_memory_equal(out.data, "16#FFFF", 7);
    buf_reset(&out);
    bytes[3] = 0; /* 512 bytes: 2^4096 - 1 has 1234 digits and starts so */
    bytes[4] = 2;
    print_term(&out, bytes, 7 + 512, NULL);
    assert_int_equal(out.len, 1234);
    assert_memory_equal(out.data,
                        "104438888141315250669175271071662438257996424904738378038423348328", 60);
    buf_clear(&out);
}

TEST(test_parts)
{
    struct buf out;
    buf_init(&out, 0);
    print_mfa(&out, (struct slice){"Elixir.Foo", 10}, (struct slice){"bar?", 4}, 2);
    assert_string_equal(buf_cstr(&out), "'Elixir.Foo':'bar?'/2");
    buf_reset(&out);
    print_atom(&out, "\xE9", 1); /* a Latin-1 atom as it came */
    assert_string_equal(buf_cstr(&out), "\xC3\xA9");
    buf_reset(&out);
    print_pid(&out, &(struct etf_pid){.id = 7, .serial = 1});
    assert_string_equal(buf_cstr(&out), "<0.7.1>");
    buf_clear(&out);
}
