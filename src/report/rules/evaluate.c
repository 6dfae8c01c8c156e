/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/report/evaluate.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/model/shown_name.h"
#include "report/rules/requests.h"
#include "report/rules/rules_internal.h"

#define EVIDENCE_MOST 24
#define LEAST_TICKS 3

/* ---- what judges say */

const char *judge_text(struct judge *j, const char *fmt, ...)
{
    va_list args;
    char text[1024];
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return slice_keep_safe(&j->out->arena, slice_of(text), false).s;
}

static double confidence_of(const struct judge *j, double value, double limit)
{
    double beyond = limit > 0 ? (value - limit) / limit : 1;
    double ticks = (double)j->ticks / 20;
    beyond = isnan(beyond) || beyond < 0 ? 0 : fmin(beyond, 1);
    return (0.55 + 0.4 * beyond) * (0.6 + 0.4 * fmin(ticks, 1));
}

struct finding *judge_find(struct judge *j, enum finding_severity severity, double value,
                           double limit)
{
    struct findings *out = j->out;
    j->said = true;
    assert(out->len < FINDINGS_MOST);
    struct finding *f = &out->items[out->len++];
    *f = (struct finding){.rule = j->rule->info.key,
                          .severity = severity,
                          .effort = j->rule->effort,
                          .confidence = confidence_of(j, value, limit),
                          .impact = NAN,
                          .title = j->rule->info.title,
                          .action = "",
                          .ruled_out_if = "",
                          .subject = "",
                          .process = "",
                          .application = "",
                          .trace = "",
                          .cause = "",
                          .place = out->len - 1};
    f->evidence = arena_alloc(&out->arena, EVIDENCE_MOST * sizeof *f->evidence);
    return f;
}

