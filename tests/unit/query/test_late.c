/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `late`, made of what its native asks say, and what they ask. */
#include "query/late/late.h"
#include "steps.h"

enum step { ONLINE, EACH };

static struct late_read known;
static struct steps_asked asked;

static void expect_late(const char *online, const char *messages, const char *answer)
{
    const struct steps_said said = {
        {[ONLINE] = {online}, [EACH] = {"false", "[<0.1.0>]", "ok", messages}}};
    struct builder *b = builder_new();
    late_question.init(&known);
    late_question.begin(&known, NULL);
    steps_clear(&asked);
    steps_play(late_question.steps, late_question.n_steps, &known, &said, &asked);
    late_question.build(b, &known, 7, NULL);
    steps_expect_answer(b, answer);
}

TEST(test_late)
{
    expect_late("3", "{messages,[{'EXIT',<0.1.0>,3},{'EXIT',<0.2.0>,1}]}", "{late,[2]}");
    steps_expect(&asked, EACH, "[erlang,exit,[3],[link,{priority,max},{scheduler,3}]]");
    expect_late("2", "{messages,[{'EXIT',<0.1.0>,2},{'EXIT',<0.1.0>,1}]}", "{late,[]}");
    expect_late("2", "{messages,[]}", "{late,[1,2]}");
    steps_clear(&asked);
}

/* Not known who: none is named. */
TEST(test_odd)
{
    expect_late("2", "x", "{late,[]}");
    expect_late("2", "{messages,[{'EXIT',<0.1.0>,0},{'EXIT',<0.1.0>,3},{'EXIT',a,x},2,{a,b}]}",
                "{late,[1,2]}");
    expect_late(NULL, "{messages,[]}", "{late,[]}");
    expect_late("0", "{messages,[]}", "{late,[]}");
    expect_late("1000000", "{messages,[]}", "{late,[]}");
    assert_int_equal(asked.times[EACH], 0);
    steps_clear(&asked);
}
