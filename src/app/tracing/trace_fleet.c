/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop trace` of several nodes: lines on the standard output, in the order of fleet_trace.h. */
#include "trace_fleet.h"

#include <stdio.h>
#include <string.h>

#include "app/cli/error_at.h"
#include "app/cli/tell.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "beamtop/output/trace_line.h"
#include "beamtop/trace/trace.h"
#include "fleet_trace.h"

struct printed_trace {
    struct fleet_trace trace;
    struct trace_sink sink;
};

/* ---- what is written */

static void output_failed(struct printed_trace *t, const struct error *err)
{
    fleet_sessions_output_failed(&t->trace.all, t->sink.output.write_errno, err);
}

static void write_line(void *user, const struct merge_line *line, const struct trace_place *place)
{
    struct printed_trace *t = user;
    struct error err = {0};
    struct trace_line shown = line->line;
    shown.place = place;
    if (t->sink.output.write_errno == 0 && trace_sink_put_line(&t->sink, &shown, &err) != 0)
        output_failed(t, &err);
}

/* The texts of a line are those of the log: a copy keeps them until its turn comes. */
static struct merge_line *copy_line(void *user, const struct fleet_part *p,
                                    const struct trace_log *log, const struct trace_event *event,
                                    bool finished)
{
    const struct printed_trace *t = user;
    struct merge_line *line = alloc_zero(1, sizeof *line);
    (void)p;
    arena_init(&line->arena);
    trace_line_make(&line->line,
                    &(struct trace_layout){&line->arena, t->sink.options.syntax, VALUES_WHOLE}, log,
                    event, finished);
    trace_line_keep(&line->line, &line->arena);
    return line;
}

/* ---- before it is set */

static void choose_syntax(void *user, const struct fleet_part *p)
{
    struct printed_trace *t = user;
    const bool elixir = fleet_trace_is_elixir(&t->trace, trace_session_log(p->session));
    t->sink.options.syntax = elixir ? PRINT_ELIXIR : PRINT_ERLANG;
}

static void print_wrong(void *user, size_t pattern, size_t offset, const struct error *err)
{
    const struct printed_trace *t = user;
    error_at_print(t->trace.patterns[pattern], offset, err);
}

/* Calls that were not counted, and messages, are not taken for none. */
static void tell_estimate(void *user, size_t ready)
{
    const struct printed_trace *t = user;
    double calls_per_s = 0;
    uint64_t functions = 0;
    size_t counted = 0;
    bool messages = false;
    char text[32], calls[80] = "", others[48] = "";
    for (size_t i = 0; i < t->trace.all.n; i++) {
        if (!t->trace.all.parts[i].session)
            continue;
        const struct trace_log *log = trace_session_log(t->trace.all.parts[i].session);
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

/* ---- the end */

static void write_end(struct printed_trace *t, const struct fleet_part *p)
{
    struct error err = {0};
    t->sink.options.node = fleet_name(t->trace.all.fleet, p->index);
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

static void write_ends(void *user)
{
    struct printed_trace *t = user;
    const uint64_t more = fleet_trace_more(&t->trace);
    if (more > 0)
        tell_line("%llu more events came before all nodes had ended", (unsigned long long)more);
    for (size_t i = 0; i < t->trace.all.n; i++)
        if (t->trace.all.parts[i].session)
            write_end(t, &t->trace.all.parts[i]);
    fleet_sessions_end(&t->trace.all);
}

int trace_fleet(const struct cli_options *o, const struct app_env *env,
                const struct trace_request *request)
{
    static const struct fleet_trace_user use = {.keep = copy_line,
                                                .put = write_line,
                                                .opened = choose_syntax,
                                                .wrong = print_wrong,
                                                .estimated = tell_estimate,
                                                .ended = write_ends};
    struct printed_trace t = {.trace = {.all = {.options = o, .env = env, .force = request->force},
                                        .use = &use,
                                        .user = &t,
                                        .request = request,
                                        .patterns = o->rest,
                                        .n_patterns = o->n_rest,
                                        .first = request->first}};
    fleet_trace_init(&t.trace);
    t.sink.output.writer = sink_writer_of(stdout);
    t.sink.options = (struct trace_sink_options){
        .format = o->format == FORMAT_JSON ? SINK_JSON : SINK_TEXT,
        .ascii = o->ascii || !env->utf8,
    };
    const int code = fleet_sessions_run(&t.trace.all);
    fleet_trace_clear(&t.trace);
    return code;
}
