/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/sample.h"

#include <math.h>

#include "beamtop/base/attr.h"

#define KEY(name, key) [name] = key,

const char *frame_kind_key(enum frame_kind kind)
{
    static const char *const keys[] = {FRAME_KIND_LIST(KEY)};
    return (size_t)kind < ARRAY_LEN(keys) ? keys[kind] : "unknown";
}

const char *sample_class_key(enum sample_class in)
{
    static const char *const keys[] = {SAMPLE_CLASS_LIST(KEY)};
    return (size_t)in < ARRAY_LEN(keys) ? keys[in] : "other";
}

const char *sample_class_name(enum sample_class in)
{
    static const char *const names[SAMPLE_CLASSES] = {
        [SAMPLE_ERLANG] = "Erlang",   [SAMPLE_BIF] = "BIF", [SAMPLE_GC] = "GC",
        [SAMPLE_RUNTIME] = "runtime", [SAMPLE_NIF] = "NIF", [SAMPLE_SCHEDULER] = "scheduler",
        [SAMPLE_OTHER] = "other",
    };
    return (size_t)in < ARRAY_LEN(names) ? names[in] : "other";
}

double sample_error(double share, double n)
{
    return n > 0 ? 1.96 * sqrt(fmax(share * (1 - share), 0) / n) : (double)NAN;
}
