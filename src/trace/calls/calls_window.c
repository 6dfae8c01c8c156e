/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from the counts of a window: rates, shares, changes. */
#include <math.h>

#include "calls_internal.h"

static double ratio_of(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

static double change_between(double now, double before)
{
    return ratio_of(now, before) - 1;
}

static double before_function(const struct calls_kept *before, const struct calls_function *f)
{
    for (size_t i = 0; i < before->window.n_rows; i++) {
        const struct calls_function *b = &before->window.rows[i];
        if (b->arity == f->arity && slice_equal(b->function, f->function) &&
            slice_equal(b->module, f->module))
            return b->calls_per_s;
    }
    return (double)NAN;
}

static double before_sum(const struct calls_sum *sums, size_t n, const struct calls_sum *s)
{
    for (size_t i = 0; i < n; i++)
        if (slice_equal(sums[i].module, s->module) &&
            slice_equal(sums[i].application, s->application))
            return sums[i].calls_per_s;
    return (double)NAN;
}

static void derive_function(struct calls_function *f, const struct calls_window *w,
                            const struct calls_kept *before, double seconds)
{
    f->calls_per_s = ratio_of((double)f->calls, seconds);
    f->share = ratio_of((double)f->calls, (double)w->calls);
    f->change = change_between(f->calls_per_s, before_function(before, f));
    f->us_per_call = ratio_of(calls_or_nan(f->own_us), calls_or_nan(f->timed_calls));
    f->words_per_call = ratio_of(calls_or_nan(f->words), calls_or_nan(f->timed_calls));
    f->own_share = ratio_of(calls_or_nan(f->own_us), calls_or_nan(w->timed_interval_us));
}

static void derive_sums(struct calls_sum *sums, size_t n, const struct calls_window *w,
                        const struct calls_sum *before, size_t n_before, double seconds)
{
    for (size_t i = 0; i < n; i++) {
        sums[i].calls_per_s = ratio_of((double)sums[i].calls, seconds);
        sums[i].share = ratio_of((double)sums[i].calls, (double)w->calls);
        sums[i].change =
            change_between(sums[i].calls_per_s, before_sum(before, n_before, &sums[i]));
    }
}

void calls_window_derive(struct calls_kept *now, const struct calls_kept *before,
                         uint64_t schedulers)
{
    struct calls_window *w = &now->window;
    const struct calls_window *b = &before->window;
    double seconds = (double)w->interval_us / 1e6;
    w->calls_per_s = ratio_of((double)w->calls, seconds);
    w->load = ratio_of(w->calls_per_s * CALLS_CALL_S, (double)schedulers);
    for (size_t i = 0; i < w->n_rows; i++)
        derive_function(&now->rows[i], w, before, seconds);
    derive_sums(now->modules, w->n_modules, w, b->modules, b->n_modules, seconds);
    derive_sums(now->applications, w->n_applications, w, b->applications, b->n_applications,
                seconds);
}
