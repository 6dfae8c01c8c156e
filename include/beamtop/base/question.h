/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The questions to a node: one constant row each. A layer reads from the rows what concerns it: the
 * connection name and holder, ticks and governor the pace, the log its line, recorder and replay
 * what is kept. Two functions belong to a row: decode_NAME() of the model, for the answers that it
 * keeps, and the argument in app/source/encode.c, for questions that have one. */
#ifndef BEAMTOP_BASE_QUESTION_H
#define BEAMTOP_BASE_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When it is asked. */
enum question_pace {
    PACE_ASKED,   /* on demand: of the user, a trace, a count */
    PACE_ONCE,    /* with the first tick of a connection */
    PACE_HEADER,  /* at every interval */
    PACE_TICK,    /* while a view needs it, as often as the cost limit allows */
    PACE_APART,   /* with the header, as often as its part of the limit pays for */
    PACE_BETWEEN, /* between two ticks of PACE_TICK that are far apart */
    PACE_BESIDE,  /* every every_s beside the ticks, for findings and recordings */
};

/* What a recording keeps of its answers. */
enum question_kept {
    KEPT_NOT,
    KEPT_TICK,  /* each tick's, as it came: the recorder asks it at every tick */
    KEPT_LAST,  /* as it came; the last one holds. The recorder asks it every every_s */
    KEPT_FACTS, /* as facts: JSON, for reports */
};

struct question_row {
    const char *name; /* of src/query/q/NAME.erl, the answer's tag, and its rows in a recording */
    const char *what; /* what a view shows of it, for “not recorded”; NULL: no view needs it */
    const char *log;  /* logged at its first answer; NULL: nothing. PACE_BESIDE: and its cost */
    enum question_pace pace;
    enum question_kept kept;
    bool holder; /* its process on the node lives on between questions, with a state */
    bool sets;   /* and holds something set there: it ends when nothing needs it any more */
    int every_s;
    int again_s;      /* PACE_BESIDE: the second time so soon after the first; 0: every_s */
    int kept_every_s; /* KEPT_FACTS, after the first minute, KEPT_LAST, always; 0: every answer */
    bool judged; /* of QUESTION_LISTS: findings read the model's, so it is asked beside ticks */
    int beside;  /* the question whose view does without it in a recording; 0: none */
    bool once;   /* asked so seldom that there is no price to learn: wall time is its cost */
    /* A quarter more than a reduction of its work was measured to cost, in reductions of plain
     * code: the most that its first price may be; 0: as most questions. */
    double price_most;
    double each_us;  /* beside ticks: of its first answer, for each process; 0: it sweeps none */
    double first_us; /* of a smaller one that comes before that on a large node; 0: there is none */
};

/* Measured: 1.3 to 4.4. */
#define QUESTION_PRICE_MOST 5.5

/* X(ID, name, type of the answer in the model, the rest of the row) */
#define QUESTION_DETAILS(X)                                                                        \
    X(NODE, node, struct node_info, .pace = PACE_ONCE, .kept = KEPT_LAST,                          \
      .log = "asked once what the node is")                                                        \
    X(SYSTEM, system, struct system_sample, .pace = PACE_HEADER, .kept = KEPT_TICK,                \
      .log = "the header's numbers at each tick, by compiled code of the node; "                   \
             "scheduler_wall_time is on for a process that sleeps, and goes off with it")          \
    X(SCAN, scan, struct proc_scan, .pace = PACE_TICK, .kept = KEPT_TICK, .holder = true,          \
      .price_most = 4, .what = "processes",                                                        \
      .log = "scans of all processes: cheap items of each, the rest of the rows shown; "           \
             "on a large node helper processes keep the pids and last values")                     \
    X(ROWS, rows, struct proc_rows, .pace = PACE_BETWEEN,                                          \
      .log = "numbers of the rows shown, between scans that the cost limit holds apart")           \
    X(PROCESS, process, struct process_detail, .pace = PACE_APART, .what = "details of a process", \
      .log = "process_info of the process shown")                                                  \
    X(MAILBOX, mailbox, struct mailbox_detail, .once = true,                                       \
      .log = "read length and memory of a process before its message queue")                       \
    X(STATE, state, struct state_detail, .once = true,                                             \
      .log = "read memory and stack of a process before asking for its state")                     \
    X(ALLOC, alloc, struct alloc_detail, .pace = PACE_APART, .kept = KEPT_LAST, .every_s = 60,     \
      .what = "allocators", .log = "allocator statistics")                                         \
    X(HEAPS, heaps, struct heaps_detail, .pace = PACE_TICK, .what = "heaps",                       \
      .log = "memory of all processes; heaps, stack and binaries of the largest")                  \
    X(COLLECT, collect, struct collect_detail, .once = true,                                       \
      .log = "read the heaps of a process before it collects garbage on request")                  \
    X(TREE, tree, struct tree_detail, .pace = PACE_TICK, .what = "supervision trees",              \
      .log = "which_children of supervisors, each within a deadline")                              \
    X(ARMED, armed, struct armed_detail, .pace = PACE_APART, .what = "active tracing",             \
      .log = "looked for active tracing on the node: sessions, breakpoints, flags")                \
    X(THREADS, threads, struct threads_detail, .pace = PACE_APART, .what = "threads",              \
      .holder = true,                                                                              \
      .log = "the node reads its own /proc: CPU time and waits of the scheduler threads")          \
    X(MSACC, msacc, struct msacc_detail, .pace = PACE_APART, .what = "microstate accounting",      \
      .holder = true, .sets = true,                                                                \
      .log = "microstate_accounting is on; what it was before comes back when it ends")

