/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `node`, made of what its native asks say. */
#include <stdio.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/print.h"
#include "query/node_terms.h"
#include "terms.h"

/* FACT_…, from the version on. */
#define FACTS_WITH(version, os_version, started, ticktime, elixir)                                 \
    "['n@h',\"25\",\"13.1.5\",\"" version "\",8,4,3,2,1,10,262144,65536,1048576,8192,unknown,"     \
    "{unix,linux}," os_version ",\"4711\"," started "," ticktime "," elixir "]"
#define VERSION "Erlang/OTP 25 [erts-13.1.5] [source] [64-bit] [smp:2:2] [jit:ns]\\n"
#define STARTED "-576460751000000000,1700000000000000123,1000000000"
#define FACTS FACTS_WITH(VERSION, "{6,1,0}", STARTED, "60", "{ok,\"1.14.0\"}")

#define ANSWER(emulator, os, start, tick, mode, elixir)                                            \
    "{node,n@h,<<\"25\">>,<<\"13.1.5\">>,<<\"" emulator                                            \
    "\">>,8,4,3,2,1,10,{262144,65536,1048576,8192},<<" os ">>,<<\"4711\">>," start "," tick        \
    "," mode ",<<" elixir ">>,0}"
#define START_US "1123539249000000"

/* expected "": it is refused. */
static void expect_answer(const char *facts, const char *mode, const char *tick,
                          const char *expected)
{
    static const struct print_limits limits = {.depth = 20, .items = 100, .bytes = 4000};
    struct node_values v;
    struct builder *kept[] = {term_of(facts, &v.facts), term_of(mode, &v.mode),
                              term_of(tick, &v.ticktime)};
    struct builder *b = builder_new();
    struct buf text;
    buf_init(&text, 4096);
    if (node_build(b, &v)) {
        size_t len = 0;
        const uint8_t *bytes = builder_bytes(b, &len);
        print_term(&text, bytes, len, &limits);
    }
    assert_string_equal(buf_cstr(&text), expected);
    buf_clear(&text);
    builder_free(b);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        builder_free(kept[i]);
}

TEST(test_whole)
{
    expect_answer(FACTS, "[{ok,[[\"embedded\"]]}]", "[15]",
                  ANSWER("jit", "\"unix/linux 6.1.0\"", START_US, "15", "embedded", "\"1.14.0\""));
}

/* What a server does not say: the tick time as it was set at the start, no mode. */
TEST(test_late)
{
    expect_answer(FACTS, NULL, NULL,
                  ANSWER("jit", "\"unix/linux 6.1.0\"", START_US, "60", "undefined", "\"1.14.0\""));
}

TEST(test_modes)
{
    static const struct {
        const char *value, *mode;
    } cases[] = {
        {"[error]", "interactive"},
        {"[{ok,[[\"interactive\"]]}]", "interactive"},
        {"[{ok,[[\"embedded\"],[\"interactive\"]]}]", "embedded"},
        {"[{ok,[[]]}]", "interactive"},
        {"[{ok,[[\"embedded2\"]]}]", "interactive"},
        {"[{ok,[embedded]}]", "interactive"},
        {"x", "undefined"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char expected[400];
        snprintf(expected, sizeof expected,
                 ANSWER("jit", "\"unix/linux 6.1.0\"", START_US, "15", "%s", "\"1.14.0\""),
                 cases[i].mode);
        expect_answer(FACTS, cases[i].value, "[15]", expected);
    }
}

TEST(test_ticktimes)
{
    static const struct {
        const char *asked, *at_start, *seconds;
    } cases[] = {
        {"[{ongoing_change_to,20}]", "60", "20"},
        {"[ignored]", "60", "0"},
        {NULL, "15", "15"},
        {NULL, "soon", "0"},
        {"[{ongoing_change_to}]", "60", "0"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char facts[1000], expected[400];
        snprintf(facts, sizeof facts, FACTS_WITH(VERSION, "{6,1,0}", STARTED, "%s", "undefined"),
                 cases[i].at_start);
        snprintf(expected, sizeof expected,
                 ANSWER("jit", "\"unix/linux 6.1.0\"", START_US, "%s", "interactive", ""),
                 cases[i].seconds);
        expect_answer(facts, "[error]", cases[i].asked, expected);
    }
}

/* Without the JIT, with a version that is text, and another unit of time. */
TEST(test_others)
{
    expect_answer(
        FACTS_WITH("Erlang/OTP 23 [hipe]", "\"6.1 \\x{fc}\"", "-500,1000001500,1000", "60",
                   "undefined"),
        "[error]", "[60]",
        ANSWER("emu", "\"unix/linux 6.1 ü\"/utf8", "1000001000000", "60", "interactive", ""));
}

/* Of another form: refused, whatever it is. */
TEST(test_refuses)
{
    static const char *const facts[] = {
        NULL,
        "[]",
        "x",
        "\"text\"",
        "[1,2,3]",
        FACTS_WITH(VERSION, "linux", STARTED, "60", "undefined"),
        FACTS_WITH(VERSION, "{6,1,x}", STARTED, "60", "undefined"),
        FACTS_WITH(VERSION, "[x]", STARTED, "60", "undefined"),
        FACTS_WITH(VERSION, "[-1]", STARTED, "60", "undefined"),
        FACTS_WITH(VERSION, "[55296]", STARTED, "60", "undefined"),
        FACTS_WITH(VERSION, "[97|98]", STARTED, "60", "undefined"),
        FACTS_WITH(VERSION, "{6,1,0}", "1,2,0", "60", "undefined"),
        FACTS_WITH(VERSION, "{6,1,0}", "1,2,-5", "60", "undefined"),
        FACTS_WITH(VERSION, "{6,1,0}", "1,x,1000", "60", "undefined"),
        FACTS_WITH(VERSION, "{6,1,0}", "9223372036854775807,1,1000", "60", "undefined"),
        FACTS_WITH(VERSION, "{6,1,0}", "9223372036854775807,0,1", "60", "undefined"),
        FACTS_WITH(VERSION, "{6,1,0}", "-9223372036854775807,0,1000", "60", "undefined"),
        FACTS_WITH(VERSION, "{6,1,0}", STARTED, "60", "{ok,vsn}"),
    };
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        expect_answer(facts[i], "[error]", "[60]", "");
}
