/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/option.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"
#include "beamtop/trace/names.h"
#include "beamtop/ui/capture.h"

const char *option_type_name(enum option_type type)
{
    static const char *const type_names[] = {
        [OPTION_TYPE_BOOL] = "yes or no",
        [OPTION_TYPE_INT] = "whole number",
        [OPTION_TYPE_DOUBLE] = "number",
        [OPTION_TYPE_DURATION] = "duration",
        [OPTION_TYPE_BYTES] = "size in bytes",
        [OPTION_TYPE_ENUM] = "one of",
        [OPTION_TYPE_STRING] = "text",
        [OPTION_TYPE_COLUMNS] = "columns",
        [OPTION_TYPE_CAP] = "cap",
    };
    return type_names[type];
}

static bool is_text(enum option_type type)
{
    return type == OPTION_TYPE_STRING || type == OPTION_TYPE_COLUMNS;
}

static bool parse_bool(const char *s, double *out)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"yes", true}, {"on", true},   {"true", true},   {"1", true},
                 {"no", false}, {"off", false}, {"false", false}, {"0", false}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcasecmp(words[i].word, s) == 0) {
            *out = words[i].value;
            return true;
        }
    }
    return false;
}

static bool parse_option_number(const char *s, bool whole, double *out)
{
    char *end;
    if (s[0] == '\0' || strspn(s, "0123456789.-+eE") != strlen(s))
        return false;
    errno = 0;
    *out = strtod(s, &end);
    return *end == '\0' && errno == 0 && isfinite(*out) && (!whole || *out == floor(*out));
}

static bool parse_choice(const char *const *choices, const char *s, double *out)
{
    for (size_t i = 0; choices[i]; i++) {
        if (strcmp(choices[i], s) == 0) {
            *out = (double)i;
            return true;
        }
    }
    return false;
}

static bool parse_cap(enum cap cap, const char *s, double *out)
{
    struct caps caps;
    struct error range = {0}; /* reported by fail_value(), with the option's name */
    if (caps_parse(&caps, cap, s, &range) != 0)
        return false;
    *out = (double)caps.value[cap];
    return true;
}

static bool parse_option_value(const struct option_row *row, const char *s, double *out)
{
    switch (row->type) {
    case OPTION_TYPE_BOOL:
        return parse_bool(s, out);
    case OPTION_TYPE_INT:
        return parse_option_number(s, true, out);
    case OPTION_TYPE_DOUBLE:
        return parse_option_number(s, false, out);
    case OPTION_TYPE_DURATION:
        return text_parse_duration(s, out) == 0;
    case OPTION_TYPE_BYTES:
        return text_parse_bytes(s, out) == 0;
    case OPTION_TYPE_ENUM:
        return parse_choice(row->choices, s, out);
    case OPTION_TYPE_CAP:
        return parse_cap(row->cap, s, out);
    case OPTION_TYPE_STRING:
    case OPTION_TYPE_COLUMNS:
        break;
    }
    return true;
}

static void put_duration(double seconds, struct buf *out)
{
    if (seconds != 0 && seconds < 1)
        buf_printf(out, "%gms", seconds * 1e3);
    else
        buf_printf(out, "%.10gs", seconds);
}

static void put_option_number(const struct option_row *row, double v, struct buf *out)
{
    switch (row->type) {
    case OPTION_TYPE_BOOL:
        buf_puts(out, v != 0 ? "yes" : "no");
        return;
    case OPTION_TYPE_ENUM:
        buf_puts(out, row->choices[(size_t)v]);
        return;
    case OPTION_TYPE_DURATION:
        put_duration(v, out);
        return;
    case OPTION_TYPE_CAP:
        if (cap_table[row->cap].unit == UNIT_MS)
            put_duration(v / 1e3, out);
        else
            buf_printf(out, "%.0f", v);
        return;
    case OPTION_TYPE_BYTES:
    case OPTION_TYPE_INT:
        buf_printf(out, "%.0f", v);
        return;
    case OPTION_TYPE_DOUBLE:
        buf_printf(out, "%.10g", v);
        return;
    case OPTION_TYPE_STRING:
    case OPTION_TYPE_COLUMNS:
        return;
    }
}

void option_cap_range(const struct option_row *row, struct buf *out)
{
    static const char *const kinds[] = {[UNIT_COUNT] = "a whole number",
                                        [UNIT_MS] = "a duration",
                                        [UNIT_PER_S] = "a rate",
                                        [UNIT_BYTES] = "a size in bytes"};
    const struct cap_row *cap = &cap_table[row->cap];
    char least[32], ceiling[32];
    buf_printf(out, "%s from %s to %s", kinds[cap->unit],
               cap_format(least, sizeof least, row->cap, cap->least),
               cap_format(ceiling, sizeof ceiling, row->cap, cap->ceiling));
}

/* "a duration from 250ms to 3600s": numbers, durations, sizes. */
static void put_range(const struct option_row *row, struct buf *out)
{
    if (row->type == OPTION_TYPE_CAP) {
        option_cap_range(row, out);
        return;
    }
    char low[32], high[32];
    buf_printf(out, "a %s from ", option_type_name(row->type));
    if (row->type == OPTION_TYPE_BYTES) {
        buf_printf(out, "%s to %s", text_bytes_exact(low, sizeof low, row->low),
                   text_bytes_exact(high, sizeof high, row->high));
        return;
    }
    put_option_number(row, row->low, out);
    buf_puts(out, " to ");
    put_option_number(row, row->high, out);
}

