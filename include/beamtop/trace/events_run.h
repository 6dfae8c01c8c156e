/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Data of system events of a node: an event, groups of events, and the state of a session that
 * watches for them. Sinks and views read it; trace/events.h makes it. Plain data, one thread. */
#ifndef BEAMTOP_TRACE_EVENTS_RUN_H
#define BEAMTOP_TRACE_EVENTS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/etf/term.h"
#include "beamtop/model/field.h"
#include "beamtop/trace/status.h"

/* X(ID, the VM's word, default limit, least, unit of the limit): ms, words, messages; no unit: no
   limit. */
#define SYSTEM_EVENT_LIST(X)                                                                       \
    X(EVENT_LONG_GC, "long_gc", 100, 1, "ms")                                                      \
    X(EVENT_LONG_SCHEDULE, "long_schedule", 100, 1, "ms")                                          \
    X(EVENT_LARGE_HEAP, "large_heap", 8000000, 262144, "words")                                    \
    X(EVENT_LONG_QUEUE, "long_message_queue", 5000, 10, "messages")                                \
    X(EVENT_BUSY_PORT, "busy_port", 1, 1, "")                                                      \
    X(EVENT_BUSY_DIST_PORT, "busy_dist_port", 1, 1, "")
#define SYSTEM_EVENT_ENUM(id, ...) id,
enum system_event_kind {
    SYSTEM_EVENT_LIST(SYSTEM_EVENT_ENUM) SYSTEM_EVENTS,
    EVENT_OFF = SYSTEM_EVENTS, /* there were too many of one: it is not watched for a time */
    EVENT_ON,                  /* it is watched again, with a higher limit */
};
#undef SYSTEM_EVENT_ENUM

struct system_event_row {
    const char *word, *unit;
    int64_t limit, least;
};
/* Indexed by the events of the VM. */
extern const struct system_event_row system_event_rows[SYSTEM_EVENTS];

/* The first releases with a trace session that has system events, and with events of queues. */
#define OTP_SYSTEM_SESSIONS 28
#define OTP_QUEUE_EVENTS 27

/* Numbers below zero and empty texts are unknown, or not of this kind. */
struct system_event {
    int64_t wall_us; /* by the node's clock: up to 0.1 s after it */
    enum system_event_kind kind;
    char event[24]; /* the word; of EVENT_OFF and EVENT_ON that of the event meant */
    struct etf_pid pid;
    bool has_pid;
    char who[40]; /* the process, or a port of long_schedule, as text */
    char name[120];
    int64_t ms, words;
    char in[160], out[160]; /* of long_schedule: functions; of a port, out: what it did */
    char port[40];          /* what is busy … */
    char peer[120];         /* … and its driver, or the node behind it */
    char state[12];         /* long, short; off, on */
    int64_t limit;          /* of EVENT_ON and EVENT_OFF: the next limit */
    int64_t dropped;        /* of EVENT_OFF: events without a row */
    char time[16];          /* for people: of the day, UTC */
    char value[80];         /* for people: the number that matters */
    char function[160];     /* for people: in which function */
};

extern const struct system_event system_event_unknown; /* all of its numbers are */
/* SYSTEM_EVENTS: there is none of this word. */
enum system_event_kind system_event_find(struct slice word);
/* Fills in what is for people, from the rest. */
void system_event_complete(struct system_event *e);

extern const struct field_list system_event_fields, system_event_group_fields;

/* ---- Groups */

enum events_by { EVENTS_BY_PROCESS, EVENTS_BY_FUNCTION, EVENTS_BY_EVENT, EVENTS_BYS };
/* EVENTS_BYS: there is none of this name. */
enum events_by events_by_key(const char *key);
const char *events_by_name(enum events_by by);

struct system_event_group {
    char key[160];
    int64_t events, of[SYSTEM_EVENTS];
    int64_t max_ms, max_words; /* -1: none had any */
    int64_t last_us;
    char last[16]; /* for people, of the day */
};
#define EVENT_GROUPS 500
struct system_event_groups {
    size_t n;
    int64_t others; /* events beyond so many groups */
    struct system_event_group rows[EVENT_GROUPS];
};
void system_event_group(struct system_event_groups *groups, enum events_by by,
                        const struct system_event *e);
/* Most events first. */
void system_event_groups_sort(struct system_event_groups *groups);

/* ---- A session */

/* Why it ended: the node's word, as people read it. */
#define EVENTS_END_LIST(X)                                                                         \
    X(EVENTS_RUNNING, "running", "not ended")                                                      \
    X(EVENTS_TIME, "time", "ended: time")                                                          \
    X(EVENTS_CAP, "events", "ended: event cap")                                                    \
    X(EVENTS_STOPPED, "stopped", "stopped")                                                        \
    X(EVENTS_UNASKED, "unasked", "ended by the node: beamtop did not ask for 10 s")                \
    X(EVENTS_TAKEN, "taken", "ended: another tool took it off the node")                           \
    X(EVENTS_KILLED, "killed", "ended: a helper process was killed")                               \
    X(EVENTS_LOST, "connection", "ended: connection lost")
#define EVENTS_ENUM(id, key, text) id,
enum events_end { EVENTS_END_LIST(EVENTS_ENUM) EVENTS_ENDS };
#undef EVENTS_ENUM
const char *events_end_key(enum events_end end);
const char *events_end_text(enum events_end end);

#define EVENTS_KEPT 1000 /* the last ones, for a screen */

struct events_run {
    struct session_status status;
    int64_t limits[SYSTEM_EVENTS]; /* as the node has them now; 0: it does not watch for this */
    bool session;                  /* a trace session; else the node's one system monitor */
    uint64_t seen, missed;         /* events; of them without a row: too many at once */
    int64_t wall_us;               /* when it was armed, by the node's clock */
    double arm_us;                 /* arming, on the node */
    enum events_end end;
    struct system_event kept[EVENTS_KEPT]; /* a ring: the newest is number n_events - 1 */
    uint64_t n_events;
    uint64_t n_before; /* of them, those before the first one that is there; of a recording */
};
/* The i-th of those that are kept, the oldest first. */
size_t events_run_n(const struct events_run *run);
const struct system_event *events_run_event(const struct events_run *run, size_t i);

#endif
