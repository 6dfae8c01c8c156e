/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions in flight: a small table, one timer for the nearest deadline. */
#include "beamtop/query/query.h"

#include <assert.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/link/conn.h"
#include "beamtop/etf/cursor.h"
#include "expr.h"
#include "header.h"
#include "query/native/internal.h"
#include "keeper.h"
#include "listeners.h"
#include "query/native/native.h"
#include "query/native/price.h"
#include "query/scan/scan.h"
#include "ways.h"

/* What the program waits beyond the target's own deadline before it gives an answer up. */
#define GRACE_MS 1000

/* For a node in interactive mode, whose code server may hang. */
#define LOAD_MS 500

struct call {
    bool used;
    enum question question;
    int64_t id;
    uint64_t asked_ms, due_ms;
    bool of_keeper; /* asked of it, else natively */
    bool no_keeper; /* it could not be started for it */
    answer_fn *fn;  /* NULL: not wanted any more */
    void *fn_arg;
};

struct query {
    uv_loop_t *loop;
    uv_timer_t *timer; /* owned by the loop once closing */
    struct conn *conn;
    struct query_handlers handlers;
    void *arg;
    bool ready;
    bool failed;
    uint64_t answered_ms; /* the last answer, or the start */
    unsigned open_ms;     /* the deadline of the opening, and of a start of the keeper */
    struct native *native;
    struct header *header;
    struct ways *ways;
    struct builder *args[QUESTIONS]; /* of those that are asked natively, and may be passed on */
    question_mask of_keeper;         /* those that it was asked */
    struct keeper *keeper;
    struct error no_keeper; /* why it was not started */
    struct price price;
    unsigned headers; /* answered */
    int64_t next_id;
    struct call calls[LIMIT_CALLS_IN_FLIGHT];
    struct listeners listeners;
};

/* ---- which way a question goes */

static int ask_keeper(struct query *q, struct call *call, const struct builder *arg_term,
                      unsigned deadline_ms, struct error *err)
{
    call->of_keeper = true;
    q->of_keeper |= QUESTION_BIT(call->question);
    return keeper_ask(q->keeper, call->id, call->question, arg_term, deadline_ms, err);
}

static const uint8_t *keep_arg(struct builder **arg, const struct builder *arg_term, size_t *len)
{
    builder_free(*arg);
    *arg = builder_new();
    build_term(*arg, arg_term);
    return builder_bytes(*arg, len);
}

/* Natively where that can be: then the keeper's process for it has nothing to keep. */
static int ask_either(struct query *q, struct call *call, const struct builder *arg_term,
                      unsigned deadline_ms, struct error *err)
{
    size_t len = 0;
    const enum question question = call->question;
    const struct native_way *way = ways_find(q->ways, question);
    const uint8_t *arg = way ? keep_arg(&q->args[question], arg_term, &len) : NULL;
    if (!way || (way->takes && !way->takes(way->own, arg, len)))
        return ask_keeper(q, call, arg_term, deadline_ms, err);
    if (question_rows[question].holder && (q->of_keeper & QUESTION_BIT(question)))
        (void)keeper_end(q->keeper, question, err);
    q->of_keeper &= ~QUESTION_BIT(question);
    return way->ask(way->own, deadline_ms, err);
}

int64_t query_processes(const struct query *q)
{
    return header_processes(q->header);
}

bool query_is_large(const struct query *q)
{
    return query_processes(q) > SCAN_SMALL_MOST;
}

/* ---- deadlines */

static void on_deadline(uv_timer_t *timer);

void query_arm(struct query *q)
{
    uint64_t due = q->failed ? UINT64_MAX : keeper_due_ms(q->keeper);
    if (native_due_ms(q->native) < due)
        due = native_due_ms(q->native);
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (q->calls[i].used && q->calls[i].due_ms < due)
            due = q->calls[i].due_ms;
    if (due == UINT64_MAX) {
        uv_timer_stop(q->timer);
        return;
    }
    const uint64_t now = uv_now(q->loop);
    uv_timer_start(q->timer, on_deadline, due > now ? due - now : 0, 0);
}

static void fail_query(struct query *q, const struct error *err)
{
    if (q->failed)
        return;
    q->failed = true;
    query_arm(q);
    q->handlers.on_failed(q->arg, err);
}

/* Frees the place first: the callback may ask again, or close the query. */
static void finish_call(struct query *q, struct call *call, struct answer *answer)
{
    struct call done = *call;
    call->used = false;
    query_arm(q);
    answer->question = done.question;
    if (q->handlers.on_work && done.fn_arg != q->arg)
        q->handlers.on_work(q->arg, answer->target_us);
    if (done.fn)
        done.fn(done.fn_arg, answer);
}

