/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Golden screens of a recording: written by the recorder, read by replay, drawn by the views. Made
 * anew by BEAMTOP_GOLDEN=update, as those
 * of test_screen.c. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sqlite3.h>

#include "../test.h"
#include "app/source/replay.h"
#include "../unit/recording/made.h"
#include "../unit/recording/made_samples.h"
#include "../unit/recording/made_spans.h"
#include "../unit/recording/made_trace.h"
#include "beamtop/report/evaluate.h"
#include "beamtop/ui/config.h"
#include "beamtop/ui/screen.h"
#include "golden.h"

/* clang-format off */
#define GAP_AT 7    /* the node is not there after this tick */
#define MARK_AT 4   /* "deploy" */
#define SECOND_AT 9 /* "cache is cold" */
#define TRACE_AT 5  /* a trace begins, with its first events; the others come with the next tick */
#define TRACED_AT 8 /* it has ended by then */
/* clang-format on */

struct scene {
    const char *name, *view;
    int rows, columns;
    bool ascii;
    const char *when; /* goes there from the tick before this one; up to three, apart by spaces */
    double speed;
    bool paused;
    const char *sort, *filter; /* of the process list */
    enum action action;        /* of the view, with arg; ACTION_REDRAW: none */
    const char *arg;
};

#define PLAIN .action = ACTION_REDRAW, .arg = ""
#define ALL_SIZES(title, ...)                                                                      \
    {.name = title "-160x50", .rows = 50, .columns = 160, __VA_ARGS__},                            \
        {.name = title "-80x24", .rows = 24, .columns = 80, __VA_ARGS__},                          \
        {.name = title "-60x16", .rows = 16, .columns = 60, __VA_ARGS__},                          \
    {                                                                                              \
        .name = title "-80x24-ascii", .rows = 24, .columns = 80, .ascii = true, __VA_ARGS__        \
    }

/* clang-format off */
static const struct scene scenes[] = {
    ALL_SIZES("replay-top", .view = "top", .when = "#6", .speed = 5, PLAIN),
    {.name = "replay-paused", .view = "top", .rows = 24, .columns = 120, .when = "deploy",
     .speed = 1,
     .paused = true, PLAIN},
    {.name = "replay-gap", .view = "top", .rows = 24, .columns = 120, .when = "#8", .speed = 0.5,
     PLAIN},
    {.name = "replay-next-mark", .view = "top", .rows = 16, .columns = 120, .when = "#5 +mark",
     .speed = 2, .paused = true, PLAIN},
    {.name = "replay-end", .view = "top", .rows = 16, .columns = 120, .when = "+1h", .speed = 100,
     PLAIN},
    {.name = "replay-sort", .view = "top", .rows = 16, .columns = 120, .when = "#6", .speed = 1,
     .sort = "memory_bytes", PLAIN},
    {.name = "replay-filter", .view = "top", .rows = 16, .columns = 120, .when = "#6", .speed = 1,
     .filter = "app=kernel", PLAIN},
    {.name = "replay-owners", .view = "owners", .rows = 24, .columns = 120, .when = "#6",
     .speed = 1,
     .action = ACTION_BY, .arg = "module"},
    {.name = "replay-calls", .view = "calls", .rows = 24, .columns = 120, .when = "#6", .speed = 1,
     PLAIN},
    {.name = "replay-calls-modules", .view = "calls", .rows = 24, .columns = 80, .when = "#6",
     .speed = 1, .action = ACTION_BY, .arg = "module"},
    {.name = "replay-calls-not-yet", .view = "calls", .rows = 16, .columns = 80, .when = "#1",
     .speed = 1, PLAIN},
    {.name = "replay-trace", .view = "trace", .rows = 30, .columns = 120, .when = "#9", .speed = 1,
     PLAIN},
    {.name = "replay-trace-small", .view = "trace", .rows = 24, .columns = 80, .when = "#9",
     .speed = 1,
     .ascii = true, PLAIN},
    {.name = "replay-trace-runs", .view = "trace", .rows = 24, .columns = 100, .when = "#5 #6 #5",
     .speed = 1, PLAIN},
    {.name = "replay-trace-not-yet", .view = "trace", .rows = 16, .columns = 80, .when = "#4",
     .speed = 1, PLAIN},
    {.name = "replay-findings", .view = "findings", .rows = 30, .columns = 120, .when = "#13",
     .speed = 1, .action = ACTION_FOLD, .arg = ""},
    {.name = "replay-tree-not", .view = "tree", .rows = 16, .columns = 80, .when = "#6", .speed = 1,
     PLAIN},
    {.name = "replay-apps-not", .view = "apps", .rows = 16, .columns = 80, .when = "#6", .speed = 1,
     PLAIN},
};
/* clang-format on */

