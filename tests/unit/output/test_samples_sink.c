/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of samples made by hand, in each form; single samples too. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/output/samples_sink.h"

struct kept {
    struct buf bytes;
    int error, writes;
};

static int keep(void *ctx, const char *bytes, size_t len)
{
    struct kept *k = ctx;
    k->writes++;
    if (k->error == 0)
        buf_put(&k->bytes, bytes, len);
    return k->error;
}

#define S(text)                                                                                    \
    {                                                                                              \
        text, sizeof text - 1                                                                      \
    }
#define HOSTILE "bad;na me\n\033[1m\xff\"(x) 7"

/* By their letter. */
static const struct sample_frame frames[] = {
    ['a'] = {FRAME_ERLANG, S("proc_lib:init_p_do_apply/3"), S(""), S(""), 0},
    ['b'] = {FRAME_ERLANG, S("shop:loop/1"), S(""), S("shop.erl"), 42},
    ['c'] = {FRAME_ERLANG, S("lists:map/2"), S(""), S(""), 0},
    ['d'] = {FRAME_BIF, S("erlang:phash2/1"), S(""), S(""), 0},
    ['e'] = {FRAME_RUNTIME, S("copy_struct_x"), S("beam.smp"), S(""), 0},
    ['h'] = {FRAME_NIF, S(HOSTILE), S("a(b)\033\xfe.so"), S(""), 0},
    ['i'] = {FRAME_ERLANG, S("q:\"\\\"/0"), S(""), S("f\"\n\xff.erl"), 3},
    ['p'] = {FRAME_RUNTIME, S("(anonymous namespace)::f(int)"), S("libx.so"), S(""), 0},
    ['u'] = {FRAME_ERLANG, S("größe:ø/1"), S(""), S(""), 0},
};

static const struct sample_frame *frame_at(const void *ctx, uint32_t id)
{
    (void)ctx;
    return id < ARRAY_LEN(frames) && frames[id].name.len > 0 ? &frames[id] : NULL;
}

static const struct sample_frames lookup = {frame_at, NULL};

static void add(struct stacks *s, const char *letters, double weight)
{
    uint32_t ids[80];
    size_t n = 0;
    for (const char *at = letters; *at != '\0'; at++)
        ids[n++] = stacks_frame(s, &frames[(unsigned char)*at]);
    stacks_add(s, ids, n, weight);
}

static struct stacks *some_stacks(void)
{
    struct stacks *s = stacks_new();
    add(s, "abc", 600);
    add(s, "abde", 300);
    add(s, "ab", 85);
    add(s, "au", 5);
    add(s, "h", 6);
    add(s, "", 4);
    return s;
}

static struct stacks *hostile_stacks(void)
{
    struct stacks *s = stacks_new();
    add(s, "hih", 2);
    add(s, "p", 1);
    return s;
}

static const struct samples_place on_schedulers[] = {{S("scheduler 1"), 600},
                                                     {S("scheduler 2"), 300}};
static const struct samples_place on_cpus[] = {
    {S("CPU 10"), 500}, {S("CPU 2"), 400}, {S("CPU 3"), 50},
    {S("CPU 4"), 20},   {S("CPU 5"), 10},  {S("CPU 6"), 5},
};
static const struct samples_place on_cpu[] = {{S("CPU 10"), 10}};
static const struct samples_source processes[] = {
    {S("<0.123.0>"), S("shop_cart"), 900, on_schedulers, ARRAY_LEN(on_schedulers), 12},
    {S("<0.7.1>"), S(""), 50, on_schedulers, 0, 0},
    {S("<0.8.0>"), S(HOSTILE), 20, NULL, 0, 0},
    {S("<0.9.0>"), S(""), 10, NULL, 0, 0},
};
static const struct samples_source threads[] = {
    {S("scheduler 1"), S("normal"), 990, on_cpus, ARRAY_LEN(on_cpus), 40},
    {S("dirty CPU scheduler 1"), S("dirty CPU"), 10, on_cpu, ARRAY_LEN(on_cpu), 0},
};
static const struct samples_held held[] = {
    {S("erlang:phash2/1"), S(""), S("shop:loop/1"), S("<0.123.0>"), S("shop_cart"),
     S("scheduler 1"), 0.181, 19},
    {S("spin"), S("a(b)\033.so"), S(""), S("<0.7.1>"), S(""), S("scheduler 2"), 0.0101, 2},
};

static struct samples_summary a_run(const struct stacks *s)
{
    return (struct samples_summary){
        .label = S("shop@host"),
        .host = S("box"),
        .otp = S("27.3.4"),
        .wall_us = 1700000000123456,
        .seconds = 10.2,
        .hz = 99,
        .samples = 1000,
        .lost = 2,
        .moved_on = 3,
        .truncated = 12,
        .unresolved = 0,
        .complete = 981,
        .sampler_cpu_s = 0.0213,
        .target_cpu_s = 10.1,
        .classes = {[SAMPLE_ERLANG] = 700,
                    [SAMPLE_BIF] = 280,
                    [SAMPLE_GC] = 10,
                    [SAMPLE_SCHEDULER] = 6,
                    [SAMPLE_OTHER] = 4},
        .processes = processes,
        .n_processes = ARRAY_LEN(processes),
        .threads = threads,
        .n_threads = ARRAY_LEN(threads),
        .held = held,
        .n_held = ARRAY_LEN(held),
        .stacks = s,
    };
}

