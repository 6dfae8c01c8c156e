/* What the files of the views share. */
#ifndef BEAMTOP_UI_VIEWS_INTERNAL_H
#define BEAMTOP_UI_VIEWS_INTERNAL_H

#include "beamtop/model/column.h"
#include "beamtop/model/detail.h"
#include "beamtop/model/source.h"
#include "beamtop/ui/keymap.h"
#include "beamtop/ui/page.h"
#include "beamtop/ui/view.h"

extern const struct view_ops view_top, view_process, view_memory, view_schedulers, view_apps,
    view_tree, view_log, view_trace, view_armed, view_calls, view_owners, view_findings, view_help;

/* ---- views.c: why there is nothing to show of `what`: a node has not told it yet, a recording never */
void view_missing(struct view_page *page, const struct model *m, const char *what);

/* ---- view_top.c: what the choosers show and change */
struct top {
    const struct proc_column *columns[COLUMNS_MAX];
    int n_columns;
    bool chosen; /* by the person: all of them stay, however narrow the pane */
    const struct proc_column *sort;
    bool ascending, other_mode; /* other_mode: delta where the column is a value, and back */
    bool own;
    bool following;
    struct etf_pid follow; /* follow_name empty: this one; else the last pid seen by that name */
    char follow_name[256];
    uint64_t follow_id; /* the row keeps its identity when the name gets a new process */
    bool follow_missing;
    struct view_column *titles; /* as the page needs them; made anew when the columns change */
    int shown[COLUMNS_MAX];     /* titles' index to columns */
    int n_shown, fitted_to;
};
bool top_shows(const struct top *top, const struct proc_column *column);
void top_toggle(struct top *top, const struct proc_column *column);

/* ---- view_process.c: answers that came before the question are not shown */
bool process_ask_mailbox(void *state, const struct model *m); /* true: past the guard this time */
void process_ask_state(void *state, const struct model *m);

/* ---- view_trace.c: opens or closes an event (0), or shows so many levels more of it */
void trace_fold(void *state, uint64_t id, int levels);
/* Opens or closes one term within an event that is open (`fold` of the line's link). */
void trace_fold_term(void *state, uint64_t id, uint64_t fold);

/* ---- view_findings.c: shows the evidence of a finding, or hides it */
void findings_fold(void *state, uint64_t id);

/* ---- cells.c: values of a process as text in its style */
void cell_of_column(struct view_page *page, struct view_row *row, size_t index,
                    const struct proc_column *column, const struct proc_row *proc);
bool column_is_right(const struct proc_column *column);

#endif
