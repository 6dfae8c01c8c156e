/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The life of a connection as a source of facts: connect, first answer, loss, next try; and what
 * others ask of it. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "beamtop/link/way.h"
#include "encode.h"
#include "live_internal.h"

/* Waits between tries after a loss: doubled from the first to the last. */
#define RETRY_FIRST_MS 500u
#define RETRY_LAST_MS 10000u

static void connect_again(struct live *l);

static void live_journal(struct live *l, bool trouble, const char *text)
{
    model_journal(l->model, clock_wall_us(), trouble, "%s", text);
}

static void on_live_timer(uv_timer_t *timer)
{
    struct live *l = timer->data;
    if (l->phase == PHASE_WAITING)
        connect_again(l);
    else if (l->phase == PHASE_RUNNING)
        live_tick_timer(l);
}

static void report_change(struct live *l, question_mask questions)
{
    if (l->handlers.on_change)
        l->handlers.on_change(l->arg, questions);
}

/* ---- loss */

static void drop_link(struct live *l)
{
    bool reported = l->phase == PHASE_RUNNING;
    query_close(l->query);
    l->query = NULL;
    if (l->conn)
        conn_close(l->conn, NULL, NULL);
    l->conn = NULL;
    live_forget_host(l);
    live_clock_forget(l);
    live_reset_tick(l);
    l->phase = PHASE_WAITING;
    if (reported && l->handlers.on_link)
        l->handlers.on_link(l->arg, false);
}

static unsigned retry_ms(const struct live *l)
{
    unsigned ms = RETRY_FIRST_MS;
    for (unsigned i = 0; i < l->retries && ms < RETRY_LAST_MS; i++)
        ms *= 2;
    return ms < RETRY_LAST_MS ? ms : RETRY_LAST_MS;
}

static void lose_link(struct live *l, enum conn_failure why, const struct error *err)
{
    drop_link(l);
    if (!l->was_up || !l->options.reconnect) {
        l->phase = PHASE_ENDED;
        uv_timer_stop(l->timer);
        model_set_link(l->model, LINK_CLOSED, err->text);
        l->handlers.on_end(l->arg, why, err);
        return;
    }
    char text[900], wait[32];
    unsigned ms = retry_ms(l);
    snprintf(text, sizeof text, "%s" LINK_NEXT_TRY "%s", err->text,
             text_duration(wait, sizeof wait, ms / 1000.0));
    l->retries++;
    l->phase = PHASE_WAITING;
    model_set_link(l->model, LINK_LOST, text);
    live_journal(l, true, text);
    live_arm(l, uv_now(l->loop) + ms);
    report_change(l, 0);
}

/* ---- the questions */

#define HELPER_MS 2000

static void begin_ticks(struct live *l)
{
    l->phase = PHASE_RUNNING;
    l->was_up = true;
    l->retries = 0;
    model_set_link(l->model, LINK_LIVE, "");
    report_change(l, 0);
    live_tick_start(l);
    if (l->handlers.on_link)
        l->handlers.on_link(l->arg, true);
}

static void on_helper(void *arg, const struct answer *answer)
{
    (void)answer;
    begin_ticks(arg);
}

/* argument: an atom; NULL: []. false: it could not be asked. */
static bool ask_before_ticks(struct live *l, enum question question, const char *argument,
                             answer_fn *fn)
{
    struct error ignored = {0};
    struct builder *b = builder_new();
    if (argument)
        build_atom(b, argument);
    else
        build_nil(b);
    const int rc = query_ask(l->query, question, b, HELPER_MS, fn, l, &ignored);
    builder_free(b);
    return rc == 0;
}

/* A recording of a large node needs the helper: what its start costs the node is in no tick, where
 * it does not hang. */
static void on_counted(void *arg, const struct answer *answer)
{
    struct live *l = arg;
    (void)answer;
    if (!query_is_large(l->query) || !ask_before_ticks(l, QUESTION_WHO, NULL, on_helper))
        begin_ticks(l);
}

static void on_query_ready(void *arg)
{
    struct live *l = arg;
    if (!l->options.recorded || !ask_before_ticks(l, QUESTION_SYSTEM, "local", on_counted))
        begin_ticks(l);
}

static void on_keeper(void *arg)
{
    live_journal(
        arg, false,
        "helper process started: it is evaluated, loads no module and ends with the connection");
    report_change(arg, 0);
}

static void on_work(void *arg, double target_us)
{
    live_note_cost(arg, target_us);
}

static void on_sweep_progress(void *arg, enum question question, int64_t done, int64_t all)
{
    struct live *l = arg;
    if (question != QUESTION_SCAN || model_scan(l->model))
        return; /* there is something to show until the answer comes */
    model_set_sweep(l->model, done, all);
    report_change(l, 0);
}

static void on_query_failed(void *arg, const struct error *err)
{
    struct live *l = arg;
    struct error copy = *err;
    lose_link(l, CONN_LOST, &copy);
}

/* ---- the connection */

