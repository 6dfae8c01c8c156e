/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The same numbers three times: what a live node's batch output prints at each tick, what the
 * recording of these ticks prints in the place of the node, and what its report says. One
 * connection gives its answers to both, so the first two are equal to the last digit; what only
 * one of them can know (the cost on the node, the place in the recording) is left out. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "app/live/live.h"
#include "../temporary.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/model/column.h"
#include "beamtop/recording/recording.h"
#include "beamtop/output/sink.h"
#include "node.h"
#include "run.h"

/* clang-format off */
#define COOKIE "same-cookie"
#define NODE "same@127.0.0.1"
#define TICKS 8
#define INTERVAL_S 0.25
#define ROWS 200 /* all processes of a quiet node, also those that did nothing in a tick */
#define LIMIT_MS 120000
/* clang-format on */
#define COLUMNS                                                                                    \
    "pid,name,label,initial_call,application,reductions_per_s,reductions_share,memory_bytes,"      \
    "message_queue_len,message_queue_len_per_s,current_function"

/* Known: four that work more than we do, one whose mailbox grows. */
#define LOAD                                                                                       \
    "W = fun F() -> lists:seq(1, 40000), timer:sleep(20), F() end,"                                \
    "[register(N, spawn(W)) || N <- [same_1, same_2, same_3, same_4]],"                            \
    "Q = spawn(fun() -> timer:sleep(infinity) end), register(same_queue, Q),"                      \
    "spawn(fun G() -> Q ! more, timer:sleep(10), G() end), ok."

static const struct {
    enum sink_format format;
    const char *command, *options;
} prints[] = {
    {SINK_JSON, "top", "-n 0 -R 1000 -F json -c " COLUMNS},
    {SINK_CSV, "top", "-n 0 -R 1000 -F csv -c " COLUMNS},
    {SINK_JSON, "apps", "-n 0 -F json"},
    {SINK_CSV, "apps", "-n 0 -F csv"},
    {SINK_JSON, "schedulers", "-n 0 -F json"},
    {SINK_CSV, "schedulers", "-n 0 -F csv"},
    {SINK_JSON, "memory", "-n 0 -F json"},
    {SINK_JSON, "info", "-F json"}, /* the last tick */
};
enum { PRINT_TOP = 0, PRINT_INFO = 7 };
#define PRINTS (sizeof prints / sizeof prints[0])

struct same {
    struct node node;
    pid_t epmd;
    char dir[64], file[96];
    uv_loop_t loop;
    uv_timer_t limit;
    struct model *model;
    struct live *live;
    struct recorder *recorder;
    struct buf
        printed[PRINTS]; /* lines: of info all ticks, of others all but the first without rates */
    struct sink *sinks[PRINTS];
    int ticks;
    bool over;
    struct error err;
};

static int put(void *ctx, const char *bytes, size_t len)
{
    buf_put(ctx, bytes, len);
    return 0;
}

/* ---- the live side */

static void on_answer(void *arg, enum question question, const uint8_t *term, size_t len,
                      const struct want_scan *asked)
{
    struct same *t = arg;
    recorder_answer(t->recorder, question_name(question), term, len, asked);
}

static void on_tick(void *arg)
{
    struct same *t = arg;
    if (t->over)
        return;
    int rc = recorder_tick(t->recorder, t->model, clock_wall_us(), &t->err);
    t->ticks++;
    for (size_t i = 0; rc == 0 && i < PRINTS; i++)
        if (t->ticks > 1 || i == PRINT_INFO)
            rc = sink_put(t->sinks[i], sink_kind_find(prints[i].command), t->model, &t->err);
    t->over = rc != 0 || t->ticks == TICKS;
    if (t->over)
        uv_stop(&t->loop);
}

static void on_trouble(void *arg, enum question question, const struct error *err)
{
    struct same *t = arg;
    (void)question;
    t->err = *err;
    t->over = true;
    uv_stop(&t->loop);
}

static void on_notice(void *arg, const char *text)
{
    (void)arg;
    print_message("%s\n", text);
}

static void on_end(void *arg, enum conn_failure why, const struct error *err)
{
    (void)why;
    on_trouble(arg, QUESTION_SYSTEM, err);
}

