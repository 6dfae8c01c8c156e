/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All that is known of one node: what the header, the views and the sinks read. One thread.
 * The model takes answers from whoever has them, keeps history, works out rates.
 * Time is always an argument. Borrowed pointers live until the next answer of
 * that kind. */
#ifndef BEAMTOP_MODEL_MODEL_H
#define BEAMTOP_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/error.h"
#include "beamtop/base/ring.h"
#include "beamtop/model/snapshot.h"
#include "beamtop/model/want.h"

/* Lines of history, a value a second; gaps are NaN. */
/* clang-format off */
enum history_line {
    HISTORY_MEMORY_TOTAL, HISTORY_MEMORY_PROCESSES, HISTORY_MEMORY_BINARY, HISTORY_MEMORY_ETS,
    HISTORY_MEMORY_CODE, HISTORY_MEMORY_ATOM, HISTORY_MEMORY_OTHER, HISTORY_RSS,
    HISTORY_RUN_QUEUE, HISTORY_USE_NORMAL, HISTORY_USE_DIRTY_CPU, HISTORY_USE_DIRTY_IO,
    HISTORY_REDUCTIONS, HISTORY_GCS, HISTORY_SWITCHES, HISTORY_IN, HISTORY_OUT, HISTORY_PROCESSES,
    HISTORY_ALLOC_USE, HISTORY_FRAGMENTED,
    HISTORY_LINES,
};
/* clang-format on */

/* One line of the log of what we did on the target. */
struct journal_entry {
    int64_t wall_us;
    bool trouble;
    char text[240];
};

struct model; /* opaque; model/model.c */

struct model *model_new(void);
/* Of a node of which only the newest is shown, one of many: it has one sample of each line of
 * history, one line of the log and one answer of each question, so sums have no rates. */
struct model *model_new_small(void);
void model_free(struct model *m);
struct filter *model_filter(const struct model *m); /* of its process lists (filter.h); owned */

/*
 * Takes a checked answer value (the Value of docs/queries.md) of one of QUESTION_ANSWERS; nothing
 * is done with another's. asked: of a scan and its rows, else NULL. now_ns: a monotonic clock of
 * the caller's. On a bad one: error, the model unchanged. */
int model_take(struct model *m, enum question question, const uint8_t *term, size_t len,
               const struct want_scan *asked, uint64_t now_ns, struct error *err);
/* Whose process answers of `process`, `mailbox`, `state` or `collect` are of from now on: a value
   does not say. Copied. */
void model_asked(struct model *m, enum question question, const struct process_ref *of);
/*
 * One that was kept, of a scan with all its rows; then, as often as wanted: those that match (NULL:
 * all), ranked and cut as asked for now. Without a kept scan nothing
 * is done. */
int model_take_recorded(struct model *m, enum question question, const uint8_t *term, size_t len,
                        const struct want_scan *asked, uint64_t now_ns, struct error *err);
typedef bool model_row_fn(void *arg, const struct proc_row *row);
void model_show_recorded(struct model *m, const struct want_scan *shown, model_row_fn *match,
                         void *arg);

/* The link's state and words for the user; LINK_LOST puts a gap into every history.
   text: why; behind LINK_NEXT_TRY, where it is in it, when it is tried again. */
#define LINK_NEXT_TRY "; next try in "
void model_set_link(struct model *m, enum link_state state, const char *text);
/* By what the node is reached, copied: "SSH to HOST"; "": TCP. */
void model_set_way(struct model *m, const char *text);
/* LINK_STALE was set since the last answer of `system`: what comes now spans a time without one. */
bool model_is_silent(const struct model *m);
/* Cost of the tick that just ended. */
void model_set_cost(struct model *m, const struct tick_cost *cost);
/* How far apart ticks are, and why no nearer. */
struct interval_info {
    double asked_s, real_s, budget;
    const char *why; /* the cost that stretches it; "" or NULL: none */
    bool idle;       /* further apart since the node does nothing */
};
void model_set_interval(struct model *m, const struct interval_info *interval); /* copied */
/* The first sweep of all processes has come so far; forgotten with a scan's answer, or with the
   connection. Value: whether one is under way. */
