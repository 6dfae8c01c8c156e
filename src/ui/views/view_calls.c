/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counted calls: functions, modules or applications of the last window. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/trace/calls_fields.h"
#include "beamtop/trace/calls_log.h"
#include "ui/widgets/rows.h"
#include "views.h"

enum calls_by { BY_FUNCTION, BY_MODULE, BY_APPLICATION };
static const struct rows_of calls_rows[] = {
    [BY_FUNCTION] = {"function", &calls_function_fields, "calls", NULL, NULL, false},
    [BY_MODULE] = {"module", &calls_module_fields, "calls", NULL, NULL, false},
    [BY_APPLICATION] = {"application", &calls_application_fields, "calls", NULL, NULL, false},
};

/* ---- rows */

static void add_functions(struct view_page *page, const struct rows *s,
                          const struct calls_window *w, enum print_syntax syntax)
{
    for (size_t i = 0; i < w->n_rows; i++) {
        struct calls_function f = w->rows[i];
        f.name = calls_function_name(&page->arena, &f, syntax);
        struct view_row *row = rows_add(s, page, &f);
        row->id = text_identity(f.name.s, f.name.len);
        link_name(&row->link, TARGET_FUNCTION, f.name);
        for (size_t k = 0; f.lost && k < s->n; k++)
            if (calls_field_is_timed(s->fields[k]))
                row->cells[k] = (struct text_span){"lost", 4, STYLE_WARN};
    }
}

static void add_sums(struct view_page *page, const struct rows *s, const struct calls_sum *sums,
                     size_t n, enum print_syntax syntax)
{
    for (size_t i = 0; i < n; i++) {
        struct calls_sum sum = sums[i];
        sum.name = calls_sum_name(&page->arena, &sum, syntax);
        struct view_row *row = rows_add(s, page, &sum);
        row->id = text_identity(sum.name.s, sum.name.len);
        if (sum.module.len > 0) {
            const struct slice name = calls_sum_name(&page->arena, &sum, PRINT_ERLANG);
            const char *all = arena_printf(&page->arena, "%.*s:_", (int)name.len, name.s);
            link_name(&row->link, TARGET_FUNCTION, slice_of(all));
        } else if (sum.application.len > 0) {
            link_name(&row->link, TARGET_APP, sum.application);
        }
    }
}

/* ---- the title */

static const char *const phases[] = {
    [SESSION_PREPARING] = "preparing", [SESSION_ASKING] = "press y or n",
    [SESSION_RUNNING] = "counting",    [SESSION_TIMING] = "measuring the top functions",
    [SESSION_WAITING] = "counting",    [SESSION_VERIFYING] = "verifying",
    [SESSION_ENDING] = "verifying",    [SESSION_ENDED] = "ended",
    [SESSION_FAILED] = "failed",
};

static void add_part(char *out, size_t size, const char *text)
{
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s", used ? ", " : "", text);
}

/* What the window lacks because of the cost limit. */
static void append_limits(char *out, size_t size, const struct calls_window *w, int columns)
{
    char text[200];
    if (w->asked_us != CALLS_UNKNOWN) {
        snprintf(text, sizeof text, "%.2g of %.2g s", (double)w->interval_us / 1e6,
                 (double)w->asked_us / 1e6);
        add_part(out, size, text);
    }
    if (w->n_excluded == 0)
        return;
    const struct slice *first = &w->excluded[0];
    if (columns < 100)
        snprintf(text, sizeof text, "without %zu functions", w->n_excluded);
    else
        snprintf(text, sizeof text, "without %.*s", (int)(first->len < 60 ? first->len : 60),
                 first->s);
    add_part(out, size, text);
    if (columns >= 100 && w->n_excluded > 1) {
        snprintf(text, sizeof text, "%zu more", w->n_excluded - 1);
        add_part(out, size, text);
    }
}

