/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rules share: names, numbers as text, limits, trends. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/print.h"
#include "beamtop/model/kind.h"
#include "beamtop/model/process_name.h"
#include "report/rules/rules_internal.h"

/* ---- texts */

const char *judge_slice(struct judge *j, struct slice text)
{
    return judge_text(j, "%.*s", (int)(text.len < 200 ? text.len : 200),
                      text.len > 0 ? text.s : "");
}

/* Without decimals where they say nothing: "31%", "8.4%". */
const char *judge_percent(struct judge *j, double share)
{
    double percent = share * 100;
    if (isnan(share))
        return "-";
    return judge_text(j, "%.*f%%", percent > 0.05 && percent < 9.95 ? 1 : 0, percent);
}

const char *judge_bytes(struct judge *j, double bytes)
{
    char out[32];
    return judge_text(j, "%s", text_bytes(out, sizeof out, bytes));
}

static const char *judge_count(struct judge *j, double n)
{
    char out[32];
    return judge_text(j, "%s", text_count(out, sizeof out, n));
}

const char *judge_number(struct judge *j, double n)
{
    char out[40];
    if (!(fabs(n) < 1e15))
        return judge_count(j, n);
    return judge_text(j, "%s", text_integer(out, sizeof out, (int64_t)llround(n)));
}

static const char *two_units(struct judge *j, long long n, long long in, const char *unit,
                             const char *small)
{
    return n % in == 0 ? judge_text(j, "%lld %s", n / in, unit)
                       : judge_text(j, "%lld %s %lld %s", n / in, unit, n % in, small);
}

const char *judge_seconds(struct judge *j, double seconds)
{
    if (!(seconds >= 0 && seconds < 1e12))
        return "the period";
    long long s = llround(seconds);
    if (s < 60)
        return judge_text(j, "%lld s", s);
    return s < 3600 ? two_units(j, s, 60, "min", "s") : two_units(j, s / 60, 60, "h", "min");
}

const char *judge_duration(struct judge *j, double seconds)
{
    char out[32];
    return judge_text(j, "%s", text_duration(out, sizeof out, seconds));
}

const char *judge_period(struct judge *j)
{
    return judge_seconds(j, j->duration_s);
}

/* ---- names */

/* What the node reported of a process without a registered name. */
static struct slice near_of(const struct judge *j, struct slice pid)
{
    return slice_of(fact_text(fact_process(j->kin, pid), "near"));
}

static const char *name_text(struct judge *j, const struct process_names *names)
{
    struct buf b;
    buf_init(&b, 0);
    process_name_put(&b, names);
    const char *out = judge_slice(j, (struct slice){(const char *)b.data, b.len});
    buf_clear(&b);
    return out;
}

const char *judge_process(struct judge *j, const struct period_process *p)
{
    const struct process_names names = {.name = p->name,
                                        .label = p->label,
                                        .initial_call = p->initial_call,
                                        .near = near_of(j, p->pid),
                                        .pid = p->pid};
    return name_text(j, &names);
}

/* A fact's row has the name or the label under the one key. */
const char *judge_process_of(struct judge *j, const json_t *row)
{
    struct slice pid = slice_of(fact_text(row, "pid"));
    const struct process_names names = {.name = slice_of(fact_text(row, "name")),
                                        .label = slice_of(fact_text(row, "label")),
                                        .initial_call = slice_of(fact_text(row, "initial_call")),
                                        .near = near_of(j, pid),
                                        .pid = pid};
    return name_text(j, &names);
}

/* ---- owners */

#define LEADS 0.3 /* of the reductions */
#define MOST 0.5  /* by itself: whatever the others of its application do */

/* True for a module that starts processes of all kinds: its name says nothing. */
static bool is_generic_module(struct slice module)
{
    char call[64];
    if (module.len > sizeof call - 8)
        return false;
    snprintf(call, sizeof call, "%.*s:apply/", (int)module.len, module.s);
    return process_call_is_generic(slice_of(call));
}

bool judge_owner_is_generic(enum owner_sort sort, struct slice name)
{
    if (sort == BY_MODULE)
        return is_generic_module(name);
    /* "erlang:apply/2 (under shop_sup)" names a kin. */
    return sort == BY_KIN && process_call_is_generic(name) &&
           !(name.len > 0 && name.s[name.len - 1] == ')');
}

