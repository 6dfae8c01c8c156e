/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as JSON: one object of one recording, or one with `recordings` and `changes`
 * (docs/json.md). */
#include <math.h>
#include <string.h>

#include "beamtop/output/json.h"
#include "summary_internal.h"

static json_t *stats_json(const struct summary *s)
{
    json_t *all = json_object();
    for (int i = 0; i < METRICS; i++) {
        const struct period_stats *v = &s->stats[i];
        json_t *o = json_object();
        json_set(o, "mean", json_number(v->mean));
        json_set(o, "p95", json_number(v->p95));
        json_set(o, "min", json_number(v->min));
        json_set(o, "max", json_number(v->max));
        json_set(o, "first", json_number(v->first));
        json_set(o, "last", json_number(v->last));
        json_set(o, "stddev", json_number(v->stddev));
        json_set(o, "ticks", json_integer(v->n));
        json_set(all, summary_metrics[i].key, o);
    }
    return all;
}

static json_t *owners_json(const struct summary *s)
{
    json_t *all = json_object();
    struct arena arena;
    arena_init(&arena);
    for (enum owner_sort k = 0; k < OWNER_SORTS; k++) {
        const struct owner_list rows = summary_owners(s, k, false, &arena);
        json_set(all, owner_sort_keys[k],
                 json_rows(&summary_owner_fields, rows.items, rows.n, sizeof *rows.items));
    }
    arena_clear(&arena);
    return all;
}

static json_t *json_calls(const struct summary *s)
{
    json_t *all = json_object();
    struct arena arena;
    size_t n;
    arena_init(&arena);
    const struct summary_call *rows = summary_calls(s, &arena, &n);
    json_set(all, "windows", json_integer(s->sums.windows));
    json_set(all, "calls", s->sums.ns > 0 ? json_integer(s->sums.calls) : json_null());
    json_set(all, "counted_s", json_number((double)s->sums.ns / 1e9));
    json_set(all, "lost", json_integer(s->sums.lost));
    json_set(all, "functions", json_rows(&summary_call_fields, rows, n, sizeof *rows));
    arena_clear(&arena);
    return all;
}

static json_t *finding_json(const struct finding *f)
{
    json_t *o = json_object(), *evidence = json_array();
    for (const struct evidence *e = f->evidence; e < f->evidence + f->n_evidence; e++)
        json_array_append_new(evidence,
                              json_pack("{s:o,s:o,s:o,s:o}", "key", json_chars(e->key), "value",
                                        json_number(e->value), "unit", json_chars(e->unit), "text",
                                        json_chars(e->text)));
    json_set(o, "rule", json_chars(f->rule));
    json_set(o, "severity", json_chars(finding_severity_value(f->severity)));
    json_set(o, "effort", json_chars(finding_effort_word(f->effort)));
    json_set(o, "confidence", json_number(f->confidence));
    json_set(o, "impact", json_number(f->impact));
    json_set(o, "title", json_chars(f->title));
    json_set(o, "action", json_chars(f->action));
    json_set(o, "ruled_out_if", json_chars(f->ruled_out_if));
    json_set(o, "subject", json_chars(f->subject));
    json_set(o, "evidence", evidence);
    return o;
}

static void add_findings(json_t *o, const struct summary *s)
{
    json_t *found = json_array(), *unknown = json_array(), *marks = json_array();
    for (size_t i = 0; i < s->findings.len; i++)
        json_array_append_new(found, finding_json(&s->findings.items[i]));
    for (size_t i = 0; i < s->findings.n_not_evaluated; i++) {
        const char *line = s->findings.not_evaluated[i], *colon = strstr(line, ": ");
        const struct slice rule = {line, (size_t)(colon - line)};
        json_array_append_new(unknown, json_pack("{s:o,s:o}", "rule", json_slice(rule), "why",
                                                 json_chars(colon + 2)));
    }
    for (const struct recording_mark *m = s->marks; m < s->marks + s->n_marks; m++)
        json_array_append_new(marks, json_pack("{s:I,s:o}", "wall_us", (json_int_t)m->wall_us,
                                               "text", json_chars(m->text)));
    json_set(o, "marks", marks);
    json_set(o, "findings", found);
    json_set(o, "not_evaluated", unknown);
    json_set(o, "calls_refused",
             s->findings.calls_refused ? json_chars(s->findings.calls_refused) : json_null());
}

