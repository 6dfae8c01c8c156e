/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counted calls: functions, modules or applications of the last window. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/print.h"
#include "beamtop/trace/calls_log.h"
#include "views.h"

enum calls_by { BY_FUNCTION, BY_MODULE, BY_APPLICATION, CALLS_SORTS };
static const char *const by_words[CALLS_SORTS] = {"function", "module", "application"};

/* A row of any of the three; unknown is NaN. */
struct line {
    struct slice name, application;
    double functions, calls, calls_per_s, share, change;
    double own_s, own_share, call_s, words, words_per_call;
    bool lost;
};

enum form { NAME, APPLICATION, COUNT, RATE, SHARE, CHANGE, SECONDS };
enum { OF_FUNCTIONS = 1 << BY_FUNCTION, OF_SUMS = 1 << BY_MODULE | 1 << BY_APPLICATION };
enum { ALWAYS, WITH_TIME, WITH_MEMORY };

#define AT(member) offsetof(struct line, member)
static const struct {
    struct view_column column;
    enum form form;
    unsigned by;
    int when;
    size_t offset;
    /* clang-format off */
} all[] = {
    {{"function", "FUNCTION", 30, false, true, true, "name"}, NAME, OF_FUNCTIONS, ALWAYS, 0},
    {{"module", "MODULE", 30, false, true, true, "name"}, NAME, 1 << BY_MODULE, ALWAYS, 0},
    {{"application", "APPLICATION", 20, false, true, true, "name"}, NAME, 1 << BY_APPLICATION,
     ALWAYS, 0},
    {{"calls", "CALLS", 9, true, false, true, "in the window"}, COUNT, 7, ALWAYS, AT(calls)},
    {{"calls_per_s", "CALLS/s", 8, true, false, true, "calls per second"}, RATE, 7, ALWAYS,
     AT(calls_per_s)},
    {{"share", "SHARE", 7, true, false, true, "of all calls of the window"}, SHARE, 7, ALWAYS,
     AT(share)},
    {{"change", "CHANGE", 8, true, false, true, "of calls/s, against the window before"}, CHANGE, 7,
     ALWAYS, AT(change)},
    {{"own", "OWN", 8, true, false, true, "own time in the second window"}, SECONDS, OF_FUNCTIONS,
     WITH_TIME, AT(own_s)},
    {{"own_share", "OWN %", 7, true, false, true, "own time, of one scheduler"}, SHARE,
     OF_FUNCTIONS, WITH_TIME, AT(own_share)},
    {{"call", "A CALL", 8, true, false, true, "own time of a call"}, SECONDS, OF_FUNCTIONS,
     WITH_TIME, AT(call_s)},
    {{"words", "WORDS", 8, true, false, true, "put on heaps in the second window"}, RATE,
     OF_FUNCTIONS, WITH_MEMORY, AT(words)},
    {{"words_per_call", "W/CALL", 7, true, false, true, "words of a call"}, RATE, OF_FUNCTIONS,
     WITH_MEMORY, AT(words_per_call)},
    {{"functions", "FUNCS", 7, true, false, true, "functions of it that were called"}, COUNT,
     OF_SUMS, ALWAYS, AT(functions)},
    {{"of", "APPLICATION", 14, false, false, true, "application of the module"}, APPLICATION,
     1 << BY_FUNCTION | 1 << BY_MODULE, ALWAYS, 0},
};
/* clang-format on */

struct calls_view {
    enum calls_by by;
    char sort[24]; /* key */
    bool ascending;
    struct view_column columns[ARRAY_LEN(all)]; /* those shown, and which they are */
    size_t index[ARRAY_LEN(all)], n_columns;
    const struct keymap *keymap; /* NULL: unknown */
};

static void calls_init(void *state)
{
    struct calls_view *s = state;
    snprintf(s->sort, sizeof s->sort, "calls");
}

static void calls_keys(void *state, const struct keymap *keymap)
{
    ((struct calls_view *)state)->keymap = keymap;
}

/* Only the session asks the node. */
static void calls_want(const void *state, int rows, struct want *want)
{
    (void)state;
    (void)rows;
    (void)want;
}

/* ---- columns */

static void choose_columns(struct calls_view *s, const struct calls_window *w)
{
    bool time = w && w->has_time, memory = w && w->has_memory;
    s->n_columns = 0;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        bool known = all[i].when == ALWAYS || (all[i].when == WITH_TIME ? time : memory);
        if (!(all[i].by & 1u << s->by) || !known)
            continue;
        s->columns[s->n_columns] = all[i].column;
        s->index[s->n_columns++] = i;
    }
}

