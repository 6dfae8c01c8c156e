/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as one object, written span by span: spans are nested, LIMIT_SPAN_DEPTH at most. */
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/text.h"
#include "beamtop/output/json.h"
#include "beamtop/output/trace_line.h"
#include "spans.h"

struct run_row {
    struct slice node, otp, patterns, ended_by, others;
    int64_t wall_us, roots_asked, every, events_asked, functions, called, roots, open, events,
        skipped, skipped_participants, skipped_fanout, skipped_depth, stale, clearings, tokens_left,
        bytes, roots_written, slow_roots;
    double for_s, seconds, calls_per_s, load, arm_us, disarm_us, target_us, median_us, p99_us,
        slower_us;
    bool full, payloads, expensive;
};
#define ROW struct run_row
static const struct field run_table[] = {
    FIELD("node", TEXT, node, "the captured node"),
    FIELD("otp", TEXT, otp, "its OTP release"),
    FIELD("wall_us", COUNT, wall_us, "the node's clock when it was set, µs since the epoch"),
    FIELD("patterns", TEXT, patterns,
          "root functions, as typed; or `process` and the one whose requests are roots"),
    FIELD("full", BOOL, full, "full mode: running, exits and arrivals are known"),
    FIELD("payloads", BOOL, payloads,
          "false: only calls, by breakpoints, and no message was copied (`--no-payloads`)"),
    FIELD("roots_asked", COUNT, roots_asked, "so many roots …"),
    FIELD("every", COUNT, every, "… one of so many calls"),
    FIELD("for_s", SECONDS, for_s, "for so long at most"),
    FIELD("events_asked", COUNT, events_asked, "the cap of events"),
    FIELD("functions", COUNT, functions, "functions that the patterns match"),
    FIELD("called", COUNT, called, "functions whose calls within a root are shown"),
    FIELD("calls_per_s", RATE, calls_per_s, "estimated calls of all these"),
    FIELD("load", SHARE, load, "estimated share of one core that checking them costs"),
    FIELD("expensive", BOOL, expensive, "whether a confirmation was needed"),
    FIELD("others", TEXT, others, "other tools that trace"),
    FIELD("ended_by", TEXT, ended_by,
          "`roots`, `time`, `events`, `queue`, `stopped`, `killed`, `traced` or `connection`; "
          "null: it runs"),
    FIELD("seconds", SECONDS, seconds, "how long it captured"),
    FIELD("roots_taken", COUNT, roots, "calls that began a trace"),
    FIELD("roots_open", COUNT, open, "of them, not returned yet"),
    FIELD("events", COUNT, events, "events kept"),
    FIELD("skipped", COUNT, skipped, "events beyond a cap"),
    FIELD("skipped_participants", COUNT, skipped_participants,
          "of them, of processes above 50 of a root"),
    FIELD("skipped_fanout", COUNT, skipped_fanout,
          "of messages to more than 20 processes for one request"),
    FIELD("skipped_depth", COUNT, skipped_depth,
          "of messages more than 16 processes away from the root"),
    FIELD("stale", COUNT, stale, "events of tokens whose request was over: not kept"),
    FIELD("clearings", COUNT, clearings,
          "how often 1,000 of them came per second, and all tokens were cleared"),
    FIELD("arm_us", RATE, arm_us, "work of the node to set it"),
    FIELD("disarm_us", RATE, disarm_us, "and to clear it"),
    FIELD("tokens_left", COUNT, tokens_left,
          "processes that had a trace token when it was verified; null: not verified"),
    FIELD("target_us", RATE, target_us, "all work of the node for it"),
    FIELD("bytes", COUNT, bytes, "of the node's answers"),
    FIELD("slower_us", RATE, slower_us,
          "only roots that took so long, or are open, are written; null: all"),
    FIELD("roots_written", COUNT, roots_written, "how many in `roots`"),
    FIELD("median_us", RATE, median_us,
          "half of them were as quick; an open one counts as long as it was seen"),
    FIELD("p99_us", RATE, p99_us, "99 in a hundred of them"),
    FIELD("slow_roots", COUNT, slow_roots,
          "the slowest 1% of them, one at least: `slow_us` of `parts`"),
};
FIELD_LIST(spans_run_fields, "run", run_table);
#undef ROW

