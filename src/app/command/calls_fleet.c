/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows of counted calls on several nodes: prepared on each, set when all have said yes, each
 * counted, limited and verified by itself. The windows of one number are added up as soon as all
 * have given theirs, the last ones when all have been verified. */
#include "calls_fleet.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/cli/tell.h"
#include "app/fleet/fleet_sessions.h"
#include "app/live/live.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "beamtop/trace/calls_log.h"

#define WAITING 4           /* windows of a node, for those of the others */
#define ROWS_TOGETHER 50000 /* of all nodes: what they are asked for beyond --top */
#define ROWS_MOST 200000

struct counted_node {
    struct calls_log waiting[WAITING]; /* by their numbers */
    uint64_t late;                     /* windows that came when their sum was printed */
};

struct fleet_counting {
    struct fleet_sessions all;
    struct calls_options options;
    size_t top; /* functions to print */
    struct calls_sink sink;
    struct counted_node *nodes;
    uint64_t printed; /* windows */
};

static struct fleet_counting *counting_of(const struct fleet_part *p)
{
    return p->all->arg;
}

/* ---- what is printed */

/* NULL: the node has not given it. */
static const struct calls_window *window_of(const struct fleet_counting *t, size_t node,
                                            uint64_t number)
{
    const struct calls_log *log = &t->nodes[node].waiting[number % WAITING];
    return log->has_window && log->window.number == number ? &log->window : NULL;
}

static bool is_clean(const struct session *s)
{
    const struct session_check *check = &session_status(s)->check;
    return check->done && check->clean;
}

/* Why a node is not in the sum, in the arena. */
static struct slice why_missing(const struct fleet_part *p, struct arena *arena)
{
    if (!p->session)
        return slice_of("left out");
    if (session_runs(p->session))
        return slice_of("its window is late");
    const struct error trouble = session_trouble(p->session);
    if (trouble.code == ERR_LOST)
        return slice_of(arena_printf(arena, "not verified: %s", trouble.text));
    return slice_of(trouble.code == ERR_NONE ? "it has ended before"
                                             : arena_strdup(arena, trouble.text));
}

static struct calls_part part_of_window(const struct fleet_counting *t, size_t node,
                                        uint64_t number, struct arena *arena)
{
    const struct fleet_part *p = &t->all.parts[node];
    struct calls_part part = {.node = slice_of(fleet_name(t->all.fleet, node)),
                              .window = window_of(t, node, number)};
    part.counted = part.window && p->session && (session_runs(p->session) || is_clean(p->session));
    if (!part.counted)
        part.why = why_missing(p, arena);
    return part;
}

static void print_next(struct fleet_counting *t)
{
    const uint64_t number = ++t->printed;
    struct calls_several window;
    struct error err = {0};
    struct arena arena;
    arena_init(&arena);
    struct calls_part *parts = alloc_zero(t->all.n, sizeof *parts);
    for (size_t i = 0; i < t->all.n; i++)
        parts[i] = part_of_window(t, i, number, &arena);
    calls_several_make(&window, &arena, number, parts, t->all.n, t->top);
    if (t->sink.output.write_errno == 0 && calls_sink_several(&t->sink, &window, parts, &err) != 0)
        fleet_sessions_output_failed(&t->all, t->sink.output.write_errno, &err);
    free(parts);
    arena_clear(&arena);
    for (size_t i = 0; i < t->all.n; i++)
        if (window_of(t, i, number))
            calls_log_clear(&t->nodes[i].waiting[number % WAITING]);
}

static void on_counted_window(void *arg, const struct calls_window *window)
{
    const struct fleet_part *p = arg;
    struct fleet_counting *t = counting_of(p);
    if (window->number <= t->printed) {
        t->nodes[p->index].late++;
        return;
    }
    while (window->number > t->printed + WAITING)
        print_next(t);
    calls_log_window(&t->nodes[p->index].waiting[window->number % WAITING], window);
}

/* ---- the sessions */

/* Together: else one node would soon be windows ahead of another. */
static void open_windows(struct fleet_counting *t)
{
    for (size_t i = 0; i < t->all.n; i++) {
        const struct session *s = t->all.parts[i].session;
        const enum session_phase phase = s ? session_status(s)->phase : SESSION_ENDED;
        if (phase < SESSION_ENDING && (phase != SESSION_WAITING || calls_session_due_ms(s) > 0))
            return;
    }
    for (size_t i = 0; i < t->all.n; i++) {
        struct session *s = t->all.parts[i].session;
        if (s && session_status(s)->phase == SESSION_WAITING)
            calls_session_next(s);
    }
}

static void on_counted_change(void *arg)
{
    const struct fleet_part *p = arg;
    if (p->all->phase == FLEET_RUNS)
        open_windows(counting_of(p));
}

static int check_rows(void *arg, size_t ready, struct error *err)
{
    const struct fleet_counting *t = arg;
    return t->top <= ROWS_MOST / ready
               ? 0
               : error_set(err, ERR_USAGE, "--top %zu of %zu nodes: at most %zu of so many nodes",
                           t->top, ready, ROWS_MOST / ready);
}

/* A function that one node calls most may be far down in the list of another. Times cost more with
 * each function, so then only the first ones are asked for. */
static unsigned rows_of_node(const struct fleet_counting *t, size_t parts)
{
    const size_t most = LIMIT_CALLS_ROWS, share = ROWS_TOGETHER / parts;
    if (t->options.time || t->options.memory || share < t->top)
        return (unsigned)t->top;
    return (unsigned)(share < most ? share : most);
}

