/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recorders of a real node: killed at random moments, detached from the terminal that started
 * them, over a node that goes and comes back, onto a disk that is full. Every file is whole.
 * BEAMTOP_RECORD_KILLS: how many are
 * killed (50). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../temporary.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/recording/recording.h"
#include "node.h"
#include "run.h"

#define COOKIE "record-cookie"
#define AT_ONCE 4 /* recorders beside each other */

struct target {
    struct node node;
    pid_t epmd;
    uint16_t epmd_port;
    char dir[64], state[96];
    const char *env[2];
};

static void start_node(struct target *t)
{
    const struct node_options options = {.name = "recorded@127.0.0.1",
                                         .long_name = true,
                                         .cookie = COOKIE,
                                         .epmd_port = t->epmd_port};
    assert_int_equal(node_start(&t->node, &options), 0);
}

static int begin(void **state)
{
    struct target *t = calloc(1, sizeof *t);
    *state = t;
    if (!node_available(NULL)) {
        print_message("there is no erl: skipped\n");
        exit(77);
    }
    assert_true(temporary_dir(t->dir, sizeof t->dir, "record"));
    snprintf(t->state, sizeof t->state, "XDG_STATE_HOME=%s", t->dir);
    t->env[0] = t->state;
    t->epmd = node_epmd_start(&t->epmd_port);
    assert_true(t->epmd > 0);
    start_node(t);
    return 0;
}

static int end(void **state)
{
    struct target *t = *state;
    char command[128];
    node_stop(&t->node);
    node_kill(t->epmd);
    snprintf(command, sizeof command, "rm -rf '%s'", t->dir);
    int rc = system(command);
    free(t);
    return rc;
}

static void sleep_ms(unsigned ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

/* ---- files */

/* One number of a file that may be written meanwhile; -1: none. */
static int64_t number_in(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    int64_t v = -1;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(db, 2000);
        if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
            v = sqlite3_column_int64(s, 0);
        sqlite3_finalize(s);
    }
    sqlite3_close(db);
    return v;
}

static void expect_number(const char *path, const char *sql, int64_t expected)
{
    int64_t is = number_in(path, sql);
    if (is != expected)
        fail_msg("%s: %s is %lld, not %lld", path, sql, (long long)is, (long long)expected);
}

#define TICKS_SQL "SELECT count(*) FROM tick"
#define LIMIT_MS 60000 /* of what takes a moment, on a machine that has much else to do */

static void wait_for(const char *path, const char *sql, int64_t at_least)
{
    uint64_t until = clock_mono_ns() + (uint64_t)LIMIT_MS * 1000000;
    while (number_in(path, sql) < at_least) {
        if (clock_mono_ns() > until)
            fail_msg("%s: %s does not become %lld", path, sql, (long long)at_least);
        sleep_ms(50);
    }
}

/* Whole: every tick has all that belongs to it, and none is missing. */
static void expect_whole(const char *path, int64_t at_least)
{
    struct error err = {0};
    struct recording *r = NULL;
    expect_number(path, "SELECT integrity_check = 'ok' FROM pragma_integrity_check", 1);
    if (at_least > 0 && recording_open(&r, path, &err) != 0)
        fail_msg("%s: %s", path, err.text);
    int64_t ticks = number_in(path, TICKS_SQL);
    if (ticks < at_least)
        fail_msg("%s: %lld ticks were seen, %lld are left", path, (long long)at_least,
                 (long long)ticks);
    expect_number(path, "SELECT coalesce(max(id), 0) FROM tick", ticks);
    expect_number(path, "SELECT count(*) FROM system", ticks);
    expect_number(path, "SELECT count(*) FROM answer WHERE question = 'system'", ticks);
    expect_number(path, "SELECT count(*) FROM answer WHERE question = 'scan'", ticks);
    expect_number(path, "SELECT count(*) FROM process WHERE tick NOT IN (SELECT id FROM tick)", 0);
    recording_close(r);
}

/* ---- killed at random moments */

/*
 * Two ticks that are not there would be a gap before the end longer than two of those between
 * ticks, as long as those are here; and half a second more, for a busy machine. One that stands
 * still for longer makes such a gap by itself: so it is with some of all that are killed, and never
 * for long. */
#define STANDSTILL_US 10000000

