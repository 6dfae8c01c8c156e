/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of one recording. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "summary_internal.h"

static void put_one_head(struct paper *p, const struct summary *s)
{
    const struct recording_info *i = s->info;
    struct arena *a = &p->arena;
    p->title = arena_printf(a, "beamtop report: %s", s->input->name);
    paper_heading(p, 1, "%s", s->input->name);
    paper_put(p, "%s, OTP %s, from %s to %s: %s, %lld ticks every %s.",
              *i->node ? i->node : "a node", *i->otp ? i->otp : "–", time_text(a, s->first_us),
              time_text(a, s->last_us), number_text(a, COLUMN_SECONDS, s->duration_s),
              (long long)s->ticks, number_text(a, COLUMN_SECONDS, i->interval_s));
    if (!isnan(s->cost.share))
        paper_put(p,
                  "Watching took %s of one scheduler of the node, and %s a tick on the connection.",
                  number_text(a, COLUMN_SHARE, s->cost.share),
                  number_text(a, COLUMN_BYTES, s->cost.bytes));
    if (!*i->end)
        paper_put(p, "The recording has no end: it is being written still, or was cut off after "
                     "its last tick.");
    if (s->gaps > 0)
        paper_put(p, "The node was not reached %lld %s in between: rates start again after that.",
                  (long long)s->gaps, s->gaps == 1 ? "time" : "times");
    if (s->findings.calls_refused)
        paper_put(p, "Calls were %scounted: %s. Rules about calls are %s.",
                  s->sums.n_top > 0 ? "not always " : "not ", s->findings.calls_refused,
                  s->sums.n_top > 0 ? "evaluated from the windows there are" : "not evaluated");
    if (i->thinned)
        paper_put(p, "Old ticks were thinned to save space: the earlier part is sparse.");
    if (i->redacted)
        paper_put(p, "Of the values in traces types and sizes were recorded.");
    else if (i->values)
        paper_put(p, "The values in traces were recorded as they were.");
    for (size_t k = 0; k < s->n_marks; k++)
        paper_item(p, "mark at %s: %s", time_text(a, s->marks[k].wall_us), s->marks[k].text);
}

static void put_node_numbers(struct paper *p, const struct summary *s)
{
    static const char *const titles[] = {"", "mean", "p95", "max", "first", "last"};
    struct arena *a = &p->arena;
    paper_heading(p, 2, "The node");
    struct block *t = paper_table(p, titles, ARRAY_LEN(titles), "lrrrrr");
    for (int i = 0; i < METRICS; i++) {
        const struct period_stats *v = &s->stats[i];
        enum column_type type = summary_metrics[i].type;
        const char *cells[] = {summary_metrics[i].title,       number_text(a, type, v->mean),
                               number_text(a, type, v->p95),   number_text(a, type, v->max),
                               number_text(a, type, v->first), number_text(a, type, v->last)};
        if (v->n > 0)
            paper_row(p, t, cells);
    }
}

#define CHART_VALUES 300

static struct block *put_metric_chart(struct paper *p, const struct summary *s,
                                      enum column_type type, const char *title,
                                      const double *values, size_t n)
{
    struct block *b = paper_chart(p, title, values, n);
    if (type == COLUMN_SHARE && b->top < 1)
        b->top = 1;
    b->low = "0";
    b->begin = time_text(&p->arena, s->first_us);
    b->end = time_text(&p->arena, s->last_us);
    b->high = number_text(&p->arena, type, b->top);
    return b;
}

static void put_charts(struct paper *p, const struct summary *s)
{
    double values[CHART_VALUES];
    struct arena *a = &p->arena;
    paper_heading(p, 2, "Over time");
    for (int i = 0; i < METRICS; i++) {
        const struct metric *m = &summary_metrics[i];
        const struct period_stats *v = &s->stats[i];
        size_t n = m->chart ? recording_series(s->input->recording, m->key, s->input->from,
                                               s->input->to, values, ARRAY_LEN(values))
                            : 0;
        if (n < 2)
            continue;
        put_metric_chart(p, s, m->type, m->title, values, n)->aside =
            arena_printf(a, "mean %s, max %s", number_text(a, m->type, v->mean),
                         number_text(a, m->type, v->max));
    }
}

static bool nobody_stands_out(const struct summary *s)
{
    for (int k = 0; k < OWNER_SORTS; k++)
        for (size_t i = 0; i < s->owners[k].n; i++)
            if (s->owners[k].items[i].owner.len > 0)
                return false;
    return true;
}

