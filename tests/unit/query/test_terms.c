/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `terms`, made of what its native asks say, and what they ask. */
#include "query/terms/terms.h"

#include "../../test.h"
#include "stepped.h"

enum step { COUNTS, TIMERS, ATOMS, MODULES, OWNERS, KEYS, SIZES };

#define COUNTED                                                                                    \
    {                                                                                              \
        COUNTS,                                                                                    \
        {                                                                                          \
            "8", "1000", "1048576", "#{count => 3,memory => 800}", "true"                          \
        }                                                                                          \
    }
#define TIMED                                                                                      \
    {                                                                                              \
        TIMERS,                                                                                    \
        {                                                                                          \
            "true", "[{atom_used,70},{ets,5}]", "1", "true",                                       \
                "{messages,[{ref,0,[{fix_alloc,0,[{fix_types,[{bif_timer,304,304}]}]}]}]}"         \
        }                                                                                          \
    }
#define LOADED                                                                                     \
    "<<\"Current code: 900\nOld code: 50\nlists 500\n'Elixir.Enum' 300 (50 old)\nhalf\n\">>"
static const struct stepped_said first[] = {
    COUNTED,
    TIMED,
    {ATOMS, {"[newest,other]"}},
    {MODULES, {LOADED}},
    {OWNERS, {"[{stdlib,[lists,maps]},{kernel,undefined},{elixir,['Elixir.Enum']}]"}},
    {KEYS, {"[{whole,{lists,a},undefined},{part,x,7,undefined},{other,undefined}]"}},
    {SIZES, {"[{whole,{lists,a},2},{part,x,7,30},{other,0}]"}},
};

#define UNKNOWN2 "undefined,undefined"
#define UNKNOWN3 "undefined," UNKNOWN2
#define ROW_OF(kind, name, rest)                                                                   \
    "{<<\"" kind " " name "\">>,<<\"" kind "\">>,<<\"" name "\">>," rest "}"
#define RESTS                                                                                      \
    ROW_OF("persistent", "others; memory of all", "undefined,0,undefined,800," UNKNOWN3)           \
    "," ROW_OF("atoms", "others; memory of all", "undefined,998,1048576,70," UNKNOWN3) "," ROW_OF( \
        "modules", "others",                                                                       \
        "undefined,0,undefined,100," UNKNOWN2                                                      \
        ",0") "," ROW_OF("timers", "start_timer, send_after",                                      \
                         "undefined,2,undefined,304," UNKNOWN3) ","
#define KEY(name, application, bytes)                                                              \
    ROW_OF("persistent", name, application ",1," UNKNOWN2 "," bytes ",undefined") ","
#define ATOM(name) ROW_OF("atoms", name, "undefined,1," UNKNOWN2 "," UNKNOWN3) ","
#define MODULE(name, application, bytes, old)                                                      \
    ROW_OF("modules", name, "<<\"" application "\">>,1,undefined," bytes "," UNKNOWN2 "," old)
#define REST                                                                                       \
    ATOM("newest")                                                                                 \
    ATOM("other")                                                                                  \
    MODULE("lists", "stdlib", "500", "0")                                                          \
    "," MODULE("Elixir.Enum", "elixir", "350", "50") "],false}"

TEST(test_rows)
{
    void *read = stepped_start(&terms_question);
    struct buf asked;
    buf_init(&asked, 0);
    stepped_run(&terms_question, read, 1000, first, ARRAY_LEN(first), &asked);
    stepped_expect(&terms_question, read,
                   "{terms,7000000,[" RESTS KEY("{x, ...} of 7 elements", "undefined", "240,false")
                       KEY("{lists,a}", "<<\"stdlib\">>", "16,false")
                           KEY("(a long key)", "undefined", "0,false") REST);
    /* Values are walked through where they are, by what the node can end. */
    assert_non_null(strstr(buf_cstr(&asked), "fun erlang:phash2/1"));
    assert_non_null(strstr(buf_cstr(&asked), "fun erts_debug:flat_size/1"));
    buf_clear(&asked);
    stepped_end(&terms_question, read);
}

