/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `facts`, made of what its native asks say, and what they ask. */
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/print.h"
#include "query/facts/facts.h"
#include "query/facts/facts_terms.h"
#include "terms.h"

/* As in facts_question. */
enum step {
    BASE,
    LOGGER,
    STATES,
    MODES,
    COUNT,
    MODULES,
    ATTRIBUTES,
    TABLES,
    SPREAD,
    SIZES,
    SPREAD_SIZES,
    ROWS,
    OWNERS,
    IDLE,
    THREADS,
    KINDS,
    FILES,
    STEPS
};
#define VALUES 4

/* Values of each ask; the first NULL: it failed. */
struct said {
    const char *of[STEPS][VALUES];
};

static const struct print_limits limits = {.bytes = 100000};

static struct facts_read facts;
static struct buf asked[STEPS]; /* what each call was asked, as text; empty: nothing */

static void start_facts(void)
{
    facts_question.init(&facts);
    facts_question.begin(&facts, NULL);
    for (size_t i = 0; i < STEPS; i++)
        buf_init(&asked[i], 0);
}

static void end_facts(void)
{
    facts_question.clear(&facts);
    for (size_t i = 0; i < STEPS; i++)
        buf_clear(&asked[i]);
}

/* The number of calls; none where the step has nothing to ask (any more). */
static size_t note_calls(size_t step)
{
    struct run_calls calls = {0};
    const bool asks = facts_question.steps[step].ask(&facts, &calls);
    if (asks)
        buf_reset(&asked[step]);
    for (size_t i = 0; i < calls.n; i++) {
        size_t len;
        if (asks && calls.terms[i]) {
            const uint8_t *bytes = builder_bytes(calls.terms[i], &len);
            print_term(&asked[step], bytes, len, &limits);
        }
        builder_free(calls.terms[i]);
    }
    return asks ? calls.n : 0;
}

/* {Node, Port} of the node n@h, which has no form as text. */
static struct builder *controllers_of(void)
{
    static const uint8_t port[] = {102, 119, 3, 'n', '@', 'h', 0, 0, 0, 7, 1};
    struct builder *b = builder_new();
    build_list(b, 3);
    build_tuple(b, 2);
    build_atom(b, "m@h");
    build_raw(b, port, sizeof port);
    build_tuple(b, 2);
    build_atom(b, "beamtop1@h");
    build_raw(b, port, sizeof port);
    build_tuple(b, 2);
    build_atom(b, "tls@h");
    build_atom(b, "none");
    build_nil(b);
    return b;
}

static void take_step(size_t step, const char *const *texts, size_t n)
{
    struct builder *kept[VALUES] = {0};
    struct slice values[VALUES];
    for (size_t i = 0; texts[0] && i < n && i < VALUES; i++) {
        if (strcmp(texts[i], "controllers") == 0) {
            kept[i] = controllers_of();
            values[i].s = (const char *)builder_bytes(kept[i], &values[i].len);
        } else {
            kept[i] = term_of(texts[i], &values[i]);
        }
        values[i].s++; /* the version */
        values[i].len--;
    }
    facts_question.steps[step].take(&facts, texts[0] ? values : NULL, n);
    for (size_t i = 0; i < VALUES; i++)
        builder_free(kept[i]);
}

/* A question; a step that is asked again hears the same. */
static void ask_all(const struct said *said)
{
    for (size_t step = 0; step < STEPS; step++) {
        size_t n, times = 0;
        while ((n = note_calls(step)) > 0) {
            assert_true(times++ < 10);
            take_step(step, said->of[step], n);
            if (!facts_question.steps[step].repeats)
                break;
        }
    }
}

static void expect_answer(const char *expected)
{
    struct builder *b = builder_new();
    struct buf text;
    size_t len;
    buf_init(&text, 0);
    facts_question.build(b, &facts, 7000000, NULL);
    const uint8_t *bytes = builder_bytes(b, &len);
    print_term(&text, bytes, len, &limits);
    assert_string_equal(buf_cstr(&text), expected);
    buf_clear(&text);
    builder_free(b);
}

static void expect_asked(enum step step, const char *part)
{
    if (!strstr(buf_cstr(&asked[step]), part))
        fail_msg("%s is not in %s", part, buf_cstr(&asked[step]));
}

#define HANDLER(id, module, config)                                                                \
    "#{id => " id ",module => " module ",level => all,config => " config "}"
