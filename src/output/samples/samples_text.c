/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A finished run as tables for people. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "output/table.h"
#include "samples.h"

#define ROWS_SHOWN 20
#define DEPTH_SHOWN 64

struct text_run {
    struct buf *out;
    struct arena arena;
    const struct samples_summary *run;
    const struct samples_options *options;
    size_t rows, depth;
};

/* ---- texts, which live as long as the run */

static const char *safe(struct text_run *r, struct slice text)
{
    return slice_keep_safe(&r->arena, text, r->options->ascii).s;
}

static const char *known(struct text_run *r, struct slice text)
{
    return text.len > 0 ? safe(r, text) : r->options->ascii ? "-" : "–";
}

static const char *omission(const struct text_run *r)
{
    return r->options->ascii ? "..." : "…";
}

static const char *frame_name(struct text_run *r, const struct sample_frame *f, size_t indent)
{
    struct buf out;
    buf_init(&out, 0);
    text_pad(&out, 0, indent);
    text_put_safe(&out, f->name.s, f->name.len, r->options->ascii);
    samples_place(&out, f, r->options->ascii);
    return slice_take(&r->arena, &out).s;
}

static const char *percent(struct text_run *r, double share)
{
    char text[32];
    if (isnan(share))
        return r->options->ascii ? "-" : "–";
    return arena_strdup(&r->arena, text_percent(text, sizeof text, share));
}

static const char *integer(struct text_run *r, int64_t n)
{
    char text[32];
    if (n < 0)
        return r->options->ascii ? "-" : "–";
    return arena_strdup(&r->arena, text_integer(text, sizeof text, n));
}

static const char *duration(struct text_run *r, double seconds)
{
    char text[48];
    return arena_strdup(&r->arena, text_duration_as(text, sizeof text, seconds, r->options->ascii));
}

/* ---- head */

static const char *wall_text(struct text_run *r, int64_t wall_us)
{
    char text[16];
    return text_time(text, sizeof text, wall_us, 0, 0) ? arena_printf(&r->arena, "%sZ", text) : "-";
}

/* "3 (0.3%)" */
static const char *part(struct text_run *r, int64_t n)
{
    return arena_printf(&r->arena, "%s (%s)", integer(r, n),
                        percent(r, samples_share((double)n, (double)r->run->samples)));
}

/* ", GC 12.0%"; the first without the comma */
static void put_share(struct text_run *r, size_t i, const char *name, double part, double whole)
{
    buf_printf(r->out, "%s%s %s", i > 0 ? ", " : "", name, percent(r, samples_share(part, whole)));
}

static void put_classes(struct text_run *r)
{
    for (size_t i = 0; i < SAMPLE_CLASSES; i++)
        put_share(r, i, sample_class_name((enum sample_class)i), (double)r->run->classes[i],
                  (double)r->run->samples);
    buf_put_u8(r->out, '\n');
}

/* The code that ran, whatever it ran for. */
static void put_codes(struct text_run *r)
{
    double codes[FRAME_KINDS];
    samples_by_code(r->run, codes);
    buf_puts(r->out, "code: ");
    for (size_t i = 0; i < FRAME_KINDS; i++)
        put_share(r, i, frame_kind_name((enum frame_kind)i), codes[i],
                  stacks_total(r->run->stacks));
    buf_put_u8(r->out, '\n');
}

static void put_thread_kinds(struct text_run *r)
{
    struct samples_source kinds[SAMPLES_THREAD_KINDS];
    const size_t n = samples_by_thread_kind(r->run, kinds);
    buf_puts(r->out, "threads: ");
    for (size_t i = 0; i < n; i++)
        put_share(r, i, known(r, kinds[i].name), (double)kinds[i].samples, (double)r->run->samples);
    buf_put_u8(r->out, '\n');
}

