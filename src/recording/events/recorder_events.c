/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System events on their way into a recording: a row when they come, written with a tick. */
#include "recording/recorder_internal.h"

static struct events_row row_of_run(const struct recorder *r, const struct events_run *run)
{
    const struct session_check *check = &run->status.check;
    const bool ended = run->end != EVENTS_RUNNING;
    return (struct events_row){.id = r->event_runs,
                               .end_tick = -1,
                               .wall_us = run->wall_us,
                               .clean = ended && check->done ? check->clean : -1,
                               .seen = ended ? run->seen : UINT64_MAX,
                               .missed = ended ? run->missed : UINT64_MAX,
                               .arm_us = run->arm_us,
                               .session = run->session,
                               .reason = slice_of(ended ? events_end_key(run->end) : ""),
                               .not_clean = slice_of(ended ? check->text : "")};
}

void recorder_events_begin(struct recorder *r, const struct events_run *run)
{
    if (r->ended)
        return;
    r->event_runs++;
    r->system_events = 0;
    struct events_row row = row_of_run(r, run);
    for (size_t i = 0; i < SYSTEM_EVENTS; i++)
        row.limits[i] = run->limits[i];
    (void)recorder_add(r, TABLE_EVENTS_RUN, &row);
}

void recorder_system_event(struct recorder *r, const struct system_event *e)
{
    if (r->ended)
        return;
    const struct system_event_record row = {.run = r->event_runs,
                                            .number = ++r->system_events,
                                            .name = slice_of(e->name),
                                            .in = slice_of(e->in),
                                            .out = slice_of(e->out),
                                            .of = *e};
    (void)recorder_add(r, TABLE_SYSTEM_EVENT, &row);
}

void recorder_events_end(struct recorder *r, const struct events_run *run)
{
    if (r->ended)
        return;
    const struct events_row row = row_of_run(r, run);
    (void)recorder_add(r, TABLE_EVENTS_END, &row);
}
