/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions in flight: a small table, one timer for the nearest deadline. */
#include "beamtop/query/query.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/link/conn.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/etf/print.h"
#include "header.h"
#include "internal.h"
#include "native.h"
#include "price.h"
#include "scan.h"
#include "who.h"

/* What the program waits beyond the target's own deadline before it gives an answer up. */
#define GRACE_MS 1000

/* The time that `rex` has before net_kernel is asked too. */
#define SPAWN_AFTER_MS 2000u

/* The keeper.erl that this program was built with. */
#define KEEPER_VERSION 2

struct call {
    bool used;
    enum question question;
    int64_t id;
    uint64_t asked_ms, due_ms;
    answer_fn *fn; /* NULL: not wanted any more */
    void *fn_arg;
};

struct listener {
    uint64_t id;
    event_fn *fn; /* NULL: free */
    void *arg;
};

struct query {
    uv_loop_t *loop;
    uv_timer_t *timer; /* owned by the loop once closing */
    struct conn *conn;
    struct query_handlers handlers;
    void *arg;
    bool ready;
    bool failed;
    uint64_t open_due_ms, spawn_due_ms; /* spawn: net_kernel is asked, too; 0: it was */
    unsigned open_ms;                   /* from query_open() */
    uint64_t answered_ms;               /* the last answer, or the start */
    struct etf_pid keeper;
    struct native *native;
    struct header *header;
    struct who *who;
    struct scan *scan;
    bool scan_is_held;   /* the keeper has a process for it */
    struct buf scan_arg; /* of the one that is asked natively */
    struct price price;
    int64_t next_id;
    bool loaded[QUESTIONS];
    struct call calls[LIMIT_CALLS_IN_FLIGHT];
    struct listener listeners[LIMIT_CALLS_IN_FLIGHT];
};

/* ---- deadlines */

static void on_deadline(uv_timer_t *timer);

static void arm_timer(struct query *q)
{
    uint64_t due = q->ready || q->failed  ? UINT64_MAX
                   : q->spawn_due_ms != 0 ? q->spawn_due_ms
                                          : q->open_due_ms;
    if (native_due_ms(q->native) < due)
        due = native_due_ms(q->native);
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (q->calls[i].used && q->calls[i].due_ms < due)
            due = q->calls[i].due_ms;
    if (due == UINT64_MAX) {
        uv_timer_stop(q->timer);
        return;
    }
    uint64_t now = uv_now(q->loop);
    uv_timer_start(q->timer, on_deadline, due > now ? due - now : 0, 0);
}

void query_arm(struct query *q)
{
    arm_timer(q);
}

static void fail_query(struct query *q, const struct error *err)
{
    if (q->failed)
        return;
    q->failed = true;
    arm_timer(q);
    q->handlers.on_failed(q->arg, err);
}

/* Frees the place first: the callback may ask again, or close the query. */
static void finish_call(struct query *q, struct call *call, struct answer *answer)
{
    struct call done = *call;
    call->used = false;
    arm_timer(q);
    answer->question = done.question;
    if (q->handlers.on_work && done.fn_arg != q->arg)
        q->handlers.on_work(q->arg, answer->target_us);
    if (done.fn)
        done.fn(done.fn_arg, answer);
}

/* `rex` did not answer so far: it hangs, is suspended, or is only slow. */
static void start_by_spawn(struct query *q)
{
    struct error ignored = {0}; /* then the start fails at its deadline */
    struct builder *b = builder_new();
    q->spawn_due_ms = 0;
    if (expr_build_spawn(b, conn_own_node(q->conn), conn_self(q->conn), &ignored) == 0) {
        size_t len = 0;
        const uint8_t *bytes = builder_bytes(b, &len);
        (void)conn_send_name(q->conn, "net_kernel", bytes, len, &ignored);
    }
    builder_free(b);
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
        if (!call->used || call->due_ms > now)
            continue;
        struct answer answer = {0};
        error_set(&answer.err, ERR_TIMEOUT, "the node did not answer “%s” in time",
                  question_name(call->question));
        if (call->question == QUESTION_SYSTEM)
            header_cancel(q->header);
        if (call->question == QUESTION_SCAN)
            scan_cancel(q->scan);
        finish_call(q, call, &answer);
        return; /* the callback may have closed the query; finish_call() has armed the timer */
    }
    if (!q->ready && !q->failed && q->spawn_due_ms != 0 && q->spawn_due_ms <= now)
        start_by_spawn(q);
    if (!q->ready && !q->failed && q->open_due_ms <= now) {
        struct error err = {0};
        error_set(&err, ERR_TIMEOUT,
                  "connected, but the node did not answer in %.3g s: it is overloaded, or its code "
                  "server hangs. Try --timeout %.3g. " ERROR_LOOK_OUTSIDE,
                  q->open_ms / 1000.0, 4 * q->open_ms / 1000.0);
        fail_query(q, &err);
        return;
    }
    arm_timer(q);
}

