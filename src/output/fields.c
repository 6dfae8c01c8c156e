/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the commands show, and values on their way out. */
#include "beamtop/output/fields.h"

#include <math.h>

#define ROW struct sink_node
static const struct field node[] = {
    FIELD("name", TEXT, name, "alive@host; null: no node", .title = "NODE"),
    FIELD("form", TEXT, form, "\"short\" or \"long\" names", .title = "NAMES"),
    FIELD("user", TEXT, user, "who it runs as; a number: the uid, where it has no name here"),
    FIELD("os_pid", TEXT, os_pid, "its process id"),
    FIELD("otp", TEXT, otp, "its release"),
    FIELD("uptime_s", SECONDS, uptime_s, "seconds since its start", .title = "UP"),
    FIELD("rss_bytes", BYTES, rss_bytes, "resident memory", .title = "RSS"),
    FIELD("port", TEXT, port, "where it takes connections"),
    FIELD("in_epmd", BOOL, in_epmd, "whether epmd knows it", .title = "EPMD"),
    FIELD("cookie", TEXT, cookie,
          "where a cookie was found: \"argument\", \"owner_home\", \"environment\"; never the "
          "cookie"),
    FIELD("command", TEXT, command, "what was started"),
};
static FIELD_LIST(node_fields, "rows", node);
#undef ROW

#define ROW struct sink_check
static const struct field check[] = {
    FIELD("node", TEXT, node, "which node, or what was given in place of its name"),
    FIELD("os_pid", TEXT, os_pid, "its process id; null: not on this host"),
    FIELD("check", TEXT, check, "what was checked"),
    FIELD("state", TEXT, state, "\"ok\", \"note\" (the node can be opened all the same), \"fail\""),
    FIELD("text", TEXT, text, "what was found"),
    FIELD("fix", TEXT, fix, "what lifts it; null: there is nothing to lift"),
};
static FIELD_LIST(check_fields, "rows", check);
#undef ROW

/* ---- what the commands show of them */

#define ROWS_OF(type, member, n)                                                                   \
    .rows_at = offsetof(struct type, member), .n_rows_at = offsetof(struct type, n),               \
    .row_bytes = sizeof *((struct type *)NULL)->member

/* The command of a table is called as its question, unless COMMAND_question says otherwise. */
#define COMMAND_vm , "system"
#define COMMAND_SECOND(first, second, ...) second
#define COMMAND_OF(...) COMMAND_SECOND(__VA_ARGS__, )

