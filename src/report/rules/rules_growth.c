/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules over counts that only grow. The trend comes from the ticks of the whole period, who makes
 * it from the last fact `growth` (docs/recording.md); without that fact the owner is unknown. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/model/process_name.h"
#include "report/rules/rules_internal.h"

#define MIB (1024.0 * 1024)
#define ATOMS_PER_S 1.0
#define HOUR 3600.0
#define FOREVER_S 3e9 /* a century: nothing is said of a limit that is farther */

struct rise {
    double first, last, grown; /* by the line that fits best */
    double per_s, fit;
    bool grows; /* in each quarter: neither a step nor a level that is being reached */
};

static struct rise rise_of(const struct judge *j, const char *key)
{
    struct trend t = judge_trend(j, key);
    double grown = t.last - t.first;
    bool grows = t.steady && t.fit >= judge_limit(j, 0.9) && j->duration_s >= JUDGE_TREND_S &&
                 judge_holds(j, j->duration_s, true);
    return (struct rise){t.first, t.last, grown, grown / j->duration_s, t.fit, grows && grown > 0};
}

/* ---- words */

/* "3.2 h", "12 d": how long until a limit is reached. */
static const char *time_until(struct judge *j, double seconds)
{
    if (seconds < HOUR)
        return judge_text(j, "%.0f min", fmax(1, seconds / 60));
    return seconds < 48 * HOUR ? judge_text(j, "%.1f h", seconds / HOUR)
                               : judge_text(j, "%.0f d", seconds / HOUR / 24);
}

#define NAME_BYTES 80 /* of a title; a recording may have longer ones */

static const char *cut_name(struct judge *j, const char *name)
{
    return judge_text(j, "%.*s", NAME_BYTES, name);
}

/* A process of a fact; "" unknown. */
static const char *named_process(struct judge *j, const json_t *process)
{
    return *fact_text(process, "pid") ? judge_process_of(j, process) : "";
}

static void tell_trend(struct judge *j, struct finding *f, const char *key, const char *name,
                       const struct rise *t)
{
    judge_evidence(j, f, key, t->last, "", "%s: %s to %s in %s", name, judge_number(j, t->first),
                   judge_number(j, t->last), judge_period(j));
    judge_evidence(j, f, "growth_per_s", t->per_s, "per_s", "growth: %.1f/s (mean, %s)", t->per_s,
                   judge_period(j));
    judge_evidence(j, f, "fit", t->fit, "", "linear trend, r = %.2f", t->fit);
}

static double full_in(const struct judge *j, const char *limit, const struct rise *t)
{
    double most = judge_node(j, limit);
    double s = t->per_s > 0 && most > t->last ? (most - t->last) / t->per_s : (double)NAN;
    return s < FOREVER_S ? s : (double)NAN;
}

static void tell_limit(struct judge *j, struct finding *f, const char *limit, const struct rise *t)
{
    double s = full_in(j, limit, t);
    if (!isnan(s))
        judge_evidence(j, f, "full_in", s, "s", "limit: %s, reached in %s at this rate",
                       judge_number(j, judge_node(j, limit)), time_until(j, s));
}

static void no_owner(struct judge *j, struct finding *f, const json_t *fact)
{
    if (!fact)
        judge_evidence(j, f, "owner", NAN, "", "owner: unknown, not recorded");
}

/* ---- processes */

/* The largest group of a fact; NULL: there is none. */
static const json_t *largest_group(const json_t *fact, const char *key)
{
    const json_t *group = json_object_get(fact, key);
    return fact_number(group, "seen") >= 3 && *fact_text(group, "function") ? group : NULL;
}

/* That most of what was sampled belongs to; NULL: there is none. */
static const json_t *group_of(const json_t *fact, const char *key)
{
    const json_t *group = largest_group(fact, key);
    return fact_number(group, "seen") >= fact_number(group, "sampled") / 2 ? group : NULL;
}

/* Who has spawned most of a group; "" unknown. */
static const char *spawner_of(struct judge *j, const json_t *group)
{
    bool most = fact_number(group, "spawned") >= fact_number(group, "seen") / 2;
    return most ? named_process(j, json_object_get(group, "spawner")) : "";
}

