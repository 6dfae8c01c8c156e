/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watching for system events, from the options to the check that nothing is left on the node. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "events_internal.h"
#include "trace/session/name_queue.h"

#define EVENTS_ASK_MS 15000u
#define NAMES_MS 2000u
#define TAKE_EVERY_NS (500u * UINT64_C(1000000))
#define SLACK_NS (20u * UINT64_C(1000000000))
#define NAMES_KEPT NAMES_ASKED /* a name that is forgotten is asked for again */

struct kept_name {
    struct etf_pid pid;
    char name[sizeof((struct system_event *)NULL)->name];
};

struct events_session {
    struct session s;
    struct events_options options;
    struct events_run run;
    double unknown; /* there is no estimate */
    struct events_taken taken;
    struct name_queue names;
    struct kept_name known[NAMES_KEPT]; /* by hash; a collision forgets the one before */
    bool asked, delivering;
    uint64_t armed_ns, asked_ns, ended_ns; /* ended: the node has said so */
    uint64_t unread;                       /* rows so far that could not be read */
};

static struct events_session *events_of(struct session *s)
{
    return (struct events_session *)s;
}

static void tell_stop(struct session *s)
{
    struct builder *b = builder_new();
    build_atom(b, "stop");
    session_tell(s, b);
}

/* ---- Names */

static struct kept_name *place_of_name(struct events_session *t, const struct etf_pid *pid)
{
    const uint32_t mixed = (pid->id ^ (pid->serial << 15)) * 2654435761u;
    return &t->known[(mixed >> 16) % NAMES_KEPT];
}

static bool is_same_pid(const struct etf_pid *a, const struct etf_pid *b)
{
    return a->id == b->id && a->serial == b->serial && a->creation == b->creation;
}

static void keep_name(void *arg, const struct etf_pid *pid, struct slice name)
{
    struct kept_name *known = place_of_name(arg, pid);
    known->pid = *pid;
    answer_copy(name, known->name, sizeof known->name);
}

static void deliver_event(struct events_session *t, struct system_event *e)
{
    if (e->has_pid) {
        const struct kept_name *known = place_of_name(t, &e->pid);
        if (is_same_pid(&known->pid, &e->pid))
            memcpy(e->name, known->name, sizeof e->name);
    }
    t->run.kept[t->run.n_events++ % EVENTS_KEPT] = *e;
    if (t->s.handlers.on_system_event)
        t->s.handlers.on_system_event(t->s.arg, e);
}

static void ask_for_events(struct events_session *t);

/* Once the names are there, or will not come. */
static void deliver_events(struct events_session *t)
{
    const size_t n = t->taken.n;
    t->delivering = false;
    t->taken.n = 0;
    for (size_t i = 0; i < n && session_runs(&t->s); i++)
        deliver_event(t, &t->taken.events[i]);
    if (!session_runs(&t->s))
        return;
    /* What a node keeps comes soon; one that has always more does not hold the end up. */
    if (t->taken.end != EVENTS_RUNNING && (n == 0 || session_now(&t->s) - t->ended_ns > SLACK_NS)) {
        t->run.end = t->taken.end;
        session_verify(&t->s);
        return;
    }
    /* A full answer, or the end: there may be more. */
    if (n >= EVENTS_BATCH / 2 || t->taken.end != EVENTS_RUNNING)
        ask_for_events(t);
    session_changed(&t->s);
}

static void on_event_names(void *arg, const struct answer *answer)
{
    struct events_session *t = arg;
    struct error ignored = {0};
    t->names.asked = false;
    if (answer->err.code == ERR_NONE)
        decode_names(keep_name, t, answer->value, answer->len, &ignored);
    deliver_events(t);
}

static void ask_for_names(struct events_session *t)
{
    for (size_t i = 0; i < t->taken.n; i++) {
        const struct system_event *e = &t->taken.events[i];
        if (e->has_pid && !is_same_pid(&place_of_name(t, &e->pid)->pid, &e->pid))
            name_queue_add(&t->names, &e->pid);
    }
    name_queue_ask(&t->names, &t->s, NAMES_MS, on_event_names);
    if (!t->names.asked)
        deliver_events(t);
}

/* ---- Events */

static void break_off(struct events_session *t, const struct error *why)
{
    t->run.status.error = *why;
    t->run.end = EVENTS_KILLED;
    tell_stop(&t->s);
    session_verify(&t->s);
}

