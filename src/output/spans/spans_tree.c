/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spans of a root: a line with a bar for each, one with its times, and its unexplained waits.
 */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "output/table.h"
#include "spans_text.h"

enum { TREE_SPANS = 200, WAIT_ROWS = 8, OFFSET_WIDTH = 8, TIME_WIDTH = 9, GAP = 2 };
enum { CELL_NONE, CELL_QUEUED, CELL_WAITS, CELL_RUNS, CELL_UNKNOWN };

struct tree {
    const struct spans_page *p;
    const struct span *root;
    int64_t to_ns; /* the end of its last span */
    size_t name, bar;
    uint8_t *cells;
};

/* ---- bars */

static size_t cell_of(const struct tree *t, int64_t at_ns)
{
    double whole = (double)(t->to_ns - t->root->started_ns);
    double at = (double)(at_ns - t->root->started_ns);
    double cell = whole > 0 ? at / whole * (double)t->bar : 0;
    if (cell <= 0)
        return 0;
    return cell < (double)t->bar ? (size_t)cell : t->bar - 1;
}

static void fill(struct tree *t, int64_t from_ns, int64_t to_ns, uint8_t with)
{
    size_t from = cell_of(t, from_ns), to = cell_of(t, to_ns);
    for (size_t i = from; i < to || i == from; i++)
        t->cells[i] = with;
}

static void put_bar(struct tree *t)
{
    static const char *const signs[] = {[CELL_NONE] = " ",
                                        [CELL_QUEUED] = "·",
                                        [CELL_WAITS] = "░",
                                        [CELL_RUNS] = "█",
                                        [CELL_UNKNOWN] = "▒"};
    static const char *const plain[] = {[CELL_NONE] = " ",
                                        [CELL_QUEUED] = ".",
                                        [CELL_WAITS] = "-",
                                        [CELL_RUNS] = "#",
                                        [CELL_UNKNOWN] = "?"};
    size_t n = t->bar;
    while (n > 0 && t->cells[n - 1] == CELL_NONE)
        n--;
    for (size_t i = 0; i < n; i++)
        buf_puts(t->p->out, t->p->ascii ? plain[t->cells[i]] : signs[t->cells[i]]);
    memset(t->cells, CELL_NONE, t->bar);
}

/* ---- lines */

/* `indent` is cut, so that a deep span has a name: "+40 " shows how deep it is. */
static const char *indented(const struct tree *t, size_t indent, const char *text)
{
    size_t most = t->name / 3;
    if (indent <= most)
        return arena_printf(&t->p->f->arena, "%*s%s", (int)indent, "", text);
    return arena_printf(&t->p->f->arena, "%*s+%zu %s", (int)(most - 4), "", indent / 2, text);
}

static void put_line(struct tree *t, const char *name, const char *offset, const char *took)
{
    struct buf *out = t->p->out;
    spans_put_fit(t->p, name, t->name, true);
    text_pad(out, 0, GAP);
    spans_put_right(t->p, offset, OFFSET_WIDTH);
    text_pad(out, 0, GAP);
    spans_put_right(t->p, took, TIME_WIDTH);
    text_pad(out, 0, GAP);
    put_bar(t);
    while (out->data[out->len - 1] == ' ')
        out->len--;
    buf_puts(out, "\n");
}

static const char *offset_of(const struct tree *t, int64_t at_ns)
{
    return spans_time(t->p, at_ns - t->root->started_ns);
}

static const char *span_name(const struct tree *t, const struct span *span)
{
    struct buf name;
    buf_init(&name, 0);
    spans_put_label(&name, span);
    const char *text = spans_safe(t->p, (struct slice){(const char *)name.data, name.len});
    buf_clear(&name);
    return text;
}

