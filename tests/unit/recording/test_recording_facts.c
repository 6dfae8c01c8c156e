/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands beside the ticks of a recording: facts, leaders, who is watched, how calls vary. */
#include <math.h>
#include <sqlite3.h>

#include "../../test.h"
#include "beamtop/etf/print.h"
#include "recording/recorder_internal.h"
#include "ticks.h"

/* Calls of `add` in windows of a second; the rest of a window's calls is of others, told or not. */
static const struct {
    const char *label;
    int64_t add[4], others[4]; /* add: -1: not told; others that are told */
    int64_t windows;           /* that its variation is of */
    double per_s_stddev, share_stddev;
} spread_rows[] = {
    {"steady", {50, 50, 50, 50}, {50, 50, 50, 50}, 4, 0, 0},
    {"around its mean", {40, 60, 40, 60}, {60, 40, 60, 40}, 4, 11.547, 0.11547},
    {"not called, where all are told", {100, 0, 100, -1}, {0, 100, 0, 100}, 4, 57.735, 0.57735},
    {"not told, where not all are", {100, 100, 100, -1}, {0, 0, 0, 10}, 0, NAN, NAN},
};

static bool is_near(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) < 1e-3 * (1 + fabs(b));
}

TEST(test_how_calls_vary)
{
    for (size_t i = 0; i < ARRAY_LEN(spread_rows); i++) {
        struct error err = {0};
        const struct recorded_call *found;
        struct recorded_window sums;
        struct place p;
        place_make(&p);
        struct recorder *r = begin(p.path, 0, false);
        struct model *m = model_new();
        for (int k = 0; k < 4; k++) {
            int64_t add = spread_rows[i].add[k];
            const struct calls_function calls[] = {
                counted_call("shop_cart", "get", 1, spread_rows[i].others[k], -1, -1, NAN),
                counted_call("shop_cart", "add", 2, add, -1, -1, NAN)};
            const struct calls_window w = {.interval_us = 1000000,
                                           .functions = 2,
                                           .calls = 100,
                                           .rows = calls,
                                           .n_rows = add < 0 ? 1 : 2};
            recorder_calls(r, &w, false);
            if (tick(r, m, k + 1, &err) != 0)
                fail_msg("%s", err.text);
        }
        recorder_close(r, "stopped", &err);
        struct recording *f = reopen(p.path);
        size_t n = recording_calls(f, 1, 4, &found, &sums), at = 0;
        while (at < n && found[at].arity != 2)
            at++;
        assert_true(at < n && sums.windows == 4);
        const struct recorded_call *s = &found[at];
        if (s->windows != spread_rows[i].windows ||
            !is_near(s->calls_per_s_stddev, spread_rows[i].per_s_stddev) ||
            !is_near(s->share_stddev, spread_rows[i].share_stddev))
            fail_msg("%s: %lld windows, ± %g a second, ± %g", spread_rows[i].label,
                     (long long)s->windows, s->calls_per_s_stddev, s->share_stddev);
        recording_close(f);
        model_free(m);
        place_clear(&p);
    }
}

static int give_with(enum question q, struct recorder *r, const char *text, struct error *err)
{
    struct term t = term_of(text);
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(t.builder, &len);
    int rc = recorder_facts(r, q, bytes + 1, len - 1, err);
    term_free(&t);
    return rc;
}

static void expect_malformed(enum question q, struct recorder *r, const char *const *texts,
                             size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct error err = {0};
        if (give_with(q, r, texts[i], &err) != ERR_FORMAT)
            fail_msg("taken: %s", texts[i]);
    }
}

/* Pids and functions are texts; numbers that always change are kept in the first minute, then once
 * in each. */
TEST(test_leaders)
{
    static const char *const bad[] = {"{leaders, 1, #{}}", "{leaders, 1, [], #{}}",
                                      "{leaders, 1, #{a => {b,c}}, #{}}", "{facts, 1, #{}, #{}}"};
    static const struct {
        int second, binaries;
    } rows[] = {{1, 3}, {30, 4}, {62, 5}, {89, 6}, {122, 7}};
    struct error err = {0};
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    expect_malformed(QUESTION_LEADERS, r, bad, sizeof bad / sizeof *bad);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "{leaders, %d000000000, #{gc => #{}, binaries => #{holders => "
                 "[#{pid => <0.41.0>, initial_call => {'My', init, 1}, binaries => %d}]}}, "
                 "#{memory => []}}",
                 rows[i].second, rows[i].binaries);
        assert_int_equal(give_with(QUESTION_LEADERS, r, text, &err), 0);
        assert_int_equal(tick(r, m, rows[i].second, &err), 0);
    }
    assert_int_equal(recorder_close(r, "time", &err), 0);
    model_free(m);
    struct recording *f = reopen(p.path);
    static const char kept[] = "{\"holders\":[{\"binaries\":3,\"initial_call\":\"'My':init/1\","
                               "\"pid\":\"<0.41.0>\"}]}";
    assert_string_equal(recording_fact(f, "binaries", 1), kept);
    assert_non_null(strstr(recording_fact(f, "binaries", 2), "\"binaries\":4"));
    assert_non_null(strstr(recording_fact(f, "binaries", 4), "\"binaries\":4"));
    assert_non_null(strstr(recording_fact(f, "binaries", 5), "\"binaries\":7"));
    recording_close(f);
    place_clear(&p);
}

