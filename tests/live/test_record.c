/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recorders of a real node: killed at random moments, detached from the terminal that started
 * them, over a node that goes and comes back, onto a disk that is full. Every file is whole.
 * BEAMTOP_RECORD_KILLS: how many are killed (8; with BEAMTOP_CHECK 50). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
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
#include "beamtop/base/attr.h"
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

/* Whole: every tick has what belongs to it, and none is missing. */
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
    /* Where it takes longer than an interval, a tick is of the header only: a few may all be. */
    expect_number(path,
                  "SELECT count(*) BETWEEN (SELECT count(*) > 10 FROM tick) AND"
                  " (SELECT count(*) FROM tick) FROM answer WHERE question = 'scan'",
                  1);
    expect_number(path, "SELECT count(*) FROM process WHERE tick NOT IN (SELECT id FROM tick)", 0);
    recording_close(r);
}

/* ---- killed at random moments */

static void kill_some(struct target *t, int first, int n, unsigned *seed)
{
    struct run r[AT_ONCE];
    char path[AT_ONCE][128];
    int64_t seen[AT_ONCE];
    for (int i = 0; i < n; i++) {
        snprintf(path[i], sizeof path[i], "%s/killed-%d.btr", t->dir, first + i);
        run_start(&r[i], t->env,
                  "record %s --cookie " COOKIE " --timeout 60 --epmd-port %u -o %s -i 0.25 -b 100 "
                  "--calls lists --window 20ms --every 0.25",
                  t->node.name, t->epmd_port, path[i]);
    }
    for (int i = 0; i < n; i++)
        wait_for(path[i], TICKS_SQL, 1);
    for (int i = 0; i < n; i++) {
        sleep_ms((unsigned)rand_r(seed) % 250);
        seen[i] = number_in(path[i], TICKS_SQL);
        kill(r[i].pid, SIGKILL);
    }
    for (int i = 0; i < n; i++) {
        run_wait(&r[i], LIMIT_MS);
        if (r[i].exit_code != -SIGKILL)
            fail_msg("ended with %d before it was killed\n%.2000s", r[i].exit_code, r[i].err);
        run_clear(&r[i]);
        assert_true(seen[i] >= 1);
        expect_whole(path[i], seen[i]);
    }
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
    const char *given = getenv("BEAMTOP_RECORD_KILLS"), *check = getenv("BEAMTOP_CHECK");
    int kills = given ? atoi(given) : check && *check ? 50 : 8;
    unsigned seed = (unsigned)getpid();
    int looks = 0;
    char command[400];
    print_message("seed %u\n", seed);
    for (int done = 0; done < kills; done += AT_ONCE)
        kill_some(t, done, kills - done < AT_ONCE ? kills - done : AT_ONCE, &seed);
    snprintf(command, sizeof command, "armed %s --cookie " COOKIE " --timeout 60 --epmd-port %u",
             t->node.name, t->epmd_port);
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
    if (system("command -v script >/dev/null") != 0) {
        print_message("no script(1) here\n");
        skip();
    }
    start_in_terminal(t, path);
    json_t *status = status_of(t);
    assert_string_equal(text_at(status, "file"), path);
    assert_true(json_is_true(at(status, "detached")));
    int pid = (int)number_at(status, "pid");
    double ticks = number_at(status, "ticks");
    assert_true(ticks >= 1);
    json_decref(status);
    /* A recorder that is killed misses the tick in flight, and no other. */
    assert_true((double)number_in(path, TICKS_SQL) >= ticks);
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
    run_program(&r, t->env,
                "record %s --cookie " COOKIE " --timeout 60 --epmd-port %u -o %s --for 0.01s",
                t->node.name, t->epmd_port, path);
    assert_int_equal(r.exit_code, 0);
    run_clear(&r);
    expect_whole(path, 1);
    expect_number(path, "SELECT count(*) FROM meta WHERE key = 'end' AND value = 'time'", 1);
}