static void put_span(struct tree *t, const struct span *span)
{
    const struct spans *s = t->p->f->s;
    bool open = span->ended_at_least || span->outcome == SPAN_OPEN;
    if (span->queued_ns > 0)
        fill(t, span->started_ns - span->queued_ns, span->started_ns, CELL_QUEUED);
    fill(t, span->started_ns, span->ended_ns, span->leaf ? CELL_UNKNOWN : CELL_RUNS);
    for (uint32_t i = 0; i < span->n_waits; i++) {
        const struct span_wait *wait = spans_wait(s, span->wait + i);
        if (cell_of(t, wait->to_ns) > cell_of(t, wait->from_ns))
            fill(t, wait->from_ns, wait->to_ns, CELL_WAITS);
    }
    put_line(
        t, indented(t, 2 * (size_t)span->depth, span_name(t, span)), offset_of(t, span->started_ns),
        open ? spans_at_least(t->p, span_duration(span)) : spans_time(t->p, span_duration(span)));
}

/* ---- times: "ok, queued 12 µs, self 8.1 ms", folded at the width */

static void put_time(struct spans_line *line, const char *what, int64_t ns)
{
    if (ns > 0)
        spans_put_item(line,
                       arena_printf(&line->p->f->arena, "%s %s", what, spans_time(line->p, ns)));
}

static void put_self(struct spans_line *line, const struct span *span)
{
    const struct spans_page *p = line->p;
    if (span_self_ns(span) >= 0)
        spans_put_item(line,
                       arena_printf(&p->f->arena, "self %s",
                                    span->unattributed_ns < 0 ? spans_at_most(p, span->self_ns)
                                                              : spans_time(p, span->self_ns)));
}

static void put_waited(struct spans_line *line, const struct span *span)
{
    const struct spans_page *p = line->p;
    const struct span_process *on = &span->waiting_on;
    if (span->wait_ns <= 0 && span->nested_ns <= 0)
        return;
    if (on->pid.id == 0 && on->pid.serial == 0 && on->name.len == 0)
        put_time(line, "wait", span->wait_ns);
    else if (span->wait_ns > 0)
        spans_put_item(line, arena_printf(&p->f->arena, "wait %s (most for %s)",
                                          spans_time(p, span->wait_ns), spans_named(p, on)));
    else
        spans_put_item(line,
                       arena_printf(&p->f->arena, "waits within, most for %s", spans_named(p, on)));
}

static void put_times(struct tree *t, const struct span *span)
{
    size_t indent = 2 * (size_t)span->depth + 4;
    indent = indent < t->name ? indent : t->name;
    struct spans_line line = {t->p, indent, indent, 0};
    struct slice pid = spans_pid(t->p->f, &span->process);
    spans_put_item(&line, spans_outcome(t->p, span));
    if (span->leaf)
        spans_put_item(&line, "not captured: as its caller saw it");
    if (pid.len > 0 && span->kind != SPAN_FUNCTION &&
        (span->kind == SPAN_ROOT || span->process.name.len > 0))
        spans_put_item(&line, pid.s);
    put_time(&line, "queued", span->queued_ns);
    put_self(&line, span);
    put_time(&line, "nested", span->nested_ns);
    put_waited(&line, span);
    put_time(&line, "unattributed", span->unattributed_ns);
    put_time(&line, "off-cpu", span->off_cpu_ns);
    buf_puts(t->p->out, "\n");
}

enum { SAMPLED_ROWS = 4 };

struct sampled_row {
    struct slice function;
    uint32_t samples;
};

static int by_most(const void *a, const void *b)
{
    const struct sampled_row *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples < y->samples ? 1 : -1;
    return slice_order(x->function, y->function);
}