static void end_late_call(struct query *q, struct call *call)
{
    struct answer answer = {0};
    const struct native_way *way = ways_find(q->ways, call->question);
    if (call->no_keeper)
        answer.err = q->no_keeper;
    else
        error_set(
            &answer.err, ERR_TIMEOUT,
            "the node did not answer “%s” in %.3g s: it is overloaded, or its host is not reached",
            question_name(call->question), (double)(uv_now(q->loop) - call->asked_ms) / 1000.0);
    if (way)
        way->cancel(way->own);
    finish_call(q, call, &answer);
}

static void on_deadline(uv_timer_t *timer)
{
    struct query *q = timer->data;
    uint64_t now = uv_now(q->loop);
    uv_timer_start(timer, on_deadline, 0, 0); /* what follows may close the query */
    if (native_expire(q->native, now))
        return;
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++) {
        struct call *call = &q->calls[i];
        if (call->used && call->due_ms <= now) {
            end_late_call(q, call);
            return; /* which may have closed the query, and has armed the timer */
        }
    }
    if (!q->failed)
        keeper_expire(q->keeper, now);
    query_arm(q);
}

/* ---- the end */

static void free_timer(uv_handle_t *timer)
{
    free(timer);
}

void query_close(struct query *q)
{
    if (!q)
        return;
    if (!q->failed)
        keeper_stop(q->keeper);
    uv_timer_stop(q->timer);
    uv_close((uv_handle_t *)q->timer, free_timer);
    ways_free(q->ways);
    for (size_t i = 0; i < QUESTIONS; i++)
        builder_free(q->args[i]);
    keeper_free(q->keeper);
    native_free(q->native);
    free(q);
}

/* ---- asking */

static struct call *free_call(struct query *q)
{
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (!q->calls[i].used)
            return &q->calls[i];
    return NULL;
}

/* Of one that is asked natively, at most one is open; NULL: none. */
static struct call *call_of(struct query *q, enum question question)
{
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (q->calls[i].used && q->calls[i].question == question)
            return &q->calls[i];
    return NULL;
}

bool query_pending(const struct query *q, enum question question)
{
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (q->calls[i].used && q->calls[i].question == question)
            return true;
    return false;
}

int query_ask(struct query *q, enum question question, const struct builder *arg_term,
              unsigned deadline_ms, answer_fn *fn, void *fn_arg, struct error *err)
{
    assert(q->ready && deadline_ms <= LIMIT_QUERY_MS);
    struct call *call = free_call(q);
    if (!call)
        return error_set(err, ERR_LIMIT, "the node has not answered %d questions yet",
                         LIMIT_CALLS_IN_FLIGHT);
    if (ways_find(q->ways, question) && query_pending(q, question))
        return error_set(err, ERR_LIMIT, "the question before is not answered yet");
    *call = (struct call){
        .question = question,
        .id = q->next_id++,
        .asked_ms = uv_now(q->loop),
        .due_ms = uv_now(q->loop) + deadline_ms + GRACE_MS,
        .fn = fn,
        .fn_arg = fn_arg,
    };
    int rc = ask_either(q, call, arg_term, deadline_ms, err);
    call->used = rc == 0;
    query_arm(q);
    return rc;
}

int query_tell(struct query *q, enum question question, const struct builder *term,
               struct error *err)
{
    assert(q->ready);
    const int rc = keeper_tell(q->keeper, question, term, err);
    query_arm(q);
    return rc;
}

int query_end(struct query *q, enum question question, struct error *err)
{
    assert(q->ready);
    return keeper_end(q->keeper, question, err);
}

void query_node(struct query *q, double schedulers, double use, bool busy)
{
    q->price.schedulers = schedulers;
    q->price.use = use;
    q->price.busy = busy;
}

void query_listen(struct query *q, uint64_t id, event_fn *fn, void *fn_arg)
{
    listeners_add(&q->listeners, id, fn, fn_arg);
}

void query_drop(struct query *q, const void *fn_arg)
{
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (q->calls[i].used && q->calls[i].fn_arg == fn_arg)
            q->calls[i].fn = NULL;
    listeners_drop(&q->listeners, fn_arg);
}

const struct etf_pid *query_keeper(const struct query *q)
{
    return keeper_pid(q->keeper);
}

uint32_t query_creation(const struct query *q)
{
    return native_creation(q->native);
}

bool query_is_own(const struct query *q, const struct etf_pid *pid)
{
    return native_is_own(q->native, pid);
}

/* ---- native answers */

