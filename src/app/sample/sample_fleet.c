/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several nodes look at themselves, as with `sample --remote`, and are summed up. */
#include "sample_run.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/cli/tell.h"
#include "app/fleet/fleet.h"
#include "app/live/live.h"
#include "app/source/nodes.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"

#define TURN_MS 100u

struct sampled_node {
    struct sample_fleet *all;
    size_t index;
    struct yields *yields; /* NULL: it takes no part */
    bool ended;
};

struct sample_fleet {
    struct sample_run *run;
    struct runtime rt;
    uv_timer_t timer;
    struct fleet *fleet;
    struct sampled_node *nodes;
    size_t n;
    struct sampled *sums;
    uint64_t began_ns; /* 0: it has not */
    int64_t wall_us;
    int code; /* of the first node with which something went wrong */
    char label[64];
};

static void note_trouble(struct sample_fleet *f, size_t node, const struct error *why)
{
    tell_line("%s: %s", fleet_name(f->fleet, node), why->text);
    f->code = f->code == EXIT_DONE ? exit_code_of_error(why->code) : f->code;
}

/* ---- sampling */

static void on_node_ended(void *arg, const struct error *why)
{
    struct sampled_node *node = arg;
    node->ended = true;
    if (why)
        note_trouble(node->all, node->index, why);
}

static void start_node(struct sample_fleet *f, size_t node, const struct session_port *port)
{
    const struct yields_options options = {.for_s = f->run->sampler.for_s,
                                           .budget = f->run->options->budget,
                                           .root = slice_of(fleet_name(f->fleet, node))};
    live_pause(fleet_live(f->fleet, node), true); /* no tick is needed after that */
    f->nodes[node].yields = yields_start(port, &options, f->sums, on_node_ended, &f->nodes[node]);
}

static uint64_t waited_ms(const struct sample_fleet *f)
{
    return uv_now(&f->rt.loop) - f->rt.started_ms;
}

static bool is_twin(const struct sample_fleet *f, size_t node)
{
    for (size_t i = 0; i < node; i++)
        if (fleet_are_one(f->fleet, i, node))
            return true;
    return false;
}

/* Of those that answer; the others are said. */
static void start_nodes(struct sample_fleet *f)
{
    const struct error twin = {.code = ERR_USAGE, .text = "the same node as one before"};
    size_t started = 0;
    f->began_ns = clock_mono_ns();
    f->wall_us = clock_wall_us();
    for (size_t i = 0; i < f->n; i++) {
        struct session_port port;
        if (!fleet_port(f->fleet, i, &port)) /* look_for_nodes() has seen that there is a reason */
            note_trouble(f, i, fleet_why_unready(f->fleet, i, waited_ms(f)));
        else if (is_twin(f, i))
            note_trouble(f, i, &twin);
        else
            start_node(f, i, &port);
        started += f->nodes[i].yields != NULL;
    }
    if (started > 0)
        tell_line("%zu node%s sampled", started, started == 1 ? " is" : "s are");
}

static void look_for_nodes(struct sample_fleet *f)
{
    for (size_t i = 0; i < f->n; i++) {
        struct session_port port;
        if (!fleet_port(f->fleet, i, &port) && !fleet_why_unready(f->fleet, i, waited_ms(f)))
            return;
    }
    start_nodes(f);
}

static void on_samples_turn(uv_timer_t *timer)
{
    struct sample_fleet *f = timer->data;
    size_t running = 0;
    if (f->rt.ended)
        return;
    if (f->began_ns == 0) {
        look_for_nodes(f);
        return;
    }
    for (size_t i = 0; i < f->n; i++) {
        if (!f->nodes[i].yields)
            continue;
        yields_turn(f->nodes[i].yields);
        running += !f->nodes[i].ended;
    }
    if (running == 0)
        runtime_end(&f->rt, f->code, NULL);
}

static void on_sampled_lost(void *arg, size_t node, const struct error *why)
{
    struct sample_fleet *f = arg;
    if (f->nodes && f->nodes[node].yields)
        yields_lost(f->nodes[node].yields, why);
}

