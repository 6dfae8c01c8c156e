/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything you can do, one row each. Keys, the `:` prompt, the mouse, help, the manual and
 * completion all come from this table. Each action has one owner, whose table has
 * its handler. */
#ifndef BEAMTOP_UI_ACTION_H
#define BEAMTOP_UI_ACTION_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/error.h"
#include "beamtop/ui/word.h"

/* clang-format off */
enum action {
    /* moving */
    ACTION_UP, ACTION_DOWN, ACTION_PAGE_UP, ACTION_PAGE_DOWN, ACTION_FIRST, ACTION_LAST,
    ACTION_LEFT, ACTION_RIGHT, ACTION_ENTER, ACTION_BACK,
    /* views and panes */
    ACTION_VIEW, ACTION_VIEWS, ACTION_TREE, ACTION_PICK_NODE, ACTION_ADD_NODE, ACTION_REMOVE_NODE,
    ACTION_NEXT_PANE, ACTION_PREVIOUS_PANE, ACTION_SPLIT, ACTION_ZOOM, ACTION_CLOSE,
    /* lists */
    ACTION_SORT, ACTION_SORT_LEFT, ACTION_SORT_RIGHT, ACTION_SORT_REVERSE, ACTION_SORT_DELTA,
    ACTION_CHOOSE_SORT, ACTION_COLUMNS, ACTION_CHOOSE_COLUMNS, ACTION_FILTER, ACTION_NEXT_MATCH,
    ACTION_PREVIOUS_MATCH, ACTION_MARK, ACTION_FOLLOW, ACTION_OWN, ACTION_BY,
    /* what a view runs */
    ACTION_STOP,
    /* time */
    ACTION_PAUSE, ACTION_STEP, ACTION_RESUME, ACTION_INTERVAL_UP, ACTION_INTERVAL_DOWN,
    ACTION_REFRESH, ACTION_SEEK, ACTION_SPEED, ACTION_STEP_BACK, ACTION_NEXT_MARK,
    ACTION_PREVIOUS_MARK,
    /* one process */
    ACTION_MAILBOX, ACTION_STATE, ACTION_COLLECT,
    /* CPUs */
    ACTION_MSACC,
    /* an ETS table */
    ACTION_KEYS,
    /* tracing */
    ACTION_TRACE, ACTION_TRACE_ROW, ACTION_TRACE_PROCESS, ACTION_TRACE_LIBRARY,
    ACTION_TRACE_PAUSE, ACTION_TRACE_STOP, ACTION_TRACE_EXTEND, ACTION_TRACE_SET,
    ACTION_TRACE_ONLY_PROCESS, ACTION_TRACE_ONLY_PATTERN, ACTION_TRACE_AGAIN, ACTION_TRACE_SAVE,
    ACTION_ARMED, ACTION_ARMED_STOP, ACTION_FOLD, ACTION_FOLD_EVENT, ACTION_FOLD_DEEPER,
    ACTION_FOLD_SHALLOWER, ACTION_PROCESS,
    /* counting calls */
    ACTION_CALLS, ACTION_CALLS_STOP, ACTION_CALLS_TIME,
    /* sampling */
    ACTION_SAMPLE, ACTION_SAMPLE_STOP, ACTION_WHERE,
    /* a VM from outside */
    ACTION_OUTSIDE,
    /* causal spans */
    ACTION_SPANS, ACTION_SPANS_STOP, ACTION_RAW_WAITS,
    /* system events */
    ACTION_EVENTS, ACTION_EVENTS_STOP,
    /* recording */
    ACTION_RECORD, ACTION_RECORD_STOP, ACTION_RECORD_MARK,
    /* captures */
    ACTION_CAPTURE, ACTION_CAPTURE_SCREEN,
    /* settings */
    ACTION_SET, ACTION_TOGGLE, ACTION_THEME, ACTION_BIND, ACTION_UNBIND, ACTION_COLOR,
    ACTION_SOURCE,
    /* the program */
    ACTION_COMMAND, ACTION_HELP, ACTION_REDRAW, ACTION_SUSPEND, ACTION_LOGIN,
    ACTION_LEAVE, ACTION_QUIT,
    /* the prompt's own keys */
    ACTION_PROMPT_ACCEPT, ACTION_PROMPT_CANCEL, ACTION_PROMPT_COMPLETE, ACTION_PROMPT_SPEC,
    ACTIONS,
};
/* clang-format on */

