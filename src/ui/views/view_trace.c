/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace: what is asked for, how near its caps are, and what it has brought. */
#include "ui/traces/view_trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"

#define FILTER_TERM_BYTES (64u * 1024) /* of a term's text that a filter is matched with */

static void trace_init(void *state)
{
    struct trace_view *v = state;
    v->heights = alloc_zero(TRACE_HEIGHTS, sizeof *v->heights);
}

static void trace_clear(void *state)
{
    struct trace_view *v = state;
    free(v->heights);
}

/* ---- what is open */

static struct opened *find_opened(struct trace_view *v, uint64_t id)
{
    for (size_t i = 0; i < v->n_opened; i++)
        if (v->opened[i].id == id)
            return &v->opened[i];
    return NULL;
}

static void close_opened(struct trace_view *v, struct opened *o)
{
    size_t after = v->n_opened - (size_t)(o - v->opened) - 1;
    memmove(o, o + 1, after * sizeof *o);
    v->n_opened--;
}

static void open_event(struct trace_view *v, uint64_t id, unsigned levels)
{
    if (v->n_opened == TRACE_OPENED)
        close_opened(v, &v->opened[0]);
    v->opened[v->n_opened++] = (struct opened){.id = id, .levels = levels};
}

/* Opens or closes an event (0), or shows so many levels more of it. */
static void fold_event(struct trace_view *v, uint64_t id, int levels)
{
    struct opened *o = find_opened(v, id);
    if (!o) {
        if (levels >= 0)
            open_event(v, id, levels > 0 ? 1 : TRACE_ALL_LEVELS);
        return;
    }
    unsigned now = o->levels > o->deepest ? o->deepest : o->levels;
    if (levels == 0 || (levels < 0 && now <= 1)) {
        close_opened(v, o);
        return;
    }
    o->levels = levels > 0 ? now + 1 : now - 1;
    o->n_turned = 0;
}

/* Opens or closes one term within an event that is open. */
static void fold_term(struct trace_view *v, uint64_t id, uint64_t fold)
{
    struct opened *o = find_opened(v, id);
    size_t at = 0;
    if (!o)
        return;
    while (at < o->n_turned && o->turned[at] != fold)
        at++;
    bool known = at < o->n_turned;
    if (!known && o->n_turned < TRACE_TURNED) {
        o->turned[o->n_turned++] = fold;
        return;
    }
    at = known ? at : 0;
    memmove(&o->turned[at], &o->turned[at + 1], (o->n_turned - at - 1) * sizeof o->turned[0]);
    o->n_turned--;
    if (!known)
        o->turned[o->n_turned++] = fold;
}

static int act_fold_event(void *state, const struct view_call *call)
{
    if (call->at->kind != TARGET_EVENT)
        return error_set(call->err, ERR_USAGE, "put the cursor on an event");
    fold_event(state, call->at->id,
               call->action == ACTION_FOLD_DEEPER      ? 1
               : call->action == ACTION_FOLD_SHALLOWER ? -1
                                                       : 0);
    return 0;
}

static int act_fold(void *state, const struct view_call *call)
{
    if (call->at->kind != TARGET_EVENT || call->at->fold == 0)
        return act_fold_event(state, call);
    fold_term(state, call->at->id, call->at->fold);
    return 0;
}

static const struct view_act trace_acts[] = {
    {.action = ACTION_FOLD, .folds = true, .run = act_fold},
    {.action = ACTION_FOLD_EVENT, .folds = true, .run = act_fold_event},
    {.action = ACTION_FOLD_DEEPER, .folds = true, .run = act_fold_event},
    {.action = ACTION_FOLD_SHALLOWER, .folds = true, .run = act_fold_event},
    {.run = NULL},
};

static int trace_sort_word(void *state, const char *word, struct error *err)
{
    struct trace_view *v = state;
    if (*word && strcmp(word, "time") != 0 && strcmp(word, "latency") != 0)
        return error_set(err, ERR_USAGE, "events are sorted by time or by latency, not by \"%s\"",
                         word);
    v->by_latency = *word ? strcmp(word, "latency") == 0 : !v->by_latency;
    return 0;
}

/* ---- the events */

static double latency_of(const struct trace_event *e)
{
    bool back = e->outcome == OUTCOME_RETURN || e->outcome == OUTCOME_EXCEPTION;
    return e->kind == EVENT_CALL && back ? (double)e->latency_ns : -1;
}

