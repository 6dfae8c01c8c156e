/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of one recording: the numbers they tell, hostile text in each format, exports. */
#include <sqlite3.h>

#include "../../test.h"
#include "beamtop/recording/export.h"
#include "../recording/opened.h"

/* ---- one */

TEST(test_text)
{
    struct opened o = {0};
    add(&o, &made_healthy);
    const char *text = report(&o, SUMMARY_TEXT, false);
    static const char *const lines[] = {"mq1@host, OTP 25",
                                        "12 s, 13 ticks",
                                        "Watching took 0.5%",
                                        "run queue",
                                        "gateway_registry",
                                        "60.0%",
                                        "Elixir.Gateway.Stage:call/2",
                                        "██",
                                        "[info] Gateway.Stage runs 1.38 pipeline stages",
                                        "87% reads"};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_says(text, lines[i]);
    assert_not(text, "[fix]");
    text = report(&o, SUMMARY_TEXT, true);
    for (const char *s = text; *s; s++)
        if ((unsigned char)*s >= 0x80)
            fail_msg("beyond ASCII: %.20s", s);
    for (const char *s = text; *s;) {
        size_t len = strcspn(s, "\n");
        if (len > 100)
            fail_msg("a line of %zu: %.*s", len, (int)len, s);
        s += len + (s[len] == '\n');
    }
    done(&o);
}

static void assert_order(const char *text, const char *const *heads, size_t n)
{
    const char *last = text;
    for (size_t i = 0; i < n; i++) {
        const char *at = strstr(text, heads[i]);
        if (!at || at < last)
            fail_msg("“%s” is not there, or too early, in:\n%s", heads[i], text);
        last = at;
    }
}

static struct made growing(void)
{
    struct made w = made_healthy;
    w.ticks = 60;
    w.ets_step = 1e6;
    w.total_step = 1e6;
    w.busy[0].queue = 0;
    w.busy[0].queue_step = 500;
    return w;
}

/* What you should do comes first. */
TEST(test_order)
{
    static const char *const one[] = {"\nFindings", "\nActions", "\nThe node", "\nWho did the work",
                                      "\nOver time"};
    static const char *const many[] = {"\nFindings", "\nWhat changed", "\nThe node"};
    struct opened o = {0};
    const struct made w = growing();
    add(&o, &w);
    assert_order(report(&o, SUMMARY_TEXT, false), one, ARRAY_LEN(one));
    add(&o, &w);
    assert_order(report(&o, SUMMARY_TEXT, false), many, ARRAY_LEN(many));
    done(&o);
}

/* A finding that is of something that moves shows its course. */
TEST(test_trends)
{
    struct opened o = {0};
    const struct made w = growing();
    add(&o, &w);
    const char *text = report(&o, SUMMARY_TEXT, false);
    const char *queue = strstr(text, "] Message queue of"), *table = strstr(text, "] ETS ");
    assert_true(queue && table);
    const char *chart = strstr(queue, "\n  message queue  "),
               *all = strstr(table, "\n  ETS memory ");
    assert_true(chart && chart < strstr(queue, "Action: "));
    assert_true(all && all < strstr(table, "Action: "));
    assert_true(strstr(chart, "▁") < strstr(chart, "█") &&
                strstr(chart, "█") < strstr(chart + 1, "\n"));
    assert_says(chart, "0 to 29,500");
    text = report(&o, SUMMARY_HTML, false);
    assert_true(strstr(text, "<figure class=\"beside\"><figcaption><b>message queue</b>") <
                strstr(text, "Actions"));
    done(&o);
    add(&o, &made_healthy);
    assert_not(report(&o, SUMMARY_HTML, false), "<figure class=\"beside\">");
    done(&o);
}

/* Of a count that a fact has, and not of the number of processes, which does not grow. */
TEST(test_trend_of_a_fact)
{
    struct opened o = {0};
    struct made w = made_healthy;
    w.ticks = 60;
    w.rising.key = "growth";
    w.rising.json = "{\"kept\":{\"timers\":#,\"timer_bytes\":#000}}";
    w.rising.from = 5000;
    w.rising.step = 100;
    add(&o, &w);
    const char *text = report(&o, SUMMARY_HTML, false);
    assert_says(text, "Timers are accumulating");
    assert_says(text, "<figure class=\"beside\"><figcaption><b>timers</b>");
    assert_not(text, "<figure class=\"beside\"><figcaption><b>processes</b>");
    done(&o);
}

