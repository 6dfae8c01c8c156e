/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/action.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/trace/names.h"

/* clang-format off */
#define MOVE .group = GROUP_MOVE, .where = WHERE_LIST, .args = "", .owner = OWNER_SCREEN
#define PANE .group = GROUP_VIEWS, .where = WHERE_PAGE, .owner = OWNER_SCREEN
#define LIST .group = GROUP_LISTS, .where = WHERE_TABLE, .owner = OWNER_SCREEN
#define SHOWN .group = GROUP_LISTS, .where = WHERE_TABLE, .owner = OWNER_VIEW
#define TIME .group = GROUP_TIME, .where = WHERE_PAGE, .args = "", .owner = OWNER_TIME
#define PROCESS                                                                                    \
    .group = GROUP_PROCESS, .where = WHERE_PAGE, .args = "", .owner = OWNER_SCREEN, .on = ON_PROCESS
#define TRACE .group = GROUP_TRACE, .where = WHERE_LIST, .owner = OWNER_TRACE
#define TRACED .group = GROUP_TRACE, .where = WHERE_LIST | WHERE_TRACE, .owner = OWNER_TRACE
#define EVENT .group = GROUP_TRACE, .where = WHERE_TRACE, .args = "", .owner = OWNER_VIEW
/* clang-format on */
#define COUNTED                                                                                    \
    .group = GROUP_CALLS, .where = WHERE_TABLE, .args = "", .owner = OWNER_CALLS, .live = true
#define RECORD .group = GROUP_RECORD, .where = WHERE_LIST, .owner = OWNER_RECORD
#define CAPTURE                                                                                    \
    .group = GROUP_CAPTURE, .where = WHERE_LIST, .owner = OWNER_PROGRAM, .args = "[FILE]",         \
    .arg = WORD_FILE, .rest_of_line = true
#define SETTING                                                                                    \
    .group = GROUP_SETTINGS, .where = WHERE_LIST, .owner = OWNER_PROGRAM, .needs_arg = true,       \
    .rest_of_line = true
/* clang-format off */
#define PROGRAM .group = GROUP_PROGRAM, .where = WHERE_LIST, .owner = OWNER_PROGRAM
#define PROMPT .group = GROUP_PROMPT, .where = WHERE_PROMPT, .args = "", .owner = OWNER_PROMPT