/* The longest first; what has no latency in the order of time behind them. */
static int compare_latency(const void *left, const void *right)
{
    const struct trace_event *a = *(const struct trace_event *const *)left;
    const struct trace_event *b = *(const struct trace_event *const *)right;
    double x = latency_of(a), y = latency_of(b);
    if (x != y)
        return x < y ? 1 : -1;
    if (a->mono_ns != b->mono_ns)
        return a->mono_ns > b->mono_ns ? 1 : -1;
    return (a->id > b->id) - (a->id < b->id);
}

static void summarise_trace(const struct trace_log *log, size_t shown, struct view_page *page)
{
    char n[32], all[32], gone[32];
    size_t len = trace_log_len(log), lines = len;
    for (size_t i = 0; i < lines; i++)
        len -= trace_log_at(log, i)->kind == EVENT_LOST && !page->match;
    uint64_t dropped = trace_log_dropped(log);
    text_integer(n, sizeof n, (int64_t)shown);
    text_integer(all, sizeof all, (int64_t)len);
    text_integer(gone, sizeof gone, (int64_t)dropped);
    if (page->match)
        snprintf(page->summary, sizeof page->summary, "%s of %s matching", n, all);
    else
        snprintf(page->summary, sizeof page->summary, "%s event%s%s%s%s", all, len == 1 ? "" : "s",
                 dropped ? ", " : "", dropped ? gone : "", dropped ? " older ones dropped" : "");
}

/* In order of time: lost calls are known only after the events behind them. */
static size_t add_in_time(const struct trace_event **all, size_t n, const struct trace_event *e)
{
    size_t at = n;
    while (e->kind == EVENT_LOST && at > 0 && all[at - 1]->mono_ns > e->mono_ns) {
        all[at] = all[at - 1];
        at--;
    }
    all[at] = e;
    return n + 1;
}

static void put_events(struct trace_view *v, const struct event_look *look, const struct model *m)
{
    size_t n = trace_log_len(look->log), shown = 0;
    struct view_page *page = look->page;
    struct event_look whole = *look;
    const struct trace_event **all = arena_alloc(&page->arena, (n + 1) * sizeof *all);
    whole.term_bytes = FILTER_TERM_BYTES;
    for (size_t i = 0; i < n; i++) {
        const struct trace_event *e = trace_log_at(look->log, i);
        if (!page->match || event_matches(&whole, e, page->match))
            shown = add_in_time(all, shown, e);
    }
    if (v->by_latency && shown > 1)
        qsort(all, shown, sizeof *all, compare_latency);
    event_fill_later(look, m);
    for (size_t i = 0; i < shown; i++) {
        struct opened *opened = find_opened(v, all[i]->id);
        if (opened)
            event_put(look, all[i], opened);
        else
            event_announce(look, all[i], v->heights);
    }
    summarise_trace(look->log, shown, page);
    if (shown == 0 && n > 0) {
        char key[64];
        page_key(page, CONTEXT_TRACE, ACTION_BACK, key, sizeof key);
        page_text(page, STYLE_DIM, "  Nothing matches the filter. ");
        page_puts(page, STYLE_KEY, key);
        page_puts(page, STYLE_DIM, " clears the filter.");
    }
}

/* What the node's counters say of calls that no event came of. */
static void put_unseen(struct view_page *page, const struct trace_log *log, int columns)
{
    const struct trace_state *state = trace_log_state(log);
    const struct trace_counts *c = &state->total;
    char text[240], calls[32] = "not known", seen[32], filtered[32];
    if (state->status.phase < SESSION_RUNNING || state->status.phase == SESSION_FAILED ||
        state->status.check.unarmed || trace_log_functions(log) == 0)
        return;
    if (c->calls_known)
        text_integer(calls, sizeof calls, (int64_t)c->calls);
    snprintf(text, sizeof text,
             "Calls of these functions, by all processes: %s. Matched: %s. Filtered away by their "
             "time or result: %s.",
             calls, text_integer(seen, sizeof seen, (int64_t)c->seen),
             text_integer(filtered, sizeof filtered, (int64_t)c->filtered));
    trace_text(page, STYLE_NORMAL, text, 0, columns);
}

