/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/sample.h"

#include <math.h>
#include <stdio.h>

#include "beamtop/base/attr.h"

#define KEY(name, key) [name] = key,

const char *frame_kind_key(enum frame_kind kind)
{
    static const char *const keys[] = {FRAME_KIND_LIST(KEY)};
    return (size_t)kind < ARRAY_LEN(keys) ? keys[kind] : "unknown";
}

const char *frame_kind_name(enum frame_kind kind)
{
    static const char *const names[FRAME_KINDS] = {
        [FRAME_ERLANG] = "Erlang",   [FRAME_SHARED] = "code shared by the JIT",
        [FRAME_BIF] = "BIF",         [FRAME_RUNTIME] = "runtime",
        [FRAME_NIF] = "NIF library", [FRAME_LIBC] = "system library",
        [FRAME_UNKNOWN] = "no name",
    };
    return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "no name";
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

bool frame_is_function(enum frame_kind kind)
{
    return kind == FRAME_ERLANG || kind == FRAME_BIF;
}

const char *frame_place(char *out, size_t size, const struct sample_frame *f)
{
    const struct slice *place = f->file.len > 0 ? &f->file : &f->object;
    snprintf(out, size, f->file.len > 0 && f->line > 0 ? "%.*s:%u" : "%.*s", (int)place->len,
             place->s, f->line);
    return out;
}

#define Z95 1.96
enum { FEW = 5 }; /* samples on a side, below which the normal interval is too narrow there */

/* The longer side of the Wilson interval of 95%. */
static double wilson_side(double share, double n)
{
    const double z2 = Z95 * Z95 / n, all = 1 + z2;
    const double middle = (share + z2 / 2) / all;
    const double half = Z95 / all * sqrt(share * (1 - share) / n + z2 / (4 * n));
    return fmax(middle + half - share, share - (middle - half));
}

double sample_error(double share, double n)
{
    if (!(n > 0))
        return (double)NAN;
    if (!(share > 0 && share < 1)) /* none, or all: exact, with one side */
        return 1 - pow(0.05, 1 / n);
    if (n * share < FEW || n * (1 - share) < FEW)
        return wilson_side(share, n);
    return Z95 * sqrt(share * (1 - share) / n);
}
