/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/header.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/model/process_name.h"
#include "ui/canvas/graph.h"
#include "ui/widgets/page.h"
#include "header_first.h"
#include "header_nodes.h"

#define CELLS 9        /* of one line, a wide one is two */
#define SPARK_LEAST 12 /* the span too */
#define SPARK_MOST 34
#define SPARK_WINDOW 120  /* seconds */
#define SPAN_COLUMNS 5    /* " 120s" behind the first of them */
#define MEMORY_IN_ORDER 3 /* so many types: the largest is among the first */
#define READ_EVERY_S 2.0  /* rows shown, and as often as the interval asks for */
#define READ_LATELY 1.5   /* of that time: the answer takes a moment */

/* A number with its name; `spark` is drawn behind it where it is the first of its line. */
struct cell {
    const char *label;
    char value[160];
    enum style style;
    bool wide; /* a number and whose it is: takes two places where there are */
};

struct line {
    struct cell cells[CELLS];
    int n;
    const struct ring *spark;
    double spark_max; /* NaN: its own highest */
};

static struct cell *add_cell(struct line *l, const char *label, enum style style)
{
    struct cell *c = &l->cells[l->n++];
    c->label = label;
    c->style = style;
    c->value[0] = '\0';
    c->wide = false;
    return c;
}

static void bytes_cell(struct line *l, const char *label, double bytes)
{
    struct cell *c = add_cell(l, label, STYLE_VALUE);
    text_bytes(c->value, sizeof c->value, bytes);
}

static void rate_cell(struct line *l, const char *label, double per_s, bool bytes)
{
    struct cell *c = add_cell(l, label, STYLE_VALUE);
    char n[24];
    if (bytes)
        text_bytes(n, sizeof n, per_s);
    else
        text_count(n, sizeof n, per_s);
    snprintf(c->value, sizeof c->value, "%s%s", n, isnan(per_s) ? "" : "/s");
}

static void percent_cell(struct line *l, const char *label, double share)
{
    struct cell *c = add_cell(l, label, STYLE_VALUE);
    text_percent(c->value, sizeof c->value, share);
}

/* A count against its limit: colour and marks from 80 and 95 %. */
static void limit_cell(struct line *l, const char *label, int64_t n, int64_t limit)
{
    char have[16], most[16];
    struct cell *c = add_cell(l, label, STYLE_VALUE);
    text_count(have, sizeof have, n < 0 ? NAN : (double)n);
    if (limit <= 0) {
        snprintf(c->value, sizeof c->value, "%s", have);
        return;
    }
    text_count(most, sizeof most, (double)limit);
    enum style style = graph_limit_style(n < 0 ? NAN : (double)n / (double)limit);
    c->style = style == STYLE_OK ? STYLE_VALUE : style;
    snprintf(c->value, sizeof c->value, "%s%s/%s",
             style == STYLE_ALARM  ? "!! "
             : style == STYLE_WARN ? "! "
                                   : "",
             have, most);
}

static void integer_cell(struct line *l, const char *label, int64_t n)
{
    struct cell *c = add_cell(l, label, STYLE_VALUE);
    if (n < 0)
        text_count(c->value, sizeof c->value, NAN);
    else if (n < 1000000)
        text_integer(c->value, sizeof c->value, n);
    else
        text_count(c->value, sizeof c->value, (double)n);
}

/* Whether a process that is neither shown nor watched may have a longer one: those with the longest
 * queues are watched as soon as the node has been asked for them, but very many processes are
 * looked at in turn. */
static bool may_be_longer(const struct proc_scan *scan)
{
    if (!scan || scan->total <= (int64_t)scan->n_rows ||
        (scan->watches && scan->total <= LIMIT_LEADERS_ALL))
        return false;
    /* Ranked by it, the longest first, among all. */
    return scan->filtered || scan->by_delta || scan->sorted_among >= 0 || scan->n_rows == 0 ||
           !scan->sort_key || strcmp(scan->sort_key, "message_queue_len") != 0 ||
           scan->rows[0].message_queue_len <= scan->rows[scan->n_rows - 1].message_queue_len;
}

