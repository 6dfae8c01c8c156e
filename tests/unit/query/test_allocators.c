/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `alloc`, made of what its native asks say, and what they ask. */
#include "query/alloc/allocators.h"
#include "query/alloc/allocators_terms.h"
#include "steps.h"

/* As in allocators_question. */
enum step { NAMES, SIZES, QUEUES, STATUS };

static struct allocators_read known;
static struct steps_asked asked;

static void ask_all(const struct steps_said *said)
{
    steps_clear(&asked);
    allocators_question.begin(&known, NULL);
    steps_play(allocators_question.steps, allocators_question.n_steps, &known, said, &asked);
}

static void expect_answer(const char *expected)
{
    struct builder *b = builder_new();
    allocators_question.build(b, &known, 7, NULL);
    steps_expect_answer(b, expected);
}

static void end_test(void)
{
    steps_clear(&asked);
    allocators_question.clear(&known);
    known = (struct allocators_read){0};
}

/* Cut on the node; and as it was, of another form, whose pool has blocks of both. */
#define CUT                                                                                        \
    "{instance,0,[{mbcs,[{blocks,[{b_alloc,[{count,2,9,9},{size,300,900,900}]}]},{carriers,1},"    \
    "{carriers_size,4096}]},{sbcs,[{blocks,[]},{carriers,0},{carriers_size,0}]}]}"
#define AS_IT_WAS                                                                                  \
    "{instance,3,[{versions,\"0.9\",\"3.0\"},{options,[{e,true}]},{fix_types,[]},"                 \
    "{mbcs,[{blocks,[{b_alloc,[{count,1,1,1},{size,100,100,100}]}]},{carriers,1,2,2},"             \
    "{mseg_alloc_carriers,1},{carriers_size,8192,8192,8192}]},"                                    \
    "{mbcs_pool,[{blocks,[{a_alloc,[{count,1,1,1},{size,10,10,10}]},{b_alloc,[{count,4,4,4},"      \
    "{size,40,40,40}]}]},{carriers,2},{carriers_size,1024},{fetch,0,0}]},"                         \
    "{sbcs,[{blocks,[{b_alloc,[{count,1,1,1},{size,70000,1,1}]}]},{carriers,1,1,1},"               \
    "{carriers_size,80000,1,1}]},{calls,[{b_alloc,0,1}]}]}"
#define SEGMENTS                                                                                   \
    "[{instance,0,[{memkind,[{status,[{cache_hits,5}]},{calls,[{mseg_alloc,2,9}]}]}]},"            \
    "{instance,1,[{version,\"0.9\"},{options,[]},{memkind,[{name,\"all\"},{status,[{x,1},"         \
    "{cache_hits,1}]},{calls,[{mseg_alloc,0,3},{mseg_free,0,8}]}]}]}]"

static const struct steps_said whole = {{
    [NAMES] = {"[a_alloc,off_alloc,b_alloc]", "[sys_alloc,a_alloc,b_alloc,mseg_alloc]"},
    [SIZES] = {"[{instance,0,[{options,[{e,false}]}]}]", "[" CUT "," AS_IT_WAS "]", SEGMENTS},
    [QUEUES] = {"[3,1,0]"},
    [STATUS] =
        {"{ok,<<\"Name:\\tbeam\\nVmHWM:\\t  40 kB\\nVmRSS:\\t   30 kB\\nVmSwap: 0 kB\\n\">>}"},
}};

#define ROWS                                                                                       \
    "[{a_alloc,1,{0,0,0,0},{0,0,0,0},{0,0,0}},"                                                    \
    "{b_alloc,2,{3,400,2,12288},{1,70000,1,80000},{2,1024,50}}]"
#define PARTS "[{b_alloc,3,7,70150,4,89216},{b_alloc,0,2,300,1,4096}]"

TEST(test_whole)
{
    allocators_question.init(&known);
    ask_all(&whole);
    expect_answer("{alloc,7," ROWS ",{6,2000000012}," PARTS ",{30720,undefined,0,40960}}");
    steps_expect(&asked, NAMES, "system_info[alloc_util_allocators]");
    steps_expect(&asked, SIZES, "[[{allocator,a_alloc}],[[{{instance,'$1',['_','_',{mbcs,");
    steps_expect(&asked, SIZES, "[[{allocator,mseg_alloc}],[[{{instance,'$1',['_','_',{memkind");
    ask_all(&whole);
    assert_int_equal(asked.times[NAMES], 0); /* known */
    assert_int_equal(asked.times[SIZES], 1);
    end_test();
}

