/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Causal spans: what processes did for a request, as a tree. A capture feeds the events of a trace
 * token (and, in full mode, those of its participants); spans_build() makes spans and waits of all
 * events that were fed. Pure: no clock, no I/O. docs/spans.md says what the numbers mean.
 *
 * Owner: the caller. Thread: one at a time. Memory is bounded by LIMIT_SPAN_…: what is beyond is
 * dropped and counted. Any values are safe. Times are the node's monotonic time in ns, durations
 * ns; -1 is unknown. Slices that go in are copied, those that come out are borrowed until
 * spans_free(); spans, waits and their indexes hold until the next spans_build(). */
#ifndef BEAMTOP_MODEL_SPANS_H
#define BEAMTOP_MODEL_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/sample.h"
#include "beamtop/base/slice.h"
#include "beamtop/etf/term.h"

struct buf;
struct span_sum;
struct spans;
struct stacks;

/* ---- events */

#define SPAN_EVENT_LIST(X)                                                                         \
    X(SPAN_EVENT_ROOT, "root")       /* the root function is called; text: its MFA */              \
    X(SPAN_EVENT_RETURN, "return")   /* it returned; text: an exception's reason, class below */   \
    X(SPAN_EVENT_SEND, "send")       /* a message with the token is sent to peer */                \
    X(SPAN_EVENT_RECEIVE, "receive") /* one from peer is dequeued: the process takes the token */  \
    X(SPAN_EVENT_PRINT, "print")     /* seq_trace:print/1 */                                       \
    X(SPAN_EVENT_IN, "in")   /* full mode: the process runs, at the function in text … */        \
    X(SPAN_EVENT_OUT, "out") /* … and stops running */                                           \
    X(SPAN_EVENT_ARRIVAL,                                                                          \
      "arrival")                 /* full mode: a reply of peer reaches the queue, by its ref */    \
    X(SPAN_EVENT_DOWN, "down")   /* full mode: a monitor ref went down, peer for text */           \
    X(SPAN_EVENT_EXIT, "exit")   /* full mode: the process ends for the reason in text */          \
    X(SPAN_EVENT_ENTER, "enter") /* a function that was asked for is called; text: its MFA */      \
    X(SPAN_EVENT_LEAVE, "leave") /* … and returns, or throws: class; text: its MFA */            \
    /* Without payloads, of calls by gen: to peer; its callback in text, from peer; the reply, to  \
       peer; the caller waits no longer. All but the first by ref. */                              \
    X(SPAN_EVENT_ASK, "ask")                                                                       \
    X(SPAN_EVENT_SERVE, "serve")                                                                   \
    X(SPAN_EVENT_ANSWER, "answer")                                                                 \
    X(SPAN_EVENT_ANSWERED, "answered")                                                             \
    /* Of a root, at its time; words: how many ns later it had been read. */                       \
    X(SPAN_EVENT_CALLER, "caller")   /* peer is in its $callers */                                 \
    X(SPAN_EVENT_CONTEXT, "context") /* text: its OpenTelemetry ids, "trace-span" in hex */

/* What a message is. Text: the request's first atom; of a spawn the MFA, of an exit the reason. */
#define SPAN_TAG_LIST(X)                                                                           \
    X(SPAN_TAG_MESSAGE, "message") /* ref: where it carries one and a pid: plain requests */       \
    X(SPAN_TAG_CALL, "call")       /* {Label, {Pid, Tag}, Request}: gen_server, gen_statem … */  \
    X(SPAN_TAG_CAST, "cast")                                                                       \
    X(SPAN_TAG_REPLY, "reply")     /* {Ref, Value}, to a pid or an alias */                        \
    X(SPAN_TAG_SPAWN, "spawn")     /* spawn_request, dequeued by the new process */                \
    X(SPAN_TAG_SPAWNED, "spawned") /* spawn_reply */                                               \
    X(SPAN_TAG_EXIT, "exit")       /* {'EXIT', Pid, Reason} */

