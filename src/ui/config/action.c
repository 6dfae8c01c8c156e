/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/action.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/trace/names.h"

#define IN(GROUP, WHERE, OWNER) .group = GROUP_##GROUP, .where = (WHERE), .owner = OWNER_##OWNER
#define MOVE IN(MOVE, WHERE_LIST, SCREEN)
#define PANE IN(VIEWS, WHERE_PAGE, SCREEN)
#define LIST IN(LISTS, WHERE_TABLE, SCREEN)
#define SHOWN IN(LISTS, WHERE_TABLE, VIEW)
#define TIME IN(TIME, WHERE_PAGE, TIME)
#define PROCESS IN(PROCESS, WHERE_PAGE, SCREEN), .on = ON_PROCESS
#define TRACE IN(TRACE, WHERE_LIST, TRACE)
#define TRACED IN(TRACE, WHERE_LIST | WHERE_TRACE, TRACE)
#define EVENT IN(TRACE, WHERE_TRACE, VIEW)
#define COUNTED IN(CALLS, WHERE_TABLE, CALLS), .live = true
#define RECORD IN(RECORD, WHERE_LIST, RECORD)
#define CAPTURE IN(CAPTURE, WHERE_LIST, PROGRAM), .rest_of_line = true
#define SETTING IN(SETTINGS, WHERE_LIST, PROGRAM), .needs_arg = true, .rest_of_line = true
#define PROGRAM IN(PROGRAM, WHERE_LIST, PROGRAM)
#define PROMPT IN(PROMPT, WHERE_PROMPT, PROMPT)
/* An action without an argument; with one: how help shows it, and what completes it. */
#define ACT(ID, KIND, NAME, ...)                                                                   \
    [ACTION_##ID] = {KIND, .name = (NAME), .args = "", .help = __VA_ARGS__}
#define ACT_ON(ID, KIND, NAME, ARGS, WORD, ...)                                                    \
    [ACTION_##ID] = {KIND, .name = (NAME), .args = (ARGS), .arg = WORD_##WORD, .help = __VA_ARGS__}

const struct action_row action_table[ACTIONS] = {
    ACT(UP, MOVE, "up", "move up"),
    ACT(DOWN, MOVE, "down", "move down"),
    ACT(PAGE_UP, MOVE, "page-up", "move up a page"),
    ACT(PAGE_DOWN, MOVE, "page-down", "move down a page"),
    ACT(FIRST, MOVE, "first", "go to the first row"),
    ACT(LAST, MOVE, "last", "go to the last row"),
    ACT(LEFT, MOVE, "left", "scroll, fold a tree or go left"),
    ACT(RIGHT, MOVE, "right", "scroll, unfold a tree or go right"),
    ACT(ENTER, MOVE, "enter", "open what is under the cursor, or zoom in on it", .content = true),
    ACT(BACK, MOVE, "back", "clear the filter, zoom out, or go back"),

    ACT_ON(VIEW, PANE, "view", "NAME [WORD]", VIEW, "show a view in this pane", .needs_arg = true,
           .rest_of_line = true),
    ACT(VIEWS, PANE, "views", "choose a view from a list"),
    ACT_ON(TREE, PANE, "tree", "[APPLICATION]", TEXT,
           "show the supervision tree of an application"),
    ACT(PICK_NODE, IN(VIEWS, WHERE_PAGE, PROGRAM), "pick-node",
        "choose a node; in the view of several, add one"),
    ACT_ON(ADD_NODE, IN(VIEWS, WHERE_PAGE, FLEET), "add-node", "[NAME]", TEXT,
           "add a node to those that have a row; without a name, ask for it", .rest_of_line = true),
    ACT(REMOVE_NODE, IN(VIEWS, WHERE_TABLE, FLEET), "remove-node",
        "close the connection to this node, and remove its row", .on = ON_NODES, .content = true),
    ACT(NEXT_PANE, PANE, "next-pane", "go to the next pane"),
    ACT(PREVIOUS_PANE, PANE, "previous-pane", "go to the previous pane"),
    ACT_ON(SPLIT, PANE, "split", "[below|right]", DIRECTION, "split this pane in two"),
    ACT(ZOOM, PANE, "zoom", "zoom this pane to the whole screen, or back"),
    ACT(CLOSE, PANE, "close", "close this pane"),

    ACT_ON(SORT, IN(LISTS, WHERE_TABLE | WHERE_TRACE, SCREEN), "sort", "[COLUMN]", COLUMN,
           "sort by a column; sort-reverse turns the order around", .on = ON_ORDER),
    ACT(SORT_LEFT, LIST, "sort-left", "sort by the next column to the left", .on = ON_SORTED),
    ACT(SORT_RIGHT, LIST, "sort-right", "sort by the next column to the right", .on = ON_SORTED),
    ACT(SORT_REVERSE, LIST, "sort-reverse", "reverse the order, or turn a flame graph upside down",
        .on = ON_SORTED),
    ACT(SORT_DELTA, SHOWN, "sort-delta", "sort by change instead of amount, or back"),
    ACT(CHOOSE_SORT, IN(LISTS, WHERE_TABLE | WHERE_TRACE, SCREEN), "choose-sort",
        "choose what to sort by", .on = ON_ORDER),
    ACT_ON(COLUMNS, SHOWN, "columns", "[COLUMN,…]", COLUMNS,
           "show these columns; without a list, the default ones"),
    ACT(CHOOSE_COLUMNS, LIST, "choose-columns", "choose the columns to show", .on = ON_COLUMNS),
    ACT_ON(FILTER, IN(LISTS, WHERE_LIST, PROGRAM), "filter", "[REGEX]", REGEX,
           "show rows that match (PCRE2); without a regex, ask for it", .rest_of_line = true),
    ACT(NEXT_MATCH, LIST, "next-match", "go to the next match"),
    ACT(PREVIOUS_MATCH, LIST, "previous-match", "go to the previous match"),
    ACT(MARK, IN(LISTS, WHERE_TABLE | WHERE_PICKER, SCREEN), "mark-row",
        "mark this row, or unmark it", .on = ON_ROWS),
    ACT(FOLLOW, LIST, "follow", "follow this process, by name where it has one", .on = ON_PROCESS),
    ACT(OWN, IN(LISTS, WHERE_TABLE, PROGRAM), "own",
        "show beamtop's own processes on the node, or hide them", .on = ON_OWN),
    ACT_ON(BY, SHOWN, "by", "[WORD]", TEXT,
           "group by application, supervisor, module, name …; without an argument, by the next"),

    ACT(STOP, IN(TRACE, WHERE_PAGE | WHERE_TRACE, SCREEN), "stop",
        "stop what this view runs; where nothing runs, the recording", .live = true),

    ACT(PAUSE, TIME, "pause", "pause the screen, or resume"),
    ACT(STEP, TIME, "step", "advance one tick while paused"),
    ACT(RESUME, TIME, "resume", "resume after a pause"),
    ACT(INTERVAL_UP, TIME, "interval-up", "lengthen the interval"),
    ACT(INTERVAL_DOWN, TIME, "interval-down", "shorten the interval"),
    ACT(REFRESH, TIME, "refresh", "take a tick now; reconnect now where the connection is lost"),
    ACT_ON(SEEK, TIME, "seek", "WHEN", TEXT,
           "in a recording: go to a time, a mark, #TICK, or by +1m, -1m, +#5, +mark",
           .needs_arg = true, .rest_of_line = true),
    ACT_ON(SPEED, TIME, "speed", "N", TEXT, "play a recording N times as fast as it was recorded",
           .needs_arg = true),
    ACT(STEP_BACK, TIME, "step-back", "in a recording: go to the previous tick"),
    ACT(NEXT_MARK, TIME, "next-mark", "in a recording: go to the next mark"),
    ACT(PREVIOUS_MARK, TIME, "previous-mark", "in a recording: go to the previous mark"),

    ACT(MAILBOX, PROCESS, "mailbox", "show the first messages of this process", .live = true,
        .content = true),
    ACT(STATE, PROCESS, "state", "show the state of this process (sys:get_state)", .live = true,
        .content = true),
    ACT(COLLECT, PROCESS, "collect", "collect the garbage of this process, and show what it freed",
        .live = true),

    ACT(MSACC, IN(PROCESS, WHERE_DOC, VIEW), "msacc",
        "switch microstate accounting of the VM on, or off", .live = true),

    ACT(KEYS, IN(VIEWS, WHERE_DOC, VIEW), "keys",
        "read the first keys of this ETS table, never its objects", .live = true),

    ACT_ON(TRACE, TRACE, "trace", "[PATTERN…]", TEXT,
           "trace calls or messages; without a pattern, ask for it", .live = true,
           .rest_of_line = true),
    ACT(TRACE_ROW, TRACE, "trace-row",
        "open the trace prompt, filled from the row under the cursor", .live = true,
        .content = true),
    ACT(TRACE_PROCESS, IN(TRACE, WHERE_DOC, TRACE), "trace-process",
        "choose what to trace of this process: its calls, messages, callers", .live = true,
        .content = true, .on = ON_PROCESS),
    ACT(TRACE_LIBRARY, TRACE, "trace-library", "choose a recent or ready-made pattern"),
    ACT(TRACE_PAUSE, TRACED, "trace-pause",
        "pause the trace, or resume; calls in between are not shown", .running = true),
    ACT(TRACE_STOP, TRACED, "trace-stop",
        "stop the trace, and verify that nothing is left on the node", .live = true),
    ACT(TRACE_EXTEND, TRACED, "trace-extend", "restart the trace's time and event caps"),
    ACT_ON(TRACE_SET, TRACED, "trace-set", "CAP VALUE", TEXT, "change a cap of the trace that runs",
           .needs_arg = true, .rest_of_line = true),
    ACT(TRACE_ONLY_PROCESS, TRACED, "trace-only-process",
        "narrow the trace to the process of this event"),
    ACT(TRACE_ONLY_PATTERN, TRACED, "trace-only-pattern",
        "narrow the trace to the pattern of this event"),
    ACT(TRACE_AGAIN, TRACED, "trace-again", "repeat the trace"),
    ACT_ON(TRACE_SAVE, TRACED, "trace-save", "[FILE]", FILE,
           "save the events as text, or as JSON to a file .json", .rest_of_line = true),
    ACT(ARMED, IN(TRACE, WHERE_LIST, SCREEN), "armed",
        "show active tracing on this node, by any tool"),
    ACT(ARMED_STOP, IN(TRACE, WHERE_PAGE, TRACE), "armed-stop",
        "stop what this beamtop traces here"),
    ACT(FOLD, IN(TRACE, WHERE_TRACE | WHERE_DOC, VIEW), "fold",
        "unfold or fold this event, term or finding", .content = true),
    ACT(FOLD_EVENT, EVENT, "fold-event", "unfold or fold this event, from any line of it"),
    ACT(FOLD_DEEPER, EVENT, "fold-deeper", "unfold one more level of this event's terms"),
    ACT(FOLD_SHALLOWER, EVENT, "fold-shallower", "fold one level of this event's terms"),
    ACT_ON(PROCESS, IN(TRACE, WHERE_PAGE | WHERE_TRACE, SCREEN), "process", "[PROCESS]", TEXT,
           "go to the process of this event or row, or to one by name or pid", .content = true,
           .on = ON_PROCESS, .rest_of_line = true),

    ACT_ON(CALLS, IN(CALLS, WHERE_LIST, CALLS), "calls", "[PATTERN…]", TEXT,
           "count calls of functions; without a pattern, show them or ask for it",
           .rest_of_line = true),
    ACT(CALLS_STOP, COUNTED, "calls-stop",
        "stop counting, and verify that nothing is left on the node"),
    ACT(CALLS_TIME, COUNTED, "calls-time", "measure own time of the top functions, or only count",
        .on = ON_RUN),

    ACT_ON(SAMPLE, IN(SAMPLES, WHERE_LIST, SAMPLE), "sample", "[DURATION]", DURATION,
           "sample where the CPU time goes; show the last samples"),
    ACT(SAMPLE_STOP, IN(SAMPLES, WHERE_PAGE, SAMPLE), "sample-stop",
        "stop sampling; what was sampled stays", .live = true),
    ACT_ON(WHERE, IN(SAMPLES, WHERE_PAGE | WHERE_TRACE, SAMPLE), "where", "[FUNCTION]", TEXT,
           "say where the function under the cursor stands: file and line", .live = true),

    ACT_ON(OUTSIDE, IN(SAMPLES, WHERE_LIST, OUTSIDE), "outside", "[OSPID|NODE]", TEXT,
           "show what the host says of the VM, which is not asked; without a name, of this node"),

    ACT_ON(SPANS, IN(SPANS, WHERE_LIST, SPANS), "spans", "[PATTERN [OPTIONS]]", TEXT,
           "capture requests across processes, from the calls of a function; without a pattern, "
           "show them or ask for it",
           .rest_of_line = true),
    ACT(SPANS_STOP, IN(SPANS, WHERE_PAGE, SPANS), "spans-stop",
        "stop the capture of requests, and verify that nothing is left on the node", .live = true),
    ACT(RAW_WAITS, IN(SPANS, WHERE_TABLE, VIEW), "raw-waits",
        "show or hide waits that another span explains"),

    ACT(EVENTS, IN(TRACE, WHERE_LIST, EVENTS), "events",
        "show system events of the node; in their view, watch for them"),
    ACT(EVENTS_STOP, IN(TRACE, WHERE_PAGE, EVENTS), "events-stop",
        "stop watching for system events, and verify that nothing is left on the node",
        .live = true),

    ACT_ON(RECORD, RECORD, "record", "[FILE|stop|status]", FILE,
           "start recording this node to a new file, or stop the recording", .rest_of_line = true),
    ACT(RECORD_STOP, RECORD, "record-stop",
        "stop the recording of this node, and wait until its file is complete"),
    ACT_ON(RECORD_MARK, RECORD, "mark", "[TEXT]", TEXT,
           "mark this moment in the recording; without a text, ask for it", .rest_of_line = true),

    ACT_ON(CAPTURE, CAPTURE, "capture", "[FILE]", FILE,
           "save this pane as text, ANSI, HTML or SVG"),
    ACT_ON(CAPTURE_SCREEN, CAPTURE, "capture-screen", "[FILE]", FILE, "save the whole screen"),

    ACT_ON(SET, SETTING, "set", "OPTION VALUE", SET, "set an option"),
    ACT_ON(TOGGLE, SETTING, "toggle", "OPTION", OPTION,
           "switch an option on or off, or to its next value"),
    ACT_ON(THEME, IN(SETTINGS, WHERE_LIST, PROGRAM), "theme", "[NAME]", THEME,
           "use a theme; without a name, the next one"),
    ACT_ON(BIND, SETTING, "bind", "CONTEXT KEY ACTION [ARG]", BIND, "bind a key to an action"),
    ACT_ON(UNBIND, SETTING, "unbind", "CONTEXT KEY", PLACE, "unbind a key"),
    ACT_ON(COLOR, SETTING, "color", "STYLE COLOUR BACKGROUND [ATTRIBUTE…]", COLOR,
           "colour a style"),
    ACT_ON(SOURCE, SETTING, "source", "FILE", FILE, "read a configuration file"),

    ACT_ON(COMMAND, PROGRAM, "command", "[TEXT]", TEXT, "type an action or a setting by name",
           .rest_of_line = true),
    ACT(HELP, IN(PROGRAM, WHERE_LIST, SCREEN), "help", "show the keys of this context"),
    ACT(REDRAW, PROGRAM, "redraw", "draw the whole screen again"),
    ACT(SUSPEND, PROGRAM, "suspend", "suspend beamtop and return to the shell"),
    ACT(LOGIN, PROGRAM, "login", "log in again by ssh: it may ask for a password or a host's key"),
    ACT(LEAVE, IN(PROGRAM, WHERE_LIST, SCREEN), "leave",
        "leave this view for the one before; quit in the first one"),
    ACT(QUIT, PROGRAM, "quit", "quit"),

    ACT(PROMPT_ACCEPT, PROMPT, "prompt-accept", "accept the line"),
    ACT(PROMPT_CANCEL, PROMPT, "prompt-cancel", "cancel the line"),
    ACT(PROMPT_COMPLETE, PROMPT, "prompt-complete", "complete the word, or list what fits"),
    ACT(PROMPT_SPEC, PROMPT, "prompt-spec", "show or hide a trace's match specification"),
};

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