static void queue_cell(struct line *l, const struct model *m, bool wide)
{
    struct cell *c = add_cell(l, "longest msgq", STYLE_VALUE);
    uint64_t read_ns = 0;
    const struct proc_row *row = model_longest_queue(m, &read_ns);
    const bool least = may_be_longer(model_scan(m));
    const struct system_sample *now = model_system(m);
    char n[32], pid[48], age[40] = "";
    double age_s = row && now ? (double)(int64_t)(now->mono_ns - read_ns) / 1e9 : 0;
    c->wide = wide;
    const bool known = row && (row->message_queue_len > 0 || !least);
    text_count(n, sizeof n, known ? (double)row->message_queue_len : NAN);
    snprintf(c->value, sizeof c->value, "%s%s", known && least ? "≥" : "", n);
    if (!row || row->message_queue_len == 0)
        return;
    if (row->message_queue_per_s > 0)
        c->style = STYLE_RISING;
    if (age_s > READ_LATELY * fmax(READ_EVERY_S, model_interval(m).asked_s)) {
        c->style = STYLE_STALE;
        snprintf(age, sizeof age, " %.0f s ago", age_s);
    }
    if (!wide)
        return;
    struct slice name = process_name(&(struct process_names){
        .name = row->name,
        .label = row->label,
        .initial_call = row->initial_call,
        .pid = slice_of(pid_text(pid, sizeof pid, &row->pid)),
    });
    name = slice_without(name, "Elixir.");
    snprintf(c->value, sizeof c->value, "%s%s%s %.*s", least ? "≥" : "", n, age,
             (int)(name.len < 90 ? name.len : 90), name.s);
}

/* ---- the lines, the more important cells first */

/* Of so many cells, as many types as have room before `other`, which is all the rest: they add up
 * to the total. In their order, but where few have room those that hold most. Where all have room,
 * and rss too, the rest is `runtime`, as in the view of memory. */
static struct line memory_line(const struct model *m, const struct system_sample *s, int cells)
{
    static const struct {
        const char *label;
        enum memory_type type;
    } types[] = {{"processes", MEMORY_PROCESSES},
                 {"binary", MEMORY_BINARY},
                 {"ets", MEMORY_ETS},
                 {"code", MEMORY_CODE},
                 {"atom", MEMORY_ATOM}};
    const int n = (int)ARRAY_LEN(types);
    const int most = cells < 4 ? 1 : cells - 2 < n ? cells - 2 : cells - 3 < n ? n - 1 : n;
    struct line l = {.n = 0, .spark_max = NAN};
    double rest = s->memory_bytes[MEMORY_TOTAL];
    bytes_cell(&l, "memory", rest);
    for (int i = 0; i < n; i++) {
        int larger = 0;
        for (int k = 0; k < n; k++)
            larger += k != i && s->memory_bytes[types[k].type] > s->memory_bytes[types[i].type];
        if (most < MEMORY_IN_ORDER ? larger >= most : i >= most)
            continue;
        bytes_cell(&l, types[i].label, s->memory_bytes[types[i].type]);
        rest -= s->memory_bytes[types[i].type];
    }
    bytes_cell(&l, most == n ? "runtime" : "other", rest);
    bytes_cell(&l, "rss", s->rss_bytes);
    l.spark = model_history(m, HISTORY_MEMORY_TOTAL);
    return l;
}

static struct line queue_line(const struct model *m, const struct system_sample *s)
{
    struct line l = {.n = 0, .spark_max = NAN};
    integer_cell(&l, "run queue", s->run_queue);
    queue_cell(&l, m, true);
    percent_cell(&l, "sched util", s->use_normal);
    integer_cell(&l, "longest rq", s->run_queue_highest);
    percent_cell(&l, "dirty CPU", s->use_dirty_cpu);
    percent_cell(&l, "dirty I/O", s->use_dirty_io);
    integer_cell(&l, "CPU queue", s->run_queue_dirty_cpu);
    integer_cell(&l, "I/O queue", s->run_queue_dirty_io);
    l.spark = model_history(m, HISTORY_RUN_QUEUE);
    return l;
}

