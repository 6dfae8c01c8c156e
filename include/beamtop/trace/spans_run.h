/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Data of a capture of causal spans: its state and what has come so far. Sinks, recordings and
 * views read it; trace/spans.h makes it. */
#ifndef BEAMTOP_TRACE_SPANS_RUN_H
#define BEAMTOP_TRACE_SPANS_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/base/limits.h"
#include "beamtop/model/spans.h"
#include "beamtop/trace/status.h"

/* Why a capture ended: key, as people read it. */
#define SPANS_END_LIST(X)                                                                          \
    X(SPANS_END_NONE, "running", "not ended")                                                      \
    X(SPANS_END_ROOTS, "roots", "all returned") /* as many as asked for */                         \
    X(SPANS_END_TIME, "time", "ended: time")    /* roots may be open */                            \
    X(SPANS_END_EVENTS, "events", "ended: event cap")                                              \
    X(SPANS_END_QUEUE, "queue", "ended: too many events at once") /* for the node to put aside */  \
    X(SPANS_END_STOPPED, "stopped", "stopped")                    /* by you */                     \
    X(SPANS_END_KILLED, "killed", "ended: a helper process was killed")                            \
    X(SPANS_END_TRACED, "traced", "ended: another tool set the system tracer")                     \
    X(SPANS_END_LOST, "connection", "ended: connection lost") /* what came last is missing */
#define SPANS_ENUM(name, key, text) name,
enum spans_end { SPANS_END_LIST(SPANS_ENUM) SPANS_ENDS };
#undef SPANS_ENUM
const char *spans_end_key(enum spans_end end);
const char *spans_end_text(enum spans_end end);

/* Events that were counted only, and why; the node keeps to these caps. */
struct spans_skipped {
    uint64_t participants, fanout, depth; /* of processes beyond these caps of a root */
    uint64_t stale;                       /* of tokens whose request is over */
    uint64_t clearings; /* so often there were too many of them, and all tokens were cleared */
};

/* What another node had of the same requests. */
struct spans_side {
    char node[LIMIT_NODE_NAME_BYTES + 1];
    char otp[32];
    unsigned roots, open; /* that began there; 0 of who only takes part */
    uint64_t functions;   /* of roots */
    uint64_t events, skipped;
    enum spans_end end;
    double arm_us, disarm_us, target_us; /* work of that node, as of the run */
    uint64_t bytes;
    struct spans_skipped by;
    struct session_check check;
    struct spans_clock clock;
};

/* The node's monotonic time less ours, in ns: what questions and their answers bound. */
struct spans_here {
    bool known;
    int64_t least_ns, most_ns;
};

/* Unknown: NaN, -1. */
struct spans_run {
    struct session_status status;
    struct spans *spans; /* built of all that came so far; never NULL. Its indexes hold while
                            `version` is the same */
    uint64_t version;
    char patterns[400]; /* as typed */
    char node[LIMIT_NODE_NAME_BYTES + 1];
    char otp[32];
    bool full;
    bool no_payloads;            /* only calls, by breakpoints; not in recordings */
    bool context;                /* callers and OpenTelemetry were asked for; not in recordings */
    unsigned roots_asked, every; /* so many roots, one of so many calls */
    double for_s;
    uint64_t events_asked; /* the event cap */
    /* The estimate. */
    uint64_t functions;       /* of roots */
    uint64_t called;          /* whose calls within a root are shown; not in recordings */
    double calls_per_s, load; /* of all these; their share of one core when checked */
    bool expensive;
    char others[240]; /* other tools that trace; empty: none */
    /* What came. */
    unsigned roots, open;     /* roots taken, on all nodes, and of them not returned yet */
    uint64_t events, skipped; /* kept; beyond a cap, without stale ones */
    struct spans_skipped by;  /* not in recordings */
    enum spans_end end;
    int64_t mono_ns, wall_us; /* one moment by the node's monotonic clock, and its wall clock */
    double seconds;           /* how long it captured, by the node's clock */
    double arm_us, disarm_us, target_us; /* work of the node for it; target_us: all */
    uint64_t bytes;                      /* of the answers */
    struct spans_side *sides;            /* others that were captured with it; not in recordings */
    size_t n_sides;
    struct spans_here here; /* not in recordings */
};
struct spans_run *spans_run_new(const struct spans_options *options);
void spans_run_free(struct spans_run *run); /* and its spans; NULL is fine */
/* Puts what others have had of the same requests into a capture, and builds that. Once. */
void spans_run_join(struct spans_run *run, const struct spans_run *const *others, size_t n);
/* Wall clock time of an instant of the run, in ns since the epoch. */
int64_t spans_run_wall_ns(const struct spans_run *run, int64_t mono_ns);

#endif