static void on_taken(void *arg, const struct answer *answer)
{
    struct events_session *t = arg;
    struct error err = answer->err;
    t->asked = false;
    if (err.code != ERR_NONE ||
        decode_events_taken(&t->taken, answer->value, answer->len, &err) != 0) {
        t->taken.n = 0;
        break_off(t, &err);
        session_changed(&t->s);
        return;
    }
    t->run.seen = t->taken.seen;
    t->unread += t->taken.unread;
    t->run.missed = t->taken.missed + t->unread;
    if (t->taken.end == EVENTS_RUNNING)
        memcpy(t->run.limits, t->taken.limits, sizeof t->run.limits);
    if (t->taken.end != EVENTS_RUNNING && t->run.status.phase == SESSION_RUNNING) {
        t->ended_ns = session_now(&t->s);
        session_enter(&t->s, SESSION_ENDING);
    }
    t->delivering = true;
    ask_for_names(t);
}

static void ask_for_events(struct events_session *t)
{
    struct error err = {0};
    struct builder *b = builder_new();
    build_atom(b, "take");
    t->asked_ns = session_now(&t->s);
    t->asked = session_ask(&t->s, QUESTION_EVENTS, b, EVENTS_ASK_MS, on_taken, &err) == 0;
    if (!t->asked)
        break_off(t, &err);
}

/* ---- Arming */

static void on_events_armed(void *arg, const struct answer *answer)
{
    struct events_session *t = arg;
    struct events_armed armed;
    struct error err = answer->err;
    if (err.code != ERR_NONE ||
        decode_events_armed(&armed, answer->value, answer->len, &err) != 0) {
        break_off(t, &err);
        session_changed(&t->s);
        return;
    }
    if (*armed.refused) {
        error_set(&err, armed.code, "%s", armed.refused);
        session_fail(&t->s, &err);
        return;
    }
    t->run.session = armed.session;
    t->run.wall_us = armed.wall_us;
    t->run.arm_us = armed.arm_us;
    memcpy(t->run.limits, t->options.limits, sizeof t->run.limits);
    t->armed_ns = session_now(&t->s);
    session_enter(&t->s, SESSION_RUNNING);
    if (t->s.stopping)
        tell_stop(&t->s);
    ask_for_events(t);
    session_changed(&t->s);
}

static void build_limit(struct builder *b, enum system_event_kind kind, int64_t limit)
{
    build_tuple(b, 2);
    build_atom(b, system_event_rows[kind].word);
    if (kind == EVENT_LONG_QUEUE) {
        build_tuple(b, 2);
        build_int(b, limit / 5);
        build_int(b, limit);
    } else if (*system_event_rows[kind].unit) {
        build_int(b, limit);
    } else {
        build_bool(b, true);
    }
}

static void arm_events(struct session *s)
{
    struct events_session *t = events_of(s);
    size_t n = 0;
    for (int i = 0; i < SYSTEM_EVENTS; i++)
        n += t->options.limits[i] > 0;
    struct builder *b = builder_new();
    build_tuple(b, 2);
    build_atom(b, "arm");
    build_map(b, 3);
    build_atom(b, "limits");
    build_list(b, n);
    for (int i = 0; i < SYSTEM_EVENTS; i++)
        if (t->options.limits[i] > 0)
            build_limit(b, (enum system_event_kind)i, t->options.limits[i]);
    build_nil(b);
    build_atom(b, "time");
    build_int(b, t->options.for_ms);
    build_atom(b, "events");
    build_int(b, t->options.events);
    s->touched = true;
    session_step(s, SESSION_ARMING, QUESTION_EVENTS, b, EVENTS_ASK_MS, on_events_armed);
}

static void ask_consent(struct session *s)
{
    session_estimated(s, false);
}

/* ---- The end */

static void close_unset(struct session *s)
{
    s->status->check.unarmed = s->status->check.clean = true;
    events_of(s)->run.end = EVENTS_STOPPED;
    session_over(s);
}

/* What was kept there still comes. */
static void stop_events(struct session *s)
{
    if (!s->stopping && s->status->phase == SESSION_RUNNING) {
        tell_stop(s);
        events_of(s)->asked_ns = 0;
    }
    s->stopping = true;
}

