/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the view of causal spans: requests, the tree of one, its critical path, sums. */
#include "spans_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/known.h"
#include "beamtop/base/text.h"

/* clang-format off */
#define ROWS_MOST 2000u /* of a tree or a path */
#define WAITS_MOST 16u  /* rows of them below a span */
#define DEEPEST 12u     /* levels that are indented */
/* clang-format on */

double spans_seconds(int64_t ns)
{
    return known_or_nan(ns) / 1e9;
}

static double part_of(int64_t ns, int64_t whole)
{
    return whole > 0 ? (double)ns / (double)whole : (double)NAN;
}

/* ---- texts */

static struct slice text_of(struct view_page *page, const char *text)
{
    size_t len = strlen(text);
    return (struct slice){arena_strndup(&page->arena, text, len), len};
}

static struct slice joined(struct view_page *page, struct slice a, const char *between,
                           struct slice b)
{
    size_t middle = strlen(between), len = a.len + middle + b.len;
    char *text = arena_alloc(&page->arena, len + 1);
    if (a.len > 0)
        memcpy(text, a.s, a.len);
    memcpy(text + a.len, between, middle);
    if (b.len > 0)
        memcpy(text + a.len + middle, b.s, b.len);
    return (struct slice){text, len};
}

static bool has_pid(const struct span_process *p)
{
    return p->pid.id != 0 || p->pid.serial != 0;
}

/* Its name, else its pid; with the node where that is another one. Empty: unknown. */
static struct slice process_text(struct view_page *page, const struct span_process *p)
{
    char pid[48];
    struct slice text = p->name;
    if (text.len == 0 && has_pid(p))
        text = text_of(page, pid_text(pid, sizeof pid, &p->pid));
    return p->node.len > 0 ? joined(page, text, text.len > 0 ? " on " : "on ", p->node) : text;
}

static struct slice outcome_text(struct view_page *page, enum span_outcome outcome,
                                 struct slice reason)
{
    struct slice key = slice_of(span_outcome_key(outcome));
    bool says_more = reason.len > 0 && !slice_equal(reason, key);
    return says_more ? joined(page, key, " ", reason) : key;
}

static enum style outcome_style(enum span_outcome outcome)
{
    switch (outcome) {
    case SPAN_OK:
        return STYLE_NORMAL;
    case SPAN_UNKNOWN:
        return STYLE_DIM;
    case SPAN_OPEN:
    case SPAN_ELSEWHERE:
    case SPAN_LATE:
        return STYLE_WARN;
    case SPAN_EXCEPTION:
    case SPAN_EXIT:
    case SPAN_TIMEOUT:
    case SPAN_NOPROC:
        return STYLE_ERROR;
    case SPAN_OUTCOMES:
        break;
    }
    return STYLE_NORMAL;
}

static struct slice operation_text(const struct span *span)
{
    return span->operation.len > 0 ? span->operation : slice_of(span_kind_key(span->kind));
}

/* What a wait is called in the tree. */
static struct slice wait_text(struct view_page *page, const struct span_wait *w, bool raw)
{
    bool other = w->kind >= SPAN_WAIT_OTHER;
    struct slice key = slice_of(span_wait_key(other ? w->kind : SPAN_WAIT_OTHER));
    struct slice at = other ? w->at : w->in;
    if (!other && !raw)
        return slice_of("wait");
    if (w->kind == SPAN_WAIT_OFF_CPU || at.len == 0)
        return key;
    return joined(page, joined(page, key, "(", at), ")", slice_of(""));
}

/* ---- links */

/* "module:function/arity" */
static bool is_function(struct slice text)
{
    const char *colon = text.len > 0 ? memchr(text.s, ':', text.len) : NULL;
    const char *slash = text.len > 0 ? memchr(text.s, '/', text.len) : NULL;
    return colon && slash && colon < slash && text.s[text.len - 1] != '/';
}

static void link_span(struct view_row *row, enum link_kind kind, uint64_t id,
                      const struct span_process *process, struct slice function)
{
    link_name(&row->link, kind, is_function(function) ? function : (struct slice){0});
    row->link.id = id;
    if (process->node.len == 0)
        row->link.pid = process->pid;
}

