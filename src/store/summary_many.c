/* The comparison of several recordings: a column each, and what changed by more than noise. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "summary_internal.h"

#define ROWS_MOST 40

struct comparison {
    struct paper *paper;
    const struct summary *sessions;
    size_t n;
    const struct summary_options *options;
    struct block *changes;
    size_t within; /* changes that are no more than noise */
};

static bool same(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.s, b.s, a.len) == 0);
}

/* ---- the table of sessions */

static struct block *begin_table(struct comparison *c, const char *heading)
{
    const char **titles = arena_alloc(&c->paper->arena, (c->n + 1) * sizeof *titles);
    char *align = arena_alloc(&c->paper->arena, c->n + 2);
    paper_heading(c->paper, 2, "%s", heading);
    titles[0] = "";
    align[0] = 'l';
    for (size_t i = 0; i < c->n; i++) {
        titles[i + 1] = c->sessions[i].source->name;
        align[i + 1] = 'r';
    }
    return paper_table(c->paper, titles, c->n + 1, align);
}

static void put_row(struct comparison *c, struct block *t, const char *title, enum column_type type,
                    const double *values)
{
    const char *cells[PAPER_COLUMNS] = {title};
    for (size_t i = 0; i < c->n; i++)
        cells[i + 1] = number_text(&c->paper->arena, type, values[i]);
    paper_row(c->paper, t, cells);
}

static void put_text_row(struct comparison *c, struct block *t, const char *title,
                         const char *(*text)(struct arena *, const struct summary *))
{
    const char *cells[PAPER_COLUMNS] = {title};
    for (size_t i = 0; i < c->n; i++)
        cells[i + 1] = text(&c->paper->arena, &c->sessions[i]);
    paper_row(c->paper, t, cells);
}

static const char *begin_of(struct arena *a, const struct summary *s)
{
    const char *text = time_text(a, s->first_us); /* without seconds: columns are narrow */
    return strlen(text) > 16 ? arena_strndup(a, text, 16) : text;
}
static const char *node_of(struct arena *a, const struct summary *s)
{
    return arena_strdup(a, s->info->node);
}
static const char *duration_of(struct arena *a, const struct summary *s)
{
    return number_text(a, COLUMN_SECONDS, s->duration_s);
}
static const char *ticks_of(struct arena *a, const struct summary *s)
{
    return arena_printf(a, "%lld", (long long)s->ticks);
}

/* ---- changes: each session against the one before it */

static void put_change(struct comparison *c, const char *what, enum column_type type, size_t at,
                       const struct change *change)
{
    static const char *const titles[] = {"what", "from", "to", "was", "is", "change", "noise"};
    struct arena *a = &c->paper->arena;
    if (!change->real) {
        c->within += change->known;
        return;
    }
    if (!c->changes) {
        paper_heading(c->paper, 2, "What changed");
        c->changes = paper_table(c->paper, titles, ARRAY_LEN(titles), "lllrrrr");
    }
    double difference = change->after - change->before;
    const char *by = change->before != 0 && type != COLUMN_SHARE
                         ? arena_printf(a, "%+.1f %%", 100 * difference / fabs(change->before))
                         : type == COLUMN_SHARE
                               ? arena_printf(a, "%+.1f points", 100 * difference)
                               : number_text(a, type, difference);
    const char *cells[] = {what, c->sessions[at - 1].source->name, c->sessions[at].source->name,
                           number_text(a, type, change->before), number_text(a, type, change->after),
                           by, arena_printf(a, "± %s", number_text(a, type, change->noise))};
    paper_row(c->paper, c->changes, cells);
}

static void put_metrics(struct comparison *c)
{
    struct block *t = begin_table(c, "Sessions (means, where nothing else is said)");
    put_text_row(c, t, "node", node_of);
    put_text_row(c, t, "begun", begin_of);
    put_text_row(c, t, "duration", duration_of);
    put_text_row(c, t, "ticks", ticks_of);
    for (int m = 0; m < METRICS; m++) {
        double mean[SESSIONS_MOST], p95[SESSIONS_MOST], max[SESSIONS_MOST];
        bool any = false;
        for (size_t i = 0; i < c->n; i++) {
            const struct span_stats *v = &c->sessions[i].stats[m];
            mean[i] = v->mean;
            p95[i] = v->p95;
            max[i] = v->max;
            any = any || v->n > 0;
        }
        const char *title = summary_metrics[m].title;
        enum column_type type = summary_metrics[m].type;
        if (any)
            put_row(c, t, title, type, mean);
        if (any && strcmp(summary_metrics[m].key, "run_queue") == 0) {
            put_row(c, t, "run queue, p95", type, p95);
            put_row(c, t, "run queue, max", type, max);
        }
    }
}