void model_set_sweep(struct model *m, int64_t done, int64_t all);
bool model_sweep(const struct model *m, int64_t *done, int64_t *all);
void model_journal(struct model *m, int64_t wall_us, bool trouble, const char *fmt, ...)
    ATTR_PRINTF(4, 5);
/* Seconds to add to UTC for times that are shown to the user. */
void model_set_utc_offset(struct model *m, long seconds);
long model_utc_offset(const struct model *m);
/* NULL: a live node. Copied. */
void model_set_recorded(struct model *m, const struct recorded_position *place);
const struct recorded_position *model_recorded(const struct model *m);
void model_gap(struct model *m);    /* history: one gap */
void model_forget(struct model *m); /* all that was answered: another node follows */

/* The last answer, NULL until there is one; its struct is that of the row (model/detail.h). */
const void *model_answer(const struct model *m, enum question question);
/* How many were taken, those of an earlier node too; and, of those that model_asked() names, whose
   process the last one is of. */
uint64_t model_round(const struct model *m, enum question question);
const struct process_ref *model_answer_of(const struct model *m, enum question question);
/* The same with its type: model_node(), model_system(), model_scan() … */
#define MODEL_GETTER(id, name, type, ...)                                                          \
    static inline const type *model_##name(const struct model *m)                                  \
    {                                                                                              \
        return model_answer(m, QUESTION_##id);                                                     \
    }
QUESTION_ANSWERS(MODEL_GETTER)
#undef MODEL_GETTER
/* The rows of the last scan, in its order, where they were read after it; else NULL. */
const struct proc_rows *model_newer_rows(const struct model *m);
/* That of the processes that are shown or watched, and when it was read; NULL: unknown. */
const struct proc_row *model_longest_queue(const struct model *m, uint64_t *mono_ns);

const struct ring *model_history(const struct model *m, enum history_line line);
enum link_state model_link(const struct model *m, const char **text);
const char *model_way(const struct model *m);
const struct tick_cost *model_cost(const struct model *m);
struct interval_info model_interval(const struct model *m);
size_t model_journal_len(const struct model *m);
const struct journal_entry *model_journal_at(const struct model *m, size_t age); /* 0: newest */

/* The trace that is shown, or was last (trace/log.h); borrowed from whoever set it. NULL: none. */
struct trace_log;
void model_set_trace(struct model *m, const struct trace_log *log);
const struct trace_log *model_trace(const struct model *m);
/* Counted calls that are shown, or were last (trace/calls_log.h); borrowed likewise. */
struct calls_log;
void model_set_calls(struct model *m, const struct calls_log *log);
const struct calls_log *model_calls(const struct model *m);
/* The VM from outside, while that is shown or the node does not answer (base/outside.h); NULL: it
 * is not looked at; borrowed likewise. */
struct outside;
void model_set_outside(struct model *m, const struct outside *o);
const struct outside *model_outside(const struct model *m);
/* Samples that are shown, or were last (model/samples.h); borrowed likewise. */
struct samples_log;
void model_set_samples(struct model *m, const struct samples_log *log);
const struct samples_log *model_samples(const struct model *m);
/* Causal spans that are shown, or were last (trace/spans_run.h); borrowed likewise. */
struct spans_run;
void model_set_spans(struct model *m, const struct spans_run *run);
const struct spans_run *model_spans(const struct model *m);
/* System events that are shown, or were last (trace/events_run.h); borrowed likewise. */
struct events_run;
void model_set_events(struct model *m, const struct events_run *run);
const struct events_run *model_events(const struct model *m);
/* Findings of the last minutes (model/finding.h); borrowed likewise. */
struct findings_shown;
void model_set_findings(struct model *m, const struct findings_shown *findings);
const struct findings_shown *model_findings(const struct model *m);

#endif