static void add_recording(json_t *o, const struct summary *s)
{
    json_set(o, "name", json_chars(s->input->name));
    json_set(o, "node", json_chars(s->info->node));
    json_set(o, "otp", json_chars(s->info->otp));
    json_set(o, "label", json_chars(s->info->label));
    json_set(o, "end", json_chars(s->info->end));
    json_set(o, "from_us", json_known(s->first_us));
    json_set(o, "to_us", json_known(s->last_us));
    json_set(o, "duration_s", json_number(s->duration_s));
    json_set(o, "interval_s", json_number(s->info->interval_s));
    json_set(o, "ticks", json_integer(s->ticks));
    json_set(o, "gaps", json_integer(s->gaps));
    json_set(o, "cost",
             json_pack("{s:o,s:o}", "share", json_number(s->cost.share), "bytes",
                       json_number(s->cost.bytes)));
    json_set(o, "redacted", json_boolean(s->info->redacted));
    json_set(o, "thinned", json_boolean(s->info->thinned));
    json_set(o, "system", stats_json(s));
    json_set(o, "owners", owners_json(s));
    json_set(o, "calls", json_calls(s));
    json_set(o, "samples", samples_json(s, OF_CPU));
    json_set(o, "samples_at_yields", samples_json(s, AT_YIELDS));
    json_set(o, "spans", requests_json(s));
    json_set(o, "system_events", events_json(s));
    json_set(o, "traces",
             json_rows(&summary_pattern_fields, s->patterns, s->n_patterns, sizeof *s->patterns));
    add_findings(o, s);
}

/* ---- several */

static json_t *json_change(const struct subject *of, const struct summary *a,
                           const struct summary *b, const struct change *c)
{
    json_t *o = json_object();
    json_set(o, "what", json_chars(of->what));
    json_set(o, "by", of->by ? json_chars(of->by) : json_null());
    json_set(o, "from", json_chars(a->input->name));
    json_set(o, "to", json_chars(b->input->name));
    json_set(o, "before", json_number(c->before));
    json_set(o, "after", json_number(c->after));
    json_set(o, "noise", json_number(c->noise));
    json_set(o, "significant", c->known ? json_boolean(c->real) : json_null());
    return o;
}

static json_t *changes_json(const struct summary *s, size_t n)
{
    json_t *list = json_array();
    for (size_t at = 1; at < n; at++) {
        struct arena arena;
        struct subjects subjects = {.arena = &arena, .owners = SHOWN, .least = NAN};
        struct change c;
        arena_init(&arena);
        subjects_find(&subjects, &s[at - 1], 2);
        for (size_t i = 0; i < subjects.n; i++)
            if (subject_change(&subjects.items[i], &s[at - 1], &s[at], &c))
                json_array_append_new(list,
                                      json_change(&subjects.items[i], &s[at - 1], &s[at], &c));
        arena_clear(&arena);
    }
    return list;
}

json_t *summary_recording_json(const struct summary *s)
{
    json_t *each = json_object();
    add_recording(each, s);
    json_set(each, "not_recorded", state_missing_json(s));
    return each;
}

static json_t *recordings_json(const struct summary *s, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, summary_recording_json(&s[i]));
    return list;
}

void summary_json(struct buf *out, const struct summary *s, size_t n,
                  const struct summary_options *options)
{
    json_t *root = json_object();
    const char *schema = n == 1           ? "beamtop.report/2"
                         : options->pairs ? "beamtop.nodes_diff/1"
                         : options->nodes ? "beamtop.nodes_report/1"
                                          : "beamtop.diff/2";
    json_set(root, "schema", json_chars(schema));
    if (n == 1)
        add_recording(root, s);
    else if (!options->pairs)
        json_set(root, "recordings", recordings_json(s, n));
    if (options->pairs) {
        summary_pairs_json(root, s, n, options->pairs);
    } else if (n > 1 && options->nodes) {
        summary_nodes_json(root, s, n);
    } else if (n > 1) {
        json_set(root, "changes", changes_json(s, n));
        json_set(root, "differences", state_json(s, n));
    }
    json_put_line(out, root);
}
