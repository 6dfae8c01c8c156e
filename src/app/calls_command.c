/* `beamtop calls`: windows of counted calls without a screen, to the proof that nothing is left. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/store/calls_sink.h"
#include "beamtop/trace/calls.h"
#include "beamtop/trace/procs.h"
#include "commands.h"
#include "live.h"
#include "mistake.h"
#include "target.h"
#include "trace_port.h"

#define TICK_MS 50u

struct counting {
    const struct cli_options *options;
    const struct app_env *env;
    uv_loop_t loop;
    struct target target;
    struct model *model;
    struct live *live;
    struct trace_route *route;
    struct calls_session *session;
    struct calls_sink *sink;
    uv_signal_t interrupt[2];
    uv_timer_t timer;
    bool was_up, told, over;
    int signal;       /* that asked for the end, or 0 */
    int exit_code;
    struct error err; /* what is printed at the end */
};

static void finish(struct counting *t, int exit_code, const struct error *err)
{
    if (t->over)
        return;
    t->over = true;
    t->exit_code = exit_code;
    if (err != NULL && t->err.code == ERR_NONE)
        t->err = *err;
    uv_stop(&t->loop);
}

/* ---- what the session tells */

static void tell_estimate(struct counting *t, const struct calls_state *state)
{
    if (t->told || t->options->format != FORMAT_TEXT || !(state->calls_per_s >= 0))
        return;
    t->told = true;
    fprintf(stderr, "beamtop: %llu functions, about %.0f calls/s: counting costs about %.2g %% of "
                    "the node%s%s\n",
            (unsigned long long)state->functions, state->calls_per_s, state->load * 100,
            *state->others ? "; also there: " : "", state->others);
}

/* What keeps a run from its windows is told when the session has ended. */
static void asking(struct counting *t, const struct calls_state *state)
{
    if (!t->options->dry_run)
        error_set(&t->err, ERR_REFUSED, "about %.0f calls/s: counting them would cost the node "
                  "%.0f %% of its schedulers; --force counts all the same",
                  state->calls_per_s, state->load * 100);
    calls_stop(t->session);
}

static int exit_code_of_end(const struct counting *t, const struct calls_state *state)
{
    if (t->err.code != ERR_NONE)
        return exit_code_of_error(t->err.code);
    if (state->error.code != ERR_NONE)
        return exit_code_of_error(state->error.code);
    return t->signal == SIGTERM ? 128 + SIGTERM : EXIT_DONE;
}

static void ended(struct counting *t, const struct calls_state *state)
{
    int code = exit_code_of_end(t, state);
    struct error left = {.code = ERR_NONE};
    if (!state->clean) {
        error_set(&left, ERR_TARGET, "%s", state->left);
        finish(t, EXIT_FAILED, &left);
        return;
    }
    if (t->options->format == FORMAT_TEXT && state->verified)
        fputs("beamtop: nothing is left armed\n", stderr);
    finish(t, code, state->error.code != ERR_NONE ? &state->error : NULL);
}

static void on_change(void *arg)
{
    struct counting *t = arg;
    const struct calls_state *state = calls_session_state(t->session);
    if (t->over)
        return;
    tell_estimate(t, state);
    switch (state->phase) {
    case CALLS_ASKING:
        asking(t, state);
        break;
    case CALLS_ENDED:
        ended(t, state);
        break;
    case CALLS_FAILED:
        finish(t, exit_code_of_error(state->error.code), &state->error);
        break;
    case CALLS_PREPARING:
    case CALLS_COUNTING:
    case CALLS_TIMING:
    case CALLS_WAITING:
    case CALLS_VERIFYING:
        break;
    }
}

/* When the output is gone the session is ended first, then we. */
static void on_window(void *arg, const struct calls_window *window)
{
    struct counting *t = arg;
    struct error err = {.code = ERR_NONE};
    if (calls_sink_window(t->sink, window, &err) == 0)
        return;
    if (calls_sink_write_errno(t->sink) != EPIPE && t->err.code == ERR_NONE)
        t->err = err;
    calls_stop(t->session);
}

