/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"

#define CREDIT_EVENTS 512
#define CREDIT_BYTES (32u * 1024)

bool trace_is_running(const struct trace_session *t)
{
    enum session_phase phase = t->state->status.phase;
    return phase == SESSION_RUNNING || phase == SESSION_PAUSED;
}

bool trace_is_set(const struct trace_session *t)
{
    return trace_is_running(t) || (t->state->status.phase == SESSION_ARMING && t->s.touched);
}

void trace_wrong(struct session *s, size_t pattern, size_t offset)
{
    s->status->wrong = true;
    s->status->wrong_text = trace_text_of((struct trace_session *)s, pattern);
    s->status->wrong_offset = offset;
}

struct builder *trace_term(const struct trace_session *t, const char *tag, size_t arity)
{
    struct builder *b = builder_new();
    build_tuple(b, arity);
    build_atom(b, tag);
    build_int(b, (int64_t)t->id);
    return b;
}

/* ---- The end */

void trace_set_end(struct trace_session *t, enum trace_end end, const char *format, ...)
{
    va_list args;
    if (t->state->end != END_NONE)
        return;
    t->state->end = end;
    va_start(args, format);
    vsnprintf(t->state->end_text, sizeof t->state->end_text, format, args);
    va_end(args);
}

static void over_unarmed(struct session *s)
{
    struct trace_session *t = (struct trace_session *)s;
    s->status->check.unarmed = true;
    trace_set_end(t, END_STOPPED, "stopped before it was set");
    session_over(s);
}

void trace_finish(struct trace_session *t)
{
    session_tell(&t->s, trace_term(t, "stop", 2));
    t->stopped_ns = session_now(&t->s);
    session_enter(&t->s, SESSION_ENDING);
    session_changed(&t->s);
}

/* ---- Arming */

static void take_held(struct trace_session *t)
{
    struct buf held = t->held;
    buf_init(&t->held, LIMIT_TRACE_HELD_BYTES);
    for (size_t at = 0; at < held.len;) {
        size_t len;
        memcpy(&len, held.data + at, sizeof len);
        at += sizeof len;
        trace_take(t, held.data + at, len);
        at += len;
    }
    buf_clear(&held);
}

/* Nobody knows what the target has done of it, so what is armed is asked for. */
static void arm_unknown(struct trace_session *t, const struct error *err)
{
    trace_set_end(t, END_KILLED, "killed: %.140s", err->text);
    session_tell(&t->s, trace_term(t, "stop", 2));
    session_verify(&t->s);
}

static bool names_function(const struct trace_session *t, size_t i, const struct mfa *mfa)
{
    const struct preflight_pattern *p = &t->prep.preflight.patterns[i];
    for (size_t k = 0; k < p->n; k++)
        if (trace_mfa_order(&t->functions[p->first + k].mfa, mfa) == 0)
            return true;
    return false;
}

/* Each call of the functions of pattern i goes to pattern k, which is before it. */
static bool takes_all_of(const struct trace_session *t, size_t k, size_t i)
{
    const struct preflight_pattern *p = &t->prep.preflight.patterns[i];
    const unsigned counts = TRACE_COUNT | TRACE_TIME;
    if (t->s.patterns[k]->kind != PATTERN_CALL || t->prep.specs[k].narrow || p->n == 0 ||
        p->n > 100 || (t->s.patterns[k]->actions & counts) || (t->s.patterns[i]->actions & counts))
        return false;
    for (size_t at = 0; at < p->n; at++)
        if (!names_function(t, k, &t->functions[p->first + at].mfa))
            return false;
    return true;
}

/* A filter of results does not pass a call on to the next pattern. */
static void note_taken_calls(struct trace_session *t)
{
    for (size_t i = 1; i < t->s.n_patterns; i++)
        for (size_t k = 0; k < i; k++)
            if (takes_all_of(t, k, i)) {
                snprintf(t->state->note, sizeof t->state->note,
                         "pattern %zu gets no events: pattern %zu already matches all calls of "
                         "its functions",
                         i + 1, k + 1);
                return;
            }
}

static void on_trace_armed(void *arg, const struct answer *answer)
{
    struct trace_session *t = arg;
    struct error err = answer->err;
    struct armed_answer armed;
    if (err.code != ERR_NONE || decode_arm(&armed, t->id, answer->value, answer->len, &err) != 0) {
        arm_unknown(t, &err);
        return;
    }
    if (armed.refused[0] != '\0') {
        error_set(&err, armed.code, "%s", armed.refused);
        session_fail(&t->s, &err);
        return;
    }
    t->mono_start = armed.mono;
    t->wall_start_us = armed.wall_us;
    t->per_second = armed.per_second;
    t->state->isolated = armed.isolated;
    t->state->armed_mono_ns = trace_ns(t, armed.mono);
    t->state->wall_us = armed.wall_us;
    note_taken_calls(t);
    t->armed_ns = t->heard_ns = t->rate_ns = t->credit.round_ns = session_now(&t->s);
    session_enter(&t->s, SESSION_RUNNING);
    if (t->s.stopping)
        trace_finish(t);
    take_held(t);
    session_changed(&t->s);
}

static void arm_trace(struct session *s)
{
    struct trace_session *t = (struct trace_session *)s;
    t->id = (session_now(s) / 1000 & 0x3ffffff) + 1; /* no earlier trace of the link had it */
    t->credit.events = CREDIT_EVENTS;
    t->credit.bytes = CREDIT_BYTES;
    s->touched = true;
    s->port.listen(s->port.ctx, t->id, trace_take, t);
    session_step(s, SESSION_ARMING, QUESTION_TRACE, trace_arm_arg(t), preparation_ask_ms(&t->prep),
                 on_trace_armed);
}

