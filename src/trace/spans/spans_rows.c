/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/spans_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"

#define WAITS_MOST 16 /* rows of them below a span; what is beyond joins the last one */

double spans_us(int64_t ns)
{
    return known_or_nan(ns) / 1e3;
}

double spans_share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : (double)NAN;
}

/* ---- for programs */

struct slice spans_pid(struct arena *arena, const struct span_process *p)
{
    if (p->pid.id == 0 && p->pid.serial == 0)
        return (struct slice){0};
    return slice_of(arena_printf(arena, PID_FORMAT, PID_NUMBERS(&p->pid)));
}

struct slice spans_node(const struct spans_run *run, const struct span_process *p)
{
    return p->node.len > 0 ? p->node : slice_of(run->node);
}

struct slice spans_hex(struct arena *arena, uint64_t id)
{
    return id == 0 ? (struct slice){0} : slice_of(arena_printf(arena, "%016" PRIx64, id));
}

static struct slice spans_trace(struct arena *arena, const struct span *span)
{
    return slice_of(
        arena_printf(arena, "%016" PRIx64 "%016" PRIx64, span->trace_id[0], span->trace_id[1]));
}

static struct slice wall_text(const struct spans_rows *r, int64_t mono_ns)
{
    const int64_t wall = r->run->wall_us > 0 ? spans_run_wall_ns(r->run, mono_ns) : -1;
    char text[40];
    if (wall < 0 || !text_date_time(text, sizeof text, wall / 1000, 'T', 6))
        return (struct slice){0};
    return slice_of(arena_printf(r->arena, "%sZ", text));
}

/* What is the same for programs and people. */
static struct spans_row common_row(const struct spans_rows *r, const struct span *span)
{
    const int64_t start = spans_at(r->run->spans, span->root)->started_ns;
    return (struct spans_row){
        .name = span->process.name,
        .kind = slice_of(span_kind_key(span->kind)),
        .operation = span->operation,
        .outcome = slice_of(span_outcome_key(span->outcome)),
        .reason = span->reason,
        .words = span->words,
        .offset_us = (double)(span->started_ns - start) / 1e3,
        .duration_us = spans_us(span_duration(span)),
        .queued_us = spans_us(span->queued_ns),
        .self_us = spans_us(span_self_ns(span)),
        .nested_us = spans_us(span->nested_ns),
        .wait_us = spans_us(span->wait_ns),
        .unattributed_us = spans_us(span->unattributed_ns),
        .off_cpu_us = spans_us(span->off_cpu_ns),
        .ended_at_least = span->ended_at_least,
        .leaf = span->leaf,
        .who = span->process,
        .ended = span->outcome,
        .depth = span->depth,
    };
}

struct spans_row spans_span_row(const struct spans_rows *r, const struct span *span)
{
    struct spans_row row = common_row(r, span);
    row.trace_id = spans_trace(r->arena, span);
    row.span_id = spans_hex(r->arena, span->span_id);
    row.parent_span_id = spans_hex(r->arena, span->parent_span_id);
    row.node = spans_node(r->run, &span->process);
    row.pid = spans_pid(r->arena, &span->process);
    row.started_at = wall_text(r, span->started_ns);
    row.ended_at = wall_text(r, span->ended_ns);
    row.waiting_on_pid = spans_pid(r->arena, &span->waiting_on);
    row.waiting_on_name = span->waiting_on.name;
    return row;
}

