/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run for people: what was captured, the slowest roots, their trees, and where the time goes. */
#include "spans_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "output/table.h"

enum { TREES = 10, ROOT_ROWS = 50, PART_ROWS = 20, STEP_ROWS = 40 };
enum { COLUMNS = 100, COLUMNS_LEAST = 60, COLUMNS_MOST = 1000 };
#define LEAST_SHARE 0.005 /* of a root: steps below it are one line */

/* ---- texts */

const char *spans_safe(const struct spans_page *p, struct slice text)
{
    return slice_keep_safe(&p->f->arena, text, p->ascii).s;
}

const char *spans_named(const struct spans_page *p, const struct span_process *process)
{
    struct buf name;
    buf_init(&name, 0);
    span_put_process(&name, process);
    const char *text = spans_safe(p, (struct slice){(const char *)name.data, name.len});
    buf_clear(&name);
    return text;
}

static const char *dash(const struct spans_page *p)
{
    return p->ascii ? "-" : "–";
}

const char *spans_time(const struct spans_page *p, int64_t ns)
{
    char text[48];
    double s = known_or_nan(ns) / 1e9;
    return arena_strdup(&p->f->arena, text_duration_as(text, sizeof text, s, p->ascii));
}

const char *spans_at_least(const struct spans_page *p, int64_t ns)
{
    return arena_printf(&p->f->arena, "%s%s", p->ascii ? ">=" : "≥", spans_time(p, ns));
}

const char *spans_at_most(const struct spans_page *p, int64_t ns)
{
    return arena_printf(&p->f->arena, "%s%s", p->ascii ? "<=" : "≤", spans_time(p, ns));
}

const char *spans_outcome(const struct spans_page *p, const struct span *span)
{
    const char *key = span_outcome_key(span->outcome);
    if (span->reason.len == 0)
        return key;
    return arena_printf(&p->f->arena, "%s: %s", key, spans_safe(p, span->reason));
}

void spans_put_fit(const struct spans_page *p, const char *text, size_t width, bool fill)
{
    const char *omission = p->ascii ? "..." : "…";
    size_t len = strlen(text), shown = text_width(text, len), bytes = len;
    bool cut = shown > width;
    if (cut)
        bytes = text_prefix(text, len, width - text_width(omission, strlen(omission)), &shown);
    buf_put(p->out, text, bytes);
    if (cut) {
        buf_puts(p->out, omission);
        shown += text_width(omission, strlen(omission));
    }
    if (fill)
        text_pad(p->out, shown, width);
}

void spans_put_right(const struct spans_page *p, const char *text, size_t width)
{
    text_pad(p->out, text_width(text, strlen(text)), width);
    buf_puts(p->out, text);
}

static const char *percent(const struct spans_page *p, int64_t part, int64_t whole)
{
    char text[32];
    if (whole <= 0)
        return dash(p);
    return arena_strdup(&p->f->arena,
                        text_percent(text, sizeof text, (double)part / (double)whole));
}

static const char *integer(const struct spans_page *p, uint64_t n)
{
    char text[32];
    return arena_strdup(&p->f->arena, text_integer(text, sizeof text, (int64_t)n));
}

static const char *wall_text(const struct spans_page *p, int64_t wall_us)
{
    char text[16];
    return text_time(text, sizeof text, wall_us, 0, 3) ? arena_printf(&p->f->arena, "%sZ", text)
                                                       : dash(p);
}

void spans_put_item(struct spans_line *line, const char *text)
{
    const struct spans_page *p = line->p;
    size_t width = text_width(text, strlen(text));
    bool first = line->at == 0, fits = !first && line->at + 2 + width + 1 <= p->columns;
    if (fits) {
        buf_puts(p->out, ", ");
        line->at += 2;
    } else {
        buf_puts(p->out, first ? "" : ",\n");
        line->at = first ? line->first : line->indent;
        text_pad(p->out, 0, line->at);
    }
    spans_put_fit(p, text, p->columns - line->at - 1, false);
    line->at += width;
}

/* ---- head */

