/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System events as rows: their tables, fields and groups. */
#include "beamtop/trace/events_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/text.h"

#define EVENT_ROW(id, word, limit, least, unit) {word, unit, limit, least},
const struct system_event_row system_event_rows[SYSTEM_EVENTS] = {SYSTEM_EVENT_LIST(EVENT_ROW)};
#undef EVENT_ROW

#define EVENTS_KEY(id, key, text) {key, text},
static const struct {
    const char *key, *text;
} ends[] = {EVENTS_END_LIST(EVENTS_KEY)};
#undef EVENTS_KEY

static const char *const bys[EVENTS_BYS] = {"process", "function", "event"};

const struct system_event system_event_unknown = {
    .ms = -1, .words = -1, .limit = -1, .dropped = -1};

enum system_event_kind system_event_find(struct slice word)
{
    enum system_event_kind kind = 0;
    while (kind < SYSTEM_EVENTS && !slice_is(word, system_event_rows[kind].word))
        kind++;
    return kind;
}

static void put_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text);
}

static void put_value(struct system_event *e)
{
    char *out = e->value, text[40];
    const size_t size = sizeof e->value;
    if (e->kind == EVENT_LARGE_HEAP && e->words >= 0)
        snprintf(out, size, "%s words", text_integer(text, sizeof text, e->words));
    else if (e->ms >= 0)
        snprintf(out, size, "%s ms", text_integer(text, sizeof text, e->ms));
    else if (e->kind == EVENT_OFF)
        snprintf(out, size, "off: %s dropped", text_integer(text, sizeof text, e->dropped));
    else if (e->kind == EVENT_ON)
        snprintf(out, size, "on again from %s", text_integer(text, sizeof text, e->limit));
    else
        put_text(out, size, *e->port ? e->port : e->state);
}

void system_event_complete(struct system_event *e)
{
    if (!text_time(e->time, sizeof e->time, e->wall_us, 0, 1))
        put_text(e->time, sizeof e->time, "-");
    put_value(e);
    put_text(e->function, sizeof e->function, *e->in ? e->in : *e->out ? e->out : e->peer);
}

/* ---- Fields */

#define ROW struct system_event
static const struct field event_fields[] = {
    FIELD("wall_us", COUNT, wall_us,
          "when beamtop's collector took it, by the node's own clock, µs since the epoch: up to "
          "0.1 s after the event"),
    FIELD("event", TEXT, event, "the VM's name of it", .title = "EVENT", .width = 18),
    FIELD("pid", TEXT, who, "the process; of `long_schedule` also a port", .title = "PID",
          .width = 12),
    FIELD("name", TEXT, name,
          "its registered name, label or initial call; null: unknown: it had ended when beamtop "
          "asked, or too many had events at once",
          .title = "NAME", .look = LOOK_NAME, .width = 24),
    FIELD("ms", COUNT, ms, "`long_gc` and `long_schedule`: how long it took, ms"),
    FIELD("words", COUNT, words,
          "`long_gc` and `large_heap`: size of its heaps' blocks after the collection, in words"),
    FIELD("in", TEXT, in, "`long_schedule`: the function with which it was scheduled in"),
    FIELD("out", TEXT, out, "… and out; of a port what it did"),
    FIELD("port", TEXT, port,
          "`busy_port` and `busy_dist_port`: the port that the process waits for"),
    FIELD("peer", TEXT, peer, "its driver; of `busy_dist_port` the node behind it"),
    FIELD("state", TEXT, state,
          "`long_message_queue`: `long`, `short` again; `off`, `on`: too many of this event came, "
          "so the node watches for it no more, or again"),
    FIELD("limit", COUNT, limit, "of `off` and `on`: the next limit"),
    FIELD("dropped", COUNT, dropped, "of `off`: events of any kind that have no row"),
    FIELD("time", TEXT, time, "of `wall_us`, UTC", .title = "TIME (UTC)", .width = 10),
    FIELD("value", TEXT, value, "the number that matters", .title = "VALUE", .width = 24),
    FIELD("function", TEXT, function, "`in`, or `out`", .title = "IN", .look = LOOK_FUNCTION,
          .width = 24, .grows = true),
};
FIELD_COLUMNS(system_event_fields, "event", event_fields, 3, "time event value name pid function");
#undef ROW

#define ROW struct system_event_group
#define KIND_COUNT(KIND, KEY, TITLE)                                                               \
    FIELD(KEY, COUNT, of[KIND], "of them, " KEY, .title = TITLE, .width = 8)
