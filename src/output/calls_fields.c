/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every key of a window of counted calls but its lists. */
#include "beamtop/output/calls_fields.h"

#define ROW struct calls_window
static const struct field window[] = {
    FIELD("window", COUNT, number, "from 1"),
    FIELD("wall_us", COUNT, wall_us, "its end by the node's own clock, µs since the epoch"),
    FIELD("interval_us", COUNT, interval_us, "how long the counters ran, measured on the node"),
    FIELD("asked_us", COUNT, asked_us,
          "the window asked for, where the cost limit shortened it; null: it did not"),
    FIELD("stopped_early", BOOL, cut, "whether it was stopped early"),
    FIELD("functions_counted", COUNT, functions, "functions with a counter"),
    FIELD("functions_called", COUNT, called, "of them, called at least once"),
    FIELD("functions_lost", COUNT, lost,
          "of them, reloaded in the window or not readable: their counts are lost"),
    FIELD("calls", COUNT, calls, "of all of them, exact, by any process"),
    FIELD("calls_per_s", RATE, calls_per_s, "calls over the interval"),
    FIELD("load", SHARE, load,
          "what counting cost, estimated: 10 ns a call, over all schedulers that are online"),
    FIELD("timed_interval_us", COUNT, timed_interval_us,
          "of the window for times and heap words; null: there was none"),
    FIELD("processes", COUNT, processes, "whose calls were timed"),
};
FIELD_LIST(calls_window_fields, "window", window);

static const struct field cost[] = {
    FIELD("target_us", COUNT, target_us,
          "µs that beamtop's processes worked on the node for this window, with what follows"),
    FIELD("bytes", BYTES, bytes, "of the node's answers"),
    FIELD("listed_us", COUNT, listed_us, "finding functions and applications"),
    FIELD("armed_us", COUNT, armed_us, "setting breakpoints"),
    FIELD("read_us", COUNT, read_us, "reading, ranking and adding up"),
    FIELD("disarmed_us", COUNT, disarmed_us, "clearing them"),
};
FIELD_LIST(calls_cost_fields, "cost", cost);
#undef ROW

#define ROW struct calls_function
static const struct field function[] = {
    FIELD("module", TEXT, module, "its module"),
    FIELD("function", TEXT, function, "its name"),
    FIELD("arity", COUNT, arity, "how many arguments it has"),
    FIELD("application", TEXT, application, "its module's; null: of none"),
    FIELD("calls", COUNT, calls, "exact, by any process"),
    FIELD("calls_per_s", RATE, calls_per_s, "calls over the interval"),
    FIELD("share", SHARE, share, "of all calls of the window"),
    FIELD("change", SHARE, change,
          "of `calls_per_s` since the window before: 0.1 is a tenth more; null: it was not among "
          "the first"),
    FIELD("timed_calls", COUNT, timed_calls,
          "calls in that window by the processes that were timed"),
    FIELD("own_us", COUNT, own_us,
          "time in them, without the time in other functions that were timed"),
    FIELD("us_per_call", RATE, us_per_call, "`own_us` over `timed_calls`"),
    FIELD("own_share", SHARE, own_share, "`own_us` over that interval: share of one scheduler"),
    FIELD("words", COUNT, words, "heap words that they allocated, garbage or not"),
    FIELD("words_per_call", RATE, words_per_call, "`words` over `timed_calls`"),
    FIELD("lost", BOOL, lost, "whether it was loaded again in that window"),
};
FIELD_LIST(calls_function_fields, "functions", function);
#undef ROW

#define ROW struct calls_sum
#define SUMS                                                                                       \
    FIELD("functions", COUNT, functions, "functions called"),                                      \
        FIELD("calls", COUNT, calls, "of all of them"),                                            \
        FIELD("calls_per_s", RATE, calls_per_s, "calls over the interval"),                        \
        FIELD("share", SHARE, share, "of all calls of the window"),                                \
        FIELD("change", SHARE, change, "as of a function"),
static const struct field module[] = {FIELD("module", TEXT, module, "the module"),
                                      FIELD("application", TEXT, application, "its application"),
                                      SUMS};
FIELD_LIST(calls_module_fields, "modules", module);

static const struct field application[] = {
    FIELD("application", TEXT, application, "null: modules of none"), SUMS};
FIELD_LIST(calls_application_fields, "applications", application);
#undef SUMS
#undef ROW