static void put_trace(struct recorder *r, struct made_trace *t, int tick, int64_t now_us)
{
    const struct trace_log *log = t->log;
    if (tick == TRACE_AT)
        recorder_trace_begin(r, log, PRINT_ERLANG, now_us - 500000);
    for (size_t i = 0; i < trace_log_len(log); i++) {
        const struct trace_event *e = trace_log_at(log, i);
        if (tick != (i == 0 ? TRACE_AT : TRACE_AT + 1))
            continue;
        recorder_trace_event(r, log, e, false);
        if (e->outcome == OUTCOME_RETURN || e->outcome == OUTCOME_EXCEPTION)
            recorder_trace_event(r, log, e, true);
    }
    if (tick != TRACED_AT)
        return;
    made_trace_end(t);
    recorder_trace_end(r, log, now_us);
}

/* The made gateway with a logger in its way, marks, and a time without the node. */
static void write_recording(const char *path)
{
    struct made w = made_healthy;
    struct error err = {0};
    struct recorder *r = NULL;
    struct model *m = model_new();
    struct made_trace trace;
    const struct recorder_options options = {
        .node = "mq1@host", .label = "gateway", .interval_s = 1, .values = true};
    made_trace_new(&trace);
    w.busy[2] = (struct made_process){"<0.43.0>",
                                      "'Elixir.Logger'",
                                      "gen_event,init_it,6",
                                      "logger",
                                      "gen_event,fetch_msg,6",
                                      0.30,
                                      40,
                                      3,
                                      3e6,
                                      1e5};
    w.facts[0].json = "{\"handlers\":[],\"elixir\":{\"version\":\"1.14.0\",\"level\":\"info\","
                      "\"sync_threshold\":20}}";
    assert_int_equal(recorder_open(&r, path, &options, &err), 0);
    for (int i = 1; i <= w.ticks; i++) {
        int64_t now_us = 1700000000000000LL + i * 1000000LL;
        if (i == MARK_AT || i == SECOND_AT)
            recorder_mark(r, now_us, now_us, i == MARK_AT ? "deploy" : "cache is cold");
        put_trace(r, &trace, i, now_us);
        made_tick(r, m, &w, i);
        if (i == GAP_AT)
            recorder_gap(r, now_us, "connection lost");
    }
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    made_trace_free(&trace);
    model_free(m);
}

static void go(struct replay *r, const char *when)
{
    char words[64], *rest = NULL;
    struct error err = {0};
    snprintf(words, sizeof words, "%s", when);
    for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        int64_t tick = 0;
        if (replay_find(r, w, &tick, &err) != 0 || replay_to(r, tick, &err) != 0)
            fail_msg("%s: %s", w, err.text);
    }
}

static void judge(struct replay *r, struct findings_shown *shown, struct model *m)
{
    struct error err = {0};
    *shown =
        (struct findings_shown){.ticks = replay_tick(r), .period_s = (double)replay_tick(r) - 1};
    assert_int_equal(findings_evaluate(&shown->found, replay_recording(r), 1, replay_tick(r), &err),
                     0);
    model_set_findings(m, shown);
}

static void put_clock(struct screen *s, const struct model *m)
{
    char text[16];
    struct tm tm;
    time_t at = (time_t)(model_recorded(m)->wall_us / 1000000);
    gmtime_r(&at, &tm);
    strftime(text, sizeof text, "%H:%M:%S", &tm);
    screen_set_clock(s, text);
}

static void show_rows(const struct scene *scene, struct screen *s, struct replay *r,
                      struct filter *filter)
{
    struct want want = {0};
    struct error err = {0};
    size_t offset = 0;
    filter_set_calls(filter, true);
    assert_int_equal(filter_set(filter, scene->filter ? scene->filter : "", &offset, &err), 0);
    screen_set_filter(s, scene->filter ? scene->filter : "", NULL, -1);
    screen_want(s, &want);
    replay_show(r, &want.scan, scene->filter ? filter : NULL);
}