/* What is read on this host is not asked. */
TEST(test_local)
{
    static const uint8_t local[] = {131, 119, 5, 'l', 'o', 'c', 'a', 'l'};
    allocators_question.init(&known);
    assert_true(allocators_question.takes(&known, local, sizeof local));
    ask_all(&whole);
    expect_answer("{alloc,7," ROWS ",{6,2000000012}," PARTS ",undefined}");
    assert_int_equal(asked.times[QUEUES] + asked.times[STATUS], 0);
    end_test();
}

TEST(test_late)
{
    struct steps_said late = whole;
    late.of[SIZES][0] = NULL;
    allocators_question.init(&known);
    known.local = true;
    ask_all(&late);
    expect_answer("{alloc,7,[],undefined,[],undefined}");
    ask_all(&whole); /* something is asked where the sizes cannot be */
    assert_int_equal(asked.times[NAMES], 1);
    ask_all(&whole);
    assert_int_equal(asked.times[NAMES], 0);
    end_test();
}

/* Where a process waits for a dirty I/O scheduler no file is read; without segments none are
 * asked. */
TEST(test_parts)
{
    struct steps_said said = whole;
    said.of[NAMES][1] = "[a_alloc,b_alloc]";
    said.of[QUEUES][0] = "[0,0,2]";
    allocators_question.init(&known);
    ask_all(&said);
    expect_answer("{alloc,7," ROWS ",undefined," PARTS ",undefined}");
    assert_int_equal(asked.times[QUEUES], 5);
    assert_int_equal(asked.times[STATUS], 0);
    end_test();
}

/* A hundred at most; those without a carrier are left out. */
TEST(test_many)
{
    struct steps_said said = whole;
    struct buf text;
    struct builder *b = builder_new();
    size_t len, found = 0;
    buf_init(&text, 0);
    buf_puts(&text, "[");
    for (int i = 0; i < 150; i++)
        buf_printf(&text, "%s{instance,%d,[{mbcs,[{carriers,1},{carriers_size,%d}]}]}",
                   i > 0 ? "," : "", i, 1000 + i);
    buf_puts(&text, "]");
    said.of[SIZES][1] = buf_cstr(&text);
    allocators_question.init(&known);
    ask_all(&said);
    allocators_question.build(b, &known, 7, NULL);
    buf_reset(&text);
    const uint8_t *bytes = builder_bytes(b, &len);
    print_term(&text, bytes, len, &steps_limits);
    for (const char *at = buf_cstr(&text); (at = strstr(at, "{b_alloc,")) != NULL; at++)
        found++;
    assert_int_equal(found, 1 + 100);
    assert_non_null(strstr(buf_cstr(&text), "[{b_alloc,149,0,0,1,1149},{b_alloc,148,"));
    buf_clear(&text);
    builder_free(b);
    end_test();
}

/* Whatever an ask returns, the answer has numbers only. */
TEST(test_odd)
{
    static const char *const odd[] = {
        "[]",
        "\"text\"",
        "[{instance,a,[]}]",
        "[{instance,1,[{mbcs,x},{sbcs,[{blocks,[{a},{a,b}]},{carriers,-1},{carriers_size,y}]}]}]",
        "[{instance,1,[{mbcs,[{carriers_size,9223372036854775807}]},{memkind,[{calls,"
        "[{mseg_alloc,1000000000000,1}]}]}]}|tail]",
        "{ok,<<\"VmRSS: kB\">>}",
        "[{instance,1,[{mbcs,[{blocks,[{a,[{count,1},{size,2.5}]}|x]}|y]}]}]"};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        for (size_t step = 0; step < allocators_question.n_steps; step++) {
            struct steps_said said = whole;
            struct builder *b = builder_new();
            struct buf text;
            size_t len;
            for (size_t k = 0; k < STEP_VALUES; k++)
                said.of[step][k] = odd[i];
            allocators_question.init(&known);
            ask_all(&said);
            allocators_question.build(b, &known, 7, NULL);
            buf_init(&text, 0);
            const uint8_t *bytes = builder_bytes(b, &len);
            print_term(&text, bytes, len, &steps_limits);
            if (strstr(buf_cstr(&text), "2.5") || strstr(buf_cstr(&text), "-1"))
                fail_msg("%s as answer %zu: %s", odd[i], step, buf_cstr(&text));
            buf_clear(&text);
            builder_free(b);
            end_test();
        }
}
