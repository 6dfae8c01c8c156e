/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample_log.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/arena.h"
#include "beamtop/base/clock.h"
#include "beamtop/link/name.h"
#include "beamtop/model/detail.h"
#include "app/search/local_search.h"

#define YIELDS_S 3600.0 /* what the node does for a run without an end, ends then */

struct sample_log {
    struct samples_log shown;
    char label[LIMIT_NODE_NAME_BYTES + 1], otp[32], host[HOST_NAME_MAX + 1];
    struct sampled *sampled;
    struct local_search *search; /* of the node's VM; NULL: none */
    struct sampling *sampling;   /* NULL: it has ended, or is the node's */
    struct yields *yields;       /* of a run of the node */
    struct session_port port;    /* while names are asked for */
    bool asks, stopping;
    struct sample_node node; /* live: NULL: it is not of a node */
    struct record_begin begin;
    uint64_t began_ns;
    const struct sample_log_handlers *handlers;
    void *arg;
};

static void end_log(struct sample_log *l, enum sampling_phase phase, const struct error *err)
{
    l->shown.phase = phase;
    if (err)
        snprintf(l->shown.why, sizeof l->shown.why, "%.*s", (int)sizeof l->shown.why - 1,
                 err->text);
    l->handlers->ended(l->arg, err);
}

static void on_log_record(void *arg, const struct record *r)
{
    struct sample_log *l = arg;
    struct samples_log *shown = &l->shown;
    if (r->type == RECORD_BEGIN) {
        l->begin = r->u.begin;
        l->began_ns = clock_mono_ns();
        shown->phase = SAMPLING_RUNS;
    } else if (r->type == RECORD_NOTE) {
        snprintf(shown->note, sizeof shown->note, "%.*s", (int)r->u.note.len, r->u.note.s);
        if (l->handlers->note)
            l->handlers->note(l->arg, shown->note);
    }
    if (sampled_take(l->sampled, r) && l->handlers->sample)
        l->handlers->sample(l->arg, &r->u.sample);
}

static int begin_by_node(struct sample_log *l, const char *why, struct error *err);

/* When the kernel refuses sampling from outside, the node can still do it, unless it is gone. */
static bool goes_on_by_node(struct sample_log *l, const struct error *why)
{
    struct error ignored = {0};
    return l->node.live && !l->stopping && why->code != ERR_USAGE &&
           sampled_count(l->sampled) == 0 && begin_by_node(l, why->text, &ignored) == 0;
}

static void on_sampling_ended(void *arg, const struct record_end *end, const struct error *err)
{
    struct sample_log *l = arg;
    struct samples_summary *run = &l->shown.run;
    l->sampling = NULL;
    if (!end && goes_on_by_node(l, err))
        return;
    if (end) {
        run->seconds = (double)end->wall_us / 1e6;
        run->lost = (int64_t)end->lost;
        run->sampler_cpu_s = (double)end->cpu_us / 1e6;
        run->target_cpu_s = end->target_us == RECORD_UNKNOWN
                                ? (double)NAN
                                : (double)(end->target_us + end->kernel_us) / 1e6;
    }
    end_log(l, end ? SAMPLING_ENDED : SAMPLING_FAILED, err);
}

static void on_yields_ended(void *arg, const struct error *err)
{
    struct sample_log *l = arg;
    l->shown.run.seconds = sample_log_seconds(l);
    l->shown.run.sampler_cpu_s = yields_cost_s(l->yields);
    if (yields_cut(l->yields)) {
        snprintf(l->shown.note, sizeof l->shown.note, "ended early: %.200s", yields_cut(l->yields));
        if (l->handlers->note)
            l->handlers->note(l->arg, l->shown.note);
    }
    end_log(l, err ? SAMPLING_FAILED : SAMPLING_ENDED, err);
}

