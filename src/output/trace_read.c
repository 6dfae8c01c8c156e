/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trace came to, read back from the JSON that trace_json.c writes. */
#include <stdio.h>

#include "beamtop/output/json.h"
#include "beamtop/output/trace_line.h"

static void read_text(char *out, size_t size, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    snprintf(out, size, "%s", text ? text : "");
}

static void read_caps(struct caps *caps, const json_t *object)
{
    caps_init(caps);
    for (size_t i = 0; i < CAPS; i++) {
        json_int_t v = json_integer_value(json_object_get(object, cap_table[i].key));
        caps->value[i] = v > 0 ? (uint64_t)v : 0;
    }
}

unsigned trace_pattern_actions(struct slice text)
{
    struct pattern *p = NULL;
    struct error ignored = {0};
    if (text.len == 0 || pattern_parse(&p, text.s, text.len, SYNTAX_AUTO, NULL, &ignored) != 0)
        return 0;
    unsigned actions = p->actions;
    pattern_free(p);
    return actions;
}

static void read_patterns(struct trace_ending *e, struct arena *arena, const json_t *array)
{
    e->patterns =
        json_read_rows(&trace_pattern_fields, array, sizeof *e->patterns, arena, &e->n_patterns);
    for (size_t i = 0; i < e->n_patterns; i++)
        json_read_fields(&trace_tally_fields, &e->patterns[i], arena, json_array_get(array, i));
}

/* Functions of a pattern follow each other: its text is looked at once. */
static void read_functions(struct trace_ending *e, struct arena *arena, const json_t *array)
{
    e->functions =
        json_read_rows(&trace_function_fields, array, sizeof *e->functions, arena, &e->n_functions);
    for (size_t i = 0; i < e->n_functions; i++) {
        struct trace_counter *f = &e->functions[i];
        const struct trace_counter *last = i > 0 ? f - 1 : NULL;
        bool same = last && slice_equal(last->pattern, f->pattern);
        f->actions = same ? last->actions : trace_pattern_actions(f->pattern);
    }
}

int trace_ending_read(struct trace_ending *out, struct arena *arena, const char *json, size_t len,
                      struct error *err)
{
    json_t *root = json_loadb(json, len, 0, NULL);
    const json_t *preflight = json_object_get(root, "preflight");
    const json_t *check = json_object_get(root, "verification");
    *out = (struct trace_ending){0};
    out->reason = json_read_slice(arena, json_object_get(root, "reason"));
    if (slice_is(out->reason, "not_armed")) /* of 0.1.0 */
        out->reason = slice_of("not_started");
    out->reason_text = json_read_slice(arena, json_object_get(root, "reason_text"));
    out->note = json_read_slice(arena, json_object_get(root, "note"));
    out->procs = json_read_slice(arena, json_object_get(root, "procs"));
    out->elapsed_ms = json_integer_value(json_object_get(root, "elapsed_ms"));
    out->bytes = json_integer_value(json_object_get(root, "bytes"));
    out->isolated = json_is_true(json_object_get(root, "session"));
    read_caps(&out->caps, json_object_get(root, "caps"));
    json_read_fields(&trace_tally_fields, &out->total, arena, json_object_get(root, "counters"));
    read_patterns(out, arena, json_object_get(root, "patterns"));
    read_functions(out, arena, json_object_get(root, "functions"));
    json_read_fields(&trace_preflight_fields, &out->preflight, arena, preflight);
    read_text(out->preflight.others, sizeof out->preflight.others, preflight, "others");
    read_text(out->preflight.why_none, sizeof out->preflight.why_none, preflight, "why_none");
    json_read_fields(&trace_check_fields, &out->check, arena, check);
    read_text(out->check.text, sizeof out->check.text, check, "text");
    json_decref(root);
    if (out->reason.len == 0)
        return error_set(err, ERR_FORMAT, "the end of a trace in the recording is damaged");
    return 0;
}
