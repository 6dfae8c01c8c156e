/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the target says of a trace (docs/tracing.md), as plain structs. Everything is borrowed from
 * the bytes that were decoded. Bytes that are something else are ERR_FORMAT. */
#ifndef BEAMTOP_TRACE_LOG_DECODE_H
#define BEAMTOP_TRACE_LOG_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/trace/log.h"

/* ---- Reads that messages and answers share */

/* A list of terms, no longer than `most`. */
bool answer_list(struct cursor *c, struct cursor_list *list, size_t most);
bool answer_copy(struct slice from, char *out, size_t size); /* a text, maybe cut; true */
bool trace_read_mfa(struct cursor *c, struct mfa *out);      /* {M, F, Arity} */

/* ---- Pushed messages */

struct status_pattern {
    unsigned index;
    uint64_t seen, sent, filtered, cut, over, lost, open;
};

struct trace_status {
    int64_t mono; /* in the target's native unit */
    char shut[16];
    uint64_t window, rate, bytes, heap, mailbox;
    struct status_pattern patterns[LIMIT_TRACE_PATTERNS];
    size_t n_patterns;
};

enum push_kind { PUSH_BATCH, PUSH_STATUS, PUSH_COUNTS, PUSH_SETTLED, PUSH_ENDED };

struct push {
    enum push_kind kind;
    uint64_t trace_id, seq;
    struct cursor at; /* events of a batch, lists of counts */
    size_t n_events;
    int64_t mono; /* of counts */
    enum trace_end end;
    char end_text[120];         /* of END_KILLED */
    struct trace_status status; /* all kinds but counts */
};

/* Checks the whole message but its events, so that what is then read of it holds. */
int decode_push(struct push *out, const uint8_t *term, size_t len, struct error *err);
/* The next of n_events; call no more often. False: it cannot be read, and the one after it can. */
bool decode_event(struct push *p, struct pushed_event *out);

/* A number of the nth function of a pattern. COUNT_GONE: its counter went with its module. */
#define COUNT_GONE UINT64_MAX
typedef void counts_fn(void *arg, unsigned index, size_t nth, bool is_time, uint64_t n);
void decode_counts(struct push *p, counts_fn *fn, void *arg);

/* ---- Answers */

struct preflight_pattern {
    uint64_t total;
    size_t first, n;   /* of the functions */
    struct slice mfas; /* the list as it came */
    char why[24];      /* "ok", "arities" … */
    char arities[64];  /* "1, 2, 3" */
};

struct preflight_function {
    struct mfa mfa;
    struct slice raw;
};

enum preflight_procs { PREFLIGHT_WHOLE, PREFLIGHT_PIDS, PREFLIGHT_NONE };

/* Why spans --context is refused. */
#define NO_DICTIONARY_KEYS "--context reads dictionaries by key: the node needs OTP 26.2 or later"
#define PREFLIGHT_NEAR 3

struct preflight {
    struct preflight_pattern patterns[LIMIT_TRACE_PATTERNS];
    size_t n_patterns;
    struct preflight_function *functions; /* owned: preflight_clear */
    size_t n_functions;
    enum preflight_procs procs;
    struct slice procs_raw; /* `all` and such, or the list of pids */
    uint64_t n_procs;
    char procs_why[400];
    uint64_t breakpoints, flags; /* of others, in the single space */
    uint64_t control_word;
    bool beamtop;                      /* another one's session is there */
    char others[240];                  /* in words; empty: none */
    struct slice unknown;              /* the first name that is not an atom there; .s NULL: none */
    struct slice near[PREFLIGHT_NEAR]; /* atoms like it */
    size_t n_near;
};

int decode_preflight(struct preflight *out, size_t n_patterns, const uint8_t *term, size_t len,
                     struct error *err);
void preflight_clear(struct preflight *p);
/* Whether what others have there keeps a trace from being armed: ERR_REFUSED says why. shared: the
   node has one space for all tracing (session_port_is_shared()). */
bool preflight_refuses(const struct preflight *p, bool shared, struct error *err);

/* What is armed in the single space and in sessions of ours, and in sequential tracing. */
struct armed {
    uint64_t control_word;
    uint64_t breakpoints, flags, sessions, processes;
    bool system_tracer;  /* one that a beamtop has set */
    bool system_monitor; /* the same */
    uint64_t tokens;     /* processes that have one, of anyone */
};
int armed_decode(struct armed *out, const uint8_t *term, size_t len, struct error *err);

/* calls is the sum. Of {refused, Why}: refused has the reason, else it is empty. */
struct counted {
    uint64_t interval_ns, calls;
    char refused[400];
    enum err code; /* of a refusal */
};
int decode_counted(struct counted *out, const uint8_t *term, size_t len, struct error *err);

struct armed_answer {
    int64_t mono;
    int64_t wall_us;
    uint64_t per_second; /* never 0 */
    bool isolated;
    double arm_us; /* of spans; else 0 */
    char refused[400];
    enum err code; /* of a refusal */
};
int decode_arm(struct armed_answer *out, uint64_t trace_id, const uint8_t *term, size_t len,
               struct error *err);

/* Why a trace, a capture or a window is refused, by a word. A table ends with NULL. */
struct refusal {
    const char *word, *text;
};
/* {refused, Why}, whose tuple is entered: the reason into `out`, which is empty before. `own`:
   words that mean something else to the caller, or NULL. */
bool decode_refusal(struct cursor *c, const struct refusal *own, char *out, size_t size,
                    enum err *code);

typedef void names_fn(void *arg, const struct etf_pid *pid, struct slice name);
int decode_names(names_fn *fn, void *arg, const uint8_t *term, size_t len, struct error *err);

#endif
