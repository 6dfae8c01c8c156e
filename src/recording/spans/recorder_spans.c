/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captured causal spans on their way into a recording: their events, written with a tick. */
#include "beamtop/base/hash.h"
#include "beamtop/base/limits.h"
#include "recording/recorder_internal.h"

struct kept_event {
    struct span_event of; /* without its processes, label and text */
    struct span_event_ids ids;
    uint32_t label; /* id of a process */
};

struct kept_process {
    struct span_process as;
    struct slice given;
    uint32_t id;
    UT_hash_handle hh; /* of those that have only a pid, by that */
};

/* A copy that waits for its tick. */
struct recorder_spans {
    struct spans_run of; /* without its spans */
    struct slice node;
    uint64_t capture;
    struct spans_dropped dropped;
    struct kept_process *processes, *by_pid; /* [0]: nobody */
    uint32_t n_processes;
    struct slice *texts;
    size_t n_texts, n_events;
    struct kept_event *events;
};

static void keep_pid(struct recorder_spans *kept, struct kept_process *p, uint32_t id)
{
    p->id = id;
    if (p->as.node.len == 0 && p->as.name.len == 0)
        HASH_ADD(hh, kept->by_pid, as.pid, sizeof p->as.pid, p);
}

static void keep_processes(struct arena *a, struct recorder_spans *kept, const struct spans *s)
{
    kept->n_processes = (uint32_t)spans_processes(s);
    /* A label may be a pid that has no events. */
    kept->processes =
        arena_alloc(a, (kept->n_processes + kept->n_events) * sizeof *kept->processes);
    for (uint32_t id = 0; id < kept->n_processes; id++) {
        struct kept_process *p = &kept->processes[id];
        p->as = spans_process_at(s, id, &p->given);
        p->as.node = slice_keep(a, p->as.node);
        p->as.name = slice_keep(a, p->as.name);
        p->given = slice_keep(a, p->given);
        keep_pid(kept, p, id);
    }
}

static uint32_t label_of(struct recorder_spans *kept, const struct etf_pid *pid)
{
    struct kept_process *p;
    HASH_FIND(hh, kept->by_pid, pid, sizeof *pid, p);
    if (!p) {
        p = &kept->processes[kept->n_processes];
        p->as.pid = *pid;
        keep_pid(kept, p, kept->n_processes++);
    }
    return p->id;
}

static void keep_events(struct arena *a, struct recorder_spans *kept, const struct spans *s)
{
    kept->events = arena_alloc(a, (kept->n_events + 1) * sizeof *kept->events);
    kept->n_texts = spans_texts(s);
    kept->texts = arena_alloc(a, (kept->n_texts + 1) * sizeof *kept->texts);
    for (size_t i = 0; i < kept->n_events; i++) {
        struct kept_event *e = &kept->events[i];
        spans_event_at(s, i, &e->of);
        e->ids = spans_event_ids(s, i);
        e->label = label_of(kept, &e->of.label);
        if (kept->texts[e->ids.text].len == 0)
            kept->texts[e->ids.text] = slice_keep(a, e->of.text);
    }
    HASH_CLEAR(hh, kept->by_pid);
}

void recorder_spans(struct recorder *r, const struct spans_run *run)
{
    if (r->ended)
        return;
    const struct spans_options *about = spans_about(run->spans);
    struct recorder_spans *kept = arena_alloc(&r->arena, sizeof *kept);
    kept->of = *run;
    kept->of.spans = NULL;
    kept->node = slice_keep(&r->arena, about->node);
    kept->capture = about->capture;
    kept->dropped = spans_dropped(run->spans);
    kept->n_events = spans_events(run->spans);
    keep_processes(&r->arena, kept, run->spans);
    keep_events(&r->arena, kept, run->spans);
    recorder_add(r, STMT_SPANS)->spans = kept;
}

/* ---- written with a tick */

/* A counter beyond what a file takes is unknown. */
static void bind_count(sqlite3_stmt *s, int at, uint64_t n)
{
    db_bind_int(s, at, n <= INT64_MAX ? (int64_t)n : -1);
}

static int put_run(struct recorder *r, const struct recorder_spans *kept, struct error *err)
{
    const struct spans_run *of = &kept->of;
    const struct session_check *check = &of->status.check;
    sqlite3_stmt *s = r->stmts[STMT_SPANS];
    int at = 1;
    sqlite3_bind_int64(s, at++, r->ticks + 1);
    db_bind_int(s, at++, of->wall_us);
    sqlite3_bind_int64(s, at++, of->mono_ns);
    db_bind_text(s, at++, kept->node);
    sqlite3_bind_int64(s, at++, (int64_t)kept->capture);
    sqlite3_bind_int64(s, at++, of->full);
    db_bind_text(s, at++, slice_of(of->patterns));
    db_bind_text(s, at++, slice_of(of->status.procs));
    sqlite3_bind_int64(s, at++, of->roots_asked);
    sqlite3_bind_int64(s, at++, of->every);
    db_bind_real(s, at++, of->for_s);
    bind_count(s, at++, of->events_asked);
    bind_count(s, at++, of->functions);
    db_bind_real(s, at++, of->calls_per_s);
    db_bind_real(s, at++, of->load);
    sqlite3_bind_int64(s, at++, of->expensive);
    db_bind_text(s, at++, slice_of(of->others));
    sqlite3_bind_int64(s, at++, of->roots);
    sqlite3_bind_int64(s, at++, of->open);
    bind_count(s, at++, of->events);
    bind_count(s, at++, of->skipped);
    db_bind_text(s, at++, slice_of(spans_end_key(of->end)));
    const double costs[] = {of->seconds, of->arm_us, of->disarm_us, of->target_us};
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        db_bind_real(s, at++, costs[i]);
    bind_count(s, at++, of->bytes);
    bind_count(s, at++, kept->dropped.invalid);
    bind_count(s, at++, kept->dropped.beyond);
    bind_count(s, at++, kept->dropped.duplicate);
    db_bind_int(s, at++, check->done ? check->clean : -1);
    db_bind_text(s, at, slice_of(check->text));
    return db_run(r->db, s, err);
}

