/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces in a recording: what is kept of values, and that they come out as they were live. */
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../test.h"
#include "made.h"
#include "made_trace.h"
#include "made_version.h"
#include "beamtop/output/calls_sink.h"
#include "beamtop/recording/export.h"
#include "beamtop/report/summary.h"
#include "beamtop/output/trace_sink.h"
#include "output/shape.h"

struct place {
    char dir[64], path[80];
};

static void place_make(struct place *p)
{
    assert_true(temporary_dir(p->dir, sizeof p->dir, "traces"));
    snprintf(p->path, sizeof p->path, "%s/a.btr", p->dir);
}

static void place_clear(const struct place *p)
{
    made_unlink(p->path);
    assert_int_equal(rmdir(p->dir), 0);
}

static struct recorder *begin(const char *path, bool redact, bool values)
{
    const struct recorder_options options = {
        .node = "mq1@host", .label = "traces", .interval_s = 1, .redact = redact, .values = values};
    struct error err = {0};
    struct recorder *r = NULL;
    if (recorder_open(&r, path, &options, &err) != 0)
        fail_msg("%s", err.text);
    return r;
}

static bool is_back(const struct trace_event *e)
{
    return e->outcome == OUTCOME_RETURN || e->outcome == OUTCOME_EXCEPTION;
}

static void put_events(struct recorder *r, const struct trace_log *log)
{
    recorder_trace_begin(r, log, PRINT_ERLANG, MADE_TRACE_WALL_US);
    for (size_t i = 0; i < trace_log_len(log); i++) {
        recorder_trace_event(r, log, trace_log_at(log, i), false);
        if (is_back(trace_log_at(log, i)))
            recorder_trace_event(r, log, trace_log_at(log, i), true);
    }
}

/* Two ticks with a trace between them. The trace's log is gone before it is written. */
static void write_recording(const char *path, bool redact, bool values, bool ended)
{
    struct error err = {0};
    struct recorder *r = begin(path, redact, values);
    struct model *m = model_new();
    struct made_trace t;
    made_tick(r, m, &made_healthy, 1);
    made_trace_new(&t);
    put_events(r, t.log);
    if (ended) {
        made_trace_end(&t);
        recorder_trace_end(r, t.log, MADE_TRACE_WALL_US + 15000000);
    }
    made_trace_free(&t);
    made_tick(r, m, &made_healthy, 2);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    model_free(m);
}

static struct recording *reopen(const char *path)
{
    struct error err = {0};
    struct recording *r = NULL;
    if (recording_open(&r, path, &err) != 0)
        fail_msg("%s", err.text);
    return r;
}

static int append(void *ctx, const char *bytes, size_t len)
{
    buf_put(ctx, bytes, len);
    return 0;
}

static struct trace_sink sink_on(struct buf *out, enum sink_format format)
{
    const struct sink_writer writer = {append, out};
    const struct trace_sink_options options = {.format = format, .node = "mq1@host", .ascii = true};
    buf_init(out, 0);
    return (struct trace_sink){.output.writer = writer, .options = options};
}

/* What a recording's first trace prints. */
static void replayed(struct buf *out, struct recording *r, enum sink_format format)
{
    struct error err = {0};
    struct trace_sink on = sink_on(out, format), *s = &on;
    if (recording_trace_put(r, 1, s, &err) != 0)
        fail_msg("%s", err.text);
}

static void live(struct buf *out, enum sink_format format)
{
    struct error err = {0};
    struct made_trace t;
    struct trace_sink on = sink_on(out, format), *s = &on;
    made_trace_new(&t);
    made_trace_end(&t);
    assert_int_equal(trace_sink_log(s, t.log, &err), 0);
    made_trace_free(&t);
}

/* ---- tests */

TEST(test_same_as_live)
{
    struct place p;
    place_make(&p);
    write_recording(p.path, false, true, true);
    struct recording *r = reopen(p.path);
    for (enum sink_format f = SINK_TEXT; f <= SINK_JSON; f++) {
        struct buf was, is;
        live(&was, f);
        replayed(&is, r, f);
        assert_string_equal(buf_cstr(&is), buf_cstr(&was));
        buf_clear(&was);
        buf_clear(&is);
    }
    const struct recorded_trace *traces;
    assert_int_equal(recording_traces(r, &traces), 1);
    assert_int_equal(traces[0].id, 1);
    assert_int_equal(traces[0].tick, 2);
    assert_int_equal(traces[0].wall_us, MADE_TRACE_WALL_US);
    assert_int_equal(traces[0].ended_us, MADE_TRACE_WALL_US + 15000000);
    assert_int_equal(traces[0].events, 7);
    assert_int_equal(traces[0].kept, 7);
    assert_int_equal(traces[0].clean, 1);
    assert_memory_equal(traces[0].reason.s, "events", traces[0].reason.len);
    assert_true(recording_info(r)->has_traces && recording_info(r)->values);
    recording_close(r);
    place_clear(&p);
}

