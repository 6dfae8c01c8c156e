/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures of causal spans that never were: of the events in tests/unit/model/spans. */
#ifndef TESTS_RECORDING_MADE_SPANS_H
#define TESTS_RECORDING_MADE_SPANS_H

#include "../model/spans/events.h"
#include "beamtop/trace/spans_run.h"

#define MADE_SPANS_WALL_US 1700000001500000

static inline struct spans_run *made_spans_new(bool full, uint64_t capture)
{
    struct spans_run *run =
        spans_run_new(&(struct spans_options){full, slice_of("shop@host"), capture});
    snprintf(run->patterns, sizeof run->patterns, "wl:root(_)");
    snprintf(run->status.procs, sizeof run->status.procs, "all");
    run->status.phase = SESSION_ENDED;
    run->status.check = (struct session_check){.done = true, .clean = true};
    run->roots_asked = 20;
    run->every = 1;
    run->for_s = 10;
    run->events_asked = 20000;
    run->functions = 1;
    run->calls_per_s = 12.5;
    run->load = 0.001;
    run->skipped = 3;
    run->end = SPANS_END_ROOTS;
    run->mono_ns = -1000;
    run->wall_us = MADE_SPANS_WALL_US;
    run->seconds = 2.5;
    run->arm_us = 200;
    run->disarm_us = 300;
    run->target_us = 900;
    run->bytes = 4096;
    return run;
}

/* What a session counts of what came. */
static inline void made_spans_end(struct spans_run *run)
{
    spans_build(run->spans);
    run->events = spans_events(run->spans);
    for (uint32_t i = 0; i < spans_count(run->spans); i++) {
        const struct span *span = spans_at(run->spans, i);
        run->roots += span->parent == SPAN_NONE;
        run->open += span->parent == SPAN_NONE && span->outcome == SPAN_OPEN;
    }
    run->version++;
}

/* Requests shop_web:handle/2, one a second: own work, a call of shop_db, a sleep. In ms. */
struct made_requests {
    int n, own, queued, served, slept;
    int open; /* so many of them have not returned */
    bool light;
    enum spans_end end; /* why the capture ended; none: all roots have returned */
};

static inline void made_request(struct spans *s, const struct made_requests *of, int i)
{
    char line[256];
    const int sent = 1000 * i + of->own, taken = sent + of->queued, replied = taken + of->served;
    const int end = replied + of->slept, p = 100 + i;
#define FEED(...) (snprintf(line, sizeof line, __VA_ARGS__), event_feed(s, line))
    FEED("%d000000 1 root <0.%d.0> - <0.%d.0> 0 0 - - 0 shop_web:handle/2", 1000 * i, p, p);
    FEED("%d000000 2 send <0.%d.0> <0.7.0> <0.%d.0> 0 1 call #Ref<0.0.0.%d> 5 get", sent, p, p, i);
    FEED("%d000000 3 receive <0.7.0> <0.%d.0> <0.%d.0> 0 1 call #Ref<0.0.0.%d> 5 get", taken, p, p,
         i);
    FEED("%d000000 4 send <0.7.0> <0.%d.0> <0.%d.0> 1 %d reply #Ref<0.0.0.%d> 5 -", replied, p, p,
         1000 + i, i);
    FEED("%d000000 5 receive <0.%d.0> <0.7.0> <0.%d.0> 1 %d reply #Ref<0.0.0.%d> 5 -", replied, p,
         p, 1000 + i, i);
    if (of->slept > 0 && !of->light) {
        FEED("%d000000 6 out <0.%d.0> - - 0 0 - - 0 timer:sleep/1", replied, p);
        FEED("%d000000 7 in <0.%d.0> - - 0 0 - - 0 timer:sleep/1", end, p);
    }
    if (i >= of->open)
        FEED("%d000000 8 return <0.%d.0> - - 0 0 - - 0 -", end, p);
#undef FEED
}

static inline struct spans_run *made_requests_run(const struct made_requests *of)
{
    struct spans_run *run = made_spans_new(!of->light, 1);
    run->end = of->end != SPANS_END_NONE ? of->end : SPANS_END_ROOTS;
    for (int i = 0; i < of->n; i++)
        made_request(run->spans, of, i);
    spans_name(run->spans, &(struct span_process){.pid = {.id = 7}}, slice_of("shop_db"));
    made_spans_end(run);
    return run;
}

/* A case of a file of captured events, such as otp27.txt and "full chain". The caller's to free. */
static inline struct spans_run *made_spans(const char *file, const char *name)
{
    const char *top = getenv("BEAMTOP_SRCDIR");
    char path[4096], line[512], head[64];
    bool in = false;
    struct spans_run *run = made_spans_new(strncmp(name, "full", 4) == 0, 7);
    snprintf(path, sizeof path, "%s/tests/unit/model/spans/%s", top ? top : ".", file);
    snprintf(head, sizeof head, "case %s\n", name);
    FILE *f = fopen(path, "r");
    if (!f)
        abort();
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "case ", 5) == 0)
            in = strcmp(line, head) == 0;
        else if (in)
            event_feed(run->spans, line);
    fclose(f);
    made_spans_end(run);
    return run;
}

#endif
