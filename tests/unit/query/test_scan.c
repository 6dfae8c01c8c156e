/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scan of a small node: what is kept of its processes, what is asked, the answer that is made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/print.h"
#include "query/scan/scan_terms.h"
#include "query/scan/scan_walks.h"
#include "terms.h"

static bool reads_ask(const char *text, struct scan_ask *out)
{
    struct slice term;
    struct scan_filter filter;
    struct builder *b = term_of(text, &term);
    scan_filter_init(&filter);
    const bool ok = scan_read_ask((const uint8_t *)term.s, term.len, out, &filter);
    scan_filter_clear(&filter);
    builder_free(b);
    return ok;
}

/* ---- the table */

static struct etf_pid pid_of(uint32_t id)
{
    return (struct etf_pid){.id = id, .creation = 1};
}

static void list_ids(struct scan_table *t, const uint32_t *ids, size_t n)
{
    struct etf_pid pids[16];
    for (size_t i = 0; i < n; i++)
        pids[i] = pid_of(ids[i]);
    scan_table_list(t, pids, n);
}

static struct scan_proc *proc_of(const struct scan_table *t, uint32_t id)
{
    const struct etf_pid pid = pid_of(id);
    return scan_table_find(t, &pid);
}

/* As if there was no scan between the start of the clock and now. */
static void take_numbers(struct scan_proc *p, int64_t reductions, int64_t queue, uint64_t now_ms)
{
    const struct scan_moment now = {(int64_t)now_ms * 1000000, 0, now_ms};
    scan_proc_take(p, reductions, queue, &now);
}

TEST(test_list)
{
    struct scan_table t = {0};
    list_ids(&t, (const uint32_t[]){9, 3, 5, 3}, 4);
    assert_int_equal(t.n, 3);
    list_ids(&t, (const uint32_t[]){9, 5}, 2);
    assert_int_equal(scan_table_count(&t), 2);
    assert_non_null(proc_of(&t, 3));
    scan_table_drop(&t);
    assert_null(proc_of(&t, 3));
    list_ids(&t, (const uint32_t[]){5, 1, 9}, 3);
    proc_of(&t, 5)->own = true;
    assert_int_equal(scan_table_count(&t), 2);
    scan_table_clear(&t);
}

/* Who moves is asked at each scan; who does not ever less often. */
TEST(test_still)
{
    struct scan_table t = {0};
    list_ids(&t, (const uint32_t[]){1}, 1);
    struct scan_proc *p = proc_of(&t, 1);
    take_numbers(p, 10, 0, 1000);
    assert_int_equal(p->due_ms, 1000);
    take_numbers(p, 10, 0, 2000);
    assert_int_equal(p->due_ms, 2500);
    take_numbers(p, 10, 0, 100000);
    assert_int_equal(p->due_ms, 105000);
    p->stale = false;
    p->signals = 1; /* a read of its items, which is a reduction of its */
    take_numbers(p, 11, 0, 101000);
    assert_false(p->stale);
    take_numbers(p, 12, 0, 102000);
    assert_true(p->stale);
    assert_int_equal(p->due_ms, 102000);
    scan_table_clear(&t);
}

/* Who was asked four intervals ago has done a fourth of it in the last. */
TEST(test_spread)
{
    const struct scan_rank rank = {.by_delta = true}, queue = {.by_queue = true};
    struct scan_table t = {0};
    list_ids(&t, (const uint32_t[]){1}, 1);
    struct scan_proc *p = proc_of(&t, 1);
    scan_proc_take(p, 100, 8, &(struct scan_moment){1000, 0, 1});
    scan_table_begin(&t);
    scan_proc_take(p, 500, 16, &(struct scan_moment){5000, 4000, 5});
    assert_int_equal(scan_delta(p, &rank), 100);
    assert_int_equal(scan_delta(p, &queue), 2);
    assert_int_equal(scan_value(p, &rank), 500);
    scan_table_begin(&t);
    scan_proc_take(p, 600, 16, &(struct scan_moment){6000, 5000, 6});
    assert_int_equal(scan_delta(p, &rank), 100);
    scan_table_clear(&t);
}

