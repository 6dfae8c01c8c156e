/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording's own costs: bytes and time of a tick of 60 rows, then opening, seeking in and
 * reporting on a file of 7,200 ticks (ten hours at 5 s). Prints lines of name
 * and number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/model/answers.h"
#include "../unit/recording/made_trace.h"
#include "beamtop/base/clock.h"
#include "beamtop/recording/recording.h"
#include "beamtop/report/summary.h"

enum { TICKS = 7200, ROWS = 60, SEEKS = 200, INTERVAL_S = 5, SESSIONS = 7, EVENTS = 10000 };

#define START_US 1700000000000000LL

static void give_to(struct recorder *r, struct model *m, enum answer_kind kind,
                    const char *question, const char *text)
{
    struct error err = {0};
    struct term t = term_of(text);
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(t.builder, &len);
    if (give(m, kind, text, &err) < 0) {
        fprintf(stderr, "recording: %s\n", err.text);
        exit(1);
    }
    recorder_answer(r, question, bytes + 1, len - 1, kind == ANSWER_SCAN ? &scan_want : NULL);
    term_free(&t);
}

/* Numbers that change from tick to tick as a node's do. */
static long long some(int tick, int row, int most)
{
    uint64_t x = (uint64_t)tick * 2654435761u + (uint64_t)row * 40503u;
    x ^= x >> 13;
    x *= 0x9e3779b97f4a7c15u;
    return (long long)((x >> 33) % (uint64_t)most);
}

static void put_scan(struct buf *out, int tick, long long mono)
{
    buf_printf(out, "{scan, %lld, %d000000000, 1234, 4000, 4000, %d, [", mono, INTERVAL_S, ROWS);
    for (int i = 0; i < ROWS; i++) {
        long long work = (ROWS - i) * 20000LL + some(tick, i, 20000);
        buf_printf(out,
                   "%s{<0.%d.0>, %lld, %lld, {{%s, {shop_worker_%d,init,1}, undefined, shop_%d, "
                   "{proc_lib,init_p,5}}, %lld, %lld, %lld, {gen_server,loop,7}}}",
                   i > 0 ? "," : "", 100 + i, work * tick, work,
                   i % 3 == 0 ? "undefined" : "shop_server", i % 12, i % 5, work * tick,
                   some(tick, i, 9), 4096 + some(tick, i, 90000));
    }
    buf_puts(out, "], [");
    for (int i = 0; i < 20; i++)
        buf_printf(out, "%s{%d,{name,worker_%d}}", i > 0 ? "," : "", i + 1, i);
    buf_puts(out, "]}");
}

static void put_system(struct buf *out, int tick, long long mono)
{
    buf_printf(out,
               "{system, %lld, %lld, %lld, {%lld, 600000000, 500000000, 400000000, 50000000, "
               "4000000, 300000, "
               "20000, 10000}, {4100, 20, 9000, 120}, {%lld, [2,1,4,5]}, {%lld, 1000, %lld, 3000, "
               "400, 5000}, [",
               mono, START_US + tick * INTERVAL_S * 1000000LL, tick * INTERVAL_S * 1000LL,
               1500000000 + some(tick, 1, 50000000), some(tick, 2, 12),
               tick * 1000000LL + some(tick, 3, 90000), tick * 9000LL + some(tick, 4, 900));
    for (int i = 1; i <= 8; i++)
        buf_printf(out, "%s{%d,%lld,%lld}", i > 1 ? "," : "", i, tick * 4000LL + some(tick, i, 900),
                   tick * 5000LL);
    buf_puts(out, "], {2048, 4096}}");
}

static void record_tick(struct recorder *r, struct model *m, int tick)
{
    struct error err = {0};
    struct buf text;
    long long mono = -576460000000000000LL + tick * INTERVAL_S * 1000000000LL;
    buf_init(&text, 0);
    put_system(&text, tick, mono);
    give_to(r, m, ANSWER_SYSTEM, "system", buf_cstr(&text));
    buf_reset(&text);
    put_scan(&text, tick, mono);
    give_to(r, m, ANSWER_SCAN, "scan", buf_cstr(&text));
    buf_clear(&text);
    if (recorder_tick(r, m, START_US + tick * INTERVAL_S * 1000000LL, &err) != 0) {
        fprintf(stderr, "recording: tick %d: %s\n", tick, err.text);
        exit(1);
    }
}