static void begin_trace(struct session *s)
{
    session_baseline(s, SESSION_ARMING, arm_trace);
}

/* ---- Opening and freeing */

static void set_slower(struct pattern *p, uint64_t slower_us)
{
    const unsigned has = TRACE_SLOWER | TRACE_COUNT | TRACE_TIME;
    if (slower_us == 0 || p->kind != PATTERN_CALL || (p->actions & has) != 0)
        return;
    p->actions |= TRACE_SLOWER | TRACE_RETURN;
    p->slower_us = slower_us;
}

/* Those of a trace of one process: the calls with their ends, without any values. */
static int one_patterns(struct trace_session *t, bool own, size_t *pattern, struct error *err)
{
    for (size_t i = 0; i < t->s.n_patterns; i++) {
        struct pattern *p = t->s.patterns[i];
        *pattern = trace_text_of(t, i);
        if (p->kind != PATTERN_CALL || (p->actions & ~(unsigned)TRACE_RETURN) != 0)
            return error_set(err, ERR_USAGE,
                             "only calls of functions are followed here, without actions");
        p->actions = TRACE_RETURN | TRACE_SHOW;
        p->own = own;
    }
    return 0;
}

size_t trace_text_of(const struct trace_session *t, size_t pattern)
{
    size_t g = 0;
    while (g + 1 < t->s.n_groups && pattern >= t->s.group_sizes[g])
        pattern -= t->s.group_sizes[g++];
    return g;
}

static int open_trace(struct trace_session *t, const struct trace_options *o, size_t *pattern,
                      size_t *offset, struct error *err)
{
    static const char *const any = "_:_";
    size_t index = 0;
    int rc = session_parse(&t->s, o->own ? &any : o->patterns, o->own ? 1 : o->n_patterns,
                           o->own ? SYNTAX_ERLANG : o->request.syntax, NULL, pattern, offset, err);
    if (rc == 0 && t->s.n_patterns == 0)
        rc = error_set(err, ERR_USAGE, "a pattern is needed: lists:seq(_, _)");
    if (rc)
        return rc;
    *pattern = 0;
    *offset = 0;
    t->one = o->one;
    if (o->one && one_patterns(t, o->own, pattern, err) != 0)
        return err->code;
    rc = session_parse_procs(&t->s, o->request.procs, err);
    if (rc) {
        error_context(err, "processes");
        return rc;
    }
    for (size_t i = 0; i < t->s.n_patterns; i++) {
        set_slower(t->s.patterns[i], o->request.slower_us);
        trace_log_add_pattern(t->log, t->s.patterns[i]);
    }
    t->state->caps = t->asked = o->request.caps;
    t->state->on_rate_stop = o->request.on_rate_stop;
    t->state->children = t->s.procs.children;
    rc = preparation_start(&t->s, &index, offset, err);
    *pattern = trace_text_of(t, index);
    return rc;
}

static void free_trace(struct session *s)
{
    struct trace_session *t = (struct trace_session *)s;
    if (trace_is_set(t))
        session_tell(s, trace_term(t, "stop", 2));
    trace_log_free(t->log);
    preparation_clear(&t->prep);
    free(t->functions);
    buf_clear(&t->held);
}

static void trace_broke_off(const struct session *s, struct error *err)
{
    const struct trace_state *state = ((const struct trace_session *)s)->state;
    if (state->end == END_KILLED || state->end == END_LINK)
        error_set(err, state->end == END_LINK ? ERR_LOST : ERR_TARGET, "the trace broke off: %s",
                  state->end_text);
}

static const struct session_kind trace_kind = {.question = QUESTION_TRACE,
                                               .session = "beamtop",
                                               .cost = TRACE_COST,
                                               .broken_off = trace_broke_off,
                                               .control_word = true,
                                               .proceed = begin_trace,
                                               .close = over_unarmed,
                                               .stop = trace_stop,
                                               .broken = session_fail,
                                               .lost = trace_lost,
                                               .tick = trace_tick,
                                               .free = free_trace};

int trace_open(struct session **out, const struct trace_options *options,
               const struct session_port *port, const struct session_handlers *handlers, void *arg,
               size_t *pattern, size_t *offset, struct error *err)
{
    struct trace_session *t = alloc_zero(1, sizeof *t);
    size_t unused_pattern, unused_offset = 0;
    t->log = trace_log_new(LIMIT_TRACE_EVENTS, LIMIT_TRACE_KEPT_BYTES);
    t->state = trace_log_state_edit(t->log);
    session_init(&t->s, &trace_kind, port, handlers, arg, &t->state->status);
    t->s.calls_per_s = &t->state->preflight.calls_per_s;
    t->s.load = &t->state->preflight.load;
    t->s.force = options->request.force;
    t->s.dry_run = options->dry_run;
    t->s.hold = options->hold;
    preparation_init(&t->prep, &t->s, &trace_preparation, &t->state->caps);
    buf_init(&t->held, LIMIT_TRACE_HELD_BYTES);
    int rc = open_trace(t, options, pattern ? pattern : &unused_pattern,
                        offset ? offset : &unused_offset, err);
    return session_opened(out, &t->s, rc);
}

const struct trace_log *trace_session_log(const struct session *s)
{
    return ((const struct trace_session *)s)->log;
}
