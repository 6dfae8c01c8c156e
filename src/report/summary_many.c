/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The comparison of several recordings: a column each, and what changed significantly. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "summary_internal.h"

struct comparison {
    struct paper *paper;
    const struct summary *recordings;
    size_t n;
    struct subjects subjects;
    struct block *changes; /* of the pair of recordings that is being compared */
    size_t within;         /* changes within the noise */
    size_t small;          /* significant changes of shares of less than a point */
    size_t unknown;        /* changes of functions in too few windows */
};

/* ---- the table of recordings */

static struct block *begin_table(struct comparison *c, const char *heading)
{
    const char **titles = arena_alloc(&c->paper->arena, (c->n + 1) * sizeof *titles);
    char *align = arena_alloc(&c->paper->arena, c->n + 2);
    paper_heading(c->paper, 2, "%s", heading);
    titles[0] = "";
    align[0] = 'l';
    for (size_t i = 0; i < c->n; i++) {
        titles[i + 1] = c->recordings[i].input->name;
        align[i + 1] = 'r';
    }
    struct block *t = paper_table(c->paper, titles, c->n + 1, align);
    t->recordings = true;
    return t;
}

static void put_value_row(struct comparison *c, struct block *t, const char *title,
                          enum column_type type, const double *values)
{
    const char *cells[PAPER_COLUMNS] = {title};
    for (size_t i = 0; i < c->n; i++)
        cells[i + 1] = number_text(&c->paper->arena, type, values[i]);
    paper_row(c->paper, t, cells);
}

/* The day is said above the table when it is that of all: columns are narrow. */
static bool on_one_day(const struct comparison *c)
{
    struct arena *a = &c->paper->arena;
    const char *first = time_text(a, c->recordings[0].first_us);
    bool same_day = strlen(first) > 10;
    for (size_t i = 1; i < c->n; i++)
        same_day = same_day && strncmp(first, time_text(a, c->recordings[i].first_us), 10) == 0;
    return same_day;
}

static bool of_one_node(const struct comparison *c)
{
    bool one = true;
    for (size_t i = 1; i < c->n; i++)
        one = one && strcmp(c->recordings[i].info->node, c->recordings[0].info->node) == 0;
    return one;
}

static void put_many_head(struct comparison *c)
{
    const struct summary *s = &c->recordings[0];
    c->paper->title = arena_printf(&c->paper->arena, "beamtop: %zu recordings compared", c->n);
    paper_heading(c->paper, 1, "%zu recordings compared", c->n);
    if (of_one_node(c) && *s->info->node)
        paper_put(c->paper, "All of %s, OTP %s%s%.10s%s.", s->info->node,
                  *s->info->otp ? s->info->otp : "–", on_one_day(c) ? ", on " : "",
                  on_one_day(c) ? time_text(&c->paper->arena, s->first_us) : "",
                  on_one_day(c) ? " (UTC)" : "");
}

static const char *time_of_day(struct arena *a, const struct summary *s)
{
    const char *text = time_text(a, s->first_us);
    return strlen(text) > 19 ? arena_strndup(a, text + 11, 8) : text;
}
static const char *day_and_time(struct arena *a, const struct summary *s)
{
    const char *text = time_text(a, s->first_us);
    return strlen(text) > 16 ? arena_strndup(a, text, 16) : text;
}
/* Node and time stand with the names where columns are narrow. */
static void put_recordings(struct comparison *c)
{
    const char *nodes[PAPER_COLUMNS] = {"node"}, *begun[PAPER_COLUMNS] = {"begun (UTC)"};
    const char *took[PAPER_COLUMNS] = {"duration"}, *ticks[PAPER_COLUMNS] = {"ticks"};
    const bool one = of_one_node(c), time_alone = one && on_one_day(c);
    struct block *t = begin_table(c, "Recordings");
    for (size_t i = 0; i < c->n; i++) {
        struct arena *a = &c->paper->arena;
        const struct summary *s = &c->recordings[i];
        nodes[i + 1] = s->info->node;
        begun[i + 1] = (time_alone ? time_of_day : day_and_time)(a, s);
        took[i + 1] = number_text(a, COLUMN_SECONDS, s->duration_s);
        ticks[i + 1] = arena_printf(a, "%lld", (long long)s->ticks);
    }
    if (!one)
        paper_legend_row(c->paper, t, nodes);
    paper_legend_row(c->paper, t, begun);
    paper_row(c->paper, t, took);
    paper_row(c->paper, t, ticks);
}

static double most_of(const struct comparison *c, double (*share)(const struct summary *s))
{
    double most = 0;
    for (size_t i = 0; i < c->n; i++)
        most = fmax(most, share(&c->recordings[i]));
    return most;
}

