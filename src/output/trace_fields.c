/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every key of the lines of a trace but its lists. */
#include "beamtop/output/trace_line.h"

#define AT(member) offsetof(struct trace_line, member)
static const struct field line[] = {
    {"id", "", FIELD_INT, COLUMN_COUNT, AT(id), "of the event, from 1; a result has its call's"},
    {"wall_us", "", FIELD_INT, COLUMN_COUNT, AT(wall_us),
     "the node's own clock, µs since the epoch"},
    {"mono_ns", "", FIELD_SIGNED, COLUMN_COUNT, AT(mono_ns),
     "the node's monotonic clock, often below zero. Beyond 2^53: exact only in a reader with "
     "integers "
     "of 64 bits"},
    {"since_us", "", FIELD_REAL, COLUMN_RATE, AT(since_us),
     "µs since the first event that was written, by that clock: exact in every reader"},
    {"pattern", "", FIELD_SLICE, COLUMN_TEXT, AT(pattern_text),
     "the pattern that took it, as typed"},
    {"pid", "", FIELD_SLICE, COLUMN_TEXT, AT(pid), "the process"},
    {"name", "", FIELD_SLICE, COLUMN_TEXT, AT(name),
     "its registered name, label or initial call, as far as it is known by then"},
};
FIELD_LIST(trace_line_fields, "line", line);

#define CUT                                                                                        \
    {"truncated", "", FIELD_BOOL, COLUMN_BOOL, AT(cut), "whether the term was truncated"},         \
    {                                                                                              \
        "full_bytes", "", FIELD_INT, COLUMN_BYTES, AT(full_bytes),                                 \
            "full size of the truncated term"                                                      \
    }
static const struct field call[] = {
    {"mfa", "", FIELD_SLICE, COLUMN_TEXT, AT(mfa), "the function"},
    {"caller", "", FIELD_SLICE, COLUMN_TEXT, AT(caller), "where the call returns to"},
    {"depth", "", FIELD_INT, COLUMN_COUNT, AT(depth),
     "calls of the process open in the trace when it began: recursion"},
    {"shown_only", "", FIELD_BOOL, COLUMN_BOOL, AT(shown_only),
     "whether `args` are the values of `show`"},
    CUT,
};
FIELD_LIST(trace_call_fields, "call", call);

static const struct field result[] = {
    {"mfa", "", FIELD_SLICE, COLUMN_TEXT, AT(mfa), "the function"},
    {"result", "", FIELD_SLICE, COLUMN_TEXT, AT(result), "the value, or the exception's reason"},
    {"class", "", FIELD_SLICE, COLUMN_TEXT, AT(class),
     "of an exception: \"error\", \"exit\", \"throw\""},
    {"latency_us", "", FIELD_REAL, COLUMN_RATE, AT(latency_us), "from the call to here"},
    CUT,
};
FIELD_LIST(trace_result_fields, "return", result);

static const struct field send[] = {
    {"to", "", FIELD_SLICE, COLUMN_TEXT, AT(to), "who it is for: a pid, a name, a name and a node"},
    {"message", "", FIELD_SLICE, COLUMN_TEXT, AT(message), "the message"},
    {"no_receiver", "", FIELD_BOOL, COLUMN_BOOL, AT(no_receiver), "whether there is no receiver"},
    CUT,
};
FIELD_LIST(trace_send_fields, "send", send);

static const struct field receive[] = {
    {"message", "", FIELD_SLICE, COLUMN_TEXT, AT(message), "the message"},
    CUT,
};
FIELD_LIST(trace_receive_fields, "receive", receive);
#undef CUT

static const struct field lost[] = {
    {"lost", "", FIELD_INT, COLUMN_COUNT, AT(lost), "calls that were not shown in that time"},
    {"at_most", "", FIELD_BOOL, COLUMN_BOOL, AT(at_most),
     "whether that is a bound, since the pattern takes only some calls"},
    {"why", "", FIELD_SLICE, COLUMN_TEXT, AT(why),
     "\"rate\", \"window\", \"bytes\", \"credit\", \"paused\""},
    {"duration_us", "", FIELD_INT, COLUMN_COUNT, AT(duration_us), "how long it lasted"},
};
FIELD_LIST(trace_lost_fields, "lost", lost);
#undef AT

