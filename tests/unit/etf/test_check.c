/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/check.h"
#include "beamtop/etf/print.h"

#define NODE "7703784079"                             /* the atom x@y */
#define FUN_HEAD "0100112233445566778899aabbccddeeff" /* arity, unique */
#define FUN_TAIL "7701656101610258" NODE "000000010000000000000000"

/* One of every tag, as nodes of OTP 23 to 29 send them; without the version byte. */
static const struct {
    const char *name;
    const char *bytes;
} good[] = {
    {"small integer", "6101"},
    {"integer", "62ffffffff"},
    {"new float", "463ff8000000000000"},
    {"old float", "63312e3530303030303030303030303030303030303030652b30300000000000"},
    {"small big", "6e0900000000000000000001"},
    {"large big", "6f00000002010102"},
    {"atom", "77026f6b"},
    {"empty atom", "7700"},
    {"long atom", "760002c3a9"},
    {"latin-1 atom", "640001e9"},
    {"small latin-1 atom", "7301e9"},
    {"pid", "58" NODE "000000010000000000000003"},
    {"old pid", "67" NODE "000000010000000001"},
    {"old pid, latin-1 node", "67640003784079000000010000000001"},
    {"port", "66" NODE "0000000101"},
    {"new port", "59" NODE "0000000100000002"},
    {"v4 port", "78" NODE "000000010000000200000003"},
    {"reference", "65" NODE "0000000101"},
    {"new reference", "720003" NODE "01000000010000000200000003"},
    {"newer reference", "5a0003" NODE "00000004000000010000000200000003"},
    {"newer reference of 5", "5a0005" NODE "000000040000000100000002000000030000000400000005"},
    {"small tuple", "6802610161026a", /* and a byte behind */},
    {"large tuple", "69000000016101"},
    {"nil", "6a"},
    {"string", "6b00020102"},
    {"list", "6c0000000161016a"},
    {"improper list", "6c0000000161016102"},
    {"binary", "6d000000020102"},
    {"bits", "4d000000020301a0"},
    {"empty bits", "4d0000000000"},
    {"map", "74000000016101740000"
            "0000"},
    {"fun without variables", "7000000036" FUN_HEAD "0000002c00000000" FUN_TAIL},
    {"fun with a variable", "7000000038" FUN_HEAD "0000002c00000001" FUN_TAIL "6101"},
    {"export", "717701617701626102"},
    {"record", "43000000010177016d77016e7701616101"},
    {"empty record", "43000000000077016d77016e"},
};

static size_t unhex(const char *hex, uint8_t *out)
{
    size_t n = 0;
    for (; hex[0] && hex[1]; hex += 2) {
        char pair[3] = {hex[0], hex[1], '\0'};
        out[n++] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return n;
}

/* Memory of exactly that size, so that the sanitizer sees a read past it. */
static int check_exact(const uint8_t *bytes, size_t len, size_t *used, struct error *err)
{
    uint8_t *exact = malloc(len > 0 ? len : 1);
    assert_non_null(exact);
    if (len > 0)
        memcpy(exact, bytes, len);
    int rc = etf_check_bare(exact, len, used, err);
    free(exact);
    return rc;
}

static size_t term_bytes(const char *name)
{
    return strcmp(name, "small tuple") == 0 ? 1 : 0; /* of bytes behind the term */
}

TEST(test_every_tag)
{
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        uint8_t bytes[256];
        size_t len = unhex(good[i].bytes, bytes), used = 0;
        struct error err = {0};
        if (check_exact(bytes, len, &used, &err) != 0)
            fail_msg("%s: %s", good[i].name, err.text);
        if (used != len - term_bytes(good[i].name))
            fail_msg("%s: used %zu of %zu", good[i].name, used, len);
    }
}

TEST(test_every_truncation)
{
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        uint8_t bytes[256];
        size_t len = unhex(good[i].bytes, bytes) - term_bytes(good[i].name);
        for (size_t cut = 0; cut < len; cut++) {
            struct error err = {0};
            size_t used = 99;
            int rc = check_exact(bytes, cut, &used, &err);
            if (rc != ERR_FORMAT || err.text[0] == '\0' || used != 99)
                fail_msg("%s cut at %zu: %d %s", good[i].name, cut, rc, err.text);
        }
    }
}

