/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/rate.h"

#include <math.h>

double rate_interval(uint64_t before_ns, uint64_t now_ns)
{
    return now_ns > before_ns ? (double)(now_ns - before_ns) / 1e9 : NAN;
}

double rate_gauge(int64_t before, int64_t now, double interval_s)
{
    if (before < 0 || now < 0 || !(interval_s > 0))
        return NAN;
    return (double)(now - before) / interval_s;
}

double rate_counter(int64_t before, int64_t now, double interval_s)
{
    return now < before ? NAN : rate_gauge(before, now, interval_s);
}

double rate_share(double part, double whole)
{
    if (!(whole > 0) || isnan(part))
        return NAN;
    return part > whole ? 1 : part / whole;
}