static void put(struct kept *k, const struct samples_options *options,
                const struct samples_summary *run)
{
    struct sink_output output = {.writer = {keep, k}};
    struct error err = {0};
    *k = (struct kept){0};
    buf_init(&k->bytes, 0);
    if (samples_put(&output, run, options, &err) != 0)
        fail_msg("%s", err.text);
}

static void expect(struct kept *k, const char *wanted)
{
    assert_string_equal(buf_cstr(&k->bytes), wanted);
    buf_clear(&k->bytes);
}

#define HEAD                                                                                       \
    "shop@host, OTP 27.3.4, 22:13:20Z: 1,000 samples in 10 s at 99 Hz\n"                           \
    "lost 2, moved on 3 (0.3%), truncated 12 (1.2%), unresolved 0 (0.0%), complete 981 (98.1%)\n"  \
    "CPU time: VM 10 s (99.0% of one CPU), sampler 21 ms (0.2%)\n"
#define CLASSES                                                                                    \
    "Erlang 70.0%, BIF 28.0%, GC 1.0%, runtime 0.0%, NIF 0.0%, scheduler 0.6%, other 0.4%\n"       \
    "code: Erlang 69.0%, code shared by the JIT 0.0%, BIF 0.0%, runtime 30.0%, NIF library 0.6%, " \
    "system library 0.0%, no name 0.4%\n"                                                          \
    "threads: normal 99.0%, dirty CPU 1.0%\n"

#define CPUS "CPU 10 50.5%, CPU 2 40.4%, CPU 3 5.1%, CPU 4 2.0%, CPU 5 1.0%, CPU 6 0.5%"

TEST(test_text)
{
    struct stacks *s = some_stacks();
    struct samples_summary run = a_run(s);
    struct kept k;
    put(&k, &(struct samples_options){.format = SAMPLES_TEXT}, &run);
    expect(&k, HEAD CLASSES
           "\n"
           " SELF  95% +-  TOTAL  KIND     AT           FUNCTION\n"
           "60.0%    ±3.0  60.0%  erlang   –            lists:map/2\n"
           "30.0%    ±2.8  30.0%  runtime  beam.smp     copy_struct_x\n"
           " 8.5%    ±1.7  98.5%  erlang   shop.erl:42  shop:loop/1\n"
           " 0.6%    ±0.5   0.6%  nif      a(b)\uFFFD\uFFFD.so    bad;na "
           "me\uFFFD\uFFFD[1m\uFFFD\"(x) 7\n"
           " 0.5%    ±0.4   0.5%  erlang   –            größe:ø/1\n"
           " 0.0%    ±0.3  99.0%  erlang   –            proc_lib:init_p_do_apply/3\n"
           " 0.0%    ±0.3  30.0%  bif      –            erlang:phash2/1\n"
           "\n"
           "TOTAL   SELF  AT           FUNCTION AND WHAT IT CALLS\n"
           "99.0%   0.0%  –            proc_lib:init_p_do_apply/3\n"
           "98.5%   8.5%  shop.erl:42    shop:loop/1\n"
           "60.0%  60.0%  –                lists:map/2\n"
           "30.0%   0.0%  –                erlang:phash2/1\n"
           "30.0%  30.0%  beam.smp           copy_struct_x\n"
           " 0.5%      –  –              … below 1% each\n"
           " 0.6%      –  –            … below 1% each\n"
           " 0.4%   0.4%  –            [no stack]\n"
           "\n"
           "PROCESS    SAMPLES  95% +-  SHARE  NAME                   MOVES  ON SCHEDULER\n"
           "<0.123.0>      900    ±1.9  90.0%  shop_cart                 12  scheduler 1 66.7%, "
           "scheduler 2 33.3%\n"
           "<0.7.1>         50    ±1.4   5.0%  –                          –  –\n"
           "<0.8.0>         20    ±0.9   2.0%  bad;na me\uFFFD\uFFFD[1m\uFFFD\"(x) 7      –  –\n"
           "<0.9.0>         10    ±0.6   1.0%  –                          –  –\n"
           "\n"
           "THREAD                 SAMPLES  95% +-  SHARE  KIND       MOVES  ON CPU\n"
           "scheduler 1                990    ±0.6  99.0%  normal        40  " CPUS "\n"
           "dirty CPU scheduler 1       10    ±0.6   1.0%  dirty CPU      0  CPU 10 100%\n"
           "\n"
           "   HELD  SAMPLES  HELD SCHEDULER  PID        PROCESS    NATIVE CALL      LIBRARY   "
           "CALLED BY\n"
           ">181 ms       19  scheduler 1     <0.123.0>  shop_cart  erlang:phash2/1  –         "
           "shop:loop/1\n"
           " >10 ms        2  scheduler 2     <0.7.1>    –          spin             a(b)\uFFFD.so "
           " –\n");
    stacks_free(s);
}

