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

struct slice proc_column_text(const struct field *column, const struct proc_row *row)
{
    return column->look == LOOK_NAME ? proc_row_display_name(row) : field_text(column, row);
}

#define ROW struct proc_row
#define BYTES_OF_WORDS(name)                                                                       \
    static double name##_bytes(const void *row)                                                    \
    {                                                                                              \
        return words_as_bytes(row, ((const ROW *)row)->name##_words);                              \
    }

static double words_as_bytes(const struct proc_row *row, int64_t words)
{
    return words < 0 || row->word_bytes < 0 ? NAN : (double)words * (double)row->word_bytes;
}

BYTES_OF_WORDS(total_heap)
BYTES_OF_WORDS(heap)
BYTES_OF_WORDS(stack)

static bool row_knows(const struct proc_row *row, enum proc_item item)
{
    return (row->items >> item) & 1;
}

static double memory_older(const void *of)
{
    const struct proc_row *row = of;
    return row_knows(row, ITEM_MEMORY) ? (row->older >> ITEM_MEMORY) & 1 : (double)NAN;
}

static double memory_age_s(const void *of)
{
    const struct proc_row *row = of;
    return memory_older(row) > 0 ? row->older_s : memory_older(row);
}

static double trap_exit(const void *of)
{
    const struct proc_row *row = of;
    return row_knows(row, ITEM_TRAP_EXIT) ? row->trap_exit : (double)NAN;
}

/* In the order of a first start; the rest after. Sizes in words on the wire are bytes here. */
const struct field proc_columns[] = {
    FIELD("pid", PID, pid, "Process identifier, as the node itself prints it.", .title = "PID",
          .width = 14, .is_default = true),
    FIELD("name", TEXT, name,
          "Registered name. On the screen, where there is none, the label or the initial call.",
          .title = "NAME", .width = 32, .look = LOOK_NAME, .is_default = true,
          .items = ITEM_BIT(ID)),
    FIELD("application", TEXT, application,
          "Application that the process belongs to, by its group leader.", .title = "APPLICATION",
          .width = 14, .is_default = true, .items = ITEM_BIT(ID)),
    FIELD("reductions_per_s", RATE, reductions_per_s, "Reductions per second.", .title = "RED/s",
          .width = 7, .is_default = true, .items = ITEM_BIT(REDUCTIONS), .sweep = "reductions",
          .sweep_by_delta = true),
    FIELD("reductions_share", SHARE, reductions_share,
          "Share of the node's reductions, beamtop's included.", .title = "SHARE", .width = 7,
          .is_default = true, .items = ITEM_BIT(REDUCTIONS), .sweep = "reductions",
          .sweep_by_delta = true),
    FIELD("memory_bytes", BYTES, memory_bytes,
          "Heap, stack, message queue and the process's own structures, without refc binaries.",
          .title = "MEMORY", .width = 9, .is_default = true, .items = ITEM_BIT(MEMORY),
          .sweep = "memory", .expensive = true),
    FIELD("message_queue_len", COUNT, message_queue_len, "Length of the message queue.",
          .title = "MSGQ", .width = 6, .is_default = true, .items = ITEM_BIT(MESSAGE_QUEUE_LEN),
          .sweep = "message_queue_len"),
    FIELD("message_queue_len_per_s", RATE, message_queue_per_s,
          "Growth of the message queue per second; negative when it shrinks.", .title = "+/s",
          .width = 6, .look = LOOK_CHANGE, .is_default = true, .items = ITEM_BIT(MESSAGE_QUEUE_LEN),
          .sweep = "message_queue_len", .sweep_by_delta = true),
    FIELD("current_function", TEXT, current_function, "Function that it runs or waits in.",
          .title = "CURRENT FUNCTION", .width = 30, .look = LOOK_FUNCTION, .is_default = true,
          .items = ITEM_BIT(CURRENT_FUNCTION)),
    FIELD("status", TEXT, status,
          "running, runnable, waiting, suspended, garbage_collecting or exiting.",
          .title = "STATUS", .width = 9, .is_default = true, .items = ITEM_BIT(STATUS)),
    FIELD("initial_call", TEXT, initial_call,
          "Function that it started with, found behind proc_lib. Before OTP 26.2 an idle server "
          "shows its loop: reading its module would copy its data.",
          .title = "INITIAL CALL", .width = 30, .look = LOOK_FUNCTION, .items = ITEM_BIT(ID)),
    FIELD("label", TEXT, label, "Process label (OTP 27 and later).", .title = "LABEL", .width = 20,
          .items = ITEM_BIT(ID)),
    FIELD("supervisor", TEXT, supervisor,
          "Nearest supervisor above it: its registered name, else its module.",
          .title = "SUPERVISOR", .width = 24, .items = ITEM_BIT(SUPERVISOR)),
    FIELD("reductions", COUNT, reductions, "Reductions since its start.", .title = "REDUCTIONS",
          .width = 10, .items = ITEM_BIT(REDUCTIONS), .sweep = "reductions"),
    FIELD("memory_bytes_per_s", BYTE_RATE, memory_per_s,
          "Growth of its memory per second; negative when it shrinks.", .title = "MEM/s",
          .width = 9, .look = LOOK_CHANGE, .items = ITEM_BIT(MEMORY), .sweep = "memory",
          .sweep_by_delta = true, .expensive = true),
    FIELD_MADE(
        "memory_older", BOOL, memory_older,
        "Whether `memory_bytes` and `total_heap_bytes` were read some time ago, or are the least "
        "that they can be: its message queue is long, or it has many links or monitors.",
        .title = "OLDER", .width = 5, .items = ITEM_BIT(MEMORY)),
    FIELD_MADE("memory_age_s", SECONDS, memory_age_s,
               "How long ago `memory_bytes` was read; null: never, it is the least that it can be.",
               .title = "MEM AGE", .width = 9, .items = ITEM_BIT(MEMORY)),
    FIELD_MADE("total_heap_bytes", BYTES, total_heap_bytes,
               "All heap fragments and generations with the stack.", .title = "HEAPS", .width = 9,
               .items = ITEM_BIT(TOTAL_HEAP_SIZE), .sweep = "total_heap_size", .expensive = true),
    FIELD_MADE("heap_bytes", BYTES, heap_bytes,
               "Youngest heap generation, with room for the stack.", .title = "HEAP", .width = 9,
               .items = ITEM_BIT(HEAP_SIZE), .sweep = "heap_size", .expensive = true),
    FIELD_MADE("stack_bytes", BYTES, stack_bytes, "Stack in use: deep recursion shows here.",
               .title = "STACK", .width = 9, .items = ITEM_BIT(STACK_SIZE), .sweep = "stack_size",
               .expensive = true),
    FIELD("links", COUNT, links, "Processes and ports that it is linked to.", .title = "LINKS",
          .width = 6, .items = ITEM_BIT(LINKS), .sweep = "links", .expensive = true),
    FIELD("monitors", COUNT, monitors, "Processes and ports it monitors.", .title = "MONITORS",
          .width = 8, .items = ITEM_BIT(MONITORS), .sweep = "monitors", .expensive = true),
    FIELD("monitored_by", COUNT, monitored_by, "How many processes monitor it.", .title = "MON BY",
          .width = 6, .items = ITEM_BIT(MONITORED_BY)),
    FIELD("binaries", COUNT, binaries, "References to refc binaries, larger than 64 bytes each.",
          .title = "BINARIES", .width = 8, .items = ITEM_BIT(BINARY)),
    FIELD("binary_bytes", BYTES, binary_bytes,
          "Bytes of its refc binaries (off-heap); other processes may share them.",
          .title = "BINARY", .width = 9, .items = ITEM_BIT(BINARY), .sweep = "binary",
          .expensive = true),
    FIELD("dictionary_len", COUNT, dictionary_len,
          "Keys in the process dictionary, in recordings of 0.1.0; nodes are not asked.",
          .title = "DICT", .width = 6, .items = ITEM_BIT(DICTIONARY)),
    FIELD("minor_gcs", COUNT, minor_gcs, "Minor GCs since the last full one.", .title = "GCS",
          .width = 6, .items = ITEM_BIT(GARBAGE_COLLECTION), .sweep = "garbage_collection",
          .expensive = true),
    FIELD("minor_gcs_per_s", RATE, minor_gcs_per_s,
          "Minor GCs per second; unknown where a full one came between.", .title = "GC/s",
          .width = 6, .items = ITEM_BIT(GARBAGE_COLLECTION), .sweep = "garbage_collection",
          .sweep_by_delta = true, .expensive = true),
    FIELD("fullsweep_after", COUNT, fullsweep_after, "Minor GCs before a full one.",
          .title = "FULLSWEEP", .width = 9, .items = ITEM_BIT(GARBAGE_COLLECTION)),
    FIELD("priority", TEXT, priority, "low, normal, high or max.", .title = "PRIORITY", .width = 8,
          .items = ITEM_BIT(PRIORITY)),
    FIELD_MADE("trap_exit", BOOL, trap_exit, "Whether it turns exit signals into messages.",
               .title = "TRAPS", .width = 5, .items = ITEM_BIT(TRAP_EXIT)),
    FIELD("message_queue_data", TEXT, message_queue_data,
          "Whether its message queue is on its heap or off it.", .title = "MSGQ DATA", .width = 9,
          .items = ITEM_BIT(MESSAGE_QUEUE_DATA)),
    FIELD("group_leader", PID, group_leader,
          "Group leader: where its output goes, and its application.", .title = "LEADER",
          .width = 14, .known = offsetof(ROW, has_group_leader), .items = ITEM_BIT(GROUP_LEADER)),
    FIELD("suspending", COUNT, suspending, "Processes that it holds suspended.",
          .title = "SUSPENDING", .width = 10, .items = ITEM_BIT(SUSPENDING)),
    FIELD("age_s", SECONDS, age_s, "Time since beamtop first saw it; it may be older.",
          .title = "AGE", .width = 9),
    FIELD("stuck", BOOL, stuck,
          "Its message queue grew at three ticks while it did no work and stayed in one function.",
          .title = "STUCK", .width = 5,
          .items = ITEM_BIT(REDUCTIONS) | ITEM_BIT(MESSAGE_QUEUE_LEN) | ITEM_BIT(CURRENT_FUNCTION)),
    FIELD("restarted", BOOL, restarted, "Its registered name was another process's before.",
          .title = "RESTARTED", .width = 9, .items = ITEM_BIT(ID)),
};
const int proc_columns_len = ARRAY_LEN(proc_columns);
FIELD_LIST(proc_fields, "process", proc_columns);

bool proc_column_is_older(const struct field *column, const struct proc_row *row)
{
    return column->type == COLUMN_BYTES && (column->items & row->older) != 0;
}

bool proc_column_is_least(const struct field *column, const struct proc_row *row)
{
    if (column->offset == offsetof(struct proc_row, age_s))
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

const struct field *proc_column_ranked(const struct field *sort, bool by_delta)
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

static const struct field *find_column(struct slice key)
{
    for (int i = 0; i < proc_columns_len; i++)
        if (slice_is(key, proc_columns[i].key))
            return &proc_columns[i];
    for (size_t i = 0; i < ARRAY_LEN(short_names); i++)
        if (slice_is(key, short_names[i].word))
            return proc_column_find(short_names[i].key);
    return NULL;
}

const struct field *proc_column_find(const char *key)
{
    return find_column(slice_of(key));
}

int proc_columns_default(const struct field *out[COLUMNS_MAX])
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

int proc_columns_parse(const char *list, const struct field *out[COLUMNS_MAX], int *n,
                       struct error *err)
{
    *n = 0;
    for (const char *at = list;; at++) {
        at += strspn(at, " ");
        size_t len = strcspn(at, ",");
        struct slice word = {at, len};
        while (word.len > 0 && at[word.len - 1] == ' ')
            word.len--;
        const struct field *column = find_column(word);
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

uint32_t proc_columns_items(const struct field *const *columns, int n, const struct field *sort)
{
    uint32_t items = sort ? sort->items : 0;
    for (int i = 0; i < n; i++)
        items |= columns[i]->items;
    return items;
}
