/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of the VM: functions, trees both ways, a flame graph, and who was sampled. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/parse.h"
#include "beamtop/model/samples.h"
#include "ui/samples/samples_title.h"
#include "views.h"

enum samples_by {
    BY_FUNCTION,
    BY_TREE,
    BY_CALLERS,
    BY_FLAME,
    BY_PROCESS,
    BY_THREAD,
    BY_KIND,
    BY_CLASS,
    BY_CODE,
    BY_LONGEST,
    SAMPLES_SORTS
};
static const char *const by_words[SAMPLES_SORTS] = {"function", "tree",   "callers", "flame",
                                                    "process",  "thread", "kind",    "class",
                                                    "code",     "longest"};

/* A row of any of them; unknown is NaN. */
struct line {
    struct slice name, about;
    double samples, self, total, error; /* shares, but for samples */
    double moves, seconds;
    uint64_t id;
    const struct samples_source *source; /* NULL: none */
    const struct samples_held *held;     /* NULL: none */
};

enum form { NAME, ABOUT, PLACE, COUNT, SHARE, ERROR, TIME, PLACES, THREAD, PROCESS, CALLER };
enum {
    FUNCTIONS = 1 << BY_FUNCTION,
    TREE = 1 << BY_TREE,
    CALLERS = 1 << BY_CALLERS,
    PROCESSES = 1 << BY_PROCESS,
    THREADS = 1 << BY_THREAD,
    KINDS = 1 << BY_KIND,
    CLASSES = 1 << BY_CLASS,
    CODES = 1 << BY_CODE,
    LONGEST = 1 << BY_LONGEST,
    FRAMES = FUNCTIONS | TREE | CALLERS,
    SOURCES = PROCESSES | THREADS | KINDS | CLASSES | CODES,
};

#define AT(member) offsetof(struct line, member)
static const struct {
    struct view_column column;
    enum form form;
    unsigned by;
    size_t offset;
    const char *of_reductions; /* its title where weights are reductions; NULL: the same */
    /* clang-format off */
} all[] = {
    {{"function", "FUNCTION", 24, false, true, true, "name"}, NAME, FUNCTIONS, 0, NULL},
    {{"function", "FUNCTION AND WHAT IT CALLS", 30, false, true, true, "name"}, NAME, TREE, 0,
     NULL},
    {{"function", "FUNCTION AND ITS CALLERS", 30, false, true, true, "name"}, NAME, CALLERS, 0,
     NULL},
    {{"process", "PROCESS", 16, false, false, true, "pid"}, NAME, PROCESSES, 0, NULL},
    {{"thread", "THREAD", 24, false, false, true, "thread of the VM"}, NAME, THREADS, 0, NULL},
    {{"kind", "KIND OF THREAD", 24, false, false, true, "kind of thread"}, NAME, KINDS, 0, NULL},
    {{"class", "CLASS", 12, false, false, true, "where the CPU time goes"}, NAME, CLASSES, 0, NULL},
    {{"code", "CODE", 24, false, false, true, "kind of the innermost frame"}, NAME, CODES, 0, NULL},
    {{"call", "NATIVE CALL", 24, false, true, true, "BIF, or function of a NIF library"}, NAME,
     LONGEST, 0, NULL},
    {{"held", "HELD", 9, true, false, true, "at least so long: from its first sample to its last"},
     TIME, LONGEST, AT(seconds), NULL},
    {{"samples", "SAMPLES", 8, true, false, true, "samples of it"}, COUNT, SOURCES | LONGEST,
     AT(samples), NULL},
    {{"self", "SELF", 7, true, false, true, "share of samples in it"}, SHARE, FUNCTIONS | TREE,
     AT(self), "SELF RED"},
    {{"error", "95% +-", 6, true, false, false, "half of the 95% interval of the share"}, ERROR,
     FUNCTIONS | SOURCES, AT(error), NULL},
    {{"total", "TOTAL", 7, true, false, true, "share of samples in it and in what it called"},
     SHARE, FUNCTIONS | TREE, AT(total), "TOTAL RED"},
    {{"share", "SHARE", 7, true, false, true, "share of all samples"}, SHARE, CALLERS | SOURCES,
     AT(total), "RED"},
    {{"kind", "KIND", 7, false, false, true, "what kind of code it is"}, ABOUT, FRAMES, 0, NULL},
    {{"place", "AT", 20, false, false, false, "source file and line, or the library"}, PLACE,
     FRAMES, 0, NULL},
    {{"name", "NAME", 30, false, true, true, "registered name or label"}, ABOUT, PROCESSES, 0,
     NULL},
    {{"kind", "KIND", 20, false, false, true, "kind of thread"}, ABOUT, THREADS, 0, NULL},
    {{"moves", "MOVES", 6, true, false, true, "samples elsewhere than the one before"}, COUNT,
     PROCESSES | THREADS, AT(moves), NULL},
    {{"places", "ON SCHEDULER", 24, false, true, false, "where it ran, the most first"}, PLACES,
     PROCESSES, 0, NULL},
    {{"places", "ON CPU", 24, false, true, false, "where it ran, the most first"}, PLACES, THREADS,
     0, NULL},
    {{"scheduler", "HELD SCHEDULER", 14, false, false, true, "the normal scheduler"}, THREAD,
     LONGEST, 0, NULL},
    {{"process", "PROCESS", 16, false, false, true, "name or pid"}, PROCESS, LONGEST, 0, NULL},
    {{"caller", "CALLED BY", 20, false, true, true, "Erlang function"}, CALLER, LONGEST, 0, NULL},
    {{"about", "SAMPLED", 30, false, true, false, "what was running"}, ABOUT, CLASSES, 0, NULL},
};
/* clang-format on */

