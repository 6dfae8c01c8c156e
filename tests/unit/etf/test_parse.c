/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "../../test.h"
#include "beamtop/etf/check.h"
#include "beamtop/etf/parse.h"

static void hex(const uint8_t *bytes, size_t len, char *out, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = 0;
    for (size_t i = 0; i < len && n + 3 < size; i++) {
        out[n++] = digits[bytes[i] >> 4];
        out[n++] = digits[bytes[i] & 15];
    }
    out[n] = '\0';
}

/* Bytes as term_to_binary gives them (atoms in UTF-8), without the version byte. */
static const struct {
    const char *text;
    const char *bytes;
} good[] = {
    {"a", "770161"},
    {"'a b'", "7703612062"},
    {"'\\x{434}\\n\\''", "7704d0b40a27"},
    {"\xC3\xA9t\xC3\xA9", "7705c3a974c3a9"},
    {"foo_Bar@1", "7709666f6f5f4261724031"},
    {"''", "7700"},
    {"0", "6100"},
    {"255", "61ff"},
    {"256", "6200000100"},
    {"-1", "62ffffffff"},
    {"+7", "6107"},
    {"1_000", "62000003e8"},
    {"16#fF", "61ff"},
    {"-2#101", "62fffffffb"},
    {"9223372036854775807", "6e0800ffffffffffffff7f"},
    {"-9223372036854775808", "6e08010000000000000080"},
    {"1.5", "463ff8000000000000"},
    {"-2.5e-3", "46bf647ae147ae147b"},
    {"$a", "6161"},
    {"$\\n", "610a"},
    {"$ ", "6120"},
    {"\"ab\"", "6b00026162"},
    {"\"\"", "6a"},
    {"\"\\x{20AC}\"", "6c0000000162000020ac6a"},
    {"\"\\101\\^A\\d\"", "6b000341017f"},
    {"[]", "6a"},
    {"[1,2]", "6b00020102"},
    {"[1|2]", "6c0000000161016102"},
    {"[a,1]", "6c0000000277016161016a"},
    {"[256]", "6c0000000162000001006a"},
    {"{}", "6800"},
    {" { a , 1 } ", "68027701616101"},
    {"<<>>", "6d00000000"},
    {"<<\"ab\",0>>", "6d00000003616200"},
    {"<<\"\xC3\xA9\">>", "6d00000001e9"},
    {"<<\"\xC3\xA9\"/utf8>>", "6d00000002c3a9"},
    {"<<1,5:3>>", "4d000000020301a0"},
    {"#{}", "7400000000"},
    {"#{a => 1,\"b\" => []}", "740000000277016161016b0001626a"},
    {"<0.41.2>", "58770378407900000029000000020000"
                 "0000"},
    {"% why\n{a,% here\n b}.", "6802770161770162"},
};

TEST(test_good_terms)
{
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct builder *b = builder_new();
        struct error err = {0};
        char found[256];
        size_t len, used;
        int rc = etf_parse(b, good[i].text, strlen(good[i].text), "x@y", &err);
        if (rc != 0)
            fail_msg("%s: %s", good[i].text, err.text);
        const uint8_t *bytes = builder_bytes(b, &len);
        hex(bytes + 1, len - 1, found, sizeof(found));
        if (strcmp(found, good[i].bytes) != 0)
            fail_msg("%s: expected %s, found %s", good[i].text, good[i].bytes, found);
        if (etf_check(bytes, len, &used, &err) != 0 || used != len)
            fail_msg("%s: check says %s", good[i].text, err.text);
        builder_free(b);
    }
}

static const struct {
    const char *text;
    const char *error;
} bad[] = {
    {"", "line 1, column 1: expected a term, found the end"},
    {"{a,\n  }", "line 2, column 3: expected a term"},
    {"[1,2", "line 1, column 5: expected , | or ]"},
    {"[1|2,3]", "line 1, column 5: expected ]"},
    {"{a b}", "line 1, column 4: expected , or }"},
    {"a b", "line 1, column 3: expected the end of the term"},
    {"A", "line 1, column 1: expected a term"},
    {"\"abc", "line 1, column 1: this quote is not closed"},
    {"'\\x{110000}'", "line 1, column 4: no such character"},
    {"\"\\xZ\"", "line 1, column 4: expected \\xHH or \\x{HHHH}"},
    {"9223372036854775808", "line 1, column 1: a number beyond 64 bits"},
    {"1.0e999", "line 1, column 1: this is not a float (as 1.0 or 2.5e-3)"},
    {"1.5.", NULL},
    {"37#1", "line 1, column 1: the base of a number is 2 to 36"},
    {"2#3", "line 1, column 3: expected digits of that base"},
    {"-a", "line 1, column 1: expected a number after the sign"},
    {"<<256>>", "line 1, column 3: this value does not fit its bits"},
    {"<<1:3,2>>", "line 1, column 7: only the last byte may have fewer than 8 bits"},
    {"<<1", "line 1, column 4: expected , or >>"},
    {"<<\"\\x{434}\">>",
     "line 1, column 3: characters beyond 255 in a binary take /utf8 behind the text"},
    {"#{a}", "line 1, column 4: expected =>"},
    {"{#{1 => a,\"\" => b, [] => c}}", "line 1, column 2: this map has a key twice"},
    {"<1.2.3>", "line 1, column 1: only pids of the node itself (<0.\xE2\x80\xA6>) can be given"},
    {"<0.2>", "line 1, column 1: expected a pid as <0.41.0>"},
    {"\"\xFF\"", "line 1, column 2: bytes that are not UTF-8"},
    {"'\xC3\xA9' x", "line 1, column 5: expected the end of the term"},
};

