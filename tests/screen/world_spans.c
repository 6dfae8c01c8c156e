/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "world_spans.h"

#include <math.h>

#include "beamtop/base/attr.h"
#include "../unit/model/spans/events.h"

#define STEP_NS INT64_C(200000000) /* from case to case */

/* Feeds the cases of a node, one after the other. */
static void feed_cases(struct spans *s, const char *const *cases, size_t n)
{
    const char *top = getenv("BEAMTOP_SRCDIR");
    char path[4096], line[512], head[64];
    snprintf(path, sizeof path, "%s/tests/unit/model/spans/otp25.txt", top ? top : ".");
    for (size_t i = 0; i < n; i++) {
        FILE *file = fopen(path, "r");
        bool inside = false;
        if (!file)
            abort();
        snprintf(head, sizeof head, "case %s\n", cases[i]);
        while (fgets(line, sizeof line, file)) {
            char moved[600];
            if (strncmp(line, "case ", 5) == 0) {
                inside = strcmp(line, head) == 0;
                continue;
            }
            if (!inside)
                continue;
            char *rest = strchr(line, ' ');
            if (strncmp(line, "name ", 5) == 0 || !rest)
                snprintf(moved, sizeof moved, "%s", line);
            else
                snprintf(moved, sizeof moved, "%lld%s",
                         (long long)(strtoll(line, NULL, 10) + (int64_t)i * STEP_NS), rest);
            event_feed(s, moved);
        }
        fclose(file);
    }
}

static void feed_hostile(struct spans *s)
{
    static char name[600];
    const struct etf_pid pids[] = {{.id = 90}, {.id = 91}, {.id = 92}};
    static const char *const events[] = {
        "0 1 root <0.90.0> - <0.90.0> 0 0 - - 0 evil\x1b[2J:f/1",
        "1000 2 send <0.90.0> <0.91.0> <0.90.0> 0 1 call #Ref<0.1.2.3> 9 \"><script>alert(1)",
        "2000 3 receive <0.91.0> <0.90.0> <0.90.0> 0 1 call #Ref<0.1.2.3> 9 \"><script>alert(1)",
        "2500 4 send <0.91.0> <0.92.0> <0.90.0> 1 2 cast - 9 \xe2\x80\xae\xff\xc2\x85",
        "3000 5 receive <0.92.0> <0.91.0> <0.90.0> 1 2 cast - 9 \xe2\x80\xae\xff\xc2\x85",
        "9000000 6 send <0.91.0> <0.90.0> <0.90.0> 2 3 reply #Ref<0.1.2.3> 9 -",
        "9001000 7 receive <0.90.0> <0.91.0> <0.90.0> 2 3 reply #Ref<0.1.2.3> 9 -",
        ("9100000 8 return <0.90.0> - <0.90.0> 0 0 error - 0 {badmatch,\"\x07\x9b"
         "31m\"}"),
    };
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        event_feed(s, events[i]);
    memset(name, 'n', sizeof name);
    memcpy(name + 20, "\x1b]0;title\x07", 10);
    spans_name(s, &(struct span_process){.pid = pids[0]}, slice_of("<img src=x>\n\t"));
    spans_name(s, &(struct span_process){.pid = pids[1]}, (struct slice){name, sizeof name});
    spans_name(s, &(struct span_process){.pid = pids[2]}, (struct slice){"nul\0inside", 10});
}

/* A request that <0.91.0> made for <0.92.0>. */
static void feed_called(struct spans *s)
{
    static const char *const events[] = {
        "0 1 root <0.90.0> - <0.90.0> 0 0 - - 0 m:f/1",
        "0 1 caller <0.90.0> <0.91.0> <0.90.0> 0 1 - - 0 -",
        "0 1 caller <0.90.0> <0.92.0> <0.90.0> 0 2 - - 0 -",
        ("0 1 context <0.90.0> - <0.90.0> 0 0 - - 0 "
         "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"),
        "9100000 8 return <0.90.0> - <0.90.0> 0 0 - - 0 -",
        "name <0.91.0> Shop.Page",
    };
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        event_feed(s, events[i]);
}

static void set_ended(struct spans_run *run, enum spans_end end)
{
    run->status.phase = SESSION_ENDED;
    run->status.check.done = run->status.check.clean = true;
    run->end = end;
    run->seconds = 10;
}

static void fill(struct spans_run *run, enum spanned_world world)
{
    static const char *const full[] = {"full chain"}, *const light[] = {"light chain"},
                             *const crash[] = {"full crash"};
    static const char *const many[] = {
        "light chain", "light crash", "light timeout", "light pool",   "light cast",
        "light task",  "light defer", "light raise",   "light statem", "light sendreq"};
    if (world == SPANNED_CHAIN)
        feed_cases(run->spans, full, 1);
    else if (world == SPANNED_LIGHT)
        feed_cases(run->spans, light, 1);
    else if (world == SPANNED_CRASH)
        feed_cases(run->spans, crash, 1);
    else if (world == SPANNED_MANY)
        feed_cases(run->spans, many, ARRAY_LEN(many));
    else if (world == SPANNED_CALLED)
        feed_called(run->spans);
    else if (world == SPANNED_HOSTILE)
        feed_hostile(run->spans);
    spans_build(run->spans);
    for (uint32_t i = 0; i < spans_count(run->spans); i++) {
        const struct span *span = spans_at(run->spans, i);
        run->roots += span->parent == SPAN_NONE;
        run->open += span->parent == SPAN_NONE && span->outcome == SPAN_OPEN;
    }
    run->version = 1;
}

struct spans_run *world_spans(enum spanned_world world)
{
    const struct spans_options options = {.full = world == SPANNED_CHAIN || world == SPANNED_CRASH,
                                          .node = slice_of("rabbit@mq1"),
                                          .capture = 7};
    if (world == SPANNED_NOT)
        return NULL;
    struct spans_run *run = spans_run_new(&options);
    snprintf(run->patterns, sizeof run->patterns, "%s",
             world == SPANNED_HOSTILE ? "'evil\x1b[2J':f(_)" : "wl:root(_)");
    run->roots_asked = 20;
    run->every = 1;
    run->for_s = 10;
    run->wall_us = INT64_C(1700000000123456);
    run->status.phase = SESSION_RUNNING;
    run->seconds = 3.2;
    run->events = 57;
    fill(run, world);
    if (world == SPANNED_ASKS) {
        run->status.phase = SESSION_ASKING;
        run->functions = 1;
        run->calls_per_s = 182000;
        run->load = 0.31;
        run->expensive = true;
    } else if (world == SPANNED_FAILED) {
        run->status.phase = SESSION_FAILED;
        error_set(&run->status.error, ERR_REFUSED,
                  "a system tracer is set: <0.99.0>. Stop the tool that owns it first");
    } else if (world == SPANNED_MANY) {
        set_ended(run, SPANS_END_EVENTS);
        run->every = 100;
        run->skipped = 1204;
    } else if (world != SPANNED_LIGHT && world != SPANNED_WAITS) {
        set_ended(run, world == SPANNED_NONE ? SPANS_END_TIME : SPANS_END_ROOTS);
    }
    return run;
}

void world_spans_earlier(struct spans_run *run)
{
    event_feed(run->spans, "-9000000 101 root <0.70.0> - <0.70.0> 0 0 - - 0 early:root/0");
    event_feed(run->spans, "-1000000 102 return <0.70.0> - <0.70.0> 0 0 - - 0 -");
    spans_build(run->spans);
    run->roots++;
    run->version++;
}
