/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as one object, its rows in a flat list. */
#include <math.h>

#include "beamtop/output/json.h"
#include "output/object_fields.h"
#include "timeline_form.h"

struct run_row {
    struct slice node, pid, name, patterns, ended_by, others;
    int64_t otp, wall_us, functions, events_cap, calls, open, raised, lost, gaps, missing, dropped,
        bytes;
    double calls_per_s, load, duration_us, calls_us, waiting_us, off_cpu_us, followed_from_us,
        followed_until_us;
    bool first, expensive;
};
#define AT(member) offsetof(struct run_row, member)
static const struct field run_table[] = {
    {"node", "", FIELD_SLICE, COLUMN_TEXT, AT(node), "the traced node"},
    {"otp", "", FIELD_INT, COLUMN_COUNT, AT(otp), "its OTP release"},
    {"pid", "", FIELD_SLICE, COLUMN_TEXT, AT(pid), "the process; null: none has called"},
    {"name", "", FIELD_SLICE, COLUMN_TEXT, AT(name), "registered name, label or initial call"},
    {"first", "", FIELD_BOOL, COLUMN_BOOL, AT(first), "it is the first process that called"},
    {"patterns", "", FIELD_SLICE, COLUMN_TEXT, AT(patterns),
     "as typed; null: all functions of the modules that the process is in"},
    {"functions", "", FIELD_INT, COLUMN_COUNT, AT(functions), "functions that were traced"},
    {"wall_us", "", FIELD_INT, COLUMN_COUNT, AT(wall_us),
     "the node's clock when it was set, µs since the epoch"},
    {"events_cap", "", FIELD_INT, COLUMN_COUNT, AT(events_cap), "the cap of calls"},
    {"calls_per_s", "", FIELD_REAL, COLUMN_RATE, AT(calls_per_s),
     "estimated calls of them, by all processes"},
    {"load", "", FIELD_REAL, COLUMN_SHARE, AT(load),
     "estimated share of one core that checking them would cost if all processes were traced"},
    {"expensive", "", FIELD_BOOL, COLUMN_BOOL, AT(expensive), "whether a confirmation was needed"},
    {"others", "", FIELD_SLICE, COLUMN_TEXT, AT(others), "other tools that trace"},
    {"ended_by", "", FIELD_SLICE, COLUMN_TEXT, AT(ended_by),
     "`time`, `events`, `rate`, `bytes`, `heap`, `stopped`, `killed`, `link` or `gone` (the "
     "process ended)"},
    {"bytes", "", FIELD_INT, COLUMN_COUNT, AT(bytes), "that the node sent"},
    {"duration_us", "", FIELD_REAL, COLUMN_RATE, AT(duration_us),
     "from its start, or from the first call of `first`, to the end"},
    {"calls", "", FIELD_INT, COLUMN_COUNT, AT(calls), "calls in `timeline`"},
    {"open", "", FIELD_INT, COLUMN_COUNT, AT(open), "of them, not returned yet"},
    {"exceptions", "", FIELD_INT, COLUMN_COUNT, AT(raised), "of them, ended by an exception"},
    {"lost", "", FIELD_INT, COLUMN_COUNT, AT(lost), "of them, without a known end"},
    {"gaps", "", FIELD_INT, COLUMN_COUNT, AT(gaps), "times in which calls were skipped"},
    {"missing", "", FIELD_INT, COLUMN_COUNT, AT(missing),
     "calls that were skipped, by all processes, as far as it is known"},
    {"dropped", "", FIELD_INT, COLUMN_COUNT, AT(dropped), "events that were invalid or too many"},
    {"calls_us", "", FIELD_REAL, COLUMN_RATE, AT(calls_us), "in outermost calls"},
    {"waiting_us", "", FIELD_REAL, COLUMN_RATE, AT(waiting_us),
     "it waited for a message or a timeout"},
    {"off_cpu_us", "", FIELD_REAL, COLUMN_RATE, AT(off_cpu_us),
     "it did not run otherwise, or for too short a time to know why"},
    {"followed_from_us", "", FIELD_REAL, COLUMN_RATE, AT(followed_from_us),
     "time off CPU is known from here …"},
    {"followed_until_us", "", FIELD_REAL, COLUMN_RATE, AT(followed_until_us),
     "… to here, both from the start"},
};
FIELD_LIST(timeline_run_fields, "run", run_table);
#undef AT

