/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests over several nodes, as one capture: prepared on each, set when all have said yes. No
 * request begins before all are set. Each node keeps to its part of the events, and ends by itself;
 * once enough requests have begun on all of them none does any more, and when these have returned
 * the capture ends. A node that is lost ends its part only. */
#include "spans_fleet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/cli/tell.h"
#include "app/fleet/fleet_sessions.h"
#include "app/live/live.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "beamtop/trace/spans.h"
#include "spans_tell.h"

/* Answers of a node after the last request has returned: one may have been under way. They come
 * 250 ms apart; casts and tasks go on in between. */
#define LAST_ANSWERS 2

struct followed_node {
    uint64_t bytes; /* of its answers, when the last one was seen */
    unsigned answers;
};

struct following {
    struct fleet_sessions all;
    struct followed_node *nodes;
    bool begun;    /* requests may begin */
    bool enough;   /* … and do no more … */
    bool returned; /* … and all are over */
    bool printed;
    bool shown_progress;
};

/* NULL: it takes no part. */
static const struct spans_run *run_of(const struct following *t, size_t node)
{
    const struct session *s = t->all.parts[node].session;
    return s ? spans_session_run(s) : NULL;
}

/* ---- the sessions */

static void on_followed_change(void *arg)
{
    (void)arg; /* the next turn looks at all of them */
}

static int check_nodes(void *arg, size_t ready, struct error *err)
{
    const struct following *t = arg;
    const unsigned events = t->all.options->request.events;
    if (ready > LIMIT_SPAN_NODES)
        return error_set(err, ERR_USAGE, "%zu nodes: spans follows requests over up to %u", ready,
                         LIMIT_SPAN_NODES);
    return events >= ready ? 0
                           : error_set(err, ERR_USAGE,
                                       "%u events for %zu nodes: give --events %zu "
                                       "or more",
                                       events, ready, ready);
}

/* Names of the others, as their nodes say them; LIMIT_SPAN_NODES at most. */
static size_t find_others(const struct following *t, size_t node, const char **names)
{
    size_t n = 0;
    for (size_t i = 0; i < t->all.n && n < LIMIT_SPAN_NODES; i++) {
        struct session_port port;
        struct error ignored = {0};
        struct live *live = i != node ? fleet_live(t->all.fleet, i) : NULL;
        if (live && live_port(live, &port, &ignored) == 0)
            names[n++] = port.node;
    }
    return n;
}

static int open_followed(void *arg, struct fleet_part *p, size_t part, size_t parts,
                         const struct session_port *port, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = on_followed_change};
    const struct following *t = arg;
    const struct cli_options *o = t->all.options;
    const char *names[LIMIT_SPAN_NODES];
    struct spans_capture what = {
        .patterns = o->rest,
        .n_patterns = o->n_rest,
        .request = o->request,
        .hold = true,
        .others = names,
        .n_others = find_others(t, p->index, names),
    };
    const unsigned each = o->request.events / (unsigned)parts;
    what.request.events = each + (part < o->request.events % (unsigned)parts);
    live_pause(fleet_live(t->all.fleet, p->index), true); /* no tick is needed after that */
    return spans_open(&p->session, &what, port, &handlers, p, NULL, NULL, err);
}

static bool is_expensive(const struct session *s)
{
    return spans_session_run(s)->expensive;
}

/* ---- the estimate */

struct estimate {
    uint64_t functions, called; /* of the node that has most */
    size_t begins;              /* nodes on which requests may begin */
    size_t counted, uncounted;  /* nodes with such functions, by whether their calls are known */
    double calls_per_s, load;   /* of all; of the one with most */
};

