/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules over single processes that work all the time: the VM's own collectors, any other, and a
 * supervisor that restarts. */
#include <math.h>

#include "report/rules/rules_internal.h"

/* ---- the VM's own collectors */

#define COLLECTS_SHARE 0.10 /* of the reductions of programs */
#define COLLECTS_CORES 0.02 /* less is idle, whatever its share */

/*
 * Both look through the heaps of all processes, for references to what is to go: literals of
 * persistent terms and of code, and code that is purged. */
static const struct collector {
    const char *starts, *name, *works_for;
    const char *callers[2]; /* functions in which a process waits for the collector */
    const char *does;
    const char *action, *ruled_out_if, *trace;
} collectors[] = {
    {"erts_literal_area_collector:",
     "erts_literal_area_collector",
     "persistent terms are replaced or erased, or code with literals is purged",
     {"persistent_term:put/", "persistent_term:erase/"},
     "replaces persistent terms",
     "Find who puts them (beamtop trace NODE 'persistent_term:put(_, _) -> caller'). Each term "
     "that is replaced or erased makes the VM look through the heaps of all processes: keep what "
     "changes in ETS, or put a term only when it differs",
     "Code is loaded or purged: its literals are collected in the same way",
     "persistent_term:put(_, _) -> caller & persistent_term:erase(_) -> caller"},
    {"erts_code_purger:",
     "erts_code_purger",
     "code is loaded and purged",
     {"code_server:call/", "erts_code_purger:purge/"},
     "loads code",
     "Find who loads code (beamtop trace NODE 'code:load_binary(_, _, _) -> caller'), and load "
     "each module once: each purge looks through the heaps of all processes",
     "An upgrade is running",
     "code:load_binary(_, _, _) -> caller & code:load_file(_) -> caller & code:purge(_) -> caller"},
};

static const struct collector *collector_of(const struct period_process *p)
{
    for (size_t i = 0; i < ARRAY_LEN(collectors); i++)
        if (slice_begins(p->initial_call, collectors[i].starts))
            return &collectors[i];
    return NULL;
}

/* The process seen in such a function, where it waits for the whole collection. Never the code
 * server, which asks for others. */
static const struct period_process *caller_of(const struct judge *j, const struct collector *c)
{
    for (size_t i = 0; i < j->n_processes; i++)
        for (size_t k = 0; k < ARRAY_LEN(c->callers); k++)
            if (slice_begins(j->processes[i].current_function, c->callers[k]) &&
                !slice_is(j->processes[i].kind, "code_server"))
                return &j->processes[i];
    return NULL;
}

#define LEAST_PROGRAMS 0.1 /* of all: a smaller rest is within the error of beamtop's share */

/* Factor from a share of all reductions to one of the programs': on an idle node most reductions
 * are beamtop's. */
static double of_programs(const struct judge *j)
{
    double own =
        judge_stats(j, "own_reductions_per_s").mean / judge_stats(j, "reductions_per_s").mean;
    return isnan(own) ? 1 : 1 / fmax(1 - own, LEAST_PROGRAMS);
}

static void find_collector(struct judge *j, const struct collector *c,
                           const struct period_process *p, double share)
{
    const struct period_process *who = caller_of(j, c);
    struct finding *f = judge_find(j, FINDING_LOOK, share, COLLECTS_SHARE);
    f->impact = share;
    f->title = who ? judge_text(j, "%s %s: %s takes %s of reductions", judge_process(j, who),
                                c->does, c->name, judge_percent(j, share))
                   : judge_text(j, "%s takes %s of reductions: %s", c->name,
                                judge_percent(j, share), c->works_for);
    f->action = c->action;
    f->ruled_out_if = c->ruled_out_if;
    judge_about(f, judge_slice(j, p->pid), CAUSE_KNOWN);
    f->subject = f->process = judge_slice(j, who ? who->pid : p->pid);
    f->trace = c->trace;
    judge_share(j, f, share, NAN);
    judge_evidence(j, f, "cores", judge_cores(j, p->share), "", "its work: %.2f cores",
                   judge_cores(j, p->share));
    judge_evidence(j, f, "processes_mean", judge_stats(j, "processes").mean, "",
                   "it looks through the heaps of %s processes",
                   judge_number(j, judge_stats(j, "processes").mean));
}