static void play(const struct scene *scene, const char *path, struct buf *out)
{
    struct error err = {0};
    struct model *m = model_new();
    struct screen *s = screen_new(scene->view, &err);
    struct filter *filter = filter_new();
    struct replay *r = NULL;
    struct findings_shown found;
    struct tty_cursor cursor;
    struct canvas c;
    assert_non_null(s);
    canvas_init(&c, scene->rows, scene->columns, scene->ascii);
    assert_int_equal(replay_open(&r, path, m, &err), 0);
    replay_show_traces(r);
    screen_draw(s, m, &c, &cursor);
    if (scene->sort)
        assert_int_equal(screen_act(s, m, ACTION_SORT, scene->sort, &err), 1);
    show_rows(scene, s, r, filter);
    replay_set_speed(r, scene->speed);
    screen_set_paused(s, scene->paused);
    go(r, "#2");
    go(r, scene->when);
    judge(r, &found, m);
    put_clock(s, m);
    screen_update(s);
    screen_draw(s, m, &c, &cursor);
    if (scene->action != ACTION_REDRAW)
        assert_int_equal(screen_act(s, m, scene->action, scene->arg, &err), 1);
    screen_update(s);
    screen_draw(s, m, &c, &cursor);
    golden_dump(&c, out);
    replay_close(r);
    findings_clear(&found.found);
    filter_free(filter);
    canvas_clear(&c);
    screen_free(s);
    model_free(m);
}

TEST_WITH(test_golden_screens, NULL, NULL)
{
    const char *only = getenv("BEAMTOP_SCENE");
    for (size_t i = 0; i < ARRAY_LEN(scenes); i++) {
        struct buf out;
        if (only && strcmp(only, scenes[i].name) != 0)
            continue;
        buf_init(&out, 0);
        play(&scenes[i], *state, &out);
        golden_compare(scenes[i].name, &out);
        buf_clear(&out);
    }
}