/* Of three values one takes too long: it is left out, the others are measured. */
TEST(test_value_without_end)
{
    static const struct stepped_said late[] = {
        COUNTED,
        TIMED,
        {ATOMS, {"[newest,other]"}},
        {MODULES, {LOADED}},
        {OWNERS, {"[{stdlib,[lists]},{elixir,['Elixir.Enum']}]"}},
        {KEYS, {"[{whole,{lists,a},undefined},{part,x,7,undefined},{other,undefined}]"}},
        {SIZES, {NULL}},
    };
    static const struct stepped_said second[] = {COUNTED,
                                                 TIMED,
                                                 {ATOMS, {"[newest,other]"}},
                                                 {SIZES, {"[{whole,{lists,a},2}]"}},
                                                 {SIZES, {NULL}}};
    static const struct stepped_said third[] = {
        COUNTED, TIMED, {ATOMS, {"[newest,other]"}}, {SIZES, {"[{other,9}]"}}};
    static const struct stepped_said fourth[] = {COUNTED, TIMED, {ATOMS, {"[newest,other]"}}};
    void *read = stepped_start(&terms_question);
    stepped_run(&terms_question, read, 1000, late, ARRAY_LEN(late), NULL);
    stepped_run(&terms_question, read, 2000, second, ARRAY_LEN(second), NULL);
    stepped_run(&terms_question, read, 3000, third, ARRAY_LEN(third), NULL);
    stepped_run(&terms_question, read, 4000, fourth, ARRAY_LEN(fourth), NULL);
    stepped_expect(&terms_question, read,
                   "{terms,7000000,[" RESTS KEY("(a long key)", "undefined", "72,false")
                       KEY("{lists,a}", "<<\"stdlib\">>", "16,false")
                           KEY("{x, ...} of 7 elements", "undefined", UNKNOWN2) REST);
    stepped_end(&terms_question, read);
}

/* An ask that is not made says nothing of a value: it is measured in the next answer. */
TEST(test_sizes_that_are_not_asked)
{
    static const struct stepped_said unlisted[] = {
        COUNTED, TIMED, {ATOMS, {NULL}}, {MODULES, {NULL}}, {OWNERS, {NULL}}, {KEYS, {NULL}}};
    static const char *const one[STEP_VALUES] = {"[{whole,{lists,a},undefined}]"};
    const struct stepped_now then = {40000, NODE, 0}, now = {42000, NODE, 0};
    void *read = stepped_start(&terms_question);
    stepped_run(&terms_question, read, 1000, unlisted, ARRAY_LEN(unlisted), NULL);
    terms_question.begin(read, &then);
    assert_int_equal(stepped_ask(&terms_question, read, KEYS, NULL), 1);
    steps_take(&terms_question.steps[KEYS], read, one, 1);
    assert_int_equal(stepped_ask(&terms_question, read, SIZES, NULL), 1);
    terms_question.steps[SIZES].take(read, NULL, 0);
    terms_question.begin(read, &now);
    assert_int_equal(stepped_ask(&terms_question, read, SIZES, NULL), 1);
    stepped_end(&terms_question, read);
}

/* What is not printed of keys may be all that tells them apart: one's size is not the other's. */
TEST(test_keys_of_one_text)
{
    static const struct stepped_said two[] = {
        COUNTED,
        TIMED,
        {ATOMS, {"[newest,other]"}},
        {MODULES, {LOADED}},
        {OWNERS, {"[{stdlib,[lists]},{elixir,['Elixir.Enum']}]"}},
        {KEYS, {"[{part,x,7,undefined},{part,x,7,undefined},{other,undefined}]"}},
        {SIZES, {"[{part,x,7,30},{part,x,7,2},{other,1}]"}},
    };
    static const struct stepped_said again[] = {
        COUNTED,
        TIMED,
        {ATOMS, {"[newest,other]"}},
        {MODULES, {LOADED}},
        {KEYS, {"[{part,x,7,undefined},{part,x,7,undefined},{other,undefined}]"}},
        {SIZES, {NULL}},
    };
    void *read = stepped_start(&terms_question);
    stepped_run(&terms_question, read, 1000, two, ARRAY_LEN(two), NULL);
    stepped_run(&terms_question, read, 40000, again, ARRAY_LEN(again), NULL);
    stepped_expect(&terms_question, read,
                   "{terms,7000000,[" RESTS KEY("{x, ...} of 7 elements", "undefined", "240,false")
                       KEY("{x, ...} of 7 elements", "undefined", "16,false")
                           KEY("(a long key)", "undefined", "8,false") REST);
    stepped_end(&terms_question, read);
}

