/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schedulers that wait for a CPU, and those that wait inside the VM: the fact `cpus`, counted at
 * two moments. */
#include <math.h>

#include "report/rules/rules_internal.h"

#define STARVED 0.1
#define BLOCKED 0.15
#define LEAST_S 50.0 /* between the two: less is a moment of the host */

/* The time between both moments, and the shares lost in it. */
struct lost {
    double seconds, schedulers;
    double wait, steal, throttled; /* shares; NaN: unknown */
    double without;                /* wait, as a share of the time when they were ready to run */
    double run;                    /* share: on a CPU */
    int64_t from;                  /* the tick of the first moment */
    bool recorded;                 /* CPU time was, at the last one */
};

static double grown_between(const json_t *before, const json_t *now, const char *key)
{
    return fact_number(now, key) - fact_number(before, key);
}

static double share_of_whole(double part, double whole)
{
    return whole > 0 && part >= 0 ? fmin(part / whole, 1) : NAN;
}

static struct lost lost_of(const struct judge *j)
{
    const json_t *now = judge_fact_at(j, "cpus", j->to);
    struct lost l = {
        .schedulers = fact_number(now, "schedulers"), .from = j->from, .recorded = now != NULL};
    const json_t *before = judge_fact_at(j, "cpus", l.from);
    if (!before) {
        l.from += (j->to - j->from) / 2;
        before = judge_fact_at(j, "cpus", l.from);
    }
    double us = grown_between(before, now, "mono_us");
    l.seconds = us / 1e6;
    double wait = grown_between(before, now, "wait_us");
    l.wait = share_of_whole(wait, us * l.schedulers);
    double run = grown_between(before, now, "run_us");
    l.without = share_of_whole(wait, wait + run);
    l.run = share_of_whole(run, us * l.schedulers);
    l.steal = share_of_whole(grown_between(before, now, "steal_ticks"),
                             grown_between(before, now, "host_ticks"));
    l.throttled = share_of_whole(grown_between(before, now, "throttled_periods"),
                                 grown_between(before, now, "periods"));
    return l;
}

double judge_without_cpu(const struct judge *j, bool *comes)
{
    struct lost l = lost_of(j);
    bool restarted = recording_restarted(j->recording, j->from, j->to);
    *comes = !restarted && l.recorded && !(l.seconds > 0);
    return restarted ? NAN : l.without;
}

void judge_tell_without_cpu(struct judge *j, struct finding *f, double without)
{
    judge_evidence(j, f, "without_cpu", without, "share",
                   "schedulers were without a CPU in %s of the time when they were ready to run",
                   judge_percent(j, without));
}

#define STARVES 0.25 /* of the time when they were ready to run */
/* Of all their time; of ready time sixteen schedulers on two CPUs lack half even at rest. */
#define NOTICED 0.01

bool judge_starves(const struct judge *j)
{
    struct lost l = lost_of(j);
    bool lacks = l.without >= STARVES && l.wait >= NOTICED;
    return !recording_restarted(j->recording, j->from, j->to) &&
           (lacks || l.steal >= STARVED || l.throttled >= STARVED);
}

static bool comes_later(const struct judge *j)
{
    bool comes;
    (void)judge_without_cpu(j, &comes);
    return comes;
}

bool judge_may_starve(const struct judge *j)
{
    return comes_later(j) || judge_starves(j);
}

bool judge_follows(struct judge *j)
{
    bool follows = judge_starves(j);
    j->follows = j->follows || follows;
    if (follows)
        judge_unknown(j, "the schedulers lacked CPUs (see starved), and it follows from that");
    return follows;
}

bool judge_may_follow(struct judge *j)
{
    if (judge_follows(j))
        return true;
    bool comes = comes_later(j);
    if (comes)
        judge_unknown(j, "whether the schedulers lack CPUs is not known yet");
    return comes;
}

static void tell_share(struct judge *j, struct finding *f, const char *key, double value,
                       const char *what)
{
    if (!isnan(value))
        judge_evidence(j, f, key, value, "share", "%s: %s (mean)", what, judge_percent(j, value));
}