/* Where one goes from a tick, in words. */
TEST_WITH(test_words, NULL, NULL)
{
    static const struct {
        const char *from, *when;
        int64_t tick; /* 0: there is none */
    } rows[] = {
        {"#6", "#1", 1},
        {"#6", "#13", 13},
        {"#6", "#14", 0},
        {"#6", "#x", 0},
        {"#6", "+#1", 7},
        {"#6", "-#1", 5},
        {"#6", "-#100", 1},
        {"#6", "+#100", 13},
        {"#6", "+#", 0},
        {"#6", "+", 0},
        {"#6", "+2s", 8},
        {"#6", "-2s", 4},
        {"#6", "+1h", 13},
        {"#6", "-1h", 1},
        {"#6", "deploy", MARK_AT},
        {"#6", "dep", MARK_AT},
        {"#6", "cache is cold", SECOND_AT},
        {"#6", "+mark", SECOND_AT},
        {"#6", "-mark", MARK_AT},
        {"#4", "+mark", SECOND_AT},
        {"#4", "-mark", 0},
        {"#9", "-mark", MARK_AT},
        {"#9", "+mark", 0},
        {"#6", "3s", 4},
        {"#6", "22:13:25", 5},
        {"#6", "2023-11-14 22:13:25", 5},
        {"#6", "nowhere", 0},
        {"#6", "21:00 ?", 0},
        {"#6", "", 0},
    };
    struct error err = {0};
    struct model *m = model_new();
    struct replay *r = NULL;
    assert_int_equal(replay_open(&r, *state, m, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t from = 0, tick = 0;
        error_clear(&err);
        assert_int_equal(replay_find(r, rows[i].from, &from, &err), 0);
        assert_int_equal(replay_to(r, from, &err), 0);
        int rc = replay_find(r, rows[i].when, &tick, &err);
        if (rows[i].tick == 0 ? rc == 0 : rc != 0 || tick != rows[i].tick)
            fail_msg("“%s” from %s: tick %lld, %s", rows[i].when, rows[i].from, (long long)tick,
                     rc != 0 ? err.text : "no error");
    }
    replay_close(r);
    model_free(m);
}

/* clang-format off */
#define RESTART_AT 6 /* the first tick of another VM of that name */
#define THINNED_TO 3
/* clang-format on */

static int64_t start_at(struct replay *r, struct model *m, const char *when)
{
    go(r, when);
    return model_node(m)->start_wall_us;
}

static void write_restart(const char *path)
{
    struct error err = {0};
    struct recorder *r = NULL;
    struct model *m = model_new();
    const struct recorder_options options = {.node = "mq1@host", .label = "", .interval_s = 1};
    assert_int_equal(recorder_open(&r, path, &options, &err), 0);
    for (int i = 1; i <= 10; i++) {
        if (i == RESTART_AT) {
            recorder_gap(r, 1700000000000000LL + i * 1000000LL, "connection lost");
            take(r, m, ANSWER_NODE,
                 "{node, 'mq1@host', <<\"25\">>, <<\"13.1.5\">>, <<\"jit\">>, 8, 2, 2, 2, 1, 2, "
                 "{262144, 65536, 1048576, 8192}, <<>>, <<\"4712\">>, "
                 "1700000005000000, 60, embedded, <<>>, 2}");
        }
        made_tick(r, m, &made_healthy, i);
    }
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    model_free(m);
}

/* What the node is goes with the tick, wherever one comes from. */
TEST_WITH(test_restart, NULL, NULL)
{
    char path[96];
    struct error err = {0};
    struct model *m = model_new();
    struct replay *r = NULL;
    snprintf(path, sizeof path, "%s.restart", (const char *)*state);
    write_restart(path);
    assert_int_equal(replay_open(&r, path, m, &err), 0);
    assert_int_equal(start_at(r, m, "#10"), 1700000005000000);
    assert_int_equal(start_at(r, m, "#4"), 1700000000000000);
    assert_int_equal(start_at(r, m, "#5 #6"), 1700000005000000);
    assert_int_equal(start_at(r, m, "#5"), 1700000000000000);
    replay_close(r);
    model_free(m);
    made_unlink(path);
}

/* What thinning has given up is said, and never shown as another tick's. */
TEST_WITH(test_given_up, NULL, NULL)
{
    char path[96], sql[80];
    int64_t tick = 0;
    struct error err = {0};
    struct model *m = model_new();
    struct replay *r = NULL;
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s.thin", (const char *)*state);
    write_restart(path);
    snprintf(sql, sizeof sql, "DELETE FROM answer WHERE tick <= %d AND question <> 'node'",
             THINNED_TO);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(replay_open(&r, path, m, &err), 0);
    assert_int_equal(replay_first(r), THINNED_TO + 1);
    go(r, "#8");
    static const char *const gone[] = {"#1", "#3", "0s", "2s"};
    for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
        error_clear(&err);
        if (replay_find(r, gone[i], &tick, &err) != ERR_NOT_FOUND ||
            !strstr(err.text, "from tick 4"))
            fail_msg("%s: tick %lld, %s", gone[i], (long long)tick, err.text);
    }
    assert_int_equal(replay_find(r, "-1h", &tick, &err), 0);
    assert_int_equal(tick, THINNED_TO + 1);
    go(r, "#4");
    assert_int_equal(model_recorded(m)->tick, 4);
    assert_int_equal(model_node(m)->start_wall_us, 1700000000000000);
    replay_close(r);
    model_free(m);
    made_unlink(path);
}

static void write_samples(const char *path)
{
    static const struct made_stack lists[2][1] = {{{"plm", 60}}, {{"pg", 30}}};
    struct made w = made_healthy;
    struct error err = {0};
    struct recorder *r = NULL;
    struct model *m = model_new();
    const struct recorder_options options = {.node = "mq1@host", .label = "", .interval_s = 1};
    w.n_runs = 0;
    assert_int_equal(recorder_open(&r, path, &options, &err), 0);
    for (int i = 1; i <= 6; i++) {
        if (i == 3 || i == 5) {
            struct stacks *s = made_stacks(lists[i == 5], 1);
            const struct samples_summary run = made_run(s);
            recorder_samples(r, &run);
            stacks_free(s);
        }
        made_tick(r, m, &w, i);
    }
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    model_free(m);
}