static void on_up(struct conn *c, void *arg)
{
    struct live *l = arg;
    static const struct query_handlers handlers = {.on_ready = on_query_ready,
                                                   .on_failed = on_query_failed,
                                                   .on_keeper = on_keeper,
                                                   .on_work = on_work,
                                                   .on_progress = on_sweep_progress};
    struct error err = {0};

    l->phase = PHASE_STARTING;
    model_journal(l->model, clock_wall_us(), false, "connected to %s as hidden node %s",
                  conn_peer_node(c), conn_own_node(c));
    if (*conn_notice(c)) {
        live_journal(l, true, conn_notice(c));
        if (l->handlers.on_notice)
            l->handlers.on_notice(l->arg, conn_notice(c));
    }
    if (query_open(&l->query, l->loop, c, &handlers, l, l->options.conn.timeout_ms, &err) != 0)
        lose_link(l, CONN_LOST, &err);
}

static void on_skipped(struct conn *c, void *arg, uint64_t bytes)
{
    struct live *l = arg;
    (void)c;
    model_journal(l->model, clock_wall_us(), true,
                  "a message of %llu bytes from the node was skipped: above the size limit",
                  (unsigned long long)bytes);
}

static void on_down(struct conn *c, void *arg, enum conn_failure why, const struct error *err)
{
    struct live *l = arg;
    struct error copy = *err;
    (void)c;
    lose_link(l, why, &copy);
}

static int dial_node(struct live *l, struct error *err)
{
    static const struct conn_handlers handlers = {
        .on_up = on_up,
        .on_skipped = on_skipped,
        .on_down = on_down,
    };
    l->phase = PHASE_CONNECTING;
    return conn_open(&l->conn, l->loop, &l->options.conn, &handlers, l, err);
}

static void connect_again(struct live *l)
{
    struct error err = {0};
    if (dial_node(l, &err) != 0)
        lose_link(l, CONN_FAILED_SYSTEM, &err);
}

/* ---- what the program calls */

int live_open(struct live **out, uv_loop_t *loop, const struct live_options *options,
              struct model *model, const struct live_handlers *handlers, void *arg,
              struct error *err)
{
    struct live *l = alloc_zero(1, sizeof *l);
    l->loop = loop;
    l->options = *options;
    l->status_fd = -1;
    l->handlers = *handlers;
    l->arg = arg;
    l->model = model;
    l->filter = model_filter(model);
    filter_forget(l->filter);
    l->want.needs = NEED(SYSTEM);
    governor_init(&l->governor, options->interval_s, options->budget);
    l->governor.together = options->together;
    if (options->recorded)
        l->governor.apart |= QUESTION_BIT(QUESTION_APPS);
    l->governor.most_s = options->most_s;
    l->timer = alloc_zero(1, sizeof *l->timer);
    uv_timer_init(loop, l->timer);
    l->timer->data = l;
    l->on_timer = on_live_timer;
    live_reset_tick(l);
    model_forget(model);
    model_set_link(model, LINK_CONNECTING, "");
    model_set_way(model, options->conn.way ? options->conn.way->text : "");
    model_set_utc_offset(model, clock_utc_offset_s());
    int rc = dial_node(l, err);
    if (rc != 0) {
        live_close(l, NULL, NULL);
        return rc;
    }
    *out = l;
    return 0;
}

static void free_live_timer(uv_handle_t *timer)
{
    free(timer);
}

void live_close(struct live *l, void (*closed)(void *arg), void *arg)
{
    if (!l)
        return;
    query_close(l->query);
    live_forget_host(l);
    if (l->conn)
        conn_close(l->conn, closed, arg);
    uv_timer_stop(l->timer);
    uv_close((uv_handle_t *)l->timer, free_live_timer);
    bool had_conn = l->conn != NULL;
    free(l);
    if (!had_conn && closed)
        closed(arg);
}

void live_set_interval(struct live *l, double interval_s)
{
    l->governor.interval_s =
        interval_s < GOVERNOR_MIN_INTERVAL_S ? GOVERNOR_MIN_INTERVAL_S : interval_s;
    live_tick_now(l);
}

void live_set_budget(struct live *l, double budget)
{
    l->governor.budget = budget;
    live_tick_now(l);
}

void live_set_beside(struct live *l, double us_per_s)
{
    l->governor.beside_us = us_per_s;
}

void live_pause(struct live *l, bool paused)
{
    if (l->paused == paused)
        return;
    l->paused = paused;
    if (!paused) {
        model_gap(l->model);
        live_tick_now(l);
    }
}

void live_hold(struct live *l, bool held)
{
    bool released = l->held && !held;
    l->held = held;
    if (released)
        live_tick_now(l);
}

bool live_is_asking(const struct live *l)
{
    for (int q = 0; l->query && q < QUESTIONS; q++)
        if (query_pending(l->query, (enum question)q))
            return true;
    return false;
}

/* ---- questions that are not a tick's */

bool live_is_up(const struct live *l)
{
    return l->phase == PHASE_RUNNING;
}

static int need_link(const struct live *l, struct error *err)
{
    if (live_is_up(l))
        return 0;
    return error_set(err, ERR_LOST, "not connected to the node");
}

