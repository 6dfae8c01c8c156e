/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules over which functions are called how often: repositories, registries, pipelines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/rules/rules_internal.h"

static double per_s(const struct judge *j, double calls)
{
    return j->sums.ns > 0 ? calls * 1e9 / (double)j->sums.ns : (double)NAN;
}

/* Whether windows leave out functions that matter: they list the most called ones. */
static bool is_cut(const struct judge *j)
{
    return j->n_calls > 0 && j->left_out > 0.005 * (double)j->sums.calls;
}

static double least_listed(const struct judge *j)
{
    return per_s(j, (double)j->calls[j->n_calls - 1].calls);
}

static const char *not_listed(struct judge *j)
{
    if (!is_cut(j))
        return "";
    return judge_text(j, "; functions below %.0f calls per second were not recorded",
                      least_listed(j));
}

/*
 * What is called as often as that may be among the functions that were not recorded: to find
 * nothing then says nothing. */
static void too_few_listed(struct judge *j, double calls_per_s)
{
    if (j->said || !is_cut(j))
        return;
    if (least_listed(j) > calls_per_s)
        judge_unknown(j,
                      "functions below %.0f calls per second were not recorded (record more with "
                      "--top, on the screen with calls-rows)",
                      least_listed(j));
}

/* ---- repositories */

#define LOOKUPS_HOT 50.0 /* per second */

static const char *signature_of(struct judge *j, const struct module_calls *m)
{
    return judge_text(j, "%s%s%s beside %s", m->prepares ? "prepare_query/3" : "",
                      m->defaults ? ", default_options/1" : "",
                      m->options ? ", prepare_opts/2" : "", judge_slice(j, m->hottest));
}

/*
 * The module in front of a repository that people take for a registry: about as many lookups as the
 * repository has, and a name that says so. NULL: none. */
static const struct module_calls *front_of(const struct modules *m, const struct module_calls *repo)
{
    const struct module_calls *best = NULL;
    double least = 0.5 * repo->keyed; /* how many lookups are those of others */
    for (size_t i = 0; i < m->n; i++) {
        const struct module_calls *c = &m->items[i];
        double others = fabs(c->keyed - repo->keyed);
        if (c == repo || module_is_repository(c) || module_is_library(c->name) ||
            !module_is_registry(c) || others >= least)
            continue;
        best = c;
        least = others;
    }
    return best;
}

static void find_lookup(struct judge *j, const struct module_calls *m,
                        const struct module_calls *front)
{
    bool registry = front || module_is_lookup(m) || module_is_registry(m);
    double rate = per_s(j, m->keyed), reads_share = m->reads / (m->reads + m->writes);
    /* Queries are what a repository is for: only behind what looks like a table in memory is one a
     * fault. */
    struct finding *f = judge_find(j, registry ? FINDING_ACT : FINDING_NOTE, rate, LOOKUPS_HOT);
    const char *name = judge_slice(j, m->name), *of = front ? judge_slice(j, front->name) : name;
    f->title = front ? judge_text(j, "%s queries the database on every lookup: %s/s via %s", of,
                                  judge_number(j, rate), name)
                     : judge_text(j, "%s is an Ecto repository: %s database lookups/s", name,
                                  judge_number(j, rate));
    f->action =
        judge_text(j,
                   "Serve %s:%s from an ETS table with read_concurrency (or persistent_term), "
                   "filled at start and written at each change. The database stays the source",
                   of, judge_slice(j, front ? front->hottest : m->hottest));
    f->ruled_out_if = judge_text(j,
                                 "A trace of %s shows no query (a cache is in front of the "
                                 "repository), or the data changes between reads",
                                 name);
    f->subject = of;
    f->trace =
        judge_function(j, front ? front->name : m->name, front ? front->hottest : m->hottest);
    judge_evidence(j, f, "lookups", rate, "per_s",
                   "%s:%s: %s lookups by key per second (%s in %.1f s)", name,
                   judge_slice(j, m->hottest), judge_number(j, rate), judge_number(j, m->keyed),
                   (double)j->sums.ns / 1e9);
    if (front)
        judge_evidence(j, f, "front", per_s(j, front->keyed), "per_s", "%s:%s: %s per second", of,
                       judge_slice(j, front->hottest), judge_number(j, per_s(j, front->keyed)));
    judge_evidence(j, f, "read_share", reads_share, "share",
                   "reads: %s of its operations; writes: %.1f per second%s",
                   judge_percent(j, reads_share), per_s(j, m->writes), not_listed(j));
    judge_evidence(j, f, "signature", NAN, "", "repository functions: %s%s", signature_of(j, m),
                   m->declared ? "; it has the behaviour Ecto.Repo" : "");
}

