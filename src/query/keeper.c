/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "keeper.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/etf/print.h"
#include "beamtop/link/conn.h"
#include "expr.h"
#include "query/native/internal.h"

/* The time that `rex` has before net_kernel is asked too. */
#define SPAWN_AFTER_MS 2000u

/* After a start that failed; and so many requests, two of each start, without an answer at most. */
#define AGAIN_MS 10000u
#define UNANSWERED_MOST 6

/* The keeper.erl that this program was built with. */
#define KEEPER_VERSION 3

/* Questions, and messages to their processes. */
#define WAITING_MOST (2 * LIMIT_CALLS_IN_FLIGHT)

enum keeper_state { KEEPER_NONE, KEEPER_STARTING, KEEPER_STANDS, KEEPER_FAILED };

struct waiting {
    enum question question;
    const struct builder *term; /* Arg, or the message */
    struct builder *kept;       /* that, while it waits */
    int64_t id;
    bool ask;
    uint64_t asked_ms;
    unsigned deadline_ms;
};

struct keeper {
    struct conn *conn;
    uv_loop_t *loop;
    unsigned start_ms;
    keeper_fn *fn;
    void *arg;

    enum keeper_state state;
    uint64_t due_ms, spawn_due_ms; /* of a start; spawn: net_kernel is asked, too; 0: it was */
    uint64_t again_ms;             /* of one that failed */
    unsigned unanswered;           /* requests */
    struct error why;
    struct etf_pid pid;
    bool loaded[QUESTIONS];
    struct waiting waiting[WAITING_MOST];
    size_t n_waiting;
};

/* ---- what it says */

static void print_raw(struct buf *out, struct slice term)
{
    const struct print_limits limits = {.depth = 8, .items = 20, .bytes = 300, .cuts = true};
    print_term(out, (const uint8_t *)term.s, term.len, &limits);
}

