/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of the VM: functions, trees both ways, a flame graph, and who was sampled. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/parse.h"
#include "beamtop/model/samples_fields.h"
#include "ui/samples/samples_title.h"
#include "ui/widgets/rows.h"
#include "views.h"

/* Between process and longest: sums, in the order of enum samples_by. */
enum {
    BY_FUNCTION,
    BY_TREE,
    BY_CALLERS,
    BY_FLAME,
    BY_PROCESS,
    BY_THREAD, /* from here on, only of samples from outside */
    BY_LONGEST = BY_PROCESS + SAMPLES_BY
};
static const struct rows_of samples_shown[] = {
    [BY_FUNCTION] = {"function", &samples_function_fields, "self_share", NULL, NULL, false},
    [BY_TREE] = {"tree", &samples_branch_fields, NULL, NULL, NULL, false},
    [BY_CALLERS] = {"callers", &samples_callers_fields, NULL, NULL, NULL, false},
    [BY_FLAME] = {"flame", &samples_branch_fields, NULL, NULL, NULL, false},
    [BY_PROCESS] = {"process", &samples_process_fields, "samples", NULL, NULL, false},
    [BY_THREAD] = {"thread", &samples_thread_fields, "samples", NULL, NULL, false},
    [BY_PROCESS + SAMPLES_BY_KIND] = {"kind", &samples_kind_fields, "samples", NULL, NULL, false},
    [BY_PROCESS +
        SAMPLES_BY_CLASS] = {"class", &samples_class_fields, "samples", NULL, NULL, false},
    [BY_PROCESS + SAMPLES_BY_CODE] = {"code", &samples_code_fields, "samples", NULL, NULL, false},
    [BY_LONGEST] = {"longest", &samples_held_fields, "seconds", NULL, NULL, false},
};

struct samples_view {
    struct rows rows;
    /* The callers, made from the samples so far. */
    struct stacks *inverted;
    const struct stacks *inverted_of;
    int64_t inverted_wall_us;
};

/* More samples by this part: the callers are made again. */
#define INVERTED_GROWTH 0.02

static void samples_clear(void *state)
{
    stacks_free(((struct samples_view *)state)->inverted);
}

/* Only the sampler asks. */
/* Weights are reductions: the titles of their shares say so. */
static void title_reductions(struct rows *s)
{
    static const char *const titles[][2] = {
        {"self_share", "SELF RED"}, {"total_share", "TOTAL RED"}, {"share", "RED"}};
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < ARRAY_LEN(titles); k++)
            if (strcmp(s->columns[i].key, titles[k][0]) == 0) {
                s->columns[i].title = titles[k][1];
                s->columns[i].width = (int)strlen(titles[k][1]) + 1;
            }
}

/* ---- functions and trees */

static struct view_row *add_function(struct view_page *page, const struct samples_view *s,
                                     const struct samples_function *f)
{
    struct view_row *row = rows_add(&s->rows, page, f);
    if (f->at && frame_is_function(f->at->kind))
        link_name(&row->link, TARGET_FUNCTION, f->name);
    return row;
}

static void add_functions(struct view_page *page, const struct samples_view *s,
                          const struct samples_summary *run)
{
    size_t n;
    const struct samples_function *functions =
        samples_functions(run, run->stacks, stacks_total(run->stacks), &page->arena, &n);
    for (size_t i = 0; i < n; i++)
        add_function(page, s, &functions[i])->id =
            stacks_frame_identity(run->stacks, functions[i].frame);
}

#define DEEPEST 40 /* levels that are indented */

/* Rows are known by the frames on the way to them. */
static void add_tree(struct view_page *page, const struct samples_view *s,
                     const struct stacks *stacks)
{
    size_t n;
    uint64_t ids[LIMIT_STACK_DEPTH + 1];
    const struct samples_function *calls =
        samples_tree(stacks, LIMIT_STACK_DEPTH, page->ascii, &page->arena, &n);
    page->in_place = true;
    for (size_t i = 0; i < n; i++) {
        const struct samples_function *f = &calls[i];
        struct view_row *row = add_function(page, s, f);
        const uint64_t way[2] = {f->depth > 0 ? ids[f->depth - 1] : 0,
                                 f->at ? stacks_frame_identity(stacks, f->frame)
                                       : text_identity(f->name.s, f->name.len)};
        row->id = ids[f->depth] = text_identity((const char *)way, sizeof way);
        row->indent = 2 * (int)(f->depth > DEEPEST ? DEEPEST : f->depth);
        if (!f->at)
            row->cells[0].style = isnan(f->self_share) ? STYLE_DIM : STYLE_NAME;
    }
}

/* Inverts the stacks again only after some growth, not for every sample. */
static const struct stacks *invert_stacks(struct samples_view *s, const struct samples_log *log)
{
    const struct samples_summary *run = &log->run;
    double growth = log->phase == SAMPLING_RUNS ? INVERTED_GROWTH : 0;
    double had = s->inverted ? stacks_total(s->inverted) : 0, has = stacks_total(run->stacks);
    bool same = s->inverted_of == run->stacks && s->inverted_wall_us == run->wall_us;
    if (!s->inverted || !same || fabs(has - had) > growth * had) {
        stacks_free(s->inverted);
        s->inverted = stacks_inverted(run->stacks);
        s->inverted_of = run->stacks;
        s->inverted_wall_us = run->wall_us;
    }
    return s->inverted;
}