/* Its time begins when the node is reached: this one is not while all of it could have passed. */
static void test_late_start(void **state)
{
    struct target *t = *state;
    struct run r;
    char path[128];
    snprintf(path, sizeof path, "%s/late.btr", t->dir);
    node_freeze(&t->node);
    run_start(&r, t->env,
              "record %s --cookie " COOKIE
              " --timeout 60 --epmd-port %u -o %s -i 0.25 -b 100 --for 5s",
              t->node.name, t->epmd_port, path);
    sleep_ms(6000);
    node_thaw(&t->node);
    run_wait(&r, LIMIT_MS);
    assert_int_equal(r.exit_code, 0);
    run_clear(&r);
    expect_whole(path, 2);
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
                "record start %s --cookie " COOKIE
                " --timeout 60 --epmd-port %u -o %s -i 0.25 -b 100"
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
                "record %s --cookie " COOKIE " --timeout 60 --epmd-port %u -o %s --calls lists:",
                t->node.name, t->epmd_port, path);
    assert_int_equal(r.exit_code, 2);
    run_clear(&r);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* ---- a recording in the place of its node */

/* JSON of `top`, the largest first. */
static void expect_largest_first(const struct run *r)
{
    double before = INFINITY;
    size_t i;
    json_t *row, *top = run_json(r, 0);
    json_array_foreach (at(top, "rows"), i, row) {
        double bytes = json_number_value(json_object_get(row, "memory_bytes"));
        assert_true(bytes <= before);
        before = bytes;
    }
    assert_true(i > 10);
    assert_true(number_at(top, "scan.recorded") >= (double)i);
    assert_true(number_at(top, "recording.tick") == number_at(top, "recording.ticks"));
    json_decref(top);
}

static void test_replayed(void **state)
{
    static const struct {
        const char *command, *options, *words;
        int code;
        void (*check)(const struct run *r);
    } rows[] = {
        {"top", "--rows 3", "3 of ", 0, NULL},
        {"apps", "", "kernel", 0, NULL},
        {"info", "", "processes memory", 0, NULL},
        {"schedulers", "", "dirty_io", 0, NULL},
        {"memory", "", "binary_alloc", 0, NULL},
        {"top", "-R 1000 --sort memory_bytes -F json", "beamtop.top/2", 0, expect_largest_first},
        {"top", "--at #2 --rows 1", "1 of ", 0, NULL},
        {"top", "--filter rex", "1 of 1 matching", 0, NULL},
        {"top", "--filter (", "invalid regex", 2, NULL},
        {"top", "--at never", "no time, mark or", 2, NULL},
        {"top", "--sort links", "links: not recorded", 1, NULL},
        {"top", "--own", "own processes: not recorded", 1, NULL},
        {"armed", "", "active tracing: not recorded", 1, NULL},
        {"process", "init", "details of a process: not recorded", 1, NULL},
    };
    struct target *t = *state;
    struct run r;
    char path[128];
    snprintf(path, sizeof path, "%s/replayed.btr", t->dir);
    run_start(&r, t->env,
              "record %s --cookie " COOKIE " --timeout 60 --epmd-port %u -o %s -i 0.25 -b 100",
              t->node.name, t->epmd_port, path);
    wait_for(path, "SELECT count(*) FROM answer WHERE question = 'alloc'", 1);
    wait_for(path, TICKS_SQL, 4);
    /* What is shown of the end: a tick may have the header's answer only. */
    wait_for(path,
             "SELECT count(DISTINCT question) FROM answer"
             " WHERE tick = (SELECT max(id) FROM tick) AND question IN ('scan', 'apps')",
             2);
    kill(r.pid, SIGINT);
    run_wait(&r, LIMIT_MS);
    assert_int_equal(r.exit_code, 0);
    run_clear(&r);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        run_program(&r, t->env, "%s %s %s", rows[i].command, path, rows[i].options);
        if (rows[i].code > 0)
            run_expect_error(&r, rows[i].code, rows[i].words);
        else
            run_expect(&r, 0);
        if (rows[i].code == 0 && !strstr(r.out, rows[i].words))
            fail_msg("%s %s: %s", rows[i].command, rows[i].options, r.out);
        if (rows[i].check)
            rows[i].check(&r);
        run_clear(&r);
    }
}

/* ---- the node goes, the disk is full */

