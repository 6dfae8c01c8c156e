/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The Trace Event Format, for Perfetto's page and chrome://tracing: a process for each node, a
 * thread for each Erlang process, an arrow from the send of a message to its receive, an instant
 * for a system event. */
#include <inttypes.h>
#include <math.h>

#include "beamtop/output/json.h"
#include "spans.h"

static json_t *event_of(const char *ph, struct slice name, const struct spans_tracks *t,
                        uint32_t track)
{
    json_t *event = json_object();
    json_object_set_new(event, "name", name.len > 0 ? json_slice(name) : json_string("-"));
    json_object_set_new(event, "ph", json_string(ph));
    json_object_set_new(event, "pid", json_integer(t->tracks[track].node + 1));
    json_object_set_new(event, "tid", json_integer((json_int_t)track + 1));
    return event;
}

static void put_event(struct spans_form *f, json_t *event)
{
    struct buf *out = &f->out->buf;
    if (out->len == 0 || out->data[out->len - 1] != '[')
        buf_puts(out, ",\n");
    json_put_value(out, event);
    sink_pieces_flush(f->out, SINK_PIECE_BYTES);
}

static void put_name(struct spans_form *f, const struct spans_tracks *t, uint32_t track,
                     const char *what, struct slice name)
{
    json_t *event = event_of("M", slice_of(what), t, track), *args = json_object();
    json_object_set_new(args, "name", name.len > 0 ? json_slice(name) : json_string("-"));
    json_object_set_new(event, "args", args);
    put_event(f, event);
}

static void put_names(struct spans_form *f, const struct spans_tracks *t)
{
    for (uint32_t i = 0; i < t->n_tracks; i++) {
        const struct spans_track *track = &t->tracks[i];
        if (i == 0 || track->node != t->tracks[i - 1].node)
            put_name(f, t, i, "process_name", spans_node(f->run, track->process));
        put_name(f, t, i, "thread_name", spans_track_name(f, track));
    }
    arena_reset(&f->arena);
}

static void set_time(json_t *event, const char *key, int64_t ns)
{
    json_object_set_new(event, key, json_real(round((double)ns) / 1e3));
}

/* Those of the keys that are known. */
static json_t *args_of(const struct field_list *list, const char *keys, const void *row)
{
    const struct field *fields[16];
    json_t *all = json_row(list, row), *args = json_object();
    const size_t n = field_columns(list, keys, fields, ARRAY_LEN(fields));
    for (size_t i = 0; i < n; i++)
        if (!json_is_null(json_object_get(all, fields[i]->key)))
            json_object_set(args, fields[i]->key, json_object_get(all, fields[i]->key));
    json_decref(all);
    return args;
}

static void put_item(struct spans_form *f, const struct spans_tracks *t,
                     const struct spans_item *item)
{
    const struct span *span = spans_at(f->s, item->span);
    const struct span_wait *wait = item->wait != SPAN_NONE ? spans_wait(f->s, item->wait) : NULL;
    json_t *event = event_of("X", spans_item_name(f, item), t, item->track);
    json_object_set_new(event, "cat", json_string(wait ? "wait" : span_kind_key(span->kind)));
    set_time(event, "ts", item->from_ns - t->from_ns);
    set_time(event, "dur", item->to_ns - item->from_ns);
    const struct spans_row row =
        wait ? spans_wait_row(&f->rows, wait) : spans_span_row(&f->rows, span);
    json_object_set_new(
        event, "args",
        wait ? args_of(&spans_wait_fields, "outcome at at_most", &row)
             : args_of(&spans_span_fields,
                       "operation outcome reason queued_us self_us nested_us wait_us "
                       "unattributed_us off_cpu_us ended_at_least leaf trace_id span_id "
                       "parent_span_id",
                       &row));
    put_event(f, event);
}

/* One end of an arrow; both have the id of the span that the message began. */
static void put_end(struct spans_form *f, const struct spans_tracks *t, const struct span *span,
                    const char *ph, uint32_t track, int64_t at_ns)
{
    json_t *event = event_of(ph, slice_of(span_kind_key(span->kind)), t, track);
    json_object_set_new(event, "cat", json_string("message"));
    json_object_set_new(event, "id", json_slice(spans_hex(&f->arena, span->span_id)));
    set_time(event, "ts", at_ns - t->from_ns);
    if (ph[0] == 'f')
        json_object_set_new(event, "bp", json_string("e"));
    put_event(f, event);
}

