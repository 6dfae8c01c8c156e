/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/samples.h"

#include <math.h>

double samples_share(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}
