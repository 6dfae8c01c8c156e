/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/column.h"

#include <math.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/known.h"
#include "beamtop/model/process_name.h"

struct slice proc_row_display_name(const struct proc_row *row)
{
    const struct process_names names = {
        .name = row->name, .label = row->label, .initial_call = row->initial_call};
    return process_name(&names);
}

#define TEXT_OF(field)                                                                             \
    static struct slice text_##field(const struct proc_row *row)                                   \
    {                                                                                              \
        return row->field;                                                                         \
    }
#define NUMBER_OF(field)                                                                           \
    static double number_##field(const struct proc_row *row)                                       \
    {                                                                                              \
        return known_or_nan(row->field);                                                           \
    }
#define RATE_OF(field)                                                                             \
    static double number_##field(const struct proc_row *row)                                       \
    {                                                                                              \
        return row->field;                                                                         \
    }
#define BYTES_OF(field)                                                                            \
    static double number_##field(const struct proc_row *row)                                       \
    {                                                                                              \
        return words_as_bytes(row, row->field);                                                    \
    }

static double words_as_bytes(const struct proc_row *row, int64_t words)
{
    return words < 0 || row->word_bytes < 0 ? NAN : (double)words * (double)row->word_bytes;
}

TEXT_OF(name)
TEXT_OF(label)
TEXT_OF(initial_call)
TEXT_OF(application)
TEXT_OF(supervisor)
TEXT_OF(current_function)
TEXT_OF(status)
TEXT_OF(priority)
TEXT_OF(message_queue_data)
NUMBER_OF(reductions)
NUMBER_OF(message_queue_len)
NUMBER_OF(memory_bytes)
NUMBER_OF(links)
NUMBER_OF(monitors)
NUMBER_OF(monitored_by)
NUMBER_OF(binaries)
NUMBER_OF(binary_bytes)
NUMBER_OF(dictionary_len)
NUMBER_OF(minor_gcs)
NUMBER_OF(fullsweep_after)
NUMBER_OF(suspending)
RATE_OF(reductions_per_s)
RATE_OF(reductions_share)
RATE_OF(message_queue_per_s)
RATE_OF(memory_per_s)
RATE_OF(minor_gcs_per_s)
RATE_OF(age_s)
RATE_OF(stuck)
RATE_OF(restarted)
BYTES_OF(total_heap_words)
BYTES_OF(heap_words)
BYTES_OF(stack_words)

static double number_memory_older(const struct proc_row *row)
{
    const bool older = (row->older >> ITEM_MEMORY) & 1;
    return (row->items >> ITEM_MEMORY) & 1 ? older : (double)NAN;
}

static double number_memory_age_s(const struct proc_row *row)
{
    const bool older = (row->older >> ITEM_MEMORY) & 1;
    return !((row->items >> ITEM_MEMORY) & 1) ? (double)NAN : older ? row->older_s : 0;
}

static double number_trap_exit(const struct proc_row *row)
{
    return (row->items >> ITEM_TRAP_EXIT) & 1 ? row->trap_exit : NAN;
}

static const struct etf_pid *pid_self(const struct proc_row *row)
{
    return &row->pid;
}

static const struct etf_pid *pid_leader(const struct proc_row *row)
{
    return row->has_group_leader ? &row->group_leader : NULL;
}

#define ITEM(name) (UINT32_C(1) << ITEM_##name)

