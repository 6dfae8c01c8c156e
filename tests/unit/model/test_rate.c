/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../../test.h"
#include "beamtop/model/detail.h"
#include "given.h"
#include "model/internal.h"

#define SECOND UINT64_C(1000000000)

static void assert_text(struct slice is, const char *text)
{
    if (!slice_is(is, text))
        fail_msg("%.*s is not %s", (int)is.len, is.s, text);
}

TEST(test_rates)
{
    static const struct {
        const char *name;
        int64_t before, now;
        double interval_s, counter, gauge;
    } rows[] = {
        {"grows", 10, 30, 2, 10, 10},
        {"stands", 10, 10, 2, 0, 0},
        {"goes back", 30, 10, 2, NAN, -10},
        {"unknown before", -1, 10, 2, NAN, NAN},
        {"unknown now", 10, -1, 2, NAN, NAN},
        {"no interval", 10, 30, 0, NAN, NAN},
        {"interval unknown", 10, 30, NAN, NAN, NAN},
        {"largest", 0, INT64_MAX, 1, 9223372036854775807.0, 9223372036854775807.0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("%s\n", rows[i].name);
        near(rate_counter(rows[i].before, rows[i].now, rows[i].interval_s), rows[i].counter);
        near(rate_gauge(rows[i].before, rows[i].now, rows[i].interval_s), rows[i].gauge);
    }
    near(rate_interval(SECOND, 3 * SECOND), 2);
    near(rate_interval(SECOND, SECOND), NAN);
    near(rate_interval(3 * SECOND, SECOND), NAN);
    near(rate_share(1, 4), 0.25);
    near(rate_share(5, 4), 1);
    near(rate_share(NAN, 4), NAN);
    near(rate_share(1, 0), NAN);
    near(rate_share(1, NAN), NAN);
}

TEST(test_system_rates)
{
    struct model *m = model_new();
    must(m, ANSWER_NODE, NODE_ANSWER);
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("102", "5000", "1000", "10", "100"));
    /* The clock is below zero: 100 is two seconds after 102. */
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("100", "7000", "5000", "60", "200"));
    const struct system_sample *s = model_system(m);
    near(s->interval_s, 2);
    near(s->reductions_per_s, 2000);
    near(s->gcs_per_s, 0);
    near(s->schedulers[0].use, 0.5);
    near(s->schedulers[1].use, 0);
    near(s->use_normal, 0.25);
    near(s->use_dirty_cpu, 0); /* one of the two is online */
    near(s->use_dirty_io, 0);
    near(ring_at(model_history(m, HISTORY_REDUCTIONS), 0), 2000);
    near(ring_at(model_history(m, HISTORY_REDUCTIONS), 1), NAN);
    near(ring_at(model_history(m, HISTORY_MEMORY_TOTAL), 1), 1000);
    model_free(m);
}

TEST(test_only_online_schedulers_count)
{
    struct node_info node = {
        .schedulers = 2, .schedulers_online = 1, .dirty_cpu = 2, .dirty_cpu_online = 1};
    struct scheduler before[4] = {{.id = 1}, {.id = 2}, {.id = 3}, {.id = 4}};
    struct scheduler now[4] = {
        {.id = 1, .active = 50, .total = 100},
        {.id = 2, .active = 0, .total = 100},
        {.id = 3, .kind = SCHEDULER_DIRTY_CPU, .active = 100, .total = 100},
        {.id = 4, .kind = SCHEDULER_DIRTY_CPU, .active = 0, .total = 100},
    };
    struct system_sample a = {.mono_ns = 1, .schedulers = before, .n_schedulers = 4};
    struct system_sample b = {.mono_ns = 1 + SECOND, .schedulers = now, .n_schedulers = 4};
    rate_system(&b, &a, &node);
    near(b.use_normal, 0.5);
    near(b.use_dirty_cpu, 1);
    near(b.use_dirty_io, NAN);
}