/* ---- who was sampled */

static void link_pid(struct view_page *page, struct view_row *row, struct slice text,
                     struct slice name)
{
    struct etf_pid pid;
    if (etf_parse_pid(arena_strndup(&page->arena, text.s, text.len), &pid) == 0)
        link_process(&row->link, &pid, name);
}

static void add_sums(struct view_page *page, const struct samples_view *s,
                     const struct samples_summary *run)
{
    size_t n;
    const struct samples_row *sums =
        samples_rows(run, (enum samples_by)(s->rows.by - BY_PROCESS), true, &page->arena, &n);
    for (size_t i = 0; i < n; i++) {
        struct view_row *row = rows_add(&s->rows, page, &sums[i]);
        row->id = text_identity(sums[i].name.s, sums[i].name.len);
        if (s->rows.by == BY_PROCESS)
            link_pid(page, row, sums[i].name, sums[i].about);
    }
}

/* Native calls that held a normal scheduler. */
static void add_longest(struct view_page *page, const struct samples_view *s,
                        const struct samples_summary *run)
{
    for (size_t i = 0; i < run->n_held; i++) {
        struct samples_held held = run->held[i];
        const uint64_t key[] = {text_identity(held.process.s, held.process.len),
                                text_identity(held.call.s, held.call.len), (uint64_t)i};
        if (held.name.len == 0)
            held.name = held.process;
        struct view_row *row = rows_add(&s->rows, page, &held);
        row->id = text_identity((const char *)key, sizeof key);
        link_pid(page, row, held.process, run->held[i].name);
    }
}

static void add_rows(struct view_page *page, struct samples_view *s, const struct samples_log *log)
{
    const struct samples_summary *run = &log->run;
    if (s->rows.by == BY_FUNCTION) {
        add_functions(page, s, run);
    } else if (s->rows.by == BY_TREE) {
        add_tree(page, s, run->stacks);
    } else if (s->rows.by == BY_CALLERS) {
        add_tree(page, s, invert_stacks(s, log));
    } else if (s->rows.by == BY_FLAME) {
        page->flame = run->stacks;
        page->flame_unit = samples_unit(run);
    } else if (s->rows.by == BY_LONGEST) {
        add_longest(page, s, run);
    } else {
        add_sums(page, s, run);
    }
}

static void samples_page(void *state, const struct model *m, struct view_page *page)
{
    struct samples_view *s = state;
    const struct samples_log *log = model_samples(m);
    rows_begin(&s->rows, page, s->rows.by == BY_FLAME ? "" : NULL);
    if (!log && model_recorded(m))
        page_missing(page, m, "samples");
    else
        samples_empty(page, log, s->rows.by >= BY_THREAD);
    if (!log) {
        page->order[0] = '\0';
        return;
    }
    if (log->run.at_yields)
        title_reductions(&s->rows);
    if (s->rows.by == BY_LONGEST && log->run.samples > 0 && !log->run.at_yields)
        snprintf(page->empty, sizeof page->empty, "%s",
                 log->run.held ? "No native call held a normal scheduler for two samples."
                               : "Not recorded: the calls that held a scheduler.");
    samples_title(page, log, model_recorded(m) != NULL, page->pane_columns);
    if (stacks_total(log->run.stacks) > 0)
        add_rows(page, s, log);
    page_sort(page);
}

/* "view samples flame" */
static int samples_open(void *state, const struct view_link *link, struct error *err)
{
    return rows_show(state, link->name, err);
}

static const struct view_act samples_acts[] = {{ACTION_BY, .run = rows_by}, {.run = NULL}};

static const struct view_hint samples_hints[] = {
    {ACTION_STOP, "stop"}, {ACTION_ENTER, "open or zoom"}, {ACTION_BY, "by"}, {ACTION_BACK, "back"},
    {.does = NULL},
};

static bool samples_runs(const struct model *m)
{
    const struct samples_log *log = model_samples(m);
    return log && (log->phase == SAMPLING_STARTS || log->phase == SAMPLING_RUNS);
}

const struct view_ops view_samples = {
    .name = "samples",
    .title = "Samples",
    .key = 'H',
    .help = "Where CPU time goes: functions, call trees, flame graph, processes.",
    .kind = VIEW_TABLE,
    .stop = ACTION_SAMPLE_STOP,
    .shown_by = ACTION_SAMPLE,
    .state_bytes = sizeof(struct samples_view),
    .rows = samples_shown,
    .n_rows = ARRAY_LEN(samples_shown),
    .clear = samples_clear,
    .page = samples_page,
    .sort = rows_sort,
    .open = samples_open,
    .hints = samples_hints,
    .acts = samples_acts,
    .runs = samples_runs,
};
