/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop trace`: one trace without a screen, from its words to the proof that nothing is left. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/output/trace_sink.h"
#include "beamtop/trace/trace.h"
#include "app/cli/commands.h"
#include "app/fleet/fleet.h"
#include "app/command/batch.h"
#include "app/source/replay.h"
#include "app/command/settings.h"
#include "app/source/target.h"
#include "app/command/session_file.h"
#include "app/cli/tell.h"
#include "trace_fleet.h"
#include "trace_print.h"
#include "trace_arguments.h"

#define TICK_MS 100u

struct tracing {
    const struct cli_options *options;
    const struct app_env *env;
    struct trace_request request; /* with what the configuration says */
    struct batch *run;            /* from open_session on */
    struct trace_sink sink;
    struct trace_print *print;
    bool reported;
};

static const struct trace_state *traced_state(const struct tracing *t)
{
    return trace_log_state(trace_session_log(t->run->session));
}

/* Lines that waited for a name; at the end all that are left. */
static void print_due(struct tracing *t, bool all)
{
    struct error err = {0};
    if (!t->print || t->sink.output.write_errno != 0)
        return;
    if (trace_print_due(t->print, trace_session_log(t->run->session), uv_now(&t->run->rt.loop), all,
                        &err) != 0)
        batch_output_failed(t->run, t->sink.output.write_errno, &err);
}

/* ---- events of the session */

static void tell_preflight(struct tracing *t, const struct trace_state *state)
{
    const struct trace_preflight *p = &state->preflight;
    char calls[32];
    if (t->reported)
        return;
    t->reported = true;
    fputs("beamtop: ", stderr);
    if (p->functions > 0)
        fprintf(stderr, "%llu function%s%s", (unsigned long long)p->functions,
                p->functions == 1 ? "" : "s",
                p->functions_cut ? " (more match: the cap takes so many)" : "");
    if (trace_log_has_messages(trace_session_log(t->run->session)))
        fprintf(stderr, "%smessages (not counted before)", p->functions > 0 ? " and " : "");
    tell_to(stderr, ", %s",
            strcmp(state->status.procs, "all") != 0 ? state->status.procs : "all processes");
    if (p->processes > 0)
        fprintf(stderr, " (%llu)", (unsigned long long)p->processes);
    if (p->count_ms > 0 && p->calls_per_s < 1)
        fprintf(stderr, ", no call in %.0f ms", p->count_ms);
    else if (p->count_ms > 0)
        fprintf(stderr, ", about %s calls/s",
                text_integer(calls, sizeof calls, (int64_t)p->calls_per_s));
    if (*p->others)
        tell_to(stderr, "; set by others: %s", p->others);
    fputs("\n", stderr);
}

/* A dry run ends as the trace would have, had it come here. */
static bool trace_asks(void *arg)
{
    struct tracing *t = arg;
    const struct trace_state *state = traced_state(t);
    struct error err = {0};
    tell_preflight(t, state);
    bool refused = state->preflight.expensive && !t->options->request.force;
    if ((t->options->dry_run || (refused && t->options->format == FORMAT_JSON)) &&
        trace_sink_end(&t->sink, trace_session_log(t->run->session), &err) != 0) {
        runtime_end(&t->run->rt, EXIT_FAILED, &err);
    } else if (refused) {
        session_refuse_cost(&err, t->run->session);
        runtime_end(&t->run->rt, EXIT_REFUSED, &err);
    } else {
        runtime_end(&t->run->rt, EXIT_DONE, NULL);
    }
    return true;
}

/* The output says why it ended; only the exit code is left. */
static void end_traced_run(void *arg)
{
    struct tracing *t = arg;
    struct error err = {0};
    const struct error trouble = session_trouble(t->run->session);
    print_due(t, true);
    int rc = trace_sink_end(&t->sink, trace_session_log(t->run->session), &err);
    bool failed = rc != 0 && t->sink.output.write_errno != EPIPE;
    bool wrong = failed || t->run->rt.err.code != ERR_NONE || trouble.code != ERR_NONE;
    runtime_end(&t->run->rt,
                trouble.code == ERR_LOST ? EXIT_LOST
                : wrong                  ? EXIT_FAILED
                                         : batch_exit_code(t->run),
                failed ? &err : NULL);
}

/* The estimate is reported once the trace is set: readers may start then. */
static void traced_run_changed(void *arg)
{
    struct tracing *t = arg;
    const struct trace_state *state = traced_state(t);
    const enum session_phase phase = state->status.phase;
    print_due(t, false);
    if (phase == SESSION_FAILED && t->options->format == FORMAT_JSON)
        trace_sink_end(&t->sink, trace_session_log(t->run->session), &t->run->rt.err);
    else if (phase == SESSION_RUNNING || phase == SESSION_PAUSED || phase == SESSION_ENDING ||
             phase == SESSION_VERIFYING || (phase == SESSION_ENDED && !state->status.check.unarmed))
        tell_preflight(t, state);
}

static void on_traced_event(void *arg, const struct trace_event *event, bool finished)
{
    struct tracing *t = batch_arg(arg);
    struct error err = {0};
    tell_preflight(t, traced_state(t));
    if (trace_print_event(t->print, trace_session_log(t->run->session), event, finished,
                          uv_now(&t->run->rt.loop), &err) != 0)
        batch_output_failed(t->run, t->sink.output.write_errno, &err);
}

/* ---- the session */

static struct trace_options traced_options(const struct tracing *t)
{
    const struct cli_options *o = t->options;
    return (struct trace_options){
        .patterns = o->rest,
        .n_patterns = o->n_rest,
        .request = t->request,
        .dry_run = o->dry_run,
    };
}

/* What is printed is in the spelling asked for, else in that of the first pattern. */
static enum print_syntax trace_spelling(const struct tracing *t)
{
    enum syntax syntax = trace_log_syntax(trace_session_log(t->run->session), t->request.syntax);
    return syntax == SYNTAX_ELIXIR ? PRINT_ELIXIR : PRINT_ERLANG;
}

static int put_traced_event(void *arg, const struct trace_log *log, const struct trace_event *event,
                            bool finished, struct error *err)
{
    return trace_sink_event(arg, log, event, finished, err);
}

static int open_traced_run(void *arg, struct batch *run, const struct session_port *port,
                           struct error *err)
{
    struct tracing *t = arg;
    t->run = run;
    static const struct session_handlers handlers = {.on_change = batch_session_changed,
                                                     .on_event = on_traced_event};
    const struct trace_options options = traced_options(t);
    int rc = trace_open(&run->session, &options, port, &handlers, run, &run->wrong_pattern,
                        &run->wrong_offset, err);
    if (rc != 0)
        return rc;
    t->sink.output.writer = sink_writer_of(stdout);
    t->sink.options = (struct trace_sink_options){
        .format = t->options->format == FORMAT_JSON ? SINK_JSON : SINK_TEXT,
        .syntax = trace_spelling(t),
        .node = session_port(run->session)->node,
        .ascii = t->options->ascii || !t->env->utf8,
    };
    t->print = trace_print_new(put_traced_event, &t->sink);
    return 0;
}

/* ---- the words */

int command_trace(const struct cli_options *o, const struct app_env *env)
{
    struct tracing t = {.options = o, .env = env};
    struct error err = {0};
    int code = EXIT_DONE;
    const bool several = fleet_is_asked(o);
    if (o->target && replay_is_file(o->target)) /* its name may have a comma */
        return session_file_traces(o, env);
    if (!several && (o->request.first > 0 || o->partial))
        (void)error_set(&err, ERR_USAGE,
                        "--first and --partial are for several nodes: "
                        "beamtop trace NODE,NODE PATTERN…");
    if (err.code != ERR_NONE || (!several && target_check_name(o->target, &err) != 0))
        code = tell_error(&err);
    if (code == EXIT_DONE && o->n_rest == 0) {
        fputs("beamtop: usage: beamtop trace NODE PATTERN…, or beamtop trace FILE of a recording\n",
              stderr);
        code = EXIT_USAGE;
    }
    if (code == EXIT_DONE)
        code = trace_arguments_settings(&t.request, o, env);
    if (code == EXIT_DONE)
        code = trace_arguments_check(o->rest, o->n_rest, &t.request);
    if (code != EXIT_DONE)
        return code;
    if (several)
        return trace_fleet(o, env, &t.request);
    const struct batch_job job = {.options = o,
                                  .env = env,
                                  .open = open_traced_run,
                                  .patterns = o->rest,
                                  .n_patterns = o->n_rest,
                                  .changed = traced_run_changed,
                                  .asking = trace_asks,
                                  .ended = end_traced_run,
                                  .turn_ms = TICK_MS,
                                  .arg = &t};
    code = batch_run(&job);
    trace_print_free(t.print);
    return code;
}
