/* A recording is written tick by tick, read back, replayed, cut off by force, filled to its cap. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../temporary.h"
#include "../model/answers.h"
#include "beamtop/base/limits.h"
#include "beamtop/store/recording.h"

/* ---- a node with known numbers: reductions grow by 1000 a second */

static void system_text(char *out, size_t size, int second)
{
    snprintf(out, size,
             "{system, %lld, %lld, %d, {%d, 600, 500, 400, 50, 40, 30, 20, 10}, {41, 2, 9000, 12}, "
             "{%d, [2,1,4,5]}, {%d, 10, 20, 30, 40, 50}, [{1,%d,%d},{2,0,%d},{3,0,%d},{4,0,%d},"
             "{5,0,%d},{6,0,%d}], {2048, 4096}}",
             -576460000000000000LL + second * 1000000000LL, 1700000000000000LL + second * 1000000LL,
             second * 1000, 1000 + second, second % 7, 1000 * second, second * 10, second * 100,
             second * 100, second * 100, second * 100, second * 100, second * 100);
}

static void scan_text(char *out, size_t size, int second)
{
    snprintf(out, size,
             "{scan, %lld, 1000000000, 1234, 50, 50, 2, "
             "[{<0.41.0>, %d, 500, {{shop_cart, {shop_cart,init,1}, <<\"cart\">>, shop, "
             "{proc_lib,init_p,5}}, %d, 3, 4096, {gen_server,loop,7}}}, "
             "{<0.42.1>, %d, 300, {{undefined, {logger_olp,init,1}, undefined, undefined, "
             "{erlang,apply,2}}, %d, 0, 2048, undefined}}], []}",
             -576460000000000000LL + second * 1000000000LL, second * 500, second * 500,
             second * 300, second * 300);
}

static void take(struct recorder *r, struct model *m, enum answer_kind kind, const char *question,
                 const char *text)
{
    struct error err = {.code = ERR_NONE};
    struct term t = term_of(text);
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(t.builder, &len);
    if (give(m, kind, text, &err) < 0)
        fail_msg("%s", err.text);
    recorder_answer(r, question, bytes + 1, len - 1, kind == ANSWER_SCAN ? &scan_want : NULL);
    term_free(&t);
}

static int tick(struct recorder *r, struct model *m, int second, struct error *err)
{
    char text[1200];
    if (second == 1)
        take(r, m, ANSWER_NODE, "node", NODE_ANSWER);
    system_text(text, sizeof text, second);
    take(r, m, ANSWER_SYSTEM, "system", text);
    scan_text(text, sizeof text, second);
    take(r, m, ANSWER_SCAN, "scan", text);
    return recorder_tick(r, m, 1700000000000000LL + second * 1000000LL, err);
}

/* ---- files */

struct place {
    char dir[64], path[96];
};

static void place_make(struct place *p)
{
    assert_true(temporary_dir(p->dir, sizeof p->dir, "recording"));
    snprintf(p->path, sizeof p->path, "%s/a.btr", p->dir);
}

static void place_clear(const struct place *p)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char path[128];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", p->path, ends[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(p->dir), 0);
}

static struct recorder *begin(const char *path, uint64_t max_bytes, bool thin)
{
    const struct recorder_options options = {
        .node = "mq1@host", .label = "before", .interval_s = 1, .max_bytes = max_bytes, .thin = thin};
    struct error err = {.code = ERR_NONE};
    struct recorder *r = NULL;
    if (recorder_open(&r, path, &options, &err) != 0)
        fail_msg("%s", err.text);
    return r;
}

static struct recording *reopen(const char *path)
{
    struct error err = {.code = ERR_NONE};
    struct recording *r = NULL;
    if (recording_open(&r, path, &err) != 0)
        fail_msg("%s", err.text);
    return r;
}

