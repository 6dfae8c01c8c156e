/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "native.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/etf/print.h"
#include "beamtop/link/conn.h"
#include "args.h"

/* 8 MiB on 64 bits: an answer is small, and what is sent travels as its own copy. */
#define HEAP_WORDS (UINT64_C(1) << 20)

/* What erpc:execute_call/4 says again in its answer. */
#define ERPC_TAG 0

enum place_state {
    PLACE_FREE,
    PLACE_ASKED,   /* no answer to the spawn yet */
    PLACE_RUNNING, /* … and its pid is known */
};

struct place {
    enum place_state state;
    uint64_t id;
    struct etf_pid pid;
    bool sure;       /* asked without erpc */
    uint64_t due_ms; /* UINT64_MAX: none, or passed */
    bool patient;
    native_fn *fn; /* NULL: nobody waits for its end */
    void *arg;
};

/* One that was ended at its deadline is known to have ended by then. */
#define ENDS_MS 5000

/* Of some four a second, those of a trace whose events are seconds late. */
#define RECENT 256

struct native {
    struct conn *conn;
    struct etf_pid recent[RECENT];
    unsigned next_recent;
    uint64_t next_id;
    bool has_erpc;
    struct place places[NATIVE_PLACES + 1]; /* the last: of what loads erpc */
};
#define PLACE_ERPC NATIVE_PLACES
#define PLACES_ALL (NATIVE_PLACES + 1)

/* ---- calls */

void native_call_init(struct native_call *call, const char *module, const char *function,
                      const struct builder *args)
{
    struct builder *b = builder_new();
    build_list(b, 4);
    build_int(b, ERPC_TAG);
    build_atom(b, module);
    build_atom(b, function);
    build_term(b, args);
    build_nil(b);
    *call = (struct native_call){.args = b, .priority = "normal", .max_heap_words = HEAP_WORDS};
}

/* fun erlang:apply/3, Modules, Functions, Arguments: what lists:zipwith3/4 takes, as a list. */
static void build_steps(struct builder *b, const struct native_step *steps, size_t n)
{
    build_list(b, 4);
    build_export(b, "erlang", "apply", 3);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_atom(b, steps[i].module);
    build_nil(b);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_atom(b, steps[i].function);
    build_nil(b);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        if (steps[i].args)
            args_build_text(b, steps[i].args);
        else
            build_term(b, steps[i].term);
    build_nil(b);
    build_nil(b);
}

static void build_one(struct builder *b, const char *atom)
{
    build_list(b, 1);
    build_atom(b, atom);
    build_nil(b);
}

/* lists:foldl(fun erlang:apply/2, A, [fun lists:zipwith3/4, fun erlang:exit/1]): applies one to A,
 * and the other to what that returned. A makes a list of one of it: the value of the batch. */
static struct builder *make_sure(const struct native_step *steps, size_t n)
{
    struct builder *b = builder_new();
    build_list(b, 3);
    build_export(b, "erlang", "apply", 2);
    build_list(b, 4);
    build_export(b, "erlang", "apply", 3);
    build_one(b, "lists");
    build_one(b, "zipwith3");
    build_list(b, 1);
    build_steps(b, steps, n);
    build_nil(b);
    build_nil(b);
    build_list(b, 2);
    build_export(b, "lists", "zipwith3", 4);
    build_export(b, "erlang", "exit", 1);
    build_nil(b);
    build_nil(b);
    return b;
}

void native_batch_init(struct native_call *call, const struct native_step *steps, size_t n,
                       bool sure)
{
    struct builder *b = builder_new();
    build_steps(b, steps, n);
    native_call_init(call, "lists", "zipwith3", b);
    builder_free(b);
    if (sure)
        call->sure = make_sure(steps, n);
}

void native_call_clear(struct native_call *call)
{
    builder_free(call->args);
    builder_free(call->sure);
    *call = (struct native_call){0};
}

/* ---- asking */

static void load_erpc(struct native *n);