#define SPAN_CLASS_LIST(X)                                                                         \
    X(SPAN_CLASS_NONE, "-")                                                                        \
    X(SPAN_CLASS_ERROR, "error")                                                                   \
    X(SPAN_CLASS_EXIT, "exit")                                                                     \
    X(SPAN_CLASS_THROW, "throw")                                                                   \
    X(SPAN_CLASS_UNKNOWN, "unknown") /* how it returned is not known */

/* A process: of the captured node where `node` is empty. A message to a registered name has only
   `name`; one to an alias has nothing. */
struct span_process {
    struct slice node;
    struct etf_pid pid; /* id and serial 0: unknown */
    struct slice name;
};

struct span_ref {
    uint32_t creation, words[5];
    uint32_t n; /* words that count; 0: no reference */
};

#define SPAN_ENUM(name, key) name,
enum span_event_kind { SPAN_EVENT_LIST(SPAN_ENUM) SPAN_EVENTS };
enum span_tag { SPAN_TAG_LIST(SPAN_ENUM) SPAN_TAGS };
enum span_class { SPAN_CLASS_LIST(SPAN_ENUM) SPAN_CLASSES };

struct span_event {
    enum span_event_kind kind;
    int64_t at_ns;  /* within ±2^61 */
    uint64_t order; /* unique integer of the timestamp: orders events of one time */
    struct span_process process;
    struct span_process peer;
    struct etf_pid label;    /* of the token: the pid of the root … */
    struct slice label_node; /* … and its node; empty: the captured one */
    uint64_t serial;         /* the current one of the token: names the message with the sender */
    enum span_tag tag;
    enum span_class class;
    struct span_ref ref;
    int64_t words; /* size of the message, -1: unknown; of `out` 1: it was seen to wait */
    struct slice text;
};

struct spans_options {
    bool full;         /* events of running and exits are there; else token edges only */
    struct slice node; /* the captured node, for ids */
    uint64_t capture;  /* distinguishes captures of one node, for ids */
};

struct spans *spans_new(const struct spans_options *options);
void spans_free(struct spans *s); /* NULL is fine */

/* Takes one event, in any order. False: dropped and counted, invalid or beyond a limit. */
bool spans_feed(struct spans *s, const struct span_event *event);
/* A name for a process, by its node and pid: registered name, label, or initial call. */
void spans_name(struct spans *s, const struct span_process *process, struct slice name);

/* ---- what was fed, for who keeps it: the same events, names and drops make the same spans */

const struct spans_options *spans_about(const struct spans *s);
size_t spans_events(const struct spans *s);
/* In the order of the last spans_build(), then as they were fed. i < spans_events(). */
void spans_event_at(const struct spans *s, size_t i, struct span_event *out);
/* Ids of its processes and its text: the same values have the same. 0: nobody, no text. */
struct span_event_ids {
    uint32_t process, peer, text;
};
struct span_event_ids spans_event_ids(const struct spans *s, size_t i);
size_t spans_processes(const struct spans *s), spans_texts(const struct spans *s); /* ids: below */
/* As events have it; *given: what spans_name() said, or empty. */
struct span_process spans_process_at(const struct spans *s, uint32_t id, struct slice *given);
/* Adds events that were dropped before these were kept: invalid, beyond and duplicate ones. */
struct spans_dropped;
void spans_add_dropped(struct spans *s, const struct spans_dropped *more);

/* ---- the same requests on other nodes */

/* How a clock stands to that of the first node: its monotonic time less that one's at the same
   moment, in ns. Messages between the nodes bound it: none is taken before it is sent. */
struct spans_clock {
    int64_t least_ns, most_ns; /* in: bounds known otherwise, for a direction without messages */
    int64_t ahead_ns;          /* when its first event was … */
    double drift_ppm;          /* … and by so much more each second, in millionths */
    int64_t within_ns;         /* that may be wrong by so much; -1: the bounds contradict */
    uint64_t there, back;      /* messages between the nodes that it took, that it sent */
};
struct spans_joined {
    const struct spans *spans;
    struct spans_clock clock;
};
/*
 * Feeds s what captures of other nodes have of the same requests, wherever these began; all are of
 * light mode, in each the others' processes have their nodes' names. The offset of each clock is
 * within all bounds, as far as these do not contradict: so what causes something comes before it.
 * It is level unless a slope doubles the distance between the bounds. Call it once, with all that
 * was captured, then spans_build(). */
