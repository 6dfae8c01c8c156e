/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captured causal spans, built again of their events. A file may be anyone's: what no recorder
 * writes is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "recording/recording_internal.h"

#define MOST_WALL_US INT64_C(4000000000000000)                        /* of a run: the year 2096 */
#define MOST_MONO_NS (INT64_C(1) << 61)                               /* either way, as of events */
#define MOST_PROCESSES (LIMIT_SPAN_PROCESSES + LIMIT_SPAN_EVENTS + 2) /* an event has a label */

static void refuse(struct recording *r)
{
    recording_refuse(r, "a capture of spans in the recording is damaged");
}

size_t recording_spans(struct recording *r, int64_t from, int64_t to, const int64_t **ids)
{
    sqlite3_stmt *s = NULL;
    int64_t *list = alloc_zero(LIMIT_RECORDED_SPAN_RUNS, sizeof *list);
    size_t n = 0;
    if (recording_ask(r, &s,
                      "SELECT id FROM (SELECT id FROM span_run WHERE tick BETWEEN ? AND ?"
                      " ORDER BY id DESC LIMIT ?) ORDER BY id")) {
        sqlite3_bind_int64(s, 1, from);
        sqlite3_bind_int64(s, 2, to);
        sqlite3_bind_int64(s, 3, LIMIT_RECORDED_SPAN_RUNS);
        while (n < LIMIT_RECORDED_SPAN_RUNS && recording_row(r, s))
            list[n++] = sqlite3_column_int64(s, 0);
        sqlite3_finalize(s);
    }
    *ids = recording_keep_rows(r, list, n * sizeof *list);
    return n;
}

int64_t recording_spans_id(struct recording *r, int64_t tick)
{
    return recording_int(r, "SELECT max(id) FROM span_run WHERE tick <= ?", tick, 0);
}

static bool ask(struct recording *r, sqlite3_stmt **s, const char *sql, int64_t run)
{
    if (!recording_ask(r, s, sql))
        return false;
    sqlite3_bind_int64(*s, 1, run);
    return true;
}

/* ---- the run */

static void text_at(sqlite3_stmt *s, int at, char *out, size_t size)
{
    const struct slice text = db_column_text(s, at);
    snprintf(out, size, "%.*s", (int)(text.len < size ? text.len : size), text.s);
}

static unsigned small_at(sqlite3_stmt *s, int at)
{
    const int64_t v = db_column_count(s, at);
    return v <= 1000000000 ? (unsigned)v : 0;
}

static enum spans_end end_at(sqlite3_stmt *s, int at)
{
    int end = 0;
    while (end < SPANS_ENDS && !slice_is(db_column_text(s, at), spans_end_key((enum spans_end)end)))
        end++;
    return end < SPANS_ENDS ? (enum spans_end)end : SPANS_END_NONE;
}

static void read_check(sqlite3_stmt *s, int at, struct session_check *check)
{
    const int64_t clean = db_column_int(s, at);
    check->done = clean >= 0;
    check->clean = clean == 1;
    text_at(s, at + 1, check->text, sizeof check->text);
}

static const char run_sql[] =
    "SELECT node, capture, full, wall_us, mono_ns, patterns, procs, roots_asked, every, for_s,"
    " events_asked, functions, calls_per_s, load, expensive, others, roots, open, events, skipped,"
    " reason, seconds, arm_us, disarm_us, target_us, bytes, invalid, beyond, duplicate, clean,"
    " not_clean FROM span_run WHERE id = ?";

