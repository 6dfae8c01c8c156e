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

/* A dash below zero. */
static const char *spans_time(const struct spans_page *p, int64_t ns)
{
    char text[48];
    double s = known_or_nan(ns) / 1e9;
    return arena_strdup(&p->f->arena, text_duration_as(text, sizeof text, s, p->ascii));
}

static const char *integer(const struct spans_page *p, uint64_t n)
{
    char text[32];
    return arena_strdup(&p->f->arena, text_integer(text, sizeof text, (int64_t)n));
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
    buf_puts(p->out, text_fit(&p->f->arena, text, p->columns - line->at - 1, p->ascii));
    line->at += width;
}

/* ---- head */

static void put_count(struct spans_line *line, uint64_t n, const char *what)
{
    if (n > 0)
        SPANS_PUT(line, "%s %s", integer(line->p, n), what);
}

static void put_events(struct spans_line *line)
{
    const struct spans_run *run = line->p->f->run;
    const struct spans_dropped d = spans_dropped(line->p->f->s);
    SPANS_PUT(line, "%s events", integer(line->p, run->events));
    SPANS_PUT(line, "%s skipped", integer(line->p, run->skipped));
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

/* What another node had, and how well its times fit. */
static void put_side(const struct spans_page *p, const struct spans_side *side)
{
    struct spans_line line = {p, 0, 2, 0};
    SPANS_PUT(&line, "with %s, OTP %s", spans_safe(p, slice_of(side->node)),
              spans_safe(p, slice_of(side->otp)));
    put_count(&line, side->roots, side->roots == 1 ? "root" : "roots");
    SPANS_PUT(&line, "%s events", integer(p, side->events));
    SPANS_PUT(&line, "%s skipped", integer(p, side->skipped));
    put_count(&line, side->by.stale, "of other captures");
    if (side->end != SPANS_END_STOPPED && side->end != p->f->run->end)
        spans_put_item(&line, spans_end_text(side->end));
    if (side->clock.within_ns < 0)
        spans_put_item(&line, "its clock moved: times do not fit");
    else
        SPANS_PUT(&line, "its times are within %s", spans_time(p, side->clock.within_ns));
    buf_puts(p->out, "\n");
}

/* Roots are counted on all nodes, all else of a line is of its node. */
static bool has_roots_elsewhere(const struct spans_run *run)
{
    bool has = false;
    for (size_t i = 0; i < run->n_sides; i++)
        has = has || run->sides[i].roots > 0;
    return has;
}

static void put_head(const struct spans_page *p)
{
    const struct spans_run *run = p->f->run;
    double seconds = run->seconds;
    struct spans_line line = {p, 0, 2, 0};
    spans_put_item(&line, spans_safe(p, slice_of(run->patterns)));
    spans_put_item(&line, spans_safe(p, slice_of(run->node)));
    if (run->otp[0] != '\0')
        SPANS_PUT(&line, "OTP %s", spans_safe(p, slice_of(run->otp)));
    SPANS_PUT(&line, "%s of %s roots%s", integer(p, run->roots),
              run->roots_asked > 0 ? integer(p, run->roots_asked) : dash(p),
              has_roots_elsewhere(run) ? " on all nodes" : "");
    if (run->every > 1)
        SPANS_PUT(&line, "one of %s calls", integer(p, run->every));
    if (run->open > 0)
        SPANS_PUT(&line, "%s open", integer(p, run->open));
    spans_put_item(&line, run->full          ? "full mode"
                          : run->no_payloads ? "light mode without payloads"
                                             : "light mode");
    SPANS_PUT(&line, "%s captured", spans_time(p, isnan(seconds) ? -1 : (int64_t)(seconds * 1e9)));
    spans_put_item(&line, spans_end_text(run->end));
    if (run->end == SPANS_END_KILLED)
        spans_put_item(&line, "use --every or --roots");
    put_events(&line);
    if (p->f->options->slower_ns > 0)
        SPANS_PUT(&line, "%s shown: open, or %s and more", integer(p, p->f->n_roots),
                  spans_time(p, p->f->options->slower_ns));
    buf_puts(p->out, "\n");
    for (size_t i = 0; i < run->n_sides; i++)
        put_side(p, &run->sides[i]);
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

/* An empty line and the rows, no wider than the page. */
static void put_rows(const struct spans_page *p, const struct field_list *fields,
                     const char *columns, const struct spans_row *rows, size_t n)
{
    const struct text_rows t = {
        .fields = fields, .columns = columns, .rows = rows, .n = n, .row_bytes = sizeof *rows};
    buf_puts(p->out, "\n");
    text_rows_put_within(p->out, &t, p->columns, p->ascii);
}

static void put_roots(const struct spans_page *p, const uint32_t *roots)
{
    size_t n = p->f->n_roots, most = p->f->options->rows;
    most = most > ROOT_ROWS ? most : ROOT_ROWS;
    const size_t shown = n < most ? n : most;
    const uint32_t *counts = spans_counted(&p->f->arena, p->f->s);
    struct spans_row *rows = arena_alloc(&p->f->arena, (shown + 1) * sizeof *rows);
    for (size_t i = 0; i < shown; i++)
        rows[i] = spans_request_row(&p->f->rows, roots[i], counts[roots[i]]);
    put_rows(p, &spans_request_fields, "operation duration_us outcome wait on name spans", rows,
             shown);
    if (n > shown)
        buf_printf(p->out, "%s more\n", integer(p, n - shown));
}

static void put_tree(const struct spans_page *p, size_t number, uint32_t root)
{
    struct arena *arena = &p->f->arena;
    const struct spans_row row = spans_request_row(&p->f->rows, root, 0);
    const struct field *took = field_find(&spans_request_fields, slice_of("duration_us"));
    char text[16];
    const char *started = text_time(text, sizeof text, row.wall_us, 0, 3)
                              ? arena_printf(arena, "%sZ", text)
                              : dash(p);
    const struct slice node = spans_at(p->f->s, root)->process.node; /* empty: the first one */
    const char *head =
        arena_printf(arena, "%zu. %s%s%s, %s, %s, %s", number, spans_safe(p, row.operation),
                     node.len > 0 ? " on " : "", spans_safe(p, node),
                     text_cell(arena, took, &row, p->ascii), spans_safe(p, row.outcome), started);
    buf_printf(p->out, "\n%s\n", text_fit(arena, head, p->columns, p->ascii));
    spans_put_tree(p, root);
}

/* ---- the critical path */

struct path {
    struct spans_row rows[STEP_ROWS], rest;
    size_t n, n_rest;
};

static void add_step(void *to, const struct spans_row *row)
{
    struct path *path = to;
    if (row->share >= LEAST_SHARE && path->n < STEP_ROWS) {
        path->rows[path->n++] = *row;
        return;
    }
    path->rest.duration_us += row->duration_us;
    path->rest.share += row->share;
    path->n_rest++;
}

static void put_path(const struct spans_page *p, uint32_t root)
{
    struct path *path = arena_alloc(&p->f->arena, sizeof *path);
    spans_path_rows(&p->f->rows, root, add_step, path);
    buf_printf(p->out, "\ncritical path of 1.");
    put_rows(p, &spans_step_fields, "offset_us duration_us share part operation name", path->rows,
             path->n);
    const struct field *rest[2];
    field_columns(&spans_step_fields, "duration_us share", rest, 2);
    if (path->n_rest > 0)
        buf_printf(p->out, "%s more: %s, %s\n", integer(p, path->n_rest),
                   text_cell(&p->f->arena, rest[0], &path->rest, p->ascii),
                   text_cell(&p->f->arena, rest[1], &path->rest, p->ascii));
}

/* ---- all roots */

static void put_part_rows(const struct spans_page *p, const struct spans_sum *sum)
{
    const size_t n = sum->n_shares < PART_ROWS ? sum->n_shares : PART_ROWS;
    struct spans_row rows[PART_ROWS];
    struct buf text;
    for (size_t i = 0; i < n; i++) {
        rows[i] = spans_share_row(&p->f->rows, sum, &sum->shares[i]);
        buf_init(&text, 0);
        span_put_at(&text, span_step_key(sum->shares[i].kind), sum->shares[i].part->at);
        rows[i].part = slice_take(&p->f->arena, &text);
        if (sum->shares[i].kind == SPAN_STEP_SELF && !p->f->run->full)
            rows[i].duration_bound = BOUND_AT_MOST;
    }
    put_rows(p, &spans_part_fields, "us share slow_share part operation name", rows, n);
}

static void put_sum(const struct spans_page *p)
{
    struct spans_sum sum;
    int64_t rest = 0;
    spans_sum_make(&sum, p->f->s, p->f->roots, p->f->n_roots, false);
    const char *bound = !sum.open ? "" : p->ascii ? ">=" : "≥";
    buf_printf(p->out, "\ncritical paths of %s root%s: median %s%s, p99 %s%s\n",
               integer(p, sum.n_roots), sum.n_roots == 1 ? "" : "s", bound,
               spans_time(p, sum.median_ns), bound, spans_time(p, sum.p99_ns));
    put_part_rows(p, &sum);
    for (size_t i = PART_ROWS; i < sum.n_shares; i++)
        rest = known_plus(rest, sum.shares[i].ns);
    if (sum.n_shares > PART_ROWS && sum.ns > 0)
        buf_printf(p->out, "%s more: %.1f%%\n", integer(p, sum.n_shares - PART_ROWS),
                   100 * (double)rest / (double)sum.ns);
    spans_sum_clear(&sum);
}

static void put_legend(const struct spans_page *p)
{
    static const char *const words[BAR_MARKS] = {[BAR_QUEUED] = "its message is queued",
                                                 [BAR_RAN] = "runs",
                                                 [BAR_WAITED] = "waits",
                                                 [BAR_LOST] = "waits for what is not captured",
                                                 [BAR_ON] = "ended then or later"};
    struct spans_line line = {p, 0, 2, 0};
    buf_puts(p->out, "\n");
    for (size_t i = 0; i < BAR_MARKS; i++)
        SPANS_PUT(&line, "%s %s", bar_signs[i][p->ascii],
                  i == BAR_RAN && !p->f->run->full ? "runs, or unknown" : words[i]);
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