struct samples_view {
    enum samples_by by;
    char sort[24]; /* key */
    bool ascending;
    struct view_column columns[ARRAY_LEN(all)]; /* those shown, and which they are */
    size_t index[ARRAY_LEN(all)], n_columns;
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
static void samples_want(const void *state, int rows, struct want *want)
{
    (void)state;
    (void)rows;
    (void)want;
}

/* ---- columns */

static bool is_tree(const struct samples_view *s)
{
    return s->by == BY_TREE || s->by == BY_CALLERS;
}

static void choose_columns(struct samples_view *s, bool reductions)
{
    s->n_columns = 0;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!(all[i].by & 1u << s->by))
            continue;
        struct view_column *column = &s->columns[s->n_columns];
        *column = all[i].column;
        column->sortable = column->sortable && !is_tree(s);
        if (reductions && all[i].of_reductions) {
            column->title = all[i].of_reductions;
            column->width = (int)strlen(column->title) + 1;
        }
        s->index[s->n_columns++] = i;
    }
}

static int column_of(const struct samples_view *s, const char *key)
{
    for (size_t i = 0; i < s->n_columns; i++)
        if (s->columns[i].sortable && strcmp(s->columns[i].key, key) == 0)
            return (int)i;
    return -1;
}

/* What was asked for, where there is such a column; else by weight. */
static int sorted_column(const struct samples_view *s)
{
    int at = column_of(s, s->sort);
    return at >= 0 ? at
                   : column_of(s, s->by == BY_FUNCTION  ? "self"
                                  : s->by == BY_LONGEST ? "held"
                                                        : "samples");
}

/* ---- rows */

static double value(const struct line *l, size_t column)
{
    return all[column].offset ? *(const double *)((const char *)l + all[column].offset)
                              : (double)NAN;
}

static void put_number(struct view_page *page, struct view_row *row, size_t at, size_t column,
                       double v)
{
    char text[40];
    if (isnan(v))
        page_cell_printf(page, row, at, STYLE_DIM, "%s", page->ascii ? "-" : "–");
    else if (all[column].form == ERROR)
        page_cell_printf(page, row, at, STYLE_DIM, "%s%.1f", page->ascii ? "+-" : "±", v * 100);
    else if (all[column].form == TIME)
        page_cell_printf(page, row, at, STYLE_NORMAL, ">%s",
                         page_duration(page, text, sizeof text, v));
    else if (all[column].form == COUNT)
        page_cell_printf(page, row, at, STYLE_NORMAL, "%s",
                         text_integer(text, sizeof text, (int64_t)v));
    else
        page_cell_printf(page, row, at, STYLE_NORMAL, "%s", text_percent(text, sizeof text, v));
}

static void put_place(struct view_page *page, struct view_row *row, size_t at,
                      const struct sample_frame *f)
{
    char place[FRAME_PLACE_BYTES];
    if (f)
        page_cell_printf(page, row, at, STYLE_DIM, "%s", frame_place(place, sizeof place, f));
}

