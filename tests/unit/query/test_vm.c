/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `vm`, made of what its native asks say, and what they ask. */
#include "query/vm/vm.h"

#include <stdio.h>

#include "../../test.h"
#include "query/vm/vm_args.h"
#include "stepped.h"

/* As in vm_question. */
enum step {
    BASE,
    COUNTS,
    WORDS,
    ENDS,
    FLAGS,
    ARGS,
    APPLICATIONS,
    CONTROLLERS,
    QUEUES,
    IDLE,
    OWN,
    PROBE,
    FILES,
    DESCRIPTORS,
    POLLS
};

/* ---- arguments */

enum of { OF_EMULATOR, OF_INIT };

static struct buf rows_of_args(enum of of, const char *args)
{
    struct vm_rows rows;
    struct slice term;
    struct buf text;
    size_t len;
    struct builder *b = term_of(args, &term), *out = builder_new();
    term.s++;
    term.len--;
    vm_rows_init(&rows);
    if (of == OF_EMULATOR)
        vm_add_flags(&rows, term);
    else
        vm_add_args(&rows, term, true);
    vm_rows_end(&rows, out, 0);
    buf_init(&text, 0);
    const uint8_t *bytes = builder_bytes(out, &len);
    print_term(&text, bytes, len, &steps_limits);
    builder_free(b);
    builder_free(out);
    return text;
}

static void expect_args(enum of of, const char *args, const char *part)
{
    struct buf text = rows_of_args(of, args);
    if (!strstr(buf_cstr(&text), part))
        fail_msg("%s\n  has no %s", buf_cstr(&text), part);
    buf_clear(&text);
}

TEST(test_flags_and_arguments)
{
    expect_args(OF_EMULATOR, "[\"beam\",\"-S\",\"2:2\",\"-d\"]",
                "[{<<\"flags.+S.1\">>,<<\"flags\">>,<<\"+S\">>,<<\"2:2\">>,undefined,undefined,"
                "undefined,undefined,undefined},{<<\"flags.+d.2\">>");
    expect_args(OF_EMULATOR, "undefined", "the node did not say them");
    expect_args(OF_EMULATOR, "[a,{b},1.5,<<\"-x\">>,[[]]]", "+x");
    expect_args(OF_INIT, "[{kernel,[\"a\",\"b\"]}]", "<<\"-kernel\">>,<<\"a b\">>");
    expect_args(OF_INIT, "[{noshell,[]}]", "<<\"set, without a value\">>");
    expect_args(OF_INIT, "[{x,[[97,27,10,955,1114112]]}]", "a\\\\x1b\\\\n");
    expect_args(OF_INIT, "undefined", "not read");
    expect_args(OF_INIT, "[a,{b},{1,[]},{c,d},{e,[1.5,<<\"v\">>]}]", "<<\"-e\">>");
    expect_args(OF_INIT, "[]", "<<\"-setcookie\">>,<<\"(hidden)\">>");
}