/* Those whose answer is one table, {NAME, Mono, Rows, Partial}: NAME_fields says what a row is. */
#define QUESTION_LISTS(X)                                                                          \
    X(APPS, apps, struct table_detail, .pace = PACE_TICK, .kept = KEPT_TICK,                       \
      .what = "applications",                                                                      \
      .log = "memory, reductions and queue lengths of all processes, added up by application")     \
    X(TABLES, tables, struct table_detail, .pace = PACE_TICK, .kept = KEPT_LAST, .every_s = 60,    \
      .what = "ETS tables", .log = "ets:info of ETS tables; objects are not read")                 \
    X(WAITS, waits, struct table_detail, .pace = PACE_TICK, .kept = KEPT_LAST, .every_s = 10,      \
      .kept_every_s = 60, .judged = true, .each_us = 5, .what = "waits",                           \
      .log = "current function of all processes; of those that wait in a call monitors and "       \
             "stack, to find which waits for which")                                               \
    X(HOLDERS, holders, struct table_detail, .pace = PACE_TICK, .kept = KEPT_LAST, .every_s = 60,  \
      .what = "holders",                                                                           \
      .log = "memory, binaries, queue lengths, links and monitors of all processes, added up by "  \
             "what they are; lists stay on the node")                                              \
    X(PORTS, ports, struct table_detail, .pace = PACE_TICK, .kept = KEPT_LAST, .every_s = 30,      \
      .kept_every_s = 60, .judged = true, .each_us = 2, .what = "ports",                           \
      .log = "listed ports and sockets, their counters and queues; addresses and states of "       \
             "those shown")                                                                        \
    X(ONE_TABLE, one_table, struct table_detail, .pace = PACE_APART, .what = "an ETS table",       \
      .log = "ets:info of the ETS table shown; of one of Mnesia also its copies")                  \
    X(MNESIA, mnesia, struct table_detail, .pace = PACE_APART, .kept = KEPT_LAST, .every_s = 30,   \
      .kept_every_s = 60, .judged = true, .beside = QUESTION_TABLES, .what = "Mnesia",             \
      .log = "nodes, locks and transactions of Mnesia, by its own tables")                         \
    X(RAFT, raft, struct table_detail, .pace = PACE_APART, .what = "Raft groups",                  \
      .log = "leaders and members of Raft groups, by the tables of ra")                            \
    X(TABLE_KEYS, table_keys, struct table_detail, .pace = PACE_APART, .once = true,               \
      .what = "keys of an ETS table",                                                              \
      .log = "read the first keys of an ETS table on request; objects are not read")               \
    X(SUSPENDERS, suspenders, struct table_detail, .pace = PACE_TICK,                              \
      .what = "processes that suspend it",                                                         \
      .log = "which processes suspend the one shown, by process_info of up to 20,000")             \
    X(OLD_CODE, old_code, struct table_detail, .pace = PACE_APART, .once = true,                   \
      .what = "processes with old code",                                                           \
      .log = "up to 20,000 processes looked through their stacks for old code, on request")        \
    X(TERMS, terms, struct table_detail, .pace = PACE_TICK, .kept = KEPT_LAST, .every_s = 60,      \
      .what = "terms",                                                                             \
      .log = "keys of persistent terms, sizes of their values, names of the newest atoms, sizes "  \
             "of modules, number of timers; values are not read")                                  \
    X(VM, vm, struct table_detail, .pace = PACE_APART, .kept = KEPT_LAST, .every_s = 60,           \
      .what = "settings",                                                                          \
      .log = "settings, arguments and limits of the VM; the node reads files of its /proc and "    \
             "cgroup")                                                                             \
    X(LINKS, links, struct table_detail, .pace = PACE_APART, .kept = KEPT_LAST, .every_s = 10,     \
      .kept_every_s = 60, .what = "connections to nodes",                                          \
      .log = "connections of the node to others, names it knows, bytes and queues of their ports") \
    X(FLEET, fleet, struct table_detail, .pace = PACE_ASKED, .what = "other nodes")                \
    X(MESH, mesh, struct table_detail, .pace = PACE_ASKED, .what = "links of nodes")               \
    X(MATRIX, matrix, struct table_detail, .pace = PACE_ASKED, .what = "nodes of a matrix")