void spans_join(struct spans *s, struct spans_joined *others, size_t n);

/* ---- spans */

#define SPAN_KIND_LIST(X)                                                                          \
    X(SPAN_ROOT, "root")                                                                           \
    X(SPAN_CALL, "call")                                                                           \
    X(SPAN_CAST, "cast")                                                                           \
    X(SPAN_SPAWN, "spawn")                                                                         \
    X(SPAN_TASK, "task") /* a spawned process that replied with a reference of its parent */       \
    X(SPAN_MESSAGE, "message")                                                                     \
    X(SPAN_FUNCTION, "function") /* a call within a span, on the same process */

#define SPAN_OUTCOME_LIST(X)                                                                       \
    X(SPAN_OK, "ok")                                                                               \
    X(SPAN_EXCEPTION, "exception") /* of the function; of a root's, reason */                      \
    X(SPAN_EXIT, "exit")           /* the process, or the callee waited for, ended; reason */      \
    X(SPAN_TIMEOUT, "timeout")                                                                     \
    X(SPAN_NOPROC, "noproc")                                                                       \
    X(SPAN_ELSEWHERE, "elsewhere") /* span: replied after it, or by others; wait: without token */ \
    X(SPAN_LATE, "late")           /* a call that ended after its caller had given up */           \
    X(SPAN_OPEN, "open")           /* not ended when the capture ended */                          \
    X(SPAN_UNKNOWN, "unknown")     /* no event says it */

enum span_kind { SPAN_KIND_LIST(SPAN_ENUM) SPAN_KINDS };
enum span_outcome { SPAN_OUTCOME_LIST(SPAN_ENUM) SPAN_OUTCOMES };

#define SPAN_NONE UINT32_MAX
#define SPAN_CALLERS 3

struct span {
    uint64_t trace_id[2], span_id, parent_span_id; /* parent 0: a root */
    uint32_t parent, root;                         /* indexes; below this one's, or SPAN_NONE */
    uint32_t child, next;                          /* first child, next sibling, by start */
    uint32_t depth;                                /* 0: a root */
    enum span_kind kind;
    enum span_outcome outcome;
    struct span_process process;
    /* MFA of a root, function or spawn, first atom of a message; may be empty */
    struct slice operation;
    struct slice reason; /* of the outcome; may be empty */
    int64_t started_ns, ended_ns;
    bool ended_at_least; /* it ended then or later: light mode does not see the end */
    /* A callee on another node, or one without events: only start, end and outcome are known,
       from the caller's side. */
    bool leaf;
    int64_t words;     /* of the message that started it */
    int64_t queued_ns; /* that message in the queue */
    /* These five add up to the duration. In light mode the last two are unknown and self_ns has
       them: it is at most that. */
    int64_t self_ns;
    int64_t nested_ns; /* in spans within it on its own process */
    int64_t wait_ns;   /* for known processes */
    int64_t unattributed_ns, off_cpu_ns;
    struct span_process waiting_on; /* of its longest wait for a process, or that of a function */
    uint32_t wait, n_waits;         /* its waits, by start: spans_wait(wait) … */
    /* Of a root whose process was read while it ran (spans_capture.context), else empty. */
    bool context_read;
    uint32_t n_callers;                 /* spans_caller() */
    uint32_t caller_ids[SPAN_CALLERS];  /* internal */
    struct slice otel_trace, otel_span; /* 32 and 16 hex digits */
};

#define SPAN_WAIT_LIST(X)                                                                          \
    X(SPAN_WAIT_CALL, "call")       /* for a reply */                                              \
    X(SPAN_WAIT_MESSAGE, "message") /* for a message of a known process */                         \
    X(SPAN_WAIT_NESTED, "nested")   /* a span within this one, on the same process */              \
    X(SPAN_WAIT_OTHER, "WAITING")   /* nobody knows for what: in the function `at` */              \
    X(SPAN_WAIT_OFF_CPU, "OFF_CPU") /* preempted */