static void put_head(struct text_run *r)
{
    const struct samples_summary *run = r->run;
    buf_puts(r->out, safe(r, run->label));
    if (run->otp.len > 0)
        buf_printf(r->out, ", OTP %s", safe(r, run->otp));
    buf_printf(r->out, ", %s: %s samples in %s", wall_text(r, run->wall_us),
               integer(r, run->samples), duration(r, run->seconds));
    if (run->at_yields) {
        buf_printf(
            r->out,
            " at yield points\nshares are of the reductions of the busiest processes, not of "
            "CPU time; native code is hardly seen,\nand of each stack only the innermost "
            "frames\ncost: %s on the node (%s)\n",
            duration(r, run->sampler_cpu_s),
            percent(r, samples_share(run->sampler_cpu_s, run->seconds)));
        return;
    }
    buf_printf(r->out, " at %g Hz\n", run->hz);
    buf_printf(r->out, "lost %s, moved on %s, truncated %s, unresolved %s, complete %s\n",
               integer(r, run->lost), part(r, run->moved_on), part(r, run->truncated),
               part(r, run->unresolved), part(r, run->complete));
    buf_printf(r->out, "CPU time: VM %s (%s of one CPU), sampler %s (%s)\n",
               duration(r, run->target_cpu_s),
               percent(r, samples_share(run->target_cpu_s, run->seconds)),
               duration(r, run->sampler_cpu_s),
               percent(r, samples_share(run->sampler_cpu_s, run->seconds)));
    if (stacks_shortened(run->stacks) > 0)
        buf_printf(
            r->out, "%s of the stacks are shortened: too deep, or too many different ones\n",
            percent(r, samples_share(stacks_shortened(run->stacks), stacks_total(run->stacks))));
}

/* ---- functions */

static const char *interval(struct text_run *r, double share)
{
    double error = samples_error(r->run, share);
    if (isnan(error))
        return percent(r, NAN);
    return arena_printf(&r->arena, "%s%.1f", r->options->ascii ? "+-" : "±", error * 100);
}

static const char *more(struct text_run *r, size_t n)
{
    return arena_printf(&r->arena, "%s  %s more", omission(r), integer(r, (int64_t)n));
}

static void put_functions(struct text_run *r)
{
    size_t n;
    struct stacks_sum *sums = stacks_sums(r->run->stacks, &n);
    size_t shown = n < r->rows ? n : r->rows;
    double whole = stacks_total(r->run->stacks), rest = 0;
    struct text_table t = {
        .titles = {"self", r->options->ascii ? "+-95%" : "±95%", "total", "kind", "function"},
        .left = 1u << 3 | 1u << 4,
        .n_columns = 5};
    t.cells = arena_alloc(&r->arena, (shown + 1) * sizeof *t.cells);
    for (size_t i = 0; i < n; i++) {
        if (i >= shown) {
            rest += sums[i].self;
            continue;
        }
        double share = samples_share(sums[i].self, whole);
        const char **cells = t.cells[t.n_rows++];
        cells[0] = percent(r, share);
        cells[1] = interval(r, share);
        cells[2] = percent(r, samples_share(sums[i].total, whole));
        cells[3] = frame_kind_key(sums[i].at->kind);
        cells[4] = frame_name(r, sums[i].at, 0);
    }
    if (n > shown) {
        const char **cells = t.cells[t.n_rows++];
        cells[0] = percent(r, samples_share(rest, whole));
        cells[1] = cells[2] = cells[3] = "";
        cells[4] = more(r, n - shown);
    }
    text_table_put(r->out, &t);
    free(sums);
}

/* ---- where samples skid to: the prologue for breakpoints before each function */

static void put_prologues(struct text_run *r)
{
    const struct samples_summary *run = r->run;
    size_t n;
    struct stacks_sum *sums = stacks_sums(run->prologues, &n);
    struct text_table t = {
        .titles = {"samples", "share", "in the prologue of"}, .left = 1u << 2, .n_columns = 3};
    buf_printf(r->out,
               "\n%s of the samples stood in a breakpoint prologue, and count for its function\n",
               percent(r, samples_share((double)run->in_prologue, (double)run->samples)));
    t.cells = arena_alloc(&r->arena, (r->rows + 1) * sizeof *t.cells);
    for (size_t i = 0; i < n && i < r->rows; i++) {
        const char **cells = t.cells[t.n_rows++];
        cells[0] = integer(r, (int64_t)sums[i].self);
        cells[1] = percent(r, samples_share(sums[i].self, (double)run->samples));
        cells[2] = frame_name(r, sums[i].at, 0);
    }
    text_table_put(r->out, &t);
    free(sums);
}

/* ---- the tree */

struct tree_rows {
    struct text_run *r;
    const struct stacks *s;
    struct text_table table;
    size_t room;
};

static void add_tree_row(struct tree_rows *t, double total, double self, const char *name)
{
    struct text_table *table = &t->table;
    double whole = stacks_total(t->s);
    if (table->n_rows == t->room) {
        t->room = t->room > 0 ? 2 * t->room : 64;
        table->cells = alloc_resize(table->cells, t->room, sizeof *table->cells);
    }
    const char **cells = table->cells[table->n_rows++];
    size_t n = 0;
    cells[n++] = percent(t->r, samples_share(total, whole));
    if (table->n_columns == 3)
        cells[n++] = isnan(self) ? "" : percent(t->r, samples_share(self, whole));
    cells[n] = name;
}