int live_ask(struct live *l, enum question question, const struct builder *arg,
             unsigned deadline_ms, answer_fn *fn, void *fn_arg, struct error *err)
{
    int rc = need_link(l, err);
    return rc != 0 ? rc : query_ask(l->query, question, arg, deadline_ms, fn, fn_arg, err);
}

const char *live_peer_node(const struct live *l)
{
    return l->conn && live_is_up(l) ? conn_peer_node(l->conn) : NULL;
}

uint32_t live_peer_creation(const struct live *l)
{
    return live_is_up(l) ? query_creation(l->query) : 0;
}

/* ---- what a key asks of one process: its mailbox, its state, a garbage collection */

/* Of a connection that is up. */
static int ask_once(struct live *l, enum question question, const struct etf_pid *pid,
                    struct builder *b, struct error *err)
{
    int rc = query_pending(l->query, question)
                 ? error_set(err, ERR_LIMIT, "the question before is not answered yet")
                 : query_ask(l->query, question, b, live_deadline_ms(l, question), live_on_answer,
                             l, err);
    if (rc == 0)
        model_asked(l->model, question, &(struct process_ref){.pid = *pid});
    builder_free(b);
    return rc;
}

int live_ask_mailbox(struct live *l, const struct etf_pid *pid, int first, int bytes_each,
                     bool agreed, struct error *err)
{
    if (l->phase != PHASE_RUNNING)
        return error_set(err, ERR_LOST, "not connected");
    if (agreed)
        model_journal(l->model, clock_wall_us(), false,
                      "peeked at the mailbox of " PID_FORMAT ": the first %d messages",
                      PID_NUMBERS(pid), first);
    return ask_once(l, QUESTION_MAILBOX, pid,
                    encode_peek(pid, conn_peer_node(l->conn), first, bytes_each, agreed), err);
}

int live_ask_collect(struct live *l, const struct etf_pid *pid, bool agreed, struct error *err)
{
    if (l->phase != PHASE_RUNNING)
        return error_set(err, ERR_LOST, "not connected");
    if (agreed)
        model_journal(l->model, clock_wall_us(), false,
                      "asked " PID_FORMAT " to collect its garbage", PID_NUMBERS(pid));
    return ask_once(l, QUESTION_COLLECT, pid, encode_collect(pid, conn_peer_node(l->conn), agreed),
                    err);
}

int live_ask_state(struct live *l, const struct etf_pid *pid, int timeout_ms, int bytes,
                   bool agreed, struct error *err)
{
    if (l->phase != PHASE_RUNNING)
        return error_set(err, ERR_LOST, "not connected");
    if (agreed)
        model_journal(l->model, clock_wall_us(), false,
                      "asked " PID_FORMAT " for its state (sys:get_state)", PID_NUMBERS(pid));
    return ask_once(l, QUESTION_STATE, pid,
                    encode_peek(pid, conn_peer_node(l->conn), timeout_ms, bytes, agreed), err);
}

/* ---- the port of sessions */

static int port_ask(void *ctx, enum question question, const struct builder *arg,
                    unsigned deadline_ms, answer_fn *fn, void *fn_arg, struct error *err)
{
    return live_ask(ctx, question, arg, deadline_ms, fn, fn_arg, err);
}

static int port_tell(void *ctx, enum question question, const struct builder *term,
                     struct error *err)
{
    struct live *l = ctx;
    int rc = need_link(l, err);
    return rc != 0 ? rc : query_tell(l->query, question, term, err);
}

static void port_listen(void *ctx, uint64_t id, event_fn *fn, void *fn_arg)
{
    struct live *l = ctx;
    if (live_is_up(l))
        query_listen(l->query, id, fn, fn_arg);
}

static void port_drop(void *ctx, const void *fn_arg)
{
    struct live *l = ctx;
    if (l->query)
        query_drop(l->query, fn_arg);
}

static uint64_t port_now_ns(void *ctx)
{
    (void)ctx;
    return clock_mono_ns();
}

static bool port_is_own(void *ctx, const struct etf_pid *pid)
{
    const struct live *l = ctx;
    return l->query && query_is_own(l->query, pid);
}

static int otp_release(struct slice otp)
{
    int major = 0;
    for (size_t i = 0; i < otp.len && otp.s[i] >= '0' && otp.s[i] <= '9' && major < 1000; i++)
        major = major * 10 + (otp.s[i] - '0');
    return major;
}

int live_port(struct live *l, struct session_port *out, struct error *err)
{
    const struct node_info *node = l ? model_node(l->model) : NULL;
    if (!node || !live_peer_node(l))
        return error_set(err, ERR_LOST, l ? "not connected to the node" : "no node is connected");
    *out = (struct session_port){.ask = port_ask,
                                 .tell = port_tell,
                                 .listen = port_listen,
                                 .drop = port_drop,
                                 .now_ns = port_now_ns,
                                 .is_own = port_is_own,
                                 .ctx = l,
                                 .node = live_peer_node(l),
                                 .creation = live_peer_creation(l),
                                 .otp = otp_release(node->otp)};
    return 0;
}