static const struct field group_fields[] = {
    FIELD("key", TEXT, key, "the process by its name, the function, or the event", .title = "GROUP",
          .look = LOOK_NAME, .width = 30, .grows = true),
    FIELD("events", COUNT, events, "events of the group", .title = "EVENTS", .width = 8),
    KIND_COUNT(EVENT_LONG_GC, "long_gc", "GC"),
    KIND_COUNT(EVENT_LONG_SCHEDULE, "long_schedule", "SCHED"),
    KIND_COUNT(EVENT_LARGE_HEAP, "large_heap", "HEAP"),
    KIND_COUNT(EVENT_LONG_QUEUE, "long_message_queue", "QUEUE"),
    KIND_COUNT(EVENT_BUSY_PORT, "busy_port", "PORT"),
    KIND_COUNT(EVENT_BUSY_DIST_PORT, "busy_dist_port", "DIST"),
    FIELD("max_ms", COUNT, max_ms, "the longest, ms", .title = "MAX MS", .width = 8),
    FIELD("max_words", COUNT, max_words, "the largest heap, words", .title = "MAX WORDS",
          .look = LOOK_SHORT, .width = 10),
    FIELD("last_us", COUNT, last_us, "the last one, as `wall_us`"),
    FIELD("last", TEXT, last, "of `last_us`, UTC", .title = "LAST (UTC)", .width = 10),
};
FIELD_COLUMNS(system_event_group_fields, "group", group_fields, 1,
              "key events long_gc long_schedule large_heap long_message_queue busy_port "
              "busy_dist_port max_ms max_words last");
#undef KIND_COUNT
#undef ROW

/* ---- Groups */

enum events_by events_by_key(const char *key)
{
    enum events_by by = 0;
    while (by < EVENTS_BYS && strcmp(key, bys[by]) != 0)
        by++;
    return by;
}

const char *events_by_name(enum events_by by)
{
    return bys[by];
}

static const char *group_key(enum events_by by, const struct system_event *e)
{
    if (by == EVENTS_BY_EVENT)
        return e->event;
    if (by == EVENTS_BY_FUNCTION)
        return *e->function ? e->function : "unknown";
    return *e->name ? e->name : e->who;
}

static struct system_event_group *find_group(struct system_event_groups *groups, const char *key)
{
    for (size_t i = 0; i < groups->n; i++)
        if (strcmp(groups->rows[i].key, key) == 0)
            return &groups->rows[i];
    if (groups->n == EVENT_GROUPS)
        return NULL;
    struct system_event_group *g = &groups->rows[groups->n++];
    *g = (struct system_event_group){.max_ms = -1, .max_words = -1};
    snprintf(g->key, sizeof g->key, "%s", key);
    return g;
}

void system_event_group(struct system_event_groups *groups, enum events_by by,
                        const struct system_event *e)
{
    if (e->kind >= SYSTEM_EVENTS)
        return;
    struct system_event_group *g = find_group(groups, group_key(by, e));
    if (!g) {
        groups->others++;
        return;
    }
    g->events++;
    g->of[e->kind]++;
    g->max_ms = e->ms > g->max_ms ? e->ms : g->max_ms;
    g->max_words = e->words > g->max_words ? e->words : g->max_words;
    g->last_us = e->wall_us;
    snprintf(g->last, sizeof g->last, "%s", e->time);
}

static int compare_groups(const void *a, const void *b)
{
    const struct system_event_group *x = a, *y = b;
    if (x->events != y->events)
        return x->events < y->events ? 1 : -1;
    return strcmp(x->key, y->key);
}

void system_event_groups_sort(struct system_event_groups *groups)
{
    qsort(groups->rows, groups->n, sizeof groups->rows[0], compare_groups);
}

/* ---- The end, and what is kept */

const char *events_end_key(enum events_end end)
{
    return ends[end].key;
}

const char *events_end_text(enum events_end end)
{
    return ends[end].text;
}

size_t events_run_n(const struct events_run *run)
{
    const uint64_t there = run->n_events - run->n_before;
    return there < EVENTS_KEPT ? (size_t)there : EVENTS_KEPT;
}

const struct system_event *events_run_event(const struct events_run *run, size_t i)
{
    return &run->kept[(run->n_events - events_run_n(run) + i) % EVENTS_KEPT];
}