static struct estimate estimate_all(const struct following *t)
{
    struct estimate e = {0};
    for (size_t i = 0; i < t->all.n; i++) {
        const struct spans_run *run = run_of(t, i);
        if (!run)
            continue;
        e.begins += run->functions > 0;
        e.functions = run->functions > e.functions ? run->functions : e.functions;
        e.called = run->called > e.called ? run->called : e.called;
        if (run->functions == 0 && run->called == 0)
            continue;
        const bool is_known = !isnan(run->calls_per_s);
        e.counted += is_known;
        e.uncounted += !is_known;
        e.calls_per_s += run->calls_per_s > 0 ? run->calls_per_s : 0;
        e.load = run->load > e.load ? run->load : e.load;
    }
    return e;
}

/* A pattern that fits nowhere is a wrong one. */
static void refuse_nothing(struct following *t, const char *pattern, const char *what)
{
    struct error err = {0};
    (void)error_set(&err, ERR_NOT_FOUND, "no %s on any of these nodes: %.200s", what, pattern);
    fleet_sessions_refuse(&t->all, &err);
}

static void tell_spans_estimate(void *arg, size_t ready)
{
    struct following *t = arg;
    const struct cli_options *o = t->all.options;
    const struct estimate e = estimate_all(t);
    char calls[32], cost[160] = "", uncounted[48] = "";
    if (ready > 0 && e.begins == 0) {
        refuse_nothing(t, o->rest[0], "root function");
        return;
    }
    if (ready > 0 && o->request.calls && e.called == 0) {
        refuse_nothing(t, o->request.calls, "function for --calls");
        return;
    }
    if (e.counted > 0)
        snprintf(cost, sizeof cost,
                 ", about %s calls/s on all: checking them costs a node %s%.2g%% of a core at most",
                 text_integer(calls, sizeof calls, (int64_t)e.calls_per_s),
                 e.load < 0.001 ? "below " : "about ", e.load < 0.001 ? 0.1 : e.load * 100);
    if (e.uncounted > 0)
        snprintf(uncounted, sizeof uncounted, "%s calls not counted on %zu",
                 e.counted > 0 ? ";" : ",", e.uncounted);
    tell_line("%zu node%s, up to %llu root function%s on %zu of them%s%s", ready,
              ready == 1 ? "" : "s", (unsigned long long)e.functions, e.functions == 1 ? "" : "s",
              e.begins, cost, uncounted);
}

/* ---- what came */

/* Something was set there. */
static bool has_captured(const struct following *t, size_t node)
{
    const struct spans_run *run = run_of(t, node);
    return run && !run->status.check.unarmed && run->status.phase >= SESSION_RUNNING &&
           run->status.phase != SESSION_FAILED;
}

/* All that there is, once; the first node has the others'. */
static void print_spans(void *arg)
{
    struct following *t = arg;
    const struct spans_run **runs = alloc_zero(t->all.n + 1, sizeof *runs);
    struct session *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < t->all.n; i++) {
        if (!has_captured(t, i))
            continue;
        if (first)
            runs[n++] = run_of(t, i);
        else
            first = t->all.parts[i].session;
    }
    if (t->shown_progress)
        tell_progress("%s", "");
    if (first && !t->printed) {
        spans_session_join(first, runs, n);
        spans_tell_capture(spans_session_run(first), t->all.options, t->all.env);
    }
    t->printed = true;
    free(runs);
}

/* You do not wait for those that do not end. */
static void print_now(void *arg)
{
    const struct following *t = arg;
    print_spans(arg);
    for (size_t i = 0; i < t->all.n; i++)
        if (session_runs(t->all.parts[i].session))
            tell_line("%s has not ended: what it had sent is shown", fleet_name(t->all.fleet, i));
}

static void end_following(struct following *t)
{
    print_spans(t);
    for (size_t i = 0; i < t->all.n; i++)
        if (has_captured(t, i))
            spans_tell_left(run_of(t, i), fleet_name(t->all.fleet, i), t->all.options);
    fleet_sessions_end(&t->all);
}

/* ---- turns */

static void follow_answers(void *arg, struct fleet_part *p)
{
    struct following *t = arg;
    struct followed_node *node = &t->nodes[p->index];
    const uint64_t bytes = spans_session_run(p->session)->bytes;
    node->answers += bytes != node->bytes;
    node->bytes = bytes;
}

