/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "condition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"

/* How a number stands to the value; an operator takes some of these. */
enum { BELOW = 1, EQUAL = 2, ABOVE = 4 };

static const struct {
    const char *text;
    unsigned op;
} ops[] = {
    /* longer ones first */
    {"<=", BELOW | EQUAL}, {">=", ABOVE | EQUAL}, {"==", EQUAL}, {"!=", BELOW | ABOVE},
    {"<", BELOW},          {">", ABOVE},          {"=", EQUAL},
};

static const char *skip_blanks(const char *s)
{
    return s + strspn(s, " \t");
}

static int unknown_number(struct error *err, const char *key, size_t len)
{
    struct buf names;
    buf_init(&names, 0);
    number_names(&names);
    error_set(err, ERR_USAGE, "there is no number “%.*s”; there are: %s", (int)len, key,
              buf_cstr(&names));
    buf_clear(&names);
    return err->code;
}

/* A plain number, a percentage (50% is 0.5), or bytes with a unit. */
static int parse_condition_value(const char *s, double *value)
{
    char *end = NULL;
    *value = strtod(s, &end);
    if (end != s && isfinite(*value)) {
        const char *rest = skip_blanks(end);
        if (*rest == '\0')
            return 0;
        if (*rest == '%' && *skip_blanks(rest + 1) == '\0') {
            *value /= 100;
            return 0;
        }
    }
    return text_parse_bytes(s, value);
}

int condition_parse(struct condition *out, const char *text, struct error *err)
{
    const char *s = skip_blanks(text);
    size_t len = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");
    out->number = number_find(s, len);
    if (!out->number)
        return unknown_number(err, s, len);
    s = skip_blanks(s + len);
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        size_t n = strlen(ops[i].text);
        if (strncmp(s, ops[i].text, n) != 0)
            continue;
        out->op = ops[i].op;
        s = skip_blanks(s + n);
        if (parse_condition_value(s, &out->value) == 0)
            return 0;
        return error_set(err, ERR_USAGE, "condition “%s”: “%s” is not a number", text, s);
    }
    return error_set(err, ERR_USAGE, "condition “%s”: one of < <= > >= == != must follow “%s”",
                     text, number_key(out->number));
}

bool condition_holds(const struct condition *c, const struct system_sample *s)
{
    const double v = number_get(c->number, s); /* NAN: unknown, and none of the three */
    const unsigned is = v < c->value ? BELOW : v > c->value ? ABOVE : v == c->value ? EQUAL : 0;
    return (c->op & is) != 0;
}