const struct action_row action_table[ACTIONS] = {
    [ACTION_UP] = {MOVE, .name = "up", .help = "move up"},
    [ACTION_DOWN] = {MOVE, .name = "down", .help = "move down"},
    [ACTION_PAGE_UP] = {MOVE, .name = "page-up", .help = "move up a page"},
    [ACTION_PAGE_DOWN] = {MOVE, .name = "page-down", .help = "move down a page"},
    [ACTION_FIRST] = {MOVE, .name = "first", .help = "go to the first row"},
    [ACTION_LAST] = {MOVE, .name = "last", .help = "go to the last row"},
    [ACTION_LEFT] = {MOVE, .name = "left", .help = "scroll, fold a tree or go left"},
    [ACTION_RIGHT] = {MOVE, .name = "right", .help = "scroll, unfold a tree or go right"},
    [ACTION_ENTER] = {MOVE, .content = true, .name = "enter",
                      .help = "open what is under the cursor, or zoom in on it"},
    [ACTION_BACK] = {MOVE, .name = "back", .help = "clear the filter, zoom out, or go back"},

    [ACTION_VIEW] = {PANE, .name = "view", .args = "NAME [WORD]", .arg = WORD_VIEW,
                     .needs_arg = true, .rest_of_line = true, .help = "show a view in this pane"},
    [ACTION_VIEWS] = {PANE, .name = "views", .args = "", .help = "choose a view from a list"},
    [ACTION_TREE] = {PANE, .name = "tree", .args = "[APPLICATION]", .arg = WORD_TEXT,
                     .help = "show the supervision tree of an application"},
    [ACTION_PICK_NODE] = {.group = GROUP_VIEWS, .where = WHERE_PAGE, .owner = OWNER_PROGRAM,
                          .name = "pick-node", .args = "", .help = "choose a node"},
    [ACTION_NEXT_PANE] = {PANE, .name = "next-pane", .args = "", .help = "go to the next pane"},
    [ACTION_PREVIOUS_PANE] = {PANE, .name = "previous-pane", .args = "",
                              .help = "go to the previous pane"},
    [ACTION_SPLIT] = {PANE, .name = "split", .args = "[below|right]", .arg = WORD_DIRECTION,
                      .help = "split this pane in two"},
    [ACTION_ZOOM] = {PANE, .name = "zoom", .args = "",
                     .help = "zoom this pane to the whole screen, or back"},
    [ACTION_CLOSE] = {PANE, .name = "close", .args = "", .help = "close this pane"},

    [ACTION_SORT] = {.group = GROUP_LISTS,
                     .where = WHERE_TABLE | WHERE_TRACE,
                     .owner = OWNER_SCREEN,
                     .on = ON_ORDER,
                     .name = "sort",
                     .args = "[COLUMN]",
                     .arg = WORD_COLUMN,
                     .help = "sort by a column; sort-reverse turns the order around"},
    [ACTION_SORT_LEFT] = {LIST, .on = ON_SORTED, .name = "sort-left", .args = "",
                          .help = "sort by the next column to the left"},
    [ACTION_SORT_RIGHT] = {LIST, .on = ON_SORTED, .name = "sort-right", .args = "",
                           .help = "sort by the next column to the right"},
    [ACTION_SORT_REVERSE] = {LIST, .on = ON_SORTED, .name = "sort-reverse", .args = "",
                             .help = "reverse the order, or turn a flame graph upside down"},
    [ACTION_SORT_DELTA] = {SHOWN, .name = "sort-delta", .args = "",
                           .help = "sort by change instead of amount, or back"},
    [ACTION_CHOOSE_SORT] = {.group = GROUP_LISTS,
                            .where = WHERE_TABLE | WHERE_TRACE,
                            .owner = OWNER_SCREEN,
                            .on = ON_ORDER,
                            .name = "choose-sort",
                            .args = "",
                            .help = "choose what to sort by"},
    [ACTION_COLUMNS] = {SHOWN, .name = "columns", .args = "[COLUMN,…]", .arg = WORD_COLUMNS,
                        .help = "show these columns; without a list, the default ones"},
    [ACTION_CHOOSE_COLUMNS] = {LIST, .on = ON_COLUMNS, .name = "choose-columns", .args = "",
                               .help = "choose the columns to show"},
    [ACTION_FILTER] = {.group = GROUP_LISTS,
                       .where = WHERE_LIST,
                       .owner = OWNER_PROGRAM,
                       .name = "filter",
                       .args = "[REGEX]",
                       .arg = WORD_REGEX,
                       .rest_of_line = true,
                       .help = "show rows that match (PCRE2); without a regex, ask for it"},
    [ACTION_NEXT_MATCH] = {LIST, .name = "next-match", .args = "", .help = "go to the next match"},
    [ACTION_PREVIOUS_MATCH] = {LIST, .name = "previous-match", .args = "",
                               .help = "go to the previous match"},
    [ACTION_MARK] = {.group = GROUP_LISTS,
                     .where = WHERE_TABLE | WHERE_PICKER,
                     .owner = OWNER_SCREEN,
                     .on = ON_ROWS,
                     .name = "mark-row",
                     .args = "",
                     .help = "mark this row, or unmark it"},
    [ACTION_FOLLOW] = {LIST, .on = ON_PROCESS, .name = "follow", .args = "",
                       .help = "follow this process, by name where it has one"},
    [ACTION_OWN] = {.group = GROUP_LISTS, .where = WHERE_TABLE, .owner = OWNER_PROGRAM,
                    .on = ON_OWN, .name = "own", .args = "",
                    .help = "show beamtop's own processes on the node, or hide them"},
    [ACTION_BY] = {SHOWN, .name = "by", .args = "[WORD]", .arg = WORD_TEXT,
                   .help = "group by application, supervisor, module, name …; without an "
                           "argument, by the next"},

    [ACTION_STOP] = {.group = GROUP_TRACE, .where = WHERE_PAGE | WHERE_TRACE,
                     .owner = OWNER_SCREEN, .name = "stop", .args = "", .live = true,
                     .help = "stop what this view runs; where nothing runs, the recording"},

    [ACTION_PAUSE] = {TIME, .name = "pause", .help = "pause the screen, or resume"},
    [ACTION_STEP] = {TIME, .name = "step", .help = "advance one tick while paused"},
    [ACTION_RESUME] = {TIME, .name = "resume", .help = "resume after a pause"},
    [ACTION_INTERVAL_UP] = {TIME, .name = "interval-up", .help = "lengthen the interval"},
    [ACTION_INTERVAL_DOWN] = {TIME, .name = "interval-down", .help = "shorten the interval"},
    [ACTION_REFRESH] = {TIME, .name = "refresh",
                        .help = "take a tick now; reconnect now where the connection is lost"},
    [ACTION_SEEK] = {.group = GROUP_TIME, .where = WHERE_PAGE, .owner = OWNER_TIME,
                     .name = "seek", .args = "WHEN", .arg = WORD_TEXT, .needs_arg = true,
                     .rest_of_line = true,
                     .help = "in a recording: go to a time, a mark, #TICK, or by +1m, -1m, "
                             "+#5, +mark"},
    [ACTION_SPEED] = {.group = GROUP_TIME, .where = WHERE_PAGE, .owner = OWNER_TIME,
                      .name = "speed", .args = "N", .arg = WORD_TEXT, .needs_arg = true,
                      .help = "play a recording N times as fast as it was recorded"},
    [ACTION_STEP_BACK] = {TIME, .name = "step-back", .help = "in a recording: go to the "
                                                             "previous tick"},
    [ACTION_NEXT_MARK] = {TIME, .name = "next-mark", .help = "in a recording: go to the next mark"},
    [ACTION_PREVIOUS_MARK] = {TIME, .name = "previous-mark",
                              .help = "in a recording: go to the previous mark"},

    [ACTION_MAILBOX] = {PROCESS, .live = true, .content = true, .name = "mailbox",
                        .help = "show the first messages of this process"},
    [ACTION_STATE] = {PROCESS, .live = true, .content = true, .name = "state",
                      .help = "show the state of this process (sys:get_state)"},
    [ACTION_COLLECT] = {PROCESS, .live = true, .name = "collect",
                        .help = "collect the garbage of this process, and show what it freed"},

    [ACTION_MSACC] = {.group = GROUP_PROCESS, .where = WHERE_DOC, .owner = OWNER_VIEW, .args = "",
                      .live = true, .name = "msacc",
                      .help = "switch microstate accounting of the VM on, or off"},

    [ACTION_TRACE] = {TRACE, .live = true, .name = "trace", .args = "[PATTERN…]",
                      .arg = WORD_TEXT, .rest_of_line = true,
                      .help = "trace calls or messages; without a pattern, ask for it"},
    [ACTION_TRACE_ROW] = {TRACE, .live = true, .content = true, .name = "trace-row", .args = "",
                          .help = "open the trace prompt, filled from the row under the cursor"},
    [ACTION_TRACE_LIBRARY] = {TRACE, .name = "trace-library", .args = "",
                              .help = "choose a recent or ready-made pattern"},
    [ACTION_TRACE_PAUSE] = {TRACED, .running = true, .name = "trace-pause", .args = "",
                            .help = "pause the trace, or resume; calls in between are not shown"},
    [ACTION_TRACE_STOP] = {TRACED, .live = true, .name = "trace-stop", .args = "",
                           .help = "stop the trace, and verify that nothing is left on the node"},
    [ACTION_TRACE_EXTEND] = {TRACED, .name = "trace-extend", .args = "",
                             .help = "restart the trace's time and event caps"},
    [ACTION_TRACE_SET] = {TRACED, .name = "trace-set", .args = "CAP VALUE", .arg = WORD_TEXT,
                          .needs_arg = true, .rest_of_line = true,
                          .help = "change a cap of the trace that runs"},
    [ACTION_TRACE_ONLY_PROCESS] = {TRACED, .name = "trace-only-process", .args = "",
                                   .help = "narrow the trace to the process of this event"},
    [ACTION_TRACE_ONLY_PATTERN] = {TRACED, .name = "trace-only-pattern", .args = "",
                                   .help = "narrow the trace to the pattern of this event"},
    [ACTION_TRACE_AGAIN] = {TRACED, .name = "trace-again", .args = "",
                            .help = "repeat the trace"},
    [ACTION_TRACE_SAVE] = {TRACED, .name = "trace-save", .args = "[FILE]", .arg = WORD_FILE,
                           .rest_of_line = true,
                           .help = "save the events as text, or as JSON to a file .json"},
    [ACTION_ARMED] = {.group = GROUP_TRACE, .where = WHERE_LIST, .owner = OWNER_SCREEN,
                      .name = "armed", .args = "",
                      .help = "show active tracing on this node, by any tool"},
    [ACTION_ARMED_STOP] = {.group = GROUP_TRACE, .where = WHERE_PAGE, .owner = OWNER_TRACE,
                           .name = "armed-stop", .args = "",
                           .help = "stop what this beamtop traces here"},
    [ACTION_FOLD] = {.group = GROUP_TRACE, .where = WHERE_TRACE | WHERE_DOC, .args = "",
                     .owner = OWNER_VIEW, .content = true, .name = "fold",
                     .help = "unfold or fold this event, term or finding"},
    [ACTION_FOLD_EVENT] = {EVENT, .name = "fold-event",
                           .help = "unfold or fold this event, from any line of it"},
    [ACTION_FOLD_DEEPER] = {EVENT, .name = "fold-deeper",
                            .help = "unfold one more level of this event's terms"},
    [ACTION_FOLD_SHALLOWER] = {EVENT, .name = "fold-shallower",
                               .help = "fold one level of this event's terms"},
    [ACTION_PROCESS] = {.content = true, .group = GROUP_TRACE, .where = WHERE_PAGE | WHERE_TRACE,
                        .owner = OWNER_SCREEN, .on = ON_PROCESS, .name = "process",
                        .args = "[PROCESS]", .arg = WORD_TEXT, .rest_of_line = true,
                        .help = "go to the process of this event or row, or to one by name or pid"},

    [ACTION_CALLS] = {.group = GROUP_CALLS, .where = WHERE_LIST, .owner = OWNER_CALLS,
                      .name = "calls",
                      .args = "[PATTERN…]", .arg = WORD_TEXT, .rest_of_line = true,
                      .help = "count calls of functions; without a pattern, show them or ask for "
                              "it"},
    [ACTION_CALLS_STOP] = {COUNTED, .name = "calls-stop",
                           .help = "stop counting, and verify that nothing is left on the node"},
    [ACTION_CALLS_TIME] = {COUNTED, .on = ON_RUN, .name = "calls-time",
                           .help = "measure own time of the top functions, or only count"},

    [ACTION_SAMPLE] = {.group = GROUP_SAMPLES, .where = WHERE_LIST, .owner = OWNER_SAMPLE,
                       .name = "sample", .args = "[DURATION]", .arg = WORD_DURATION,
                       .help = "sample where the CPU time goes; show the last samples"},
    [ACTION_SAMPLE_STOP] = {.group = GROUP_SAMPLES, .where = WHERE_PAGE, .owner = OWNER_SAMPLE,
                            .name = "sample-stop", .args = "", .live = true,
                            .help = "stop sampling; what was sampled stays"},
    [ACTION_WHERE] = {.group = GROUP_SAMPLES, .where = WHERE_PAGE | WHERE_TRACE,
                      .owner = OWNER_SAMPLE, .name = "where", .args = "[FUNCTION]",
                      .arg = WORD_TEXT, .live = true,
                      .help = "say where the function under the cursor stands: file and line"},

    [ACTION_SPANS] = {.group = GROUP_SPANS, .where = WHERE_LIST, .owner = OWNER_SPANS,
                      .name = "spans", .args = "[PATTERN [OPTIONS]]", .arg = WORD_TEXT,
                      .rest_of_line = true,
                      .help = "capture requests across processes, from the calls of a function; "
                              "without a pattern, show them or ask for it"},
    [ACTION_SPANS_STOP] = {.group = GROUP_SPANS, .where = WHERE_PAGE, .owner = OWNER_SPANS,
                           .name = "spans-stop", .args = "", .live = true,
                           .help = "stop the capture of requests, and verify that nothing is "
                                   "left on the node"},
    [ACTION_RAW_WAITS] = {.group = GROUP_SPANS, .where = WHERE_TABLE, .owner = OWNER_VIEW,
                          .name = "raw-waits", .args = "",
                          .help = "show or hide waits that another span explains"},

    [ACTION_RECORD] = {RECORD, .name = "record", .args = "[FILE|stop|status]", .arg = WORD_FILE,
                       .rest_of_line = true,
                       .help = "start recording this node to a new file, or stop the recording"},
    [ACTION_RECORD_STOP] = {RECORD, .name = "record-stop", .args = "",
                            .help = "stop the recording of this node, and wait until its file "
                                    "is complete"},
    [ACTION_RECORD_MARK] = {RECORD, .name = "mark", .args = "[TEXT]", .arg = WORD_TEXT,
                            .rest_of_line = true,
                            .help = "mark this moment in the recording; without a text, ask "
                                    "for it"},

    [ACTION_CAPTURE] = {CAPTURE, .name = "capture",
                        .help = "save this pane as text, ANSI, HTML or SVG"},
    [ACTION_CAPTURE_SCREEN] = {CAPTURE, .name = "capture-screen",
                               .help = "save the whole screen"},

    [ACTION_SET] = {SETTING, .name = "set", .args = "OPTION VALUE", .arg = WORD_SET,
                    .help = "set an option"},
    [ACTION_TOGGLE] = {SETTING, .name = "toggle", .args = "OPTION", .arg = WORD_OPTION,
                       .help = "switch an option on or off, or to its next value"},
    [ACTION_THEME] = {.group = GROUP_SETTINGS,
                      .where = WHERE_LIST,
                      .owner = OWNER_PROGRAM,
                      .name = "theme",
                      .args = "[NAME]",
                      .arg = WORD_THEME,
                      .help = "use a theme; without a name, the next one"},
    [ACTION_BIND] = {SETTING, .name = "bind", .args = "CONTEXT KEY ACTION [ARG]", .arg = WORD_BIND,
                     .help = "bind a key to an action"},
    [ACTION_UNBIND] = {SETTING, .name = "unbind", .args = "CONTEXT KEY", .arg = WORD_PLACE,
                       .help = "unbind a key"},
    [ACTION_COLOR] = {SETTING, .name = "color", .args = "STYLE COLOUR BACKGROUND [ATTRIBUTE…]",
                      .arg = WORD_COLOR, .help = "colour a style"},
    [ACTION_SOURCE] = {SETTING, .name = "source", .args = "FILE", .arg = WORD_FILE,
                       .help = "read a configuration file"},

    [ACTION_COMMAND] = {PROGRAM, .name = "command", .args = "[TEXT]", .arg = WORD_TEXT,
                        .rest_of_line = true, .help = "type an action or a setting by name"},
    [ACTION_HELP] = {.group = GROUP_PROGRAM, .where = WHERE_LIST, .owner = OWNER_SCREEN,
                     .name = "help", .args = "", .help = "show the keys of this context"},
    [ACTION_REDRAW] = {PROGRAM, .name = "redraw", .args = "",
                       .help = "draw the whole screen again"},
    [ACTION_SUSPEND] = {PROGRAM, .name = "suspend", .args = "",
                        .help = "suspend beamtop and return to the shell"},
    [ACTION_LEAVE] = {.group = GROUP_PROGRAM, .where = WHERE_LIST, .owner = OWNER_SCREEN,
                      .name = "leave", .args = "",
                      .help = "leave this view for the one before; quit in the first one"},
    [ACTION_QUIT] = {PROGRAM, .name = "quit", .args = "", .help = "quit"},

    [ACTION_PROMPT_ACCEPT] = {PROMPT, .name = "prompt-accept", .help = "accept the line"},
    [ACTION_PROMPT_CANCEL] = {PROMPT, .name = "prompt-cancel", .help = "cancel the line"},
    [ACTION_PROMPT_COMPLETE] = {PROMPT, .name = "prompt-complete",
                                .help = "complete the word, or list what fits"},
    [ACTION_PROMPT_SPEC] = {PROMPT, .name = "prompt-spec",
                            .help = "show or hide a trace's match specification"},
};
/* clang-format on */