/* In format 3 what the terms print as stood beside them. */
TEST(test_a_trace_of_format_3)
{
    struct place p;
    place_make(&p);
    made_version(p.path, 3);
    struct recording *r = reopen(p.path);
    for (enum sink_format f = SINK_TEXT; f <= SINK_JSON; f++) {
        struct buf was, is;
        live(&was, f);
        replayed(&is, r, f);
        assert_string_equal(buf_cstr(&is), buf_cstr(&was));
        buf_clear(&was);
        buf_clear(&is);
    }
    recording_close(r);
    place_clear(&p);
}

static size_t lines_of(const struct buf *text)
{
    size_t n = 0;
    for (size_t i = 0; i < text->len; i++)
        n += text->data[i] == '\n';
    return n;
}

/* A term that does not fit its row is left out, and the rest is printed. */
TEST(test_damaged_terms)
{
    static const struct {
        const char *sql;
        size_t lines; /* events and the end */
        int rc;
    } rows[] = {
        {"UPDATE event SET number = NULL, pid = 7, mfa = NULL, latency_us = 9e300", 8, 0},
        {"UPDATE event SET term = NULL WHERE kind = 'call'", 6, 0},
        {"UPDATE event SET term = x'680464'", 1, 0},
        {"UPDATE event SET kind = 'receive'", 2, 0},
        {"UPDATE event SET kind = 'of_tomorrow'", 1, 0},
        {"UPDATE event SET term = (SELECT term FROM event WHERE kind = 'lost')", 2, 0},
        {"UPDATE trace SET syntax = NULL, patterns = ''", 8, 0},
        {"UPDATE meta SET value = 0 WHERE key = 'values'", 8, 0},
        {"ALTER TABLE event DROP COLUMN term", 0, ERR_SYSTEM},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct place p;
        struct buf out;
        struct error err = {0};
        place_make(&p);
        write_recording(p.path, false, true, true);
        made_sql(p.path, rows[i].sql);
        struct recording *r = reopen(p.path);
        struct trace_sink on = sink_on(&out, SINK_JSON), *s = &on;
        int rc = recording_trace_put(r, 1, s, &err);
        if (rc != rows[i].rc || lines_of(&out) != rows[i].lines)
            fail_msg("%s: %d %s, %zu lines", rows[i].sql, rc, err.text, lines_of(&out));
        buf_clear(&out);
        recording_close(r);
        place_clear(&p);
    }
}

static int count_row(void *arg, int n, char **values, char **names)
{
    (void)n;
    (void)values;
    (void)names;
    ++*(int *)arg;
    return 0;
}

/* Each view can be read by any program with SQLite. */
TEST(test_views)
{
    static const struct {
        const char *sql;
        int rows;
    } rows[] = {
        {"SELECT * FROM processes WHERE time = '2023-11-14 22:13:21.000' AND name NOT NULL", -1},
        {"SELECT * FROM owners", -1},
        {"SELECT * FROM calls", -1},
        {"SELECT * FROM samples", -1},
        {"SELECT * FROM span_events", -1},
        {"SELECT * FROM marks", -1},
        {"SELECT * FROM events", 7},
        {"SELECT * FROM events WHERE kind = 'return' AND mfa = 'shop_cart:login/2' AND name = "
         "'cart' AND latency_us > 0 AND pattern LIKE 'shop_cart:login/2 -> %'",
         1},
    };
    struct place p;
    place_make(&p);
    write_recording(p.path, false, false, true);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        sqlite3 *db = NULL;
        int n = 0;
        assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
        if (sqlite3_exec(db, rows[i].sql, count_row, &n, NULL) != SQLITE_OK)
            fail_msg("%s: %s", rows[i].sql, sqlite3_errmsg(db));
        if (rows[i].rows >= 0 && n != rows[i].rows)
            fail_msg("%s: %d rows", rows[i].sql, n);
        sqlite3_close(db);
    }
    place_clear(&p);
}