static void on_limit(uv_timer_t *timer)
{
    struct same *t = timer->data;
    error_set(&t->err, ERR_TIMEOUT, "%d ticks take longer than %d ms", TICKS, LIMIT_MS);
    uv_stop(&t->loop);
}

static void open_sinks(struct same *t)
{
    const struct field *columns[COLUMNS_MAX];
    struct error err = {0};
    int n = 0;
    assert_int_equal(proc_columns_parse(COLUMNS, columns, &n, &err), 0);
    for (size_t i = 0; i < PRINTS; i++) {
        const struct sink_options options = {
            .format = prints[i].format, .columns = columns, .n_columns = n};
        buf_init(&t->printed[i], 0);
        const struct sink_writer writer = {.write = put, .ctx = &t->printed[i]};
        t->sinks[i] = sink_open(&writer, &options);
    }
}

static struct want want_all(void)
{
    const struct field *columns[COLUMNS_MAX];
    struct error err = {0};
    int n = 0;
    assert_int_equal(proc_columns_parse(COLUMNS, columns, &n, &err), 0);
    const struct field *sort = proc_column_find("reductions_per_s");
    struct want want = {.needs = NEED(SYSTEM) | NEED(SCAN) | NEED(APPS) | NEED(ALLOC)};
    want.scan = (struct want_scan){.sort_key = sort->key,
                                   .by_delta = true,
                                   .rows = ROWS,
                                   .items = proc_columns_items(columns, n, sort)};
    return want;
}

static void record(struct same *t, uint16_t epmd_port)
{
    static const struct live_handlers handlers = {.on_answer = on_answer,
                                                  .on_tick = on_tick,
                                                  .on_trouble = on_trouble,
                                                  .on_notice = on_notice,
                                                  .on_end = on_end};
    const struct live_options options = {
        .conn = {.target = NODE, .epmd_port = epmd_port, .cookie = COOKIE, .timeout_ms = 60000},
        .interval_s = INTERVAL_S,
        .budget = 1,
        .together = true};
    const struct recorder_options recording = {.node = NODE, .interval_s = INTERVAL_S};
    const struct want want = want_all();
    assert_int_equal(recorder_open(&t->recorder, t->file, &recording, &t->err), 0);
    assert_int_equal(live_open(&t->live, &t->loop, &options, t->model, &handlers, t, &t->err), 0);
    live_set_want(t->live, &want);
    uv_timer_start(&t->limit, on_limit, LIMIT_MS, 0);
    uv_run(&t->loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&t->limit, NULL);
    live_close(t->live, NULL, NULL);
    uv_run(&t->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&t->loop), 0);
    assert_int_equal(recorder_close(t->recorder, "time", &t->err), 0);
    if (t->err.code != ERR_NONE)
        fail_msg("%s", t->err.text);
    assert_int_equal(t->ticks, TICKS);
}

static void begin(struct same *t, const char *release)
{
    uint16_t epmd_port = 0;
    char out[64], root[512];
    *t = (struct same){0};
    if (!node_find_root(release, root, sizeof root))
        skip();
    assert_true(temporary_dir(t->dir, sizeof t->dir, "same"));
    snprintf(t->file, sizeof t->file, "%s/a.btr", t->dir);
    t->epmd = node_epmd_start(&epmd_port);
    const struct node_options options = {
        .root = root, .name = NODE, .long_name = true, .cookie = COOKIE, .epmd_port = epmd_port};
    assert_true(t->epmd > 0);
    assert_int_equal(node_start(&t->node, &options), 0);
    assert_int_equal(node_eval(&t->node, LOAD, out, sizeof out), 0);
    uv_loop_init(&t->loop);
    uv_timer_init(&t->loop, &t->limit);
    t->limit.data = t;
    t->model = model_new();
    open_sinks(t);
    record(t, epmd_port);
    node_stop(&t->node);
}

static void end(struct same *t)
{
    char command[128];
    node_stop(&t->node);
    node_kill(t->epmd);
    for (size_t i = 0; i < PRINTS; i++) {
        sink_close(t->sinks[i]);
        buf_clear(&t->printed[i]);
    }
    model_free(t->model);
    snprintf(command, sizeof command, "rm -rf '%s'", t->dir);
    if (system(command) != 0)
        print_message("%s is left\n", t->dir);
}