int native_ask(struct native *n, unsigned place, const struct native_call *call, uint64_t now_ms,
               unsigned deadline_ms, native_fn *fn, void *arg, struct error *err)
{
    struct place *p = &n->places[place];
    if (!n->has_erpc && place != PLACE_ERPC && n->places[PLACE_ERPC].state == PLACE_FREE)
        load_erpc(n); /* it was refused, or killed */
    const bool sure = !n->has_erpc && call->sure;
    struct conn_spawn spawn = {.id = n->next_id,
                               .module = sure ? "lists" : "erpc",
                               .function = sure ? "foldl" : "execute_call",
                               .arity = sure ? 3 : 4,
                               .priority = call->priority,
                               .max_heap_words = call->max_heap_words};
    assert(place < PLACES_ALL && p->state == PLACE_FREE);
    spawn.args = builder_bytes(sure ? call->sure : call->args, &spawn.len);
    int rc = conn_spawn(n->conn, &spawn, err);
    if (rc != 0)
        return rc;
    *p = (struct place){.state = PLACE_ASKED,
                        .id = n->next_id++,
                        .sure = sure,
                        .due_ms = deadline_ms > 0 ? now_ms + deadline_ms : UINT64_MAX,
                        .patient = call->patient,
                        .fn = fn,
                        .arg = arg};
    return 0;
}

static void on_erpc(void *arg, const struct native_answer *answer)
{
    struct native *n = arg;
    n->has_erpc = answer->end == NATIVE_RETURNED;
}

/* A call that needs it. */
static int ask_by_erpc(struct native *n, unsigned place, uint64_t now_ms, unsigned deadline_ms,
                       native_fn *fn, void *arg)
{
    static const struct native_step steps[] = {{"erlang", "node", "[]", NULL}};
    struct error ignored = {0}; /* of a lost connection */
    struct native_call call;
    native_batch_init(&call, steps, 1, false);
    const int rc = native_ask(n, place, &call, now_ms, deadline_ms, fn, arg, &ignored);
    native_call_clear(&call);
    return rc;
}

static void load_erpc(struct native *n)
{
    (void)ask_by_erpc(n, PLACE_ERPC, 0, 0, on_erpc, n);
}

bool native_await_erpc(struct native *n, uint64_t now_ms, unsigned deadline_ms, native_fn *fn,
                       void *arg)
{
    return !n->has_erpc && ask_by_erpc(n, NATIVE_START, now_ms, deadline_ms, fn, arg) == 0;
}

struct native *native_new(struct conn *conn)
{
    struct native *n = alloc_zero(1, sizeof *n);
    n->conn = conn;
    load_erpc(n);
    return n;
}

bool native_has_erpc(const struct native *n)
{
    return n->has_erpc;
}

void native_free(struct native *n)
{
    free(n);
}

bool native_is_out(const struct native *n, unsigned place)
{
    return n->places[place].state != PLACE_FREE;
}

void native_set_deadline(struct native *n, unsigned place, uint64_t due_ms)
{
    n->places[place].due_ms = due_ms;
}

const struct etf_pid *native_pid(const struct native *n, unsigned place)
{
    return n->places[place].state == PLACE_RUNNING ? &n->places[place].pid : NULL;
}

uint32_t native_creation(const struct native *n)
{
    return n->next_recent > 0 ? n->recent[(n->next_recent - 1) % RECENT].creation : 0;
}

unsigned native_asked(const struct native *n)
{
    return n->next_recent;
}

bool native_is_own(const struct native *n, const struct etf_pid *pid)
{
    for (unsigned i = 0; i < RECENT && i < n->next_recent; i++)
        if (pid_same(&n->recent[i], pid))
            return true;
    for (unsigned i = 0; i < PLACES_ALL; i++)
        if (n->places[i].state == PLACE_RUNNING && pid_same(&n->places[i].pid, pid))
            return true;
    return false;
}

/* ---- deadlines */

uint64_t native_due_ms(const struct native *n)
{
    uint64_t due = UINT64_MAX;
    for (unsigned i = 0; i < PLACES_ALL; i++)
        if (n->places[i].state != PLACE_FREE && n->places[i].due_ms < due)
            due = n->places[i].due_ms;
    return due;
}

/* Where its pid is not known yet, the answer to the spawn brings it. */
static void end_late(struct native *n, const struct place *p)
{
    struct error ignored = {0}; /* of a lost connection: then it ends by itself */
    if (p->state == PLACE_RUNNING)
        (void)conn_kill(n->conn, &p->pid, &ignored);
}