/* In the order of a first start; the rest after. Sizes in words on the wire are bytes here. */
/* clang-format off */
const struct proc_column proc_columns[] = {
    {.key = "pid", .title = "PID", .type = COLUMN_PID, .width = 14, .is_default = true,
     .pid = pid_self, .help = "Process identifier, as the node itself prints it."},
    {.key = "name", .title = "NAME", .type = COLUMN_TEXT, .width = 32, .is_default = true,
     .items = ITEM(ID), .text = text_name, .display = proc_row_display_name,
     .help = "Registered name. On the screen, where there is none, the label or the initial call."},
    {.key = "application", .title = "APPLICATION", .type = COLUMN_TEXT, .width = 14,
     .is_default = true, .items = ITEM(ID), .text = text_application,
     .help = "Application that the process belongs to, by its group leader."},
    {.key = "reductions_per_s", .title = "RED/s", .type = COLUMN_RATE, .width = 7,
     .is_default = true, .items = ITEM(REDUCTIONS), .sweep = "reductions", .sweep_by_delta = true,
     .number = number_reductions_per_s, .help = "Reductions per second."},
    {.key = "reductions_share", .title = "SHARE", .type = COLUMN_SHARE, .width = 7,
     .is_default = true, .items = ITEM(REDUCTIONS), .sweep = "reductions", .sweep_by_delta = true,
     .number = number_reductions_share,
     .help = "Share of the node's reductions, beamtop's included."},
    {.key = "memory_bytes", .title = "MEMORY", .type = COLUMN_BYTES, .width = 9,
     .is_default = true, .items = ITEM(MEMORY), .sweep = "memory", .expensive = true,
     .number = number_memory_bytes,
     .help = "Heap, stack, message queue and the process's own structures, without refc "
             "binaries."},
    {.key = "message_queue_len", .title = "MSGQ", .type = COLUMN_COUNT, .width = 6,
     .is_default = true, .items = ITEM(MESSAGE_QUEUE_LEN), .sweep = "message_queue_len",
     .number = number_message_queue_len, .help = "Length of the message queue."},
    {.key = "message_queue_len_per_s", .title = "+/s", .type = COLUMN_RATE, .width = 6,
     .is_default = true, .items = ITEM(MESSAGE_QUEUE_LEN), .sweep = "message_queue_len",
     .sweep_by_delta = true, .number = number_message_queue_per_s,
     .help = "Growth of the message queue per second; negative when it shrinks."},
    {.key = "current_function", .title = "CURRENT FUNCTION", .type = COLUMN_TEXT, .width = 30,
     .is_default = true, .items = ITEM(CURRENT_FUNCTION), .text = text_current_function,
     .help = "Function that it runs or waits in."},
    {.key = "status", .title = "STATUS", .type = COLUMN_TEXT, .width = 9, .is_default = true,
     .items = ITEM(STATUS), .text = text_status,
     .help = "running, runnable, waiting, suspended, garbage_collecting or exiting."},
    {.key = "initial_call", .title = "INITIAL CALL", .type = COLUMN_TEXT, .width = 30,
     .items = ITEM(ID), .text = text_initial_call,
     .help = "Function that it started with, found behind proc_lib. Before OTP 26.2 an idle "
             "server shows its loop: reading its module would copy its data."},
    {.key = "label", .title = "LABEL", .type = COLUMN_TEXT, .width = 20, .items = ITEM(ID),
     .text = text_label, .help = "Process label (OTP 27 and later)."},
    {.key = "supervisor", .title = "SUPERVISOR", .type = COLUMN_TEXT, .width = 24,
     .items = ITEM(SUPERVISOR), .text = text_supervisor,
     .help = "Nearest supervisor above it: its registered name, else its module."},
    {.key = "reductions", .title = "REDUCTIONS", .type = COLUMN_COUNT, .width = 10,
     .items = ITEM(REDUCTIONS), .sweep = "reductions", .number = number_reductions,
     .help = "Reductions since its start."},
    {.key = "memory_bytes_per_s", .title = "MEM/s", .type = COLUMN_BYTE_RATE, .width = 9,
     .items = ITEM(MEMORY), .sweep = "memory", .sweep_by_delta = true, .expensive = true,
     .number = number_memory_per_s,
     .help = "Growth of its memory per second; negative when it shrinks."},
    {.key = "memory_older", .title = "OLDER", .type = COLUMN_BOOL, .width = 5,
     .items = ITEM(MEMORY), .number = number_memory_older,
     .help = "Whether `memory_bytes` and `total_heap_bytes` were read some time ago, or are the "
             "least that they can be: its message queue is long, or it has many links or "
             "monitors."},
    {.key = "memory_age_s", .title = "MEM AGE", .type = COLUMN_SECONDS, .width = 9,
     .items = ITEM(MEMORY), .number = number_memory_age_s,
     .help = "How long ago `memory_bytes` was read; null: never, it is the least that it can be."},
    {.key = "total_heap_bytes", .title = "HEAPS", .type = COLUMN_BYTES, .width = 9,
     .items = ITEM(TOTAL_HEAP_SIZE), .sweep = "total_heap_size", .expensive = true,
     .number = number_total_heap_words,
     .help = "All heap fragments and generations with the stack."},
    {.key = "heap_bytes", .title = "HEAP", .type = COLUMN_BYTES, .width = 9,
     .items = ITEM(HEAP_SIZE), .sweep = "heap_size", .expensive = true,
     .number = number_heap_words, .help = "Youngest heap generation, with room for the stack."},
    {.key = "stack_bytes", .title = "STACK", .type = COLUMN_BYTES, .width = 9,
     .items = ITEM(STACK_SIZE), .sweep = "stack_size", .expensive = true,
     .number = number_stack_words, .help = "Stack in use: deep recursion shows here."},
    {.key = "links", .title = "LINKS", .type = COLUMN_COUNT, .width = 6, .items = ITEM(LINKS),
     .sweep = "links", .expensive = true, .number = number_links,
     .help = "Processes and ports that it is linked to."},
    {.key = "monitors", .title = "MONITORS", .type = COLUMN_COUNT, .width = 8,
     .items = ITEM(MONITORS), .sweep = "monitors", .expensive = true, .number = number_monitors,
     .help = "Processes and ports it monitors."},
    {.key = "monitored_by", .title = "MON BY", .type = COLUMN_COUNT, .width = 6,
     .items = ITEM(MONITORED_BY), .number = number_monitored_by,
     .help = "How many processes monitor it."},
    {.key = "binaries", .title = "BINARIES", .type = COLUMN_COUNT, .width = 8,
     .items = ITEM(BINARY), .number = number_binaries,
     .help = "References to refc binaries, larger than 64 bytes each."},
    {.key = "binary_bytes", .title = "BINARY", .type = COLUMN_BYTES, .width = 9,
     .items = ITEM(BINARY), .sweep = "binary", .expensive = true, .number = number_binary_bytes,
     .help = "Bytes of its refc binaries (off-heap); other processes may share them."},
    {.key = "dictionary_len", .title = "DICT", .type = COLUMN_COUNT, .width = 6,
     .items = ITEM(DICTIONARY), .number = number_dictionary_len,
     .help = "Keys in the process dictionary, in recordings of 0.1.0; nodes are not asked."},
    {.key = "minor_gcs", .title = "GCS", .type = COLUMN_COUNT, .width = 6,
     .items = ITEM(GARBAGE_COLLECTION), .sweep = "garbage_collection", .expensive = true,
     .number = number_minor_gcs, .help = "Minor GCs since the last full one."},
    {.key = "minor_gcs_per_s", .title = "GC/s", .type = COLUMN_RATE, .width = 6,
     .items = ITEM(GARBAGE_COLLECTION), .sweep = "garbage_collection", .sweep_by_delta = true,
     .expensive = true, .number = number_minor_gcs_per_s,
     .help = "Minor GCs per second; unknown where a full one came between."},
    {.key = "fullsweep_after", .title = "FULLSWEEP", .type = COLUMN_COUNT, .width = 9,
     .items = ITEM(GARBAGE_COLLECTION), .number = number_fullsweep_after,
     .help = "Minor GCs before a full one."},
    {.key = "priority", .title = "PRIORITY", .type = COLUMN_TEXT, .width = 8,
     .items = ITEM(PRIORITY), .text = text_priority, .help = "low, normal, high or max."},
    {.key = "trap_exit", .title = "TRAPS", .type = COLUMN_BOOL, .width = 5,
     .items = ITEM(TRAP_EXIT), .number = number_trap_exit,
     .help = "Whether it turns exit signals into messages."},
    {.key = "message_queue_data", .title = "MSGQ DATA", .type = COLUMN_TEXT, .width = 9,
     .items = ITEM(MESSAGE_QUEUE_DATA), .text = text_message_queue_data,
     .help = "Whether its message queue is on its heap or off it."},
    {.key = "group_leader", .title = "LEADER", .type = COLUMN_PID, .width = 14,
     .items = ITEM(GROUP_LEADER), .pid = pid_leader,
     .help = "Group leader: where its output goes, and its application."},
    {.key = "suspending", .title = "SUSPENDING", .type = COLUMN_COUNT, .width = 10,
     .items = ITEM(SUSPENDING), .number = number_suspending,
     .help = "Processes that it holds suspended."},
    {.key = "age_s", .title = "AGE", .type = COLUMN_SECONDS, .width = 9, .number = number_age_s,
     .help = "Time since beamtop first saw it; it may be older."},
    {.key = "stuck", .title = "STUCK", .type = COLUMN_BOOL, .width = 5,
     .items = ITEM(REDUCTIONS) | ITEM(MESSAGE_QUEUE_LEN) | ITEM(CURRENT_FUNCTION),
     .number = number_stuck,
     .help = "Its message queue grew at three ticks while it did no work and stayed in one "
             "function."},
    {.key = "restarted", .title = "RESTARTED", .type = COLUMN_BOOL, .width = 9,
     .items = ITEM(ID), .number = number_restarted,
     .help = "Its registered name was another process's before."},
};
/* clang-format on */
const int proc_columns_len = ARRAY_LEN(proc_columns);