#define OTPS "#{sync_mode_qlen => 10,drop_mode_qlen => 200,flush_qlen => 1000,type => a}"
#define OTHER "#{sync_mode_qlen => {odd},mode => sync,1 => 2}"
#define CONFIGS                                                                                    \
    "[" HANDLER("default", "logger_std_h", OTPS) "," HANDLER("own", "some_module", OTHER) "]"

static const struct said whole = {{
    [BASE] = {"1048576", "controllers", "8"},
    [LOGGER] = {CONFIGS, "{ok,\"1.14.0\"}"},
    [STATES] = {"[{queue_size,12}]", "[<0.5.0>,undefined,undefined,undefined,undefined,<0.6.0>]",
                "{ok,20}", "undefined"},
    [MODES] = {"[async,undefined]"},
    [COUNT] = {"'__adapter__'", "300"},
    [MODULES] = {"['Elixir.A','Elixir.B']"},
    [ATTRIBUTES] = {"[[{vsn,[1]},{behaviour,['Elixir.C','Elixir.Ecto.Repo']}],[{behaviour,[c]}]]"},
    [TABLES] = {"[small,large,gone,spread]"},
    [SPREAD] = {"[false,false,undefined,true]"},
    [SIZES] = {"[300,4000,undefined]"},
    [SPREAD_SIZES] = {"[2000]"},
    [ROWS] = {"[large,spread,small]", "[<0.7.0>,<0.8.0>,<0.9.0>]"},
    [OWNERS] = {"[{registered_name,owner},[],undefined]"},
    [IDLE] = {"[3,1,0]"},
    [THREADS] = {"{ok,[\"10\",\"11\",\"12\",\"odd\",\"13\"]}",
                 "{ok,<<\"5:cpu,cpuacct:/a\\n3:pids:/b\\n0::/c\\n\">>}"},
    [KINDS] = {"[{ok,<<\"beam.smp\\n\">>},{ok,<<\"erts_sched_1\\n\">>},{ok,<<\"2_scheduler\\n\">>},"
               "{ok,<<\"erts_dios_1\\n\">>}]"},
    [FILES] = {"[{ok,<<\"5000 3000 7\\n\">>},{ok,<<\"2000 1000 7\\n\">>},"
               "{ok,<<\"cpu  1 2 3 4 5 6 7 8 9 10\\ncpu0 1 2\\n\">>},{error,enoent},{error,enoent},"
               "{ok,<<\"nr_periods 40\\nnr_throttled 4\\nthrottled_time 1\\n\">>},{error,enoent}]"},
}};

#define CPUS                                                                                       \
    "#{mono_us => 7000,schedulers => 2,run_us => 7,wait_us => 4,host_ticks => 36,"                 \
    "steal_ticks => 8,periods => 40,throttled_periods => 4}"
#define WHOLE(cpus)                                                                                \
    "{facts,7000000,#{logger => #{handlers => [#{id => <<\"default\">>,module => logger_std_h,"    \
    "process => logger_std_h_default,mode => async,sync_mode_qlen => 10,drop_mode_qlen => 200,"    \
    "flush_qlen => 1000},#{id => <<\"own\">>,module => some_module,process => some_module,"        \
    "mode => sync,sync_mode_qlen => undefined,drop_mode_qlen => undefined,"                        \
    "flush_qlen => undefined}],elixir => #{version => <<\"1.14.0\">>,sync_threshold => 20,"        \
    "discard_threshold => undefined}},cpus => " cpus                                               \
    ",distribution => #{busy_limit_bytes => 1048576,nodes => [#{node => m@h,queue_bytes => 12}]}," \
    "repositories => ['Elixir.A'],ets => #{tables => [#{name => large,owner => owner,"             \
    "memory_bytes => 32000},#{name => spread,owner => <0.8.0>,memory_bytes => 16000},"             \
    "#{name => small,owner => <0.9.0>,memory_bytes => 2400}]}}}"

TEST(test_whole)
{
    start_facts();
    ask_all(&whole);
    expect_answer(WHOLE(CPUS));
    expect_asked(STATES, "[logger_std_h_default,default,logger_std_h,own,own,some_module]");
    expect_asked(MODES, "[{logger_olp,logger_std_h_default},{logger_olp,some_module}]");
    expect_asked(MODULES, "[300,'__adapter__']");
    expect_asked(SIZES, "[small,large,gone],[memory,memory,memory]");
    expect_asked(SPREAD_SIZES, "[spread],[memory]");
    expect_asked(FILES,
                 "[<<\"/proc/self/task/11/schedstat\">>,<<\"/proc/self/task/12/schedstat\">>,"
                 "<<\"/proc/stat\">>,<<\"/sys/fs/cgroup/cpu/a/cpu.stat\">>,"
                 "<<\"/sys/fs/cgroup/cpu/cpu.stat\">>,<<\"/sys/fs/cgroup/c/cpu.stat\">>,"
                 "<<\"/sys/fs/cgroup/cpu.stat\">>]");
    end_facts();
}

