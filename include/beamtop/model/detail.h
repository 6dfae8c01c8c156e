/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Answers of `process`, `mailbox`, `state`, `alloc`, `apps`, `tree`, `threads` (docs/queries.md)
 * and `armed` (docs/tracing.md) as plain values. Unknown numbers are -1 or NaN. Strings are owned
 * by the answer's arena. */
#ifndef BEAMTOP_MODEL_DETAIL_H
#define BEAMTOP_MODEL_DETAIL_H

#include "beamtop/base/ring.h"
#include "beamtop/model/snapshot.h"

struct frame_location {
    struct slice function; /* "mod:fun/2" */
    struct slice file;     /* empty: unknown */
    int64_t line;
};

struct related { /* a link, monitor, ancestor */
    bool is_pid;
    struct etf_pid pid;
    struct slice text; /* port, remote or registered name as printed, unless it is a local pid */
    struct slice name; /* who that is, empty when unknown */
    bool is_call;      /* the name is the function that it was started with */
};

struct related_list {
    int64_t count; /* all there are; n are here */
    struct related *items;
    size_t n;
};

struct dictionary_key {
    struct slice key;
    int64_t value_bytes;
};

struct process_detail {
    bool gone;
    bool kept; /* gone, and the rest is what was answered before */
    uint64_t mono_ns;
    struct proc_row row; /* identity, counters, rates: as in a scan */
    struct related group_leader, parent;
    struct related_list ancestors, links, monitors, monitored_by;
    struct frame_location location;
    struct frame_location *stack;
    size_t n_stack;
    int64_t heap_fragment_words;
    struct {
        struct slice key;
        int64_t value;
    } * gc;
    size_t n_gc;
    int64_t dictionary_count;
    struct dictionary_key *dictionary;
    size_t n_dictionary;
    int64_t binary_count, binary_bytes;
    struct {
        int64_t bytes, refs;
    } * binaries; /* largest first */
    size_t n_binaries;
    /* history since the view was opened on this process; owned by the model */
    const struct ring *memory_history, *message_queue_history, *reductions_history;
};

enum mailbox_status { MAILBOX_OK, MAILBOX_ASK, MAILBOX_REFUSED, MAILBOX_GONE };

struct mailbox_detail {
    enum mailbox_status status;
    int64_t len, memory_bytes;
    struct {
        int64_t bytes;
        struct slice text;
    } * messages;
    size_t n_messages;
};

struct state_detail {
    enum { STATE_OK, STATE_ASK, STATE_NONE, STATE_GONE } status;
    int64_t bytes;     /* of the state; STATE_ASK: of the process */
    struct slice text; /* the state, or why there is none */
};

struct carrier_numbers {
    int64_t blocks, block_bytes, carriers, carrier_bytes;
};

struct allocator_row {
    struct slice name;
    int64_t instances;
    struct carrier_numbers mbcs, sbcs;
    int64_t pool_carriers, pool_carrier_bytes, pool_block_bytes;
    double utilisation; /* block bytes over carrier bytes, pool included; NaN without carriers */
    int64_t unused_bytes;
    /* The instance with most unused; -1: none is among those that the node named. */
    int64_t worst_instance, worst_unused_bytes;
    double worst_utilisation;
};

struct allocator_instance {
    struct slice name;
    int64_t instance, blocks, block_bytes, carriers, carrier_bytes;
    int64_t unused_bytes;
    double utilisation; /* block bytes over carrier bytes; NaN without carriers */
};

struct alloc_detail {
    struct allocator_row *rows;
    size_t n_rows;
    int64_t block_bytes, carrier_bytes; /* sums */
    double utilisation;
    int64_t mseg_hits, mseg_calls;        /* -1 unknown */
    struct allocator_instance *instances; /* most unused first, 100 at most */
    size_t n_instances;
    uint64_t mono_ns;
    int64_t rss_bytes, anon_bytes, swap_bytes, hwm_bytes; /* by Linux; -1 unknown */
    /* Of carriers: free, at most what is resident; of rss: what is in none; of carriers: not
       resident. -1 unknown. */
    int64_t fragmented_bytes, outside_bytes, untouched_bytes;
    double fragmented_share; /* of rss */
};

