/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of causal spans: captured ones (tests/unit/model/spans), and made ones. */
#ifndef BEAMTOP_TESTS_SPANS_RUNS_H
#define BEAMTOP_TESTS_SPANS_RUNS_H

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/trace/spans_run.h"
#include "../model/spans/events.h"

static struct spans_run *run_new(bool full)
{
    const struct spans_options options = {
        .full = full, .node = slice_of("shop@host"), .capture = 7};
    struct spans_run *run = spans_run_new(&options);
    snprintf(run->patterns, sizeof run->patterns, "wl:root/1");
    snprintf(run->node, sizeof run->node, "shop@host");
    snprintf(run->otp, sizeof run->otp, "27.3.4");
    run->roots_asked = 20;
    run->every = 1;
    run->for_s = 10;
    run->events_asked = 20000;
    run->seconds = 1.25;
    run->end = SPANS_END_TIME;
    run->wall_us = INT64_C(1700000000123456);
    return run;
}

static void run_build(struct spans_run *run)
{
    spans_build(run->spans);
    for (uint32_t i = 0; i < spans_count(run->spans); i++) {
        const struct span *span = spans_at(run->spans, i);
        run->roots += span->parent == SPAN_NONE;
        run->open += span->parent == SPAN_NONE && span->outcome == SPAN_OPEN;
    }
}

/* The cases of a file whose name begins so; each a second after the one before. */
static struct spans_run *run_read(const char *file, const char *name, bool full)
{
    const char *top = getenv("BEAMTOP_SRCDIR");
    struct spans_run *run = run_new(full);
    char path[4096], line[512];
    bool taken = false;
    snprintf(path, sizeof path, "%s/tests/unit/model/spans/%s.txt", top ? top : ".", file);
    FILE *in = fopen(path, "r");
    if (!in)
        abort();
    while (fgets(line, sizeof line, in)) {
        if (strncmp(line, "case ", 5) == 0) {
            line[strcspn(line, "\n")] = '\0';
            taken = strcmp(line + 5, name) == 0;
        } else if (taken) {
            event_feed(run->spans, line);
            run->events++;
        }
    }
    fclose(in);
    run_build(run);
    return run;
}

/* Names that nobody should trust, and one of 2 KiB. */
#define HOSTILE_NAME "<script>a;b\"\\\n\033[1m\xff\xe2\x80\xae'"

static struct etf_pid run_pid(unsigned n)
{
    return (struct etf_pid){.id = n};
}

static void run_send(struct spans *s, int64_t at, unsigned from, unsigned to, unsigned root,
                     uint64_t serial, enum span_tag tag, uint32_t ref, struct slice text)
{
    struct span_event e = {.kind = SPAN_EVENT_SEND,
                           .at_ns = at,
                           .order = serial,
                           .process.pid = run_pid(from),
                           .peer.pid = run_pid(to),
                           .label = run_pid(root),
                           .serial = serial,
                           .tag = tag,
                           .ref = {.words = {ref}, .n = ref > 0},
                           .words = 5,
                           .text = text};
    spans_feed(s, &e);
    e.kind = SPAN_EVENT_RECEIVE;
    e.process.pid = run_pid(to);
    e.peer.pid = run_pid(from);
    e.at_ns += 500;
    spans_feed(s, &e);
}

/* One root in a process `pid`: calls to `n` servers, one after the other, all with this name. */
static void run_root(struct spans *s, unsigned pid, int64_t at, unsigned n, struct slice text)
{
    struct span_event e = {.kind = SPAN_EVENT_ROOT,
                           .at_ns = at,
                           .process.pid = run_pid(pid),
                           .label = run_pid(pid),
                           .words = 0,
                           .text = text};
    spans_feed(s, &e);
    for (unsigned i = 0; i < n; i++) {
        unsigned server = 10 + i % 40;
        at += 10000;
        run_send(s, at, pid, server, pid, 4 * i + 1, SPAN_TAG_CALL, pid * 1000 + i + 1, text);
        at += 90000;
        run_send(s, at, server, pid, pid, 4 * i + 2, SPAN_TAG_REPLY, pid * 1000 + i + 1, text);
    }
    e.kind = SPAN_EVENT_RETURN;
    e.at_ns = at + 5000;
    e.order = 4 * (uint64_t)n + 9;
    e.class = SPAN_CLASS_ERROR;
    e.label = (struct etf_pid){0};
    spans_feed(s, &e);
}

