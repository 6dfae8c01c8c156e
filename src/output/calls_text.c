/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of counted calls as tables for people. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/output/calls_sink.h"
#include "table.h"
#include "beamtop/trace/calls_fields.h"

#define SUMS_SHOWN 10 /* modules and applications of a window */

struct text_calls {
    struct buf *out;
    struct arena arena;
    bool ascii;
    enum print_syntax syntax;
    const struct calls_window *window;
};

static const char *safe_calls(struct text_calls *t, struct slice text)
{
    return slice_keep_safe(&t->arena, text, t->ascii).s;
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
        rows[i].name = calls_function_name(&t->arena, &rows[i], t->syntax);
    }
    const struct text_rows functions = {&calls_function_fields,
                                        calls_function_columns(w),
                                        rows,
                                        w->n_rows,
                                        sizeof *rows,
                                        lost_count};
    buf_put_u8(t->out, '\n');
    text_rows_put(t->out, &functions, t->ascii);
}

static void put_sums(struct text_calls *t, const struct field_list *fields,
                     const struct calls_sum *sums, size_t n)
{
    const size_t shown = n < SUMS_SHOWN ? n : SUMS_SHOWN;
    if (shown == 0)
        return;
    struct calls_sum *rows = arena_alloc(&t->arena, (shown + 1) * sizeof *rows);
    for (size_t i = 0; i < shown; i++) {
        rows[i] = sums[i];
        rows[i].name = calls_sum_name(&t->arena, &rows[i], t->syntax);
    }
    const struct text_rows shown_rows = {fields, NULL, rows, shown, sizeof *rows, NULL};
    buf_put_u8(t->out, '\n');
    text_rows_put(t->out, &shown_rows, t->ascii);
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

void calls_text_put(struct buf *out, const struct calls_window *w, enum print_syntax syntax,
                    bool ascii)
{
    struct text_calls t = {.out = out, .ascii = ascii, .syntax = syntax, .window = w};
    arena_init(&t.arena);
    put_calls_head(&t);
    if (w->n_rows > 0) {
        put_calls_functions(&t);
        put_sums(&t, &calls_module_fields, w->modules, w->n_modules);
        put_sums(&t, &calls_application_fields, w->applications, w->n_applications);
    }
    arena_clear(&t.arena);
}
