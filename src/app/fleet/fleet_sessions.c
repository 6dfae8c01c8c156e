/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet_sessions.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/live/live.h"
#include "beamtop/base/alloc.h"

/* ---- its host */

static void end_for_host(struct fleet_sessions *s, int code, const struct error *err)
{
    s->phase = FLEET_ENDED;
    s->host->end(s, code, err);
}

void fleet_sessions_refuse(struct fleet_sessions *s, const struct error *err)
{
    fleet_sessions_stop(s);
    end_for_host(s, exit_code_of_error(err->code), err);
}

void fleet_sessions_say(struct fleet_sessions *s, const char *fmt, ...)
{
    char line[1000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    s->host->say(s, line);
}

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
    if (write_errno != EPIPE && s->err.code == ERR_NONE)
        s->err = *err;
    fleet_sessions_stop(s);
}

/* ---- who takes part */

/* Of a connection that has its first answers. */
static bool is_ready(const struct fleet_sessions *s, size_t node)
{
    struct session_port port;
    return !s->parts[node].left_out && fleet_port(s->fleet, node, &port);
}

/* Ends the run, when nothing was set anywhere. */
static void refuse_all(struct fleet_sessions *s, size_t node, const struct error *why)
{
    struct error err = *why;
    error_context(&err, "%s", fleet_name(s->fleet, node));
    fleet_sessions_stop(s);
    end_for_host(s, exit_code_of_error(err.code), &err);
}

static void leave_out(struct fleet_sessions *s, size_t node, const struct error *why)
{
    s->parts[node].left_out = true;
    s->parts[node].why = *why;
    fleet_sessions_say(s, "%s is left out: %s", fleet_name(s->fleet, node), why->text);
}

static void ask_host(struct fleet_sessions *s, size_t ready, size_t node, const struct error *why)
{
    s->phase = FLEET_ASKS;
    s->host->ask(s, ready, node, why);
}

/* Asks whether to go on with the others. False: that is not to be asked, or nobody is left. */
static bool ask_for_rest(struct fleet_sessions *s, size_t ready, size_t node,
                         const struct error *why)
{
    if (ready == 0 || !s->host->ask)
        return false;
    ask_host(s, ready, node, why);
    return true;
}

/* By two names: each event would come twice, or one session refuse the other. */
static void refuse_twins(struct fleet_sessions *s)
{
    struct error err = {0};
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < i && s->phase != FLEET_ENDED; k++)
            if (is_ready(s, i) && is_ready(s, k) && fleet_are_one(s->fleet, i, k)) {
                (void)error_set(&err, ERR_USAGE, "%s and %s are the same node",
                                fleet_name(s->fleet, k), fleet_name(s->fleet, i));
                end_for_host(s, EXIT_USAGE, &err);
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
        end_for_host(s, exit_code_of_error(err.code), &err);
        return;
    }
    s->phase = FLEET_PREPARES;
    for (size_t i = 0; i < s->n && s->phase != FLEET_ENDED; i++)
        if (is_ready(s, i) && open_part(s, i, part++, ready, &err) != 0)
            refuse_all(s, i, &err);
}

/* One that is not connected, for which nobody waits any more. */
static const struct error *why_unready(const struct fleet_sessions *s, size_t node)
{
    return s->parts[node].left_out
               ? NULL
               : fleet_why_unready(s->fleet, node, uv_now(&s->rt->loop) - s->opened_ms);
}

/* All or none, or when it is so wished those that answer. */
static void look_for_connections(struct fleet_sessions *s)
{
    size_t ready = 0, failed = 0, out = 0;
    for (size_t i = 0; i < s->n; i++) {
        ready += is_ready(s, i);
        failed += why_unready(s, i) != NULL;
        out += s->parts[i].left_out;
    }
    if (ready + failed + out < s->n)
        return;
    for (size_t i = 0; i < s->n && s->phase == FLEET_CONNECTS; i++) {
        const struct error *why = why_unready(s, i);
        if (!why)
            continue;
        if (ready > 0 && s->partial)
            leave_out(s, i, why);
        else if (!ask_for_rest(s, ready, i, why))
            refuse_all(s, i, why);
    }
    if (s->phase == FLEET_CONNECTS)
        refuse_twins(s);
    if (s->phase == FLEET_CONNECTS)
        open_sessions(s, ready);
}