static void add_branch(void *arg, const struct stacks_branch *b)
{
    struct tree_rows *t = arg;
    struct text_run *r = t->r;
    if (b->index != 0)
        add_tree_row(
            t, b->total, b->self,
            frame_name(r, stacks_frame_at(t->s, stacks_node(t->s, b->index)->frame), 2 * b->depth));
    else
        add_tree_row(t, b->total, NAN,
                     arena_printf(&r->arena, "%*s%s  %s", (int)(2 * b->depth), "", omission(r),
                                  b->depth >= r->depth ? "deeper" : "below 1% each"));
}

static void put_tree(struct text_run *r)
{
    struct stacks *inverted = r->options->callers ? stacks_inverted(r->run->stacks) : NULL;
    struct tree_rows t = {.r = r, .s = inverted ? inverted : r->run->stacks};
    t.table = (struct text_table){
        .titles = {"total", "self", "function, and below it what it calls"},
        .left = 1u << 2,
        .n_columns = 3,
    };
    if (inverted)
        t.table = (struct text_table){
            .titles = {"share", "function, and below it its callers"},
            .left = 1u << 1,
            .n_columns = 2,
        };
    double none = stacks_node(t.s, 0)->self;
    stacks_walk(t.s, SAMPLES_TREE_SHARE * stacks_total(t.s), r->depth, add_branch, &t);
    if (none > 0)
        add_tree_row(&t, none, none, SAMPLES_NO_STACK);
    text_table_put(r->out, &t.table);
    free(t.table.cells);
    stacks_free(inverted);
}

/* ---- by process and thread */

static void put_sources(struct text_run *r, const char *first, const char *second,
                        const struct samples_source *sources, size_t n)
{
    size_t shown = n < r->rows ? n : r->rows;
    int64_t rest = 0;
    struct text_table t = {
        .titles = {"samples", "share", first, second}, .left = 1u << 2 | 1u << 3, .n_columns = 4};
    t.cells = arena_alloc(&r->arena, (shown + 1) * sizeof *t.cells);
    for (size_t i = 0; i < n; i++) {
        bool own = i < shown;
        rest += sources[i].samples;
        if (!own && i + 1 < n)
            continue;
        const char **cells = t.cells[t.n_rows++];
        cells[0] = integer(r, rest);
        cells[1] = percent(r, samples_share((double)rest, (double)r->run->samples));
        cells[2] = own ? known(r, sources[i].name) : more(r, n - shown);
        cells[3] = own ? known(r, sources[i].about) : "";
        rest = 0;
    }
    text_table_put(r->out, &t);
}

/* ---- where they ran: sources × places, the places with most samples */

#define PLACES_SHOWN (TABLE_CELLS - 2)

struct place_grid {
    struct slice names[PLACES_SHOWN]; /* in the order of the columns */
    size_t n;
    bool others; /* there are more: the last column */
};

static int by_most(const void *a, const void *b)
{
    const struct samples_place *x = a, *y = b;
    return (x->samples < y->samples) - (x->samples > y->samples);
}

/* "CPU 2" before "CPU 10". */
static int by_number(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;
    return x->len != y->len ? (x->len > y->len) - (x->len < y->len) : slice_order(*x, *y);
}

static void add_place(struct samples_place *sums, size_t *n, const struct samples_place *place)
{
    size_t i = 0;
    while (i < *n && !slice_equal(sums[i].name, place->name))
        i++;
    if (i == *n)
        sums[(*n)++] = (struct samples_place){.name = place->name};
    sums[i].samples += place->samples;
}

static struct place_grid grid_of(struct text_run *r, const struct samples_source *sources, size_t n)
{
    struct place_grid grid = {0};
    size_t all = 0, distinct = 0;
    for (size_t i = 0; i < n; i++)
        all += sources[i].n_places;
    struct samples_place *sums = arena_alloc(&r->arena, (all + 1) * sizeof *sums);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sources[i].n_places; k++)
            add_place(sums, &distinct, &sources[i].places[k]);
    if (distinct > 1)
        qsort(sums, distinct, sizeof *sums, by_most);
    grid.others = distinct > PLACES_SHOWN;
    grid.n = grid.others ? PLACES_SHOWN - 1 : distinct;
    for (size_t i = 0; i < grid.n; i++)
        grid.names[i] = sums[i].name;
    if (grid.n > 1)
        qsort(grid.names, grid.n, sizeof *grid.names, by_number);
    return grid;
}