/* Since it was asked, or since the answer before: that covers what was done in between. */
static uint64_t took_ms(struct query *q, const struct call *call)
{
    uint64_t now = uv_now(q->loop);
    uint64_t since = call->asked_ms < q->answered_ms ? call->asked_ms : q->answered_ms;
    q->answered_ms = now;
    return now - since;
}

bool query_adopt(struct query *q, const struct etf_pid *pid)
{
    return keeper_adopt(q->keeper, pid);
}

static int ask_price(struct query *q, native_fn *fn, struct error *err)
{
    struct native_call call;
    price_call_init(&call);
    int rc = native_ask(q->native, NATIVE_START, &call, uv_now(q->loop), q->open_ms, fn, q, err);
    native_call_clear(&call);
    return rc;
}

static void on_lower_price(void *arg, const struct native_answer *answer)
{
    struct query *q = arg;
    if (answer->end == NATIVE_RETURNED)
        price_lower(&q->price, answer->value);
}

/* With the second header, the fourth, the eighth …: a host is not busy for ever. */
static void lower_price(struct query *q)
{
    struct error ignored = {0};
    const unsigned n = ++q->headers;
    if (n > 1 && (n & (n - 1)) == 0 && !native_is_out(q->native, NATIVE_START))
        (void)ask_price(q, on_lower_price, &ignored);
}

void query_reply(struct query *q, enum question question, const struct builder *value,
                 double target_us, const struct error *err)
{
    struct answer answer = {.err = *err};
    if (value) {
        answer.value = builder_bytes(value, &answer.len) + 1; /* without its version byte */
        answer.len--;
    }
    struct call *call = call_of(q, question);
    if (!call)
        return; /* its deadline has passed */
    answer.target_us = price_bound(&q->price, target_us, (double)took_ms(q, call));
    if (question == QUESTION_SYSTEM)
        lower_price(q);
    finish_call(q, call, &answer); /* the callback may close the query */
}

void query_pass(struct query *q, enum question question)
{
    const uint64_t now = uv_now(q->loop);
    struct error err = {0};
    struct call *call = call_of(q, question);
    if (!call)
        return;
    const uint64_t left_ms = call->due_ms > now + GRACE_MS ? call->due_ms - now - GRACE_MS : 1;
    const int rc = ask_keeper(q, call, q->args[question], (unsigned)left_ms, &err);
    query_arm(q);
    if (rc != 0)
        query_reply(q, question, NULL, 0, &err);
}

static void query_spawned(struct conn *conn, void *arg, uint64_t id, const struct etf_pid *pid,
                          struct slice error)
{
    struct query *q = arg;
    (void)conn;
    native_spawned(q->native, id, pid, error);
}

/* ---- answers */

static struct call *find_call(struct query *q, int64_t id)
{
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (q->calls[i].used && q->calls[i].id == id)
            return &q->calls[i];
    return NULL;
}

static void end_call(struct query *q, struct cursor *c)
{
    int64_t id = 0;
    struct slice status = {0}, value = {0};
    struct answer answer = {0};
    struct work_report work;
    bool ok = cursor_atom_is(c, "a") && cursor_int64(c, &id) && cursor_atom(c, &status) &&
              price_read(c, &work) && cursor_raw(c, &value);
    struct call *call = ok ? find_call(q, id) : NULL;
    if (!call)
        return; /* late: its deadline has passed here */
    answer.target_us = price_bound(&q->price, price_of(&q->price, call->question, &work),
                                   (double)took_ms(q, call));
    if (slice_is(status, "ok")) {
        answer.value = (const uint8_t *)value.s;
        answer.len = value.len;
    } else {
        keeper_explain(&answer.err, call->question, status, value);
    }
    finish_call(q, call, &answer);
}

/* {p, Question, Done, All} */
static void take_progress(const struct query *q, struct cursor c)
{
    struct slice name = {0};
    int64_t done = 0, all = 0;
    if (!q->handlers.on_progress || !cursor_atom_is(&c, "p") || !cursor_atom(&c, &name) ||
        !cursor_int64(&c, &done) || !cursor_int64(&c, &all) || done < 0 || done > all || all == 0)
        return;
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (q->calls[i].used && slice_is(name, question_name(q->calls[i].question))) {
            q->handlers.on_progress(q->arg, q->calls[i].question, done, all);
            return;
        }
}