/* "scheduler 1 60.0%, scheduler 2 40.0%" */
static void put_places(struct view_page *page, struct view_row *row, size_t at,
                       const struct samples_source *source)
{
    struct buf out;
    char share[32];
    buf_init(&out, 0);
    for (size_t i = 0; i < source->n_places; i++) {
        const struct samples_place *place = &source->places[i];
        const double part = samples_share((double)place->samples, (double)source->samples);
        buf_printf(&out, "%s%.*s %s", i > 0 ? ", " : "", (int)place->name.len, place->name.s,
                   text_percent(share, sizeof share, part));
    }
    const struct slice text = slice_take(&page->arena, &out);
    page_cell(page, row, at, STYLE_NORMAL, text.s, text.len);
}

static void put_held(struct view_page *page, struct view_row *row, size_t at, enum form form,
                     const struct samples_held *held)
{
    const struct slice process = held->name.len > 0 ? held->name : held->process;
    const struct slice text = form == THREAD    ? held->thread
                              : form == PROCESS ? process
                                                : held->caller;
    page_cell(page, row, at, form == CALLER ? STYLE_FUNCTION : STYLE_NORMAL, text.s, text.len);
}

/* f: of a frame, else NULL. */
static struct view_row *add_line(struct view_page *page, const struct samples_view *s,
                                 const struct line *l, const struct sample_frame *f)
{
    struct view_row *row = page_row(page);
    row->id = l->id;
    for (size_t i = 0; i < s->n_columns; i++) {
        size_t column = s->index[i];
        if (all[column].form == NAME)
            page_cell(page, row, i, f ? STYLE_FUNCTION : STYLE_NAME, l->name.s, l->name.len);
        else if (all[column].form == ABOUT)
            page_cell(page, row, i, STYLE_DIM, l->about.s, l->about.len);
        else if (all[column].form == PLACE)
            put_place(page, row, i, f);
        else if (all[column].form == PLACES)
            put_places(page, row, i, l->source);
        else if (l->held && all[column].form >= THREAD)
            put_held(page, row, i, all[column].form, l->held);
        else
            put_number(page, row, i, column, value(l, column));
    }
    if (page->sort_column >= 0)
        row->key = value(l, s->index[page->sort_column]);
    return row;
}

static void link_frame(struct view_row *row, const struct sample_frame *f)
{
    if (frame_is_function(f->kind))
        link_name(&row->link, TARGET_FUNCTION, f->name);
}

static void add_functions(struct view_page *page, const struct samples_view *s,
                          const struct samples_summary *run)
{
    size_t n;
    struct stacks_sum *sums = stacks_sums(run->stacks, &n);
    double whole = stacks_total(run->stacks);
    for (size_t i = 0; i < n; i++) {
        const struct sample_frame *f = sums[i].at;
        double self = samples_share(sums[i].self, whole);
        const struct line l = {.name = f->name,
                               .about = slice_of(frame_kind_key(f->kind)),
                               .self = self,
                               .error = samples_error(run, self),
                               .total = samples_share(sums[i].total, whole),
                               .id = stacks_frame_identity(run->stacks, sums[i].frame)};
        link_frame(add_line(page, s, &l, f), f);
    }
    free(sums);
}

/* ---- trees */

#define DEEPEST 40 /* levels that are indented */

struct tree_rows {
    struct view_page *page;
    const struct samples_view *s;
    const struct stacks *stacks;
    uint64_t ids[LIMIT_STACK_DEPTH + 1]; /* of the rows on the way to the next one */
};

/* By the frames on the way to it. */
static uint64_t id_below(const struct tree_rows *t, size_t depth, uint64_t frame)
{
    const uint64_t way[2] = {depth > 0 ? t->ids[depth - 1] : 0, frame};
    return text_identity((const char *)way, sizeof way);
}

static void add_branch(void *arg, const struct stacks_branch *b)
{
    struct tree_rows *t = arg;
    double whole = stacks_total(t->stacks);
    struct line l = {.name = slice_of(t->page->ascii ? "... below 1% each" : "… below 1% each"),
                     .self = NAN,
                     .total = samples_share(b->total, whole),
                     .id = id_below(t, b->depth, 0)};
    const struct sample_frame *f = NULL;
    if (b->index != 0) {
        uint32_t frame = stacks_node(t->stacks, b->index)->frame;
        f = stacks_frame_at(t->stacks, frame);
        l.name = f->name;
        l.about = slice_of(frame_kind_key(f->kind));
        l.self = samples_share(b->self, whole);
        l.id = t->ids[b->depth] = id_below(t, b->depth, stacks_frame_identity(t->stacks, frame));
    }
    struct view_row *row = add_line(t->page, t->s, &l, f);
    row->indent = 2 * (int)(b->depth > DEEPEST ? DEEPEST : b->depth);
    if (f)
        link_frame(row, f);
    else
        row->cells[0].style = STYLE_DIM;
}