static void put_owners(struct paper *p, const struct summary *s)
{
    static const char *const by[OWNER_SORTS] = {"By application",     "By supervisor", "By module",
                                                "By registered name", "By label",      "By kin"};
    paper_heading(p, 2, "Who did the work");
    if (s->owners[0].n + s->owners[2].n == 0) /* neither applications nor modules */
        paper_put(p, "Owners of the work were not recorded.");
    else if (nobody_stands_out(s))
        paper_put(p, "No owner had 0.2%% of the reductions of a tick.");
    for (enum owner_sort k = 0; k < OWNER_SORTS; k++) {
        const struct owner_list rows = summary_owners(s, k, true, &p->arena);
        if (rows.n == 0 || (rows.n == 1 && s->owners[k].items[0].owner.len == 0))
            continue;
        paper_heading(p, 3, "%s", by[k]);
        paper_rows(p, &summary_owner_fields, rows.items, rows.n, sizeof *rows.items);
    }
    put_left_out(p, left_out_share(s), "");
    if (!nobody_stands_out(s))
        put_rest(p, leaves_us_out(s), 1);
}

static void put_calls(struct paper *p, const struct summary *s)
{
    struct arena *a = &p->arena;
    size_t n;
    const struct summary_call *rows = summary_calls(s, a, &n);
    paper_heading(p, 2, "Functions");
    if (n == 0) {
        paper_put(p, "No calls were counted while it was recorded.");
        return;
    }
    paper_put(p, "%s calls in windows of %s together, %s per second.",
              number_text(a, COLUMN_COUNT, (double)s->sums.calls),
              number_text(a, COLUMN_SECONDS, (double)s->sums.ns / 1e9),
              number_text(a, COLUMN_RATE, s->sums.calls_per_s));
    paper_rows(p, &summary_call_fields, rows, n, sizeof *rows);
    put_evaluating(p, evaluating_share(s));
}

static void put_traces(struct paper *p, const struct summary *s)
{
    bool several = false;
    if (s->n_patterns == 0)
        return;
    paper_heading(p, 2, "Traces");
    paper_rows(p, &summary_pattern_fields, s->patterns, s->n_patterns, sizeof *s->patterns);
    for (size_t i = 0; i < s->n_patterns; i++)
        several = several || s->patterns[i].traces > 1;
    if (several)
        paper_put(p, "Of several traces the times are those of the slowest.");
}

/* The series of a finding's evidence: a number of the node, a count in a fact, or the message queue
 * of the finding's process. */
static const struct evidence_series {
    const char *evidence, *key, *title;
    enum column_type type;
    const char *fact, *part; /* fact NULL: none; part NULL: of the row of the finding's process */
} evidence_series[] = {
    {"message_queue_len", NULL, "message queue", COLUMN_COUNT, NULL, NULL},
    {"processes", "processes", "processes", COLUMN_COUNT, NULL, NULL},
    {"atoms", "atoms", "atoms", COLUMN_COUNT, NULL, NULL},
    {"ports", "ports", "ports", COLUMN_COUNT, NULL, NULL},
    {"ets_tables", "ets_tables", "ETS tables", COLUMN_COUNT, NULL, NULL},
    {"memory_processes_bytes", "memory_processes_bytes", "memory of processes", COLUMN_BYTES, NULL,
     NULL},
    {"memory_binary_bytes", "memory_binary_bytes", "refc binaries", COLUMN_BYTES, NULL, NULL},
    {"memory_ets_bytes", "memory_ets_bytes", "ETS memory", COLUMN_BYTES, NULL, NULL},
    {"memory_atom_bytes", "memory_atom_bytes", "atom memory", COLUMN_BYTES, NULL, NULL},
    {"memory_code_bytes", "memory_code_bytes", "code", COLUMN_BYTES, NULL, NULL},
    {"memory_system_bytes", "memory_system_bytes", "memory of the system", COLUMN_BYTES, NULL,
     NULL},
    {"memory_total_bytes", "memory_total_bytes", "memory", COLUMN_BYTES, NULL, NULL},
    {"rss_bytes", "rss_bytes", "resident memory", COLUMN_BYTES, NULL, NULL},
    {"run_queue_mean", "run_queue", "run queue", COLUMN_COUNT, NULL, NULL},
    {"run_queue_highest_mean", "run_queue_highest", "longest run queue", COLUMN_COUNT, NULL, NULL},
    {"scheduler_utilisation", "scheduler_utilisation", "scheduler utilisation", COLUMN_SHARE, NULL,
     NULL},
    {"gcs_per_s", "gcs_per_s", "collections/s", COLUMN_RATE, NULL, NULL},
    {"timers", "timers", "timers", COLUMN_COUNT, "growth", "kept"},
    {"sockets", "count", "sockets", COLUMN_COUNT, "growth", "sockets"},
    {"monitors", "monitors", "monitors", COLUMN_COUNT, "monitors", NULL},
    {"monitored_by", "monitored_by", "monitors on it", COLUMN_COUNT, "monitors", NULL},
    {"links", "links", "links", COLUMN_COUNT, "monitors", NULL},
    {"bytes", "bytes", "beside its heaps", COLUMN_BYTES, "monitors", NULL},
};

