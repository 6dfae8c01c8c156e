/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of counted calls as tables for people. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "calls_form.h"
#include "beamtop/trace/calls_fields.h"

#define SUMS_SHOWN 10 /* modules and applications of a window */

struct text_calls {
    struct buf *out;
    struct arena arena;
    const struct calls_sink_options *options;
    const struct calls_window *window;
};

static const char *safe_calls(struct text_calls *t, struct slice text)
{
    return slice_keep_safe(&t->arena, text, t->options->ascii).s;
}

/* Its counter in the second window. */
static const char *lost_count(const struct field *f, const void *row)
{
    const struct calls_function *function = row;
    return function->lost && calls_field_is_timed(f) ? "lost" : NULL;
}

static void put_calls_functions(struct text_calls *t)
{
    const struct calls_window *w = t->window;
    struct calls_function *rows = arena_alloc(&t->arena, (w->n_rows + 1) * sizeof *rows);
    for (size_t i = 0; i < w->n_rows; i++) {
        rows[i] = w->rows[i];
        rows[i].name = calls_function_name(&t->arena, &rows[i], t->options->syntax);
    }
    const struct text_rows functions = {&calls_function_fields,
                                        calls_function_columns(w),
                                        rows,
                                        w->n_rows,
                                        sizeof *rows,
                                        lost_count};
    calls_text_rows(t->out, &functions, t->options->ascii);
}

void calls_text_rows(struct buf *out, const struct text_rows *rows, bool ascii)
{
    buf_put_u8(out, '\n');
    text_rows_put(out, rows, ascii);
}

void calls_text_sums(struct buf *out, struct arena *arena, const struct text_rows *sums,
                     const struct calls_sink_options *options)
{
    const struct calls_sum *all = sums->rows;
    struct text_rows shown = *sums;
    shown.n = sums->n < SUMS_SHOWN ? sums->n : SUMS_SHOWN;
    if (shown.n == 0)
        return;
    struct calls_sum *rows = arena_alloc(arena, shown.n * sizeof *rows);
    for (size_t i = 0; i < shown.n; i++) {
        rows[i] = all[i];
        rows[i].name = calls_sum_name(arena, &rows[i], options->syntax);
    }
    shown.rows = rows;
    shown.row_bytes = sizeof *rows;
    calls_text_rows(out, &shown, options->ascii);
}

static const char *window_time(int64_t wall_us, char *to, size_t size)
{
    char text[16];
    if (text_time(text, sizeof text, wall_us, 0, 0))
        snprintf(to, size, "%sZ", text);
    else
        snprintf(to, size, "-");
    return to;
}

static void put_names(struct text_calls *t, const char *before, const struct slice *names, size_t n)
{
    buf_puts(t->out, before);
    for (size_t i = 0; i < n; i++)
        buf_printf(t->out, "%s %s", i > 0 ? "," : "", safe_calls(t, names[i]));
    buf_put_u8(t->out, '\n');
}

static void put_calls_head(struct text_calls *t)
{
    const struct calls_window *w = t->window;
    char time[20], interval[32], called[32], counted[32], calls[32], rate[32], load[32];
    buf_printf(t->out,
               "%swindow %" PRIu64 ", %s: %s%s, %s calls (%s/s) of %s of %s functions; "
               "counting cost about %s of the node\n",
               w->number > 1 ? "\n" : "", w->number, window_time(w->wall_us, time, sizeof time),
               text_duration_as(interval, sizeof interval, (double)w->interval_us / 1e6, true),
               w->cut ? " (stopped early)" : "",
               text_integer(calls, sizeof calls, (int64_t)w->calls),
               text_count(rate, sizeof rate, w->calls_per_s),
               text_integer(called, sizeof called, (int64_t)w->called),
               text_integer(counted, sizeof counted, (int64_t)w->functions),
               text_percent(load, sizeof load, w->load));
    if (w->asked_us != CALLS_UNKNOWN)
        buf_printf(t->out, "shortened from %s: counting may cost 10%% of the node over that time\n",
                   text_duration_as(interval, sizeof interval, (double)w->asked_us / 1e6, true));
    if (w->n_excluded > 0)
        put_names(t, "not counted, since they are called too often:", w->excluded, w->n_excluded);
    if (w->lost > 0) {
        buf_printf(t->out,
                   "lost: counts of %" PRIu64 " functions, reloaded in the window or not readable:",
                   w->lost);
        put_names(t, "", w->lost_modules, w->n_lost_modules);
    }
    if (w->timed)
        buf_printf(
            t->out,
            "times of %" PRIu64 " processes, in a second window of %s; own time is "
            "without that in other functions of this table\n",
            w->processes,
            text_duration_as(interval, sizeof interval, (double)w->timed_interval_us / 1e6, true));
    if (w->timed_why[0] != '\0')
        buf_printf(t->out, "no times: %s\n", safe_calls(t, slice_of(w->timed_why)));
}

void calls_text_put(struct buf *out, const struct calls_window *w,
                    const struct calls_sink_options *options)
{
    struct text_calls t = {.out = out, .options = options, .window = w};
    const struct text_rows modules = {
        .fields = &calls_module_fields, .rows = w->modules, .n = w->n_modules};
    const struct text_rows applications = {
        .fields = &calls_application_fields, .rows = w->applications, .n = w->n_applications};
    arena_init(&t.arena);
    put_calls_head(&t);
    if (w->n_rows > 0) {
        put_calls_functions(&t);
        calls_text_sums(out, &t.arena, &modules, options);
        calls_text_sums(out, &t.arena, &applications, options);
    }
    arena_clear(&t.arena);
}