/* clang-format off */
const struct sink_kind sink_kinds[] = {
    {.name = "top", .question = QUESTION_SCAN, .rates = true, .fill = sink_fill_top,
     .section = &scan_fields, .interval_at = offsetof(struct proc_scan, interval_s)},
    {.name = "info", .question = QUESTION_NODE, .rates = true, .system = true,
     .section = &info_fields},
    {.name = "process", .question = QUESTION_PROCESS, .rates = true, .fill = sink_fill_process},
    {.name = "memory", .question = QUESTION_ALLOC, .system = true, .section = &alloc_fields,
     .grid = &allocator_fields, ROWS_OF(alloc_detail, rows, n_rows), .more = &instance_fields,
     .more_at = offsetof(struct alloc_detail, instances),
     .n_more_at = offsetof(struct alloc_detail, n_instances),
     .more_bytes = sizeof(struct allocator_instance)},
    {.name = "schedulers", .question = QUESTION_SYSTEM, .rates = true, .grid = &scheduler_fields,
     ROWS_OF(system_sample, schedulers, n_schedulers)},
#define TABLE_KIND(id, table_name, ...)                                                            \
    {.name = COMMAND_OF(COMMAND_##table_name, #table_name), .question = QUESTION_##id,             \
     .rates = true, .section = &table_fields, .fill = sink_fill_table,                             \
     .grid = &table_name##_fields,                                                                 \
     .interval_at = offsetof(struct table_detail, interval_s),                                     \
     .rows_at = offsetof(struct table_detail, rows),                                               \
     .n_rows_at = offsetof(struct table_detail, n_rows)},
    QUESTION_LISTS(TABLE_KIND)
#undef TABLE_KIND
    {.name = "armed", .question = QUESTION_ARMED, .section = &armed_fields,
     .grid = &armed_row_fields,
     .text_empty = "No active tracing on this node.\n", ROWS_OF(armed_detail, rows, n_rows)},
    {.name = "heapsample", .question = QUESTION_HEAPS, .section = &heaps_fields,
     .grid = &heap_row_fields, ROWS_OF(heaps_detail, rows, n_rows), .fill = sink_fill_heaps},
    {.name = "cpus", .question = QUESTION_THREADS, .rates = true, .section = &threads_fields,
     .grid = &thread_fields, .interval_at = offsetof(struct threads_detail, interval_s),
     .text_empty = "The node read no scheduler threads in /proc: it does not run on Linux, its "
                   "dirty I/O schedulers are not free, or the read took longer than 1 s.\n",
     ROWS_OF(threads_detail, rows, n_rows)},
    {.name = "msacc", .question = QUESTION_MSACC, .rates = true, .section = &msacc_fields,
     .grid = &msacc_row_fields, .interval_at = offsetof(struct msacc_detail, interval_s),
     ROWS_OF(msacc_detail, rows, n_rows)},
    {.name = "nodes", .question = QUESTIONS, .grid = &node_fields},
    {.name = "doctor", .question = QUESTIONS, .grid = &check_fields},
    {.name = NULL},
};
/* clang-format on */

struct value text_value(struct slice text)
{
    return (struct value){.kind = text.len > 0 ? VALUE_TEXT : VALUE_NONE, .text = text};
}

struct value pid_value(const struct etf_pid *pid)
{
    if (!pid)
        return (struct value){.kind = VALUE_NONE};
    return (struct value){.kind = VALUE_PID, .type = COLUMN_PID, .pid = *pid};
}

/* Numbers that count things are integers in the data, whatever keeps them here. */
static struct value number_value(double v, enum column_type type)
{
    if (isnan(v) || isinf(v))
        return (struct value){.kind = VALUE_NONE, .type = type};
    bool counts = type == COLUMN_COUNT || type == COLUMN_BYTES;
    struct value out = {.kind = VALUE_NUMBER, .type = type, .number = v};
    if (counts && fabs(v) < 9e15) {
        out.is_integer = true;
        out.integer = (int64_t)v;
    }
    return out;
}

struct value field_value(const struct field *f, const void *base)
{
    const void *at = (const char *)base + f->offset;
    struct value v = {.kind = VALUE_NONE};
    switch (f->form) {
    case FIELD_SLICE:
    case FIELD_CHARS:
    case FIELD_SCHEDULER_KIND:
        v = text_value(field_text(f, base));
        break;
    case FIELD_INT:
    case FIELD_MS:
    case FIELD_WALL_US:
        v.integer = *(const int64_t *)at;
        v.kind = v.integer < 0 ? VALUE_NONE : VALUE_NUMBER;
        v.is_integer = true;
        v.number = (double)v.integer;
        if (f->type == COLUMN_BOOL && v.kind == VALUE_NUMBER)
            v = (struct value){.kind = VALUE_BOOL, .boolean = v.integer > 0};
        break;
    case FIELD_UNSIGNED:
    case FIELD_SIGNED:
        v.integer = f->form == FIELD_SIGNED ? *(const int64_t *)at : *(const unsigned *)at;
        v.kind = VALUE_NUMBER;
        v.is_integer = true;
        v.number = (double)v.integer;
        break;
    case FIELD_REAL:
    case FIELD_CPUS:
    case FIELD_MADE:
        v = number_value(field_number(f, base), f->type);
        if (f->type == COLUMN_BOOL && v.kind == VALUE_NUMBER) {
            v.kind = VALUE_BOOL;
            v.boolean = v.number > 0;
        }
        break;
    case FIELD_PID:
        v = pid_value(field_pid(f, base));
        break;
    case FIELD_BOOL:
        v.kind = VALUE_BOOL;
        v.boolean = *(const bool *)at;
        break;
    case FIELD_NONE:
        break;
    }
    v.type = f->type;
    v.form = f->form;
    return v;
}
