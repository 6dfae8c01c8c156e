/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captured causal spans in reports: how long requests take, and what they wait for. */
#include <string.h>

#include "beamtop/output/json.h"
#include "summary_internal.h"

#define FUNCTIONS_SHOWN 3 /* root functions whose paths are shown */

static const char *count_text(struct arena *a, double n)
{
    return number_text(a, COLUMN_COUNT, n);
}

static const char *time_of(struct arena *a, double ns)
{
    return number_text(a, COLUMN_SECONDS, ns / 1e9);
}

static const char *outcomes_text(struct arena *a, const struct requests_of *of)
{
    const char *text = "";
    for (enum span_outcome k = 0; k < SPAN_OUTCOMES; k++)
        if (of->outcomes[k] > 0)
            text = arena_printf(a, "%s%s%lld %s", text, *text ? ", " : "",
                                (long long)of->outcomes[k], span_outcome_key(k));
    return text;
}

/* Requests that were not captured, or not to their end. */
static void put_lost_captures(struct paper *p, const struct requests *q)
{
    struct arena *a = &p->arena;
    const int64_t early = requests_early(q);
    const char *text = "";
    if (q->lost > 0)
        paper_put(p, "%lld of %lld captures failed: %s.", (long long)q->lost,
                  (long long)(q->lost + q->captures), q->lost_why);
    for (enum spans_end k = 0; k < SPANS_ENDS; k++)
        if (q->ends[k] > 0 && k != SPANS_END_ROOTS && k != SPANS_END_TIME && k != SPANS_END_STOPPED)
            text = arena_printf(a, "%s%s%lld %s", text, *text ? ", " : "", (long long)q->ends[k],
                                spans_end_key(k));
    if (early > 0)
        paper_put(p, "%lld %s ended early: %s.", (long long)early,
                  early == 1 ? "capture" : "captures", text);
}

static void put_requests_head(struct paper *p, const struct requests *q)
{
    struct arena *a = &p->arena;
    paper_put(p, "%s %s in %lld %s of causal spans, %s events%s%s.",
              count_text(a, (double)q->roots), q->roots == 1 ? "request" : "requests",
              (long long)q->captures, q->captures == 1 ? "capture" : "captures",
              count_text(a, q->events), q->skipped > 0 ? "; skipped " : "",
              q->skipped > 0 ? count_text(a, q->skipped) : "");
    if (q->light > 0)
        paper_put(p,
                  "%lld of the captures %s light: CPU time, preemption and waits that are not for "
                  "a reply are unknown there, and “self” has them.",
                  (long long)q->light, q->light == 1 ? "is" : "are");
    if (q->left_out > 0)
        paper_put(p, "%s requests of further functions are left out.",
                  count_text(a, (double)q->left_out));
}

static void put_root_functions(struct paper *p, const struct requests *q)
{
    static const char *const titles[] = {"request", "roots", "median", "p99", "max", "outcomes"};
    struct arena *a = &p->arena;
    struct block *t = paper_table(p, titles, ARRAY_LEN(titles), "lrrrrl");
    for (size_t i = 0; i < q->n && i < SHOWN; i++) {
        const struct requests_of *of = &q->list[i];
        const char *cells[] = {
            slice_text(a, of->operation),           count_text(a, (double)of->roots),
            time_of(a, requests_quantile(of, 0.5)), time_of(a, requests_quantile(of, 0.99)),
            time_of(a, requests_quantile(of, 1)),   outcomes_text(a, of)};
        paper_row(p, t, cells);
    }
}

static const char *what_text(struct arena *a, const struct request_part *part)
{
    const char *key = span_step_key(part->kind);
    return part->at.len > 0 ? arena_printf(a, "%s %s", key, slice_text(a, part->at)) : key;
}