#define READ_SHARE 0.8 /* from which a table in memory pays */

void judge_repository(struct judge *j)
{
    struct modules m = modules_of(j);
    size_t said = 0;
    for (size_t i = 0; i < m.n && said < 5; i++) {
        const struct module_calls *c = &m.items[i];
        if (!module_is_repository(c) || per_s(j, c->keyed) < judge_limit(j, LOOKUPS_HOT) ||
            !calls_reach(c->keyed, judge_limit(j, c->reads / 2)) ||
            c->reads < judge_limit(j, READ_SHARE) * (c->reads + c->writes))
            continue;
        said++;
        find_lookup(j, c, front_of(&m, c));
    }
    too_few_listed(j, LOOKUPS_HOT);
}

/* Reads and writes of the repositories that are not mere lookups; of all when there are
 * no others. */
static struct module_calls operations_of(const struct modules *m)
{
    struct module_calls all = {0}, true_ones = {0};
    for (size_t i = 0; i < m->n; i++) {
        const struct module_calls *c = &m->items[i];
        if (!module_is_repository(c))
            continue;
        all.reads += c->reads;
        all.writes += c->writes;
        if (!module_is_lookup(c)) {
            true_ones.reads += c->reads;
            true_ones.writes += c->writes;
        }
    }
    return true_ones.reads + true_ones.writes > 0 ? true_ones : all;
}

#define RATIO_BLUR                                                                                 \
    0.05 /* of the operations: a function left out that may be more of them blurs it */

static void tell_ratio(struct judge *j, const char *what, double read, double written)
{
    double share = read / (read + written);
    if (read + written < 100)
        return;
    double blur = RATIO_BLUR * per_s(j, read + written);
    if (is_cut(j) && least_listed(j) > blur) {
        too_few_listed(j, blur);
        return;
    }
    struct finding *f = judge_find(j, FINDING_NOTE, read + written, 100);
    f->title = judge_text(j, "%s: %s reads of %s operations/s", what, judge_percent(j, share),
                          judge_number(j, per_s(j, read + written)));
    f->action = share >= 0.8
                    ? "Prefer caching and read_concurrency: reads lead"
                    : "Prefer write_concurrency and batching: writes matter, and caches need care";
    f->ruled_out_if = "The load differs outside the counting windows";
    f->subject = what;
    judge_evidence(j, f, "read_share", share, "share",
                   "%s reads, %s writes in the counting windows%s", judge_number(j, read),
                   judge_number(j, written), not_listed(j));
    judge_evidence(j, f, "operations", per_s(j, read + written), "per_s",
                   "operations: %s per second", judge_number(j, per_s(j, read + written)));
}

void judge_read_write(struct judge *j)
{
    struct modules m = modules_of(j);
    struct module_calls repo = operations_of(&m);
    tell_ratio(j, "Repositories", repo.reads, repo.writes);
    for (size_t i = 0; i < m.n; i++) {
        if (slice_is(m.items[i].name, "ets"))
            tell_ratio(j, "ETS tables", m.items[i].reads, m.items[i].writes);
        if (slice_is(m.items[i].name, "mnesia"))
            tell_ratio(j, "Mnesia tables", m.items[i].reads, m.items[i].writes);
    }
    for (size_t i = 0, said = 0; i < m.n && said < 3; i++) {
        const struct module_calls *c = &m.items[i];
        if (module_is_repository(c) || module_is_library(c->name) || c->keyed < 100 ||
            c->writes < 1)
            continue;
        said++;
        tell_ratio(j, judge_slice(j, c->name), c->keyed, c->writes);
    }
}

/* Names under which programs take a request: an operation to those who wait. The surest first. */
static const char *const entrances[] = {
    "handle_request", "handle_http", "handle_job", "handle", "serve", "dispatch", "request", NULL,
};

