/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that were recorded twice: what changed on each, in one list, with the nodes on which it
 * did. Recordings are pairs, before and after. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/output/json.h"
#include "summary_internal.h"

#define NAMED_MOST 6     /* nodes, for people */
#define SHOWN_MOST 12    /* differences of a kind, for people */
#define LISTED_MOST 1000 /* of a kind and a node */

struct pairs {
    const struct summary *recordings;
    size_t n; /* nodes */
    const struct summary_pairs *of;
};

static const struct summary *before_of(const struct pairs *p, size_t node)
{
    return &p->recordings[2 * node];
}

static const struct summary *after_of(const struct pairs *p, size_t node)
{
    return &p->recordings[2 * node + 1];
}

static const char *node_name(const struct pairs *p, size_t node)
{
    return after_of(p, node)->input->name;
}

/* "2 of 3: a@h, b@h", the one whose numbers are shown first. */
static const char *nodes_text(struct arena *a, const struct pairs *p, const size_t *nodes, size_t n)
{
    const char *text = arena_printf(a, "%zu of %zu: %s", n, p->n, node_name(p, nodes[0]));
    for (size_t i = 1; i < n && i < NAMED_MOST; i++)
        text = arena_printf(a, "%s, %s", text, node_name(p, nodes[i]));
    return n > NAMED_MOST ? arena_printf(a, "%s, and %zu more", text, n - NAMED_MOST) : text;
}

static json_t *nodes_json(const struct pairs *p, const size_t *nodes, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_chars(node_name(p, nodes[i])));
    return list;
}

static void put_first(size_t *nodes, size_t at)
{
    const size_t first = nodes[at];
    memmove(nodes + 1, nodes, at * sizeof *nodes);
    nodes[0] = first;
}

/* ---- findings */

enum finding_change { FINDING_NEW, FINDING_GONE, FINDING_OF_ONE, FINDING_CHANGES };

static const struct {
    const char *key, *heading;
} finding_changes[FINDING_CHANGES] = {
    {"new", "Findings that are new"},
    {"gone", "Findings that are gone"},
    {"not_evaluated", "Findings of a rule that was evaluated in one of the two recordings only"},
};

/* Also one that the finding of another rule has taken in. */
static bool has_like(const struct summary *s, const struct finding *f)
{
    for (size_t i = 0; i < s->findings.len; i++) {
        const struct finding *other = &s->findings.items[i];
        if (finding_is_like(other, f) ||
            (strcmp(other->rule, f->rule) != 0 && finding_has_rule(other, f->rule)))
            return true;
    }
    return false;
}

static void add_findings(struct summary *out, const struct summary *of, const struct summary *other,
                         bool evaluated)
{
    for (size_t i = 0; i < of->findings.len; i++) {
        const struct finding *f = &of->findings.items[i];
        const bool is_evaluated = !findings_not_evaluated(&other->findings, f->rule);
        if (is_evaluated == evaluated && !has_like(other, f))
            out->findings.items[out->findings.len++] = *f;
    }
}

/* A summary of each node that has these findings only; of the arena. */
static struct summary *find_findings(const struct pairs *p, enum finding_change change,
                                     struct arena *a)
{
    struct summary *nodes = arena_alloc(a, p->n * sizeof *nodes);
    for (size_t i = 0; i < p->n; i++) {
        const struct summary *before = before_of(p, i), *after = after_of(p, i);
        const size_t most = before->findings.len + after->findings.len + 1;
        nodes[i] = (struct summary){.input = after->input, .info = after->info};
        nodes[i].findings.items = arena_alloc(a, most * sizeof *nodes[i].findings.items);
        if (change != FINDING_GONE)
            add_findings(&nodes[i], after, before, change == FINDING_NEW);
        if (change != FINDING_NEW)
            add_findings(&nodes[i], before, after, change == FINDING_GONE);
    }
    return nodes;
}

static void put_findings(struct paper *paper, const struct pairs *p)
{
    for (enum finding_change change = 0; change < FINDING_CHANGES; change++) {
        const struct summary *nodes = find_findings(p, change, &paper->arena);
        bool any = change != FINDING_OF_ONE;
        for (size_t i = 0; i < p->n; i++)
            any = any || nodes[i].findings.len > 0;
        if (!any)
            continue;
        paper_heading(paper, 2, "%s", finding_changes[change].heading);
        findings_put_shared(paper, nodes, p->n);
    }
}