static const char *end_text(enum spans_end end)
{
    static const char *const texts[SPANS_ENDS] = {
        [SPANS_END_NONE] = "not ended",
        [SPANS_END_ROOTS] = "ended: all roots have returned",
        [SPANS_END_TIME] = "ended: its time is over",
        [SPANS_END_EVENTS] = "ended: the cap of events",
        [SPANS_END_QUEUE] = "ended: events came faster than the node could store them",
        [SPANS_END_STOPPED] = "ended: stopped",
        [SPANS_END_KILLED] = "ended: a helper process on the node ended (use --every or --roots)",
        [SPANS_END_TRACED] = "ended: another tool set the system tracer",
        [SPANS_END_LOST] = "ended: the connection was lost, and with it what came last",
    };
    return (size_t)end < ARRAY_LEN(texts) ? texts[end] : "-";
}

static const char *roots_text(const struct spans_page *p)
{
    const struct spans_run *run = p->f->run;
    const char *of = run->roots_asked > 0 ? integer(p, run->roots_asked) : dash(p);
    if (run->every > 1)
        return arena_printf(&p->f->arena, "%s of %s roots, one of %s calls", integer(p, run->roots),
                            of, integer(p, run->every));
    return arena_printf(&p->f->arena, "%s of %s roots", integer(p, run->roots), of);
}

static void put_count(struct spans_line *line, uint64_t n, const char *what)
{
    if (n > 0)
        spans_put_item(line, arena_printf(&line->p->f->arena, "%s %s", integer(line->p, n), what));
}

static void put_events(struct spans_line *line)
{
    const struct spans_run *run = line->p->f->run;
    const struct spans_dropped d = spans_dropped(line->p->f->s);
    spans_put_item(line,
                   arena_printf(&line->p->f->arena, "%s events", integer(line->p, run->events)));
    spans_put_item(line,
                   arena_printf(&line->p->f->arena, "%s skipped", integer(line->p, run->skipped)));
    const struct spans_skipped *by = &run->by;
    put_count(line, by->participants, "of too many processes");
    put_count(line, by->fanout, "of too many receivers");
    put_count(line, by->depth, "too deep");
    put_count(line, by->stale, "of requests that are over");
    put_count(line, by->clearings, "times tokens cleared for that");
    put_count(line, d.leaked, "of a token without a span");
    put_count(line, d.deep, "of roots or depths beyond a limit");
    put_count(line, d.beyond, "beyond a limit");
    put_count(line, d.invalid, "invalid");
    put_count(line, d.duplicate, "twice");
}

static const char *node_text(const struct spans_page *p)
{
    const struct spans_run *run = p->f->run;
    if (run->otp[0] == '\0')
        return spans_safe(p, slice_of(run->node));
    return arena_printf(&p->f->arena, "%s, OTP %s", spans_safe(p, slice_of(run->node)),
                        spans_safe(p, slice_of(run->otp)));
}

/* What another node had, and how well its times fit. */
static void put_side(const struct spans_page *p)
{
    const struct spans_side *side = &p->f->run->side;
    struct spans_line line = {p, 0, 2, 0};
    if (side->node[0] == '\0')
        return;
    spans_put_item(&line, arena_printf(&p->f->arena, "with %s, OTP %s",
                                       spans_safe(p, slice_of(side->node)),
                                       spans_safe(p, slice_of(side->otp))));
    spans_put_item(&line, arena_printf(&p->f->arena, "%s events", integer(p, side->events)));
    spans_put_item(&line, arena_printf(&p->f->arena, "%s skipped", integer(p, side->skipped)));
    put_count(&line, side->by.stale, "of other captures");
    if (side->end != SPANS_END_STOPPED)
        spans_put_item(&line, end_text(side->end));
    if (side->clock.within_ns < 0)
        spans_put_item(&line, "its clock moved: times do not fit");
    else
        spans_put_item(&line, arena_printf(&p->f->arena, "its times are within %s",
                                           spans_time(p, side->clock.within_ns)));
    buf_puts(p->out, "\n");
}