/* ---- bars */

/* Parts of time from `from` on, over `whole` ns, in the order in which they are drawn. */
struct bars {
    struct view_bar *at;
    size_t n, room;
    int64_t from, whole;
};

static struct bars bars_new(struct view_page *page, const struct span *root, size_t room)
{
    return (struct bars){.at = arena_alloc(&page->arena, (room + 1) * sizeof(struct view_bar)),
                         .room = room,
                         .from = root->started_ns,
                         .whole = span_duration(root)};
}

static void bar(struct bars *b, int64_t from, int64_t to, enum view_bar_mark mark)
{
    if (b->n == b->room || b->whole <= 0)
        return;
    double start = (double)(from - b->from) / (double)b->whole;
    double end = (double)(to - b->from) / (double)b->whole;
    if (end < 0 || start > 1)
        return;
    b->at[b->n++] = (struct view_bar){start > 0 ? start : 0, end < 1 ? end : 1, mark};
}

static void set_bars(struct view_row *row, const struct bars *b)
{
    row->bars = b->at;
    row->n_bars = b->n;
}

/* ---- requests */

static void add_root(const struct spans_rows *r, const struct span *root, uint32_t spans)
{
    struct view_page *page = r->page;
    const struct span_wait *w = spans_largest_wait(r->run->spans, root);
    bool known = r->run->wall_us > 0;
    struct spans_cells l = {
        .name = operation_text(root),
        .name_style = STYLE_FUNCTION,
        .process = process_text(page, &root->process),
        .outcome = outcome_text(page, root->outcome, root->reason),
        .outcome_style = outcome_style(root->outcome),
        .started = known ? (double)spans_run_wall_ns(r->run, root->started_ns) / 1e9 : (double)NAN,
        .duration = spans_seconds(span_duration(root)),
        .at_least = root->ended_at_least || root->outcome == SPAN_OPEN,
        .wait = w ? spans_seconds(w->net_ns) : (double)NAN,
        .wait_at_most = w && w->at_most,
        .spans = spans,
    };
    if (w && w->kind == SPAN_WAIT_OTHER)
        l.on = wait_text(page, w, false);
    else if (w)
        l.on = process_text(page, &w->process);
    struct view_row *row = r->add(page, r->view, &l);
    row->id = root->trace_id[0];
    link_span(row, TARGET_REQUEST, root->trace_id[0], &root->process, root->operation);
}

void spans_add_roots(const struct spans_rows *r)
{
    const struct spans *spans = r->run->spans;
    uint32_t n = (uint32_t)spans_count(spans);
    uint32_t *counts = arena_alloc(&r->page->arena, (n + 1) * sizeof *counts);
    memset(counts, 0, (n + 1) * sizeof *counts);
    for (uint32_t i = 0; i < n; i++)
        counts[spans_at(spans, i)->root]++;
    for (uint32_t i = 0; i < n; i++)
        if (spans_at(spans, i)->parent == SPAN_NONE)
            add_root(r, spans_at(spans, i), counts[i]);
}

/* ---- the tree of one */

/* A row without times. */
static struct view_row *add_words(const struct spans_rows *r, struct slice name,
                                  struct slice process, uint64_t id)
{
    const struct spans_cells l = {.name = name,
                                  .name_style = STYLE_DIM,
                                  .process = process,
                                  .offset = NAN,
                                  .duration = NAN,
                                  .queued = NAN,
                                  .self = NAN,
                                  .share = NAN};
    struct view_row *row = r->add(r->page, r->view, &l);
    row->id = id;
    return row;
}

static void put_left_out(const struct spans_rows *r, const char *what, size_t n)
{
    char number[32], text[80];
    snprintf(text, sizeof text, "%s %s more %s", r->page->ascii ? "..." : "…",
             text_integer(number, sizeof number, (int64_t)n), what);
    add_words(r, text_of(r->page, text), (struct slice){0}, 1);
}