struct finding_list {
    json_t *list;
    enum finding_change change;
};

static void add_finding(void *arg, const struct shared_finding *f)
{
    const struct finding_list *l = arg;
    json_t *o = findings_shared_json(f);
    json_set(o, "change", json_chars(finding_changes[l->change].key));
    json_array_append_new(l->list, o);
}

static json_t *findings_json(const struct pairs *p, struct arena *a)
{
    struct finding_list l = {.list = json_array()};
    for (l.change = 0; l.change < FINDING_CHANGES; l.change++) {
        const struct summary *nodes = find_findings(p, l.change, a);
        for (int severity = FINDING_ACT; severity >= FINDING_NOTE; severity--)
            findings_share(nodes, p->n, (enum finding_severity)severity, a, add_finding, &l);
    }
    return l.list;
}

/* ---- numbers */

struct shared_change {
    const struct subject *of;
    struct change change; /* where it is largest: on the first */
    size_t *nodes, n;
};

static double change_size(const struct change *c)
{
    return fabs(c->after - c->before) / fmax(fabs(c->before), fabs(c->after));
}

/* Of those that rise, or that fall. False: there is none. */
static bool gather_change(struct shared_change *out, const struct subject *of,
                          const struct pairs *p, bool rises, struct arena *a)
{
    size_t first = 0;
    *out = (struct shared_change){.of = of, .nodes = arena_alloc(a, p->n * sizeof *out->nodes)};
    for (size_t i = 0; i < p->n; i++) {
        struct change c;
        if (!subject_change(of, before_of(p, i), after_of(p, i), &c) || !c.real ||
            (c.after > c.before) != rises ||
            (of->type == COLUMN_SHARE && fabs(c.after - c.before) < 0.01))
            continue;
        if (out->n == 0 || change_size(&c) > change_size(&out->change)) {
            first = out->n;
            out->change = c;
        }
        out->nodes[out->n++] = i;
    }
    if (out->n > 0)
        put_first(out->nodes, first);
    return out->n > 0;
}

static void
each_change(const struct pairs *p, size_t owners, struct arena *a,
            void (*put)(void *arg, const struct pairs *p, const struct shared_change *c), void *arg)
{
    struct subjects subjects = {.arena = a, .owners = owners, .least = 0.01};
    struct shared_change c;
    subjects_find(&subjects, p->recordings, 2 * p->n);
    for (size_t i = 0; i < subjects.n; i++)
        for (int falls = 0; falls < 2; falls++)
            if (gather_change(&c, &subjects.items[i], p, !falls, a))
                put(arg, p, &c);
}

struct change_table {
    struct paper *paper;
    struct block *table;
    const char *titles[6];
};

static void put_change(void *arg, const struct pairs *p, const struct shared_change *c)
{
    struct change_table *t = arg;
    struct arena *a = &t->paper->arena;
    const char *cells[] = {c->of->title,
                           nodes_text(a, p, c->nodes, c->n),
                           number_text(a, c->of->type, c->change.before),
                           number_text(a, c->of->type, c->change.after),
                           difference_text(a, c->of->type, &c->change),
                           noise_text(a, c->of->type, &c->change)};
    t->table =
        t->table ? t->table : paper_table(t->paper, t->titles, ARRAY_LEN(t->titles), "llrrrr");
    paper_row(t->paper, t->table, cells);
}

static void put_changes(struct paper *paper, const struct pairs *p)
{
    struct change_table *t = arena_alloc(&paper->arena, sizeof *t); /* titles stay */
    const char *few = "";
    *t = (struct change_table){
        .paper = paper, .titles = {"", "nodes", p->of->before, p->of->after, "change", "noise"}};
    paper_heading(paper, 2, "What changed");
    each_change(p, 8, &paper->arena, put_change, t);
    paper_put(paper, t->table
                         ? "The numbers are those of the first of the nodes, where the change is "
                           "largest. A change counts when it is larger than three standard errors "
                           "(deviation of the ticks), one percent, and of shares one point."
                         : "No significant change on any node.");
    for (size_t i = 0; i < p->n; i++)
        if (before_of(p, i)->ticks < 3 || after_of(p, i)->ticks < 3)
            few = arena_printf(&paper->arena, "%s%s%s", few, *few ? ", " : "", node_name(p, i));
    if (*few)
        paper_put(paper, "Too few ticks to find significant changes: %s.", few);
}