static void find_lost(struct judge *j, const struct lost *l, double limit)
{
    bool quota = l->throttled >= limit, steal = !quota && l->steal >= limit;
    bool seldom = !quota && !steal && !(l->wait >= limit);
    double most = quota ? l->throttled : steal ? l->steal : seldom ? l->without : l->wait;
    struct finding *f = judge_find(j, quota || steal ? FINDING_LOOK : FINDING_NOTE, most,
                                   seldom ? STARVES : STARVED);
    f->title =
        judge_text(j,
                   quota    ? "The cgroup quota stops the schedulers: in %s of its periods"
                   : steal  ? "The hypervisor takes the CPUs: %s of their time"
                   : seldom ? "Schedulers wait for a CPU: %s of the time when they are ready to run"
                            : "Schedulers wait for a CPU: %s of the time",
                   judge_percent(j, most));
    f->action = quota ? "Raise the CPU quota of the container or unit (cpu.max), or start the VM "
                        "with as many schedulers as the quota has CPUs (+S)"
                : steal
                    ? "Move the virtual machine to a less loaded host, or give it more CPUs"
                    : "Look for other programs on the host (top), and compare the CPUs that the VM "
                      "may use with its schedulers (view K): fewer schedulers (+S) or more CPUs";
    f->ruled_out_if = quota ? "cpu.stat of the cgroup shows no growth of nr_throttled under load"
                      : steal
                          ? "top on the host shows no steal (st) while the node is busy"
                          : "The view `cpus` (K) shows WAIT CPU below 10% while the node is busy";
    tell_share(j, f, "wait_for_cpu", l->wait, "schedulers ready to run without a CPU");
    if (seldom)
        judge_tell_without_cpu(j, f, l->without);
    tell_share(j, f, "steal", l->steal, "time of the host's CPUs that the hypervisor took");
    tell_share(j, f, "throttled", l->throttled,
               "periods of the cgroup in which the quota was used");
}

static bool is_known(struct judge *j, struct lost *l)
{
    *l = lost_of(j);
    if (!l->recorded)
        judge_unknown(j, "CPU time of the schedulers was not recorded");
    else if (recording_restarted(j->recording, j->from, j->to))
        judge_unknown(j, "the node restarted, so its CPU time cannot be compared");
    else if (!(l->seconds >= LEAST_S))
        judge_unknown(j, "CPU time of the schedulers was recorded for less than %.0f s", LEAST_S);
    else
        return true;
    return false;
}

static bool is_much(const struct lost *l, double limit)
{
    return l->wait >= limit || l->steal >= limit || l->throttled >= limit;
}

/* Of a moment, or of little work, only where another rule has left it to this one. */
void judge_starved(struct judge *j)
{
    struct lost l;
    double limit = judge_limit(j, STARVED);
    if (j->follows) {
        l = lost_of(j);
        find_lost(j, &l, limit);
    } else if (is_known(j, &l) && is_much(&l, limit)) {
        find_lost(j, &l, limit);
    }
}

/* Utilisation as a share of all threads that were counted; NaN: more of them are online. */
static double active_share(const struct judge *j, const struct lost *l)
{
    double use = judge_stats_from(j, l->from, "scheduler_utilisation").mean;
    return j->schedulers <= l->schedulers ? use * j->schedulers / l->schedulers : NAN;
}

/* The VM counts a scheduler as active while the thread sleeps for a lock, a page or a file. */
void judge_blocked(struct judge *j)
{
    struct lost l;
    if (!is_known(j, &l))
        return;
    /* What the hypervisor took, or a quota stopped, was neither. */
    double active = active_share(j, &l), stolen = isnan(l.steal) ? 0 : l.steal;
    double blocked = active - l.run - l.wait - stolen;
    if (!(blocked >= judge_limit(j, BLOCKED)) || l.throttled >= STARVED)
        return;
    struct finding *f = judge_find(j, FINDING_LOOK, blocked, BLOCKED);
    f->title =
        judge_text(j, "Schedulers wait inside the VM: %s of the time", judge_percent(j, blocked));
    f->action = "See with beamtop pstack NODE, a few times, in what. In ets: an ETS table's "
                "readers and writers wait for each other. Write fewer and smaller objects at once, "
                "split the table, or set write_concurrency. In a NIF: run it on a dirty scheduler";
    f->ruled_out_if = "The host swaps (vmstat: si and so above 0)";
    tell_share(j, f, "blocked", blocked, "schedulers neither on a CPU nor idle");
    tell_share(j, f, "scheduler_utilisation", active, "scheduler utilisation");
    tell_share(j, f, "on_cpu", l.run, "schedulers on a CPU");
    tell_share(j, f, "wait_for_cpu", l.wait, "schedulers ready to run without a CPU");
}