#define AT(member) offsetof(struct trace_tally, member)
static const struct field tally[] = {
    {"functions", "functions", FIELD_INT, COLUMN_COUNT, AT(functions),
     "functions that were matched"},
    {"calls", "calls", FIELD_INT, COLUMN_COUNT, AT(calls),
     "all calls of them, by anyone; null: not counted"},
    {"seen", "seen", FIELD_INT, COLUMN_COUNT, AT(seen), "events that the VM gave"},
    {"shown", "shown", FIELD_INT, COLUMN_COUNT, AT(shown), "calls and messages that were shown"},
    {"filtered", "filtered", FIELD_INT, COLUMN_COUNT, AT(filtered),
     "left out by `slower`, `returns` or `raises`"},
    {"truncated", "truncated", FIELD_INT, COLUMN_COUNT, AT(cut), "truncated terms"},
    {"over", "beyond the cap", FIELD_INT, COLUMN_COUNT, AT(over),
     "given by the VM beyond the cap of events"},
    {"lost", "lost", FIELD_INT, COLUMN_COUNT, AT(lost), "taken but not sent, for want of room"},
    {"missed", "missed", FIELD_INT, COLUMN_COUNT, AT(missed),
     "passed while no event budget was left"},
    {"missed_at_most", "", FIELD_BOOL, COLUMN_BOOL, AT(missed_at_most),
     "whether `missed` is a bound"},
    {"not_returned", "not returned", FIELD_INT, COLUMN_COUNT, AT(open), "calls not returned yet"},
    {"time_us", "", FIELD_INT, COLUMN_COUNT, AT(time_us), "spent in them, by the action `time`"},
};
FIELD_LIST(trace_tally_fields, "counters", tally);

static const struct field pattern[] = {
    {"pattern", "", FIELD_SLICE, COLUMN_TEXT, AT(pattern), "as typed; then the keys of `counters`"},
    {"p50_us", "", FIELD_REAL, COLUMN_RATE, AT(p50_us),
     "half of the calls were as quick; at most 3.2% above the true one, as the next two"},
    {"p90_us", "", FIELD_REAL, COLUMN_RATE, AT(p90_us), "nine in ten"},
    {"p99_us", "", FIELD_REAL, COLUMN_RATE, AT(p99_us), "99 in a hundred"},
    {"max_us", "", FIELD_REAL, COLUMN_RATE, AT(max_us), "the slowest"},
};
FIELD_LIST(trace_pattern_fields, "patterns", pattern);
#undef AT

#define AT(member) offsetof(struct trace_counter, member)
static const struct field function[] = {
    {"mfa", "", FIELD_SLICE, COLUMN_TEXT, AT(mfa), "the function"},
    {"pattern", "", FIELD_SLICE, COLUMN_TEXT, AT(pattern), "the first pattern that matches it"},
    {"calls", "", FIELD_INT, COLUMN_COUNT, AT(calls), "its calls, by anyone"},
    {"time_us", "", FIELD_INT, COLUMN_COUNT, AT(time_us), "spent in it, by the action `time`"},
};
FIELD_LIST(trace_function_fields, "functions", function);
#undef AT

#define AT(member) offsetof(struct trace_preflight, member)
static const struct field preflight[] = {
    {"functions", "", FIELD_INT, COLUMN_COUNT, AT(functions), "functions that the patterns match"},
    {"functions_capped", "", FIELD_BOOL, COLUMN_BOOL, AT(functions_cut),
     "whether more match than the cap takes"},
    {"processes", "", FIELD_INT, COLUMN_COUNT, AT(processes), "processes that are traced"},
    {"calls_per_s", "", FIELD_REAL, COLUMN_RATE, AT(calls_per_s),
     "estimated by counting; null: not counted"},
    {"load", "", FIELD_REAL, COLUMN_SHARE, AT(load),
     "share of one scheduler that the guard costs at that rate"},
    {"expensive", "", FIELD_BOOL, COLUMN_BOOL, AT(expensive), "whether a confirmation is needed"},
};
FIELD_LIST(trace_preflight_fields, "preflight", preflight);
#undef AT

#define AT(member) offsetof(struct session_check, member)
static const struct field check[] = {
    {"done", "", FIELD_BOOL, COLUMN_BOOL, AT(done), "whether the node has answered"},
    {"clean", "", FIELD_BOOL, COLUMN_BOOL, AT(clean), "whether nothing is left on the node"},
    {"after_us", "", FIELD_INT, COLUMN_COUNT, AT(after_us),
     "from the end of the trace to the "
     "node's answer"},
    {"breakpoints", "", FIELD_INT, COLUMN_COUNT, AT(breakpoints),
     "breakpoints of beamtop that are left"},
    {"flags", "", FIELD_INT, COLUMN_COUNT, AT(flags), "processes with a trace flag of beamtop"},
    {"processes", "", FIELD_INT, COLUMN_COUNT, AT(processes),
     "processes of beamtop that hold a trace"},
    {"sessions", "", FIELD_INT, COLUMN_COUNT, AT(sessions), "trace sessions of beamtop"},
    {"control_word", "", FIELD_INT, COLUMN_COUNT, AT(control_word), "the VM's trace control word"},
    {"system_tracer", "", FIELD_BOOL, COLUMN_BOOL, AT(system_tracer),
     "whether a system tracer of beamtop is left"},
};
FIELD_LIST(trace_check_fields, "verification", check);
#undef AT