static struct spans_run *new_run(struct recording *r, sqlite3_stmt *s)
{
    const struct spans_options options = {.node = db_column_text(s, 0),
                                          .capture = (uint64_t)sqlite3_column_int64(s, 1),
                                          .full = sqlite3_column_int(s, 2) == 1};
    struct spans_run *run = spans_run_new(&options);
    int at = 3;
    snprintf(run->node, sizeof run->node, "%s", r->info.node);
    snprintf(run->otp, sizeof run->otp, "%s", r->info.otp);
    run->status.phase = SESSION_ENDED;
    run->wall_us = db_column_int(s, at++);
    run->mono_ns = sqlite3_column_int64(s, at++);
    if (run->wall_us > MOST_WALL_US || run->mono_ns > MOST_MONO_NS || run->mono_ns < -MOST_MONO_NS)
        refuse(r);
    text_at(s, at++, run->patterns, sizeof run->patterns);
    text_at(s, at++, run->status.procs, sizeof run->status.procs);
    run->roots_asked = small_at(s, at++);
    run->every = small_at(s, at++);
    run->for_s = db_column_real(s, at++);
    run->events_asked = (uint64_t)db_column_count(s, at++);
    run->functions = (uint64_t)db_column_count(s, at++);
    run->calls_per_s = db_column_real(s, at++);
    run->load = db_column_real(s, at++);
    run->expensive = sqlite3_column_int(s, at++) == 1;
    text_at(s, at++, run->others, sizeof run->others);
    run->roots = small_at(s, at++);
    run->open = small_at(s, at++);
    run->events = (uint64_t)db_column_count(s, at++);
    run->skipped = (uint64_t)db_column_count(s, at++);
    run->end = end_at(s, at++);
    double *const costs[] = {&run->seconds, &run->arm_us, &run->disarm_us, &run->target_us};
    for (size_t i = 0; i < ARRAY_LEN(costs); i++)
        *costs[i] = db_column_real(s, at++);
    run->bytes = (uint64_t)db_column_count(s, at++);
    struct spans_dropped dropped = {.invalid = (uint64_t)db_column_count(s, at)};
    dropped.beyond = (uint64_t)db_column_count(s, at + 1);
    dropped.duplicate = (uint64_t)db_column_count(s, at + 2);
    spans_add_dropped(run->spans, &dropped);
    read_check(s, at + 3, &run->status.check);
    return run;
}

/* ---- its processes */

struct process_list {
    struct known_process {
        struct span_process as;
        struct slice given;
    } * list; /* [0]: nobody */
    size_t n, cap;
    struct arena arena;
};

static const char processes_sql[] =
    "SELECT p.process, p.number, p.serial, p.creation, d.text, n.text, g.text,"
    " (p.node IS NULL OR d.text NOT NULL) AND (p.name IS NULL OR n.text NOT NULL)"
    " AND (p.given IS NULL OR g.text NOT NULL)"
    " FROM span_process p LEFT JOIN text d ON d.id = p.node LEFT JOIN text n ON n.id = p.name"
    " LEFT JOIN text g ON g.id = p.given WHERE p.run = ? ORDER BY p.process";

static bool word_at(sqlite3_stmt *s, int at, uint32_t *out)
{
    const int64_t v = sqlite3_column_int64(s, at);
    *out = (uint32_t)v;
    return v >= 0 && v <= UINT32_MAX;
}

/* A long text may be that of every row. */
static bool is_short(struct slice text)
{
    return text.len <= LIMIT_SPAN_NAME_BYTES;
}

/* Their numbers go up by one. */
static bool add_process(struct process_list *to, sqlite3_stmt *s)
{
    struct known_process p = {.as = {.node = db_column_text(s, 4), .name = db_column_text(s, 5)},
                              .given = db_column_text(s, 6)};
    if (sqlite3_column_int64(s, 0) != (int64_t)to->n || to->n >= MOST_PROCESSES ||
        sqlite3_column_int(s, 7) != 1 || !is_short(p.as.node) || !is_short(p.as.name) ||
        !is_short(p.given) || !word_at(s, 1, &p.as.pid.id) || !word_at(s, 2, &p.as.pid.serial) ||
        !word_at(s, 3, &p.as.pid.creation))
        return false;
    p.as.node = slice_keep(&to->arena, p.as.node);
    p.as.name = slice_keep(&to->arena, p.as.name);
    p.given = slice_keep(&to->arena, p.given);
    if (to->n == to->cap) {
        to->cap = 2 * to->cap;
        to->list = alloc_resize(to->list, to->cap, sizeof *to->list);
    }
    to->list[to->n++] = p;
    return true;
}

static void read_processes(struct recording *r, int64_t run, struct process_list *out)
{
    sqlite3_stmt *s = NULL;
    *out = (struct process_list){.n = 1, .cap = 64};
    arena_init(&out->arena);
    out->list = alloc_zero(out->cap, sizeof *out->list);
    if (!ask(r, &s, processes_sql, run))
        return;
    while (recording_row(r, s))
        if (!add_process(out, s))
            refuse(r);
    sqlite3_finalize(s);
}

/* ---- its events */

static const char events_sql[] =
    "SELECT e.ns, e.sort, e.kind, e.process, e.peer, e.label, e.serial, e.tag, e.class, e.ref,"
    " e.words, t.text, (e.text IS NULL OR t.text NOT NULL) FROM span_event e"
    " LEFT JOIN text t ON t.id = e.text WHERE e.run = ? ORDER BY e.event";