/* What a process of the group was started as, where that is known better than its function. */
static const char *member_of(struct judge *j, const json_t *group)
{
    const json_t *example = json_object_get(group, "example");
    const char *call = fact_text(example, "initial_call");
    bool generic = !*call || process_call_is_generic(slice_of(call));
    return cut_name(j, generic ? fact_text(group, "function") : call);
}

static void tell_sample(struct judge *j, struct finding *f, const json_t *group)
{
    const char *app = fact_text(json_object_get(group, "example"), "application");
    judge_evidence(j, f, "sample", fact_number(group, "seen"), "", "%s: %.0f of %.0f sampled%s%s",
                   member_of(j, group), fact_number(group, "seen"), fact_number(group, "sampled"),
                   *app ? ", application " : "", app);
}

static void tell_group(struct judge *j, struct finding *f, const json_t *group)
{
    const json_t *spawner = json_object_get(group, "spawner");
    tell_sample(j, f, group);
    if (*spawner_of(j, group)) {
        const char *pid = fact_text(spawner, "pid"), *name = named_process(j, spawner);
        const bool has_pid = strstr(name, pid) != NULL;
        judge_evidence(j, f, "spawner", fact_number(group, "spawned"), "",
                       "spawner: %s%s%s (%.0f of them)", has_pid ? "" : pid, has_pid ? "" : " ",
                       name, fact_number(group, "spawned"));
    } else {
        judge_evidence(j, f, "spawner", NAN, "", "spawner: unknown (before OTP 25), or many");
    }
    if (*spawner_of(j, group))
        f->subject = f->process = judge_text(j, "%s", fact_text(spawner, "pid"));
    else
        f->subject = f->trace = member_of(j, group);
}

void judge_process_growth(struct judge *j)
{
    struct rise t = rise_of(j, "processes");
    double limit = judge_limit(j, fmax(100, 0.1 * t.first));
    if (!t.grows || t.grown < limit)
        return;
    const json_t *fact = judge_fact_at(j, "growth", j->to);
    const json_t *group = group_of(fact, "processes");
    double soon = full_in(j, "process_limit", &t);
    struct finding *f = judge_find(j, soon < 6 * HOUR ? FINDING_ACT : FINDING_LOOK, t.grown, limit);
    if (group && *spawner_of(j, group))
        f->title =
            judge_text(j, "%s spawns processes that stay: +%s %s in %s", spawner_of(j, group),
                       judge_number(j, t.grown), member_of(j, group), judge_period(j));
    else if (group)
        f->title = judge_text(j, "%s processes are accumulating: +%s in %s", member_of(j, group),
                              judge_number(j, t.grown), judge_period(j));
    else
        f->title = judge_text(j, "Processes are accumulating: +%s in %s", judge_number(j, t.grown),
                              judge_period(j));
    f->action = "Find what these processes wait for (beamtop process NODE PID), and end them: a "
                "timeout, a link or monitor to their client, or a supervisor";
    f->ruled_out_if = "The number of processes levels off with the load (header, 10 min)";
    f->subject = "processes";
    judge_cause(f, "processes", CAUSE_KNOWN);
    tell_trend(j, f, "processes", "processes", &t);
    tell_limit(j, f, "process_limit", &t);
    if (group)
        tell_group(j, f, group);
    else if (largest_group(fact, "processes")) /* of several kinds together, as of a connection */
        tell_sample(j, f, largest_group(fact, "processes"));
    no_owner(j, f, fact);
    judge_wait(j, group != NULL);
}

/* At what rate they are spawned: many cost by their number, fewer by their share of the work. */
#define SPAWNS_PER_S 1000.0
#define COSTLY_PER_S 100.0
#define COSTLY_SHARE 0.1
#define COSTLY_CORES 0.02

/* The counts only rise, until the helper on the node restarts. Unknown: of many processes. */
static double share_of_ended(struct judge *j)
{
    double of[2], all[2];
    const int64_t ticks[2] = {j->from, j->to};
    for (int i = 0; i < 2; i++) {
        const json_t *fact = judge_fact_at(j, "ended", ticks[i]);
        all[i] = fact_number(fact, "reductions");
        of[i] = fact_number(fact, "of_ended");
    }
    bool rises = all[0] < all[1] && of[0] <= of[1];
    double sum = rises ? all[1] - all[0] : all[1], ended = rises ? of[1] - of[0] : of[1];
    return sum > 0 ? ended / sum : (double)NAN;
}