static void add_span(const struct spans_rows *r, const struct span *root, const struct span *span)
{
    struct view_page *page = r->page;
    const struct spans *spans = r->run->spans;
    bool light = !r->run->full;
    const struct spans_cells l = {
        .name = operation_text(span),
        .name_style = is_function(span->operation) ? STYLE_FUNCTION : STYLE_NORMAL,
        .process = process_text(page, &span->process),
        .kind = slice_of(span_kind_key(span->kind)),
        .outcome = outcome_text(page, span->outcome, span->reason),
        .outcome_style = outcome_style(span->outcome),
        .offset = (double)(span->started_ns - root->started_ns) / 1e9,
        .duration = spans_seconds(span_duration(span)),
        .at_least = span->ended_at_least || span->outcome == SPAN_OPEN,
        .queued = span->parent == SPAN_NONE ? (double)NAN : spans_seconds(span->queued_ns),
        .self = span->leaf ? (double)NAN : spans_seconds(span_self_ns(span)),
        .at_most = light,
    };
    struct view_row *row = r->add(page, r->view, &l);
    row->id = span->span_id;
    row->indent = 2 * (int)(span->depth < DEEPEST ? span->depth : DEEPEST);
    link_span(row, TARGET_SPAN, span->span_id, &span->process, span->operation);
    struct bars b = bars_new(page, root, span->n_waits + 3);
    if (span->parent != SPAN_NONE && span->queued_ns > 0)
        bar(&b, span->started_ns - span->queued_ns, span->started_ns, BAR_QUEUED);
    bar(&b, span->started_ns, span->ended_ns, span->leaf ? BAR_LOST : BAR_RAN);
    for (uint32_t i = 0; i < span->n_waits; i++) {
        const struct span_wait *w = spans_wait(spans, span->wait + i);
        bar(&b, w->from_ns, w->to_ns, BAR_WAITED);
    }
    if (span->ended_at_least)
        bar(&b, span->ended_ns, span->ended_ns, BAR_ON);
    set_bars(row, &b);
}

/* What --context has read of the root's process. */
static void add_context(const struct spans_rows *r, const struct span *root)
{
    for (uint32_t i = 0; i < root->n_callers; i++) {
        const struct span_process caller = spans_caller(r->run->spans, root, i);
        struct view_row *row =
            add_words(r, slice_of("called by"), process_text(r->page, &caller), 2 + i);
        row->indent = 2;
        link_span(row, TARGET_SPAN, root->span_id, &caller, (struct slice){0});
    }
    if (r->run->context && !root->context_read)
        add_words(r, slice_of("callers and OpenTelemetry: not read while it ran"),
                  (struct slice){0}, 2 + SPAN_CALLERS)
            ->indent = 2;
    if (root->otel_trace.len > 0)
        add_words(r,
                  joined(r->page, joined(r->page, slice_of("OpenTelemetry"), " ", root->otel_trace),
                         " ", root->otel_span),
                  (struct slice){0}, 2 + SPAN_CALLERS)
            ->indent = 2;
}

/* No span of the tree explains it, or all are asked for. */
static bool stands_alone(const struct span_wait *w, bool raw)
{
    bool unknown = w->kind == SPAN_WAIT_OTHER || w->kind == SPAN_WAIT_OFF_CPU;
    bool untraced = w->kind == SPAN_WAIT_CALL || w->kind == SPAN_WAIT_MESSAGE;
    return w->net_ns > 0 && (unknown || (untraced && (raw || w->on == SPAN_NONE)));
}

/* In one row: preemptions, and waits in one function. */
static bool same_wait(const struct span_wait *a, const struct span_wait *b)
{
    return a == b || (a->kind == b->kind && a->kind >= SPAN_WAIT_OTHER &&
                      (a->kind == SPAN_WAIT_OFF_CPU || slice_equal(a->at, b->at)));
}

/* Waits of a span in one row. */
struct waits {
    const struct span_wait *first;
    size_t n;
    int64_t ns;
    struct bars bars;
};

/* Its row among those so far; what has no room joins the last one. */
static struct waits *waits_of(struct waits *all, size_t *n, const struct span_wait *w)
{
    size_t i = 0;
    while (i < *n && !same_wait(all[i].first, w))
        i++;
    if (i == *n && i == WAITS_MOST)
        return &all[WAITS_MOST - 1];
    if (i == *n)
        all[(*n)++] = (struct waits){.first = w};
    return &all[i];
}