TEST(test_what_goes_back_is_unknown)
{
    struct model *m = model_new();
    must(m, ANSWER_NODE, NODE_ANSWER);
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("104", "5000", "1000", "10", "100"));
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("102", "7000", "900", "5", "200"));
    near(model_system(m)->reductions_per_s, NAN);
    near(model_system(m)->schedulers[0].use, NAN);
    near(model_system(m)->interval_s, 2);
    /* Another VM: it is up for less long. */
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("100", "100", "5000", "10", "300"));
    near(model_system(m)->interval_s, NAN);
    near(model_system(m)->reductions_per_s, NAN);
    near(model_system(m)->use_normal, NAN);
    /* Time stands still or runs back. */
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("100", "100", "6000", "10", "400"));
    near(model_system(m)->reductions_per_s, NAN);
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("101", "100", "7000", "10", "500"));
    near(model_system(m)->reductions_per_s, NAN);
    model_free(m);
}

TEST(test_after_a_gap_there_are_no_rates)
{
    struct model *m = model_new();
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("110", "5000", "1000", "10", "100"));
    must(m, ANSWER_SCAN, answers[3].text);
    model_set_link(m, LINK_LOST, "gone");
    model_set_link(m, LINK_LOST, "still gone"); /* one gap, not two */
    model_set_link(m, LINK_LIVE, "");
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("108", "7000", "2000", "20", "200"));
    near(model_system(m)->interval_s, NAN);
    near(model_system(m)->reductions_per_s, NAN);
    near(model_system(m)->use_normal, NAN);
    near(ring_at(model_history(m, HISTORY_MEMORY_TOTAL), 0), 1000);
    near(ring_at(model_history(m, HISTORY_MEMORY_TOTAL), 1), NAN);
    near(ring_at(model_history(m, HISTORY_MEMORY_TOTAL), 2), 1000);
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("106", "9000", "4000", "30", "300"));
    near(model_system(m)->reductions_per_s, 1000);
    model_free(m);
}

/* A value a second, however far apart the ticks are: a graph is drawn over real time. */
TEST(test_history_follows_the_clock)
{
    struct model *m = model_new();
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("110", "5000", "1000", "10", "100"));
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("105", "10000", "6000", "20", "200"));
    const struct ring *line = model_history(m, HISTORY_REDUCTIONS);
    assert_int_equal(line->len, 6);
    near(ring_at(line, 0), 1000);
    near(ring_at(line, 1), NAN); /* of the first tick, which stands until the second */
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("103", "12000", "10000", "30", "300"));
    assert_int_equal(line->len, 8);
    near(ring_at(line, 0), 2000);
    near(ring_at(line, 1), 1000);
    near(ring_at(line, 2), 1000);
    near(ring_at(line, 3), NAN);
    model_free(m);
}

/* ---- when resident memory reaches the limit of its cgroup: 2 GiB */

#define MIB 1048576.0

/* A tick a second, of so many bytes at each. */
static void give_memory(struct model *m, int from_s, int n, double (*bytes)(int))
{
    for (int i = 0; i < n; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "{system, %d000000000, 1700000100000000, 5000, undefined, {41, 2, 9000, 12}, "
                 "{0, [0,0,0]}, {1000, 10, 20, 30, 40, 50}, undefined, {%.0f, 4096}}",
                 from_s + i, bytes(from_s + i));
        must(m, ANSWER_SYSTEM, text);
    }
}

static double grow_evenly(int s)
{
    return (500 + s) * MIB;
}
static double stay_even(int s)
{
    (void)s;
    return 500 * MIB;
}
static double rise_once(int s)
{
    return (s < 150 ? 500 : 1500) * MIB;
}
static double go_about(int s)
{
    return (500 + s * 37 % 100) * MIB;
}

static const struct vm_row *time_row(struct model *m)
{
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        if (answers[i].kind == ANSWER_VM)
            must(m, ANSWER_VM, answers[i].text);
    const struct vm_row *rows = model_vm(m)->rows;
    for (size_t i = 0; i < model_vm(m)->n_rows; i++)
        if (slice_is(rows[i].id, "cgroup.time until limit"))
            return &rows[i];
    fail();
    return NULL;
}

