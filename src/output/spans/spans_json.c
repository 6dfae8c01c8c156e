/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as one object, written span by span: spans are nested, LIMIT_SPAN_DEPTH at most. */
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/text.h"
#include "beamtop/output/json.h"
#include "beamtop/output/trace_line.h"
#include "spans.h"

struct run_row {
    struct spans_run run;
    struct spans_dropped dropped;
    struct slice ended_by;
    int64_t tokens_left, roots_written, slow_roots;
    double median_us, p99_us, slower_us;
    bool payloads;
};
#define ROW struct run_row
static const struct field run_table[] = {
    FIELD("node", TEXT, run.node, "the captured node, of several the first"),
    FIELD("otp", TEXT, run.otp, "its OTP release"),
    FIELD("wall_us", COUNT, run.wall_us, "the node's clock when it was set, µs since the epoch"),
    FIELD("patterns", TEXT, run.patterns,
          "root functions, as typed; or `process` and the one whose requests are roots"),
    FIELD("full", BOOL, run.full, "full mode: running, exits and arrivals are known"),
    FIELD("payloads", BOOL, payloads,
          "false: only calls, by breakpoints, and no message was copied (`--no-payloads`)"),
    FIELD_AS(FIELD_UNSIGNED, "roots_asked", COUNT, run.roots_asked, "so many roots …"),
    FIELD_AS(FIELD_UNSIGNED, "every", COUNT, run.every, "… one of so many calls"),
    FIELD("for_s", SECONDS, run.for_s, "for so long at most"),
    FIELD("events_asked", COUNT, run.events_asked, "the cap of events"),
    FIELD("functions", COUNT, run.functions, "functions that the patterns match"),
    FIELD("called", COUNT, run.called, "functions whose calls within a root are shown"),
    FIELD("calls_per_s", RATE, run.calls_per_s, "estimated calls of all these"),
    FIELD("load", SHARE, run.load, "estimated share of one core that checking them costs"),
    FIELD("expensive", BOOL, run.expensive, "whether a confirmation was needed"),
    FIELD("others", TEXT, run.others, "other tools that trace"),
    FIELD("ended_by", TEXT, ended_by,
          "`roots`, `time`, `events`, `queue`, `stopped`, `killed`, `traced` or `connection`; "
          "null: it runs"),
    FIELD("seconds", SECONDS, run.seconds, "how long it captured"),
    FIELD_AS(FIELD_UNSIGNED, "roots_taken", COUNT, run.roots,
             "calls that began a trace, on all nodes"),
    FIELD_AS(FIELD_UNSIGNED, "roots_open", COUNT, run.open, "of them, not returned yet"),
    FIELD("events", COUNT, run.events, "events kept"),
    FIELD("skipped", COUNT, run.skipped, "events beyond a cap"),
    FIELD("skipped_participants", COUNT, run.by.participants,
          "of them, of processes above 50 of a root"),
    FIELD("skipped_fanout", COUNT, run.by.fanout,
          "of messages to more than 20 processes for one request"),
    FIELD("skipped_depth", COUNT, run.by.depth,
          "of messages more than 16 processes away from the root"),
    FIELD("stale", COUNT, run.by.stale, "events of tokens whose request was over: not kept"),
    FIELD("clearings", COUNT, run.by.clearings,
          "how often 1,000 of them came per second, and all tokens were cleared"),
    FIELD("arm_us", RATE, run.arm_us, "work of the node to set it"),
    FIELD("disarm_us", RATE, run.disarm_us, "and to clear it"),
    FIELD("tokens_left", COUNT, tokens_left,
          "processes that had a trace token when it was verified; null: not verified"),
    FIELD("target_us", RATE, run.target_us, "all work of the node for it"),
    FIELD("bytes", COUNT, run.bytes, "of the node's answers"),
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
static const struct field dropped_table[] = {
    FIELD("invalid", COUNT, dropped.invalid, "times or values out of range"),
    FIELD("beyond", COUNT, dropped.beyond, "above a limit of events, processes, text"),
    FIELD("duplicate", COUNT, dropped.duplicate, "the same event again"),
    FIELD("leaked", COUNT, dropped.leaked, "of a token without a span behind it"),
    FIELD("deep", COUNT, dropped.deep, "too deep in a tree, or of too many roots"),
};
FIELD_LIST(spans_dropped_fields, "dropped", dropped_table);
#undef ROW

struct side_row {
    struct spans_side side;
    struct slice ended_by;
    double ahead_us, within_us;
};
#define ROW struct side_row
static const struct field side_table[] = {
    FIELD("node", TEXT, side.node, "another node that was captured with it"),
    FIELD("otp", TEXT, side.otp, "its OTP release"),
    FIELD("functions", COUNT, side.functions,
          "its functions that the patterns match; 0: requests only go on there"),
    FIELD_AS(FIELD_UNSIGNED, "roots_taken", COUNT, side.roots, "calls there that began a trace"),
    FIELD_AS(FIELD_UNSIGNED, "roots_open", COUNT, side.open, "of them, not returned yet"),
    FIELD("ended_by", TEXT, ended_by,
          "as of the run: of a side of `--with` `stopped`; null: it had not ended when this was "
          "written"),
    FIELD("events", COUNT, side.events, "events kept there"),
    FIELD("skipped", COUNT, side.skipped, "events beyond a cap"),
    FIELD("stale", COUNT, side.by.stale, "events of tokens of other captures"),
    FIELD("clock_ahead_us", RATE, ahead_us,
          "its monotonic clock less that of the first node, at its first event"),
    FIELD("clock_drift_ppm", RATE, side.clock.drift_ppm,
          "and by so many millionths more as time goes by"),
    FIELD("clock_within_us", RATE, within_us,
          "that may be wrong by so much; null: its bounds contradict"),
    FIELD("clock_messages_there", COUNT, side.clock.there,
          "messages from the other nodes that bound its clock …"),
    FIELD("clock_messages_back", COUNT, side.clock.back,
          "… and to them; 0: beamtop's own questions do"),
    FIELD("arm_us", RATE, side.arm_us, "work of that node to set it"),
    FIELD("disarm_us", RATE, side.disarm_us, "and to clear it"),
    FIELD("target_us", RATE, side.target_us, "all work of that node for it"),
    FIELD("bytes", COUNT, side.bytes, "of that node's answers"),
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
        json_put_item(f->out, i, &spans_wait_fields, &row);
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
        json_t *stack = json_array();
        const size_t depth = span_stack_frames(f->s, &sampled[i], frames);
        for (size_t k = 0; k < depth; k++)
            json_array_append_new(stack, json_slice(frames[k]->name));
        buf_puts(&f->out->buf, i > 0 ? "," : "");
        json_put_value(&f->out->buf, json_pack("{s:I,s:o}", "samples",
                                               (json_int_t)sampled[i].samples, "stack", stack));
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
        json_put_item(f->out, i, &spans_step_fields, &row);
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
        json_put_item(f->out, i, &spans_caller_fields, &row);
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
        json_put_item(f->out, i, &spans_part_fields, &row);
    }
    buf_puts(&f->out->buf, "]");
}

