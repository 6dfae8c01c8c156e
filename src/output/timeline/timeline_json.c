/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as one object, its rows in a flat list. */
#include <math.h>

#include "beamtop/output/json.h"
#include "output/object_fields.h"
#include "timeline_form.h"

struct run_row {
    struct timeline_sums sums;
    struct trace_preflight preflight;
    struct slice node, pid, name, patterns, ended_by;
    int64_t otp, wall_us, events_cap, bytes;
    double duration_us, calls_us, waiting_us, off_cpu_us, followed_from_us, followed_until_us;
    bool first;
};
#define ROW struct run_row
static const struct field run_table[] = {
    FIELD("node", TEXT, node, "the traced node"),
    FIELD("otp", COUNT, otp, "its OTP release"),
    FIELD("pid", TEXT, pid, "the process; null: none has called"),
    FIELD("name", TEXT, name, "registered name, label or initial call"),
    FIELD("first", BOOL, first, "it is the first process that called"),
    FIELD("patterns", TEXT, patterns,
          "as typed; null: all functions of the modules that the process is in"),
    FIELD("functions", COUNT, preflight.functions, "functions that were traced"),
    FIELD("wall_us", COUNT, wall_us, "the node's clock when it was set, µs since the epoch"),
    FIELD("events_cap", COUNT, events_cap, "the cap of calls"),
    FIELD("calls_per_s", RATE, preflight.calls_per_s, "estimated calls of them, by all processes"),
    FIELD("load", SHARE, preflight.load,
          "estimated share of one core that checking them would cost if all processes were traced"),
    FIELD("expensive", BOOL, preflight.expensive, "whether a confirmation was needed"),
    FIELD("others", TEXT, preflight.others, "other tools that trace"),
    FIELD("ended_by", TEXT, ended_by,
          "`time`, `events`, `rate`, `bytes`, `heap`, `stopped`, `killed`, `link` or `gone` (the "
          "process ended)"),
    FIELD("bytes", COUNT, bytes, "that the node sent"),
    FIELD("duration_us", RATE, duration_us,
          "from its start, or from the first call of `first`, to the end"),
    FIELD("calls", COUNT, sums.calls, "calls in `timeline`"),
    FIELD("open", COUNT, sums.open, "of them, not returned yet"),
    FIELD("exceptions", COUNT, sums.raised, "of them, ended by an exception"),
    FIELD("lost", COUNT, sums.lost, "of them, without a known end"),
    FIELD("gaps", COUNT, sums.gaps, "times in which calls were skipped"),
    FIELD("missing", COUNT, sums.missing,
          "calls that were skipped, by all processes, as far as it is known"),
    FIELD("dropped", COUNT, sums.dropped, "events that were invalid or too many"),
    FIELD("calls_us", RATE, calls_us, "in outermost calls"),
    FIELD("waiting_us", RATE, waiting_us, "it waited for a message or a timeout"),
    FIELD("off_cpu_us", RATE, off_cpu_us,
          "it did not run otherwise, or for too short a time to know why"),
    FIELD("followed_from_us", RATE, followed_from_us, "time off CPU is known from here …"),
    FIELD("followed_until_us", RATE, followed_until_us, "… to here, both from the start"),
};
FIELD_LIST(timeline_run_fields, "run", run_table);
#undef ROW

struct json_row {
    struct slice kind, function, outcome, reason;
    int64_t parent, depth, times, calls;
    double offset_us, duration_us, own_us, waiting_us, off_cpu_us, total_us;
    bool off_known, inferred, at_most;
};
#define ROW struct json_row
static const struct field row_table[] = {
    FIELD("kind", TEXT, kind, "`call`, `WAITING`, `OFF_CPU` or `gap`"),
    FIELD("function", TEXT, function,
          "that was called, or where it stopped; of a gap `rate`, `window`, `credit` or `bytes`"),
    FIELD("parent", COUNT, parent, "index in `timeline` of the call around it; null: none"),
    FIELD("depth", COUNT, depth, "calls around it"),
    FIELD("offset_us", RATE, offset_us, "its start"),
    FIELD("duration_us", RATE, duration_us, "from its start to its end"),
    FIELD("own_us", RATE, own_us, "of a call: without calls in it and without time off CPU"),
    FIELD("waiting_us", RATE, waiting_us, "of a call: waiting in it, and in calls in it"),
    FIELD("off_cpu_us", RATE, off_cpu_us, "likewise"),
    FIELD("off_known", BOOL, off_known,
          "of a call: false where `own_us` may have time off CPU in it"),
    FIELD("outcome", TEXT, outcome, "of a call: `returned`, `exception`, `open` or `lost`"),
    FIELD("reason", TEXT, reason, "class and reason of an exception"),
    FIELD("times", COUNT, times, "off CPU: so many times, short ones at one function are one row"),
    FIELD("total_us", RATE, total_us, "off CPU: all of them together"),
    FIELD("inferred", BOOL, inferred,
          "`WAITING`: since it waits at this function; else the node said so"),
    FIELD("calls", COUNT, calls, "of a gap: calls missing, by all processes; null: unknown"),
    FIELD("at_most", BOOL, at_most, "of a gap: `calls` is an upper limit"),
};
FIELD_LIST(timeline_row_fields, "timeline", row_table);
#undef ROW

