/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings that are filled to their cap, thinned, locked by others, copied in part, or none at
 * all. */
#include <sqlite3.h>
#include <sys/stat.h>

#include "../../test.h"
#include "beamtop/base/limits.h"
#include "ticks.h"

TEST(test_full)
{
    struct error err = {0};
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 400 * 1024, false);
    struct model *m = model_new();
    int i = 1;
    while (i < 5000 && tick(r, m, i, &err) == 0)
        i++;
    assert_int_equal(err.code, ERR_LIMIT);
    assert_true(recorder_bytes(r) <= 400 * 1024);
    assert_int_equal(recorder_ticks(r), i - 1);
    recorder_close(r, "full", &err);
    struct recording *f = reopen(p.path);
    assert_int_equal(recording_info(f)->ticks, i - 1);
    assert_true(recording_tick_wall_us(f, i - 1) > 0);
    recording_close(f);
    model_free(m);
    place_clear(&p);
}

static int64_t count_in(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return n;
}

/* Another program writes: what was gathered comes with the next tick; one that stays ends the
 * recording. */
TEST(test_locked)
{
    struct place p;
    place_make(&p);
    struct error err = {0};
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    assert_int_equal(tick(r, m, 1, &err), 0);
    sqlite3 *other = NULL;
    assert_int_equal(sqlite3_open(p.path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    recorder_mark(r, 1700000001500000LL, 1700000001500000LL, "deploy");
    assert_int_equal(tick(r, m, 2, &err), ERR_TIMEOUT);
    error_clear(&err);
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(tick(r, m, 3, &err), 0);
    assert_int_equal(recorder_ticks(r), 2);
    assert_int_equal(count_in(other, "SELECT count(*) FROM mark WHERE text = 'deploy'"), 1);
    assert_int_equal(count_in(other, "SELECT count(*) FROM gap WHERE why = 'the file was locked'"),
                     1);
    assert_int_equal(count_in(other, "SELECT count(*) FROM answer WHERE question = 'scan'"), 2);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(tick(r, m, 4, &err), ERR_TIMEOUT);
    error_clear(&err);
    assert_int_equal(tick(r, m, 4 + LIMIT_RECORDER_LOCKED_S, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, "kept the file locked for 60 s"));
    sqlite3_close(other);
    error_clear(&err);
    assert_int_equal(recorder_close(r, "error", &err), 0);
    model_free(m);
    place_clear(&p);
}

/* Windows of counted calls, most of such a file, are given up with their ticks. */
TEST(test_thinned_windows)
{
    struct error err = {0};
    struct calls_function calls[50];
    const struct recorded_call *found;
    struct recorded_window sums;
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 400 * 1024, true);
    struct model *m = model_new();
    for (int i = 0; i < 50; i++)
        calls[i] = counted_call("shop_cart", "add", i, 100 - i, -1, -1, 0.02);
    for (int i = 1; i <= 1000; i++) {
        const struct calls_window w = {.wall_us = 1700000000000000 + i * INT64_C(1000000),
                                       .interval_us = 500000,
                                       .functions = 50,
                                       .calls = 3775,
                                       .calls_per_s = 7550,
                                       .rows = calls,
                                       .n_rows = 50};
        recorder_calls(r, &w, false);
        if (tick(r, m, i, &err) != 0)
            fail_msg("tick %d: %s", i, err.text);
    }
    assert_true(recorder_bytes(r) <= 400 * 1024);
    recorder_close(r, "stopped", &err);
    struct recording *f = reopen(p.path);
    assert_true(recording_info(f)->thinned);
    assert_int_equal(recording_calls(f, 1, 1000, &found, &sums), 50);
    /* What is left of windows is whole: all of its functions, and its time. */
    assert_true(found[0].calls >= 100 * 50 && found[0].calls < 100 * 1000);
    assert_int_equal(found[0].calls / 100 * 500000000, sums.ns);
    assert_int_equal(found[0].calls / 100 * 51, found[49].calls);
    recording_close(f);
    model_free(m);
    place_clear(&p);
}

TEST(test_thinned)
{
    struct error err = {0};
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 400 * 1024, true);
    write_ticks(r, 3000);
    assert_int_equal(recorder_ticks(r), 3000);
    assert_true(recorder_bytes(r) <= 400 * 1024);
    recorder_close(r, "stopped", &err);
    struct recording *f = reopen(p.path);
    assert_true(recording_info(f)->thinned);
    assert_int_equal(recording_info(f)->ticks, 3000);
    struct period_stats s;
    assert_int_equal(recording_stats(f, "run_queue", 1, 3000, &s, &err), 0);
    assert_in_range(s.n, 250, 2999);
    assert_true(recording_tick_wall_us(f, 3000) > 0 && recording_tick_wall_us(f, 2999) > 0);
    recording_close(f);
    place_clear(&p);
}

