/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads all of a recording in every way there is: whatever is in it, that has to come to an end. */
#ifndef TESTS_READ_ALL_H
#define TESTS_READ_ALL_H

#include "../unit/model/answers.h"
#include "beamtop/base/attr.h"
#include "beamtop/output/calls_sink.h"
#include "beamtop/recording/export.h"
#include "beamtop/report/evaluate.h"
#include "beamtop/recording/recorded_log.h"
#include "beamtop/recording/recording.h"
#include "beamtop/report/summary.h"
#include "beamtop/output/trace_sink.h"
#include "fuzz.h"

enum { READ_TICKS = 4, READ_SERIES = 60 };

static int take_answer(void *arg, const char *question, const uint8_t *term, size_t len,
                       const struct want_scan *asked, struct error *err)
{
    enum question q = question_find(question);
    struct error ignored = {0};
    (void)err;
    if (q != QUESTIONS)
        model_take(arg, q, term, len, asked ? asked : &scan_want, 1, &ignored);
    return 0;
}

static void read_ticks(struct recording *r)
{
    struct model *m = model_new();
    for (int64_t tick = 0; tick <= READ_TICKS + 1; tick++) {
        struct error err = {0};
        int64_t wall_us = recording_tick_wall_us(r, tick);
        (void)recording_tick_at(r, wall_us);
        (void)recording_tick_mono_ns(r, tick);
        (void)recording_gap_before(r, tick);
        (void)recording_answers(r, tick, take_answer, m, &err);
    }
    model_free(m);
}

static size_t text_bytes(struct slice s)
{
    size_t sum = 0;
    for (size_t i = 0; i < s.len; i++)
        sum += (uint8_t)s.s[i];
    return sum;
}

static void read_samples(struct recording *r, int64_t from, int64_t to)
{
    const int64_t last = recording_samples_id(r, to);
    for (int way = 0; way < 3; way++) {
        struct error err = {0};
        struct recorded_samples s;
        int rc = way == 2 ? recording_samples_of(r, last, &s, &err)
                          : recording_samples(r, from, to, way == 1, &s, &err);
        FUZZ_REQUIRE(rc == 0 || (err.text[0] != '\0' && s.runs == 0));
        FUZZ_REQUIRE(stacks_total(s.stacks) >= 0 && stacks_nodes(s.stacks) > 0);
        recorded_samples_clear(&s);
    }
}

static int read_event(void *arg, const struct system_event *e, struct error *err)
{
    size_t *n = arg;
    (void)err;
    FUZZ_REQUIRE(++*n <= LIMIT_RECORDED_EVENTS && e->event[0] != '\0' && e->time[0] != '\0');
    return 0;
}

static void read_events(struct recording *r, int64_t from, int64_t to)
{
    struct events_run *run = calloc(1, sizeof *run);
    const int64_t last = recording_events_id(r, to);
    int64_t *ids;
    struct error err = {0};
    size_t n = 0;
    FUZZ_REQUIRE(recording_event_runs(r, from, to, &ids) <= LIMIT_RECORDED_EVENT_RUNS);
    free(ids);
    (void)recording_system_events(r, last, from, to, read_event, &n, &err);
    if (recording_events_of(r, last, to, run))
        recording_events_kept(r, last, to, run);
    FUZZ_REQUIRE(events_run_n(run) <= EVENTS_KEPT);
    for (size_t i = 0; i < events_run_n(run); i++)
        FUZZ_REQUIRE(events_run_event(run, i)->event[0] != '\0');
    free(run);
}

static void read_spans(struct recording *r, int64_t from, int64_t to)
{
    const int64_t *ids, last = recording_spans_id(r, to);
    const size_t n = recording_spans(r, from, to, &ids);
    FUZZ_REQUIRE(n <= LIMIT_RECORDED_SPAN_RUNS);
    for (int64_t id = last - 1; id <= last; id++) {
        struct error err = {0};
        struct spans_run *run;
        const int rc = recording_spans_of(r, id, &run, &err);
        FUZZ_REQUIRE(rc == 0 ? run != NULL : !run && err.text[0] != '\0');
        for (uint32_t i = 0; rc == 0 && i < spans_count(run->spans); i++)
            (void)spans_run_wall_ns(run, spans_at(run->spans, i)->ended_ns);
        spans_run_free(run);
    }
}

static void read_sums(struct recording *r, int64_t from, int64_t to)
{
    static const char *const by[] = {"application", "supervisor", "module", "name", "label"};
    const struct recording_mark *marks;
    const struct period_owner *owners;
    const struct period_process *processes;
    const struct recorded_call *calls;
    struct period_turnover turnover;
    struct recorded_window sums;
    struct period_stats stats;
    struct arena arena;
    struct error err = {0};
    double series[READ_SERIES];
    size_t sum = 0;
    for (size_t i = 0, n = recording_marks(r, &marks); i < n; i++)
        sum += strlen(marks[i].text);
    (void)recording_stats(r, "memory_total_bytes", from, to, &stats, &err);
    FUZZ_REQUIRE(recording_series(r, "run_queue", from, to, series, READ_SERIES) <= READ_SERIES);
    (void)recording_longest(r, "dirty_io_utilisation", from, to, 0.5);
    for (size_t b = 0; b < ARRAY_LEN(by); b++)
        for (size_t i = 0, n = recording_owners(r, by[b], from, to, &owners); i < n; i++)
            sum += text_bytes(owners[i].owner) + text_bytes(owners[i].kind);
    arena_init(&arena);
    (void)recording_processes(r, from, to, &arena, &processes, &turnover);
    arena_clear(&arena);
    for (size_t i = 0, n = recording_calls(r, from, to, &calls, &sums); i < n; i++)
        sum += text_bytes(calls[i].module) + text_bytes(calls[i].function);
    const char *fact = recording_fact(r, "logger", to);
    FUZZ_REQUIRE(!fact || strlen(fact) + sum < SIZE_MAX);
}

