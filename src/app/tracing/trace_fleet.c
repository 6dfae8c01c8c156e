/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One trace on several nodes: prepared on each, set when all have said yes, each within its part of
 * the events and ended by its own VM; what they send is put into one order (fleet/merge.h). A node
 * that is lost ends its part only, and is cleared by itself. */
#include "trace_fleet.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/error_at.h"
#include "app/cli/tell.h"
#include "app/fleet/fleet_sessions.h"
#include "app/fleet/merge.h"
#include "app/source/live.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "beamtop/output/trace_line.h"
#include "beamtop/trace/trace.h"
#include "trace_print.h"

#define HELD_MORE 10000u /* lines of a node beside its events: what was lost */
/* By then a line has come, and a round behind it. */
#define SETTLE_NS (INT64_C(1500) * 1000 * 1000)

struct traced_node {
    struct trace_print *print; /* NULL: it takes no part */
    int64_t last_round_ns;
    uint64_t came;    /* events: beginnings, not results */
    int64_t *written; /* with --first: ids of those that are written, in order */
    size_t n_written;
    uint64_t held; /* lines that wait for their turn */
    bool floods;   /* it sends more than its caps allow */
};

struct fleet_tracing {
    struct fleet_sessions all;
    const struct trace_request *request;
    struct traced_node *nodes;
    struct node_clock *clocks;
    struct merge *merge;
    struct trace_sink sink;
    uint64_t came, written;
    int64_t wall_less_mono_us; /* of this host, at the start */
    bool stopped;
};

static struct fleet_tracing *tracing_of(const struct fleet_part *p)
{
    return p->all->arg;
}

/* ---- what is written */

static void output_failed(struct fleet_tracing *t, const struct error *err)
{
    fleet_sessions_output_failed(&t->all, t->sink.output.write_errno, err);
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
    const uint64_t most = (uint64_t)t->all.options->first;
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
        .node = slice_of(fleet_name(t->all.fleet, line->node)),
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
    const struct fleet_part *p = arg;
    struct fleet_tracing *t = tracing_of(p);
    struct traced_node *node = &t->nodes[p->index];
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
    line->node = p->index;
    line->arrived_ns = (int64_t)clock_mono_ns();
    merge_add(t->merge, line);
    return 0;
}

static void on_fleet_event(void *arg, const struct trace_event *event, bool finished)
{
    const struct fleet_part *p = arg;
    struct fleet_tracing *t = tracing_of(p);
    struct traced_node *node = &t->nodes[p->index];
    struct error err = {0};
    if (!finished && event->kind != EVENT_LOST) {
        node->came++;
        t->came++;
    }
    (void)trace_print_event(node->print, trace_session_log(p->session), event, finished,
                            uv_now(&t->all.rt->loop), &err);
}

/* ---- the sessions */

static void on_traced_change(void *arg)
{
    (void)arg; /* the next turn looks at all of them */
}

/* Each node gets its part; the first ones what cannot be divided. */
static uint64_t events_of(const struct fleet_tracing *t, size_t part, size_t parts)
{
    const uint64_t all = t->request->caps.value[CAP_EVENTS];
    if (t->all.options->first > 0)
        return (uint64_t)t->all.options->first;
    return all / parts + (part < all % parts);
}

static int check_events(void *arg, size_t ready, struct error *err)
{
    const struct fleet_tracing *t = arg;
    const uint64_t events = t->request->caps.value[CAP_EVENTS];
    if (t->all.options->first > 0 || events >= ready)
        return 0;
    return error_set(err, ERR_USAGE,
                     "%llu events for %zu nodes: give --events %zu or more, or --first",
                     (unsigned long long)events, ready, ready);
}

static int open_traced(void *arg, struct fleet_part *p, size_t part, size_t parts,
                       const struct session_port *port, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = on_traced_change,
                                                     .on_event = on_fleet_event};
    struct fleet_tracing *t = arg;
    const struct cli_options *o = t->all.options;
    struct trace_options options = {
        .patterns = o->rest, .n_patterns = o->n_rest, .request = *t->request, .hold = true};
    size_t pattern = SIZE_MAX, offset = 0;
    int rc = caps_set(&options.request.caps, CAP_EVENTS, events_of(t, part, parts), err);
    if (rc == 0)
        rc = trace_open(&p->session, &options, port, &handlers, p, &pattern, &offset, err);
    if (rc == ERR_USAGE && pattern < o->n_rest)
        error_at_print(o->rest[pattern], offset, err);
    if (rc != 0)
        return rc;
    const struct trace_log *log = trace_session_log(p->session);
    const bool elixir = trace_log_syntax(log, t->request->syntax) == SYNTAX_ELIXIR;
    t->sink.options.syntax = elixir ? PRINT_ELIXIR : PRINT_ERLANG;
    t->nodes[p->index].print = trace_print_new(keep_line, p);
    return 0;
}

static bool is_expensive(const struct session *s)
{
    return trace_log_state(trace_session_log(s))->preflight.expensive;
}

