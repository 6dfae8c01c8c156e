/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet_sessions.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "app/cli/tell.h"
#include "app/source/live.h"
#include "app/source/nodes.h"
#include "beamtop/base/alloc.h"

#define TURN_MS 100u
#define CONNECT_MS 15000u

enum session_phase fleet_part_phase(const struct fleet_part *p)
{
    return session_status(p->session)->phase;
}

void fleet_sessions_stop(struct fleet_sessions *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->parts[i].session)
            session_stop(s->parts[i].session);
}

void fleet_sessions_output_failed(struct fleet_sessions *s, int write_errno,
                                  const struct error *err)
{
    if (write_errno != EPIPE && s->rt.err.code == ERR_NONE)
        s->rt.err = *err;
    fleet_sessions_stop(s);
}

/* ---- who takes part */

/* Of a connection that has its first answers. */
static bool is_ready(const struct fleet_sessions *s, size_t node)
{
    struct session_port port;
    struct error ignored = {0};
    return fleet_live(s->fleet, node) &&
           live_port(fleet_live(s->fleet, node), &port, &ignored) == 0;
}

/* Ends the run, when nothing was set anywhere. */
static void refuse_all(struct fleet_sessions *s, size_t node, const struct error *why)
{
    struct error err = *why;
    error_context(&err, "%s", fleet_name(s->fleet, node));
    fleet_sessions_stop(s);
    runtime_end(&s->rt, exit_code_of_error(err.code), &err);
}

static void tell_left_out(const struct fleet_sessions *s, size_t node, const struct error *why)
{
    tell_line("%s is left out: %s", fleet_name(s->fleet, node), why->text);
}

/* By two names: each event would come twice, or one session refuse the other. */
static void refuse_twins(struct fleet_sessions *s)
{
    struct error err = {0};
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < i && !s->rt.ended; k++)
            if (fleet_are_one(s->fleet, i, k)) {
                (void)error_set(&err, ERR_USAGE, "%s and %s are the same node",
                                fleet_name(s->fleet, k), fleet_name(s->fleet, i));
                runtime_end(&s->rt, EXIT_USAGE, &err);
            }
}

static int open_part(struct fleet_sessions *s, size_t node, size_t part, size_t parts,
                     struct error *err)
{
    struct session_port port;
    const int rc = live_port(fleet_live(s->fleet, node), &port, err);
    return rc == 0 ? s->kind->open(s->arg, &s->parts[node], part, parts, &port, err) : rc;
}

static void open_sessions(struct fleet_sessions *s, size_t ready)
{
    struct error err = {0};
    size_t part = 0;
    if (s->kind->check && s->kind->check(s->arg, ready, &err) != 0) {
        runtime_end(&s->rt, exit_code_of_error(err.code), &err);
        return;
    }
    for (size_t i = 0; i < s->n && !s->rt.ended; i++)
        if (is_ready(s, i) && open_part(s, i, part++, ready, &err) != 0)
            refuse_all(s, i, &err);
    s->phase = FLEET_PREPARES;
}

/* All or none, or with --partial those that answer. */
static void look_for_connections(struct fleet_sessions *s)
{
    const struct error late = {.code = ERR_TIMEOUT, .text = "no answer yet"};
    const double asked_ms = s->options->timeout_s * 1000;
    const bool is_late = (double)(uv_now(&s->rt.loop) - s->rt.started_ms) >
                         (asked_ms > CONNECT_MS ? asked_ms : CONNECT_MS);
    size_t ready = 0, failed = 0;
    for (size_t i = 0; i < s->n; i++) {
        ready += is_ready(s, i);
        failed += !is_ready(s, i) && (is_late || fleet_why(s->fleet, i));
    }
    if (ready + failed < s->n)
        return;
    for (size_t i = 0; i < s->n && !s->rt.ended; i++) {
        const struct error *why = fleet_why(s->fleet, i) ? fleet_why(s->fleet, i) : &late;
        if (is_ready(s, i))
            continue;
        if (ready == 0 || !s->options->partial)
            refuse_all(s, i, why);
        else
            tell_left_out(s, i, why);
    }
    if (!s->rt.ended)
        refuse_twins(s);
    if (!s->rt.ended)
        open_sessions(s, ready);
}