/* ---- start and end */

static int send_to(struct query *q, const struct etf_pid *pid, const struct builder *b,
                   struct error *err)
{
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(b, &len);
    return conn_send(q->conn, pid, bytes, len, err);
}

static int send_keeper(struct query *q, const struct builder *b, struct error *err)
{
    return send_to(q, &q->keeper, b, err);
}

static void stop_keeper(struct query *q, const struct etf_pid *keeper)
{
    struct error ignored = {0}; /* it ends with the connection */
    struct builder *b = builder_new();
    build_atom(b, "stop");
    (void)send_to(q, keeper, b, &ignored);
    builder_free(b);
}

static void free_timer(uv_handle_t *timer)
{
    free(timer);
}

void query_close(struct query *q)
{
    if (!q)
        return;
    if (q->ready && !q->failed)
        stop_keeper(q, &q->keeper);
    uv_timer_stop(q->timer);
    uv_close((uv_handle_t *)q->timer, free_timer);
    header_free(q->header);
    scan_free(q->scan);
    who_free(q->who);
    buf_clear(&q->scan_arg);
    native_free(q->native);
    free(q);
}

/* ---- asking */

static int load_question(struct query *q, enum question question, struct error *err)
{
    if (q->loaded[question])
        return 0;
    const char *name = question_name(question);
    const struct embedded *source = expr_source(name);
    struct builder *b = builder_new();
    build_tuple(b, 3);
    build_atom(b, "load");
    build_atom(b, name);
    build_binary(b, source->text, source->len);
    int rc = send_keeper(q, b, err);
    builder_free(b);
    q->loaded[question] = rc == 0;
    return rc;
}

static struct call *free_call(struct query *q)
{
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (!q->calls[i].used)
            return &q->calls[i];
    return NULL;
}

static bool is_call_of(const struct call *call, enum question question)
{
    return call->used && call->question == question;
}

static void build_ask(struct builder *b, int64_t id, enum question question,
                      const struct builder *arg_term, unsigned deadline_ms)
{
    build_tuple(b, 5);
    build_atom(b, "ask");
    build_int(b, id);
    build_atom(b, question_name(question));
    if (question_rows[question].holder) {
        build_tuple(b, 3);
        build_atom(b, "in");
        build_atom(b, question_name(question));
    }
    build_term(b, arg_term);
    build_int(b, deadline_ms);
}

static int ask_keeper(struct query *q, int64_t id, enum question question,
                      const struct builder *arg_term, unsigned deadline_ms, struct error *err)
{
    int rc = load_question(q, question, err);
    if (rc != 0)
        return rc;
    struct builder *b = builder_new();
    build_ask(b, id, question, arg_term, deadline_ms);
    rc = send_keeper(q, b, err);
    builder_free(b);
    return rc;
}

static int ask_header(struct query *q, const struct builder *arg_term, struct error *err)
{
    struct cursor c;
    size_t len = 0;
    const uint8_t *arg = builder_bytes(arg_term, &len);
    cursor_init(&c, arg, len);
    if (query_pending(q, QUESTION_SYSTEM))
        return error_set(err, ERR_LIMIT, "the question before is not answered yet");
    return header_ask(q->header, cursor_peek_atom(&c, "local"), err);
}

