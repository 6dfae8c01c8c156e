/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One trace on several nodes: prepared on each, set when all have said yes, each within its part of
 * the events and ended by its own VM; what they send is put into one order (fleet/merge.h). A node
 * that is lost ends its part only, and is cleared by itself. */
#include "trace_fleet.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/error_at.h"
#include "app/cli/tell.h"
#include "app/fleet/fleet.h"
#include "app/fleet/merge.h"
#include "app/source/live.h"
#include "app/source/nodes.h"
#include "app/source/runtime.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "beamtop/output/trace_line.h"
#include "beamtop/trace/trace.h"
#include "trace_print.h"

#define TURN_MS 100u
#define CONNECT_MS 15000u
#define HELD_MORE 10000u /* lines of a node beside its events: what was lost */
/* By then a line has come, and a round behind it. */
#define SETTLE_NS (INT64_C(1500) * 1000 * 1000)

enum fleet_phase { FLEET_CONNECTS, FLEET_PREPARES, FLEET_TRACES };

struct traced_node {
    struct fleet_tracing *run;
    size_t index;
    struct session *session; /* NULL: it takes no part */
    struct trace_print *print;
    int64_t last_round_ns;
    uint64_t came;    /* events: beginnings, not results */
    bool lost;        /* what is under its name from now on has another clock */
    int64_t *written; /* with --first: ids of those that are written, in order */
    size_t n_written;
    uint64_t held; /* lines that wait for their turn */
    bool floods;   /* it sends more than its caps allow */
    bool told;     /* why its part has ended */
};

struct fleet_tracing {
    const struct cli_options *options;
    const struct app_env *env;
    const struct trace_request *request;
    struct runtime rt;
    uv_timer_t timer;
    struct fleet *fleet;
    enum fleet_phase phase;
    struct traced_node *nodes;
    size_t n;
    struct node_clock *clocks;
    struct merge *merge;
    struct trace_sink sink;
    uint64_t came, written;
    int64_t wall_less_mono_us; /* of this host, at the start */
    int signal;
    bool stopped;
    bool told_set;
};

static void stop_sessions(struct fleet_tracing *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->nodes[i].session)
            session_stop(t->nodes[i].session);
}

/* ---- what is written */

static void output_failed(struct fleet_tracing *t, const struct error *err)
{
    if (t->sink.output.write_errno != EPIPE && t->rt.err.code == ERR_NONE)
        t->rt.err = *err;
    stop_sessions(t);
}

static bool begins_event(const struct trace_line *line)
{
    return line->kind == LINE_CALL || line->kind == LINE_SEND || line->kind == LINE_RECEIVE;
}

static bool is_result(const struct trace_line *line)
{
    return line->kind == LINE_RETURN || line->kind == LINE_EXCEPTION;
}

/* Ids come nearly in order, but not always in that of time. */
static void note_written(struct traced_node *node, int64_t id)
{
    size_t i = node->n_written;
    node->written = alloc_grow(node->written, node->n_written++, sizeof *node->written);
    for (; i > 0 && node->written[i - 1] > id; i--)
        node->written[i] = node->written[i - 1];
    node->written[i] = id;
}

