/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/trend.h"

#include <math.h>

#define LEAST_RISE 0.1 /* of the whole rise, from each quarter to the next: a third is even */

static double mean_of(const double *v, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += v[i];
    return sum / (double)(to - from);
}

static bool rises_in_each_quarter(const double *v, size_t n)
{
    double quarters[4];
    if (n < 8)
        return false;
    for (size_t i = 0; i < 4; i++)
        quarters[i] = mean_of(v, i * n / 4, (i + 1) * n / 4);
    double least = LEAST_RISE * (quarters[3] - quarters[0]);
    return least > 0 && quarters[1] - quarters[0] >= least && quarters[2] - quarters[1] >= least &&
           quarters[3] - quarters[2] >= least;
}

struct trend trend_of(const double *v, size_t n)
{
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    struct trend out = {NAN, NAN, 0, false};
    for (size_t i = 0; i < n; i++) {
        double at = (double)i, value = v[i] - v[0];
        x += at, y += value, xx += at * at, yy += value * value, xy += at * value;
    }
    double count = (double)n, varx = count * xx - x * x, vary = count * yy - y * y;
    if (n < 3 || varx <= 0)
        return out;
    double slope = (count * xy - x * y) / varx;
    out.first = v[0] + (y - slope * x) / count;
    out.last = out.first + slope * (count - 1);
    out.fit = vary > 0 ? (count * xy - x * y) / sqrt(varx * vary) : 0;
    out.steady = rises_in_each_quarter(v, n);
    return out;
}