/* A view in the place of a table, whose rows never end. */
TEST(test_views_are_not_read)
{
    static const char views[] = "DROP TABLE mark; CREATE VIEW Mark AS WITH RECURSIVE n(i) AS "
                                "(SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                                " SELECT i AS id, i AS here_us, i AS wall_us, 'x' AS text FROM n;";
    struct error err = {0};
    struct recording *f = NULL;
    const struct recording_mark *marks;
    struct place p;
    sqlite3 *db = NULL;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    write_ticks(r, 2);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, views, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    f = reopen(p.path);
    assert_int_equal(recording_marks(f, &marks), 0);
    recording_close(f);
    place_clear(&p);
}

/* A copy of a file that is written lacks what stands beside it: that is said. */
TEST(test_copied_without_its_wal)
{
    struct error err = {0};
    struct recording *f = NULL;
    struct place p, copy;
    static char bytes[8192];
    place_make(&p);
    place_make(&copy);
    struct recorder *r = begin(p.path, 0, false);
    write_ticks(r, 2);
    FILE *from = fopen(p.path, "r"), *to = fopen(copy.path, "w");
    assert_true(from && to);
    size_t n = fread(bytes, 1, sizeof bytes, from);
    assert_int_equal(fwrite(bytes, 1, n, to), n);
    fclose(from);
    fclose(to);
    assert_int_equal(recording_open(&f, copy.path, &err), ERR_FORMAT);
    assert_non_null(strstr(err.text, "a.btr-wal is missing"));
    error_clear(&err);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    place_clear(&p);
    place_clear(&copy);
}

TEST(test_only_its_owner_reads_it)
{
    const struct recorder_options options = {.node = "a@b", .interval_s = 1};
    struct error err = {0};
    struct recorder *r = NULL;
    struct stat how;
    struct place p;
    place_make(&p);
    mode_t mask = umask(0);
    assert_int_equal(recorder_open(&r, p.path, &options, &err), 0);
    umask(mask);
    assert_int_equal(stat(p.path, &how), 0);
    assert_int_equal(how.st_mode & 0777, 0600);
    assert_int_equal(recorder_close(r, NULL, &err), 0);
    assert_int_equal(unlink(p.path), 0);
    assert_int_equal(symlink("/proc/nonexistent/elsewhere", p.path), 0);
    assert_int_equal(recorder_open(&r, p.path, &options, &err), ERR_USAGE);
    place_clear(&p);
}

TEST(test_refused)
{
    struct error err = {0};
    struct recording *f = NULL;
    struct recorder *r = NULL;
    struct place p;
    place_make(&p);
    assert_int_equal(recording_open(&f, p.path, &err), ERR_NOT_FOUND);
    error_clear(&err);
    assert_int_equal(recording_open(&f, "shop@nowhere", &err), ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "beamtop record NODE -o FILE"));
    error_clear(&err);
    FILE *file = fopen(p.path, "w");
    fputs("no database at all, but long enough to be looked at as one: 0123456789 0123456789 "
          "0123456789",
          file);
    fclose(file);
    error_clear(&err);
    assert_int_equal(recording_open(&f, p.path, &err), ERR_FORMAT);
    const struct recorder_options options = {.node = "a@b", .interval_s = 1};
    error_clear(&err);
    assert_int_equal(recorder_open(&r, p.path, &options, &err), ERR_USAGE);
    error_clear(&err);
    assert_true(recorder_open(&r, "/proc/nonexistent/a.btr", &options, &err) < 0);
    place_clear(&p);
}
