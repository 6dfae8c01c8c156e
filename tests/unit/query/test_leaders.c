/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What native asks say of leaders, and who leads. */
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "query/leaders/leaders_read.h"
#include "terms.h"

static struct leader looked_at(const char *infos)
{
    struct slice value;
    struct builder *b = term_of(infos, &value);
    struct leader l = {.reductions = 7, .looked_reductions = -1};
    leaders_take_look(&l, value);
    builder_free(b);
    return l;
}

TEST(test_looks)
{
    struct leader l = looked_at(
        "[{memory,100000},{garbage_collection_info,[{old_heap_block_size,10},{heap_block_size,100},"
        "{mbuf_size,5},{bin_vheap_size,1000},{bin_old_vheap_size,24}]}]");
    assert_int_equal(l.memory, 100000);
    assert_int_equal(l.binary_bytes, 1024 * 8);
    assert_int_equal(l.beside_bytes, 100000 - 115 * 8);
    assert_int_equal(l.looked_reductions, 7);
    static const char *const odd[] = {"undefined", "[]",
                                      "[{memory,a},{garbage_collection_info,[]}]",
                                      "[{memory,-5},{garbage_collection_info,[]}]", "{a,1}"};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        l = looked_at(odd[i]);
        assert_int_equal(l.memory, 0);
        assert_int_equal(l.looked_reductions, -1);
    }
}

static bool is_function(const char *mfa, bool (*is)(struct slice mfa))
{
    struct slice value;
    struct builder *b = term_of(mfa, &value);
    const bool yes = is(value);
    builder_free(b);
    return yes;
}

TEST(test_functions)
{
    assert_true(is_function("{erlang,hibernate,3}", leaders_is_asleep));
    assert_true(is_function("{gen_server,loop_hibernate,4}", leaders_is_asleep));
    assert_true(is_function("{sys,suspend_loop,7}", leaders_is_asleep));
    assert_false(is_function("{gen_server,loop,7}", leaders_is_asleep));
    assert_false(is_function("undefined", leaders_is_asleep));
    assert_true(is_function("{erts_internal,dsend_continue_trap,1}", leaders_is_sending));
    assert_false(is_function("{gen,do_call,4}", leaders_is_sending));
    assert_false(is_function("[1]", leaders_is_sending));
}

TEST(test_moments)
{
    struct leaders_waits sums = {0};
    static const char *const values[] = {"[1,2,3,3]", "[1]", "[]", "[9,<<1>>]", "no"};
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct slice value;
        struct builder *b = term_of(values[i], &value);
        leaders_take_moment(&sums, value);
        builder_free(b);
    }
    assert_int_equal(sums.moments, 5);
    assert_int_equal(sums.running, 2);
    assert_int_equal(sums.logger, 1);
    assert_int_equal(sums.calls, 2);
}

TEST(test_binaries)
{
    struct slice value;
    struct leader l = {0};
    struct builder *b = term_of("{binary,[{1,100,2},{2,50,1},{1,100,2}]}", &value);
    leaders_take_binaries(&l, value);
    assert_int_equal(l.binaries, 2);
    assert_int_equal(l.distinct_bytes, 150);
    builder_free(b);
    b = term_of("undefined", &value);
    leaders_take_binaries(&l, value);
    assert_int_equal(l.binaries, 2); /* as it was */
    builder_free(b);
}

TEST(test_counts)
{
    static const char *const odd[] = {"undefined", "[1,2]", "[1,2,a]", "[1,2,-3]"};
    struct slice value;
    struct leader l = {.mostly = TIES};
    struct builder *b = term_of("[1,2000,30]", &value);
    assert_true(leaders_take_counts(&l, value, true));
    assert_int_equal(l.mostly, TIE_MONITORED_BY);
    assert_int_equal(l.ties[TIE_LINKS], 30);
    assert_true(leaders_take_counts(&l, value, false));
    assert_int_equal(l.ties[TIE_LINKS], -1);
    builder_free(b);
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        b = term_of(odd[i], &value);
        assert_false(leaders_take_counts(&l, value, true));
        builder_free(b);
    }
}

TEST(test_pids)
{
    struct slice value;
    struct etf_pid pids[2];
    struct builder *b = term_of("[<0.1.0>,a,<0.2.0>,<0.3.0>]", &value);
    assert_int_equal(leaders_read_pids(value, NODE, pids, 2), 2);
    assert_int_equal(pids[1].id, 2);
    assert_int_equal(leaders_read_pids(value, "x@h", pids, 2), 0);
    builder_free(b);
    b = term_of("undefined", &value);
    assert_int_equal(leaders_read_pids(value, NODE, pids, 2), 0);
    builder_free(b);
}

/* ---- the table */

static struct scan_table made_table(size_t n)
{
    struct scan_table t = {.procs = alloc_zero(n, sizeof *t.procs), .n = n};
    for (size_t i = 0; i < n; i++)
        t.procs[i] = (struct scan_proc){.pid = {.id = (uint32_t)i + 1},
                                        .listed = true,
                                        .known = true,
                                        .reductions = 1000 * (int64_t)(i + 1),
                                        .reductions_before = 500,
                                        .queue = (int64_t)i};
    return t;
}

TEST(test_table)
{
    struct scan_table seen = made_table(5);
    struct leaders_table t = {0};
    struct leader *best[2];
    seen.procs[4].own = true;
    leaders_table_merge(&t, &seen, 1000);
    assert_int_equal(t.n, 4);
    assert_int_equal(leaders_best(&t, leader_did, 1, best, 2), 2);
    assert_int_equal(best[0]->pid.id, 4);
    assert_int_equal(best[0]->did, 3500);
    assert_int_equal(best[1]->pid.id, 3);
    best[0]->memory = 77;
    seen.procs[3].reductions += 10;
    seen.procs[0].listed = false; /* it has ended */
    leaders_table_merge(&t, &seen, 2000);
    assert_int_equal(t.n, 3);
    assert_int_equal(leaders_best(&t, leader_did, 1, best, 2), 1);
    assert_int_equal(best[0]->did, 10);
    assert_int_equal(best[0]->memory, 77); /* what was known stays */
    assert_int_equal(leaders_best(&t, leader_queue, 2, best, 2), 2);
    assert_int_equal(best[0]->queue, 3);
    assert_null(leaders_table_find(&t, &(struct etf_pid){.id = 1}));
    leaders_table_clear(&t);
    free(seen.procs);
}

/* Its memory is not read where that walks what is long. */
TEST(test_walked)
{
    struct scan_table seen = made_table(2);
    struct leaders_table t = {0};
    seen.procs[0].queue = 100000;
    seen.procs[1].links_ns = 1;
    seen.procs[1].walked_ms = 5;
    seen.procs[1].memory = 12345;
    leaders_table_merge(&t, &seen, 1000);
    assert_true(t.all[0].is_walked && t.all[1].is_walked);
    assert_int_equal(t.all[1].memory, 12345);
    leaders_table_clear(&t);
    free(seen.procs);
}