static struct spans_run *run_hostile(void)
{
    struct spans_run *run = run_new(false);
    char lots[2048];
    memset(lots, 'x', sizeof lots);
    const struct slice bad = slice_of(HOSTILE_NAME), long_one = {lots, sizeof lots};
    const struct etf_pid server = run_pid(10);
    run_root(run->spans, 100, 1000000, 2, bad);
    run_root(run->spans, 101, 2000000, 1, long_one);
    spans_name(run->spans, &(struct span_process){.pid = server}, bad);
    snprintf(run->patterns, sizeof run->patterns, "%s", HOSTILE_NAME);
    snprintf(run->node, sizeof run->node, "%s", HOSTILE_NAME);
    snprintf(run->otp, sizeof run->otp, "%s", "<script>\033");
    run_build(run);
    return run;
}

static void run_function(struct spans *s, int64_t from, int64_t to, unsigned pid, unsigned root,
                         enum span_class class, const char *text)
{
    struct span_event e = {.kind = SPAN_EVENT_ENTER,
                           .at_ns = from,
                           .process.pid = run_pid(pid),
                           .label = run_pid(root),
                           .text = slice_of(text)};
    spans_feed(s, &e);
    e.kind = SPAN_EVENT_LEAVE;
    e.at_ns = to;
    e.class = class;
    spans_feed(s, &e);
}

/* A root whose two calls are made in a function, which another one is in; and one of the server. */
static struct spans_run *run_functions(void)
{
    struct spans_run *run = run_new(false);
    run_root(run->spans, 100, 1000000, 2, slice_of("m:f/1"));
    run_function(run->spans, 1002000, 1202000, 100, 100, SPAN_CLASS_NONE, "m:outer/1");
    run_function(run->spans, 1004000, 1200600, 100, 100, SPAN_CLASS_THROW, "m:inner/2");
    run_function(run->spans, 1020000, 1090000, 10, 100, SPAN_CLASS_NONE, "server:answer/1");
    run_build(run);
    return run;
}

/* Of the root of run_root(). */
static void run_context(struct spans *s, int64_t at, unsigned root, unsigned caller, uint64_t n,
                        const char *ids)
{
    const struct span_event e = {.kind = ids ? SPAN_EVENT_CONTEXT : SPAN_EVENT_CALLER,
                                 .at_ns = at,
                                 .process.pid = run_pid(root),
                                 .peer.pid = run_pid(caller),
                                 .label = run_pid(root),
                                 .serial = n,
                                 .text = slice_of(ids ? ids : "")};
    spans_feed(s, &e);
}

/* A root that two others called, within a span of an application. */
static struct spans_run *run_called(void)
{
    struct spans_run *run = run_new(false);
    const struct etf_pid page = run_pid(51);
    run_root(run->spans, 100, 1000000, 1, slice_of("m:f/1"));
    run_context(run->spans, 1000000, 100, 51, 1, NULL);
    run_context(run->spans, 1000000, 100, 52, 2, NULL);
    run_context(run->spans, 1000000, 100, 0, 0,
                "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7");
    spans_name(run->spans, &(struct span_process){.pid = page}, slice_of("Shop.Page"));
    run_build(run);
    return run;
}

/* So many roots, each with so many calls below it. */
/* A request that goes on on another node, whose clock is 5 s ahead; `side`: that is captured too.
 */
static struct spans_run *run_far(bool side)
{
    static const char *const here[] = {
        "1000000 1 root <0.90.0> - <0.90.0> 0 0 - - 0 m:f/1",
        "2000000 2 send <0.90.0> stock@host/srv <0.90.0> 0 1 call #Ref<1.2.3> 10 work",
        "9000000 3 receive <0.90.0> stock@host<0.55.0> <0.90.0> 4 5 reply #Ref<1.2.3> 4 -",
        "9500000 4 return <0.90.0> - <0.90.0> 0 0 - - 0 -",
    };
    static const char *const there[] = {
        "5002100000 1 receive <0.55.0> shop@host<0.90.0> shop@host<0.90.0> 0 1 call #Ref<1.2.3> 10 "
        "work",
        "5008900000 6 send <0.55.0> - shop@host<0.90.0> 3 5 reply #Ref<1.2.3> 4 -",
        "name <0.55.0> srv",
    };
    struct spans_run *run = run_new(false), *other = run_new(false);
    spans_free(other->spans);
    other->spans = spans_new(&(struct spans_options){.node = slice_of("stock@host")});
    snprintf(other->node, sizeof other->node, "stock@host");
    other->events = 2;
    other->end = SPANS_END_STOPPED;
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        event_feed(run->spans, here[i]);
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        event_feed(other->spans, there[i]);
    run_build(run);
    if (side)
        spans_run_join(run, &(const struct spans_run *){other}, 1);
    spans_run_free(other);
    return run;
}

static struct spans_run *run_large(unsigned roots, unsigned calls)
{
    struct spans_run *run = run_new(false);
    for (unsigned i = 0; i < roots; i++)
        run_root(run->spans, 100 + i, INT64_C(10000000) * (i + 1), calls, slice_of("m:f/1"));
    run_build(run);
    return run;
}

#endif