static void tell_all(struct following *t, void (*tell)(struct session *s))
{
    for (size_t i = 0; i < t->all.n; i++)
        if (t->all.parts[i].session)
            tell(t->all.parts[i].session);
}

/* When each is set, or never will be. */
static void begin_requests(void *arg)
{
    struct following *t = arg;
    if (t->begun || t->all.phase != FLEET_RUNS)
        return;
    for (size_t i = 0; i < t->all.n; i++)
        if (t->all.parts[i].session && fleet_part_phase(&t->all.parts[i]) < SESSION_RUNNING)
            return;
    t->begun = true;
    tell_all(t, spans_session_begin);
}

struct progress {
    unsigned roots, open;
    uint64_t events;
    double seconds;
    size_t begins;  /* running nodes on which requests may begin */
    unsigned least; /* answers of each that runs */
};

static struct progress progress_of(const struct following *t)
{
    struct progress p = {.least = LAST_ANSWERS};
    for (size_t i = 0; i < t->all.n; i++) {
        const struct spans_run *run = run_of(t, i);
        if (!run)
            continue;
        p.roots += run->roots;
        p.events += run->events;
        p.seconds = run->seconds > p.seconds ? run->seconds : p.seconds;
        if (!session_runs(t->all.parts[i].session) || run->end != SPANS_END_NONE)
            continue;
        p.open += run->open;
        p.begins += run->functions > 0;
        p.least = t->nodes[i].answers < p.least ? t->nodes[i].answers : p.least;
    }
    return p;
}

static void tell_how_far(struct following *t, const struct progress *p)
{
    const struct trace_request *request = &t->all.options->request;
    if (!t->all.env->err_tty)
        return;
    t->shown_progress = true;
    tell_progress(
        "%u of %u roots, %u not returned yet, %llu events, %.0f of %.0f s (Ctrl-C stops it)",
        p->roots, request->roots, p->open, (unsigned long long)p->events, p->seconds,
        request->for_ms / 1000.0);
}

/* Enough have begun: none does from now on. They have returned: it ends everywhere. */
static void end_requests(struct following *t, const struct progress *p)
{
    if (!t->enough && p->roots >= t->all.options->request.roots) {
        t->enough = true;
        tell_all(t, spans_session_enough);
    } else if (t->enough && !t->returned && p->open == 0 && p->least >= LAST_ANSWERS) {
        t->returned = true;
        tell_all(t, spans_session_returned);
    } else if (p->begins == 0 && !t->returned) {
        fleet_sessions_stop(&t->all);
    }
}

static void follow_requests(void *arg, size_t running)
{
    struct following *t = arg;
    const struct progress p = progress_of(t);
    if (running == 0) {
        end_following(t);
        return;
    }
    if (!t->begun)
        return;
    tell_how_far(t, &p);
    end_requests(t, &p);
    if (!t->enough || p.open > 0)
        for (size_t i = 0; i < t->all.n; i++)
            t->nodes[i].answers = 0;
}

/* ---- its life */

static void begin_following(void *arg)
{
    struct following *t = arg;
    t->nodes = alloc_zero(t->all.n, sizeof *t->nodes);
}

int spans_fleet(const struct cli_options *o, const struct app_env *env)
{
    static const struct fleet_sessions_kind kind = {.done = "captured",
                                                    .purpose = "the capture",
                                                    .begun = begin_following,
                                                    .check = check_nodes,
                                                    .open = open_followed,
                                                    .is_expensive = is_expensive,
                                                    .estimated = tell_spans_estimate,
                                                    .turn = begin_requests,
                                                    .follow = follow_answers,
                                                    .runs = follow_requests,
                                                    .interrupted = print_now};
    struct following t = {
        .all = {.kind = &kind, .options = o, .env = env, .force = o->request.force}};
    t.all.arg = &t;
    const int code = fleet_sessions_run(&t.all);
    free(t.nodes);
    return code;
}