TEST(test_time_until_limit)
{
    struct model *m = model_new();
    give_memory(m, 100, 100, grow_evenly); /* to 699 MiB */
    const struct vm_row *row = time_row(m);
    assert_true(llabs(row->number - (2048 - 699)) <= 1);
    assert_true(row->value.len > 0);
    assert_non_null(memmem(row->note.s, row->note.len, "60.0 MiB/min", 12));
    model_free(m);
}

TEST(test_time_until_limit_is_unknown)
{
    static const struct {
        double (*bytes)(int);
        int ticks;
        const char *why;
    } cases[] = {{grow_evenly, 59, "unknown before 1 min of resident memory"},
                 {stay_even, 100, "resident memory does not grow"},
                 {rise_once, 100, "unknown: resident memory does not grow on a line (r = 0.87)"},
                 {go_about, 100, "unknown: resident memory does not grow on a line (r = 0.0"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct model *m = model_new();
        give_memory(m, 100, cases[i].ticks, cases[i].bytes);
        const struct vm_row *row = time_row(m);
        print_message("%.*s\n", (int)row->note.len, row->note.s);
        assert_true(row->number == -1 && row->value.len == 0);
        assert_true(slice_begins(row->note, cases[i].why));
        model_gap(m);
        give_memory(m, 300, 10, grow_evenly);
        assert_true(slice_begins(time_row(m)->note, "unknown before 1 min"));
        model_free(m);
    }
}

TEST(test_a_gap_is_in_every_history)
{
    struct model *m = model_new();
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("110", "5000", "1000", "10", "100"));
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("108", "6000", "2000", "20", "200"));
    must(m, ANSWER_APPS, "{apps, 1000000000, [{a,<<>>,<<>>,1,100,1000,0}], false}");
    double before[HISTORY_LINES];
    for (int i = 0; i < HISTORY_LINES; i++)
        before[i] = ring_at(model_history(m, (enum history_line)i), 0);
    near(before[HISTORY_REDUCTIONS], 500);
    model_gap(m);
    for (int i = 0; i < HISTORY_LINES; i++) {
        print_message("line %d\n", i);
        near(ring_at(model_history(m, (enum history_line)i), 0), NAN);
        near(ring_at(model_history(m, (enum history_line)i), 1), before[i]);
    }
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("106", "9000", "4000", "30", "300"));
    near(ring_at(model_history(m, HISTORY_REDUCTIONS), 0), NAN);
    near(ring_at(model_history(m, HISTORY_REDUCTIONS), 2), 500);
    must(m, ANSWER_APPS, "{apps, 3000000000, [{a,<<>>,<<>>,1,300,3000,0}], false}");
    near(app_rows(m)[0].reductions_per_s, NAN);
    near(app_rows(m)[0].memory_per_s, NAN);
    model_free(m);
}

TEST(test_another_vm_starts_anew)
{
    struct model *m = model_new();
    must(m, ANSWER_NODE, NODE_ANSWER);
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("110", "5000", "1000", "10", "100"));
    must(m, ANSWER_NODE,
         "{node, 'mq1@host', <<\"25\">>, <<>>, <<>>, 8, 2, 2, 2, 1, 2, {1,2,3,4}, <<>>, <<>>, "
         "1700000000000001, 60, interactive, <<>>, 2}");
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("108", "6000", "2000", "20", "200"));
    near(model_system(m)->reductions_per_s, NAN);
    model_free(m);
}

