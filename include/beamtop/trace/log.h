/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a trace has brought: its events, oldest first, joined (a call with its result), counters by
 * pattern, latencies, the state of every cap, the end and its verification. Plain data that views
 * and sinks read and a session fills. One thread. Borrowed pointers live until the next event is
 * added (the ring may drop its oldest) or the log is freed. */
#ifndef BEAMTOP_TRACE_LOG_H
#define BEAMTOP_TRACE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/limits.h"
#include "beamtop/etf/term.h"
#include "beamtop/trace/caps.h"
#include "beamtop/trace/histogram.h"
#include "beamtop/trace/pattern.h"
#include "beamtop/trace/status.h"

enum event_kind { EVENT_CALL, EVENT_SEND, EVENT_RECEIVE, EVENT_LOST };
enum event_outcome {
    OUTCOME_NONE, /* the result is not asked for */
    OUTCOME_OPEN, /* not back yet, or not back when the trace ended */
    OUTCOME_RETURN,
    OUTCOME_EXCEPTION,
};

struct mfa {
    struct slice module, function;
    int64_t arity;
};

/*
 * A term as it travelled: checked bytes without version byte; s is NULL when there is none. Where
 * the state has `texts` it is a binary, the text that stands for it, and arguments a list of those.
 */
struct kept_term {
    struct slice bytes;
    uint64_t full_bytes; /* of the whole term on the target when this is a cut of it, else 0 */
};

struct trace_event {
    uint64_t id; /* from 1, in order of their beginning */
    enum event_kind kind;
    unsigned pattern;
    struct etf_pid pid;
    struct slice name; /* of the process: registered name, label or initial call; empty: unknown */
    int64_t mono_ns, wall_us;
    struct mfa mfa;        /* calls */
    struct kept_term args; /* a list of the arguments, or of the values of show() */
    bool shown_only;       /* args are show()'s values */
    struct mfa caller;     /* empty module: unknown */
    const struct mfa *stack;
    size_t n_stack;
    unsigned depth; /* calls of this process open in the trace when it began: recursion */
    enum event_outcome outcome;
    struct kept_term result;  /* value, or the exception's reason */
    struct slice class;       /* error, exit, throw */
    uint64_t latency_ns;      /* of RETURN and EXCEPTION */
    struct kept_term message; /* send, receive */
    struct kept_term to;      /* send: pid, name or {Name, Node} */
    bool no_receiver;         /* send: to a process that is not there */
    /* lost */
    uint64_t lost;
    uint64_t shown; /* calls in the log since the lost ones before; trace_log_add() counts them */
    bool at_most;   /* `lost` is a bound, since the pattern lets only some calls pass */
    char why[32];   /* "rate", "window", "bytes", "credit", "paused" */
    int64_t until_ns;
    /* Of a trace of several nodes, whose times are of this host's clocks. */
    struct slice node; /* empty: there is one */
    double bound_us;   /* how much the time may be wrong, either way; NaN: it is when it came */
    bool same_time;    /* as an event of another node before it: their order is not known */
    bool late;         /* it came after events of a later time */
};

/* Counters of one pattern, and of all together. */
struct trace_counts {
    uint64_t calls; /* of its functions, all calls by anyone: call_count */
    bool calls_known;
    uint64_t seen; /* emitted by the VM to us */
    uint64_t shown;
    uint64_t filtered; /* by slower, returns, raises */
    uint64_t cut;
    uint64_t over;       /* beyond the event cap: what the VM overshot */
    uint64_t lost;       /* taken but not sent: over the byte cap, no credit */
    uint64_t missed;     /* happened while the budget was shut */
    bool missed_at_most; /* a bound */
    uint64_t open;       /* calls without a result yet */
    uint64_t time_us;    /* of the action `time` */
};

/* A node of several: its part of the trace. */
struct trace_node {
    char name[LIMIT_NODE_NAME_BYTES + 1];
    enum session_phase phase; /* SESSION_FAILED: it takes no part, or nothing was set */
    struct session_check check;
    struct trace_counts counts;
    char says[160]; /* why it takes no part, or how it has ended; or "" */
};

struct trace_function {
    struct mfa mfa;
    unsigned pattern;
    uint64_t calls, time_us;
    bool again; /* a pattern before names it too: the same calls */
};

struct trace_pattern_info {
    const struct pattern *pattern; /* borrowed from the session, as long as the log */
    size_t functions;
    struct trace_counts counts;
    struct histogram latency;
    double rate_per_s; /* shown, over the last second */
};

/* clang-format off */
enum trace_end {
    END_NONE, END_TIME, END_EVENTS, END_RATE, END_BYTES, END_HEAP, END_STOPPED, END_LINK,
    END_KILLED, END_GONE,
};
/* clang-format on */
const char *trace_end_name(enum trace_end end); /* "time", "events", … "gone": JSON and text */