static void put_root_path(struct paper *p, const struct requests_of *of)
{
    static const char *const titles[] = {"process", "operation", "what", "share", "a request"};
    struct arena *a = &p->arena;
    const double n = (double)of->n_durations;
    double shown = 0;
    size_t i;
    paper_heading(p, 3, "Critical path of %s, mean of %s", slice_text(a, of->operation),
                  count_text(a, n));
    struct block *t = paper_table(p, titles, ARRAY_LEN(titles), "lllrr");
    for (i = 0; i < of->n_parts && i < SHOWN; i++) {
        const struct request_part *part = &of->parts[i];
        const char *cells[] = {part->own ? "the request itself" : slice_text(a, part->process),
                               slice_text(a, part->operation), what_text(a, part),
                               number_text(a, COLUMN_SHARE, part->ns / of->ns),
                               time_of(a, part->ns / n)};
        shown += part->ns;
        paper_row(p, t, cells);
    }
    if (i < of->n_parts || of->left_out_ns > 0) {
        const char *cells[] = {"all others", "", "",
                               number_text(a, COLUMN_SHARE, (of->ns - shown) / of->ns),
                               time_of(a, (of->ns - shown) / n)};
        paper_row(p, t, cells);
    }
}

void requests_one(struct paper *p, const struct summary *s)
{
    const struct requests *q = &s->requests;
    if (q->captures == 0 && q->lost == 0)
        return;
    paper_heading(p, 2, "Where requests wait");
    if (q->captures > 0)
        put_requests_head(p, q);
    put_lost_captures(p, q);
    if (q->n == 0)
        return;
    put_root_functions(p, q);
    for (size_t i = 0; i < q->n && i < FUNCTIONS_SHOWN; i++)
        if (q->list[i].ns > 0)
            put_root_path(p, &q->list[i]);
}

/* ---- JSON */

static json_t *json_path(const struct requests_of *of)
{
    json_t *list = json_array();
    for (size_t i = 0; i < of->n_parts && i < SHOWN; i++) {
        const struct request_part *part = &of->parts[i];
        json_t *o = json_object();
        json_set(o, "process", json_slice(part->process));
        json_set(o, "operation", json_slice(part->operation));
        json_set(o, "kind", json_string(span_step_key(part->kind)));
        json_set(o, "at", json_slice(part->at));
        json_set(o, "share", json_number(part->ns / of->ns));
        json_set(o, "mean_us", json_number(part->ns / 1e3 / (double)of->n_durations));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *json_function(const struct requests_of *of)
{
    json_t *o = json_object(), *outcomes = json_object();
    for (enum span_outcome k = 0; k < SPAN_OUTCOMES; k++)
        if (of->outcomes[k] > 0)
            json_set(outcomes, span_outcome_key(k), json_integer(of->outcomes[k]));
    json_set(o, "operation", json_slice(of->operation));
    json_set(o, "roots", json_integer(of->roots));
    json_set(o, "outcomes", outcomes);
    json_set(o, "median_us", json_number(requests_quantile(of, 0.5) / 1e3));
    json_set(o, "p99_us", json_number(requests_quantile(of, 0.99) / 1e3));
    json_set(o, "max_us", json_number(requests_quantile(of, 1) / 1e3));
    json_set(o, "path", json_path(of));
    return o;
}

json_t *requests_json(const struct summary *s)
{
    const struct requests *q = &s->requests;
    if (q->captures == 0 && q->lost == 0)
        return json_null();
    json_t *o = json_object(), *list = json_array();
    for (size_t i = 0; i < q->n && i < SHOWN; i++)
        json_array_append_new(list, json_function(&q->list[i]));
    json_set(o, "captures", json_integer(q->captures));
    json_set(o, "light", json_integer(q->light));
    json_set(o, "roots", json_integer(q->roots));
    json_set(o, "events", json_number(q->events));
    json_set(o, "skipped", json_number(q->skipped));
    json_set(o, "lost", json_integer(q->lost));
    json_set(o, "lost_why", q->lost_why ? json_string(q->lost_why) : json_null());
    json_set(o, "ended_early", json_integer(requests_early(q)));
    json_set(o, "requests", list);
    return o;
}