static void add_tree(struct view_page *page, const struct samples_view *s,
                     const struct stacks *stacks)
{
    struct tree_rows t = {.page = page, .s = s, .stacks = stacks};
    double whole = stacks_total(stacks), none = stacks_node(stacks, 0)->self;
    stacks_walk(stacks, SAMPLES_TREE_SHARE * whole, LIMIT_STACK_DEPTH, add_branch, &t);
    if (none <= 0)
        return;
    const struct line l = {.name = slice_of(SAMPLES_NO_STACK),
                           .self = samples_share(none, whole),
                           .total = samples_share(none, whole),
                           .id = 1};
    add_line(page, s, &l, NULL);
}

/* While samples come, not for each few of them. */
static const struct stacks *inverted(struct samples_view *s, const struct samples_log *log)
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

static void add_sources(struct view_page *page, const struct samples_view *s,
                        const struct samples_summary *run, const struct samples_source *sources,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double share = samples_share((double)sources[i].samples, (double)run->samples);
        const struct line l = {.name = sources[i].name,
                               .about = sources[i].about,
                               .samples = (double)sources[i].samples,
                               .total = share,
                               .error = samples_error(run, share),
                               .source = &sources[i],
                               .moves =
                                   sources[i].n_places > 0 ? (double)sources[i].moves : (double)NAN,
                               .id = text_identity(sources[i].name.s, sources[i].name.len)};
        struct view_row *row = add_line(page, s, &l, NULL);
        struct etf_pid pid;
        if (s->by == BY_PROCESS &&
            etf_parse_pid(arena_strndup(&page->arena, l.name.s, l.name.len), &pid) == 0)
            link_process(&row->link, &pid, l.about);
    }
}

/* Native calls that held a normal scheduler. */
static void add_longest(struct view_page *page, const struct samples_view *s,
                        const struct samples_summary *run)
{
    for (size_t i = 0; i < run->n_held; i++) {
        const struct samples_held *held = &run->held[i];
        const uint64_t key[] = {text_identity(held->process.s, held->process.len),
                                text_identity(held->call.s, held->call.len), (uint64_t)i};
        const struct line l = {.name = held->call,
                               .samples = (double)held->samples,
                               .seconds = held->seconds,
                               .held = held,
                               .id = text_identity((const char *)key, sizeof key)};
        struct view_row *row = add_line(page, s, &l, NULL);
        struct etf_pid pid;
        if (etf_parse_pid(arena_strndup(&page->arena, held->process.s, held->process.len), &pid) ==
            0)
            link_process(&row->link, &pid, held->name);
    }
}

static void add_classes(struct view_page *page, const struct samples_view *s,
                        const struct samples_summary *run)
{
    static const char *const meanings[SAMPLE_CLASSES] = {
        [SAMPLE_ERLANG] = "compiled Erlang code",
        [SAMPLE_BIF] = "native functions that Erlang code called",
        [SAMPLE_GC] = "garbage collection",
        [SAMPLE_RUNTIME] = "the VM, for a process",
        [SAMPLE_NIF] = "NIF libraries, and what they called",
        [SAMPLE_SCHEDULER] = "no process: scheduling, polling, busy waiting",
        [SAMPLE_OTHER] = "other threads, and what could not be resolved",
    };
    struct samples_source classes[SAMPLE_CLASSES];
    for (int i = 0; i < SAMPLE_CLASSES; i++)
        classes[i] = (struct samples_source){
            .name = slice_of(sample_class_name((enum sample_class)i)),
            .about = slice_of(meanings[i]),
            .samples = run->classes[i],
        };
    add_sources(page, s, run, classes, SAMPLE_CLASSES);
}

static void add_codes(struct view_page *page, const struct samples_view *s,
                      const struct samples_summary *run)
{
    struct samples_source codes[FRAME_KINDS];
    double samples[FRAME_KINDS];
    samples_by_code(run, samples);
    for (int i = 0; i < FRAME_KINDS; i++)
        codes[i] = (struct samples_source){.name = slice_of(frame_kind_name((enum frame_kind)i)),
                                           .samples = llround(samples[i])};
    add_sources(page, s, run, codes, FRAME_KINDS);
}