static int open_counted(void *arg, struct fleet_part *p, size_t part, size_t parts,
                        const struct session_port *port, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = on_counted_change,
                                                     .on_window = on_counted_window};
    const struct fleet_counting *t = arg;
    struct calls_options options = t->options;
    (void)part;
    options.hold = options.paced = true;
    options.dry_run = false; /* held, it waits as well */
    options.top = rows_of_node(t, parts);
    live_pause(fleet_live(t->all.fleet, p->index), true); /* ticks are calls */
    return calls_open(&p->session, &options, port, &handlers, p, NULL, NULL, err);
}

static bool is_expensive(const struct session *s)
{
    return calls_session_state(s)->expensive;
}

static void tell_limits(const struct fleet_counting *t, const struct fleet_part *p)
{
    const struct calls_state *state = calls_session_state(p->session);
    char limits[120], cost[32];
    calls_limits_text(limits, sizeof limits, state);
    if (*limits)
        tell_line("%s: counting costs %s of the node%s", fleet_name(t->all.fleet, p->index),
                  calls_cost_text(cost, sizeof cost, state->load), limits);
}

static void tell_estimates(void *arg, size_t ready)
{
    struct fleet_counting *t = arg;
    double calls_per_s = 0, load = 0;
    uint64_t functions = 0;
    char calls[32], cost[32];
    for (size_t i = 0; i < t->all.n; i++) {
        const struct fleet_part *p = &t->all.parts[i];
        if (!p->session)
            continue;
        const struct calls_state *state = calls_session_state(p->session);
        functions = state->functions > functions ? state->functions : functions;
        calls_per_s += state->calls_per_s > 0 ? state->calls_per_s : 0;
        load = state->load > load ? state->load : load;
        tell_limits(t, p);
    }
    tell_line("%zu node%s, up to %llu functions, about %s calls/s on all of them: counting costs "
              "a node %s at most",
              ready, ready == 1 ? "" : "s", (unsigned long long)functions,
              text_integer(calls, sizeof calls, (int64_t)calls_per_s),
              calls_cost_text(cost, sizeof cost, load));
}

/* ---- turns */

/* All that can still give it have. Those of the last one are verified first. */
static bool is_complete(const struct fleet_counting *t, uint64_t number)
{
    bool found = false;
    for (size_t i = 0; i < t->all.n; i++) {
        const struct session *s = t->all.parts[i].session;
        const bool runs = session_runs(s);
        if (runs && (!window_of(t, i, number) || number == t->options.windows))
            return false;
        found = found || window_of(t, i, number);
    }
    return found;
}

static bool has_windows(const struct fleet_counting *t)
{
    for (size_t i = 0; i < t->all.n; i++)
        for (size_t k = 0; k < WAITING; k++)
            if (t->nodes[i].waiting[k].has_window)
                return true;
    return false;
}

static void tell_end(const struct fleet_counting *t, const struct fleet_part *p)
{
    char text[sizeof session_status(p->session)->check.text];
    const char *name = fleet_name(t->all.fleet, p->index);
    if (t->nodes[p->index].late > 0)
        tell_line("%s: %llu windows came too late and are in no sum", name,
                  (unsigned long long)t->nodes[p->index].late);
    if (t->all.options->format != FORMAT_TEXT || !is_clean(p->session))
        return;
    session_check_text(text, sizeof text, &session_status(p->session)->check, name);
    tell_line("%s", text);
}

/* What is there is printed, whoever is missing. */
static void print_rest(void *arg)
{
    struct fleet_counting *t = arg;
    while (has_windows(t))
        print_next(t);
}

static void print_turn(void *arg, size_t running)
{
    struct fleet_counting *t = arg;
    open_windows(t);
    while (is_complete(t, t->printed + 1))
        print_next(t);
    if (running > 0)
        return;
    print_rest(t);
    for (size_t i = 0; i < t->all.n; i++)
        if (t->all.parts[i].session)
            tell_end(t, &t->all.parts[i]);
    fleet_sessions_end(&t->all);
}

/* ---- its life */

static void begin_counting(void *arg)
{
    struct fleet_counting *t = arg;
    t->nodes = alloc_zero(t->all.n, sizeof *t->nodes);
    for (size_t i = 0; i < t->all.n; i++)
        for (size_t k = 0; k < WAITING; k++)
            calls_log_init(&t->nodes[i].waiting[k]);
}

static void end_counting(struct fleet_counting *t)
{
    for (size_t i = 0; t->nodes && i < t->all.n; i++)
        for (size_t k = 0; k < WAITING; k++)
            calls_log_clear(&t->nodes[i].waiting[k]);
    free(t->nodes);
}

int calls_fleet(const struct cli_options *o, const struct app_env *env,
                const struct calls_options *options, const struct calls_sink_options *sink)
{
    static const struct fleet_sessions_kind kind = {.done = "counted",
                                                    .purpose = "the counting",
                                                    .begun = begin_counting,
                                                    .check = check_rows,
                                                    .open = open_counted,
                                                    .is_expensive = is_expensive,
                                                    .estimated = tell_estimates,
                                                    .runs = print_turn,
                                                    .interrupted = print_rest};
    struct fleet_counting t = {
        .all = {.kind = &kind, .options = o, .env = env, .force = options->force},
        .options = *options,
        .top = options->top,
        .sink = {.output = {.writer = sink_writer_of(stdout)}, .options = *sink}};
    t.all.arg = &t;
    const int code = fleet_sessions_run(&t.all);
    end_counting(&t);
    return code;
}
