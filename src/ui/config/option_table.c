/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/limits.h"
#include "beamtop/trace/pattern.h"
#include "beamtop/ui/capture.h"
#include "beamtop/ui/option.h"

static const char *const auto_choices[] = {
    [AUTO_AUTO] = "auto", [AUTO_YES] = "yes", [AUTO_NO] = "no", NULL};
static const char *const on_rate_choices[] = {
    [ON_RATE_AUTO] = "auto", [ON_RATE_SHED] = "shed", [ON_RATE_STOP] = "stop", NULL};
static const char *const syntax_choices[] = {
    [SYNTAX_AUTO] = "auto", [SYNTAX_ERLANG] = "erlang", [SYNTAX_ELIXIR] = "elixir", NULL};
static const char *const color_choices[] = {
    [COLORS_AUTO] = "auto", [COLORS_256] = "256",   [COLORS_16] = "16",
    [COLORS_8] = "8",       [COLORS_NONE] = "none", NULL};

#define OPTION(ID, NAME, TYPE, WORDS, INITIAL, SCOPE, ...)                                         \
    [OPTION_##ID] = {.name = (NAME),                                                               \
                     .type = OPTION_TYPE_##TYPE,                                                   \
                     .words = WORD_##WORDS,                                                        \
                     .initial = (INITIAL),                                                         \
                     .scope = SCOPE_##SCOPE,                                                       \
                     .help = __VA_ARGS__}