#define QUESTION_ANSWERS(X) QUESTION_DETAILS(X) QUESTION_LISTS(X)

/* Those whose answers others read. */
#define QUESTION_OTHERS(X)                                                                         \
    X(RECORDS, records, void, .pace = PACE_ASKED)                                                  \
    X(FUNCTIONS, functions, void, .pace = PACE_ASKED)                                              \
    X(PREFLIGHT, preflight, void, .pace = PACE_ASKED)                                              \
    X(TRACE, trace, void, .pace = PACE_ASKED, .holder = true)                                      \
    X(CALLS, calls, void, .pace = PACE_ASKED, .holder = true)                                      \
    X(SPANS, spans, void, .pace = PACE_ASKED, .holder = true)                                      \
    X(EVENTS, events, void, .pace = PACE_ASKED, .holder = true)                                    \
    X(STACKS, stacks, void, .pace = PACE_ASKED, .holder = true,                                    \
      .log = "looked at the stacks of the busiest processes, many times a second")                 \
    X(WHO, who, void, .pace = PACE_ASKED)                                                          \
    X(LATE, late, void, .pace = PACE_ASKED)                                                        \
    X(FACTS, facts, void, .pace = PACE_BESIDE, .kept = KEPT_FACTS, .every_s = 60, .again_s = 10)   \
    X(LEADERS, leaders, void, .pace = PACE_BESIDE, .kept = KEPT_FACTS, .every_s = 10,              \
      .each_us = 1.0, .first_us = 0.25, .kept_every_s = 60, .holder = true,                        \
      .log = "looked for the longest message queues, the largest and busiest processes, and "      \
             "those that hold binaries, which findings watch")                                     \
    X(HELD, held, void, .pace = PACE_BESIDE, .kept = KEPT_FACTS, .every_s = 15,                    \
      .kept_every_s = 60,                                                                          \
      .log = "memory and binaries of all processes, added up by what they are, a part at a time")  \
    X(GROWTH, growth, void, .pace = PACE_BESIDE, .kept = KEPT_FACTS, .every_s = 10,                \
      .each_us = 0.25, .kept_every_s = 30, .holder = true,                                         \
      .log = "measured growth for findings (processes, atoms, ETS tables, ports, sockets, code)")

#define QUESTION_LIST(X) QUESTION_ANSWERS(X) QUESTION_OTHERS(X)

enum question {
#define QUESTION_ENUM(id, ...) QUESTION_##id,
    QUESTION_LIST(QUESTION_ENUM)
#undef QUESTION_ENUM
        QUESTIONS
};

/* Indexed by enum question. */
extern const struct question_row question_rows[];

const char *question_name(enum question q);
enum question question_find(const char *name); /* QUESTIONS: there is none */

typedef uint64_t question_mask;
#define QUESTION_BIT(q) ((question_mask)1 << (q))
/* Masks of those that are asked so, kept so, and judged. */
question_mask question_paced(enum question_pace pace);
question_mask question_kept(enum question_kept kept);
question_mask question_judged(void);

#endif