static struct slice end_key(enum spans_end end)
{
    return end != SPANS_END_NONE ? slice_of(spans_end_key(end)) : (struct slice){0};
}

static void put_side(struct spans_form *f, const struct spans_side *side, bool more)
{
    const struct side_row row = {
        .side = *side,
        .ended_by = end_key(side->end),
        .ahead_us = (double)side->clock.ahead_ns / 1000,
        .within_us = spans_us(side->clock.within_ns),
    };
    buf_puts(&f->out->buf, more ? "," : "");
    put_open(&f->out->buf, &spans_side_fields, &row);
    buf_puts(&f->out->buf, ",\"verification\":");
    json_put_value(&f->out->buf, json_check(&side->check));
    buf_puts(&f->out->buf, "}");
}

static void put_run(struct spans_form *f, const struct spans_sum *sum)
{
    const struct spans_run *run = f->run;
    struct run_row row = {
        .run = *run,
        .dropped = spans_dropped(f->s),
        .ended_by = end_key(run->end),
        .tokens_left = run->status.check.done ? (int64_t)run->status.check.tokens : -1,
        .roots_written = (int64_t)f->n_roots,
        .slow_roots = (int64_t)sum->n_slow,
        .median_us = spans_us(sum->median_ns),
        .p99_us = spans_us(sum->p99_ns),
        .slower_us = f->options->slower_ns > 0 ? spans_us(f->options->slower_ns) : (double)NAN,
        .payloads = !run->no_payloads,
    };
    if (run->wall_us <= 0)
        row.run.wall_us = -1;
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("beamtop.spans/2"));
    json_add_fields(root, &spans_run_fields, &row);
    json_put_value(&f->out->buf, root);
    f->out->buf.len--;
    buf_puts(&f->out->buf, ",\"dropped\":");
    json_put_row(&f->out->buf, &spans_dropped_fields, &row);
    buf_puts(&f->out->buf, ",\"sides\":[");
    for (size_t i = 0; i < run->n_sides; i++)
        put_side(f, &run->sides[i], i > 0);
    buf_puts(&f->out->buf, "]");
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
