/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording is written tick by tick, read back, replayed, cut off by force. */
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "../../test.h"
#include "made_version.h"
#include "ticks.h"

static void add_extras(struct recorder *r)
{
    const struct calls_function calls[] = {
        counted_call("shop_cart", "add", 2, 30, 900, -1, 0.75),
        counted_call("shop_cart", "get", 1, 10, -1, 44, 0.25),
    };
    const struct calls_window w = {.wall_us = 1700000002000000,
                                   .interval_us = 2000000,
                                   .functions = 200,
                                   .calls = 40,
                                   .lost = 1,
                                   .calls_per_s = 20,
                                   .rows = calls,
                                   .n_rows = 2};
    recorder_calls(r, &w, false);
    recorder_mark(r, 5, 1700000002500000, "deploy");
    recorder_fact(r, "logger", "{\"a\":1}");
    recorder_fact(r, "logger", "{\"a\":1}");
    recorder_gap(r, 9, "connection lost");
}

TEST(test_written_and_read)
{
    struct error err = {0};
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    for (int i = 1; i <= 5; i++) {
        if (i == 3)
            add_extras(r);
        assert_int_equal(tick(r, m, i, &err), 0);
    }
    assert_int_equal(recorder_ticks(r), 5);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    model_free(m);

    struct recording *f = reopen(p.path);
    const struct recording_info *info = recording_info(f);
    assert_string_equal(info->node, "mq1@host");
    assert_string_equal(info->otp, "25");
    assert_string_equal(info->label, "before");
    assert_string_equal(info->end, "stopped");
    assert_int_equal(info->ticks, 5);
    assert_int_equal(info->first_us, 1700000001000000);
    assert_int_equal(info->last_us, 1700000005000000);
    assert_true(info->has_answers && info->has_processes && info->has_calls);
    assert_int_equal(recording_tick_at(f, 1700000003500000), 3);
    assert_int_equal(recording_tick_at(f, 1), 0);
    assert_true(recording_gap_before(f, 3));
    assert_false(recording_gap_before(f, 4));
    assert_int_equal(recording_gaps(f, 1, 5), 1);
    assert_int_equal(recording_gaps(f, 3, 5), 0);

    struct period_stats s;
    assert_int_equal(recording_stats(f, "memory_total_bytes", 2, 4, &s, &err), 0);
    assert_int_equal(s.n, 3);
    assert_true(s.mean == 1003 && s.min == 1002 && s.max == 1004 && s.first == 1002);
    assert_true(recording_stats(f, "no_such", 1, 5, &s, &err) == ERR_USAGE);

    const struct period_owner *owners;
    assert_int_equal(recording_owners(f, "module", 1, 5, &owners), 3);
    assert_int_equal(owners[0].owner.len, 9);
    assert_memory_equal(owners[0].owner.s, "shop_cart", 9);
    assert_true(fabs(owners[0].share - 0.5) < 0.01);
    assert_memory_equal(owners[1].kind.s, "logger", 6);
    assert_true(fabs(owners[1].share - 0.3) < 0.01);
    assert_int_equal(owners[2].owner.len, 0);
    assert_true(recording_owners(f, "kin", 1, 5, &owners) >= 2);
    assert_memory_equal(owners[0].owner.s, "shop_cart", 9);
    assert_true(fabs(owners[0].share - 0.5) < 0.01);

    const struct recorded_call *calls;
    struct recorded_window sums;
    assert_int_equal(recording_calls(f, 1, 5, &calls, &sums), 2);
    assert_memory_equal(calls[0].function.s, "add", 3);
    assert_int_equal(calls[0].own_us, 900);
    assert_int_equal(calls[1].own_us, -1);
    assert_true(sums.calls_per_s == 20 && sums.lost == 1);

    const struct recording_mark *marks;
    assert_int_equal(recording_marks(f, &marks), 1);
    assert_string_equal(marks[0].text, "deploy");
    assert_int_equal(marks[0].tick, recording_tick_at(f, marks[0].wall_us));
    assert_null(recording_fact(f, "logger", 2));
    assert_string_equal(recording_fact(f, "logger", 4), "{\"a\":1}");
    recording_close(f);
    place_clear(&p);
}

