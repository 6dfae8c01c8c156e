/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A window of counted calls of several nodes: as tables for people, as JSON. */
#include <inttypes.h>

#include "beamtop/base/text.h"
#include "beamtop/trace/calls_fields.h"
#include "calls_form.h"

#define FUNCTIONS_BY_NODE 20 /* whose nodes are listed */

/* ---- JSON */

void calls_several_json(struct buf *out, const struct calls_several *w)
{
    json_t *root = json_object(), *functions = json_array();
    json_object_set_new(root, "schema", json_string("beamtop.calls_nodes/1"));
    json_add_fields(root, &calls_several_fields, w);
    json_object_set_new(root, "nodes",
                        json_rows(&calls_node_fields, w->parts, w->n_parts, sizeof *w->parts));
    for (size_t i = 0; i < w->n_rows; i++) {
        const struct calls_several_function *f = &w->rows[i];
        json_t *row = json_row(&calls_several_function_fields, f);
        json_object_set_new(
            row, "nodes",
            json_rows(&calls_node_function_fields, f->by_node, f->n_by_node, sizeof *f->by_node));
        json_array_append_new(functions, row);
    }
    json_object_set_new(root, "functions", functions);
    calls_json_sums(root, &calls_module_fields, w->modules, w->n_modules);
    calls_json_sums(root, &calls_application_fields, w->applications, w->n_applications);
    json_put_line(out, root);
}

/* ---- text */

struct several_text {
    struct buf *out;
    struct arena arena;
    const struct calls_several *window;
    const struct calls_sink_options *options;
};

static struct slice name_function(struct several_text *t, const struct calls_several_function *f)
{
    return calls_function_name(
        &t->arena,
        &(struct calls_function){.module = f->module, .function = f->function, .arity = f->arity},
        t->options->syntax);
}

static void put_functions(struct several_text *t)
{
    const struct calls_several *w = t->window;
    struct calls_several_function *rows = arena_alloc(&t->arena, (w->n_rows + 1) * sizeof *rows);
    for (size_t i = 0; i < w->n_rows; i++) {
        rows[i] = w->rows[i];
        rows[i].name = name_function(t, &rows[i]);
    }
    const struct text_rows functions = {&calls_several_function_fields,
                                        calls_several_columns(w),
                                        rows,
                                        w->n_rows,
                                        sizeof *rows,
                                        NULL};
    calls_text_rows(t->out, &functions, t->options->ascii);
}

static void put_by_node(struct several_text *t)
{
    const struct calls_several *w = t->window;
    const size_t shown = w->n_rows < FUNCTIONS_BY_NODE ? w->n_rows : FUNCTIONS_BY_NODE;
    size_t n = 0, most = 1;
    for (size_t i = 0; i < shown; i++)
        most += w->rows[i].n_by_node;
    struct calls_node_function *rows = arena_alloc(&t->arena, most * sizeof *rows);
    for (size_t i = 0; i < shown; i++)
        for (size_t k = 0; k < w->rows[i].n_by_node; k++) {
            rows[n] = w->rows[i].by_node[k];
            rows[n++].name = name_function(t, &w->rows[i]);
        }
    const struct text_rows by_node = {&calls_node_function_fields,
                                      w->has_time ? "mfa node calls calls_per_s own_us us_per_call"
                                                  : NULL,
                                      rows,
                                      n,
                                      sizeof *rows,
                                      NULL};
    calls_text_rows(t->out, &by_node, t->options->ascii);
}

void calls_several_text(struct buf *out, const struct calls_several *w,
                        const struct calls_sink_options *options)
{
    struct several_text t = {.out = out, .window = w, .options = options};
    const struct text_rows nodes = {&calls_node_fields, NULL, w->parts, w->n_parts,
                                    sizeof *w->parts,   NULL};
    const struct text_rows applications = {.fields = &calls_application_fields,
                                           .columns = "name calls calls_per_s share functions",
                                           .rows = w->applications,
                                           .n = w->n_applications};
    char calls[32], rate[32];
    arena_init(&t.arena);
    buf_printf(out, "%swindow %" PRIu64 ", %" PRIu64 " of %" PRIu64 " nodes: %s calls (%s/s)\n\n",
               w->number > 1 ? "\n" : "", w->number, w->counted, w->nodes,
               text_integer(calls, sizeof calls, (int64_t)w->calls),
               text_count(rate, sizeof rate, w->calls_per_s));
    text_rows_put(out, &nodes, options->ascii);
    if (w->n_rows > 0) {
        put_functions(&t);
        if (options->by_node)
            put_by_node(&t);
        calls_text_sums(out, &t.arena, &applications, options);
    }
    arena_clear(&t.arena);
}
