/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/session.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "session_internal.h"

#define CREDIT_EVENTS 512
#define CREDIT_BYTES (32u * 1024)
#define ASK_MS 10000
#define ASK_FUNCTION_MS 2 /* more, for each function that is armed or counted */
#define VERIFY_NS (2u * UINT64_C(1000000000))  /* for what ends to be gone */
#define MOST_ARMED 1000

uint64_t session_now(const struct trace_session *t)
{
    return t->port.now_ns(t->port.ctx);
}

void session_changed(struct trace_session *t)
{
    trace_log_touch(t->log);
    if (!t->opening && t->handlers.on_change != NULL)
        t->handlers.on_change(t->arg);
}

void session_phase(struct trace_session *t, enum stage stage, enum trace_phase phase)
{
    t->stage = stage;
    t->state->phase = phase;
}

void session_fail(struct trace_session *t, const struct error *why)
{
    session_phase(t, STAGE_OVER, TRACE_FAILED);
    t->state->error = *why;
    session_changed(t);
}

void session_wrong(struct trace_session *t, size_t pattern, size_t offset)
{
    t->state->wrong = true;
    t->state->wrong_text = session_text_of(t, pattern);
    t->state->wrong_offset = offset;
}

int session_ask(struct trace_session *t, enum question question, struct builder *arg,
                answer_fn *fn, struct error *err)
{
    unsigned ms = ASK_MS;
    if (question == QUESTION_TRACE)
        ms += ASK_FUNCTION_MS * (unsigned)t->preflight.n_functions;
    int rc = t->port.ask(t->port.ctx, question, arg, ms, fn, t, err);
    builder_free(arg);
    return rc;
}

int session_tell(struct trace_session *t, struct builder *term)
{
    struct error err = {0};
    int rc = t->port.tell(t->port.ctx, term, &err);
    builder_free(term);
    return rc;
}

struct builder *session_term(const struct trace_session *t, const char *tag, size_t arity)
{
    struct builder *b = builder_new();
    build_tuple(b, arity);
    build_atom(b, tag);
    build_int(b, (int64_t)t->id);
    return b;
}

/* ---- The end and its proof */

void session_over(struct trace_session *t, enum trace_end end, const char *text)
{
    session_phase(t, STAGE_OVER, TRACE_ENDED);
    if (t->state->end == END_NONE) {
        t->state->end = end;
        snprintf(t->state->end_text, sizeof t->state->end_text, "%s", text);
    }
    session_changed(t);
}

void session_over_unarmed(struct trace_session *t)
{
    t->state->check.unarmed = true;
    session_over(t, END_STOPPED, "stopped before it was armed");
}

