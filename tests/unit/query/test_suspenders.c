/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `suspenders`, made of what its native asks say, and what they ask. */
#include "query/seek/suspenders.h"

#include "../../test.h"
#include "stepped.h"

enum step { PID, ALIAS, STATUS, LIST, WAITING, RUNNING };

#define HELD                                                                                       \
    {                                                                                              \
        STATUS,                                                                                    \
        {                                                                                          \
            "{status,suspended}"                                                                   \
        }                                                                                          \
    }
#define THREE                                                                                      \
    {                                                                                              \
        LIST,                                                                                      \
        {                                                                                          \
            "3", "[<0.1.0>,<0.2.0>,<0.41.0>]"                                                      \
        }                                                                                          \
    }

static void *start_named(const char *argument)
{
    void *read = stepped_start(&suspenders_question);
    struct slice term;
    struct builder *b = term_of(argument, &term);
    assert_true(suspenders_question.takes(read, (const uint8_t *)term.s, term.len));
    builder_free(b);
    return read;
}

TEST(test_found_among_those_that_wait)
{
    static const struct stepped_said said[] = {
        {PID, {"<0.41.0>"}},
        HELD,
        THREE,
        {WAITING, {"[true,false,true]"}},
        {WAITING, {"[{<0.41.0>,1,1},false]"}},
        {RUNNING, {"[false]"}},
    };
    static const struct stepped_said again[] = {{PID, {"<0.41.0>"}}, HELD};
    void *read = start_named("{<<\"shop\">>,[]}");
    struct buf asked;
    buf_init(&asked, 0);
    stepped_run(&suspenders_question, read, 1000, said, ARRAY_LEN(said), &asked);
    assert_non_null(strstr(buf_cstr(&asked), "binary_to_existing_atom"));
    assert_non_null(strstr(buf_cstr(&asked), "fun lists:keyfind/3"));
    stepped_expect(
        &suspenders_question, read,
        "{suspenders,7000000,[{<<\"<0.1.0>\">>,<0.41.0>,<0.1.0>,undefined,2,3,3}],false}");
    /* Not gone through again so soon. */
    stepped_run(&suspenders_question, read, 20000, again, ARRAY_LEN(again), NULL);
    stepped_expect(
        &suspenders_question, read,
        "{suspenders,7000000,[{<<\"<0.1.0>\">>,<0.41.0>,<0.1.0>,undefined,2,3,3}],false}");
    /* But sooner where it was let go in between. */
    static const struct stepped_said let_go[] = {{PID, {"<0.41.0>"}},
                                                 {STATUS, {"{status,waiting}"}}};
    stepped_run(&suspenders_question, read, 21000, let_go, ARRAY_LEN(let_go), NULL);
    stepped_run(&suspenders_question, read, 22000, said, ARRAY_LEN(said), NULL);
    buf_clear(&asked);
    stepped_end(&suspenders_question, read);
}

/* One that runs does not answer in time: it counts as not read. */
TEST(test_unread)
{
    static const struct stepped_said said[] = {{PID, {"<0.41.0>"}},
                                               HELD,
                                               THREE,
                                               {WAITING, {"[true,false,true]"}},
                                               {WAITING, {"[false,false]"}},
                                               {RUNNING, {NULL}}};
    void *read = start_named("{<<\"<0.41.0>\">>,[]}");
    stepped_run(&suspenders_question, read, 1000, said, ARRAY_LEN(said), NULL);
    stepped_expect(
        &suspenders_question, read,
        "{suspenders,7000000,[{<<\"nobody\">>,<0.41.0>,undefined,undefined,undefined,2,3}],true}");
    stepped_end(&suspenders_question, read);
}

TEST(test_not_suspended)
{
    static const struct stepped_said said[] = {{PID, {"<0.41.0>"}}, {STATUS, {"{status,waiting}"}}};
    static const struct stepped_said gone[] = {{PID, {NULL}}};
    void *read = start_named("{<<\"shop\">>,[]}");
    stepped_run(&suspenders_question, read, 1000, said, ARRAY_LEN(said), NULL);
    stepped_expect(&suspenders_question, read, "{suspenders,7000000,[],false}");
    stepped_run(&suspenders_question, read, 2000, gone, ARRAY_LEN(gone), NULL);
    stepped_expect(&suspenders_question, read, "{suspenders,7000000,[],false}");
    stepped_end(&suspenders_question, read);
}

/* The node lists none, or says something else: it is unknown. */
TEST(test_odd_answers)
{
    static const struct stepped_said unlisted[] = {
        {PID, {"<0.41.0>"}}, HELD, {LIST, {"x", "<<1,2>>"}}};
    static const struct stepped_said odd[] = {
        {PID, {"<0.41.0>"}}, HELD, THREE, {WAITING, {"[true]"}}};
    static const struct stepped_said found[] = {{PID, {"<0.41.0>"}},
                                                HELD,
                                                THREE,
                                                {WAITING, {"[true,true,true]"}},
                                                {WAITING, {"[{x,y},{<0.41.0>,-1,z},7]"}}};
    void *read = start_named("{<<\"shop\">>,[]}");
    stepped_run(&suspenders_question, read, 1000, unlisted, ARRAY_LEN(unlisted), NULL);
    stepped_expect(&suspenders_question, read,
                   "{suspenders,7000000,[{<<\"nobody\">>,<0.41.0>,undefined,undefined,undefined,0,"
                   "undefined}],true}");
    stepped_run(&suspenders_question, read, 40000, odd, ARRAY_LEN(odd), NULL);
    stepped_expect(
        &suspenders_question, read,
        "{suspenders,7000000,[{<<\"nobody\">>,<0.41.0>,undefined,undefined,undefined,0,3}],true}");
    stepped_run(&suspenders_question, read, 80000, found, ARRAY_LEN(found), NULL);
    stepped_expect(
        &suspenders_question, read,
        "{suspenders,7000000,[{<<\"<0.2.0>\">>,<0.41.0>,<0.2.0>,undefined,0,3,3}],false}");
    stepped_end(&suspenders_question, read);
}

/* A name as it is written in Elixir, where no process has it as it is. */
TEST(test_alias)
{
    static const struct stepped_said said[] = {
        {PID, {"undefined"}}, {ALIAS, {"<0.41.0>"}}, {STATUS, {"{status,waiting}"}}};
    static const struct stepped_said known[] = {{PID, {"<0.41.0>"}},
                                                {STATUS, {"{status,waiting}"}}};
    void *read = start_named("{<<\"Shop\">>,[]}");
    struct buf asked;
    buf_init(&asked, 0);
    stepped_run(&suspenders_question, read, 1000, said, ARRAY_LEN(said), &asked);
    assert_non_null(strstr(buf_cstr(&asked), "Elixir.Shop"));
    stepped_run(&suspenders_question, read, 2000, known, ARRAY_LEN(known), NULL);
    buf_clear(&asked);
    stepped_end(&suspenders_question, read);
}

/* An argument of another form is about no process. */
TEST(test_odd_argument)
{
    static const struct stepped_said said[] = {{PID, {NULL}}};
    void *read = start_named("x");
    stepped_run(&suspenders_question, read, 1000, said, ARRAY_LEN(said), NULL);
    stepped_expect(&suspenders_question, read, "{suspenders,7000000,[],false}");
    stepped_end(&suspenders_question, read);
}
