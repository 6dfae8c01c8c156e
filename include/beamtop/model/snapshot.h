/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is known of a node at one moment, in plain values: numbers as the node gave them, rates
 * worked out from two moments. Filled by model/decode from answers (docs/queries.md), read by
 * views and sinks. Units are in the names. Unknown doubles are NaN, unknown integers are -1.
 * Strings are owned by the snapshot's arena, NUL-terminated but with their length beside them
 * where they come from the target (they may hold any byte; made safe
 * when shown). */
#ifndef BEAMTOP_MODEL_SNAPSHOT_H
#define BEAMTOP_MODEL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/arena.h"
#include "beamtop/etf/term.h"

/* Answer of `node`. */
struct node_info {
    struct slice name, otp, erts, emulator, os, os_pid, elixir, code_mode;
    int64_t word_bytes;
    int64_t schedulers, schedulers_online, dirty_cpu, dirty_cpu_online, dirty_io;
    int64_t process_limit, port_limit, atom_limit, ets_limit;
    int64_t start_wall_us, net_tick_s, cpus;
};

/* Its OS pid as it sees it: outside of a container it is another. 0: unknown; NULL is fine. */
int64_t node_os_pid(const struct node_info *node);

/* clang-format off */
enum memory_type {
    MEMORY_TOTAL, MEMORY_PROCESSES, MEMORY_PROCESSES_USED, MEMORY_SYSTEM, MEMORY_ATOM,
    MEMORY_ATOM_USED, MEMORY_BINARY, MEMORY_CODE, MEMORY_ETS,
    MEMORY_OTHER, /* the system's without atoms, binaries, code, tables; worked out, not asked */
    MEMORY_TYPES, MEMORY_ASKED = MEMORY_OTHER,
};
/* clang-format on */

/* One scheduler thread. Ids run as the VM's: normal, then dirty CPU; dirty I/O last. */
enum scheduler_kind { SCHEDULER_NORMAL, SCHEDULER_DIRTY_CPU, SCHEDULER_DIRTY_IO };
struct scheduler {
    int64_t id;
    enum scheduler_kind kind;
    int64_t active, total; /* scheduler_wall_time_all, as given */
    double use;            /* 0..1 since the sample before; NaN at the first */
    int64_t queue_len;     /* normal: own queue; dirty: the shared queue; -1 unknown */
};

/* Answer of `system`, and what follows from it and the one before. */
struct system_sample {
    uint64_t mono_ns; /* the target's monotonic clock */
    int64_t wall_us;
    int64_t uptime_ms;
    double interval_s; /* since the sample before; NaN at the first or after a gap */
    double memory_bytes[MEMORY_TYPES];
    int64_t processes, ports, atoms, ets_tables;
    int64_t run_queue;         /* normal schedulers */
    int64_t run_queue_highest; /* the longest single normal queue */
    int64_t run_queue_dirty_cpu, run_queue_dirty_io;
    int64_t reductions, context_switches, gcs, gc_words, in_bytes,
        out_bytes; /* since the VM's start */
    int64_t
        own_reductions; /* of beamtop's processes, since they were started; part of `reductions` */
    double reductions_per_s, context_switches_per_s, gcs_per_s, gc_words_per_s, in_bytes_per_s,
        out_bytes_per_s;
    double own_reductions_per_s;
    double use_normal, use_dirty_cpu, use_dirty_io; /* mean over online schedulers, 0..1 */
    double rss_bytes, virtual_bytes;
    int64_t late_ms; /* the longest that a call waited for a scheduler since the sample before */
    int64_t late_scheduler;       /* one that did not answer; -1: none, or not known which */
    struct scheduler *schedulers; /* arena; n_schedulers of them */
    size_t n_schedulers;
};

/*
 * Items of a scan (docs/queries.md): X(ID, name, form, field ...). They are asked for, and come
 * back, in this order; a recording has their names. `supervisor` is the nearest one above: its
 * registered name, else its module. The form says how the value travels (model/decode.c),
 * and what its fields in struct proc_row are. */
#define PROC_ITEM_LIST(X)                                                                          \
    X(ID, id, ID, name)                                                                            \
    X(REDUCTIONS, reductions, INT, reductions)                                                     \
    X(MESSAGE_QUEUE_LEN, message_queue_len, INT, message_queue_len)                                \
    X(MEMORY, memory, INT, memory_bytes)                                                           \
    X(TOTAL_HEAP_SIZE, total_heap_size, INT, total_heap_words)                                     \
    X(HEAP_SIZE, heap_size, INT, heap_words)                                                       \
    X(STACK_SIZE, stack_size, INT, stack_words)                                                    \
    X(STATUS, status, ATOM, status)                                                                \
    X(PRIORITY, priority, ATOM, priority)                                                          \
    X(CURRENT_FUNCTION, current_function, MFA, current_function)                                   \
    X(LINKS, links, INT, links)                                                                    \
    X(MONITORS, monitors, INT, monitors)                                                           \
    X(MONITORED_BY, monitored_by, INT, monitored_by)                                               \
    X(BINARY, binary, PAIR, binaries, binary_bytes)                                                \
    X(DICTIONARY, dictionary, INT, dictionary_len)                                                 \
    X(GARBAGE_COLLECTION, garbage_collection, PAIR, minor_gcs, fullsweep_after)                    \
    X(GROUP_LEADER, group_leader, PID, group_leader, has_group_leader)                             \
    X(TRAP_EXIT, trap_exit, BOOL, trap_exit)                                                       \
    X(MESSAGE_QUEUE_DATA, message_queue_data, ATOM, message_queue_data)                            \
    X(SUSPENDING, suspending, INT, suspending)                                                     \
    X(SUPERVISOR, supervisor, ATOM, supervisor)