/* The functions that its samples were in; of native code, those that called it. */
static struct sampled_row *sampled_rows(struct arena *arena, const struct spans *s, uint32_t at,
                                        size_t *n, uint32_t *all)
{
    const struct sample_frame *frames[LIMIT_STACK_DEPTH];
    size_t stacks;
    const struct span_stack *sampled = spans_sampled(s, at, &stacks);
    struct sampled_row *rows = arena_alloc(arena, (stacks + 1) * sizeof *rows);
    *n = *all = 0;
    for (size_t i = 0; i < stacks; i++) {
        size_t depth = span_stack_frames(s, &sampled[i], frames), k = 0;
        while (depth > 0 && !frame_is_function(frames[depth - 1]->kind))
            depth--;
        const struct slice function = depth > 0 ? frames[depth - 1]->name : slice_of("in itself");
        while (k < *n && !slice_equal(rows[k].function, function))
            k++;
        if (k == *n)
            rows[(*n)++] = (struct sampled_row){.function = function};
        rows[k].samples += sampled[i].samples;
        *all += sampled[i].samples;
    }
    if (*n > 1)
        qsort(rows, *n, sizeof *rows, by_most);
    return rows;
}

/* "on a CPU 12 times: lists:map/2 58%, shop:price/1 25%" */
static void put_samples(struct tree *t, uint32_t at)
{
    const struct spans_page *p = t->p;
    const size_t indent = 2 * (size_t)spans_at(p->f->s, at)->depth + 4;
    struct spans_line line = {p, indent < t->name ? indent : t->name,
                              indent < t->name ? indent : t->name, 0};
    struct arena *arena = &p->f->arena;
    size_t n;
    uint32_t all;
    const struct sampled_row *rows = sampled_rows(arena, p->f->s, at, &n, &all);
    for (size_t i = 0; i < n && i < SAMPLED_ROWS; i++) {
        char share[32];
        text_percent(share, sizeof share, (double)rows[i].samples / all);
        const char *first =
            i > 0 ? "" : arena_printf(arena, "on a CPU %u time%s: ", all, all == 1 ? "" : "s");
        spans_put_item(
            &line, arena_printf(arena, "%s%s %s", first, spans_safe(p, rows[i].function), share));
    }
    if (n > 0)
        buf_puts(p->out, "\n");
}

/* Who called the root's process, as --context has read it. */
static void put_context(struct tree *t, const struct span *root)
{
    const struct spans_page *p = t->p;
    struct spans_line line = {p, 4, 4, 0};
    for (uint32_t i = 0; i < root->n_callers; i++) {
        const struct span_process caller = spans_caller(p->f->s, root, i);
        spans_put_item(&line, arena_printf(&p->f->arena, "%s%s", i == 0 ? "called by " : "",
                                           spans_named(p, &caller)));
    }
    if (p->f->run->context && root->parent == SPAN_NONE && !root->context_read)
        spans_put_item(&line, "callers and OpenTelemetry: not read while it ran");
    if (line.at > 0)
        buf_puts(p->out, "\n");
    line.at = 0;
    if (root->otel_trace.len > 0)
        spans_put_item(&line, arena_printf(&p->f->arena, "OpenTelemetry trace %s span %s",
                                           spans_safe(p, root->otel_trace),
                                           spans_safe(p, root->otel_span)));
    if (line.at > 0)
        buf_puts(p->out, "\n");
}

/* ---- waits that no span below explains: those for the same are one line */

static bool is_shown(const struct tree *t, const struct span_wait *wait)
{
    if (wait->net_ns <= 0 || wait->kind == SPAN_WAIT_NESTED)
        return false;
    return t->p->f->options->raw_waits || wait->kind >= SPAN_WAIT_OTHER || wait->on == SPAN_NONE ||
           wait->outcome != SPAN_OK;
}

static bool is_same(const struct span_wait *a, const struct span_wait *b)
{
    if (a->kind != b->kind || a->kind == SPAN_WAIT_OFF_CPU)
        return a->kind == b->kind;
    if (a->kind == SPAN_WAIT_OTHER)
        return slice_equal(a->at, b->at);
    return a->outcome == b->outcome && slice_equal(a->in, b->in) &&
           a->process.pid.id == b->process.pid.id &&
           a->process.pid.serial == b->process.pid.serial &&
           slice_equal(a->process.name, b->process.name) &&
           slice_equal(a->process.node, b->process.node);
}

