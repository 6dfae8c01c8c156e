/*
 * Counting calls of functions on the target, window by window, without messages. A session goes
 * from its words to the proof that nothing is left, through a port, so that tests can play the
 * target. One thread: the loop's; time is the port's.
 *
 * docs/calls.md is the protocol, and says what the numbers mean.
 */
#ifndef BEAMTOP_TRACE_CALLS_H
#define BEAMTOP_TRACE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/etf/term.h"
#include "beamtop/query/query.h"
#include "beamtop/trace/pattern.h"

struct calls_session;

struct calls_port {
    /* As query_ask(): the answer comes to fn exactly once, never from within the call, unless the
       session is freed first. */
    int (*ask)(void *ctx, enum question question, const struct builder *arg, unsigned deadline_ms,
               answer_fn *fn, void *fn_arg, struct error *err);
    /* As query_tell() to QUESTION_CALLS: no answer. */
    int (*tell)(void *ctx, const struct builder *term, struct error *err);
    uint64_t (*now_ns)(void *ctx); /* monotonic, here */
    void *ctx;
    int otp;
};

struct calls_options {
    const char *const *patterns; /* texts, each may hold several; none: every function */
    size_t n_patterns;
    enum syntax syntax;
    const char *procs;  /* whose time; NULL: all */
    unsigned for_ms;    /* a window: 10 to LIMIT_CALLS_WINDOW_MS */
    unsigned every_ms;  /* from start to start; 0: at once again */
    unsigned windows;   /* 0: until stopped */
    unsigned top;       /* rows: 1 to LIMIT_CALLS_ROWS */
    bool time, memory;
    bool force;         /* do not stop when it is dear */
    bool dry_run;       /* end after the estimate, in CALLS_ASKING */
};

#define CALLS_UNKNOWN UINT64_MAX

/* A row of a window. Texts are the window's. Unknown is CALLS_UNKNOWN, NaN in a double. */
struct calls_function {
    struct slice module, function, application; /* application: empty when of none */
    uint64_t arity;
    uint64_t calls;
    double calls_per_s, share;  /* of all calls of the window */
    double change;              /* calls_per_s over that of the window before, less 1 */
    uint64_t timed_calls;       /* of the second window, as all that follows */
    uint64_t own_us, words;
    double us_per_call, words_per_call;
    double own_share;           /* of one scheduler's time */
    bool lost;                  /* its counter in the second window was lost */
};

/* A sum over a module, or an application (then `module` is empty). */
struct calls_sum {
    struct slice module, application;
    uint64_t functions, calls;
    double calls_per_s, share, change;
};

struct calls_window {
    uint64_t number;              /* 1, 2 … */
    int64_t wall_us;              /* its end, by the node's clock */
    uint64_t interval_us;
    uint64_t functions, called;   /* counted; called at least once */
    uint64_t calls;
    double calls_per_s;
    double load;                  /* estimated cost of the counting: of all schedulers */
    uint64_t lost;                /* functions that were loaded again meanwhile */
    const struct slice *lost_modules; /* some of them */
    size_t n_lost_modules;
    bool cut;                     /* ended early, by a stop */
    bool timed;                   /* the second window is there */
    bool has_time, has_memory;
    uint64_t timed_interval_us, processes; /* of the second; unknown without it */
    char timed_why[160];          /* why it is not, though asked for */
    const struct calls_function *rows; /* most calls first */
    size_t n_rows;
    const struct calls_sum *modules, *applications;
    size_t n_modules, n_applications;
    uint64_t listed_us, armed_us, read_us, disarmed_us; /* on the target, both windows */
    uint64_t target_us, bytes;    /* its work for the window; the size of its answers */
};

enum calls_phase {
    CALLS_PREPARING, /* who is there, what would be counted, how many calls */
    CALLS_ASKING,    /* dear, or a dry run: waits for calls_confirm or calls_stop */
    CALLS_COUNTING,
    CALLS_TIMING,
    CALLS_WAITING,   /* for the next window */
    CALLS_VERIFYING,
    CALLS_ENDED,     /* see `clean` */
    CALLS_FAILED,    /* `error` says why; nothing is left of it */
};

struct calls_state {
    enum calls_phase phase;
    struct error error;     /* of CALLS_FAILED, or why the windows came to an end */
    /* The estimate: NaN before it. */
    uint64_t functions, schedulers;
    double calls_per_s, load;
    double arms;            /* calls of the VM that arm it */
    bool dear;
    char others[240];       /* who else is there; empty: nobody */
    char procs[200];        /* as it was understood */
    unsigned windows;       /* done */
    bool verified, clean;
    char left[200];         /* what is left, when it is not clean */
    uint64_t verified_us;   /* after the end */
};

struct calls_handlers {
    void (*on_change)(void *arg); /* the state has changed; never from within calls_open */
    /* A window is complete; borrowed for the call. */
    void (*on_window)(void *arg, const struct calls_window *window);
};

/* A mistake in the words is ERR_USAGE; *pattern and *offset (may be NULL) tell where. */
int calls_open(struct calls_session **out, const struct calls_options *options,
               const struct calls_port *port, const struct calls_handlers *handlers, void *arg,
               size_t *pattern, size_t *offset, struct error *err);
/* Frees. A window that is open is told to end; the target cleans up by itself. */
void calls_free(struct calls_session *s);
const struct calls_state *calls_session_state(const struct calls_session *s);
const struct calls_options *calls_session_options(const struct calls_session *s);
bool calls_session_counts(const struct calls_session *s); /* a window is open */
/* As much time lies between windows as they take: what else is asked of the node can wait for it. */
bool calls_session_leaves_time(const struct calls_session *s);
/* Until calls_tick() opens the next window; 0: now. Of CALLS_WAITING alone. */
unsigned calls_session_due_ms(const struct calls_session *s);

void calls_confirm(struct calls_session *s); /* the answer yes, in CALLS_ASKING */
/* Any phase: to its end. An open window is still told. */
void calls_stop(struct calls_session *s);
void calls_link_lost(struct calls_session *s, const struct error *why);
/* Called some ten times a second while it lives. */
void calls_tick(struct calls_session *s);

/* ---- The words alone */

/* Parses what counting takes of the trace language: ERR_USAGE with *offset where it does not. */
int calls_patterns_parse(struct pattern ***out, size_t *n, const char *text, enum syntax syntax,
                         size_t *offset, struct error *err);
/* `app:NAME`: all modules of an application. */
bool calls_pattern_is_application(const struct pattern *p);

#endif
