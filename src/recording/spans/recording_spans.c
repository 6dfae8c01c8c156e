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

#define MOST_PROCESSES (LIMIT_SPAN_PROCESSES + LIMIT_SPAN_EVENTS + 2) /* an event has a label */

static void refuse_capture(struct recording *r)
{
    recording_refuse(r, "a capture of spans in the recording is damaged");
}

size_t recording_spans(struct recording *r, int64_t from, int64_t to, const int64_t **ids)
{
    sqlite3_stmt *s = recording_ask(r,
                                    "SELECT id FROM (SELECT id FROM span_run WHERE tick BETWEEN ?"
                                    " AND ? ORDER BY id DESC LIMIT ?) ORDER BY id",
                                    NUMBERS(from, to, LIMIT_RECORDED_SPAN_RUNS));
    int64_t *list = arena_alloc(&r->result, LIMIT_RECORDED_SPAN_RUNS * sizeof *list);
    size_t n = 0;
    while (n < LIMIT_RECORDED_SPAN_RUNS && recording_row(r, s))
        list[n++] = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    *ids = list;
    return n;
}

int64_t recording_spans_id(struct recording *r, int64_t tick)
{
    return recording_int(r, "SELECT max(id) FROM span_run WHERE tick <= ?", tick, 0);
}

/* ---- the run */

FIND_KEY(spans_end_key, spans_end, SPANS_ENDS)

static struct spans_run *read_run(struct recording *r, int64_t id)
{
    struct span_run_row row = {0};
    struct spans_run *run = NULL;
    struct arena arena;
    sqlite3_stmt *s = recording_select(r, TABLE_SPAN_RUN, " WHERE id = ?1", &id);
    arena_init(&arena);
    if (recording_row(r, s)) {
        if (!tables_read(s, TABLE_SPAN_RUN, &arena, &row) || !time_is_sound(row.of.mono_ns))
            refuse_capture(r);
        run = spans_run_new(
            &(struct spans_options){.node = row.node, .capture = row.capture, .full = row.of.full});
        row.of.spans = run->spans;
        *run = row.of;
        snprintf(run->node, sizeof run->node, "%s", r->info.node);
        snprintf(run->otp, sizeof run->otp, "%s", r->info.otp);
        run->version = (uint64_t)id;
        run->end = spans_end_key_find(row.reason);
        run->end = run->end < SPANS_ENDS ? run->end : SPANS_END_NONE;
        run->status.phase = SESSION_ENDED;
        run->status.check.done = row.clean >= 0;
        run->status.check.clean = row.clean == 1;
        spans_add_dropped(run->spans, &row.dropped);
    }
    sqlite3_finalize(s);
    arena_clear(&arena);
    return run;
}

/* ---- its processes */

struct process_list {
    struct span_process_row *list; /* [0]: nobody */
    size_t n;
    struct arena arena;
};

/* A long text may be that of every row. */
static bool is_short(struct slice text)
{
    return text.len <= LIMIT_SPAN_NAME_BYTES;
}

/* Their numbers go up by one. */
static bool read_process(struct process_list *to, sqlite3_stmt *s)
{
    struct span_process_row *p = &to->list[to->n];
    return to->n < MOST_PROCESSES && tables_read(s, TABLE_SPAN_PROCESS, &to->arena, p) &&
           p->process == (int64_t)to->n++ && is_short(p->as.node) && is_short(p->as.name) &&
           is_short(p->given);
}

static void read_processes(struct recording *r, int64_t run, struct process_list *out)
{
    sqlite3_stmt *s =
        recording_select(r, TABLE_SPAN_PROCESS, " WHERE run = ?1 ORDER BY process", &run);
    *out = (struct process_list){.n = 1};
    arena_init(&out->arena);
    out->list = alloc_zero(MOST_PROCESSES, sizeof *out->list); /* most are never touched */
    while (recording_row(r, s))
        if (!read_process(out, s))
            refuse_capture(r);
    sqlite3_finalize(s);
}

/* ---- its events */

FIND_KEY(span_event_key, span_event_kind, SPAN_EVENTS)
FIND_KEY(span_tag_key, span_tag, SPAN_TAGS)
FIND_KEY(span_class_key, span_class, SPAN_CLASSES)

static bool read_ref(struct slice from, struct span_ref *out)
{
    const uint8_t *bytes = (const uint8_t *)from.s;
    const size_t len = from.len;
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

static bool find_process(const struct process_list *from, int64_t id, struct span_process *out)
{
    if (id < 0 || id >= (int64_t)from->n)
        return false;
    *out = from->list[id].as;
    return true;
}

static bool read_event(struct spans_run *run, sqlite3_stmt *s, const struct process_list *from,
                       struct arena *arena)
{
    struct span_event_row row = {0};
    struct span_event *e = &row.of;
    struct span_process label;
    arena_reset(arena);
    bool sound = tables_read(s, TABLE_SPAN_EVENT, arena, &row);
    e->kind = span_event_key_find(row.kind);
    e->tag = row.tag.len > 0 ? span_tag_key_find(row.tag) : SPAN_TAG_MESSAGE;
    e->class = row.class.len > 0 ? span_class_key_find(row.class) : SPAN_CLASS_NONE;
    if (!sound || e->kind == SPAN_EVENTS || e->tag == SPAN_TAGS || e->class == SPAN_CLASSES ||
        !find_process(from, row.process, &e->process) || !find_process(from, row.peer, &e->peer) ||
        !find_process(from, row.label, &label) || !read_ref(row.ref, &e->ref) || !is_short(e->text))
        return false;
    e->at_ns = (int64_t)((uint64_t)row.ns + (uint64_t)run->mono_ns);
    e->label = label.pid;
    return spans_feed(run->spans, e);
}

static void read_events(struct recording *r, int64_t id, struct spans_run *run)
{
    sqlite3_stmt *s = recording_select(r, TABLE_SPAN_EVENT, " WHERE run = ?1 ORDER BY event", &id);
    struct process_list processes;
    struct arena arena;
    read_processes(r, id, &processes);
    arena_init(&arena);
    while (recording_row(r, s))
        if (!read_event(run, s, &processes, &arena))
            refuse_capture(r);
    sqlite3_finalize(s);
    for (size_t i = 1; i < processes.n; i++)
        if (processes.list[i].given.len > 0)
            spans_name(run->spans, &processes.list[i].as, processes.list[i].given);
    free(processes.list);
    arena_clear(&processes.arena);
    arena_clear(&arena);
}

int recording_spans_of(struct recording *r, int64_t id, struct spans_run **out, struct error *err)
{
    struct spans_run *run = read_run(r, id);
    *out = NULL;
    if (run)
        read_events(r, id, run);
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