static struct line count_line(const struct model *m, const struct system_sample *s, bool with_use)
{
    const struct node_info *node = model_node(m);
    struct line l = {.n = 0, .spark_max = NAN};
    limit_cell(&l, "processes", s->processes, node ? node->process_limit : -1);
    if (with_use)
        percent_cell(&l, "sched util", s->use_normal);
    limit_cell(&l, "ports", s->ports, node ? node->port_limit : -1);
    limit_cell(&l, "atoms", s->atoms, node ? node->atom_limit : -1);
    limit_cell(&l, "tables", s->ets_tables, node ? node->ets_limit : -1);
    l.spark = model_history(m, HISTORY_PROCESSES);
    return l;
}

/* With few cells, also shows what the line of queues has no room for. */
static struct line work_line(const struct model *m, const struct system_sample *s, int cells)
{
    struct line l = {.n = 0, .spark_max = NAN};
    rate_cell(&l, "reductions", s->reductions_per_s, false);
    if (cells < 4)
        percent_cell(&l, "sched util", s->use_normal);
    rate_cell(&l, "gc", s->gcs_per_s, false);
    rate_cell(&l, "switches", s->context_switches_per_s, false);
    rate_cell(&l, "in", s->in_bytes_per_s, true);
    rate_cell(&l, "out", s->out_bytes_per_s, true);
    l.spark = model_history(m, HISTORY_REDUCTIONS);
    return l;
}

/* All that a low terminal has room for. */
static struct line short_line(const struct model *m, const struct system_sample *s)
{
    const struct node_info *node = model_node(m);
    struct line l = {.n = 0, .spark_max = NAN};
    bytes_cell(&l, "mem", s->memory_bytes[MEMORY_TOTAL]);
    integer_cell(&l, "queue", s->run_queue);
    queue_cell(&l, m, false);
    percent_cell(&l, "util", s->use_normal);
    limit_cell(&l, "procs", s->processes, node ? node->process_limit : -1);
    rate_cell(&l, "red", s->reductions_per_s, false);
    limit_cell(&l, "atoms", s->atoms, node ? node->atom_limit : -1);
    limit_cell(&l, "ports", s->ports, node ? node->port_limit : -1);
    l.spark = model_history(m, HISTORY_MEMORY_TOTAL);
    return l;
}

/* ---- drawing them as a grid */

/* Cells keep their place while values change: what each needs at least. */
static const int cell_widths[CELLS] = {21, 18, 17, 16, 15, 15, 14, 14, 14};

struct grid {
    int width[CELLS];
    int n, spark;
};

static void measure_cells(const struct line *lines, int n_lines, bool roomy, struct grid *g)
{
    *g = (struct grid){0};
    for (int line = 0; line < n_lines; line++)
        for (int i = 0, at = 0; i < lines[line].n; i++, at++) {
            const struct cell *cell = &lines[line].cells[i];
            int width = text_columns(cell->label) + 1 + text_columns(cell->value);
            int least = roomy ? cell_widths[at] : 0;
            width = width > least && !cell->wide ? width : least;
            g->width[at] = width > g->width[at] ? width : g->width[at];
            at += cell->wide;
            g->n = at + 1 > g->n ? at + 1 : g->n;
        }
}

static void fit_header(struct grid *g, int columns, bool spark)
{
    int used = 1, most = g->n;
    int reserved = spark ? SPARK_LEAST + 1 : 0;
    for (g->n = 0; g->n < most; g->n++) {
        int more = g->width[g->n] + (g->n ? HEADER_GAP : reserved);
        if (g->n > 0 && used + more > columns)
            break;
        used += more;
    }
    int room = columns - used - 1;
    g->spark = spark ? SPARK_LEAST + (room > 0 ? room : 0) : 0;
    g->spark = g->spark > SPARK_MOST ? SPARK_MOST : g->spark;
}

