/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `tables`, made of what its native asks say, and what they ask. */
#include "query/tables/tables.h"

#include <stdio.h>

#include "../../test.h"
#include "query/tables/tables_list.h"
#include "query/tables/tables_one.h"
#include "stepped.h"

/* clang-format off */
enum step {
    COUNT, LIST, BASE, SIZES, SPREAD, DETAILS, KEEPERS, FILES, MNESIA, COPIES
};
/* clang-format on */

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
    {KEEPERS, {"undefined", "undefined", "undefined"}},
};

TEST(test_rows)
{
    void *read = stepped_start(&tables_question);
    stepped_run(&tables_question, read, 1000, first, ARRAY_LEN(first), NULL);
    /* Details came in the order of what each holds. */
    stepped_expect(
        &tables_question, read,
        "{tables,7000000,"
        "[{<<\"b\">>,other,<0.1.0>,undefined,undefined,1,9,8000,<<\"set\">>,<<\"public\">>,"
        "<<\"true\">>,false,true,false,false,1,undefined,undefined,undefined,undefined,undefined},"
        "{<<\"c\">>,c,<0.2.0>,undefined,undefined,1,2,4000,<<\"bag\">>,<<\"private\">>,"
        "<<\"false\">>,true,false,false,true,1,<0.9.0>,undefined,undefined,undefined,undefined},"
        "{<<\"a\">>,a,<0.1.0>,undefined,undefined,1,1,2400,<<\"ordered_set\">>,<<\"protected\">>,"
        "<<\"auto\">>,false,false,true,false,2,undefined,undefined,undefined,undefined,undefined}],"
        "false}");
    stepped_end(&tables_question, read);
}

/* The list and what does not change are not asked again; of a table that waits, the size before. */
TEST(test_second_look)
{
    static const struct stepped_said second[] = {
        {COUNT, {"3", "8"}},
        {SIZES, {"[400,300]", "\"ab\"", "[undefined,undefined]"}},
        {SPREAD, {NULL}},
    };
    void *read = stepped_start(&tables_question);
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
    stepped_end(&tables_question, read);
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
            void *read = stepped_start(&tables_question);
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
            stepped_end(&tables_question, read);
        }
}

/* ---- what other modules keep */

TEST(test_files_and_copies)
{
    static const struct stepped_said said[] = {
        {COUNT, {"2", "8"}},
        {LIST, {"[people,c]"}},
        {BASE, {"[false,false]", "[people,c]", "[<0.1.0>,<0.2.0>]"}},
        {SIZES, {"[300,200]", "[1,2]", "[undefined,undefined]"}},
        {DETAILS,
         {"[set,bag]", "[public,private]", "[true,false]", "[false,true]", "[false,false]",
          "[false,false]", "[2,1]", "[none,none]", "[<0.1.0>,<0.2.0>]", "[false,false]"}},
        {KEEPERS, {"1", "2", "<0.5.0>"}},
        {FILES, {"[{archive,2,<0.7.0>}]", "[{{log,1},<0.8.0>},{old,<0.9.0>,local}]"}},
        {MNESIA, {"[{{schema,tables},[schema,people]}]"}},
        {COPIES,
         {"[[{{people,storage_type},disc_copies}]]", "[[]]",
          "[[{{people,disc_copies},['a@h','b@h']}]]", "[[{{people,disc_only_copies},[]}]]",
          "[[{{people,active_replicas},['a@h']}]]"}},
    };
    /* Mnesia has stopped, and its table is made again without it. */
    static const struct stepped_said without[] = {
        {COUNT, {"2", "8"}},
        {LIST, {"[people,c]"}},
        {SIZES, {"[300,200]", "[1,2]", "[undefined,undefined]"}},
        {DETAILS,
         {"[set,bag]", "[public,private]", "[true,false]", "[false,true]", "[false,false]",
          "[false,false]", "[2,1]", "[none,none]", "[<0.1.0>,<0.2.0>]", "[false,false]"}},
        {KEEPERS, {"0", "2", "undefined"}},
        {FILES, {NULL}},
    };
    void *read = stepped_start(&tables_question);
    struct buf asked;
    buf_init(&asked, 0);
    stepped_run(&tables_question, read, 1000, said, ARRAY_LEN(said), &asked);
    assert_non_null(strstr(buf_cstr(&asked), "[mnesia_gvar],[{people,active_replicas}]"));
    struct buf text = stepped_answer(&tables_question, read);
    assert_non_null(strstr(buf_cstr(&text), "1,undefined,undefined,<<\"disc_copies\">>,2,1}"));
    assert_non_null(strstr(buf_cstr(&text),
                           "{<<\"archive\">>,archive,<0.7.0>,undefined,undefined,undefined,"
                           "undefined,undefined,<<\"dets\">>,undefined"));
    assert_non_null(strstr(buf_cstr(&text), "{<<\"{log,1}\">>,undefined,<0.8.0>,"));
    assert_non_null(strstr(buf_cstr(&text), "{<<\"old\">>,old,<0.9.0>,"));
    buf_clear(&text);
    stepped_run(&tables_question, read, 40000, without, ARRAY_LEN(without), &asked);
    text = stepped_answer(&tables_question, read);
    assert_null(strstr(buf_cstr(&text), "disc_copies"));
    assert_non_null(strstr(buf_cstr(&text), "],true}")); /* disk logs failed */
    buf_clear(&text);
    buf_clear(&asked);
    stepped_end(&tables_question, read);
}