void fleet_sessions_answer(struct fleet_sessions *s, bool yes)
{
    const struct error no = {0};
    if (s->phase != FLEET_ASKS)
        return;
    s->phase = FLEET_CONNECTS;
    for (size_t i = 0; i < s->n; i++)
        if (s->parts[i].session)
            s->phase = FLEET_PREPARES;
    if (yes)
        return;
    fleet_sessions_stop(s);
    end_for_host(s, EXIT_REFUSED, &no);
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

/* Nothing but its cost speaks against it, and the host can be asked. */
static bool only_costs(const struct fleet_part *p)
{
    const struct fleet_sessions *s = p->all;
    return s->host->ask && !s->force && fleet_part_phase(p) == SESSION_ASKING &&
           s->kind->is_expensive(p->session);
}

/* Of those that cost too much the dearest is asked for, behind what cannot take part. */
static void ask_for_cost(struct fleet_sessions *s, size_t ready)
{
    const struct fleet_part *dearest = NULL;
    struct error err = {0};
    for (size_t i = 0; i < s->n; i++) {
        const struct fleet_part *p = &s->parts[i];
        if (p->session && only_costs(p) &&
            (!dearest || session_load(p->session) > session_load(dearest->session)))
            dearest = p;
    }
    if (!dearest)
        return;
    session_refuse_cost(&err, dearest->session);
    ask_host(s, ready, dearest->index, &err);
}

static size_t count_ready(struct fleet_sessions *s)
{
    size_t ready = 0, costly = 0;
    struct error err = {0};
    for (size_t i = 0; i < s->n; i++) {
        ready += s->parts[i].session && why_not(&s->parts[i], &err) == 0;
        costly += s->parts[i].session && only_costs(&s->parts[i]);
    }
    for (size_t i = 0; i < s->n && s->phase == FLEET_PREPARES; i++) {
        struct fleet_part *p = &s->parts[i];
        if (!p->session || why_not(p, &err) == 0 || only_costs(p))
            continue;
        if (s->partial) {
            leave_out(s, i, &err);
            drop_part(p);
        } else if (!ask_for_rest(s, ready + costly, i, &err)) {
            refuse_all(s, i, &err);
        }
    }
    if (s->phase == FLEET_PREPARES)
        ask_for_cost(s, ready);
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
    const struct error none = {0};
    if (s->phase != FLEET_PREPARES)
        return;
    s->kind->estimated(s->arg, ready);
    if (s->phase != FLEET_PREPARES)
        return;
    if (s->dry_run || ready == 0) {
        end_for_host(s, ready > 0 ? EXIT_DONE : EXIT_REFUSED, &none);
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
    int code = s->err.code != ERR_NONE ? EXIT_FAILED : EXIT_DONE;
    for (size_t i = 0; i < s->n && code == EXIT_DONE; i++)
        if (s->parts[i].session)
            code = code_of_part(&s->parts[i]);
    end_for_host(s, code, &s->err);
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
        fleet_sessions_say(s, "%zu node%s %s", set, set == 1 ? " is" : "s are", s->kind->done);
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
        fleet_sessions_say(s, "%s: %s", fleet_name(s->fleet, p->index), trouble.text);
    const bool unset = fleet_part_phase(p) == SESSION_FAILED && !s->told_set;
    if ((unset || trouble.code == ERR_REFUSED) && !s->partial)
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

void fleet_sessions_turn(struct fleet_sessions *s)
{
    if (s->phase == FLEET_ENDED) { /* what was refused still clears what it had set to count */
        for (size_t i = 0; i < s->n; i++)
            if (s->parts[i].session)
                session_tick(s->parts[i].session);
        return;
    }
    if (s->kind->turn)
        s->kind->turn(s->arg);
    if (s->phase == FLEET_CONNECTS)
        look_for_connections(s);
    else if (s->phase == FLEET_PREPARES)
        look_for_estimates(s);
    if (s->phase != FLEET_ENDED)
        follow_sessions(s);
}

void fleet_sessions_lost(struct fleet_sessions *s, size_t node, const struct error *why)
{
    struct fleet_part *p = node < s->n ? &s->parts[node] : NULL;
    if (p && p->session) {
        p->lost = true;
        session_link_lost(p->session, why);
    } else if (p && s->kind->disconnected) {
        s->kind->disconnected(s->arg, node);
    }
}

/* ---- its life */

void fleet_sessions_open(struct fleet_sessions *s)
{
    s->n = fleet_size(s->fleet);
    s->parts = alloc_zero(s->n + 1, sizeof *s->parts);
    s->opened_ms = uv_now(&s->rt->loop);
    for (size_t i = 0; i < s->n; i++)
        s->parts[i] = (struct fleet_part){.all = s, .index = i};
    fleet_set_steady(s->fleet, true);
    s->kind->begun(s->arg);
}

void fleet_sessions_close(struct fleet_sessions *s)
{
    for (size_t i = 0; i < s->n; i++)
        drop_part(&s->parts[i]);
    if (s->parts)
        fleet_set_steady(s->fleet, false);
    free(s->parts);
    s->parts = NULL;
    s->n = 0;
}