/* To the right of its place; what is too long is cut at its end. */
static void put_cell_value(const struct cell *cell, struct canvas *c, struct rect place, int row)
{
    int label = text_columns(cell->label) + 1, value = text_columns(cell->value);
    if (!cell->wide) {
        canvas_puts(c, place, row, place.columns - value, cell->style, cell->value);
        return;
    }
    struct rect room = {place.row, place.column + label, place.rows, place.columns - label};
    canvas_puts(c, room, row, 0, cell->style, cell->value);
    if (value > room.columns && room.columns > 0)
        canvas_puts(c, room, row, room.columns - 1, cell->style, c->ascii ? "~" : "…");
}

/* The first line states the period of all sparklines. */
static void put_spark(const struct line *l, const struct grid *g, struct canvas *c, struct rect r,
                      int row, int at)
{
    char text[SPARK_MOST * GRAPH_CELL_BYTES + 1];
    int columns = g->spark - SPAN_COLUMNS;
    graph_spark(text, sizeof text, l->spark, columns, SPARK_WINDOW, l->spark_max, c->ascii);
    canvas_puts(c, r, row, at, STYLE_GRAPH, text);
    if (row != 1)
        return;
    snprintf(text, sizeof text, " %zus", graph_spark_span(l->spark, columns, SPARK_WINDOW));
    canvas_puts(c, r, row, at + columns, STYLE_DIM, text);
}

static void draw_header_line(const struct line *l, const struct grid *g, struct canvas *c,
                             struct rect r, int row)
{
    int at = 1;
    for (int i = 0, place = 0; place < g->n && i < l->n; i++, place++) {
        const struct cell *cell = &l->cells[i];
        int width = g->width[place];
        if (cell->wide && place + 1 < g->n)
            width += HEADER_GAP + g->width[++place];
        canvas_puts(c, r, row, at, STYLE_LABEL, cell->label);
        put_cell_value(cell, c, (struct rect){r.row, r.column + at, r.rows, width}, row);
        at += width;
        if (i == 0 && g->spark && l->spark)
            put_spark(l, g, c, r, row, at + 1);
        at += (i == 0 && g->spark ? g->spark + 1 : 0) + HEADER_GAP;
    }
}

bool header_is_live(const struct model *m)
{
    return model_link(m, NULL) == LINK_LIVE;
}

int header_rows(int screen_rows)
{
    return screen_rows >= 24 ? 5 : screen_rows >= 20 ? 4 : 2;
}

void header_draw(const struct model *m, const struct header_state *state, struct canvas *c,
                 struct rect r)
{
    const struct system_sample *s = model_system(m);
    const struct table_detail *nodes = header_nodes(m, state);
    header_draw_first(m, state, c, r);
    if (nodes)
        header_draw_nodes(nodes, c, r);
    if (nodes || !s || r.rows < 2)
        return;
    struct line lines[4];
    int n = 0;
    struct grid grid;
    if (r.rows == 2) {
        lines[n++] = short_line(m, s);
    } else {
        lines[n++] = memory_line(m, s, CELLS);
        lines[n++] = queue_line(m, s);
        lines[n++] = count_line(m, s, false);
        if (r.rows > 4)
            lines[n++] = work_line(m, s, CELLS);
    }
    measure_cells(lines, n, r.rows > 2, &grid);
    fit_header(&grid, r.columns - 1, r.rows > 2);
    if (r.rows > 2)
        lines[0] = memory_line(m, s, grid.n);
    if (n == 4)
        lines[3] = work_line(m, s, grid.n);
    else if (n == 3 && grid.n < 4)
        lines[2] = count_line(m, s, true);
    for (int i = 0; i < n; i++)
        draw_header_line(&lines[i], &grid, c, r, i + 1);
    if (!header_is_live(m))
        for (int row = 1; row < r.rows; row++)
            canvas_restyle(c, r, row, 0, r.columns, STYLE_STALE);
}
