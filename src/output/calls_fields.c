/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every key of a window of counted calls but its lists. */
#include "beamtop/output/calls_fields.h"

#define AT(member) offsetof(struct calls_window, member)
static const struct field window[] = {
    {"window", "", FIELD_INT, COLUMN_COUNT, AT(number), "from 1"},
    {"wall_us", "", FIELD_INT, COLUMN_COUNT, AT(wall_us),
     "its end by the node's own clock, µs since the epoch"},
    {"interval_us", "", FIELD_INT, COLUMN_COUNT, AT(interval_us),
     "how long the counters ran, measured on the node"},
    {"asked_us", "", FIELD_INT, COLUMN_COUNT, AT(asked_us),
     "the window asked for, where the cost limit shortened it; null: it did not"},
    {"stopped_early", "", FIELD_BOOL, COLUMN_BOOL, AT(cut), "whether it was stopped early"},
    {"functions_counted", "", FIELD_INT, COLUMN_COUNT, AT(functions), "functions with a counter"},
    {"functions_called", "", FIELD_INT, COLUMN_COUNT, AT(called), "of them, called at least once"},
    {"functions_lost", "", FIELD_INT, COLUMN_COUNT, AT(lost),
     "of them, reloaded in the window or not readable: their counts are lost"},
    {"calls", "", FIELD_INT, COLUMN_COUNT, AT(calls), "of all of them, exact, by any process"},
    {"calls_per_s", "", FIELD_REAL, COLUMN_RATE, AT(calls_per_s), "calls over the interval"},
    {"load", "", FIELD_REAL, COLUMN_SHARE, AT(load),
     "what counting cost, estimated: 10 ns a call, over all schedulers that are online"},
    {"timed_interval_us", "", FIELD_INT, COLUMN_COUNT, AT(timed_interval_us),
     "of the window for times and heap words; null: there was none"},
    {"processes", "", FIELD_INT, COLUMN_COUNT, AT(processes), "whose calls were timed"},
};
FIELD_LIST(calls_window_fields, "window", window);

static const struct field cost[] = {
    {"target_us", "", FIELD_INT, COLUMN_COUNT, AT(target_us),
     "µs that beamtop's processes worked on the node for this window, with what follows"},
    {"bytes", "", FIELD_INT, COLUMN_BYTES, AT(bytes), "of the node's answers"},
    {"listed_us", "", FIELD_INT, COLUMN_COUNT, AT(listed_us), "finding functions and applications"},
    {"armed_us", "", FIELD_INT, COLUMN_COUNT, AT(armed_us), "setting breakpoints"},
    {"read_us", "", FIELD_INT, COLUMN_COUNT, AT(read_us), "reading, ranking and adding up"},
    {"disarmed_us", "", FIELD_INT, COLUMN_COUNT, AT(disarmed_us), "clearing them"},
};
FIELD_LIST(calls_cost_fields, "cost", cost);
#undef AT

#define AT(member) offsetof(struct calls_function, member)
static const struct field function[] = {
    {"module", "", FIELD_SLICE, COLUMN_TEXT, AT(module), "its module"},
    {"function", "", FIELD_SLICE, COLUMN_TEXT, AT(function), "its name"},
    {"arity", "", FIELD_INT, COLUMN_COUNT, AT(arity), "how many arguments it has"},
    {"application", "", FIELD_SLICE, COLUMN_TEXT, AT(application), "its module's; null: of none"},
    {"calls", "", FIELD_INT, COLUMN_COUNT, AT(calls), "exact, by any process"},
    {"calls_per_s", "", FIELD_REAL, COLUMN_RATE, AT(calls_per_s), "calls over the interval"},
    {"share", "", FIELD_REAL, COLUMN_SHARE, AT(share), "of all calls of the window"},
    {"change", "", FIELD_REAL, COLUMN_SHARE, AT(change),
     "of `calls_per_s` since the window before: 0.1 is a tenth more; null: it was not among the "
     "first"},
    {"timed_calls", "", FIELD_INT, COLUMN_COUNT, AT(timed_calls),
     "calls in that window by the processes that were timed"},
    {"own_us", "", FIELD_INT, COLUMN_COUNT, AT(own_us),
     "time in them, without the time in other functions that were timed"},
    {"us_per_call", "", FIELD_REAL, COLUMN_RATE, AT(us_per_call), "`own_us` over `timed_calls`"},
    {"own_share", "", FIELD_REAL, COLUMN_SHARE, AT(own_share),
     "`own_us` over that interval: share of one scheduler"},
    {"words", "", FIELD_INT, COLUMN_COUNT, AT(words),
     "heap words that they allocated, garbage "
     "or not"},
    {"words_per_call", "", FIELD_REAL, COLUMN_RATE, AT(words_per_call),
     "`words` over `timed_calls`"},
    {"lost", "", FIELD_BOOL, COLUMN_BOOL, AT(lost), "whether it was loaded again in that window"},
};
FIELD_LIST(calls_function_fields, "functions", function);
#undef AT

#define AT(member) offsetof(struct calls_sum, member)
#define SUMS                                                                                       \
    {"functions", "", FIELD_INT, COLUMN_COUNT, AT(functions), "functions called"},                 \
        {"calls", "", FIELD_INT, COLUMN_COUNT, AT(calls), "of all of them"},                       \
        {"calls_per_s", "", FIELD_REAL, COLUMN_RATE, AT(calls_per_s), "calls over the interval"},  \
        {"share", "", FIELD_REAL, COLUMN_SHARE, AT(share), "of all calls of the window"},          \
        {"change", "", FIELD_REAL, COLUMN_SHARE, AT(change), "as of a function"},
static const struct field module[] = {
    {"module", "", FIELD_SLICE, COLUMN_TEXT, AT(module), "the module"},
    {"application", "", FIELD_SLICE, COLUMN_TEXT, AT(application), "its application"},
    SUMS};
FIELD_LIST(calls_module_fields, "modules", module);

static const struct field application[] = {
    {"application", "", FIELD_SLICE, COLUMN_TEXT, AT(application), "null: modules of none"}, SUMS};
FIELD_LIST(calls_application_fields, "applications", application);
#undef SUMS
#undef AT