bool native_expire(struct native *n, uint64_t now_ms)
{
    for (unsigned i = 0; i < PLACES_ALL; i++) {
        struct place *p = &n->places[i];
        native_fn *fn = p->fn;
        if (p->state == PLACE_FREE || p->due_ms > now_ms)
            continue;
        if (!fn) {
            *p = (struct place){0}; /* its end did not come: the frame was too large */
            continue;
        }
        p->due_ms = UINT64_MAX;
        if (!p->patient) {
            p->fn = NULL;
            p->due_ms = now_ms + ENDS_MS;
            end_late(n, p);
        }
        fn(p->arg, &(struct native_answer){.end = NATIVE_LATE});
        return true;
    }
    return false;
}

/* ---- answers */

void native_explain(const struct native_answer *answer, const char *question, struct error *err)
{
    static const struct print_limits limits = {.depth = 4, .items = 10, .bytes = 200, .cuts = true};
    static const char *const ends[] = {
        [NATIVE_RETURNED] = "its answer is of another form",
        [NATIVE_RAISED] = "it raised",
        [NATIVE_KILLED] = "its process was killed",
        [NATIVE_REFUSED] = "no process was spawned for it:",
        [NATIVE_ENDED] = "its process ended:",
        [NATIVE_LATE] = "its answer is late",
    };
    struct buf text;
    buf_init(&text, 0);
    if (answer->end != NATIVE_RETURNED && answer->value.len > 0)
        print_term(&text, (const uint8_t *)answer->value.s, answer->value.len, &limits);
    error_set(err, ERR_TARGET, "“%s” failed on the node: %s %s", question, ends[answer->end],
              buf_cstr(&text));
    buf_clear(&text);
}

/* Frees the place first: fn may ask again, or free everything. */
static void answer_place(struct place *p, enum native_end end, struct slice value)
{
    const struct place done = *p;
    *p = (struct place){0};
    if (done.fn)
        done.fn(done.arg, &(struct native_answer){.end = end, .value = value});
}

void native_spawned(struct native *n, uint64_t id, const struct etf_pid *pid, struct slice error)
{
    for (unsigned i = 0; i < PLACES_ALL; i++) {
        struct place *p = &n->places[i];
        if (p->state != PLACE_ASKED || p->id != id)
            continue;
        if (!pid) {
            answer_place(p, NATIVE_REFUSED, error);
            return;
        }
        p->state = PLACE_RUNNING;
        p->pid = n->recent[n->next_recent++ % RECENT] = *pid;
        if (!p->fn)
            end_late(n, p);
        return;
    }
}

/* Of an ask without erpc: the list of values. */
static enum native_end read_sure(struct slice reason, struct slice *value)
{
    struct cursor c;
    struct cursor_list list;
    *value = reason;
    cursor_init(&c, (const uint8_t *)reason.s, reason.len);
    return cursor_kind(&c) == ETF_KIND_LIST && cursor_list(&c, &list) ? NATIVE_RETURNED
                                                                      : NATIVE_ENDED;
}

/* {ERPC_TAG, return, Value}, {ERPC_TAG, throw | exit | error, Reason}, the last with a stack where
   the function was called; else it ended otherwise. */
static enum native_end read_reason(struct slice reason, struct slice *value)
{
    struct cursor c;
    struct slice class = {0};
    size_t arity = 0;
    int64_t tag = -1;
    *value = reason;
    cursor_init(&c, (const uint8_t *)reason.s, reason.len);
    if (cursor_peek_atom(&c, "killed")) {
        *value = (struct slice){0};
        return NATIVE_KILLED;
    }
    if (!cursor_tuple(&c, &arity) || arity < 3 || arity > 4 || !cursor_int64(&c, &tag) ||
        tag != ERPC_TAG || !cursor_atom(&c, &class) || !cursor_raw(&c, value)) {
        *value = reason;
        return NATIVE_ENDED;
    }
    return slice_is(class, "return") ? NATIVE_RETURNED : NATIVE_RAISED;
}

bool native_exited(struct native *n, const struct etf_pid *from, struct slice reason)
{
    for (unsigned i = 0; i < PLACES_ALL; i++) {
        struct place *p = &n->places[i];
        if (p->state != PLACE_RUNNING || !pid_same(&p->pid, from))
            continue;
        struct slice value;
        const enum native_end end =
            p->sure ? read_sure(reason, &value) : read_reason(reason, &value);
        answer_place(p, end, value);
        return true;
    }
    return false;
}
