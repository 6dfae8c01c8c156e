/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A finished run as tables for people. */
#include <inttypes.h>
#include <math.h>

#include "beamtop/base/text.h"
#include "beamtop/model/samples_fields.h"
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

static const char *safe_name(struct text_run *r, struct slice text)
{
    return slice_keep_safe(&r->arena, text, r->options->ascii).s;
}

static const char *unknown_sign(const struct text_run *r)
{
    return r->options->ascii ? "-" : "–";
}

static const char *share_text(struct text_run *r, double share)
{
    char text[32];
    if (isnan(share))
        return unknown_sign(r);
    return arena_strdup(&r->arena, text_percent(text, sizeof text, share));
}

static const char *n_text(struct text_run *r, int64_t n)
{
    char text[32];
    if (n < 0)
        return unknown_sign(r);
    return arena_strdup(&r->arena, text_integer(text, sizeof text, n));
}

static const char *samples_time(struct text_run *r, double seconds)
{
    char text[48];
    return arena_strdup(&r->arena, text_duration_as(text, sizeof text, seconds, r->options->ascii));
}

/* ---- head */

static const char *samples_wall(struct text_run *r, int64_t wall_us)
{
    char text[16];
    return text_time(text, sizeof text, wall_us, 0, 0) ? arena_printf(&r->arena, "%sZ", text) : "-";
}

/* "3 (0.3%)" */
static const char *n_percent(struct text_run *r, int64_t n)
{
    return arena_printf(&r->arena, "%s (%s)", n_text(r, n),
                        share_text(r, samples_share((double)n, (double)r->run->samples)));
}

/* "code: Erlang 70.0%, BIF 12.0%" */
static void put_shares(struct text_run *r, const char *before, enum samples_by by)
{
    size_t n;
    const struct samples_row *rows = samples_rows(r->run, by, true, &r->arena, &n);
    buf_puts(r->out, before);
    for (size_t i = 0; i < n; i++)
        buf_printf(r->out, "%s%s %s", i > 0 ? ", " : "",
                   rows[i].name.len > 0 ? safe_name(r, rows[i].name) : unknown_sign(r),
                   share_text(r, rows[i].share));
    buf_put_u8(r->out, '\n');
}

static void put_run_head(struct text_run *r)
{
    const struct samples_summary *run = r->run;
    buf_puts(r->out, safe_name(r, run->label));
    if (run->otp.len > 0)
        buf_printf(r->out, ", OTP %s", safe_name(r, run->otp));
    buf_printf(r->out, ", %s: %s samples in %s", samples_wall(r, run->wall_us),
               n_text(r, run->samples), samples_time(r, run->seconds));
    if (run->at_yields) {
        buf_printf(
            r->out,
            " at yield points\nshares are of the reductions of the busiest processes, not of "
            "CPU time; native code is hardly seen,\nand of each stack only the innermost "
            "frames\ncost: %s on the node (%s)\n",
            samples_time(r, run->sampler_cpu_s),
            share_text(r, samples_share(run->sampler_cpu_s, run->seconds)));
        return;
    }
    buf_printf(r->out, " at %g Hz\n", run->hz);
    buf_printf(r->out, "lost %s, moved on %s, truncated %s, unresolved %s, complete %s\n",
               n_text(r, run->lost), n_percent(r, run->moved_on), n_percent(r, run->truncated),
               n_percent(r, run->unresolved), n_percent(r, run->complete));
    buf_printf(r->out, "CPU time: VM %s (%s of one CPU), sampler %s (%s)\n",
               samples_time(r, run->target_cpu_s),
               share_text(r, samples_share(run->target_cpu_s, run->seconds)),
               samples_time(r, run->sampler_cpu_s),
               share_text(r, samples_share(run->sampler_cpu_s, run->seconds)));
    if (stacks_shortened(run->stacks) > 0)
        buf_printf(
            r->out, "%s of the stacks are shortened: too deep, or too many different ones\n",
            share_text(r, samples_share(stacks_shortened(run->stacks), stacks_total(run->stacks))));
}

/* ---- tables, in the columns of the view; a function comes last, since a native symbol is long */

