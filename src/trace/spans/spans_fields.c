/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of the rows of captured causal spans. */
#include "beamtop/trace/spans_rows.h"

#define ROW struct spans_row
#define OPERATION(HELP, ...)                                                                       \
    FIELD("operation", TEXT, operation, HELP, .look = LOOK_FUNCTION, .grows = true, __VA_ARGS__)
#define PROCESS(HELP)                                                                              \
    FIELD("name", TEXT, name, HELP, .title = "PROCESS", .look = LOOK_NAME, .width = 14,            \
          .grows = true)
#define TIME(KEY, MEMBER, HELP, ...)                                                               \
    FIELD(KEY, RATE, MEMBER, HELP, .look = LOOK_MICROSECONDS, __VA_ARGS__)
#define BOUND(MEMBER) .bound = offsetof(ROW, MEMBER)
#define DURATION(KEY, HELP)                                                                        \
    TIME(KEY, duration_us, HELP, .title = "TIME", .width = 9, BOUND(duration_bound))
#define OFFSET                                                                                     \
    FIELD("offset_us", RATE, offset_us, "its start, from the root's on", .title = "START",         \
          .look = LOOK_OFFSET, .width = 8)
#define OUTCOME(HELP)                                                                              \
    FIELD("outcome", TEXT, outcome, HELP, .look = LOOK_PLAIN, .width = 8, .grows = true)
#define BARS                                                                                       \
    FIELD_DRAWN("bars", "when, from the start to the end of the request", .title = "", .width = 14)

static const struct field span[] = {
    FIELD("trace_id", TEXT, trace_id, "of the whole tree, 32 hex digits"),
    FIELD("span_id", TEXT, span_id, "16 hex digits"),
    FIELD("parent_span_id", TEXT, parent_span_id, "null: a root"),
    FIELD("node", TEXT, node, "the node of its process"),
    FIELD("pid", TEXT, pid, "its process"),
    PROCESS("registered name, label or initial call"),
    FIELD("kind", TEXT, kind, "`root`, `call`, `cast`, `spawn`, `task`, `message` or `function`",
          .look = LOOK_ASIDE, .width = 8),
    OPERATION("function of a root, function or spawn, first atom of a message; null: the root is a "
              "process",
              .title = "SPAN", .width = 22),
    FIELD("started_at", TEXT, started_at,
          "by the captured node's own clock, as 2026-01-31T22:13:20.123456Z"),
    FIELD("ended_at", TEXT, ended_at, "likewise"),
    OFFSET,
    DURATION("duration_us", "from its start to its end"),
    FIELD("ended_at_least", BOOL, ended_at_least,
          "it ended then or later: light mode does not see the end"),
    FIELD("leaf", BOOL, leaf, "not captured itself: only known from its caller's side"),
    FIELD("words", COUNT, words, "of the message that started it"),
    TIME("queued_us", queued_us, "that message in the queue", .title = "QUEUED", .width = 8),
    TIME("self_us", self_us,
         "it ran; in light mode an upper limit, with the two after `wait_us`; null with "
         "`ended_at_least` there",
         .title = "SELF", .width = 8, BOUND(self_bound)),
    TIME("nested_us", nested_us, "it was in spans within it, on the same process",
         .title = "NESTED"),
    TIME("wait_us", wait_us, "it waited for known processes", .title = "WAIT"),
    TIME("unattributed_us", unattributed_us, "it waited, and no event says for what",
         .title = "UNATTRIBUTED"),
    TIME("off_cpu_us", off_cpu_us, "it was ready and did not run", .title = "OFF CPU"),
    FIELD("waiting_on_pid", TEXT, waiting_on_pid,
          "of its longest wait for a process, also in a function within it"),
    FIELD("waiting_on_name", TEXT, waiting_on_name, "that process's name"),
    OUTCOME(
        "`ok`, `exception`, `exit`, `timeout`, `noproc`, `elsewhere`, `late`, `open` or `unknown`"),
    FIELD("reason", TEXT, reason, "of the outcome"),
    BARS,
};
FIELD_COLUMNS(spans_span_fields, "span", span, 1,
              "operation duration_us outcome name kind offset_us queued_us self_us bars");