static double ms_since(uint64_t began)
{
    return (double)(clock_mono_ns() - began) / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of the program's part of a tick: answers read and ranked, then the transaction. */
static int record(const char *path)
{
    static double all[TICKS];
    const struct recorder_options options = {.node = "bench@host", .interval_s = INTERVAL_S};
    struct error err = {0};
    struct recorder *r = NULL;
    struct stat st;
    if (recorder_open(&r, path, &options, &err) != 0)
        return fprintf(stderr, "recording: %s\n", err.text);
    struct model *m = model_new();
    give_to(r, m, ANSWER_NODE, "node", NODE_ANSWER);
    for (int i = 0; i < TICKS; i++) {
        uint64_t began = clock_mono_ns();
        record_tick(r, m, i + 1);
        all[i] = ms_since(began);
    }
    model_free(m);
    if (recorder_close(r, "stopped", &err) != 0 || stat(path, &st) != 0)
        return fprintf(stderr, "recording: %s\n", err.text);
    qsort(all, TICKS, sizeof *all, by_value);
    printf("tick_p50_ms %.3f\ntick_p99_ms %.3f\n", all[TICKS / 2], all[TICKS * 99 / 100]);
    printf("tick_bytes %.0f\nfile_mib %.1f\n", (double)st.st_size / TICKS,
           (double)st.st_size / 1048576);
    return 0;
}

static int take_answer(void *arg, const char *question, const uint8_t *term, size_t len,
                       const struct want_scan *asked, struct error *err)
{
    enum question q = question_find(question);
    bool taken = q == QUESTION_SYSTEM || q == QUESTION_SCAN;
    return taken ? model_take(arg, q, term, len, asked, 1, err) : 0;
}

/* A seek: the tick at a time, and its answers in a model, as the screen needs them. */
static double seek_ms(struct recording *r, int nth)
{
    struct error err = {0};
    struct model *m = model_new();
    int64_t at = START_US + (int64_t)some(nth, 7, TICKS * INTERVAL_S) * 1000000;
    uint64_t began = clock_mono_ns();
    int64_t tick = recording_tick_at(r, at);
    if (tick > 0 && recording_answers(r, tick, take_answer, m, &err) < 0)
        fprintf(stderr, "recording: %s\n", err.text);
    double ms = ms_since(began);
    model_free(m);
    return ms;
}

/* As the commands do it: each file opened, looked through, summed. Several are the same one. */
static void report_of(const char *path, size_t n, enum summary_format format, const char *figure)
{
    struct error err = {0};
    struct recording *files[SESSIONS] = {0};
    struct summary_input sources[SESSIONS];
    struct summary_options o = {.format = format, .columns = 100};
    struct buf out;
    uint64_t began = clock_mono_ns();
    buf_init(&out, 0);
    for (size_t i = 0; i < n && err.code == ERR_NONE; i++) {
        if (recording_open(&files[i], path, &err) == 0 && recording_check(files[i], &err) == 0)
            sources[i] = (struct summary_input){.recording = files[i],
                                                .name = "bench",
                                                .from = 1,
                                                .to = recording_info(files[i])->ticks};
    }
    if (err.code != ERR_NONE || summary_write(&out, sources, n, &o, &err) != 0)
        fprintf(stderr, "recording: %s\n", err.text);
    for (size_t i = 0; i < n; i++)
        recording_close(files[i]);
    buf_clear(&out);
    printf("%s %.0f\n", figure, ms_since(began));
}

static int read_back(const char *path)
{
    static double all[SEEKS];
    struct error err = {0};
    struct recording *r = NULL;
    uint64_t began = clock_mono_ns();
    if (recording_open(&r, path, &err) != 0)
        return fprintf(stderr, "recording: %s\n", err.text);
    double first = seek_ms(r, 0);
    printf("open_ms %.1f\nopen_and_seek_ms %.1f\n", ms_since(began) - first, ms_since(began));
    for (int i = 0; i < SEEKS; i++)
        all[i] = seek_ms(r, i + 1);
    qsort(all, SEEKS, sizeof *all, by_value);
    printf("seek_p50_ms %.2f\nseek_max_ms %.2f\n", all[SEEKS / 2], all[SEEKS - 1]);
    recording_close(r);
    static const char *const figures[] = {"report_text_ms", "report_markdown_ms", "report_html_ms",
                                          "report_json_ms"};
    for (int f = SUMMARY_TEXT; f <= SUMMARY_JSON; f++)
        report_of(path, 1, (enum summary_format)f, figures[f]);
    report_of(path, 2, SUMMARY_TEXT, "diff_ms");
    report_of(path, SESSIONS, SUMMARY_TEXT, "sessions_ms");
    return 0;
}

/* Calls of one function, and what they return. */
static void record_calls(struct recorder *r, const struct trace_log *log, int tick)
{
    for (int i = tick * 100; i < tick * 100 + 100; i++) {
        struct trace_event e = *trace_log_at(log, 0);
        e.id = (uint64_t)i + 1;
        e.pid.id += (uint32_t)some(i, 5, 1000);
        e.mono_ns += 1000000LL * i;
        e.wall_us += 1000LL * i;
        e.latency_ns += (uint64_t)some(i, 6, 1000000);
        recorder_trace_event(r, log, &e, false);
        recorder_trace_event(r, log, &e, true);
    }
}

/* The bytes of a file with ticks and a trace, with events or without. */
static double trace_bytes(const char *path, const struct recorder_options *options, bool events)
{
    struct error err = {0};
    struct recorder *r = NULL;
    struct made_trace t;
    struct stat st = {0};
    unlink(path);
    if (recorder_open(&r, path, options, &err) == 0) {
        struct model *m = model_new();
        made_trace_new(&t);
        recorder_trace_begin(r, t.log, PRINT_ERLANG, MADE_TRACE_WALL_US);
        for (int i = 0; i < EVENTS / 200; i++) {
            if (events)
                record_calls(r, t.log, i);
            record_tick(r, m, 1 + i);
        }
        made_trace_free(&t);
        model_free(m);
        (void)recorder_close(r, "stopped", &err);
    }
    if (err.code != ERR_NONE || stat(path, &st) != 0)
        fprintf(stderr, "recording: %s\n", err.text);
    return (double)st.st_size;
}

static void record_events(const char *path)
{
    static const struct {
        const char *figure;
        bool redact, values;
    } forms[] = {{"event_bytes", false, false},
                 {"event_redacted_bytes", true, false},
                 {"event_values_bytes", false, true}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct recorder_options options = {.node = "bench@host",
                                                 .interval_s = INTERVAL_S,
                                                 .redact = forms[i].redact,
                                                 .values = forms[i].values};
        double with = trace_bytes(path, &options, true);
        printf("%s %.1f\n", forms[i].figure, (with - trace_bytes(path, &options, false)) / EVENTS);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: recording FILE\n");
        return 2;
    }
    if (record(argv[1]) != 0 || read_back(argv[1]) != 0)
        return 1;
    record_events(argv[1]);
    return 0;
}