static void add_change(void *arg, const struct pairs *p, const struct shared_change *c)
{
    json_t *list = arg, *o = json_object();
    json_set(o, "what", json_chars(c->of->what));
    json_set(o, "by", c->of->by ? json_chars(c->of->by) : json_null());
    json_set(o, "before", json_number(c->change.before));
    json_set(o, "after", json_number(c->change.after));
    json_set(o, "noise", json_number(c->change.noise));
    json_set(o, "nodes", nodes_json(p, c->nodes, c->n));
    json_array_append_new(list, o);
}

/* ---- what the nodes had at the end */

struct node_difference {
    struct difference d;
    size_t node;
};

struct shared_difference {
    const struct node_difference *first; /* n, largest first */
    size_t n;
};

static int compare_texts(const struct state_value *x, const struct state_value *y)
{
    if (!x || !y)
        return (x != NULL) - (y != NULL);
    const size_t least = x->text.len < y->text.len ? x->text.len : y->text.len;
    const int order = least > 0 ? memcmp(x->text.s, y->text.s, least) : 0;
    return order ? order : (x->text.len > y->text.len) - (x->text.len < y->text.len);
}

static bool is_rise(const struct difference *d)
{
    return d->after && (!d->before || d->after->number > d->before->number);
}

/* Those that are one: the same texts, or numbers that change in the same direction. */
static int compare_alike(const struct node_difference *x, const struct node_difference *y)
{
    int order = strcmp(x->d.title, y->d.title);
    if (order == 0 && !field_is_number(x->d.field))
        order = compare_texts(x->d.before, y->d.before);
    if (order == 0 && !field_is_number(x->d.field))
        order = compare_texts(x->d.after, y->d.after);
    if (order == 0 && field_is_number(x->d.field))
        order = is_rise(&x->d) - is_rise(&y->d);
    return order;
}

static int compare_node_differences(const void *a, const void *b)
{
    const struct node_difference *x = a, *y = b;
    int order = compare_alike(x, y);
    if (order == 0)
        order = (y->d.weight > x->d.weight) - (y->d.weight < x->d.weight);
    return order ? order : (x->node > y->node) - (x->node < y->node);
}

/* Most nodes first. */
static int compare_shared(const void *a, const void *b)
{
    const struct shared_difference *x = a, *y = b;
    int order = (y->n > x->n) - (y->n < x->n);
    if (order == 0)
        order =
            (y->first->d.weight > x->first->d.weight) - (y->first->d.weight < x->first->d.weight);
    return order ? order : (x->first > y->first) - (x->first < y->first);
}

/* Returns how many. */
static size_t share_differences(const struct pairs *p, size_t kind, struct arena *a,
                                struct shared_difference **out)
{
    struct differences *of = arena_alloc(a, p->n * sizeof *of);
    size_t n = 0, shared = 0;
    for (size_t i = 0; i < p->n; i++) {
        of[i] = state_differences(kind, &before_of(p, i)->state, &after_of(p, i)->state, a);
        of[i].n = of[i].n < LISTED_MOST ? of[i].n : LISTED_MOST;
        n += of[i].n;
    }
    struct node_difference *all = arena_alloc(a, (n + 1) * sizeof *all), *to = all;
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < of[i].n; k++)
            *to++ = (struct node_difference){of[i].items[k], i};
    qsort(all, n, sizeof *all, compare_node_differences);
    *out = arena_alloc(a, (n + 1) * sizeof **out);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_alike(&all[i - 1], &all[i]) != 0)
            (*out)[shared++] = (struct shared_difference){.first = &all[i]};
        (*out)[shared - 1].n++;
    }
    qsort(*out, shared, sizeof **out, compare_shared);
    return shared;
}