static struct sample_log *log_new(const struct sample_log_options *o,
                                  const struct sample_log_handlers *handlers, void *arg)
{
    struct sample_log *l = alloc_zero(1, sizeof *l);
    l->began_ns = clock_mono_ns();
    snprintf(l->label, sizeof l->label, "%s", o->label);
    snprintf(l->otp, sizeof l->otp, "%s", o->otp ? o->otp : "");
    l->handlers = handlers;
    l->arg = arg;
    l->sampled = sampled_new(&o->sums);
    l->shown = (struct samples_log){
        .for_s = o->sampler.for_s,
        .run = {.label = slice_of(l->label),
                .otp = slice_of(l->otp),
                .wall_us = clock_wall_us(),
                .hz = o->sampler.hz,
                .lost = -1,
                .sampler_cpu_s = NAN,
                .target_cpu_s = NAN,
                .stacks = sampled_stacks(l->sampled)},
    };
    return l;
}

static void set_own_host(struct sample_log *l)
{
    name_this_host(l->host, sizeof l->host);
    l->shown.run.host = slice_of(l->host);
}

static const struct sampling_handlers sampling_handlers = {.record = on_log_record,
                                                           .ended = on_sampling_ended};

int sample_log_start(struct sample_log **out, uv_loop_t *loop, const struct sample_log_options *o,
                     const struct sample_log_handlers *handlers, void *arg, struct error *err)
{
    struct sample_log *l = log_new(o, handlers, arg);
    int rc = sampling_start(&l->sampling, loop, &o->sampler, &sampling_handlers, l, err);
    set_own_host(l);
    if (rc == 0)
        *out = l;
    else
        sample_log_free(l);
    return rc;
}

/* ---- by the node */

static void start_yields(struct sample_log *l, const struct session_port *port,
                         const struct yields_options *yields, const char *why)
{
    struct samples_log *shown = &l->shown;
    sampled_at_yields(l->sampled);
    l->began_ns = clock_mono_ns();
    snprintf(shown->why, sizeof shown->why, "%s", why);
    shown->note[0] = '\0';
    shown->phase = SAMPLING_RUNS;
    shown->for_s = yields->for_s;
    shown->run.wall_us = clock_wall_us();
    shown->run.hz = NAN;
    l->yields = yields_start(port, yields, l->sampled, on_yields_ended, l);
}

struct sample_log *sample_log_start_yields(const struct session_port *port,
                                           const struct yields_options *yields,
                                           const struct sample_log_options *o, const char *why,
                                           const struct sample_log_handlers *handlers, void *arg)
{
    struct sample_log *l = log_new(o, handlers, arg);
    start_yields(l, port, yields, why);
    return l;
}

/* ---- of a node */

static int begin_by_node(struct sample_log *l, const char *why, struct error *err)
{
    struct session_port port;
    const struct yields_options yields = {
        .for_s = l->node.for_s > 0 ? l->node.for_s : YIELDS_S,
        .budget = l->node.budget,
    };
    int rc = live_port(l->node.live, &port, err);
    if (rc != 0)
        return rc;
    start_yields(l, &port, &yields, why);
    l->handlers->begun(l->arg, 0, why);
    return 0;
}

static void end_search(struct sample_log *l)
{
    local_search_stop(l->search);
    l->search = NULL;
}

static int begin_outside(struct sample_log *l, pid_t pid, struct error *err)
{
    const struct sampler_options o = {.pid = pid, .hz = l->node.hz, .for_s = l->node.for_s};
    const int rc = sampling_start(&l->sampling, l->node.loop, &o, &sampling_handlers, l, err);
    if (rc != 0)
        return rc;
    set_own_host(l);
    l->handlers->begun(l->arg, pid, "");
    return 0;
}

static void on_log_vm(void *arg, const struct discover_vm *vm, const struct error *why)
{
    struct sample_log *l = arg;
    struct error outside = *why, err = {0};
    end_search(l);
    if ((!vm || begin_outside(l, vm->pid, &outside) != 0) &&
        begin_by_node(l, outside.text, &err) != 0)
        end_log(l, SAMPLING_FAILED, &err);
}

