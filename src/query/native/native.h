/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asks that compiled code of the node answers: nothing of ours is evaluated there. For each ask the
 * node spawns a process that is linked to us, calls an exported function by erpc:execute_call/4,
 * which nodes use between each other on every OTP since 23, and ends with what that returned as its
 * reason. So an answer is the end of a link, and nothing is left when the connection is lost. Where
 * erpc is not loaded, and the code server hangs, a batch that cannot fail does without it.
 * docs/queries.md has the terms. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_NATIVE_H
#define BEAMTOP_QUERY_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/base/question.h"
#include "beamtop/base/slice.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/term.h"

struct conn;
struct native;

/* What is asked: a function and its arguments, the terms of it made once. */
struct native_call {
    struct builder *args; /* of erpc:execute_call/4 */
    struct builder *sure; /* of lists:foldl/3, which ends with the same value; NULL: it may fail */
    const char *priority; /* of conn_spawn */
    uint64_t max_heap_words;
    /* It waits for schedulers or for a disk: after its deadline it is left to end by itself, since
       the next one would wait beside it. fn is called again then. */
    bool patient;
};

/* A call of a batch. `args`: its list of arguments as text ("[process_count]"); NULL: as a term. */
struct native_step {
    const char *module, *function, *args;
    const struct builder *term;
};

/* A step, as an initializer: what is between two of them takes so long. */
#define NATIVE_CLOCK                                                                               \
    {                                                                                              \
        "erlang", "monotonic_time", "[nanosecond]", NULL                                           \
    }

/* `args`: a list, with version byte. Freed by native_call_clear(). */
void native_call_init(struct native_call *call, const char *module, const char *function,
                      const struct builder *args);
/* All steps in one ask: the value is the list of theirs, in order. One that fails fails the ask,
 * and nothing is known of the others. `sure`: none can fail. */
void native_batch_init(struct native_call *call, const struct native_step *steps, size_t n,
                       bool sure);
void native_call_clear(struct native_call *call);

enum native_end {
    NATIVE_RETURNED,
    NATIVE_RAISED,  /* throw, exit or error; value: what was thrown, or the reason */
    NATIVE_KILLED,  /* above the heap limit, or by somebody on the node; no value */
    NATIVE_REFUSED, /* the node did not spawn; value: an atom */
    NATIVE_ENDED,   /* by a reason of another form, which is the value */
    NATIVE_LATE,    /* the deadline has passed; no value */
};

struct native_answer {
    enum native_end end;
    struct slice value; /* a bare term, checked; borrowed for the callback */
};

/* Why the question has no answer, where it ended otherwise than it should. */
void native_explain(const struct native_answer *answer, const char *question, struct error *err);

typedef void native_fn(void *arg, const struct native_answer *answer);

/* Places of asks, each for one at a time: the header's and those of `node` have several. */
enum {
    NATIVE_HEADER,
    NATIVE_FLAG = 3, /* of a process that stays */
    NATIVE_NODE,
    NATIVE_START = 7,
    NATIVE_LIST,
    NATIVE_SWEEP,
    NATIVE_INFO,
    NATIVE_SPARED,
    NATIVE_WALKS,
    NATIVE_OWN,
    NATIVE_WHO,
    NATIVE_PROCESS = NATIVE_WHO + 2,
    NATIVE_PROCESS_WHO,
    NATIVE_PROCESS_KIN = NATIVE_PROCESS_WHO + 2,
    NATIVE_LEADERS = NATIVE_PROCESS_KIN + 2, /* and each of these the one behind it */
    NATIVE_LEADERS_WHO = NATIVE_LEADERS + 2,
    NATIVE_GROWTH = NATIVE_LEADERS_WHO + 2,
    NATIVE_GROWTH_WHO = NATIVE_GROWTH + 2,
    NATIVE_QUESTION = NATIVE_GROWTH_WHO + 2, /* four of each question */
    NATIVE_PLACES = NATIVE_QUESTION + 4 * QUESTIONS
};

/* Asks for what loads erpc, where it is not loaded yet. */
struct native *native_new(struct conn *conn);
/* It is loaded. Before, what is not sure waits for the code server. */
bool native_has_erpc(const struct native *n);
/* Calls fn, in the place NATIVE_START, once it is, or deadline_ms later. false: it is there. */
bool native_await_erpc(struct native *n, uint64_t now_ms, unsigned deadline_ms, native_fn *fn,
                       void *arg);
void native_free(struct native *n); /* fn of open asks is not called */

/*
 * Asks, in a place that native_is_out() says is free. fn is called once (but see `patient`), from
 * the loop, never from within native_ask(). deadline_ms 0: none. After a deadline the process is
 * ended there, and the place is taken until it has ended, 5 s at most. Errors as of conn_spawn().
 */
int native_ask(struct native *n, unsigned place, const struct native_call *call, uint64_t now_ms,
               unsigned deadline_ms, native_fn *fn, void *arg, struct error *err);
/* The deadline of an ask whose question ends at due_ms. */
static inline unsigned native_left_ms(uint64_t due_ms, uint64_t now_ms)
{
    return due_ms > now_ms ? (unsigned)(due_ms - now_ms) : 1;
}
bool native_is_out(const struct native *n, unsigned place);
/* Gives one that is out a deadline. */
void native_set_deadline(struct native *n, unsigned place, uint64_t due_ms);
/* Its process, once the node has said it; NULL: none. */
const struct etf_pid *native_pid(const struct native *n, unsigned place);

/* The creation of the node's pids, once it has spawned one; else 0. */
uint32_t native_creation(const struct native *n);

/* Processes of asks that the node has spawned so far; it wraps. */
unsigned native_asked(const struct native *n);
/* Of an ask that is out, or one of the last of all. */
bool native_is_own(const struct native *n, const struct etf_pid *pid);

/* When native_expire() is due next; UINT64_MAX: never. */
uint64_t native_due_ms(const struct native *n);
/* Calls fn of at most one ask whose deadline has passed; true if so. It may free n. */
bool native_expire(struct native *n, uint64_t now_ms);

/* What conn said. native_exited() is true where the process was of an ask. Both may free n. */
void native_spawned(struct native *n, uint64_t id, const struct etf_pid *pid, struct slice error);
bool native_exited(struct native *n, const struct etf_pid *from, struct slice reason);

#endif