static void on_samples_signal(uv_signal_t *handle, int number)
{
    struct sample_fleet *f = handle->data;
    if (f->began_ns == 0)
        runtime_end(&f->rt, 128 + number, NULL);
    for (size_t i = 0; i < f->n; i++)
        if (f->nodes[i].yields)
            yields_stop(f->nodes[i].yields);
}

/* ---- its life */

static void follow_nodes(struct sample_fleet *f, const struct discover_list *vms)
{
    const struct sample_run *t = f->run;
    struct fleet_setup setup = fleet_setup_of(t->options, t->env, vms, &f->rt.loop);
    setup.fixed = true;
    setup.lost = on_sampled_lost;
    setup.arg = f;
    struct error err = {0};
    if (fleet_open(&f->fleet, t->options->target, &setup, &err) != 0) {
        (void)runtime_ends(&f->rt, exit_code_of_error(err.code), &err);
        return;
    }
    f->n = fleet_size(f->fleet);
    f->nodes = alloc_zero(f->n, sizeof *f->nodes);
    for (size_t i = 0; i < f->n; i++)
        f->nodes[i] = (struct sampled_node){.all = f, .index = i};
    uv_timer_start(&f->timer, on_samples_turn, TURN_MS, TURN_MS);
    uv_run(&f->rt.loop, UV_RUN_DEFAULT);
}

/* Pids of one node say nothing beside those of another. */
static void sum_up(struct sample_fleet *f, size_t nodes)
{
    struct sample_run *t = f->run;
    snprintf(f->label, sizeof f->label, "%zu nodes", nodes);
    t->summary = (struct samples_summary){.label = slice_of(f->label),
                                          .wall_us = f->wall_us,
                                          .seconds = (double)(clock_mono_ns() - f->began_ns) / 1e9,
                                          .hz = (double)NAN,
                                          .lost = -1,
                                          .target_cpu_s = (double)NAN,
                                          .stacks = sampled_stacks(f->sums)};
    sampled_summary(f->sums, &t->summary);
    t->summary.n_processes = 0;
    t->sampled = f->sums;
    t->ended = true;
}

static int end_samples(struct sample_fleet *f, int (*print)(struct sample_run *t))
{
    size_t nodes = 0;
    double cost_s = 0;
    int code = f->rt.exit_code;
    for (size_t i = 0; i < f->n; i++) {
        if (!f->nodes[i].yields)
            continue;
        nodes++;
        cost_s += yields_cost_s(f->nodes[i].yields);
        if (yields_cut(f->nodes[i].yields)) {
            tell_line("%s ended early: %s", fleet_name(f->fleet, i),
                      yields_cut(f->nodes[i].yields));
            code = code == EXIT_DONE ? EXIT_LOST : code;
        }
    }
    if (nodes == 0 || (sampled_count(f->sums) == 0 && code != EXIT_DONE))
        return code != EXIT_DONE || nodes > 0 ? code : EXIT_CONNECT;
    sum_up(f, nodes);
    f->run->summary.sampler_cpu_s = cost_s;
    const int printed = print(f->run);
    return printed != EXIT_DONE ? printed : code;
}

int sample_fleet_run(struct sample_run *t, int (*print)(struct sample_run *t))
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sample_fleet f = {.run = t};
    struct discover_list vms = {0};
    struct error ignored = {0};
    fleet_prepare();
    (void)nodes_find(&vms, t->options, t->env, NODES_EPMD_MS, &ignored);
    f.sums = sampled_new(&t->sums);
    sampled_at_yields(f.sums);
    runtime_init(&f.rt);
    runtime_timer(&f.rt, &f.timer, &f);
    runtime_catch(&f.rt, signals, ARRAY_LEN(signals), on_samples_signal, &f);
    follow_nodes(&f, &vms);
    const int code = end_samples(&f, print);
    for (size_t i = 0; i < f.n; i++)
        yields_free(f.nodes[i].yields);
    fleet_close(f.fleet);
    runtime_close(&f.rt);
    if (f.rt.err.code != ERR_NONE)
        tell_error(&f.rt.err);
    sampled_free(f.sums);
    free(f.nodes);
    discover_clear(&vms);
    return code;
}