/* ---- live against replayed */

/* What one of them cannot know. */
static void leave_out(json_t *o)
{
    json_t *scan = json_object_get(o, "scan");
    json_object_del(o, "cost");
    json_object_del(o, "recording");
    if (scan)
        json_object_del(scan, "recorded");
}

static json_t *line_of(const struct buf *b, size_t *at)
{
    struct json_error_t why;
    const char *from = (const char *)b->data + *at;
    const char *to = memchr(from, '\n', b->len - *at);
    json_t *o = json_loadb(from, (size_t)(to - from), 0, &why);
    assert_non_null(o);
    *at += (size_t)(to - from) + 1;
    return o;
}

static void expect_same_json(const struct buf *live, const struct run *replayed,
                             const char *command)
{
    size_t at_live = 0, lines = run_lines(replayed);
    bool all = strstr(command, "-n 0") != NULL;
    int printed = all ? TICKS - 1 : TICKS;
    assert_int_equal(lines, all ? TICKS - 1 : 1);
    for (int i = 0; i < printed; i++) {
        json_t *a = line_of(live, &at_live);
        if (all || i == printed - 1) {
            json_t *b = run_json(replayed, all ? i : 0);
            leave_out(a);
            leave_out(b);
            if (!json_equal(a, b)) {
                char *x = json_dumps(a, JSON_SORT_KEYS), *y = json_dumps(b, JSON_SORT_KEYS);
                fail_msg("%s, line %d:\nlive     %s\nreplayed %s", command, i, x, y);
            }
            json_decref(b);
        }
        json_decref(a);
    }
}

static void replayed_is_live(const struct same *t)
{
    for (size_t i = 0; i < PRINTS; i++) {
        const struct buf *live = &t->printed[i];
        struct run r = {0};
        char command[600];
        snprintf(command, sizeof command, "%s %s %s", prints[i].command, t->file,
                 prints[i].options);
        run_program(&r, NULL, "%s", command);
        run_expect(&r, 0);
        if (prints[i].format == SINK_JSON) {
            expect_same_json(live, &r, command);
        } else if (r.out_len != live->len || memcmp(r.out, live->data, live->len) != 0) {
            fail_msg("%s:\nlive\n%.*s\nreplayed\n%s", command, (int)live->len,
                     (const char *)live->data, r.out);
        }
        run_clear(&r);
    }
}

/* ---- live against the report */

struct sums {
    double sum, weight, first, last, least, most;
    int n;
};

/* A tick counts as long as its interval. */
static void add(struct sums *s, json_t *value, double interval_us)
{
    if (!json_is_number(value))
        return;
    double v = json_number_value(value);
    double weight = interval_us > 0 ? interval_us : INTERVAL_S * 1e6;
    s->first = s->n == 0 ? v : s->first;
    s->least = s->n == 0 ? v : fmin(s->least, v);
    s->most = s->n == 0 ? v : fmax(s->most, v);
    s->last = v;
    s->sum += weight * v;
    s->weight += weight;
    s->n++;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * (1 + fabs(a));
}

static void expect_number(json_t *of, const char *key, double expected, const char *of_what)
{
    double v = json_number_value(json_object_get(of, key));
    if (!near(v, expected))
        fail_msg("%s.%s: the report says %.9g, the live ticks %.9g", of_what, key, v, expected);
}

/* Intervals are printed in whole microseconds. */
static void expect_mean(json_t *of, const struct sums *s, const char *of_what)
{
    double v = json_number_value(json_object_get(of, "mean")), expected = s->sum / s->weight;
    if (fabs(v - expected) > 2e-6 / INTERVAL_S * (s->most - s->least) + 1e-6 * (1 + fabs(v)))
        fail_msg("%s.mean: the report says %.9g, the live ticks %.9g", of_what, v, expected);
}

static double interval_us(json_t *line)
{
    return json_number_value(json_object_get(line, "interval_us"));
}

/* Of each key of `system` that the report has; what is of an interval, of ticks that are no
 * shorter. */