static bool has_gap_at_end(const char *path, int64_t killed_us)
{
    int64_t last = number_in(path, "SELECT max(here_us) FROM tick");
    int64_t between =
        number_in(path, "SELECT coalesce(max(b.here_us - a.here_us), 0) FROM tick a, tick b "
                        "WHERE b.id = a.id + 1");
    between = between < 250000 ? 250000 : between;
    bool gap = killed_us - last > 2 * between + 500000;
    if (gap)
        print_message(
            "%s: killed %lld us after its last tick, with %lld us at most between ticks\n", path,
            (long long)(killed_us - last), (long long)between);
    assert_true(killed_us - last <= 2 * between + STANDSTILL_US);
    return gap;
}

/* How many of them have a gap at the end. */
static int kill_some(struct target *t, int first, int n, unsigned *seed)
{
    struct run r[AT_ONCE];
    int gaps = 0;
    char path[AT_ONCE][128];
    int64_t seen[AT_ONCE], killed_us[AT_ONCE];
    for (int i = 0; i < n; i++) {
        snprintf(path[i], sizeof path[i], "%s/killed-%d.btr", t->dir, first + i);
        run_start(&r[i], t->env,
                  "record %s --cookie " COOKIE " --epmd-port %u -o %s -i 0.25 -b 100 "
                  "--calls lists --window 20ms --every 0.25",
                  t->node.name, t->epmd_port, path[i]);
    }
    for (int i = 0; i < n; i++)
        wait_for(path[i], TICKS_SQL, 1);
    for (int i = 0; i < n; i++) {
        sleep_ms((unsigned)rand_r(seed) % 250);
        seen[i] = number_in(path[i], TICKS_SQL);
        killed_us[i] = clock_wall_us();
        kill(r[i].pid, SIGKILL);
    }
    for (int i = 0; i < n; i++) {
        run_wait(&r[i], LIMIT_MS);
        if (r[i].exit_code != -SIGKILL)
            fail_msg("ended with %d before it was killed\n%.2000s", r[i].exit_code, r[i].err);
        run_clear(&r[i]);
        assert_true(seen[i] >= 1);
        expect_whole(path[i], seen[i]);
        gaps += has_gap_at_end(path[i], killed_us[i]);
    }
    return gaps;
}

static bool is_said(struct target *t, const char *command, const char *words)
{
    struct run r;
    run_program(&r, t->env, "%s", command);
    run_expect(&r, 0);
    bool said = strstr(r.out, words) != NULL;
    run_clear(&r);
    return said;
}

static void test_killed(void **state)
{
    struct target *t = *state;
    const char *given = getenv("BEAMTOP_RECORD_KILLS");
    int kills = given ? atoi(given) : 50;
    unsigned seed = (unsigned)getpid();
    int gaps = 0, looks = 0;
    char command[400];
    print_message("seed %u\n", seed);
    for (int done = 0; done < kills; done += AT_ONCE)
        gaps += kill_some(t, done, kills - done < AT_ONCE ? kills - done : AT_ONCE, &seed);
    if (gaps > kills / 4)
        fail_msg("%d of %d miss more than the tick in flight", gaps, kills);
    snprintf(command, sizeof command, "armed %s --cookie " COOKIE " --epmd-port %u", t->node.name,
             t->epmd_port);
    while (!is_said(t, command, "No active tracing on this node.")) {
        assert_true(++looks < 30);
        sleep_ms(500);
    }
    /* Sockets that the killed ones left behind go when one looks. */
    assert_true(is_said(t, "record status", "nothing is being recorded"));
}

/* ---- detached */

/* In a terminal of its own, which goes as soon as the command has returned. */
static void start_in_terminal(const struct target *t, const char *path)
{
    char command[1600];
    snprintf(command, sizeof command,
             "%s script -qec \"'%s' record start %s --cookie " COOKIE
             " --epmd-port %u -o %s -i 0.25 -b 100\" "
             "%s/typescript </dev/null >%s/said 2>&1",
             t->state, getenv("BEAMTOP"), t->node.name, t->epmd_port, path, t->dir, t->dir);
    assert_int_equal(system(command), 0);
}

static json_t *status_of(const struct target *t)
{
    struct run r;
    run_program(&r, t->env, "record status --format json");
    run_expect(&r, 0);
    assert_int_equal(run_lines(&r), 1);
    json_t *status = run_json(&r, 0);
    run_clear(&r);
    return status;
}

static double ticks_of(const struct target *t)
{
    json_t *status = status_of(t);
    double ticks = number_at(status, "ticks");
    json_decref(status);
    return ticks;
}