static int replay_answer(void *arg, const char *question, const uint8_t *term, size_t len,
                         const struct want_scan *asked, struct error *err)
{
    return model_take(arg, question_find(question), term, len, asked, 1, err);
}

/* What a live model told at a tick, a model that is given the answers again tells too. */
TEST(test_replayed)
{
    struct error err = {0};
    struct place p;
    struct model *live = model_new(), *again = model_new();
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    for (int i = 1; i <= 4; i++)
        assert_int_equal(tick(r, live, i, &err), 0);
    recorder_close(r, "stopped", &err);
    struct recording *f = reopen(p.path);
    for (int i = 1; i <= 4; i++)
        if (recording_answers(f, i, replay_answer, again, &err) != 0)
            fail_msg("%s", err.text);
    made_sql(
        p.path,
        "CREATE TEMP TABLE t(ok CHECK(ok)); INSERT INTO t SELECT count(*) = 4 FROM answer WHERE"
        " asked LIKE '%\"items\":[\"id\",\"reductions\",\"message_queue_len\",\"memory\",%'");
    const struct system_sample *a = model_system(live), *b = model_system(again);
    assert_true(a->reductions_per_s == b->reductions_per_s && a->use_normal == b->use_normal);
    assert_true(a->reductions_per_s == 1000);
    const struct proc_scan *x = model_scan(live), *y = model_scan(again);
    assert_int_equal(x->n_rows, y->n_rows);
    assert_string_equal(x->sort_key, y->sort_key);
    for (size_t i = 0; i < x->n_rows; i++) {
        assert_true(x->rows[i].reductions_per_s == y->rows[i].reductions_per_s);
        assert_true(x->rows[i].reductions_share == y->rows[i].reductions_share);
    }
    recording_close(f);
    model_free(live);
    model_free(again);
    place_clear(&p);
}

/* Its scans have bits of items, which stay those of the program that wrote them; it has columns
 * under names that were changed since. */
TEST(test_a_file_of_an_earlier_version)
{
    struct error err = {0};
    struct place p;
    place_make(&p);
    made_version(p.path, 2);
    struct recording *f = reopen(p.path);
    struct model *m = model_new();
    for (int i = 1; i <= 2; i++)
        if (recording_answers(f, i, replay_answer, m, &err) != 0)
            fail_msg("%s", err.text);
    const struct proc_scan *scan = model_scan(m);
    assert_int_equal(scan->n_rows, 2);
    assert_int_equal(scan->rows[0].message_queue_len, 3);
    assert_int_equal(scan->rows[0].memory_bytes, 4096);
    assert_memory_equal(scan->rows[0].current_function.s, "gen_server:loop/7", 17);
    assert_true(scan->rows[0].items == SCAN_ITEMS);
    struct period_stats stats;
    assert_int_equal(recording_stats(f, "scheduler_utilisation", 1, 2, &stats, &err), 0);
    assert_true(fabs(stats.mean - 0.05) < 1e-9);
    recording_close(f);
    model_free(m);
    place_clear(&p);
}

/* What an answer's rows have is read by name: what is unknown here, or in another order, is
 * refused. */