/* What a rule was not evaluated for need not be that it was not recorded. */
TEST(test_not_evaluated)
{
    struct opened o = {0};
    struct made w = made_healthy;
    w.n_facts = 0;
    add(&o, &w);
    assert_says(report(&o, SUMMARY_TEXT, false), "\nNot evaluated\n");
    done(&o);
}

/* A column in which nothing is known, or nothing is to be said, is left out. */
TEST(test_empty_columns)
{
    struct opened o = {0};
    struct made w = growing();
    add(&o, &w);
    const char *text = report(&o, SUMMARY_MARKDOWN, false);
    assert_says(text, "|  | impact | effort | confidence | action | evidence |");
    done(&o);
    w.busy[0].queue_step = 0;
    add(&o, &w);
    text = report(&o, SUMMARY_MARKDOWN, false);
    assert_says(text, "|  | effort | confidence | action | evidence |");
    assert_says(text, "| function | calls | calls/s | share |\n");
    done(&o);
}

/* What our own questions call is told as that, where it is much. */
TEST(test_own_calls)
{
    struct opened o = {0};
    struct made w = made_healthy;
    for (int i = 0; i < 2; i++) {
        add(&o, &w);
        assert_not(report(&o, SUMMARY_TEXT, false), "of the calls are of erl_eval");
    }
    done(&o);
    w.calls[w.n_calls++] = (struct made_call){"orddict", "find", 2, 90000};
    for (int i = 0; i < 2; i++) {
        add(&o, &w);
        assert_not(report(&o, SUMMARY_TEXT, false), "of the calls are of erl_eval");
    }
    done(&o);
    w.calls[w.n_calls++] = (struct made_call){"erl_eval", "expr", 6, 90000};
    for (int i = 0; i < 2; i++) {
        add(&o, &w);
        assert_says(report(&o, SUMMARY_TEXT, false), "of the calls are of erl_eval");
    }
    done(&o);
}

/* Processes that do less than half of all: the logger's share is 20 % of it. */
static struct made half_of_the_work(void)
{
    struct made w = made_healthy;
    w.noise = 0;
    w.busy[0].share = w.busy[1].share = 0.1;
    w.busy[2].share = 0.2;
    return w;
}

/* Half of all reductions are ours: shares are of the other half. */
TEST(test_own_work)
{
    struct opened o = {0};
    struct made w = half_of_the_work();
    w.own_per_s = w.reductions_per_s / 2;
    add(&o, &w);
    const char *text = report(&o, SUMMARY_TEXT, false);
    assert_says(text, "logger_std_h_default  40.0%");
    assert_says(text, "By kin");
    assert_says(
        text,
        "The rest is who is in no row. What beamtop did on the node is left out of all shares.");
    done(&o);
}

/* Half of all reductions are the VM's, for processes that write a file: shares are of the other
 * half. */
TEST(test_dirty_signals)
{
    struct opened o = {0};
    struct made w = half_of_the_work();
    w.busy[w.n_busy++] = (struct made_process){"<0.2.0>",
                                               "undefined",
                                               "erts_dirty_process_signal_handler,start,0",
                                               "undefined",
                                               "erts_dirty_process_signal_handler,msg_loop,0",
                                               0.5,
                                               0,
                                               0,
                                               3000,
                                               0};
    add(&o, &w);
    const char *text = report(&o, SUMMARY_TEXT, false);
    assert_says(text, "Shares are of the work of programs: 50.0% of all reductions went to");
    assert_says(text, "logger_std_h_default  40.0%");
    assert_says(text, "The rest is who is in no row, and what beamtop's own questions took.");
    json_t *root = parse(&o), *row;
    size_t i, seen = 0;
    json_array_foreach (json_object_get(json_object_get(root, "owners"), "module"), i, row) {
        const char *kind = json_string_value(json_object_get(row, "kind"));
        if (!kind || strcmp(kind, "dirty_signals") != 0)
            continue;
        seen++;
        assert_true(json_is_null(json_object_get(row, "share")));
        assert_true(fabs(json_number_value(json_object_get(row, "reductions_per_s")) - 10e6) < 1);
    }
    assert_int_equal(seen, 1);
    json_decref(root);
    add(&o, &made_healthy);
    text = report(&o, SUMMARY_TEXT, false);
    assert_says(text, "Shares are of the work of programs: up to 50.0% of all");
    assert_not(text, "share of module erts_dirty");
    done(&o);
    add(&o, &made_healthy);
    assert_not(report(&o, SUMMARY_TEXT, false), "Shares are of the work of programs");
    done(&o);
}