struct dropped_row {
    int64_t invalid, beyond, duplicate, leaked, deep;
};
#define ROW struct dropped_row
static const struct field dropped_table[] = {
    FIELD("invalid", COUNT, invalid, "times or values out of range"),
    FIELD("beyond", COUNT, beyond, "above a limit of events, processes, text"),
    FIELD("duplicate", COUNT, duplicate, "the same event again"),
    FIELD("leaked", COUNT, leaked, "of a token without a span behind it"),
    FIELD("deep", COUNT, deep, "too deep in a tree, or of too many roots"),
};
FIELD_LIST(spans_dropped_fields, "dropped", dropped_table);
#undef ROW

struct side_row {
    struct slice node, otp, ended_by;
    int64_t events, skipped, stale, bytes, there, back;
    double ahead_us, drift_ppm, within_us, arm_us, disarm_us, target_us;
};
#define ROW struct side_row
static const struct field side_table[] = {
    FIELD("node", TEXT, node, "the node of `--with`"),
    FIELD("otp", TEXT, otp, "its OTP release"),
    FIELD("ended_by", TEXT, ended_by,
          "as of the run: `stopped` after the other one; null: it had not ended when this was "
          "written"),
    FIELD("events", COUNT, events, "events kept there"),
    FIELD("skipped", COUNT, skipped, "events beyond a cap"),
    FIELD("stale", COUNT, stale, "events of tokens of other captures"),
    FIELD("clock_ahead_us", RATE, ahead_us,
          "its monotonic clock less that of the captured node, at its first event"),
    FIELD("clock_drift_ppm", RATE, drift_ppm, "and by so many millionths more as time goes by"),
    FIELD("clock_within_us", RATE, within_us,
          "half of the distance of the bounds for that; null: they contradict"),
    FIELD("clock_messages_there", COUNT, there, "messages to it that bound its clock …"),
    FIELD("clock_messages_back", COUNT, back, "… and from it; 0: beamtop's own questions do"),
    FIELD("arm_us", RATE, arm_us, "work of that node to set it"),
    FIELD("disarm_us", RATE, disarm_us, "and to clear it"),
    FIELD("target_us", RATE, target_us, "all work of that node for it"),
    FIELD("bytes", COUNT, bytes, "of that node's answers"),
};
FIELD_LIST(spans_side_fields, "side", side_table);
#undef ROW

struct caller_row {
    struct slice node, pid, name;
};
#define ROW struct caller_row
static const struct field caller_table[] = {
    FIELD("node", TEXT, node, "its node"),
    FIELD("pid", TEXT, pid, "the process, the nearest one first"),
    FIELD("name", TEXT, name, "its name"),
};
FIELD_LIST(spans_caller_fields, "callers", caller_table);
#undef ROW

struct context_row {
    struct slice trace_id, span_id;
};
#define ROW struct context_row
static const struct field context_table[] = {
    FIELD("trace_id", TEXT, trace_id, "32 hex digits"),
    FIELD("span_id", TEXT, span_id, "16 hex digits"),
};
FIELD_LIST(spans_context_fields, "opentelemetry", context_table);
#undef ROW

/* ---- pieces of JSON text */

/* The keys of an object that goes on. */
static void put_open(struct buf *out, const struct field_list *list, const void *row)
{
    json_put_row(out, list, row);
    out->len--;
}

/* ---- a root */

static void put_waits(struct spans_form *f, const struct span *span)
{
    buf_puts(&f->out->buf, ",\"waits\":[");
    for (uint32_t i = 0; i < span->n_waits; i++) {
        const struct spans_row row = spans_wait_row(&f->rows, spans_wait(f->s, span->wait + i));
        buf_puts(&f->out->buf, i > 0 ? "," : "");
        json_put_row(&f->out->buf, &spans_wait_fields, &row);
        sink_pieces_flush(f->out, SINK_PIECE_BYTES);
    }
    buf_puts(&f->out->buf, "]");
}