TEST(test_items_by_name)
{
    static const struct {
        const char *items, *refused;
    } rows[] = {
        {"[\"id\",\"reductions\",\"message_queue_len\",\"memory\",\"current_function\"]", NULL},
        {"[\"id\",\"reductions\",\"colour\",\"memory\",\"current_function\"]", "“colour”"},
        {"[\"id\",\"message_queue_len\",\"reductions\",\"memory\",\"current_function\"]",
         "“reductions”"},
        {"[\"id\",7]", "“?”"},
        {"4194304", "“?”"},
        {"-1", "“?”"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char sql[400];
        struct error err = {0};
        struct place p;
        place_make(&p);
        made_version(p.path, 2);
        snprintf(sql, sizeof sql,
                 "PRAGMA user_version = 3; UPDATE meta SET value = '9.9' WHERE key = 'beamtop';"
                 "UPDATE answer SET asked = replace(asked, '527', '%s')",
                 rows[i].items);
        made_sql(p.path, sql);
        struct recording *f = reopen(p.path);
        struct model *m = model_new();
        int rc = recording_answers(f, 1, replay_answer, m, &err);
        if ((rc != 0) != (rows[i].refused != NULL) || !model_scan(m) != (rc != 0))
            fail_msg("%s: %d %s", rows[i].items, rc, err.text);
        if (rc != 0 && (!strstr(err.text, rows[i].refused) ||
                        !strstr(err.text, "beamtop 9.9, which wrote it")))
            fail_msg("%s", err.text);
        recording_close(f);
        model_free(m);
        place_clear(&p);
    }
}

/* kill -9 between and within transactions: the file opens, is whole, lacks at most a tick. */
TEST(test_killed)
{
    for (int round = 0; round < 20; round++) {
        struct place p;
        int pipes[2];
        char done = 0, last = 0;
        place_make(&p);
        assert_int_equal(pipe(pipes), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct error err = {0};
            struct recorder *r = begin(p.path, 0, false);
            struct model *m = model_new();
            for (int i = 1; i < 100; i++) {
                char c = (char)i;
                if (tick(r, m, i, &err) != 0 || write(pipes[1], &c, 1) != 1)
                    _exit(1);
            }
            pause();
        }
        for (int i = 0; i < 1 + round * 3 && read(pipes[0], &done, 1) == 1; i++)
            last = done;
        usleep((useconds_t)(rand() % 2000));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        close(pipes[1]);
        while (read(pipes[0], &done, 1) == 1)
            last = done;
        close(pipes[0]);
        struct recording *f = reopen(p.path);
        if (recording_info(f)->ticks < last)
            fail_msg("round %d: %d ticks were written, %lld are there", round, last,
                     (long long)recording_info(f)->ticks);
        recording_close(f);
        place_clear(&p);
    }
}

static void change_file(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Reads a recording of ticks at those seconds, after a change. */
static struct recording *read_changed(const struct place *p, const int *seconds, size_t n,
                                      const char *change)
{
    struct error err = {0};
    struct recorder *r = begin(p->path, 0, false);
    struct model *m = model_new();
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tick(r, m, seconds[i], &err), 0);
    recorder_close(r, "stopped", &err);
    model_free(m);
    change_file(p->path, change);
    return reopen(p->path);
}

/* What is of an interval does not count where that is short, as the first one is. */
TEST(test_short_interval)
{
    static const int seconds[] = {1, 2, 3, 4, 5};
    static const char change[] =
        "UPDATE tick SET interval_us = CASE id WHEN 2 THEN 300000 ELSE 1000000 END;"
        "UPDATE system SET reductions_per_s = CASE tick WHEN 2 THEN 2e7 ELSE 1e6 END, run_queue = "
        "tick;";
    struct error err = {0};
    struct period_stats s;
    struct place p;
    place_make(&p);
    struct recording *f = read_changed(&p, seconds, ARRAY_LEN(seconds), change);
    assert_int_equal(recording_stats(f, "reductions_per_s", 2, 5, &s, &err), 0);
    assert_true(s.n == 3 && fabs(s.mean - 1e6) < 1 && fabs(s.max - 1e6) < 1);
    assert_int_equal(recording_stats(f, "run_queue", 2, 5, &s, &err), 0);
    assert_int_equal(s.n, 4);
    assert_int_equal(recording_stats(f, "reductions_per_s", 2, 3, &s, &err), 0);
    assert_true(s.n == 2 && fabs(s.max - 2e7) < 1);
    recording_close(f);
    place_clear(&p);
}

/* The mean of a share is over time: a short interval counts for little. */
TEST(test_owners_over_time)
{
    static const int seconds[] = {1, 2, 12, 22};
    static const char change[] =
        "UPDATE owner SET share = CASE WHEN (owner = 0) = (tick = 2) THEN 0.9 ELSE 0.1 END;"
        "DELETE FROM owner WHERE owner NOT IN (0, (SELECT max(owner) FROM owner WHERE by = "
        "'module'));";
    const struct period_owner *owners;
    struct place p;
    place_make(&p);
    struct recording *f = read_changed(&p, seconds, ARRAY_LEN(seconds), change);
    assert_int_equal(recording_owners(f, "module", 1, 4, &owners), 2);
    assert_true(fabs(owners[0].share - (0.1 * 1 + 0.9 * 20) / 21) < 0.001);
    assert_true(fabs(owners[1].share - (0.9 * 1 + 0.1 * 20) / 21) < 0.001);
    assert_true(fabs(owners[0].share_stddev - 0.8 * sqrt(20) / 21) < 0.001);
    recording_close(f);
    place_clear(&p);
}

/* Of ticks 1, 10 and 10 seconds long: means of the node and of a process, parts of a chart, and the
 * line through a message queue are over time, too. */
TEST(test_values_over_time)
{
    static const int seconds[] = {1, 2, 12, 22};
    static const char change[] =
        "UPDATE system SET run_queue = CASE tick WHEN 2 THEN 21 ELSE 0 END;"
        "UPDATE process SET share = CASE tick WHEN 2 THEN 0.21 ELSE 0 END WHERE tick > 1;"
        "UPDATE process SET memory_bytes = CASE tick WHEN 2 THEN 2100 ELSE 0 END,"
        " message_queue_len = CASE tick WHEN 1 THEN 0 WHEN 2 THEN 5 WHEN 3 THEN 55 ELSE 105 END;";
    struct error err = {0};
    struct period_stats s;
    const struct period_process *processes;
    struct period_turnover turnover;
    double parts[3];
    struct place p;
    place_make(&p);
    struct recording *f = read_changed(&p, seconds, ARRAY_LEN(seconds), change);
    assert_int_equal(recording_stats(f, "run_queue", 2, 4, &s, &err), 0);
    assert_true(s.n == 3 && fabs(s.mean - 1) < 0.001 && fabs(s.max - 21) < 0.001);
    assert_true(fabs(s.stddev - sqrt(20 * 1.5)) < 0.001);
    assert_int_equal(recording_series(f, "run_queue", 2, 4, parts, 3), 3);
    assert_true(fabs(parts[0] - 3) < 0.001 && parts[1] == 0 && parts[2] == 0);
    struct arena arena;
    arena_init(&arena);
    assert_int_equal(recording_processes(f, 1, 4, &arena, &processes, &turnover), 2);
    assert_true(fabs(processes[0].share - 0.01) < 0.0001);
    assert_true(fabs(processes[0].memory_bytes - 2100.0 / 22) < 0.1);
    assert_true(fabs(processes[0].queue_slope - 5) < 0.001 && processes[0].queue_fit > 0.999);
    arena_clear(&arena);
    recording_close(f);
    place_clear(&p);
}

/* How long it is does not change with the node's wall clock, nor for a restart or ticks
 * given up. */
TEST(test_period)
{
    static const char *const changes[] = {
        "UPDATE tick SET wall_us = wall_us - 3600000000 WHERE id > 3",
        "UPDATE tick SET wall_us = wall_us + 9000000000 WHERE id > 4",
        "UPDATE tick SET mono_ns = mono_ns - 1000000000000 WHERE id > 2",
        "DELETE FROM tick WHERE id = 5",
        "UPDATE tick SET mono_ns = NULL",
    };
    struct error err = {0};
    struct place p;
    sqlite3 *db = NULL;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    write_ticks(r, 6);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        assert_int_equal(sqlite3_exec(db, changes[i], NULL, NULL, NULL), SQLITE_OK);
        struct recording *f = reopen(p.path);
        if (fabs(recording_period_s(f, 1, 6) - 5) > 1e-6 ||
            fabs(recording_period_s(f, 2, 4) - 2) > 1e-6 || recording_period_s(f, 6, 6) != 0)
            fail_msg("%s: %f", changes[i], recording_period_s(f, 1, 6));
        recording_close(f);
    }
    sqlite3_close(db);
    place_clear(&p);
}

