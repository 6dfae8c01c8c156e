/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet_trace.h"

#include <math.h>
#include <stdlib.h>

#include "app/live/live.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
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

static struct fleet_trace *trace_of(const struct fleet_part *p)
{
    return p->all->arg;
}

/* ---- what is put */

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
static bool is_wanted(struct fleet_trace *t, const struct merge_line *line)
{
    const uint64_t most = t->first;
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

static void put_line(struct fleet_trace *t, const struct merge_line *line)
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
    t->use->put(t->user, line, &place);
}

/* All that happened by then. */
static void put_due(struct fleet_trace *t, int64_t by_ns)
{
    for (struct merge_line *line; (line = merge_take(t->merge, by_ns));) {
        if (is_wanted(t, line))
            put_line(t, line);
        t->nodes[line->node].held--;
        merge_line_free(line);
    }
}

static int keep_line(void *arg, const struct trace_log *log, const struct trace_event *event,
                     bool finished, struct error *err)
{
    const struct fleet_part *p = arg;
    struct fleet_trace *t = trace_of(p);
    struct traced_node *node = &t->nodes[p->index];
    (void)err;
    if (node->held >= 2 * trace_log_state(log)->caps.value[CAP_EVENTS] + HELD_MORE) {
        node->floods = true;
        return 0;
    }
    struct merge_line *line = t->use->keep(t->user, p, log, event, finished);
    if (!line)
        return 0;
    node->held++;
    line->node = p->index;
    line->arrived_ns = (int64_t)clock_mono_ns();
    merge_add(t->merge, line);
    return 0;
}

static void on_fleet_event(void *arg, const struct trace_event *event, bool finished)
{
    const struct fleet_part *p = arg;
    struct fleet_trace *t = trace_of(p);
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
static uint64_t share_of(uint64_t events, size_t part, size_t parts)
{
    return events / parts + (part < events % parts);
}

static int check_share(uint64_t events, size_t parts, struct error *err)
{
    if (events >= parts)
        return 0;
    return error_set(err, ERR_USAGE,
                     "%llu events for %zu nodes: give --events %zu or more, or --first",
                     (unsigned long long)events, parts, parts);
}

static int check_events(void *arg, size_t ready, struct error *err)
{
    const struct fleet_trace *t = arg;
    return t->first > 0 ? 0 : check_share(t->request->caps.value[CAP_EVENTS], ready, err);
}

static int open_traced(void *arg, struct fleet_part *p, size_t part, size_t parts,
                       const struct session_port *port, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = on_traced_change,
                                                     .on_event = on_fleet_event};
    struct fleet_trace *t = arg;
    struct trace_options options = {
        .patterns = t->patterns, .n_patterns = t->n_patterns, .request = *t->request, .hold = true};
    size_t pattern = SIZE_MAX, offset = 0;
    int rc = caps_set(
        &options.request.caps, CAP_EVENTS,
        t->first > 0 ? t->first : share_of(t->request->caps.value[CAP_EVENTS], part, parts), err);
    if (rc == 0)
        rc = trace_open(&p->session, &options, port, &handlers, p, &pattern, &offset, err);
    if (rc == ERR_USAGE && pattern < t->n_patterns && t->use->wrong)
        t->use->wrong(t->user, pattern, offset, err);
    if (rc != 0)
        return rc;
    t->nodes[p->index].print = trace_print_new(keep_line, p);
    if (t->use->opened)
        t->use->opened(t->user, p);
    return 0;
}

static bool is_expensive(const struct session *s)
{
    return trace_log_state(trace_session_log(s))->preflight.expensive;
}

static void hand_estimate(void *arg, size_t ready)
{
    struct fleet_trace *t = arg;
    t->use->estimated(t->user, ready);
}

static void drop_print(void *arg, size_t node)
{
    struct fleet_trace *t = arg;
    trace_print_free(t->nodes[node].print);
    t->nodes[node].print = NULL;
}

/* ---- what the user does to it */

static size_t count_running(const struct fleet_trace *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->all.n; i++)
        n += session_runs(t->all.parts[i].session);
    return n;
}

size_t fleet_trace_extend(struct fleet_trace *t, struct error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < t->all.n; i++)
        n += session_runs(t->all.parts[i].session) &&
             trace_extend(t->all.parts[i].session, err) == 0;
    return n;
}

/* What each that runs gets of a new cap, checked or set. */
static int set_parts(const struct fleet_trace *t, enum cap cap, uint64_t value, bool checks,
                     struct error *err)
{
    const size_t parts = count_running(t);
    size_t part = 0;
    int rc = 0;
    for (size_t i = 0; i < t->all.n && rc == 0; i++) {
        struct session *s = t->all.parts[i].session;
        if (!session_runs(s))
            continue;
        const uint64_t share = cap == CAP_EVENTS ? share_of(value, part++, parts) : value;
        rc = checks ? trace_check_cap(s, cap, share, err) : trace_set_cap(s, cap, share, err);
        if (rc != 0)
            error_context(err, "%s", fleet_name(t->all.fleet, i));
    }
    return rc;
}

