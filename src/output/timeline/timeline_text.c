/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run for people: what was traced, the calls in order, then the functions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "output/table.h"
#include "timeline_form.h"

enum { COLUMNS = 100, COLUMNS_LEAST = 60, COLUMNS_MOST = 1000 };
enum { START_WIDTH = 10, TIME_WIDTH = 9, INDENT = 2, INDENTED = 16, FUNCTION_ROWS = 50 };

static const char *safe(struct timeline_form *f, struct slice text)
{
    return slice_keep_safe(&f->arena, text, f->options->ascii).s;
}

static const char *duration(struct timeline_form *f, int64_t ns)
{
    char text[48];
    return arena_strdup(&f->arena,
                        text_duration_as(text, sizeof text, (double)ns / 1e9, f->options->ascii));
}

static const char *integer_text(struct timeline_form *f, uint64_t n)
{
    char text[32];
    return arena_strdup(&f->arena, text_integer(text, sizeof text, (int64_t)(n & INT64_MAX)));
}

static const char *counted(struct timeline_form *f, uint64_t n, const char *what)
{
    return arena_printf(&f->arena, "%s %s%s", integer_text(f, n), what, n == 1 ? "" : "s");
}

static void put_right(struct timeline_form *f, const char *text, size_t width)
{
    text_pad(&f->out->buf, text_width(text, strlen(text)), width);
    buf_puts(&f->out->buf, text);
}

/* ---- the head */

static void put_process(struct timeline_form *f)
{
    struct buf *out = &f->out->buf;
    const struct slice pid = timeline_pid(f), name = f->run->name;
    if (pid.len == 0 && name.len == 0)
        buf_puts(out, "No process has called");
    else
        buf_printf(out, "%s%s%s", safe(f, name), name.len > 0 && pid.len > 0 ? " " : "",
                   safe(f, pid));
    buf_printf(out, " on %s, OTP %d: %s\n", safe(f, f->run->node), f->run->otp,
               f->run->first && pid.len > 0 ? "the first process that called" : "one process");
}

static void put_sums(struct timeline_form *f)
{
    const struct timeline_sums *s = &f->sums;
    struct buf *out = &f->out->buf;
    const int64_t took = s->until_ns - s->from_ns;
    buf_printf(out, "%s in %s", counted(f, s->calls, "call"), duration(f, took));
    if (s->raised > 0)
        buf_printf(out, ", %s", counted(f, s->raised, "exception"));
    if (s->open > 0)
        buf_printf(out, ", %s not returned yet", integer_text(f, s->open));
    if (s->lost > 0)
        buf_printf(out, ", %s without a known end", integer_text(f, s->lost));
    buf_printf(out, "; functions traced: %s (%s)\n",
               integer_text(f, f->run->state->preflight.functions),
               f->run->patterns.len > 0 ? safe(f, f->run->patterns)
                                        : "of the modules that the process is in");
    if (s->followed_until_ns > s->followed_from_ns) {
        buf_printf(out, "waited %s, off CPU %s", duration(f, s->waiting_ns),
                   duration(f, s->off_cpu_ns));
        if (s->followed_from_ns > s->from_ns)
            buf_printf(out, ", known from +%s on", duration(f, s->followed_from_ns - s->from_ns));
        if (s->followed_until_ns < s->until_ns)
            buf_printf(out, ", known until +%s", duration(f, s->followed_until_ns - s->from_ns));
        buf_puts(out, "\n");
    }
    if (s->gaps > 0)
        buf_printf(out, "%s in the calls: at most %s missing\n", counted(f, s->gaps, "gap"),
                   integer_text(f, s->missing));
    if (s->dropped > 0)
        buf_printf(out, "%s dropped: invalid or too many\n", counted(f, s->dropped, "event"));
    buf_printf(out, "ended: %s\n", safe(f, slice_of(f->run->state->end_text)));
}

/* ---- the timeline */

static const char *own_time(struct timeline_form *f, int64_t own_ns, bool off_known)
{
    return off_known ? duration(f, own_ns)
                     : arena_printf(&f->arena, "%s%s", f->options->ascii ? "<=" : "≤",
                                    duration(f, own_ns));
}