static void summarise_calls(struct view_page *page, const struct calls_log *log, bool recorded,
                            int columns)
{
    const struct calls_state *state = &log->state;
    char n[32], text[200], *out = page->summary;
    size_t size = sizeof page->summary;
    add_part(out, size, recorded ? "recorded" : phases[state->status.phase]);
    if (state->status.phase == SESSION_ENDED && state->status.check.done)
        add_part(out, size, state->status.check.clean ? "nothing left" : state->status.check.text);
    if (!log->has_window)
        return;
    const struct calls_window *w = &log->window;
    snprintf(text, sizeof text, "window %llu%s", (unsigned long long)w->number,
             w->cut ? " (stopped early)" : "");
    add_part(out, size, text);
    snprintf(text, sizeof text, "%s calls/s", text_count(n, sizeof n, w->calls_per_s));
    add_part(out, size, text);
    append_limits(out, size, w, columns);
    if (columns < 100)
        return;
    if (w->n_excluded == 0) {
        snprintf(text, sizeof text, "%s functions",
                 text_integer(n, sizeof n, (int64_t)w->functions));
        add_part(out, size, text);
    }
    if (!isnan(w->load)) {
        snprintf(text, sizeof text, "cost %s", calls_cost_text(n, sizeof n, w->load));
        add_part(out, size, text);
    }
    if (w->lost > 0) {
        snprintf(text, sizeof text, "%llu lost by a reload", (unsigned long long)w->lost);
        add_part(out, size, text);
    }
    if (*w->timed_why)
        add_part(out, size, w->timed_why);
}

/* Counting is over and has no window. */
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

static void tell_none(struct view_page *page)
{
    char key[64];
    page_key(page, CONTEXT_TABLE, ACTION_CALLS, key, sizeof key);
    snprintf(page->empty, sizeof page->empty, "No calls counted yet. %s %s to choose functions.",
             key[0] == ':' && key[1] ? "Type" : "Press", key);
}

static void tell_empty(struct view_page *page, const struct model *m, const struct calls_log *log,
                       const struct rows *s)
{
    char *out = page->empty;
    size_t size = sizeof page->empty;
    if (model_recorded(m) && !log)
        page_missing(page, m, "counted calls");
    else if (model_recorded(m) && s->by == BY_APPLICATION)
        page_missing(page, m, "the applications of functions");
    else if (!log)
        tell_none(page);
    else if (log->state.status.phase == SESSION_FAILED)
        snprintf(out, size, "Nothing was counted: %.400s", log->state.status.error.text);
    else if (log->has_window)
        snprintf(out, size, "Nothing that is counted was called in this window.");
    else if (calls_log_runs(log))
        snprintf(out, size, "The first window is not over yet.");
    else
        tell_why_none(out, size, &log->state);
}

static void calls_page(void *state, const struct model *m, struct view_page *page)
{
    struct rows *s = state;
    const struct calls_log *log = model_calls(m);
    const struct node_info *node = model_node(m);
    const struct calls_window *w = log && log->has_window ? &log->window : NULL;
    enum print_syntax syntax = node && node->elixir.len > 0 ? PRINT_ELIXIR : PRINT_ERLANG;
    rows_begin(s, page, w && s->by == BY_FUNCTION ? calls_function_columns(w) : NULL);
    tell_empty(page, m, log, s);
    if (log)
        summarise_calls(page, log, model_recorded(m) != NULL, page->pane_columns);
    if (!w)
        page->order[0] = '\0';
    else if (s->by == BY_FUNCTION)
        add_functions(page, s, w, syntax);
    else if (s->by == BY_MODULE)
        add_sums(page, s, w->modules, w->n_modules, syntax);
    else
        add_sums(page, s, w->applications, w->n_applications, syntax);
    page_sort(page);
}

static const struct view_act calls_acts[] = {{ACTION_BY, .run = rows_by}, {.run = NULL}};

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
    .shown_by = ACTION_CALLS,
    .state_bytes = sizeof(struct rows),
    .rows = calls_rows,
    .n_rows = ARRAY_LEN(calls_rows),
    .page = calls_page,
    .sort = rows_sort,
    .hints = calls_hints,
    .acts = calls_acts,
    .runs = calls_runs,
};