static void test_gap(void **state)
{
    struct target *t = *state;
    struct run r;
    char path[128];
    snprintf(path, sizeof path, "%s/gap.btr", t->dir);
    run_start(&r, t->env,
              "record %s --cookie " COOKIE " --timeout 60 --epmd-port %u -o %s -i 0.25 -b 100",
              t->node.name, t->epmd_port, path);
    wait_for(path, TICKS_SQL, 3);
    node_stop(&t->node);
    sleep_ms(500);
    start_node(t);
    int64_t before = number_in(path, TICKS_SQL);
    wait_for(path, TICKS_SQL, before + 3);
    wait_for(path, "SELECT count(*) FROM fact WHERE key = 'cpus'", 2);
    kill(r.pid, SIGINT);
    run_wait(&r, LIMIT_MS);
    assert_int_equal(r.exit_code, 0);
    run_clear(&r);
    expect_whole(path, before + 3);
    expect_number(path, "SELECT count(*) FROM gap WHERE why = 'connection lost'", 1);
    expect_number(
        path,
        "SELECT count(*) FROM tick, gap WHERE tick.id = from_tick + 1 AND interval_us IS NULL", 1);
    expect_number(path, "SELECT count(*) > 1 FROM fact WHERE key = 'cpus'", 1);
}

/* The recorder that the command runs ends with code 1, and its file is whole. */
static void expect_ends_itself(const char *command, const char *path)
{
    int rc = system(command);
    assert_true(WIFEXITED(rc));
    if (WEXITSTATUS(rc) != 1)
        fail_msg("exit code %d of %s", WEXITSTATUS(rc), command);
    expect_whole(path, 2);
}

/* No file of its may grow further: it ends by itself, with a word, and the file is whole. */
static void test_file_limit(void **state)
{
    struct target *t = *state;
    char path[128], command[1024];
    snprintf(path, sizeof path, "%s/limit.btr", t->dir);
    snprintf(command, sizeof command,
             "%s prlimit --fsize=500000 '%s' record %s --cookie " COOKIE
             " --epmd-port %u -i 0.25 -b 100 --for 240s -o %s </dev/null >%s/limited 2>&1",
             t->state, getenv("BEAMTOP"), t->node.name, t->epmd_port, path, t->dir);
    expect_ends_itself(command, path);
    snprintf(command, sizeof command,
             "grep -q 'ended after [0-9]* ticks' %s/limited || { cat %s/limited; false; }", t->dir,
             t->dir);
    assert_int_equal(system(command), 0);
}

/* A disk of its own, in a mount namespace that ends with the command; what is on it is copied. The
   recorder ends by itself, with a word, and the file is whole. */
static void test_disk_full(void **state)
{
    struct target *t = *state;
    char disk[96], path[128], command[2048];
    if (system("unshare -m mount -t tmpfs -o size=4k tmpfs /mnt >/dev/null 2>&1") != 0) {
        print_message("no mount namespace may be made here\n");
        skip();
    }
    snprintf(disk, sizeof disk, "%s/disk", t->dir);
    assert_int_equal(mkdir(disk, 0700), 0);
    snprintf(path, sizeof path, "%s/full.btr", t->dir);
    snprintf(command, sizeof command,
             "%s unshare -m sh -c 'mount -t tmpfs -o size=700k tmpfs %s && \"$@\"; code=$?; "
             "cp %s/* %s; exit $code' sh '%s' record %s --cookie " COOKIE
             " --epmd-port %u -i 0.25 -b 100 --for 240s -o %s/full.btr </dev/null >%s/said 2>&1",
             t->state, disk, disk, t->dir, getenv("BEAMTOP"), t->node.name, t->epmd_port, disk,
             t->dir);
    expect_ends_itself(command, path);
    snprintf(command, sizeof command,
             "grep -q 'full.btr-wal, which could not be moved into it: keep both' %s/said "
             "|| { cat %s/said; false; }",
             t->dir, t->dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start_that_fails),
        cmocka_unit_test(test_detached),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_late_start),
        cmocka_unit_test(test_log_is_bounded),
        cmocka_unit_test(test_replayed),
        cmocka_unit_test(test_gap),
        cmocka_unit_test(test_file_limit),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_killed),
    };
    if (node_has_nothing_to_test())
        return 0;
    return cmocka_run_group_tests_name("record", tests, begin, end);
}