static struct slice waits_text(const struct spans_rows *r, const struct waits *waits, bool mixed)
{
    struct view_page *page = r->page;
    char times[40];
    snprintf(times, sizeof times, "%zu", waits->n);
    struct slice text =
        mixed ? slice_of("more waits") : wait_text(page, waits->first, r->raw_waits);
    return waits->n > 1 ? joined(page, text, page->ascii ? " x" : " ×", slice_of(times)) : text;
}

static void add_wait(const struct spans_rows *r, const struct span *root, const struct span *span,
                     const struct waits *waits, bool mixed)
{
    struct view_page *page = r->page;
    const struct span_wait *w = waits->first;
    bool other = mixed || w->kind >= SPAN_WAIT_OTHER;
    const struct spans_cells l = {
        .name = waits_text(r, waits, mixed),
        .name_style = STYLE_DIM,
        .process = other ? (struct slice){0} : process_text(page, &w->process),
        .kind = slice_of("wait"),
        .outcome = other ? (struct slice){0} : outcome_text(page, w->outcome, (struct slice){0}),
        .outcome_style = outcome_style(w->outcome),
        .offset = (double)(w->from_ns - root->started_ns) / 1e9,
        .duration = spans_seconds(waits->ns),
        .duration_at_most = !other && w->at_most,
        .queued = NAN,
        .self = NAN,
    };
    struct view_row *row = r->add(page, r->view, &l);
    const uint64_t id[3] = {span->span_id, w->kind, (uint64_t)w->from_ns};
    row->id = text_identity((const char *)id, sizeof id);
    row->indent = 2 * (int)(span->depth + 1 < DEEPEST ? span->depth + 1 : DEEPEST);
    link_span(row, TARGET_SPAN, span->span_id, other ? &span->process : &w->process,
              w->in.len > 0 ? w->in : w->at);
    set_bars(row, &waits->bars);
}

static void add_waits(const struct spans_rows *r, const struct span *root, const struct span *span)
{
    const struct spans *spans = r->run->spans;
    struct waits all[WAITS_MOST];
    size_t n = 0;
    bool mixed = false;
    for (uint32_t i = 0; i < span->n_waits; i++) {
        const struct span_wait *w = spans_wait(spans, span->wait + i);
        if (!stands_alone(w, r->raw_waits))
            continue;
        struct waits *waits = waits_of(all, &n, w);
        if (waits->n == 0)
            waits->bars = bars_new(r->page, root, span->n_waits - i);
        mixed |= !same_wait(waits->first, w);
        bar(&waits->bars, w->from_ns, w->to_ns, BAR_LOST);
        waits->ns += w->net_ns;
        waits->n++;
    }
    for (size_t i = 0; i < n; i++)
        add_wait(r, root, span, &all[i], mixed && i + 1 == WAITS_MOST);
}

/* The next one in depth; SPAN_NONE: that was the last. */
static uint32_t next_span(const struct spans *spans, uint32_t root, uint32_t at)
{
    if (spans_at(spans, at)->child != SPAN_NONE)
        return spans_at(spans, at)->child;
    while (at != root && spans_at(spans, at)->next == SPAN_NONE)
        at = spans_at(spans, at)->parent;
    return at == root ? SPAN_NONE : spans_at(spans, at)->next;
}

void spans_add_tree(const struct spans_rows *r)
{
    const struct spans *spans = r->run->spans;
    const struct span *root = spans_at(spans, r->root);
    size_t left_out = 0;
    for (uint32_t at = r->root; at != SPAN_NONE; at = next_span(spans, r->root, at)) {
        if (r->page->n_rows >= ROWS_MOST) {
            left_out++;
            continue;
        }
        add_span(r, root, spans_at(spans, at));
        if (at == r->root)
            add_context(r, root);
        add_waits(r, root, spans_at(spans, at));
    }
    if (left_out > 0)
        put_left_out(r, "spans", left_out);
}

/* ---- the critical path of one */

