/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Named styles: what a cell means. A theme gives each one its colours and attributes; a view
 * never names a colour. Colour is never the only carrier of
 * a meaning. */
#ifndef BEAMTOP_UI_STYLE_H
#define BEAMTOP_UI_STYLE_H

/* name in themes and `color` commands, what it is for (used by theme.c, the manual, the tests) */
#define STYLE_LIST(X)                                                                              \
    X(NORMAL, "normal", "text")                                                                    \
    X(DIM, "dim", "units, labels of less weight")                                                  \
    X(LABEL, "label", "names of numbers in the header and in panels")                              \
    X(VALUE, "value", "numbers in the header")                                                     \
    X(TITLE, "title", "title of the pane that has the focus")                                      \
    X(TITLE_IDLE, "title-idle", "titles of other panes, rules")                                    \
    X(HEADING, "heading", "column titles")                                                         \
    X(HEADING_SORT, "heading-sort", "title of the sorted column")                                  \
    X(CURSOR, "cursor", "the row with the cursor, in the pane with the focus")                     \
    X(CURSOR_IDLE, "cursor-idle", "the row with the cursor, elsewhere")                            \
    X(MARK, "mark", "marked and followed rows")                                                    \
    X(MATCH, "match", "text that the filter matched")                                              \
    X(NAME, "name", "registered names, labels")                                                    \
    X(FUNCTION, "function", "functions")                                                           \
    X(PID, "pid", "pids and ports")                                                                \
    X(STATUS_RUNNING, "status-running", "a process that runs or is runnable")                      \
    X(STATUS_WAITING, "status-waiting", "a process that waits")                                    \
    X(RISING, "rising", "a number that grows where growth matters")                                \
    X(FALLING, "falling", "a number that shrinks")                                                 \
    X(GRAPH, "graph", "sparklines and bars")                                                       \
    X(GRAPH_HIGH, "graph-high", "the part of a bar that is high")                                  \
    X(OK, "ok", "live, within limits")                                                             \
    X(WARN, "warn", "from 80 % of a limit, stretched intervals")                                   \
    X(ALARM, "alarm", "from 95 % of a limit, lost connection")                                     \
    X(STALE, "stale", "numbers of a lost connection")                                              \
    X(PROMPT, "prompt", "the prompt's mark")                                                       \
    X(ERROR, "error", "error messages")                                                            \
    X(MESSAGE, "message", "other messages")                                                        \
    X(KEY, "key", "names of keys")                                                                 \
    X(FLAME_ERLANG, "flame-erlang", "flame graph: Erlang functions")                               \
    X(FLAME_BIF, "flame-bif", "flame graph: native functions with an Erlang name")                 \
    X(FLAME_RUNTIME, "flame-runtime", "flame graph: the VM")                                       \
    X(FLAME_NIF, "flame-nif", "flame graph: NIF libraries")                                        \
    X(FLAME_LIBC, "flame-libc", "flame graph: system libraries")                                   \
    X(FLAME_OTHER, "flame-other", "flame graph: the root, callers of the zoom, small boxes")

enum style {
#define STYLE_ENUM(id, name, help) STYLE_##id,
    STYLE_LIST(STYLE_ENUM)
#undef STYLE_ENUM
        STYLES
};

const char *style_name(enum style s);
const char *style_help(enum style s);
int style_find(const char *name); /* enum style, or -1 */

#endif