static const struct leader *leader_of(struct judge *j, struct leader is)
{
    struct leader *out = arena_alloc(&j->out->arena, sizeof *out);
    *out = is;
    return out;
}

static const struct leader *leading_process(struct judge *j, double share)
{
    const struct period_process *most = NULL;
    for (size_t i = 0; i < j->n_processes; i++)
        if (j->processes[i].share >= share && (!most || j->processes[i].share > most->share))
            most = &j->processes[i];
    return most ? leader_of(j, (struct leader){judge_process(j, most), judge_slice(j, most->pid),
                                               "", most->share})
                : NULL;
}

static const struct leader *leading_owner(struct judge *j, enum owner_sort sort)
{
    for (size_t i = 0; i < j->owners[sort].n; i++) {
        const struct period_owner *o = &j->owners[sort].items[i];
        const char *name = judge_slice(j, o->owner);
        if (o->owner.len == 0 || !(o->share >= LEADS) || judge_owner_is_generic(sort, o->owner))
            continue;
        return leader_of(j,
                         (struct leader){name, "", sort == BY_APPLICATION ? name : "", o->share});
    }
    return NULL;
}

const struct leader *judge_leader(struct judge *j)
{
    const struct leader *is = leading_process(j, MOST);
    is = is ? is : leading_owner(j, BY_APPLICATION);
    is = is ? is : leading_process(j, LEADS);
    is = is ? is : leading_owner(j, BY_KIN);
    return is ? is : leading_owner(j, BY_MODULE);
}

static double share_of_kind(struct owner_list list, const char *kind, double *spread)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < list.n; i++) {
        const struct period_owner *o = &list.items[i];
        if (!slice_is(o->kind, kind))
            continue;
        sum += o->share;
        squares += o->share_stddev * o->share_stddev;
    }
    *spread = sqrt(squares);
    return sum;
}

#define STAYS_S 30.0

bool judge_stays(const struct judge *j, const struct period_process *p)
{
    const double seen_s = j->duration_s * (double)p->ticks_since / (double)j->turnover.ticks;
    return p->ticks * 10 >= j->turnover.ticks * 8 ||
           (seen_s >= STAYS_S && p->ticks * 10 >= p->ticks_since * 8);
}

/* "linked to NAME", "started by NAME": the kind of the one that is named. */
bool judge_is_kin(const struct judge *j, const struct period_process *p, const char *kind)
{
    struct proc_row named = {.name = near_of(j, p->pid)};
    for (int words = 0; words < 2 && named.name.len > 0; named.name.s++, named.name.len--)
        words += *named.name.s == ' ';
    return p->kind.len == 0 && strcmp(proc_kind_name(proc_kind(&named)), kind) == 0;
}

/* Of processes of that kind, or of those without a name near to one. */
static double share_of_processes(const struct judge *j, const struct period_process *p, size_t n,
                                 const char *kind, bool near)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (near ? judge_is_kin(j, &p[i], kind) : slice_is(p[i].kind, kind))
            sum += isnan(p[i].share) ? 0 : p[i].share;
    return sum;
}

/* The largest of the shares that the ways to recognise the kind give. */
double judge_kind(const struct judge *j, const char *kind, double *spread, double *late)
{
    double most = share_of_processes(j, j->processes, j->n_processes, kind, false), ignored;
    *late = share_of_processes(j, j->late_processes, j->n_late_processes, kind, false);
    *spread = NAN;
    for (int sort = 0; sort < OWNER_SORTS; sort++) {
        double varies, share = share_of_kind(j->owners[sort], kind, &varies);
        *late = fmax(*late, share_of_kind(j->late_owners[sort], kind, &ignored));
        if (share > 0 && (share > most || isnan(*spread)))
            *spread = varies;
        most = fmax(most, share);
    }
    *late += share_of_processes(j, j->late_processes, j->n_late_processes, kind, true);
    return most + share_of_processes(j, j->processes, j->n_processes, kind, true);
}

