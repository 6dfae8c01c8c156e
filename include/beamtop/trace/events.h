/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session that watches for system events of a node: long garbage collections, long schedules,
 * large heaps, long message queues, busy ports. docs/events.md is the protocol. From OTP 28 on it
 * is a trace session beside all others; before, it is the node's one system monitor, and refused
 * where another process has that. */
#ifndef BEAMTOP_TRACE_EVENTS_H
#define BEAMTOP_TRACE_EVENTS_H

#include "beamtop/trace/events_run.h"
#include "beamtop/trace/session.h"

#define EVENTS_MOST 100000
#define EVENTS_MOST_S 3600

struct events_options {
    int64_t limits[SYSTEM_EVENTS]; /* 0: not watched; else as system_event_rows has them */
    unsigned for_ms;               /* up to EVENTS_MOST_S */
    unsigned events;               /* ends after so many: 1 to EVENTS_MOST */
    bool hold;                     /* waits for session_confirm() before anything is set */
};
void events_defaults(struct events_options *o);

/* ERR_USAGE: an option is out of its range, or this release knows none of the events. */
int events_open(struct session **out, const struct events_options *options,
                const struct session_port *port, const struct session_handlers *handlers, void *arg,
                struct error *err);
/* Of a session that events_open() has opened, as long as it is. */
const struct events_run *events_session_run(const struct session *s);

#endif