/* Every byte of the file, as it is on the disk. */
static bool has_bytes(const char *path, const char *bytes)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    static char all[1024 * 1024];
    size_t n = fread(all, 1, sizeof all, f), len = strlen(bytes);
    bool found = false;
    fclose(f);
    assert_true(n < sizeof all);
    for (size_t i = 0; i + len <= n && !found; i++)
        found = memcmp(all + i, bytes, len) == 0;
    return found;
}

TEST(test_values_are_kept_when_asked_for)
{
    static const struct {
        const char *name, *text, *json, *note;
        bool redact, values, has_secret;
    } rows[] = {
        {"nothing asked", "\n% shop_cart:login/2\n", "\"args\":null", "has no arguments", false,
         false, false},
        {"shapes", "shop_cart:login({atom, integer, list:1}, binary:11)\n", "\"binary:11\"]",
         "types and sizes", true, false, false},
        {"values", "shop_cart:login({'" MADE_SECRET "',7,[1|b]}, <<\"" MADE_SECRET "\">>)\n",
         "<<\\\"" MADE_SECRET "\\\">>", "as they were", false, true, true},
        {"shapes above values", "binary:11)\n", "\"binary:11\"]", "types and sizes", true, true,
         false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct place p;
        struct buf text, json;
        place_make(&p);
        write_recording(p.path, rows[i].redact, rows[i].values, true);
        if (has_bytes(p.path, MADE_SECRET) != rows[i].has_secret)
            fail_msg("%s: the secret is%s in the file", rows[i].name,
                     rows[i].has_secret ? " not" : "");
        assert_true(has_bytes(p.path, "shop_cart:login/2"));
        assert_true(has_bytes(p.path, rows[i].note));
        struct recording *r = reopen(p.path);
        replayed(&text, r, SINK_TEXT);
        replayed(&json, r, SINK_JSON);
        if (!strstr(buf_cstr(&text), rows[i].text) || !strstr(buf_cstr(&json), rows[i].json))
            fail_msg("%s: %s%s", rows[i].name, buf_cstr(&text), buf_cstr(&json));
        buf_clear(&text);
        buf_clear(&json);
        recording_close(r);
        place_clear(&p);
    }
}

TEST(test_values_that_are_not_there_are_said_to_be)
{
    struct place p;
    struct buf text;
    place_make(&p);
    write_recording(p.path, false, false, true);
    struct recording *r = reopen(p.path);
    replayed(&text, r, SINK_TEXT);
    assert_non_null(strstr(buf_cstr(&text), "shop_cart:login/2 -> (not recorded)\n"));
    assert_non_null(strstr(buf_cstr(&text), "shop_cart:login/2 !! error:(not recorded)\n"));
    assert_non_null(strstr(buf_cstr(&text), "shop_cart <<< (not recorded)\n"));
    buf_clear(&text);
    recording_close(r);
    place_clear(&p);
}

TEST(test_report_and_export)
{
    struct place p;
    struct buf text, json;
    struct error err = {0};
    char csv[8192] = "";
    place_make(&p);
    write_recording(p.path, false, false, true);
    struct recording *r = reopen(p.path);
    const struct summary_input source = {.recording = r, .name = "a", .from = 1, .to = 2};
    struct summary_options o = {.format = SUMMARY_TEXT, .columns = 120};
    buf_init(&text, 0);
    buf_init(&json, 0);
    assert_int_equal(summary_write(&text, &source, 1, &o, &err), 0);
    o.format = SUMMARY_JSON;
    assert_int_equal(summary_write(&json, &source, 1, &o, &err), 0);
    assert_non_null(strstr(buf_cstr(&text), "shop_cart:add/2 -> time"));
    assert_non_null(strstr(buf_cstr(&json),
                           "\"traces\":[{\"pattern\":\"shop_cart:login/2 -> return; stack; "
                           "caller\",\"traces\":1,"));
    FILE *f = fmemopen(csv, sizeof csv, "w");
    assert_int_equal(recording_export(r, EXPORT_CSV, "events", f, &err), 0);
    fclose(f);
    assert_non_null(strstr(csv,
                           ",1,call,1,shop_cart:login/2 -> return; stack; caller,<0.188.0>,cart,"
                           "shop_cart:login/2,shop:loop/1,,,,"));
    buf_clear(&text);
    buf_clear(&json);
    recording_close(r);
    place_clear(&p);
}

/* Killed in the middle, a trace has its events and no end. */
TEST(test_no_end)
{
    struct place p;
    struct buf text;
    const struct recorded_trace *traces;
    place_make(&p);
    write_recording(p.path, false, false, false);
    struct recording *r = reopen(p.path);
    assert_int_equal(recording_traces(r, &traces), 1);
    assert_int_equal(traces[0].ended_us, -1);
    assert_int_equal(traces[0].events, -1);
    assert_int_equal(traces[0].kept, 7);
    assert_int_equal(traces[0].clean, -1);
    replayed(&text, r, SINK_TEXT);
    assert_null(strstr(buf_cstr(&text), "% done"));
    assert_non_null(strstr(buf_cstr(&text), "lost: at most 12"));
    buf_clear(&text);
    recording_close(r);
    place_clear(&p);
}

TEST(test_a_file_from_before_traces)
{
    struct place p;
    const struct recorded_trace *traces;
    place_make(&p);
    write_recording(p.path, false, false, true);
    made_sql(p.path,
             "DROP TABLE trace; DROP TABLE trace_pattern; DROP TABLE event;"
             "CREATE TABLE event(id INTEGER PRIMARY KEY, tick INTEGER NOT NULL, wall_us INTEGER,"
             " line TEXT NOT NULL); INSERT INTO event VALUES(1, 1, 1, '{}');"
             "PRAGMA user_version = 1");
    struct recording *r = reopen(p.path);
    assert_int_equal(recording_info(r)->ticks, 2);
    assert_false(recording_info(r)->has_traces);
    assert_int_equal(recording_traces(r, &traces), 0);
    struct error err = {0};
    assert_int_equal(recording_export(r, EXPORT_CSV, "events", stdout, &err), ERR_FORMAT);
    assert_string_equal(err.text, "the file has no events: a recording of version 1 keeps none");
    err.code = ERR_NONE;
    recording_close(r);
    made_sql(p.path, "PRAGMA user_version = 5");
    assert_int_equal(recording_open(&r, p.path, &err), ERR_FORMAT);
    assert_non_null(strstr(err.text, "version 5, this program reads 1 to 4"));
    place_clear(&p);
}

/* Thinning takes old events; the trace keeps its end and what it counted. */
TEST(test_thinned)
{
    struct place p;
    struct error err = {0};
    const struct recorder_options options = {
        .node = "mq1@host", .interval_s = 1, .thin = true, .max_bytes = 250 * 1024};
    struct recorder *r = NULL;
    struct model *m = model_new();
    struct made_trace t;
    const struct recorded_trace *traces;
    place_make(&p);
    assert_int_equal(recorder_open(&r, p.path, &options, &err), 0);
    made_trace_new(&t);
    put_events(r, t.log);
    made_trace_end(&t);
    recorder_trace_end(r, t.log, MADE_TRACE_WALL_US);
    made_trace_free(&t);
    for (int i = 1; i <= 120; i++)
        made_tick(r, m, &made_healthy, i);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    model_free(m);
    struct recording *f = reopen(p.path);
    struct buf text;
    assert_int_equal(recording_traces(f, &traces), 1);
    assert_int_equal(traces[0].events, 7);
    assert_int_equal(traces[0].kept, 0);
    replayed(&text, f, SINK_TEXT);
    assert_non_null(strstr(buf_cstr(&text), "1,234 calls, 6 seen, 4 shown"));
    buf_clear(&text);
    recording_close(f);
    place_clear(&p);
}

static size_t windows_put(struct buf *out, struct recording *r, int64_t tick, int64_t most)
{
    struct error err = {0};
    const struct sink_writer writer = {append, out};
    const struct calls_sink_options options = {.format = CALLS_CSV, .node = "mq1@host"};
    struct calls_sink on = {.output.writer = writer, .options = options}, *s = &on;
    int64_t n = 0;
    buf_init(out, 0);
    if (recording_windows_put(r, tick, most, s, &n, &err) != 0)
        fail_msg("%s", err.text);
    return (size_t)n;
}

/* A window of counted calls a tick; those of ticks 2 and 3 are kept whole. */
TEST(test_windows)
{
    const struct calls_function f = {.module = {"shop", 4},
                                     .function = {"get", 3},
                                     .arity = 1,
                                     .calls = 7,
                                     .timed_calls = CALLS_UNKNOWN};
    static const struct {
        int64_t tick, most;
        size_t n;
        const char *has, *has_not;
    } rows[] = {
        {INT64_MAX, 0, 1, ",3,2000000,shop,get,1", ",2,2000000,"},
        {2, 0, 1, ",2,2000000,shop,get,1", ",3,2000000,"},
        {1, 0, 0, "", "shop"},
        {1, 1, 1, ",2,2000000,", ",3,2000000,"},
        {1, INT64_MAX, 2, ",3,2000000,", ",1,2000000,"},
        {3, INT64_MAX, 1, ",3,2000000,", ",2,2000000,"},
    };
    struct place p;
    struct error err = {0};
    place_make(&p);
    struct recorder *r = begin(p.path, false, false);
    struct model *m = model_new();
    for (int i = 1; i <= 3; i++) {
        struct calls_window w = {.number = (uint64_t)i,
                                 .wall_us = 1,
                                 .interval_us = 2000000,
                                 .asked_us = CALLS_UNKNOWN,
                                 .rows = &f,
                                 .n_rows = 1,
                                 .calls = 7};
        recorder_calls(r, &w, i > 1);
        made_tick(r, m, &made_healthy, i);
    }
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    model_free(m);
    struct recording *f2 = reopen(p.path);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out;
        size_t n = windows_put(&out, f2, rows[i].tick, rows[i].most);
        const char *text = buf_cstr(&out);
        if (n != rows[i].n || !strstr(text, rows[i].has) || strstr(text, rows[i].has_not))
            fail_msg("row %zu: %zu windows: %s", i, n, text);
        buf_clear(&out);
    }
    recording_close(f2);
    place_clear(&p);
}