/* One of the largest processes. Bytes; -1 unknown. */
struct heap_row {
    struct proc_row row;                    /* identity, status, memory, message queue */
    struct slice pid_text, who;             /* who: process_name() */
    int64_t young_bytes, young_block_bytes; /* used; the block has the stack and free words too */
    int64_t old_bytes, old_block_bytes;
    int64_t stack_bytes, fragment_bytes; /* fragments: heap fragments and messages in them */
    int64_t binary_bytes, binaries;      /* refc binaries; binaries -1: not listed */
    int64_t total_bytes;                 /* memory and binaries */
    int64_t before_bytes;                /* memory at the first look; -1: not among its largest */
    double growth_bytes;                 /* NaN unknown */
    bool older;                          /* all sizes were read row.older_s ago (docs/queries.md) */
};

struct heap_size { /* of a process that is not among the rows */
    struct etf_pid pid;
    int64_t memory_bytes;
};

struct heap_owner { /* the rows of one owner, added up */
    struct slice name;
    int64_t processes, message_queue_len;
    double memory_bytes, binary_bytes;
    double growth_bytes; /* of those that were among the largest at the first look; NaN: none */
    const struct heap_row *first; /* of its processes */
};
struct heap_owners {
    struct heap_owner *items; /* most memory first */
    size_t n;
};

struct heaps_detail {
    uint64_t mono_ns;
    int64_t total, looked_at; /* processes there are; those whose memory was read */
    bool partial;             /* the time was up before the last of them */
    double looked_at_bytes, rows_bytes;
    double share;          /* of the rows in what all processes have; NaN unknown */
    double over_s;         /* since the first look; NaN: this is the first */
    struct heap_row *rows; /* largest memory first */
    size_t n_rows;
    struct heap_size *others; /* the next largest */
    size_t n_others;
    struct heap_owners by[7]; /* by enum owner_by; nothing is known of supervisors */
};

/* A garbage collection on request. Sizes in bytes, before and after it. */
struct collect_sizes {
    int64_t memory_bytes, heap_bytes, binary_bytes;
};

struct collect_detail {
    enum { COLLECT_ASK, COLLECT_DONE, COLLECT_LATE, COLLECT_GONE, COLLECT_REFUSED } status;
    int64_t message_queue_len;          /* COLLECT_ASK */
    struct collect_sizes before, after; /* COLLECT_ASK: before; COLLECT_DONE: both */
    int64_t us;                         /* COLLECT_DONE: until it was done */
    int64_t limit_bytes;                /* COLLECT_REFUSED: its max_heap_size, which might end it */
};

/* How long the process stops at most, about: by the size of its heaps (docs/performance.md). */
static inline double collect_pause_s(const struct collect_sizes *s)
{
    return 1e-4 + (double)s->heap_bytes * 1.25e-9;
}

struct app_row {
    struct slice name, description, version; /* name empty: processes of no application */
    int64_t processes, memory_bytes, reductions, message_queue_len;
    double reductions_per_s, reductions_share, memory_per_s;
    bool memory_older;   /* that of one of its processes was read some time ago */
    double memory_age_s; /* of the oldest of these; NaN: one was never read, and is the least */
};

/* An ETS table, or those of a process that have no row of their own, added up. */
struct tables_row {
    struct slice id, name, owner_name, application, type, protection, write, tid, copies;
    struct etf_pid owner, heir;
    bool has_owner, has_heir, memory_older;
    int64_t read, is_spread, compressed, fixed; /* 0, 1 */
    int64_t tables, objects, memory_bytes, key_position, copy_nodes, active_nodes;
    double memory_age_s, memory_per_s, objects_per_s;
};

/* One ETS table; numbers unknown where there is none. */
struct one_table_row {
    struct slice id, name, tid, type, protection, owner_name, application, heir_name, fixer_name;
    struct slice write, copies, copy_nodes, active_nodes, indexes; /* nodes: names */
    struct etf_pid owner, heir, fixer;
    bool exists, has_owner, has_heir, has_fixer;
    int64_t read, is_spread, compressed, fixed; /* 0, 1 */
    int64_t objects, memory_bytes, key_position, fixed_ms, fixers, words_per_object;
    double memory_per_s, objects_per_s;
};