TEST(test_text_of_callers)
{
    struct stacks *s = some_stacks();
    struct samples_summary run = a_run(s);
    struct kept k;
    const struct samples_options options = {
        .format = SAMPLES_TEXT, .ascii = true, .callers = true, .rows = 2, .depth = 2};
    put(&k, &options, &run);
    for (size_t i = 0; i < k.bytes.len; i++)
        assert_true(k.bytes.data[i] < 0x80);
    expect(
        &k, HEAD CLASSES
        "\n"
        " SELF  95% +-  TOTAL  KIND     AT        FUNCTION\n"
        "60.0%   +-3.0  60.0%  erlang   -         lists:map/2\n"
        "30.0%   +-2.8  30.0%  runtime  beam.smp  copy_struct_x\n"
        "... 5 more, together 9.6%\n"
        "\n"
        "SHARE  AT           FUNCTION AND ITS CALLERS\n"
        "60.0%  -            lists:map/2\n"
        "60.0%  shop.erl:42    shop:loop/1\n"
        "60.0%  -                ... deeper\n"
        "30.0%  beam.smp     copy_struct_x\n"
        "30.0%  -              erlang:phash2/1\n"
        "30.0%  -                ... deeper\n"
        " 8.5%  shop.erl:42  shop:loop/1\n"
        " 8.5%  -              proc_lib:init_p_do_apply/3\n"
        " 1.1%  -            ... below 1% each\n"
        " 0.4%  -            [no stack]\n"
        "\n"
        "PROCESS    SAMPLES  95% +-  SHARE  NAME       MOVES  ON SCHEDULER\n"
        "<0.123.0>      900   +-1.9  90.0%  shop_cart     12  scheduler 1 66.7%, scheduler 2 "
        "33.3%\n"
        "<0.7.1>         50   +-1.4   5.0%  -              -  -\n"
        "... 2 more, together 3.0%\n"
        "\n"
        "THREAD                 SAMPLES  95% +-  SHARE  KIND       MOVES  ON CPU\n"
        "scheduler 1                990   +-0.6  99.0%  normal        40  " CPUS "\n"
        "dirty CPU scheduler 1       10   +-0.6   1.0%  dirty CPU      0  CPU 10 100%\n"
        "\n"
        "   HELD  SAMPLES  HELD SCHEDULER  PID        PROCESS    NATIVE CALL      LIBRARY   CALLED "
        "BY\n"
        ">181 ms       19  scheduler 1     <0.123.0>  shop_cart  erlang:phash2/1  -         "
        "shop:loop/1\n"
        " >10 ms        2  scheduler 2     <0.7.1>    -          spin             a(b)?.so  -\n");
    stacks_free(s);
}

TEST(test_text_of_little)
{
    struct stacks *s = stacks_new();
    struct samples_summary run = {.label = S("OS process 7\033"),
                                  .wall_us = -1,
                                  .seconds = 1,
                                  .hz = 99,
                                  .lost = -1,
                                  .sampler_cpu_s = NAN,
                                  .target_cpu_s = NAN,
                                  .stacks = s};
    struct kept k;
    put(&k, &(struct samples_options){.format = SAMPLES_TEXT}, &run);
    expect(&k, "OS process 7\uFFFD, -: 0 samples in 1.0 s at 99 Hz\n"
               "lost –, moved on 0 (–), truncated 0 (–), unresolved 0 (–), complete 0 (–)\n"
               "CPU time: VM – (– of one CPU), sampler – (–)\n"
               "no samples: no thread of the VM was seen on a CPU\n");
    uint32_t ids[2000];
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        ids[i] = stacks_frame(s, &frames['a']);
    stacks_add(s, ids, ARRAY_LEN(ids), 1);
    put(&k, &(struct samples_options){.format = SAMPLES_TEXT}, &run);
    assert_non_null(strstr(buf_cstr(&k.bytes), "\n100% of the stacks are shortened: "));
    buf_clear(&k.bytes);
    stacks_free(s);
}

/* ---- JSON */

static json_t *parsed(struct kept *k)
{
    json_error_t error;
    json_t *root = json_loads(buf_cstr(&k->bytes), 0, &error);
    if (!root)
        fail_msg("%s: %s", error.text, buf_cstr(&k->bytes));
    assert_int_equal(k->bytes.data[k->bytes.len - 1], '\n');
    assert_ptr_equal(memchr(k->bytes.data, '\n', k->bytes.len), k->bytes.data + k->bytes.len - 1);
    for (size_t i = 0; i + 1 < k->bytes.len; i++)
        assert_true(k->bytes.data[i] >= 0x20);
    buf_clear(&k->bytes);
    return root;
}

static void expect_key(const json_t *object, const char *key, const char *value)
{
    char *found = json_dumps(json_object_get(object, key), JSON_COMPACT | JSON_ENCODE_ANY);
    if (!found || strcmp(found, value) != 0)
        fail_msg("%s: %s", key, found ? found : "none");
    free(found);
}

#define BAD "bad;na me\uFFFD\uFFFD[1m\uFFFD\\\"(x) 7"

