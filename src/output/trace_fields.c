/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every key of the lines of a trace but its lists. */
#include "beamtop/output/trace_line.h"

#define ROW struct trace_line
static const struct field line[] = {
    FIELD("id", COUNT, id, "of the event, from 1; a result has its call's"),
    FIELD("wall_us", COUNT, wall_us, "the node's own clock, µs since the epoch"),
    FIELD_AS(FIELD_SIGNED, "mono_ns", COUNT, mono_ns,
             "the node's monotonic clock, often below zero. Beyond 2^53: exact only in a reader "
             "with integers of 64 bits"),
    FIELD("since_us", RATE, since_us,
          "µs since the first event that was written, by that clock: exact in every reader"),
    FIELD("pattern", TEXT, pattern_text, "the pattern that took it, as typed"),
    FIELD("pid", TEXT, pid, "the process"),
    FIELD("name", TEXT, name,
          "its registered name, label or initial call, as far as it is known by then"),
};
FIELD_LIST(trace_line_fields, "line", line);
#undef ROW

#define ROW struct trace_place
static const struct field place[] = {
    FIELD("here_us", COUNT, here_us, "the clock of beamtop's host, µs since the epoch"),
    FIELD("bound_us", RATE, bound_us,
          "how much that may be wrong, either way; null: it is when the line came"),
    FIELD("same_time", BOOL, same_time,
          "whether it may have been before a line of another node that stands before it"),
    FIELD("late", BOOL, late, "whether it came after lines of a later time were written"),
};
FIELD_LIST(trace_place_fields, "place", place);
#undef ROW
#define ROW struct trace_line

#define CUT                                                                                        \
    FIELD("truncated", BOOL, cut, "whether the term was truncated"),                               \
        FIELD("full_bytes", BYTES, full_bytes, "full size of the truncated term")
static const struct field call[] = {
    FIELD("mfa", TEXT, mfa, "the function"),
    FIELD("caller", TEXT, caller, "where the call returns to"),
    FIELD("depth", COUNT, depth, "calls of the process open in the trace when it began: recursion"),
    FIELD("shown_only", BOOL, shown_only, "whether `args` are the values of `show`"),
    CUT,
};
FIELD_LIST(trace_call_fields, "call", call);

static const struct field result[] = {
    FIELD("mfa", TEXT, mfa, "the function"),
    FIELD("result", TEXT, result, "the value, or the exception's reason"),
    FIELD("class", TEXT, class, "of an exception: \"error\", \"exit\", \"throw\""),
    FIELD("latency_us", RATE, latency_us, "from the call to here"),
    CUT,
};
FIELD_LIST(trace_result_fields, "return", result);

static const struct field send[] = {
    FIELD("to", TEXT, to, "who it is for: a pid, a name, a name and a node"),
    FIELD("message", TEXT, message, "the message"),
    FIELD("no_receiver", BOOL, no_receiver, "whether there is no receiver"),
    CUT,
};
FIELD_LIST(trace_send_fields, "send", send);

static const struct field receive[] = {
    FIELD("message", TEXT, message, "the message"),
    CUT,
};
FIELD_LIST(trace_receive_fields, "receive", receive);
#undef CUT

static const struct field lost[] = {
    FIELD("lost", COUNT, lost, "calls that were not shown in that time"),
    FIELD("at_most", BOOL, at_most,
          "whether that is a bound, since the pattern takes only some calls"),
    FIELD("why", TEXT, why, "\"rate\", \"window\", \"bytes\", \"credit\", \"paused\""),
    FIELD("duration_us", COUNT, duration_us, "how long it lasted"),
};
FIELD_LIST(trace_lost_fields, "lost", lost);
#undef ROW

