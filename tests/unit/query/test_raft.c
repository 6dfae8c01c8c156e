/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raft groups, of the rows that tables of `ra` may have. */
#include <string.h>

#include "../../test.h"
#include "query/raft/raft.h"
#include "stepped.h"

static void expect_raft(const struct stepped_said *said, size_t n, const char *expected)
{
    void *read = stepped_start(&raft_question);
    stepped_run(&raft_question, read, 1000, said, n, NULL);
    stepped_expect(&raft_question, read, expected);
    stepped_end(&raft_question, read);
}

TEST(test_groups)
{
    static const struct stepped_said led[] = {
        {0, {"1", "2"}},
        {1,
         {"{[{orders,{orders,'b@h'},[{orders,n@h},{orders,'b@h'}]}],continuation}",
          "{[{other,leader},{orders,follower}],continuation}"}}};
    static const struct stepped_said newer[] = {
        {0, {"1", "1"}},
        {1,
         {"{[{<<\"q\">>,undefined,[{orders,n@h}]}],'$end_of_table'}",
          "{[{orders,candidate,voter}],continuation}"}}};
    static const struct stepped_said elsewhere[] = {
        {0, {"2", "undefined"}}, {1, {"{[{\"q\",{orders,'b@h'},[{orders,'b@h'}]}],continuation}"}}};
    expect_raft(led, 2,
                "{raft,7000000,[{<<\"orders\">>,<<\"b@h\">>,<<\"orders\">>,<<\"follower\">>,"
                "undefined,2,<<\"n@h b@h\">>}],false}");
    expect_raft(newer, 2,
                "{raft,7000000,[{<<\"<<\\\"q\\\">>\">>,<<\"none\">>,<<\"orders\">>,"
                "<<\"candidate\">>,<<\"voter\">>,1,<<\"n@h\">>}],false}");
    expect_raft(elsewhere, 2,
                "{raft,7000000,[{<<\"\\\"q\\\"\">>,<<\"b@h\">>,undefined,undefined,undefined,1,"
                "<<\"b@h\">>}],true}");
}

TEST(test_no_groups)
{
    static const struct stepped_said none[] = {{0, {"undefined", "undefined"}}};
    static const struct stepped_said empty[] = {{0, {"0", "0"}}};
    static const struct stepped_said large[] = {{0, {"20001", "3"}}};
    static const struct stepped_said gone[] = {{0, {"1", "1"}}, {1, {NULL}}};
    static const struct stepped_said refused[] = {{0, {"1", "1"}},
                                                  {1, {"'$end_of_table'", "'$end_of_table'"}}};
    expect_raft(none, 1, "{raft,7000000,[],false}");
    expect_raft(empty, 1, "{raft,7000000,[],false}");
    expect_raft(large, 1, "{raft,7000000,[],true}");
    expect_raft(gone, 2, "{raft,7000000,[],true}");
    expect_raft(refused, 2, "{raft,7000000,[],true}");
}

/* What another program has put into tables of these names. */
TEST(test_rows_that_are_none)
{
    static const char *const rows[] = {
        "{[],continuation}",
        "{[1,a,{},\"ab\"],continuation}",
        "{\"abc\",continuation}",
        "{[{orders,leader,[{orders,n@h}]}],continuation}",
        "{[{orders,{1,2},[{orders,n@h}]}],continuation}",
        "{[{orders,{orders,'b@h'}}],continuation}",
        "{[{orders,{orders,'b@h'},x,y}],continuation}",
        "{not_a_list,continuation}",
        "[]",
        "7",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct stepped_said said[] = {{0, {"1", "2"}},
                                            {1, {rows[i], "{[1,{a},{1,2},{a,b,c,d}],x}"}}};
        print_message("%s\n", rows[i]);
        expect_raft(said, 2, "{raft,7000000,[],true}");
    }
    static const struct stepped_said members[] = {
        {0, {"1", "1"}},
        {1, {"{[{g,undefined,[1,{a},{1,2},{orders,n@h}]}],c}", "{[{orders,1}],c}"}}};
    expect_raft(members, 2,
                "{raft,7000000,[{<<\"g\">>,<<\"none\">>,<<\"orders\">>,undefined,undefined,4,"
                "<<\"n@h\">>}],false}");
}
