/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of recordings that are made: opened, written as text, looked at. */
#ifndef TESTS_STORE_OPENED_H
#define TESTS_STORE_OPENED_H

#include <jansson.h>

#include "beamtop/base/attr.h"
#include "beamtop/report/summary.h"
#include "made.h"

struct opened {
    struct summary_input sources[8];
    size_t n;
    struct buf text;
};

static inline void add(struct opened *o, const struct made *w)
{
    struct recording *r = made_open(w);
    o->sources[o->n++] = (struct summary_input){.recording = r,
                                                .name = recording_info(r)->label,
                                                .from = 1,
                                                .to = recording_info(r)->ticks};
}

static inline const char *report_at(struct opened *o, enum summary_format format, bool ascii,
                                    int columns)
{
    const struct summary_options options = {.format = format, .columns = columns, .ascii = ascii};
    struct error err = {0};
    buf_reset(&o->text);
    if (summary_write(&o->text, o->sources, o->n, &options, &err) != 0)
        fail_msg("%s", err.text);
    return buf_cstr(&o->text);
}

static inline const char *report(struct opened *o, enum summary_format format, bool ascii)
{
    return report_at(o, format, ascii, 100);
}

static inline void done(struct opened *o)
{
    while (o->n > 0)
        recording_close(o->sources[--o->n].recording);
    buf_clear(&o->text);
}

static inline void assert_says(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("“%s” is not in:\n%s", what, text);
}

static inline void assert_not(const char *text, const char *what)
{
    if (strstr(text, what))
        fail_msg("“%s” is in:\n%s", what, text);
}

static inline json_t *parse(struct opened *o)
{
    json_error_t why;
    json_t *root = json_loads(report(o, SUMMARY_JSON, false), 0, &why);
    if (!root)
        fail_msg("%s", why.text);
    return root;
}

/* Of a comparison, the change of `what`, by this measure (NULL: any); NULL: there is none. */
static inline const json_t *change_in(const json_t *root, const char *what, const char *by)
{
    size_t i;
    json_t *c;
    json_array_foreach (json_object_get(root, "changes"), i, c) {
        const char *of = json_string_value(json_object_get(c, "by"));
        if ((!by || (of && strcmp(of, by) == 0)) &&
            strcmp(json_string_value(json_object_get(c, "what")), what) == 0)
            return c;
    }
    return NULL;
}

#endif