/* What --samples has seen of it. */
static void put_samples(struct spans_form *f, uint32_t at)
{
    const struct sample_frame *frames[LIMIT_STACK_DEPTH];
    size_t n;
    const struct span_stack *sampled = spans_sampled(f->s, at, &n);
    if (!spans_have_samples(f->s)) {
        buf_puts(&f->out->buf, ",\"samples\":null");
        return;
    }
    buf_puts(&f->out->buf, ",\"samples\":[");
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_object(), *stack = json_array();
        const size_t depth = span_stack_frames(f->s, &sampled[i], frames);
        for (size_t k = 0; k < depth; k++)
            json_array_append_new(stack, json_slice(frames[k]->name));
        json_object_set_new(row, "samples", json_integer(sampled[i].samples));
        json_object_set_new(row, "stack", stack);
        buf_puts(&f->out->buf, i > 0 ? "," : "");
        json_put_value(&f->out->buf, row);
        sink_pieces_flush(f->out, SINK_PIECE_BYTES);
    }
    buf_puts(&f->out->buf, "]");
}

static void put_path(struct spans_form *f, uint32_t root)
{
    const struct span *span = spans_at(f->s, root);
    size_t n;
    struct span_step *steps = spans_critical(f->s, root, &n);
    buf_puts(&f->out->buf, ",\"critical_path\":[");
    for (size_t i = 0; i < n; i++) {
        const struct spans_row row = spans_step_row(&f->rows, span, &steps[i]);
        buf_puts(&f->out->buf, i > 0 ? "," : "");
        json_put_row(&f->out->buf, &spans_step_fields, &row);
        sink_pieces_flush(f->out, SINK_PIECE_BYTES);
    }
    buf_puts(&f->out->buf, "]");
    free(steps);
}

/* What --context has read. */
static void put_context(struct spans_form *f, const struct span *root)
{
    if (!root->context_read) {
        buf_puts(&f->out->buf, ",\"callers\":null,\"opentelemetry\":null");
        return;
    }
    buf_puts(&f->out->buf, ",\"callers\":[");
    for (uint32_t i = 0; i < root->n_callers; i++) {
        const struct span_process caller = spans_caller(f->s, root, i);
        const struct caller_row row = {spans_node(f->run, &caller), spans_pid(&f->arena, &caller),
                                       caller.name};
        buf_puts(&f->out->buf, i > 0 ? "," : "");
        json_put_row(&f->out->buf, &spans_caller_fields, &row);
    }
    buf_puts(&f->out->buf, "],\"opentelemetry\":");
    if (root->otel_trace.len > 0) {
        const struct context_row row = {root->otel_trace, root->otel_span};
        json_put_row(&f->out->buf, &spans_context_fields, &row);
    } else {
        buf_puts(&f->out->buf, "null");
    }
}

/* Each span before its children, which stand in it. */
static void put_tree(struct spans_form *f, uint32_t root)
{
    uint32_t next;
    for (uint32_t at = root; at != SPAN_NONE; at = next) {
        const struct span *span = spans_at(f->s, at);
        const struct spans_row row = spans_span_row(&f->rows, span);
        put_open(&f->out->buf, &spans_span_fields, &row);
        put_waits(f, span);
        put_samples(f, at);
        if (at == root) {
            put_context(f, span);
            put_path(f, root);
        }
        buf_puts(&f->out->buf, ",\"children\":[");
        next = span_after(f->s, at);
        size_t depth = next != SPAN_NONE ? spans_at(f->s, next)->depth : 0;
        for (size_t i = depth; i <= span->depth; i++)
            buf_puts(&f->out->buf, "]}");
        if (depth > 0 && depth <= span->depth)
            buf_puts(&f->out->buf, ",");
    }
    arena_reset(&f->arena);
}

/* ---- the run */

static void put_parts(struct spans_form *f, const struct spans_sum *sum)
{
    buf_puts(&f->out->buf, ",\"parts\":[");
    for (size_t i = 0; i < sum->n_shares; i++) {
        const struct spans_row row = spans_share_row(&f->rows, sum, &sum->shares[i]);
        buf_puts(&f->out->buf, i > 0 ? "," : "");
        json_put_row(&f->out->buf, &spans_part_fields, &row);
        sink_pieces_flush(f->out, SINK_PIECE_BYTES);
    }
    buf_puts(&f->out->buf, "]");
}