/* At a tick the last run until then is shown, as one that has ended. */
TEST_WITH(test_samples, NULL, NULL)
{
    static const struct {
        const char *when;
        int64_t samples; /* 0: none until then */
    } rows[] = {{"#2", 0}, {"#3", 60}, {"#4", 60}, {"#6", 30}, {"#5", 30}, {"#3", 60}, {"#1", 0}};
    char path[96];
    struct error err = {0};
    struct model *m = model_new();
    struct replay *r = NULL;
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s.samples", (const char *)*state);
    write_samples(path);
    assert_int_equal(replay_open(&r, path, m, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        go(r, rows[i].when);
        const struct samples_log *log = model_samples(m);
        assert_true((log != NULL) == (rows[i].samples > 0));
        if (!log)
            continue;
        assert_int_equal(log->phase, SAMPLING_ENDED);
        assert_int_equal(log->run.samples, rows[i].samples);
        assert_true(stacks_total(log->run.stacks) == (double)rows[i].samples);
        assert_true(slice_is(log->run.label, "mq1@host") && log->for_s == 10);
    }
    replay_close(r);
    assert_null(model_samples(m));
    made_unlink(path);
    /* A run without nodes has no share of what was left out. */
    write_samples(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM sample_node; UPDATE sample_run SET left_out = 5",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(replay_open(&r, path, m, &err), 0);
    go(r, "#3");
    assert_non_null(model_samples(m));
    assert_string_equal(model_samples(m)->note, "");
    replay_close(r);
    model_free(m);
    made_unlink(path);
}

/* What is no recording is bad input, as for a report. */
TEST_WITH(test_no_recording, NULL, NULL)
{
    char path[96];
    struct error err = {0};
    struct model *m = model_new();
    struct replay *r = NULL;
    snprintf(path, sizeof path, "%s.none", (const char *)*state);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("no recording\n", file);
    fclose(file);
    assert_int_equal(replay_open(&r, path, m, &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "is not a recording of beamtop"));
    model_free(m);
    made_unlink(path);
}

static int begin(void **state)
{
    static char path[80];
    char dir[64];
    if (!temporary_dir(dir, sizeof dir, "replay"))
        return -1;
    snprintf(path, sizeof path, "%s/a.btr", dir);
    write_recording(path);
    *state = path;
    return 0;
}

static int end(void **state)
{
    char *path = *state;
    made_unlink(path);
    *strrchr(path, '/') = '\0';
    return rmdir(path);
}

static void write_spans(const char *path)
{
    struct made w = made_healthy;
    struct error err = {0};
    struct recorder *r = NULL;
    struct model *m = model_new();
    const struct recorder_options options = {.node = "mq1@host", .label = "", .interval_s = 1};
    w.requests.n = 0;
    assert_int_equal(recorder_open(&r, path, &options, &err), 0);
    for (int i = 1; i <= 6; i++) {
        if (i == 3 || i == 5) {
            struct spans_run *run = made_spans("otp27.txt", i == 3 ? "full chain" : "light task");
            recorder_spans(r, run);
            spans_run_free(run);
        }
        made_tick(r, m, &w, i);
    }
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    model_free(m);
}

/* At a tick the last capture until then is shown, as one that has ended. */
TEST_WITH(test_spans, NULL, NULL)
{
    static const struct {
        const char *when;
        uint64_t version; /* 0: none until then */
        size_t spans;
    } rows[] = {{"#2", 0, 0}, {"#3", 1, 3}, {"#4", 1, 3}, {"#6", 2, 4},
                {"#5", 2, 4}, {"#3", 1, 3}, {"#1", 0, 0}};
    char path[96];
    struct error err = {0};
    struct model *m = model_new();
    struct replay *r = NULL;
    snprintf(path, sizeof path, "%s.spans", (const char *)*state);
    write_spans(path);
    assert_int_equal(replay_open(&r, path, m, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        go(r, rows[i].when);
        const struct spans_run *run = model_spans(m);
        assert_true((run != NULL) == (rows[i].version > 0));
        if (!run)
            continue;
        assert_int_equal(run->version, rows[i].version);
        assert_int_equal(run->status.phase, SESSION_ENDED);
        assert_int_equal(spans_count(run->spans), rows[i].spans);
        assert_string_equal(run->patterns, "wl:root(_)");
    }
    replay_close(r);
    assert_null(model_spans(m));
    model_free(m);
    made_unlink(path);
}

TESTS_WITH(begin, end);