/* Events fill the file to its cap: it ends whole, without the tick that did not fit. */
TEST(test_full)
{
    struct place p;
    struct error err = {0};
    const struct recorder_options options = {
        .node = "mq1@host", .interval_s = 1, .values = true, .max_bytes = 256 * 1024};
    struct recorder *r = NULL;
    struct model *m = model_new();
    struct made_trace t;
    int rc = recorder_open(&r, (place_make(&p), p.path), &options, &err);
    assert_int_equal(rc, 0);
    made_tick(r, m, &made_healthy, 1);
    made_trace_new(&t);
    for (int i = 2; rc == 0 && i < 100; i++) {
        for (int k = 0; k < 10; k++)
            put_events(r, t.log);
        rc = recorder_tick(r, m, i, &err);
    }
    made_trace_free(&t);
    model_free(m);
    assert_int_equal(rc, ERR_LIMIT);
    error_clear(&err);
    assert_int_equal(recorder_close(r, "full", &err), 0);
    r = NULL;
    struct recording *f = reopen(p.path);
    assert_int_equal(recording_check(f, &err), 0);
    const struct recorded_trace *traces;
    size_t n = recording_traces(f, &traces);
    assert_int_equal(n, 10 * (recording_info(f)->ticks - 1));
    for (size_t i = 0; i < n; i++)
        assert_int_equal(traces[i].kept, 7);
    recording_close(f);
    place_clear(&p);
}