static int compare_ids(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool is_written(const struct traced_node *node, int64_t id)
{
    return node->n_written > 0 &&
           bsearch(&id, node->written, node->n_written, sizeof id, compare_ids) != NULL;
}

/* With --first so many events are written, and their results. */
static bool is_wanted(struct fleet_tracing *t, const struct merge_line *line)
{
    const uint64_t most = (uint64_t)t->options->first;
    struct traced_node *node = &t->nodes[line->node];
    if (most == 0)
        return true;
    if (is_result(&line->line))
        return is_written(node, line->line.id);
    if (!begins_event(&line->line) || t->written >= most)
        return !begins_event(&line->line);
    note_written(node, line->line.id);
    t->written++;
    return true;
}

static void write_line(struct fleet_tracing *t, const struct merge_line *line)
{
    const bool placed = line->bound_ns < INT64_MAX / 8;
    const struct trace_place place = {
        .node = slice_of(fleet_name(t->fleet, line->node)),
        .here_us = line->here_ns / 1000 + t->wall_less_mono_us,
        .here_ns = line->here_ns,
        .bound_us = placed ? (double)line->bound_ns / 1000 : (double)NAN,
        .same_time = line->same_time,
        .late = line->late,
    };
    struct error err = {0};
    struct trace_line shown = line->line;
    shown.place = &place;
    if (t->sink.output.write_errno == 0 && trace_sink_put_line(&t->sink, &shown, &err) != 0)
        output_failed(t, &err);
}

/* All that happened by then. */
static void write_due(struct fleet_tracing *t, int64_t by_ns)
{
    for (struct merge_line *line; (line = merge_take(t->merge, by_ns));) {
        if (is_wanted(t, line))
            write_line(t, line);
        t->nodes[line->node].held--;
        merge_line_free(line);
    }
}

/* The texts of a line are those of the log: a copy keeps them until its turn comes. */
static int keep_line(void *arg, const struct trace_log *log, const struct trace_event *event,
                     bool finished, struct error *err)
{
    struct traced_node *node = arg;
    struct fleet_tracing *t = node->run;
    (void)err;
    if (node->held >= 2 * trace_log_state(log)->caps.value[CAP_EVENTS] + HELD_MORE) {
        node->floods = true;
        return 0;
    }
    node->held++;
    struct merge_line *line = alloc_zero(1, sizeof *line);
    arena_init(&line->arena);
    trace_line_make(&line->line,
                    &(struct trace_layout){&line->arena, t->sink.options.syntax, VALUES_WHOLE}, log,
                    event, finished);
    trace_line_keep(&line->line, &line->arena);
    line->node = node->index;
    line->arrived_ns = (int64_t)clock_mono_ns();
    merge_add(t->merge, line);
    return 0;
}

static void tell_first(struct fleet_tracing *t)
{
    if (t->options->first == 0 || t->stopped || t->came < (uint64_t)t->options->first)
        return;
    t->stopped = true;
    stop_sessions(t);
}

static void on_fleet_event(void *arg, const struct trace_event *event, bool finished)
{
    struct traced_node *node = arg;
    struct error err = {0};
    if (!finished && event->kind != EVENT_LOST) {
        node->came++;
        node->run->came++;
    }
    (void)trace_print_event(node->print, trace_session_log(node->session), event, finished,
                            uv_now(&node->run->rt.loop), &err);
}

/* ---- the sessions */

static void on_session_change(void *arg)
{
    (void)arg; /* the next turn looks at all of them */
}

static enum session_phase phase_of(const struct traced_node *node)
{
    return session_status(node->session)->phase;
}

/* Each node gets its part; the first ones what cannot be divided. */
static uint64_t events_of(const struct fleet_tracing *t, size_t part, size_t parts)
{
    const uint64_t all = t->request->caps.value[CAP_EVENTS];
    if (t->options->first > 0)
        return (uint64_t)t->options->first;
    return all / parts + (part < all % parts);
}

static int open_session(struct traced_node *node, size_t part, size_t parts, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = on_session_change,
                                                     .on_event = on_fleet_event};
    struct fleet_tracing *t = node->run;
    struct trace_options options = {.patterns = t->options->rest,
                                    .n_patterns = t->options->n_rest,
                                    .request = *t->request,
                                    .hold = true};
    struct session_port port;
    size_t pattern = SIZE_MAX, offset = 0;
    int rc = caps_set(&options.request.caps, CAP_EVENTS, events_of(t, part, parts), err);
    if (rc == 0)
        rc = live_port(fleet_live(t->fleet, node->index), &port, err);
    if (rc == 0)
        rc = trace_open(&node->session, &options, &port, &handlers, node, &pattern, &offset, err);
    if (rc == ERR_USAGE && pattern < t->options->n_rest)
        error_at_print(t->options->rest[pattern], offset, err);
    if (rc != 0)
        return rc;
    const struct trace_log *log = trace_session_log(node->session);
    const bool elixir = trace_log_syntax(log, t->request->syntax) == SYNTAX_ELIXIR;
    t->sink.options.syntax = elixir ? PRINT_ELIXIR : PRINT_ERLANG;
    node->print = trace_print_new(keep_line, node);
    return 0;
}