static const struct recorded_call *find_entrance(const struct judge *j)
{
    for (const char *const *name = entrances; *name; name++)
        for (size_t i = 0; i < j->n_calls; i++) /* most calls first */
            if (j->calls[i].calls >= 100 && slice_is(j->calls[i].function, *name) &&
                !module_is_library(j->calls[i].module))
                return &j->calls[i];
    return NULL;
}

/* Operations on data, counted where the most of them are: repositories, or a module in front. */
static double operations_on_data(const struct modules *m)
{
    struct module_calls repo = operations_of(m);
    double most = repo.reads + repo.writes;
    for (size_t i = 0; i < m->n; i++) {
        const struct module_calls *c = &m->items[i];
        if (!module_is_repository(c) && !module_is_library(c->name) && c->keyed > 0)
            most = fmax(most, c->keyed + c->writes);
    }
    return most;
}

/* ---- pipelines */

/* clang-format off */
#define STRUCTURAL 3.0 /* calls of stages an operation: no change of code makes it much less */
#define EXCESSIVE 50.0 /* a pipeline of a web framework has ten to twenty stages a request */
/* clang-format on */

/* The module with most calls of stages. */
static const char *stage_name(struct judge *j, const struct modules *m)
{
    const struct module_calls *most = NULL;
    for (size_t i = 0; i < m->n; i++)
        if (!module_is_repository(&m->items[i]) && (!most || m->items[i].stages > most->stages))
            most = &m->items[i];
    return most ? judge_slice(j, most->name) : "The pipeline";
}

static void find_overhead(struct judge *j, const struct modules *m,
                          const struct recorded_call *request, double stages, double done)
{
    double ratio = stages / done;
    bool look = ratio > EXCESSIVE;
    struct finding *f = judge_find(j, look ? FINDING_LOOK : FINDING_NOTE, look ? ratio : EXCESSIVE,
                                   look ? EXCESSIVE : ratio);
    f->title =
        judge_text(j, "%s runs %.2f pipeline stages per operation: %s", stage_name(j, m), ratio,
                   look                             ? "too many"
                   : calls_reach(STRUCTURAL, ratio) ? "structural"
                                                    : "usual");
    f->action =
        look ? "Find the stages that run for operations that do not need them, and skip them there"
             : "Leave it: the stages are the structure of the program, and cost less than the data";
    f->ruled_out_if = "The own time of the stages (beamtop calls NODE --time) is a large share of "
                      "the operation's";
    judge_evidence(
        j, f, "calls_per_operation", ratio, "", "%s stage calls (call/2), %s operations (%s)",
        judge_number(j, stages), judge_number(j, done),
        request ? judge_text(j, "%s:%s/%lld", judge_slice(j, request->module),
                             judge_slice(j, request->function), (long long)request->arity)
                : "reads and writes of data");
    for (size_t i = 0, said = 0; i < m->n && said < 3; i++) {
        const struct module_calls *c = &m->items[i];
        if (module_is_repository(c) || c->stages <= 0)
            continue;
        said++;
        judge_evidence(j, f, "stage", c->stages / done, "", "%s: %.2f per operation",
                       judge_slice(j, c->name), c->stages / done);
    }
}

void judge_overhead(struct judge *j)
{
    struct modules m = modules_of(j);
    const struct recorded_call *request = find_entrance(j);
    double stages = 0, done = request ? (double)request->calls : operations_on_data(&m);
    for (size_t i = 0; i < m.n; i++)
        stages += module_is_repository(&m.items[i]) ? 0 : m.items[i].stages;
    if (stages < 100 || stages < 0.1 * done)
        return;
    if (done < 100)
        judge_unknown(
            j, "pipeline stages were counted, but no requests or operations to compare with");
    else
        find_overhead(j, &m, request, stages, done);
}

/* ---- hot reads */

static double count_calls(const struct judge *j, const char *module, const char *function)
{
    double n = 0;
    for (size_t i = 0; i < j->n_calls; i++)
        if (slice_is(j->calls[i].module, module) && slice_is(j->calls[i].function, function))
            n += (double)j->calls[i].calls;
    return n;
}

/* clang-format off */
#define READS_HOT 1000.0   /* per second */
#define ASKED_HOT 10000.0  /* of one process: fewer are a small part of what it can answer */
/* clang-format on */

