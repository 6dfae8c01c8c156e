/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop calls`: windows of counted calls without a screen, to the proof that nothing is left. */
#include <stdio.h>

#include "beamtop/base/attr.h"
#include "beamtop/output/calls_sink.h"
#include "beamtop/trace/calls.h"
#include "beamtop/trace/calls_log.h"
#include "app/cli/commands.h"
#include "batch.h"
#include "calls_fleet.h"
#include "app/cli/error_at.h"
#include "app/fleet/fleet.h"
#include "app/source/replay.h"
#include "session_file.h"

#define TICK_MS 50u

struct counting {
    const struct cli_options *options;
    const struct app_env *env;
    struct batch *run; /* from open_session on */
    struct calls_sink sink;
    bool reported;
};

/* ---- events of the session */

static void tell_calls_estimate(void *arg)
{
    struct counting *t = arg;
    const struct calls_state *state = calls_session_state(t->run->session);
    char limits[120], cost[32];
    if (t->reported || !(state->calls_per_s >= 0))
        return;
    t->reported = true;
    calls_limits_text(limits, sizeof limits, state);
    /* JSON has keys for it; other formats have no place for what was left out. */
    if (t->options->format == FORMAT_JSON || (t->options->format != FORMAT_TEXT && !*limits))
        return;
    fprintf(stderr,
            "beamtop: %llu functions, about %.0f calls/s: counting costs %s of the node%s%s%s\n",
            (unsigned long long)state->functions, state->calls_per_s,
            calls_cost_text(cost, sizeof cost, state->load), limits,
            *state->others ? "; set by others: " : "", state->others);
}

static void end_counted_run(void *arg)
{
    struct counting *t = arg;
    const struct error err = batch_trouble(t->run);
    batch_tell_verified(t->run, &session_status(t->run->session)->check, "the node");
    batch_end(t->run, &err);
}

static void on_counted_window(void *arg, const struct calls_window *window)
{
    struct counting *t = batch_arg(arg);
    struct error err = {0};
    if (calls_sink_window(&t->sink, window, &err) != 0)
        batch_output_failed(t->run, t->sink.output.write_errno, &err);
}

/* ---- the session */

static struct calls_options counting_options(const struct cli_options *o)
{
    bool endless = o->every_s > 0 && !o->windows_given;
    return (struct calls_options){
        .patterns = o->rest,
        .n_patterns = o->n_rest,
        .syntax = o->request.syntax,
        .procs = o->request.procs,
        .for_ms = (unsigned)(o->window_s * 1000 + 0.5),
        .every_ms = (unsigned)(o->every_s * 1000 + 0.5),
        .windows = endless ? 0 : (unsigned)o->windows,
        .top = (unsigned)o->top,
        .time = o->time,
        .memory = o->memory,
        .force = o->request.force,
        .dry_run = o->dry_run,
    };
}

static enum calls_format calls_format_of(enum cli_format format)
{
    return format == FORMAT_JSON     ? CALLS_JSON
           : format == FORMAT_CSV    ? CALLS_CSV
           : format == FORMAT_FOLDED ? CALLS_FOLDED
                                     : CALLS_TEXT;
}

static struct calls_sink_options calls_sink_options_of(const struct counting *t, const char *node)
{
    return (struct calls_sink_options){
        .format = calls_format_of(t->options->format),
        .syntax = t->options->request.syntax == SYNTAX_ELIXIR ? PRINT_ELIXIR : PRINT_ERLANG,
        .node = node,
        .ascii = t->options->ascii || !t->env->utf8,
        .spreadsheet = t->options->spreadsheet,
        .by_node = t->options->by_node,
    };
}

/* session_stop() reports the window that it cuts short. */
static int open_counted_run(void *arg, struct batch *run, const struct session_port *port,
                            struct error *err)
{
    struct counting *t = arg;
    t->run = run;
    static const struct session_handlers handlers = {.on_change = batch_session_changed,
                                                     .on_window = on_counted_window};
    const struct calls_options options = counting_options(t->options);
    int rc = calls_open(&run->session, &options, port, &handlers, run, NULL, NULL, err);
    if (rc != 0)
        return rc;
    t->sink.output.writer = sink_writer_of(stdout);
    t->sink.options = calls_sink_options_of(t, session_port(run->session)->node);
    return 0;
}

/* ---- the words */

/* Errors come before any connection. */
static int check_calls_words(const struct cli_options *o)
{
    if (error_at_patterns(o->rest, o->n_rest, o->request.syntax, calls_pattern_check) !=
            EXIT_DONE ||
        error_at_procs(o->request.procs) != EXIT_DONE)
        return EXIT_USAGE;
    if (o->request.procs && !o->time && !o->memory) {
        fputs("beamtop: --procs is for --time and --memory: calls are counted in all processes\n",
              stderr);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

int command_calls(const struct cli_options *o, const struct app_env *env)
{
    struct counting t = {.options = o, .env = env};
    int code = check_calls_words(o);
    if (code != EXIT_DONE)
        return code;
    if (replay_is_file(o->target))
        return session_file_calls(o, calls_sink_options_of(&t, NULL));
    if (o->at) {
        fputs("beamtop: --at needs a recording's FILE instead of NODE\n", stderr);
        return EXIT_USAGE;
    }
    if (fleet_is_asked(o)) {
        const struct calls_options options = counting_options(o);
        const struct calls_sink_options sink = calls_sink_options_of(&t, NULL);
        return calls_fleet(o, env, &options, &sink);
    }
    if (o->partial || o->by_node) {
        fputs("beamtop: --partial and --by-node are for several nodes: "
              "beamtop calls NODE,NODE [PATTERN…]\n",
              stderr);
        return EXIT_USAGE;
    }
    const struct batch_job job = {.options = o,
                                  .env = env,
                                  .open = open_counted_run,
                                  .changed = tell_calls_estimate,
                                  .ended = end_counted_run,
                                  .turn_ms = TICK_MS,
                                  .arg = &t};
    return batch_run(&job);
}