static int fail_value(const struct option_row *row, const char *text, struct error *err)
{
    struct buf allowed;
    buf_init(&allowed, 0);
    if (row->type == OPTION_TYPE_ENUM) {
        for (size_t i = 0; row->choices[i]; i++)
            buf_printf(&allowed, "%s%s", i > 0 ? ", " : "one of ", row->choices[i]);
    } else if (row->type == OPTION_TYPE_BOOL) {
        buf_puts(&allowed, "yes or no");
    } else {
        put_range(row, &allowed);
    }
    int rc =
        error_set(err, ERR_USAGE, "%s takes %s, not “%s”", row->name, buf_cstr(&allowed), text);
    buf_clear(&allowed);
    return rc;
}

static void count_change(struct options *o, enum option option)
{
    o->changes[option]++;
    o->generation++;
}

int option_set(struct options *o, enum option option, const char *text, struct error *err)
{
    const struct option_row *row = &option_table[option];
    struct option_value *value = &o->values[option];
    if (is_text(row->type)) {
        if (strcmp(value->text, text) != 0) {
            char *copy = alloc_strdup(text);
            free(value->text);
            value->text = copy;
            count_change(o, option);
        }
        return 0;
    }
    double number = 0;
    if (!parse_option_value(row, text, &number))
        return fail_value(row, text, err);
    bool ranged = row->type != OPTION_TYPE_BOOL && row->type != OPTION_TYPE_ENUM &&
                  row->type != OPTION_TYPE_CAP; /* caps_parse has looked */
    if (ranged && !(number >= row->low && number <= row->high))
        return fail_value(row, text, err);
    if (number != value->number) {
        value->number = number;
        count_change(o, option);
    }
    return 0;
}

void option_reset(struct options *o, enum option option)
{
    struct error err = {0};
    int rc = option_set(o, option, option_table[option].initial, &err);
    assert(rc == 0);
    (void)rc;
}

void options_init(struct options *o)
{
    *o = (struct options){0};
    for (int i = 0; i < OPTIONS; i++)
        if (is_text(option_table[i].type))
            o->values[i].text = alloc_strdup("");
    for (int i = 0; i < OPTIONS; i++)
        option_reset(o, (enum option)i);
}

void options_clear(struct options *o)
{
    for (int i = 0; i < OPTIONS; i++)
        free(o->values[i].text);
    *o = (struct options){0};
}

static bool is_word(const char *word, const char *s, size_t len)
{
    return word && strlen(word) == len && strncmp(word, s, len) == 0;
}

int option_find(const char *name, size_t len)
{
    for (int i = 0; i < OPTIONS; i++)
        if (is_word(option_table[i].name, name, len) || is_word(option_table[i].alias, name, len))
            return i;
    return -1;
}

int option_unknown(const char *name, struct error *err)
{
    struct slice names[OPTIONS];
    char hint[80];
    for (int i = 0; i < OPTIONS; i++)
        names[i] = slice_of(option_table[i].name);
    return error_set(err, ERR_USAGE, "unknown option “%s”%s", name,
                     names_suggest(hint, sizeof hint, names, OPTIONS, slice_of(name)));
}

const char *option_help(enum option option)
{
    const struct option_row *row = &option_table[option];
    return row->help ? row->help : cap_table[row->cap].help;
}

int option_toggle(struct options *o, enum option option, struct error *err)
{
    const struct option_row *row = &option_table[option];
    double *number = &o->values[option].number;
    if (row->type == OPTION_TYPE_BOOL)
        *number = *number != 0 ? 0 : 1;
    else if (row->type == OPTION_TYPE_ENUM)
        *number = row->choices[(size_t)*number + 1] ? *number + 1 : 0;
    else
        return error_set(err, ERR_USAGE, "%s cannot be toggled: use set %s VALUE", row->name,
                         row->name);
    count_change(o, option);
    return 0;
}

void option_print(const struct options *o, enum option option, struct buf *out)
{
    const struct option_row *row = &option_table[option];
    if (is_text(row->type))
        buf_puts(out, o->values[option].text);
    else
        put_option_number(row, o->values[option].number, out);
}

bool option_bool(const struct options *o, enum option option)
{
    assert(option_table[option].type == OPTION_TYPE_BOOL);
    return o->values[option].number != 0;
}

int option_int(const struct options *o, enum option option)
{
    assert(option_table[option].type == OPTION_TYPE_INT ||
           option_table[option].type == OPTION_TYPE_ENUM ||
           option_table[option].type == OPTION_TYPE_BYTES);
    return (int)o->values[option].number;
}

double option_double(const struct options *o, enum option option)
{
    assert(option_table[option].type == OPTION_TYPE_DOUBLE ||
           option_table[option].type == OPTION_TYPE_DURATION ||
           option_table[option].type == OPTION_TYPE_BYTES);
    return o->values[option].number;
}

uint64_t option_cap(const struct options *o, enum option option)
{
    assert(option_table[option].type == OPTION_TYPE_CAP);
    return (uint64_t)o->values[option].number;
}

const char *option_text(const struct options *o, enum option option)
{
    assert(is_text(option_table[option].type));
    return o->values[option].text;
}
