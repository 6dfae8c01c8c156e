/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system events of a recording. A file may be anyone's: a row of an event that is none is left
 * out. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "recording/recording_internal.h"

size_t recording_event_runs(struct recording *r, int64_t from, int64_t to, int64_t **ids)
{
    sqlite3_stmt *s =
        recording_ask(r,
                      "SELECT id FROM system_event_run r WHERE tick <= ? AND coalesce(end_tick,"
                      " (SELECT max(id) FROM tick)) >= ? ORDER BY id LIMIT ?",
                      NUMBERS(to, from, LIMIT_RECORDED_EVENT_RUNS));
    int64_t *list = alloc_zero(LIMIT_RECORDED_EVENT_RUNS, sizeof *list);
    size_t n = 0;
    while (n < LIMIT_RECORDED_EVENT_RUNS && recording_row(r, s))
        list[n++] = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    *ids = list;
    return n;
}

int64_t recording_events_id(struct recording *r, int64_t tick)
{
    return recording_int(r, "SELECT max(id) FROM system_event_run WHERE tick <= ?", tick, 0);
}

/* ---- the run */

FIND_KEY(events_end_key, events_end, EVENTS_ENDS)

/* What it came to, where it had ended. */
static void take_end(struct events_run *run, const struct events_row *row)
{
    run->status.phase = SESSION_ENDED;
    run->status.check.done = row->clean >= 0;
    run->status.check.clean = row->clean == 1;
    slice_to_chars(row->not_clean, run->status.check.text, sizeof run->status.check.text);
    run->end = events_end_key_find(row->reason);
    run->end = run->end < EVENTS_ENDS ? run->end : EVENTS_LOST;
    run->seen = row->seen;
    run->missed = row->missed;
}

/* What had come until then: events that were dropped have no row. */
static void count_events(struct recording *r, int64_t id, int64_t tick, struct events_run *run)
{
    sqlite3_stmt *s =
        recording_ask(r,
                      "SELECT count(*) - count(next_limit), total(dropped) FROM system_event"
                      " WHERE run = ? AND tick <= ?",
                      NUMBERS(id, tick));
    if (recording_row(r, s)) {
        run->missed = (uint64_t)db_column_clamped(s, 1, 0);
        run->seen = (uint64_t)db_column_clamped(s, 0, 0) + run->missed;
    }
    sqlite3_finalize(s);
}

bool recording_events_of(struct recording *r, int64_t id, int64_t tick, struct events_run *out)
{
    struct events_row row = {0};
    struct arena arena;
    sqlite3_stmt *s = recording_select(r, TABLE_EVENTS_RUN, " WHERE id = ?1", &id);
    *out = (struct events_run){0};
    arena_init(&arena);
    const bool found = recording_row(r, s);
    if (found) {
        (void)tables_read(s, TABLE_EVENTS_RUN, &arena, &row);
        out->session = row.session;
        out->wall_us = row.wall_us;
        out->arm_us = row.arm_us;
        for (size_t i = 0; i < SYSTEM_EVENTS; i++)
            out->limits[i] = row.limits[i] > 0 ? row.limits[i] : 0;
        out->status.phase = SESSION_RUNNING;
        if (row.end_tick >= 0 && row.end_tick <= tick && row.reason.len > 0)
            take_end(out, &row);
        else
            count_events(r, id, tick, out);
    }
    sqlite3_finalize(s);
    arena_clear(&arena);
    return found;
}

bool recording_events_thinned(struct recording *r, int64_t id)
{
    return recording_int(r,
                         "SELECT coalesce((SELECT min(number) > 1 FROM system_event WHERE run ="
                         " r.id), seen > missed, 0) FROM system_event_run r WHERE id = ?",
                         id, 0) == 1;
}

/* ---- its events */

/* False: it is of a later program, or damaged. */
static bool read_event(sqlite3_stmt *s, struct arena *arena, struct system_event_record *row)
{
    struct system_event *e = &row->of;
    *row = (struct system_event_record){.of = system_event_unknown};
    arena_reset(arena);
    (void)tables_read(s, TABLE_SYSTEM_EVENT, arena, row);
    slice_to_chars(row->name, e->name, sizeof e->name);
    slice_to_chars(row->in, e->in, sizeof e->in);
    slice_to_chars(row->out, e->out, sizeof e->out);
    e->kind = system_event_find(slice_of(e->event));
    if (e->kind == SYSTEM_EVENTS)
        return false;
    e->has_pid = e->who[0] == '<';
    if (e->has_pid)
        snprintf(e->who, sizeof e->who, PID_FORMAT, PID_NUMBERS(&e->pid));
    if (strcmp(e->state, "off") == 0)
        e->kind = EVENT_OFF;
    else if (strcmp(e->state, "on") == 0)
        e->kind = EVENT_ON;
    system_event_complete(e);
    return true;
}

int recording_system_events(struct recording *r, int64_t id, int64_t from, int64_t to,
                            system_event_fn *put, void *arg, struct error *err)
{
    sqlite3_stmt *s =
        recording_select(r, TABLE_SYSTEM_EVENT,
                         " WHERE run = ?1 AND tick BETWEEN ?2 AND ?3 ORDER BY number LIMIT ?4",
                         NUMBERS(id, from, to, LIMIT_RECORDED_EVENTS));
    struct system_event_record row;
    struct arena arena;
    int rc = 0;
    arena_init(&arena);
    while (rc == 0 && recording_row(r, s))
        if (read_event(s, &arena, &row))
            rc = put(arg, &row.of, err);
    sqlite3_finalize(s);
    arena_clear(&arena);
    return rc == 0 ? recording_failed(r, err) : rc;
}

void recording_events_kept(struct recording *r, int64_t id, int64_t tick, struct events_run *run)
{
    sqlite3_stmt *s = recording_select(
        r, TABLE_SYSTEM_EVENT,
        " WHERE run = ?1 AND tick <= ?2 AND number > (SELECT max(number) - ?3 FROM system_event"
        " WHERE run = ?1 AND tick <= ?2) ORDER BY number LIMIT ?3",
        NUMBERS(id, tick, EVENTS_KEPT));
    struct system_event_record row;
    struct arena arena;
    bool begun = false;
    arena_init(&arena);
    while (recording_row(r, s)) {
        if (!read_event(s, &arena, &row))
            continue;
        if (!begun && row.number > 0)
            run->n_before = run->n_events = (uint64_t)row.number - 1;
        begun = true;
        run->kept[run->n_events++ % EVENTS_KEPT] = row.of;
    }
    sqlite3_finalize(s);
    arena_clear(&arena);
}
