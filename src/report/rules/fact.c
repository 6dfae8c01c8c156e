/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/rules/fact.h"

#include <math.h>

json_t *fact_at(struct recording *r, const char *key, int64_t tick)
{
    const char *text = recording_fact(r, key, tick);
    return text ? json_loads(text, 0, NULL) : NULL;
}

double fact_number(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

const char *fact_text(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

const json_t *fact_process(const json_t *fact, struct slice pid)
{
    const json_t *row;
    size_t i;
    json_array_foreach (json_object_get(fact, "processes"), i, row)
        if (slice_is(pid, fact_text(row, "pid")))
            return row;
    return NULL;
}