static void write_ticks(struct recorder *r, int n)
{
    struct error err = {.code = ERR_NONE};
    struct model *m = model_new();
    for (int i = 1; i <= n; i++)
        if (tick(r, m, i, &err) != 0)
            fail_msg("tick %d: %s", i, err.text);
    model_free(m);
}

/* ---- tests */

static void add_extras(struct recorder *r)
{
    static const struct recorded_call calls[] = {
        {{"shop_cart", 9}, {"add", 3}, 2, 30, 900, -1, 0.75},
        {{"shop_cart", 9}, {"get", 3}, 1, 10, -1, 44, 0.25},
    };
    const struct recorded_window w = {.wall_us = 1700000002000000, .ns = 2000000000, .functions = 200,
                                      .calls = 40, .lost = 1, .calls_per_s = 20, .top = calls, .n_top = 2};
    recorder_window(r, &w);
    recorder_mark(r, 5, 1700000002500000, "deploy");
    recorder_fact(r, "logger", "{\"a\":1}");
    recorder_fact(r, "logger", "{\"a\":1}");
    recorder_gap(r, 9, "link lost");
}

static void test_written_and_read(void **state)
{
    (void)state;
    struct error err = {.code = ERR_NONE};
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

    struct span_stats s;
    assert_int_equal(recording_stats(f, "memory_total_bytes", 2, 4, &s, &err), 0);
    assert_int_equal(s.n, 3);
    assert_true(s.mean == 1003 && s.min == 1002 && s.max == 1004 && s.first == 1002);
    assert_true(recording_stats(f, "no_such", 1, 5, &s, &err) == ERR_USAGE);

    const struct span_owner *owners;
    assert_int_equal(recording_owners(f, "module", 1, 5, &owners), 3);
    assert_int_equal(owners[0].owner.len, 9);
    assert_memory_equal(owners[0].owner.s, "shop_cart", 9);
    assert_true(fabs(owners[0].share - 0.5) < 0.01);
    assert_memory_equal(owners[1].kind.s, "logger", 6);
    assert_true(fabs(owners[1].share - 0.3) < 0.01);
    assert_int_equal(owners[2].owner.len, 0);

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
    assert_null(recording_fact(f, "logger", 2));
    assert_string_equal(recording_fact(f, "logger", 4), "{\"a\":1}");
    recording_close(f);
    place_clear(&p);
}

static int replay_answer(void *arg, const char *question, const uint8_t *term, size_t len,
                         const struct want_scan *asked, struct error *err)
{
    struct model *m = arg;
    if (strcmp(question, "node") == 0)
        return model_take_node(m, term, len, err);
    if (strcmp(question, "system") == 0)
        return model_take_system(m, term, len, err);
    return model_take_scan(m, term, len, asked, 1, err);
}