/* Of a connection that has its first answers. */
static bool is_ready(const struct fleet_tracing *t, size_t node)
{
    struct session_port port;
    struct error ignored = {0};
    return fleet_live(t->fleet, node) &&
           live_port(fleet_live(t->fleet, node), &port, &ignored) == 0;
}

/* Ends the run, when nothing was set anywhere. */
static void refuse_all(struct fleet_tracing *t, size_t node, const struct error *why)
{
    struct error err = *why;
    error_context(&err, "%s", fleet_name(t->fleet, node));
    stop_sessions(t);
    runtime_end(&t->rt, exit_code_of_error(err.code), &err);
}

static void tell_left_out(const struct fleet_tracing *t, size_t node, const struct error *why)
{
    tell_line("%s is left out: %s", fleet_name(t->fleet, node), why->text);
}

/* By two names: each event would come twice, or one session refuse the other. */
static bool is_one_node(const struct fleet_tracing *t, size_t a, size_t b)
{
    return is_ready(t, a) && is_ready(t, b) &&
           strcmp(live_peer_node(fleet_live(t->fleet, a)),
                  live_peer_node(fleet_live(t->fleet, b))) == 0;
}

static void refuse_twins(struct fleet_tracing *t)
{
    struct error err = {0};
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < i && !t->rt.ended; k++)
            if (is_one_node(t, i, k)) {
                (void)error_set(&err, ERR_USAGE, "%s and %s are the same node",
                                fleet_name(t->fleet, k), fleet_name(t->fleet, i));
                runtime_end(&t->rt, EXIT_USAGE, &err);
            }
}

static void open_sessions(struct fleet_tracing *t, size_t ready)
{
    struct error err = {0};
    size_t part = 0;
    if (t->options->first == 0 && t->request->caps.value[CAP_EVENTS] < ready) {
        (void)error_set(&err, ERR_USAGE,
                        "%llu events for %zu nodes: give --events %zu or more, or --first",
                        (unsigned long long)t->request->caps.value[CAP_EVENTS], ready, ready);
        runtime_end(&t->rt, EXIT_USAGE, &err);
        return;
    }
    for (size_t i = 0; i < t->n && !t->rt.ended; i++)
        if (is_ready(t, i) && open_session(&t->nodes[i], part++, ready, &err) != 0)
            refuse_all(t, i, &err);
    t->phase = FLEET_PREPARES;
}

/* All or none, or with --partial those that answer. */
static void look_for_connections(struct fleet_tracing *t)
{
    const struct error late = {.code = ERR_TIMEOUT, .text = "no answer yet"};
    const double asked_ms = t->options->timeout_s * 1000;
    const bool is_late = (double)(uv_now(&t->rt.loop) - t->rt.started_ms) >
                         (asked_ms > CONNECT_MS ? asked_ms : CONNECT_MS);
    size_t ready = 0, failed = 0;
    for (size_t i = 0; i < t->n; i++) {
        ready += is_ready(t, i);
        failed += !is_ready(t, i) && (is_late || fleet_why(t->fleet, i));
    }
    if (ready + failed < t->n)
        return;
    for (size_t i = 0; i < t->n && !t->rt.ended; i++) {
        const struct error *why = fleet_why(t->fleet, i) ? fleet_why(t->fleet, i) : &late;
        if (is_ready(t, i))
            continue;
        if (ready == 0 || !t->options->partial)
            refuse_all(t, i, why);
        else
            tell_left_out(t, i, why);
    }
    if (!t->rt.ended)
        refuse_twins(t);
    if (!t->rt.ended)
        open_sessions(t, ready);
}

/* Nothing fits there, another tool traces, it would cost too much: 0, else why. */
static int why_not(const struct traced_node *node, struct error *err)
{
    const struct session_status *status = session_status(node->session);
    const struct trace_state *state = trace_log_state(trace_session_log(node->session));
    if (status->phase == SESSION_FAILED)
        *err = status->error;
    else if (status->phase >= SESSION_ENDING)
        *err = session_trouble(node->session);
    else if (state->preflight.expensive && !node->run->request->force)
        session_refuse_cost(err, node->session);
    else
        return 0;
    if (err->code == ERR_NONE)
        (void)error_set(err, ERR_LOST, "it has ended before the trace was set");
    return err->code;
}