/* ---- owners */

static const struct span_owner *owner_in(const struct summary *s, int kind, struct slice name)
{
    for (size_t i = 0; i < s->n_owners[kind]; i++)
        if (same(s->owners[kind][i].owner, name))
            return &s->owners[kind][i];
    return NULL;
}

/* The leaders of any session, in the order in which they are met. */
static size_t leaders(const struct comparison *c, int kind, struct slice *names)
{
    size_t n = 0, each = c->options->owners ? c->options->owners : 8;
    for (size_t i = 0; i < c->n; i++) {
        const struct summary *s = &c->sessions[i];
        for (size_t k = 0; k < s->n_owners[kind] && k < each; k++) {
            struct slice name = s->owners[kind][k].owner;
            bool known = name.len == 0 || s->owners[kind][k].share < 0.01;
            for (size_t x = 0; x < n; x++)
                known = known || same(names[x], name);
            if (!known && n < ROWS_MOST)
                names[n++] = name;
        }
    }
    return n;
}

static void put_owners(struct comparison *c, int kind)
{
    static const char *const by[OWNER_KINDS] = {
        "Share of the work by application", "Share of the work by module",
        "Share of the work by registered name", "Share of the work by label"};
    struct slice names[ROWS_MOST];
    size_t n = leaders(c, kind, names);
    struct block *t = n > 0 ? begin_table(c, by[kind]) : NULL;
    for (size_t k = 0; k < n; k++) {
        double shares[SESSIONS_MOST];
        for (size_t i = 0; i < c->n; i++) {
            const struct span_owner *o = owner_in(&c->sessions[i], kind, names[k]);
            shares[i] = o ? o->share : c->sessions[i].n_owners[kind] > 0 ? 0 : (double)NAN;
        }
        put_row(c, t, slice_text(&c->paper->arena, names[k]), COLUMN_SHARE, shares);
    }
}

/* ---- functions */

static const struct recorded_call *call_in(const struct summary *s, const struct recorded_call *like)
{
    for (size_t i = 0; i < s->n_calls; i++)
        if (same(s->calls[i].module, like->module) && same(s->calls[i].function, like->function) &&
            s->calls[i].arity == like->arity)
            return &s->calls[i];
    return NULL;
}

static size_t leading_calls(const struct comparison *c, const struct recorded_call **out)
{
    size_t n = 0, each = c->options->functions ? c->options->functions : 10;
    for (size_t i = 0; i < c->n; i++) {
        const struct summary *s = &c->sessions[i];
        for (size_t k = 0; k < s->n_calls && k < each && n < ROWS_MOST; k++) {
            bool known = false;
            for (size_t x = 0; x < n && !known; x++)
                known = same(out[x]->module, s->calls[k].module) &&
                        same(out[x]->function, s->calls[k].function) &&
                        out[x]->arity == s->calls[k].arity;
            if (!known)
                out[n++] = &s->calls[k];
        }
    }
    return n;
}

static void put_calls(struct comparison *c)
{
    const struct recorded_call *calls[ROWS_MOST];
    size_t n = leading_calls(c, calls);
    struct block *t = n > 0 ? begin_table(c, "Calls in a second") : NULL;
    for (size_t k = 0; k < n; k++) {
        double rates[SESSIONS_MOST];
        for (size_t i = 0; i < c->n; i++) {
            const struct recorded_call *call = call_in(&c->sessions[i], calls[k]);
            double seconds = (double)c->sessions[i].sums.ns / 1e9;
            rates[i] = call && seconds > 0 ? (double)call->calls / seconds : (double)NAN;
        }
        put_row(c, t, call_text(&c->paper->arena, calls[k]), COLUMN_RATE, rates);
    }
}

/* ---- findings */

static const struct finding *finding_in(const struct summary *s, const char *rule)
{
    for (size_t i = 0; i < s->findings.len; i++)
        if (strcmp(s->findings.items[i].rule, rule) == 0)
            return &s->findings.items[i];
    return NULL;
}

