/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/samples.h"

#include <math.h>

double samples_share(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

double samples_error(const struct samples_summary *run, double share)
{
    return run->at_yields ? (double)NAN : sample_error(share, (double)run->samples);
}

const char *samples_unit(const struct samples_summary *run)
{
    return run->at_yields ? "reductions" : "samples";
}
