/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording with known system events. */
#ifndef TESTS_STORE_MADE_EVENTS_H
#define TESTS_STORE_MADE_EVENTS_H

#include <string.h>

#include "ticks.h"

static inline struct system_event made_event(enum system_event_kind kind, int number)
{
    struct system_event e = system_event_unknown;
    e.kind = kind;
    e.wall_us = 1700000000000000LL + number;
    snprintf(e.event, sizeof e.event, "%s",
             system_event_rows[kind < SYSTEM_EVENTS ? kind : EVENT_LARGE_HEAP].word);
    return e;
}

static inline struct system_event made_process(enum system_event_kind kind, int number)
{
    struct system_event e = made_event(kind, number);
    e.has_pid = true;
    e.pid = (struct etf_pid){.id = 80 + (uint32_t)number, .serial = 2, .creation = 7};
    snprintf(e.who, sizeof e.who, PID_FORMAT, PID_NUMBERS(&e.pid));
    snprintf(e.name, sizeof e.name, "shop_%d", number);
    e.words = 300000 + number;
    return e;
}

static inline struct system_event made_schedule(void)
{
    struct system_event e = made_event(EVENT_LONG_SCHEDULE, 3);
    e.ms = 101;
    snprintf(e.who, sizeof e.who, "#Port<0.7>");
    snprintf(e.in, sizeof e.in, "shop:in/1");
    snprintf(e.out, sizeof e.out, "input");
    return e;
}

static inline struct system_event made_cut(void)
{
    struct system_event e = made_event(EVENT_OFF, 4);
    snprintf(e.state, sizeof e.state, "off");
    e.dropped = 1000;
    e.limit = 600000;
    return e;
}

static inline struct events_run *begin_run(struct recorder *r)
{
    struct events_run *run = calloc(1, sizeof *run);
    run->limits[EVENT_LARGE_HEAP] = 300000;
    run->limits[EVENT_BUSY_PORT] = 1;
    run->session = true;
    run->arm_us = 150;
    run->wall_us = 1700000001000000LL;
    recorder_events_begin(r, run);
    return run;
}

static inline void end_run(struct recorder *r, struct events_run *run, enum events_end end)
{
    run->end = end;
    run->seen = 1005;
    run->missed = 1000;
    run->status.check.done = run->status.check.clean = true;
    recorder_events_end(r, run);
    free(run);
}

/* Ticks 1 to 3: nothing; one event; four, of which one says that there were too many, and the end.
 */
static inline void write_events(const char *path)
{
    struct error err = {0};
    struct recorder *r = begin(path, 0, false);
    struct model *m = model_new();
    assert_int_equal(tick(r, m, 1, &err), 0);
    struct events_run *run = begin_run(r);
    struct system_event e = made_process(EVENT_LARGE_HEAP, 1);
    recorder_system_event(r, &e);
    assert_int_equal(tick(r, m, 2, &err), 0);
    const struct system_event more[] = {made_process(EVENT_LARGE_HEAP, 2), made_schedule(),
                                        made_cut(), made_process(EVENT_BUSY_PORT, 5)};
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        recorder_system_event(r, &more[i]);
    end_run(r, run, EVENTS_TIME);
    assert_int_equal(tick(r, m, 3, &err), 0);
    model_free(m);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
}

#endif