const struct option_row option_table[OPTIONS] = {
    OPTION(INTERVAL, "interval", DURATION, DURATION, "1s", BOTH, "time between ticks", .low = 0.25,
           .high = 3600),
    OPTION(BUDGET, "budget", DOUBLE, NUMBER, "2", BOTH,
           "cost limit; beamtop stretches the interval to stay within it", .low = 0.01, .high = 100,
           .unit = "% of one scheduler"),
    OPTION(TIMEOUT, "timeout", DURATION, DURATION, "5s", BOTH,
           "time limit for a connection or an answer", .low = 0.1, .high = 60),
    OPTION(RECONNECT, "reconnect", BOOL, CHOICE, "yes", SCREEN,
           "connect again after a lost connection"),
    OPTION(VIEW, "view", STRING, VIEW, "processes", SCREEN, "first view"),
    OPTION(COLUMNS, "columns", COLUMNS, COLUMNS, "default", BOTH,
           "columns of the process list, separated by commas"),
    OPTION(SORT, "sort", STRING, COLUMN, "reductions_per_s", BOTH,
           "sort column of the process list"),
    OPTION(SORT_REVERSE, "sort-reverse", BOOL, CHOICE, "no", BOTH, "smallest first"),
    OPTION(SORT_DELTA, "sort-delta", BOOL, CHOICE, "no", BOTH,
           "sort by change since the last tick instead of by amount"),
    OPTION(ROWS, "rows", INT, NUMBER, "0", BOTH,
           "rows of the process list; 0: as many as fit, 20 in batch", .low = 0, .high = LIMIT_ROWS,
           .unit = "rows"),
    OPTION(FILTER, "filter", STRING, REGEX, "", BOTH,
           "regular expression (PCRE2) that rows must match; empty: all"),
    OPTION(OWN, "own", BOOL, CHOICE, "no", BOTH, "list beamtop's own processes on the node too"),
    OPTION(MAILBOX_MESSAGES, "mailbox-messages", INT, NUMBER, "20", SCREEN,
           "messages that the action mailbox shows", .low = 1, .high = 1000, .unit = "messages"),
    OPTION(MAILBOX_BYTES, "mailbox-bytes", BYTES, BYTES, "1024", SCREEN,
           "bytes of each message that it shows", .low = 64, .high = 65536),
    OPTION(STATE_TIMEOUT, "state-timeout", DURATION, DURATION, "1s", SCREEN,
           "time limit for the state of a process", .low = 0.1, .high = 10),
    OPTION(STATE_BYTES, "state-bytes", BYTES, BYTES, "16384", SCREEN,
           "bytes of a state that are shown", .low = 256, .high = 1048576),
    OPTION(THEME, "theme", STRING, THEME, THEME_AUTO, SCREEN,
           "colours: a built-in theme, NAME.theme, or auto"),
    OPTION(COLORS, "colors", ENUM, CHOICE, "auto", SCREEN,
           "how many colours to use; auto: what the terminal has", .choices = color_choices),
    OPTION(ASCII, "ascii", ENUM, CHOICE, "auto", SCREEN,
           "keep to ASCII; auto: when the locale is not UTF-8", .choices = auto_choices),
    OPTION(MOUSE, "mouse", BOOL, CHOICE, "yes", SCREEN,
           "use the mouse (the terminal's own selection needs Shift then)"),
    OPTION(CAPTURE_DIR, "capture-dir", STRING, FILE, ".", BOTH,
           "folder for captures without a name"),
    OPTION(CAPTURE_FORMAT, "capture-format", ENUM, CHOICE, "svg", BOTH,
           "format of captures whose name has none", .choices = capture_format_names),
    OPTION(CAPTURE_EVERY, "capture-every", DURATION, DURATION, "0", BOTH,
           "capture the screen again and again; 0: never", .low = 0, .high = 86400),
    OPTION(CAPTURE_WHEN, "capture-when", STRING, TEXT, "", BOTH,
           "capture the screen when a threshold is crossed, as in run_queue > 8; empty: never"),
    OPTION(PROMPT_HISTORY, "prompt-history", INT, NUMBER, "500", SCREEN,
           "lines of each prompt that are kept for the next start", .low = 0,
           .high = LIMIT_PROMPT_HISTORY, .unit = "lines"),
    OPTION(TRACE_TIME, "trace-time", CAP, DURATION, "15s", BOTH, NULL, .cap = CAP_TIME_MS),
    OPTION(TRACE_EVENTS, "trace-events", CAP, NUMBER, "100", SCREEN,
           "calls and messages that are shown on the screen", .cap = CAP_EVENTS),
    OPTION(TRACE_BATCH_EVENTS, "trace-batch-events", CAP, NUMBER, "10", BATCH,
           "calls and messages that are shown in batch", .cap = CAP_EVENTS),
    OPTION(TRACE_RATE, "trace-rate", CAP, NUMBER, "200", BOTH, NULL, .cap = CAP_RATE_PER_S),
    OPTION(TRACE_WINDOW, "trace-window", CAP, NUMBER, "256", BOTH, NULL, .cap = CAP_WINDOW),
    OPTION(TRACE_WINDOW_BYTES, "trace-window-bytes", CAP, BYTES, "512KiB", BOTH, NULL,
           .cap = CAP_WINDOW_BYTES),
    OPTION(TRACE_TERM_SIZE, "trace-term-size", CAP, BYTES, "2KiB", BOTH, NULL,
           .cap = CAP_TERM_BYTES),
    OPTION(TRACE_BYTES, "trace-bytes", CAP, BYTES, "1MiB", BOTH, NULL, .cap = CAP_BYTES),
    OPTION(TRACE_HEAP, "trace-heap", CAP, BYTES, "32MiB", BOTH, NULL, .cap = CAP_HEAP_BYTES),
    OPTION(TRACE_FUNCTIONS, "trace-functions", CAP, NUMBER, "1000", BOTH, NULL,
           .cap = CAP_FUNCTIONS),
    OPTION(TRACE_PROCESSES, "trace-processes", CAP, NUMBER, "10000", BOTH, NULL,
           .cap = CAP_PROCESSES),
    OPTION(TRACE_ON_RATE, "trace-on-rate", ENUM, CHOICE, "auto", BOTH,
           "above its rate a trace skips calls (shed) or stops; auto: shed on the screen, stop in "
           "batch unless the pattern filters results",
           .choices = on_rate_choices),
    OPTION(TRACE_SYNTAX, "trace-syntax", ENUM, CHOICE, "auto", BOTH,
           "syntax of patterns and terms of a trace (also `set syntax`); auto: recognised pattern "
           "by pattern, terms as the first pattern",
           .alias = "syntax", .choices = syntax_choices),
    OPTION(CALLS_WINDOW, "calls-window", DURATION, DURATION, "1s", SCREEN,
           "length of a counting window", .low = 0.01, .high = LIMIT_CALLS_WINDOW_MS / 1000.0),
    OPTION(CALLS_EVERY, "calls-every", DURATION, DURATION, "5s", SCREEN,
           "time from window to window; 0: without a pause", .low = 0, .high = 3600),
    OPTION(CALLS_ROWS, "calls-rows", INT, NUMBER, "200", SCREEN,
           "functions of a window that are shown, most calls first", .low = 1,
           .high = LIMIT_CALLS_ROWS, .unit = "functions"),
    OPTION(CALLS_TIME, "calls-time", BOOL, CHOICE, "no", SCREEN,
           "measure own time of the top functions, in another window"),
    OPTION(CALLS_MEMORY, "calls-memory", BOOL, CHOICE, "no", SCREEN,
           "measure heap words that they allocate (OTP 26)"),
    OPTION(CALLS_PROCS, "calls-procs", STRING, TEXT, "all", SCREEN,
           "processes whose time and heap words are measured, as with --procs"),
    OPTION(SAMPLE_TIME, "sample-time", DURATION, DURATION, "10s", SCREEN,
           "length of a run of the sampler; 0: until it is stopped", .low = 0, .high = 86400),
    OPTION(SAMPLE_HZ, "sample-hz", INT, NUMBER, "99", SCREEN,
           "samples for each second of a thread's CPU time", .low = 1, .high = 999, .unit = "Hz"),
    OPTION(RECORD_DIR, "record-dir", STRING, FILE, ".", SCREEN,
           "folder for recordings without a name"),
    OPTION(RECORD_INTERVAL, "record-interval", DURATION, DURATION, "5s", SCREEN,
           "time between ticks of a recording that the screen starts", .low = 0.25, .high = 3600),
    OPTION(RECORD_CALLS, "record-calls", STRING, TEXT, "", SCREEN,
           "pattern of functions whose calls such a recording counts; all: every function; empty: "
           "none"),
    OPTION(RECORD_MAX_SIZE, "record-max-size", BYTES, BYTES, "1GiB", SCREEN,
           "largest size of the file of such a recording", .low = 1048576, .high = 1099511627776.0),
};