/* Of a small node natively: then the keeper's process for it has nothing to keep. */
static int ask_scan(struct query *q, int64_t id, const struct builder *arg_term,
                    unsigned deadline_ms, struct error *err)
{
    size_t len = 0;
    const uint8_t *arg = builder_bytes(arg_term, &len);
    if (query_pending(q, QUESTION_SCAN))
        return error_set(err, ERR_LIMIT, "the question before is not answered yet");
    const bool native = scan_is_native(q->scan, arg, len, header_processes(q->header));
    if (!native) {
        q->scan_is_held = true;
        return ask_keeper(q, id, QUESTION_SCAN, arg_term, deadline_ms, err);
    }
    if (q->scan_is_held)
        (void)query_end(q, QUESTION_SCAN, err);
    q->scan_is_held = false;
    buf_reset(&q->scan_arg);
    buf_put(&q->scan_arg, arg, len);
    return scan_ask(q->scan, deadline_ms, err);
}

static int ask_by_way(struct query *q, int64_t id, enum question question,
                      const struct builder *arg_term, unsigned deadline_ms, struct error *err)
{
    if (question == QUESTION_SYSTEM)
        return ask_header(q, arg_term, err);
    if (question == QUESTION_SCAN)
        return ask_scan(q, id, arg_term, deadline_ms, err);
    return ask_keeper(q, id, question, arg_term, deadline_ms, err);
}

int query_ask(struct query *q, enum question question, const struct builder *arg_term,
              unsigned deadline_ms, answer_fn *fn, void *fn_arg, struct error *err)
{
    assert(q->ready && deadline_ms <= LIMIT_QUERY_MS);
    struct call *call = free_call(q);
    if (!call)
        return error_set(err, ERR_LIMIT, "the node has not answered %d questions yet",
                         LIMIT_CALLS_IN_FLIGHT);
    int64_t id = q->next_id++;
    int rc = ask_by_way(q, id, question, arg_term, deadline_ms, err);
    if (rc != 0)
        return rc;
    *call = (struct call){
        .used = true,
        .question = question,
        .id = id,
        .asked_ms = uv_now(q->loop),
        .due_ms = uv_now(q->loop) + deadline_ms + GRACE_MS,
        .fn = fn,
        .fn_arg = fn_arg,
    };
    arm_timer(q);
    return 0;
}

int query_tell(struct query *q, enum question question, const struct builder *term,
               struct error *err)
{
    assert(q->ready);
    struct builder *b = builder_new();
    build_tuple(b, 3);
    build_atom(b, "tell");
    build_atom(b, question_name(question));
    build_term(b, term);
    int rc = send_keeper(q, b, err);
    builder_free(b);
    return rc;
}

int query_end(struct query *q, enum question question, struct error *err)
{
    assert(q->ready);
    struct builder *b = builder_new();
    build_tuple(b, 2);
    build_atom(b, "drop");
    build_atom(b, question_name(question));
    int rc = send_keeper(q, b, err);
    builder_free(b);
    return rc;
}

void query_node(struct query *q, double schedulers, double use, bool busy)
{
    q->price.schedulers = schedulers;
    q->price.use = use;
    q->price.busy = busy;
}

void query_listen(struct query *q, uint64_t id, event_fn *fn, void *fn_arg)
{
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (!q->listeners[i].fn) {
            q->listeners[i] = (struct listener){id, fn, fn_arg};
            return;
        }
}

void query_drop(struct query *q, const void *fn_arg)
{
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++) {
        if (q->calls[i].used && q->calls[i].fn_arg == fn_arg)
            q->calls[i].fn = NULL;
        if (q->listeners[i].arg == fn_arg)
            q->listeners[i].fn = NULL;
    }
}

const struct etf_pid *query_keeper(const struct query *q)
{
    return &q->keeper;
}

bool query_is_own(const struct query *q, const struct etf_pid *pid)
{
    return native_is_own(q->native, pid);
}

bool query_pending(const struct query *q, enum question question)
{
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (is_call_of(&q->calls[i], question))
            return true;
    return false;
}

/* ---- what is asked natively */