int fleet_trace_set(struct fleet_trace *t, const char *words, struct error *err)
{
    struct caps caps = t->request->caps;
    enum cap cap;
    int rc = caps_parse_words(&caps, words, &cap, err);
    if (rc == 0 && cap == CAP_EVENTS && t->first > 0)
        rc = error_set(err, ERR_USAGE, "the first %llu events end it: start another trace",
                       (unsigned long long)t->first);
    if (rc == 0 && cap == CAP_EVENTS)
        rc = check_share(caps.value[cap], count_running(t), err);
    if (rc == 0)
        rc = set_parts(t, cap, caps.value[cap], true, err);
    return rc == 0 ? set_parts(t, cap, caps.value[cap], false, err) : rc;
}

int fleet_trace_narrow_pid(struct fleet_trace *t, struct slice node, const struct etf_pid *pid,
                           struct error *err)
{
    struct session *of = NULL;
    for (size_t i = 0; i < t->all.n; i++)
        if (slice_is(node, fleet_name(t->all.fleet, i)))
            of = t->all.parts[i].session;
    if (!session_runs(of))
        return error_set(err, ERR_NOT_FOUND, "the trace of %.*s has ended", (int)node.len, node.s);
    trace_narrow_pid(of, pid);
    for (size_t i = 0; i < t->all.n; i++)
        if (t->all.parts[i].session != of && session_runs(t->all.parts[i].session))
            session_stop(t->all.parts[i].session);
    return 0;
}

void fleet_trace_narrow_pattern(struct fleet_trace *t, unsigned pattern)
{
    for (size_t i = 0; i < t->all.n; i++)
        if (session_runs(t->all.parts[i].session))
            trace_narrow_pattern(t->all.parts[i].session, pattern);
}

/* ---- the end */

void fleet_trace_put_all(struct fleet_trace *t)
{
    struct error ignored = {0};
    for (size_t i = 0; i < t->all.n; i++)
        if (t->all.parts[i].session)
            (void)trace_print_due(t->nodes[i].print, trace_session_log(t->all.parts[i].session),
                                  uv_now(&t->all.rt->loop), true, &ignored);
    put_due(t, INT64_MAX);
}

static void put_interrupted(void *arg)
{
    fleet_trace_put_all(arg);
}

uint64_t fleet_trace_more(const struct fleet_trace *t)
{
    return t->first > 0 ? t->came - t->written : 0;
}

/* ---- turns */

static void note_rounds(void *arg)
{
    struct fleet_trace *t = arg;
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
    struct fleet_trace *t = arg;
    t->clocks[node] = (struct node_clock){0};
}

/* Its VM does not keep to the caps, or what is there is none. */
static void stop_flood(struct fleet_trace *t, size_t node)
{
    if (!t->nodes[node].floods || t->all.err.code != ERR_NONE)
        return;
    (void)error_set(&t->all.err, ERR_LIMIT, "%s sends more than the caps allow",
                    fleet_name(t->all.fleet, node));
    fleet_sessions_stop(&t->all);
}

static void follow_print(void *arg, struct fleet_part *p)
{
    struct fleet_trace *t = arg;
    struct error ignored = {0};
    stop_flood(t, p->index);
    (void)trace_print_due(t->nodes[p->index].print, trace_session_log(p->session),
                          uv_now(&t->all.rt->loop), false, &ignored);
}

static void tell_first(struct fleet_trace *t)
{
    if (t->first == 0 || t->stopped || t->came < t->first)
        return;
    t->stopped = true;
    fleet_sessions_stop(&t->all);
}

static void put_turn(void *arg, size_t running)
{
    struct fleet_trace *t = arg;
    const int64_t by_ns = (int64_t)clock_mono_ns() - SETTLE_NS;
    tell_first(t);
    if (running == 0) {
        fleet_trace_put_all(t);
        t->use->ended(t->user);
    } else if (t->first == 0) {
        put_due(t, by_ns);
    } else {
        merge_settle(t->merge, by_ns);
    }
}

/* ---- its life */

static void begin_fleet_trace(void *arg)
{
    struct fleet_trace *t = arg;
    t->n_nodes = t->all.n;
    t->nodes = alloc_zero(t->all.n + 1, sizeof *t->nodes);
    t->clocks = alloc_zero(t->all.n + 1, sizeof *t->clocks);
    t->merge = merge_new(t->clocks, t->all.n);
}

void fleet_trace_init(struct fleet_trace *t)
{
    static const struct fleet_sessions_kind kind = {.done = "traced",
                                                    .purpose = "the trace",
                                                    .begun = begin_fleet_trace,
                                                    .check = check_events,
                                                    .open = open_traced,
                                                    .is_expensive = is_expensive,
                                                    .estimated = hand_estimate,
                                                    .dropped = drop_print,
                                                    .disconnected = drop_clock,
                                                    .turn = note_rounds,
                                                    .follow = follow_print,
                                                    .runs = put_turn,
                                                    .interrupted = put_interrupted};
    t->all.kind = &kind;
    t->all.arg = t;
    t->wall_less_mono_us = clock_wall_us() - (int64_t)(clock_mono_ns() / 1000);
}

void fleet_trace_clear(struct fleet_trace *t)
{
    for (size_t i = 0; t->nodes && i < t->n_nodes; i++)
        free(t->nodes[i].written);
    merge_free(t->merge);
    free(t->clocks);
    free(t->nodes);
    t->merge = NULL;
    t->clocks = NULL;
    t->nodes = NULL;
}

bool fleet_trace_is_elixir(const struct fleet_trace *t, const struct trace_log *log)
{
    return trace_log_syntax(log, t->request->syntax) == SYNTAX_ELIXIR;
}