/* Calls that were not counted, and messages, are not taken for none. */
static void tell_estimate(const struct fleet_tracing *t, size_t ready)
{
    double calls_per_s = 0;
    uint64_t functions = 0;
    size_t counted = 0;
    bool messages = false;
    char text[32], calls[80] = "", others[48] = "";
    for (size_t i = 0; i < t->n; i++) {
        if (!t->nodes[i].session)
            continue;
        const struct trace_log *log = trace_session_log(t->nodes[i].session);
        const struct trace_preflight *p = &trace_log_state(log)->preflight;
        messages = messages || trace_log_has_messages(log);
        functions = p->functions > functions ? p->functions : functions;
        calls_per_s += p->calls_per_s > 0 ? p->calls_per_s : 0;
        counted += p->count_ms > 0;
    }
    if (counted > 0 && calls_per_s < 1)
        snprintf(calls, sizeof calls, ", no call while they were counted");
    else if (counted > 0)
        snprintf(calls, sizeof calls, ", about %s calls/s on all of them",
                 text_integer(text, sizeof text, (int64_t)calls_per_s));
    if (counted > 0 && counted < ready)
        snprintf(others, sizeof others, ", not counted on %zu", ready - counted);
    tell_line("%zu node%s, up to %llu function%s%s%s%s", ready, ready == 1 ? "" : "s",
              (unsigned long long)functions, functions == 1 ? "" : "s",
              messages ? " and messages (not counted before)" : "", calls, others);
}

static void drop_node(struct traced_node *node)
{
    session_free(node->session);
    node->session = NULL;
    trace_print_free(node->print);
    node->print = NULL;
}

/* Each waits for the word that sets it. */
static void look_for_estimates(struct fleet_tracing *t)
{
    size_t ready = 0, waits = 0;
    struct error err = {0};
    for (size_t i = 0; i < t->n; i++)
        waits += t->nodes[i].session && phase_of(&t->nodes[i]) < SESSION_ASKING;
    if (waits > 0)
        return;
    for (size_t i = 0; i < t->n && !t->rt.ended; i++) {
        struct traced_node *node = &t->nodes[i];
        if (!node->session)
            continue;
        if (why_not(node, &err) == 0) {
            ready++;
        } else if (t->options->partial) {
            tell_left_out(t, i, &err);
            drop_node(node);
        } else {
            refuse_all(t, i, &err);
        }
    }
    if (t->rt.ended)
        return;
    tell_estimate(t, ready);
    if (t->options->dry_run || ready == 0) {
        runtime_end(&t->rt, ready > 0 ? EXIT_DONE : EXIT_REFUSED, NULL);
        return;
    }
    for (size_t i = 0; i < t->n; i++)
        if (t->nodes[i].session)
            session_confirm(t->nodes[i].session);
    t->phase = FLEET_TRACES;
}

/* ---- the end */

static void write_end(struct fleet_tracing *t, const struct traced_node *node)
{
    struct error err = {0};
    t->sink.options.node = fleet_name(t->fleet, node->index);
    if (t->sink.options.format == SINK_TEXT) {
        char head[LIMIT_NODE_NAME_BYTES + 16];
        snprintf(head, sizeof head, "\n%% %s\n", t->sink.options.node);
        if (t->sink.output.write_errno == 0 &&
            sink_output_put(&t->sink.output, head, strlen(head), &err) != 0)
            output_failed(t, &err);
    }
    if (t->sink.output.write_errno == 0 &&
        trace_sink_end(&t->sink, trace_session_log(node->session), &err) != 0)
        output_failed(t, &err);
}

