/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/values.h"

bool trace_values_init(struct trace_values *v, struct slice list)
{
    cursor_init(&v->c, (const uint8_t *)list.s, list.len);
    if (!list.s || !cursor_list(&v->c, &v->list))
        return false;
    v->left = v->list.nil ? 0 : v->list.count + (v->list.string ? 0 : 1);
    return true;
}

static bool next_byte(struct trace_values *v, struct slice *term)
{
    int64_t byte;
    if (!cursor_list_int64(&v->c, &v->list, &byte))
        return false;
    v->small[0] = ETF_SMALL_INTEGER;
    v->small[1] = (uint8_t)byte;
    *term = (struct slice){(const char *)v->small, sizeof v->small};
    return true;
}

bool trace_values_next(struct trace_values *v, struct slice *term)
{
    if (v->left == 0)
        return false;
    v->left--;
    if (v->list.string)
        return next_byte(v, term);
    if (v->left == 0 && cursor_kind(&v->c) == ETF_KIND_NIL)
        return false;
    return cursor_raw(&v->c, term);
}
