/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `apps` of a small node, made of what its native asks say, and what they ask. */
#include "query/apps/apps_terms.h"
#include "steps.h"

/* As in apps_steps. */
enum step { LEADERS, LOADED, LIST, SWEEP, PLAIN, SPARED, WALKED };

static struct apps_read known;
static struct steps_asked asked;
static uint64_t paid_ms;

static bool is_own(const void *own, const struct etf_pid *pid)
{
    (void)own;
    return pid->id == 99;
}

static void start_test(void)
{
    known = (struct apps_read){.paid_ms = &paid_ms, .node = {.name = NODE}, .is_own = is_own};
    paid_ms = 0;
    apps_init(&known);
}

static void end_test(void)
{
    steps_clear(&asked);
    apps_clear(&known);
}

static void ask_all(const struct steps_said *said, uint64_t now_ms)
{
    steps_clear(&asked);
    apps_begin(&known, now_ms);
    steps_play(apps_steps, APPS_STEPS, &known, said, &asked);
}

static void expect_answer(const char *expected)
{
    struct builder *b = builder_new();
    known.mono_ns = 7;
    apps_build(b, &known);
    steps_expect_answer(b, expected);
}

#define SWEPT(reductions, queue) "[{reductions," reductions "},{message_queue_len," queue "}]"
#define INFO(leader, memory) "[{group_leader," leader "},{memory," memory "},{total_heap_size,10}]"

static const struct steps_said whole = {{
    [LEADERS] = {"[[stdlib,<0.6.0>],[kernel,<0.5.0>],[zebra,<0.7.0>]]"},
    [LOADED] = {"[{kernel,\"ERTS\",\"8.5\"},{stdlib,<<\"x\">>,\"1.\\x{e9}\"},{other,\"\",\"\"}]"},
    [LIST] = {"[<0.1.0>,<0.2.0>,<0.3.0>,<0.4.0>,<0.99.0>]"},
    [SWEEP] = {"[" SWEPT("10", "0") "," SWEPT("20", "1") "," SWEPT("40", "2") ",undefined]"},
    [PLAIN] = {"[" INFO("<0.5.0>", "1000") "," INFO("<0.5.0>", "500") "," INFO("<0.8.0>",
                                                                               "70") "]"},
}};

#define REST "{stdlib,<<>>,<<\"1.é\"/utf8>>,0,0,0,0}"
#define NONE "{undefined,<<>>,<<>>,1,70,40,2}"
#define LAST "{zebra,<<>>,<<>>,0,0,0,0}"

TEST(test_whole)
{
    start_test();
    ask_all(&whole, 1000);
    expect_answer("{apps,7,[{kernel,<<\"ERTS\">>,<<\"8.5\">>,2,1500,30,1}," REST "," NONE "," LAST
                  "],false}");
    steps_expect(&asked, SWEEP, "[reductions,message_queue_len]");
    steps_expect(&asked, PLAIN, "[<0.1.0>,<0.2.0>,<0.3.0>]");
    assert_int_equal(asked.times[SPARED] + asked.times[WALKED], 0);
    end_test();
}

/* Who has done no more than answer us is not read again, until some time has passed. */
TEST(test_again)
{
    struct steps_said said = whole;
    start_test();
    ask_all(&whole, 1000);
    said.of[SWEEP][0] =
        "[" SWEPT("11", "0") "," SWEPT("90", "1") "," SWEPT("40", "2") ",undefined]";
    said.of[PLAIN][0] = "[" INFO("<0.5.0>", "600") "]";
    ask_all(&said, 2000);
    expect_answer("{apps,7,[{kernel,<<\"ERTS\">>,<<\"8.5\">>,2,1600,101,1}," REST "," NONE "," LAST
                  "],false}");
    steps_expect(&asked, PLAIN, "[<0.2.0>]");
    assert_int_equal(asked.times[LOADED], 0);
    ask_all(&whole, 20000);
    steps_expect(&asked, PLAIN, "[<0.1.0>,<0.2.0>,<0.3.0>]");
    assert_int_equal(asked.times[LOADED], 1); /* zebra is not among those loaded */
    end_test();
}

