/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/output/number.h"

#include "beamtop/output/fields.h"

const struct field *number_find(const char *key, size_t len)
{
    return field_find(&system_fields, (struct slice){key, len});
}

const char *number_key(const struct field *number)
{
    return number->key;
}

double number_get(const struct field *number, const struct system_sample *s)
{
    return field_number(number, s);
}

void number_names(struct buf *out)
{
    for (size_t i = 0; i < system_fields.n; i++)
        buf_printf(out, "%s%s", i ? ", " : "", system_fields.fields[i].key);
}