struct spans_row spans_wait_row(const struct spans_rows *r, const struct span_wait *wait)
{
    const struct spans *s = r->run->spans;
    const struct span *root = spans_at(s, spans_at(s, wait->span)->root);
    const bool known = wait->kind != SPAN_WAIT_OTHER && wait->kind != SPAN_WAIT_OFF_CPU;
    struct spans_row row = {
        .kind = slice_of(span_wait_key(wait->kind)),
        .pid = spans_pid(r->arena, &wait->process),
        .name = wait->process.name,
        .at = wait->at,
        .in = wait->in,
        .offset_us = (double)(wait->from_ns - root->started_ns) / 1e3,
        .duration_us = spans_us(wait->to_ns - wait->from_ns),
        .net_us = spans_us(wait->net_ns),
        .at_most = wait->at_most,
    };
    if (wait->on != SPAN_NONE)
        row.on_span_id = spans_hex(r->arena, spans_at(s, wait->on)->span_id);
    if (known) {
        row.node = spans_node(r->run, &wait->process);
        row.outcome = slice_of(span_outcome_key(wait->outcome));
    }
    return row;
}

struct spans_row spans_step_row(const struct spans_rows *r, const struct span *root,
                                const struct span_step *step)
{
    const int64_t ns = step->to_ns - step->from_ns;
    return (struct spans_row){
        .span_id = spans_hex(r->arena, spans_at(r->run->spans, step->span)->span_id),
        .part = slice_of(span_step_key(step->kind)),
        .at = step->at,
        .offset_us = (double)(step->from_ns - root->started_ns) / 1e3,
        .duration_us = spans_us(ns),
        .share = spans_share(ns, span_duration(root)),
    };
}

/* ---- texts for people */

static struct slice join_texts(const struct spans_rows *r, struct slice a, const char *between,
                               struct slice b)
{
    struct buf text;
    buf_init(&text, 0);
    buf_put(&text, a.s, a.len);
    buf_puts(&text, between);
    buf_put(&text, b.s, b.len);
    return slice_take(r->arena, &text);
}

static struct slice with_at(const struct spans_rows *r, struct slice what, struct slice at)
{
    return at.len == 0 ? what : join_texts(r, join_texts(r, what, "(", at), ")", slice_of(""));
}

/* Its name, else its pid; with the node where that is another one. Empty: unknown. */
static struct slice process_text(const struct spans_rows *r, const struct span_process *p)
{
    const struct slice text = p->name.len > 0 ? p->name : spans_pid(r->arena, p);
    return p->node.len > 0 ? join_texts(r, text, text.len > 0 ? " on " : "on ", p->node) : text;
}

static struct slice outcome_text(const struct spans_rows *r, enum span_outcome outcome,
                                 struct slice reason)
{
    const struct slice key = slice_of(span_outcome_key(outcome));
    return reason.len > 0 && !slice_equal(reason, key) ? join_texts(r, key, " ", reason) : key;
}

static struct slice operation_text(const struct span *span)
{
    return span->operation.len > 0 ? span->operation : slice_of(span_kind_key(span->kind));
}

/* What a wait is called in the tree. */
static struct slice wait_text(const struct spans_rows *r, const struct span_wait *w, bool raw)
{
    const bool other = w->kind >= SPAN_WAIT_OTHER;
    if (!other && !raw)
        return slice_of("wait");
    return with_at(r, slice_of(span_wait_key(other ? w->kind : SPAN_WAIT_OTHER)),
                   w->kind == SPAN_WAIT_OFF_CPU ? (struct slice){0}
                   : other                      ? w->at
                                                : w->in);
}

/* "module:function/arity"; else empty. */
static struct slice function_in(struct slice text)
{
    const char *colon = text.len > 0 ? memchr(text.s, ':', text.len) : NULL;
    const char *slash = text.len > 0 ? memchr(text.s, '/', text.len) : NULL;
    return colon && slash && colon < slash && text.s[text.len - 1] != '/' ? text
                                                                          : (struct slice){0};
}

/* ---- bars */

/* The rows of a root, so far. */
struct tree {
    const struct spans_rows *r;
    const struct span *root;
    spans_row_add *add;
    void *to;
    size_t n;
};

