/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the operating system says of scheduler threads: rates between two answers, and texts of
 * /proc that are nothing like it. */
#include "../../test.h"
#include "beamtop/model/detail.h"
#include "given.h"

TEST(test_rates_between_two_answers)
{
    struct model *m = model_new();
    must(m, ANSWER_NODE, NODE_ANSWER);
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("100", "5000", "1000", "10", "100"));
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("098", "7000", "2000", "85", "200"));
    must(m, ANSWER_THREADS, THREADS_ANSWER("100", "400000000 100000000 500", "1", "20", "10"));
    near(model_threads(m)->rows[0].run, NAN);
    near(model_threads(m)->steal, NAN);
    must(m, ANSWER_THREADS, THREADS_ANSWER("098", "900000000 1600000000 900", "3", "120", "1010"));
    const struct threads_detail *t = model_threads(m);
    const struct scheduler_thread *r = &t->rows[0];
    near(t->interval_s, 2);
    near(r->run, 0.25);
    near(r->wait, 0.75);
    near(r->involuntary_per_s, 50);
    near(r->voluntary_per_s, 0);
    near(r->use, 0.75);
    near(t->steal, 1);
    near(t->quota_cpus, 1.5);
    near(t->throttled, NAN); /* no period has passed */
    near(t->throttled_per_s, 0);
    assert_int_equal(t->allowed_cpus, 3);
    assert_int_equal(r->cpu, 3);
    assert_int_equal(r->bound, 1);
    assert_int_equal(r->migrations, 1);
    assert_int_equal(t->rows[1].id, model_node(m)->schedulers + 1);
    model_gap(m);
    must(m, ANSWER_THREADS, THREADS_ANSWER("096", "900000000 1600000000 900", "3", "120", "1010"));
    near(model_threads(m)->rows[0].run, NAN);
    assert_int_equal(model_threads(m)->rows[0].migrations, 0);
    model_free(m);
}

/* The second scheduler of the answer has texts without numbers. */
TEST(test_what_is_not_there_is_unknown)
{
    struct model *m = model_new();
    must(m, ANSWER_THREADS, THREADS_ANSWER("100", "1 2 3", "1", "20", "10"));
    const struct scheduler_thread *r = &model_threads(m)->rows[1];
    assert_int_equal(r->run_ns, -1);
    assert_int_equal(r->wait_ns, -1);
    assert_int_equal(r->cpu, -1);
    assert_int_equal(r->bound, -1);
    assert_int_equal(r->voluntary, -1);
    assert_int_equal(r->involuntary, -1);
    model_free(m);
}

TEST(test_strange_texts)
{
    static const struct {
        const char *schedstat, *cpu;
        int64_t run_ns, is_cpu;
    } rows[] = {
        {"0 0 0", "1", -1, 1}, /* a kernel that does not count */
        {"", "", -1, 0},       /* the next number of `stat` stands there */
        {"1", "999999999999999999999", -1, -1},
        {"-1 2 3", "-5", -1, -1},
        {"99999999999999999999 1 1", "65536", -1, -1},
        {"7 8 9 10 \\0 11", "x", 7, -1},
        {"7\\n8\\n9", "65535", -1, 65535},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[2000];
        struct model *m = model_new();
        snprintf(text, sizeof text, THREADS_ANSWER("100", "%s", "%s", "20", "10"),
                 rows[i].schedstat, rows[i].cpu);
        must(m, ANSWER_THREADS, text);
        print_message("%s, %s\n", rows[i].schedstat, rows[i].cpu);
        assert_int_equal(model_threads(m)->rows[0].run_ns, rows[i].run_ns);
        assert_int_equal(model_threads(m)->rows[0].cpu, rows[i].is_cpu);
        model_free(m);
    }
}

TEST(test_lists_of_cpus_and_quotas)
{
    static const struct {
        const char *allowed, *quota;
        int64_t cpus;
        double quota_cpus;
    } rows[] = {
        {"0", "<<\"max 100000\\n\">>", 1, NAN},
        {"0-63,128-191", "<<\"50000 100000\">>", 128, 0.5},
        {"1,3,5", "<<\"-1\\n\">>, <<\"100000\\n\">>", 3, NAN},
        {"0-1", "<<\"300000\\n\">>, <<\"100000\\n\">>", 2, 3},
        {"3-1", "<<\"1 0\">>", -1, NAN},
        {"0-99999999", "<<>>", -1, NAN},
        {"-", "", -1, NAN},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[400];
        struct model *m = model_new();
        snprintf(text, sizeof text,
                 "{threads, 5, unbound, <<\"%s\">>, <<\"cpu\">>, [%s], <<>>, []}", rows[i].allowed,
                 rows[i].quota);
        print_message("%s\n", text);
        must(m, ANSWER_THREADS, text);
        assert_int_equal(model_threads(m)->allowed_cpus, rows[i].cpus);
        near(model_threads(m)->quota_cpus, rows[i].quota_cpus);
        assert_int_equal(model_threads(m)->host_ticks, -1);
        model_free(m);
    }
}