/* A node that comes back as another VM: its header is answered before it is asked what it is. */
TEST(test_another_vm_behind_a_gap)
{
    struct model *m = model_new();
    must(m, ANSWER_NODE, NODE_ANSWER);
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("100", "9000", "9000", "10", "100"));
    must(m, ANSWER_SCAN, "{scan, 1, 0, 0, 0, 0, 0, [], []}");
    model_set_link(m, LINK_LOST, "gone");
    model_set_link(m, LINK_LIVE, "");
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("110", "5000", "1000", "10", "100"));
    near(model_system(m)->reductions_per_s, NAN);
    assert_non_null(model_scan(m)); /* it may be the same VM */
    must(m, ANSWER_NODE,
         "{node, 'mq1@host', <<\"25\">>, <<>>, <<>>, 8, 2, 2, 2, 1, 2, {1,2,3,4}, <<>>, <<>>, "
         "1700000000000001, 60, interactive, <<>>, 2}");
    assert_null(model_scan(m));
    assert_non_null(model_system(m));
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("108", "7000", "2000", "20", "200"));
    near(model_system(m)->interval_s, 2);
    near(model_system(m)->reductions_per_s, 500);
    model_free(m);
}

/* Another node was chosen: nothing of the one before is left, but how often views were answered. */
TEST(test_another_node_starts_with_nothing)
{
    static const char gone[] = "gone";
    const struct process_ref shop = {.name = "shop"};
    struct model *m = model_new();
    must(m, ANSWER_NODE, NODE_ANSWER);
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("100", "9000", "9000", "10", "100"));
    must(m, ANSWER_MAILBOX, gone);
    model_asked(m, QUESTION_PROCESS, &shop);
    must(m, ANSWER_PROCESS, gone);
    assert_true(process_ref_same(model_answer_of(m, QUESTION_PROCESS), &shop));
    model_forget(m);
    assert_null(model_node(m));
    assert_null(model_system(m));
    assert_null(model_process(m));
    assert_int_equal(model_history(m, HISTORY_MEMORY_TOTAL)->len, 0);
    must(m, ANSWER_MAILBOX, gone);
    assert_int_equal(model_round(m, QUESTION_MAILBOX), 2);
    model_free(m);
}

/* Of the 2,000 reductions in a second 500 are ours; what is asked by a new keeper begins anew. */
TEST(test_own_reductions)
{
    static const char scan[] = "{scan, -576460100000000000, 0, 0, 0, 0, 0, [], []}";
    struct model *m = model_new();
    must(m, ANSWER_SYSTEM, SYSTEM_OWN_ANSWER("102", "5000", "1000", "700"));
    must(m, ANSWER_SCAN, scan);
    near(model_scan(m)->own_share, NAN);
    must(m, ANSWER_SYSTEM, SYSTEM_OWN_ANSWER("100", "7000", "5000", "1700"));
    near(model_system(m)->own_reductions_per_s, 500);
    must(m, ANSWER_SCAN, scan);
    near(model_scan(m)->own_share, 0.25);
    must(m, ANSWER_SYSTEM, SYSTEM_OWN_ANSWER("099", "8000", "9000", "100"));
    near(model_system(m)->own_reductions_per_s, NAN);
    must(m, ANSWER_SCAN, scan);
    near(model_scan(m)->own_share, NAN);
    model_free(m);
}

#define assert_slice(slice, text) assert_true(slice_is(slice, text))

#define RANKED(id, reductions, delta, messages)                                                    \
    "{<0." id ".0>, " reductions ", " delta ", {{undefined, {m,f,1}, <<\"" id "\">>, shop, "       \
    "{proc_lib,init_p,5}}, " reductions ", " messages ", 4096, {gen_server,loop,7}}}"
#define AGAIN(id, reductions, messages)                                                            \
    "{<0." id ".0>, {" reductions ", " messages ", 2048, {shop,add,2}}}"

/* Rows read between two scans: values and rates are theirs, rank and identity the scan's, which
   stays as it was; who has exited has no numbers. The next scan takes their place. */
