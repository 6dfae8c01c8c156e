/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sessions on several nodes for the command line: a fleet and a loop of their own, signals, lines
 * on the terminal. */
#include <signal.h>

#include "app/cli/tell.h"
#include "app/source/nodes.h"
#include "beamtop/base/buf.h"
#include "fleet_sessions.h"

#define TURN_MS 100u
#define SILENT_MS 1000u /* of an end that takes longer it says whose it is */
#define NAMED 3

static void say_on_terminal(struct fleet_sessions *s, const char *line)
{
    (void)s;
    tell_line("%s", line);
}

static void end_run(struct fleet_sessions *s, int code, const struct error *err)
{
    runtime_end(s->rt, code == EXIT_DONE && s->signal == SIGTERM ? 128 + SIGTERM : code, err);
}

static void tell_waits(struct fleet_sessions *s)
{
    struct buf names;
    size_t n = 0;
    if (s->signal == 0 || uv_now(&s->rt->loop) - s->stopped_ms < SILENT_MS)
        return;
    buf_init(&names, 0);
    for (size_t i = 0; i < s->n; i++) {
        if (!s->parts[i].session || !session_runs(s->parts[i].session))
            continue;
        if (n < NAMED)
            buf_printf(&names, "%s%s", n > 0 ? ", " : "", fleet_name(s->fleet, i));
        n++;
    }
    if (n > NAMED)
        buf_printf(&names, " and %zu more", n - NAMED);
    if (n > 0 && n != s->waits)
        tell_line("waiting for %s to end (Ctrl-C ends at once, with what has come)",
                  buf_cstr(&names));
    s->waits = n;
    buf_clear(&names);
}

static void on_sessions_turn(uv_timer_t *timer)
{
    struct fleet_sessions *s = timer->data;
    if (!s->rt->ended)
        fleet_sessions_turn(s);
    if (!s->rt->ended)
        tell_waits(s);
}

static void on_part_lost(void *arg, size_t index, const struct error *why)
{
    fleet_sessions_lost(arg, index, why);
}

/* Ctrl-C ends it everywhere, which takes a moment; once more ends us, and the nodes clean up. */
static void on_sessions_signal(uv_signal_t *handle, int number)
{
    struct fleet_sessions *s = handle->data;
    if (s->phase == FLEET_RUNS && s->signal != 0 && !s->rt->ended)
        s->kind->interrupted(s->arg);
    if (s->phase != FLEET_RUNS || s->signal != 0)
        runtime_end(s->rt, 128 + number, &s->err);
    if (s->signal == 0)
        s->stopped_ms = uv_now(&s->rt->loop);
    s->signal = number;
    fleet_sessions_stop(s);
}

static void run_sessions(struct fleet_sessions *s, const struct discover_list *vms,
                         uv_timer_t *timer)
{
    struct fleet_setup setup = fleet_setup_of(s->options, s->env, vms, &s->rt->loop);
    setup.fixed = true;
    setup.lost = on_part_lost;
    setup.arg = s;
    struct error err = {0};
    if (fleet_open(&s->fleet, s->options->target, &setup, &err) != 0) {
        (void)runtime_ends(s->rt, exit_code_of_error(err.code), &err);
        return;
    }
    fleet_sessions_open(s);
    uv_timer_start(timer, on_sessions_turn, TURN_MS, TURN_MS);
    uv_run(&s->rt->loop, UV_RUN_DEFAULT);
}

int fleet_sessions_run(struct fleet_sessions *s)
{
    static const struct fleet_sessions_host terminal = {.say = say_on_terminal, .end = end_run};
    static const int signals[] = {SIGINT, SIGTERM};
    struct discover_list vms = {0};
    struct error ignored = {0};
    struct runtime rt = {0};
    uv_timer_t timer;
    fleet_prepare();
    (void)nodes_find(&vms, s->options, s->env, NODES_EPMD_MS, &ignored);
    s->host = &terminal;
    s->rt = &rt;
    s->partial = s->options->partial;
    s->dry_run = s->options->dry_run;
    runtime_init(&rt);
    runtime_timer(&rt, &timer, s);
    runtime_catch(&rt, signals, ARRAY_LEN(signals), on_sessions_signal, s);
    run_sessions(s, &vms, &timer);
    fleet_sessions_close(s);
    fleet_close(s->fleet);
    runtime_close(&rt);
    if (rt.err.code != ERR_NONE)
        tell_error(&rt.err);
    discover_clear(&vms);
    s->rt = NULL;
    return rt.exit_code;
}