/* More than are listed: only their number and memory. */
TEST(test_many)
{
    static const struct stepped_said many[] = {
        {COUNTS, {"8", "1000", "1048576", "#{count => 300000,memory => 90000000}", "false"}},
        {TIMERS, {NULL}},
        {ATOMS, {NULL}},
        {MODULES, {NULL}},
        {OWNERS, {NULL}},
    };
    void *read = stepped_start(&terms_question);
    stepped_run(&terms_question, read, 1000, many, ARRAY_LEN(many), NULL);
    struct buf text = stepped_answer(&terms_question, read);
    assert_non_null(strstr(buf_cstr(&text), ",undefined,300000,undefined,90000000,undefined"));
    assert_non_null(strstr(buf_cstr(&text), "],true}"));
    buf_clear(&text);
    stepped_end(&terms_question, read);
}

/* Nor are those that were listed while there were fewer. */
TEST(test_many_after_few)
{
    static const struct stepped_said many[] = {
        {COUNTS, {"8", "1000", "1048576", "#{count => 300000,memory => 90000000}", "true"}},
        TIMED,
        {ATOMS, {"[newest,other]"}},
    };
    void *read = stepped_start(&terms_question);
    stepped_run(&terms_question, read, 1000, first, ARRAY_LEN(first), NULL);
    stepped_run(&terms_question, read, 2000, many, ARRAY_LEN(many), NULL);
    struct buf text = stepped_answer(&terms_question, read);
    assert_non_null(strstr(buf_cstr(&text), ",undefined,300000,undefined,90000000,undefined"));
    assert_null(strstr(buf_cstr(&text), "{lists,a}"));
    assert_non_null(strstr(buf_cstr(&text), "],true}"));
    buf_clear(&text);
    stepped_end(&terms_question, read);
}

TEST(test_odd_values)
{
    static const char *const odd[] = {"undefined",
                                      "[]",
                                      "{a,b}",
                                      "\"abc\"",
                                      "[[]]",
                                      "[{a,[]}]",
                                      "[{a,[1|b]}]",
                                      "[1.5]",
                                      "<<1>>",
                                      "-1",
                                      "#{count => a}",
                                      "<<\"Current code: 1\nOld code: 99999999999999999999\n\">>",
                                      "<<\"Current code: 1\nOld code: 0\n 1\n 5 old)\nx ( old)\">>",
                                      "[{whole,a,-5},{part,b,c,d},{other,1}]",
                                      "9223372036854775807"};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        for (size_t at = 0; at < ARRAY_LEN(first); at++) {
            void *read = stepped_start(&terms_question);
            const struct stepped_now now = {1000, NODE, 0};
            terms_question.begin(read, &now);
            for (size_t k = 0; k < ARRAY_LEN(first); k++) {
                const char *values[STEP_VALUES];
                for (size_t v = 0; v < STEP_VALUES; v++)
                    values[v] = k == at ? odd[i] : first[k].values[v];
                const size_t n = stepped_ask(&terms_question, read, first[k].step, NULL);
                if (n > 0)
                    steps_take(&terms_question.steps[first[k].step], read, values, n);
            }
            struct buf text = stepped_answer(&terms_question, read);
            assert_null(strstr(buf_cstr(&text), "Bad"));
            assert_null(strstr(buf_cstr(&text), ",-"));
            buf_clear(&text);
            stepped_end(&terms_question, read);
        }
}