TEST(test_rows_again)
{
    static const char scan[] =
        "{scan, -576460100000000000, 1000000000, 500000, 9, 9, 2, "
        "[" RANKED("41", "9000", "500", "3") ", " RANKED("42", "8000", "10", "0") "], []}";
    struct model *m = model_new();
    must(m, ANSWER_SCAN, scan);
    assert_null(model_rows(m));
    must(m, ANSWER_ROWS,
         "{rows, -576460097500000000, [" AGAIN("41", "9400", "5") ", {<0.42.0>, gone}]}");
    const struct proc_rows *rows = model_rows(m);
    assert_int_equal(rows->n_rows, 2);
    const struct proc_row *r = &rows->rows[0];
    assert_int_equal(r->pid.id, 41);
    assert_slice(r->label, "41");
    assert_slice(r->current_function, "shop:add/2");
    assert_int_equal(r->reductions, 9400);
    near(r->reductions_per_s, 200); /* since the sweep of half a second was over */
    near(r->message_queue_per_s, 1);
    near(r->memory_per_s, -1024);
    near(r->age_s, 2);
    assert_true(!r->gone && rows->rows[1].gone);
    assert_slice(rows->rows[1].label, "42");
    assert_int_equal(rows->rows[1].reductions, -1);
    near(rows->rows[1].reductions_per_s, NAN);
    near(model_scan(m)->rows[0].reductions_per_s, 500);
    assert_int_equal(model_scan(m)->rows[0].message_queue_len, 3);
    must(m, ANSWER_ROWS,
         "{rows, -576460095500000000, [" AGAIN("41", "9400", "9") ", {<0.42.0>, gone}]}");
    near(model_rows(m)->rows[0].reductions_per_s, 0);
    near(model_rows(m)->rows[0].message_queue_per_s, 2);
    near(model_rows(m)->rows[0].age_s, 4);
    must(m, ANSWER_SCAN, scan);
    assert_null(model_rows(m));
    /* An answer that crossed a scan of others. */
    must(m, ANSWER_ROWS, "{rows, -576460095500000000, [" AGAIN("41", "9400", "9") "]}");
    assert_int_equal(model_rows(m)->n_rows, 0);
    model_free(m);
}

/* Where a message queue is long its memory is read seldom: a rate is of two values that were read,
 * over the time between them. */
TEST(test_older_memory)
{
#define OF_MEMORY(id, memory)                                                                      \
    "{<0." id                                                                                      \
    ".0>, 9000, 0, {{undefined, {m,f,1}, undefined, undefined, {m,f,1}}, 9000, 70000, " memory     \
    ", undefined}}"
#define AT_SECOND(second, memory)                                                                  \
    must(m, ANSWER_SCAN,                                                                           \
         "{scan, -57646010" second                                                                 \
         "000000000, 1000000000, 500000, 9, 9, 2, [" OF_MEMORY("41", memory) "], []}")
    struct model *m = model_new();
    AT_SECOND("9", "4096");
    assert_int_equal(model_scan(m)->rows[0].older, 0);
    AT_SECOND("8", "{older, 4096, 1250}");
    assert_int_equal(model_scan(m)->rows[0].memory_bytes, 4096);
    assert_int_equal(model_scan(m)->rows[0].older, UINT32_C(1) << ITEM_MEMORY);
    near(model_scan(m)->rows[0].older_s, 1.25);
    near(model_scan(m)->rows[0].memory_per_s, NAN);
    AT_SECOND("5", "8192");
    near(model_scan(m)->rows[0].memory_per_s, 1024);
    must(m, ANSWER_ROWS,
         "{rows, -576460103000000000, [{<0.41.0>, {9000, 70001, {older, 8192, undefined}, "
         "undefined}}]}");
    assert_int_equal(model_rows(m)->rows[0].older, UINT32_C(1) << ITEM_MEMORY);
    near(model_rows(m)->rows[0].older_s, NAN);
    near(model_rows(m)->rows[0].memory_per_s, NAN);
    model_free(m);
}