/* Of `room` in all. */
static void add_bar(struct tree *t, struct bars *bars, size_t room, int64_t from, int64_t to,
                    enum bar_mark mark)
{
    const struct span *root = t->root;
    const double whole = (double)span_duration(root);
    const double start = (double)(from - root->started_ns) / whole;
    const double end = (double)(to - root->started_ns) / whole;
    if (!(whole > 0) || end < 0 || start > 1)
        return;
    if (!bars->at)
        bars->at = arena_alloc(t->r->arena, room * sizeof *bars->at);
    bars->at[bars->n++] = (struct bar){start > 0 ? start : 0, end < 1 ? end : 1, mark};
}

/* ---- rows for people */

struct spans_row spans_shown_row(const struct spans_rows *r, uint32_t index)
{
    const struct span *span = spans_at(r->run->spans, index);
    struct spans_row row = common_row(r, span);
    row.index = index;
    row.id = row.link_id = span->span_id;
    row.function = function_in(span->operation);
    row.is_function = row.function.len > 0;
    row.operation = operation_text(span);
    row.name = process_text(r, &span->process);
    row.outcome = outcome_text(r, span->outcome, span->reason);
    if (span->ended_at_least || span->outcome == SPAN_OPEN)
        row.duration_bound = BOUND_AT_LEAST;
    if (!r->run->full && row.self_us > 0)
        row.self_bound = BOUND_AT_MOST;
    return row;
}

/* One without times. */
static struct spans_row words_row(struct slice words, struct slice name, uint64_t id,
                                  uint32_t depth)
{
    return (struct spans_row){.is = SPANS_ROW_WORDS,
                              .operation = words,
                              .name = name,
                              .id = id,
                              .depth = depth,
                              .offset_us = NAN,
                              .duration_us = NAN,
                              .queued_us = NAN,
                              .self_us = NAN,
                              .share = NAN};
}

static void add_left_out(const struct spans_rows *r, const char *what, size_t n, spans_row_add *add,
                         void *to)
{
    char number[32];
    text_integer(number, sizeof number, (int64_t)n);
    const char *words =
        arena_printf(r->arena, "%s %s more %s", r->ascii ? "..." : "…", number, what);
    const struct spans_row row = words_row(slice_of(words), (struct slice){0}, 1, 0);
    if (n > 0)
        add(to, &row);
}

uint32_t *spans_counted(struct arena *arena, const struct spans *s)
{
    const uint32_t n = (uint32_t)spans_count(s);
    uint32_t *counts = arena_alloc(arena, (n + 1) * sizeof *counts);
    for (uint32_t i = 0; i < n; i++)
        counts[spans_at(s, i)->root]++;
    return counts;
}

struct spans_row spans_request_row(const struct spans_rows *r, uint32_t root, uint32_t n_spans)
{
    const struct span *span = spans_at(r->run->spans, root);
    const struct span_wait *w = spans_largest_wait(r->run->spans, span);
    struct spans_row row = spans_shown_row(r, root);
    row.id = row.link_id = span->trace_id[0];
    row.spans = n_spans;
    row.wall_us =
        r->run->wall_us > 0 ? spans_run_wall_ns(r->run, span->started_ns) / 1000 : (int64_t)-1;
    row.wait_us = w ? spans_us(w->net_ns) : (double)NAN;
    if (w && w->at_most && w->net_ns > 0)
        row.wait_bound = BOUND_AT_MOST;
    if (w)
        row.on = w->kind == SPAN_WAIT_OTHER ? wait_text(r, w, false) : process_text(r, &w->process);
    return row;
}

/* ---- the tree of one */

static void add_tree_row(struct tree *t, const struct spans_row *row)
{
    t->add(t->to, row);
    t->n++;
}