TEST(test_bad_terms)
{
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct builder *b = builder_new();
        struct error err = {0};
        size_t len;
        int rc = etf_parse(b, bad[i].text, strlen(bad[i].text), "x@y", &err);
        if (!bad[i].error) {
            if (rc != 0)
                fail_msg("%s: %s", bad[i].text, err.text);
        } else {
            if (rc != ERR_USAGE || strcmp(err.text, bad[i].error) != 0)
                fail_msg("%s: expected \"%s\", found %d \"%s\"", bad[i].text, bad[i].error, rc,
                         err.text);
            builder_bytes(b, &len);
            assert_int_equal(len, 1); /* nothing was appended */
        }
        builder_free(b);
    }
}

static int parse_repeated(const char *part, size_t times, const char *end, struct error *err)
{
    static char text[4096];
    size_t len = 0;
    for (size_t i = 0; i < times; i++) {
        memcpy(text + len, part, strlen(part));
        len += strlen(part);
    }
    memcpy(text + len, end, strlen(end));
    len += strlen(end);
    struct builder *b = builder_new();
    int rc = etf_parse(b, text, len, NULL, err);
    builder_free(b);
    return rc;
}

TEST(test_limits)
{
    struct error err = {0};
    assert_int_equal(parse_repeated("[", 1000, "", &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "nested too deep"));
    error_clear(&err);
    assert_int_equal(parse_repeated("a", 255, "", &err), 0);
    assert_int_equal(parse_repeated("a", 256, "", &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "255 characters"));
    error_clear(&err);
    assert_int_equal(parse_repeated("<0.1.0>", 1, "", &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "no meaning"));
}

TEST(test_pids)
{
    static const struct {
        const char *text;
        int rc;
        uint32_t id, serial;
    } rows[] = {
        {"<0.41.3>", 0, 41, 3}, {"0.41.3", 0, 41, 3},   {"41", 0, 41, 0},
        {"", -1, 0, 0},         {"<41>", -1, 0, 0},     {"1.41.3", -1, 0, 0},
        {"0.41", -1, 0, 0},     {"0.41.3.1", -1, 0, 0}, {"0.4294967296.1", -1, 0, 0},
        {"<0.41.3", -1, 0, 0},  {"0.4_1.3", -1, 0, 0},  {"41x", -1, 0, 0},
        {"<>", -1, 0, 0},       {"-1", -1, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct etf_pid pid = {0};
        int rc = etf_parse_pid(rows[i].text, &pid);
        if (rc != rows[i].rc || pid.id != rows[i].id || pid.serial != rows[i].serial)
            fail_msg("%s: %d <0.%u.%u>", rows[i].text, rc, pid.id, pid.serial);
    }
}

/* A name that is none is built as another, whatever its bytes: it may come from outside. */
TEST(test_names_that_are_none)
{
    static const struct {
        const char *unit;
        size_t units;
        bool is_name;
    } rows[] = {
        {"a", 255, true},
        {"a", 256, false},
        {"\xC3\xA9", 255, true},
        {"\xC3\xA9", 256, false},
        {"\xF0\x9F\x98\x80", 255, true},
        {"\xF0\x9F\x98\x80", 256, false},
        {"\xE9", 1, false},
        {"\xC3", 1, false},
        {"\xED\xA0\x80", 1, false},
        {"\xFF", 255, false},
        {"", 0, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char name[1100] = "";
        const struct etf_pid pid = {.id = 1};
        struct error err = {0};
        size_t len = 0, used = 0;
        for (size_t n = 0; n < rows[i].units; n++)
            strcat(name, rows[i].unit);
        struct builder *b = builder_new();
        build_tuple(b, 2);
        build_atom(b, name);
        build_pid(b, name, &pid);
        const uint8_t *bytes = builder_bytes(b, &len);
        assert_int_equal(etf_check(bytes, len, &used, &err), 0);
        assert_int_equal(used, len);
        const char *there = rows[i].is_name ? name : "nonode@nohost";
        size_t there_len = strlen(there);
        assert_memory_equal(bytes + len - 12 - there_len, there, there_len);
        builder_free(b);
    }
}