/* Shares are of the time that the rates span, however little the node did in the last second. */
TEST(test_shares_span_the_scans)
{
    struct model *m = model_new();
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("100", "1000", "1000", "10", "100"));
    must(m, ANSWER_SCAN,
         "{scan, -576460100000000000, 1000000000, 500000, 9, 9, 2, "
         "[" RANKED("41", "9000", "500", "3") "], []}");
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("098", "3000", "9000", "10", "100"));
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("096", "5000", "9000", "10", "100"));
    must(m, ANSWER_SCAN,
         "{scan, -576460096000000000, 4000000000, 500000, 9, 9, 2, "
         "[" RANKED("41", "13000", "4000", "3") "], []}");
    near(model_scan(m)->rows[0].reductions_per_s, 1000);
    near(model_scan(m)->rows[0].reductions_share, 0.5);
    model_free(m);
}

/* The node answered nothing for 12 s: what it did then is in no share. */
TEST(test_shares_after_a_silence)
{
    static const char *const scans[] = {
        "{scan, -576460099000000000, 1000000000, 500000, 9, 9, 2, [" RANKED("41", "9000", "500",
                                                                            "3") "], []}",
        "{scan, -576460087000000000, 1000000000, 500000, 9, 9, 2, [" RANKED("41", "21000", "12000",
                                                                            "3") "], []}",
        "{scan, -576460086000000000, 1000000000, 500000, 9, 9, 2, [" RANKED("41", "22000", "1000",
                                                                            "3") "], []}",
        "{scan, -576460085000000000, 1000000000, 500000, 9, 9, 2, [" RANKED("41", "23000", "1000",
                                                                            "3") "], []}"};
    struct model *m = model_new();
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("100", "1000", "1000", "10", "100"));
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("099", "2000", "9000", "10", "100"));
    must(m, ANSWER_SCAN, scans[0]);
    model_set_link(m, LINK_STALE, "");
    model_set_link(m, LINK_LIVE, ""); /* something else was answered */
    assert_true(model_is_silent(m));
    must(m, ANSWER_SCAN, scans[1]);
    near(model_scan(m)->rows[0].reductions_share, NAN);
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("086", "15000", "20000", "10", "100"));
    must(m, ANSWER_SCAN, scans[2]);
    near(model_scan(m)->rows[0].reductions_share, NAN);
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("085", "16000", "24000", "10", "100"));
    must(m, ANSWER_SCAN, scans[3]);
    near(model_scan(m)->rows[0].reductions_share, 0.25);
    model_free(m);
}

TEST(test_applications)
{
    struct model *m = model_new();
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("102", "5000", "1000", "10", "100"));
    must(m, ANSWER_SYSTEM, SYSTEM_ANSWER("100", "7000", "5000", "60", "200"));
    must(m, ANSWER_APPS,
         "{apps, -576460099000000000, [{a,<<>>,<<>>,1,100,1000,0},{b,<<>>,<<>>,1,100,1000,0}], "
         "false}");
    near(app_rows(m)[0].reductions_per_s, NAN);
    must(m, ANSWER_APPS,
         "{apps, -576460097000000000, [{c,<<>>,<<>>,1,1,1,0},{b,<<>>,<<>>,1,50,900,0},"
         "{a,<<>>,<<>>,1,300,2000,0}], false}");
    const struct table_detail *apps = model_apps(m);
    near(apps->interval_s, 2);
    near(app_rows(m)[0].reductions_per_s, NAN); /* new */
    near(app_rows(m)[1].reductions_per_s, NAN); /* went back */
    near(app_rows(m)[1].memory_per_s, -25);
    near(app_rows(m)[2].reductions_per_s, 500);
    near(app_rows(m)[2].reductions_share, 0.25);
    near(app_rows(m)[2].memory_per_s, 100);
    must(m, ANSWER_APPS, "{apps, -576460096000000000, [{a,<<>>,<<>>,1,300,3000,0}], true}");
    near(app_rows(m)[0].reductions_per_s, NAN); /* a part cannot be compared */
    model_free(m);
}

/* ---- processes across scans */