#define ROW struct trace_tally
static const struct field tally[] = {
    FIELD("functions", COUNT, functions, "functions that were matched", .title = "functions"),
    FIELD("calls", COUNT, counts.calls, "all calls of them, by anyone; null: not counted",
          .title = "calls"),
    FIELD("seen", COUNT, counts.seen, "events that the VM gave", .title = "seen"),
    FIELD("shown", COUNT, counts.shown, "calls and messages that were shown", .title = "shown"),
    FIELD("filtered", COUNT, counts.filtered, "left out by `slower`, `returns` or `raises`",
          .title = "filtered"),
    FIELD("truncated", COUNT, counts.cut, "truncated terms", .title = "truncated"),
    FIELD("over", COUNT, counts.over, "given by the VM beyond the cap of events",
          .title = "beyond the cap"),
    FIELD("lost", COUNT, counts.lost, "taken but not sent, for want of room", .title = "lost"),
    FIELD("missed", COUNT, counts.missed, "passed while no event budget was left",
          .title = "missed"),
    FIELD("missed_at_most", BOOL, counts.missed_at_most, "whether `missed` is a bound"),
    FIELD("not_returned", COUNT, counts.open, "calls not returned yet", .title = "not returned"),
    FIELD("time_us", COUNT, counts.time_us, "spent in them, by the action `time`"),
};
FIELD_LIST(trace_tally_fields, "counters", tally);

static const struct field pattern[] = {
    FIELD("pattern", TEXT, pattern, "as typed; then the keys of `counters`"),
    FIELD("p50_us", RATE, p50_us,
          "half of the calls were as quick; at most 3.2% above the true one, as the next two"),
    FIELD("p90_us", RATE, p90_us, "nine in ten"),
    FIELD("p99_us", RATE, p99_us, "99 in a hundred"),
    FIELD("max_us", RATE, max_us, "the slowest"),
};
FIELD_LIST(trace_pattern_fields, "patterns", pattern);
#undef ROW

#define ROW struct trace_counter
static const struct field function[] = {
    FIELD("mfa", TEXT, mfa, "the function"),
    FIELD("pattern", TEXT, pattern, "the first pattern that matches it"),
    FIELD("calls", COUNT, calls, "its calls, by anyone"),
    FIELD("time_us", COUNT, time_us, "spent in it, by the action `time`"),
};
FIELD_LIST(trace_function_fields, "functions", function);
#undef ROW

#define ROW struct trace_preflight
static const struct field preflight[] = {
    FIELD("functions", COUNT, functions, "functions that the patterns match"),
    FIELD("functions_capped", BOOL, functions_cut, "whether more match than the cap takes"),
    FIELD("processes", COUNT, processes, "processes that are traced"),
    FIELD("calls_per_s", RATE, calls_per_s, "estimated by counting; null: not counted"),
    FIELD("load", SHARE, load, "share of one scheduler that the guard costs at that rate"),
    FIELD("expensive", BOOL, expensive, "whether a confirmation is needed"),
};
FIELD_LIST(trace_preflight_fields, "preflight", preflight);
#undef ROW

#define ROW struct session_check
static const struct field check[] = {
    FIELD("done", BOOL, done, "whether the node has answered"),
    FIELD("clean", BOOL, clean, "whether nothing is left on the node"),
    FIELD("after_us", COUNT, after_us, "from the end of the trace to the node's answer"),
    FIELD("breakpoints", COUNT, breakpoints, "breakpoints of beamtop that are left"),
    FIELD("flags", COUNT, flags, "processes with a trace flag of beamtop"),
    FIELD("processes", COUNT, processes, "processes of beamtop that hold a trace"),
    FIELD("sessions", COUNT, sessions, "trace sessions of beamtop"),
    FIELD("control_word", COUNT, control_word, "the VM's trace control word"),
    FIELD("system_tracer", BOOL, system_tracer, "whether a system tracer of beamtop is left"),
    FIELD("system_monitor", BOOL, system_monitor, "whether a system monitor of beamtop is left"),
};
FIELD_LIST(trace_check_fields, "verification", check);
#undef ROW
