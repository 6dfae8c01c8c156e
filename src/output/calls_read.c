/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A window of counted calls, read back from the JSON that calls_sink.c writes. */
#include <stdio.h>

#include "beamtop/output/calls_sink.h"
#include "beamtop/output/json.h"
#include "beamtop/trace/calls_fields.h"

int calls_window_read(struct calls_window *out, struct arena *arena, const char *json, size_t len,
                      struct error *err)
{
    json_t *root = json_loadb(json, len, 0, NULL);
    const char *why = json_string_value(json_object_get(root, "timed_why"));
    *out = (struct calls_window){0};
    json_read_fields(&calls_window_fields, out, arena, root);
    json_read_fields(&calls_cost_fields, out, arena, json_object_get(root, "cost"));
    snprintf(out->timed_why, sizeof out->timed_why, "%s", why ? why : "");
    out->lost_modules =
        json_read_texts(json_object_get(root, "lost_modules"), arena, &out->n_lost_modules);
    out->excluded = json_read_texts(json_object_get(root, "excluded"), arena, &out->n_excluded);
    out->rows = json_read_rows(&calls_function_fields, json_object_get(root, "functions"),
                               sizeof *out->rows, arena, &out->n_rows);
    out->modules = json_read_rows(&calls_module_fields, json_object_get(root, "modules"),
                                  sizeof *out->modules, arena, &out->n_modules);
    out->applications =
        json_read_rows(&calls_application_fields, json_object_get(root, "applications"),
                       sizeof *out->applications, arena, &out->n_applications);
    for (size_t i = 0; i < out->n_rows; i++) {
        out->has_time = out->has_time || out->rows[i].own_us != CALLS_UNKNOWN;
        out->has_memory = out->has_memory || out->rows[i].words != CALLS_UNKNOWN;
    }
    out->timed = out->timed_interval_us != CALLS_UNKNOWN;
    bool is_one = json_is_object(root);
    json_decref(root);
    return is_one ? 0 : error_set(err, ERR_FORMAT, "a window of calls in the recording is damaged");
}