/* ---- one table */

static void *start_one(const struct stepped *kind, const char *argument)
{
    struct slice arg;
    struct builder *b = term_of(argument, &arg);
    void *read = stepped_start(kind);
    assert_true(kind->takes(read, (const uint8_t *)arg.s, arg.len));
    builder_free(b);
    return read;
}

enum one_step { ONE_ID, ONE_ITEMS, ONE_SIZES, ONE_SPREAD, ONE_FIXED, ONE_COPIES };

#define UNKNOWN(n) UNKNOWN_##n
#define UNKNOWN_2 "undefined,undefined"
#define UNKNOWN_4 UNKNOWN_2 "," UNKNOWN_2
#define UNKNOWN_8 UNKNOWN_4 "," UNKNOWN_4

TEST(test_one_table)
{
    static const struct stepped_said spread[] = {
        {ONE_ID, {"sessions"}},
        {ONE_ITEMS,
         {"undefined", "sessions", "set", "public", "auto", "true", "true", "false", "true", "2",
          "<0.1.0>", "none", "8", "undefined"}},
        {ONE_SPREAD, {"[300]", "30"}},
        {ONE_FIXED, {"{1000,[{<0.2.0>,1},{<0.3.0>,2}]}", "3000", "1000"}},
    };
    void *read = start_one(&one_table_question, "<<\"sessions\">>");
    struct buf asked;
    buf_init(&asked, 0);
    stepped_run(&one_table_question, read, 1000, spread, ARRAY_LEN(spread), &asked);
    assert_non_null(strstr(buf_cstr(&asked), "binary_to_existing_atom[<<\"sessions\">>,utf8]"));
    stepped_expect(
        &one_table_question, read,
        "{one_table,7000000,[{<<\"sessions\">>,true,sessions,<<\"undefined\">>,"
        "<<\"set\">>,<<\"public\">>,<0.1.0>," UNKNOWN(
            4) ",undefined,30,<<\"auto\">>,true,"
               "true,false,2,true,2000,2,<0.2.0>,undefined," UNKNOWN(4) ",undefined}],false}");
    buf_clear(&asked);
    stepped_end(&one_table_question, read);
}

/* The name makes no atom there; numbers of a reference are checked there. */
TEST(test_no_such_table)
{
    static const struct stepped_said said[] = {{ONE_ID, {NULL}}};
    void *read = start_one(&one_table_question, "<<\"#Ref<0.1.2.3>\">>");
    struct buf asked;
    buf_init(&asked, 0);
    stepped_run(&one_table_question, read, 1000, said, ARRAY_LEN(said), &asked);
    assert_string_equal(buf_cstr(&asked), " erlang:list_to_ref[\"#Ref<0.1.2.3>\"]");
    struct buf text = stepped_answer(&one_table_question, read);
    assert_non_null(strstr(buf_cstr(&text), "[{<<\"#Ref<0.1.2.3>\">>,false,undefined,"));
    buf_clear(&text);
    buf_clear(&asked);
    stepped_end(&one_table_question, read);
}

/* ---- keys */

enum keys_step { KEYS_ID, KEYS_PROTECTION, KEYS_FIRST, KEYS_NEXT };

/* An ask that goes beyond the last key fails, and a shorter one comes. */
TEST(test_keys)
{
    static const struct stepped_said said[] = {
        {KEYS_ID, {"t"}},
        {KEYS_PROTECTION, {"protected", "set", "false"}},
        {KEYS_FIRST, {"7"}},
        {KEYS_NEXT, {NULL}},
        {KEYS_NEXT, {"[{user,1},b,c,d,\"e\"]"}},
        {KEYS_NEXT, {NULL}},
        {KEYS_NEXT, {"\"A\\n\""}},
        {KEYS_NEXT, {NULL}},
        {KEYS_NEXT, {"['$end_of_table']"}},
    };
    void *read = start_one(&table_keys_question, "{<<\"t\">>,100}");
    struct buf asked;
    buf_init(&asked, 0);
    stepped_run(&table_keys_question, read, 1000, said, ARRAY_LEN(said), &asked);
    assert_non_null(strstr(buf_cstr(&asked), "lists:zipwith3[fun lists:foldl/3,[fun ets:next/2"));
    assert_non_null(strstr(buf_cstr(&asked), ",[\"e\",\"e\"],[[t],[t,t]]]"));
    stepped_expect(&table_keys_question, read,
                   "{table_keys,7000000,[{<<\"7\">>},{<<\"{user,1}\">>},{<<\"b\">>},{<<\"c\">>},"
                   "{<<\"d\">>},{<<\"\\\"e\\\"\">>},{<<\"65\">>},{<<\"10\">>}],false}");
    buf_clear(&asked);
    stepped_end(&table_keys_question, read);
}