struct json_row {
    struct slice kind, function, outcome, reason;
    int64_t parent, depth, times, calls;
    double offset_us, duration_us, own_us, waiting_us, off_cpu_us, total_us;
    bool off_known, inferred, at_most;
};
#define AT(member) offsetof(struct json_row, member)
static const struct field row_table[] = {
    {"kind", "", FIELD_SLICE, COLUMN_TEXT, AT(kind), "`call`, `WAITING`, `OFF_CPU` or `gap`"},
    {"function", "", FIELD_SLICE, COLUMN_TEXT, AT(function),
     "that was called, or where it stopped; of a gap `rate`, `window`, `credit` or `bytes`"},
    {"parent", "", FIELD_INT, COLUMN_COUNT, AT(parent),
     "index in `timeline` of the call around it; null: none"},
    {"depth", "", FIELD_INT, COLUMN_COUNT, AT(depth), "calls around it"},
    {"offset_us", "", FIELD_REAL, COLUMN_RATE, AT(offset_us), "its start"},
    {"duration_us", "", FIELD_REAL, COLUMN_RATE, AT(duration_us), "from its start to its end"},
    {"own_us", "", FIELD_REAL, COLUMN_RATE, AT(own_us),
     "of a call: without calls in it and without time off CPU"},
    {"waiting_us", "", FIELD_REAL, COLUMN_RATE, AT(waiting_us),
     "of a call: waiting in it, and in calls in it"},
    {"off_cpu_us", "", FIELD_REAL, COLUMN_RATE, AT(off_cpu_us), "likewise"},
    {"off_known", "", FIELD_BOOL, COLUMN_BOOL, AT(off_known),
     "of a call: false where `own_us` may have time off CPU in it"},
    {"outcome", "", FIELD_SLICE, COLUMN_TEXT, AT(outcome),
     "of a call: `returned`, `exception`, `open` or `lost`"},
    {"reason", "", FIELD_SLICE, COLUMN_TEXT, AT(reason), "class and reason of an exception"},
    {"times", "", FIELD_INT, COLUMN_COUNT, AT(times),
     "off CPU: so many times, short ones at one function are one row"},
    {"total_us", "", FIELD_REAL, COLUMN_RATE, AT(total_us), "off CPU: all of them together"},
    {"inferred", "", FIELD_BOOL, COLUMN_BOOL, AT(inferred),
     "`WAITING`: since it waits at this function; else the node said so"},
    {"calls", "", FIELD_INT, COLUMN_COUNT, AT(calls),
     "of a gap: calls missing, by all processes; null: unknown"},
    {"at_most", "", FIELD_BOOL, COLUMN_BOOL, AT(at_most), "of a gap: `calls` is an upper limit"},
};
FIELD_LIST(timeline_row_fields, "timeline", row_table);
#undef AT

struct function_row {
    struct slice function;
    int64_t calls, open, raised, lost;
    double total_us, own_us, max_us, waiting_us, off_cpu_us;
    bool off_known;
};
#define AT(member) offsetof(struct function_row, member)
static const struct field function_table[] = {
    {"function", "", FIELD_SLICE, COLUMN_TEXT, AT(function), "`module:function/arity`"},
    {"calls", "", FIELD_INT, COLUMN_COUNT, AT(calls), "calls in `timeline`"},
    {"open", "", FIELD_INT, COLUMN_COUNT, AT(open), "of them, not returned yet"},
    {"exceptions", "", FIELD_INT, COLUMN_COUNT, AT(raised), "of them, ended by an exception"},
    {"lost", "", FIELD_INT, COLUMN_COUNT, AT(lost), "of them, without a known end"},
    {"total_us", "", FIELD_REAL, COLUMN_RATE, AT(total_us),
     "in outermost calls: recursion counts once"},
    {"own_us", "", FIELD_REAL, COLUMN_RATE, AT(own_us), "as in `timeline`"},
    {"off_known", "", FIELD_BOOL, COLUMN_BOOL, AT(off_known), "of all its calls, as in `timeline`"},
    {"max_us", "", FIELD_REAL, COLUMN_RATE, AT(max_us), "the longest call"},
    {"waiting_us", "", FIELD_REAL, COLUMN_RATE, AT(waiting_us), "directly in it, not in its calls"},
    {"off_cpu_us", "", FIELD_REAL, COLUMN_RATE, AT(off_cpu_us), "likewise"},
};
FIELD_LIST(timeline_function_fields, "functions", function_table);
#undef AT