static const char *why_empty(const struct trace_log *log)
{
    const struct trace_state *state = trace_log_state(log);
    static const char *const texts[SESSION_FAILED + 1] = {
        [SESSION_PREPARING] = "The node is asked which functions there are, and who else traces.",
        [SESSION_RUNNING] = "Nothing has been called yet that the patterns let pass.",
        [SESSION_ENDED] = "Nothing was called that the patterns let pass.",
    };
    if (state->status.check.unarmed)
        return "Nothing was set on the node.";
    if (trace_log_nodes(log) > 0 && state->total.seen > 0)
        return "Events have come: they are put in order by the clocks of their nodes, and shown "
               "1.5 s after they happened.";
    const char *text = texts[state->status.phase];
    return text ? text : "";
}

/* Counters of the VM, of patterns that only count: the functions that were called most. */
static int compare_calls(const void *left, const void *right)
{
    const struct trace_function *a = *(const struct trace_function *const *)left;
    const struct trace_function *b = *(const struct trace_function *const *)right;
    if (a->time_us != b->time_us)
        return a->time_us < b->time_us ? 1 : -1;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    return (a > b) - (a < b); /* in the log's order */
}

static bool counts_alone(const struct trace_log *log, const struct trace_function *f)
{
    const struct pattern *p =
        f->pattern < trace_log_patterns(log) ? trace_log_pattern(log, f->pattern)->pattern : NULL;
    return p && p->actions & (TRACE_COUNT | TRACE_TIME) && f->calls > 0;
}

static void put_counted_row(const struct event_look *look, const struct trace_function *f)
{
    struct view_page *page = look->page;
    double seconds = (double)f->time_us / 1e6;
    char text[32];
    struct buf name;
    buf_init(&name, 0);
    event_mfa(look, &f->mfa, &name);
    page_line(page);
    page_right(page, STYLE_VALUE, 14, text_integer(text, sizeof text, (int64_t)f->calls));
    if (f->time_us > 0) {
        page_right(page, STYLE_VALUE, 10, text_duration(text, sizeof text, seconds));
        page_right(page, STYLE_VALUE, 10,
                   text_duration(text, sizeof text, seconds / (double)f->calls));
    } else {
        page_printf(page, STYLE_NORMAL, "%20s", "");
    }
    page_puts(page, STYLE_NORMAL, "  ");
    page_put(page, STYLE_FUNCTION, (const char *)name.data, name.len);
    buf_clear(&name);
}

static bool put_counted(const struct event_look *look)
{
    size_t n = trace_log_functions(look->log), counted = 0;
    const struct trace_function **all = arena_alloc(&look->page->arena, (n + 1) * sizeof *all);
    for (size_t i = 0; i < n; i++)
        if (counts_alone(look->log, trace_log_function(look->log, i)))
            all[counted++] = trace_log_function(look->log, i);
    if (counted == 0)
        return false;
    qsort(all, counted, sizeof *all, compare_calls);
    page_line(look->page)->heading = true;
    page_printf(look->page, STYLE_HEADING, "%14s%10s%10s  FUNCTION", "CALLS", "TIME", "EACH");
    for (size_t i = 0; i < counted; i++)
        put_counted_row(look, all[i]);
    return true;
}

/* ---- what stands there without events */

static void put_trace_findings(struct view_page *page, const struct trace_log *log, int columns)
{
    const struct trace_state *state = trace_log_state(log);
    const struct trace_preflight *p = &state->preflight;
    const bool several = trace_log_nodes(log) > 0;
    char text[400], rate[32], took[32], share[32];
    if (state->status.phase == SESSION_FAILED && *state->status.error.text)
        trace_text(page, STYLE_ERROR, state->status.error.text, 0, columns);
    if (state->status.phase == SESSION_FAILED && *p->why_none &&
        !strstr(state->status.error.text, p->why_none))
        trace_text(page, STYLE_NORMAL, p->why_none, 0, columns);
    if (p->count_ms > 0 && !isnan(p->calls_per_s) && state->status.phase < SESSION_RUNNING) {
        snprintf(text, sizeof text,
                 "At least %s calls/s%s, counted for %s. Checking them costs %s of one "
                 "scheduler or more, whatever is shown.",
                 text_count(rate, sizeof rate, p->calls_per_s),
                 several ? " on the node with most" : "",
                 text_duration_as(took, sizeof took, p->count_ms / 1000, true),
                 text_percent(share, sizeof share, p->load));
        trace_text(page, p->expensive ? STYLE_WARN : STYLE_NORMAL, text, 0, columns);
    }
    if (*p->others) {
        snprintf(text, sizeof text, "Set by others: %s", p->others);
        trace_text(page, STYLE_WARN, text, 0, columns);
    }
}