static const size_t *nodes_of(const struct shared_difference *s, struct arena *a)
{
    size_t *nodes = arena_alloc(a, s->n * sizeof *nodes);
    for (size_t i = 0; i < s->n; i++)
        nodes[i] = s->first[i].node;
    return nodes;
}

static void put_difference(struct paper *paper, struct block *t, const struct pairs *p,
                           const struct shared_difference *s)
{
    struct arena *a = &paper->arena;
    const struct difference *d = &s->first->d;
    const char *cells[] = {d->title, nodes_text(a, p, nodes_of(s, a), s->n),
                           state_value_text(a, d, d->before), state_value_text(a, d, d->after),
                           state_change_text(a, d)};
    paper_row(paper, t, cells);
}

/* Of how many nodes each question has no answer on both sides. */
static void put_not_compared(struct paper *paper, const struct pairs *p)
{
    const char *missing = "";
    for (size_t k = 0; k < STATE_KINDS; k++) {
        size_t n = 0;
        if (k > 0 && state_question(k - 1) == state_question(k))
            continue;
        for (size_t i = 0; i < p->n; i++)
            n += !before_of(p, i)->state.kinds[k].recorded ||
                 !after_of(p, i)->state.kinds[k].recorded;
        if (n > 0)
            missing =
                arena_printf(&paper->arena, "%s%s%s (%zu of %zu nodes)", missing,
                             *missing ? ", " : "", question_rows[state_question(k)].what, n, p->n);
    }
    if (*missing)
        paper_put(paper, "Not compared, since one of the recordings has no answer: %s.", missing);
}

static void put_differences(struct paper *paper, const struct pairs *p)
{
    const char **titles = arena_alloc(&paper->arena, 5 * sizeof *titles), *heading = NULL;
    const char *const words[] = {"", "nodes", p->of->before, p->of->after, "change"};
    struct block *t = NULL;
    size_t left = 0;
    memcpy(titles, words, sizeof words);
    paper_heading(paper, 2, "What the nodes had at the end");
    for (size_t kind = 0; kind < STATE_KINDS; kind++) {
        struct shared_difference *found;
        const size_t n = share_differences(p, kind, &paper->arena, &found);
        if (n > 0 && (!heading || strcmp(heading, state_heading(kind)) != 0)) {
            heading = state_heading(kind);
            paper_heading(paper, 3, "%s", heading);
            t = paper_table(paper, titles, ARRAY_LEN(words), "llrrr");
        }
        for (size_t i = 0; i < n && i < SHOWN_MOST; i++)
            put_difference(paper, t, p, &found[i]);
        left += n > SHOWN_MOST ? n - SHOWN_MOST : 0;
    }
    paper_put(paper, t ? "The last answers of the two recordings of each node are compared. A "
                         "number is listed when it differs by a tenth or more, and not by little, "
                         "such as 1 MiB of memory or 10 processes. It is that of the first of the "
                         "nodes, where the difference is largest."
                       : "No noticeable difference on any node.");
    if (left > 0)
        paper_put(paper, "Not shown: %zu more.", left);
    put_not_compared(paper, p);
}

static json_t *differences_json(const struct pairs *p, struct arena *a)
{
    json_t *list = json_array();
    for (size_t kind = 0; kind < STATE_KINDS; kind++) {
        struct shared_difference *found;
        const size_t n = share_differences(p, kind, a, &found);
        for (size_t i = 0; i < n; i++) {
            const struct difference *d = &found[i].first->d;
            json_t *o = json_object();
            json_set(o, "question", json_chars(question_name(state_question(kind))));
            json_set(o, "what", json_chars(d->name));
            json_set(o, "key", json_chars(d->key));
            json_set(o, "before", state_value_json(d, d->before));
            json_set(o, "after", state_value_json(d, d->after));
            json_set(o, "nodes", nodes_json(p, nodes_of(&found[i], a), found[i].n));
            json_array_append_new(list, o);
        }
    }
    return list;
}

/* ---- the nodes */

