/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/header.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/model/process_name.h"
#include "ui/canvas/graph.h"
#include "ui/widgets/page.h"

#define CELLS 9        /* of one line, a wide one is two */
#define GAP 2          /* between cells, at least */
#define SPARK_LEAST 12 /* the span too */
#define SPARK_MOST 34
#define SPARK_WINDOW 120 /* seconds */
#define SPAN_COLUMNS 5   /* " 120s" behind the first of them */

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

static struct cell *cell(struct line *l, const char *label, enum style style)
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
    struct cell *c = cell(l, label, STYLE_VALUE);
    text_bytes(c->value, sizeof c->value, bytes);
}

static void rate_cell(struct line *l, const char *label, double per_s, bool bytes)
{
    struct cell *c = cell(l, label, STYLE_VALUE);
    char n[24];
    if (bytes)
        text_bytes(n, sizeof n, per_s);
    else
        text_count(n, sizeof n, per_s);
    snprintf(c->value, sizeof c->value, "%s%s", n, isnan(per_s) ? "" : "/s");
}

static void percent_cell(struct line *l, const char *label, double share)
{
    struct cell *c = cell(l, label, STYLE_VALUE);
    text_percent(c->value, sizeof c->value, share);
}

/* A count against its limit: colour and marks from 80 and 95 %. */
static void limit_cell(struct line *l, const char *label, int64_t n, int64_t limit)
{
    char have[16], most[16];
    struct cell *c = cell(l, label, STYLE_VALUE);
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
    struct cell *c = cell(l, label, STYLE_VALUE);
    if (n < 0)
        text_count(c->value, sizeof c->value, NAN);
    else if (n < 1000000)
        text_integer(c->value, sizeof c->value, n);
    else
        text_count(c->value, sizeof c->value, (double)n);
}

/* The longest message queue of the processes that are shown or watched, and whose it is. */
static const struct proc_row *longest_queue(const struct model *m)
{
    const struct proc_scan *scan = model_scan(m);
    const struct proc_row *longest = NULL;
    for (size_t i = 0; scan && i < scan->n_rows + scan->n_watched; i++) {
        const struct proc_row *row =
            i < scan->n_rows ? &scan->rows[i] : &scan->watched[i - scan->n_rows];
        if (row->message_queue_len >= 0 &&
            (!longest || row->message_queue_len > longest->message_queue_len))
            longest = row;
    }
    return longest;
}

/* Whether a process that is neither shown nor watched may have a longer one: those with the longest
 * queues are watched as soon as the node has been asked for them. */
static bool may_be_longer(const struct proc_scan *scan)
{
    if (!scan || scan->n_watched > 0 || scan->total <= (int64_t)scan->n_rows)
        return false;
    /* Ranked by it, the longest first, among all. */
    return scan->filtered || scan->by_delta || scan->sorted_among >= 0 || scan->n_rows == 0 ||
           !scan->sort_key || strcmp(scan->sort_key, "message_queue_len") != 0 ||
           scan->rows[0].message_queue_len <= scan->rows[scan->n_rows - 1].message_queue_len;
}

