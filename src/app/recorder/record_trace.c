/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_trace.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "app/cli/exit_code.h"
#include "app/cli/mistake.h"
#include "record_retry.h"
#include "app/command/trace_print.h"

struct record_trace {
    struct record_trace_setup setup;
    struct session_port port;
    struct session *session; /* NULL: none now */
    struct trace_print *print;
    uint64_t next_ns; /* when the next one may begin */
    struct record_retry retry;
    bool begun;       /* its start is in the recording */
    bool done;        /* the session has ended, and is freed at the next tick */
    bool over;        /* no more traces */
    bool stopping;
    int64_t wall_us;  /* of its start */
    unsigned armed;
    int exit_code, refused_code;
};

/* ---- into the recording */

static const struct trace_state *state_of(const struct record_trace *c)
{
    return trace_log_state(trace_session_log(c->session));
}

static void begin_record(struct record_trace *c)
{
    const struct trace_log *log = trace_session_log(c->session);
    enum syntax syntax = trace_log_syntax(log, c->setup.options.syntax);
    if (c->begun)
        return;
    c->begun = true;
    c->wall_us = c->setup.wall_us(c->setup.arg);
    recorder_trace_begin(c->setup.recorder, log,
                         syntax == SYNTAX_ELIXIR ? PRINT_ELIXIR : PRINT_ERLANG, c->wall_us);
}

static int put_event(void *arg, const struct trace_log *log, const struct trace_event *event,
                     bool finished, struct error *err)
{
    const struct record_trace *c = arg;
    (void)err;
    recorder_trace_event(c->setup.recorder, log, event, finished);
    return 0;
}

static void put_due(struct record_trace *c, bool all)
{
    struct error ignored = {.code = ERR_NONE}; /* put_event has none */
    (void)trace_print_due(c->print, trace_session_log(c->session), clock_mono_ns() / 1000000, all,
                          &ignored);
}

static void end_record(struct record_trace *c)
{
    begin_record(c);
    put_due(c, true);
    uint64_t elapsed_ms = state_of(c)->used[CAP_TIME_MS];
    recorder_trace_end(c->setup.recorder, trace_session_log(c->session),
                       c->wall_us < 0 ? -1 : c->wall_us + (int64_t)elapsed_ms * 1000);
}

/* ---- what the session tells */

/* Or may have: it is not known before the first trace. */
static bool has_one_space(const struct record_trace *c)
{
    return session_port_is_shared(&c->port);
}

/* Calls are counted from now on, and leave no room for another. */
static void tell_once(struct record_trace *c)
{
    struct error err = {.code = ERR_NONE};
    error_set(&err, ERR_REFUSED,
              "traced once: before OTP %d a node has one space for traces and counted "
              "calls, and these come now",
              OTP_SESSIONS);
    record_retry_gives_up(&c->retry, err.text);
    c->setup.tell(c->setup.arg, err.text);
    c->over = true;
}

static void end_session(struct record_trace *c)
{
    c->done = true;
    if (c->stopping)
        c->setup.on_ended(c->setup.arg);
}

static void end(struct record_trace *c)
{
    end_record(c);
    if (c->setup.every_s <= 0)
        c->over = true;
    else if (!c->over && c->setup.counts && has_one_space(c))
        tell_once(c);
    end_session(c);
}

/* A mistake does not mend itself, and counted calls that have waited take the one space now. */
static bool is_final(const struct record_trace *c, const struct error *why)
{
    return why->code == ERR_USAGE || (why->code != ERR_LOST && c->setup.counts && has_one_space(c));
}

/* True: it is told, since the reason is another one than before. */
static bool note_refused(struct record_trace *c, const struct error *why)
{
    char text[RECORD_RETRY_BYTES + 100];
    bool told = record_retry_refused(&c->retry, why->text, c->setup.again_s, clock_mono_ns());
    if (c->refused_code == EXIT_DONE)
        c->refused_code = exit_code_of_error(why->code);
    c->next_ns = c->retry.due_ns;
    c->over = c->over || is_final(c, why);
    record_retry_text(text, sizeof text, &c->retry, "not traced", !c->over);
    if (told)
        c->setup.tell(c->setup.arg, text);
    return told;
}

/* Kept when it is told. */
static void refused(struct record_trace *c, const struct trace_state *state,
                    const struct error *why)
{
    bool told = note_refused(c, why);
    if (told && state->wrong && state->wrong_text < c->setup.options.n_patterns)
        mistake_print(c->setup.options.patterns[state->wrong_text], state->wrong_offset, why);
    if (told || c->begun)
        end_record(c);
    end_session(c);
}

static void refuse(struct record_trace *c, const struct trace_state *state)
{
    struct error err = {.code = ERR_NONE};
    error_set(&err, ERR_REFUSED, "about %.0f calls/s would cost the node %.0f %% of a scheduler "
                                 "(--force traces all the same, within the caps)",
              state->preflight.calls_per_s, state->preflight.load * 100);
    refused(c, state, &err);
}