static struct proc_row sight(uint32_t id, const char *name, int64_t reductions, int64_t messages)
{
    struct proc_row r;
    proc_row_clear(&r);
    r.pid.id = id;
    r.name = (struct slice){name, strlen(name)};
    r.current_function = (struct slice){"m:f/1", 5};
    r.reductions = reductions;
    r.message_queue_len = messages;
    return r;
}

static const struct sweep_delta no_sweep = {0};

TEST(test_process_rates)
{
    struct seen *s = seen_new(100);
    struct proc_row r = sight(1, "", 1000, 10);
    r.memory_bytes = 1000;
    r.minor_gcs = 5;
    seen_row(s, &r, SECOND, SECOND, &no_sweep);
    near(r.reductions_per_s, NAN);
    near(r.age_s, 0);
    assert_true(r.age_is_minimum);
    r = sight(1, "", 3000, 4);
    r.memory_bytes = 500;
    r.minor_gcs = 1;
    seen_row(s, &r, 3 * SECOND, 4 * SECOND, &no_sweep);
    near(r.reductions_per_s, 1000);
    near(r.message_queue_per_s, -3);
    near(r.memory_per_s, -250);
    near(r.minor_gcs_per_s, NAN); /* a full collection came between */
    near(r.age_s, 3);
    /* Not asked for at this sight; known again at the next, over both intervals. */
    r = sight(1, "", -1, 4);
    seen_row(s, &r, 4 * SECOND, 5 * SECOND, &no_sweep);
    near(r.reductions_per_s, NAN);
    near(r.memory_per_s, NAN);
    r = sight(1, "", 7000, 4);
    seen_row(s, &r, 5 * SECOND, 6 * SECOND, &no_sweep);
    near(r.reductions_per_s, 2000);
    /* The sweep knows its own attribute better. */
    const struct sweep_delta sweep = {"reductions", 0.5, 100, true};
    r = sight(1, "", 7100, 8);
    seen_row(s, &r, 6 * SECOND, 7 * SECOND, &sweep);
    near(r.reductions_per_s, 200);
    near(r.message_queue_per_s, 4);
    const struct sweep_delta back = {"reductions", 0.5, -100, true};
    seen_row(s, &r, 7 * SECOND, 7 * SECOND, &back);
    near(r.reductions_per_s, NAN);
    seen_gap(s);
    r = sight(1, "", 9000, 8);
    seen_row(s, &r, 8 * SECOND, 8 * SECOND, &no_sweep);
    near(r.reductions_per_s, NAN);
    near(r.age_s, 7); /* the age stays */
    seen_free(s);
}

/* Before OTP 26.2 a server is seen in its callback in one answer, and in its loop in others. */
TEST(test_a_server_keeps_its_name)
{
#define SERVER(m, f, a) "{undefined, {" m "," f "," a "}, undefined, shop, {proc_lib,init_p,5}}"
    struct model *m = model_new();
    must(m, ANSWER_SCAN,
         "{scan, 1, 0, 1, 2, 2, 0, [{<0.41.0>, 9, undefined, {" SERVER(
             "shop_cart", "init", "1") ", 9, 3, 4096, {shop_cart,handle_call,3}}}], []}");
    must(
        m, ANSWER_SCAN,
        "{scan, 2, 1, 1, 2, 2, 0, [{<0.41.0>, 9, 0, {" SERVER(
            "gen_server", "loop", "7") ", 9, 3, 4096, {gen_server,loop,7}}}, {<0.42.0>, 9, 0, "
                                       "{" SERVER("gen_server", "loop",
                                                  "7") ", 9, 3, 4096, {gen_server,loop,7}}}], []}");
    assert_text(model_scan(m)->rows[0].initial_call, "shop_cart:init/1");
    assert_text(model_scan(m)->rows[1].initial_call, "gen_server:loop/7");
    must(m, ANSWER_HEAPS,
         "{heaps, 5, 1046, 3, 30000, false, [{<0.41.0>, " SERVER(
             "gen_server", "loop",
             "7") ", "
                  "waiting, 7, {20000, 1000, 2000, 9000, 12000, 80, 16}, {700, 2}}], []}");
    assert_text(model_heaps(m)->rows[0].who, "shop_cart:init/1");
    must(m, ANSWER_TREE,
         "{tree, shop, [{0, <0.41.0>, <<\"cart\">>, worker, {undefined, {gen_server,loop,7}, 0, "
         "100}}], false}");
    assert_text(model_tree(m)->nodes[0].initial_call, "shop_cart:init/1");
    model_free(m);
#undef SERVER
}