static void put_head(const struct spans_page *p)
{
    const struct spans_run *run = p->f->run;
    double seconds = run->seconds;
    struct spans_line line = {p, 0, 2, 0};
    spans_put_item(&line, spans_safe(p, slice_of(run->patterns)));
    spans_put_item(&line, node_text(p));
    spans_put_item(&line, roots_text(p));
    if (run->open > 0)
        spans_put_item(&line, arena_printf(&p->f->arena, "%s open", integer(p, run->open)));
    spans_put_item(&line, run->full          ? "full mode"
                          : run->no_payloads ? "light mode without payloads"
                                             : "light mode");
    spans_put_item(&line,
                   arena_printf(&p->f->arena, "%s captured",
                                spans_time(p, isnan(seconds) ? -1 : (int64_t)(seconds * 1e9))));
    spans_put_item(&line, end_text(run->end));
    put_events(&line);
    if (p->f->options->slower_ns > 0)
        spans_put_item(&line, arena_printf(&p->f->arena, "%s shown: open, or %s and more",
                                           integer(p, p->f->n_roots),
                                           spans_time(p, p->f->options->slower_ns)));
    buf_puts(p->out, "\n");
    put_side(p);
    if (run->full)
        return;
    line.at = 0;
    spans_put_item(&line, p->ascii ? "light mode: self <= holds preemption and uncaptured waits"
                                   : "light mode: self ≤ holds preemption and uncaptured waits");
    spans_put_item(&line, p->ascii ? ">= is at least" : "≥ is at least");
    if (run->no_payloads)
        spans_put_item(&line, "only calls of gen_server and gen_statem");
    buf_puts(p->out, "\n");
}

/* ---- roots */

static const char *wait_on(const struct spans_page *p, const struct span_wait *wait)
{
    if (!wait)
        return dash(p);
    if (wait->kind == SPAN_WAIT_OTHER)
        return spans_safe(p, spans_wait_name(p->f, wait));
    return spans_named(p, &wait->process);
}

static size_t spans_in(const struct spans_page *p, uint32_t root)
{
    size_t n = 0;
    for (uint32_t at = root; at != SPAN_NONE; at = span_after(p->f->s, at))
        n++;
    return n;
}

/* At most so many columns. */
static const char *fitted(const struct spans_page *p, const char *text, size_t width)
{
    struct buf out;
    struct spans_page to = *p;
    buf_init(&out, 0);
    to.out = &out;
    spans_put_fit(&to, text, width, false);
    return slice_take(&p->f->arena, &out).s;
}

static void put_roots(const struct spans_page *p, const uint32_t *roots)
{
    size_t n = p->f->n_roots, most = p->f->options->rows;
    size_t outcome = p->columns < 80 ? 12 : 20, rest = (p->columns - 36 - outcome) / 2;
    struct text_table t = {
        .titles = {"duration", "outcome", "largest wait", "for", "spans", "process"},
        .left = 1u << 1 | 1u << 3 | 1u << 5,
        .n_columns = 6};
    most = most > ROOT_ROWS ? most : ROOT_ROWS;
    t.n_rows = n < most ? n : most;
    t.cells = arena_alloc(&p->f->arena, (t.n_rows + 1) * sizeof *t.cells);
    for (size_t i = 0; i < t.n_rows; i++) {
        const struct span *span = spans_at(p->f->s, roots[i]);
        const struct span_wait *wait = spans_largest_wait(p->f->s, span);
        t.cells[i][0] = span->outcome == SPAN_OPEN ? spans_at_least(p, span_duration(span))
                                                   : spans_time(p, span_duration(span));
        t.cells[i][1] = fitted(p, spans_outcome(p, span), outcome);
        t.cells[i][2] = !wait           ? dash(p)
                        : wait->at_most ? spans_at_most(p, wait->net_ns)
                                        : spans_time(p, wait->net_ns);
        t.cells[i][3] = fitted(p, wait_on(p, wait), rest);
        t.cells[i][4] = integer(p, spans_in(p, roots[i]));
        t.cells[i][5] = fitted(p, spans_named(p, &span->process), rest);
    }
    text_table_put(p->out, &t);
    if (n > t.n_rows)
        buf_printf(p->out, "%s more\n", integer(p, n - t.n_rows));
}

static void put_tree(const struct spans_page *p, size_t number, uint32_t root)
{
    const struct span *span = spans_at(p->f->s, root);
    const char *operation = span->operation.len > 0 ? spans_safe(p, span->operation) : dash(p);
    const char *took = span->outcome == SPAN_OPEN ? spans_at_least(p, span_duration(span))
                                                  : spans_time(p, span_duration(span));
    const char *head =
        arena_printf(&p->f->arena, "%zu. %s, %s, %s, %s", number, operation, took,
                     spans_outcome(p, span), wall_text(p, spans_wall_us(p->f, span->started_ns)));
    buf_puts(p->out, "\n");
    spans_put_fit(p, head, p->columns, false);
    buf_puts(p->out, "\n");
    spans_put_tree(p, root);
}