static const char *wait_name(const struct tree *t, const struct span_wait *wait, size_t n)
{
    const struct spans_page *p = t->p;
    const char *name = spans_safe(p, spans_wait_name(p->f, wait)), *outcome = "", *times = "";
    if (wait->kind < SPAN_WAIT_OTHER)
        outcome = arena_printf(&p->f->arena, ": %s", span_outcome_key(wait->outcome));
    if (n > 1)
        times = arena_printf(&p->f->arena, " %s%zu", p->ascii ? "x" : "×", n);
    return arena_printf(&p->f->arena, "%s%s%s", name, outcome, times);
}

static void put_wait(struct tree *t, const struct span *span, uint32_t first)
{
    const struct spans *s = t->p->f->s;
    const struct span_wait *wait = spans_wait(s, span->wait + first);
    size_t n = 0;
    int64_t ns = 0;
    bool at_most = false;
    for (uint32_t i = first; i < span->n_waits; i++) {
        const struct span_wait *other = spans_wait(s, span->wait + i);
        if (!is_shown(t, other) || !is_same(wait, other))
            continue;
        n++;
        ns += other->net_ns;
        at_most = at_most || other->at_most;
        fill(t, other->from_ns, other->to_ns, CELL_WAITS);
    }
    put_line(t, indented(t, 2 * (size_t)span->depth + 2, wait_name(t, wait, n)),
             offset_of(t, wait->from_ns), at_most ? spans_at_most(t->p, ns) : spans_time(t->p, ns));
}

static void put_waits(struct tree *t, const struct span *span)
{
    const struct spans *s = t->p->f->s;
    uint32_t firsts[WAIT_ROWS];
    size_t n = 0, left = 0;
    for (uint32_t i = 0; i < span->n_waits; i++) {
        const struct span_wait *wait = spans_wait(s, span->wait + i);
        bool seen = !is_shown(t, wait);
        for (size_t k = 0; k < n && !seen; k++)
            seen = is_same(spans_wait(s, span->wait + firsts[k]), wait);
        if (seen)
            continue;
        if (n < WAIT_ROWS)
            put_wait(t, span, firsts[n++] = i);
        else
            left++;
    }
    if (left > 0)
        put_line(t,
                 indented(t, 2 * (size_t)span->depth + 2,
                          arena_printf(&t->p->f->arena, "%zu more waits", left)),
                 "", "");
}

void spans_put_tree(const struct spans_page *p, uint32_t root)
{
    const struct spans *s = p->f->s;
    struct tree t = {.p = p, .root = spans_at(s, root), .to_ns = spans_at(s, root)->ended_ns};
    size_t n = 0, numbers = OFFSET_WIDTH + TIME_WIDTH + 3 * GAP;
    t.name = p->columns * 2 / 5;
    t.name = t.name > 48 ? 48 : t.name;
    t.bar = p->columns - t.name - numbers;
    t.cells = arena_alloc(&p->f->arena, t.bar);
    for (uint32_t at = root; at != SPAN_NONE; at = span_after(s, at))
        if (spans_at(s, at)->ended_ns > t.to_ns)
            t.to_ns = spans_at(s, at)->ended_ns;
    put_line(&t, "", "offset", "duration");
    for (uint32_t at = root; at != SPAN_NONE; at = span_after(s, at)) {
        if (n++ >= TREE_SPANS)
            continue;
        put_span(&t, spans_at(s, at));
        put_times(&t, spans_at(s, at));
        put_samples(&t, at);
        put_context(&t, spans_at(s, at));
        put_waits(&t, spans_at(s, at));
    }
    if (n > TREE_SPANS)
        buf_printf(p->out, "%zu more spans\n", n - TREE_SPANS);
}