static void put_grid_row(struct text_run *r, const struct place_grid *grid,
                         const struct samples_source *of, const char **cells)
{
    const double whole = (double)of->samples;
    int64_t rest = of->samples;
    size_t at = 0;
    for (; at < grid->n; at++) {
        int64_t samples = 0;
        for (size_t k = 0; k < of->n_places; k++)
            if (slice_equal(of->places[k].name, grid->names[at]))
                samples = of->places[k].samples;
        rest -= samples;
        cells[at] = samples > 0 ? percent(r, samples_share((double)samples, whole)) : "";
    }
    if (grid->others)
        cells[at++] = rest > 0 ? percent(r, samples_share((double)rest, whole)) : "";
    cells[at++] = integer(r, of->n_places > 0 ? of->moves : -1);
    cells[at] = of->about.len > 0
                    ? arena_printf(&r->arena, "%s  %s", known(r, of->name), safe(r, of->about))
                    : known(r, of->name);
}

static void put_grid(struct text_run *r, const char *what, const struct samples_source *sources,
                     size_t n)
{
    const size_t shown = n < r->rows ? n : r->rows;
    const struct place_grid grid = grid_of(r, sources, shown);
    struct text_table t = {.n_rows = shown};
    if (grid.n == 0)
        return;
    for (; t.n_columns < grid.n; t.n_columns++)
        t.titles[t.n_columns] = safe(r, grid.names[t.n_columns]);
    if (grid.others)
        t.titles[t.n_columns++] = "others";
    t.titles[t.n_columns++] = "moves";
    t.left = 1u << t.n_columns;
    t.titles[t.n_columns++] = what;
    t.cells = arena_alloc(&r->arena, (shown + 1) * sizeof *t.cells);
    for (size_t i = 0; i < shown; i++)
        put_grid_row(r, &grid, &sources[i], t.cells[i]);
    text_table_put(r->out, &t);
}

/* ---- native calls that held a scheduler */

static const char *who(struct text_run *r, const struct samples_held *h)
{
    return h->name.len > 0 ? arena_printf(&r->arena, "%s %s", safe(r, h->process), safe(r, h->name))
                           : known(r, h->process);
}

static void put_held(struct text_run *r)
{
    const struct samples_summary *run = r->run;
    const size_t shown = run->n_held < r->rows ? run->n_held : r->rows;
    struct text_table t = {
        .titles = {"held for", "samples", "thread", "process", "native call", "called by"},
        .left = 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5,
        .n_columns = 6};
    if (!run->held)
        return;
    if (run->n_held == 0) {
        buf_printf(r->out, "\nno native call held a normal scheduler for two samples (%s)\n",
                   duration(r, 1 / run->hz));
        return;
    }
    t.cells = arena_alloc(&r->arena, (shown + 1) * sizeof *t.cells);
    for (size_t i = 0; i < shown; i++) {
        const struct samples_held *h = &run->held[i];
        const char **cells = t.cells[t.n_rows++];
        cells[0] = arena_printf(&r->arena, ">%s", duration(r, h->seconds));
        cells[1] = integer(r, h->samples);
        cells[2] = known(r, h->thread);
        cells[3] = who(r, h);
        cells[4] = h->object.len > 0
                       ? arena_printf(&r->arena, "%s from %s", safe(r, h->call), safe(r, h->object))
                       : safe(r, h->call);
        cells[5] = known(r, h->caller);
    }
    text_table_put(r->out, &t);
}

void samples_text_put(struct sink_pieces *out, const struct samples_summary *run,
                      const struct samples_options *options)
{
    struct text_run r = {.out = &out->buf,
                         .run = run,
                         .options = options,
                         .rows = options->rows > 0 ? options->rows : ROWS_SHOWN,
                         .depth = options->depth > 0 ? options->depth : DEPTH_SHOWN};
    arena_init(&r.arena);
    put_head(&r);
    if (run->samples > 0) {
        if (!run->at_yields) {
            put_classes(&r);
            put_codes(&r);
            put_thread_kinds(&r);
        }
        put_functions(&r);
        if (run->prologues)
            put_prologues(&r);
        put_tree(&r);
        put_sources(&r, "process", "name", run->processes, run->n_processes);
        put_sources(&r, "thread", "kind", run->threads, run->n_threads);
        put_grid(&r, "thread, and its samples by CPU", run->threads, run->n_threads);
        put_grid(&r, "process, and its samples by thread", run->processes, run->n_processes);
        put_held(&r);
    } else {
        buf_puts(r.out, run->at_yields ? "no samples: no process did anything\n"
                                       : "no samples: no thread of the VM was seen on a CPU\n");
    }
    arena_clear(&r.arena);
}