static bool not_known_in(const struct summary *s, const char *rule)
{
    size_t len = strlen(rule);
    for (size_t i = 0; i < s->findings.n_not_known; i++)
        if (strncmp(s->findings.not_known[i], rule, len) == 0 && s->findings.not_known[i][len] == ':')
            return true;
    return false;
}

static const char *judged(struct comparison *c, const struct summary *s, const char *rule)
{
    const struct finding *f = finding_in(s, rule);
    if (!f)
        return not_known_in(s, rule) ? "not known" : "";
    if (isnan(f->impact))
        return severity_word(f->severity);
    return arena_printf(&c->paper->arena, "%s, %s", severity_word(f->severity),
                        number_text(&c->paper->arena, COLUMN_SHARE, f->impact));
}

static void put_findings(struct comparison *c)
{
    struct block *t = begin_table(c, "Findings");
    for (size_t r = 0; rule_list[r]; r++) {
        const char *cells[PAPER_COLUMNS] = {rule_list[r]->title};
        bool any = false;
        for (size_t i = 0; i < c->n; i++) {
            cells[i + 1] = judged(c, &c->sessions[i], rule_list[r]->key);
            any = any || finding_in(&c->sessions[i], rule_list[r]->key) != NULL;
        }
        if (any)
            paper_row(c->paper, t, cells);
    }
    for (size_t i = 0; i < c->n; i++) {
        const struct summary *s = &c->sessions[i];
        for (size_t k = 0; k < s->findings.len; k++)
            if (s->findings.items[k].severity == FINDING_ACT)
                paper_item(c->paper, "%s: %s. What to do: %s.", s->source->name,
                           s->findings.items[k].title, s->findings.items[k].action);
    }
}

/* ---- what changed */

static void compare_metrics(struct comparison *c, size_t at)
{
    for (int m = 0; m < METRICS; m++) {
        const struct span_stats *a = &c->sessions[at - 1].stats[m], *b = &c->sessions[at].stats[m];
        struct change change = change_of(a->mean, a->stddev, (double)a->n, b->mean, b->stddev,
                                         (double)b->n);
        put_change(c, summary_metrics[m].title, summary_metrics[m].type, at, &change);
    }
}

static void compare_owners(struct comparison *c, int kind, size_t at)
{
    static const struct span_owner none;
    struct slice names[ROWS_MOST];
    size_t n = leaders(c, kind, names);
    const struct summary *a = &c->sessions[at - 1], *b = &c->sessions[at];
    if (a->n_owners[kind] == 0 || b->n_owners[kind] == 0)
        return;
    for (size_t k = 0; k < n; k++) {
        const struct span_owner *x = owner_in(a, kind, names[k]), *y = owner_in(b, kind, names[k]);
        x = x ? x : &none;
        y = y ? y : &none;
        struct change change = change_of(x->share, x->share_stddev, (double)a->ticks, y->share,
                                         y->share_stddev, (double)b->ticks);
        put_change(c, arena_printf(&c->paper->arena, "share of %s %s", summary_owner_keys[kind],
                                   slice_text(&c->paper->arena, names[k])), COLUMN_SHARE, at, &change);
    }
}

static void put_changes(struct comparison *c)
{
    for (size_t at = 1; at < c->n; at++) {
        compare_metrics(c, at);
        for (int kind = 0; kind < OWNER_KINDS; kind++)
            compare_owners(c, kind, at);
    }
    if (!c->changes)
        paper_heading(c->paper, 2, "What changed");
    paper_put(c->paper, "%s%zu %s within the variation between ticks. A difference counts when it is "
                        "larger than three standard errors (deviation of the ticks over the root of their "
                        "number, of both sessions together) and than one percent.",
              c->changes ? "" : "Nothing by more than noise: ", c->within,
              c->within == 1 ? "other number is" : "other numbers are");
}

void summary_many(struct paper *p, const struct summary *s, size_t n,
                  const struct summary_options *o)
{
    struct comparison c = {.paper = p, .sessions = s, .n = n, .options = o};
    p->title = arena_printf(&p->arena, "beamtop: %zu recordings compared", n);
    paper_heading(p, 1, "%zu recordings compared", n);
    put_metrics(&c);
    for (int kind = 0; kind < OWNER_KINDS; kind++)
        put_owners(&c, kind);
    put_calls(&c);
    put_changes(&c);
    put_findings(&c);
}
