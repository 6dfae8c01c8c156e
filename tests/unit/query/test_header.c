/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `system`, made of what its two native asks say. */
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/parse.h"
#include "beamtop/etf/print.h"
#include "query/header_terms.h"

/* COUNT_…, then two counters. */
#define COUNTS                                                                                     \
    "[1000000,60,6,9000,20,{5000,10},{700,0},3,[1,2,0,0],1700000000000000,9000000000,"             \
    "4000000000,1000000000,['beamtop@h',other@h],1250000,77,88]"
#define WAITS_TAIL "[{2,80,70},{1,90,60}]"
#define WAITS                                                                                      \
    "[0,{11,222,0},{{input,333},{output,444}}," WAITS_TAIL ",30000,"                               \
    "[{total,9},{processes,8},{processes_used,7},{system,6},{atom,5},{atom_used,4},{binary,3},"    \
    "{code,2},{ets,1}],40000]"
#define WAITS_WITHOUT_MEMORY "[0,{11,222,0},{{input,333},{output,444}},undefined,30000]"

static struct builder *term_of(const char *text, struct slice *out)
{
    struct builder *b = builder_new();
    struct error err = {0};
    if (etf_parse(b, text, strlen(text), "n@h", &err) != 0)
        fail_msg("%s: %s", text, err.text);
    const uint8_t *bytes = builder_bytes(b, &out->len);
    out->s = (const char *)bytes;
    return b;
}

/* As text; "" where it is refused. */
static void make_answer(char *out, size_t size, const char *counts, const char *waits,
                        const struct resident *resident)
{
    static const struct print_limits limits = {.depth = 20, .items = 100, .bytes = 4000};
    struct header_values v = {.own_reductions = 165, .resident = resident, .late_ms = 7};
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

static void expect_answer(const char *counts, const char *waits, const struct resident *resident,
                          const char *expected)
{
    char text[4096];
    make_answer(text, sizeof text, counts, waits, resident);
    assert_string_equal(text, expected);
}

#define ANSWER(memory, work, times, resident)                                                      \
    "{system,1250000,1700000000000000,5000," memory                                                \
    ",{60,6,9000,20},{3,[1,2,0,0]},{5000,700," work ",165}," times "," resident ",{7,[]}}"

TEST(test_whole)
{
    const struct resident r = {.resident_bytes = 50, .virtual_bytes = 60};
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
    assert_true(us > 39.9 && us < 40.1);
    builder_free(a);
    builder_free(b);
}

/* Of another form: refused, whatever it is. */
TEST(test_refuses)
{
    static const char *const counts[] = {"[]", "{}", "\"text\"", "[1,2,3]",
                                         "[a,b,c,d,e,f,g,h,i,j,k,l,m,n,o]"};
    static const char *const waits[] = {
        "[]",
        "x",
        "[0,1,2,3,4]",
        "[0,{1,2},{{input,3},{output,4}},[],5]",
        "[0,{1,2,0},{{input,3},{output,4}},[{1,2}],5]",
        "[0,{1,2,0},{{input,3},{output,4}},[{a,2,3}],5]",
        "[0,{1,2,0},{{input,3},{output,4}},undefined,5,[{total,9}],6]",
        "[0,{1,2,0},{{input,3},{output,4}},undefined,5,"
        "[{processes,9},{total,8},{processes_used,7},{system,6},{atom,5},{atom_used,4},{binary,3},"
        "{code,2},{ets,1}],6]"};
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        expect_answer(counts[i], WAITS, NULL, "");
    for (size_t i = 0; i < ARRAY_LEN(waits); i++)
        expect_answer(COUNTS, waits[i], NULL, "");
}
