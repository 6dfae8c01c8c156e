/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System events in a recording: a run for them after the other, up to one cap of events. */
#include "beamtop/trace/events.h"
#include "app/cli/event_options.h"
#include "record_series.h"
#include "record_state.h"

/* ---- events of the session */

static void begin_events_record(struct record_series *r)
{
    if (r->begun)
        return;
    r->begun = true;
    r->number++;
    record_series_works(r);
    recorder_events_begin(r->run->recorder, events_session_run(r->session));
}

static void on_recorded_event(void *arg, const struct system_event *e)
{
    struct record_series *r = arg;
    if (r->done)
        return;
    begin_events_record(r);
    recorder_system_event(r->run->recorder, e);
    r->events += e->kind < SYSTEM_EVENTS;
}

static void recorded_events_changed(struct record_series *r)
{
    if (events_session_run(r->session)->status.phase == SESSION_RUNNING)
        begin_events_record(r);
}

static void events_refused(struct record_series *r, const struct error *why)
{
    r->over = r->over || why->code == ERR_USAGE; /* it does not mend itself */
    (void)record_series_refused(r, why);
}

static void tell_event_cap(struct record_series *r)
{
    struct error err = {0};
    error_set(&err, ERR_LIMIT, "the recording has the %lld events of --system-event-cap",
              (long long)r->run->options->event_cap);
    record_series_gives_up(r, &err);
}

static void recorded_events_ended(struct record_series *r)
{
    const struct events_run *run = events_session_run(r->session);
    const struct error why = session_trouble(r->session);
    if (run->status.check.unarmed)
        return;
    begin_events_record(r);
    recorder_events_end(r->run->recorder, run);
    if (run->end == EVENTS_CAP)
        tell_event_cap(r);
    else if (why.code != ERR_NONE && why.code != ERR_LOST && !r->stopping)
        (void)record_series_refused(r, &why);
}

/* ---- the kind */

static int open_recorded_events(struct record_series *r, const struct session_port *port,
                                struct error *err)
{
    static const struct session_handlers handlers = {.on_change = record_series_changed,
                                                     .on_system_event = on_recorded_event};
    struct events_options options = event_options_of(r->run->options);
    const unsigned left = options.events - r->events;
    options.for_ms = EVENTS_MOST_S * 1000u;
    options.events = r->events < options.events ? left : 1;
    r->begun = false;
    return events_open(&r->session, &options, port, &handlers, r, err);
}

const struct record_kind record_events_kind = {.not_set = "system events are not watched",
                                               .works = "system events are watched now",
                                               .what = "a watch for system events",
                                               .open = open_recorded_events,
                                               .refused = events_refused,
                                               .changed = recorded_events_changed,
                                               .ended = recorded_events_ended};