/* NULL is the first key. False: it is none of them. */
#define KEY_AT(function, type, count)                                                              \
    static bool function##_at(sqlite3_stmt *s, int at, enum type *out)                             \
    {                                                                                              \
        const struct slice key = db_column_text(s, at);                                            \
        unsigned k = 0;                                                                            \
        while (key.len > 0 && k < (unsigned)(count) && !slice_is(key, function((enum type)k)))     \
            k++;                                                                                   \
        *out = (enum type)k;                                                                       \
        return k < (unsigned)(count);                                                              \
    }
KEY_AT(span_event_key, span_event_kind, SPAN_EVENTS)
KEY_AT(span_tag_key, span_tag, SPAN_TAGS)
KEY_AT(span_class_key, span_class, SPAN_CLASSES)

static bool ref_at(sqlite3_stmt *s, int at, struct span_ref *out)
{
    const uint8_t *bytes = sqlite3_column_blob(s, at);
    const size_t len = (size_t)sqlite3_column_bytes(s, at);
    *out = (struct span_ref){.n = len > 0 ? (uint32_t)(len / 4 - 1) : 0};
    if (len == 0)
        return true;
    if (len % 4 != 0 || len < 8 || len / 4 - 1 > ARRAY_LEN(out->words))
        return false;
    for (uint32_t i = 0; i <= out->n; i++) {
        const uint8_t *b = bytes + (size_t)4 * i;
        *(i == 0 ? &out->creation : &out->words[i - 1]) =
            (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    return true;
}

static bool process_at(sqlite3_stmt *s, int at, const struct process_list *from,
                       struct span_process *out)
{
    const int64_t id = sqlite3_column_int64(s, at);
    if (id < 0 || id >= (int64_t)from->n)
        return false;
    *out = from->list[id].as;
    return true;
}

static bool add_event(struct spans_run *run, sqlite3_stmt *s, const struct process_list *from)
{
    struct span_process label;
    struct span_event e = {
        .at_ns = (int64_t)((uint64_t)sqlite3_column_int64(s, 0) + (uint64_t)run->mono_ns),
        .order = (uint64_t)sqlite3_column_int64(s, 1),
        .serial = (uint64_t)sqlite3_column_int64(s, 6),
        .words = db_column_int(s, 10),
        .text = db_column_text(s, 11)};
    if (db_column_text(s, 2).len == 0 || !span_event_key_at(s, 2, &e.kind) ||
        !process_at(s, 3, from, &e.process) || !process_at(s, 4, from, &e.peer) ||
        !process_at(s, 5, from, &label) || !span_tag_key_at(s, 7, &e.tag) ||
        !span_class_key_at(s, 8, &e.class) || !ref_at(s, 9, &e.ref) ||
        sqlite3_column_int(s, 12) != 1 || !is_short(e.text))
        return false;
    e.label = label.pid;
    return spans_feed(run->spans, &e);
}

static void read_events(struct recording *r, int64_t id, struct spans_run *run)
{
    sqlite3_stmt *s = NULL;
    struct process_list processes;
    read_processes(r, id, &processes);
    if (ask(r, &s, events_sql, id)) {
        while (recording_row(r, s))
            if (!add_event(run, s, &processes))
                refuse(r);
        sqlite3_finalize(s);
    }
    for (size_t i = 1; i < processes.n; i++)
        if (processes.list[i].given.len > 0)
            spans_name(run->spans, &processes.list[i].as, processes.list[i].given);
    free(processes.list);
    arena_clear(&processes.arena);
}

int recording_spans_of(struct recording *r, int64_t id, struct spans_run **out, struct error *err)
{
    sqlite3_stmt *s = NULL;
    struct spans_run *run = NULL;
    *out = NULL;
    if (ask(r, &s, run_sql, id)) {
        if (recording_row(r, s))
            run = new_run(r, s);
        sqlite3_finalize(s);
    }
    if (run) {
        read_events(r, id, run);
        run->version = (uint64_t)id;
    }
    if (recording_failed(r, err) != 0) {
        spans_run_free(run);
        return (int)err->code;
    }
    if (!run)
        return error_set(err, ERR_NOT_FOUND, "there is no such capture of spans in the recording");
    spans_build(run->spans);
    *out = run;
    return 0;
}