static const char *short_title(struct judge *j, const json_t *group, double rate, double share)
{
    const char *part =
        isnan(share) ? "" : judge_text(j, ", %s of reductions", judge_percent(j, share));
    if (group && *spawner_of(j, group))
        return judge_text(j, "%s spawns short-lived processes: %s/s, %s%s", spawner_of(j, group),
                          judge_number(j, rate), member_of(j, group), part);
    if (group)
        return judge_text(j, "%s processes are short-lived: %s spawned/s%s", member_of(j, group),
                          judge_number(j, rate), part);
    return judge_text(j, "Processes are short-lived: %s spawned/s%s", judge_number(j, rate), part);
}

/* The spawn rate of the group that is named. */
static double rate_of(const json_t *group, double rate)
{
    return group ? rate * fact_number(group, "seen") / fact_number(group, "sampled") : 0;
}

static void find_short_lived(struct judge *j, const json_t *fact, double rate, double share,
                             bool many)
{
    const json_t *group = group_of(fact, "short_lived");
    double now = fact_number(fact, "spawned_lately_per_s");
    struct finding *f = judge_find(j, group && many ? FINDING_LOOK : FINDING_NOTE,
                                   many ? rate : share, many ? SPAWNS_PER_S : COSTLY_SHARE);
    f->title = many ? short_title(j, group, rate, NAN)
                    : short_title(j, group, rate_of(group, rate), share);
    f->action = "Do small steps in the caller, or keep workers for them: a process for each "
                "request is right, one for each step of it is expensive";
    f->ruled_out_if =
        "Each of these processes does a whole request (beamtop calls NODE, reductions a process)";
    f->subject = "processes";
    f->impact = many ? f->impact : share;
    judge_cause(f, "spawns", CAUSE_KNOWN);
    judge_evidence(j, f, "spawned_per_s", rate, "per_s",
                   "spawned: %s/s (mean, %.0f s), %s/s (mean, last answer)", judge_number(j, rate),
                   fact_number(fact, "over_s"), judge_number(j, now));
    if (!isnan(share))
        judge_evidence(j, f, "share_of_ended", share, "share",
                       "reductions of processes that were spawned or ended between two looks: %s",
                       judge_percent(j, share));
    if (group)
        tell_group(j, f, group);
}

void judge_short_lived(struct judge *j)
{
    const json_t *fact = judge_fact(j, "growth");
    double rate = fact_number(fact, "spawned_per_s"), share = share_of_ended(j);
    double now = fact_number(fact, "spawned_lately_per_s");
    bool many = rate >= judge_limit(j, SPAWNS_PER_S) && now >= SPAWNS_PER_S / 2;
    const json_t *group = group_of(fact, "short_lived");
    bool costly = rate_of(group, rate) >= judge_limit(j, COSTLY_PER_S) && now >= COSTLY_PER_S / 2 &&
                  share >= judge_limit(j, COSTLY_SHARE) && judge_cores(j, share) >= COSTLY_CORES;
    if (many || costly)
        find_short_lived(j, fact, rate, share, many);
}

/* ---- atoms */

/* Half of a sample may have a digit more in common than the next half. */
static const char *prefix_of(struct judge *j, const json_t *atoms)
{
    const char *text = fact_text(atoms, "prefix");
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] >= '0' && text[len - 1] <= '9')
        len--;
    return judge_text(j, "%.*s", (int)(len < NAME_BYTES ? len : NAME_BYTES), text);
}

/* Names of beamtop's expressions, with room: a node has them for good once it was first asked for
 * everything. They have little in common; what a program leaks has. */
#define OWN_ATOMS 2000.0
#define LEAKED_ATOMS 100.0