/* The first rows, and how many more there are, with the sum of their shares. */
static void put_rows(struct text_run *r, struct text_rows t, size_t most, const char *share)
{
    const size_t all = t.n;
    double rest = 0;
    t.n = all < most ? all : most;
    if (t.n == 0)
        return;
    buf_put_u8(r->out, '\n');
    text_rows_put(r->out, &t, r->options->ascii);
    if (t.n == all)
        return;
    for (size_t i = t.n; i < all; i++)
        rest += field_number(field_find(t.fields, slice_of(share)),
                             (const char *)t.rows + i * t.row_bytes);
    buf_printf(r->out, "%s %s more, together %s\n", r->options->ascii ? "..." : "…",
               n_text(r, (int64_t)(all - t.n)), share_text(r, rest));
}

static void put_run_functions(struct text_run *r, const struct stacks *stacks, double whole,
                              const char *columns)
{
    size_t n;
    const struct samples_function *rows = samples_functions(r->run, stacks, whole, &r->arena, &n);
    put_rows(r, (struct text_rows){&samples_function_fields, columns, rows, n, sizeof *rows, NULL},
             r->rows, "self_share");
}

/* Where samples skid to: the prologue for breakpoints before each function. */
static void put_prologues(struct text_run *r)
{
    const struct samples_summary *run = r->run;
    buf_printf(r->out,
               "\n%s of the samples stood in a breakpoint prologue, and count for its function\n",
               share_text(r, samples_share((double)run->in_prologue, (double)run->samples)));
    put_run_functions(r, run->prologues, (double)run->samples, "self self_share place function");
}

static void put_samples_tree(struct text_run *r)
{
    struct stacks *inverted = r->options->callers ? stacks_inverted(r->run->stacks) : NULL;
    size_t n;
    struct samples_function *rows = samples_tree(inverted ? inverted : r->run->stacks, r->depth,
                                                 r->options->ascii, &r->arena, &n);
    struct text_rows t = {&samples_branch_fields,
                          "total_share self_share place function",
                          rows,
                          n,
                          sizeof *rows,
                          NULL};
    if (inverted) {
        t.fields = &samples_callers_fields;
        t.columns = "total_share place function";
    }
    for (size_t i = 0; i < n; i++) {
        struct buf name;
        buf_init(&name, 0);
        text_pad(&name, 0, 2 * rows[i].depth);
        buf_put(&name, rows[i].name.s, rows[i].name.len);
        rows[i].name = slice_take(&r->arena, &name);
    }
    put_rows(r, t, n, NULL);
    stacks_free(inverted);
}

static void put_sources(struct text_run *r, enum samples_by by)
{
    size_t n;
    const struct samples_row *rows = samples_rows(r->run, by, true, &r->arena, &n);
    put_rows(r, (struct text_rows){samples_fields_by[by], NULL, rows, n, sizeof *rows, NULL},
             r->rows, "share");
}

/* Native calls that held a scheduler. */
static void put_held(struct text_run *r)
{
    const struct samples_summary *run = r->run;
    const size_t shown = run->n_held < r->rows ? run->n_held : r->rows;
    put_rows(r,
             (struct text_rows){&samples_held_fields,
                                "seconds samples thread pid name call object caller", run->held,
                                shown, sizeof *run->held, NULL},
             shown, NULL);
    if (run->held && run->n_held == 0)
        buf_printf(r->out, "\nno native call held a normal scheduler for two samples (%s)\n",
                   samples_time(r, 1 / run->hz));
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
    put_run_head(&r);
    if (run->samples > 0) {
        if (!run->at_yields) {
            put_shares(&r, "", SAMPLES_BY_CLASS);
            put_shares(&r, "code: ", SAMPLES_BY_CODE);
            put_shares(&r, "threads: ", SAMPLES_BY_KIND);
        }
        put_run_functions(&r, run->stacks, stacks_total(run->stacks),
                          "self_share self_error total_share kind place function");
        if (run->prologues)
            put_prologues(&r);
        put_samples_tree(&r);
        put_sources(&r, SAMPLES_BY_PROCESS);
        put_sources(&r, SAMPLES_BY_THREAD);
        put_held(&r);
    } else {
        buf_puts(r.out, run->at_yields ? "no samples: no process did anything\n"
                                       : "no samples: no thread of the VM was seen on a CPU\n");
    }
    arena_clear(&r.arena);
}