/* Calls that were not counted, and messages, are not taken for none. */
static void tell_estimate(void *arg, size_t ready)
{
    const struct fleet_tracing *t = arg;
    double calls_per_s = 0;
    uint64_t functions = 0;
    size_t counted = 0;
    bool messages = false;
    char text[32], calls[80] = "", others[48] = "";
    for (size_t i = 0; i < t->all.n; i++) {
        if (!t->all.parts[i].session)
            continue;
        const struct trace_log *log = trace_session_log(t->all.parts[i].session);
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

static void drop_print(void *arg, size_t node)
{
    struct fleet_tracing *t = arg;
    trace_print_free(t->nodes[node].print);
    t->nodes[node].print = NULL;
}

/* ---- the end */

static void write_end(struct fleet_tracing *t, const struct fleet_part *p)
{
    struct error err = {0};
    t->sink.options.node = fleet_name(t->all.fleet, p->index);
    if (t->sink.options.format == SINK_TEXT) {
        char head[LIMIT_NODE_NAME_BYTES + 16];
        snprintf(head, sizeof head, "\n%% %s\n", t->sink.options.node);
        if (t->sink.output.write_errno == 0 &&
            sink_output_put(&t->sink.output, head, strlen(head), &err) != 0)
            output_failed(t, &err);
    }
    if (t->sink.output.write_errno == 0 &&
        trace_sink_end(&t->sink, trace_session_log(p->session), &err) != 0)
        output_failed(t, &err);
}

static void write_all(void *arg)
{
    struct fleet_tracing *t = arg;
    struct error ignored = {0};
    for (size_t i = 0; i < t->all.n; i++)
        if (t->all.parts[i].session)
            (void)trace_print_due(t->nodes[i].print, trace_session_log(t->all.parts[i].session),
                                  uv_now(&t->all.rt->loop), true, &ignored);
    write_due(t, INT64_MAX);
}

static void end_fleet_trace(struct fleet_tracing *t)
{
    write_all(t);
    if (t->all.options->first > 0 && t->came > t->written)
        tell_line("%llu more events came before all nodes had ended",
                  (unsigned long long)(t->came - t->written));
    for (size_t i = 0; i < t->all.n; i++)
        if (t->all.parts[i].session)
            write_end(t, &t->all.parts[i]);
    fleet_sessions_end(&t->all);
}

/* ---- turns */

static void note_rounds(void *arg)
{
    struct fleet_tracing *t = arg;
    for (size_t i = 0; i < t->all.n; i++) {
        struct live_round round;
        struct live *live = fleet_live(t->all.fleet, i);
        if (t->all.parts[i].lost || !live || !live_last_round(live, &round) ||
            round.middle_ns == t->nodes[i].last_round_ns)
            continue;
        t->nodes[i].last_round_ns = round.middle_ns;
        node_clock_add(&t->clocks[i], &(struct clock_round){.here_ns = round.middle_ns,
                                                            .offset_ns = round.mono_ns,
                                                            .bound_ns = (int64_t)(round.us * 500)});
    }
}

static void drop_clock(void *arg, size_t node)
{
    struct fleet_tracing *t = arg;
    t->clocks[node] = (struct node_clock){0};
}

/* Its VM does not keep to the caps, or what is there is none. */
static void stop_flood(struct fleet_tracing *t, size_t node)
{
    if (!t->nodes[node].floods || t->all.rt->err.code != ERR_NONE)
        return;
    (void)error_set(&t->all.rt->err, ERR_LIMIT, "%s sends more than the caps allow",
                    fleet_name(t->all.fleet, node));
    fleet_sessions_stop(&t->all);
}

static void follow_print(void *arg, struct fleet_part *p)
{
    struct fleet_tracing *t = arg;
    struct error ignored = {0};
    stop_flood(t, p->index);
    (void)trace_print_due(t->nodes[p->index].print, trace_session_log(p->session),
                          uv_now(&t->all.rt->loop), false, &ignored);
}

static void tell_first(struct fleet_tracing *t)
{
    if (t->all.options->first == 0 || t->stopped || t->came < (uint64_t)t->all.options->first)
        return;
    t->stopped = true;
    fleet_sessions_stop(&t->all);
}

static void write_turn(void *arg, size_t running)
{
    struct fleet_tracing *t = arg;
    const int64_t by_ns = (int64_t)clock_mono_ns() - SETTLE_NS;
    tell_first(t);
    if (running == 0)
        end_fleet_trace(t);
    else if (t->all.options->first == 0)
        write_due(t, by_ns);
    else
        merge_settle(t->merge, by_ns);
}

/* ---- its life */

static void begin_fleet_trace(void *arg)
{
    struct fleet_tracing *t = arg;
    t->nodes = alloc_zero(t->all.n, sizeof *t->nodes);
    t->clocks = alloc_zero(t->all.n, sizeof *t->clocks);
    t->merge = merge_new(t->clocks, t->all.n);
}

static void close_fleet_trace(struct fleet_tracing *t)
{
    for (size_t i = 0; t->nodes && i < t->all.n; i++)
        free(t->nodes[i].written);
    merge_free(t->merge);
    free(t->clocks);
    free(t->nodes);
}

int trace_fleet(const struct cli_options *o, const struct app_env *env,
                const struct trace_request *request)
{
    static const struct fleet_sessions_kind kind = {.done = "traced",
                                                    .purpose = "the trace",
                                                    .begun = begin_fleet_trace,
                                                    .check = check_events,
                                                    .open = open_traced,
                                                    .is_expensive = is_expensive,
                                                    .estimated = tell_estimate,
                                                    .dropped = drop_print,
                                                    .disconnected = drop_clock,
                                                    .turn = note_rounds,
                                                    .follow = follow_print,
                                                    .runs = write_turn,
                                                    .interrupted = write_all};
    struct fleet_tracing t = {
        .all = {.kind = &kind, .options = o, .env = env, .force = request->force},
        .request = request};
    t.all.arg = &t;
    t.wall_less_mono_us = clock_wall_us() - (int64_t)(clock_mono_ns() / 1000);
    t.sink.output.writer = sink_writer_of(stdout);
    t.sink.options = (struct trace_sink_options){
        .format = o->format == FORMAT_JSON ? SINK_JSON : SINK_TEXT,
        .ascii = o->ascii || !env->utf8,
    };
    const int code = fleet_sessions_run(&t.all);
    close_fleet_trace(&t);
    return code;
}
