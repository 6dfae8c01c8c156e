/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/sample.h"

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
