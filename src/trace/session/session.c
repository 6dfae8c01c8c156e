/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session_base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"

#define MOST_ARMED 1000
#define ARMED_MS 15000u
#define VERIFY_NS (2u * UINT64_C(1000000000)) /* for what ends to be gone */
#define VERIFY_EVERY_NS (200u * UINT64_C(1000000))

bool session_status_runs(const struct session_status *s)
{
    return s->phase != SESSION_ENDED && s->phase != SESSION_FAILED;
}

const char *session_share_text(char *out, size_t size, double share, const char *of)
{
    if (share > 1)
        snprintf(out, size, "all of %.*s, or more", (int)strcspn(of, ","), of);
    else if (share < 0.0001)
        snprintf(out, size, "below 0.01%% of %s", of);
    else
        snprintf(out, size, "%.3g%% of %s", share * 100, of);
    return out;
}

void session_refuse_cost(struct error *err, const struct session *s)
{
    char calls[32], cost[80];
    error_set(err, ERR_REFUSED,
              "about %s calls/s would cost the node %s: narrow the pattern or the processes, or "
              "add --force (the caps still hold)",
              text_integer(calls, sizeof calls, (int64_t)*s->calls_per_s),
              session_share_text(cost, sizeof cost, *s->load, s->kind->cost));
}

double session_load(const struct session *s)
{
    return *s->load;
}

struct error session_trouble(const struct session *s)
{
    const struct session_check *check = &s->status->check;
    struct error err = s->status->error, left = {0};
    if (err.code == ERR_NONE && s->kind->broken_off)
        s->kind->broken_off(s, &err);
    if (s->status->phase == SESSION_FAILED || err.code == ERR_LOST || check->unarmed ||
        (check->done && check->clean))
        return err;
    error_set(&left, ERR_TARGET, "%s", check->text);
    return left;
}

void session_check_text(char *out, size_t size, const struct session_check *check,
                        const char *where)
{
    if (check->done && check->clean)
        snprintf(out, size, "verified after %.0f ms: nothing left on %s",
                 (double)check->after_us / 1000, where);
    else
        snprintf(out, size, "%s", *check->text ? check->text : "nothing was set");
}

const struct session_status *session_status(const struct session *s)
{
    return s->status;
}

const struct session_port *session_port(const struct session *s)
{
    return &s->port;
}

bool session_runs(const struct session *s)
{
    return s && session_status_runs(s->status);
}

/* Traces and captures of spans set the same flags; only calls can be counted in a trace session of
 * their own. System events are none of tracing. */
bool session_excludes(const struct session *s, enum question other)
{
    if (session_runs(s) && (s->kind->question == QUESTION_EVENTS || other == QUESTION_EVENTS))
        return s->kind->question == other;
    return session_runs(s) && (session_port_is_shared(&s->port) || s->kind->question == other ||
                               (s->kind->question != QUESTION_CALLS && other != QUESTION_CALLS));
}

uint64_t session_now(const struct session *s)
{
    return s->port.now_ns(s->port.ctx);
}

void session_changed(struct session *s)
{
    if (!s->quiet && s->handlers.on_change)
        s->handlers.on_change(s->arg);
}

void session_enter(struct session *s, enum session_phase phase)
{
    s->status->phase = phase;
}

/* Answers that are still to come are dropped. */
static void drop_answers(struct session *s)
{
    if (!s->detached)
        s->port.drop(s->port.ctx, s);
}

void session_fail(struct session *s, const struct error *why)
{
    session_enter(s, SESSION_FAILED);
    s->status->error = *why;
    drop_answers(s);
    session_changed(s);
}

void session_over(struct session *s)
{
    session_enter(s, SESSION_ENDED);
    drop_answers(s);
    session_changed(s);
}

/* ---- Questions */

int session_ask(struct session *s, enum question question, struct builder *arg,
                unsigned deadline_ms, answer_fn *fn, struct error *err)
{
    int rc = s->port.ask(s->port.ctx, question, arg, deadline_ms, fn, s, err);
    builder_free(arg);
    return rc;
}

int session_tell(struct session *s, struct builder *term)
{
    struct error err = {0};
    int rc = s->detached ? ERR_LOST : s->port.tell(s->port.ctx, s->kind->question, term, &err);
    builder_free(term);
    return rc;
}

