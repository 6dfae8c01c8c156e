/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * OTLP as JSON lines: a TracesData for each root (opentelemetry-proto, trace/v1, by protobuf's
 * rules for JSON). 64-bit integers are decimal texts, enumerations numbers, ids hex digits. */
#include <config.h>

#include <inttypes.h>
#include <math.h>

#include "beamtop/output/json.h"
#include "spans.h"

enum { KIND_INTERNAL = 1, KIND_SERVER = 2, KIND_CONSUMER = 5, STATUS_ERROR = 2 };
enum { MOST_EVENTS = 128 }; /* of a span, as SDKs have it by default */

static json_t *attribute(const char *key, const char *type, json_t *value)
{
    return json_pack("{s:s,s:{s:o}}", "key", key, "value", type, value);
}

static void add_text(json_t *to, const char *key, struct slice text)
{
    if (text.len > 0)
        json_array_append_new(to, attribute(key, "stringValue", json_slice(text)));
}

/* Those of the keys that are known and not false, in whole numbers. */
static void add_fields(json_t *to, const struct field_list *list, const char *keys,
                       const struct spans_row *row)
{
    const struct field *fields[16];
    const size_t n = field_columns(list, keys, fields, ARRAY_LEN(fields));
    for (size_t i = 0; i < n; i++) {
        const double number = field_number(fields[i], row);
        char key[64];
        snprintf(key, sizeof key, "beam.%s", fields[i]->key);
        if (!field_is_number(fields[i]))
            add_text(to, key, field_text(fields[i], row));
        else if (fields[i]->form != FIELD_BOOL && number >= 0)
            json_array_append_new(
                to, attribute(key, "intValue", json_sprintf("%" PRId64, (int64_t)llround(number))));
        else if (fields[i]->form == FIELD_BOOL && number > 0)
            json_array_append_new(to, attribute(key, "boolValue", json_true()));
    }
}

/* Without a wall clock, times are those since the first root. */
static json_t *time_of(const struct spans_form *f, int64_t mono_ns)
{
    int64_t wall = f->run->wall_us > 0 ? spans_wall(f, mono_ns)
                                       : mono_ns - spans_at(f->s, f->roots[0])->started_ns;
    return json_sprintf("%" PRId64, wall > 0 ? wall : 0);
}

static int kind_of(enum span_kind kind)
{
    switch (kind) {
    case SPAN_CALL:
        return KIND_SERVER;
    case SPAN_CAST:
    case SPAN_MESSAGE:
        return KIND_CONSUMER;
    default:
        return KIND_INTERNAL;
    }
}

static bool is_error(enum span_outcome outcome)
{
    return outcome == SPAN_EXCEPTION || outcome == SPAN_EXIT || outcome == SPAN_TIMEOUT ||
           outcome == SPAN_NOPROC;
}

static json_t *callers_of(struct spans_form *f, const struct span *root)
{
    json_t *pids = json_array();
    const struct slice own = spans_node(f->run, &root->process);
    for (uint32_t i = 0; i < root->n_callers; i++) {
        const struct span_process caller = spans_caller(f->s, root, i);
        const struct slice node = spans_node(f->run, &caller), pid = spans_pid(&f->arena, &caller);
        const char *text = slice_equal(node, own)
                               ? arena_printf(&f->arena, "%.*s", (int)pid.len, pid.s)
                               : arena_printf(&f->arena, "%.*s on %.*s", (int)pid.len, pid.s,
                                              (int)node.len, node.s);
        json_array_append_new(pids, json_pack("{s:o}", "stringValue", json_slice(slice_of(text))));
    }
    return attribute("beam.callers", "arrayValue", json_pack("{s:o}", "values", pids));
}

static json_t *attributes_of(struct spans_form *f, const struct span *span,
                             const struct spans_row *row)
{
    json_t *a = json_array();
    add_fields(a, &spans_span_fields,
               "kind operation node pid name queued_us self_us nested_us wait_us unattributed_us "
               "off_cpu_us",
               row);
    add_text(a, "beam.waiting_on", row->waiting_on_pid);
    add_fields(a, &spans_span_fields, "outcome reason ended_at_least leaf", row);
    if (span->n_callers > 0)
        json_array_append_new(a, callers_of(f, span));
    return a;
}

/* The span of the application that the root is a part of. */
static json_t *link_of(const struct span *root)
{
    return json_pack("[{s:o,s:o}]", "traceId", json_slice(root->otel_trace), "spanId",
                     json_slice(root->otel_span));
}

static json_t *event_of(struct spans_form *f, const struct span_wait *wait)
{
    const struct spans_row row = spans_wait_row(&f->rows, wait);
    json_t *a = json_array();
    add_text(a, "beam.wait", row.kind);
    add_fields(a, &spans_wait_fields, "duration_us pid name outcome at at_most", &row);
    return json_pack("{s:o,s:o,s:o}", "timeUnixNano", time_of(f, wait->from_ns), "name",
                     json_slice(spans_wait_name(f, wait)), "attributes", a);
}