/* What was not recorded, and so not judged, is said at the head. */
TEST(test_refused_calls)
{
    struct opened o = {0};
    struct made w = made_healthy;
    w.facts[w.n_facts].key = "calls_refused";
    w.facts[w.n_facts++].json = "{\"why\":\"another tool is tracing this node\"}";
    add(&o, &w);
    assert_says(report(&o, SUMMARY_TEXT, false), "Calls were not always counted: another tool");
    done(&o);
    w.n_calls = 0;
    add(&o, &w);
    const char *text = report(&o, SUMMARY_TEXT, false);
    assert_says(
        text,
        "Calls were not counted: another tool is tracing this node. Rules about calls are not");
    assert_says(text, "repository_lookup: counting calls was refused");
    json_t *root = parse(&o);
    assert_string_equal(json_string_value(json_object_get(root, "calls_refused")),
                        "another tool is tracing this node");
    json_decref(root);
    done(&o);
    add(&o, &made_healthy);
    assert_not(report(&o, SUMMARY_TEXT, false), "Calls were not");
    done(&o);
}

static double number_at(const json_t *o, const char *a, const char *b)
{
    return json_number_value(json_object_get(json_object_get(o, a), b));
}

/* The same numbers as the recording's own sums, which replay and live output are held against. */
TEST(test_json)
{
    struct opened o = {0};
    struct period_stats s;
    struct error err = {0};
    const struct period_owner *owners;
    add(&o, &made_healthy);
    json_t *root = parse(&o), *system = json_object_get(root, "system"), *owner, *row;
    assert_string_equal(json_string_value(json_object_get(root, "schema")), "beamtop.report/2");
    assert_int_equal(
        recording_stats(o.sources[0].recording, "scheduler_utilisation", 1, 13, &s, &err), 0);
    assert_true(fabs(number_at(system, "scheduler_utilisation", "mean") - s.mean) < 1e-6);
    assert_true(fabs(number_at(system, "scheduler_utilisation", "stddev") - s.stddev) < 1e-6);
    assert_true(number_at(system, "memory_total_bytes", "max") == 200e6);
    assert_true(recording_owners(o.sources[0].recording, "module", 1, 13, &owners) > 1);
    assert_true(fabs(number_at(root, "cost", "share") - 0.005) < 1e-6);
    assert_true(number_at(root, "cost", "bytes") == 4096);
    owner = json_array_get(json_object_get(json_object_get(root, "owners"), "module"), 0);
    assert_true(fabs(json_number_value(json_object_get(owner, "share")) - owners[0].share) < 1e-6);
    row = json_array_get(json_object_get(json_object_get(root, "calls"), "functions"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "module")), "Elixir.Gateway.Stage");
    assert_int_equal(json_integer_value(json_object_get(row, "calls")), 12 * 1380);
    assert_true(json_number_value(json_object_get(row, "calls_per_s")) == 1380);
    assert_true(json_array_size(json_object_get(root, "findings")) >= 2);
    assert_int_equal(json_array_size(json_object_get(root, "not_evaluated")), 0);
    json_decref(root);
    done(&o);
}

/* A mark before the first tick or behind the last one is in the report of the whole, and in no
 * part's. */
