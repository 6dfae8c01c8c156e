/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `tables`, made of what its native asks say, and what they ask. */
#include "query/tables/tables.h"

#include <stdio.h>

#include "../../test.h"
#include "query/tables/tables_list.h"
#include "stepped.h"

enum step { COUNT, LIST, BASE, SIZES, SPREAD, DETAILS };

static void *start_tables(void)
{
    void *read = alloc_zero(1, tables_question.bytes);
    tables_question.init(read);
    return read;
}

static void end_tables(void *read)
{
    tables_question.clear(read);
    free(read);
}

static void expect_answer(void *read, const char *expected)
{
    struct buf text = stepped_answer(&tables_question, read);
    assert_string_equal(buf_cstr(&text), expected);
    buf_clear(&text);
}

#define WHAT                                                                                       \
    {                                                                                              \
        DETAILS,                                                                                   \
        {                                                                                          \
            "[set,bag,ordered_set]", "[public,private,protected]", "[true,false,auto]",            \
                "[false,true,false]", "[false,false,true]", "[false,true,false]", "[1,1,2]",       \
                "[none,<0.9.0>,none]", "[<0.1.0>,<0.2.0>,<0.1.0>]", "[true,false,false]"           \
        }                                                                                          \
    }
/* The second has decentralised counters. */
static const struct stepped_said first[] = {
    {COUNT, {"3", "8"}},
    {LIST, {"[a,b,c]"}},
    {BASE, {"[false,true,false]", "[a,other,c]", "[<0.1.0>,<0.2.0>,<0.1.0>]"}},
    {SIZES, {"[300,500]", "[1,2]", "[undefined,undefined]"}},
    {SPREAD, {"[1000]", "[9]", "[undefined]"}},
    WHAT,
};

TEST(test_rows)
{
    void *read = start_tables();
    stepped_run(&tables_question, read, 1000, first, ARRAY_LEN(first), NULL);
    /* Details came in the order of what each holds. */
    expect_answer(
        read,
        "{tables,7000000,"
        "[{<<\"b\">>,other,<0.1.0>,undefined,undefined,1,9,8000,<<\"set\">>,<<\"public\">>,"
        "<<\"true\">>,false,true,false,false,1,undefined,undefined,undefined,undefined,undefined},"
        "{<<\"c\">>,c,<0.2.0>,undefined,undefined,1,2,4000,<<\"bag\">>,<<\"private\">>,"
        "<<\"false\">>,true,false,false,true,1,<0.9.0>,undefined,undefined,undefined,undefined},"
        "{<<\"a\">>,a,<0.1.0>,undefined,undefined,1,1,2400,<<\"ordered_set\">>,<<\"protected\">>,"
        "<<\"auto\">>,false,false,true,false,2,undefined,undefined,undefined,undefined,undefined}],"
        "false}");
    end_tables(read);
}

/* The list and what does not change are not asked again; of a table that waits, the size before. */
TEST(test_second_look)
{
    static const struct stepped_said second[] = {
        {COUNT, {"3", "8"}},
        {SIZES, {"[400,300]", "\"ab\"", "[undefined,undefined]"}},
        {SPREAD, {NULL}},
    };
    void *read = start_tables();
    stepped_run(&tables_question, read, 1000, first, ARRAY_LEN(first), NULL);
    struct buf asked, text;
    buf_init(&asked, 0);
    stepped_run(&tables_question, read, 2500, second, ARRAY_LEN(second), &asked);
    assert_non_null(strstr(buf_cstr(&asked), "[fun ets:info/2,[c,a],[memory,memory]]"));
    text = stepped_answer(&tables_question, read);
    assert_non_null(strstr(buf_cstr(&text), "1,9,{older,8000,1500},"));
    assert_non_null(strstr(buf_cstr(&text), "{<<\"c\">>,c,<0.2.0>,undefined,undefined,1,97,3200,"));
    buf_clear(&text);
    buf_clear(&asked);
    end_tables(read);
}

/* Above 1,000 the smaller ones are added up by owner. */
TEST(test_many)
{
    struct ets_list list = {0};
    struct buf terms;
    struct slice names;
    bool left_out = false;
    buf_init(&terms, 0);
    buf_puts(&terms, "[");
    for (int i = 0; i < 1500; i++)
        buf_printf(&terms, "%st%04d", i > 0 ? "," : "", i);
    buf_puts(&terms, "]");
    struct builder *b = term_of(buf_cstr(&terms), &names);
    names.s++;
    names.len--;
    arena_init(&list.arena);
    assert_true(ets_list_take(&list, names, &left_out));
    assert_int_equal(list.n, 1500);
    list.all[700].words = 7;
    assert_true(ets_list_take(&list, names, &left_out));
    assert_int_equal(list.all[700].words, 7);
    assert_int_equal(list.all[701].words, -1);
    assert_false(left_out);
    ets_list_clear(&list);
    builder_free(b);
    buf_clear(&terms);
}

TEST(test_odd_values)
{
    static const char *const odd[] = {"undefined",
                                      "[]",
                                      "{a,b}",
                                      "\"abc\"",
                                      "[[]]",
                                      "[{a,1}|b]",
                                      "[1.5]",
                                      "<<1>>",
                                      "-1",
                                      "[undefined]",
                                      "9223372036854775807",
                                      "[9223372036854775807,-5,a]"};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        for (size_t at = 0; at < ARRAY_LEN(first); at++) {
            void *read = start_tables();
            const struct stepped_now now = {1000, NODE, 0};
            tables_question.begin(read, &now);
            for (size_t k = 0; k < ARRAY_LEN(first); k++) {
                const char *values[STEP_VALUES];
                for (size_t v = 0; v < STEP_VALUES; v++)
                    values[v] = k == at ? odd[i] : first[k].values[v];
                const size_t n = stepped_ask(&tables_question, read, first[k].step, NULL);
                if (n > 0)
                    steps_take(&tables_question.steps[first[k].step], read, values, n);
            }
            struct buf text = stepped_answer(&tables_question, read);
            assert_null(strstr(buf_cstr(&text), "Bad"));
            assert_null(strstr(buf_cstr(&text), "1.5"));
            buf_clear(&text);
            end_tables(read);
        }
}
