/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The comparison of nodes that were recorded at the same time: findings of all as one list, what
 * differs between nodes, and which settings of a node are not those of most. */
#include <math.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/output/json.h"
#include "summary_internal.h"

/* ---- findings: those of one rule with the same words are one */

bool finding_is_like(const struct finding *a, const struct finding *b)
{
    return strcmp(a->rule, b->rule) == 0 && a->severity == b->severity &&
           summary_same_words(a->title, b->title);
}

/* NULL: the node has none. */
static const struct finding *like_finding(const struct summary *s, const struct finding *f)
{
    for (size_t i = 0; i < s->findings.len; i++)
        if (finding_is_like(&s->findings.items[i], f))
            return &s->findings.items[i];
    return NULL;
}

/* False: a node before has it. */
static bool gather_finding(struct shared_finding *out, const struct summary *s, size_t n, size_t at,
                           const struct finding *f, struct arena *a)
{
    *out = (struct shared_finding){f, &s[at], arena_alloc(a, n * sizeof *out->nodes), 0};
    for (size_t i = 0; i < n; i++) {
        const struct finding *like = like_finding(&s[i], f);
        if (like && i < at)
            return false;
        if (!like)
            continue;
        out->nodes[out->n++] = &s[i];
        if (like->impact > out->worst->impact) {
            out->worst = like;
            out->of = &s[i];
        }
    }
    return out->n > 0 && like_finding(&s[at], f) == f;
}

static const char *names_of(const struct shared_finding *f, struct arena *a)
{
    const char *names = f->nodes[0]->input->name;
    for (size_t i = 1; i < f->n; i++)
        names = arena_printf(a, "%s, %s", names, f->nodes[i]->input->name);
    return names;
}

/* A node that left and came back may have several recordings. */
static const char *word_of_many(const struct summary *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(s[i].input->name, s[k].input->name) == 0)
                return "recordings";
    return "nodes";
}

static void put_finding(struct paper *p, const struct shared_finding *f, size_t n, const char *many)
{
    const struct finding *worst = f->worst;
    paper_item(p, "on %zu of %zu %s: %s (%s: %s): %s%s%s. %s%s.", f->n, n, many, worst->rule,
               finding_severity_word(worst->severity), names_of(f, &p->arena), worst->title,
               f->n > 1 ? ", in " : "", f->n > 1 ? f->of->input->name : "",
               worst->severity == FINDING_NOTE ? "" : "Action: ", worst->action);
}

void findings_share(const struct summary *s, size_t n, enum finding_severity severity,
                    struct arena *a, void (*put)(void *arg, const struct shared_finding *f),
                    void *arg)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < s[i].findings.len; k++) {
            struct shared_finding f;
            if (s[i].findings.items[k].severity == severity &&
                gather_finding(&f, s, n, i, &s[i].findings.items[k], a))
                put(arg, &f);
        }
}

struct nodes_paper {
    struct paper *paper;
    size_t n;
    const char *many;
};

static void put_shared(void *arg, const struct shared_finding *f)
{
    const struct nodes_paper *p = arg;
    put_finding(p->paper, f, p->n, p->many);
}

void findings_put_shared(struct paper *p, const struct summary *s, size_t n)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += s[i].findings.len;
    if (all == 0)
        paper_put(p, "None on any node.");
    for (int severity = FINDING_ACT; severity >= FINDING_NOTE; severity--)
        findings_share(s, n, (enum finding_severity)severity, &p->arena, put_shared,
                       &(struct nodes_paper){p, n, word_of_many(s, n)});
}

/* ---- what differs */

struct extremes {
    const struct summary *least, *most;
    struct change change; /* from the one to the other */
};

/* False: fewer than two nodes have it, or they do not differ by more than ticks vary. */
static bool find_extremes(struct extremes *out, const struct subject *of, const struct summary *s,
                          size_t n)
{
    double least = NAN, most = NAN;
    *out = (struct extremes){0};
    for (size_t i = 0; i < n; i++) {
        const double value = subject_mean(&s[i], of).value;
        if (isnan(value))
            continue;
        if (isnan(least) || value < least) {
            least = value;
            out->least = &s[i];
        }
        if (isnan(most) || value > most) {
            most = value;
            out->most = &s[i];
        }
    }
    if (!out->least || out->least == out->most ||
        !subject_change(of, out->least, out->most, &out->change) || !out->change.real)
        return false;
    return of->type != COLUMN_SHARE || out->change.after - out->change.before >= 0.01;
}

