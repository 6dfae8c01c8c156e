/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `old_code`, made of what its native asks say, and what they ask. */
#include "query/seek/old_code.h"

#include "../../test.h"
#include "stepped.h"

enum step { OLD, LIST, WAITING, RUNNING };

#define ALL(old, count, rest)                                                                      \
    "{<<\"all\">>,<<\"shop\">>," old ",undefined,undefined," count "," rest "}"

static void *start_module(void)
{
    void *read = stepped_start(&old_code_question);
    struct slice term;
    struct builder *b = term_of("<<\"shop\">>", &term);
    assert_true(old_code_question.takes(read, (const uint8_t *)term.s, term.len));
    builder_free(b);
    return read;
}

/* Of three one waits and has it, one runs, one has too large a stack. */
TEST(test_who_has_it)
{
    static const struct stepped_said said[] = {
        {OLD, {"true"}},
        {LIST, {"3", "[<0.1.0>,<0.2.0>,<0.3.0>]"}},
        {WAITING, {"[true,false,true]"}},
        {WAITING, {"[true,false]", "[true]"}},
        {RUNNING, {"[true]", "[]"}},
    };
    void *read = start_module();
    struct buf asked;
    buf_init(&asked, 0);
    stepped_run(&old_code_question, read, 1000, said, ARRAY_LEN(said), &asked);
    stepped_expect(
        &old_code_question, read,
        "{old_code,7000000,[" ALL(
            "true", "2", "2,3") ",{<<\"<0.1.0>\">>,<<\"shop\">>,true,<0.1.0>,undefined,1,undefined,"
                                "undefined},{<<\"<0.2.0>\">>,<<\"shop\">>,true,<0.2.0>,undefined,1,"
                                "undefined,undefined}],true}");
    assert_non_null(strstr(buf_cstr(&asked), "[{allow_gc,false}]"));
    assert_non_null(strstr(buf_cstr(&asked), "fun erlang:check_process_code/3"));
    buf_clear(&asked);
    stepped_end(&old_code_question, read);
}

/* Nothing is asked of processes where there is no old code, or no such module. */
TEST(test_none)
{
    static const struct stepped_said none[] = {{OLD, {"false"}}}, odd[] = {{OLD, {NULL}}};
    void *read = start_module();
    stepped_run(&old_code_question, read, 1000, none, ARRAY_LEN(none), NULL);
    stepped_expect(&old_code_question, read,
                   "{old_code,7000000,[" ALL("false", "0", "undefined,undefined") "],false}");
    stepped_run(&old_code_question, read, 2000, odd, ARRAY_LEN(odd), NULL);
    stepped_expect(&old_code_question, read,
                   "{old_code,7000000,[" ALL("false", "0", "undefined,undefined") "],false}");
    stepped_end(&old_code_question, read);
}

/* Late, or of another form: unchecked. */
TEST(test_unchecked)
{
    static const struct stepped_said said[] = {
        {OLD, {"true"}},
        {LIST, {"3", "[<0.1.0>,<0.2.0>,<0.3.0>]"}},
        {WAITING, {"[true,false,true]"}},
        {WAITING, {"[true]", "x"}},
        {RUNNING, {NULL}},
    };
    void *read = start_module();
    stepped_run(&old_code_question, read, 1000, said, ARRAY_LEN(said), NULL);
    stepped_expect(&old_code_question, read,
                   "{old_code,7000000,[" ALL("true", "0", "0,3") "],true}");
    stepped_end(&old_code_question, read);
}