TEST(test_shapes)
{
    static const struct {
        const char *term, *shape;
        bool cuts;
    } rows[] = {
        {"ok", "atom", false},
        {"-7", "integer", false},
        {"1.5", "float", false},
        {"<0.9.0>", "pid", false},
        {"<<\"abc\">>", "binary:3", false},
        {"[]", "list:0", false},
        {"\"abc\"", "list:3", false},
        {"[a, b, {c}]", "list:3", false},
        {"#{a => b}", "map:1", false},
        {"{}", "{}", false},
        {"{ok, {1, <<\"x\">>}}", "{atom, {integer, binary:1}}", false},
        {"{{{{{deep}}}}}", "{{{{tuple:1}}}}", false},
        {"{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18}",
         "{integer, integer, integer, integer, integer, integer, integer, integer, integer, "
         "integer, "
         "integer, integer, integer, integer, integer, integer, ... 2 more}",
         false},
        {"{'$cut', 5000, <<\"abc\">>}", "binary:3... (5000 bytes)", true},
        {"{'$cut', 5000, <<\"abc\">>}", "{atom, integer, binary:3}", false},
        {"{a, '...'}", "{atom, ...}", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out;
        struct made_trace t = {0};
        buf_init(&out, 0);
        shape_put(&out, made_term(&t, rows[i].term).bytes, rows[i].cuts);
        if (strcmp(buf_cstr(&out), rows[i].shape) != 0)
            fail_msg("%s: %s, not %s", rows[i].term, buf_cstr(&out), rows[i].shape);
        builder_free(t.builders[0]);
        buf_clear(&out);
    }
}
