/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A view says what it needs and returns data: a table, a document or stacks for a flame graph. It
 * never draws and never talks to a target; pane.c draws it with table.c, doc.c or flame.c. A view
 * is one constant `struct view_ops`; views.c is the registry. */
#ifndef BEAMTOP_UI_VIEW_H
#define BEAMTOP_UI_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/regex.h"
#include "beamtop/model/bar.h"
#include "beamtop/model/model.h"
#include "beamtop/model/stacks.h"
#include "beamtop/model/want.h"
#include "beamtop/trace/pattern.h"
#include "beamtop/ui/keymap.h"
#include "beamtop/ui/style.h"
#include "beamtop/ui/word.h"

/* A piece of text in one style. Text is borrowed from the page's arena or is static. */
struct text_span {
    const char *s;
    size_t len;
    enum style style;
};

/* What Enter on a line opens. */
/* clang-format off */
enum link_kind {
    TARGET_NONE, TARGET_PROCESS, TARGET_NAME, TARGET_APP, TARGET_VIEW, TARGET_EVENT,
    TARGET_FUNCTION, /* a pattern of the trace language: name */
    TARGET_FINDING,  /* that names nothing else: opens and closes */
    TARGET_KIN,      /* processes added up: opens to them and closes; id: the row's */
    TARGET_REQUEST,  /* a root of causal spans: trace_id[0]; the rest as of a span */
    TARGET_TABLE,    /* an ETS table: its owner in pid, a pattern of who writes to it in name */
    TARGET_SPAN,     /* a causal span: id; its process in pid, its function in name, or empty */
    TARGET_NODE,     /* one of several nodes: its screen */
};
/* clang-format on */
struct view_link {
    enum link_kind kind;
    struct etf_pid pid; /* of the process; of an event, its process */
    char name[256];
    uint64_t id;   /* of an event: trace_log_find(); of a finding: findings_find(); of a span */
    unsigned part; /* of an event: 0 its first line, else a line of what is unfolded */
    uint64_t fold; /* of such a line: the term that begins there, for trace_fold_term(); 0: none */
};

/* A column as the table widget sees it. */
struct view_column {
    const char *key;   /* stable: JSON key, `--columns` */
    const char *title; /* static */
    int width;         /* preferred columns; text longer than it is cut when room is short */
    bool right;        /* numbers */
    bool grows;        /* takes the room that is left */
    bool sortable;
    const char *help;
};

struct view_row {
    struct text_span *cells; /* one for each column */
    struct view_link link;
    uint64_t id; /* stable identity: the cursor stays on it */
    double key;  /* what the view sorts by; NaN: the text of the sorted cell counts */
    bool marked, dim;
    bool continued;   /* the text of the row before goes on: the filter takes both */
    int indent;       /* trees: columns of the first cell */
    struct bars bars; /* in the page's column of bars; the page's arena's */
};

struct view_line {
    struct text_span *spans;
    size_t n_spans, cap_spans;
    int width;             /* columns of its text */
    struct view_link link; /* TARGET_NONE: the cursor passes over it */
    bool heading;
    bool announced; /* its text is not there yet: page->fill writes it */
};

/* What stays in place when a document is made again. */
enum page_hold {
    HOLD_TEXT,  /* the text: it scrolls only on a key */
    HOLD_LAST,  /* a log: a cursor on the last line stays on the last, else the cursor's row */
    HOLD_FIRST, /* a ranking: a cursor on the first line stays on the first, else its row */
    HOLD_LINE,  /* the cursor's line; a page that is not scrolled shows what comes above it */
};

/* What a view returns. Lives until the next page_reset. */
struct view_page {
    struct arena arena;
    bool ascii;          /* set before the view is asked: graphs in text keep to ASCII */
    enum syntax syntax;  /* set before too: the spelling of traces; AUTO: as their first pattern */
    struct regex *match; /* the filter, NULL: none; set before too, borrowed while it is asked */
    int pane_rows, pane_columns; /* the room there is for it; set before too */
    const struct keymap *keymap; /* what keys do; set before too, NULL: not known */
    /* table */
    const struct view_column *columns;
    size_t n_columns;
    struct view_row *rows;
    size_t n_rows, cap_rows;
    int sort_column; /* index, -1 none */
    bool sort_descending;
    bool in_place;  /* a tree: its rows keep no places, each belongs where it stands */
    int bar_column; /* index of the column for bars, which takes the room that is left; -1: none */
    /* flame graph, in place of the table: borrowed until the page is made; NULL: none */
    const struct stacks *flame;
    const char *flame_unit; /* of weights, plural; static */
    /* document */
    struct view_line *lines;
    size_t n_lines, cap_lines;
    size_t fixed; /* so many first lines do not scroll */
    /* Long documents: writes the text of a line that so far is only announced, when it comes into
       sight. NULL: all text is there. */
    void (*fill)(struct view_page *page, size_t line);
    void *fill_arg;
    enum page_hold hold;
    /* both: text beside the title ("20 of 1,731 matching, 48,211 scanned"), and why it is empty */
    char order[64]; /* key it is ordered by, for the title; empty: none worth telling */
    char summary[256];
    char note[320]; /* a line above all of it; empty: none */
    char empty[512];
};

enum view_kind { VIEW_TABLE, VIEW_DOC, VIEW_FLAME /* what a table is with page->flame */ };

/* What an action of a view is called with. */
struct view_call {
    enum action action;
    const struct view_link *at; /* under the cursor */
    const char *arg;            /* "" when none */
    struct error *err;
};

/* An action of OWNER_VIEW that a view carries out while it has the focus. */
struct view_act {
    enum action action;
    bool folds; /* lines below the cursor come or go: the node need not be asked for more */
    int (*run)(void *state, const struct view_call *call); /* 0, else a negative enum err */
    /* What the user is asked first, with the price (y/n): run() is called after a yes. False: run()
       says why there is nothing to ask. NULL: it costs nothing worth asking. */
    bool (*asks)(const void *state, char *text, size_t size);
};