static void add_kinds(struct view_page *page, const struct samples_view *s,
                      const struct samples_summary *run)
{
    struct samples_source kinds[SAMPLES_THREAD_KINDS];
    add_sources(page, s, run, kinds, samples_by_thread_kind(run, kinds));
}

static void add_rows(struct view_page *page, struct samples_view *s, const struct samples_log *log)
{
    const struct samples_summary *run = &log->run;
    switch (s->by) {
    case BY_FUNCTION:
        add_functions(page, s, run);
        break;
    case BY_TREE:
        add_tree(page, s, run->stacks);
        break;
    case BY_CALLERS:
        add_tree(page, s, inverted(s, log));
        break;
    case BY_FLAME:
        page->flame = run->stacks;
        page->flame_unit = samples_unit(run);
        break;
    case BY_PROCESS:
        add_sources(page, s, run, run->processes, run->n_processes);
        break;
    case BY_THREAD:
        add_sources(page, s, run, run->threads, run->n_threads);
        break;
    case BY_KIND:
        add_kinds(page, s, run);
        break;
    case BY_CLASS:
        if (!run->at_yields)
            add_classes(page, s, run);
        break;
    case BY_CODE:
        if (!run->at_yields)
            add_codes(page, s, run);
        break;
    case BY_LONGEST:
        add_longest(page, s, run);
        break;
    case SAMPLES_SORTS:
        break;
    }
}

static void samples_page(void *state, const struct model *m, int rows, int columns,
                         struct view_page *page)
{
    struct samples_view *s = state;
    const struct samples_log *log = model_samples(m);
    (void)rows;
    choose_columns(s, log && log->run.at_yields);
    page_columns(page, s->columns, s->n_columns);
    page->in_place = is_tree(s);
    page->sort_column = sorted_column(s);
    page->sort_descending = !s->ascending;
    if (!log && model_recorded(m))
        page_missing(page, m, "samples");
    else
        samples_empty(page, log, (THREADS | KINDS | CLASSES | CODES | LONGEST) & 1u << s->by);
    if (!log)
        return;
    if (s->by == BY_LONGEST && log->run.samples > 0 && !log->run.at_yields)
        snprintf(page->empty, sizeof page->empty, "%s",
                 log->run.held ? "No native call held a normal scheduler for two samples."
                               : "Not recorded: the calls that held a scheduler.");
    samples_title(page, log, model_recorded(m) != NULL, columns);
    if (page->sort_column >= 0)
        snprintf(page->order, sizeof page->order, "%s", s->columns[page->sort_column].key);
    if (stacks_total(log->run.stacks) > 0)
        add_rows(page, s, log);
    page_sort(page);
}

/* ---- what the user does to it */

static void samples_sort(void *state, const char *key, int direction)
{
    struct samples_view *s = state;
    int at = column_of(s, key);
    if (at < 0)
        return;
    bool text = !all[s->index[at]].offset, same = at == sorted_column(s);
    s->ascending = direction ? direction < 0 : same ? !s->ascending : text;
    snprintf(s->sort, sizeof s->sort, "%s", key);
}

static int set_by(struct samples_view *s, const char *word, struct error *err)
{
    int by = 0;
    while (by < SAMPLES_SORTS && strcmp(by_words[by], word) != 0)
        by++;
    if (by == SAMPLES_SORTS)
        return error_set(err, ERR_USAGE,
                         "samples are shown by function, tree, callers, flame, process, "
                         "thread, kind, class, code or longest, not \"%s\"",
                         word);
    s->by = (enum samples_by)by;
    s->ascending = false;
    s->sort[0] = '\0';
    return 0;
}

static int samples_by_word(void *state, const struct view_link *at, const char *arg,
                           struct error *err)
{
    struct samples_view *s = state;
    (void)at;
    return set_by(s, *arg ? arg : by_words[(s->by + 1) % SAMPLES_SORTS], err);
}

/* "view samples flame" */
static int samples_open(void *state, const struct view_link *link, struct error *err)
{
    return set_by(state, link->name, err);
}

static const struct view_act samples_acts[] = {{ACTION_BY, .run = samples_by_word}, {.run = NULL}};

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
    .clear = samples_clear,
    .want = samples_want,
    .page = samples_page,
    .sort = samples_sort,
    .open = samples_open,
    .hints = samples_hints,
    .acts = samples_acts,
    .runs = samples_runs,
};