int sample_log_start_node(struct sample_log **out, const struct sample_node *of,
                          const struct sample_log_handlers *handlers, void *arg, struct error *err)
{
    const struct node_info *node = model_node(of->model);
    char otp[32];
    struct sample_log_options o = {.sampler = {.hz = of->hz, .for_s = of->for_s},
                                   .label = live_peer_node(of->live),
                                   .otp = otp};
    snprintf(otp, sizeof otp, "%.*s", node ? (int)node->otp.len : 0, node ? node->otp.s : "");
    struct sample_log *l = log_new(&o, handlers, arg);
    l->node = *of;
    const struct local_wanted wanted = {
        .target = l->label, .os_pid = node_os_pid(node), .cli = of->cli, .env = of->env};
    const int rc = local_search_start(&l->search, of->loop, &wanted, on_log_vm, l, err);
    if (rc == 0)
        *out = l;
    else
        sample_log_free(l);
    return rc;
}

void sample_log_turn(struct sample_log *l)
{
    if (l && l->yields)
        yields_turn(l->yields);
}

void sample_log_lost(struct sample_log *l, const struct error *why)
{
    if (l)
        l->asks = false;
    if (l && l->yields)
        yields_lost(l->yields, why);
}

/* ---- names */

#define NAMED 100 /* processes */
#define NAMES_MS 5000u

static void on_log_names(void *arg, const struct answer *answer)
{
    struct sample_log *l = arg;
    struct arena arena;
    const struct process_who *who = NULL;
    struct error ignored = {0}; /* pids stand without names */
    size_t n = 0;
    l->asks = false;
    arena_init(&arena);
    if (answer->value &&
        process_who_decode(&who, &n, &arena, answer->value, answer->len, &ignored) == 0)
        for (size_t i = 0; i < n; i++)
            sampled_name(l->sampled, &who[i].pid, who[i].name);
    arena_clear(&arena);
    l->handlers->named(l->arg);
}

bool sample_log_ask_names(struct sample_log *l, const struct session_port *port)
{
    struct etf_pid pids[NAMED];
    struct error ignored = {0};
    struct session_port of_node;
    if (!port && live_port(l->node.live, &of_node, &ignored) != 0)
        return false;
    port = port ? port : &of_node;
    struct builder *b = builder_new();
    const size_t n = sampled_pids(l->sampled, pids, NAMED);
    build_list(b, n);
    for (size_t i = 0; i < n; i++) {
        pids[i].creation = port->creation;
        build_pid(b, port->node, pids + i);
    }
    build_nil(b);
    l->port = *port;
    l->asks =
        n > 0 && port->ask(port->ctx, QUESTION_WHO, b, NAMES_MS, on_log_names, l, &ignored) == 0;
    builder_free(b);
    return l->asks;
}

bool sample_log_runs(const struct sample_log *l)
{
    return l && (l->shown.phase == SAMPLING_STARTS || l->shown.phase == SAMPLING_RUNS);
}

void sample_log_stop(struct sample_log *l)
{
    l->stopping = true;
    if (l->search) {
        end_search(l);
        end_log(l, SAMPLING_ENDED, NULL);
    }
    if (l->yields)
        yields_stop(l->yields);
    sampling_stop(l->sampling);
}

void sample_log_free(struct sample_log *l)
{
    if (!l)
        return;
    if (l->asks)
        l->port.drop(l->port.ctx, l);
    local_search_stop(l->search);
    sampling_leave(l->sampling);
    yields_free(l->yields);
    sampled_free(l->sampled);
    free(l);
}

double sample_log_seconds(const struct sample_log *l)
{
    return l->shown.phase == SAMPLING_RUNS ? (double)(clock_mono_ns() - l->began_ns) / 1e9
                                           : l->shown.run.seconds;
}

const struct samples_log *sample_log_now(struct sample_log *l)
{
    struct samples_log *shown = &l->shown;
    if (shown->phase == SAMPLING_RUNS && l->yields)
        shown->run.sampler_cpu_s = yields_cost_s(l->yields);
    shown->run.seconds = sample_log_seconds(l);
    sampled_summary(l->sampled, &shown->run);
    return shown;
}

const struct sampled *sample_log_sampled(const struct sample_log *l)
{
    return l->sampled;
}

const struct record_begin *sample_log_begin(const struct sample_log *l)
{
    return &l->begin;
}