TEST(test_a_ring_in_memory_is_read_while_it_is_written)
{
    struct error err = {0};
    struct recorder *w = begin(":memory:", 0, false);
    struct recording *r = NULL;
    struct model *m = model_new();
    struct period_stats stats;
    const struct period_owner *owners;
    assert_int_equal(recording_of_recorder(&r, w, &err), ERR_FORMAT);
    error_clear(&err);
    for (int i = 1; i <= 40; i++) {
        recorder_fact(w, "limits", i % 2 ? "{\"a\":1}" : "{\"a\":2}");
        assert_int_equal(tick(w, m, i, &err), 0);
        assert_int_equal(recorder_keep(w, 10, &err), 0);
    }
    assert_int_equal(recording_of_recorder(&r, w, &err), 0);
    assert_int_equal(recording_info(r)->ticks, 40);
    assert_int_equal(recording_stats(r, "processes", 1, 40, &stats, &err), 0);
    assert_int_equal(stats.n, 10);
    assert_true(recording_owners(r, "module", 31, 40, &owners) >= 2);
    assert_non_null(recording_fact(r, "limits", 31));
    /* What was summed is of the period that is asked for, and of the file as it is by then. */
    assert_true(recording_owners(r, "name", 31, 40, &owners) >= 1);
    assert_int_equal(recording_owners(r, "no_such", 31, 40, &owners), 0);
    assert_int_equal(recording_stats(r, "processes", 31, 35, &stats, &err), 0);
    assert_int_equal(stats.n, 5);
    assert_int_equal(recording_owners(r, "module", 1, 30, &owners), 0);
    assert_int_equal(recording_stats(r, "processes", 1, 41, &stats, &err), 0);
    assert_int_equal(stats.n, 10);
    assert_int_equal(tick(w, m, 41, &err), 0);
    assert_int_equal(recording_stats(r, "processes", 1, 41, &stats, &err), 0);
    assert_int_equal(stats.n, 11);
    recording_close(r);
    assert_int_equal(tick(w, m, 42, &err), 0); /* the connection is the recorder's */
    assert_int_equal(recorder_close(w, NULL, &err), 0);
    model_free(m);
}

/* Who shows tick after tick asks for them at each: they are read again when the file
 * has changed. */
TEST(test_marks_are_read_once)
{
    struct error err = {0};
    const struct recording_mark *first, *again;
    struct place p;
    sqlite3 *db = NULL;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    for (int i = 1; i <= 3; i++) {
        recorder_mark(r, i, 1700000000000000LL + i * 1000000LL, "mark");
        assert_int_equal(tick(r, m, i, &err), 0);
    }
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "INSERT INTO mark(here_us, text) VALUES(5, 'early')", NULL, NULL, NULL),
        SQLITE_OK);
    struct recording *f = reopen(p.path);
    assert_int_equal(recording_marks(f, &first), 4);
    assert_int_equal(recording_marks(f, &again), 4);
    assert_ptr_equal(first, again);
    for (int i = 0; i < 4; i++)
        assert_int_equal(first[i].tick, i);
    assert_int_equal(
        sqlite3_exec(db, "INSERT INTO mark(here_us, text) VALUES(6, 'late')", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(recording_marks(f, &again), 5);
    recording_close(f);
    sqlite3_close(db);
    model_free(m);
    place_clear(&p);
}