/* The word is in no row, however it came. */
TEST(test_secrets_are_hidden)
{
    static const struct {
        enum of of;
        const char *args;
    } cases[] = {
        {OF_INIT, "[{setcookie,[\"hush\"]}]"},
        {OF_INIT, "[{setcookie,[\"n@h\",\"hush\"]},{noshell,[]}]"},
        {OF_INIT, "[{setcookie,[]},{hush,[]}]"},
        {OF_INIT, "[{setcookie,[<<\"hush\">>]}]"},
        {OF_INIT, "[{'SetCookie',[\"hush\"]}]"},
        {OF_INIT, "[{'-cookie=hush',[]}]"},
        {OF_INIT, "[{env,[\"RELEASE_COOKIE\",\"hush\"]}]"},
        {OF_INIT, "[{env,[\"RELEASE_COOKIE\"]},{hush,[]}]"},
        {OF_INIT, "[{env,[\"RELEASE_COOKIE=hush\"]}]"},
        {OF_INIT, "[{x,[\"erlang:set_cookie(hush).\"]}]"},
        {OF_INIT, "[{x,[\"DB_PASSWORD=hush\"]}]"},
        {OF_INIT, "[{ssl_dist_opt,[\"server_password\",\"hush\"]}]"},
        {OF_EMULATOR, "[\"beam\",\"-setcookie\",\"hush\"]"},
        {OF_EMULATOR, "[\"beam\",\"-setcookie\",\"-hush\",\"hush\"]"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf text = rows_of_args(cases[i].of, cases[i].args);
        if (strstr(buf_cstr(&text), "hush") || !strstr(buf_cstr(&text), "(hidden)"))
            fail_msg("%s: %s", cases[i].args, buf_cstr(&text));
        buf_clear(&text);
    }
    expect_args(OF_INIT, "[{cookie,[\"hush\"]},{sname,[\"a\"]}]", "<<\"-sname\">>,<<\"a\">>");
}

TEST(test_long_arguments_are_cut)
{
    struct buf args;
    buf_init(&args, 0);
    buf_puts(&args, "[{x,[\"");
    for (int i = 0; i < 100000; i++)
        buf_puts(&args, "y");
    buf_puts(&args, "\"]}");
    for (int i = 0; i < 2000; i++)
        buf_printf(&args, ",{f%d,[]}", i);
    buf_puts(&args, "]");
    struct buf text = rows_of_args(OF_INIT, buf_cstr(&args));
    assert_true(text.len < 60000);
    assert_non_null(strstr(buf_cstr(&text), "yyyy…"));
    assert_non_null(strstr(buf_cstr(&text), "],true}"));
    buf_clear(&text);
    buf_clear(&args);
}

/* ---- the answer */

#define BASE_SAID                                                                                  \
    {                                                                                              \
        BASE,                                                                                      \
        {                                                                                          \
            "\"27\"", "\"15.2\"", "\"Erlang/OTP 27 [jit:ns]\"", "opt", "\"x86_64-pc-linux-gnu\"",  \
                "8", "{unix,linux}", "true", "true", "1", "true", "unbound", "4", "4", "10", "4",  \
                "{fullsweep_after,10}", "{min_heap_size,233}", "no_time_warp", "true", "262144",   \
                "65536", "1048576", "8192", "1048576"                                              \
        }                                                                                          \
    }
#define COUNTS_SAID(waiting)                                                                       \
    {                                                                                              \
        COUNTS,                                                                                    \
        {                                                                                          \
            "50", "6", "9000", "21", "4", "final", "[0,0,0," waiting "]"                           \
        }                                                                                          \
    }
#define ELSE_SAID                                                                                  \
    {WORDS, {"5"}}, {ENDS, {"[false,false,false,true,true]"}},                                     \
        {FLAGS, {"[\"beam\",\"-S\",\"2:2\"]"}}, {ARGS, {"[{noshell,[]}]", "true"}},                \
        {APPLICATIONS, {"[{kernel,\"ERTS\",\"10.2\"},{elixir,\"e\",\"1.17.3\"}]"}},                \
    {                                                                                              \
        CONTROLLERS,                                                                               \
        {                                                                                          \
            "[]"                                                                                   \
        }                                                                                          \
    }
#define POLLS_SAID                                                                                 \
    {                                                                                              \
        POLLS,                                                                                     \
        {                                                                                          \
            "[[{name,erts_poll},{max_fds,1024}]]"                                                  \
        }                                                                                          \
    }

static struct buf answer_of(const struct stepped_said *said, size_t n, struct buf *asked)
{
    void *read = stepped_start(&vm_question);
    stepped_run(&vm_question, read, 1000, said, n, asked);
    struct buf text = stepped_answer(&vm_question, read);
    stepped_end(&vm_question, read);
    return text;
}

static void expect_part(struct buf *text, const char *part)
{
    if (!strstr(buf_cstr(text), part))
        fail_msg("%s\n  has no %s", buf_cstr(text), part);
}

#define STATUS                                                                                     \
    "{ok,<<\"VmRSS:\\t 1024 kB\\nVmHWM:\\t 2048 kB\\nVmSwap:\\t 0 kB\\nVmSize:\\t 4096 kB\\n"      \
    "FDSize:\\t256\\nThreads:\\t21\\n\">>}"

TEST(test_version_2)
{
    static const struct stepped_said said[] = {
        BASE_SAID,
        COUNTS_SAID("0"),
        ELSE_SAID,
        {OWN,
         {"[{ok,<<\"0::/a.slice/b\\n\">>},{ok,<<\"Limit\\nMax open files      1024   4096 "
          "files\\n\">>}]"}},
        {PROBE,
         {"[{error,enoent},{error,enoent},{ok,<<\"5000000\\n\">>},{error,enoent},"
          "{error,enoent},{error,enoent},{ok,<<\"nr_periods 100\\n\">>},{error,enoent}]"}},
        {FILES,
         {"[" STATUS ",{ok,<<\"667\\n\">>},{ok,<<\"0\\n\">>},{ok,<<\"5242880\\n\">>},"
          "{ok,<<\"10485760\\n\">>},{ok,<<\"oom 1\\noom_kill 2\\n\">>},"
          "{ok,<<\"nr_periods 100\\nnr_throttled 25\\n\">>},{ok,<<\"50000 100000\\n\">>}]",
          "{ok,{file_info,19,directory,read}}"}},
    };
    struct buf asked, text;
    buf_init(&asked, 0);
    text = answer_of(said, ARRAY_LEN(said), &asked);
    expect_part(&asked, "[5,\"--\"]");
    expect_part(&asked, "fun lists:sublist/2");
    expect_part(&asked, "[{{'$1','_'},[{'=/=','$1',setcookie}],['$_']}]");
    expect_part(&asked, "<<\"/sys/fs/cgroup/a.slice/b/memory.max\">>");
    expect_part(&asked, "<<\"/sys/fs/cgroup/a.slice/b/cpu.max\">>");
    expect_part(&text, "<<\"file descriptors\">>,<<\"19\">>,<<\"1,024\">>,19,1024,");
    expect_part(&text, "<<\"memory\">>,<<\"5.00 MiB\">>,<<\"10.0 MiB\">>,5242880,10485760,"
                       "<<\"bytes\">>,<<\"page cache too; of /sys/fs/cgroup/a.slice/b\">>");
    expect_part(&text, "<<\"OOM kills\">>,<<\"2\">>");
    expect_part(&text, "<<\"CPU quota\">>,<<\"0.50 CPUs\">>");
    expect_part(&text, "<<\"CPU throttled\">>,<<\"25\">>,<<\"100\">>,25,100,");
    expect_part(&text, "<<\"threads\">>,<<\"21\">>");
    expect_part(&text, "<<\"OOM score\">>,<<\"667\">>,undefined");
    expect_part(&text, "<<\"Elixir\">>,<<\"1.17.3\">>");
    expect_part(&text, "<<\"flavour\">>,<<\"JIT\">>");
    expect_part(&text, "<<\"full sweep after\">>,<<\"10\">>,undefined,undefined,undefined,"
                       "undefined,<<\"default: 65535\">>");
    buf_clear(&text);
    buf_clear(&asked);
}

/* And where nothing says how many descriptors there are, they are counted there. */
TEST(test_version_1)
{
    static const struct stepped_said said[] = {
        BASE_SAID,
        COUNTS_SAID("0"),
        ELSE_SAID,
        {OWN,
         {"[{ok,<<\"4:memory:/m/x\\n2:cpu,cpuacct:/c\\n0::/\\n\">>},"
          "{ok,<<\"Max open files      unlimited unlimited files\\n\">>}]"}},
        {PROBE,
         {"[{ok,<<\"1\\n\">>},{ok,<<\"9\\n\">>},{error,enoent},{error,enoent},"
          "{error,enoent},{ok,<<\"nr_periods 0\\n\">>},{error,enoent},{error,enoent}]"}},
        {FILES,
         {"[" STATUS ",{ok,<<\"0\\n\">>},{ok,<<\"-17\\n\">>},{ok,<<\"4096\\n\">>},"
          "{ok,<<\"9223372036854771712\\n\">>},{ok,<<\"under_oom 0\\noom_kill 0\\n\">>},"
          "{ok,<<\"nr_periods 0\\nnr_throttled "
          "0\\n\">>},{ok,<<\"-1\\n\">>},{ok,<<\"100000\\n\">>}]",
          "{ok,{file_info,0,directory,read}}"}},
        {DESCRIPTORS, {"33"}},
        POLLS_SAID,
    };
    struct buf asked, text;
    buf_init(&asked, 0);
    text = answer_of(said, ARRAY_LEN(said), &asked);
    expect_part(&asked, "<<\"/sys/fs/cgroup/memory/m/x/memory.limit_in_bytes\">>");
    expect_part(&asked, "<<\"/sys/fs/cgroup/cpu/cpu.cfs_quota_us\">>");
    expect_part(&text, "<<\"file descriptors\">>,<<\"33\">>,<<\"1,024\">>"); /* of the VM */
    expect_part(&text, "<<\"memory\">>,<<\"4.00 KiB\">>,undefined,4096,undefined,<<\"bytes\">>,"
                       "<<\"no limit; of /sys/fs/cgroup/memory/m/x\">>");
    expect_part(&text, "<<\"time until limit\">>,undefined,undefined,undefined,undefined,<<\"s\">>,"
                       "<<\"no limit\">>");
    expect_part(&text, "<<\"CPU quota\">>,<<\"none\">>");
    expect_part(&text, "0 to 2,000; the highest is killed first; oom_score_adj -17");
    buf_clear(&text);
    buf_clear(&asked);
}

/* What is unknown says why, and is never 0. */
TEST(test_without_files)
{
    static const struct stepped_said none[] = {BASE_SAID,
                                               COUNTS_SAID("0"),
                                               ELSE_SAID,
                                               {OWN, {"[{error,enoent},{error,enoent}]"}},
                                               POLLS_SAID};
    static const struct stepped_said busy[] = {BASE_SAID,
                                               COUNTS_SAID("3"),
                                               ELSE_SAID,
                                               {IDLE, {"[0,0,0,1]"}},
                                               {IDLE, {"[0,0,0,1]"}},
                                               {IDLE, {"[0,0,0,1]"}},
                                               {IDLE, {"[0,0,0,1]"}},
                                               {IDLE, {"[0,0,0,1]"}}};
    struct buf text = answer_of(none, ARRAY_LEN(none), NULL);
    expect_part(&text, "<<\"threads\">>,undefined,undefined,undefined,undefined,undefined,<<\"the "
                       "node has no /proc");
    expect_part(&text, "<<\"memory\">>,undefined,undefined,undefined,undefined,<<\"bytes\">>,"
                       "<<\"the node has no /proc");
    buf_clear(&text);
    text = answer_of(busy, ARRAY_LEN(busy), NULL);
    expect_part(&text, "<<\"OOM score\">>,undefined,undefined,undefined,undefined,undefined,"
                       "<<\"not read: processes wait for a dirty I/O scheduler\">>");
    buf_clear(&text);
}

/* Of one connection; terms as text have no ports. */
static void take_a_queue(void *read)
{
    static const uint8_t port[] = {102, 119, 3, 'n', '@', 'h', 0, 0, 0, 5, 1};
    static const char *const sizes[STEP_VALUES] = {"[{queue_size,25376}]"};
    struct builder *b = builder_new();
    struct slice list;
    build_list(b, 1);
    build_tuple(b, 2);
    build_atom(b, "b@h");
    build_raw(b, port, sizeof port);
    build_nil(b);
    list.s = (const char *)builder_bytes(b, &list.len) + 1;
    list.len--;
    assert_int_equal(stepped_ask(&vm_question, read, CONTROLLERS, NULL), 1);
    vm_question.steps[CONTROLLERS].take(read, &list, 1);
    assert_int_equal(stepped_ask(&vm_question, read, QUEUES, NULL), 1);
    steps_take(&vm_question.steps[QUEUES], read, sizes, 1);
    builder_free(b);
}

/* Ports are asked every 5 s, as files are: in between the last answer stays. */
TEST(test_queues_stay)
{
    static const struct stepped_said first[] = {
        BASE_SAID,       COUNTS_SAID("0"),
        ELSE_SAID,       {OWN, {"[{ok,<<\"0::/\\n\">>},{ok,<<\"Max open files 1 1\\n\">>}]"}},
        {PROBE, {"[]"}}, {FILES, {"[" STATUS "]", "{ok,{file_info,19,directory,read}}"}},
    };
    static const struct stepped_said second[] = {COUNTS_SAID("0")};
    void *read = stepped_start(&vm_question);
    stepped_run(&vm_question, read, 1000, first, ARRAY_LEN(first), NULL);
    take_a_queue(read);
    stepped_run(&vm_question, read, 3000, second, ARRAY_LEN(second), NULL);
    struct buf text = stepped_answer(&vm_question, read);
    expect_part(
        &text, "<<\"distribution buffer\">>,undefined,<<\"1.00 MiB\">>,undefined,1048576,"
               "<<\"bytes\">>,<<\"the VM does not say it; fullest of 1 ports: 24.8 KiB to b@h\">>");
    buf_clear(&text);
    stepped_end(&vm_question, read);
}

TEST(test_failures_say_why)
{
    static const struct stepped_said said[] = {
        {BASE, {NULL}},         {COUNTS, {NULL}},      {WORDS, {NULL}}, {ARGS, {NULL}},
        {APPLICATIONS, {NULL}}, {CONTROLLERS, {NULL}}, {IDLE, {NULL}},  {IDLE, {NULL}},
        {IDLE, {NULL}},         {IDLE, {NULL}},        {IDLE, {NULL}}};
    struct buf text = answer_of(said, ARRAY_LEN(said), NULL);
    expect_part(&text,
                "<<\"processes\">>,undefined,undefined,undefined,undefined,undefined,<<\"the "
                "node did not say it\">>");
    expect_part(&text, "<<\"flavour\">>,undefined,");
    expect_part(&text, "not read: init did not answer");
    expect_part(&text, "the node did not list them");
    buf_clear(&text);
}