static bool read_fact(const struct summary_input *in, const struct finding *f,
                      const struct evidence_series *t, int64_t tick, double *value)
{
    json_t *fact = fact_at(in->recording, t->fact, tick);
    const json_t *of =
        t->part ? json_object_get(fact, t->part) : fact_process(fact, slice_of(f->process));
    *value = fact_number(of, t->key);
    json_decref(fact);
    return !isnan(*value);
}

static size_t fact_series(const struct summary_input *in, const struct finding *f,
                          const struct evidence_series *t, double *values)
{
    const int64_t ticks = in->to - in->from;
    const int64_t steps = ticks < CHART_VALUES - 1 ? ticks : CHART_VALUES - 1;
    size_t n = 0;
    for (int64_t i = 0; steps > 0 && i <= steps; i++)
        n += read_fact(in, f, t, in->from + ticks * i / steps, &values[n]);
    return n;
}

static size_t series_of(const struct summary_input *in, const struct finding *f,
                        const struct evidence_series *t, double *values)
{
    if (t->fact)
        return fact_series(in, f, t, values);
    if (t->key)
        return recording_series(in->recording, t->key, in->from, in->to, values, CHART_VALUES);
    return recording_queue_series(in->recording, f->process, in->from, in->to, values,
                                  CHART_VALUES);
}

/* Puts one chart: of the first evidence that has a series. */
static void put_trend(struct paper *p, const struct summary *s, const struct finding *f)
{
    double values[CHART_VALUES];
    for (size_t k = 0; k < f->n_evidence; k++)
        for (size_t i = 0; i < ARRAY_LEN(evidence_series); i++) {
            const struct evidence_series *t = &evidence_series[i];
            const bool fits = strcmp(f->evidence[k].key, t->evidence) == 0;
            const size_t n = fits ? series_of(s->input, f, t, values) : 0;
            if (n < 2)
                continue;
            struct block *b = put_metric_chart(p, s, t->type, t->title, values, n);
            b->beside = true;
            b->aside = arena_printf(&p->arena, "%s to %s", number_text(&p->arena, t->type, *values),
                                    number_text(&p->arena, t->type, values[n - 1]));
            return;
        }
}

static void put_findings(struct paper *p, const struct summary *s)
{
    const struct findings *f = &s->findings;
    paper_heading(p, 2, "Findings");
    if (f->len == 0)
        paper_put(p, "No finding in this recording.");
    for (size_t i = 0; i < f->len; i++) {
        const struct finding *x = &f->items[i];
        paper_finding(
            p, finding_severity_word(x->severity),
            arena_printf(&p->arena, "%s, confidence %.0f%%%s%s", x->rule, x->confidence * 100,
                         x->severity == FINDING_NOTE ? "" : ", effort: ",
                         x->severity == FINDING_NOTE ? "" : finding_effort_word(x->effort)),
            x->title);
        put_trend(p, s, x);
        for (size_t k = 0; k < x->n_evidence; k++)
            paper_item(p, "%s", x->evidence[k].text);
        paper_item(p, "Action: %s.", x->action);
        paper_item(p, "Ruled out if: %s.", x->ruled_out_if);
    }
}

static void put_not_evaluated(struct paper *p, const struct summary *s)
{
    const struct findings *f = &s->findings;
    if (f->n_not_evaluated > 0)
        paper_heading(p, 2, "Not evaluated");
    for (size_t i = 0; i < f->n_not_evaluated; i++)
        paper_item(p, "%s", f->not_evaluated[i]);
}

/* Numbers first: the share of the work where there is one, else the first that the rule went by. */
static const char *impact_of(struct paper *p, const struct finding *f)
{
    if (!isnan(f->impact))
        return number_text(&p->arena, COLUMN_SHARE, f->impact);
    return "–";
}

static void put_actions(struct paper *p, const struct summary *s)
{
    static const char *const titles[] = {"",           "impact", "effort",
                                         "confidence", "action", "evidence"};
    struct block *t = NULL;
    for (size_t i = 0; i < s->findings.len; i++) {
        const struct finding *f = &s->findings.items[i];
        if (f->severity == FINDING_NOTE)
            continue;
        if (!t) {
            paper_heading(p, 2, "Actions");
            t = paper_table(p, titles, ARRAY_LEN(titles), "lrlrll");
        }
        const char *cells[] = {finding_severity_word(f->severity),
                               impact_of(p, f),
                               finding_effort_word(f->effort),
                               arena_printf(&p->arena, "%.0f%%", f->confidence * 100),
                               f->action,
                               f->n_evidence > 0 ? f->evidence[0].text : f->title};
        paper_row(p, t, cells);
    }
}

void summary_one(struct paper *p, const struct summary *s)
{
    put_one_head(p, s);
    put_findings(p, s);
    put_actions(p, s);
    put_node_numbers(p, s);
    put_owners(p, s);
    put_calls(p, s);
    samples_one(p, s);
    requests_one(p, s);
    events_one(p, s);
    put_traces(p, s);
    put_charts(p, s);
    put_not_evaluated(p, s);
}