static uint64_t above(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static void judge(struct trace_session *t, const struct armed *now)
{
    struct trace_check *check = &t->state->check;
    check->done = true;
    check->breakpoints = above(now->breakpoints, t->baseline.breakpoints);
    check->flags = above(now->flags, t->baseline.flags);
    check->sessions = above(now->sessions, t->baseline.sessions);
    check->processes = now->processes;
    check->control_word = now->control_word;
    check->clean = check->breakpoints == 0 && check->flags == 0 && check->sessions == 0 &&
                   check->processes == 0 &&
                   (now->control_word == 0 || now->control_word == t->baseline.control_word);
    check->text[0] = '\0';
    if (!check->clean)
        snprintf(check->text, sizeof check->text,
                 "still there: %llu breakpoints, %llu trace flags, %llu sessions, %llu processes "
                 "of ours, control word %llu",
                 (unsigned long long)check->breakpoints, (unsigned long long)check->flags,
                 (unsigned long long)check->sessions, (unsigned long long)check->processes,
                 (unsigned long long)check->control_word);
}

static void on_verified(void *arg, const struct answer *answer)
{
    struct trace_session *t = arg;
    t->verify_asked = false;
    if (t->stage != STAGE_VERIFY)
        return;
    struct trace_check *check = &t->state->check;
    struct armed now;
    struct error err = answer->err;
    if (err.code == ERR_NONE && decode_armed(&now, answer->value, answer->len, &err) == 0)
        judge(t, &now);
    else
        snprintf(check->text, sizeof check->text, "not known: %.200s", err.text);
    uint64_t after_ns = session_now(t) - t->ended_ns;
    check->after_us = after_ns / 1000;
    /* Its processes end after they have told the end; a tick asks again. */
    if (check->clean || after_ns >= VERIFY_NS)
        session_over(t, END_STOPPED, "stopped");
    else
        session_changed(t);
}

void session_verify_again(struct trace_session *t)
{
    struct error err = {0};
    struct builder *b = builder_new();
    build_map(b, 1);
    build_atom(b, "most");
    build_int(b, MOST_ARMED);
    if (session_ask(t, QUESTION_ARMED, b, on_verified, &err) == 0) {
        t->verify_asked = true;
        return;
    }
    snprintf(t->state->check.text, sizeof t->state->check.text, "not known: %.200s", err.text);
    session_over(t, END_STOPPED, "stopped");
}

void session_verify(struct trace_session *t)
{
    if (t->stage == STAGE_VERIFY || t->stage == STAGE_OVER)
        return;
    t->ended_ns = session_now(t);
    if (t->armed_ns > 0)
        t->state->used[CAP_TIME_MS] = (t->ended_ns - t->armed_ns) / 1000000;
    session_phase(t, STAGE_VERIFY, TRACE_VERIFYING);
    session_verify_again(t);
    session_changed(t);
}

void session_end(struct trace_session *t)
{
    session_tell(t, session_term(t, "stop", 2));
    t->stopped_ns = session_now(t);
    session_phase(t, STAGE_END, TRACE_ENDING);
    session_changed(t);
}

/* ---- Arming */

static void take_held(struct trace_session *t)
{
    struct buf held = t->held;
    buf_init(&t->held, LIMIT_TRACE_HELD_BYTES);
    for (size_t at = 0; at < held.len && t->stage != STAGE_OVER;) {
        size_t len;
        memcpy(&len, held.data + at, sizeof len);
        at += sizeof len;
        session_take(t, held.data + at, len);
        at += len;
    }
    buf_clear(&held);
}

/* Nobody knows what the target has done of it, so what is armed is asked for. */
static void arm_unknown(struct trace_session *t, const struct error *err)
{
    t->state->end = END_KILLED;
    snprintf(t->state->end_text, sizeof t->state->end_text, "killed: %.140s", err->text);
    session_tell(t, session_term(t, "stop", 2));
    session_verify(t);
}

static bool names_function(const struct trace_session *t, size_t i, const struct mfa *mfa)
{
    const struct preflight_pattern *p = &t->preflight.patterns[i];
    for (size_t k = 0; k < p->n; k++)
        if (session_mfa_order(&t->functions[p->first + k].mfa, mfa) == 0)
            return true;
    return false;
}

/* Each call of the functions of pattern i goes to pattern k, which is before it. */
static bool takes_all_of(const struct trace_session *t, size_t k, size_t i)
{
    const struct preflight_pattern *p = &t->preflight.patterns[i];
    const unsigned counts = TRACE_COUNT | TRACE_TIME;
    if (t->patterns[k]->kind != PATTERN_CALL || t->specs[k].narrow || p->n == 0 || p->n > 100 ||
        (t->patterns[k]->actions & counts) || (t->patterns[i]->actions & counts))
        return false;
    for (size_t at = 0; at < p->n; at++)
        if (!names_function(t, k, &t->functions[p->first + at].mfa))
            return false;
    return true;
}

/* A filter of results does not pass a call on to the next pattern. */
static void note_taken(struct trace_session *t)
{
    for (size_t i = 1; i < t->n_patterns; i++)
        for (size_t k = 0; k < i; k++)
            if (takes_all_of(t, k, i)) {
                snprintf(t->state->note, sizeof t->state->note,
                         "pattern %zu is told nothing: pattern %zu before it takes every call of "
                         "its functions", i + 1, k + 1);
                return;
            }
}

static void on_armed(void *arg, const struct answer *answer)
{
    struct trace_session *t = arg;
    if (t->stage != STAGE_ARM)
        return;
    struct error err = answer->err;
    struct armed_answer armed;
    if (err.code != ERR_NONE ||
        decode_arm(&armed, t->id, answer->value, answer->len, &err) != 0) {
        arm_unknown(t, &err);
        return;
    }
    if (armed.refused[0] != '\0') {
        error_set(&err, armed.code, "%s", armed.refused);
        session_fail(t, &err);
        return;
    }
    t->mono_start = armed.mono;
    t->wall_start_us = armed.wall_us;
    t->per_second = armed.per_second;
    t->state->session = armed.session;
    note_taken(t);
    t->armed_ns = t->heard_ns = t->rate_ns = t->credit.round_ns = session_now(t);
    session_phase(t, STAGE_RUN, TRACE_RUNNING);
    if (t->stopping)
        session_end(t);
    take_held(t);
    session_changed(t);
}

static void ask_arm(struct trace_session *t)
{
    struct error err = {0};
    t->id = (session_now(t) / 1000 & 0x3ffffff) + 1; /* no earlier trace of the link had it */
    t->credit.events = CREDIT_EVENTS;
    t->credit.bytes = CREDIT_BYTES;
    session_phase(t, STAGE_ARM, TRACE_ARMING);
    if (session_ask(t, QUESTION_TRACE, session_arm_arg(t), on_armed, &err))
        session_fail(t, &err);
    else
        session_changed(t);
}

static void on_baseline(void *arg, const struct answer *answer)
{
    struct trace_session *t = arg;
    if (t->stage != STAGE_BASELINE)
        return;
    struct error err = answer->err;
    if (err.code != ERR_NONE ||
        decode_armed(&t->baseline, answer->value, answer->len, &err) != 0)
        session_fail(t, &err);
    else
        ask_arm(t);
}

void session_proceed(struct trace_session *t)
{
    struct error err = {0};
    struct builder *b = builder_new();
    build_map(b, 1);
    build_atom(b, "most");
    build_int(b, MOST_ARMED);
    session_phase(t, STAGE_BASELINE, TRACE_ARMING);
    if (session_ask(t, QUESTION_ARMED, b, on_baseline, &err))
        session_fail(t, &err);
    else
        session_changed(t);
}

/* ---- Opening and freeing */

static int parse_group(struct trace_session *t, const char *text, enum syntax syntax,
                       size_t *offset, struct error *err)
{
    struct pattern_group *g = &t->groups[t->n_groups];
    int rc = patterns_parse(&g->patterns, &g->n, text, strlen(text), syntax, offset, err);
    if (rc)
        return rc;
    t->n_groups++;
    for (size_t i = 0; i < g->n; i++) {
        if (t->n_patterns == LIMIT_TRACE_PATTERNS)
            return error_set(err, ERR_USAGE, "a trace takes %d patterns", LIMIT_TRACE_PATTERNS);
        t->patterns[t->n_patterns++] = g->patterns[i];
    }
    return 0;
}

static int parse_patterns(struct trace_session *t, const struct trace_options *o, size_t *pattern,
                          size_t *offset, struct error *err)
{
    for (size_t i = 0; i < o->n_patterns; i++) {
        *pattern = i;
        if (i == LIMIT_TRACE_PATTERNS)
            return error_set(err, ERR_USAGE, "a trace takes %d patterns", LIMIT_TRACE_PATTERNS);
        int rc = parse_group(t, o->patterns[i], o->syntax, offset, err);
        if (rc)
            return rc;
    }
    if (t->n_patterns == 0)
        return error_set(err, ERR_USAGE, "a pattern is needed: lists:seq(_, _)");
    return 0;
}

static void set_slower(struct pattern *p, uint64_t slower_us)
{
    const unsigned has = TRACE_SLOWER | TRACE_COUNT | TRACE_TIME;
    if (slower_us == 0 || p->kind != PATTERN_CALL || (p->actions & has) != 0)
        return;
    p->actions |= TRACE_SLOWER | TRACE_RETURN;
    p->slower_us = slower_us;
}

size_t session_text_of(const struct trace_session *t, size_t pattern)
{
    size_t g = 0;
    while (g + 1 < t->n_groups && pattern >= t->groups[g].n)
        pattern -= t->groups[g++].n;
    return g;
}

static int open_all(struct trace_session *t, const struct trace_options *o, size_t *pattern,
                    size_t *offset, struct error *err)
{
    int rc = parse_patterns(t, o, pattern, offset, err);
    if (rc)
        return rc;
    *pattern = 0;
    *offset = 0;
    rc = procs_parse(&t->procs, o->procs, NULL, err);
    if (rc) {
        error_context(err, "processes");
        return rc;
    }
    t->log = trace_log_new(LIMIT_TRACE_EVENTS, LIMIT_TRACE_KEPT_BYTES);
    t->state = trace_log_state_edit(t->log);
    for (size_t i = 0; i < t->n_patterns; i++) {
        set_slower(t->patterns[i], o->slower_us);
        trace_log_add_pattern(t->log, t->patterns[i]);
    }
    t->state->phase = TRACE_PREPARING;
    t->state->caps = o->caps;
    t->state->on_rate_stop = o->on_rate_stop;
    t->state->children = t->procs.children;
    struct buf text;
    buf_init(&text, sizeof t->state->procs - 1);
    procs_print(&text, &t->procs);
    snprintf(t->state->procs, sizeof t->state->procs, "%s", buf_cstr(&text));
    buf_clear(&text);
    size_t index = 0;
    rc = session_prepare(t, &index, offset, err);
    *pattern = session_text_of(t, index);
    return rc;
}

static void free_all(struct trace_session *t)
{
    for (size_t i = 0; i < t->n_patterns; i++)
        matchspec_clear(&t->specs[i]);
    trace_log_free(t->log);
    preflight_clear(&t->preflight);
    free(t->preflight_bytes);
    free(t->functions);
    record_store_clear(&t->records);
    buf_clear(&t->held);
    for (size_t i = 0; i < t->n_groups; i++)
        patterns_free(t->groups[i].patterns, t->groups[i].n);
    free(t);
}

int trace_open(struct trace_session **out, const struct trace_options *options,
               const struct trace_port *port, const struct trace_handlers *handlers, void *arg,
               size_t *pattern, size_t *offset, struct error *err)
{
    struct trace_session *t = alloc_zero(1, sizeof *t);
    size_t unused_pattern, unused_offset = 0;
    t->port = *port;
    t->handlers = *handlers;
    t->arg = arg;
    t->force = options->force;
    t->dry_run = options->dry_run;
    t->opening = true;
    record_store_init(&t->records);
    buf_init(&t->held, LIMIT_TRACE_HELD_BYTES);
    int rc = open_all(t, options, pattern != NULL ? pattern : &unused_pattern,
                      offset != NULL ? offset : &unused_offset, err);
    t->opening = false;
    if (rc) {
        free_all(t);
        return rc;
    }
    *out = t;
    return 0;
}

void trace_free(struct trace_session *t)
{
    if (t == NULL)
        return;
    if (t->stage == STAGE_ARM || t->stage == STAGE_RUN)
        session_tell(t, session_term(t, "stop", 2));
    free_all(t);
}

const struct trace_log *trace_session_log(const struct trace_session *t)
{
    return t->log;
}