enum span_wait_kind { SPAN_WAIT_LIST(SPAN_ENUM) SPAN_WAITS };
#undef SPAN_ENUM

struct span_wait {
    uint32_t span;
    enum span_wait_kind kind;
    int64_t from_ns, to_ns; /* within the span */
    int64_t net_ns;         /* its part that no wait of a kind above it, and none earlier, covers */
    uint32_t on; /* the span that ended it: the one that answered; SPAN_NONE: not captured */
    struct span_process process; /* the one that was waited for */
    enum span_outcome outcome;
    struct slice at; /* M:F/A; of an exit: the reason */
    struct slice in; /* of a wait for a process: M:F/A that waited; empty: unknown */
    bool at_most;    /* it began then or later: light mode does not see when */
};

/* It is a call of a function, named by that; else it is named by its process. */
static inline bool span_is_function(const struct span *span)
{
    return (span->kind == SPAN_ROOT || span->kind == SPAN_FUNCTION) && span->operation.len > 0;
}

/* Its self_ns; -1 where light mode saw no end: it is neither an upper nor a lower limit there. */
int64_t span_self_ns(const struct span *span);

/* The longest wait of a span and of the functions within it, by net_ns: for a process, or for
   nobody that is known. NULL: none. */
const struct span_wait *spans_largest_wait(const struct spans *s, const struct span *span);

/* Builds spans of all that was fed; may be called again after more. */
void spans_build(struct spans *s);
size_t spans_count(const struct spans *s);
const struct span *spans_at(const struct spans *s, uint32_t index);
static inline int64_t span_duration(const struct span *span)
{
    return span->ended_ns - span->started_ns;
}
/* The next span of a tree after `at`, each before its children; SPAN_NONE after the last one. */
uint32_t span_after(const struct spans *s, uint32_t at);
const struct span_wait *spans_wait(const struct spans *s, uint32_t index);
/* The i-th of $callers, i < n_callers: the process that called, then the one that called that. */
struct span_process spans_caller(const struct spans *s, const struct span *span, size_t i);

/* ---- samples of the same time */

/* A process on a CPU, at a time of this node's clock; stack: the index of a node of the stacks. */
struct span_sample {
    uint64_t number, serial;
    int64_t at_ns;
    uint32_t stack;
};
/*
 * Each sample counts for the innermost span that its process has at that moment; the others are of
 * no span. Once, after the last spans_build(). The stacks are the spans' from then on. Returns how
 * many count. */
size_t spans_take_samples(struct spans *s, struct stacks *stacks, const struct span_sample *samples,
                          size_t n);
struct span_stack {
    uint32_t span, stack;
    uint32_t samples;
};
bool spans_have_samples(const struct spans *s);
/* Those of a span, most samples first: *n of them. */
const struct span_stack *spans_sampled(const struct spans *s, uint32_t span, size_t *n);
/* Its frames, the root first: those within the span's function, else all. LIMIT_STACK_DEPTH at
 * most. */
size_t span_stack_frames(const struct spans *s, const struct span_stack *of,
                         const struct sample_frame **frames);

/* Events that made nothing, by reason. */
struct spans_dropped {
    uint64_t invalid;   /* times or values out of range */
    uint64_t beyond;    /* above LIMIT_SPAN_EVENTS, _PROCESSES, _TEXT_BYTES */
    uint64_t duplicate; /* the same event again */
    uint64_t leaked;    /* of a token without a span behind it */
    uint64_t deep;      /* below LIMIT_SPAN_DEPTH, or above LIMIT_SPAN_ROOTS */
};
struct spans_dropped spans_dropped(const struct spans *s);

/* ---- derived */

/* Frames are spans from the root, with WAITING(M:F/A), OFF_CPU and QUEUED below them; weights are
   self time in µs. raw_waits: waits that a span explains are frames too, beside that span. Of one
   root, or of all: SPAN_NONE. Owned by the caller. */
