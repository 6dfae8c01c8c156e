/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/output/number.h"

#include <string.h>

#include "beamtop/base/known.h"
#include "beamtop/output/fields.h"

const struct field *number_find(const char *key, size_t len)
{
    for (size_t i = 0; i < system_fields.n; i++)
        if (strlen(system_fields.fields[i].key) == len &&
            memcmp(system_fields.fields[i].key, key, len) == 0)
            return &system_fields.fields[i];
    return NULL;
}

const char *number_key(const struct field *number)
{
    return number->key;
}

double number_get(const struct field *number, const struct system_sample *s)
{
    const char *at = (const char *)s + number->offset;
    if (number->form == FIELD_REAL)
        return *(const double *)(const void *)at;
    int64_t v = *(const int64_t *)(const void *)at;
    return known_or_nan(v);
}

void number_names(struct buf *out)
{
    for (size_t i = 0; i < system_fields.n; i++)
        buf_printf(out, "%s%s", i ? ", " : "", system_fields.fields[i].key);
}