void spans_put_label(struct buf *out, const struct span *span)
{
    span_put_name(out, span);
    if (!span_is_function(span) && span->operation.len > 0) {
        buf_puts(out, " ");
        buf_put(out, span->operation.s, span->operation.len);
    }
}

/* ---- the critical path */

static const char *step_text(const struct spans_page *p, const struct span_step *step)
{
    const struct span *span = spans_at(p->f->s, step->span);
    struct buf text;
    buf_init(&text, 0);
    span_put_at(&text, span_step_key(step->kind),
                step->kind == SPAN_STEP_WAIT ? step->at : (struct slice){0});
    buf_puts(&text, step->kind == SPAN_STEP_QUEUED ? " for " : " in ");
    spans_put_label(&text, span);
    const char *safe = spans_safe(p, (struct slice){(const char *)text.data, text.len});
    buf_clear(&text);
    return safe;
}

/* Preemption parts a step: what goes on in the same span and kind is one line. */
static size_t join_steps(struct span_step *steps, size_t n)
{
    size_t kept_steps = 0;
    for (size_t i = 0; i < n; i++) {
        struct span_step *last = kept_steps > 0 ? &steps[kept_steps - 1] : NULL;
        if (last && last->span == steps[i].span && last->kind == steps[i].kind &&
            (last->kind != SPAN_STEP_WAIT || slice_equal(last->at, steps[i].at)))
            last->to_ns = steps[i].to_ns;
        else
            steps[kept_steps++] = steps[i];
    }
    return kept_steps;
}

/* In light mode what is not known for sure to be a wait counts as self. */
static const char *step_time(const struct spans_page *p, enum span_step_kind kind, int64_t ns)
{
    return kind == SPAN_STEP_SELF && !p->f->run->full ? spans_at_most(p, ns) : spans_time(p, ns);
}

static void put_step(const struct spans_page *p, const char *offset, const char *took,
                     const char *share, const char *text)
{
    spans_put_right(p, offset, 8);
    buf_puts(p->out, "  ");
    spans_put_right(p, took, 8);
    buf_puts(p->out, "  ");
    spans_put_right(p, share, 6);
    buf_puts(p->out, "  ");
    spans_put_fit(p, text, p->columns - 28, false);
    buf_puts(p->out, "\n");
}

static void put_path(const struct spans_page *p, uint32_t root)
{
    const struct span *span = spans_at(p->f->s, root);
    size_t n, shown = 0, left = 0;
    int64_t whole = span_duration(span), rest = 0;
    struct span_step *steps = spans_critical(p->f->s, root, &n);
    n = join_steps(steps, n);
    buf_printf(p->out, "\ncritical path of 1.\n  offset      time   share  step\n");
    for (size_t i = 0; i < n; i++) {
        int64_t ns = steps[i].to_ns - steps[i].from_ns;
        if ((double)ns < LEAST_SHARE * (double)whole || shown >= STEP_ROWS) {
            rest += ns;
            left++;
            continue;
        }
        put_step(p, spans_time(p, steps[i].from_ns - span->started_ns),
                 step_time(p, steps[i].kind, ns), percent(p, ns, whole), step_text(p, &steps[i]));
        shown++;
    }
    if (left > 0)
        put_step(p, "", spans_time(p, rest), percent(p, rest, whole),
                 arena_printf(&p->f->arena, "%s more", integer(p, left)));
    free(steps);
}

/* ---- all roots */

static const char *part_text(const struct spans_page *p, const struct span_share *row)
{
    struct buf text;
    buf_init(&text, 0);
    span_put_at(&text, span_step_key(row->kind), row->part->at);
    const char *safe = spans_safe(p, (struct slice){(const char *)text.data, text.len});
    buf_clear(&text);
    return safe;
}

static const char *text_or_dash(const struct spans_page *p, struct slice text)
{
    return text.len > 0 ? spans_safe(p, text) : dash(p);
}

