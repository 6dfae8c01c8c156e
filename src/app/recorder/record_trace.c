/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces in a recording: one for its caps, or one after the other. */
#include "beamtop/base/clock.h"
#include "app/cli/exit_code.h"
#include "app/cli/error_at.h"
#include "record_series.h"
#include "record_state.h"

/* ---- into the recording */

static const struct trace_state *recorded_trace_state(const struct record_series *r)
{
    return trace_log_state(trace_session_log(r->session));
}

static void begin_trace_record(struct record_series *r)
{
    const struct trace_log *log = trace_session_log(r->session);
    enum syntax syntax = trace_log_syntax(log, r->run->setup->trace.syntax);
    if (r->begun)
        return;
    r->begun = true;
    r->wall_us = record_run_node_wall_us(r->run);
    recorder_trace_begin(r->run->recorder, log,
                         syntax == SYNTAX_ELIXIR ? PRINT_ELIXIR : PRINT_ERLANG, r->wall_us);
}

static int record_event(void *arg, const struct trace_log *log, const struct trace_event *event,
                        bool finished, struct error *err)
{
    const struct record_series *r = arg;
    (void)err;
    recorder_trace_event(r->run->recorder, log, event, finished);
    return 0;
}

static void record_due(struct record_series *r, bool all)
{
    struct error ignored = {0}; /* record_event has none */
    (void)trace_print_due(r->print, trace_session_log(r->session), clock_mono_ns() / 1000000, all,
                          &ignored);
}

static void end_record(struct record_series *r)
{
    begin_trace_record(r);
    record_due(r, true);
    uint64_t elapsed_ms = recorded_trace_state(r)->used[CAP_TIME_MS];
    recorder_trace_end(r->run->recorder, trace_session_log(r->session),
                       r->wall_us < 0 ? -1 : r->wall_us + (int64_t)elapsed_ms * 1000);
}

/* ---- events of the session */

/* Or may have: it is not known before the first trace. */
static bool has_one_space(const struct record_series *r)
{
    return session_port_is_shared(&r->port);
}

/* Calls are counted from now on, and leave no room for another. */
static void tell_once(struct record_series *r)
{
    struct error err = {0};
    error_set(&err, ERR_REFUSED,
              "traced once: before OTP %d a node has one space for traces and counted "
              "calls, and these come now",
              OTP_SESSIONS);
    record_series_gives_up(r, &err);
}

/* A usage error does not mend itself, and counted calls that have waited take the one space now. */
static bool is_final(const struct record_series *r, const struct error *why)
{
    return why->code == ERR_USAGE ||
           (why->code != ERR_LOST && r->run->setup->calls && has_one_space(r));
}

/* True: it was reported. */
static bool note_refused(struct record_series *r, const struct error *why)
{
    if (r->refused_code == EXIT_DONE)
        r->refused_code = exit_code_of_error(why->code);
    r->over = r->over || is_final(r, why);
    bool reported = record_series_refused(r, why);
    r->next_ns = 0; /* the retry says when */
    return reported;
}

/* Kept when it is reported. */
static void trace_refused(struct record_series *r, const struct error *why)
{
    bool reported = note_refused(r, why);
    const struct record_setup *setup = r->run->setup;
    const struct session_status *status = r->session ? session_status(r->session) : NULL;
    if (!status)
        return;
    if (reported && status->wrong && status->wrong_text < setup->n_traced)
        error_at_print(setup->traced[status->wrong_text], status->wrong_offset, why);
    if (reported || r->begun)
        end_record(r);
}

static void recorded_trace_ended(struct record_series *r)
{
    struct error err = {0};
    const struct trace_state *state = recorded_trace_state(r);
    const struct session_check *check = &state->status.check;
    if (check->unarmed) /* the recording ends while this one was prepared: nothing to record */
        return;
    if (state->end != END_LINK && (!check->done || !check->clean || state->end == END_KILLED)) {
        error_set(&err, ERR_TARGET, "the trace has ended (%s), and %s%s",
                  trace_end_name(state->end),
                  !check->done   ? "it is not verified what is left on the node: "
                  : check->clean ? "nothing is left on the node"
                                 : "it left something on the node: ",
                  check->text);
        r->exit_code = exit_code_of_error(err.code);
        record_series_gives_up(r, &err);
    }
    end_record(r);
    if (r->every_s <= 0)
        r->over = true;
    else if (!r->over && r->run->setup->calls && has_one_space(r))
        tell_once(r);
}

static void is_armed(struct record_series *r)
{
    if (r->begun)
        return;
    r->number++;
    r->refused_code = EXIT_DONE;
    record_series_works(r);
    begin_trace_record(r);
}

static void recorded_trace_changed(struct record_series *r)
{
    const enum session_phase phase = recorded_trace_state(r)->status.phase;
    if (phase != SESSION_RUNNING && phase != SESSION_PAUSED && phase != SESSION_ENDING &&
        phase != SESSION_VERIFYING)
        return;
    is_armed(r);
    record_due(r, false);
}

static void on_trace_event(void *arg, const struct trace_event *event, bool finished)
{
    struct record_series *r = arg;
    struct error ignored = {0};
    if (r->done)
        return;
    is_armed(r);
    (void)trace_print_event(r->print, trace_session_log(r->session), event, finished,
                            clock_mono_ns() / 1000000, &ignored);
}

/* ---- the kind */

static bool trace_may_begin(struct record_series *r)
{
    return record_run_node_wall_us(r->run) >= 0;
}

static int open_recorded_trace(struct record_series *r, const struct session_port *port,
                               struct error *err)
{
    static const struct session_handlers handlers = {.on_change = record_series_changed,
                                                     .on_event = on_trace_event};
    const struct record_setup *setup = r->run->setup;
    const struct trace_options options = {
        .patterns = setup->traced, .n_patterns = setup->n_traced, .request = setup->trace};
    r->begun = false;
    int rc = trace_open(&r->session, &options, port, &handlers, r, NULL, NULL, err);
    if (rc == 0)
        r->print = trace_print_new(record_event, r);
    return rc;
}

static void free_recorded_trace(struct record_series *r)
{
    trace_print_free(r->print);
    r->print = NULL;
}

const struct record_kind record_trace_kind = {.not_set = "not traced",
                                              .works = "traced now",
                                              .may_begin = trace_may_begin,
                                              .open = open_recorded_trace,
                                              .refused = trace_refused,
                                              .changed = recorded_trace_changed,
                                              .ended = recorded_trace_ended,
                                              .free = free_recorded_trace};

bool record_trace_holds_calls(const struct record_series *r)
{
    return r && has_one_space(r) && (r->session || (!r->over && r->number == 0));
}

int record_trace_exit_code(const struct record_series *r)
{
    if (!r)
        return EXIT_DONE;
    return r->exit_code != EXIT_DONE ? r->exit_code : r->refused_code;
}