void judge_collectors(struct judge *j)
{
    const double whole = of_programs(j);
    for (size_t i = 0; i < j->n_processes; i++) {
        const struct period_process *p = &j->processes[i], *late = judge_late(j, p);
        const struct collector *c = collector_of(p);
        if (c && late && judge_cores(j, p->share) >= COLLECTS_CORES &&
            judge_lasts(p->share * whole, late->share * whole, judge_limit(j, COLLECTS_SHARE)))
            find_collector(j, c, p, fmin(p->share * whole, 1));
    }
}

/* ---- one process that takes a scheduler */

#define WHOLE_CORE 0.8
#define LEAST_TICKS 10

void judge_whole_core(struct judge *j)
{
    size_t said = 0;
    for (size_t i = 0; i < j->n_processes && said < 3; i++) {
        const struct period_process *p = &j->processes[i], *late = judge_late(j, p);
        double cores = judge_cores(j, p->share), limit = judge_limit(j, WHOLE_CORE);
        if (!late || p->ticks < LEAST_TICKS || !judge_stays(j, p) || !(cores >= limit) ||
            !(judge_cores(j, late->share) >= limit / 2) || collector_of(p))
            continue;
        said++;
        struct finding *f = judge_find(j, FINDING_NOTE, cores, WHOLE_CORE);
        f->impact = p->share;
        f->title = judge_text(j, "%s takes a scheduler: %.2f of the 1 core that a process can use",
                              judge_process(j, p), fmin(cores, 1));
        f->action = judge_text(j,
                               "See what it does (beamtop stacks NODE '%s', or beamtop sample "
                               "NODE), and split its work across processes if others wait for it",
                               judge_slice(j, p->pid));
        f->ruled_out_if = "It is batch work that nobody waits for";
        judge_about(f, judge_slice(j, p->pid), CAUSE_LOAD);
        judge_evidence(j, f, "cores", cores, "",
                       "%s of reductions, scheduler utilisation %s: %.2f cores",
                       judge_percent(j, p->share),
                       judge_percent(j, judge_stats(j, "scheduler_utilisation").mean), cores);
        judge_tell_function(j, f, p);
    }
}

/* ---- a supervisor that restarts */

#define RESTARTS_PER_S 10.0

static void find_restarts(struct judge *j, const json_t *is, double per_s)
{
    const json_t *sup = json_object_get(is, "supervisor");
    const char *name = judge_process_of(j, sup);
    const double failed = fact_number(is, "failed"), normal = fact_number(is, "normal");
    const bool is_pool = failed < 1 && normal >= 1;
    struct finding *f = judge_find(j, is_pool ? FINDING_NOTE : FINDING_LOOK, per_s, RESTARTS_PER_S);
    f->title = judge_text(j, "%s %s: %.0f/s", name,
                          is_pool ? "starts children again and again, which end normally"
                                  : "restarts its children again and again",
                          per_s);
    f->action =
        is_pool
            ? "Find who starts them (beamtop process NODE PID, of the supervisor). Where it is the "
              "supervisor, since they are permanent, let them wait for work in place of ending"
            : "Read why they end: the log has it (supervisor reports, level error), else trace "
              "what starts them. Let a child that cannot do its work wait before it tries again, "
              "and lower the supervisor's intensity, so that the fault shows above it";
    f->ruled_out_if =
        "They are tasks that clients start one after the other, always as many at once";
    judge_about(f, judge_text(j, "%s", fact_text(sup, "pid")), CAUSE_KNOWN);
    judge_evidence(j, f, "restarts_per_s", per_s, "per_s",
                   "children that ended, and were started again: %.0f/s", per_s);
    if (failed + normal >= 1)
        judge_evidence(j, f, "failed", failed, "",
                       "of those that ended next: %.0f failed, %.0f ended normally", failed,
                       normal);
    judge_evidence(j, f, "links", fact_number(is, "children"), "",
                   "links of %s at each look: %s, of other processes", name,
                   judge_number(j, fact_number(is, "children")));
    if (*fact_text(is, "example"))
        judge_evidence(j, f, "example", NAN, "", "a child that was seen: %s",
                       fact_text(is, "example"));
}

void judge_restart_loop(struct judge *j)
{
    const json_t *fact = judge_fact(j, "growth");
    const json_t *is = json_object_get(fact, "restarts");
    double per_s = fact_number(is, "per_s");
    if (per_s >= judge_limit(j, RESTARTS_PER_S))
        find_restarts(j, is, per_s);
}