static void queue_cell(struct line *l, const struct model *m, bool wide)
{
    struct cell *c = cell(l, "longest msgq", STYLE_VALUE);
    const struct proc_row *row = longest_queue(m);
    const bool least = may_be_longer(model_scan(m));
    const struct system_sample *now = model_system(m);
    const struct proc_scan *scan = model_scan(m);
    char n[32], pid[48], age[40] = "";
    double age_s = row && now ? (double)(int64_t)(now->mono_ns - scan->mono_ns) / 1e9 : 0;
    c->wide = wide;
    const bool known = row && (row->message_queue_len > 0 || !least);
    text_count(n, sizeof n, known ? (double)row->message_queue_len : NAN);
    snprintf(c->value, sizeof c->value, "%s%s", known && least ? "≥" : "", n);
    if (!row || row->message_queue_len == 0)
        return;
    if (row->message_queue_per_s > 0)
        c->style = STYLE_RISING;
    if (age_s > 3 * model_interval(m).real_s + 1) {
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
    snprintf(c->value, sizeof c->value, "%s%s%s %.*s", least ? "≥" : "", n, age,
             (int)(name.len < 90 ? name.len : 90), name.s);
}

/* ---- the lines, the more important cells first */

static struct line memory_line(const struct model *m, const struct system_sample *s)
{
    struct line l = {.n = 0, .spark_max = NAN};
    bytes_cell(&l, "memory", s->memory_bytes[MEMORY_TOTAL]);
    bytes_cell(&l, "processes", s->memory_bytes[MEMORY_PROCESSES]);
    bytes_cell(&l, "binary", s->memory_bytes[MEMORY_BINARY]);
    bytes_cell(&l, "ets", s->memory_bytes[MEMORY_ETS]);
    bytes_cell(&l, "other", s->memory_bytes[MEMORY_OTHER]);
    bytes_cell(&l, "code", s->memory_bytes[MEMORY_CODE]);
    bytes_cell(&l, "atom", s->memory_bytes[MEMORY_ATOM]);
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
    percent_cell(&l, "dirty cpu", s->use_dirty_cpu);
    percent_cell(&l, "dirty io", s->use_dirty_io);
    integer_cell(&l, "cpu queue", s->run_queue_dirty_cpu);
    integer_cell(&l, "io queue", s->run_queue_dirty_io);
    l.spark = model_history(m, HISTORY_RUN_QUEUE);
    return l;
}

static struct line count_line(const struct model *m, const struct system_sample *s)
{
    const struct node_info *node = model_node(m);
    struct line l = {.n = 0, .spark_max = NAN};
    limit_cell(&l, "processes", s->processes, node ? node->process_limit : -1);
    limit_cell(&l, "ports", s->ports, node ? node->port_limit : -1);
    limit_cell(&l, "atoms", s->atoms, node ? node->atom_limit : -1);
    limit_cell(&l, "tables", s->ets_tables, node ? node->ets_limit : -1);
    l.spark = model_history(m, HISTORY_PROCESSES);
    return l;
}

static struct line work_line(const struct model *m, const struct system_sample *s)
{
    struct line l = {.n = 0, .spark_max = NAN};
    rate_cell(&l, "reductions", s->reductions_per_s, false);
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

static int columns_of(const char *s)
{
    return (int)text_width(s, strlen(s));
}

struct grid {
    int width[CELLS];
    int n, spark;
};

static void measure(const struct line *lines, int n_lines, bool roomy, struct grid *g)
{
    *g = (struct grid){0};
    for (int line = 0; line < n_lines; line++)
        for (int i = 0, at = 0; i < lines[line].n; i++, at++) {
            const struct cell *cell = &lines[line].cells[i];
            int width = columns_of(cell->label) + 1 + columns_of(cell->value);
            int least = roomy ? cell_widths[at] : 0;
            width = width > least && !cell->wide ? width : least;
            g->width[at] = width > g->width[at] ? width : g->width[at];
            at += cell->wide;
            g->n = at + 1 > g->n ? at + 1 : g->n;
        }
}

static void fit(struct grid *g, int columns, bool spark)
{
    int used = 1, most = g->n;
    int reserved = spark ? SPARK_LEAST + 1 : 0;
    for (g->n = 0; g->n < most; g->n++) {
        int more = g->width[g->n] + (g->n ? GAP : reserved);
        if (g->n > 0 && used + more > columns)
            break;
        used += more;
    }
    int room = columns - used - 1;
    g->spark = spark ? SPARK_LEAST + (room > 0 ? room : 0) : 0;
    g->spark = g->spark > SPARK_MOST ? SPARK_MOST : g->spark;
}

/* To the right of its place; what is too long is cut at its end. */
static void put_value(const struct cell *cell, struct canvas *c, struct rect place, int row)
{
    int label = columns_of(cell->label) + 1, value = columns_of(cell->value);
    if (!cell->wide) {
        canvas_puts(c, place, row, place.columns - value, cell->style, cell->value);
        return;
    }
    struct rect room = {place.row, place.column + label, place.rows, place.columns - label};
    canvas_puts(c, room, row, 0, cell->style, cell->value);
    if (value > room.columns && room.columns > 0)
        canvas_puts(c, room, row, room.columns - 1, cell->style, c->ascii ? "~" : "…");
}

/* The first line says how long a time they all show. */
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

static void draw_line(const struct line *l, const struct grid *g, struct canvas *c, struct rect r,
                      int row)
{
    int at = 1;
    for (int i = 0, place = 0; place < g->n && i < l->n; i++, place++) {
        const struct cell *cell = &l->cells[i];
        int width = g->width[place];
        if (cell->wide && place + 1 < g->n)
            width += GAP + g->width[++place];
        canvas_puts(c, r, row, at, STYLE_LABEL, cell->label);
        put_value(cell, c, (struct rect){r.row, r.column + at, r.rows, width}, row);
        at += width;
        if (i == 0 && g->spark && l->spark)
            put_spark(l, g, c, r, row, at + 1);
        at += (i == 0 && g->spark ? g->spark + 1 : 0) + GAP;
    }
}

/* ---- the first line */

#define ITEMS 16
struct item {
    char text[200];
    enum style style;
    int rank; /* the highest leaves first */
    bool right;
};
struct items {
    struct item all[ITEMS];
    int n;
};

static void add(struct items *l, int rank, bool right, enum style style, const char *fmt, ...)
    ATTR_PRINTF(5, 6);
static void add(struct items *l, int rank, bool right, enum style style, const char *fmt, ...)
{
    struct item *item = &l->all[l->n++];
    item->style = style;
    item->rank = rank;
    item->right = right;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(item->text, sizeof item->text, fmt, ap);
    va_end(ap);
}

bool header_is_live(const struct model *m)
{
    return model_link(m, NULL) == LINK_LIVE;
}

/* From here on what waits for it is not known: the time that system.erl gives it. */
#define LATE_MS 200

static void add_late(struct items *l, const struct system_sample *s)
{
    char wait[48], id[32] = "";
    if (!s || s->late_ms < LATE_MS)
        return;
    if (s->late_scheduler >= 0)
        snprintf(id, sizeof id, " %lld", (long long)s->late_scheduler);
    text_duration(wait, sizeof wait, (double)s->late_ms / 1000);
    add(l, 1, false, STYLE_WARN, "scheduler%s late: %s", id, wait);
}

static void add_node(struct items *l, const struct model *m)
{
    const struct node_info *node = model_node(m);
    const struct system_sample *s = model_system(m);
    if (!node) {
        add(l, 0, false, STYLE_TITLE, "beamtop");
        return;
    }
    char up[48];
    add(l, 0, false, STYLE_TITLE, "%.*s", (int)node->name.len, node->name.s);
    add(l, 5, false, STYLE_VALUE, "OTP %.*s", (int)node->otp.len, node->otp.s);
    add(l, 8, false, STYLE_DIM, "ERTS %.*s", (int)node->erts.len, node->erts.s);
    add_late(l, s);
    if (node->elixir.len)
        add(l, 9, false, STYLE_DIM, "Elixir %.*s", (int)node->elixir.len, node->elixir.s);
    add(l, 7, false, STYLE_VALUE, "%lld schedulers", (long long)node->schedulers_online);
    if (s && s->uptime_ms >= 0) {
        text_duration(up, sizeof up, floor((double)s->uptime_ms / 1000));
        add(l, 6, false, STYLE_VALUE, "up %s", up);
    }
}

static const char *link_words(enum link_state link, enum style *style)
{
    *style = STYLE_WARN;
    switch (link) {
    case LINK_CONNECTING:
        return "○ connecting";
    case LINK_LIVE:
        *style = STYLE_OK;
        return "● live";
    case LINK_STALE:
        return "◌ no answer";
    case LINK_LOST:
        *style = STYLE_ALARM;
        return "× lost";
    case LINK_CLOSED:
        *style = STYLE_ALARM;
        return "× closed";
    }
    return "";
}

/* Where in a recording, and how fast it goes by. */
static void add_place(struct items *l, const struct recorded_position *p, bool paused)
{
    char speed[32] = "";
    enum style style = paused || p->at_end ? STYLE_WARN : STYLE_OK;
    if (p->speed > 0)
        snprintf(speed, sizeof speed, " %.3g×", p->speed);
    add(l, 0, true, style, "%s%s", p->speed > 0 && !paused && !p->at_end ? "▶ replay" : "‖ replay",
        speed);
    add(l, 1, true, STYLE_VALUE, "tick %lld/%lld", (long long)p->tick, (long long)p->ticks);
    if (p->gap)
        add(l, 2, true, STYLE_WARN, "after a gap");
    if (p->at_end && p->speed > 0)
        add(l, 3, true, STYLE_WARN, "the end");
    if (p->mark[0] != '\0')
        add(l, 4, true, STYLE_VALUE, "mark %.60s", p->mark);
}

#define REASON_COLUMNS 60

/* How many bytes of a reason are shown: the clauses that there is room for, and the first in any
 * case. The log has all of it. */
static int reason_len(const char *reason, size_t len)
{
    size_t shown = len;
    while (text_width(reason, shown) > REASON_COLUMNS) {
        size_t clause = shown;
        while (clause > 0 && strncmp(reason + clause - 1, ": ", 2) != 0)
            clause--;
        if (clause == 0)
            break;
        shown = clause - 1;
    }
    return (int)shown;
}

/* "REASON; next try in 4 s": when it goes on matters more than why it stopped. */
static void add_reason(struct items *l, enum style style, const char *why)
{
    const char *next = strstr(why, "; next try in ");
    add(l, 2, true, style, "%.*s", reason_len(why, next ? (size_t)(next - why) : strlen(why)), why);
    if (next)
        add(l, 1, true, style, "%s", next + 2);
}

static void add_link(struct items *l, const struct model *m, const struct header_state *state)
{
    const char *why = "";
    enum style style;
    enum link_state link = model_link(m, &why);
    const char *words = link_words(link, &style);
    if (link == LINK_CONNECTING && isnan(state->frozen_s))
        words = "○ no node chosen";
    char since[48] = "";
    if (link != LINK_LIVE && state->frozen_s > 0) {
        text_duration(since, sizeof since, floor(state->frozen_s));
        add(l, 0, true, style, "%s for %s", words, since);
    } else if (link == LINK_LIVE && state->paused) {
        add(l, 0, true, STYLE_WARN, "‖ paused");
    } else {
        add(l, 0, true, style, "%s", words);
    }
    if (link != LINK_LIVE && why && *why)
        add_reason(l, style, why);
}

/* That it goes on matters as much as the link; the reasons of both are long. */
static void add_recording(struct items *l, const struct header_recording *r)
{
    char text[48];
    if (!r || r->state == RECORDING_NONE)
        return;
    if (r->state == RECORDING_STARTS) {
        add(l, 0, true, STYLE_WARN, "○ rec starts");
        return;
    }
    text_duration(text, sizeof text, floor(r->running_s));
    if (r->state == RECORDING_STOPS)
        add(l, 0, true, STYLE_WARN, "○ rec stops");
    else
        add(l, 0, true, *r->problem ? STYLE_WARN : STYLE_OK, "%s rec %s", *r->problem ? "◌" : "●",
            text);
    if (*r->problem)
        add(l, 1, true, STYLE_WARN, "%s", r->problem);
    char ticks[48];
    text_bytes(text, sizeof text, r->bytes);
    add(l, 4, true, STYLE_VALUE, "%s ticks, %s", text_integer(ticks, sizeof ticks, r->ticks), text);
}

static void add_cost(struct items *l, const struct model *m)
{
    struct interval_info interval = model_interval(m);
    const struct tick_cost *cost = model_cost(m);
    char text[48];
    text_duration(text, sizeof text, interval.real_s);
    /* Else only the pace of rare questions is stretched. */
    if (interval.why && *interval.why && interval.real_s > interval.asked_s) {
        char budget[32];
        text_percent_set(budget, sizeof budget, interval.budget);
        add(l, 1, true, STYLE_WARN, "every %s (cost limit %s)", text, budget);
    } else if (interval.real_s > 0) {
        add(l, 3, true, STYLE_VALUE,
            interval.idle && model_link(m, NULL) == LINK_LIVE ? "every %s (idle)" : "every %s",
            text);
    }
    if (!cost || (model_recorded(m) && isnan(cost->target_us)))
        return; /* what is played costs the node nothing */
    text_duration(text, sizeof text, cost->target_us / 1e6);
    add(l, 2, true, STYLE_VALUE, "cost %s", text);
    text_percent(text, sizeof text, cost->share);
    add(l, 2, true, STYLE_VALUE, "%s", text);
    text_bytes(text, sizeof text, cost->bytes);
    add(l, 4, true, STYLE_VALUE, "%s", text);
}

static int items_columns(const struct items *l)
{
    int columns = 1;
    for (int i = 0; i < l->n; i++)
        columns += columns_of(l->all[i].text) + GAP;
    return columns;
}

static void drop_highest(struct items *l)
{
    int worst = 0;
    for (int i = 1; i < l->n; i++)
        if (l->all[i].rank >= l->all[worst].rank)
            worst = i;
    memmove(&l->all[worst], &l->all[worst + 1], (size_t)(l->n - worst - 1) * sizeof l->all[0]);
    l->n--;
}

static void draw_first(const struct model *m, const struct header_state *state, struct canvas *c,
                       struct rect r)
{
    struct items l = {0};
    bool live = header_is_live(m);
    add_node(&l, m);
    if (model_recorded(m))
        add_place(&l, model_recorded(m), state->paused);
    else
        add_link(&l, m, state);
    add_recording(&l, state->recording);
    if (live)
        add_cost(&l, m);
    if (state->clock && *state->clock)
        add(&l, 7, true, STYLE_DIM, "%s", state->clock);
    while (l.n > 2 && items_columns(&l) > r.columns)
        drop_highest(&l);
    int at = 1, right = r.columns - 1;
    for (int i = 0; i < l.n; i++)
        if (l.all[i].right)
            right -= columns_of(l.all[i].text) + GAP;
    right += GAP;
    for (int i = 0; i < l.n; i++) {
        int *place = l.all[i].right ? &right : &at;
        bool stale = !live && !l.all[i].right && i > 0;
        canvas_puts(c, r, 0, *place, stale ? STYLE_STALE : l.all[i].style, l.all[i].text);
        *place += columns_of(l.all[i].text) + GAP;
    }
}

int header_rows(int screen_rows)
{
    return screen_rows >= 24 ? 5 : screen_rows >= 20 ? 4 : 2;
}

void header_draw(const struct model *m, const struct header_state *state, struct canvas *c,
                 struct rect r)
{
    const struct system_sample *s = model_system(m);
    draw_first(m, state, c, r);
    if (!s || r.rows < 2)
        return;
    struct line lines[4];
    int n = 0;
    struct grid grid;
    if (r.rows == 2) {
        lines[n++] = short_line(m, s);
    } else {
        lines[n++] = memory_line(m, s);
        lines[n++] = queue_line(m, s);
        lines[n++] = count_line(m, s);
        if (r.rows > 4)
            lines[n++] = work_line(m, s);
    }
    measure(lines, n, r.rows > 2, &grid);
    fit(&grid, r.columns - 1, r.rows > 2);
    for (int i = 0; i < n; i++)
        draw_line(&lines[i], &grid, c, r, i + 1);
    if (!header_is_live(m))
        for (int row = 1; row < r.rows; row++)
            canvas_restyle(c, r, row, 0, r.columns, STYLE_STALE);
}
