/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small recording that has a row in each table. */
#ifndef TESTS_WHOLE_H
#define TESTS_WHOLE_H

#include "../unit/recording/made_samples.h"
#include "../unit/recording/made_spans.h"
#include "../unit/recording/made_trace.h"
#include "../unit/recording/take.h"
#include "beamtop/base/attr.h"
#include "beamtop/trace/calls.h"
#include "fuzz.h"

enum { WHOLE_TICKS = 4 };

static void whole_tick(struct recorder *r, struct model *m, int second)
{
    struct error err = {0};
    char text[1200];
    long long mono = -576460000000000000LL + second * 1000000000LL;
    snprintf(text, sizeof text,
             "{system, %lld, %lld, %d, {%d, 600, 500, 400, 50, 40, 30, 20, 10}, {41, 2, 9000, 12}, "
             "{%d, [2,1,4,5]}, {%d, 10, 20, 30, 40, 50}, [{1,5,%d},{2,0,%d}], {2048, 4096}}",
             mono, 1700000000000000LL + second * 1000000LL, second * 1000, 1000 + second,
             second % 7, 1000 * second, second * 100, second * 100);
    take(r, m, ANSWER_SYSTEM, text);
    snprintf(text, sizeof text,
             "{scan, %lld, 1000000000, 1234, 50, 50, 2, "
             "[{<0.41.0>, %d, 500, {{shop_cart, {shop_cart,init,1}, <<\"cart\">>, shop, "
             "{proc_lib,init_p,5}}, %d, 3, 4096, {gen_server,loop,7}}}, "
             "{<0.42.1>, %d, 300, {{undefined, {logger_olp,init,1}, undefined, undefined, "
             "{erlang,apply,2}}, %d, 0, 2048, undefined}}], []}",
             mono, second * 500, second * 500, second * 300, second * 300);
    take(r, m, ANSWER_SCAN, text);
    FUZZ_REQUIRE(recorder_tick(r, m, 1700000000000000LL + second * 1000000LL, &err) == 0);
}

static void add_trace(struct recorder *r)
{
    struct made_trace t;
    made_trace_new(&t);
    recorder_trace_begin(r, t.log, PRINT_ERLANG, MADE_TRACE_WALL_US);
    for (size_t i = 0; i < trace_log_len(t.log); i++) {
        const struct trace_event *e = trace_log_at(t.log, i);
        recorder_trace_event(r, t.log, e, false);
        if (e->outcome == OUTCOME_RETURN || e->outcome == OUTCOME_EXCEPTION)
            recorder_trace_event(r, t.log, e, true);
    }
    made_trace_end(&t);
    recorder_trace_end(r, t.log, MADE_TRACE_WALL_US);
    made_trace_free(&t);
}

static void add_samples(struct recorder *r)
{
    static const struct made_stack list[] = {
        {"plm", 60}, {"plhc", 30}, {"pg", 300}, {"n", 4}, {"", 1}};
    struct stacks *s = made_stacks(list, ARRAY_LEN(list));
    for (int at_yields = 0; at_yields <= 1; at_yields++) {
        struct samples_summary run = made_run(s);
        run.at_yields = at_yields == 1;
        recorder_samples(r, &run);
    }
    stacks_free(s);
}

static void add_spans(struct recorder *r)
{
    static const char *const lines[] = {
        "0 1 root <0.4.0> - <0.4.0> 0 0 - - 0 m:f/0",
        "5000 2 send <0.4.0> <0.7.0> <0.4.0> 0 1 call #Ref<0.1.2.3> 5 get",
        "6000 3 receive <0.7.0> <0.4.0> <0.4.0> 0 1 call #Ref<0.1.2.3> 5 get",
        "7000 4 send <0.7.0> b@host<0.7.0> <0.4.0> 1 2 cast - 5 put",
        "8000 5 send <0.7.0> <0.4.0> <0.4.0> 1 3 reply #Ref<0.1.2.3> 5 -",
        "9000 6 receive <0.4.0> <0.7.0> <0.4.0> 1 3 reply #Ref<0.1.2.3> 5 -",
        "9500 7 return <0.4.0> - - 0 0 error - 0 badarg",
        "name <0.7.0> shop_db",
    };
    for (int full = 0; full <= 1; full++) {
        struct spans_run *run = made_spans_new(full == 1, 1);
        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
            event_feed(run->spans, lines[i]);
        made_spans_end(run);
        recorder_spans(r, run);
        spans_run_free(run);
    }
}

static void add_system_events(struct recorder *r)
{
    struct events_run *run = calloc(1, sizeof *run);
    struct system_event e = system_event_unknown;
    run->limits[EVENT_LARGE_HEAP] = 300000;
    recorder_events_begin(r, run);
    e.wall_us = 1700000002500000;
    snprintf(e.event, sizeof e.event, "large_heap");
    snprintf(e.who, sizeof e.who, "<0.80.0>");
    snprintf(e.name, sizeof e.name, "shop_db");
    e.words = 300001;
    for (int i = 0; i < 3; i++)
        recorder_system_event(r, &e);
    snprintf(e.state, sizeof e.state, "off");
    e.dropped = 10;
    recorder_system_event(r, &e);
    run->end = EVENTS_TIME;
    run->seen = 13;
    run->missed = 10;
    recorder_events_end(r, run);
    free(run);
}

static void add_extras(struct recorder *r)
{
    const struct calls_function calls[] = {
        counted_call("shop_repo", "prepare_query", 3, 30, 900, -1, 0.75),
        counted_call("shop_repo", "get", 2, 10, -1, 44, 0.25),
    };
    const struct calls_window w = {.number = 1,
                                   .wall_us = 1700000002000000,
                                   .interval_us = 2000000,
                                   .functions = 200,
                                   .calls = 40,
                                   .lost = 1,
                                   .calls_per_s = 20,
                                   .rows = calls,
                                   .n_rows = ARRAY_LEN(calls)};
    recorder_calls(r, &w, true);
    recorder_mark(r, 5, 1700000002500000, "deploy");
    recorder_fact(r, "logger",
                  "{\"handlers\":[{\"id\":\"default\",\"module\":\"logger_std_h\","
                  "\"mode\":\"sync\",\"process\":\"p\",\"sync_mode_qlen\":10}],"
                  "\"primary_level\":\"info\"}");
    recorder_fact(r, "limits", "{\"atoms\":{\"count\":900000,\"limit\":1048576}}");
    recorder_fact(r, "repositories", "[\"shop_repo\"]");
    recorder_fact(r, "code", "{\"mode\":\"interactive\",\"modules\":300}");
    recorder_gap(r, 9, "connection lost");
    add_trace(r);
    add_samples(r);
    add_spans(r);
    add_system_events(r);
}

static void whole_write(const char *path)
{
    const struct recorder_options options = {
        .node = "mq1@host", .label = "fuzz", .interval_s = 1, .values = true};
    struct error err = {0};
    struct recorder *r = NULL;
    struct model *m = model_new();
    FUZZ_REQUIRE(recorder_open(&r, path, &options, &err) == 0);
    take(r, m, ANSWER_NODE, NODE_ANSWER);
    for (int i = 1; i <= WHOLE_TICKS; i++) {
        if (i == 2)
            add_extras(r);
        whole_tick(r, m, i);
    }
    FUZZ_REQUIRE(recorder_close(r, "stopped", &err) == 0);
    model_free(m);
}

#endif