static void lose_events(struct session *s, const struct error *why)
{
    if (!s->touched || s->status->phase <= SESSION_ARMING) {
        session_fail(s, why);
        return;
    }
    events_of(s)->run.end = EVENTS_LOST;
    snprintf(s->status->check.text, sizeof s->status->check.text,
             "unknown: %.200s; the node clears it by itself", why->text);
    session_over(s);
}

static void tick_events(struct session *s)
{
    struct events_session *t = events_of(s);
    const uint64_t now = session_now(s);
    struct error late = {0};
    if (s->status->phase != SESSION_RUNNING || t->asked || t->delivering)
        return;
    if (now - t->armed_ns > t->options.for_ms * UINT64_C(1000000) + SLACK_NS) {
        error_set(&late, ERR_TIMEOUT, "the node does not end watching in time");
        break_off(t, &late);
        session_changed(s);
    } else if (now - t->asked_ns >= TAKE_EVERY_NS) {
        ask_for_events(t);
    }
}

static void free_events(struct session *s)
{
    if (s->touched && session_runs(s))
        tell_stop(s);
}

static void events_broke_off(const struct session *s, struct error *err)
{
    const enum events_end end = ((const struct events_session *)s)->run.end;
    if (end == EVENTS_KILLED || end == EVENTS_TAKEN || end == EVENTS_UNASKED)
        error_set(err, ERR_TARGET, "watching for events %s", events_end_text(end));
    else if (end == EVENTS_LOST)
        error_set(err, ERR_LOST, "watching for events %s", events_end_text(end));
}

static const struct session_kind events_kind = {.question = QUESTION_EVENTS,
                                                .session = "beamtop_events",
                                                .cost = "a moment of the whole node",
                                                .broken_off = events_broke_off,
                                                .proceed = arm_events,
                                                .close = close_unset,
                                                .stop = stop_events,
                                                .broken = session_fail,
                                                .lost = lose_events,
                                                .tick = tick_events,
                                                .free = free_events};

/* ---- Opening */

void events_defaults(struct events_options *o)
{
    *o = (struct events_options){.for_ms = EVENTS_MOST_S * 1000u, .events = 10000};
    for (int i = 0; i < SYSTEM_EVENTS; i++)
        o->limits[i] = system_event_rows[i].limit;
}

static int check_options(struct events_options *o, int otp, struct error *err)
{
    int64_t any = 0;
    if (otp > 0 && otp < OTP_QUEUE_EVENTS)
        o->limits[EVENT_LONG_QUEUE] = 0;
    for (int i = 0; i < SYSTEM_EVENTS; i++) {
        const struct system_event_row *row = &system_event_rows[i];
        if (o->limits[i] != 0 && o->limits[i] < row->least)
            return error_set(err, ERR_USAGE, "%s takes %lld %s or more; 0 leaves it out", row->word,
                             (long long)row->least, row->unit);
        any |= o->limits[i];
    }
    if (any == 0)
        return error_set(err, ERR_USAGE,
                         otp > 0 && otp < OTP_QUEUE_EVENTS
                             ? "no event is left: those of message queues need OTP 27 or later"
                             : "no event is left to watch for");
    if (o->for_ms < 1 || o->for_ms > EVENTS_MOST_S * 1000u)
        return error_set(err, ERR_USAGE, "events are watched for up to %d s", EVENTS_MOST_S);
    if (o->events < 1 || o->events > EVENTS_MOST)
        return error_set(err, ERR_USAGE, "--events takes 1 to %d", EVENTS_MOST);
    return 0;
}

int events_open(struct session **out, const struct events_options *options,
                const struct session_port *port, const struct session_handlers *handlers, void *arg,
                struct error *err)
{
    struct events_session *t = alloc_zero(1, sizeof *t);
    session_init(&t->s, &events_kind, port, handlers, arg, &t->run.status);
    t->unknown = (double)NAN;
    t->s.calls_per_s = t->s.load = &t->unknown;
    t->options = *options;
    t->s.hold = options->hold;
    int rc = check_options(&t->options, port->otp, err);
    if (rc == 0) {
        session_baseline(&t->s, SESSION_PREPARING, ask_consent);
        if (!session_runs(&t->s))
            rc = error_set(err, t->run.status.error.code, "%s", t->run.status.error.text);
    }
    return session_opened(out, &t->s, rc);
}

const struct events_run *events_session_run(const struct session *s)
{
    return &((const struct events_session *)s)->run;
}
