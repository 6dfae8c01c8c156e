/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/field.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/known.h"
#include "beamtop/base/text.h"

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

const struct field *field_find(const struct field_list *list, struct slice key)
{
    for (size_t i = 0; i < list->n + list->n_more; i++)
        if (slice_is(key, list->fields[i].key))
            return &list->fields[i];
    return NULL;
}

size_t field_columns(const struct field_list *list, const char *columns, const struct field *out[],
                     size_t most)
{
    const char *at = columns ? columns : list->columns;
    size_t n = 0;
    for (; !at && n < list->n && n < most; n++)
        out[n] = &list->fields[n];
    while (at && *at && n < most) {
        const struct slice key = {at, strcspn(at, " ")};
        out[n] = field_find(list, key);
        assert(out[n]);
        n++;
        at += key.len + strspn(at + key.len, " ");
    }
    return n;
}

bool field_is_number(const struct field *f)
{
    return f->form != FIELD_SLICE && f->form != FIELD_CHARS && f->form != FIELD_SCHEDULER_KIND &&
           f->form != FIELD_PID && f->form != FIELD_NONE;
}

double field_number(const struct field *f, const void *row)
{
    const void *at = (const char *)row + f->offset;
    switch (f->form) {
    case FIELD_INT:
    case FIELD_MS:
    case FIELD_WALL_US:
        return known_or_nan(*(const int64_t *)at);
    case FIELD_UNSIGNED:
        return *(const unsigned *)at;
    case FIELD_SIGNED:
        return (double)*(const int64_t *)at;
    case FIELD_REAL:
    case FIELD_CPUS:
        return *(const double *)at;
    case FIELD_BOOL:
        return *(const bool *)at;
    case FIELD_MADE:
        return f->number(row);
    case FIELD_SLICE:
    case FIELD_CHARS:
    case FIELD_SCHEDULER_KIND:
    case FIELD_PID:
    case FIELD_NONE:
        break;
    }
    return NAN;
}

struct slice field_text(const struct field *f, const void *row)
{
    static const char *const kinds[] = {
        [SCHEDULER_NORMAL] = "normal",
        [SCHEDULER_DIRTY_CPU] = "dirty_cpu",
        [SCHEDULER_DIRTY_IO] = "dirty_io",
    };
    const void *at = (const char *)row + f->offset;
    if (f->form == FIELD_SLICE)
        return *(const struct slice *)at;
    if (f->form == FIELD_CHARS)
        return slice_of(at);
    if (f->form == FIELD_SCHEDULER_KIND)
        return slice_of(kinds[*(const enum scheduler_kind *)at]);
    return (struct slice){"", 0};
}

const struct etf_pid *field_pid(const struct field *f, const void *row)
{
    const char *at = row;
    const bool known = f->known == 0 || *(const bool *)(const void *)(at + f->known);
    return f->form == FIELD_PID && known ? (const void *)(at + f->offset) : NULL;
}

/* "+12%", "x3" */
static void put_ratio(char *out, size_t size, double change)
{
    if (change >= 9.995)
        snprintf(out, size, "x%.0f", change + 1);
    else if (fabs(change) < 0.005)
        snprintf(out, size, "0%%");
    else
        snprintf(out, size, "%+.0f%%", change * 100);
}

static void put_field_number(const struct field *f, double n, bool ascii, char *out, size_t size)
{
    switch (f->type) {
    case COLUMN_BYTES:
    case COLUMN_BYTE_RATE:
        text_bytes(out, size, n);
        break;
    case COLUMN_RATE:
        text_count(out, size, n);
        break;
    case COLUMN_SHARE:
        text_percent(out, size, n);
        break;
    case COLUMN_SECONDS:
        text_duration_as(out, size, n, ascii);
        break;
    case COLUMN_BOOL:
        snprintf(out, size, "%s", n != 0 ? "yes" : "no");
        break;
    case COLUMN_COUNT:
        if (f->look == LOOK_SHORT)
            text_count(out, size, n);
        else
            text_integer(out, size, (int64_t)n);
        break;
    case COLUMN_TEXT: /* a name that is a number */
    case COLUMN_PID:
        snprintf(out, size, "%.0f", n);
        break;
    }
}

const char *field_number_text(const struct field *f, double n, bool ascii, char *out, size_t size)
{
    const bool ratio = f->look == LOOK_CHANGE && f->type == COLUMN_SHARE;
    const size_t sign = f->look == LOOK_ABOVE || f->look == LOOK_OFFSET ||
                        (f->look == LOOK_CHANGE && n > 0 && !ratio);
    snprintf(out, size, "%.*s", (int)sign, f->look == LOOK_ABOVE ? ">" : "+");
    if (ratio)
        put_ratio(out, size, n);
    else if (f->look == LOOK_ERROR)
        snprintf(out, size, "%s%.1f", ascii ? "+-" : "±", n * 100);
    else if (f->look == LOOK_MICROSECONDS || f->look == LOOK_OFFSET)
        text_duration_as(out + sign, size - sign, n * 1e-6, ascii);
    else
        put_field_number(f, n, ascii, out + sign, size - sign);
    return out;
}

const char *field_bound_text(const struct field *f, const void *row, bool ascii)
{
    const enum field_bound *bound = (const void *)((const char *)row + f->bound);
    if (f->bound == 0 || *bound == BOUND_NONE)
        return "";
    return *bound == BOUND_AT_LEAST ? (ascii ? ">=" : "≥") : ascii ? "<=" : "≤";
}