/* Since it was asked, or since the answer before: that covers what was done in between. */
static uint64_t took_ms(struct query *q, const struct call *call)
{
    uint64_t now = uv_now(q->loop);
    uint64_t since = call->asked_ms < q->answered_ms ? call->asked_ms : q->answered_ms;
    q->answered_ms = now;
    return now - since;
}

/* The header's own process is ours: the keeper links it, so that it counts as such. */
void query_adopt(struct query *q, const struct etf_pid *pid)
{
    struct error ignored = {0};
    if (!pid)
        return;
    struct builder *b = builder_new();
    build_tuple(b, 2);
    build_atom(b, "adopt");
    build_pid(b, conn_peer_node(q->conn), pid);
    (void)send_keeper(q, b, &ignored);
    builder_free(b);
}

/* value NULL: err says why. */
static void finish_native(struct query *q, enum question question, const struct builder *value,
                          double target_us, const struct error *err)
{
    struct answer answer = {.err = *err};
    if (value) {
        answer.value = builder_bytes(value, &answer.len) + 1; /* without its version byte */
        answer.len--;
    }
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (is_call_of(&q->calls[i], question)) {
            answer.target_us = price_bound(&q->price, target_us, (double)took_ms(q, &q->calls[i]));
            finish_call(q, &q->calls[i], &answer);
            return; /* the callback may have closed the query */
        }
}

static void on_header(void *arg, const struct builder *value, double target_us,
                      const struct error *err)
{
    finish_native(arg, QUESTION_SYSTEM, value, target_us, err);
}

/* Too many processes were there when they were listed: the keeper is asked instead. */
static void ask_instead(struct query *q, struct error *err)
{
    const uint64_t now = uv_now(q->loop);
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++) {
        const struct call *call = &q->calls[i];
        if (!is_call_of(call, QUESTION_SCAN))
            continue;
        const uint64_t left_ms = call->due_ms > now + GRACE_MS ? call->due_ms - now - GRACE_MS : 1;
        struct builder *b = builder_new();
        build_raw(b, q->scan_arg.data + 1, q->scan_arg.len - 1);
        q->scan_is_held = true;
        (void)ask_keeper(q, call->id, QUESTION_SCAN, b, (unsigned)left_ms, err);
        builder_free(b);
        return;
    }
}

static void on_scan(void *arg, const struct builder *value, double target_us,
                    const struct error *err)
{
    struct query *q = arg;
    struct error why = *err;
    if (!value && why.code == ERR_NONE)
        ask_instead(q, &why);
    if (value || why.code != ERR_NONE)
        finish_native(q, QUESTION_SCAN, value, target_us, &why);
}

static void query_spawned(struct conn *conn, void *arg, uint64_t id, const struct etf_pid *pid,
                          struct slice error)
{
    struct query *q = arg;
    (void)conn;
    native_spawned(q->native, id, pid, error);
}

/* ---- answers */

static void print_raw(struct buf *out, struct slice term)
{
    const struct print_limits limits = {.depth = 8, .items = 20, .bytes = 300, .cuts = true};
    print_term(out, (const uint8_t *)term.s, term.len, &limits);
}

/* {EXPR_TAG, {keeper, Pid, Version, {PerSecond, Plain}}} or {EXPR_TAG, {badrpc, Reason}} */
static void take_start(struct query *q, struct cursor *c)
{
    struct slice value = {0};
    struct cursor copy = *c;
    cursor_raw(&copy, &value);

    int64_t version = 0;
    double per_second = 0, plain = 0;
    bool ok = cursor_tuple_of(c, 4) && cursor_atom_is(c, "keeper") &&
              cursor_pid(c, &q->keeper, NULL) && cursor_int64(c, &version) &&
              cursor_tuple_of(c, 2) && cursor_number(c, &per_second) && cursor_number(c, &plain);
    if (ok && version == KEEPER_VERSION) {
        price_init(&q->price, per_second, plain);
        q->answered_ms = uv_now(q->loop);
        q->ready = true;
        arm_timer(q);
        q->handlers.on_ready(q->arg);
        return;
    }
    struct error err = {0};
    struct buf text;
    buf_init(&text, 4096);
    print_raw(&text, value);
    error_set(&err, ERR_TARGET, "the node could not evaluate the helper process: %s",
              buf_cstr(&text));
    buf_clear(&text);
    fail_query(q, &err);
}