static int put_processes(struct recorder *r, const struct recorder_spans *kept, int64_t run,
                         struct error *err)
{
    sqlite3_stmt *s = r->stmts[STMT_SPAN_PROCESS];
    int rc = 0;
    for (uint32_t id = 1; id < kept->n_processes && rc == 0; id++) {
        const struct kept_process *p = &kept->processes[id];
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, id);
        sqlite3_bind_int64(s, 3, p->as.pid.id);
        sqlite3_bind_int64(s, 4, p->as.pid.serial);
        sqlite3_bind_int64(s, 5, p->as.pid.creation);
        if (recorder_bind_text(r, s, 6, p->as.node, err) != 0 ||
            recorder_bind_text(r, s, 7, p->as.name, err) != 0 ||
            recorder_bind_text(r, s, 8, p->given, err) != 0)
            return (int)err->code;
        rc = db_run(r->db, s, err);
    }
    return rc;
}

/* Creation and words, each four bytes, the highest first. */
static void bind_ref(sqlite3_stmt *s, int at, const struct span_ref *ref)
{
    uint8_t bytes[24];
    size_t n = 0;
    for (uint32_t i = 0; ref->n > 0 && i <= ref->n; i++) {
        const uint32_t word = i == 0 ? ref->creation : ref->words[i - 1];
        for (int shift = 24; shift >= 0; shift -= 8)
            bytes[n++] = (uint8_t)(word >> shift);
    }
    if (n > 0)
        sqlite3_bind_blob64(s, at, bytes, n, SQLITE_TRANSIENT);
}

static void bind_id(sqlite3_stmt *s, int at, int64_t id)
{
    if (id != 0)
        sqlite3_bind_int64(s, at, id);
}

static int put_event(struct recorder *r, const struct recorder_spans *kept, int64_t run, size_t i,
                     const int64_t *texts, struct error *err)
{
    sqlite3_stmt *s = r->stmts[STMT_SPAN_EVENT];
    const struct kept_event *e = &kept->events[i];
    const struct span_event *of = &e->of;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, (int64_t)i + 1);
    sqlite3_bind_int64(s, 3, (int64_t)((uint64_t)of->at_ns - (uint64_t)kept->of.mono_ns));
    sqlite3_bind_int64(s, 4, (int64_t)of->order);
    sqlite3_bind_text(s, 5, span_event_key(of->kind), -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 6, e->ids.process);
    bind_id(s, 7, e->ids.peer);
    bind_id(s, 8, e->label);
    bind_id(s, 9, (int64_t)of->serial);
    if (of->tag != SPAN_TAG_MESSAGE)
        sqlite3_bind_text(s, 10, span_tag_key(of->tag), -1, SQLITE_STATIC);
    if (of->class != SPAN_CLASS_NONE)
        sqlite3_bind_text(s, 11, span_class_key(of->class), -1, SQLITE_STATIC);
    bind_ref(s, 12, &of->ref);
    db_bind_int(s, 13, of->words);
    bind_id(s, 14, texts[e->ids.text]);
    return db_run(r->db, s, err);
}

static int put_events(struct recorder *r, const struct recorder_spans *kept, int64_t run,
                      struct error *err)
{
    int64_t *texts = arena_alloc(&r->arena, (kept->n_texts + 1) * sizeof *texts);
    int rc = 0;
    for (size_t i = 0; i < kept->n_texts && rc == 0; i++)
        rc = recorder_text_id(r, kept->texts[i], &texts[i], err);
    for (size_t i = 0; i < kept->n_events && rc == 0; i++)
        rc = put_event(r, kept, run, i, texts, err);
    return rc;
}

/* The newest stay. */
static void drop_oldest(struct recorder *r, int64_t run, struct error *err)
{
    sqlite3_stmt *s = NULL;
    if (run <= LIMIT_RECORDED_SPAN_RUNS ||
        db_prepare(r->db, &s, "DELETE FROM span_run WHERE id <= ?", err) != 0)
        return;
    sqlite3_bind_int64(s, 1, run - LIMIT_RECORDED_SPAN_RUNS);
    if (db_run(r->db, s, err) == 0 && sqlite3_changes(r->db) > 0)
        recorder_drop_orphans(r, err);
    sqlite3_finalize(s);
}

int recorder_put_spans(struct recorder *r, const struct pending *p, struct error *err)
{
    const struct recorder_spans *kept = p->spans;
    if (put_run(r, kept, err) != 0)
        return (int)err->code;
    const int64_t run = sqlite3_last_insert_rowid(r->db);
    if (put_processes(r, kept, run, err) == 0 && put_events(r, kept, run, err) == 0)
        drop_oldest(r, run, err);
    return (int)err->code;
}