TEST(test_rows_that_are_none)
{
    static const char *const bad[] = {
        "{threads, 5, unbound, <<>>, <<>>, [], <<>>, [{3, 1, 1, undefined, <<>>, <<>>, <<>>}]}",
        "{threads, 5, unbound, <<>>, <<>>, [], <<>>, [{-1, 1, 1, undefined, <<>>, <<>>, <<>>}]}",
        "{threads, 5, unbound, <<>>, <<>>, [], <<>>, [{0, -1, 1, undefined, <<>>, <<>>, <<>>}]}",
        "{threads, 5, unbound, <<>>, <<>>, [<<>>, <<>>, <<>>], <<>>, []}",
        "{threads, 5, unbound, <<>>, <<>>, [a], <<>>, []}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct model *m = model_new();
        struct error err = {0};
        print_message("%s\n", bad[i]);
        assert_true(give(m, ANSWER_THREADS, bad[i], &err) < 0);
        assert_null(model_threads(m));
        model_free(m);
    }
}

/* The types come first, each with the sum of its threads. */
TEST(test_microstates)
{
    struct model *m = model_new();
    must(m, ANSWER_MSACC, MSACC_ANSWER("100", "1000000", "5000000"));
    assert_int_equal(model_msacc(m)->n_types, 2);
    assert_int_equal(model_msacc(m)->n_rows, 5);
    near(model_msacc(m)->rows[0].share[MSACC_EMULATOR], NAN);
    must(m, ANSWER_MSACC, MSACC_ANSWER("098", "2000000", "6000000"));
    const struct msacc_detail *a = model_msacc(m);
    near(a->interval_s, 2);
    assert_true(slice_is(a->rows[0].type, "scheduler"));
    assert_int_equal(a->rows[0].id, -1);
    assert_int_equal(a->rows[0].threads, 2);
    near(a->rows[0].share[MSACC_EMULATOR], 1.0 / 3);
    near(a->rows[0].share[MSACC_SLEEP], 2.0 / 3);
    near(a->rows[0].share[MSACC_ETS], NAN);
    near(a->rows[0].counted, 0.75);
    assert_true(a->switched_off);
    assert_int_equal(a->rows[2].id, 1);
    near(a->rows[2].share[MSACC_EMULATOR], 0.5);
    near(a->rows[2].counted, 1);
    must(m, ANSWER_MSACC, MSACC_ANSWER("096", "0", "8000000")); /* reset by somebody */
    near(model_msacc(m)->rows[2].share[MSACC_SLEEP], NAN);
    near(model_msacc(m)->rows[3].share[MSACC_SLEEP], 1);
    assert_false(model_msacc(m)->switched_off);
    model_free(m);
}

TEST(test_microstates_that_are_none)
{
    static const char *const bad[] = {
        "{msacc, 5, false, 1000, [#{type => scheduler, counters => #{}}]}",
        "{msacc, 5, false, 1000, [#{id => 1, counters => #{}}]}",
        "{msacc, 5, false, 1000, [#{type => a, id => -1, counters => #{}}]}",
        "{msacc, 5, false, 1000, [#{type => a, id => 1, counters => #{gc => b}}]}",
        "{msacc, 5, false, 1000, [#{type => a, id => 1, counters => []}]}",
        "{msacc, 5, off, 1000, []}",
        "{msacc, 5, false, 1000, [#{type => a, id => 1}, #{type => b, id => 1}, "
        "#{type => c, id => 1}, #{type => d, id => 1}, #{type => e, id => 1}, "
        "#{type => f, id => 1}, #{type => g, id => 1}, #{type => h, id => 1}, "
        "#{type => i, id => 1}, #{type => j, id => 1}, #{type => k, id => 1}, "
        "#{type => l, id => 1}, #{type => m, id => 1}, #{type => n, id => 1}, "
        "#{type => o, id => 1}, #{type => p, id => 1}, #{type => q, id => 1}]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct model *m = model_new();
        struct error err = {0};
        print_message("%s\n", bad[i]);
        assert_true(give(m, ANSWER_MSACC, bad[i], &err) < 0);
        assert_null(model_msacc(m));
        model_free(m);
    }
}