static void put_tables(struct comparison *c, enum subject_kind from, enum subject_kind to)
{
    const char *heading = NULL;
    struct block *t = NULL;
    for (size_t i = 0; i < c->subjects.n; i++) {
        const struct subject *of = &c->subjects.items[i];
        double values[RECORDINGS_MOST];
        if (!of->name || of->kind < from || of->kind > to)
            continue;
        if (of->heading != heading)
            t = begin_table(c, of->heading);
        heading = of->heading;
        for (size_t k = 0; k < c->n; k++)
            values[k] = subject_mean(&c->recordings[k], of).value;
        put_value_row(c, t, of->name, of->type, values);
    }
    if (t && to == OF_CALL_SHARE)
        put_evaluating(c->paper, most_of(c, evaluating_share));
}

/* ---- findings */

static const struct finding *finding_in(const struct summary *s, const char *rule)
{
    for (size_t i = 0; i < s->findings.len; i++)
        if (finding_has_rule(&s->findings.items[i], rule))
            return &s->findings.items[i];
    return NULL;
}

static const char *judged_text(struct comparison *c, const struct summary *s, const char *rule)
{
    const struct finding *f = finding_in(s, rule);
    if (!f)
        return findings_not_evaluated(&s->findings, rule) ? "–" : "";
    if (isnan(f->impact))
        return finding_severity_word(f->severity);
    return arena_printf(&c->paper->arena, "%s %s", finding_severity_word(f->severity),
                        number_text(&c->paper->arena, COLUMN_SHARE, f->impact));
}

bool summary_same_words(const char *a, const char *b)
{
    static const char numbers[] = "0123456789.,";
    for (;;) {
        a += strspn(a, numbers);
        b += strspn(b, numbers);
        if (*a != *b)
            return false;
        if (!*a)
            return true;
        a++;
        b++;
    }
}

/* The finding of the same rule, with the same action and title. */
static const struct finding *same_finding(const struct summary *s, const struct finding *like)
{
    for (size_t i = 0; i < s->findings.len; i++) {
        const struct finding *f = &s->findings.items[i];
        if (strcmp(f->rule, like->rule) == 0 && f->severity == like->severity &&
            strcmp(f->action, like->action) == 0 && summary_same_words(f->title, like->title))
            return f;
    }
    return NULL;
}

/* Puts findings that no recording before has: each once, with all recordings that have it. */
static void put_found(struct comparison *c, size_t at, enum finding_severity severity)
{
    struct arena *a = &c->paper->arena;
    for (size_t k = 0; k < c->recordings[at].findings.len; k++) {
        const struct finding *f = &c->recordings[at].findings.items[k];
        const char *who = "", *title = f->title, *of = "";
        bool reported = f->severity != severity;
        double most = 0;
        bool differ = false;
        for (size_t i = 0; i < c->n && !reported; i++) {
            const struct finding *same_one = same_finding(&c->recordings[i], f);
            reported = same_one && i < at;
            if (!same_one)
                continue;
            who = arena_printf(a, "%s%s%s", who, *who ? ", " : "", c->recordings[i].input->name);
            differ = differ || strcmp(same_one->title, f->title) != 0;
            if (i == at || same_one->impact > most) {
                title = same_one->title;
                most = same_one->impact;
                of = c->recordings[i].input->name;
            }
        }
        if (!reported)
            paper_item(c->paper, "%s (%s: %s): %s%s%s. %s%s.", f->rule,
                       finding_severity_word(severity), who, title, differ ? ", in " : "",
                       differ ? of : "", severity == FINDING_NOTE ? "" : "Action: ", f->action);
    }
}

static void put_all_findings(struct comparison *c)
{
    struct block *t = begin_table(c, "Findings (– where what a rule needs was not recorded)");
    for (size_t r = 0; rule_list[r]; r++) {
        const char *cells[PAPER_COLUMNS] = {rule_list[r]->key};
        bool any = false;
        for (size_t i = 0; i < c->n; i++) {
            cells[i + 1] = judged_text(c, &c->recordings[i], rule_list[r]->key);
            any = any || finding_in(&c->recordings[i], rule_list[r]->key);
        }
        if (any)
            paper_row(c->paper, t, cells);
    }
    for (int severity = FINDING_ACT; severity >= FINDING_NOTE; severity--)
        for (size_t i = 0; i < c->n; i++)
            put_found(c, i, (enum finding_severity)severity);
}

/* ---- what changed: each recording against the one before it */

const char *difference_text(struct arena *a, enum column_type type, const struct change *change)
{
    double difference = change->after - change->before;
    if (type == COLUMN_SHARE)
        return arena_printf(a, "%+.1f points", 100 * difference);
    if (change->before != 0)
        return arena_printf(a, "%+.1f%%", 100 * difference / fabs(change->before));
    return number_text(a, type, difference);
}