static void find_hot(struct judge *j, const struct module_calls *m, double asks)
{
    bool process = asks >= 0.8 * m->reads;
    double rate = per_s(j, m->reads);
    bool look = process && rate >= judge_limit(j, ASKED_HOT);
    struct finding *f = judge_find(j, look ? FINDING_LOOK : FINDING_NOTE, rate, READS_HOT);
    f->title = judge_text(j, "%s is read-mostly: %s reads/s, %.1f writes/s",
                          judge_slice(j, m->name), judge_number(j, rate), per_s(j, m->writes));
    f->action =
        process ? "If each read asks a process, put the data into an ETS table with "
                  "read_concurrency, or into persistent_term if it changes less than once a minute"
                : "If a read does more than look up a table in memory, keep the answer in ETS or "
                  "persistent_term";
    f->ruled_out_if = "Answers differ from call to call, or the caller holds the data and other "
                      "modules make the gen_server calls";
    f->subject = judge_slice(j, m->name);
    f->trace = judge_function(j, m->name, m->hottest);
    judge_evidence(j, f, "reads", rate, "per_s", "%s: %s calls per second",
                   judge_slice(j, m->hottest), judge_number(j, per_s(j, m->hottest_calls)));
    judge_evidence(j, f, "writes", per_s(j, m->writes), "per_s", "writes: %.1f per second",
                   per_s(j, m->writes));
    if (process)
        judge_evidence(j, f, "gen_server_calls", per_s(j, asks), "per_s",
                       "gen_server calls: %s per second", judge_number(j, per_s(j, asks)));
}

void judge_hot_reads(struct judge *j)
{
    struct modules m = modules_of(j);
    double served = count_calls(j, "ets", "lookup") + count_calls(j, "ets", "lookup_element") +
                    count_calls(j, "persistent_term", "get");
    double asks = count_calls(j, "gen_server", "call");
    struct module_calls repo = operations_of(&m);
    size_t said = 0;
    for (size_t i = 0; i < m.n && said < 3; i++) {
        const struct module_calls *c = &m.items[i];
        if (per_s(j, c->reads) < judge_limit(j, READS_HOT) ||
            c->reads < 0.02 * (double)j->sums.calls || c->writes > 0.01 * c->reads ||
            module_is_repository(c) || module_is_library(c->name) || served >= 0.8 * c->reads ||
            repo.reads >= 0.8 * c->reads)
            continue;
        said++;
        find_hot(j, c, asks);
    }
    too_few_listed(j, READS_HOT);
}

/* ---- dynamic repositories */

/* clang-format off */
#define SWITCHES_HOT 50.0 /* per second */
#define SWITCHES_EACH 1.0  /* per operation: one a request is how tenants are kept apart */
/* clang-format on */

void judge_dynamic_repo(struct judge *j)
{
    struct modules m = modules_of(j);
    struct module_calls repo = operations_of(&m);
    double switches = 0, done = repo.reads + repo.writes;
    const struct module_calls *most = NULL;
    for (size_t i = 0; i < m.n; i++) {
        switches += m.items[i].switches;
        if (m.items[i].switches > (most ? most->switches : 0))
            most = &m.items[i];
    }
    if (!most || per_s(j, switches) < judge_limit(j, SWITCHES_HOT) ||
        !calls_reach(switches, judge_limit(j, SWITCHES_EACH) * done)) {
        too_few_listed(j, SWITCHES_HOT);
        return;
    }
    struct finding *f = judge_find(j, FINDING_LOOK, per_s(j, switches), SWITCHES_HOT);
    f->title = judge_text(j, "%s switches repositories %s times/s", judge_slice(j, most->name),
                          judge_number(j, per_s(j, switches)));
    f->action = "Switch once per process or request (put_dynamic_repo/1 at its start), or use one "
                "module per database. A wrapper switches twice per query";
    f->ruled_out_if = "Each request does one operation, for a different tenant";
    f->subject = judge_slice(j, most->name);
    f->trace = judge_function(j, most->name, slice_of("put_dynamic_repo"));
    judge_evidence(j, f, "switches", per_s(j, switches), "per_s",
                   "%s:put_dynamic_repo/1: %s calls per second", judge_slice(j, most->name),
                   judge_number(j, per_s(j, most->switches)));
    if (done > 0)
        judge_evidence(j, f, "switches_per_operation", switches / done, "",
                       "%.2f switches per operation", switches / done);
}
