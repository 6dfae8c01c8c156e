/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answers `holders` and `held`, made of what native asks say, and what they ask. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/alloc.h"
#include "query/holders/holders_internal.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who.h"
#include "steps.h"

#define ASKS 10
#define NOW_MS 10000

/* Values of the asks of a slice, one after the other; NULL: it fails. */
struct said {
    const char *of[ASKS];
};

static uint64_t paid_ms;

static struct holders_read *start_read(void)
{
    struct holders_read *r = alloc_zero(1, sizeof *r);
    r->node.name = NODE;
    r->now_ms = NOW_MS;
    r->paid_ms = &paid_ms;
    paid_ms = 0;
    holders_table_init(&r->table);
    return r;
}

static void end_read(struct holders_read *r)
{
    holders_table_clear(&r->table);
    free(r->list);
    free(r);
}

/* The processes <0.From.0> to <0.Until.0> are there. */
static void list_some(struct holders_read *r, uint32_t from, uint32_t until, bool first)
{
    struct etf_pid pids[8] = {0};
    size_t n = 0;
    for (uint32_t i = from; i <= until; i++)
        pids[n++].id = i;
    r->next = r->end = 0;
    holders_table_list(&r->table, pids, n, first);
}

/* What was asked is appended as text. */
static void play_slice(struct holders_read *r, const struct said *said, const char *clock,
                       struct buf *asked)
{
    size_t at = 0;
    assert_true(holders_next_slice(r));
    for (size_t i = 0; i < holders_slice_count; i++)
        for (bool asks = true, again = true; asks && again;
             again = holders_slice_steps[i].repeats) {
            struct run_calls calls = {0};
            asks = holders_slice_steps[i].ask(r, &calls);
            if (asks) {
                const char *const values[] = {said->of[at++], clock};
                assert_true(at <= ASKS);
                steps_note(asked, &calls);
                steps_take(&holders_slice_steps[i], r, values, calls.n);
            }
            for (size_t k = 0; k < calls.n; k++)
                builder_free(calls.terms[k]);
        }
    r->next = r->end;
}

static void play(struct holders_read *r, const struct said *said, const char *clock)
{
    struct buf asked;
    buf_init(&asked, 0);
    play_slice(r, said, clock, &asked);
    buf_clear(&asked);
}

static void expect_rows(struct holders_read *r, const char *expected)
{
    const struct holders_moment at = {NODE, 7000000, NOW_MS, NOW_MS - 5000, false};
    struct builder *b = builder_new();
    char all[4000];
    snprintf(all, sizeof all, "{holders,7000000,[%s],false}", expected);
    holders_build(b, &r->table, &at);
    steps_expect_answer(b, all);
}

#define UNNAMED(id) "{<<\"" id "\">>,undefined,undefined,undefined,undefined,"
static const struct said small_part = {
    {"[true]", "[[0,100,true]]", "[[2640,233,12500,{shop,wait,1}]]", "[[1,0,1,true]]"}};

TEST(test_a_small_part_of_a_large_binary)
{
    struct holders_read *r = start_read();
    list_some(r, 1, 1, true);
    play(r, &small_part, "1000000000");
    expect_rows(r, UNNAMED("shop:wait/1") "{shop,wait,1},1,2640,100000,0,1864,1,1,0,undefined,0,0,"
                                          "0,0,0,102640,<0.1.0>,undefined,5}");
    end_read(r);
}

TEST(test_a_long_queue_is_not_walked_before_its_turn)
{
    static const struct said said = {{"[true]", "[[100000,50,true]]", "[[233,{shop,loop,1}]]"}};
    struct holders_read *r = start_read();
    struct buf asked;
    buf_init(&asked, 0);
    paid_ms = NOW_MS + 1000000;
    list_some(r, 1, 1, true);
    play_slice(r, &said, "1000000000", &asked);
    assert_null(strstr(buf_cstr(&asked), "[memory,"));
    buf_clear(&asked);
    expect_rows(r, UNNAMED("shop:loop/1") "{shop,loop,1},1,{older,4001864,undefined},0,100000,1864,"
                                          "0,0,0,undefined,0,0,0,0,1,4001864,<0.1.0>,undefined,5}");
    end_read(r);
}

TEST(test_lists_that_may_be_very_long_are_not_made)
{
    static const struct said said = {
        {"[true]", "[[0,50,true]]", "[[80000000,10000000,50000000,{shop,loop,1}]]"}};
    struct holders_read *r = start_read();
    struct buf asked;
    buf_init(&asked, 0);
    list_some(r, 1, 1, true);
    play_slice(r, &said, "1000000000", &asked);
    assert_null(strstr(buf_cstr(&asked), "[links,"));
    buf_clear(&asked);
    assert_true(r->table.all[0].uncounted);
    assert_int_equal(r->table.all[0].now[HOLDS_BINARY_BYTES], 400000000);
    end_read(r);
}