enum proc_item {
#define PROC_ITEM_ENUM(id, ...) ITEM_##id,
    PROC_ITEM_LIST(PROC_ITEM_ENUM)
#undef PROC_ITEM_ENUM
        PROC_ITEMS
};
#define ITEM_BIT(id) (UINT32_C(1) << ITEM_##id)

/* F(type, field, unknown value) for each field of a form; beside the name, FORM_ID has others. */
#define PROC_FORM_ID(F, field) F(struct slice, field, {.s = ""})
#define PROC_FORM_ATOM(F, field) F(struct slice, field, {.s = ""})
#define PROC_FORM_MFA(F, field) F(struct slice, field, {.s = ""})
#define PROC_FORM_INT(F, field) F(int64_t, field, -1)
#define PROC_FORM_PAIR(F, first, second) F(int64_t, first, -1) F(int64_t, second, -1)
#define PROC_FORM_BOOL(F, field) F(bool, field, false) /* proc_row.items says if it is known */
#define PROC_FORM_PID(F, field, known) F(struct etf_pid, field, {.id = 0}) F(bool, known, false)

/* One process row. What was not asked for is unknown (-1, NaN, empty). */
struct proc_row {
    struct etf_pid pid;
#define PROC_FIELD(type, field, unknown) type field;
#define PROC_FIELDS(id, name, form, ...) PROC_FORM_##form(PROC_FIELD, __VA_ARGS__)
    PROC_ITEM_LIST(PROC_FIELDS)
#undef PROC_FIELDS
#undef PROC_FIELD
    struct slice label;        /* process label as text, else empty */
    struct slice initial_call; /* "mod:fun/1", found behind proc_lib */
    struct slice application;
    bool own;           /* one of ours */
    bool gone;          /* of struct proc_rows: it has exited since the scan */
    uint32_t items;     /* what this row knows: bits of enum proc_item */
    uint32_t older;     /* of these, what was read some time ago, or is the least that it can be */
    double older_s;     /* how long ago; NaN: never */
    int64_t word_bytes; /* of the target, for the sizes in words */
    double reductions_per_s;    /* NaN until two sights of it */
    double reductions_share;    /* of all the node's reductions in the interval, 0..1 */
    double message_queue_per_s; /* growth; may be negative */
    double memory_per_s;
    double minor_gcs_per_s;
    double age_s;        /* since beamtop first saw it */
    bool age_is_minimum; /* it may have been there before we saw it: at least age_s */
    bool stuck;     /* mailbox grew at 3 sights while reductions and current function stood still */
    bool restarted; /* its registered name was another pid's when we last saw the name */
};

/* Answer of `scan`. */
struct proc_scan {
    uint64_t mono_ns;
    double interval_s; /* NaN at the first sweep: the order is by absolute value then */
    double sweep_us;
    int64_t total, matching, own;
    double own_share; /* of all the node's reductions, since the scan before; NaN unknown */
    struct proc_row *rows;
    size_t n_rows;
    struct proc_row *watched; /* of those that were watched and are not among the rows */
    size_t n_watched;
    bool watches;         /* the node has said which to watch: they are here or among the rows */
    const char *sort_key; /* static: the column that ranked it */
    bool by_delta;        /* ranked by change */
    bool ascending;       /* the least first */
    int64_t sorted_among; /* sorted here, among so many of the busiest; -1: ranked by the target,
                             among all */
    bool filtered;        /* `matching` counts those that do; in a recording only among its rows */
    int64_t recorded;     /* rows that the recording has, the busiest then; -1: of a live node */
    uint32_t
        recorded_items; /* of them: bits of enum proc_item; what is not here was not recorded */
};

/* Answer of `rows`: the rows of the last scan as they are now, in its order and with the rates of
   the time since the answer before. No rows: they are those of another scan. */
struct proc_rows {
    uint64_t mono_ns;
    struct proc_row *rows;
    size_t n_rows;
};
/* The items that are asked again: numbers and what has a small size; who a process is, and what is
   counted over a list, stays as the scan said. */
#define PROC_ITEMS_AGAIN                                                                           \
    (ITEM_BIT(REDUCTIONS) | ITEM_BIT(MESSAGE_QUEUE_LEN) | ITEM_BIT(MEMORY) |                       \
     ITEM_BIT(TOTAL_HEAP_SIZE) | ITEM_BIT(HEAP_SIZE) | ITEM_BIT(STACK_SIZE) | ITEM_BIT(STATUS) |   \
     ITEM_BIT(CURRENT_FUNCTION) | ITEM_BIT(GARBAGE_COLLECTION))

/* What a tick cost the target. */
struct tick_cost {
    double target_us; /* our processes' work there */
    double bytes;     /* both directions on the link */
    double share;     /* of one scheduler: target_us over the real interval */
};

#endif
