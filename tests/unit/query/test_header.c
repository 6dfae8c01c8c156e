/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `system`, made of what its two native asks say. */
#include <stdio.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/print.h"
#include "query/header_terms.h"
#include "terms.h"

/* COUNT_…, then two counters. */
#define COUNTS                                                                                     \
    "[1000000,60,6,9000,20,{5000,10},{700,0},3,[1,2,0,0],1700000000000000,9000000000,"             \
    "4000000000,1000000000,['beamtop@h',other@h],1250000,77,88]"
#define WAITS_TAIL "[{2,80,70},{1,90,60}]"
#define WAITS                                                                                      \
    "[0,{11,222,0},1000,{{input,333},{output,444}},2000," WAITS_TAIL ",30000,"                     \
    "[{total,9},{processes,8},{processes_used,7},{system,6},{atom,5},{atom_used,4},{binary,3},"    \
    "{code,2},{ets,1}],40000]"
#define WAITS_WITHOUT_MEMORY "[0,{11,222,0},1,{{input,333},{output,444}},2,undefined,30000]"

/* As text; "" where it is refused. */
static void make_answer(char *out, size_t size, const char *counts, const char *waits,
                        const struct header_memory *memory)
{
    static const struct print_limits limits = {.depth = 20, .items = 100, .bytes = 4000};
    struct header_values v = {.own_reductions = 165, .memory = memory, .late_ms = 7};
    struct builder *kept[2] = {term_of(counts, &v.counts), NULL};
    struct builder *b = builder_new();
    struct buf text;
    if (waits)
        kept[1] = term_of(waits, &v.waits);
    buf_init(&text, size);
    if (header_build(b, &v)) {
        size_t len = 0;
        const uint8_t *bytes = builder_bytes(b, &len);
        print_term(&text, bytes, len, &limits);
    }
    snprintf(out, size, "%s", buf_cstr(&text));
    buf_clear(&text);
    builder_free(b);
    builder_free(kept[0]);
    builder_free(kept[1]);
}

static void expect_answer(const char *counts, const char *waits, const struct header_memory *memory,
                          const char *expected)
{
    char text[4096];
    make_answer(text, sizeof text, counts, waits, memory);
    assert_string_equal(text, expected);
}

#define ANSWER(memory, work, times, resident)                                                      \
    "{system,1250000,1700000000000000,5000," memory                                                \
    ",{60,6,9000,20},{3,[1,2,0,0]},{5000,700," work ",165}," times "," resident ",{7,[]}}"

TEST(test_whole)
{
    const struct header_memory r = {.resident = 50, .virtual = 60};
    expect_answer(
        COUNTS, WAITS, &r,
        ANSWER("{9,8,7,6,5,4,3,2,1}", "11,222,333,444", "[{1,90,60},{2,80,70}]", "{50,60}"));
}

TEST(test_late)
{
    expect_answer(
        COUNTS, NULL, NULL,
        ANSWER("undefined", "undefined,undefined,undefined,undefined", "undefined", "undefined"));
}

TEST(test_without_memory)
{
    expect_answer(COUNTS, WAITS_WITHOUT_MEMORY, NULL,
                  ANSWER("undefined", "11,222,333,444", "undefined", "undefined"));
}

TEST(test_reads)
{
    struct slice counts, waits;
    struct header_counts read;
    double us;
    struct builder *a = term_of(COUNTS, &counts), *b = term_of(WAITS, &waits);
    assert_true(header_read_counts(counts, 2, &read));
    assert_true(read.us > 249.9 && read.us < 250.1);
    assert_int_equal(read.dirty_io_queue, 0);
    assert_int_equal(read.counters[0], 77);
    assert_int_equal(read.counters[1], 88);
    assert_false(header_read_counts(counts, 3, &read));
    assert_true(header_read_waits(waits, &us));
    assert_true(us > 27.9 && us < 28.1);
    builder_free(a);
    builder_free(b);
}

TEST(test_memory)
{
    static const struct {
        const char *value;
        int64_t resident, virtual; /* 0: refused */
    } cases[] = {
        {"[{ok,<<\"Name:\\tbeam\\nVmSize:\\t  20 kB\\nVmRSS:\\t   3 kB\\n\">>}]", 3072, 20480},
        {"[{ok,<<\"Name:\\tbeam\\nVmSize:\\t  20 kB\\n\">>}]", 0, 0},
        {"[{ok,<<\"\\nVmSize: 99999999999999999999999\\nVmRSS:\">>}]", 0, 0},
        {"[{error,enoent}]", 0, 0},
        {"[]", 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice value;
        struct header_memory m = {0};
        struct builder *b = term_of(cases[i].value, &value);
        assert_int_equal(header_read_memory(value, &m), cases[i].resident > 0);
        if (cases[i].resident > 0) {
            assert_int_equal(m.resident, cases[i].resident);
            assert_int_equal(m.virtual, cases[i].virtual);
        }
        builder_free(b);
    }
}

/* Of another form: refused, whatever it is. */
TEST(test_refuses)
{
    static const char *const counts[] = {"[]", "{}", "\"text\"", "[1,2,3]",
                                         "[a,b,c,d,e,f,g,h,i,j,k,l,m,n,o]"};
    static const char *const waits[] = {
        "[]",
        "x",
        "[0,1,2,3,4,5,6]",
        "[0,{1,2},1,{{input,3},{output,4}},2,[],5]",
        "[0,{1,2,0},1,{{input,3},{output,4}},2,[{1,2}],5]",
        "[0,{1,2,0},1,{{input,3},{output,4}},2,[{a,2,3}],5]",
        "[0,{1,2,0},1,{{input,3},{output,4}},2,undefined,5,[{total,9}],6]",
        "[0,{1,2,0},1,{{input,3},{output,4}},2,undefined,5,"
        "[{processes,9},{total,8},{processes_used,7},{system,6},{atom,5},{atom_used,4},{binary,3},"
        "{code,2},{ets,1}],6]"};
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        expect_answer(counts[i], WAITS, NULL, "");
    for (size_t i = 0; i < ARRAY_LEN(waits); i++)
        expect_answer(COUNTS, waits[i], NULL, "");
}