TEST(test_json)
{
    static const struct {
        const char *key, *value;
    } rows[] = {
        {"schema", "\"beamtop.sample/1\""},
        {"node", "\"shop@host\""},
        {"otp", "\"27.3.4\""},
        {"wall_us", "1700000000123456"},
        {"samples", "1000"},
        {"lost", "2"},
        {"moved_on", "3"},
        {"truncated", "12"},
        {"unresolved", "0"},
        {"complete", "981"},
        {"shortened", "0"},
        {"threads", "[{\"thread\":\"scheduler 1\",\"kind\":\"normal\",\"samples\":990,"
                    "\"share\":0.98999999999999999,\"moves\":40,\"places\":["
                    "{\"place\":\"CPU 10\",\"samples\":500,\"share\":0.50505100000000003},"
                    "{\"place\":\"CPU 2\",\"samples\":400,\"share\":0.40404000000000001},"
                    "{\"place\":\"CPU 3\",\"samples\":50,\"share\":0.050505000000000001},"
                    "{\"place\":\"CPU 4\",\"samples\":20,\"share\":0.020202000000000001},"
                    "{\"place\":\"CPU 5\",\"samples\":10,\"share\":0.010101000000000001},"
                    "{\"place\":\"CPU 6\",\"samples\":5,\"share\":0.0050509999999999999}]},"
                    "{\"thread\":\"dirty CPU scheduler 1\",\"kind\":\"dirty CPU\","
                    "\"samples\":10,\"share\":0.01,\"moves\":0,\"places\":["
                    "{\"place\":\"CPU 10\",\"samples\":10,\"share\":1.0}]}]"},
        {"tree", "[{\"parent\":null,\"function\":null,\"self\":4,\"total\":1000},"
                 "{\"parent\":0,\"function\":5,\"self\":0,\"total\":990},"
                 "{\"parent\":1,\"function\":2,\"self\":85,\"total\":985},"
                 "{\"parent\":2,\"function\":0,\"self\":600,\"total\":600},"
                 "{\"parent\":2,\"function\":6,\"self\":0,\"total\":300},"
                 "{\"parent\":4,\"function\":1,\"self\":300,\"total\":300},"
                 "{\"parent\":1,\"function\":4,\"self\":5,\"total\":5},"
                 "{\"parent\":0,\"function\":3,\"self\":6,\"total\":6}]"},
    };
    struct stacks *s = some_stacks();
    struct samples_summary run = a_run(s);
    struct kept k;
    put(&k, &(struct samples_options){.format = SAMPLES_JSON}, &run);
    json_t *root = parsed(&k);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_key(root, rows[i].key, rows[i].value);
    const json_t *list = json_object_get(root, "classes");
    assert_int_equal(json_array_size(list), SAMPLE_CLASSES);
    expect_key(json_array_get(list, 2), "class", "\"gc\"");
    expect_key(json_array_get(list, 2), "samples", "10");
    list = json_object_get(root, "codes");
    assert_int_equal(json_array_size(list), FRAME_KINDS);
    expect_key(json_array_get(list, FRAME_RUNTIME), "code", "\"runtime\"");
    expect_key(json_array_get(list, FRAME_RUNTIME), "samples", "300");
    list = json_object_get(root, "thread_kinds");
    assert_int_equal(json_array_size(list), 2);
    expect_key(json_array_get(list, 0), "kind", "\"normal\"");
    expect_key(json_array_get(list, 0), "samples", "990");
    list = json_object_get(root, "processes");
    assert_int_equal(json_array_size(list), 4);
    expect_key(json_array_get(list, 1), "name", "null");
    expect_key(json_array_get(list, 2), "name", "\"" BAD "\"");
    expect_key(json_array_get(list, 0), "moves", "12");
    expect_key(json_array_get(list, 1), "moves", "null");
    expect_key(json_array_get(list, 1), "places", "[]");
    list = json_object_get(root, "held");
    assert_int_equal(json_array_size(list), 2);
    expect_key(json_array_get(list, 0), "seconds", "0.18099999999999999");
    expect_key(json_array_get(list, 0), "call", "\"erlang:phash2/1\"");
    expect_key(json_array_get(list, 0), "object", "null");
    expect_key(json_array_get(list, 1), "caller", "null");
    list = json_object_get(root, "functions");
    assert_int_equal(json_array_size(list), 7);
    const json_t *loop = json_array_get(list, 2), *bad = json_array_get(list, 3);
    expect_key(loop, "function", "\"shop:loop/1\"");
    expect_key(loop, "file", "\"shop.erl\"");
    expect_key(loop, "line", "42");
    expect_key(loop, "self", "85");
    expect_key(loop, "total", "985");
    assert_true(fabs(json_real_value(json_object_get(loop, "self_error")) - 0.017285) < 1e-6);
    expect_key(bad, "function", "\"" BAD "\"");
    expect_key(bad, "kind", "\"nif\"");
    expect_key(bad, "line", "null");
    json_decref(root);
    stacks_free(s);
}

/* ---- folded */

/* As readers do: the number behind the last space, then what stands between semicolons. */
static void put_parsed(struct buf *out, char *text)
{
    char *rest;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *number = strrchr(line, ' '), *end, *names;
        assert_non_null(number);
        *number++ = '\0';
        unsigned long n = strtoul(number, &end, 10);
        assert_true(*end == '\0' && n > 0);
        buf_printf(out, "%lu:", n);
        for (char *name = strtok_r(line, ";", &names); name; name = strtok_r(NULL, ";", &names))
            buf_printf(out, " <%s>", name);
        buf_puts(out, "\n");
    }
}