/* Each answer of the first minute is kept, then one in 30 s; names of atoms where values are. */
TEST(test_growth)
{
    static const char *const bad[] = {"{growth, 1}", "{growth, 1, []}", "{growth, a, #{}}",
                                      "{facts, 1, #{}}"};
    static const struct {
        int second, count;
    } rows[] = {{10, 3}, {20, 4}, {75, 5}, {85, 6}, {106, 7}};
    static const int kept[] = {3, 4, 5, 5, 7};
    struct error err = {0};
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    expect_malformed(QUESTION_GROWTH, r, bad, sizeof bad / sizeof *bad);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "{growth, %d000000000, #{growth => #{atoms => #{prefix => <<\"u\">>, "
                 "examples => [<<\"u1\">>]}, sockets => #{count => %d}}}}",
                 rows[i].second, rows[i].count);
        assert_int_equal(give_with(QUESTION_GROWTH, r, text, &err), 0);
        assert_int_equal(tick(r, m, rows[i].second, &err), 0);
    }
    assert_int_equal(recorder_close(r, "time", &err), 0);
    model_free(m);
    struct recording *f = reopen(p.path);
    for (int i = 0; i < 5; i++) {
        char text[80];
        snprintf(text, sizeof text, "{\"atoms\":{\"prefix\":\"u\"},\"sockets\":{\"count\":%d}}",
                 kept[i]);
        assert_string_equal(recording_fact(f, "growth", i + 1), text);
    }
    recording_close(f);
    place_clear(&p);
}

static size_t find_process(struct recording *r, const char *pid, struct arena *arena,
                           struct period_process *out)
{
    const struct period_process *all;
    struct period_turnover turnover;
    size_t n = recording_processes(r, 1, 3, arena, &all, &turnover);
    for (size_t i = 0; i < n; i++)
        if (slice_is(all[i].pid, pid))
            *out = all[i];
    return n;
}

/* What is watched is recorded beside the busiest where it has a long mailbox or much memory, or any
   message while it is suspended or hibernates. */
TEST(test_watched)
{
    struct error err = {0};
    struct period_process found = {0};
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    for (int second = 1; second <= 3; second++) {
        char text[6000];
        int used = snprintf(text, sizeof text, "{scan, %lld, 1000000000, 1234, 90, 90, 0, [",
                            -576460000000000000LL + second * 1000000000LL);
        for (int i = 0; i < 20; i++)
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "%s{<0.%d.0>, 1, 1, {{undefined,{m,f,1},undefined,undefined,{m,f,1}}, "
                             "1, 0, 900, {m,f,1}}}",
                             i ? "," : "", 100 + i);
        snprintf(text + used, sizeof text - (size_t)used,
                 "], [], [{<0.7.0>, 1, undefined, {{idle,{m,f,1},undefined,shop,{g,h,2}}, "
                 "1, %d, 0, {m,f,1}}}, {<0.8.0>, 1, undefined, {{none,{m,f,1},undefined,undefined,"
                 "{m,f,1}}, 1, 4, 0, {m,f,1}}}, {<0.9.0>, 1, undefined, {{held,{m,f,1},undefined,"
                 "undefined,{m,f,1}}, 1, 1, 0, {sys,suspend_loop,6}}}, {<0.10.0>, 1, undefined, "
                 "{{sleeps,{m,f,1},undefined,undefined,{m,f,1}}, 1, 2, 0, {gen_server,"
                 "loop_hibernate,4}}}]}",
                 second * 100);
        if (second == 1)
            take(r, m, ANSWER_NODE, NODE_ANSWER);
        char system[1200];
        system_text(system, sizeof system, second);
        take(r, m, ANSWER_SYSTEM, system);
        take(r, m, ANSWER_SCAN, text);
        assert_int_equal(model_scan(m)->n_watched, 4);
        assert_int_equal(recorder_tick(r, m, 1700000000000000LL + second * 1000000LL, &err), 0);
    }
    assert_int_equal(recorder_close(r, "time", &err), 0);
    model_free(m);
    struct recording *f = reopen(p.path);
    struct arena arena;
    arena_init(&arena);
    assert_int_equal(find_process(f, "<0.9.0>", &arena, &found), 23);
    assert_true(found.ticks == 3 && fabs(found.queue_last - 1) < 1e-9);
    assert_int_equal(find_process(f, "<0.10.0>", &arena, &found), 23);
    assert_true(found.ticks == 3 && fabs(found.queue_last - 2) < 1e-9);
    assert_int_equal(find_process(f, "<0.7.0>", &arena, &found), 23);
    assert_true(slice_is(found.name, "idle") && slice_is(found.application, "shop"));
    assert_true(slice_is(found.initial_call, "m:f/1") && slice_is(found.current_function, "m:f/1"));
    assert_int_equal(found.ticks, 3);
    assert_true(fabs(found.queue_last - 300) < 1e-9 && found.queue_fit > 0.99);
    arena_clear(&arena);
    recording_close(f);
    place_clear(&p);
}