static int sorted_column(const struct calls_view *s)
{
    for (size_t i = 0; i < s->n_columns; i++)
        if (strcmp(s->columns[i].key, s->sort) == 0)
            return (int)i;
    return -1;
}

/* ---- rows */

static double value(const struct line *l, size_t column)
{
    return all[column].offset ? *(const double *)((const char *)l + all[column].offset)
                              : (double)NAN;
}

static void put_number(struct view_page *page, struct view_row *row, size_t at, size_t column,
                       const struct line *l)
{
    char text[40];
    double v = value(l, column);
    enum style style = STYLE_NORMAL;
    if (isnan(v)) {
        bool lost = l->lost && all[column].when != ALWAYS;
        page_cell_printf(page, row, at, lost ? STYLE_WARN : STYLE_DIM, "%s",
                         lost          ? "lost"
                         : page->ascii ? "-"
                                       : "–");
        return;
    }
    switch (all[column].form) {
    case COUNT:
        text_integer(text, sizeof text, (int64_t)v);
        break;
    case RATE:
        text_count(text, sizeof text, v);
        break;
    case SHARE:
        text_percent(text, sizeof text, v);
        break;
    case CHANGE:
        style = fabs(v) < 0.05 ? STYLE_DIM : v > 0 ? STYLE_RISING : STYLE_FALLING;
        if (v >= 9.995)
            snprintf(text, sizeof text, "x%.0f", v + 1);
        else if (fabs(v) < 0.005)
            snprintf(text, sizeof text, "0%%");
        else
            snprintf(text, sizeof text, "%+.0f%%", v * 100);
        break;
    case SECONDS:
        page_duration(page, text, sizeof text, v);
        break;
    case NAME:
    case APPLICATION:
        break;
    }
    page_cell_printf(page, row, at, style, "%s", text);
}

static struct view_row *add_line(struct view_page *page, const struct calls_view *s,
                                 const struct line *l)
{
    struct view_row *row = page_row(page);
    row->id = text_identity(l->name.s, l->name.len);
    for (size_t i = 0; i < s->n_columns; i++) {
        size_t column = s->index[i];
        if (all[column].form == NAME)
            page_cell(page, row, i, s->by == BY_FUNCTION ? STYLE_FUNCTION : STYLE_NAME, l->name.s,
                      l->name.len);
        else if (all[column].form == APPLICATION)
            page_cell(page, row, i, STYLE_DIM, l->application.s, l->application.len);
        else
            put_number(page, row, i, column, l);
    }
    if (page->sort_column >= 0)
        row->key = value(l, s->index[page->sort_column]);
    return row;
}

static struct slice kept(struct view_page *page, struct buf *text)
{
    return (struct slice){arena_strndup(&page->arena, (const char *)text->data, text->len),
                          text->len};
}

/* A module's name as it is typed. */
static void put_module(struct buf *out, enum print_syntax syntax, struct slice module)
{
    struct slice alias = slice_without(module, "Elixir.");
    if (syntax == PRINT_ELIXIR && alias.len < module.len)
        buf_put(out, alias.s, alias.len);
    else
        print_atom(out, module.s, module.len);
}

static void add_functions(struct view_page *page, const struct calls_view *s,
                          const struct calls_window *w, enum print_syntax syntax)
{
    struct buf text;
    buf_init(&text, 0);
    for (size_t i = 0; i < w->n_rows; i++) {
        const struct calls_function *f = &w->rows[i];
        buf_reset(&text);
        print_mfa_as(&text, syntax, f->module, f->function, (int64_t)f->arity);
        const struct line l = {.name = kept(page, &text),
                               .application = f->application,
                               .functions = NAN,
                               .calls = (double)f->calls,
                               .calls_per_s = f->calls_per_s,
                               .share = f->share,
                               .change = f->change,
                               .own_s = calls_or_nan(f->own_us) * 1e-6,
                               .own_share = f->own_share,
                               .call_s = f->us_per_call / 1e6,
                               .words = calls_or_nan(f->words),
                               .words_per_call = f->words_per_call,
                               .lost = f->lost};
        struct view_row *row = add_line(page, s, &l);
        link_name(&row->link, TARGET_FUNCTION, l.name);
    }
    buf_clear(&text);
}

