/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recordings: SQLite files whose tables docs/recording.md describes. A writer that makes one
 * transaction of a tick, and a reader for replay, reports and exports. One thread a handle. Texts
 * and terms given are copied; what is handed out is borrowed until the next call on the same handle
 * unless stated otherwise. Unknown integers are -1, unknown doubles NaN. */
#ifndef BEAMTOP_RECORDING_RECORDING_H
#define BEAMTOP_RECORDING_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/etf/print.h"
#include "beamtop/base/arena.h"
#include "beamtop/etf/term.h"
#include "beamtop/model/model.h"
#include "beamtop/model/samples.h"
#include "beamtop/trace/events_run.h"
#include "beamtop/trace/spans_run.h"
#include "beamtop/model/snapshot.h"
#include "beamtop/model/want.h"

struct trace_log; /* beamtop/trace/log.h */
struct trace_event;
struct trace_sink;   /* beamtop/output/trace_sink.h */
struct calls_window; /* beamtop/trace/calls_state.h */
struct calls_sink;   /* beamtop/output/calls_sink.h */

/* ---- writing */

struct recorder;

struct recorder_options {
    const char *node, *label; /* label may be NULL */
    double interval_s;
    uint64_t max_bytes; /* of the file; 0: LIMIT_RECORDING_BYTES */
    bool thin;          /* past max_bytes give up old ticks instead of ending */
    bool apps; /* asked for beside scans: between two answers shares are not made of rows */
    bool redact, values; /* of traces: shapes of arguments, results and messages, or all of them */
};

/* Makes the file; one that exists is never written over (ERR_USAGE). ":memory:": none, for findings
 * and recorder_keep(): answers, gaps and marks are not kept. */
int recorder_open(struct recorder **out, const char *path, const struct recorder_options *options,
                  struct error *err);
/*
 * What comes until recorder_tick() belongs to the tick that it ends. `question` is its name
 * (base/question.h), term the checked answer value; asked: for scans, else NULL. */
void recorder_answer(struct recorder *r, const char *question, const uint8_t *term, size_t len,
                     const struct want_scan *asked);
void recorder_fact(struct recorder *r, const char *key, const char *json); /* unchanged: dropped */
/*
 * The facts in the answer to a question that is KEPT_FACTS, as often as its row says; ERR_FORMAT
 * when there are none. Without `values` no names of atoms. */
int recorder_facts(struct recorder *r, enum question q, const uint8_t *term, size_t len,
                   struct error *err);
/*
 * One trace at a time: its start when it is armed, or known not to be; its events as trace_sink.h
 * takes them; its end with what it came to. wall_us is the node's clock. Without `redact` and
 * `values` no argument, result or message is kept. */
void recorder_trace_begin(struct recorder *r, const struct trace_log *log, enum print_syntax syntax,
                          int64_t wall_us);
void recorder_trace_event(struct recorder *r, const struct trace_log *log,
                          const struct trace_event *event, bool finished);
void recorder_trace_end(struct recorder *r, const struct trace_log *log, int64_t wall_us);
void recorder_mark(struct recorder *r, int64_t here_us, int64_t wall_us, const char *text);
void recorder_gap(struct recorder *r, int64_t here_us, const char *why);

struct recorded_call {
    struct slice module, function;
    int64_t arity, calls, own_us, words;
    double share, calls_per_s;
    /* How they vary between the windows of a period. */
    int64_t windows; /* 0: unknown, in one of them it was not among the listed ones */
    double calls_per_s_stddev, share_stddev; /* NaN of fewer than two windows */
};
/* Windows over a period. */
struct recorded_window {
    int64_t id, tick, wall_us, ns, functions, calls, lost;
    double calls_per_s;
    const struct recorded_call *top; /* most calls first */
    size_t n_top;
    int64_t windows; /* of sums: how many */
};
/* A window of counted calls; `whole`: it is kept for who prints it again. */
void recorder_calls(struct recorder *r, const struct calls_window *w, bool whole);
/*
 * A finished run of the sampler, of which the heaviest are kept: LIMIT_RECORDED_NODES nodes of the
 * tree below its root, LIMIT_RECORDED_SOURCES processes and as many threads. What ended in other
 * nodes ends in "…", a node more below each that is kept. */
void recorder_samples(struct recorder *r, const struct samples_summary *run);
/* A finished capture of causal spans, with its events. The newest LIMIT_RECORDED_SPAN_RUNS are
 * kept. */