/* ---- what the source tells */

static struct calls_options calls_options_of(const struct cli_options *o)
{
    bool endless = o->every_s > 0 && !o->windows_given;
    return (struct calls_options){
        .patterns = o->rest,
        .n_patterns = o->n_rest,
        .syntax = o->syntax,
        .procs = o->procs,
        .for_ms = (unsigned)(o->window_s * 1000 + 0.5),
        .every_ms = (unsigned)(o->every_s * 1000 + 0.5),
        .windows = endless ? 0 : (unsigned)o->windows,
        .top = (unsigned)o->top,
        .time = o->time,
        .memory = o->memory,
        .force = o->force,
        .dry_run = o->dry_run,
    };
}

static enum calls_format format_of(enum cli_format format)
{
    switch (format) {
    case FORMAT_JSON:
        return CALLS_JSON;
    case FORMAT_CSV:
        return CALLS_CSV;
    case FORMAT_FOLDED:
        return CALLS_FOLDED;
    case FORMAT_TEXT:
    case FORMAT_ANSI:
    case FORMAT_HTML:
    case FORMAT_SVG:
    case FORMAT_MARKDOWN:
    case FORMAT_OPENMETRICS:
        break;
    }
    return CALLS_TEXT;
}

static void open_session(struct counting *t)
{
    static const struct calls_handlers handlers = {.on_change = on_change, .on_window = on_window};
    const struct calls_options options = calls_options_of(t->options);
    const struct calls_sink_options sink = {
        .format = format_of(t->options->format),
        .syntax = t->options->syntax == SYNTAX_ELIXIR ? PRINT_ELIXIR : PRINT_ERLANG,
        .node = live_peer_node(t->live),
        .ascii = t->options->ascii || !t->env->utf8,
    };
    struct calls_port port;
    struct error err = {.code = ERR_NONE};
    t->route = trace_route_new(t->live, t->model);
    int rc = trace_route_calls_port(t->route, &port, &err);
    if (rc == 0)
        rc = calls_open(&t->session, &options, &port, &handlers, t, NULL, NULL, &err);
    if (rc != 0)
        finish(t, exit_code_of_error(err.code), &err);
    t->sink = calls_sink_open_file(stdout, &sink);
}

/* It begins as soon as the node has told its release; no tick is needed after that. */
static void on_live_change(void *arg, unsigned questions)
{
    struct counting *t = arg;
    (void)questions;
    if (t->session != NULL || t->over || !live_is_up(t->live) || model_node(t->model) == NULL)
        return;
    t->was_up = true;
    live_pause(t->live, true);
    open_session(t);
}

static void on_tick(void *arg)
{
    (void)arg;
}

static void on_trouble(void *arg, enum question question, const struct error *err)
{
    struct counting *t = arg;
    (void)question;
    if (t->session == NULL)
        finish(t, exit_code_of_error(err->code), err);
}

static void on_notice(void *arg, const char *text)
{
    (void)arg;
    fprintf(stderr, "beamtop: %s\n", text);
}

static void on_live_end(void *arg, enum conn_failure why, const struct error *err)
{
    struct counting *t = arg;
    (void)why;
    if (t->session != NULL && !t->over) {
        trace_route_link_lost(t->route);
        calls_link_lost(t->session, err);
    }
    finish(t, t->was_up ? EXIT_LOST : EXIT_CONNECT, err);
}

/* ---- run */

static void on_timer(uv_timer_t *timer)
{
    struct counting *t = timer->data;
    if (t->session != NULL && !t->over)
        calls_tick(t->session);
}

/* Ctrl-C ends the window, which is told, and the run; once more ends us: the target cleans up. */
static void on_interrupt(uv_signal_t *handle, int number)
{
    struct counting *t = handle->data;
    if (t->session == NULL || t->signal != 0)
        finish(t, 128 + number, NULL);
    t->signal = number;
    if (t->session != NULL && !t->over)
        calls_stop(t->session);
}