/* Where an action means something; help shows those of the current context. Bits. */
enum where {
    WHERE_TABLE = 1,
    WHERE_DOC = 2,
    WHERE_PICKER = 4, /* a list to choose from: nodes, sort, columns */
    WHERE_PROMPT = 8,
    WHERE_TRACE = 16, /* the events of a trace */
    WHERE_PAGE = WHERE_TABLE | WHERE_DOC,
    WHERE_LIST = WHERE_TABLE | WHERE_DOC | WHERE_PICKER,
};

/* clang-format off */
enum action_group {
    GROUP_MOVE, GROUP_VIEWS, GROUP_LISTS, GROUP_TIME, GROUP_PROCESS, GROUP_TRACE, GROUP_CALLS,
    GROUP_SAMPLES, GROUP_SPANS, GROUP_RECORD,
    GROUP_CAPTURE, GROUP_SETTINGS, GROUP_PROGRAM, GROUP_PROMPT, ACTION_GROUPS,
};
/* clang-format on */

/* What a view has for an action to mean something there: view_takes(). */
enum action_on {
    ON_ALL,     /* nothing of a view; of OWNER_VIEW, its act */
    ON_ROWS,    /* it is a list */
    ON_ORDER,   /* an order, of columns or of what the view has */
    ON_SORTED,  /* columns to sort by */
    ON_COLUMNS, /* columns to choose */
    ON_PROCESS, /* processes under the cursor, or one that is shown */
    ON_OWN,     /* beamtop's own processes to show or hide */
    ON_NODES,   /* nodes in its rows */
    ON_RUN,     /* something that it runs, of the action's owner */
};

/* Who carries an action out. */
enum action_owner {
    OWNER_SCREEN,  /* ui/screen/screen_act.c */
    OWNER_VIEW,    /* the view with the focus: acts of struct view_ops */
    OWNER_PROMPT,  /* ui/prompt/prompt.c, while it is open */
    OWNER_PROGRAM, /* app/tui/tui_act.c */
    OWNER_TIME,    /* app/tui/tui_time.c */
    OWNER_TRACE,   /* app/tui/tui_trace_act.c */
    OWNER_CALLS,   /* app/tui/tui_calls.c */
    OWNER_SAMPLE,  /* app/tui/tui_sample.c */
    OWNER_SPANS,   /* app/tui/tui_spans.c */
    OWNER_EVENTS,  /* app/tui/tui_events.c */
    OWNER_RECORD,  /* app/tui/tui_record.c */
    OWNER_FLEET,   /* app/tui/tui_nodes.c */
    OWNER_OUTSIDE, /* app/tui_outside */
    ACTION_OWNERS,
};

struct action_row {
    const char *name;   /* "sort-left" */
    const char *args;   /* "COLUMN", "[FILE]"; "" when it takes none */
    enum word_kind arg; /* what completes the argument */
    bool needs_arg;     /* the `:` prompt and `bind` refuse it without */
    bool rest_of_line;  /* the argument may hold spaces */
    unsigned where;     /* enum where */
    bool live;          /* acts on a live node: no hint at it in a recording */
    bool content;       /* acts on what the page shows: no hint at it while that is nothing */
    bool running;       /* acts on what runs: on a live node no hint at it while nothing does */
    enum action_owner owner;
    enum action_on on;
    enum action_group group;
    const char *help; /* a phrase in the imperative, without a full stop */
};

extern const struct action_row action_table[ACTIONS]; /* indexed by enum action */

int action_find(const char *name, size_t len); /* enum action, or -1; a unique prefix is enough */
/* Says that there is none of that name, and which is the nearest. Returns ERR_USAGE. */
int action_unknown(const char *name, size_t len, struct error *err);
const char *action_group_title(enum action_group group);

/* What was asked for: an action and its argument ("" when none was given). */
struct action_call {
    enum action action;
    const char *arg; /* borrowed from the line, NUL-terminated with it, trailing blanks included */
};

/*
 * Reads `NAME [ARG]` as typed after `:`. The argument is the rest of the line as it stands (an
 * expression needs no quotes). On failure ERR_USAGE and *error_offset is the byte that
 * is wrong. */
int action_parse(const char *line, struct action_call *out, size_t *error_offset,
                 struct error *err);

#endif
