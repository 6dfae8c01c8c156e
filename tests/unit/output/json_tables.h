/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of docs/json.md, every key with its type and meaning, from those that make the
 * output. */
#ifndef BEAMTOP_TESTS_JSON_TABLES_H
#define BEAMTOP_TESTS_JSON_TABLES_H

#include <stdio.h>

#include "beamtop/output/trace_line.h"
#include "beamtop/trace/spans_rows.h"
#include "output/object_fields.h"
#include "beamtop/trace/calls_fields.h"
#include "beamtop/trace/calls_several.h"
#include "beamtop/trace/events_run.h"

static const char *type_word(enum field_form form, enum column_type type)
{
    switch (type) {
    case COLUMN_TEXT:
        return form == FIELD_INT ? "integer" : "string";
    case COLUMN_PID:
        return "string";
    case COLUMN_COUNT:
    case COLUMN_BYTES:
        return "integer";
    case COLUMN_BOOL:
        return "boolean";
    case COLUMN_RATE:
    case COLUMN_BYTE_RATE:
    case COLUMN_SHARE:
    case COLUMN_SECONDS:
        break;
    }
    return "number";
}

static void put_heading(struct buf *out, const char *title)
{
    buf_printf(out, "\n### %s\n\n| key | type | meaning |\n|---|---|---|\n", title);
}

static void put_list(struct buf *out, const char *title, const struct field_list *list)
{
    put_heading(out, title);
    for (size_t i = 0; i < list->n; i++) {
        const struct field *f = &list->fields[i];
        buf_printf(out, "| `%s` | %s | %s |\n", f->key, type_word(f->form, f->type), f->help);
    }
}

static void put_list_of(struct buf *out, const struct field_list *list, const char *command)
{
    char title[80];
    if (!list)
        return;
    snprintf(title, sizeof title, "`%s` of `%s`", list->name, command);
    put_list(out, title, list);
}

static void put_json_tables(struct buf *markdown)
{
    put_list(markdown, "`cost`", &cost_fields);
    put_list(markdown, "`system`", &system_fields);
    for (const struct sink_kind *kind = sink_kinds; kind->name; kind++) {
        if (kind->section) {
            struct field_list section = *kind->section;
            section.name = sink_section_name(kind);
            put_list_of(markdown, &section, kind->name);
        }
        if (kind->question == QUESTION_WAITS)
            put_list_of(markdown, &waits_sums_fields, kind->name);
        if (kind->question == QUESTION_SCAN)
            put_list(markdown, "`rows` of `top`, and `process` of `process`", &proc_fields);
        put_list_of(markdown, kind->grid, kind->name);
        put_list_of(markdown, kind->more, kind->name);
        if (kind->question == QUESTION_HEAPS)
            put_list(markdown, "`rows` of `heapsample --by`", &heap_owner_fields);
    }
    put_list(markdown, "A window of `calls`", &calls_window_fields);
    put_list(markdown, "`cost` of `calls`", &calls_cost_fields);
    put_list(markdown, "`functions` of `calls`", &calls_function_fields);
    put_list(markdown, "`modules` of `calls`", &calls_module_fields);
    put_list(markdown, "`applications` of `calls`", &calls_application_fields);
    put_list(markdown, "A window of `calls` of several nodes", &calls_several_fields);
    put_list(markdown, "`nodes` of it", &calls_node_fields);
    put_list(markdown, "`functions` of it", &calls_several_function_fields);
    put_list(markdown, "`nodes` of such a function", &calls_node_function_fields);
    put_list(markdown, "An event of `events`", &system_event_fields);
    put_list(markdown, "A group of `events --by`", &system_event_group_fields);
    put_list(markdown, "A run of `sample`", &samples_run_fields);
    put_list(markdown, "`classes` of `sample`", &samples_class_fields);
    put_list(markdown, "`codes` of `sample`", &samples_code_fields);
    put_list(markdown, "`thread_kinds` of `sample`", &samples_kind_fields);
    put_list(markdown, "`processes` of `sample`", &samples_process_fields);
    put_list(markdown, "`threads` of `sample`", &samples_thread_fields);
    put_list(markdown, "`places` of `processes` and `threads`", &samples_place_fields);
    put_list(markdown, "`held` of `sample`", &samples_held_fields);
    put_list(markdown, "`functions` of `sample`", &samples_function_fields);
    put_list(markdown, "`tree` of `sample`", &samples_tree_fields);
    put_list(markdown, "`threads` of `pstack`", &stack_thread_fields);
    put_list(markdown, "`frames` of `pstack`", &stack_frame_fields);
    put_list(markdown, "An object of `outside`", &outside_fields);
    put_list(markdown, "`dump` of `outside`", &outside_dump_fields);
    put_list(markdown, "`sockets` of `outside`", &outside_socket_fields);
    put_list(markdown, "`threads` of `outside`", &outside_thread_fields);
    put_list(markdown, "`stacks` of `outside`", &outside_stack_fields);
    put_list(markdown, "`frames` of `outside`", &outside_frame_fields);
    put_list(markdown, "A run of `spans`", &spans_run_fields);
    put_list(markdown, "`dropped` of `spans`", &spans_dropped_fields);
    put_list(markdown, "A span of `spans`", &spans_span_fields);
    put_list(markdown, "`waits` of a span", &spans_wait_fields);
    put_list(markdown, "`critical_path` of a root", &spans_step_fields);
    put_list(markdown, "`callers` of a root", &spans_caller_fields);
    put_list(markdown, "`opentelemetry` of a root", &spans_context_fields);
    put_list(markdown, "`side` of `spans`", &spans_side_fields);
    put_list(markdown, "`parts` of `spans`", &spans_part_fields);
    put_list(markdown, "A run of `stacks`", &timeline_run_fields);
    put_list(markdown, "`functions` of `stacks`", &timeline_function_fields);
    put_list(markdown, "`timeline` of `stacks`", &timeline_row_fields);
    put_list(markdown, "Every event of `trace`", &trace_line_fields);
    put_list(markdown, "`call` of `trace`", &trace_call_fields);
    put_list(markdown, "`return` and `exception` of `trace`", &trace_result_fields);
    put_list(markdown, "`send` of `trace`", &trace_send_fields);
    put_list(markdown, "`receive` of `trace`", &trace_receive_fields);
    put_list(markdown, "`lost` of `trace`", &trace_lost_fields);
    put_list(markdown, "each of these, of several nodes", &trace_place_fields);
    put_list(markdown, "`counters` of `end`", &trace_tally_fields);
    put_list(markdown, "`patterns` of `end`", &trace_pattern_fields);
    put_list(markdown, "`functions` of `end`", &trace_function_fields);
    put_list(markdown, "`preflight` of `end`", &trace_preflight_fields);
    put_list(markdown, "`verification` of `end`", &trace_check_fields);
}

#endif
