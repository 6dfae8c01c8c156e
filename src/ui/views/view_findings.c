/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the last minutes say should be done, and the evidence for it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/parse.h"
#include "beamtop/model/finding.h"
#include "views.h"

#define OPEN_MOST 32       /* findings that are unfolded at once */
#define RANKED 60          /* processes that a scan ranks for the rules */
#define TITLE_AT 16        /* column of what is said */
#define LEAST_IMPACT 0.005 /* of the reductions */

struct findings_view {
    uint64_t open[OPEN_MOST];
    size_t n_open;
};

static bool is_unfolded(const struct findings_view *s, uint64_t id)
{
    for (size_t i = 0; i < s->n_open; i++)
        if (s->open[i] == id)
            return true;
    return false;
}

/* Shows the evidence of a finding, or hides it. */
static int findings_fold(void *state, const struct view_call *call)
{
    struct findings_view *s = state;
    const uint64_t id = call->at->id;
    if (id == 0)
        return error_set(call->err, ERR_USAGE, "put the cursor on a finding");
    for (size_t i = 0; i < s->n_open; i++)
        if (s->open[i] == id) {
            s->open[i] = s->open[--s->n_open];
            return 0;
        }
    if (s->n_open == OPEN_MOST)
        s->n_open--;
    s->open[s->n_open++] = id;
    return 0;
}

static const struct view_act findings_acts[] = {
    {.action = ACTION_FOLD, .folds = true, .run = findings_fold},
    {.run = NULL},
};

/* While the view is shown, asks for the facts that rules read; otherwise rules read what is
 * there. */
static void findings_want(const void *state, int rows, struct want *want)
{
    static const struct want mine = {
        .needs = NEED(SCAN) | NEED(APPS),
        .scan = {.sort_key = "reductions_per_s",
                 .by_delta = true,
                 .rows = RANKED,
                 .items = ITEM_BIT(ID) | ITEM_BIT(REDUCTIONS) | ITEM_BIT(MESSAGE_QUEUE_LEN) |
                          ITEM_BIT(MEMORY) | ITEM_BIT(CURRENT_FUNCTION)}};
    (void)state;
    (void)rows;
    want_merge(want, &mine);
}

static const enum style severity_styles[] = {
    [FINDING_NOTE] = STYLE_DIM,
    [FINDING_LOOK] = STYLE_WARN,
    [FINDING_ACT] = STYLE_ALARM,
};

/* Lines of a text from a column on, broken at blanks; the first goes on in the current line. */
static void put_wrapped_at(struct view_page *page, enum style style, int from, int columns,
                           const char *text)
{
    size_t left = strlen(text), next;
    size_t room = columns > from + 10 ? (size_t)(columns - from - 1) : 10;
    while (left > 0) {
        size_t part = text_break(text, left, room, &next);
        page_tab(page, from);
        page_put(page, style, text, part);
        text += next;
        left -= next;
        if (left > 0)
            page_line(page);
    }
}

static void put_said(struct view_page *page, const char *label, enum style style, int columns,
                     const char *text)
{
    if (!*text)
        return;
    page_line(page);
    page_tab(page, 2);
    page_puts(page, STYLE_LABEL, label);
    put_wrapped_at(page, style, TITLE_AT, columns, text);
}

static void put_opened(struct view_page *page, const struct finding *f, int columns)
{
    char text[80];
    for (size_t i = 0; i < f->n_evidence; i++)
        put_said(page, i ? "" : "evidence", STYLE_VALUE, columns, f->evidence[i].text);
    snprintf(text, sizeof text, "%.0f%%; effort: %s", f->confidence * 100,
             finding_effort_word(f->effort));
    put_said(page, "confidence", STYLE_NORMAL, columns, text);
    put_said(page, "ruled out if", STYLE_NORMAL, columns, f->ruled_out_if);
    page_line(page);
}

/* What it names: Enter opens that. One that names nothing opens itself. */
static void put_link(struct view_link *link, const struct finding *f)
{
    struct etf_pid pid;
    if (f->view)
        link_name(link, TARGET_VIEW, slice_of(f->view));
    else if (etf_parse_pid(f->process, &pid) == 0)
        link_process(link, &pid, (struct slice){"", 0});
    else if (*f->application)
        link_name(link, TARGET_APP, slice_of(f->application));
    else if (*f->trace)
        link_name(link, TARGET_FUNCTION, slice_of(f->trace));
    else
        link->kind = TARGET_FINDING;
    link->id = finding_identity(f);
}