TEST(test_folded)
{
    struct stacks *s = some_stacks(), *bad = hostile_stacks();
    const struct samples_part parts[] = {{S("scheduler 1"), bad}, {S("x;\"y\n"), bad}};
    struct samples_summary run = a_run(s);
    run.parts = parts;
    run.n_parts = 2;
    struct buf out;
    struct kept k;
    buf_init(&out, 0);
    put(&k, &(struct samples_options){.format = SAMPLES_FOLDED}, &run);
    char *text = buf_take(&k.bytes);
    put_parsed(&out, text);
    free(text);
    put(&k, &(struct samples_options){.format = SAMPLES_FOLDED, .parts = true}, &run);
    text = buf_take(&k.bytes);
    put_parsed(&out, text);
    free(text);
#define NAME "<bad,na me\uFFFD\uFFFD[1m\uFFFD\"(x) 7>"
    assert_string_equal(
        buf_cstr(&out),
        "4: <[no stack]>\n"
        "85: <proc_lib:init_p_do_apply/3> <shop:loop/1>\n"
        "600: <proc_lib:init_p_do_apply/3> <shop:loop/1> <lists:map/2>\n"
        "300: <proc_lib:init_p_do_apply/3> <shop:loop/1> <erlang:phash2/1> <copy_struct_x>\n"
        "5: <proc_lib:init_p_do_apply/3> <größe:ø/1>\n"
        "6: " NAME "\n"
        "2: <scheduler 1> " NAME " <q:\"\\\"/0> " NAME "\n"
        "1: <scheduler 1> <(anonymous namespace)::f(int)>\n"
        "2: <x,\"y\uFFFD> " NAME " <q:\"\\\"/0> " NAME "\n"
        "1: <x,\"y\uFFFD> <(anonymous namespace)::f(int)>\n");
    buf_clear(&out);
    stacks_free(s);
    stacks_free(bad);
}

/* ---- speedscope: each rule of its schema */

static size_t check_frames(const json_t *root)
{
    const json_t *all = json_object_get(json_object_get(root, "shared"), "frames");
    size_t i, n = json_array_size(all);
    json_t *frame, *value;
    const char *key;
    assert_true(n > 0);
    json_array_foreach (all, i, frame) {
        assert_true(json_string_length(json_object_get(frame, "name")) > 0);
        json_object_foreach (frame, key, value) {
            bool number = strcmp(key, "line") == 0 || strcmp(key, "col") == 0;
            assert_true(number || strcmp(key, "name") == 0 || strcmp(key, "file") == 0);
            assert_true(number ? json_is_integer(value) : json_is_string(value));
        }
        for (size_t other = 0; other < i; other++)
            assert_false(json_equal(frame, json_array_get(all, other)));
    }
    return n;
}

static void check_profile(const json_t *profile, size_t n_frames, double total)
{
    const json_t *samples = json_object_get(profile, "samples");
    const json_t *weights = json_object_get(profile, "weights");
    size_t i, k;
    json_t *stack, *frame;
    double sum = 0;
    expect_key(profile, "type", "\"sampled\"");
    expect_key(profile, "unit", "\"none\"");
    assert_int_equal(json_object_size(profile), 7);
    assert_true(json_is_string(json_object_get(profile, "name")));
    assert_true(json_is_array(samples) && json_is_array(weights));
    assert_int_equal(json_array_size(samples), json_array_size(weights));
    json_array_foreach (samples, i, stack) {
        assert_true(json_is_array(stack));
        json_array_foreach (stack, k, frame)
            assert_true(json_is_integer(frame) && json_integer_value(frame) >= 0 &&
                        (size_t)json_integer_value(frame) < n_frames);
        const json_t *weight = json_array_get(weights, i);
        assert_true(json_is_number(weight) && json_number_value(weight) > 0);
        sum += json_number_value(weight);
    }
    assert_true(json_number_value(json_object_get(profile, "startValue")) == 0);
    assert_true(json_number_value(json_object_get(profile, "endValue")) == sum);
    assert_true(sum == total);
}

/* "weight: name name", of the sample at index. */
static void expect_sample(const json_t *root, size_t profile, size_t index, const char *wanted)
{
    const json_t *of = json_array_get(json_object_get(root, "profiles"), profile);
    const json_t *all = json_object_get(json_object_get(root, "shared"), "frames");
    const json_t *stack = json_array_get(json_object_get(of, "samples"), index);
    size_t i;
    json_t *frame;
    struct buf text;
    buf_init(&text, 0);
    buf_printf(&text,
               "%g:", json_number_value(json_array_get(json_object_get(of, "weights"), index)));
    json_array_foreach (stack, i, frame)
        buf_printf(&text, " %s",
                   json_string_value(json_object_get(
                       json_array_get(all, (size_t)json_integer_value(frame)), "name")));
    assert_string_equal(buf_cstr(&text), wanted);
    buf_clear(&text);
}