static int start(struct counting *t, struct error *err)
{
    static const struct live_handlers handlers = {
        .on_change = on_live_change, .on_tick = on_tick, .on_trouble = on_trouble,
        .on_notice = on_notice, .on_end = on_live_end};
    const struct cli_options *o = t->options;
    const struct want want = {.needs = 0};
    int rc = target_init(&t->target, o->target, o, t->env, NULL, err);
    if (rc != 0)
        return rc;
    const struct live_options options = {
        .conn = t->target.conn, .interval_s = o->interval_s, .budget = o->budget};
    rc = live_open(&t->live, &t->loop, &options, t->model, &handlers, t, err);
    if (rc == 0)
        live_set_want(t->live, &want);
    return rc;
}

static void start_handles(struct counting *t)
{
    static const int signals[] = {SIGINT, SIGTERM};
    uv_loop_init(&t->loop);
    uv_timer_init(&t->loop, &t->timer);
    t->timer.data = t;
    uv_timer_start(&t->timer, on_timer, TICK_MS, TICK_MS);
    for (size_t i = 0; i < ARRAY_LEN(t->interrupt); i++) {
        uv_signal_init(&t->loop, &t->interrupt[i]);
        t->interrupt[i].data = t;
        uv_signal_start(&t->interrupt[i], on_interrupt, signals[i]);
    }
}

static void stop(struct counting *t)
{
    calls_free(t->session);
    if (t->route != NULL)
        trace_route_detach(t->route);
    uv_close((uv_handle_t *)&t->timer, NULL);
    for (size_t i = 0; i < ARRAY_LEN(t->interrupt); i++)
        uv_close((uv_handle_t *)&t->interrupt[i], NULL);
    live_close(t->live, NULL, NULL);
    trace_route_free(t->route);
    uv_run(&t->loop, UV_RUN_DEFAULT);
    uv_loop_close(&t->loop);
    calls_sink_close(t->sink);
    target_clear(&t->target);
    model_free(t->model);
}

/* Mistakes are told before anything is connected. */
static int check_words(const struct cli_options *o)
{
    struct error err = {.code = ERR_NONE};
    struct procs procs;
    size_t offset = 0;
    for (size_t i = 0; i < o->n_rest; i++) {
        struct pattern **patterns = NULL;
        size_t n = 0;
        if (calls_patterns_parse(&patterns, &n, o->rest[i], o->syntax, &offset, &err) != 0) {
            mistake_print(o->rest[i], offset, &err);
            return EXIT_USAGE;
        }
        patterns_free(patterns, n);
    }
    if (o->procs != NULL && procs_parse(&procs, o->procs, &offset, &err) != 0) {
        mistake_print(o->procs, offset, &err);
        return EXIT_USAGE;
    }
    if (o->procs != NULL && !o->time && !o->memory) {
        fputs("beamtop: --procs is for --time and --memory: calls are counted in all processes\n",
              stderr);
        return EXIT_USAGE;
    }
    if (o->format == FORMAT_TEXT || o->format == FORMAT_JSON || o->format == FORMAT_CSV ||
        o->format == FORMAT_FOLDED)
        return EXIT_DONE;
    fputs("beamtop: calls are printed as text, json, csv or folded\n", stderr);
    return EXIT_USAGE;
}

int command_calls(const struct cli_options *o, const struct app_env *env)
{
    struct counting t = {.options = o, .env = env};
    int code = check_words(o);
    if (code != EXIT_DONE)
        return code;
    t.model = model_new();
    start_handles(&t);
    if (start(&t, &t.err) != 0)
        t.exit_code = exit_code_of_error(t.err.code);
    else
        uv_run(&t.loop, UV_RUN_DEFAULT);
    stop(&t);
    if (t.err.code != ERR_NONE)
        fprintf(stderr, "beamtop: %s\n", t.err.text);
    return t.exit_code;
}
