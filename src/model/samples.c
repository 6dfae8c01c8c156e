/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/samples.h"

#include <math.h>

double samples_share(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

double samples_error(double share, int64_t n)
{
    return n > 0 ? 1.96 * sqrt(fmax(share * (1 - share), 0) / (double)n) : (double)NAN;
}

const char *samples_class_word(enum sample_class in)
{
    static const char *const words[SAMPLE_CLASSES] = {
        [SAMPLE_ERLANG] = "Erlang",   [SAMPLE_BIF] = "BIF", [SAMPLE_GC] = "GC",
        [SAMPLE_RUNTIME] = "runtime", [SAMPLE_NIF] = "NIF", [SAMPLE_SCHEDULER] = "scheduler",
        [SAMPLE_OTHER] = "other",
    };
    return words[in];
}