TEST(test_speedscope)
{
    struct stacks *s = some_stacks(), *bad = hostile_stacks(), *none = stacks_new();
    const struct samples_part parts[] = {{S("x;\"y\n\xff"), bad}, {S(""), s}, {S("none"), none}};
    const double totals[] = {1000, 3, 1000, 0};
    struct samples_summary run = a_run(s);
    struct kept k;
    for (size_t n = 0; n <= ARRAY_LEN(parts); n++) {
        run.parts = parts;
        run.n_parts = n;
        put(&k, &(struct samples_options){.format = SAMPLES_SPEEDSCOPE}, &run);
        json_t *root = parsed(&k);
        expect_key(root, "$schema", "\"https://www.speedscope.app/file-format-schema.json\"");
        expect_key(root, "name", "\"shop@host\"");
        expect_key(root, "activeProfileIndex", "0");
        const char *exporter = json_string_value(json_object_get(root, "exporter"));
        assert_int_equal(strncmp(exporter, "beamtop@", 8), 0);
        assert_true(exporter[8] >= '0' && exporter[8] <= '9');
        size_t n_frames = check_frames(root), i;
        json_t *profile;
        json_array_foreach (json_object_get(root, "profiles"), i, profile)
            check_profile(profile, n_frames, totals[i]);
        assert_int_equal(i, n + 1);
        assert_int_equal(n_frames, n == 0 ? 7 : 9); /* shared by all profiles */
        expect_sample(root, 0, 0, "4:");
        expect_sample(root, 0, 3,
                      "300: proc_lib:init_p_do_apply/3 shop:loop/1 erlang:phash2/1 copy_struct_x");
        if (n > 1)
            expect_sample(root, 2, 1, "85: proc_lib:init_p_do_apply/3 shop:loop/1");
        json_decref(root);
    }
    stacks_free(s);
    stacks_free(bad);
    stacks_free(none);
}

/* ---- the page */

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

/* Its elements are ours, whatever names there are, and nothing comes from elsewhere. */
static json_t *parsed_page(struct kept *k, const char *label)
{
    static const char begin[] = "<script id=\"data\" type=\"application/json\">";
    static const char *const once[] = {
        "<!DOCTYPE html>", "<h1>",    "</h1>",        "</style>",    "<title>",
        "</title>",        "</body>", "id=\"graph\"", "</noscript>", "default-src 'none'"};
    static const char *const none[] = {"http:",   "https:", "url(", "src=", "href",
                                       "@import", "onload", "<img", "\033", "innerHTML"};
    const char *page = buf_cstr(&k->bytes);
    json_error_t error;
    assert_int_equal(strlen(page), k->bytes.len);
    for (size_t i = 0; i < ARRAY_LEN(once); i++)
        if (count_of(page, once[i]) != 1)
            fail_msg("%s: %zu times", once[i], count_of(page, once[i]));
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        if (strstr(page, none[i]))
            fail_msg("%s", none[i]);
    assert_int_equal(count_of(page, "<script"), 2);
    assert_int_equal(count_of(page, "</script"), 2);
    assert_non_null(strstr(page, label));
    const char *data = strstr(page, begin);
    assert_non_null(data);
    data += sizeof begin - 1;
    const char *end = strstr(data, "</script>");
    assert_null(memchr(data, '<', (size_t)(end - data)));
    assert_null(memchr(data, '&', (size_t)(end - data)));
    json_t *root = json_loadb(data, (size_t)(end - data), 0, &error);
    if (!root)
        fail_msg("%s", error.text);
    return root;
}

TEST(test_html)
{
    struct stacks *s = some_stacks();
    struct samples_summary run = a_run(s);
    struct kept k;
    put(&k, &(struct samples_options){.format = SAMPLES_HTML}, &run);
    json_t *root =
        parsed_page(&k, "<h1>shop@host on box, OTP 27.3.4, 2023-11-14 22:13:20 UTC</h1>\n"
                        "<p>1,000 samples in 10 s at 99 Hz: lost 2, moved on 0.3%, truncated 1.2%");
    expect_key(root, "root", "4");
    expect_key(root, "nodes", "[0,0,0,1,1,85,2,2,600,2,3,0,4,4,300,1,5,5,0,6,6]");
    assert_int_equal(json_array_size(json_object_get(root, "kinds")), FRAME_KINDS);
    json_decref(root);
    assert_non_null(strstr(buf_cstr(&k.bytes), "GC 1.0% ±0.6"));
    assert_non_null(strstr(buf_cstr(&k.bytes), "<title>beamtop sample: shop@host on box, OTP "
                                               "27.3.4, 2023-11-14 22:13:20 UTC</title>"));
    assert_null(strstr(buf_cstr(&k.bytes), "yields"));
    assert_null(strstr(buf_cstr(&k.bytes), "too small"));
    buf_clear(&k.bytes);
    run.at_yields = true;
    put(&k, &(struct samples_options){.format = SAMPLES_HTML}, &run);
    json_decref(parsed_page(&k, "shares are of reductions, not of CPU time"));
    assert_null(strstr(buf_cstr(&k.bytes), "GC 1.0%"));
    buf_clear(&k.bytes);
    stacks_free(s);
}