void keeper_explain(struct error *err, enum question question, struct slice status,
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

/* ---- sending */

static int send_pid(const struct keeper *k, const struct etf_pid *pid, const struct builder *b,
                    struct error *err)
{
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(b, &len);
    return conn_send(k->conn, pid, bytes, len, err);
}

static void stop_process(const struct keeper *k, const struct etf_pid *pid)
{
    struct error ignored = {0}; /* it ends with the connection */
    struct builder *b = builder_new();
    build_atom(b, "stop");
    (void)send_pid(k, pid, b, &ignored);
    builder_free(b);
}

static int load_question(struct keeper *k, enum question question, struct error *err)
{
    if (k->loaded[question])
        return 0;
    const char *name = question_name(question);
    const struct embedded *source = expr_source(name);
    struct builder *b = builder_new();
    build_tuple(b, 3);
    build_atom(b, "load");
    build_atom(b, name);
    build_binary(b, source->text, source->len);
    int rc = send_pid(k, &k->pid, b, err);
    builder_free(b);
    k->loaded[question] = rc == 0;
    return rc;
}

static void build_ask(struct builder *b, const struct waiting *w, unsigned deadline_ms)
{
    build_tuple(b, 5);
    build_atom(b, "ask");
    build_int(b, w->id);
    build_atom(b, question_name(w->question));
    if (question_rows[w->question].holder) {
        build_tuple(b, 3);
        build_atom(b, "in");
        build_atom(b, question_name(w->question));
    }
    build_term(b, w->term);
    build_int(b, deadline_ms);
}

static int send_ask(struct keeper *k, const struct waiting *w, unsigned deadline_ms,
                    struct error *err)
{
    int rc = load_question(k, w->question, err);
    if (rc != 0)
        return rc;
    struct builder *b = builder_new();
    build_ask(b, w, deadline_ms);
    rc = send_pid(k, &k->pid, b, err);
    builder_free(b);
    return rc;
}

static int send_tell(struct keeper *k, const struct waiting *w, struct error *err)
{
    struct builder *b = builder_new();
    build_tuple(b, 3);
    build_atom(b, "tell");
    build_atom(b, question_name(w->question));
    build_term(b, w->term);
    int rc = send_pid(k, &k->pid, b, err);
    builder_free(b);
    return rc;
}

static int send_now(struct keeper *k, const struct waiting *w, struct error *err)
{
    return w->ask ? send_ask(k, w, w->deadline_ms, err) : send_tell(k, w, err);
}

/* ---- what waits */

static void drop_waiting(struct keeper *k)
{
    for (size_t i = 0; i < k->n_waiting; i++)
        builder_free(k->waiting[i].kept);
    k->n_waiting = 0;
}

/* 0: it is over, and the one who asked knows. */
static unsigned left_ms(const struct waiting *w, uint64_t now_ms)
{
    const uint64_t due_ms = w->asked_ms + w->deadline_ms;
    return due_ms > now_ms ? (unsigned)(due_ms - now_ms) : 0;
}

static void drop_late(struct keeper *k)
{
    size_t kept = 0;
    for (size_t i = 0; i < k->n_waiting; i++)
        if (!k->waiting[i].ask || left_ms(&k->waiting[i], uv_now(k->loop)) > 0)
            k->waiting[kept++] = k->waiting[i];
        else
            builder_free(k->waiting[i].kept);
    k->n_waiting = kept;
}

static int add_waiting(struct keeper *k, const struct waiting *w, struct error *err)
{
    drop_late(k);
    if (k->n_waiting == WAITING_MOST)
        return error_set(err, ERR_LIMIT, "the helper process of beamtop is not started yet");
    struct waiting *kept = &k->waiting[k->n_waiting++];
    *kept = *w;
    kept->term = kept->kept = builder_new();
    build_term(kept->kept, w->term);
    return 0;
}

static void send_waiting(struct keeper *k)
{
    struct error ignored = {0}; /* of a lost connection */
    drop_late(k);
    for (size_t i = 0; i < k->n_waiting; i++) {
        struct waiting *w = &k->waiting[i];
        if (w->ask)
            w->deadline_ms = left_ms(w, uv_now(k->loop));
        (void)send_now(k, w, &ignored);
    }
    drop_waiting(k);
}

/* ---- the start */

static int start_keeper(struct keeper *k, struct error *err)
{
    const uint64_t now = uv_now(k->loop);
    const unsigned ms = k->start_ms;
    struct builder *b = builder_new();
    int rc = expr_build(b, conn_own_node(k->conn), conn_self(k->conn), err);
    if (rc == 0) {
        size_t len = 0;
        const uint8_t *bytes = builder_bytes(b, &len);
        rc = conn_send_name(k->conn, "rex", bytes, len, err);
    }
    builder_free(b);
    if (rc != 0)
        return rc;
    k->state = KEEPER_STARTING;
    k->unanswered++;
    k->due_ms = now + ms;
    k->spawn_due_ms = now + (ms < 2 * SPAWN_AFTER_MS ? ms / 2 : SPAWN_AFTER_MS);
    return 0;
}

/* `rex` did not answer so far: it hangs, is suspended, or is only slow. */
static void start_by_spawn(struct keeper *k)
{
    struct error ignored = {0}; /* then the start fails at its deadline */
    struct builder *b = builder_new();
    k->spawn_due_ms = 0;
    if (expr_build_spawn(b, conn_own_node(k->conn), conn_self(k->conn), &ignored) == 0) {
        size_t len = 0;
        const uint8_t *bytes = builder_bytes(b, &len);
        k->unanswered += conn_send_name(k->conn, "net_kernel", bytes, len, &ignored) == 0;
    }
    builder_free(b);
}

static void fail_start(struct keeper *k, const struct error *why)
{
    k->state = KEEPER_FAILED;
    k->again_ms = uv_now(k->loop) + AGAIN_MS;
    k->why = *why;
    drop_waiting(k);
    k->fn(k->arg, &k->why);
}

static void fail_late(struct keeper *k)
{
    struct error why = {0};
    const double seconds = k->start_ms / 1000.0;
    error_set(&why, ERR_TIMEOUT,
              "connected, but the node did not answer in %.3g s: it is overloaded, or its code "
              "server hangs. Try --timeout %.3g. " ERROR_LOOK_OUTSIDE,
              seconds, 4 * seconds, conn_peer_node(k->conn));
    fail_start(k, &why);
}

static void fail_evaluation(struct keeper *k, struct slice value)
{
    struct error why = {0};
    struct buf text;
    buf_init(&text, 4096);
    print_raw(&text, value);
    error_set(&why, ERR_TARGET, "the node could not evaluate the helper process: %s",
              buf_cstr(&text));
    buf_clear(&text);
    fail_start(k, &why);
}

static void take_keeper(struct keeper *k, const struct etf_pid *pid)
{
    if (k->state == KEEPER_STANDS) {
        stop_process(k, pid);
        return;
    }
    k->state = KEEPER_STANDS; /* also after its deadline */
    k->pid = *pid;
    send_waiting(k);
    k->fn(k->arg, NULL);
}

void keeper_take_start(struct keeper *k, struct cursor *c)
{
    struct slice value = {0};
    struct etf_pid pid;
    int64_t version = 0;
    struct cursor copy = *c;
    cursor_raw(&copy, &value);
    k->unanswered -= k->unanswered > 0;
    const bool is_keeper = cursor_tuple_of(c, 3) && cursor_atom_is(c, "keeper") &&
                           cursor_pid(c, &pid, NULL) && cursor_int64(c, &version) &&
                           version == KEEPER_VERSION;
    if (is_keeper && k->state != KEEPER_NONE)
        take_keeper(k, &pid);
    else if (!is_keeper && k->state == KEEPER_STARTING)
        fail_evaluation(k, value);
}

static bool may_start(const struct keeper *k)
{
    if (k->state == KEEPER_NONE)
        return true;
    return k->state == KEEPER_FAILED && k->again_ms <= uv_now(k->loop) &&
           k->unanswered + 2 <= UNANSWERED_MOST;
}

/* Now, or once it stands. */
static int send_or_wait(struct keeper *k, const struct waiting *w, struct error *err)
{
    if (k->state == KEEPER_STANDS)
        return send_now(k, w, err);
    if (may_start(k)) {
        int rc = start_keeper(k, err);
        if (rc != 0)
            return rc;
    }
    if (k->state == KEEPER_FAILED)
        return error_set(err, k->why.code, "%s", k->why.text);
    return add_waiting(k, w, err);
}

/* ---- what the query layer calls */

int keeper_ask(struct keeper *k, int64_t id, enum question question, const struct builder *arg_term,
               unsigned deadline_ms, struct error *err)
{
    const struct waiting w = {.question = question,
                              .term = arg_term,
                              .id = id,
                              .ask = true,
                              .asked_ms = uv_now(k->loop),
                              .deadline_ms = deadline_ms};
    return send_or_wait(k, &w, err);
}

int keeper_tell(struct keeper *k, enum question question, const struct builder *term,
                struct error *err)
{
    const struct waiting w = {.question = question, .term = term};
    return send_or_wait(k, &w, err);
}

int keeper_end(struct keeper *k, enum question question, struct error *err)
{
    if (k->state != KEEPER_STANDS)
        return 0;
    struct builder *b = builder_new();
    build_tuple(b, 2);
    build_atom(b, "drop");
    build_atom(b, question_name(question));
    int rc = send_pid(k, &k->pid, b, err);
    builder_free(b);
    return rc;
}

bool keeper_adopt(struct keeper *k, const struct etf_pid *pid)
{
    struct error ignored = {0}; /* of a lost connection */
    if (k->state != KEEPER_STANDS || !pid)
        return false;
    struct builder *b = builder_new();
    build_tuple(b, 2);
    build_atom(b, "adopt");
    build_pid(b, conn_peer_node(k->conn), pid);
    (void)send_pid(k, &k->pid, b, &ignored);
    builder_free(b);
    return true;
}

const struct etf_pid *keeper_pid(const struct keeper *k)
{
    return k->state == KEEPER_STANDS ? &k->pid : NULL;
}

uint64_t keeper_due_ms(const struct keeper *k)
{
    if (k->state != KEEPER_STARTING)
        return UINT64_MAX;
    return k->spawn_due_ms != 0 ? k->spawn_due_ms : k->due_ms;
}

void keeper_expire(struct keeper *k, uint64_t now_ms)
{
    if (k->state != KEEPER_STARTING)
        return;
    if (k->spawn_due_ms != 0 && k->spawn_due_ms <= now_ms)
        start_by_spawn(k);
    if (k->due_ms <= now_ms)
        fail_late(k);
}

struct keeper *keeper_new(struct conn *conn, uv_loop_t *loop, unsigned start_ms, keeper_fn *fn,
                          void *arg)
{
    struct keeper *k = alloc_zero(1, sizeof *k);
    *k = (struct keeper){.conn = conn, .loop = loop, .start_ms = start_ms, .fn = fn, .arg = arg};
    return k;
}

void keeper_stop(struct keeper *k)
{
    if (k->state == KEEPER_STANDS)
        stop_process(k, &k->pid);
}

void keeper_free(struct keeper *k)
{
    if (!k)
        return;
    drop_waiting(k);
    free(k);
}