bool proc_column_is_older(const struct proc_column *column, const struct proc_row *row)
{
    return column->type == COLUMN_BYTES && (column->items & row->older) != 0;
}

bool proc_column_is_least(const struct proc_column *column, const struct proc_row *row)
{
    if (column->number == number_age_s)
        return row->age_is_minimum;
    return proc_column_is_older(column, row) && isnan(row->older_s);
}

/* The rate of a value, for sorting by change. */
static const struct {
    const char *value, *rate;
} rates[] = {
    {"reductions", "reductions_per_s"},
    {"message_queue_len", "message_queue_len_per_s"},
    {"memory_bytes", "memory_bytes_per_s"},
    {"minor_gcs", "minor_gcs_per_s"},
};

const struct proc_column *proc_column_ranked(const struct proc_column *sort, bool by_delta)
{
    if (by_delta == sort->sweep_by_delta)
        return sort;
    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        if (strcmp(rates[i].value, sort->key) == 0)
            return proc_column_find(rates[i].rate);
        if (strcmp(rates[i].rate, sort->key) == 0)
            return proc_column_find(rates[i].value);
    }
    return NULL;
}

/* What people write who come from other tools. */
static const struct {
    const char *word, *key;
} short_names[] = {
    {"mem", "memory_bytes"},
    {"memory", "memory_bytes"},
    {"msgq", "message_queue_len"},
    {"mailbox", "message_queue_len"},
    {"messages", "message_queue_len"},
    {"queue", "message_queue_len"},
    {"red", "reductions_per_s"},
    {"reds", "reductions_per_s"},
    {"share", "reductions_share"},
    {"app", "application"},
    {"function", "current_function"},
    {"current", "current_function"},
    {"initial", "initial_call"},
    {"heap", "heap_bytes"},
    {"total_heap", "total_heap_bytes"},
    {"stack", "stack_bytes"},
    {"binary", "binary_bytes"},
    {"dictionary", "dictionary_len"},
    {"gc", "minor_gcs_per_s"},
    {"gcs", "minor_gcs"},
    {"age", "age_s"},
};