/* Names of modules, libraries and nodes may be anything. */
TEST(test_html_of_hostile_names)
{
    static const struct sample_frame bad[] = {
        {FRAME_ERLANG, S("'</script><script>alert(1)</script>':x/0"), S(""), S("\"><img y=x>"), 1},
        {FRAME_NIF, S("<!--\033[31m\xff\xfe]]>&amp;\n\r"), S("--><script>"), S(""), 0},
        {FRAME_RUNTIME, S("\xe2\x80\xae\\u003c\\\"</SCRIPT >"), S(""), S(""), 0},
    };
    struct stacks *s = stacks_new();
    uint32_t ids_of[ARRAY_LEN(bad)];
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ids_of[i] = stacks_frame(s, &bad[i]);
    stacks_add(s, ids_of, ARRAY_LEN(bad), 5);
    struct samples_summary run = a_run(s);
    run.label = slice_of("</title><script>x</script>\033");
    run.host = slice_of("<b>");
    run.otp = slice_of("<img>");
    struct kept k;
    put(&k, &(struct samples_options){.format = SAMPLES_HTML}, &run);
    json_t *root = parsed_page(&k, "<h1>&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;\uFFFD on "
                                   "&lt;b&gt;, OTP &lt;img&gt;, 2023");
    const json_t *list = json_object_get(root, "frames");
    assert_string_equal(json_string_value(json_array_get(json_array_get(list, 0), 1)),
                        "'</script><script>alert(1)</script>':x/0");
    assert_string_equal(json_string_value(json_array_get(json_array_get(list, 1), 1)),
                        "<!--\uFFFD[31m\uFFFD\uFFFD]]>&amp;\uFFFD\uFFFD");
    json_decref(root);
    buf_clear(&k.bytes);
    stacks_free(s);
}

/* An empty run, one without numbers, and one of more functions than can be seen. */
TEST(test_html_of_little_and_much)
{
    struct stacks *s = stacks_new();
    struct samples_summary run = {.label = S("OS process 7"),
                                  .wall_us = -1,
                                  .seconds = NAN,
                                  .hz = NAN,
                                  .lost = -1,
                                  .moved_on = -1,
                                  .truncated = -1,
                                  .unresolved = -1,
                                  .complete = -1,
                                  .sampler_cpu_s = NAN,
                                  .target_cpu_s = NAN,
                                  .stacks = s};
    struct kept k;
    put(&k, &(struct samples_options){.format = SAMPLES_HTML}, &run);
    json_t *root = parsed_page(&k, "No samples: no thread of the VM was seen on a CPU.");
    expect_key(root, "nodes", "[]");
    json_decref(root);
    buf_clear(&k.bytes);
    for (uint32_t i = 0; i < 45000; i++) {
        struct sample_frame f = frames['a'];
        f.line = i + 1;
        uint32_t id = stacks_frame(s, &f);
        stacks_add(s, &id, 1, i < 100 ? 1000 : 1);
    }
    run.samples = (int64_t)stacks_total(s);
    put(&k, &(struct samples_options){.format = SAMPLES_HTML}, &run);
    root = parsed_page(&k, "31.0% of the samples end in “…”: functions too small to be seen.");
    assert_int_equal(json_array_size(json_object_get(root, "nodes")), 3 * 101);
    assert_int_equal(json_array_size(json_object_get(root, "frames")), 101);
    json_decref(root);
    buf_clear(&k.bytes);
    stacks_free(s);
}

/* ---- one sample */

static const uint32_t ids[] = {'a', 'b', 'd', 'e', 'h', 'p', 1};
static const uint64_t addresses[] = {1, 2, 3, 0x7f00deadbeef, 5, 6, 0xfff};
static const struct sample a_sample = {.mono_ns = 12345678901999,
                                       .tid = 77,
                                       .cpu = 1,
                                       .in = SAMPLE_BIF,
                                       .flags = SAMPLE_TRUNCATED | SAMPLE_UNRESOLVED,
                                       .pid_number = 123,
                                       .pid_serial = 4,
                                       .frames = ids,
                                       .n_frames = ARRAY_LEN(ids),
                                       .addresses = addresses};