/* ---- consent */

/* Nothing fits there, another tool traces, it would cost too much: 0, else why. */
static int why_not(const struct fleet_part *p, struct error *err)
{
    const struct fleet_sessions *s = p->all;
    const struct session_status *status = session_status(p->session);
    *err = (struct error){0};
    if (status->phase == SESSION_FAILED)
        *err = status->error;
    else if (status->phase >= SESSION_ENDING)
        *err = session_trouble(p->session);
    else if (s->kind->is_expensive(p->session) && !s->force)
        session_refuse_cost(err, p->session);
    else
        return 0;
    if (err->code == ERR_NONE)
        (void)error_set(err, ERR_LOST, "it has ended before %s was set", s->kind->purpose);
    return err->code;
}

static void drop_part(struct fleet_part *p)
{
    const struct fleet_sessions *s = p->all;
    session_free(p->session);
    p->session = NULL;
    if (s->kind->dropped)
        s->kind->dropped(s->arg, p->index);
}

static size_t count_ready(struct fleet_sessions *s)
{
    size_t ready = 0;
    struct error err = {0};
    for (size_t i = 0; i < s->n && !s->rt.ended; i++) {
        struct fleet_part *p = &s->parts[i];
        if (!p->session)
            continue;
        if (why_not(p, &err) == 0) {
            ready++;
        } else if (s->options->partial) {
            tell_left_out(s, i, &err);
            drop_part(p);
        } else {
            refuse_all(s, i, &err);
        }
    }
    return ready;
}

static bool is_prepared(const struct fleet_part *p)
{
    const enum session_phase phase = fleet_part_phase(p);
    return phase >= SESSION_ASKING && phase != SESSION_ENDING && phase != SESSION_VERIFYING;
}

/* Each waits for the word that sets it. */
static void look_for_estimates(struct fleet_sessions *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->parts[i].session && !is_prepared(&s->parts[i]))
            return;
    const size_t ready = count_ready(s);
    if (s->rt.ended)
        return;
    s->kind->estimated(s->arg, ready);
    if (s->options->dry_run || ready == 0) {
        runtime_end(&s->rt, ready > 0 ? EXIT_DONE : EXIT_REFUSED, NULL);
        return;
    }
    for (size_t i = 0; i < s->n; i++)
        if (s->parts[i].session)
            session_confirm(s->parts[i].session);
    s->phase = FLEET_RUNS;
}

/* ---- the end */

static int code_of_part(const struct fleet_part *p)
{
    const struct error trouble = session_trouble(p->session);
    const bool refused = fleet_part_phase(p) == SESSION_FAILED || trouble.code == ERR_REFUSED;
    return trouble.code == ERR_NONE   ? EXIT_DONE
           : trouble.code == ERR_LOST ? EXIT_LOST
           : refused                  ? exit_code_of_error(trouble.code)
                                      : EXIT_FAILED;
}

void fleet_sessions_end(struct fleet_sessions *s)
{
    int code = s->rt.err.code != ERR_NONE ? EXIT_FAILED : EXIT_DONE;
    for (size_t i = 0; i < s->n && code == EXIT_DONE; i++)
        if (s->parts[i].session)
            code = code_of_part(&s->parts[i]);
    runtime_end(&s->rt, code == EXIT_DONE && s->signal == SIGTERM ? 128 + SIGTERM : code, NULL);
}

/* ---- turns */

/* Who waits for this may begin: nothing that happens from now on is missed. */
static void tell_set(struct fleet_sessions *s)
{
    size_t set = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!s->parts[i].session)
            continue;
        const enum session_phase phase = fleet_part_phase(&s->parts[i]);
        if (phase < SESSION_RUNNING)
            return;
        set += phase >= SESSION_RUNNING && phase < SESSION_ENDING;
    }
    if (!s->told_set && set > 0)
        tell_line("%zu node%s %s", set, set == 1 ? " is" : "s are", s->kind->done);
    s->told_set = true;
}

/* At once: the others may go on for long. Where it could not be set, since a scheduler was late or
 * another tool was faster, they end, too. */