/* Mnesia, where it runs. */
struct mnesia_row {
    struct slice version, status, down_nodes, cut_nodes;
    double cut_s; /* for so long these, at each answer */
    int64_t running_nodes, schema_nodes, held_locks, waiting_locks, transaction_locks;
    int64_t commits, failures, restarts, log_writes, log_writes_left;
    double commits_per_s, failures_per_s, restarts_per_s, log_writes_per_s;
};

/* A Raft group of the library ra, as one of its nodes has it. */
struct raft_row {
    struct slice group, leader_node, server, state, membership, nodes; /* nodes: names */
    double leader_s; /* for so long that one, at each answer */
    int64_t members;
};

/* A process that holds another suspended, or, without it, how far it was looked for. */
struct suspenders_row {
    struct slice id, by_name;
    struct etf_pid pid, by;
    bool has_pid, has_by;
    int64_t times, read, processes;
};

/* A process that runs old code of a module, or, without it, how many do. */
struct old_code_row {
    struct slice id, module, name;
    struct etf_pid pid;
    bool has_old, has_pid;
    int64_t count, read, processes;
};

struct table_keys_row {
    struct slice key;
};

/* Processes that are the same. Growth: since the first answer. */
struct holders_row {
    struct slice id, initial_call, application, supervisor, label, function;
    struct slice largest_name;
    struct etf_pid largest; /* of these processes, with memory and binaries */
    bool has_largest, memory_older;
    int64_t processes, memory_bytes, heap_bytes, binary_bytes, binaries, message_queue_len;
    int64_t links, monitors, uncounted, largest_bytes;
    double memory_age_s, reductions_per_s, since_s;
    double processes_growth, memory_growth, binary_growth, queue_growth;
};
/* A process that waits in a call, or that one waits for. What follows from all rows: waits.h.
 */
struct waits_row {
    struct etf_pid pid;
    struct slice name, label, initial_call;
    struct slice kind; /* "call", "rpc", "pool" …; empty: it waits in no call */
    struct etf_pid for_pid;
    bool has_for;
    struct slice for_name; /* of another: a name, a port, a pid of the other node */
    struct slice node;     /* the other node; empty: this one */
    int64_t among;         /* so many may be the one; 1: it is known */
    struct slice function, caller, status;
    int64_t message_queue_len, reductions;
    bool steady, suspended;
    int64_t waiters, behind; /* processes: that wait for it; for these, and so on */
    int64_t deadlock;        /* number of its cycle, from 1 on; -1: none */
    double seen_s;           /* for so long, at every answer; NaN: it waits in no call */
    double crowded_s;        /* for so long more than WAITS_CROWD have waited for it */
    double locked_s;         /* for so long in a deadlock, by the same wait: reads of it are work */
};

/* A node that the asked one is connected to or has heard of, and first itself, with its settings.
 */
struct links_row {
    struct slice node, how, state, protocol, address, prevents_overlap;
    int64_t in_bytes, out_bytes, queue_bytes, queue_len;
    int64_t net_tick_s, busy_limit_bytes, global_names, pg_groups; /* -1: not of this row */
    int64_t connection; /* another one after each time that it was lost; -1: unknown */
    double in_per_s, out_per_s, state_s;
    bool busy;
};

/* One of several nodes. No node is asked for it: who is connected to all of them makes the answer
 * (app/fleet). */
struct fleet_row {
    struct slice node, state, note, host, role, otp, unlike, apps, queue_name, link_queue_node;
    int64_t nodes, up, memory_bytes, memory_limit, run_queue, processes, queue_len;
    int64_t link_queue_bytes, busy_links, round_trip_us, bound_us, findings;
    double uptime_s, limit_share, utilisation, reductions_per_s, offset_us, cost_share;
};

/* What two of several nodes say of each other, or what is odd with one. Made as the row above. */
struct mesh_row {
    struct slice id, node, peer, kind, level, says, peer_says, note;
    int64_t queue_bytes, peer_queue_bytes; /* node to peer, peer to node */
    int64_t reconnects;                    /* -1: none was seen */
    double out_per_s, in_per_s;            /* bytes, node to peer, peer to node */
};