void session_step(struct session *s, enum session_phase phase, enum question question,
                  struct builder *arg, unsigned deadline_ms, answer_fn *fn)
{
    struct error err = {0};
    session_enter(s, phase);
    if (session_ask(s, question, arg, deadline_ms, fn, &err) != 0)
        s->kind->broken(s, &err);
    else
        session_changed(s);
}

static struct builder *armed_arg(const struct session *s)
{
    struct builder *b = builder_new();
    build_map(b, 2);
    build_atom(b, "most");
    build_int(b, MOST_ARMED);
    build_atom(b, "session");
    build_binary(b, s->kind->session, strlen(s->kind->session));
    return b;
}

/* ---- Before anything is set */

static void on_baseline(void *arg, const struct answer *answer)
{
    struct session *s = arg;
    struct error err = answer->err;
    if (err.code != ERR_NONE || armed_decode(&s->baseline, answer->value, answer->len, &err) != 0)
        session_fail(s, &err);
    else
        s->next(s);
}

void session_baseline(struct session *s, enum session_phase phase, void (*next)(struct session *s))
{
    s->next = next;
    session_step(s, phase, QUESTION_ARMED, armed_arg(s), ARMED_MS, on_baseline);
}

void session_estimated(struct session *s, bool expensive)
{
    if (s->stopping) {
        s->kind->close(s);
    } else if (s->dry_run || s->hold || (expensive && !s->force)) {
        session_enter(s, SESSION_ASKING);
        session_changed(s);
    } else {
        s->kind->proceed(s);
    }
}

void session_build_procs(struct builder *b, const struct preflight *p)
{
    if (p->procs == PREFLIGHT_PIDS) {
        build_tuple(b, 2);
        build_atom(b, "pids");
    }
    build_raw(b, (const uint8_t *)p->procs_raw.s, p->procs_raw.len);
}

/* ---- The end and its verification */