/* `rex` was only slow: one keeper is enough. */
static void take_second(struct query *q, struct cursor *c)
{
    struct etf_pid keeper;
    if (cursor_tuple_of(c, 4) && cursor_atom_is(c, "keeper") && cursor_pid(c, &keeper, NULL))
        stop_keeper(q, &keeper);
}

/* The rest of {a, Id, error | timeout | killed, Work, What} as an error. */
static void describe_failure(struct error *err, enum question question, struct slice status,
                             struct slice what)
{
    struct buf text;
    buf_init(&text, 4096);
    print_raw(&text, what);
    const char *name = question_name(question);
    if (slice_is(status, "timeout"))
        error_set(err, ERR_TIMEOUT, "“%s” was stopped on the node at its deadline (%s ms)", name,
                  buf_cstr(&text));
    else if (slice_is(status, "killed"))
        error_set(err, ERR_LIMIT, "“%s” was stopped on the node: %s", name, buf_cstr(&text));
    else
        error_set(err, ERR_TARGET, "“%s” failed on the node: %s", name, buf_cstr(&text));
    buf_clear(&text);
}

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
        describe_failure(&answer.err, call->question, status, value);
    }
    finish_call(q, call, &answer);
}

/* The listener for {t, Id, …; NULL: there is none. */
static const struct listener *listener_of(const struct query *q, struct cursor c)
{
    uint64_t id = 0;
    if (!cursor_atom_is(&c, "t") || !cursor_uint64(&c, &id))
        return NULL;
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        if (q->listeners[i].fn && q->listeners[i].id == id)
            return &q->listeners[i];
    return NULL;
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
    (void)conn;
    if (q->failed || m->to_name.len > 0)
        return;
    struct cursor c;
    size_t arity = 0;
    cursor_init(&c, m->term, m->len);
    if (!cursor_tuple(&c, &arity))
        return; /* not ours: a stray message of someone who found our pid */
    if (arity == 2) {
        int64_t tag = 0;
        if (cursor_int64(&c, &tag) && tag == EXPR_TAG)
            (q->ready ? take_second : take_start)(q, &c);
    } else if (arity == 3 && cursor_peek_atom(&c, "shared")) {
        cursor_skip(&c);
        header_take_shared(q->header, &c);
    } else if (arity == 5 && q->ready) {
        end_call(q, &c);
    } else if (arity == 4 && q->ready && (l = listener_of(q, c))) {
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
    (void)reason;
    if (native_exited(q->native, from, reason))
        return;
    if (q->failed || !q->ready || from->id != q->keeper.id || from->serial != q->keeper.serial)
        return;
    struct error err = {0};
    error_set(&err, ERR_LOST, "another process ended the helper process of beamtop on the node");
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
    q->open_due_ms = uv_now(loop) + deadline_ms;
    q->spawn_due_ms =
        uv_now(loop) + (deadline_ms < 2 * SPAWN_AFTER_MS ? deadline_ms / 2 : SPAWN_AFTER_MS);
    q->next_id = EXPR_TAG + 1;
    q->native = native_new(conn);
    q->header = header_new(q, &q->price, q->native, conn, loop, on_header, q);
    q->who = who_new(q, &q->price, q->native, conn, loop);
    q->scan = scan_new(q, &q->price, q->native, q->who, conn, loop, on_scan, q);
    buf_init(&q->scan_arg, 0);
    q->timer = alloc_zero(1, sizeof *q->timer);
    uv_timer_init(loop, q->timer);
    q->timer->data = q;

    struct builder *b = builder_new();
    int rc = expr_build(b, conn_own_node(conn), conn_self(conn), err);
    if (rc == 0) {
        size_t len = 0;
        const uint8_t *bytes = builder_bytes(b, &len);
        rc = conn_send_name(conn, "rex", bytes, len, err);
    }
    builder_free(b);
    if (rc != 0) {
        query_close(q);
        return rc;
    }
    conn_receive(conn, &receivers, q);
    arm_timer(q);
    *out = q;
    return 0;
}
