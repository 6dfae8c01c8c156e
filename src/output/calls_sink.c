/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "beamtop/base/text.h"
#include "calls_form.h"
#include "stacks_form.h"
#include "beamtop/trace/calls_fields.h"

static struct slice node_of(const struct calls_sink *s)
{
    return slice_of(s->options.node ? s->options.node : "");
}

/* ---- JSON */

void calls_json_sums(json_t *root, const struct field_list *fields, const struct calls_sum *sums,
                     size_t n)
{
    json_object_set_new(root, fields->name, json_rows(fields, sums, n, sizeof *sums));
}

void calls_json_put(struct buf *out, const struct calls_window *w, struct slice node)
{
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("beamtop.calls/2"));
    json_object_set_new(root, "node", json_slice(node));
    json_add_fields(root, &calls_window_fields, w);
    json_object_set_new(root, "timed_why", json_chars(w->timed_why));
    json_object_set_new(root, "lost_modules", json_texts(w->lost_modules, w->n_lost_modules));
    json_object_set_new(root, "excluded", json_texts(w->excluded, w->n_excluded));
    json_object_set_new(root, "cost", json_row(&calls_cost_fields, w));
    json_object_set_new(root, "functions",
                        json_rows(&calls_function_fields, w->rows, w->n_rows, sizeof *w->rows));
    calls_json_sums(root, &calls_module_fields, w->modules, w->n_modules);
    calls_json_sums(root, &calls_application_fields, w->applications, w->n_applications);
    json_put_line(out, root);
}

/* ---- CSV: a function a line */

static void put_csv(struct buf *out, const struct calls_window *w, struct slice node, bool header,
                    bool spreadsheet)
{
    const struct field_list *list = &calls_function_fields;
    if (header) {
        buf_puts(out, "wall_us,node,window,interval_us");
        for (size_t i = 0; i < list->n; i++)
            buf_printf(out, ",%s", list->fields[i].key);
        buf_put_u8(out, '\n');
    }
    for (size_t row = 0; row < w->n_rows; row++) {
        struct value value = text_value(node);
        buf_printf(out, "%" PRId64 ",", w->wall_us);
        csv_put_value(out, &value, spreadsheet);
        buf_printf(out, ",%" PRIu64 ",%" PRIu64, w->number, w->interval_us);
        for (size_t i = 0; i < list->n; i++) {
            value = field_value(&list->fields[i], &w->rows[row]);
            buf_put_u8(out, ',');
            csv_put_value(out, &value, spreadsheet);
        }
        buf_put_u8(out, '\n');
    }
}

/* ---- Folded stacks: app;module;function/arity count */

static void put_folded(struct buf *out, const struct calls_window *w, struct slice node)
{
    for (size_t i = 0; i < w->n_rows; i++) {
        const struct calls_function *f = &w->rows[i];
        if (node.len > 0) {
            folded_put_frame(out, node);
            buf_put_u8(out, ';');
        }
        if (f->application.len > 0)
            folded_put_frame(out, f->application);
        else
            buf_puts(out, "(no application)");
        buf_put_u8(out, ';');
        folded_put_frame(out, f->module);
        buf_put_u8(out, ';');
        folded_put_frame(out, f->function);
        buf_printf(out, "/%" PRIu64 " %" PRIu64 "\n", f->arity, f->calls);
    }
}

int calls_sink_window(struct calls_sink *s, const struct calls_window *window, struct error *err)
{
    struct buf out;
    buf_init(&out, 0);
    switch (s->options.format) {
    case CALLS_TEXT:
        calls_text_put(&out, window, &s->options);
        break;
    case CALLS_JSON:
        calls_json_put(&out, window, node_of(s));
        break;
    case CALLS_CSV:
        put_csv(&out, window, node_of(s), !s->header_written, s->options.spreadsheet);
        s->header_written = true;
        break;
    case CALLS_FOLDED:
        put_folded(&out, window, (struct slice){"", 0});
        break;
    }
    int rc = sink_output_put(&s->output, (const char *)out.data, out.len, err);
    buf_clear(&out);
    return rc;
}

/* ---- several nodes */

static void put_part(struct calls_sink *s, struct buf *out, const struct calls_part *part)
{
    const struct slice node = s->options.by_node ? part->node : (struct slice){"", 0};
    if (!part->counted)
        return;
    if (s->options.format == CALLS_FOLDED) {
        put_folded(out, part->window, node);
        return;
    }
    put_csv(out, part->window, part->node, !s->header_written, s->options.spreadsheet);
    s->header_written = true;
}

int calls_sink_several(struct calls_sink *s, const struct calls_several *window,
                       const struct calls_part *parts, struct error *err)
{
    struct buf out;
    buf_init(&out, 0);
    if (s->options.format == CALLS_TEXT)
        calls_several_text(&out, window, &s->options);
    else if (s->options.format == CALLS_JSON)
        calls_several_json(&out, window);
    for (size_t i = 0; s->options.format > CALLS_JSON && i < window->n_parts; i++)
        put_part(s, &out, &parts[i]);
    int rc = sink_output_put(&s->output, (const char *)out.data, out.len, err);
    buf_clear(&out);
    return rc;
}