static json_t *status_of(struct spans_form *f, const struct span *span)
{
    struct buf text;
    buf_init(&text, 0);
    buf_puts(&text, span_outcome_key(span->outcome));
    buf_puts(&text, span->reason.len > 0 ? ": " : "");
    buf_put(&text, span->reason.s, span->reason.len);
    return json_pack("{s:o,s:i}", "message", json_slice(slice_take(&f->arena, &text)), "code",
                     STATUS_ERROR);
}

static void put_span(struct spans_form *f, const struct span *span)
{
    const struct spans_row row = spans_span_row(&f->rows, span);
    json_t *o = json_object(), *events = json_array();
    json_object_set_new(o, "traceId", json_slice(row.trace_id));
    json_object_set_new(o, "spanId", json_slice(row.span_id));
    if (span->parent_span_id != 0)
        json_object_set_new(o, "parentSpanId", json_slice(row.parent_span_id));
    json_object_set_new(o, "name", json_slice(spans_span_name(f, span)));
    json_object_set_new(o, "kind", json_integer(kind_of(span->kind)));
    json_object_set_new(o, "startTimeUnixNano", time_of(f, span->started_ns));
    json_object_set_new(o, "endTimeUnixNano", time_of(f, span->ended_ns));
    json_object_set_new(o, "attributes", attributes_of(f, span, &row));
    for (uint32_t i = 0; i < span->n_waits && i < MOST_EVENTS; i++)
        json_array_append_new(events, event_of(f, spans_wait(f->s, span->wait + i)));
    json_object_set_new(o, "events", events);
    if (span->n_waits > MOST_EVENTS)
        json_object_set_new(o, "droppedEventsCount", json_integer(span->n_waits - MOST_EVENTS));
    if (span->otel_trace.len > 0)
        json_object_set_new(o, "links", link_of(span));
    if (is_error(span->outcome))
        json_object_set_new(o, "status", status_of(f, span));
    json_put_value(&f->out->buf, o);
    sink_pieces_flush(f->out, SINK_PIECE_BYTES);
}

/* A node is a resource. */
static void put_resource(struct spans_form *f, struct slice node, const char *otp)
{
    json_t *a = json_array();
    add_text(a, "service.name", node);
    add_text(a, "service.instance.id", node);
    add_text(a, "process.runtime.name", slice_of("BEAM"));
    add_text(a, "process.runtime.version", slice_of(otp));
    buf_puts(&f->out->buf, "{\"resource\":");
    json_put_value(&f->out->buf, json_pack("{s:o}", "attributes", a));
    buf_puts(&f->out->buf, ",\"scopeSpans\":[{\"scope\":{\"name\":\"beamtop\",\"version\":"
                           "\"" PACKAGE_VERSION "\"},\"spans\":[");
}

/* Its number among the sides that were captured; n_sides: it is of the first node, or of none. */
static size_t side_of_span(const struct spans_form *f, const struct span *span)
{
    const struct spans_run *run = f->run;
    size_t i = 0;
    while (i < run->n_sides && (span->leaf || !slice_is(span->process.node, run->sides[i].node)))
        i++;
    return i;
}

/* Those of a side, n_sides: all others; more: a resource comes before. */
static bool put_spans(struct spans_form *f, uint32_t root, size_t of, bool more)
{
    const struct spans_run *run = f->run;
    const struct spans_side *side = of < run->n_sides ? &run->sides[of] : NULL;
    const char *own = run->node[0] != '\0' ? run->node : "unknown_service";
    bool any = false;
    for (uint32_t at = root; at != SPAN_NONE; at = span_after(f->s, at)) {
        const struct span *span = spans_at(f->s, at);
        if (side_of_span(f, span) != of)
            continue;
        buf_puts(&f->out->buf, any || more ? "," : "");
        if (!any)
            put_resource(f, slice_of(side ? side->node : own), side ? side->otp : run->otp);
        put_span(f, span);
        arena_reset(&f->arena);
        any = true;
    }
    buf_puts(&f->out->buf, any ? "]}]}" : "");
    return any || more;
}

void spans_otlp_put(struct spans_form *f)
{
    for (size_t i = 0; i < f->n_roots; i++) {
        buf_puts(&f->out->buf, "{\"resourceSpans\":[");
        bool any = put_spans(f, f->roots[i], f->run->n_sides, false);
        for (size_t k = 0; k < f->run->n_sides; k++)
            any = put_spans(f, f->roots[i], k, any);
        buf_puts(&f->out->buf, "]}\n");
    }
}