/* The title, and which part of the reductions it is about where it does not say so itself. */
static void put_finding_title(struct view_page *page, const struct finding *f, int columns)
{
    enum style style = f->severity == FINDING_NOTE ? STYLE_NORMAL : STYLE_VALUE;
    char text[1100];
    int len = snprintf(text, sizeof text, "%.1000s", f->title);
    if (f->impact >= LEAST_IMPACT && !strstr(f->title, "of reductions"))
        snprintf(text + len, sizeof text - (size_t)len, " (%.0f%% of reductions)", f->impact * 100);
    page_printf(page, severity_styles[f->severity], " %s", finding_severity_word(f->severity));
    put_wrapped_at(page, style, TITLE_AT, columns, text);
}

static void put_finding(struct view_page *page, const struct findings_view *s,
                        const struct finding *f, int columns)
{
    struct view_line *line = page_line(page);
    put_link(&line->link, f);
    uint64_t id = line->link.id;
    put_finding_title(page, f, columns);
    if (f->severity != FINDING_NOTE || is_unfolded(s, id))
        put_said(page, "action", STYLE_NORMAL, columns, f->action);
    if (is_unfolded(s, id))
        put_opened(page, f, columns);
}

/* ---- the page */

static void count_severities(size_t n[], const struct findings *found)
{
    for (size_t i = 0; i < found->len; i++)
        n[found->items[i].severity]++;
}

static void summarise_findings(struct view_page *page, const struct findings_shown *shown)
{
    size_t n[] = {0, 0, 0};
    char period[40] = "";
    count_severities(n, &shown->found);
    if (!isnan(shown->period_s))
        text_duration(period, sizeof period, shown->period_s);
    snprintf(page->summary, sizeof page->summary,
             "%zu to fix, %zu to check, %zu info; %s, %lld ticks", n[FINDING_ACT], n[FINDING_LOOK],
             n[FINDING_NOTE], period, (long long)shown->ticks);
}

static void put_not_evaluated(struct view_page *page, const struct findings *found, int columns)
{
    if (found->n_not_evaluated == 0)
        return;
    page_heading(page, "Not evaluated");
    for (size_t i = 0; i < found->n_not_evaluated; i++) {
        page_line(page);
        put_wrapped_at(page, STYLE_DIM, 2, columns, found->not_evaluated[i]);
    }
}

static void findings_page(void *state, const struct model *m, struct view_page *page)
{
    const struct findings_view *s = state;
    const struct findings_shown *shown = model_findings(m);
    page->hold = HOLD_LINE;
    if (!shown || shown->ticks == 0 || *shown->why) {
        snprintf(page->empty, sizeof page->empty, "%s",
                 shown && *shown->why ? shown->why
                                      : "Findings need a few ticks. Wait some seconds.");
        return;
    }
    summarise_findings(page, shown);
    if (shown->found.len == 0) {
        page_text(page, STYLE_OK, " No findings in what could be evaluated.");
    }
    for (size_t i = 0; i < shown->found.len; i++)
        put_finding(page, s, &shown->found.items[i], page->pane_columns);
    put_not_evaluated(page, &shown->found, page->pane_columns);
}

static const struct view_hint findings_hints[] = {
    {ACTION_ENTER, "open"},      {ACTION_FOLD, "evidence"}, {ACTION_TRACE_ROW, "trace"},
    {ACTION_MAILBOX, "mailbox"}, {ACTION_BACK, "back"},     {.does = NULL},
};

const struct view_ops view_findings = {
    .name = "findings",
    .title = "Findings",
    .key = 'f',
    .help = "Findings of the last five minutes, with evidence and actions.",
    .kind = VIEW_DOC,
    .opens = 1u << TARGET_FINDING,
    .state_bytes = sizeof(struct findings_view),
    .want = findings_want,
    .page = findings_page,
    .hints = findings_hints,
    .acts = findings_acts,
};