static void query_message(struct conn *conn, void *arg, const struct conn_message *m)
{
    struct query *q = arg;
    const struct listener *l;
    struct slice term = {0};
    struct cursor c;
    size_t arity = 0;
    (void)conn;
    if (q->failed || m->to_name.len > 0)
        return;
    cursor_init(&c, m->term, m->len);
    if (!cursor_tuple(&c, &arity))
        return; /* not ours: a stray message of someone who found our pid */
    if (arity == 2) {
        int64_t tag = 0;
        if (cursor_int64(&c, &tag) && tag == EXPR_TAG)
            keeper_take_start(q->keeper, &c); /* which may close the query */
    } else if (arity == 3 && cursor_peek_atom(&c, "shared")) {
        cursor_skip(&c);
        header_take_shared(q->header, &c);
    } else if (arity == 5 && q->ready) {
        end_call(q, &c);
    } else if (arity == 4 && q->ready && (l = listeners_find(&q->listeners, c))) {
        cursor_init(&c, m->term, m->len);
        if (cursor_raw(&c, &term))
            l->fn(l->arg, (const uint8_t *)term.s, term.len); /* which may close the query */
    } else if (arity == 4 && q->ready) {
        take_progress(q, c);
    }
}

static void query_link_exit(struct conn *conn, void *arg, const struct etf_pid *from,
                            struct slice reason)
{
    struct query *q = arg;
    (void)conn;
    if (native_exited(q->native, from, reason))
        return;
    const struct etf_pid *keeper = keeper_pid(q->keeper);
    if (q->failed || !keeper || from->id != keeper->id || from->serial != keeper->serial)
        return;
    struct error err = {0};
    error_set(&err, ERR_LOST, "another process ended the helper process of beamtop on the node");
    fail_query(q, &err);
}

/* ---- the opening */

/* Those that wait for it end one by one, by the timer: the callback of each may close the query. */
static void on_keeper(void *arg, const struct error *why)
{
    struct query *q = arg;
    if (!why) {
        header_adopt(q->header);
        query_arm(q);
        if (q->handlers.on_keeper)
            q->handlers.on_keeper(q->arg); /* which may close the query */
        return;
    }
    q->no_keeper = *why;
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (q->calls[i].used && q->calls[i].of_keeper) {
            q->calls[i].no_keeper = true;
            q->calls[i].due_ms = uv_now(q->loop);
        }
    query_arm(q);
}

static void become_ready(struct query *q)
{
    q->answered_ms = uv_now(q->loop);
    q->ready = true;
    q->handlers.on_ready(q->arg); /* which may close the query */
}

/* erpc is there, or its load takes long: then the header has no memory for now. */
static void on_load(void *arg, const struct native_answer *answer)
{
    (void)answer;
    become_ready(arg);
}

static void on_start(void *arg, const struct native_answer *answer)
{
    struct query *q = arg;
    struct error err = {0};
    if (answer->end == NATIVE_RETURNED && price_take(&q->price, answer->value)) {
        if (native_await_erpc(q->native, uv_now(q->loop), LOAD_MS, on_load, q))
            query_arm(q);
        else
            become_ready(q);
        return;
    }
    if (answer->end == NATIVE_LATE)
        error_set(&err, ERR_TIMEOUT,
                  "connected, but the node did not answer in %.3g s: it is overloaded. "
                  "Try --timeout %.3g. " ERROR_LOOK_OUTSIDE,
                  q->open_ms / 1000.0, 4 * q->open_ms / 1000.0, conn_peer_node(q->conn));
    else
        native_explain(answer, "start", &err);
    fail_query(q, &err);
}

int query_open(struct query **out, uv_loop_t *loop, struct conn *conn,
               const struct query_handlers *handlers, void *arg, unsigned deadline_ms,
               struct error *err)
{
    static const struct conn_handlers receivers = {
        .on_message = query_message, .on_link_exit = query_link_exit, .on_spawned = query_spawned};
    struct query *q = alloc_zero(1, sizeof *q);
    q->loop = loop;
    q->conn = conn;
    q->handlers = *handlers;
    q->arg = arg;
    q->open_ms = deadline_ms;
    q->next_id = EXPR_TAG + 1;
    q->native = native_new(conn);
    q->keeper = keeper_new(conn, loop, deadline_ms, on_keeper, q);
    const struct way_setup setup = {
        .query = q, .price = &q->price, .native = q->native, .conn = conn, .loop = loop};
    q->header = header_new(&setup);
    q->ways = ways_new(&setup, q->header);
    q->timer = alloc_zero(1, sizeof *q->timer);
    uv_timer_init(loop, q->timer);
    q->timer->data = q;
    int rc = ask_price(q, on_start, err);
    if (rc != 0) {
        query_close(q);
        return rc;
    }
    conn_receive(conn, &receivers, q);
    query_arm(q);
    *out = q;
    return 0;
}