struct stacks *spans_stacks(const struct spans *s, uint32_t root, bool raw_waits);
/* Its frame there: "wl:root/1", "call shop_cart", "cast <0.88.0> b@host". */
void span_put_name(struct buf *out, const struct span *span);
/* A process: its name, its pid or "-"; then its node, where it is another one. */
void span_put_process(struct buf *out, const struct span_process *process);
/* "timer:sleep/1" as "WAITING(timer:sleep/1)", of nothing "WAITING". */
void span_put_at(struct buf *out, const char *what, struct slice at);
/* "WAITING(timer:sleep/1)", "OFF_CPU", "waiting for shop_cart"; raw: "WAITING(gen:do_call/4) for
   shop_cart". */
void span_put_wait(struct buf *out, const struct span_wait *wait, bool raw);

#define SPAN_STEP_LIST(X)                                                                          \
    X(SPAN_STEP_SELF, "self")                                                                      \
    X(SPAN_STEP_QUEUED, "queued") /* a message of `span` was in its queue */                       \
    X(SPAN_STEP_WAIT, "wait")     /* something that is not captured; `at`, or a process's name */  \
    X(SPAN_STEP_OFF_CPU, "OFF_CPU")
#define SPAN_ENUM(name, key) name,
enum span_step_kind { SPAN_STEP_LIST(SPAN_ENUM) SPAN_STEPS };
#undef SPAN_ENUM

struct span_step {
    uint32_t span;
    enum span_step_kind kind;
    int64_t from_ns, to_ns;
    struct slice at;
};
/*
 * The critical path of a root: from its end backwards, always into the wait that ended last and on
 * in the span that ended it, down to its start. Steps by time, without a gap from the root's start
 * to its end, LIMIT_SPAN_STEPS at most. Owned by the caller, *n of them; NULL: not a root. */
struct span_step *spans_critical(const struct spans *s, uint32_t root, size_t *n);
/* Those of n roots by duration, the longest first. Owned by the caller. */
uint32_t *spans_slowest(const struct spans *s, const uint32_t *roots, size_t n);
/* Of so many roots, how many are the slowest 1%: one at least, of none 0. */
static inline size_t spans_slow(size_t n)
{
    return (n + 99) / 100;
}

/* What critical paths go through, summed: steps of the same operation, process by its name and
   node, and `at`. */
struct span_part {
    struct slice operation, at;
    struct span_process process; /* of its first step */
    bool own;                    /* the process of the root itself */
    bool several;                /* processes */
    uint32_t group;              /* of span_sum_add() */
    uint32_t span;               /* of its spans, the first; of those of one `struct spans` */
    int64_t ns[SPAN_STEPS], slow_ns[SPAN_STEPS];
};
/* Empties what makes no difference to a sum, before a step is added to the part of the rest. */
typedef void span_part_fn(struct span_part *part, enum span_step_kind kind);

/* Of `most` parts; owned by the caller. Texts are copied: the spans may be freed before. */
struct span_sum *span_sum_new(span_part_fn *merge, size_t most);
/* Adds the critical path of a root, to parts of a group of roots. Returns the ns that found no
   room. */
int64_t span_sum_add(struct span_sum *sum, const struct spans *s, uint32_t root, uint32_t group,
                     bool slow);
/* The part behind that one, of NULL the first; NULL: no more. */
const struct span_part *span_sum_next(const struct span_sum *sum, const struct span_part *part);
/* A row for each kind of step of a part, *n of them: by group, then most of the time first. Owned
   by the caller, to be freed; the parts are the sum's. */
struct span_share {
    const struct span_part *part;
    enum span_step_kind kind;
    int64_t ns, slow_ns;
};
struct span_share *span_sum_shares(const struct span_sum *sum, size_t *n);
void span_sum_free(struct span_sum *sum); /* NULL is fine */

const char *span_event_key(enum span_event_kind kind);
const char *span_tag_key(enum span_tag tag);
const char *span_class_key(enum span_class class);
const char *span_kind_key(enum span_kind kind);
const char *span_outcome_key(enum span_outcome outcome);
const char *span_wait_key(enum span_wait_kind kind);
const char *span_step_key(enum span_step_kind kind);

#endif