static void put_nothing(struct view_page *page, int columns)
{
    static const char *const examples[] = {
        "lists:map(_, L) when length(L) > 100 -> return",
        "ets:insert(Table, _) -> caller",
        "MyApp.Cart.add(_, %MyApp.Item{price: p}) when p > 100 -> return",
        "receive({'$gen_call', _, _})",
    };
    static const struct {
        enum action action;
        const char *words;
    } rows[] = {
        {ACTION_TRACE, "asks what to trace"},
        {ACTION_TRACE_LIBRARY, "chooses among recent and useful patterns: slow calls, exceptions, "
                               "ETS writes"},
        {ACTION_TRACE_ROW, "in another view, starts with what is under the cursor"},
        {ACTION_ARMED, "shows active tracing of all tools on this node"},
    };
    char keys[sizeof rows / sizeof rows[0]][64];
    int widest = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        page_key(page, CONTEXT_TRACE, rows[i].action, keys[i], sizeof keys[i]);
        int width = (int)strlen(keys[i]);
        widest = width > widest ? width : widest;
    }
    page_line(page);
    trace_text(page, STYLE_VALUE,
               "The next calls of a function of this node, or messages, with "
               "arguments and results.",
               0, columns);
    page_line(page);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t line = page->n_lines;
        trace_text(page, STYLE_NORMAL, rows[i].words, widest + 4, columns);
        struct text_span *first = &page->lines[line].spans[0]; /* the blanks before the words */
        first->s = arena_printf(&page->arena, "  %-*s", widest + 2, keys[i]);
        first->style = STYLE_KEY;
    }
    page_line(page);
    trace_text(page, STYLE_NORMAL, "For example:", 0, columns);
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        trace_text(page, STYLE_FUNCTION, examples[i], 2, columns);
    page_line(page);
    trace_text(page, STYLE_DIM,
               "Caps hold on the node itself, whatever becomes of beamtop: 15 s, "
               "100 events, 200 a second, unless others are set. Nothing stays there.",
               0, columns);
}

static void trace_page(void *state, const struct model *m, struct view_page *page)
{
    const struct trace_log *log = model_trace(m);
    struct trace_view *v = state;
    struct event_look look;
    const int columns =
        page->pane_columns > 2 ? page->pane_columns - 1 : 1; /* the first one is the cursor's */
    if (log != v->log || (log && trace_log_len(log) == 0))
        v->n_opened = 0;
    v->log = log;
    if (!log) {
        if (model_recorded(m))
            page_missing(page, m, "traces");
        else
            put_nothing(page, columns);
        return;
    }
    event_look_init(&look, page, log, columns, model_utc_offset(m));
    trace_head(page, log, page->pane_rows, columns);
    page->hold = v->by_latency ? HOLD_FIRST : HOLD_LAST;
    if (v->by_latency)
        snprintf(page->order, sizeof page->order, "latency");
    page->sort_descending = true;
    if (trace_log_len(log) > 0) {
        event_titles(&look);
        page->fixed = page->n_lines;
        put_events(v, &look, m);
    }
    put_trace_findings(page, log, columns);
    if (!put_counted(&look) && trace_log_len(log) == 0) {
        trace_text(page, STYLE_DIM, why_empty(log), 0, columns);
        put_unseen(page, log, columns);
    }
}

static const struct view_order orders[] = {
    {"time", "as they happened, the newest last"},
    {"latency", "the longest first"},
    {NULL, NULL},
};

static const struct view_hint trace_hints[] = {
    {ACTION_STOP, "stop"},  {ACTION_TRACE_PAUSE, "pause"}, {ACTION_PROCESS, "process"},
    {ACTION_ENTER, "open"}, {ACTION_BACK, "back"},         {.does = NULL},
};

static bool trace_runs(const struct model *m)
{
    const struct trace_log *log = model_trace(m);
    return log && session_status_runs(&trace_log_state(log)->status);
}

const struct view_ops view_trace = {
    .name = "trace",
    .title = "Trace",
    .key = '8',
    .help = "Calls and messages of a trace, its caps, its counters.",
    .kind = VIEW_DOC,
    .context = CONTEXT_TRACE,
    .stop = ACTION_TRACE_STOP,
    .own_facts = true,
    .filters_page = true,
    .state_bytes = sizeof(struct trace_view),
    .init = trace_init,
    .clear = trace_clear,
    .needs = NEED(SYSTEM),
    .page = trace_page,
    .orders = orders,
    .acts = trace_acts,
    .sort_word = trace_sort_word,
    .hints = trace_hints,
    .runs = trace_runs,
};