TEST(test_marks)
{
    static const struct {
        int64_t from, to;
        bool first, middle, last;
    } spans[] = {{1, 3, true, true, true},
                 {1, 1, true, false, false},
                 {2, 2, false, true, false},
                 {3, 3, false, false, true}};
    const struct recorder_options options = {.node = "mq1@host", .label = "marks", .interval_s = 1};
    struct error err = {0};
    struct recorder *r = NULL;
    struct recording *f = NULL;
    struct model *m = model_new();
    char dir[64], path[80];
    assert_true(temporary_dir(dir, sizeof dir, "marks"));
    snprintf(path, sizeof path, "%s/a.btr", dir);
    assert_int_equal(recorder_open(&r, path, &options, &err), 0);
    recorder_mark(r, 1700000000000000, 1700000000000000, "before");
    for (int i = 1; i <= 3; i++) {
        made_tick(r, m, &made_healthy, i);
        if (i == 2)
            recorder_mark(r, 1700000002000000, 1700000002000000, "between");
    }
    recorder_mark(r, 1700000009000000, 1700000009000000, "behind");
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    assert_int_equal(recording_open(&f, path, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(spans); i++) {
        struct opened o = {.n = 1};
        o.sources[0] = (struct summary_input){
            .recording = f, .name = "marks", .from = spans[i].from, .to = spans[i].to};
        const char *text = report(&o, SUMMARY_TEXT, false);
        if (!strstr(text, "UTC: before") == spans[i].first ||
            !strstr(text, "UTC: between") == spans[i].middle ||
            !strstr(text, "UTC: behind") == spans[i].last)
            fail_msg("%lld to %lld: %s", (long long)spans[i].from, (long long)spans[i].to, text);
        buf_clear(&o.text);
    }
    recording_close(f);
    model_free(m);
    made_unlink(path);
    rmdir(dir);
}

/* ---- hostile text */

static const struct made *hostile(void)
{
    static struct made w;
    w = made_healthy;
    w.label = "<script>alert(1)</script>\x1b[31m\"'&|`*";
    w.busy[0].name = "'</td><img src=x onerror=y>\\e]0;x\\a|[a](javascript:b)`'";
    w.busy[0].queue_step = 500;
    w.calls[0].module = "<iframe src=\"x\">\x9b\x07";
    w.calls[0].calls = 90000;
    return &w;
}

static void assert_no_control(const char *text)
{
    for (const unsigned char *s = (const unsigned char *)text; *s; s++)
        if ((*s < 0x20 && *s != '\n') || *s == 0x7f || (*s == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0))
            fail_msg("control byte 0x%02x before: %.40s", *s, s + 1);
}

/* Elements are closed in their order, and attributes are only ours. */
static void assert_balanced(const char *html)
{
    char stack[64][16];
    size_t depth = 0;
    const char *s = strstr(html, "<html");
    for (s = s ? s : html; (s = strchr(s, '<')); s++) {
        bool closes = s[1] == '/';
        const char *name = s + 1 + closes, *end = strchr(s, '>');
        size_t len = strcspn(name, " />");
        assert_non_null(end);
        if (closes) {
            if (depth == 0 || strncmp(stack[depth - 1], name, len) != 0 || stack[depth - 1][len])
                fail_msg("</%.*s> closes %s", (int)len, name, depth ? stack[depth - 1] : "nothing");
            depth--;
        } else if (end[-1] != '/') {
            assert_true(depth < 64 && len < 16);
            snprintf(stack[depth++], 16, "%.*s", (int)len, name);
        }
    }
    assert_int_equal(depth, 0);
}

TEST(test_hostile)
{
    static const enum summary_format formats[] = {SUMMARY_TEXT, SUMMARY_MARKDOWN, SUMMARY_HTML,
                                                  SUMMARY_JSON};
    struct opened o = {0};
    add(&o, hostile());
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < ARRAY_LEN(formats); i++)
            assert_no_control(report(&o, formats[i], false));
        const char *html = report(&o, SUMMARY_HTML, false);
        static const char *const bad[] = {
            "<script", "<img", "<iframe", "http:", "https:", "url(", "@import"};
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
            assert_not(html, bad[i]);
        assert_says(html, "&lt;script&gt;");
        assert_balanced(html);
        const char *markdown = report(&o, SUMMARY_MARKDOWN, false);
        assert_not(markdown, "[a](javascript");
        for (const char *at = markdown; (at = strchr(at, '<')); at++)
            assert_true(at > markdown && at[-1] == '\\');
        json_t *root = parse(&o);
        json_decref(root);
        add(&o, &made_healthy);
    }
    done(&o);
}

