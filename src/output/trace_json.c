/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "beamtop/output/json.h"
#include "beamtop/output/trace_line.h"

static const struct field_list *const lists[LINE_KINDS] = {
    [LINE_CALL] = &trace_call_fields,        [LINE_RETURN] = &trace_result_fields,
    [LINE_EXCEPTION] = &trace_result_fields, [LINE_SEND] = &trace_send_fields,
    [LINE_RECEIVE] = &trace_receive_fields,  [LINE_LOST] = &trace_lost_fields,
};

static json_t *new_line(const char *kind, struct slice node)
{
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("beamtop.trace/2"));
    json_object_set_new(root, "kind", json_string(kind));
    json_object_set_new(root, "node", json_slice(node));
    return root;
}

void trace_json_put(struct buf *out, const struct trace_line *line, struct slice node)
{
    json_t *root = new_line(trace_line_kind_name(line->kind), node);
    json_add_fields(root, &trace_line_fields, line);
    if (line->place)
        json_add_fields(root, &trace_place_fields, line->place);
    json_add_fields(root, lists[line->kind], line);
    if (line->kind == LINE_CALL) {
        json_object_set_new(root, "args",
                            line->has_args ? json_texts(line->args, line->n_args) : json_null());
        json_object_set_new(root, "stack", json_texts(line->stack, line->n_stack));
    }
    json_put_line(out, root);
}

/* ---- the end */

static json_t *json_caps(const struct caps *caps)
{
    json_t *object = json_object();
    for (size_t i = 0; i < CAPS; i++)
        json_object_set_new(object, cap_table[i].key, json_known((int64_t)caps->value[i]));
    return object;
}

static json_t *json_patterns(const struct trace_ending *e)
{
    json_t *array = json_array();
    for (size_t i = 0; i < e->n_patterns; i++) {
        json_t *object = json_row(&trace_pattern_fields, &e->patterns[i]);
        json_add_fields(object, &trace_tally_fields, &e->patterns[i]);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *json_preflight(const struct trace_preflight *preflight)
{
    json_t *object = json_row(&trace_preflight_fields, preflight);
    json_object_set_new(object, "others", json_chars(preflight->others));
    json_object_set_new(object, "why_none", json_chars(preflight->why_none));
    return object;
}

json_t *json_check(const struct session_check *check)
{
    json_t *object = json_row(&trace_check_fields, check);
    json_object_set_new(object, "text", json_chars(check->text));
    return object;
}

void trace_json_end(struct buf *out, const struct trace_ending *e, struct slice node)
{
    json_t *root = new_line("end", node);
    json_object_set_new(root, "reason", json_slice(e->reason));
    json_object_set_new(root, "reason_text", json_slice(e->reason_text));
    json_object_set_new(root, "note", json_slice(e->note));
    json_object_set_new(root, "elapsed_ms", json_known(e->elapsed_ms));
    json_object_set_new(root, "bytes", json_known(e->bytes));
    json_object_set_new(root, "session", json_boolean(e->isolated));
    json_object_set_new(root, "procs", json_slice(e->procs));
    json_object_set_new(root, "caps", json_caps(&e->caps));
    json_object_set_new(root, "counters", json_row(&trace_tally_fields, &e->total));
    json_object_set_new(root, "patterns", json_patterns(e));
    json_object_set_new(
        root, "functions",
        json_rows(&trace_function_fields, e->functions, e->n_functions, sizeof *e->functions));
    json_object_set_new(root, "preflight", json_preflight(&e->preflight));
    json_object_set_new(root, "verification", json_check(&e->check));
    json_put_line(out, root);
}