TEST(test_perf_script)
{
    static const struct {
        const char *thread, *comm;
    } rows[] = {
        {"1_scheduler", "1_scheduler"},
        {"dirty CPU 1", "dirty_CPU_1"}, /* a number behind a space would be the pid */
        {"", "beam"},
        {"x", "beam"},
        {"a\n\033\xff", "a\uFFFD\uFFFD\uFFFD"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out, wanted;
        buf_init(&out, 0);
        buf_init(&wanted, 0);
        samples_perf_script(&out, rows[i].thread, 70, &a_sample, &lookup);
        buf_printf(&wanted, "%s 70/77 [001] 12345.678901: 1 cpu-clock:\n", rows[i].comm);
        buf_puts(&wanted, "\t             fff [unknown] ([unknown])\n"
                          "\t               6 _(anonymous namespace)::f(int) (libx.so)\n"
                          "\t               5 bad:na me\uFFFD\uFFFD[1m\uFFFD\"(x) 7 "
                          "(a_b_\uFFFD\uFFFD.so)\n"
                          "\t    7f00deadbeef copy_struct_x (beam.smp)\n"
                          "\t               3 erlang:phash2/1 ([unknown])\n"
                          "\t               2 shop:loop/1 ([JIT])\n"
                          "\t               1 proc_lib:init_p_do_apply/3 ([JIT])\n"
                          "\n");
        assert_string_equal(buf_cstr(&out), buf_cstr(&wanted));
        buf_clear(&out);
        buf_clear(&wanted);
    }
    struct buf out;
    buf_init(&out, 0);
    const struct sample bare = {.mono_ns = 1000999, .cpu = 12};
    samples_perf_script(&out, "poll", 1, &bare, &lookup);
    assert_string_equal(buf_cstr(&out), "poll 1/0 [012] 0.001000: 1 cpu-clock:\n\n");
    buf_clear(&out);
}

static const struct sample moved = {
    .flags = SAMPLE_MOVED_ON, .in = SAMPLE_GC, .frames = ids, .n_frames = 1};
static const struct thread_stack stacks_now[] = {
    {S("scheduler 1"), S("shop_cart"), S(""), 77, &a_sample},
    {S("scheduler 2"), S(""), S("idle: waits for work\n"), 78, NULL},
    {S("dirty CPU 1"), S("b\xff\n"), S(""), -1, &moved},
};

TEST(test_stack_text)
{
    struct buf out;
    buf_init(&out, 0);
    for (size_t i = 0; i < ARRAY_LEN(stacks_now); i++)
        stack_text(&out, &stacks_now[i], &lookup, false);
    assert_string_equal(buf_cstr(&out),
                        "scheduler 1  <0.123.4>  shop_cart\n"
                        "#0  [unknown]\n"
                        "#1  (anonymous namespace)::f(int) from libx.so\n"
                        "#2  bad;na me\uFFFD\uFFFD[1m\uFFFD\"(x) 7 from a(b)\uFFFD\uFFFD.so\n"
                        "#3  copy_struct_x from beam.smp\n"
                        "#4  erlang:phash2/1\n"
                        "#5  shop:loop/1 at shop.erl:42\n"
                        "#6  proc_lib:init_p_do_apply/3\n"
                        "    truncated: the stack is deeper than what was copied\n"
                        "    unresolved: native frames could not be followed to Erlang code\n"
                        "\n"
                        "scheduler 2\n"
                        "    idle: waits for work\uFFFD\n"
                        "\n"
                        "dirty CPU 1  b\uFFFD\uFFFD\n"
                        "#0  proc_lib:init_p_do_apply/3\n"
                        "    moved on: the thread ran while its Erlang stack was read\n");
    buf_reset(&out);
    stack_text(&out, &stacks_now[2], &lookup, true);
    assert_non_null(strstr(buf_cstr(&out), "dirty CPU 1  b??\n"));
    buf_clear(&out);
}

TEST(test_stack_json)
{
    struct kept k = {0};
    buf_init(&k.bytes, 0);
    stack_json(&k.bytes, slice_of("shop@host"), 1700000000123456, stacks_now, 3, &lookup);
    json_t *root = parsed(&k);
    expect_key(root, "schema", "\"beamtop.pstack/1\"");
    expect_key(root, "node", "\"shop@host\"");
    expect_key(root, "wall_us", "1700000000123456");
    const json_t *all = json_object_get(root, "threads");
    assert_int_equal(json_array_size(all), 3);
    static const struct {
        size_t thread;
        const char *key, *value;
    } rows[] = {
        {0, "thread", "\"scheduler 1\""},
        {0, "pid", "\"<0.123.4>\""},
        {0, "name", "\"shop_cart\""},
        {0, "class", "\"bif\""},
        {0, "tid", "77"},
        {0, "why", "null"},
        {0, "truncated", "true"},
        {0, "unresolved", "true"},
        {0, "complete", "false"},
        {1, "pid", "null"},
        {1, "class", "null"},
        {1, "why", "\"idle: waits for work\\n\""},
        {1, "frames", "[]"},
        {2, "tid", "null"},
        {2, "moved_on", "true"},
        {2, "frames",
         "[{\"function\":\"proc_lib:init_p_do_apply/3\",\"kind\":\"erlang\","
         "\"object\":null,\"file\":null,\"line\":null}]"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_key(json_array_get(all, rows[i].thread), rows[i].key, rows[i].value);
    const json_t *stack = json_object_get(json_array_get(all, 0), "frames");
    assert_int_equal(json_array_size(stack), 7);
    expect_key(json_array_get(stack, 5), "file", "\"shop.erl\"");
    expect_key(json_array_get(stack, 5), "line", "42");
    json_decref(root);
}

/* The frames of weighted stacks are looked up in the same way. */
TEST(test_frames_of_stacks)
{
    struct stacks *s = some_stacks();
    const struct sample_frames of = sample_frames_of(s);
    assert_true(slice_is(of.at(of.ctx, 1)->name, "shop:loop/1"));
    assert_null(of.at(of.ctx, 1000));
    stacks_free(s);
}

/* ---- large ones, and writes that fail */

TEST(test_pieces)
{
    struct stacks *s = stacks_new();
    for (uint32_t i = 0; i < 5000; i++) {
        struct sample_frame f = frames['a'];
        f.line = i + 1;
        uint32_t id = stacks_frame(s, &f);
        stacks_add(s, &id, 1, 1);
    }
    struct samples_summary run = a_run(s);
    for (enum samples_format f = SAMPLES_TEXT; f <= SAMPLES_HTML; f++) {
        const struct samples_options options = {.format = f};
        struct kept k;
        put(&k, &options, &run);
        bool pieces = f >= SAMPLES_FOLDED;
        assert_true(pieces ? k.writes > 1 : k.writes == 1);
        buf_clear(&k.bytes);
        k = (struct kept){.error = EPIPE};
        struct sink_output output = {.writer = {keep, &k}};
        struct error err = {0};
        assert_int_equal(samples_put(&output, &run, &options, &err), ERR_SYSTEM);
        assert_int_equal(output.write_errno, EPIPE);
        assert_int_equal(k.writes, 1);
    }
    stacks_free(s);
}