static void expect_order(const struct scan_table *t, const struct scan_rank *rank, bool own,
                         const char *expected)
{
    struct scan_proc *out[16];
    char text[64] = "";
    const size_t n = scan_table_rank(t, rank, own, out, 3);
    for (size_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%u ", (unsigned)out[i]->pid.id);
    assert_string_equal(text, expected);
}

TEST(test_rank)
{
    struct scan_table t = {0};
    static const int64_t before[] = {100, 50, 50, 7}, now[] = {110, 90, 60, 107};
    list_ids(&t, (const uint32_t[]){1, 2, 3, 4}, 4);
    for (uint32_t i = 0; i < 4; i++)
        take_numbers(proc_of(&t, i + 1), before[i], i, 0);
    expect_order(&t, &(struct scan_rank){.by_delta = true, .first = true}, false, "1 3 2 ");
    scan_table_begin(&t);
    for (uint32_t i = 0; i < 4; i++)
        take_numbers(proc_of(&t, i + 1), now[i], 9 - i, 0);
    proc_of(&t, 4)->own = true;
    expect_order(&t, &(struct scan_rank){.by_delta = true}, false, "2 1 3 ");
    expect_order(&t, &(struct scan_rank){.by_delta = true}, true, "4 2 1 ");
    expect_order(&t, &(struct scan_rank){.by_delta = true, .ascending = true}, false, "1 3 2 ");
    expect_order(&t, &(struct scan_rank){.by_queue = true}, false, "1 2 3 ");
    scan_proc_end(proc_of(&t, 2));
    expect_order(&t, &(struct scan_rank){.by_delta = true}, false, "1 3 ");
    scan_table_clear(&t);
}

/* ---- the argument */

#define ASK(attr, items, filter)                                                                   \
    "#{attr => " attr ", mode => delta, order => desc, rows => 3, items => " items                 \
    ", pids => [<0.9.0>], own => true, filter => " filter ", reset => false}"

TEST(test_ask)
{
    struct scan_ask a;
    assert_true(reads_ask(ASK("reductions", "[id,memory]", "none"), &a));
    assert_true(a.rank.by_delta && !a.rank.by_queue && !a.rank.ascending && a.own && a.walks);
    assert_true(a.wants_id && a.wants_info && a.n_items == 2 && a.rows == 3 && a.n_pids == 1);
    assert_true(reads_ask(ASK("message_queue_len", "[reductions]", "none"), &a));
    assert_true(a.rank.by_queue && !a.wants_id && !a.wants_info && !a.walks);
}

TEST(test_asks_of_the_keeper)
{
    static const char *const others[] = {
        ASK("memory", "[id]", "none"),
        ASK("reductions", "[id,links]", "none"),
        ASK("reductions", "[id]", "{1,[pid],#{pid => {re,<<\"1\">>,[]}}}"),
        ASK("reductions", "[id]", "{1,[name],#{name => a}}"),
        ASK("reductions", "[id]", "{1,name,#{}}"),
        ASK("reductions", "[id]", "all"),
        ASK("reductions", "[id|x]", "none"),
        "[]",
        "#{attr => 1}",
        "#{rows => -1}",
        "#{rows => 100000}",
        "#{other => 1}",
    };
    struct scan_ask a;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(reads_ask(others[i], &a));
}

/* ---- the filter */

static void expect_pass(struct scan_filter *f, const char *name, const char *call, bool passes)
{
    struct scan_filtered of = {0};
    struct builder *named = term_of(name, &of.terms[SCAN_NAME]);
    struct builder *called = term_of(call, &of.terms[SCAN_INITIAL_CALL]);
    of.terms[SCAN_NAME].s++; /* without the version */
    of.terms[SCAN_NAME].len--;
    of.terms[SCAN_INITIAL_CALL].s++;
    of.terms[SCAN_INITIAL_CALL].len--;
    assert_int_equal(scan_filter_passes(f, &of), passes);
    builder_free(named);
    builder_free(called);
}

static void expect_labels(struct scan_filter *f, const char *expected)
{
    static const struct print_limits limits = {.depth = 20, .items = 100, .bytes = 4000};
    struct builder *b = builder_new();
    struct buf text;
    size_t len = 0;
    scan_filter_build(f, b);
    const uint8_t *bytes = builder_bytes(b, &len);
    buf_init(&text, 0);
    print_term(&text, bytes, len, &limits);
    assert_string_equal(buf_cstr(&text), expected);
    buf_clear(&text);
    builder_free(b);
}

/* What was never seen is sent once; what is judged to match lets pass. */
TEST(test_filter)
{
    struct scan_filter f;
    struct slice arg;
    struct builder *b = term_of("{1,[name,initial_call],#{name => #{rex => [],kernel_sup => []},"
                                "initial_call => #{},label => #{},pid => none}}",
                                &arg);
    struct cursor c;
    cursor_init(&c, (const uint8_t *)arg.s, arg.len);
    scan_filter_init(&f);
    assert_true(scan_filter_read(&f, &c));
    assert_true(f.on && scan_filter_has(&f, SCAN_NAME) && !scan_filter_has(&f, SCAN_LABEL));
    expect_pass(&f, "rex", "{a,b,1}", true);
    expect_pass(&f, "other", "{a,b,1}", false);
    expect_pass(&f, "undefined", "{c,d,2}", false);
    expect_labels(&f, "[{0,{name,rex}},{1,{initial_call,{a,b,1}}},{2,{name,other}},"
                      "{3,{initial_call,{c,d,2}}}]");
    expect_pass(&f, "other", "{a,b,1}", false);
    expect_labels(&f, "[]");
    scan_filter_clear(&f);
    builder_free(b);
}

/* ---- a scan */

#define VALUES(values) "[1000,60,{7000,10},[" values "],5000]"

struct scanned {
    struct scan_table table;
    struct scan_proc *procs[2];
    struct scan_ask ask;
};

static bool take_values(struct scanned *s, const char *text, bool info, bool spared)
{
    struct slice value;
    struct scan_clock clock;
    struct builder *b = term_of(text, &value);
    const bool ok = info ? scan_read_info(value, &clock, spared, s->procs, 2, 50)
                         : scan_read_sweep(value, &clock, s->procs, 2, 0, 50);
    if (ok) {
        assert_int_equal(clock.ended_ns - clock.began_ns, 4000);
        assert_int_equal(clock.processes, 60);
        assert_int_equal(clock.reductions, 7000);
    }
    builder_free(b);
    return ok;
}

static void begin_scan(struct scanned *s)
{
    *s = (struct scanned){0};
    list_ids(&s->table, (const uint32_t[]){1, 2}, 2);
    for (uint32_t i = 0; i < 2; i++)
        s->procs[i] = proc_of(&s->table, i + 1);
    assert_true(
        reads_ask(ASK("reductions", "[id,reductions,memory,garbage_collection,dictionary]", "none"),
                  &s->ask));
}

static struct who_entry say_who(const void *arg, const struct scan_proc *p)
{
    (void)arg;
    (void)p;
    return (struct who_entry){.name = {"\x77\x03one", 5}};
}

static void expect_answer(const struct scanned *s, bool first, const char *expected)
{
    static const struct print_limits limits = {.depth = 20, .items = 100, .bytes = 4000};
    const struct scan_answer answer = {.ask = &s->ask,
                                       .node = NODE,
                                       .rank = {.by_delta = true, .first = first},
                                       .mono_ns = 5,
                                       .interval_ns = 6,
                                       .sweep_us = 7,
                                       .total = 2,
                                       .passing = 2,
                                       .own = 1,
                                       .now_ms = 2050,
                                       .rows = s->procs,
                                       .n_rows = 2,
                                       .who = say_who};
    struct builder *b = builder_new();
    struct buf text;
    size_t len = 0;
    scan_build(b, &answer);
    const uint8_t *bytes = builder_bytes(b, &len);
    buf_init(&text, 0);
    print_term(&text, bytes, len, &limits);
    assert_string_equal(buf_cstr(&text), expected);
    buf_clear(&text);
    builder_free(b);
}

#define SWEPT                                                                                      \
    VALUES("[{reductions,12},{message_queue_len,3}],[{reductions,5},{message_queue_len,0}]")
#define INFO                                                                                       \
    VALUES("[{garbage_collection,[{max_heap_size,0},{minor_gcs,4},{fullsweep_after,9}]},"          \
           "{memory,800},{total_heap_size,100}],undefined")
#define ROW(delta, memory)                                                                         \
    "{scan,5,6,7,2,2,1,[{<0.1.0>,12," delta ",{{one,undefined,undefined,undefined,undefined},"     \
    "12," memory ",{4,9},undefined}}],[]}"

TEST(test_answer)
{
    struct scanned s;
    begin_scan(&s);
    assert_true(take_values(&s, SWEPT, false, false));
    assert_true(take_values(&s, INFO, true, false));
    assert_false(s.procs[1]->listed);
    expect_answer(&s, true, ROW("undefined", "800"));
    expect_answer(&s, false, ROW("12", "800"));
    scan_table_clear(&s.table);
}

/* A long message queue: the least that its memory can be, then what a walk said. */
TEST(test_long_queue)
{
    struct scanned s;
    struct slice value;
    double us = 0;
    uint64_t paid_ms = 0;
    begin_scan(&s);
    assert_true(take_values(&s,
                            VALUES("[{reductions,12},{message_queue_len,100000}],"
                                   "[{reductions,5},{message_queue_len,0}]"),
                            false, false));
    assert_true(scan_walk_is_slow(s.procs[0], NULL));
    assert_false(scan_walk_is_slow(s.procs[1], NULL));
    assert_true(take_values(&s,
                            VALUES("[{garbage_collection,[{minor_gcs,4},{fullsweep_after,9}]},"
                                   "{heap_size,1000}],undefined"),
                            true, true));
    expect_answer(&s, false, ROW("12", "{older,4008000,undefined}"));
    assert_true(scan_walk_has_turn(s.procs[0], &paid_ms, 50));
    struct builder *b = term_of("[0,[{memory,9000000},{total_heap_size,1200}],3000000]", &value);
    assert_true(scan_walk_read(value, s.procs, 1, 50, &us));
    assert_int_equal((int)us, 3000);
    builder_free(b);
    expect_answer(&s, false, ROW("12", "{older,9000000,2000}"));
    /* 2 ms of 20 ns each: a second later. */
    assert_false(scan_walk_has_turn(s.procs[0], &paid_ms, 900));
    assert_true(scan_walk_has_turn(s.procs[0], &paid_ms, 1100));
    assert_int_equal(s.procs[0]->links_ns, 0);
    scan_table_clear(&s.table);
}

/* Memory beyond the heaps: read with the others once, then alone; it took as long as links do. */
TEST(test_many_links)
{
    struct scanned s;
    struct slice value;
    double us;
    begin_scan(&s);
    assert_true(take_values(&s, SWEPT, false, false));
    assert_true(take_values(&s,
                            VALUES("[{garbage_collection,[]},{memory,8000000},"
                                   "{total_heap_size,100}],undefined"),
                            true, false));
    scan_walk_suspect(s.procs[0]);
    assert_true(scan_walk_is_slow(s.procs[0], NULL));
    struct builder *b = term_of("[0,[{memory,8000000},{total_heap_size,100}],9000000]", &value);
    assert_true(scan_walk_read(value, s.procs, 1, 60, &us));
    builder_free(b);
    assert_int_equal(s.procs[0]->links_ns, 9000000);
    b = term_of("[0,[{memory,8000000},{total_heap_size,100}],9000]", &value);
    assert_true(scan_walk_read(value, s.procs, 1, 60, &us));
    builder_free(b);
    assert_false(scan_walk_is_slow(s.procs[0], NULL));
    scan_walk_suspect(s.procs[0]);
    assert_false(scan_walk_is_slow(s.procs[0], NULL));
    scan_table_clear(&s.table);
}

TEST(test_refuses)
{
    static const char *const values[] = {
        "[]",
        "x",
        VALUES(""),
        VALUES("1,2"),
        VALUES("[{reductions,1}],undefined"),
        VALUES("[{reductions,-1},{message_queue_len,1}],undefined"),
        VALUES("[{message_queue_len,1},{reductions,1}],undefined"),
        "[1000,60,{7000,10},[undefined,undefined],500]",
        "[1000,-1,{7000,10},[undefined,undefined],5000]",
        "[1000,9223372036854775807,{7000,10},[undefined,undefined],5000]",
    };
    struct scanned s;
    struct slice value;
    struct scan_clock clock;
    struct etf_pid *pids;
    size_t n;
    begin_scan(&s);
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        assert_false(take_values(&s, values[i], false, false));
    struct builder *b = term_of(VALUES("<0.1.0>,x"), &value);
    assert_false(scan_read_list(value, &clock, &pids, &n));
    free(pids);
    builder_free(b);
    b = term_of(VALUES("<0.1.0>,<0.2.0>"), &value);
    assert_true(scan_read_list(value, &clock, &pids, &n));
    assert_int_equal(n, 2);
    free(pids);
    builder_free(b);
    scan_table_clear(&s.table);
}