static void find_atoms(struct judge *j, const struct rise *t, double limit, const json_t *fact)
{
    const json_t *atoms = json_object_get(fact, "atoms"), *example;
    const char *prefix = prefix_of(j, atoms);
    double soon = full_in(j, "atom_limit", t);
    size_t i;
    struct finding *f =
        judge_find(j, soon < 24 * HOUR ? FINDING_ACT : FINDING_LOOK, t->grown, limit);
    f->title = strlen(prefix) >= 3 ? judge_text(j, "Atoms %s… are leaking: +%s in %s", prefix,
                                                judge_number(j, t->grown), judge_period(j))
                                   : judge_text(j, "Atoms are leaking: +%s in %s",
                                                judge_number(j, t->grown), judge_period(j));
    if (!isnan(soon))
        f->title = judge_text(j, "%s, full in %s", f->title, time_until(j, soon));
    f->action =
        "Find who makes them (beamtop calls NODE 'erlang:binary_to_atom/2' "
        "'erlang:list_to_atom/1') and use the _existing_ form. The VM ends when the table is full";
    f->ruled_out_if = "The number of atoms stops growing: code was being loaded (header, 10 min)";
    f->subject = "atoms";
    f->trace = "erlang:binary_to_atom/2 -> caller & erlang:list_to_atom/1 -> caller";
    judge_cause(f, "atoms", CAUSE_KNOWN);
    tell_trend(j, f, "atoms", "atoms", t);
    tell_limit(j, f, "atom_limit", t);
    if (*prefix)
        judge_evidence(j, f, "prefix", NAN, "", "half or more of the new atoms begin with: %s",
                       prefix);
    json_array_foreach (json_object_get(atoms, "examples"), i, example)
        if (i < 3 && json_is_string(example))
            judge_evidence(j, f, "example", NAN, "", "new atom: %s", json_string_value(example));
    no_owner(j, f, fact);
    judge_wait(j, *prefix);
}

void judge_atom_growth(struct judge *j)
{
    struct rise t = rise_of(j, "atoms");
    const json_t *fact = judge_fact_at(j, "growth", j->to);
    bool alike = strlen(prefix_of(j, json_object_get(fact, "atoms"))) >= 3;
    double limit = alike ? LEAKED_ATOMS : OWN_ATOMS;
    if (t.grows && t.grown >= judge_limit(j, limit) && t.per_s >= judge_limit(j, ATOMS_PER_S))
        find_atoms(j, &t, limit, fact);
}

/* ---- ETS */

static const char *table_name(struct judge *j, const json_t *table)
{
    return cut_name(j, *fact_text(table, "name") ? fact_text(table, "name") : "unnamed");
}

/* A pattern for what is put into it; one without a name is known by its owner only. */
static const char *writes_to(struct judge *j, const json_t *table)
{
    const char *owner = fact_text(json_object_get(table, "owner"), "pid");
    const char *name = fact_text(table, "name");
    if (*fact_text(table, "id"))
        return *owner ? judge_text(j, "ets:insert(_, _) --procs %s", owner) : "";
    return judge_text(j, "ets:insert(%s, _) -> caller", judge_atom(j, slice_of(name)));
}

static void tell_tables(struct judge *j, struct finding *f, const json_t *ets)
{
    const json_t *list = json_object_get(ets, "growing"), *table;
    double all = fact_number(ets, "tables"), measured = fact_number(ets, "measured");
    size_t i;
    json_array_foreach (list, i, table) {
        if (i >= 3)
            break;
        judge_evidence(j, f, "table", fact_number(table, "grown_bytes"), "bytes",
                       "table %s%s%s: +%s, now %s, owner %s", table_name(j, table),
                       *fact_text(table, "id") ? " " : "", fact_text(table, "id"),
                       judge_bytes(j, fact_number(table, "grown_bytes")),
                       judge_bytes(j, fact_number(table, "memory_bytes")),
                       named_process(j, json_object_get(table, "owner")));
    }
    if (measured < all)
        judge_evidence(j, f, "measured", measured, "", "%.0f of %.0f tables were measured",
                       measured, all);
}