static void add_span_row(struct tree *t, uint32_t index)
{
    const struct span *span = spans_at(t->r->run->spans, index);
    struct spans_row row = spans_shown_row(t->r, index);
    const size_t room = span->n_waits + 3;
    if (span->parent == SPAN_NONE)
        row.queued_us = NAN;
    else if (span->queued_ns > 0)
        add_bar(t, &row.bars, room, span->started_ns - span->queued_ns, span->started_ns,
                BAR_QUEUED);
    add_bar(t, &row.bars, room, span->started_ns, span->ended_ns, span->leaf ? BAR_LOST : BAR_RAN);
    for (uint32_t i = 0; i < span->n_waits; i++) {
        const struct span_wait *w = spans_wait(t->r->run->spans, span->wait + i);
        add_bar(t, &row.bars, room, w->from_ns, w->to_ns, BAR_WAITED);
    }
    if (span->ended_at_least)
        add_bar(t, &row.bars, room, span->ended_ns, span->ended_ns, BAR_ON);
    if (span->leaf)
        row.self_us = NAN;
    add_tree_row(t, &row);
}

/* What --context has read of the root's process. */
static void add_context(struct tree *t)
{
    const struct span *root = t->root;
    for (uint32_t i = 0; i < root->n_callers; i++) {
        const struct span_process caller = spans_caller(t->r->run->spans, root, i);
        struct spans_row row =
            words_row(slice_of("called by"), process_text(t->r, &caller), 2 + i, 1);
        row.link_id = root->span_id;
        row.who = caller;
        add_tree_row(t, &row);
    }
    struct spans_row row = words_row(slice_of("callers and OpenTelemetry: not read while it ran"),
                                     (struct slice){0}, 2 + SPAN_CALLERS, 1);
    if (root->otel_trace.len > 0)
        row.operation =
            join_texts(t->r, join_texts(t->r, slice_of("OpenTelemetry"), " ", root->otel_trace),
                       " ", root->otel_span);
    if (root->otel_trace.len > 0 || (t->r->run->context && !root->context_read))
        add_tree_row(t, &row);
}

/* No span of the tree explains it, or all are asked for. */
static bool stands_alone(const struct spans_rows *r, const struct span_wait *w)
{
    if (w->net_ns <= 0 || w->kind == SPAN_WAIT_NESTED)
        return false;
    return w->kind >= SPAN_WAIT_OTHER || r->raw_waits || w->on == SPAN_NONE ||
           (r->failed_waits && w->outcome != SPAN_OK);
}

/* In one row: preemptions, and waits in one function. */
static bool is_same_wait(const struct span_wait *a, const struct span_wait *b)
{
    return a == b || (a->kind == b->kind && a->kind >= SPAN_WAIT_OTHER &&
                      (a->kind == SPAN_WAIT_OFF_CPU || slice_equal(a->at, b->at)));
}

/* Those in one row. */
struct waits {
    const struct span_wait *first;
    size_t n;
    int64_t ns;
    bool mixed;
    struct bars bars;
};

static void add_wait(struct tree *t, const struct span *span, struct waits *waits)
{
    const struct spans_rows *r = t->r;
    const struct span_wait *w = waits->first;
    const bool other = waits->mixed || w->kind >= SPAN_WAIT_OTHER;
    const uint64_t id[3] = {span->span_id, w->kind, (uint64_t)w->from_ns};
    struct spans_row row =
        words_row(waits->mixed ? slice_of("more waits") : wait_text(r, w, r->raw_waits),
                  (struct slice){0}, text_identity((const char *)id, sizeof id), span->depth + 1);
    if (waits->n > 1)
        row.operation = slice_of(arena_printf(r->arena, "%.*s %s%zu", (int)row.operation.len,
                                              row.operation.s, r->ascii ? "x" : "×", waits->n));
    row.is = SPANS_ROW_WAIT;
    row.kind = slice_of("wait");
    row.offset_us = (double)(w->from_ns - t->root->started_ns) / 1e3;
    row.duration_us = spans_us(waits->ns);
    row.ended = w->outcome;
    row.link_id = span->span_id;
    row.who = other ? span->process : w->process;
    row.function = function_in(w->in.len > 0 ? w->in : w->at);
    row.bars = waits->bars;
    if (!other) {
        row.name = process_text(r, &w->process);
        row.outcome = outcome_text(r, w->outcome, (struct slice){0});
        row.duration_bound = w->at_most && waits->ns > 0 ? BOUND_AT_MOST : BOUND_NONE;
    }
    add_tree_row(t, &row);
}