void judge_unknown(struct judge *j, const char *fmt, ...)
{
    char why[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    const char **list = (const char **)(uintptr_t)j->out->not_evaluated;
    j->said = true;
    if (j->out->n_not_evaluated < FINDINGS_MOST)
        list[j->out->n_not_evaluated++] = judge_text(j, "%s: %s", j->rule->info.key, why);
}

void judge_evidence(struct judge *j, struct finding *f, const char *key, double value,
                    const char *unit, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    assert(f->n_evidence < EVIDENCE_MOST);
    struct evidence *list = (struct evidence *)(uintptr_t)f->evidence;
    list[f->n_evidence++] = (struct evidence){key, value, unit, judge_text(j, "%s", text)};
}

struct period_stats judge_stats_from(const struct judge *j, int64_t from, const char *system_key)
{
    struct period_stats s;
    struct error ignored = {0};
    (void)recording_stats(j->recording, system_key, from, j->to, &s, &ignored);
    assert(ignored.code == ERR_NONE);
    return s;
}

struct period_stats judge_stats(const struct judge *j, const char *system_key)
{
    return judge_stats_from(j, j->from, system_key);
}

const json_t *judge_fact_at(const struct judge *j, const char *key, int64_t tick)
{
    char name[64];
    snprintf(name, sizeof name, "%s %lld", key, (long long)tick);
    json_t *fact = json_object_get(j->facts, name);
    if (!fact) {
        fact = fact_at(j->recording, key, tick);
        json_object_set_new(j->facts, name, fact ? fact : json_null());
    }
    return json_is_object(fact) ? fact : NULL;
}

const json_t *judge_fact(struct judge *j, const char *key)
{
    const json_t *fact = judge_fact_at(j, key, j->to);
    if (!fact)
        judge_unknown(j, "the fact `%s` was not recorded", key);
    return fact;
}

double judge_node(const struct judge *j, const char *key)
{
    return fact_number(j->node, key);
}

/* ---- what judges are given */

/* Who did what, over the whole period and over its second half. */
static void take_work(struct judge *j)
{
    struct period_turnover ignored;
    int64_t half = j->from + (j->to - j->from + 1) / 2;
    work_take_owners(&j->out->arena, j->recording, j->from, j->to, j->owners);
    work_take_owners(&j->out->arena, j->recording, half, j->to, j->late_owners);
    j->n_processes = recording_processes(j->recording, j->from, j->to, &j->out->arena,
                                         &j->processes, &j->turnover);
    j->n_late_processes = recording_processes(j->recording, half, j->to, &j->out->arena,
                                              &j->late_processes, &ignored);
}

static const char *refusal_of(struct judge *j)
{
    const char *why = fact_text(judge_fact_at(j, "calls_refused", j->to), "why");
    return *why ? judge_text(j, "%s", why) : NULL;
}

static void take_calls(struct judge *j)
{
    work_take_calls(&j->out->arena, j->recording, j->from, j->to, &j->sums);
    j->out->calls_refused = refusal_of(j);
    j->calls = j->sums.top;
    j->n_calls = j->sums.n_top;
    j->left_out = (double)j->sums.calls;
    for (size_t i = 0; i < j->n_calls; i++)
        j->left_out -= (double)j->calls[i].calls;
}

static void take_system(struct judge *j)
{
    double period_s = recording_period_s(j->recording, j->from, j->to);
    j->ticks = judge_stats(j, "run_queue").n;
    j->duration_s = period_s > 0 ? period_s : (double)NAN;
    j->node = judge_fact_at(j, "node", j->to);
    j->kin = judge_fact_at(j, "kin", j->to);
    j->schedulers = judge_node(j, "schedulers_online");
}

/* ---- asking them */

static const char *missing_data(const struct judge *j, unsigned needs)
{
    if (j->ticks < LEAST_TICKS)
        return "fewer than 3 ticks were recorded";
    if ((needs & NEEDS_NODE) && !j->node)
        return "what the node is was not recorded";
    if ((needs & NEEDS_OWNERS) && j->owners[BY_MODULE].n == 0)
        return "no owners of work were recorded";
    if ((needs & NEEDS_PROCESSES) && j->n_processes == 0)
        return "no processes were recorded";
    if ((needs & NEEDS_CALLS) && j->n_calls == 0 && j->out->calls_refused)
        return "counting calls was refused";
    if ((needs & NEEDS_CALLS) && j->n_calls == 0)
        return "no calls were counted";
    if ((needs & NEEDS_SAMPLES) && j->samples.runs == 0)
        return recording_info(j->recording)->has_samples
                   ? "no samples of CPU time were recorded; those at yields are of reductions"
                   : "no samples were recorded";
    if ((needs & NEEDS_SPANS) && j->requests->captures == 0)
        return "no spans were captured";
    return NULL;
}

/* ---- one cause, one finding */

static bool is_evidence(const struct finding *f, const char *text)
{
    for (size_t i = 0; i < f->n_evidence; i++)
        if (strcmp(f->evidence[i].text, text) == 0)
            return true;
    return false;
}

static void add_evidence(struct finding *f, struct evidence e)
{
    struct evidence *list = (struct evidence *)(uintptr_t)f->evidence;
    if (f->n_evidence < EVIDENCE_MOST && !is_evidence(f, e.text))
        list[f->n_evidence++] = e;
}

/* The other finding becomes evidence, under the key of its rule. */
static void take_over(struct finding *f, const struct finding *other)
{
    f->severity = other->severity > f->severity ? other->severity : f->severity;
    f->confidence = fmax(f->confidence, other->confidence);
    f->impact = fmax(f->impact, other->impact); /* NaN where neither has one */
    f->process = *f->process ? f->process : other->process;
    f->trace = *f->trace ? f->trace : other->trace;
    add_evidence(f, (struct evidence){other->rule, NAN, "", other->title});
    for (size_t i = 0; i < other->n_evidence; i++)
        add_evidence(f, other->evidence[i]);
}

/* Of findings with one cause, the one of lower rank, else the first, takes in the others. */
static void unite_causes(struct findings *found)
{
    for (size_t i = 0; i < found->len; i++) {
        struct finding *f = &found->items[i];
        for (size_t k = i + 1; k < found->len && *f->cause;) {
            struct finding other = found->items[k];
            if (strcmp(f->cause, other.cause) != 0) {
                k++;
                continue;
            }
            if (other.rank < f->rank) {
                other = *f;
                *f = found->items[k];
            }
            take_over(f, &other);
            memmove(&found->items[k], &found->items[k + 1],
                    (--found->len - k) * sizeof *found->items);
        }
    }
}

/* Titles and evidence are read by people. Actions keep names as their commands need them. */
static void show_names(struct findings *found)
{
    for (size_t i = 0; i < found->len; i++) {
        struct finding *f = &found->items[i];
        struct evidence *list = (struct evidence *)(uintptr_t)f->evidence;
        f->title = shown_names(&found->arena, slice_of(f->title)).s;
        for (size_t k = 0; k < f->n_evidence; k++)
            list[k].text = shown_names(&found->arena, slice_of(list[k].text)).s;
    }
}

static int worse_first(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    if (x->severity != y->severity)
        return x->severity < y->severity ? 1 : -1;
    double p = isnan(x->impact) ? 0 : x->impact, q = isnan(y->impact) ? 0 : y->impact;
    if (p != q)
        return p < q ? 1 : -1;
    const int order = strcmp(x->rule, y->rule);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static void ask_rules(struct judge *j)
{
    for (size_t i = 0; i < rule_rows_len; i++) {
        j->rule = &rule_rows[i];
        j->said = false;
        const char *lack = missing_data(j, j->rule->needs);
        if (lack)
            judge_unknown(j, "%s", lack);
        else
            j->rule->judge(j);
    }
}

int findings_evaluate(struct findings *out, struct recording *r, int64_t from, int64_t to,
                      struct error *err)
{
    return findings_evaluate_after(out, NULL, 0, r, from, to, err);
}

int findings_evaluate_after(struct findings *out, const struct findings *before, double trend_s,
                            struct recording *r, int64_t from, int64_t to, struct error *err)
{
    struct requests requests;
    struct judge j = {.recording = r,
                      .from = from,
                      .to = to,
                      .out = out,
                      .before = before,
                      .requests = &requests,
                      .trend_s = trend_s};
    *out = (struct findings){0};
    arena_init(&out->arena);
    if (from > to)
        return error_set(err, ERR_USAGE, "a period of ticks ends before it begins");
    out->items = arena_alloc(&out->arena, FINDINGS_MOST * sizeof *out->items);
    out->not_evaluated = arena_alloc(&out->arena, FINDINGS_MOST * sizeof *out->not_evaluated);
    j.facts = json_object();
    take_system(&j);
    take_work(&j);
    take_calls(&j);
    (void)recording_samples(r, from, to, false, &j.samples, err);
    (void)requests_take(&requests, r, from, to, err);
    ask_rules(&j);
    requests_clear(&requests);
    recorded_samples_clear(&j.samples);
    json_decref(j.facts);
    unite_causes(out);
    show_names(out);
    if (out->len > 1)
        qsort(out->items, out->len, sizeof *out->items, worse_first);
    return recording_failed(r, err);
}

const char *findings_not_evaluated(const struct findings *f, const char *rule)
{
    const size_t len = strlen(rule);
    for (size_t i = 0; i < f->n_not_evaluated; i++)
        if (strncmp(f->not_evaluated[i], rule, len) == 0 && f->not_evaluated[i][len] == ':')
            return f->not_evaluated[i] + len + 2;
    return NULL;
}

void findings_clear(struct findings *f)
{
    arena_clear(&f->arena);
    *f = (struct findings){0};
    arena_init(&f->arena);
}