static void find_table(struct judge *j, const struct rise *t, double limit)
{
    const json_t *fact = judge_fact_at(j, "growth", j->to);
    const json_t *ets = json_object_get(fact, "ets");
    const json_t *table = json_array_get(json_object_get(ets, "growing"), 0);
    struct finding *f = judge_find(j, FINDING_LOOK, t->grown, limit);
    f->title = table ? judge_text(j, "ETS table %s is growing: +%s in %s (owner %s)",
                                  table_name(j, table), judge_bytes(j, t->grown), judge_period(j),
                                  named_process(j, json_object_get(table, "owner")))
                     : judge_text(j, "ETS memory is growing: +%s in %s", judge_bytes(j, t->grown),
                                  judge_period(j));
    f->action = "Delete what is no longer used: a time to live, a limit of entries, or a table for "
                "each period";
    f->ruled_out_if = "The table stops growing: a cache that fills (fact ets, 10 min)";
    f->subject = table ? table_name(j, table) : "ets";
    f->process = judge_text(j, "%s", fact_text(json_object_get(table, "owner"), "pid"));
    f->trace = table ? writes_to(j, table) : "";
    judge_cause(f, "ets_memory", CAUSE_KNOWN);
    judge_evidence(j, f, "memory_ets_bytes", t->last, "bytes",
                   "ETS memory: %s to %s in %s (all tables)", judge_bytes(j, t->first),
                   judge_bytes(j, t->last), judge_period(j));
    judge_evidence(j, f, "fit", t->fit, "", "linear trend, r = %.2f", t->fit);
    tell_tables(j, f, ets);
    no_owner(j, f, fact);
    judge_wait(j, table != NULL);
}

/* Of what is new: the name that half have, and the owner that has half and that name. */
struct most {
    const char *name, *owner, *pid; /* "" many, or unknown */
    const char *one_of;             /* an owner, where none has half */
    double seen, owned, sampled;
};

/* sampled: where an older recording does not say of how many. There `seen` are those of the
 * owner. */
static struct most most_of(struct judge *j, const json_t *fact, double sampled)
{
    const json_t *owner = json_object_get(fact, "owner");
    struct most m = {.name = "",
                     .owner = "",
                     .pid = "",
                     .one_of = "",
                     .seen = fact_number(fact, "seen"),
                     .owned = fact_number(fact, "owned"),
                     .sampled = fact_number(fact, "sampled")};
    m.owned = isnan(m.owned) ? m.seen : m.owned;
    m.sampled = isnan(m.sampled) ? sampled : m.sampled;
    if (m.seen < m.sampled / 2)
        return m;
    m.name = cut_name(j, fact_text(fact, "name"));
    if (m.owned < m.sampled / 2) {
        m.one_of = named_process(j, owner);
    } else {
        m.owner = named_process(j, owner);
        m.pid = judge_text(j, "%s", fact_text(owner, "pid"));
    }
    return m;
}

static const char *owner_text(struct judge *j, const struct most *m)
{
    if (!*m->owner && !*m->one_of)
        return "";
    if (m->owned >= m->seen)
        return judge_text(j, " of %s%s", m->owner, m->one_of);
    if (*m->owner)
        return judge_text(j, ", %.0f of them of %s", m->owned, m->owner);
    return judge_text(j, ", of many owners, such as %s (%.0f)", m->one_of, m->owned);
}

static void tell_most(struct judge *j, struct finding *f, const struct most *m)
{
    if (*m->name && !isnan(m->sampled))
        judge_evidence(j, f, "sample", m->seen, "", "new: %.0f of %.0f sampled are %s%s", m->seen,
                       m->sampled, m->name, owner_text(j, m));
}

static void find_many_tables(struct judge *j, const struct rise *t, double limit)
{
    const json_t *fact = judge_fact_at(j, "growth", j->to);
    const json_t *ets = json_object_get(fact, "ets");
    const struct most made = most_of(j, json_object_get(ets, "most_new"), fact_number(ets, "new"));
    const char *grown = judge_number(j, t->grown), *period = judge_period(j);
    struct finding *f = judge_find(j, FINDING_LOOK, t->grown, limit);
    if (*made.owner)
        f->title = judge_text(j, "%s creates ETS tables that stay: +%s named %s in %s", made.owner,
                              grown, made.name, period);
    else
        f->title = judge_text(j, "ETS tables%s%s are accumulating: +%s in %s",
                              *made.name ? " " : "", made.name, grown, period);
    f->action = "Delete each table when its work is done, or keep the work in one table with a key";
    f->ruled_out_if = "The number of tables levels off with the load (header, 10 min)";
    f->subject = "ets_tables";
    f->process = made.pid;
    judge_cause(f, "ets_tables", CAUSE_KNOWN);
    tell_trend(j, f, "ets_tables", "ETS tables", t);
    tell_most(j, f, &made);
    no_owner(j, f, fact);
    judge_wait(j, *made.name);
}

