/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a report: their keys in JSON (docs/json.md), and their columns for people. */
#include "beamtop/base/attr.h"
#include "summary_internal.h"

#define ROW struct period_owner
static const struct field owner_table[] = {
    FIELD("owner", TEXT, owner, "null: who was not ranked", .title = "who"),
    FIELD("kind", TEXT, kind, "what it was recognised as", .title = "is"),
    FIELD("share", SHARE, share, "of the reductions"),
    FIELD("share_stddev", SHARE, share_stddev, "between ticks", .title = "±"),
    FIELD("reductions_per_s", RATE, reductions_per_s, "its reductions", .title = "red/s"),
    /* Means: real numbers also in JSON. */
    FIELD("memory_bytes", BYTE_RATE, memory_bytes, "of its processes", .title = "memory"),
    FIELD("message_queue_len", RATE, message_queue_len, "in all its queues", .title = "mailbox"),
    FIELD("processes", RATE, processes, "its processes"),
};
FIELD_COLUMNS(summary_owner_fields, "owners", owner_table, 0,
              "owner share share_stddev reductions_per_s memory_bytes message_queue_len processes "
              "kind");
#undef ROW

#define TIME(KEY, MEMBER, TITLE, HELP)                                                             \
    FIELD(KEY, RATE, MEMBER, HELP, .title = (TITLE), .look = LOOK_MICROSECONDS)

#define ROW struct summary_call
static const struct field call_table[] = {
    FIELD("module", TEXT, call.module, "its module"),
    FIELD("function", TEXT, call.function, "its name"),
    FIELD("arity", COUNT, call.arity, "how many arguments it has"),
    FIELD("calls", COUNT, call.calls, "in all windows", .look = LOOK_SHORT),
    FIELD("calls_per_s", RATE, call.calls_per_s, "over their time", .title = "calls/s"),
    FIELD("share", SHARE, call.share, "of all calls"),
    TIME("own_us", call.own_us, "own time", "in it"),
    FIELD("words", COUNT, call.words, "heap words that it allocated", .look = LOOK_SHORT),
    FIELD("windows", COUNT, call.windows, "0: not listed in each of them"),
    FIELD("calls_per_s_stddev", RATE, call.calls_per_s_stddev, "between windows"),
    FIELD("share_stddev", SHARE, call.share_stddev, "between windows"),
    FIELD("mfa", TEXT, name, "the function", .title = "function"),
    TIME("us_per_call", us_per_call, "a call", "own time"),
};
FIELD_COLUMNS(summary_call_fields, "functions", call_table, 2,
              "mfa calls calls_per_s share own_us us_per_call words");
#undef ROW

#define ROW struct period_pattern
static const struct field pattern_table[] = {
    FIELD("pattern", TEXT, pattern, "as it was typed"),
    FIELD("traces", COUNT, traces, "that had it", .look = LOOK_SHORT),
    FIELD("calls", COUNT, calls, "of its functions, by anyone", .look = LOOK_SHORT),
    FIELD("shown", COUNT, shown, "events", .look = LOOK_SHORT),
    FIELD("missed", COUNT, missed, "events", .title = "not shown", .look = LOOK_SHORT),
    TIME("p50_us", p50_us, "p50", "of the slowest trace"),
    TIME("p99_us", p99_us, "p99", "of the slowest trace"),
    TIME("max_us", max_us, "max", "of any trace"),
};
FIELD_LIST(summary_pattern_fields, "traces", pattern_table);
#undef ROW

#define ROW struct samples_row
static const struct field class_table[] = {
    FIELD("class", TEXT, name, "as of `sample`"),
    FIELD("share", SHARE, share, "of all samples"),
    FIELD("share_error", SHARE, error, "half of its 95% interval", .title = "±95%",
          .look = LOOK_ERROR),
    FIELD("samples", COUNT, samples, "its samples"),
    FIELD("process", TEXT, name, "the Erlang process"),
    FIELD("name", TEXT, about, "its registered name or label"),
};
FIELD_COLUMNS(summary_class_fields, "classes", class_table, 3, "class share share_error samples");
FIELD_COLUMNS(summary_process_fields, "processes", class_table, 3, "process name samples share");
#undef ROW

#define ROW struct system_event_group
static const struct field event_table[] = {
    FIELD("event", TEXT, key, "the VM's name of it"),
    FIELD("process", TEXT, key, "its name"),
    FIELD("events", COUNT, events, "of the period"),
    FIELD("max_ms", COUNT, max_ms, "the longest", .title = "max ms"),
    FIELD("max_words", COUNT, max_words, "the largest heap", .title = "max words"),
    FIELD("last", TEXT, last, "the last one", .title = "last, UTC"),
};
FIELD_COLUMNS(summary_kind_fields, "kinds", event_table, 1, "event events max_ms max_words last");
FIELD_COLUMNS(summary_event_fields, "processes", event_table, 1,
              "process events max_ms max_words last");
#undef ROW

#define ROW struct function_share
static const struct field function_table[] = {
    FIELD("function", TEXT, function, "as of `sample`"),
    FIELD("kind", TEXT, kind, "as of `sample`"),
    FIELD("object", TEXT, object, "of native code: its file"),
    FIELD("self_share", SHARE, self, "of the samples in it", .title = "self"),
    FIELD("self_error", SHARE, self_error, "half of its 95% interval", .title = "±95%",
          .look = LOOK_ERROR),
    FIELD("total_share", SHARE, total, "of those in what it called, too", .title = "total"),
    FIELD("total_error", SHARE, total_error, "half of its 95% interval", .title = "±95%",
          .look = LOOK_ERROR),
    FIELD("name", TEXT, name, "with its file", .title = "function"),
};
FIELD_COLUMNS(summary_self_fields, "functions", function_table, 1,
              "name kind self_share self_error total_share");
FIELD_COLUMNS(summary_total_fields, "functions", function_table, 1,
              "name kind total_share total_error self_share");
#undef ROW