void recorder_spans(struct recorder *r, const struct spans_run *run);

/* System events, a run for them after the other: when it is armed (the limits of that moment), each
 * event as it comes, and what the run came to. */
void recorder_events_begin(struct recorder *r, const struct events_run *run);
void recorder_system_event(struct recorder *r, const struct system_event *e);
void recorder_events_end(struct recorder *r, const struct events_run *run);

/*
 * Writes all that was gathered, with the model's system, rows and owners, in one transaction.
 * ERR_TIMEOUT: another program held the file locked for LIMIT_RECORDER_BUSY_MS; what was gathered
 * waits for the next tick, which comes after a gap. ERR_SYSTEM: it could not be written, or was
 * locked for LIMIT_RECORDER_LOCKED_S; ERR_LIMIT: max_bytes is reached, or the disk is full. The
 * file is valid then, and without this tick; nothing more is taken. */
int recorder_tick(struct recorder *r, const struct model *m, int64_t here_us, struct error *err);
uint64_t recorder_bytes(const struct recorder *r);
int64_t recorder_ticks(const struct recorder *r);
/*
 * Writes what came since the last tick, and why it ended; moves the WAL into the file. NULL is
 * fine. ERR_LIMIT: it could not be moved, and the text names both files, which are a recording
 * together. */
int recorder_close(struct recorder *r, const char *why, struct error *err);

/* Gives up all but the newest ticks, with what belongs to them: a ring, for a recorder
 * in memory. */
int recorder_keep(struct recorder *r, int64_t ticks, struct error *err);

/* ---- reading */

struct recording;

/* ERR_NOT_FOUND, or ERR_FORMAT: no recording, a damaged one, or of a later version. Nothing in it
   or beside it is changed, made or removed: it may be anyone's. */
int recording_open(struct recording **out, const char *path, struct error *err);
void recording_close(struct recording *r);
/*
 * Reads what a recorder has written so far over its own connection, as a file in memory must be.
 * Close it before the recorder. recording_info() is that of this moment; ERR_FORMAT: no
 * tick yet. */
int recording_of_recorder(struct recording **out, struct recorder *w, struct error *err);

/*
 * A use of it: a report, an export, a tick that is shown. Each may take as much of SQLite's work as
 * the file's size asks for, and has its own errors: after the first nothing more is read, so that
 * all below may be incomplete, and recording_failed() says so. ERR_FORMAT: damaged, or more work
 * than that; ERR_TIMEOUT, ERR_SYSTEM: the file cannot be read now. A recording that was opened is
 * in use. */
void recording_begin(struct recording *r);
int recording_failed(const struct recording *r, struct error *err);

/* Looks through the whole file, once, as a use; ERR_FORMAT when a part of it is damaged. */
int recording_check(struct recording *r, struct error *err);

struct recording_info {
    const char *node, *otp, *label, *end; /* "" unknown; end "": it was cut off */
    int64_t ticks, first_us, last_us;     /* wall clock of the node */
    double interval_s;
    bool has_answers, has_processes, has_calls, has_windows, has_traces, has_samples, has_spans,
        has_events, redacted, values, thinned;
};
const struct recording_info *recording_info(const struct recording *r);

/* The last tick at or before that wall clock; 0 when there is none. */
int64_t recording_tick_at(struct recording *r, int64_t wall_us);
int64_t recording_tick_wall_us(struct recording *r, int64_t tick); /* -1: no such tick */
int64_t recording_tick_mono_ns(struct recording *r, int64_t tick);
/* The ticks beside that one; 0: none. Thinning leaves holes. */
int64_t recording_tick_before(struct recording *r, int64_t tick);
int64_t recording_tick_after(struct recording *r, int64_t tick);
/* The tick of the last answer to that question at or before a tick; 0: none. */
int64_t recording_last_answer(struct recording *r, const char *question, int64_t tick);
/* The first tick whose answers are there: thinning gives up the older ones, but for what the node
   is; 0: none. */
int64_t recording_first_answers(struct recording *r);
/* Whether any was recorded. */
bool recording_has(struct recording *r, const char *question);

/* Calls fn for the answers of a tick, in the order in which they were taken. */
typedef int recording_answer_fn(void *arg, const char *question, const uint8_t *term, size_t len,
                                const struct want_scan *asked, struct error *err);
int recording_answers(struct recording *r, int64_t tick, recording_answer_fn *fn, void *arg,
                      struct error *err);