static void add_waits(struct tree *t, const struct span *span)
{
    struct waits all[WAITS_MOST] = {0};
    size_t n = 0;
    for (uint32_t i = 0; i < span->n_waits; i++) {
        const struct span_wait *w = spans_wait(t->r->run->spans, span->wait + i);
        size_t k = 0;
        if (!stands_alone(t->r, w))
            continue;
        while (k < n && !is_same_wait(all[k].first, w))
            k++;
        k = k < WAITS_MOST ? k : WAITS_MOST - 1;
        n = k < n ? n : k + 1;
        if (all[k].n++ == 0)
            all[k].first = w;
        all[k].mixed = all[k].mixed || !is_same_wait(all[k].first, w);
        all[k].ns += w->net_ns;
        add_bar(t, &all[k].bars, span->n_waits - i, w->from_ns, w->to_ns, BAR_LOST);
    }
    for (size_t i = 0; i < n; i++)
        add_wait(t, span, &all[i]);
}

void spans_tree_rows(const struct spans_rows *r, uint32_t root, spans_row_add *add, void *to)
{
    struct tree t = {.r = r, .root = spans_at(r->run->spans, root), .add = add, .to = to};
    size_t left_out = 0;
    for (uint32_t at = root; at != SPAN_NONE; at = span_after(r->run->spans, at)) {
        if (t.n >= r->most) {
            left_out++;
            continue;
        }
        add_span_row(&t, at);
        if (at == root)
            add_context(&t);
        add_waits(&t, spans_at(r->run->spans, at));
    }
    add_left_out(r, "spans", left_out, add, to);
}

/* ---- the critical path of one */

static void add_step_row(struct tree *t, const struct span_step *step)
{
    static const enum bar_mark marks[SPAN_STEPS] = {[SPAN_STEP_SELF] = BAR_RAN,
                                                    [SPAN_STEP_QUEUED] = BAR_QUEUED,
                                                    [SPAN_STEP_WAIT] = BAR_LOST,
                                                    [SPAN_STEP_OFF_CPU] = BAR_LOST};
    const struct span *span = spans_at(t->r->run->spans, step->span);
    const uint64_t id[2] = {span->span_id, (uint64_t)step->from_ns};
    struct spans_row row = spans_step_row(t->r, t->root, step);
    row.index = step->span;
    row.link_id = span->span_id;
    row.id = text_identity((const char *)id, sizeof id);
    row.operation = operation_text(span);
    row.name = process_text(t->r, &span->process);
    row.part = with_at(t->r, row.part, step->at);
    row.who = span->process;
    row.is_function = function_in(span->operation).len > 0;
    row.function = function_in(function_in(step->at).len > 0 ? step->at : span->operation);
    if (step->kind == SPAN_STEP_SELF && !t->r->run->full)
        row.duration_bound = BOUND_AT_MOST;
    add_bar(t, &row.bars, 1, step->from_ns, step->to_ns, marks[step->kind]);
    add_tree_row(t, &row);
}

void spans_path_rows(const struct spans_rows *r, uint32_t root, spans_row_add *add, void *to)
{
    struct tree t = {.r = r, .root = spans_at(r->run->spans, root), .add = add, .to = to};
    size_t n, left_out = 0;
    struct span_step *steps = spans_critical(r->run->spans, root, &n);
    for (size_t i = 0; i < n; i++)
        if (i + 1 < n && steps[i + 1].span == steps[i].span && steps[i + 1].kind == steps[i].kind &&
            slice_equal(steps[i + 1].at, steps[i].at))
            steps[i + 1].from_ns = steps[i].from_ns;
        else if (t.n < r->most)
            add_step_row(&t, &steps[i]);
        else
            left_out++;
    free(steps);
    add_left_out(r, "steps", left_out, add, to);
}