static void put_arrow(struct spans_form *f, const struct spans_tracks *t, uint32_t index)
{
    const struct span *span = spans_at(f->s, index);
    if (span->parent == SPAN_NONE || span->queued_ns < 0)
        return;
    put_end(f, t, span, "s", t->of[span->parent], span->started_ns - span->queued_ns);
    put_end(f, t, span, "f", t->of[index], span->started_ns);
}

/* ---- system events, on the row of their process */

#define LATE_NS INT64_C(100000000) /* the collector takes them up to so long after */

/* The first one of that process of the captured node; n_tracks: it has none. */
static size_t find_track(const struct spans_tracks *t, const struct system_event *e)
{
    size_t i = 0;
    for (; i < t->n_tracks; i++) {
        const struct span_process *p = t->tracks[i].process;
        if (e->has_pid && p->node.len == 0 && p->pid.id == e->pid.id &&
            p->pid.serial == e->pid.serial)
            break;
    }
    return i;
}

/* The node's number among those that are written. */
static uint32_t captured_node(const struct spans_tracks *t)
{
    for (uint32_t i = 0; i < t->n_tracks; i++)
        if (t->tracks[i].process->node.len == 0)
            return t->tracks[i].node;
    return 0;
}

/* Processes without a span have one row together. */
static json_t *instant_of(const struct spans_tracks *t, const char *ph, const char *name,
                          size_t track)
{
    const bool is_other = track == t->n_tracks;
    json_t *event = event_of(ph, slice_of(name), t, is_other ? 0 : (uint32_t)track);
    if (is_other) {
        json_object_set_new(event, "pid", json_integer(captured_node(t) + 1));
        json_object_set_new(event, "tid", json_integer((json_int_t)track + 1));
    }
    return event;
}

static void put_others_name(struct spans_form *f, const struct spans_tracks *t)
{
    json_t *event = instant_of(t, "M", "thread_name", t->n_tracks);
    json_object_set_new(event, "args", json_pack("{s:s}", "name", "system events of others"));
    put_event(f, event);
}

static void put_instant(struct spans_form *f, const struct spans_tracks *t,
                        const struct system_event *e, size_t track, int64_t at_ns)
{
    json_t *event = instant_of(t, "i", e->event, track);
    json_object_set_new(event, "cat", json_string("system_event"));
    json_object_set_new(event, "s", json_string("t"));
    set_time(event, "ts", at_ns);
    json_t *args =
        args_of(&system_event_fields, "pid name ms words in out port peer state dropped", e);
    json_object_set_new(args, "value", json_chars(e->value));
    json_object_set_new(event, "args", args);
    put_event(f, event);
}

static void put_system_events(struct spans_form *f, const struct spans_tracks *t)
{
    const int64_t wall = spans_wall(f, t->from_ns);
    bool others = false;
    for (size_t i = 0; i < f->options->n_events && wall >= 0 && t->n_tracks > 0; i++) {
        const struct system_event *e = &f->options->events[i];
        const int64_t at_ns = e->wall_us * 1000 - wall;
        if (e->wall_us < 0 || at_ns < 0 || at_ns > t->to_ns - t->from_ns + LATE_NS)
            continue;
        const size_t track = find_track(t, e);
        if (track == t->n_tracks && !others)
            put_others_name(f, t);
        others = others || track == t->n_tracks;
        put_instant(f, t, e, track, at_ns);
    }
}

void spans_trace_event_put(struct spans_form *f)
{
    struct spans_tracks t;
    spans_tracks_make(&t, f);
    /* Without a span there are no times in it. */
    int64_t wall = spans_wall(f, t.n_tracks > 0 ? t.from_ns : f->run->mono_ns);
    buf_puts(&f->out->buf, "{\"displayTimeUnit\":\"ms\",\"otherData\":");
    json_put_value(
        &f->out->buf,
        json_pack("{s:s,s:o,s:o}", "exporter", "beamtop", "node",
                  f->run->node[0] != '\0' ? json_slice(slice_of(f->run->node)) : json_string("-"),
                  "wall_us", json_known(wall < 0 ? -1 : wall / 1000)));
    buf_puts(&f->out->buf, ",\"traceEvents\":[");
    put_names(f, &t);
    for (size_t i = 0; i < t.n_items; i++) {
        put_item(f, &t, &t.items[i]);
        if (t.items[i].wait == SPAN_NONE)
            put_arrow(f, &t, t.items[i].span);
        arena_reset(&f->arena);
    }
    put_system_events(f, &t);
    buf_puts(&f->out->buf, "]}\n");
    spans_tracks_free(&t);
}