static void ended(struct record_trace *c, const struct trace_state *state)
{
    struct error err = {.code = ERR_NONE};
    const struct session_check *check = &state->status.check;
    if (check->unarmed) { /* the recording ends while this one was prepared: there is nothing to record */
        end_session(c);
        return;
    }
    if (state->end != END_LINK && (!check->done || !check->clean || state->end == END_KILLED)) {
        error_set(&err, ERR_TARGET, "the trace has ended (%s), and %s%s", trace_end_name(state->end),
                  !check->done  ? "it is not verified that nothing of it is left: "
                  : check->clean ? "nothing of it is left"
                                 : "something of it is left on the node: ",
                  check->text);
        c->over = true;
        record_retry_gives_up(&c->retry, err.text);
        c->exit_code = exit_code_of_error(err.code);
        c->setup.tell(c->setup.arg, err.text);
    }
    end(c);
}

static void is_armed(struct record_trace *c)
{
    if (c->begun)
        return;
    c->armed++;
    c->refused_code = EXIT_DONE;
    if (record_retry_works(&c->retry))
        c->setup.tell(c->setup.arg, "traced now");
    begin_record(c);
}

static void on_change(void *arg)
{
    struct record_trace *c = arg;
    const struct trace_state *state = state_of(c);
    if (c->done)
        return;
    switch (state->status.phase) {
    case SESSION_PREPARING:
    case SESSION_ARMING:
    case SESSION_TIMING:
    case SESSION_WAITING:
        break;
    case SESSION_ASKING:
        refuse(c, state);
        break;
    case SESSION_RUNNING:
    case SESSION_PAUSED:
    case SESSION_ENDING:
    case SESSION_VERIFYING:
        is_armed(c);
        put_due(c, false);
        break;
    case SESSION_ENDED:
        ended(c, state);
        break;
    case SESSION_FAILED:
        refused(c, state, &state->status.error);
        break;
    }
}

static void on_event(void *arg, const struct trace_event *event, bool finished)
{
    struct record_trace *c = arg;
    struct error ignored = {.code = ERR_NONE};
    if (c->done)
        return;
    is_armed(c);
    (void)trace_print_event(c->print, trace_session_log(c->session), event, finished,
                            clock_mono_ns() / 1000000, &ignored);
}

/* ---- one after the other */

static void begin(struct record_trace *c)
{
    static const struct session_handlers handlers = {.on_change = on_change, .on_event = on_event};
    struct error err = {.code = ERR_NONE};
    c->begun = c->done = false;
    c->next_ns = clock_mono_ns() + (uint64_t)(c->setup.every_s * 1e9);
    int rc = live_port(c->setup.live, &c->port, &err);
    if (rc == 0)
        rc = trace_open(&c->session, &c->setup.options, &c->port, &handlers, c, NULL, NULL, &err);
    if (rc == 0) {
        c->print = trace_print_new(put_event, c);
        return;
    }
    c->session = NULL;
    (void)note_refused(c, &err);
}

static void free_session(struct record_trace *c)
{
    if (!c->session)
        return;
    session_free(c->session);
    trace_print_free(c->print);
    c->session = NULL;
    c->print = NULL;
}

struct record_trace *record_trace_new(const struct record_trace_setup *setup)
{
    struct record_trace *c = alloc_zero(1, sizeof *c);
    c->setup = *setup;
    return c;
}

void record_trace_quit(struct record_trace *c)
{
    if (!c)
        return;
    c->done = c->over = true; /* what the session tells now is for nobody */
    free_session(c);
}

void record_trace_free(struct record_trace *c)
{
    if (!c)
        return;
    free(c);
}

void record_trace_tick(struct record_trace *c)
{
    if (c->session && c->done)
        free_session(c);
    if (c->session) {
        session_tick(c->session);
        if (!c->done)
            put_due(c, false);
    } else if (!c->over && !c->stopping && live_is_up(c->setup.live) && model_node(c->setup.model) &&
               c->setup.wall_us(c->setup.arg) >= 0 && clock_mono_ns() >= c->next_ns) {
        begin(c);
    }
}

void record_trace_link_lost(struct record_trace *c)
{
    struct error err = {.code = ERR_NONE};
    if (c->session) {
        error_set(&err, ERR_LOST, "the link was lost");
        session_link_lost(c->session, &err);
    }
    if (c->retry.wait_s > 0)
        c->next_ns = 0;
    record_retry_soon(&c->retry);
}

bool record_trace_stop(struct record_trace *c)
{
    if (!c)
        return false;
    c->stopping = c->over = true;
    if (!c->session || c->done)
        return false;
    session_stop(c->session);
    return !c->done;
}

bool record_trace_holds_calls(const struct record_trace *c)
{
    return c && has_one_space(c) && (c->session || (!c->over && c->armed == 0));
}

unsigned record_trace_number(const struct record_trace *c)
{
    return c->armed;
}

const char *record_trace_refusal(const struct record_trace *c)
{
    return c->retry.why;
}

int record_trace_exit_code(const struct record_trace *c)
{
    return c->exit_code != EXIT_DONE ? c->exit_code : c->refused_code;
}
