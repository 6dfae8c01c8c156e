/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A window of counted calls: its keys, columns, and the names of its rows. */
#include "beamtop/trace/calls_fields.h"

#include <string.h>

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
#define NAMED(KEY, MEMBER, HELP) FIELD(KEY, TEXT, MEMBER, HELP, .look = LOOK_ASIDE, .width = 14)
#define COUNTED(CALLS_HELP, CHANGE_HELP)                                                           \
    FIELD("calls", COUNT, calls, CALLS_HELP, .width = 9),                                          \
        FIELD("calls_per_s", RATE, calls_per_s, "calls over the interval", .title = "CALLS/s",     \
              .width = 8),                                                                         \
        FIELD("share", SHARE, share, "of all calls of the window", .width = 7),                    \
        FIELD("change", SHARE, change, CHANGE_HELP, .look = LOOK_CHANGE, .width = 8)
static const struct field function[] = {
    FIELD("module", TEXT, module, "its module"),
    FIELD("function", TEXT, function, "its name"),
    FIELD("arity", COUNT, arity, "how many arguments it has"),
    NAMED("application", application, "its module's; null: of none"),
    COUNTED("exact, by any process",
            "of `calls_per_s` since the window before: 0.1 is a tenth more; null: it was not among "
            "the first"),
    FIELD("timed_calls", COUNT, timed_calls,
          "calls in that window by the processes that were timed"),
    FIELD("own_us", COUNT, own_us,
          "time in them, without the time in other functions that were timed", .title = "OWN",
          .look = LOOK_MICROSECONDS, .width = 8),
    FIELD("us_per_call", RATE, us_per_call, "`own_us` over `timed_calls`", .title = "A CALL",
          .look = LOOK_MICROSECONDS, .width = 8),
    FIELD("own_share", SHARE, own_share, "`own_us` over that interval: share of one scheduler",
          .title = "OWN %", .width = 7),
    FIELD("words", COUNT, words, "heap words that they allocated, garbage or not",
          .look = LOOK_SHORT, .width = 8),
    FIELD("words_per_call", RATE, words_per_call, "`words` over `timed_calls`", .title = "W/CALL",
          .width = 7),
    FIELD("lost", BOOL, lost, "whether it was loaded again in that window"),
    FIELD("mfa", TEXT, name, "the function", .title = "FUNCTION", .look = LOOK_FUNCTION,
          .width = 30, .grows = true),
};
FIELD_COLUMNS(calls_function_fields, "functions", function, 1,
              "mfa calls calls_per_s share change application");
#undef ROW

#define ROW struct calls_sum
#define SUMS                                                                                       \
    FIELD("functions", COUNT, functions, "functions called", .title = "FUNCS", .width = 7),        \
        COUNTED("of all of them", "as of a function"),                                             \
        FIELD("name", TEXT, name, "its name", .title = SUM_TITLE, .look = LOOK_NAME,               \
              .grows = true)
#define SUM_TITLE "MODULE", .width = 30
static const struct field module[] = {FIELD("module", TEXT, module, "the module"),
                                      NAMED("application", application, "its application"), SUMS};
FIELD_COLUMNS(calls_module_fields, "modules", module, 1,
              "name calls calls_per_s share change functions application");

#undef SUM_TITLE
#define SUM_TITLE "APPLICATION", .width = 20
static const struct field application[] = {
    NAMED("application", application, "null: modules of none"), SUMS};
FIELD_COLUMNS(calls_application_fields, "applications", application, 1,
              "name calls calls_per_s share change functions");
#undef SUM_TITLE
#undef SUMS
#undef ROW

const char *calls_function_columns(const struct calls_window *w)
{
    return w->has_time && w->has_memory
               ? "mfa calls calls_per_s share change own_us own_share us_per_call words "
                 "words_per_call application"
           : w->has_time   ? "mfa calls calls_per_s share change own_us own_share us_per_call "
                             "application"
           : w->has_memory ? "mfa calls calls_per_s share change words words_per_call application"
                           : NULL;
}

bool calls_field_is_timed(const struct field *f)
{
    return f->look == LOOK_MICROSECONDS || strncmp(f->key, "words", 5) == 0 ||
           strcmp(f->key, "own_share") == 0;
}

struct slice calls_function_name(struct arena *arena, const struct calls_function *f,
                                 enum print_syntax syntax)
{
    struct buf text;
    buf_init(&text, 0);
    print_mfa_as(&text, syntax, f->module, f->function, (int64_t)f->arity);
    return slice_take(arena, &text);
}

struct slice calls_sum_name(struct arena *arena, const struct calls_sum *sum,
                            enum print_syntax syntax)
{
    const struct slice alias = slice_without(sum->module, "Elixir.");
    struct buf text;
    if (sum->module.len == 0)
        return sum->application.len > 0 ? sum->application : slice_of("(none)");
    if (syntax == PRINT_ELIXIR && alias.len < sum->module.len)
        return alias;
    buf_init(&text, 0);
    print_atom(&text, sum->module.s, sum->module.len);
    return slice_take(arena, &text);
}