const char *noise_text(struct arena *a, enum column_type type, const struct change *change)
{
    if (type == COLUMN_SHARE)
        return arena_printf(a, "± %.1f points", 100 * change->noise);
    return arena_printf(a, "± %s", number_text(a, type, change->noise));
}

static void put_change(struct comparison *c, const struct subject *of, size_t at,
                       const struct change *change)
{
    struct arena *a = &c->paper->arena;
    const enum column_type type = of->type;
    if (!change->real) {
        c->within += change->known;
        return;
    }
    if (type == COLUMN_SHARE && fabs(change->after - change->before) < 0.01) {
        c->small++;
        return;
    }
    if (!c->changes) {
        const char **titles = arena_alloc(a, 5 * sizeof *titles);
        titles[0] = "";
        titles[1] = c->recordings[at - 1].input->name;
        titles[2] = c->recordings[at].input->name;
        titles[3] = "change";
        titles[4] = "noise";
        c->changes = paper_table(c->paper, titles, 5, "lrrrr");
    }
    const char *cells[] = {of->title, number_text(a, type, change->before),
                           number_text(a, type, change->after), difference_text(a, type, change),
                           noise_text(a, type, change)};
    paper_row(c->paper, c->changes, cells);
}

static bool has_ticks(const struct comparison *c, size_t at)
{
    return c->recordings[at - 1].ticks >= 3 && c->recordings[at].ticks >= 3;
}

static void put_changes(struct comparison *c)
{
    paper_heading(c->paper, 2, "What changed");
    for (size_t at = 1; at < c->n; at++) {
        c->changes = NULL;
        paper_heading(c->paper, 3, "%s, after %s", c->recordings[at].input->name,
                      c->recordings[at - 1].input->name);
        for (size_t i = 0; i < c->subjects.n; i++) {
            const struct subject *of = &c->subjects.items[i];
            struct change change;
            if (!subject_change(of, &c->recordings[at - 1], &c->recordings[at], &change))
                continue;
            put_change(c, of, at, &change);
            c->unknown += of->kind == OF_CALL && !change.known;
        }
        if (!c->changes)
            paper_put(c->paper, has_ticks(c, at) ? "No significant change."
                                                 : "Too few ticks to find significant changes.");
    }
    paper_heading(c->paper, 3, "What is not in these tables");
    paper_put(c->paper,
              "%zu %s within the variation between ticks, and %zu %s by less than a point. A "
              "difference counts when it is larger than three standard errors (deviation of the "
              "ticks, or for functions of the windows of counted calls, over the root of their "
              "number, of both recordings together; of shares of samples by the test of two "
              "proportions) and than one percent.",
              c->within, c->within == 1 ? "number is" : "numbers are", c->small,
              c->small == 1 ? "share changed" : "shares changed");
    if (c->unknown > 0)
        paper_put(c->paper,
                  "%zu %s of calls of functions %s unknown: there are fewer than three counting "
                  "windows in a recording, or the function was not listed in each of them.",
                  c->unknown, c->unknown == 1 ? "change" : "changes",
                  c->unknown == 1 ? "is" : "are");
}

/* The work of counting belongs to no program: where it is not left out, all shares look smaller
   than those of recordings without it. */
static void put_counting(struct comparison *c, bool without_us)
{
    size_t counted = 0;
    for (size_t i = 0; i < c->n; i++)
        counted += c->recordings[i].sums.ns > 0;
    if (!without_us && counted > 0 && counted < c->n)
        paper_put(c->paper,
                  "Calls were counted in %zu of these recordings: what that took of the node is in "
                  "the rest, and makes the other shares of a quiet node smaller than without.",
                  counted);
}

void summary_many(struct paper *p, const struct summary *s, size_t n)
{
    struct comparison c = {.paper = p,
                           .recordings = s,
                           .n = n,
                           .subjects = {.arena = &p->arena, .owners = 8, .least = 0.01}};
    size_t without_us = 0;
    subjects_find(&c.subjects, s, n);
    put_many_head(&c);
    put_recordings(&c);
    put_all_findings(&c);
    put_changes(&c);
    state_many(p, s, n);
    put_tables(&c, OF_NODE, OF_OWNER);
    for (size_t i = 0; i < n; i++)
        without_us += leaves_us_out(&s[i]);
    put_rest(p, without_us, n);
    put_counting(&c, without_us == n);
    put_left_out(p, most_of(&c, left_out_share), "up to ");
    put_tables(&c, OF_CALL, OF_CALL_SHARE);
    put_tables(&c, OF_SAMPLES, OF_RUNS);
}
