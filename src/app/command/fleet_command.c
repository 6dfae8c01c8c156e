/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop fleet`: a row of each of several nodes, tick by tick; `beamtop mesh`: their links. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/tell.h"
#include "app/fleet/fleet.h"
#include "app/source/nodes.h"
#include "app/source/runtime.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/model/model.h"
#include "beamtop/output/sink.h"
#include "printing.h"

/* What was reached by then is printed first; the others follow in later ticks. */
#define FIRST_MOST_MS 10000u

struct fleet_run {
    const struct cli_options *options;
    struct runtime rt;
    uv_timer_t timer;
    struct fleet *fleet;
    const struct sink_kind *kind;
    bool links;          /* their links are shown */
    struct model *model; /* has the rows only */
    struct sink *sink;
    int64_t done;
};

static void end_with_error(struct fleet_run *run, const struct error *err)
{
    const bool is_pipe = sink_write_errno(run->sink) == EPIPE; /* `| head` has seen enough */
    runtime_end(&run->rt, is_pipe ? EXIT_DONE : exit_code_of_error(err->code),
                is_pipe ? NULL : err);
}

static void print_fleet(struct fleet_run *run)
{
    struct error err = {0};
    if ((run->links ? fleet_take_mesh(run->fleet, run->model, &err)
                    : fleet_take(run->fleet, run->model, &err)) != 0 ||
        sink_put_fleet(run->sink, run->kind, run->model, clock_wall_us(), &err) != 0)
        end_with_error(run, &err);
    else if (++run->done == run->options->ticks)
        runtime_end(&run->rt, fleet_up(run->fleet) > 0 ? EXIT_DONE : EXIT_CONNECT, NULL);
}

/* Each node is known: its numbers, or why there are none. */
static bool is_settled(const struct fleet_run *run)
{
    return fleet_settled(run->fleet) >= fleet_size(run->fleet) &&
           (!run->links || fleet_linked(run->fleet) >= fleet_up(run->fleet));
}

/* The first tick waits for that. */
static void on_fleet_tick(uv_timer_t *timer)
{
    struct fleet_run *run = timer->data;
    const uint64_t waited_ms = uv_now(&run->rt.loop) - run->rt.started_ms;
    if (run->done == 0 && !is_settled(run) && waited_ms < FIRST_MOST_MS)
        return;
    if (run->done == 0)
        uv_timer_set_repeat(timer, (uint64_t)(run->options->interval_s * 1000));
    uv_timer_again(timer);
    print_fleet(run);
}

static void on_fleet_interrupt(uv_signal_t *handle, int number)
{
    struct fleet_run *run = handle->data;
    runtime_end(&run->rt, number == SIGINT && run->options->ticks == 0 ? EXIT_DONE : 128 + number,
                NULL);
}

static void run_fleet(struct fleet_run *run, const struct app_env *env,
                      const struct discover_list *vms)
{
    static const int signals[] = {SIGINT, SIGTERM};
    const struct cli_options *o = run->options;
    struct fleet_setup setup = fleet_setup_of(o, env, vms, &run->rt.loop);
    setup.links = run->links;
    setup.facts = !run->links;
    struct error err = {0};
    runtime_init(&run->rt);
    runtime_timer(&run->rt, &run->timer, run);
    runtime_catch(&run->rt, signals, ARRAY_LEN(signals), on_fleet_interrupt, run);
    if (fleet_open(&run->fleet, o->target, &setup, &err) != 0) {
        (void)runtime_ends(&run->rt, exit_code_of_error(err.code), &err);
    } else {
        uv_timer_start(&run->timer, on_fleet_tick, 100, 100);
        uv_run(&run->rt.loop, UV_RUN_DEFAULT);
    }
    if (run->fleet && run->rt.exit_code == EXIT_CONNECT)
        (void)fleet_has_failed(run->fleet, &run->rt.err);
    fleet_close(run->fleet);
    runtime_close(&run->rt);
}

int command_fleet(const struct cli_options *o, const struct app_env *env)
{
    struct sink_options options = printing_options(o, env);
    struct fleet_run run = {
        .options = o, .kind = sink_kind_find(o->command), .links = strcmp(o->command, "mesh") == 0};
    struct discover_list vms = {0};
    struct error ignored = {0}, err = {0};
    if (printing_arrange(&options, o, run.kind, &err) != 0)
        return tell_error(&err);
    fleet_prepare();
    run.model = model_new();
    (void)nodes_find(&vms, o, env, NODES_EPMD_MS, &ignored);
    run.sink = sink_open_file(stdout, &options);
    run_fleet(&run, env, &vms);
    sink_close(run.sink);
    if (run.rt.err.code != ERR_NONE)
        tell_error(&run.rt.err);
    discover_clear(&vms);
    model_free(run.model);
    return run.rt.exit_code;
}