static struct slice step_text(struct view_page *page, const struct span_step *step)
{
    struct slice key = slice_of(span_step_key(step->kind));
    if (step->at.len == 0)
        return key;
    return joined(page, joined(page, key, "(", step->at), ")", slice_of(""));
}

static void add_step(const struct spans_rows *r, const struct span *root,
                     const struct span_step *step)
{
    static const enum view_bar_mark marks[SPAN_STEPS] = {[SPAN_STEP_SELF] = BAR_RAN,
                                                         [SPAN_STEP_QUEUED] = BAR_QUEUED,
                                                         [SPAN_STEP_WAIT] = BAR_LOST,
                                                         [SPAN_STEP_OFF_CPU] = BAR_LOST};
    const struct span *span = spans_at(r->run->spans, step->span);
    int64_t ns = step->to_ns - step->from_ns;
    const struct spans_cells l = {
        .name = operation_text(span),
        .name_style = is_function(span->operation) ? STYLE_FUNCTION : STYLE_NORMAL,
        .process = process_text(r->page, &span->process),
        .kind = step_text(r->page, step),
        .offset = (double)(step->from_ns - root->started_ns) / 1e9,
        .duration = spans_seconds(ns),
        .share = part_of(ns, span_duration(root)),
    };
    struct view_row *row = r->add(r->page, r->view, &l);
    const uint64_t id[2] = {span->span_id, (uint64_t)step->from_ns};
    row->id = text_identity((const char *)id, sizeof id);
    link_span(row, TARGET_SPAN, span->span_id, &span->process,
              is_function(step->at) ? step->at : span->operation);
    struct bars b = bars_new(r->page, root, 1);
    bar(&b, step->from_ns, step->to_ns, marks[step->kind]);
    set_bars(row, &b);
}

void spans_add_path(const struct spans_rows *r)
{
    size_t n, left_out = 0;
    const struct span *root = spans_at(r->run->spans, r->root);
    struct span_step *steps = spans_critical(r->run->spans, r->root, &n);
    for (size_t i = 0; i < n; i++) {
        while (i + 1 < n && steps[i + 1].span == steps[i].span &&
               steps[i + 1].kind == steps[i].kind && slice_equal(steps[i + 1].at, steps[i].at)) {
            steps[i + 1].from_ns = steps[i].from_ns;
            i++;
        }
        if (r->page->n_rows < ROWS_MOST)
            add_step(r, root, &steps[i]);
        else
            left_out++;
    }
    free(steps);
    if (left_out > 0)
        put_left_out(r, "steps", left_out);
}

/* ---- sums */

void spans_add_parts(const struct spans_rows *r, const struct path_parts *parts)
{
    const struct spans *spans = r->run->spans;
    const struct span_part *part = NULL;
    while ((part = span_sum_next(parts->sum, part))) {
        const struct span *span = spans_at(spans, part->span);
        const int64_t *ns = part->ns;
        const int64_t all = path_part_ns(ns);
        struct spans_cells l = {
            .name = operation_text(span),
            .name_style = is_function(span->operation) ? STYLE_FUNCTION : STYLE_NORMAL,
            .process = process_text(r->page, &span->process),
            .duration = spans_seconds(all),
            .share = part_of(all, parts->ns),
            .slow = part_of(path_part_ns(part->slow_ns), parts->slow_ns),
            .self = spans_seconds(ns[SPAN_STEP_SELF]),
            .queued = spans_seconds(ns[SPAN_STEP_QUEUED]),
            .wait = spans_seconds(ns[SPAN_STEP_WAIT]),
            .off_cpu = r->run->full ? spans_seconds(ns[SPAN_STEP_OFF_CPU]) : (double)NAN,
            .at_most = !r->run->full,
        };
        if (part->several && span->process.name.len == 0)
            l.process = slice_of("several");
        else if (part->several)
            l.process = span->process.name;
        struct view_row *row = r->add(r->page, r->view, &l);
        row->id = text_identity(l.name.s, l.name.len) ^
                  (text_identity(l.process.s ? l.process.s : "", l.process.len) << 1);
        static const struct span_process none;
        link_span(row, TARGET_SPAN, 0, part->several ? &none : &span->process, span->operation);
    }
}