static void put_spread(struct paper *p, const struct summary *s, size_t n)
{
    static const char *const titles[] = {"", "least", "on", "most", "on", "noise"};
    struct subjects subjects = {.arena = &p->arena, .owners = 8, .least = 0.01};
    struct block *t = NULL;
    subjects_find(&subjects, s, n);
    paper_heading(p, 2, "What differs");
    for (size_t i = 0; i < subjects.n; i++) {
        const struct subject *of = &subjects.items[i];
        struct extremes e;
        if (!find_extremes(&e, of, s, n))
            continue;
        t = t ? t : paper_table(p, titles, ARRAY_LEN(titles), "lrlrlr");
        const char *cells[] = {of->title,
                               number_text(&p->arena, of->type, e.change.before),
                               e.least->input->name,
                               number_text(&p->arena, of->type, e.change.after),
                               e.most->input->name,
                               number_text(&p->arena, of->type, e.change.noise)};
        paper_row(p, t, cells);
    }
    paper_put(p, t ? "The nodes with the least and the most of what differs between them by more "
                     "than three standard errors (deviation of the ticks), one percent, and of "
                     "shares one point."
                   : "No number differs between nodes by more than ticks vary.");
}

/* ---- the nodes */

static void put_nodes(struct paper *p, const struct summary *s, size_t n)
{
    static const char *const titles[] = {"node", "OTP",   "begun", "duration",  "ticks",
                                         "gaps", "ended", "clock", "at the end"};
    paper_heading(p, 2, "Nodes");
    struct block *t = paper_table(p, titles, ARRAY_LEN(titles), "lllrrrlll");
    for (size_t i = 0; i < n; i++) {
        const struct summary_input *input = s[i].input;
        const char *cells[] = {input->name,
                               s[i].info->otp,
                               time_text(&p->arena, s[i].first_us),
                               number_text(&p->arena, COLUMN_SECONDS, s[i].duration_s),
                               arena_printf(&p->arena, "%lld", (long long)s[i].ticks),
                               arena_printf(&p->arena, "%lld", (long long)s[i].gaps),
                               *s[i].info->end ? s[i].info->end : "cut off",
                               input->clock_begin ? input->clock_begin : "–",
                               input->clock_end ? input->clock_end : "–"};
        paper_row(p, t, cells);
    }
}

void summary_nodes(struct paper *p, const struct summary *s, size_t n)
{
    const char *many = word_of_many(s, n);
    p->title = arena_printf(&p->arena, "beamtop: %zu %s compared", n, many);
    paper_heading(p, 1, "%zu %s compared", n, many);
    put_nodes(p, s, n);
    paper_heading(p, 2, "Findings");
    findings_put_shared(p, s, n);
    put_spread(p, s, n);
    state_nodes(p, s, n);
}

/* ---- JSON */

json_t *findings_shared_json(const struct shared_finding *f)
{
    json_t *o = json_object(), *nodes = json_array();
    for (size_t i = 0; i < f->n; i++)
        json_array_append_new(nodes, json_chars(f->nodes[i]->input->name));
    json_set(o, "rule", json_chars(f->worst->rule));
    json_set(o, "severity", json_chars(finding_severity_value(f->worst->severity)));
    json_set(o, "title", json_chars(f->worst->title));
    json_set(o, "action", json_chars(f->worst->action));
    json_set(o, "of", json_chars(f->of->input->name));
    json_set(o, "nodes", nodes);
    return o;
}

static void add_shared(void *arg, const struct shared_finding *f)
{
    json_array_append_new(arg, findings_shared_json(f));
}

static json_t *shared_json(const struct summary *s, size_t n)
{
    json_t *list = json_array();
    struct arena arena;
    arena_init(&arena);
    for (int severity = FINDING_ACT; severity >= FINDING_NOTE; severity--)
        findings_share(s, n, (enum finding_severity)severity, &arena, add_shared, list);
    arena_clear(&arena);
    return list;
}

static json_t *spread_json(const struct summary *s, size_t n)
{
    json_t *list = json_array();
    struct arena arena;
    struct subjects subjects = {.arena = &arena, .owners = SHOWN, .least = 0.01};
    arena_init(&arena);
    subjects_find(&subjects, s, n);
    for (size_t i = 0; i < subjects.n; i++) {
        struct extremes e;
        if (!find_extremes(&e, &subjects.items[i], s, n))
            continue;
        json_t *o = json_object();
        json_set(o, "what", json_chars(subjects.items[i].what));
        json_set(o, "by", subjects.items[i].by ? json_chars(subjects.items[i].by) : json_null());
        json_set(o, "least", json_number(e.change.before));
        json_set(o, "least_node", json_chars(e.least->input->name));
        json_set(o, "most", json_number(e.change.after));
        json_set(o, "most_node", json_chars(e.most->input->name));
        json_set(o, "noise", json_number(e.change.noise));
        json_array_append_new(list, o);
    }
    arena_clear(&arena);
    return list;
}

void summary_nodes_json(json_t *root, const struct summary *s, size_t n)
{
    json_set(root, "findings", shared_json(s, n));
    json_set(root, "spread", spread_json(s, n));
    json_set(root, "settings", state_nodes_json(s, n));
}
