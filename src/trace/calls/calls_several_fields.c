/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A window of several nodes: its keys and columns. */
#include "beamtop/trace/calls_several.h"

#define ROW struct calls_several
static const struct field window[] = {
    FIELD("window", COUNT, number, "from 1"),
    FIELD("nodes_asked", COUNT, nodes, "nodes that take part, or would"),
    FIELD("nodes_counted", COUNT, counted, "of them, in the sums"),
    FIELD("calls", COUNT, calls, "of all functions on all of these, exact"),
    FIELD("calls_per_s", RATE, calls_per_s, "sum of what each has over its own interval"),
};
FIELD_LIST(calls_several_fields, "window", window);
#undef ROW

#define ROW struct calls_node
static const struct field node[] = {
    FIELD("node", TEXT, node, "its name", .look = LOOK_NAME, .width = 24),
    FIELD("counted", BOOL, counted, "whether it is in the sums"),
    FIELD("calls", COUNT, calls, "of all functions, exact; null: there is no window of it",
          .width = 9),
    FIELD("calls_per_s", RATE, calls_per_s, "calls over the interval", .title = "CALLS/s",
          .width = 8),
    FIELD("functions_called", COUNT, called, "called at least once", .title = "CALLED"),
    FIELD("functions_counted", COUNT, functions, "functions with a counter", .title = "OF"),
    FIELD("functions_lost", COUNT, lost, "of them, reloaded in the window or not readable",
          .title = "LOST"),
    FIELD("functions_excluded", COUNT, not_counted, "not counted, since they are called too often",
          .title = "LEFT OUT"),
    FIELD("wall_us", COUNT, wall_us, "end of the window by the node's own clock"),
    FIELD("interval_us", COUNT, interval_us, "how long the counters ran", .title = "WINDOW",
          .look = LOOK_MICROSECONDS),
    FIELD("asked_us", COUNT, asked_us,
          "the window asked for, where the cost limit shortened it; null: it did not",
          .title = "ASKED", .look = LOOK_MICROSECONDS),
    FIELD("load", SHARE, load, "what counting cost, estimated: of all schedulers", .title = "COST"),
    FIELD("target_us", COUNT, target_us,
          "µs that beamtop's processes worked on the node for this window", .title = "WORK",
          .look = LOOK_MICROSECONDS),
    FIELD("bytes", BYTES, bytes, "of the node's answers", .title = "ANSWERS"),
    FIELD("why", TEXT, why, "why it is not in the sums", .title = "NOT IN THE SUMS", .width = 30),
};
FIELD_COLUMNS(
    calls_node_fields, "nodes", node, 0,
    "node calls calls_per_s functions_called functions_counted interval_us load target_us "
    "why");
#undef ROW

#define ROW struct calls_several_function
#define MICROSECONDS .look = LOOK_MICROSECONDS, .width = 8
static const struct field function[] = {
    FIELD("module", TEXT, module, "its module"),
    FIELD("function", TEXT, function, "its name"),
    FIELD("arity", COUNT, arity, "how many arguments it has"),
    FIELD("application", TEXT, application, "its module's; null: of none", .look = LOOK_ASIDE,
          .width = 14),
    FIELD("nodes_listed", COUNT, nodes, "nodes of the sums that list it", .title = "NODES"),
    FIELD("calls", COUNT, calls, "sum over these nodes, exact on each", .width = 9,
          .bound = offsetof(struct calls_several_function, bound)),
    FIELD(
        "calls_unlisted", COUNT, unlisted,
        "so many more at most, on nodes whose lists end before it; null: a node did not count it"),
    FIELD("calls_per_s", RATE, calls_per_s, "sum of calls over each node's interval",
          .title = "CALLS/s", .width = 8),
    FIELD("share", SHARE, share, "of all calls of the window", .width = 7),
    FIELD("least_per_s", RATE, least_per_s,
          "calls per second of the node with the fewest; null: one that does not list it may have "
          "fewer",
          .title = "LEAST/s", .width = 8),
    FIELD("least_node", TEXT, least_node, "that node", .title = "ON", .look = LOOK_ASIDE),
    FIELD(
        "most_per_s", RATE, most_per_s,
        "calls per second of the node with the most; null: one that does not list it may have more",
        .title = "MOST/s", .width = 8),
    FIELD("most_node", TEXT, most_node, "that node", .title = "ON", .look = LOOK_ASIDE),
    FIELD("timed_calls", COUNT, timed_calls, "calls that were timed, on the nodes that timed it"),
    FIELD("own_us", COUNT, own_us, "time in them, as in `functions` of `calls`", .title = "OWN",
          MICROSECONDS),
    FIELD("us_per_call", RATE, us_per_call, "`own_us` over `timed_calls`", .title = "A CALL",
          MICROSECONDS),
    FIELD("least_us_per_call", RATE, least_us, "of the node with the least", .title = "LEAST",
          MICROSECONDS),
    FIELD("least_us_node", TEXT, least_us_node, "that node", .title = "ON", .look = LOOK_ASIDE),
    FIELD("most_us_per_call", RATE, most_us, "of the node with the most", .title = "MOST",
          MICROSECONDS),
    FIELD("most_us_node", TEXT, most_us_node, "that node", .title = "ON", .look = LOOK_ASIDE),
    FIELD("words", COUNT, words, "heap words that they allocated", .look = LOOK_SHORT, .width = 8),
    FIELD("words_per_call", RATE, words_per_call, "`words` over `timed_calls`", .title = "W/CALL",
          .width = 7),
    FIELD("mfa", TEXT, name, "the function", .title = "FUNCTION", .look = LOOK_FUNCTION,
          .width = 30, .grows = true),
};
#define COUNTS                                                                                     \
    "mfa calls calls_per_s share nodes_listed least_per_s least_node most_per_s most_node"
#define TIMES " own_us us_per_call least_us_per_call least_us_node most_us_per_call most_us_node"
#define WORDS " words words_per_call"
FIELD_COLUMNS(calls_several_function_fields, "functions", function, 1, COUNTS);
#undef ROW

#define ROW struct calls_node_function
static const struct field of_node[] = {
    FIELD("node", TEXT, node, "its name", .look = LOOK_NAME),
    FIELD("calls", COUNT, calls, "of the function there, exact", .width = 9),
    FIELD("calls_per_s", RATE, calls_per_s, "calls over the interval", .title = "CALLS/s",
          .width = 8),
    FIELD("timed_calls", COUNT, timed_calls, "calls that were timed"),
    FIELD("own_us", COUNT, own_us, "time in them", .title = "OWN", MICROSECONDS),
    FIELD("us_per_call", RATE, us_per_call, "`own_us` over `timed_calls`", .title = "A CALL",
          MICROSECONDS),
    FIELD("words", COUNT, words, "heap words that they allocated", .look = LOOK_SHORT, .width = 8),
    FIELD("mfa", TEXT, name, "the function", .title = "FUNCTION", .look = LOOK_FUNCTION,
          .width = 30),
};
FIELD_COLUMNS(calls_node_function_fields, "nodes", of_node, 1, "mfa node calls calls_per_s");
#undef ROW

const char *calls_several_columns(const struct calls_several *w)
{
    return w->has_time && w->has_memory ? COUNTS TIMES WORDS
           : w->has_time                ? COUNTS TIMES
           : w->has_memory              ? COUNTS WORDS
                                        : COUNTS;
}
