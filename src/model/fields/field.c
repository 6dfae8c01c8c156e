/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/field.h"

const char *field_title(const struct field *f, bool upper, char out[FIELD_TITLE_BYTES])
{
    size_t len = 0;
    if (f->title)
        return f->title;
    for (const char *at = f->key; *at && len + 1 < FIELD_TITLE_BYTES; at++)
        out[len++] = *at == '_'                          ? ' '
                     : upper && *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A')
                                                         : *at;
    out[len] = '\0';
    return out;
}