static void add_sums(struct view_page *page, const struct calls_view *s,
                     const struct calls_sum *sums, size_t n, enum print_syntax syntax)
{
    struct buf text;
    buf_init(&text, 0);
    for (size_t i = 0; i < n; i++) {
        const struct calls_sum *sum = &sums[i];
        bool module = s->by == BY_MODULE;
        buf_reset(&text);
        if (module)
            put_module(&text, syntax, sum->module);
        else if (sum->application.len > 0)
            buf_put(&text, sum->application.s, sum->application.len);
        else
            buf_puts(&text, "(none)");
        const struct line l = {.name = kept(page, &text),
                               .application = sum->application,
                               .functions = (double)sum->functions,
                               .calls = (double)sum->calls,
                               .calls_per_s = sum->calls_per_s,
                               .share = sum->share,
                               .change = sum->change};
        struct view_row *row = add_line(page, s, &l);
        if (module) {
            buf_reset(&text);
            print_atom(&text, sum->module.s, sum->module.len);
            buf_puts(&text, ":_");
            link_name(&row->link, TARGET_FUNCTION, kept(page, &text));
        } else if (sum->application.len > 0) {
            link_name(&row->link, TARGET_APP, sum->application);
        }
    }
    buf_clear(&text);
}

/* ---- the title */

static const char *const phases[] = {
    [SESSION_PREPARING] = "preparing", [SESSION_ASKING] = "press y or n",
    [SESSION_RUNNING] = "counting",    [SESSION_TIMING] = "measuring the top functions",
    [SESSION_WAITING] = "counting",    [SESSION_VERIFYING] = "verifying",
    [SESSION_ENDING] = "verifying",    [SESSION_ENDED] = "ended",
    [SESSION_FAILED] = "failed",
};

static void append(char *out, size_t size, const char *text)
{
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s", used ? ", " : "", text);
}

/* What the cost limit took from the window. */
static void append_limits(char *out, size_t size, const struct calls_window *w, int columns)
{
    char text[200];
    if (w->asked_us != CALLS_UNKNOWN) {
        snprintf(text, sizeof text, "%.2g of %.2g s", (double)w->interval_us / 1e6,
                 (double)w->asked_us / 1e6);
        append(out, size, text);
    }
    if (w->n_excluded == 0)
        return;
    const struct slice *first = &w->excluded[0];
    if (columns < 100)
        snprintf(text, sizeof text, "without %zu functions", w->n_excluded);
    else
        snprintf(text, sizeof text, "without %.*s", (int)(first->len < 60 ? first->len : 60),
                 first->s);
    append(out, size, text);
    if (columns >= 100 && w->n_excluded > 1) {
        snprintf(text, sizeof text, "%zu more", w->n_excluded - 1);
        append(out, size, text);
    }
}

static void summarise(struct view_page *page, const struct calls_log *log, bool recorded,
                      int columns)
{
    const struct calls_state *state = &log->state;
    char n[32], text[200], *out = page->summary;
    size_t size = sizeof page->summary;
    append(out, size, recorded ? "recorded" : phases[state->status.phase]);
    if (state->status.phase == SESSION_ENDED && state->status.check.done)
        append(out, size, state->status.check.clean ? "nothing left" : state->status.check.text);
    if (!log->has_window)
        return;
    const struct calls_window *w = &log->window;
    snprintf(text, sizeof text, "window %llu%s", (unsigned long long)w->number,
             w->cut ? " (stopped early)" : "");
    append(out, size, text);
    snprintf(text, sizeof text, "%s calls/s", text_count(n, sizeof n, w->calls_per_s));
    append(out, size, text);
    append_limits(out, size, w, columns);
    if (columns < 100)
        return;
    if (w->n_excluded == 0) {
        snprintf(text, sizeof text, "%s functions",
                 text_integer(n, sizeof n, (int64_t)w->functions));
        append(out, size, text);
    }
    if (!isnan(w->load)) {
        snprintf(text, sizeof text, "cost %s", calls_cost_text(n, sizeof n, w->load));
        append(out, size, text);
    }
    if (w->lost > 0) {
        snprintf(text, sizeof text, "%llu lost by a reload", (unsigned long long)w->lost);
        append(out, size, text);
    }
    if (*w->timed_why)
        append(out, size, w->timed_why);
}

/* It is over, and there is no window of it. */
static void tell_why_none(char *out, size_t size, const struct calls_state *s)
{
    char functions[32], rate[32], cost[32];
    if (s->status.error.code != ERR_NONE)
        snprintf(out, size, "It ended before its first window: %.400s", s->status.error.text);
    else if (s->expensive)
        snprintf(out, size,
                 "Nothing was counted: it would have cost %s of the node (%s "
                 "functions, about %s calls/s) and was not confirmed. Fewer functions cost less.",
                 calls_cost_text(cost, sizeof cost, s->load),
                 text_integer(functions, sizeof functions, (int64_t)s->functions),
                 text_count(rate, sizeof rate, s->calls_per_s));
    else
        snprintf(out, size, "It was stopped before its first window was complete.");
}