static void expect_system(const struct same *t, json_t *report)
{
    const char *key;
    json_t *stats;
    int compared = 0;
    json_object_foreach (at(report, "system"), key, stats) {
        struct sums sums = {0};
        size_t line = 0;
        bool over_interval = strstr(key, "_per_s") || strstr(key, "_use");
        for (int i = 0; i < TICKS; i++) {
            json_t *o = line_of(&t->printed[PRINT_INFO], &line);
            if (!over_interval || interval_us(o) >= INTERVAL_S * 1e6 / 2)
                add(&sums, json_object_get(at(o, "system"), key), interval_us(o));
            json_decref(o);
        }
        if (sums.n == 0)
            continue;
        expect_mean(stats, &sums, key);
        expect_number(stats, "min", sums.least, key);
        expect_number(stats, "max", sums.most, key);
        expect_number(stats, "first", sums.first, key);
        expect_number(stats, "last", sums.last, key);
        expect_number(stats, "ticks", sums.n, key);
        compared++;
    }
    assert_true(compared >= 8);
}

static double share_of(json_t *rows, const char *name)
{
    double sum = 0;
    size_t i;
    json_t *row;
    json_array_foreach (rows, i, row) {
        const char *of = json_string_value(json_object_get(row, "name"));
        if (of && strcmp(of, name) == 0)
            sum += json_number_value(json_object_get(row, "reductions_share"));
    }
    return sum;
}

/* What shares of owners are of: no part of it are we, and the VM's own work for those that run
 * dirty. */
static double whole_of(json_t *system, json_t *rows)
{
    double aside =
               number_at(system, "own_reductions_per_s") / number_at(system, "reductions_per_s"),
           sum = 0;
    size_t i;
    json_t *row;
    json_array_foreach (rows, i, row) {
        const char *call = json_string_value(json_object_get(row, "initial_call"));
        bool dirty = call && strstr(call, "erts_dirty_process_signal_handler");
        *(dirty ? &aside : &sum) += json_number_value(json_object_get(row, "reductions_share"));
    }
    return fmax(fmax(1 - aside, 0.1), sum);
}

/* clang-format off */
#define ROUNDED 1e-4 /* the sum of shares that are printed with six digits each */
#define TOLD_SHARE 0.002 /* of the work of a tick: less is part of the rest there */
/* clang-format on */

/* Means over time. */
static void expect_owners(const struct same *t, json_t *report)
{
    json_t *owner;
    size_t i;
    int compared = 0;
    json_array_foreach (at(report, "owners.name"), i, owner) {
        const char *name = json_string_value(json_object_get(owner, "owner"));
        double sum = 0, us = 0;
        size_t line = 0, tick = 0;
        json_decref(line_of(&t->printed[PRINT_INFO], &tick)); /* the first has no shares */
        for (int n = 0; name && n < TICKS - 1; n++) {
            json_t *o = line_of(&t->printed[PRINT_TOP], &line);
            json_t *whole = line_of(&t->printed[PRINT_INFO], &tick);
            double share = share_of(at(o, "rows"), name),
                   of = whole_of(at(whole, "system"), at(o, "rows"));
            sum += (share < TOLD_SHARE * of ? 0 : fmin(share / of, 1)) * interval_us(whole);
            us += interval_us(whole);
            json_decref(whole);
            json_decref(o);
        }
        if (!name || strncmp(name, "same_", 5) != 0)
            continue; /* who worked little is not ranked at each tick, and counts as the rest then
                       */
        double told = number_at(owner, "share");
        if (fabs(told - sum / us) > ROUNDED)
            fail_msg("%s: the report says a share of %.9g, the live ticks %.9g", name, told,
                     sum / us);
        compared++;
    }
    assert_int_equal(compared, 4);
}

static void report_is_live(const struct same *t)
{
    struct run r = {0};
    run_program(&r, NULL, "report %s -F json", t->file);
    run_expect(&r, 0);
    json_t *report = run_json(&r, 0);
    assert_true(near(number_at(report, "ticks"), TICKS));
    expect_system(t, report);
    expect_owners(t, report);
    json_decref(report);
    run_clear(&r);
}

static void test_release(void **state)
{
    struct same t;
    begin(&t, *state);
    replayed_is_live(&t);
    report_is_live(&t);
    end(&t);
}

int main(void)
{
    return node_run_on_releases("same", test_release);
}