static const char *described(struct timeline_form *f, const struct timeline_row *r)
{
    const char *function = safe(f, r->function);
    switch (r->kind) {
    case TIMELINE_CALL:
        switch (r->outcome) {
        case TIMELINE_RETURNED:
            return function;
        case TIMELINE_RAISED:
            return arena_printf(&f->arena, "%s raised %s", function, safe(f, r->reason));
        case TIMELINE_OPEN:
            return arena_printf(&f->arena, "%s not returned yet", function);
        case TIMELINE_LOST:
        case TIMELINE_OUTCOMES:
            break;
        }
        return arena_printf(&f->arena, "%s its end is unknown", function);
    case TIMELINE_GAP:
        return arena_printf(&f->arena, "gap: %s%s calls missing (%s)", r->at_most ? "at most " : "",
                            r->calls > 0 ? integer_text(f, r->calls) : "unknown", function);
    case TIMELINE_WAITING:
    case TIMELINE_OFF_CPU:
    case TIMELINE_KINDS:
        break;
    }
    return r->times > 1 ? arena_printf(&f->arena, "%s %s, %s times", timeline_kind_key(r->kind),
                                       function, integer_text(f, r->times))
                        : arena_printf(&f->arena, "%s %s", timeline_kind_key(r->kind), function);
}

static void put_row(struct timeline_form *f, const struct timeline_row *r, size_t columns)
{
    struct buf *out = &f->out->buf;
    const bool off = r->kind == TIMELINE_WAITING || r->kind == TIMELINE_OFF_CPU;
    const size_t deep = r->depth < INDENTED ? r->depth : INDENTED;
    const char *text = described(f, r);
    if (r->depth > INDENTED)
        text = arena_printf(&f->arena, "(%" PRIu32 ") %s", r->depth, text);
    put_right(f, arena_printf(&f->arena, "+%s", duration(f, r->from_ns - f->sums.from_ns)),
              START_WIDTH);
    put_right(f, duration(f, off ? r->total_ns : r->until_ns - r->from_ns), 1 + TIME_WIDTH);
    put_right(f, r->kind == TIMELINE_CALL ? own_time(f, r->own_ns, r->off_known) : "",
              1 + TIME_WIDTH);
    text_pad(out, 0, 2 + INDENT * deep);
    const size_t before = START_WIDTH + 2 * TIME_WIDTH + 4 + INDENT * deep;
    const size_t room = columns > before + 20 ? columns - before : 20;
    buf_printf(out, "%s\n", text_fit(&f->arena, text, room, f->options->ascii));
    sink_pieces_flush(f->out, SINK_PIECE_BYTES);
    arena_reset(&f->arena);
}

static void put_rows(struct timeline_form *f)
{
    const size_t n = timeline_rows(f->run->timeline), asked = f->options->rows;
    const size_t shown = asked > 0 && asked < n ? asked : n;
    size_t columns = f->options->columns > 0 ? f->options->columns : COLUMNS;
    columns = columns < COLUMNS_LEAST  ? COLUMNS_LEAST
              : columns > COLUMNS_MOST ? COLUMNS_MOST
                                       : columns;
    if (n == 0)
        return;
    buf_printf(&f->out->buf, "\n%*s %*s %*s  CALL\n", START_WIDTH, "START", TIME_WIDTH, "TIME",
               TIME_WIDTH, "OWN");
    for (size_t i = 0; i < shown; i++)
        put_row(f, timeline_row(f->run->timeline, i), columns);
    if (shown < n)
        buf_printf(&f->out->buf, "%s more rows: --top\n", integer_text(f, n - shown));
}

/* ---- the functions */

static const char *function_text(struct timeline_form *f, const struct timeline_function *fun)
{
    const char *text = safe(f, fun->name);
    if (fun->raised > 0)
        text = arena_printf(&f->arena, "%s, %s", text, counted(f, fun->raised, "exception"));
    if (fun->open > 0)
        text = arena_printf(&f->arena, "%s, %s not returned yet", text, integer_text(f, fun->open));
    return text;
}

static void put_functions(struct timeline_form *f)
{
    const struct timeline *t = f->run->timeline;
    const size_t n = timeline_functions(t), shown = n < FUNCTION_ROWS ? n : FUNCTION_ROWS;
    struct timeline_function_row *rows = alloc_zero(shown + 1, sizeof *rows);
    for (size_t i = 0; i < shown; i++) {
        rows[i] = timeline_function_row(timeline_function(t, i));
        rows[i].of.name = slice_of(function_text(f, timeline_function(t, i)));
    }
    const struct text_rows table = {
        &timeline_function_fields, NULL, rows, shown, sizeof *rows, NULL};
    if (shown > 0)
        buf_puts(&f->out->buf, "\n");
    if (shown > 0)
        text_rows_put(&f->out->buf, &table, f->options->ascii);
    if (shown < n)
        buf_printf(&f->out->buf, "%s more functions\n", integer_text(f, n - shown));
    free(rows);
}

void timeline_text_put(struct timeline_form *f)
{
    put_process(f);
    put_sums(f);
    put_rows(f);
    put_functions(f);
}