/* One grows, one is new, one has ended. */
TEST(test_growth)
{
    static const struct said first = {{"[true,true]", "[[0,100,true],[0,100,true]]",
                                       "[[3000,300,0,{a,b,1}],[2000,200,0,{a,b,1}]]",
                                       "[[0,0,0,true],[0,0,0,true]]"}};
    static const struct said second = {{"[true,true]", "[[3,4106,true],[0,100,true]]",
                                        "[[4000,300,0,{a,b,1}],[1000,100,0,{a,b,1}]]",
                                        "[[0,0,0,true],[0,0,0,true]]"}};
    struct holders_read *r = start_read();
    list_some(r, 1, 2, true);
    play(r, &first, "1000000000");
    list_some(r, 2, 3, false);
    play(r, &second, "3000000000");
    /* <0.1.0> had 3,000 bytes; of 4,006 reductions three are those of the reads between. */
    expect_rows(r, UNNAMED("a:b/1") "{a,b,1},2,5000,0,3,3200,0,0,0,2001,0,0,0,3,0,4000,<0.2.0>,"
                                    "undefined,5}");
    end_read(r);
}

/* Those that run are tried again, then asked; what fails is unknown. */
TEST(test_one_that_runs)
{
    static const struct said said = {{"[false,true]", "[[0,100,true]]", "[[2000,200,0,{a,b,1}]]",
                                      "[[0,0,0,true]]", "[false]", NULL}};
    struct holders_read *r = start_read();
    list_some(r, 1, 2, true);
    play(r, &said, "1000000000");
    assert_true(r->table.all[0].uncounted && r->table.all[0].known);
    assert_false(r->table.all[1].uncounted);
    expect_rows(r, "{<<>>,undefined,undefined,undefined,undefined,"
                   "undefined,1,{older,0,undefined},0,0,0,0,0,0,undefined,0,0,0,0,1,0,<0.1.0>,"
                   "undefined,5}," UNNAMED("a:b/1") "{a,b,1},1,2000,0,0,1600,0,0,0,undefined,0,0,0,"
                                                    "0,0,2000,<0.2.0>,undefined,5}");
    end_read(r);
}

TEST(test_other_forms_are_refused)
{
    static const struct said all[] = {
        {{"[true]", "[[-1,100,true]]"}},
        {{"[true]", "[a]"}},
        {{"[true]", "[[0,1,true]]", "[[a,b,c,d]]"}},
        {{"[true]", "[[0,1,true]]", "[[1000,1,9223372036854775807,x]]", "[[a,b,c,true]]"}},
        {{"[undefined]"}},
        {{"[true,true]"}},
        {{"x"}},
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct holders_read *r = start_read();
        list_some(r, 1, 1, true);
        play(r, &all[i], "1000000000");
        end_read(r);
    }
}

/* Sums stay within what a number may be. */
TEST(test_growth_without_end)
{
    struct holders_table t;
    struct etf_pid *pids = alloc_zero(10000, sizeof *pids);
    const struct holders_moment at = {NODE, 7000000, NOW_MS, NOW_MS, false};
    struct builder *b = builder_new();
    holders_table_init(&t);
    for (uint32_t i = 0; i < 10000; i++)
        pids[i].id = i;
    holders_table_list(&t, pids, 10000, false);
    for (size_t i = 0; i < t.n; i++) {
        t.all[i].now[HOLDS_MEMORY] = VALUES_MOST;
        t.all[i].is_read = true;
        holder_look(&t.all[i]);
    }
    holders_build(b, &t, &at);
    builder_free(b);
    holders_table_clear(&t);
    free(pids);
}

TEST(test_facts)
{
    static const struct said said = {{"[true,true]", "[[0,100,true],[0,100,true]]",
                                      "[[3000,300,100,{a,b,1}],[2000,200,0,{c,d,1}]]",
                                      "[[0,0,0,true]]", "[[0,0,1,true]]"}};
    const struct holders_moment at = {NODE, 7000000, NOW_MS, NOW_MS, true};
    struct holders_read *r = start_read();
    struct builder *b = builder_new();
    list_some(r, 1, 2, true);
    play(r, &said, "1000000000");
    holders_build_facts(b, &r->table, &at);
    struct buf text;
    size_t len;
    buf_init(&text, 0);
    const uint8_t *bytes = builder_bytes(b, &len);
    print_term(&text, bytes, len, &steps_limits);
    assert_non_null(strstr(buf_cstr(&text), "looked_at => 2"));
    assert_non_null(strstr(buf_cstr(&text), "binaries => [#{"));
    assert_non_null(strstr(buf_cstr(&text), "binary_bytes => 800"));
    buf_clear(&text);
    builder_free(b);
    end_read(r);
}