/* Not one more than was asked for; one that was deleted meanwhile ends it. */
TEST(test_keys_have_an_end)
{
    static const struct stepped_said said[] = {{KEYS_ID, {"t"}},
                                               {KEYS_PROTECTION, {"public", "ordered_set", "true"}},
                                               {KEYS_FIRST, {"a"}},
                                               {KEYS_NEXT, {NULL}},
                                               {KEYS_NEXT, {NULL}}};
    void *read = start_one(&table_keys_question, "{<<\"t\">>,3}");
    stepped_run(&table_keys_question, read, 1000, said, ARRAY_LEN(said), NULL);
    stepped_expect(&table_keys_question, read, "{table_keys,7000000,[{<<\"a\">>}],true}");
    stepped_end(&table_keys_question, read);
}

TEST(test_keys_of_a_bag)
{
    static const struct stepped_said said[] = {{KEYS_ID, {"t"}},
                                               {KEYS_PROTECTION, {"public", "bag", "false"}},
                                               {KEYS_FIRST, {"a"}},
                                               {KEYS_NEXT, {"[b]"}},
                                               {KEYS_NEXT, {"['$end_of_table']"}}};
    void *read = start_one(&table_keys_question, "{<<\"t\">>,9}");
    stepped_run(&table_keys_question, read, 1000, said, ARRAY_LEN(said), NULL);
    stepped_expect(&table_keys_question, read,
                   "{table_keys,7000000,[{<<\"a\">>},{<<\"b\">>}],false}");
    stepped_end(&table_keys_question, read);
}

TEST(test_keys_that_are_refused)
{
    static const struct stepped_said said[][2] = {
        {{KEYS_ID, {"t"}}, {KEYS_PROTECTION, {"private", "set", "false"}}},
        {{KEYS_ID, {"t"}}, {KEYS_PROTECTION, {"public", "set", "true"}}}};
    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        struct error err = {0};
        void *read = start_one(&table_keys_question, "{<<\"t\">>,3}");
        stepped_run(&table_keys_question, read, 1000, said[i], 2, NULL);
        assert_true(table_keys_question.refuses(read, &err));
        assert_int_equal(err.code, ERR_REFUSED);
        stepped_end(&table_keys_question, read);
    }
}

/* ---- Mnesia */

static void expect_mnesia(const struct stepped_said *said, size_t n, const char *expected)
{
    void *read = alloc_zero(1, mnesia_question.bytes);
    mnesia_question.init(read);
    stepped_run(&mnesia_question, read, 1000, said, n, NULL);
    stepped_expect(&mnesia_question, read, expected);
    stepped_end(&mnesia_question, read);
}

TEST(test_mnesia)
{
    static const struct stepped_said none[] = {{0, {"undefined"}}};
    static const struct stepped_said stopped[] = {{0, {"<0.5.0>"}}, {1, {NULL}}};
    static const struct stepped_said runs[] = {
        {0, {"<0.5.0>"}},
        {1,
         {"[{version,\"4.2\"}]", "[{mnesia_status,running}]", "[{{current,db_nodes},['a@h']}]",
          "[{{schema,ram_copies},['c@h']}]", "[{{schema,disc_copies},['a@h','b@h']}]",
          "[{{schema,disc_only_copies},[]}]", "[{trans_commits,50}]", "[{trans_failures,4}]", "[]",
          "[{trans_log_writes,900}]", "[{trans_log_writes_left,100}]", "12", "undefined",
          "undefined", "['b@h','d@h']"}},
    };
    expect_mnesia(none, 1, "{mnesia,7000000,[],false}");
    expect_mnesia(stopped, 2, "{mnesia,7000000,[],true}");
    expect_mnesia(
        runs, 2,
        "{mnesia,7000000,[{<<\"4.2\">>,running,1,3,<<\"c@h b@h\">>,<<\"b@h\">>,12,undefined,"
        "undefined,50,4,undefined,900,100}],false}");
}