static void put_unpaired(struct paper *paper, const struct summary_pairs *of)
{
    for (size_t i = 0; i < of->n_unpaired; i++) {
        const struct summary_unpaired *u = &of->unpaired[i];
        paper_item(paper, "%s is not compared:%s%s%s%s%s%s%s%s", u->node,
                   u->no_before ? " not in " : "", u->no_before ? of->before : "",
                   u->no_before ? ": " : "", u->no_before ? u->no_before : "",
                   u->no_before && u->no_after ? ";" : "", u->no_after ? " not in " : "",
                   u->no_after ? of->after : "",
                   u->no_after ? arena_printf(&paper->arena, ": %s", u->no_after) : "");
    }
}

static const char *otp_text(struct arena *a, const struct summary *x, const struct summary *y)
{
    return strcmp(x->info->otp, y->info->otp) == 0
               ? y->info->otp
               : arena_printf(a, "%s, then %s", *x->info->otp ? x->info->otp : "–",
                              *y->info->otp ? y->info->otp : "–");
}

static const char *period_text(struct arena *a, const struct summary *s)
{
    return arena_printf(a, "%s, %s, %lld ticks%s", time_text(a, s->first_us),
                        number_text(a, COLUMN_SECONDS, s->duration_s), (long long)s->ticks,
                        s->gaps > 0 ? arena_printf(a, ", %lld gaps", (long long)s->gaps) : "");
}

static void put_paired_nodes(struct paper *paper, const struct pairs *p)
{
    struct arena *a = &paper->arena;
    const char **titles = arena_alloc(a, 4 * sizeof *titles);
    const char *const words[] = {"node", "OTP", p->of->before, p->of->after};
    memcpy(titles, words, sizeof words);
    paper_heading(paper, 2, "Nodes");
    struct block *t = paper_table(paper, titles, ARRAY_LEN(words), "llll");
    for (size_t i = 0; i < p->n; i++) {
        const struct summary *x = before_of(p, i), *y = after_of(p, i);
        const char *cells[] = {node_name(p, i), otp_text(a, x, y), period_text(a, x),
                               period_text(a, y)};
        paper_row(paper, t, cells);
    }
    put_unpaired(paper, p->of);
}

void summary_pairs(struct paper *paper, const struct summary *s, size_t n,
                   const struct summary_pairs *of)
{
    const struct pairs p = {s, n / 2, of};
    paper->title = arena_printf(&paper->arena, "beamtop: %s, after %s", of->after, of->before);
    paper_heading(paper, 1, "%zu node%s: %s, after %s", p.n, p.n == 1 ? "" : "s", of->after,
                  of->before);
    put_paired_nodes(paper, &p);
    put_findings(paper, &p);
    put_changes(paper, &p);
    put_differences(paper, &p);
}

/* ---- JSON */

static json_t *recorded_json(const struct pairs *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n; i++)
        json_array_append_new(list, json_pack("{s:o,s:o,s:o}", "node", json_chars(node_name(p, i)),
                                              "before", summary_recording_json(before_of(p, i)),
                                              "after", summary_recording_json(after_of(p, i))));
    return list;
}

static json_t *unpaired_json(const struct summary_pairs *of)
{
    json_t *list = json_array();
    for (size_t i = 0; i < of->n_unpaired; i++) {
        const struct summary_unpaired *u = &of->unpaired[i];
        json_t *o = json_object();
        json_set(o, "node", json_chars(u->node));
        json_set(o, "no_before", u->no_before ? json_chars(u->no_before) : json_null());
        json_set(o, "no_after", u->no_after ? json_chars(u->no_after) : json_null());
        json_array_append_new(list, o);
    }
    return list;
}

void summary_pairs_json(json_t *root, const struct summary *s, size_t n,
                        const struct summary_pairs *of)
{
    const struct pairs p = {s, n / 2, of};
    json_t *changes = json_array();
    struct arena arena;
    arena_init(&arena);
    each_change(&p, SHOWN, &arena, add_change, changes);
    json_set(root, "before", json_chars(of->before));
    json_set(root, "after", json_chars(of->after));
    json_set(root, "nodes", recorded_json(&p));
    json_set(root, "not_compared", unpaired_json(of));
    json_set(root, "findings", findings_json(&p, &arena));
    json_set(root, "changes", changes);
    json_set(root, "differences", differences_json(&p, &arena));
    arena_clear(&arena);
}