static int code_of_end(const struct fleet_tracing *t)
{
    int code = t->rt.err.code != ERR_NONE ? EXIT_FAILED : EXIT_DONE;
    for (size_t i = 0; i < t->n && code == EXIT_DONE; i++) {
        if (!t->nodes[i].session)
            continue;
        const struct error trouble = session_trouble(t->nodes[i].session);
        code = trouble.code == ERR_LOST                   ? EXIT_LOST
               : phase_of(&t->nodes[i]) == SESSION_FAILED ? exit_code_of_error(trouble.code)
               : trouble.code != ERR_NONE                 ? EXIT_FAILED
                                                          : EXIT_DONE;
    }
    return code == EXIT_DONE && t->signal == SIGTERM ? 128 + SIGTERM : code;
}

static void write_all(struct fleet_tracing *t)
{
    struct error ignored = {0};
    for (size_t i = 0; i < t->n; i++)
        if (t->nodes[i].session)
            (void)trace_print_due(t->nodes[i].print, trace_session_log(t->nodes[i].session),
                                  uv_now(&t->rt.loop), true, &ignored);
    write_due(t, INT64_MAX);
}

static void end_fleet_trace(struct fleet_tracing *t)
{
    write_all(t);
    if (t->options->first > 0 && t->came > t->written)
        tell_line("%llu more events came before all nodes had ended",
                  (unsigned long long)(t->came - t->written));
    for (size_t i = 0; i < t->n; i++)
        if (t->nodes[i].session)
            write_end(t, &t->nodes[i]);
    runtime_end(&t->rt, code_of_end(t), NULL);
}

/* ---- turns */

static void note_rounds(struct fleet_tracing *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct live_round round;
        struct live *live = fleet_live(t->fleet, i);
        if (t->nodes[i].lost || !live || !live_last_round(live, &round) ||
            round.middle_ns == t->nodes[i].last_round_ns)
            continue;
        t->nodes[i].last_round_ns = round.middle_ns;
        node_clock_add(&t->clocks[i], &(struct clock_round){.here_ns = round.middle_ns,
                                                            .offset_ns = round.mono_ns,
                                                            .bound_ns = (int64_t)(round.us * 500)});
    }
}

/* Who waits for this may begin: nothing that happens from now on is missed. */
static void tell_set(struct fleet_tracing *t)
{
    size_t set = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (!t->nodes[i].session)
            continue;
        if (phase_of(&t->nodes[i]) < SESSION_RUNNING)
            return;
        set += phase_of(&t->nodes[i]) == SESSION_RUNNING;
    }
    if (!t->told_set && set > 0)
        tell_line("%zu node%s traced", set, set == 1 ? " is" : "s are");
    t->told_set = true;
}

/* At once: the others may go on for long. Where it could not be set, since a scheduler was late or
 * another tool was faster, they end, too. */
static void tell_trouble(struct traced_node *node)
{
    struct fleet_tracing *t = node->run;
    if (node->told || t->phase != FLEET_TRACES || session_runs(node->session))
        return;
    node->told = true;
    const struct error trouble = session_trouble(node->session);
    if (trouble.code != ERR_NONE)
        tell_line("%s: %s", fleet_name(t->fleet, node->index), trouble.text);
    if (phase_of(node) == SESSION_FAILED && !t->options->partial)
        stop_sessions(t);
}

/* Its VM does not keep to the caps, or what is there is none. */
static void stop_flood(struct traced_node *node)
{
    struct fleet_tracing *t = node->run;
    if (!node->floods || t->rt.err.code != ERR_NONE)
        return;
    (void)error_set(&t->rt.err, ERR_LIMIT, "%s sends more than the caps allow",
                    fleet_name(t->fleet, node->index));
    stop_sessions(t);
}

static void follow_sessions(struct fleet_tracing *t)
{
    size_t running = 0;
    struct error ignored = {0};
    for (size_t i = 0; i < t->n; i++) {
        struct traced_node *node = &t->nodes[i];
        if (!node->session)
            continue;
        session_tick(node->session);
        stop_flood(node);
        tell_trouble(node);
        running += session_runs(node->session);
        (void)trace_print_due(node->print, trace_session_log(node->session), uv_now(&t->rt.loop),
                              false, &ignored);
    }
    if (t->phase != FLEET_TRACES)
        return;
    tell_set(t);
    tell_first(t);
    const int64_t by_ns = (int64_t)clock_mono_ns() - SETTLE_NS;
    if (running == 0)
        end_fleet_trace(t);
    else if (t->options->first == 0)
        write_due(t, by_ns);
    else
        merge_settle(t->merge, by_ns);
}