static void tell_trouble(struct fleet_part *p)
{
    struct fleet_sessions *s = p->all;
    if (p->told || s->phase != FLEET_RUNS || session_runs(p->session))
        return;
    p->told = true;
    const struct error trouble = session_trouble(p->session);
    if (trouble.code != ERR_NONE)
        tell_line("%s: %s", fleet_name(s->fleet, p->index), trouble.text);
    const bool unset = fleet_part_phase(p) == SESSION_FAILED && !s->told_set;
    if ((unset || trouble.code == ERR_REFUSED) && !s->options->partial)
        fleet_sessions_stop(s);
}

static void follow_sessions(struct fleet_sessions *s)
{
    size_t running = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct fleet_part *p = &s->parts[i];
        if (!p->session)
            continue;
        session_tick(p->session);
        tell_trouble(p);
        running += session_runs(p->session);
        if (s->kind->follow)
            s->kind->follow(s->arg, p);
    }
    if (s->phase != FLEET_RUNS)
        return;
    tell_set(s);
    s->kind->runs(s->arg, running);
}

static void on_sessions_turn(uv_timer_t *timer)
{
    struct fleet_sessions *s = timer->data;
    if (s->rt.ended)
        return;
    if (s->kind->turn)
        s->kind->turn(s->arg);
    if (s->phase == FLEET_CONNECTS)
        look_for_connections(s);
    else if (s->phase == FLEET_PREPARES)
        look_for_estimates(s);
    if (!s->rt.ended)
        follow_sessions(s);
}

static void on_part_lost(void *arg, size_t index, const struct error *why)
{
    struct fleet_sessions *s = arg;
    struct fleet_part *p = s->parts ? &s->parts[index] : NULL;
    if (p && p->session) {
        p->lost = true;
        session_link_lost(p->session, why);
    } else if (p && s->kind->disconnected) {
        s->kind->disconnected(s->arg, index);
    }
}

/* Ctrl-C ends it everywhere, which takes a moment; once more ends us, and the nodes clean up. */
static void on_sessions_signal(uv_signal_t *handle, int number)
{
    struct fleet_sessions *s = handle->data;
    if (s->phase == FLEET_RUNS && s->signal != 0 && !s->rt.ended)
        s->kind->interrupted(s->arg);
    if (s->phase != FLEET_RUNS || s->signal != 0)
        runtime_end(&s->rt, 128 + number, NULL);
    s->signal = number;
    fleet_sessions_stop(s);
}

/* ---- its life */

static void begin_sessions(struct fleet_sessions *s, const struct discover_list *vms)
{
    struct fleet_setup setup = fleet_setup_of(s->options, s->env, vms, &s->rt.loop);
    setup.fixed = true;
    setup.lost = on_part_lost;
    setup.arg = s;
    struct error err = {0};
    if (fleet_open(&s->fleet, s->options->target, &setup, &err) != 0) {
        (void)runtime_ends(&s->rt, exit_code_of_error(err.code), &err);
        return;
    }
    s->n = fleet_size(s->fleet);
    s->parts = alloc_zero(s->n, sizeof *s->parts);
    for (size_t i = 0; i < s->n; i++)
        s->parts[i] = (struct fleet_part){.all = s, .index = i};
    s->kind->begun(s->arg);
    uv_timer_start(&s->timer, on_sessions_turn, TURN_MS, TURN_MS);
    uv_run(&s->rt.loop, UV_RUN_DEFAULT);
}

int fleet_sessions_run(struct fleet_sessions *s)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct discover_list vms = {0};
    struct error ignored = {0};
    fleet_prepare();
    (void)nodes_find(&vms, s->options, s->env, NODES_EPMD_MS, &ignored);
    runtime_init(&s->rt);
    runtime_timer(&s->rt, &s->timer, s);
    runtime_catch(&s->rt, signals, ARRAY_LEN(signals), on_sessions_signal, s);
    begin_sessions(s, &vms);
    for (size_t i = 0; i < s->n; i++)
        drop_part(&s->parts[i]);
    fleet_close(s->fleet);
    runtime_close(&s->rt);
    free(s->parts);
    if (s->rt.err.code != ERR_NONE)
        tell_error(&s->rt.err);
    discover_clear(&vms);
    return s->rt.exit_code;
}