static void test_detached(void **state)
{
    struct target *t = *state;
    struct run r;
    char path[128], stat_path[64], log_path[160];
    int session = 0, terminal = -1;
    snprintf(path, sizeof path, "%s/detached.btr", t->dir);
    if (system("command -v script >/dev/null") != 0)
        skip();
    start_in_terminal(t, path);
    json_t *status = status_of(t);
    assert_string_equal(text_at(status, "file"), path);
    assert_true(json_is_true(at(status, "detached")));
    int pid = (int)number_at(status, "pid");
    double ticks = number_at(status, "ticks");
    assert_true(ticks >= 1);
    json_decref(status);
    snprintf(stat_path, sizeof stat_path, "/proc/%d/stat", pid);
    FILE *f = fopen(stat_path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*d %*s %*c %*d %*d %d %d", &session, &terminal), 2);
    fclose(f);
    assert_int_equal(terminal, 0);
    assert_int_not_equal(session, getsid(0));

    kill(pid, SIGHUP); /* as the end of a terminal would */
    run_program(&r, t->env, "record mark 'deploy of 1.2'");
    run_expect(&r, 0);
    run_clear(&r);
    for (int looks = 0; looks < 200 && ticks_of(t) <= ticks; looks++)
        sleep_ms(100);
    status = status_of(t);
    assert_true(number_at(status, "ticks") > ticks);
    assert_true(number_at(status, "marks") == 1);
    json_decref(status);
    run_program(&r, t->env, "record stop another@127.0.0.1");
    run_expect_error(&r, 2, "takes no argument");
    run_clear(&r);
    run_program(&r, t->env, "record status another@127.0.0.1");
    run_expect_error(&r, 2, "takes no argument");
    run_clear(&r);
    run_program(&r, t->env, "record stop -o %s", path);
    run_expect(&r, 0);
    run_clear(&r);
    /* The answer comes when the file is whole. */
    expect_whole(path, 1);
    expect_number(path, "SELECT count(*) FROM meta WHERE key = 'end' AND value = 'stopped'", 1);
    expect_number(path, "SELECT count(*) FROM mark WHERE text = 'deploy of 1.2' AND wall_us > 0",
                  1);
    snprintf(log_path, sizeof log_path, "%s-wal", path);
    assert_int_not_equal(access(log_path, F_OK), 0);
    run_program(&r, t->env, "record stop");
    run_expect_error(&r, 1, "nothing is being recorded");
    run_clear(&r);
}

/* Shorter than the node takes to answer: there is a tick all the same. */
static void test_short(void **state)
{
    struct target *t = *state;
    struct run r;
    char path[128];
    snprintf(path, sizeof path, "%s/short.btr", t->dir);
    run_program(&r, t->env, "record %s --cookie " COOKIE " --epmd-port %u -o %s --for 0.01s",
                t->node.name, t->epmd_port, path);
    assert_int_equal(r.exit_code, 0);
    run_clear(&r);
    expect_whole(path, 1);
    expect_number(path, "SELECT count(*) FROM meta WHERE key = 'end' AND value = 'time'", 1);
}

static void wait_until_refused(const struct target *t)
{
    uint64_t until = clock_mono_ns() + (uint64_t)LIMIT_MS * 1000000;
    for (bool refused = false; !refused; sleep_ms(50)) {
        json_t *status = status_of(t);
        refused = *text_at(status, "trace_refused") != '\0';
        json_decref(status);
        assert_true(clock_mono_ns() < until);
    }
}

/* A log that has as much as it may have takes no more than its end. */
static void test_log_is_bounded(void **state)
{
    struct target *t = *state;
    struct run r;
    char path[128], log_path[160], command[400];
    snprintf(path, sizeof path, "%s/bounded.btr", t->dir);
    snprintf(log_path, sizeof log_path, "%s.log", path);
    FILE *f = fopen(log_path, "w");
    assert_non_null(f);
    for (size_t i = 0; i < LIMIT_RECORD_LOG_BYTES; i += 16)
        fputs("an earlier line\n", f);
    assert_int_equal(fclose(f), 0);
    run_program(&r, t->env,
                "record start %s --cookie " COOKIE " --epmd-port %u -o %s -i 0.25 -b 100"
                " --trace no_such_module:no_such_function",
                t->node.name, t->epmd_port, path);
    run_expect(&r, 0);
    run_clear(&r);
    wait_until_refused(t);
    run_program(&r, t->env, "record stop -o %s", path);
    run_clear(&r);
    snprintf(command, sizeof command, "tail -n +65537 %s | cat -A", log_path);
    f = popen(command, "r");
    assert_non_null(f);
    char line[400];
    assert_non_null(fgets(line, sizeof line, f));
    if (!strstr(line, "this log is full"))
        fail_msg("%s", line);
    assert_non_null(fgets(line, sizeof line, f));
    if (!strstr(line, "; `beamtop report")) /* after one tick, or more */
        fail_msg("%s", line);
    pclose(f);
}

static void test_start_that_fails(void **state)
{
    struct target *t = *state;
    struct run r;
    char path[128];
    snprintf(path, sizeof path, "%s/never.btr", t->dir);
    run_program(&r, t->env, "record start %s --cookie wrong --epmd-port %u -o %s", t->node.name,
                t->epmd_port, path);
    run_expect_error(&r, 3, "cookie");
    run_clear(&r);
    assert_int_not_equal(access(path, F_OK), 0);
    run_program(&r, t->env,
                "record %s --cookie " COOKIE " --epmd-port %u -o %s --calls lists:", t->node.name,
                t->epmd_port, path);
    assert_int_equal(r.exit_code, 2);
    run_clear(&r);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* ---- a recording in the place of its node */

static void test_replayed(void **state)
{
    struct target *t = *state;
    static const struct {
        const char *args, *words;
        int code;
    } rows[] = {
        {"top %s --rows 3", "3 of ", 0},
        {"apps %s", "kernel", 0},
        {"info %s", "processes memory", 0},
        {"schedulers %s", "dirty_io", 0},
        {"memory %s", "binary_alloc", 0},
        {"top %s -n 3 --format json", "beamtop.top/2", 0},
        {"top %s --at #2 --rows 1", "1 of ", 0},
        {"process %s 1.2.3", "not recorded", 1},
        {"top %s --filter rex", "1 of 1 matching", 0},
        {"top %s --at never", "no time, mark or", 2},
    };
    struct run r;
    char path[128], args[200];
    snprintf(path, sizeof path, "%s/replayed.btr", t->dir);
    run_start(&r, t->env, "record %s --cookie " COOKIE " --epmd-port %u -o %s -i 0.25 -b 100",
              t->node.name, t->epmd_port, path);
    wait_for(path, "SELECT count(*) FROM answer WHERE question = 'alloc'", 1);
    wait_for(path, TICKS_SQL, 8);
    kill(r.pid, SIGINT);
    run_wait(&r, LIMIT_MS);
    assert_int_equal(r.exit_code, 0);
    run_clear(&r);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int n = (int)(strchr(rows[i].args, '%') - rows[i].args);
        snprintf(args, sizeof args, "%.*s%s%s", n, rows[i].args, path, rows[i].args + n + 2);
        run_program(&r, t->env, "%s", args);
        if (rows[i].code == 0)
            run_expect(&r, 0);
        else if (rows[i].code > 0)
            run_expect_error(&r, rows[i].code, rows[i].words);
        if (rows[i].code == 0 && !strstr(r.out, rows[i].words))
            fail_msg("%s: %s", args, r.out);
        run_clear(&r);
    }
}

/* The same numbers in the columns, which reports read, and in what is replayed. */
static void test_same_numbers(void **state)
{
    struct target *t = *state;
    struct run r;
    char path[128], sql[200];
    snprintf(path, sizeof path, "%s/replayed.btr", t->dir);
    run_program(&r, t->env, "top %s --rows 60 -n 0 --format json", path);
    run_expect(&r, 0);
    assert_true((int64_t)run_lines(&r) == number_in(path, "SELECT count(*) - 1 FROM tick"));
    for (int i = 0; i < (int)run_lines(&r); i++) {
        json_t *line = run_json(&r, i);
        snprintf(sql, sizeof sql, "SELECT memory_total_bytes FROM system WHERE tick = %d", i + 2);
        expect_number(path, sql, (int64_t)number_at(line, "system.memory_total_bytes"));
        snprintf(sql, sizeof sql,
                 "SELECT round(max(reductions_per_s)) FROM process WHERE tick = %d", i + 2);
        /* Our own processes, which a scan may catch at work, are in no column. */
        int64_t most = number_in(path, sql);
        bool found = false;
        json_t *row;
        size_t k;
        json_array_foreach (at(line, "rows"), k, row) {
            double rate = json_number_value(json_object_get(row, "reductions_per_s"));
            found = found || llabs(most - (int64_t)(rate + 0.5)) <= 1;
        }
        if (!found)
            fail_msg("tick %d: %lld is in no row that is replayed", i + 2, (long long)most);
        json_decref(line);
    }
    run_clear(&r);
}

/* ---- the node goes, the disk is full */

static void test_gap(void **state)
{
    struct target *t = *state;
    struct run r;
    char path[128];
    snprintf(path, sizeof path, "%s/gap.btr", t->dir);
    run_start(&r, t->env, "record %s --cookie " COOKIE " --epmd-port %u -o %s -i 0.25 -b 100",
              t->node.name, t->epmd_port, path);
    wait_for(path, TICKS_SQL, 3);
    node_stop(&t->node);
    sleep_ms(500);
    start_node(t);
    int64_t before = number_in(path, TICKS_SQL);
    wait_for(path, TICKS_SQL, before + 3);
    wait_for(path, "SELECT count(*) FROM fact WHERE key = 'limits'", 2);
    kill(r.pid, SIGINT);
    run_wait(&r, LIMIT_MS);
    assert_int_equal(r.exit_code, 0);
    run_clear(&r);
    expect_whole(path, before + 3);
    expect_number(path, "SELECT count(*) FROM gap WHERE why = 'connection lost'", 1);
    expect_number(
        path,
        "SELECT count(*) FROM tick, gap WHERE tick.id = from_tick + 1 AND interval_us IS NULL", 1);
    expect_number(path, "SELECT count(*) > 1 FROM fact WHERE key = 'limits'", 1);
}

/* Runs the recorder by way of a command; it ends by itself, with a word, and the file is whole. */
static void expect_end(struct target *t, const char *path, const char *before, const char *options,
                       const char *after, const char *word)
{
    char command[2048];
    snprintf(command, sizeof command,
             "%s %s '%s' record %s --cookie " COOKIE
             " --epmd-port %u -i 0.25 -b 100 --for 240s %s >%s/said 2>&1 %s",
             t->state, before, getenv("BEAMTOP"), t->node.name, t->epmd_port, options, t->dir,
             after);
    int rc = system(command);
    assert_true(WIFEXITED(rc));
    if (WEXITSTATUS(rc) != 1)
        fail_msg("exit code %d of %s", WEXITSTATUS(rc), command);
    expect_whole(path, 2);
    snprintf(command, sizeof command, "grep -q '%s' %s/said || { cat %s/said; false; }", word,
             t->dir, t->dir);
    assert_int_equal(system(command), 0);
}

/* The files of the process may have so many bytes: the write fails as on a full disk. */
static void test_file_limit(void **state)
{
    struct target *t = *state;
    char path[128], options[160];
    snprintf(path, sizeof path, "%s/limit.btr", t->dir);
    snprintf(options, sizeof options, "-o %s", path);
    expect_end(t, path, "prlimit --fsize=500000", options, "", "ended after [0-9]* ticks");
}

/* A disk of its own, in a mount namespace that ends with the command; what is on it is copied. */
static void test_disk_full(void **state)
{
    struct target *t = *state;
    char disk[96], path[128], before[400], options[160];
    if (system("unshare -m mount -t tmpfs -o size=4k tmpfs /mnt >/dev/null 2>&1") != 0)
        skip();
    snprintf(disk, sizeof disk, "%s/disk", t->dir);
    assert_int_equal(mkdir(disk, 0700), 0);
    snprintf(path, sizeof path, "%s/full.btr", t->dir);
    snprintf(before, sizeof before,
             "unshare -m sh -c 'mount -t tmpfs -o size=700k tmpfs %s && \"$@\"; code=$?; "
             "cp %s/* %s; exit $code' sh",
             disk, disk, t->dir);
    snprintf(options, sizeof options, "-o %s/full.btr", disk);
    expect_end(t, path, before, options, "</dev/null",
               "full.btr-wal, which could not be moved into it: keep both");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start_that_fails),
        cmocka_unit_test(test_detached),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_log_is_bounded),
        cmocka_unit_test(test_replayed),
        cmocka_unit_test(test_same_numbers),
        cmocka_unit_test(test_gap),
        cmocka_unit_test(test_file_limit),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_killed),
    };
    return cmocka_run_group_tests_name("record", tests, begin, end);
}