static void on_fleet_turn(uv_timer_t *timer)
{
    struct fleet_tracing *t = timer->data;
    if (t->rt.ended)
        return;
    note_rounds(t);
    if (t->phase == FLEET_CONNECTS)
        look_for_connections(t);
    else if (t->phase == FLEET_PREPARES)
        look_for_estimates(t);
    if (!t->rt.ended)
        follow_sessions(t);
}

static void on_fleet_lost(void *arg, size_t index, const struct error *why)
{
    struct fleet_tracing *t = arg;
    struct traced_node *node = t->nodes ? &t->nodes[index] : NULL;
    if (node && node->session) {
        node->lost = true;
        session_link_lost(node->session, why);
    } else if (node) {
        t->clocks[index] = (struct node_clock){0};
    }
}

/* Ctrl-C ends it everywhere, which takes a moment; once more ends us, and the nodes clean up. What
 * has come is written. */
static void on_trace_signal(uv_signal_t *handle, int number)
{
    struct fleet_tracing *t = handle->data;
    if (t->phase == FLEET_TRACES && t->signal != 0 && !t->rt.ended)
        write_all(t);
    if (t->phase != FLEET_TRACES || t->signal != 0)
        runtime_end(&t->rt, 128 + number, NULL);
    t->signal = number;
    stop_sessions(t);
}

/* ---- its life */

static void begin_fleet(struct fleet_tracing *t, const struct discover_list *vms)
{
    const struct fleet_setup setup = {.cli = t->options,
                                      .env = t->env,
                                      .vms = vms,
                                      .loop = &t->rt.loop,
                                      .interval_s = t->options->interval_s,
                                      .budget = t->options->budget,
                                      .lost = on_fleet_lost,
                                      .arg = t};
    struct error err = {0};
    if (fleet_open(&t->fleet, t->options->target, &setup, &err) != 0) {
        (void)runtime_ends(&t->rt, exit_code_of_error(err.code), &err);
        return;
    }
    t->n = fleet_size(t->fleet);
    t->nodes = alloc_zero(t->n, sizeof *t->nodes);
    t->clocks = alloc_zero(t->n, sizeof *t->clocks);
    t->merge = merge_new(t->clocks, t->n);
    for (size_t i = 0; i < t->n; i++)
        t->nodes[i] = (struct traced_node){.run = t, .index = i};
    uv_timer_start(&t->timer, on_fleet_turn, TURN_MS, TURN_MS);
    uv_run(&t->rt.loop, UV_RUN_DEFAULT);
}

static void close_fleet_trace(struct fleet_tracing *t)
{
    for (size_t i = 0; i < t->n; i++) {
        drop_node(&t->nodes[i]);
        free(t->nodes[i].written);
    }
    merge_free(t->merge);
    fleet_close(t->fleet);
    runtime_close(&t->rt);
    free(t->clocks);
    free(t->nodes);
}

int trace_fleet(const struct cli_options *o, const struct app_env *env,
                const struct trace_request *request)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct fleet_tracing t = {.options = o, .env = env, .request = request};
    struct discover_list vms = {0};
    struct error ignored = {0};
    fleet_prepare();
    (void)nodes_find(&vms, o, env, NODES_EPMD_MS, &ignored);
    t.wall_less_mono_us = clock_wall_us() - (int64_t)(clock_mono_ns() / 1000);
    t.sink.output.writer = sink_writer_of(stdout);
    t.sink.options = (struct trace_sink_options){
        .format = o->format == FORMAT_JSON ? SINK_JSON : SINK_TEXT,
        .ascii = o->ascii || !env->utf8,
    };
    runtime_init(&t.rt);
    runtime_timer(&t.rt, &t.timer, &t);
    runtime_catch(&t.rt, signals, ARRAY_LEN(signals), on_trace_signal, &t);
    begin_fleet(&t, &vms);
    close_fleet_trace(&t);
    if (t.rt.err.code != ERR_NONE)
        tell_error(&t.rt.err);
    discover_clear(&vms);
    return t.rt.exit_code;
}