static const struct proc_column *find_column(struct slice key)
{
    for (int i = 0; i < proc_columns_len; i++)
        if (slice_is(key, proc_columns[i].key))
            return &proc_columns[i];
    for (size_t i = 0; i < ARRAY_LEN(short_names); i++)
        if (slice_is(key, short_names[i].word))
            return proc_column_find(short_names[i].key);
    return NULL;
}

const struct proc_column *proc_column_find(const char *key)
{
    return find_column(slice_of(key));
}

int proc_columns_default(const struct proc_column *out[COLUMNS_MAX])
{
    int n = 0;
    for (int i = 0; i < proc_columns_len; i++)
        if (proc_columns[i].is_default)
            out[n++] = &proc_columns[i];
    return n;
}

static int unknown_column(struct slice word, struct error *err)
{
    struct buf known;
    buf_init(&known, 0);
    for (int i = 0; i < proc_columns_len; i++)
        buf_printf(&known, "%s%s", i == 0 ? "" : ", ", proc_columns[i].key);
    error_set(err, ERR_USAGE, "no column \"%.*s\": choose one of %s",
              (int)(word.len > 80 ? 80 : word.len), word.s, buf_cstr(&known));
    buf_clear(&known);
    return ERR_USAGE;
}

int proc_columns_parse(const char *list, const struct proc_column *out[COLUMNS_MAX], int *n,
                       struct error *err)
{
    *n = 0;
    for (const char *at = list;; at++) {
        at += strspn(at, " ");
        size_t len = strcspn(at, ",");
        struct slice word = {at, len};
        while (word.len > 0 && at[word.len - 1] == ' ')
            word.len--;
        const struct proc_column *column = find_column(word);
        if (!column)
            return unknown_column(word, err);
        if (*n >= COLUMNS_MAX)
            return error_set(err, ERR_USAGE, "at most %d columns can be shown", COLUMNS_MAX);
        out[(*n)++] = column;
        at += len;
        if (*at == '\0')
            return 0;
    }
}

uint32_t proc_columns_items(const struct proc_column *const *columns, int n,
                            const struct proc_column *sort)
{
    uint32_t items = sort ? sort->items : 0;
    for (int i = 0; i < n; i++)
        items |= columns[i]->items;
    return items;
}