/* A node of several, and a sign for each of them, in the order of the rows (fields_fleet.c). */
struct matrix_row {
    struct slice node, signs;
    int64_t number;
};
#define MATRIX_NODES 256

/* A port, or a socket of the module `socket`. */
struct ports_row {
    struct slice id, backend, kind, name; /* name: driver, command, node */
    struct slice owner_name, application, sender_name;
    struct slice local, remote, local_port, remote_host, state;
    struct etf_pid owner, sender; /* sender: one of those that wait in a send to it */
    bool has_owner, has_sender, busy;
    int64_t ports, close_wait, received_bytes, sent_bytes, received_packets, sent_packets;
    int64_t queue_bytes, senders, idle_us, os_pid;
    double state_s; /* in this state at each answer */
    double received_bytes_per_s, sent_bytes_per_s, received_packets_per_s, sent_packets_per_s;
};

/* A persistent term, an atom, a module, the timers, or all of a kind that have no row. */
struct terms_row {
    struct slice id, kind, name, application;
    int64_t count, limit, memory_bytes, unshared_bytes, old_bytes;
    int64_t is_external; /* 0, 1 */
    double count_per_s, memory_per_s;
};

/* A setting or a limit of the VM. */
struct vm_row {
    struct slice id, section, item, value, limit, unit, note;
    int64_t number, limit_number;
};

/* An answer that is one table. */
struct table_detail {
    uint64_t mono_ns;
    double interval_s; /* since the answer before; NaN: rates are unknown */
    void *rows;        /* struct NAME_row */
    size_t n_rows;
    bool partial;     /* the deadline cut it short */
    double own_share; /* beamtop's of the node's reductions, as in struct proc_scan; NaN unknown */
    const struct waits_sums *sums;     /* of `waits` (waits.h); else NULL */
    const struct table_detail *before; /* that its rates are from, until the next one; or NULL */
};

struct tree_node {
    int depth;
    bool has_pid;
    struct etf_pid pid;
    struct slice id, type, name, label, initial_call;
    int64_t message_queue_len, memory_bytes;
    bool busy, memory_older;
    double memory_age_s; /* NaN: never read */
};

struct tree_detail {
    struct slice root;
    struct tree_node *nodes;
    size_t n_nodes;
    bool partial;
};

/* A scheduler thread as the operating system counts it. Shares are of the time between two
   answers; what was not read is unknown. */
struct scheduler_thread {
    enum scheduler_kind kind;
    int64_t id; /* the VM's number of the scheduler */
    int64_t number, tid;
    int64_t cpu, bound;             /* the CPU it ran on last; the one it is bound to, -1: none */
    int64_t migrations;             /* changes of `cpu` seen since the first answer */
    int64_t run_ns, wait_ns;        /* on a CPU; ready to run, but without one */
    int64_t voluntary, involuntary; /* context switches */
    double run, wait, voluntary_per_s, involuntary_per_s;
    double use; /* scheduler utilisation, by the last answer of `system` */
};

struct threads_detail {
    uint64_t mono_ns;
    double interval_s;      /* since the answer before; NaN at the first or after a gap */
    struct slice bind_type; /* `erlang:system_info(scheduler_bind_type)` */
    struct slice allowed;   /* CPUs that the VM may use, "0-3"; empty: not Linux */
    int64_t allowed_cpus;
    double quota_cpus;                                /* of the cgroup; NaN: none, or not known */
    int64_t host_ticks, steal_ticks;                  /* of all CPUs, as /proc/stat counts */
    int64_t throttled_ns, throttled_periods, periods; /* of the cgroup */
    double steal;           /* share of the CPUs' time that the hypervisor took */
    double throttled;       /* of the quota's periods that ended early; NaN: no quota */
    double throttled_per_s; /* seconds, added over the CPUs, that threads were held back */
    struct scheduler_thread *rows;
    size_t n_rows;
};

/* X(ID, name, help) of each state of microstate accounting; the last ones only where the VM was
   built for them. */