void judge_ets_growth(struct judge *j)
{
    struct rise bytes = rise_of(j, "memory_ets_bytes"), tables = rise_of(j, "ets_tables");
    double least = judge_limit(j, fmax(4 * MIB, 0.1 * bytes.first));
    double most = judge_limit(j, fmax(50, 0.1 * tables.first));
    if (bytes.grows && bytes.grown >= least)
        find_table(j, &bytes, least);
    if (tables.grows && tables.grown >= most)
        find_many_tables(j, &tables, most);
}

/* ---- ports, code */

void judge_port_growth(struct judge *j)
{
    struct rise t = rise_of(j, "ports");
    double limit = judge_limit(j, fmax(50, 0.1 * t.first));
    if (!t.grows || t.grown < limit)
        return;
    const json_t *fact = judge_fact_at(j, "growth", j->to);
    const struct most opened = most_of(j, json_object_get(fact, "ports"), NAN);
    const char *grown = judge_number(j, t.grown), *period = judge_period(j);
    struct finding *f = judge_find(
        j, full_in(j, "port_limit", &t) < 6 * HOUR ? FINDING_ACT : FINDING_LOOK, t.grown, limit);
    if (*opened.owner)
        f->title = judge_text(j, "%s opens ports that stay: +%s %s in %s", opened.owner, grown,
                              opened.name, period);
    else
        f->title = judge_text(j, "Ports%s%s are accumulating: +%s in %s", *opened.name ? " " : "",
                              opened.name, grown, period);
    f->action = "Close sockets and files when their work is done; set idle timeouts";
    f->ruled_out_if = "The number of ports levels off with the clients (header, 10 min)";
    f->subject = "ports";
    f->process = opened.pid;
    judge_cause(f, "ports", CAUSE_KNOWN);
    tell_trend(j, f, "ports", "ports", &t);
    tell_limit(j, f, "port_limit", &t);
    tell_most(j, f, &opened);
    no_owner(j, f, fact);
    judge_wait(j, *opened.name);
}

void judge_code_growth(struct judge *j)
{
    struct rise t = rise_of(j, "memory_code_bytes");
    double limit = judge_limit(j, fmax(MIB, 0.05 * t.first));
    if (!t.grows || t.grown < limit)
        return;
    const json_t *fact = judge_fact_at(j, "growth", j->to), *module;
    const json_t *code = json_object_get(fact, "code");
    const char *newest = json_string_value(json_array_get(json_object_get(code, "examples"), 0));
    newest = newest ? cut_name(j, newest) : NULL;
    size_t i;
    struct finding *f = judge_find(j, FINDING_LOOK, t.grown, limit);
    f->title = judge_text(j, "Code is growing: +%s in %s%s%s", judge_bytes(j, t.grown),
                          judge_period(j), newest ? ", newest module " : "", newest ? newest : "");
    f->action = "Find what compiles or loads modules while the node runs, and load each once";
    f->ruled_out_if = "The memory of code stops growing: a start or an upgrade (header, 10 min)";
    f->subject = newest ? judge_text(j, "%s", newest) : "code";
    judge_cause(f, "code", CAUSE_KNOWN);
    judge_evidence(j, f, "memory_code_bytes", t.last, "bytes", "code: %s to %s in %s",
                   judge_bytes(j, t.first), judge_bytes(j, t.last), judge_period(j));
    judge_evidence(j, f, "fit", t.fit, "", "linear trend, r = %.2f", t.fit);
    json_array_foreach (json_object_get(code, "examples"), i, module)
        if (i < 5 && json_is_string(module))
            judge_evidence(j, f, "module", NAN, "", "new module: %s", json_string_value(module));
    no_owner(j, f, fact);
    judge_wait(j, newest != NULL);
}