static double us(int64_t ns)
{
    return (double)ns / 1e3;
}

static void put_row(struct timeline_form *f, const struct timeline_row *r)
{
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
    json_put_row(&f->out->buf, &timeline_row_fields, &row);
}

static void put_function(struct timeline_form *f, const struct timeline_function *fun)
{
    const struct function_row row = {
        .function = fun->name,
        .calls = (int64_t)fun->calls,
        .open = (int64_t)fun->open,
        .raised = (int64_t)fun->raised,
        .lost = (int64_t)fun->lost,
        .total_us = us(fun->total_ns),
        .own_us = us(fun->own_ns),
        .off_known = fun->off_known,
        .max_us = us(fun->max_ns),
        .waiting_us = us(fun->waiting_ns),
        .off_cpu_us = us(fun->off_cpu_ns),
    };
    json_put_row(&f->out->buf, &timeline_function_fields, &row);
}

static void put_run(struct timeline_form *f)
{
    const struct timeline_sums *s = &f->sums;
    const struct trace_state *state = f->run->state;
    const struct trace_preflight *p = &state->preflight;
    const struct run_row row = {
        .node = f->run->node,
        .pid = timeline_pid(f),
        .name = f->run->name,
        .patterns = f->run->patterns,
        .ended_by =
            state->end != END_NONE ? slice_of(trace_end_name(state->end)) : (struct slice){0},
        .others = slice_of(p->others),
        .otp = f->run->otp,
        .wall_us = state->wall_us > 0 ? state->wall_us : -1,
        .functions = (int64_t)p->functions,
        .events_cap = (int64_t)state->caps.value[CAP_EVENTS],
        .calls = (int64_t)s->calls,
        .open = (int64_t)s->open,
        .raised = (int64_t)s->raised,
        .lost = (int64_t)s->lost,
        .gaps = (int64_t)s->gaps,
        .missing = (int64_t)s->missing,
        .dropped = (int64_t)s->dropped,
        .bytes = (int64_t)state->used[CAP_BYTES],
        .calls_per_s = p->calls_per_s,
        .load = p->load,
        .duration_us = us(s->until_ns - s->from_ns),
        .calls_us = us(s->calls_ns),
        .waiting_us = us(s->waiting_ns),
        .off_cpu_us = us(s->off_cpu_ns),
        .followed_from_us = us(s->followed_from_ns - s->from_ns),
        .followed_until_us = us(s->followed_until_ns - s->from_ns),
        .first = f->run->first,
        .expensive = p->expensive,
    };
    const struct section fields = {&timeline_run_fields, "run", &row};
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("beamtop.stacks/1"));
    json_add_section(root, &fields);
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
        buf_puts(&f->out->buf, i > 0 ? "," : "");
        put_function(f, timeline_function(t, i));
        sink_pieces_flush(f->out, SINK_PIECE_BYTES);
    }
    buf_puts(&f->out->buf, "],\"timeline\":[");
    for (size_t i = 0; i < timeline_rows(t); i++) {
        buf_puts(&f->out->buf, i > 0 ? "," : "");
        put_row(f, timeline_row(t, i));
        sink_pieces_flush(f->out, SINK_PIECE_BYTES);
    }
    buf_puts(&f->out->buf, "]}\n");
}