#define MSACC_STATES(X)                                                                            \
    X(EMULATOR, emulator, "Erlang code; on a dirty scheduler also a dirty NIF")                    \
    X(GC, gc, "garbage collection, but on dirty schedulers")                                       \
    X(PORT, port, "ports")                                                                         \
    X(AUX, aux, "auxiliary jobs")                                                                  \
    X(CHECK_IO, check_io, "looking for input and output")                                          \
    X(OTHER, other, "the rest of the VM; on a dirty scheduler also garbage collection")            \
    X(SLEEP, sleep, "sleeping")                                                                    \
    X(ALLOC, alloc, "allocating memory")                                                           \
    X(BIF, bif, "BIFs")                                                                            \
    X(BUSY_WAIT, busy_wait, "busy waiting")                                                        \
    X(ETS, ets, "ETS BIFs")                                                                        \
    X(GC_FULL, gc_full, "full-sweep garbage collection")                                           \
    X(NIF, nif, "NIFs")                                                                            \
    X(SEND, send, "sending messages")                                                              \
    X(TIMERS, timers, "timers")
enum msacc_state {
#define MSACC_ENUM(id, ...) MSACC_##id,
    MSACC_STATES(MSACC_ENUM)
#undef MSACC_ENUM
        MSACC_COUNT
};

/* A thread of the VM, or all threads of a type. Shares are of the time between two answers. */
struct msacc_row {
    struct slice type; /* "scheduler", "dirty_cpu_scheduler", "async", … */
    int64_t id;        /* -1: all of the type */
    int64_t threads;
    double counters[MSACC_COUNT]; /* as given; NaN: a state that the VM does not have */
    double share[MSACC_COUNT];
    double counted; /* share of the time that was counted: less when it was switched off */
};

struct msacc_detail {
    uint64_t mono_ns;
    double interval_s;
    bool on_before;    /* it was on before beamtop came, and stays so */
    bool switched_off; /* somebody did that, in the interval */
    double units_per_s;
    struct msacc_row *rows; /* the types, then their threads */
    size_t n_rows, n_types;
};

/* clang-format off */
enum armed_kind {
    ARMED_SESSION, ARMED_BREAKPOINT, ARMED_FLAGS, ARMED_MONITOR, ARMED_CONTROL_WORD,
    ARMED_SYSTEM_TRACER, ARMED_TOKENS, ARMED_CONNECTION,
};
/* clang-format on */

/* One thing that someone has armed on the node, or another beamtop that is connected. */
struct armed_row {
    enum armed_kind kind;
    struct slice what;  /* the kind in a word */
    struct slice where; /* mod:fun/2, send, a process by name or pid, new_processes, … */
    bool has_pid;
    struct etf_pid pid;    /* flags: the process */
    struct slice pid_text; /* as printed; empty without */
    struct slice session;  /* empty: the node's single space, or of no space */
    struct slice tracer;   /* process that gets the events: pid and name; empty when unknown */
    bool beamtop;          /* a beamtop armed it, this one or another */
    struct slice traced;   /* breakpoint: "local", "global", "meta" or empty */
    struct slice text;     /* match specification, flags, or what is monitored */
    int64_t value;         /* control word; -1 else */
    int64_t call_count, call_time_us, call_memory_words; /* counters; -1: none */
    int64_t breakpoints, processes; /* session: how many it has, or -1 when some are cut;
                                     * tokens: processes that have one;
                                     * connection: its own; -1 else */
    struct slice details;           /* the four lines above, as text */
    struct slice owner;             /* "beamtop" where one set it, or is it; else empty */
};

struct armed_detail {
    uint64_t mono_ns;
    int64_t control_word, sessions, monitors;
    int64_t breakpoints, flags; /* all there are; the rows may be fewer */
    int64_t breakpoints_shown, flags_shown;
    int64_t processes;          /* of `flags`, without what is said of new processes and ports */
    int64_t ours;               /* processes of this connection that hold a trace */
    bool own_counts;            /* this connection counts calls */
    struct slice system_tracer; /* of seq_trace: pid and name, or a port; empty: none */
    int64_t tokens;             /* processes with a sequential trace token */
    int64_t beamtops;           /* others that are connected; -1: recorded before it was asked */
    struct armed_row *rows;     /* connections, sessions, control word, seq_trace, monitors,
                                 * breakpoints, flags */
    size_t n_rows;
};

/* Whether a tracer, as rows print it, is signed as a process of a beamtop. */
bool armed_is_beamtop(struct slice tracer);

#endif