#define ROW struct timeline_function_row
#define TIME(KEY, MEMBER, TITLE, ...)                                                              \
    FIELD(KEY, RATE, MEMBER, __VA_ARGS__, .title = (TITLE), .look = LOOK_MICROSECONDS)
static const struct field function_table[] = {
    FIELD("function", TEXT, of.name, "`module:function/arity`"),
    FIELD("calls", COUNT, of.calls, "calls in `timeline`"),
    FIELD("open", COUNT, of.open, "of them, not returned yet"),
    FIELD("exceptions", COUNT, of.raised, "of them, ended by an exception"),
    FIELD("lost", COUNT, of.lost, "of them, without a known end"),
    TIME("total_us", total_us, "TOTAL", "in outermost calls: recursion counts once"),
    TIME("own_us", own_us, "OWN", "as in `timeline`", .bound = offsetof(ROW, own_bound)),
    FIELD("off_known", BOOL, of.off_known, "of all its calls, as in `timeline`"),
    TIME("max_us", max_us, "LONGEST", "the longest call"),
    TIME("waiting_us", waiting_us, "WAITED", "directly in it, not in its calls"),
    TIME("off_cpu_us", off_cpu_us, "OFF CPU", "likewise"),
};
FIELD_COLUMNS(timeline_function_fields, "functions", function_table, 0,
              "calls own_us total_us max_us waiting_us off_cpu_us function");
#undef TIME
#undef ROW

static double us(int64_t ns)
{
    return (double)ns / 1e3;
}

static void put_timeline_row(struct timeline_form *f, size_t i)
{
    const struct timeline_row *r = timeline_row(f->run->timeline, i);
    const bool call = r->kind == TIMELINE_CALL, gap = r->kind == TIMELINE_GAP;
    const struct json_row row = {
        .kind = slice_of(timeline_kind_key(r->kind)),
        .function = r->function,
        .parent = r->parent != TIMELINE_NONE ? (int64_t)r->parent : -1,
        .depth = r->depth,
        .offset_us = us(r->from_ns - f->sums.from_ns),
        .duration_us = us(r->until_ns - r->from_ns),
        .own_us = call ? us(r->own_ns) : (double)NAN,
        .waiting_us = call ? us(r->waiting_ns) : (double)NAN,
        .off_cpu_us = call ? us(r->off_cpu_ns) : (double)NAN,
        .off_known = r->off_known,
        .outcome = call ? slice_of(timeline_outcome_key(r->outcome)) : (struct slice){0},
        .reason = r->reason,
        .times = call || gap ? -1 : (int64_t)(r->times & INT64_MAX),
        .total_us = call || gap ? (double)NAN : us(r->total_ns),
        .inferred = r->inferred,
        .calls = gap && r->calls > 0 ? (int64_t)(r->calls & INT64_MAX) : -1,
        .at_most = r->at_most,
    };
    json_put_item(f->out, i, &timeline_row_fields, &row);
}

struct timeline_function_row timeline_function_row(const struct timeline_function *of)
{
    return (struct timeline_function_row){
        .of = *of,
        .total_us = us(of->total_ns),
        .own_us = us(of->own_ns),
        .own_bound = of->off_known ? BOUND_NONE : BOUND_AT_MOST,
        .max_us = us(of->max_ns),
        .waiting_us = us(of->waiting_ns),
        .off_cpu_us = us(of->off_cpu_ns),
    };
}

static void put_run(struct timeline_form *f)
{
    const struct timeline_sums *s = &f->sums;
    const struct trace_state *state = f->run->state;
    const struct run_row row = {
        .sums = *s,
        .preflight = state->preflight,
        .node = f->run->node,
        .pid = timeline_pid(f),
        .name = f->run->name,
        .patterns = f->run->patterns,
        .ended_by =
            state->end != END_NONE ? slice_of(trace_end_name(state->end)) : (struct slice){0},
        .otp = f->run->otp,
        .wall_us = state->wall_us > 0 ? state->wall_us : -1,
        .events_cap = (int64_t)state->caps.value[CAP_EVENTS],
        .bytes = (int64_t)state->used[CAP_BYTES],
        .duration_us = us(s->until_ns - s->from_ns),
        .calls_us = us(s->calls_ns),
        .waiting_us = us(s->waiting_ns),
        .off_cpu_us = us(s->off_cpu_ns),
        .followed_from_us = us(s->followed_from_ns - s->from_ns),
        .followed_until_us = us(s->followed_until_ns - s->from_ns),
        .first = f->run->first,
    };
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("beamtop.stacks/1"));
    json_add_fields(root, &timeline_run_fields, &row);
    json_object_set_new(root, "verification", json_check(&state->status.check));
    json_put_value(&f->out->buf, root);
    f->out->buf.len--;
}

void timeline_json_put(struct timeline_form *f)
{
    const struct timeline *t = f->run->timeline;
    put_run(f);
    buf_puts(&f->out->buf, ",\"functions\":[");
    for (size_t i = 0; i < timeline_functions(t); i++) {
        const struct timeline_function_row row = timeline_function_row(timeline_function(t, i));
        json_put_item(f->out, i, &timeline_function_fields, &row);
    }
    buf_puts(&f->out->buf, "],\"timeline\":[");
    for (size_t i = 0; i < timeline_rows(t); i++)
        put_timeline_row(f, i);
    buf_puts(&f->out->buf, "]}\n");
}