static void put_side(struct spans_form *f)
{
    const struct spans_side *side = &f->run->side;
    const struct spans_clock *clock = &side->clock;
    const struct side_row row = {
        .node = slice_of(side->node),
        .otp = slice_of(side->otp),
        .ended_by =
            side->end != SPANS_END_NONE ? slice_of(spans_end_key(side->end)) : (struct slice){0},
        .events = (int64_t)side->events,
        .skipped = (int64_t)side->skipped,
        .stale = (int64_t)side->by.stale,
        .ahead_us = (double)clock->ahead_ns / 1000,
        .drift_ppm = clock->drift_ppm,
        .within_us = spans_us(clock->within_ns),
        .there = (int64_t)clock->there,
        .back = (int64_t)clock->back,
        .arm_us = side->arm_us,
        .disarm_us = side->disarm_us,
        .target_us = side->target_us,
        .bytes = (int64_t)side->bytes,
    };
    if (side->node[0] == '\0') {
        buf_puts(&f->out->buf, "null");
        return;
    }
    put_open(&f->out->buf, &spans_side_fields, &row);
    buf_puts(&f->out->buf, ",\"verification\":");
    json_put_value(&f->out->buf, json_check(&side->check));
    buf_puts(&f->out->buf, "}");
}

static void put_run(struct spans_form *f, const struct spans_sum *sum)
{
    const struct spans_run *run = f->run;
    const struct spans_dropped d = spans_dropped(f->s);
    const struct dropped_row dropped = {(int64_t)d.invalid, (int64_t)d.beyond, (int64_t)d.duplicate,
                                        (int64_t)d.leaked, (int64_t)d.deep};
    const struct run_row row = {
        .node = slice_of(run->node),
        .otp = slice_of(run->otp),
        .patterns = slice_of(run->patterns),
        .ended_by =
            run->end != SPANS_END_NONE ? slice_of(spans_end_key(run->end)) : (struct slice){0},
        .others = slice_of(run->others),
        .wall_us = run->wall_us > 0 ? run->wall_us : -1,
        .roots_asked = run->roots_asked,
        .every = run->every,
        .events_asked = (int64_t)run->events_asked,
        .functions = (int64_t)run->functions,
        .called = (int64_t)run->called,
        .roots = run->roots,
        .open = run->open,
        .events = (int64_t)run->events,
        .skipped = (int64_t)run->skipped,
        .skipped_participants = (int64_t)run->by.participants,
        .skipped_fanout = (int64_t)run->by.fanout,
        .skipped_depth = (int64_t)run->by.depth,
        .stale = (int64_t)run->by.stale,
        .clearings = (int64_t)run->by.clearings,
        .tokens_left = run->status.check.done ? (int64_t)run->status.check.tokens : -1,
        .bytes = (int64_t)run->bytes,
        .roots_written = (int64_t)f->n_roots,
        .slow_roots = (int64_t)sum->n_slow,
        .for_s = run->for_s,
        .seconds = run->seconds,
        .calls_per_s = run->calls_per_s,
        .load = run->load,
        .arm_us = run->arm_us,
        .disarm_us = run->disarm_us,
        .target_us = run->target_us,
        .median_us = spans_us(sum->median_ns),
        .p99_us = spans_us(sum->p99_ns),
        .slower_us = f->options->slower_ns > 0 ? spans_us(f->options->slower_ns) : (double)NAN,
        .full = run->full,
        .payloads = !run->no_payloads,
        .expensive = run->expensive,
    };
    const struct section fields = {&spans_run_fields, "run", &row};
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("beamtop.spans/1"));
    json_add_section(root, &fields);
    json_put_value(&f->out->buf, root);
    f->out->buf.len--;
    buf_puts(&f->out->buf, ",\"dropped\":");
    json_put_row(&f->out->buf, &spans_dropped_fields, &dropped);
    buf_puts(&f->out->buf, ",\"side\":");
    put_side(f);
    buf_puts(&f->out->buf, ",\"verification\":");
    json_put_value(&f->out->buf, json_check(&run->status.check));
}

void spans_json_put(struct spans_form *f)
{
    struct spans_sum sum;
    spans_sum_make(&sum, f->s, f->roots, f->n_roots, false);
    put_run(f, &sum);
    put_parts(f, &sum);
    spans_sum_clear(&sum);
    buf_puts(&f->out->buf, ",\"roots\":[");
    for (size_t i = 0; i < f->n_roots; i++) {
        buf_puts(&f->out->buf, i > 0 ? "," : "");
        put_tree(f, f->roots[i]);
    }
    buf_puts(&f->out->buf, "]}\n");
}