static void put_part_rows(const struct spans_page *p, const struct spans_sum *sum)
{
    size_t n = sum->n_rows < PART_ROWS ? sum->n_rows : PART_ROWS;
    size_t width = p->columns - 34; /* of three columns; the first has the longest texts */
    struct text_table t = {.titles = {"time", "share", sum->n_slow > 1 ? "slowest 1%" : "slowest",
                                      "part", "operation", "process"},
                           .left = 1u << 3 | 1u << 4 | 1u << 5,
                           .n_columns = 6,
                           .n_rows = n};
    t.cells = arena_alloc(&p->f->arena, (n + 1) * sizeof *t.cells);
    for (size_t i = 0; i < n; i++) {
        const struct span_share *row = &sum->rows[i];
        t.cells[i][0] = step_time(p, row->kind, row->ns);
        t.cells[i][1] = percent(p, row->ns, sum->ns);
        t.cells[i][2] = percent(p, row->slow_ns, sum->slow_ns);
        t.cells[i][3] = fitted(p, part_text(p, row), width * 9 / 20);
        t.cells[i][4] = fitted(p, text_or_dash(p, row->part->operation), width / 3);
        t.cells[i][5] = fitted(p, text_or_dash(p, spans_part_process(p->f, row->part)), width / 5);
    }
    text_table_put(p->out, &t);
}

static void put_sum(const struct spans_page *p)
{
    struct spans_sum sum;
    int64_t rest = 0;
    spans_sum(&sum, p->f);
    const char *(*known)(const struct spans_page *, int64_t) =
        sum.open ? spans_at_least : spans_time;
    buf_printf(p->out, "\ncritical paths of %s root%s: median %s, p99 %s\n",
               integer(p, p->f->n_roots), p->f->n_roots == 1 ? "" : "s", known(p, sum.median_ns),
               known(p, sum.p99_ns));
    put_part_rows(p, &sum);
    for (size_t i = PART_ROWS; i < sum.n_rows; i++)
        rest = spans_plus(rest, sum.rows[i].ns);
    if (sum.n_rows > PART_ROWS)
        buf_printf(p->out, "%s more: %s\n", integer(p, sum.n_rows - PART_ROWS),
                   percent(p, rest, sum.ns));
    spans_sum_free(&sum);
}

static void put_legend(const struct spans_page *p)
{
    struct spans_line line = {p, 0, 2, 0};
    buf_puts(p->out, "\n");
    spans_put_item(&line, arena_printf(&p->f->arena, "%s %s", p->ascii ? "#" : "█",
                                       p->f->run->full ? "runs" : "runs, or unknown"));
    spans_put_item(&line, p->ascii ? "- waits" : "░ waits");
    spans_put_item(&line, p->ascii ? ". its message is queued" : "· its message is queued");
    spans_put_item(&line, p->ascii ? "? not captured" : "▒ not captured");
    buf_puts(p->out, "\n");
}

static void put_none(const struct spans_page *p)
{
    if (spans_count(p->f->s) == 0)
        buf_puts(p->out, "no roots: no call of the patterns was captured\n");
    else
        buf_printf(p->out, "no root took %s or more\n", spans_time(p, p->f->options->slower_ns));
}

void spans_text_put(struct spans_form *f)
{
    size_t columns = f->options->columns > 0 ? f->options->columns : COLUMNS;
    columns = columns < COLUMNS_LEAST ? COLUMNS_LEAST : columns;
    const struct spans_page p = {.f = f,
                                 .out = &f->out->buf,
                                 .columns = columns < COLUMNS_MOST ? columns : COLUMNS_MOST,
                                 .ascii = f->options->ascii};
    size_t trees = f->options->rows > 0 ? f->options->rows : TREES;
    put_head(&p);
    if (f->n_roots == 0) {
        put_none(&p);
        return;
    }
    uint32_t *roots = spans_slowest(f->s, f->roots, f->n_roots);
    put_roots(&p, roots);
    put_legend(&p);
    for (size_t i = 0; i < trees && i < f->n_roots; i++) {
        put_tree(&p, i + 1, roots[i]);
        sink_pieces_flush(f->out, SINK_PIECE_BYTES);
        arena_reset(&f->arena);
    }
    put_path(&p, roots[0]);
    put_sum(&p);
    free(roots);
}