/* ---- exports */

static char *export(struct recording *r, enum export_format format, const char *table)
{
    struct error err = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (recording_export(r, format, table, out, &err) != 0)
        fail_msg("%s", err.text);
    fclose(out);
    return text;
}

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

TEST(test_export)
{
    static const struct {
        const char *table;
        size_t lines;
        const char *says;
    } tables[] = {
        {NULL, 14, "1700000001000000,mq1@host,1000,200000000,"},
        {"system", 14, "wall_us,node,uptime_ms,memory_total_bytes"},
        {"processes", 1 + 13 * 4, ",<0.43.0>,logger_std_h_default,kernel,logger_olp:init/1"},
        {"calls", 1 + 12 * 7, ",ets,lookup,2,900,"},
        {"events", 1, "wall_us,node,trace,kind,number,pattern"},
        {"marks", 1, "wall_us,node,text"},
    };
    struct opened o = {0};
    struct error err = {0};
    add(&o, &made_healthy);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        char *text = export(o.sources[0].recording, EXPORT_CSV, tables[i].table);
        assert_int_equal(lines_of(text), tables[i].lines);
        assert_says(text, tables[i].says);
        free(text);
    }
    char *text = export(o.sources[0].recording, EXPORT_OPENMETRICS, NULL);
    assert_says(text, "# TYPE beamtop_run_queue gauge\n");
    assert_says(text, "beamtop_run_queue{node=\"mq1@host\"} 1 1700000001.000000\n");
    assert_says(text, "beamtop_owner_share{node=\"mq1@host\",by=\"module\",owner=\"gateway\"}");
    assert_says(text, "function=\"lookup\",arity=\"2\"} 900 ");
    assert_string_equal(text + strlen(text) - 6, "# EOF\n");
    free(text);
    assert_int_equal(recording_export(o.sources[0].recording, EXPORT_CSV, "none", stdout, &err),
                     ERR_USAGE);
    assert_string_equal(err.text, "there is no table “none”: system, processes, owners, calls, "
                                  "samples, span_events, events, system_events, marks");
    done(&o);
}

/* Texts that a spreadsheet would take for formulas; numbers below zero stay numbers. */
TEST(test_export_for_spreadsheets)
{
    static const char change[] = "INSERT INTO mark(here_us, wall_us, text) VALUES(1, 1, '=1+1'), "
                                 "(2, 2, '+x'), (3, 3, '-2'), (4, 4, '@A1'),"
                                 " (5, 5, '=\"a\",b'), (6, 6, 'a=b'); UPDATE process SET "
                                 "message_queue_per_s = -2.5, memory_bytes = -7";
    struct error err = {0};
    struct recording *r = NULL;
    sqlite3 *db = NULL;
    char dir[64], path[80];
    assert_true(temporary_dir(dir, sizeof dir, "cells"));
    snprintf(path, sizeof path, "%s/a.btr", dir);
    made_write(path, &made_healthy);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, change, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(recording_open(&r, path, &err), 0);
    char *plain = export(r, EXPORT_CSV, "marks"), *safe = export(r, EXPORT_SPREADSHEET, "marks");
    assert_says(plain, ",=1+1\n");
    assert_says(safe, "1,mq1@host,'=1+1\n2,mq1@host,'+x\n3,mq1@host,'-2\n4,mq1@host,'@A1\n"
                      "5,mq1@host,\"'=\"\"a\"\",b\"\n6,mq1@host,a=b\n");
    free(plain);
    free(safe);
    safe = export(r, EXPORT_SPREADSHEET, "processes");
    assert_says(safe, ",-7,");
    assert_says(safe, ",-2.500000\n");
    assert_not(safe, "'-");
    free(safe);
    recording_close(r);
    made_unlink(path);
    rmdir(dir);
}