static const struct field request[] = {
    FIELD("started_at", TEXT, wall_us, "time of day by the node's clock", .title = "STARTED",
          .width = 12),
    OPERATION("root function", .title = "REQUEST", .width = 20),
    DURATION("duration_us", "from start to end"),
    OUTCOME("how it ended, and why"),
    TIME("wait", wait_us, "its largest wait", .width = 8, BOUND(wait_bound)),
    FIELD("on", TEXT, on, "the process it waited for, or the function in which", .title = "FOR",
          .look = LOOK_NAME, .width = 14, .grows = true),
    PROCESS("name of the process, or pid"),
    FIELD("spans", COUNT, spans, "in its tree", .width = 6),
};
FIELD_LIST(spans_request_fields, "requests", request);

static const struct field wait[] = {
    FIELD("kind", TEXT, kind,
          "`call`, `message`, `nested`, `WAITING` (nobody knows for what) or `OFF_CPU`"),
    OFFSET,
    DURATION("duration_us", "from its start to its end"),
    FIELD("net_us", RATE, net_us, "the part that no other wait covers"),
    FIELD("at_most", BOOL, at_most, "it began then or later: light mode does not see the start"),
    FIELD("node", TEXT, node, "of the process that it waited for"),
    FIELD("pid", TEXT, pid, "that process"),
    FIELD("name", TEXT, name, "its name"),
    FIELD("on_span_id", TEXT, on_span_id, "the span that ended it; null: not captured"),
    FIELD("outcome", TEXT, outcome, "as of a span"),
    FIELD("at", TEXT, at, "the function that waits; of an exit the reason"),
    FIELD("in", TEXT, in,
          "of `call` and `message`: the function in which it slept; null in light mode"),
};
FIELD_LIST(spans_wait_fields, "waits", wait);

static const struct field step[] = {
    FIELD("span_id", TEXT, span_id, "the span"),
    FIELD("part", TEXT, part, "`self`, `queued`, `wait` or `OFF_CPU`", .title = "STEP",
          .look = LOOK_ASIDE, .width = 12, .grows = true),
    FIELD("at", TEXT, at, "of a wait: the function, or the name of the process"),
    OFFSET,
    DURATION("duration_us", "how long"),
    FIELD("share", SHARE, share, "of the root's duration", .width = 7),
    OPERATION("function, or first atom of the message", .title = "SPAN", .width = 22),
    PROCESS("name of the process, or pid"),
    BARS,
};
FIELD_COLUMNS(spans_step_fields, "critical_path", step, 3,
              "operation part duration_us share name offset_us bars");

static const struct field part[] = {
    OPERATION("of the span", .width = 20),
    PROCESS("of its process; null: it has none"),
    FIELD("part", TEXT, part, "as in `critical_path`", .grows = true),
    FIELD("at", TEXT, at, "of a wait: the function, or the name of the process"),
    DURATION("us", "time on the critical paths of all roots"),
    FIELD("share", SHARE, share, "of the time of all roots", .width = 7),
    FIELD("slow_us", RATE, slow_us, "in the slowest 1% of the roots"),
    FIELD("slow_share", SHARE, slow_share, "of the time of those", .title = "SLOWEST", .width = 8),
    TIME("self_us", self_us, "ran", .title = "SELF", .width = 8, BOUND(self_bound)),
    TIME("wait_us", wait_us, "for what is not captured", .title = "WAIT", .width = 8),
    TIME("queued_us", queued_us, "messages in queues", .title = "QUEUED", .width = 8),
    TIME("off_cpu_us", off_cpu_us, "ready to run", .title = "OFF CPU", .width = 8),
};
FIELD_COLUMNS(spans_part_fields, "parts", part, 4,
              "operation name us share slow_share self_us wait_us queued_us off_cpu_us");