/* Seconds from a tick to another, by the node's monotonic clock (of a restart by the recorder's):
   its wall clock may be set in between. 0: fewer than two. */
double recording_period_s(struct recording *r, int64_t from, int64_t to);
/* Whether the node restarted in between: its monotonic clock went back. */
bool recording_restarted(struct recording *r, int64_t from, int64_t to);
bool recording_gap_before(struct recording *r, int64_t tick);
int64_t recording_gaps(struct recording *r, int64_t from,
                       int64_t to); /* how many times without the node */

/* What the ticks of a period cost the node; NAN: not known. */
struct period_cost {
    double share; /* of one scheduler: work of our processes there over the intervals */
    double bytes; /* a tick, both directions on the link, on average */
};
struct period_cost recording_cost(struct recording *r, int64_t from, int64_t to);

struct recording_mark {
    int64_t wall_us, tick; /* the last tick at or before it; 0: it is before the first */
    const char *text;
};
/* In the order of time. Borrowed until the file is found to have changed, or the recording is
 * closed. */
size_t recording_marks(struct recording *r, const struct recording_mark **out);

/* ---- sums over a period of ticks (from and to inclusive), for reports and findings
 * In means a tick counts as long as its interval: those of an idle or throttled node are further
 * apart. Least, most and 95th percentile are of ticks. */

struct period_stats { /* of one column of `system`; NaN where nothing is known */
    double mean, min, max, p95, first, last, stddev;
    int64_t n;
    double independent; /* ticks that the mean rests on: fewer where each is like the one before */
};
int recording_stats(struct recording *r, const char *system_key, int64_t from, int64_t to,
                    struct period_stats *out, struct error *err);
/* Means of at most `most` equal times of the period: for charts and trends. */
size_t recording_series(struct recording *r, const char *system_key, int64_t from, int64_t to,
                        double *out, size_t most);
/* The longest time in which a column had that value or more at each tick where it is known. */
struct period_run {
    int64_t from, to; /* ticks; the first one's interval is part of it */
    double seconds;   /* 0: none */
};
struct period_run recording_longest(struct recording *r, const char *system_key, int64_t from,
                                    int64_t to, double least);
/* The same of a process's message queue, of the ticks at which it was recorded. */
size_t recording_queue_series(struct recording *r, const char *pid, int64_t from, int64_t to,
                              double *out, size_t most);

struct period_owner {
    struct slice owner; /* empty: the rest that was not ranked */
    struct slice kind;  /* what it was recognised as, empty: nothing special */
    double share, reductions_per_s, memory_bytes, message_queue_len, processes;
    double share_stddev; /* between ticks */
};
/* Mean over the period, largest share first. by: "application", "module", "name", "label". */
size_t recording_owners(struct recording *r, const char *by, int64_t from, int64_t to,
                        const struct period_owner **out);
/* A process over a period: what is known at the ticks at which it was among the recorded ones. */
struct period_process {
    struct slice pid, name, application, initial_call, label, kind;
    struct slice current_function;  /* where it was most of the time; empty: nowhere mostly */
    int64_t ticks;                  /* at which it was recorded */
    int64_t ticks_since;            /* ticks with processes, from the first of these on */
    double seen_s;                  /* from the first to the last of these */
    bool at_end;                    /* the last of them is the last with processes */
    double share, reductions_per_s; /* means over the ticks of the period that have shares */
    double memory_bytes, memory_first, memory_last;
    int64_t queued;      /* at how many of them it had messages waiting */
    double queue_stddev; /* between ticks */
    double queue_mean, queue_min, queue_max, queue_first, queue_last;
    double queue_slope, /* messages per second, by the line that fits best */
        queue_fit;      /* how well it does: -1..1 */
    int64_t asleep;     /* at how many of its last ticks it hibernated with messages waiting */
    double asleep_reductions_per_s; /* at these; NaN: at none */
};
/* How many processes came by in a period: many that were seen once mean churn. */
struct period_turnover {
    int64_t ticks; /* with processes */
    int64_t rows, pids, pids_seen_once;
};
/* At most 1000, largest share first, kept in the arena. */
size_t recording_processes(struct recording *r, int64_t from, int64_t to, struct arena *arena,
                           const struct period_process **out, struct period_turnover *turnover);
/* Calls of all windows of the period, summed by function. */
size_t recording_calls(struct recording *r, int64_t from, int64_t to,
                       const struct recorded_call **out, struct recorded_window *sums);