/* A long queue: its memory is read by itself, in turns. */
TEST(test_long)
{
    struct steps_said said = whole;
    start_test();
    said.of[LIST][0] = "[<0.1.0>,<0.2.0>]";
    said.of[SWEEP][0] = "[" SWEPT("10", "0") "," SWEPT("20", "1000000") "]";
    said.of[PLAIN][0] = "[" INFO("<0.5.0>", "1000") "]";
    said.of[SPARED][0] = "[[{group_leader,<0.6.0>},{heap_size,100}]]";
    said.of[WALKED][0] = "1000";
    said.of[WALKED][1] = "[{memory,80000000},{total_heap_size,10}]";
    said.of[WALKED][2] = "20001000";
    ask_all(&said, 100000);
    steps_expect(&asked, SPARED, "[<0.2.0>],[[group_leader,heap_size]]");
    steps_expect(&asked, WALKED, "[<0.2.0>,[memory,total_heap_size]]");
#define KERNEL                                                                                     \
    "{apps,7,[{kernel,<<\"ERTS\">>,<<\"8.5\">>,1,1000,10,0},{stdlib,<<>>,<<\"1.é\"/utf8>>,1,"
#define OTHERS ",20,1000000},{undefined,<<>>,<<>>,0,0,0,0}," LAST "],false}"
    expect_answer(KERNEL "80000000" OTHERS);
    ask_all(&said, 105000);
    assert_int_equal(asked.times[WALKED], 0);
    expect_answer(KERNEL "{older,80000000,5000}" OTHERS);
    ask_all(&said, 111000);
    assert_int_equal(asked.times[WALKED], 1);
    expect_answer(KERNEL "80000000" OTHERS);
    apps_clear(&known);
    paid_ms = 200000; /* not its turn: the least that it can be */
    ask_all(&said, 111000);
    expect_answer(KERNEL "{older,40000800,undefined}" OTHERS);
    end_test();
}

/* Many links: found by what the memory has beyond the heaps, and cleared by a short known. */
TEST(test_suspect)
{
    struct steps_said said = whole;
    start_test();
    said.of[LIST][0] = "[<0.1.0>]";
    said.of[SWEEP][0] = "[" SWEPT("10", "0") "]";
    said.of[PLAIN][0] = "[" INFO("<0.5.0>", "900000") "]";
    said.of[SPARED][0] = "[[{group_leader,<0.5.0>},{heap_size,100}]]";
    said.of[WALKED][0] = "1000";
    said.of[WALKED][1] = "[{memory,900000},{total_heap_size,10}]";
    said.of[WALKED][2] = "2000";
    ask_all(&said, 100000);
    assert_int_equal(asked.times[WALKED], 0);
    ask_all(&said, 102000);
    assert_int_equal(asked.times[WALKED], 1);
    ask_all(&said, 104000);
    assert_int_equal(asked.times[WALKED], 0);
    assert_int_equal(asked.times[PLAIN], 1);
    end_test();
}

/* The process of a beamtop's ask; and one whose leader is on another node. */
TEST(test_asked)
{
    struct steps_said said = whole;
    start_test();
    said.of[LEADERS][0] = NULL;
    said.of[LIST][0] = "[<0.1.0>,<0.2.0>]";
    said.of[SWEEP][0] = "[" SWEPT("10", "0") "," SWEPT("20", "0") "]";
    said.of[PLAIN][0] = "[[{group_leader,x}]," INFO("y", "5") "]";
    ask_all(&said, 1000);
    expect_answer("{apps,7,[{undefined,<<>>,<<>>,2,5,30,0}],false}");
    assert_int_equal(asked.times[LOADED], 0);
    end_test();
}

TEST(test_ends)
{
    struct steps_said said = whole;
    struct buf text;
    start_test();
    buf_init(&text, 0);
    buf_puts(&text, "[<0.1.0>");
    for (int i = 1; i <= 1000; i++)
        buf_printf(&text, ",<0.%d.0>", i + 100);
    buf_puts(&text, "]");
    said.of[LIST][0] = buf_cstr(&text);
    ask_all(&said, 1000);
    assert_int_equal(known.end, APPS_MANY);
    assert_int_equal(asked.times[SWEEP] + asked.times[PLAIN], 0);
    for (size_t step = LIST; step <= PLAIN; step++) {
        said = whole;
        said.of[step][0] = NULL;
        apps_clear(&known);
        ask_all(&said, 1000);
        assert_int_equal(known.end, APPS_FAILED);
    }
    buf_clear(&text);
    end_test();
}

/* Whatever an ask returns, the answer can be known. */
TEST(test_odd)
{
    static const char *const odd[] = {
        "[]",
        "\"text\"",
        "[[a,b],[<0.1.0>],[kernel,x],{kernel,<0.5.0>}]",
        "[{kernel,1,2},{kernel,[x],[300|y]},{1,2,3}]",
        "[<0.1.0>,x,<0.1.0>]",
        "[[{reductions,-5},{message_queue_len,9223372036854775807}],[{reductions,a}],x]",
        "[[{group_leader,<0.5.0>},{memory,-9}],[{group_leader,1},{memory,2.5}],[]]"};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        for (size_t step = 0; step < APPS_STEPS; step++) {
            struct steps_said said = whole;
            struct builder *b = builder_new();
            struct buf text;
            size_t len;
            for (size_t k = 0; k < STEP_VALUES; k++)
                said.of[step][k] = odd[i];
            start_test();
            ask_all(&said, 1000);
            apps_build(b, &known);
            buf_init(&text, 0);
            const uint8_t *bytes = builder_bytes(b, &len);
            print_term(&text, bytes, len, &steps_limits);
            if (strstr(buf_cstr(&text), "2.5") || strstr(buf_cstr(&text), "-"))
                fail_msg("%s as answer %zu: %s", odd[i], step, buf_cstr(&text));
            buf_clear(&text);
            builder_free(b);
            end_test();
        }
}