static const char *const group_titles[ACTION_GROUPS] = {
    [GROUP_MOVE] = "Moving",          [GROUP_VIEWS] = "Views and panes",
    [GROUP_LISTS] = "Lists",          [GROUP_TIME] = "Time",
    [GROUP_PROCESS] = "One process",  [GROUP_TRACE] = "Tracing",
    [GROUP_CALLS] = "Counting calls", [GROUP_SAMPLES] = "Sampling",
    [GROUP_SPANS] = "Spans",          [GROUP_RECORD] = "Recording",
    [GROUP_CAPTURE] = "Captures",     [GROUP_SETTINGS] = "Settings",
    [GROUP_PROGRAM] = "The program",  [GROUP_PROMPT] = "The prompt",
};

const char *action_group_title(enum action_group group)
{
    return group_titles[group];
}

int action_find(const char *name, size_t len)
{
    int found = -1;
    for (int i = 0; i < ACTIONS; i++) {
        const char *other = action_table[i].name;
        if (len == 0 || strncmp(other, name, len) != 0)
            continue;
        if (other[len] == '\0')
            return i;
        found = found == -1 ? i : -2;
    }
    return found < 0 ? -1 : found;
}

int action_unknown(const char *name, size_t len, struct error *err)
{
    struct slice names[ACTIONS];
    char hint[80];
    for (int i = 0; i < ACTIONS; i++)
        names[i] = slice_of(action_table[i].name);
    names_suggest(hint, sizeof hint, names, ACTIONS, (struct slice){name, len});
    return error_set(err, ERR_USAGE, "unknown action “%.*s”%s", len < 40 ? (int)len : 40, name,
                     hint[0] ? hint : ": Tab in the command prompt lists all actions");
}