TEST(test_stuck)
{
    static const struct {
        const char *name;
        int64_t reductions, messages;
        bool stuck;
    } rows[] = {
        {"first", 100, 0, false},
        {"grows once", 100, 1, false},
        {"twice", 100, 2, false},
        {"three times", 100, 5, true},
        {"stands, not freed", 100, 5, true},
        {"works again", 101, 6, false},
        {"grows", 101, 7, false},
        {"shrinks", 101, 3, false},
        {"once", 101, 4, false},
        {"twice again", 101, 5, false},
        {"thrice again", 101, 6, true},
    };
    struct seen *s = seen_new(100);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct proc_row r = sight(1, "", rows[i].reductions, rows[i].messages);
        seen_row(s, &r, (i + 1) * SECOND, (i + 1) * SECOND, &no_sweep);
        if (r.stuck != rows[i].stuck)
            fail_msg("%s: stuck is %d", rows[i].name, r.stuck);
    }
    struct proc_row r = sight(1, "", 101, 7);
    r.current_function = (struct slice){"m:g/1", 5};
    seen_row(s, &r, 20 * SECOND, 20 * SECOND, &no_sweep);
    assert_false(r.stuck); /* it moved on */
    seen_free(s);
}

TEST(test_restarts_and_births)
{
    struct seen *s = seen_new(100);
    struct proc_row a = sight(1, "db", 1, 0), b = sight(2, "db", 1, 0), c = sight(3, "", 1, 0);
    seen_row(s, &a, SECOND, SECOND, &no_sweep);
    assert_false(a.restarted);
    seen_scan_end(s, false);
    seen_row(s, &b, 2 * SECOND, 2 * SECOND, &no_sweep);
    assert_true(b.restarted);
    assert_false(b.age_is_minimum);
    seen_row(s, &b, 3 * SECOND, 3 * SECOND, &no_sweep);
    assert_true(b.restarted); /* it stays the successor */
    seen_row(s, &c, 3 * SECOND, 3 * SECOND, &no_sweep);
    assert_true(c.age_is_minimum); /* it may only have become busy */
    seen_scan_end(s, true);
    c = sight(4, "", 1, 0);
    seen_row(s, &c, 4 * SECOND, 4 * SECOND, &no_sweep);
    assert_false(c.age_is_minimum); /* the scan before listed all there were */
    seen_free(s);
}

TEST(test_memory_of_processes_is_bounded)
{
    struct seen *s = seen_new(10);
    for (uint32_t id = 1; id <= 1000; id++) {
        char name[32];
        snprintf(name, sizeof name, "worker_%u", id);
        struct proc_row r = sight(id, name, 1, 0), keep = sight(0, "", 1, 0);
        seen_row(s, &r, id * SECOND, id * SECOND, &no_sweep);
        seen_row(s, &keep, id * SECOND, id * SECOND, &no_sweep);
        assert_true(seen_len(s) <= 10);
    }
    struct proc_row keep = sight(0, "", 1, 0), old = sight(1, "", 1, 0);
    seen_row(s, &keep, 2000 * SECOND, 2000 * SECOND, &no_sweep);
    near(keep.age_s, 1999); /* what is seen stays, what is not goes */
    seen_row(s, &old, 2000 * SECOND, 2000 * SECOND, &no_sweep);
    near(old.age_s, 0);
    seen_free(s);
}