static void read_report(struct recording *r, int64_t to, size_t n, enum summary_format format)
{
    const struct summary_input sources[] = {{.recording = r, .name = "a", .from = 1, .to = to},
                                            {.recording = r, .name = "b", .from = 2, .to = to}};
    struct summary_options o = {.format = format, .columns = 80};
    struct error err = {0};
    struct buf out;
    buf_init(&out, 0);
    (void)summary_write(&out, sources, n, &o, &err);
    buf_clear(&out);
}

static void read_exports(struct recording *r)
{
    static const char *const tables[] = {"system",  "processes",   "owners", "calls",
                                         "samples", "span_events", "events", "marks"};
    struct error err = {0};
    FILE *nowhere = fopen("/dev/null", "w");
    FUZZ_REQUIRE(nowhere != NULL);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        (void)recording_export(r, EXPORT_CSV, tables[i], nowhere, &err);
    (void)recording_export(r, EXPORT_OPENMETRICS, NULL, nowhere, &err);
    fclose(nowhere);
}

static int count_bytes(void *ctx, const char *bytes, size_t len)
{
    *(size_t *)ctx += text_bytes((struct slice){bytes, len});
    return 0;
}

static void read_windows(struct recording *r, size_t which)
{
    size_t sum = 0;
    int64_t n = 0;
    struct error err = {0};
    const struct sink_writer writer = {count_bytes, &sum};
    const struct calls_sink_options options = {.format = (enum calls_format)(which % 4)};
    struct calls_sink on = {.output.writer = writer, .options = options}, *s = &on;
    if (recording_windows_put(r, 1, READ_TICKS, s, &n, &err) != 0)
        FUZZ_REQUIRE(err.text[0] != '\0');
}

/* As logs, tick by tick, as a screen shows them. */
static void show_traces(struct recording *r)
{
    struct recorded_log *l = recorded_log_new();
    int64_t tick = 1;
    for (int i = 0; i < READ_TICKS && tick > 0; i++, tick = recording_tick_after(r, tick)) {
        struct error err = {0};
        if (recorded_log_to(l, r, tick, &err) != 0)
            FUZZ_REQUIRE(err.text[0] != '\0');
    }
    recorded_log_free(l);
}

static void read_traces(struct recording *r, size_t which)
{
    const struct recorded_trace *traces;
    int64_t ids[READ_TICKS];
    size_t sum = 0, n = recording_traces(r, &traces);
    const struct sink_writer writer = {count_bytes, &sum};
    const struct trace_sink_options options = {.format = which % 2 ? SINK_JSON : SINK_TEXT,
                                               .node = "mq1@host"};
    for (size_t i = 0; i < n && i < READ_TICKS; i++) {
        sum += text_bytes(traces[i].reason);
        ids[i] = traces[i].id;
    }
    for (size_t i = 0; i < n && i < READ_TICKS; i++) {
        struct error err = {0};
        struct trace_sink on = {.output.writer = writer, .options = options}, *s = &on;
        if (recording_trace_put(r, ids[i], s, &err) != 0)
            FUZZ_REQUIRE(err.text[0] != '\0');
    }
    show_traces(r);
}

/*
 * Ways to read the file. While fuzzing an input takes one, which its length chooses: many quick
 * runs find more than few that do all. Replayed it takes them all, but one format. */
enum { WAY_TICKS, WAY_SUMS, WAY_EXPORTS, WAY_REPORT, WAY_REPORT_OF_TWO, WAY_TRACES, WAYS };

static void read_way(struct recording *r, unsigned way, enum summary_format format)
{
    int64_t ticks = recording_info(r)->ticks;
    recording_begin(r);
    switch (way) {
    case WAY_TICKS:
        read_ticks(r);
        break;
    case WAY_SUMS:
        read_sums(r, 1, ticks);
        recording_begin(r);
        read_samples(r, 1, ticks);
        recording_begin(r);
        read_spans(r, 1, ticks);
        recording_begin(r);
        read_events(r, 1, ticks);
        break;
    case WAY_EXPORTS:
        read_exports(r);
        break;
    case WAY_REPORT:
        read_report(r, ticks, 1, format);
        break;
    case WAY_TRACES:
        read_traces(r, (size_t)format);
        read_windows(r, (size_t)format);
        break;
    default:
        read_report(r, ticks, 2, format);
        break;
    }
}

#define ALL_WAYS ((1u << WAYS) - 1)

static void read_ways(struct recording *r, unsigned ways, size_t which)
{
    for (unsigned way = 0; way < WAYS; way++)
        if (ways & 1u << way)
            read_way(r, way, (enum summary_format)(which % 4));
}

static inline void read_recording(struct recording *r, size_t which)
{
#ifdef FUZZ_ONE_WAY
    read_ways(r, 1u << which / 4 % WAYS, which);
#else
    read_ways(r, ALL_WAYS, which);
#endif
}

#endif