/* The preflight's findings. */
struct trace_preflight {
    uint64_t functions;
    bool functions_cut; /* more matched than the cap takes */
    uint64_t processes;
    double calls_per_s; /* estimated by counting; NaN: not counted */
    double count_ms;    /* for so long */
    double load;        /* share of one core that the guard costs at that rate */
    bool expensive;     /* above the threshold: needs a confirmation */
    char others[240];   /* other tracers and breakpoints; empty: none */
    char why_none[400]; /* no function matches: why, and near misses */
};

struct trace_log;

struct trace_log *trace_log_new(size_t most_events, size_t most_bytes);
void trace_log_free(struct trace_log *l);

size_t trace_log_len(const struct trace_log *l);
const struct trace_event *trace_log_at(const struct trace_log *l,
                                       size_t index); /* 0: the oldest kept */
const struct trace_event *trace_log_find(const struct trace_log *l,
                                         uint64_t id); /* NULL: dropped */
uint64_t trace_log_dropped(const struct trace_log *l); /* events that the ring has let go */

struct trace_state {
    struct session_status status;
    enum trace_end end;
    int64_t armed_mono_ns, ended_mono_ns; /* by the node's monotonic clock; 0: not yet … */
    int64_t wall_us;                      /* … and its wall clock when it was armed */
    char end_text[160];                   /* "events: 100 of 100" */
    struct caps caps;
    uint64_t used[CAPS]; /* beside caps.value: elapsed ms, events shown, rate now, window now,
                            largest term, bytes, heap */
    bool shut;           /* the budget is shut now … */
    char shut_why[32];   /* … because of: rate, credit, paused */
    uint64_t mailbox;    /* of the collector */
    bool on_rate_stop;
    bool recorded; /* of a recording: a cap of 0 is unknown */
    bool texts;    /* of a recording without values: texts stand for them */
    bool isolated; /* in a trace session of ours (OTP 27+); else in the single space */
    bool children;
    char note[200]; /* for the user: narrowed, a module reloaded; or "" */
    struct trace_preflight preflight;
    struct trace_counts total;
};
const struct trace_state *trace_log_state(const struct trace_log *l);
size_t trace_log_patterns(const struct trace_log *l);
/* Patterns of messages, which are not counted. */
bool trace_log_has_messages(const struct trace_log *l);
/* The syntax it is shown in: the one asked for, else that of the first pattern. */
enum syntax trace_log_syntax(const struct trace_log *l, enum syntax asked);
const struct trace_pattern_info *trace_log_pattern(const struct trace_log *l, size_t index);
/* Of several nodes, in their order; 0: of one. */
size_t trace_log_nodes(const struct trace_log *l);
const struct trace_node *trace_log_node(const struct trace_log *l, size_t index);
size_t trace_log_functions(const struct trace_log *l);
const struct trace_function *trace_log_function(const struct trace_log *l, size_t index);

/* For sessions, and for tests that need a log with known contents. Terms and names are copied. */
struct trace_state *trace_log_state_edit(struct trace_log *l);
struct trace_pattern_info *trace_log_add_pattern(struct trace_log *l, const struct pattern *p);
struct trace_pattern_info *trace_log_pattern_edit(struct trace_log *l, size_t index);
void trace_log_set_functions(struct trace_log *l, const struct trace_function *f, size_t n);
void trace_log_set_nodes(struct trace_log *l, const struct trace_node *nodes, size_t n);
struct trace_event *trace_log_add(struct trace_log *l, const struct trace_event *event);
/* Fills in the result of an event that is still kept, adds to counters and latencies. */
void trace_log_finish(struct trace_log *l, uint64_t id, enum event_outcome outcome,
                      struct slice class, const struct kept_term *result, int64_t mono_ns);
void trace_log_name(struct trace_log *l, const struct etf_pid *pid, struct slice name);

/* A time in which the one process did not run, or several short ones at the same function. */
struct off_cpu {
    int64_t from_ns, until_ns; /* of the first, of the last; the node's monotonic time */
    uint64_t times, total_ns;
    struct mfa mfa; /* where it stopped; empty module: unknown */
    char why[16];   /* "waiting", "runnable", or "unknown": too short to be looked at */
};

/* An event as the node sends it, and as a recording keeps it. */
/* clang-format off */
enum pushed_kind {
    PUSHED_CALL, PUSHED_RETURN, PUSHED_EXCEPTION, PUSHED_SEND, PUSHED_RECEIVE, PUSHED_LOST,
    PUSHED_OFF_CPU, PUSHED_FOLLOW,
};
/* clang-format on */

struct pushed_event {
    enum pushed_kind kind;
    struct trace_event event; /* mono_ns and until_ns in the target's native unit */
    struct mfa stack[LIMIT_TRACE_STACK];
    struct off_cpu off; /* of PUSHED_OFF_CPU, likewise; of PUSHED_FOLLOW from_ns … */
    bool follow;        /* … and whether it begins */
};

/* One event by itself: a checked term. False: it is none. */
bool decode_one_event(struct pushed_event *out, const uint8_t *term, size_t len);

#endif