TEST(test_facts)
{
    static const char *const bad[] = {
        "{facts, 1, []}",          "facts",
        "{facts, 1, #{a => {b}}}", "{facts, 1, #{a => [1|2]}}",
        "{facts, 1, #{1 => 2}}",   "{facts, 1, #{a => [[[[[[[[[[[1]]]]]]]]]]]}}"};
    static const char good[] =
        "{facts, -5, #{logger => #{primary_level => notice, mode => undefined, n => [], on => true,"
        " handlers => [#{id => <<\"a\\\"b\">>, sync_mode_qlen => 10}]}, code => undefined,"
        " bytes => [1,2,3]}}";
    struct error err = {0};
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    expect_malformed(QUESTION_FACTS, r, bad, sizeof bad / sizeof *bad);
    assert_int_equal(give_with(QUESTION_FACTS, r, good, &err), 0);
    assert_int_equal(tick(r, m, 1, &err), 0);
    assert_int_equal(recorder_close(r, "time", &err), 0);
    model_free(m);
    struct recording *f = reopen(p.path);
    assert_string_equal(recording_fact(f, "logger", 1),
                        "{\"handlers\":[{\"id\":\"a\\\"b\",\"sync_mode_qlen\":10}],\"mode\":null,"
                        "\"n\":[],\"on\":true,\"primary_level\":\"notice\"}");
    assert_string_equal(recording_fact(f, "bytes", 1), "[1,2,3]");
    assert_null(recording_fact(f, "code", 1));
    recording_close(f);
    place_clear(&p);
}

/* Names of atoms may be made of what users send: their rows stay, without the names. */
TEST(test_names_of_atoms)
{
    static const struct print_limits limits = {.bytes = 2000};
    struct term t = term_of(
        "{terms,7,[{<<\"atoms others\">>,<<\"atoms\">>,<<\"others\">>,undefined,9,100,1,a,b,c},"
        "{<<\"atoms secret\">>,<<\"atoms\">>,<<\"secret\">>,undefined,1,undefined,1,a,b,c},"
        "{<<\"modules shop\">>,<<\"modules\">>,shop,shop,1,undefined,1,a,b,c}],false}");
    struct builder *b = recorder_hide_atoms(t.bytes + 1, t.len - 1);
    struct buf text;
    size_t len;
    assert_non_null(b);
    const uint8_t *bytes = builder_bytes(b, &len);
    buf_init(&text, 0);
    print_term(&text, bytes, len, &limits);
    assert_string_equal(
        buf_cstr(&text),
        "{terms,7,[{<<\"atoms others\">>,<<\"atoms\">>,<<\"others\">>,undefined,9,100,1,a,b,c},"
        "{<<\"atoms 1\">>,<<\"atoms\">>,undefined,undefined,1,undefined,1,a,b,c},"
        "{<<\"modules shop\">>,<<\"modules\">>,shop,shop,1,undefined,1,a,b,c}],false}");
    buf_clear(&text);
    builder_free(b);
    term_free(&t);
    for (size_t i = 0; i < 3; i++) {
        static const char *const odd[] = {"{terms,7,[a],false}", "{terms,7}",
                                          "{terms,7,[{a}|b],c}"};
        t = term_of(odd[i]);
        assert_null(recorder_hide_atoms(t.bytes + 1, t.len - 1));
        term_free(&t);
    }
}