/* The last tick at or before that one with a window of counted calls (0: none), and how many until
 * it. */
int64_t recording_window_tick(struct recording *r, int64_t tick);
int64_t recording_windows(struct recording *r, int64_t tick);
/*
 * Writes whole windows to the sink: `most` of them from that tick on, or (0) the last one at or
 * before it. *n: how many. */
int recording_windows_put(struct recording *r, int64_t tick, int64_t most, struct calls_sink *sink,
                          int64_t *n, struct error *err);

/* ---- runs of the sampler */

/* Runs of one kind, summed: of those that sample CPU time, or of those at yields, which are of
 * reductions. The two have no sum. Texts, lists and stacks are its own. */
struct recorded_samples {
    struct samples_summary run; /* hz: NaN where that of runs differs */
    int64_t runs;               /* 0: there is none, and all else is empty */
    int64_t id, tick;           /* of the last one */
    double left_out;            /* weight in "…": in nodes that were not kept, or had no room */
    struct stacks *stacks;
    struct arena arena;
};
/* ERR_FORMAT: a run is damaged. Clear it in any case. */
int recording_samples(struct recording *r, int64_t from, int64_t to, bool at_yields,
                      struct recorded_samples *out, struct error *err);
/* The last run at or before a tick, of either kind. */
int64_t recording_samples_id(struct recording *r, int64_t tick); /* 0: none */
int recording_samples_of(struct recording *r, int64_t id, struct recorded_samples *out,
                         struct error *err);
void recorded_samples_clear(struct recorded_samples *s);

/* ---- captures of causal spans */

/* Those of the ticks, in their order; until the next question. */
size_t recording_spans(struct recording *r, int64_t from, int64_t to, const int64_t **ids);
int64_t recording_spans_id(struct recording *r, int64_t tick); /* the last one until it; 0: none */
/* With its spans built again of its events; `version` is the id. The caller's to free.
 * ERR_FORMAT: it is damaged, *out is NULL. */
int recording_spans_of(struct recording *r, int64_t id, struct spans_run **out, struct error *err);

/* ---- system events */

/* Runs for them that have a tick of from..to, in their order. The caller frees *ids. */
size_t recording_event_runs(struct recording *r, int64_t from, int64_t to, int64_t **ids);
int64_t recording_events_id(struct recording *r, int64_t tick); /* the last one until it; 0: none */
/* A run as it was at a tick, without events: of one that had not ended, with counts of the rows
 * until then. False: there is none. */
bool recording_events_of(struct recording *r, int64_t id, int64_t tick, struct events_run *out);
/* Whether its first events, or all, went to save space. */
bool recording_events_thinned(struct recording *r, int64_t id);
/* Adds the last EVENTS_KEPT until a tick. */
void recording_events_kept(struct recording *r, int64_t id, int64_t tick, struct events_run *run);
/* Those of the ticks from..to, the oldest first; each until the next. Ends at the first failure of
 * put. */
typedef int system_event_fn(void *arg, const struct system_event *e, struct error *err);
int recording_system_events(struct recording *r, int64_t id, int64_t from, int64_t to,
                            system_event_fn *put, void *arg, struct error *err);

/* The last value of a fact at or before a tick, as JSON; NULL: not recorded. */
const char *recording_fact(struct recording *r, const char *key, int64_t tick);

/* ---- traces */

struct recorded_trace {
    int64_t id, tick, wall_us;
    int64_t ended_us;     /* -1: it had not ended when the recording did */
    int64_t events, kept; /* lines that were recorded (-1: it has no end), and that thinning left */
    struct slice reason;  /* "events", "time" …; empty: no end */
    enum print_syntax syntax; /* that its functions and values are spelled in */
    int clean;                /* 1 verified, 0 something was left, -1 not known */
};
size_t recording_traces(struct recording *r, const struct recorded_trace **out);
/* A pattern over the traces of a period that have ended, in the order in which they came; kept in
 * the arena. */
struct period_pattern {
    struct slice pattern;
    int64_t traces, calls, shown,
        missed;                    /* calls: of its functions, by anyone; missed: not shown */
    double p50_us, p99_us, max_us; /* the largest of any of the traces; NaN: no results */
};
size_t recording_trace_patterns(struct recording *r, int64_t from, int64_t to, struct arena *arena,
                                const struct period_pattern **out);
/* Writes its events and its end, as far as they are there. */
int recording_trace_put(struct recording *r, int64_t trace, struct trace_sink *s,
                        struct error *err);

#endif