static size_t skip_blanks(const char *s)
{
    return strspn(s, " \t");
}

static int check_arg(const struct action_row *row, const char *arg, struct error *err)
{
    size_t first = strcspn(arg, " \t");
    bool more = arg[first + skip_blanks(arg + first)] != '\0';
    if (row->args[0] == '\0' && arg[0] != '\0')
        return error_set(err, ERR_USAGE, "%s takes nothing", row->name);
    if (row->needs_arg && arg[0] == '\0')
        return error_set(err, ERR_USAGE, "%s needs %s", row->name, row->args);
    if (!row->rest_of_line && more)
        return error_set(err, ERR_USAGE, "%s takes one word: %s", row->name, row->args);
    return 0;
}

int action_parse(const char *line, struct action_call *out, size_t *error_offset, struct error *err)
{
    const char *name = line + skip_blanks(line);
    size_t len = strcspn(name, " \t");
    *error_offset = (size_t)(name - line);
    if (len == 0)
        return error_set(err, ERR_USAGE, "an action or a setting is needed: Tab lists them");
    int action = action_find(name, len);
    if (action < 0)
        return action_unknown(name, len, err);
    const char *arg = name + len + skip_blanks(name + len);
    if (check_arg(&action_table[action], arg, err) < 0) {
        *error_offset = (size_t)(arg - line);
        return ERR_USAGE;
    }
    *out = (struct action_call){(enum action)action, arg};
    return 0;
}