static const struct {
    const char *name;
    const char *bytes;
    const char *error;
    /* clang-format off */
} bad[] = {
    {"unknown tag", "01", "malformed term at byte 0: unknown tag 1"},
    {"compressed", "5000000001", "malformed term at byte 0: unknown tag 80"},
    {"atom cache", "5200", "malformed term at byte 0: unknown tag 82"},
    {"second version byte", "836101", "malformed term at byte 0: unknown tag 131"},
    {"unknown tag inside", "6802610101", "malformed term at byte 4: unknown tag 1"},
    {"atom that is no UTF-8", "7702c328", "malformed term at byte 2: an atom that is not UTF-8"},
    {"atom with a surrogate", "7703eda080", "malformed term at byte 2: an atom that is not UTF-8"},
    {"node is a number", "58610100000001",
     "malformed term at byte 1: expected the atom of a node's name"},
    {"reference of no word", "5a0000" NODE "00000001",
     "malformed term at byte 1: a reference has 1 to 5 words"},
    {"reference of 6 words", "5a0006" NODE "00000001",
     "malformed term at byte 1: a reference has 1 to 5 words"},
    {"sign of 2", "6e010201", "malformed term at byte 2: the sign of an integer is 0 or 1"},
    {"nine bits", "4d000000010901",
     "malformed term at byte 5: a bit string's last byte has 1 to 8 bits"},
    {"no bits", "4d000000010001",
     "malformed term at byte 5: a bit string's last byte has 1 to 8 bits"},
    {"bits of nothing", "4d0000000003",
     "malformed term at byte 5: a bit string's last byte has 1 to 8 bits"},
    {"infinite float", "467ff0000000000000",
     "malformed term at byte 1: a float that is not a number"},
    {"old float in hex", "6330783100000000000000000000000000000000000000000000000000000000",
     "malformed term at byte 1: a float as text that is not a number"},
    {"list of 4G", "6cffffffff6a",
     "truncated term: byte 5 needs 4294967296 more bytes and there are 1"},
    {"map of 4G", "74ffffffff6a",
     "truncated term: byte 5 needs 8589934590 more bytes and there are 1"},
    {"fun that ends late", "7000000037" FUN_HEAD "0000002c00000000" FUN_TAIL "00",
     "malformed term at byte 55: a fun ends elsewhere than its size says"},
    {"fun with the wrong module", "7000000039" FUN_HEAD "0000002c00000000" "610100" FUN_TAIL,
     "malformed term at byte 30: another kind of term stands here in a fun or record"},
    {"fun longer than the bytes", "70000000ff" FUN_HEAD "0000002c00000000" FUN_TAIL,
     "malformed term at byte 1: the size of a fun does not fit"},
    {"export of a list", "716a7701626102",
     "malformed term at byte 1: another kind of term stands here in a fun or record"},
    {"record of a number", "4300000000016101" "77016e",
     "malformed term at byte 6: another kind of term stands here in a fun or record"},
};
/* clang-format on */

TEST(test_malformed)
{
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        uint8_t bytes[256];
        size_t len = unhex(bad[i].bytes, bytes), used;
        struct error err = {0};
        int rc = check_exact(bytes, len, &used, &err);
        if (rc != ERR_FORMAT || strcmp(err.text, bad[i].error) != 0)
            fail_msg("%s: expected \"%s\", found %d \"%s\"", bad[i].name, bad[i].error, rc,
                     err.text);
    }
}

TEST(test_version_byte)
{
    size_t used;
    struct error err = {0};
    assert_int_equal(etf_check((const uint8_t *)"\x83j..", 4, &used, &err), 0);
    assert_int_equal(used, 2);
    assert_int_equal(etf_check((const uint8_t *)"j", 1, &used, &err), ERR_FORMAT);
    assert_string_equal(err.text,
                        "malformed term at byte 0: expected the version byte 131, found 106");
    error_clear(&err);
    assert_int_equal(etf_check((const uint8_t *)"", 0, &used, &err), ERR_FORMAT);
}

static int check_nested(size_t levels, struct error *err)
{
    struct buf b;
    buf_init(&b, 0);
    for (size_t i = 0; i < levels; i++)
        buf_put(&b, "h\1", 2);
    buf_put(&b, "j", 1);
    size_t used;
    int rc = etf_check_bare(b.data, b.len, &used, err);
    buf_clear(&b);
    return rc;
}

TEST(test_limits)
{
    struct error err = {0};
    assert_int_equal(check_nested(LIMIT_TERM_DEPTH, &err), 0);
    assert_int_equal(check_nested(LIMIT_TERM_DEPTH + 1, &err), ERR_LIMIT);
    error_clear(&err);
    assert_int_equal(check_nested(1000000, &err), ERR_LIMIT);
    error_clear(&err);

    uint32_t count = LIMIT_TERM_NODES; /* the tuple itself is one more */
    struct buf b;
    buf_init(&b, 0);
    buf_put_u8(&b, ETF_LARGE_TUPLE);
    buf_put_u32be(&b, count);
    for (uint32_t i = 0; i < count; i++)
        buf_put_u8(&b, ETF_NIL);
    size_t used;
    assert_int_equal(etf_check_bare(b.data, b.len, &used, &err), ERR_LIMIT);
    buf_clear(&b);

    error_clear(&err);
    uint8_t atom[3 + 600] = {ETF_ATOM_UTF8, 0, 255};
    memset(atom + 3, 'a', 600);
    assert_int_equal(etf_check_bare(atom, sizeof(atom), &used, &err), 0);
    atom[1] = 1; /* 256 bytes */
    atom[2] = 0;
    assert_int_equal(etf_check_bare(atom, sizeof(atom), &used, &err), ERR_FORMAT);
    assert_non_null(strstr(err.text, "255 characters"));
}

/* Whatever the bytes: an answer, within the bytes; what passes can be printed. */
TEST(test_mutations)
{
    uint32_t seed = 1;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        uint8_t original[256];
        size_t len = unhex(good[i].bytes, original);
        for (int round = 0; round < 500; round++) {
            uint8_t bytes[256];
            memcpy(bytes, original, len);
            for (int change = 0; change <= round % 3; change++) {
                seed = seed * 1664525u + 1013904223u;
                bytes[(seed >> 8) % len] = (uint8_t)(seed >> 24);
            }
            size_t used = 0;
            struct error err = {0};
            int rc = check_exact(bytes, len, &used, &err);
            assert_true(rc == 0 ? used > 0 && used <= len : rc == err.code);
            struct buf out;
            buf_init(&out, 0);
            print_term(&out, bytes, len, NULL);
            if (rc == 0 && strstr(buf_cstr(&out), "#Bad"))
                fail_msg("%s, round %d: %s", good[i].name, round, buf_cstr(&out));
            buf_clear(&out);
        }
    }
}