static uint64_t count_above(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static void judge_armed(struct session *s, const struct armed *now)
{
    struct session_check *check = &s->status->check;
    char word[64] = "";
    check->done = true;
    /* Events and a trace may run at the same time: each judges its own. */
    const bool traces = s->kind->question != QUESTION_EVENTS;
    check->breakpoints = traces ? count_above(now->breakpoints, s->baseline.breakpoints) : 0;
    check->flags = traces ? count_above(now->flags, s->baseline.flags) : 0;
    check->sessions = count_above(now->sessions, s->baseline.sessions);
    check->processes = count_above(now->processes, s->baseline.processes);
    check->control_word = s->kind->control_word ? now->control_word : 0;
    check->system_tracer = traces && now->system_tracer && !s->baseline.system_tracer;
    check->system_monitor = !traces && now->system_monitor && !s->baseline.system_monitor;
    check->tokens = now->tokens;
    check->clean = check->breakpoints == 0 && check->flags == 0 && check->sessions == 0 &&
                   check->processes == 0 && !check->system_tracer && !check->system_monitor &&
                   (check->control_word == 0 || check->control_word == s->baseline.control_word);
    check->text[0] = '\0';
    if (check->clean)
        return;
    if (s->kind->control_word)
        snprintf(word, sizeof word, ", control word %llu", (unsigned long long)check->control_word);
    snprintf(check->text, sizeof check->text,
             "left on the node: %llu breakpoints, %llu trace flags, %llu sessions, %llu processes "
             "of beamtop%s%s%s",
             (unsigned long long)check->breakpoints, (unsigned long long)check->flags,
             (unsigned long long)check->sessions, (unsigned long long)check->processes, word,
             check->system_tracer ? ", the system tracer" : "",
             check->system_monitor ? ", the system monitor" : "");
}

static void not_verified(struct session *s, const struct error *err)
{
    snprintf(s->status->check.text, sizeof s->status->check.text, "unknown: %.200s", err->text);
}

static void on_verified(void *arg, const struct answer *answer)
{
    struct session *s = arg;
    struct armed now;
    struct error err = answer->err;
    s->verify_asked = false;
    if (err.code == ERR_NONE && armed_decode(&now, answer->value, answer->len, &err) == 0)
        judge_armed(s, &now);
    else
        not_verified(s, &err);
    uint64_t after_ns = session_now(s) - s->ended_ns;
    s->status->check.after_us = after_ns / 1000;
    /* Its processes end after they have reported the end; a tick asks again. */
    if (s->status->check.clean || after_ns >= VERIFY_NS)
        session_over(s);
    else
        session_changed(s);
}

static void verify_again(struct session *s)
{
    struct error err = {0};
    s->asked_ns = session_now(s);
    s->verify_asked =
        session_ask(s, QUESTION_ARMED, armed_arg(s), ARMED_MS, on_verified, &err) == 0;
    if (s->verify_asked)
        return;
    not_verified(s, &err);
    session_over(s);
}

void session_verify(struct session *s)
{
    if (s->status->phase >= SESSION_VERIFYING)
        return;
    s->ended_ns = session_now(s);
    session_enter(s, SESSION_VERIFYING);
    verify_again(s);
    if (s->status->phase == SESSION_VERIFYING)
        session_changed(s);
}

/* ---- What you, the connection and the clock do */

void session_confirm(struct session *s)
{
    if (s->status->phase == SESSION_ASKING && !s->dry_run)
        s->kind->proceed(s);
}

void session_stop(struct session *s)
{
    enum session_phase phase = s->status->phase;
    if (phase >= SESSION_ENDING)
        return;
    if (phase == SESSION_ASKING || phase == SESSION_WAITING || !s->touched)
        s->kind->close(s);
    else
        s->kind->stop(s);
}

void session_link_lost(struct session *s, const struct error *why)
{
    s->detached = true;
    session_abandon(s, why);
}

void session_abandon(struct session *s, const struct error *why)
{
    if (session_runs(s))
        s->kind->lost(s, why);
}

void session_tick(struct session *s)
{
    if (!session_runs(s))
        return;
    if (s->status->phase != SESSION_VERIFYING)
        s->kind->tick(s);
    else if (!s->verify_asked && session_now(s) - s->asked_ns >= VERIFY_EVERY_NS)
        verify_again(s);
}

/* ---- Opening and freeing */

void session_init(struct session *s, const struct session_kind *kind,
                  const struct session_port *port, const struct session_handlers *handlers,
                  void *arg, struct session_status *status)
{
    s->kind = kind;
    s->port = *port;
    if (port->node) {
        snprintf(s->node, sizeof s->node, "%s", port->node);
        s->port.node = s->node;
    }
    s->handlers = *handlers;
    s->arg = arg;
    s->status = status;
    s->quiet = true;
}

int session_parse(struct session *s, const char *const *texts, size_t n, enum syntax syntax,
                  pattern_check_fn *check, size_t *pattern, size_t *offset, struct error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct pattern **group = NULL;
        size_t size = 0;
        *pattern = i;
        *offset = 0;
        int rc = i < LIMIT_TRACE_PATTERNS
                     ? patterns_parse_for(check, &group, &size, texts[i], syntax, offset, err)
                     : 0;
        if (rc)
            return rc;
        if (i == LIMIT_TRACE_PATTERNS || size > LIMIT_TRACE_PATTERNS - s->n_patterns) {
            patterns_free(group, size);
            return error_set(err, ERR_USAGE, "at most %d patterns", LIMIT_TRACE_PATTERNS);
        }
        s->groups[s->n_groups] = group;
        s->group_sizes[s->n_groups++] = size;
        for (size_t k = 0; k < size; k++)
            s->patterns[s->n_patterns++] = group[k];
    }
    return 0;
}

int session_parse_procs(struct session *s, const char *procs, struct error *err)
{
    struct buf text;
    int rc = procs_parse(&s->procs, procs, NULL, err);
    if (rc)
        return rc;
    buf_init(&text, sizeof s->status->procs - 1);
    procs_print(&text, &s->procs);
    snprintf(s->status->procs, sizeof s->status->procs, "%s", buf_cstr(&text));
    buf_clear(&text);
    return 0;
}

int session_opened(struct session **out, struct session *s, int rc)
{
    s->quiet = false;
    if (rc != 0)
        session_free(s);
    else
        *out = s;
    return rc;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    s->quiet = true;
    s->kind->free(s);
    drop_answers(s);
    for (size_t i = 0; i < s->n_groups; i++)
        patterns_free(s->groups[i], s->group_sizes[i]);
    free(s);
}