/* Threads are looked for once. */
TEST(test_again)
{
    start_facts();
    ask_all(&whole);
    facts_question.begin(&facts, NULL);
    buf_reset(&asked[THREADS]);
    buf_reset(&asked[KINDS]);
    ask_all(&whole);
    expect_answer(WHOLE(CPUS));
    assert_int_equal(asked[THREADS].len, 0);
    assert_int_equal(asked[KINDS].len, 0);
    end_facts();
}

/* Where a process waits for a dirty I/O scheduler no file is read. */
TEST(test_busy)
{
    struct said busy = whole;
    busy.of[IDLE][0] = "[0,0,1]";
    start_facts();
    ask_all(&busy);
    expect_answer(WHOLE("undefined"));
    assert_int_equal(facts.looks, 5);
    assert_int_equal(asked[FILES].len, 0);
    end_facts();
}

/* A list of small numbers comes as a string. */
TEST(test_small_numbers)
{
    struct said said = whole;
    said.of[IDLE][0] = "\"ab\\0\"";
    start_facts();
    ask_all(&said);
    expect_answer(WHOLE(CPUS));
    end_facts();
}

TEST(test_failed)
{
    static const struct said none = {{{NULL}}};
    start_facts();
    ask_all(&none);
    expect_answer("{facts,7000000,#{logger => undefined,cpus => undefined,"
                  "distribution => undefined,repositories => [],ets => undefined}}");
    end_facts();
}

/* One part that fails leaves the others; a group's path that leads out of the tree is not read. */
TEST(test_parts)
{
    struct said said = whole;
    said.of[LOGGER][0] = said.of[MODULES][0] = said.of[SPREAD][0] = NULL;
    said.of[THREADS][1] = "{ok,<<\"5:cpu:/a/../../b\\n0::relative\\n\">>}";
    start_facts();
    ask_all(&said);
    expect_answer("{facts,7000000,#{logger => undefined,cpus => " CPUS
                  ",distribution => #{busy_limit_bytes => 1048576,nodes => [#{node => m@h,"
                  "queue_bytes => 12}]},repositories => undefined,ets => undefined}}");
    expect_asked(FILES, "<<\"/sys/fs/cgroup/cpu/cpu.stat\">>,<<\"/sys/fs/cgroup/cpu/cpu.stat\">>,"
                        "<<\"/sys/fs/cgroup/cpu.stat\">>,<<\"/sys/fs/cgroup/cpu.stat\">>]");
    end_facts();
}

/* Whatever an ask returns, the answer has only what its readers know. */
TEST(test_odd)
{
    static const char *const odd[] = {"[]",
                                      "{}",
                                      "\"text\"",
                                      "[a,1,{b},<<\"c\">>]",
                                      "#{}",
                                      "[#{id => 1}]",
                                      "{ok,[[1000000]]}",
                                      "[[a|b]]",
                                      "-1",
                                      "[{a,b}|c]",
                                      "<<\"x\">>",
                                      "9223372036854775807",
                                      "{ok,\"1\"}",
                                      "[{ok,<<>>},{ok,7}]",
                                      "[1.5,<0.1.0>]"};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        for (size_t step = 0; step < STEPS; step++) {
            struct said said = whole;
            for (size_t k = 0; k < VALUES; k++)
                said.of[step][k] = odd[i];
            start_facts();
            ask_all(&said);
            struct builder *b = builder_new();
            struct buf text;
            size_t len;
            buf_init(&text, 0);
            facts_question.build(b, &facts, 0, NULL);
            const uint8_t *bytes = builder_bytes(b, &len);
            print_term(&text, bytes, len, &limits);
            if (strstr(buf_cstr(&text), "Bad") || strstr(buf_cstr(&text), "1.5"))
                fail_msg("%s as answer %zu: %s", odd[i], step, buf_cstr(&text));
            buf_clear(&text);
            builder_free(b);
            end_facts();
        }
}