/* What a live model told at a tick, a model that is given the answers again tells too. */
static void test_replayed(void **state)
{
    (void)state;
    struct error err = {.code = ERR_NONE};
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

/* kill -9 between and within transactions: the file opens, is whole, lacks at most a tick. */
static void test_killed(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct place p;
        int pipes[2];
        char done = 0, last = 0;
        place_make(&p);
        assert_int_equal(pipe(pipes), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct error err = {.code = ERR_NONE};
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

static void test_full(void **state)
{
    (void)state;
    struct error err = {.code = ERR_NONE};
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

/* Another program writes: what was gathered comes with the next tick; one that stays ends the recording. */
static void test_locked(void **state)
{
    (void)state;
    struct place p;
    place_make(&p);
    struct error err = {.code = ERR_NONE};
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
    assert_int_equal(count_in(other, "SELECT count(*) FROM gap WHERE why = 'the file was locked'"), 1);
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

/* What is of an interval does not count where that is short, as the first one is. */
static void test_short_interval(void **state)
{
    (void)state;
    static const char change[] =
        "UPDATE tick SET interval_us = CASE id WHEN 2 THEN 300000 ELSE 1000000 END;"
        "UPDATE system SET reductions_per_s = CASE tick WHEN 2 THEN 2e7 ELSE 1e6 END, run_queue = tick;";
    struct error err = {.code = ERR_NONE};
    struct span_stats s;
    sqlite3 *db = NULL;
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    for (int i = 1; i <= 5; i++)
        assert_int_equal(tick(r, m, i, &err), 0);
    recorder_close(r, "stopped", &err);
    model_free(m);
    assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, change, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    struct recording *f = reopen(p.path);
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
static void test_owners_over_time(void **state)
{
    (void)state;
    static const int seconds[] = {1, 2, 12, 22};
    static const char change[] =
        "UPDATE owner SET share = CASE WHEN (owner = 0) = (tick = 2) THEN 0.9 ELSE 0.1 END;"
        "DELETE FROM owner WHERE owner NOT IN (0, (SELECT max(owner) FROM owner WHERE by = 'module'));";
    struct error err = {.code = ERR_NONE};
    const struct span_owner *owners;
    sqlite3 *db = NULL;
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        assert_int_equal(tick(r, m, seconds[i], &err), 0);
    recorder_close(r, "stopped", &err);
    model_free(m);
    assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, change, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    struct recording *f = reopen(p.path);
    assert_int_equal(recording_owners(f, "module", 1, 4, &owners), 2);
    assert_true(fabs(owners[0].share - (0.1 * 1 + 0.9 * 20) / 21) < 0.001);
    assert_true(fabs(owners[1].share - (0.9 * 1 + 0.1 * 20) / 21) < 0.001);
    assert_true(fabs(owners[0].share_stddev - 0.8 * sqrt(20) / 21) < 0.001);
    recording_close(f);
    place_clear(&p);
}

/* Windows of counted calls, most of such a file, are given up with their ticks. */
static void test_thinned_windows(void **state)
{
    (void)state;
    struct error err = {.code = ERR_NONE};
    struct recorded_call calls[50];
    const struct recorded_call *found;
    struct recorded_window sums;
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 400 * 1024, true);
    struct model *m = model_new();
    for (int i = 0; i < 50; i++)
        calls[i] = (struct recorded_call){{"shop_cart", 9}, {"add", 3}, i, 100 - i, -1, -1, 0.02};
    for (int i = 1; i <= 1000; i++) {
        const struct recorded_window w = {.wall_us = 1700000000000000 + i * INT64_C(1000000), .ns = 500000000,
                                          .functions = 50, .calls = 3775, .calls_per_s = 7550, .top = calls,
                                          .n_top = 50};
        recorder_window(r, &w);
        if (tick(r, m, i, &err) != 0)
            fail_msg("tick %d: %s", i, err.text);
    }
    assert_true(recorder_bytes(r) <= 400 * 1024);
    recorder_close(r, "stopped", &err);
    struct recording *f = reopen(p.path);
    assert_true(recording_info(f)->thinned);
    assert_int_equal(recording_calls(f, 1, 1000, &found, &sums), 50);
    /* What is left of windows is whole: all of its functions, and its time. */
    assert_true(found[0].calls >= 100 * 100 && found[0].calls < 100 * 1000);
    assert_int_equal(found[0].calls / 100 * 500000000, sums.ns);
    assert_int_equal(found[0].calls / 100 * 51, found[49].calls);
    recording_close(f);
    model_free(m);
    place_clear(&p);
}

/* Calls of `add` in windows of a second; the rest of a window's calls is of others, told or not. */
static const struct {
    const char *label;
    int64_t add[4], others[4]; /* add: -1: not told; others that are told */
    int64_t windows;         /* that its variation is of */
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

static void test_how_calls_vary(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(spread_rows); i++) {
        struct error err = {.code = ERR_NONE};
        const struct recorded_call *found;
        struct recorded_window sums;
        struct place p;
        place_make(&p);
        struct recorder *r = begin(p.path, 0, false);
        struct model *m = model_new();
        for (int k = 0; k < 4; k++) {
            int64_t add = spread_rows[i].add[k];
            const struct recorded_call calls[] = {
                {{"shop_cart", 9}, {"get", 3}, 1, spread_rows[i].others[k], -1, -1, NAN},
                {{"shop_cart", 9}, {"add", 3}, 2, add, -1, -1, NAN}};
            const struct recorded_window w = {.ns = 1000000000, .functions = 2, .calls = 100,
                                              .top = calls, .n_top = add < 0 ? 1 : 2};
            recorder_window(r, &w);
            if (tick(r, m, k + 1, &err) != 0)
                fail_msg("%s", err.text);
        }
        recorder_close(r, "stopped", &err);
        struct recording *f = reopen(p.path);
        size_t n = recording_calls(f, 1, 4, &found, &sums), at = 0;
        while (at < n && found[at].arity != 2)
            at++;
        assert_true(at < n && sums.windows == 4);
        const struct call_spread *s = &sums.spreads[at];
        if (s->windows != spread_rows[i].windows ||
            !is_near(s->per_s_stddev, spread_rows[i].per_s_stddev) ||
            !is_near(s->share_stddev, spread_rows[i].share_stddev))
            fail_msg("%s: %lld windows, ± %g a second, ± %g", spread_rows[i].label,
                     (long long)s->windows, s->per_s_stddev, s->share_stddev);
        recording_close(f);
        model_free(m);
        place_clear(&p);
    }
}

static void test_thinned(void **state)
{
    (void)state;
    struct error err = {.code = ERR_NONE};
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
    struct span_stats s;
    assert_int_equal(recording_stats(f, "run_queue", 1, 3000, &s, &err), 0);
    assert_true(s.n > 300 && s.n < 3000);
    assert_true(recording_tick_wall_us(f, 3000) > 0 && recording_tick_wall_us(f, 2999) > 0);
    recording_close(f);
    place_clear(&p);
}

typedef int take_fn(struct recorder *r, const uint8_t *term, size_t len, struct error *err);

static int give_with(take_fn *take_it, struct recorder *r, const char *text, struct error *err)
{
    struct term t = term_of(text);
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(t.builder, &len);
    int rc = take_it(r, bytes + 1, len - 1, err);
    term_free(&t);
    return rc;
}

static void expect_malformed(take_fn *take_it, struct recorder *r, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct error err = {.code = ERR_NONE};
        if (give_with(take_it, r, texts[i], &err) != ERR_FORMAT)
            fail_msg("taken: %s", texts[i]);
    }
}

/* Pids and functions are texts; numbers that always change are kept once a minute. */
static void test_leaders(void **state)
{
    (void)state;
    static const char *const bad[] = {"{leaders, 1, #{}}", "{leaders, 1, [], #{}}",
                                      "{leaders, 1, #{a => {b,c}}, #{}}", "{facts, 1, #{}, #{}}"};
    static const struct {
        int second, binaries;
    } rows[] = {{1, 3}, {30, 4}, {62, 5}};
    struct error err = {.code = ERR_NONE};
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    expect_malformed(recorder_leaders, r, bad, sizeof bad / sizeof *bad);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        snprintf(text, sizeof text, "{leaders, %d000000000, #{gc => #{}, binaries => #{holders => "
                 "[#{pid => <0.41.0>, initial_call => {'My', init, 1}, binaries => %d}]}}, "
                 "#{memory => []}}",
                 rows[i].second, rows[i].binaries);
        assert_int_equal(give_with(recorder_leaders, r, text, &err), 0);
        assert_int_equal(tick(r, m, rows[i].second, &err), 0);
    }
    assert_int_equal(recorder_close(r, "time", &err), 0);
    model_free(m);
    struct recording *f = reopen(p.path);
    static const char kept[] = "{\"holders\":[{\"binaries\":3,\"initial_call\":\"'My':init/1\","
                               "\"pid\":\"<0.41.0>\"}]}";
    assert_string_equal(recording_fact(f, "binaries", 1), kept);
    assert_string_equal(recording_fact(f, "binaries", 2), kept);
    assert_non_null(strstr(recording_fact(f, "binaries", 3), "\"binaries\":5"));
    recording_close(f);
    place_clear(&p);
}

static size_t find_process(struct recording *r, const char *pid, struct span_process *out)
{
    const struct span_process *all;
    struct span_turnover turnover;
    size_t n = recording_processes(r, 1, 3, &all, &turnover);
    for (size_t i = 0; i < n; i++)
        if (all[i].pid.len == strlen(pid) && memcmp(all[i].pid.s, pid, all[i].pid.len) == 0)
            *out = all[i];
    return n;
}

/* What is watched is recorded beside the busiest where it has a long mailbox or much memory. */
static void test_watched(void **state)
{
    (void)state;
    struct error err = {.code = ERR_NONE};
    struct span_process found = {.ticks = 0};
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
                             "1, 0, 900, {m,f,1}}}", i ? "," : "", 100 + i);
        snprintf(text + used, sizeof text - (size_t)used,
                 "], [], [{<0.7.0>, 1, undefined, {{idle,{m,f,1},undefined,undefined,{m,f,1}}, "
                 "1, %d, 0, {m,f,1}}}, {<0.8.0>, 1, undefined, {{none,{m,f,1},undefined,undefined,"
                 "{m,f,1}}, 1, 9, 0, {m,f,1}}}]}", second * 100);
        if (second == 1)
            take(r, m, ANSWER_NODE, "node", NODE_ANSWER);
        char system[1200];
        system_text(system, sizeof system, second);
        take(r, m, ANSWER_SYSTEM, "system", system);
        take(r, m, ANSWER_SCAN, "scan", text);
        assert_int_equal(model_scan(m)->n_watched, 2);
        assert_int_equal(recorder_tick(r, m, 1700000000000000LL + second * 1000000LL, &err), 0);
    }
    assert_int_equal(recorder_close(r, "time", &err), 0);
    model_free(m);
    struct recording *f = reopen(p.path);
    assert_int_equal(find_process(f, "<0.7.0>", &found), 21);
    assert_int_equal(found.ticks, 3);
    assert_true(fabs(found.queue_last - 300) < 1e-9 && found.queue_fit > 0.99);
    recording_close(f);
    place_clear(&p);
}

static void test_facts(void **state)
{
    (void)state;
    static const char *const bad[] = {"{facts, 1, []}", "facts", "{facts, 1, #{a => {b}}}",
                                      "{facts, 1, #{a => [1|2]}}", "{facts, 1, #{1 => 2}}",
                                      "{facts, 1, #{a => [[[[[[[[[[[1]]]]]]]]]]]}}"};
    static const char good[] =
        "{facts, -5, #{logger => #{primary_level => notice, mode => undefined, n => [], on => true,"
        " handlers => [#{id => <<\"a\\\"b\">>, sync_mode_qlen => 10}]}, code => undefined,"
        " bytes => [1,2,3]}}";
    struct error err = {.code = ERR_NONE};
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    expect_malformed(recorder_facts, r, bad, sizeof bad / sizeof *bad);
    assert_int_equal(give_with(recorder_facts, r, good, &err), 0);
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

/* A view in the place of a table, whose rows never end. */
static void test_views_are_refused(void **state)
{
    (void)state;
    static const char views[] =
        "DROP TABLE mark; CREATE VIEW Mark AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT i AS id, i AS here_us, i AS wall_us, 'x' AS text FROM n;";
    struct error err = {.code = ERR_NONE};
    struct recording *f = NULL;
    struct place p;
    sqlite3 *db = NULL;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    write_ticks(r, 2);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE VIEW mine AS SELECT * FROM tick", NULL, NULL, NULL), SQLITE_OK);
    recording_close(reopen(p.path));
    assert_int_equal(sqlite3_exec(db, views, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(recording_open(&f, p.path, &err), ERR_FORMAT);
    assert_non_null(strstr(err.text, "no recording that beamtop wrote"));
    place_clear(&p);
}

/* How long it is does not change with the node's wall clock, nor for a restart or ticks given up. */
static void test_span(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "UPDATE tick SET wall_us = wall_us - 3600000000 WHERE id > 3",
        "UPDATE tick SET wall_us = wall_us + 9000000000 WHERE id > 4",
        "UPDATE tick SET mono_ns = mono_ns - 1000000000000 WHERE id > 2",
        "DELETE FROM tick WHERE id = 5",
        "UPDATE tick SET mono_ns = NULL",
    };
    struct error err = {.code = ERR_NONE};
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
        if (fabs(recording_span_s(f, 1, 6) - 5) > 1e-6 || fabs(recording_span_s(f, 2, 4) - 2) > 1e-6 ||
            recording_span_s(f, 6, 6) != 0)
            fail_msg("%s: %f", changes[i], recording_span_s(f, 1, 6));
        recording_close(f);
    }
    sqlite3_close(db);
    place_clear(&p);
}

/* A copy of a file that is written lacks what stands beside it: that is said. */
static void test_copied_without_its_wal(void **state)
{
    (void)state;
    struct error err = {.code = ERR_NONE};
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

static void test_only_its_owner_reads_it(void **state)
{
    (void)state;
    const struct recorder_options options = {.node = "a@b", .interval_s = 1};
    struct error err = {.code = ERR_NONE};
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
    assert_int_equal(symlink("/nonexistent/elsewhere", p.path), 0);
    assert_int_equal(recorder_open(&r, p.path, &options, &err), ERR_USAGE);
    place_clear(&p);
}

static void test_refused(void **state)
{
    (void)state;
    struct error err = {.code = ERR_NONE};
    struct recording *f = NULL;
    struct recorder *r = NULL;
    struct place p;
    place_make(&p);
    assert_int_equal(recording_open(&f, p.path, &err), ERR_NOT_FOUND);
    FILE *file = fopen(p.path, "w");
    fputs("no database at all, but long enough to be looked at as one: 0123456789 0123456789 0123456789", file);
    fclose(file);
    error_clear(&err);
    assert_int_equal(recording_open(&f, p.path, &err), ERR_FORMAT);
    const struct recorder_options options = {.node = "a@b", .interval_s = 1};
    error_clear(&err);
    assert_int_equal(recorder_open(&r, p.path, &options, &err), ERR_USAGE);
    error_clear(&err);
    assert_true(recorder_open(&r, "/nonexistent/a.btr", &options, &err) < 0);
    place_clear(&p);
}

static void test_a_ring_in_memory_is_read_while_it_is_written(void **state)
{
    (void)state;
    struct error err = {.code = ERR_NONE};
    struct recorder *w = begin(":memory:", 0, false);
    struct recording *r = NULL;
    struct model *m = model_new();
    struct span_stats stats;
    const struct span_owner *owners;
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
    /* What was summed is of the span that is asked for, and of the file as it is by then. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_and_read),
        cmocka_unit_test(test_a_ring_in_memory_is_read_while_it_is_written), cmocka_unit_test(test_replayed),
        cmocka_unit_test(test_killed),           cmocka_unit_test(test_full),
        cmocka_unit_test(test_copied_without_its_wal),
        cmocka_unit_test(test_span),
        cmocka_unit_test(test_thinned),          cmocka_unit_test(test_thinned_windows),
        cmocka_unit_test(test_owners_over_time),
        cmocka_unit_test(test_short_interval), cmocka_unit_test(test_locked), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_how_calls_vary), cmocka_unit_test(test_views_are_refused), cmocka_unit_test(test_only_its_owner_reads_it),
        cmocka_unit_test(test_facts),           cmocka_unit_test(test_leaders),
        cmocka_unit_test(test_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