/* A key worth knowing, on the bottom row. */
struct view_hint {
    enum action action;
    const char *does; /* of ACTION_VIEW, the view's name; NULL ends a list */
};

/* Of lists whose columns can be chosen: what the pickers of order and columns hold. */
struct view_chooser {
    void (*words)(word_put *put, void *out);                    /* all that `sort` takes */
    void (*orders)(const void *state, struct view_page *page);  /* cells: column, cost, help */
    void (*columns)(const void *state, struct view_page *page); /* cells: shown, column, help */
    void (*toggle)(void *state, const char *column_key);        /* shows the column, or hides it */
    void (*reverse)(void *state); /* turns the order round, also by a column that is hidden */
};

struct view_ops {
    const char *name;  /* "processes": `:processes`, `:view processes`, `--view processes` */
    const char *title; /* the name in its rule: "Processes" */
    const char *alias; /* an earlier name, which still opens it; NULL: none */
    char key;          /* '1' … '9' */
    const char *help;  /* one sentence */
    enum view_kind kind;
    enum context context; /* whose keys it has; 0: those of its kind */
    unsigned opens;   /* 1u << enum link_kind: Enter on such a link, anywhere, opens this view */
    enum action stop; /* ends what this view runs; 0: it runs nothing */
    bool (*runs)(const struct model *model); /* it has not ended; with `stop` */
    /* ERR_REFUSED: another program has set what the row of that identity shows; err says whose it
       is, and what to do. NULL: others set nothing here. */
    int (*of_others)(const struct model *model, uint64_t row, struct error *err);
    enum action shown_by; /* goes here too, beside `view`; 0: none does */
    bool hinted;          /* its key stands in the last row, where there is room */
    bool nodes;           /* its rows are nodes */
    bool several;         /* it is about several nodes, and so is the header */
    bool no_processes;    /* neither its rows nor what it is opened on are processes */
    bool own_facts;       /* about this program, not the node: never stale */
    bool
        filters_on_target; /* the filter is part of the question; else the table drops rows by it */
    bool filters_page;     /* documents: it leaves out what page->match does not match */
    size_t state_bytes;
    /* The ways to show its rows, where its state begins with a struct rows (ui/widgets/rows.h);
       NULL: it does not. */
    const struct rows_of *rows;
    size_t n_rows;
    void (*init)(void *state); /* state is zeroed before; NULL: nothing to do */
    void (*clear)(void *state);
    question_mask needs; /* on a tick: NEED(NAME), in any state */
    /* Adds what else this view needs on a tick; rows is the room it has. NULL: nothing. */
    void (*want)(const void *state, int rows, struct want *want);
    /* Makes the page from the model. */
    void (*page)(void *state, const struct model *model, struct view_page *page);
    /* Sort by the page's column (table views); by_delta toggles when it is the sorted one. */
    void (*sort)(void *state, const char *column_key, int direction /* 0 toggle, 1 desc, -1 asc */);
    /* Documents: what `sort` takes, with help; a NULL word ends; NULL: nothing. */
    const struct view_order {
        const char *word, *help;
    } * orders;
    const struct view_chooser *chooser; /* NULL: the columns are fixed */
    /* A word of the `:view NAME WORD` command or of Enter's link: the process, the application.
       NULL: takes none. */
    int (*open)(void *state, const struct view_link *link, struct error *err);
    /* The view it was opened from, for help on it. */
    void (*from)(void *state, const struct view_ops *view);
    const struct view_act *acts; /* a row without `run` ends it; NULL: none */
    /* What `sort` was given, where that is more than a column of the page; documents get "" too. */
    int (*sort_word)(void *state, const char *word, struct error *err);
    /* Where a process is shown: mailbox, state or a garbage collection is about to be asked for,
       and earlier answers are old. */
    void (*ask)(void *state, enum action what, const struct model *model);
    /* Keys that mean something here, between those of every view; NULL: enter and back. */
    const struct view_hint *hints;
    /* beamtop's own processes are to be shown, or hidden; NULL: it lists no processes. */
    void (*own)(void *state, bool shown);
};

extern const struct view_ops *const view_registry[]; /* NULL-terminated, in key order */
const struct view_ops *view_find(const char *name);
void view_init(const struct view_ops *ops, void *state); /* zeroed before */
void view_want(const struct view_ops *ops, const void *state, int rows, struct want *want);
bool view_opens(const struct view_ops *ops, enum link_kind kind);
/* How the process of a link of kind TARGET_PROCESS or TARGET_NAME is asked for. */
struct process_ref view_process_ref(const struct view_link *link);
/* What the model has of such a process; NULL: the last answer is of another, or there is none. */
const struct process_detail *view_process_detail(const struct view_link *link,
                                                 const struct model *model);
/* The view that such links open, that such an action shows; NULL: there is none. */
const struct view_ops *view_opening(enum link_kind kind);
const struct view_ops *view_shown_by(enum action action);
/* NULL: the view does not carry it out. */
const struct view_act *view_act_of(const struct view_ops *ops, enum action action);
/* The action means something in this view: the view has what it works on. */
bool view_takes(const struct view_ops *ops, enum action action);
/* There is something to stop. */
bool view_runs(const struct view_ops *ops, const struct model *model);
/* The first key that goes to the view. False: none is bound, out is "". */
bool view_key(const struct view_ops *ops, const struct keymap *keymap, enum context context,
              char *out, size_t size);
enum context view_context(const struct view_ops *ops); /* whose keys it has */
bool view_has(enum action action);                     /* some view carries it out */

#endif
