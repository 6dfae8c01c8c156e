/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captured causal spans on their way into a recording: their events, written with a tick. */
#include "beamtop/base/hash.h"
#include "recording/recorder_internal.h"

/* A process of this node that has only a pid. */
struct known_pid {
    struct etf_pid pid;
    int64_t id;
    UT_hash_handle hh;
};

/* Where a capture goes. Texts and pids are in the recorder's arena `scratch`. */
struct writer {
    struct recorder *r;
    struct row_ref run;
    struct known_pid *pids;
    int64_t processes; /* so many; the first is nobody */
};

static void add_process(struct writer *w, const struct span_process *as, struct slice given)
{
    const struct span_process_row row = {
        .run = w->run, .process = w->processes, .as = *as, .given = given};
    if (row.process > 0)
        (void)recorder_add(w->r, TABLE_SPAN_PROCESS, &row);
    if (as->node.len == 0 && as->name.len == 0) {
        struct known_pid *known = arena_alloc(&w->r->scratch, sizeof *known);
        known->pid = as->pid;
        known->id = row.process;
        HASH_ADD(hh, w->pids, pid, sizeof known->pid, known);
    }
    w->processes++;
}

/* A label may be a pid that has no events. */
static int64_t label_id(struct writer *w, const struct etf_pid *pid)
{
    struct known_pid *known;
    HASH_FIND(hh, w->pids, pid, sizeof *pid, known);
    if (known)
        return known->id;
    add_process(w, &(struct span_process){.pid = *pid}, (struct slice){0});
    return w->processes - 1;
}

/* Creation and words, each four bytes, the highest first. */
static struct slice ref_bytes(const struct span_ref *ref, char out[24])
{
    size_t n = 0;
    for (uint32_t i = 0; ref->n > 0 && i <= ref->n; i++) {
        const uint32_t word = i == 0 ? ref->creation : ref->words[i - 1];
        for (int shift = 24; shift >= 0; shift -= 8)
            out[n++] = (char)(word >> shift);
    }
    return (struct slice){out, n};
}

static void add_event(struct writer *w, const struct spans_run *run, size_t i)
{
    struct span_event_row row = {.run = w->run, .event = (int64_t)i + 1};
    const struct span_event *of = &row.of;
    const struct span_event_ids ids = spans_event_ids(run->spans, i);
    char ref[24];
    spans_event_at(run->spans, i, &row.of);
    row.ns = (int64_t)((uint64_t)of->at_ns - (uint64_t)run->mono_ns);
    row.process = ids.process;
    row.peer = ids.peer;
    row.label = label_id(w, &of->label);
    row.kind = slice_of(span_event_key(of->kind));
    row.tag = slice_of(of->tag != SPAN_TAG_MESSAGE ? span_tag_key(of->tag) : "");
    row.class = slice_of(of->class != SPAN_CLASS_NONE ? span_class_key(of->class) : "");
    row.ref = ref_bytes(&of->ref, ref);
    (void)recorder_add(w->r, TABLE_SPAN_EVENT, &row);
}

void recorder_spans(struct recorder *r, const struct spans_run *run)
{
    const struct spans_options *about = spans_about(run->spans);
    const struct session_check *check = &run->status.check;
    struct writer w = {.r = r};
    if (r->ended)
        return;
    const struct span_run_row row = {.node = about->node,
                                     .reason = slice_of(spans_end_key(run->end)),
                                     .capture = about->capture,
                                     .clean = check->done ? check->clean : -1,
                                     .of = *run,
                                     .dropped = spans_dropped(run->spans)};
    w.run.row = &((struct span_run_row *)recorder_add(r, TABLE_SPAN_RUN, &row))->id;
    for (uint32_t id = 0; id < spans_processes(run->spans); id++) {
        struct slice given;
        const struct span_process as = spans_process_at(run->spans, id, &given);
        add_process(&w, &as, given);
    }
    for (size_t i = 0; i < spans_events(run->spans); i++)
        add_event(&w, run, i);
    HASH_CLEAR(hh, w.pids);
    arena_reset(&r->scratch);
}