static void tell_none(char *out, size_t size, const struct keymap *keymap)
{
    char key[64];
    if (keymap_first_key_of(keymap, CONTEXT_TABLE, ACTION_CALLS, NULL, key, sizeof key))
        snprintf(out, size, "No calls counted yet. Press %s to choose functions.", key);
    else
        snprintf(out, size, "No calls counted yet. Type :%s to choose functions.",
                 action_table[ACTION_CALLS].name);
}

static void tell_empty(struct view_page *page, const struct model *m, const struct calls_log *log,
                       const struct calls_view *s)
{
    char *out = page->empty;
    size_t size = sizeof page->empty;
    if (model_recorded(m) && !log)
        view_missing(page, m, "counted calls");
    else if (model_recorded(m) && s->by == BY_APPLICATION)
        view_missing(page, m, "the applications of functions");
    else if (!log)
        tell_none(out, size, s->keymap);
    else if (log->state.status.phase == SESSION_FAILED)
        snprintf(out, size, "Nothing was counted: %.400s", log->state.status.error.text);
    else if (log->has_window)
        snprintf(out, size, "Nothing that is counted was called in this window.");
    else if (calls_log_runs(log))
        snprintf(out, size, "The first window is not over yet.");
    else
        tell_why_none(out, size, &log->state);
}

static void calls_page(void *state, const struct model *m, int rows, int columns,
                       struct view_page *page)
{
    struct calls_view *s = state;
    const struct calls_log *log = model_calls(m);
    const struct node_info *node = model_node(m);
    const struct calls_window *w = log && log->has_window ? &log->window : NULL;
    enum print_syntax syntax = node && node->elixir.len > 0 ? PRINT_ELIXIR : PRINT_ERLANG;
    (void)rows;
    choose_columns(s, w);
    page_columns(page, s->columns, s->n_columns);
    page->sort_column = sorted_column(s);
    page->sort_descending = !s->ascending;
    tell_empty(page, m, log, s);
    if (log)
        summarise(page, log, model_recorded(m) != NULL, columns);
    if (page->sort_column >= 0 && w)
        snprintf(page->order, sizeof page->order, "%s", s->sort);
    if (w && s->by == BY_FUNCTION)
        add_functions(page, s, w, syntax);
    else if (w && s->by == BY_MODULE)
        add_sums(page, s, w->modules, w->n_modules, syntax);
    else if (w)
        add_sums(page, s, w->applications, w->n_applications, syntax);
    page_sort(page);
}

/* ---- what the user does to it */

static void calls_sort(void *state, const char *key, int direction)
{
    struct calls_view *s = state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!(all[i].by & 1u << s->by) || strcmp(all[i].column.key, key) != 0)
            continue;
        bool text = !all[i].offset, same = strcmp(s->sort, key) == 0;
        s->ascending = direction ? direction < 0 : same ? !s->ascending : text;
        snprintf(s->sort, sizeof s->sort, "%s", key);
    }
}

static int calls_by_word(void *state, const struct view_link *at, const char *arg,
                         struct error *err)
{
    struct calls_view *s = state;
    int by = (int)(s->by + 1) % CALLS_SORTS;
    (void)at;
    if (*arg)
        for (by = 0; by < CALLS_SORTS && strcmp(by_words[by], arg) != 0; by++)
            ;
    if (by == CALLS_SORTS)
        return error_set(err, ERR_USAGE,
                         "calls are grouped by function, module or application, not \"%s\"", arg);
    s->by = (enum calls_by)by;
    choose_columns(s, NULL);
    if (sorted_column(s) < 0) {
        snprintf(s->sort, sizeof s->sort, "calls");
        s->ascending = false;
    }
    return 0;
}

static const struct view_act calls_acts[] = {{ACTION_BY, .run = calls_by_word}, {.run = NULL}};

static const struct view_hint calls_hints[] = {
    {ACTION_STOP, "stop"},       {ACTION_ENTER, "open"}, {ACTION_BY, "by"},
    {ACTION_CALLS_TIME, "time"}, {ACTION_BACK, "back"},  {.does = NULL},
};

static bool calls_runs(const struct model *m)
{
    const struct calls_log *log = model_calls(m);
    return log && calls_log_runs(log);
}

const struct view_ops view_calls = {
    .name = "calls",
    .title = "Calls",
    .key = 'C',
    .help = "Call counts and own times of functions, window by window.",
    .kind = VIEW_TABLE,
    .no_processes = true,
    .stop = ACTION_CALLS_STOP,
    .keys = calls_keys,
    .shown_by = ACTION_CALLS,
    .state_bytes = sizeof(struct calls_view),
    .init = calls_init,
    .want = calls_want,
    .page = calls_page,
    .sort = calls_sort,
    .hints = calls_hints,
    .acts = calls_acts,
    .runs = calls_runs,
};