void judge_share(struct judge *j, struct finding *f, double share, double spread)
{
    if (isnan(share))
        return;
    judge_evidence(
        j, f, "share", share, "share", "share of reductions: %s (mean%s)", judge_percent(j, share),
        isnan(spread) ? "" : judge_text(j, ", ± %s between ticks", judge_percent(j, spread)));
}

void judge_tell_function(struct judge *j, struct finding *f, const struct period_process *p)
{
    if (p->current_function.len > 0)
        judge_evidence(j, f, "current_function", NAN, "", "current function at most ticks: %s",
                       judge_slice(j, p->current_function));
}

double judge_cores(const struct judge *j, double share)
{
    return share * judge_stats(j, "scheduler_utilisation").mean * j->schedulers;
}

const struct period_process *judge_late(const struct judge *j, const struct period_process *p)
{
    for (size_t i = 0; i < j->n_late_processes; i++) {
        const struct period_process *q = &j->late_processes[i];
        if (slice_equal(q->pid, p->pid))
            return q;
    }
    return NULL;
}

/* ---- limits */

#define STAYS 0.8 /* of its limit, for what was found before */

bool finding_has_rule(const struct finding *f, const char *key)
{
    bool has = strcmp(f->rule, key) == 0;
    for (size_t i = 0; i < f->n_evidence && !has; i++)
        has = strcmp(f->evidence[i].key, key) == 0;
    return has;
}

double judge_limit(const struct judge *j, double limit)
{
    for (size_t i = 0; j->before && i < j->before->len; i++)
        if (finding_has_rule(&j->before->items[i], j->rule->info.key))
            return limit * STAYS;
    return limit;
}

bool judge_holds(const struct judge *j, double seconds, bool named)
{
    return !(seconds < (named ? 1 : 1.5) * j->trend_s);
}

void judge_wait(struct judge *j, bool named)
{
    if (!judge_holds(j, j->duration_s, named))
        j->out->len--;
}

void judge_cause(struct finding *f, const char *cause, enum cause_rank rank)
{
    f->cause = cause;
    f->rank = (int)rank;
}

void judge_about(struct finding *f, const char *pid, enum cause_rank rank)
{
    f->subject = f->process = pid;
    judge_cause(f, pid, rank);
}

const char *judge_atom(struct judge *j, struct slice name)
{
    struct buf b;
    buf_init(&b, 0);
    print_atom(&b, name.s, name.len);
    const char *out = judge_text(j, "%s", buf_cstr(&b));
    buf_clear(&b);
    return out;
}

const char *judge_function(struct judge *j, struct slice module, struct slice function)
{
    bool quoted = module.len > 2 && module.s[0] == '\'' && module.s[module.len - 1] == '\'';
    const char *name = judge_atom(j, function);
    if (quoted)
        return judge_text(j, "%.*s:%s", (int)module.len, module.s, name);
    return judge_text(j, "%s:%s", judge_atom(j, module), name);
}

bool judge_lasts(double share, double late_share, double limit)
{
    double early = 2 * share - late_share;
    return share >= limit && !(late_share < limit / 2) && !(early < limit / 2);
}

#define PARTS 512

double judge_over(const struct judge *j, const char *system_key, double limit)
{
    double v[PARTS], over = 0;
    size_t n = recording_series(j->recording, system_key, j->from, j->to, v, PARTS);
    for (size_t i = 0; i < n; i++)
        over += v[i] > limit;
    return n > 0 ? over / (double)n : (double)NAN;
}

/* ---- trends */

struct trend judge_trend(const struct judge *j, const char *system_key)
{
    double v[PARTS];
    size_t n = recording_series(j->recording, system_key, j->from, j->to, v, PARTS);
    return trend_of(v, n);
}

struct trend judge_trend_of_rest(const struct judge *j, const char *system_key,
                                 const char *const *less, size_t n_less)
{
    double v[PARTS], part[PARTS];
    size_t n = recording_series(j->recording, system_key, j->from, j->to, v, PARTS);
    for (size_t k = 0; k < n_less; k++) {
        if (recording_series(j->recording, less[k], j->from, j->to, part, PARTS) != n)
            return trend_of(v, 0); /* its ticks are others */
        for (size_t i = 0; i < n; i++)
            v[i] -= part[i];
    }
    return trend_of(v, n);
}
