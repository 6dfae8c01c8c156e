/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What judge functions are given, and what they say. A judge that has the numbers and sees nothing
 * says nothing. */
#ifndef BEAMTOP_REPORT_RULES_INTERNAL_H
#define BEAMTOP_REPORT_RULES_INTERNAL_H

#include <jansson.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/trend.h"
#include "beamtop/report/evaluate.h"
#include "report/rules/work.h"

/* What must have been recorded; a judge is not asked before it is there. */
enum rule_needs {
    NEEDS_SYSTEM = 1 << 0,
    NEEDS_OWNERS = 1 << 1, /* with shares: two ticks of a scan */
    NEEDS_PROCESSES = 1 << 2,
    NEEDS_CALLS = 1 << 3,
    NEEDS_NODE = 1 << 4,    /* the fact `node` */
    NEEDS_SAMPLES = 1 << 5, /* of CPU time: not at yields */
    NEEDS_SPANS = 1 << 6,   /* captured requests */
};

struct judge {
    struct recording *recording;
    int64_t from, to;
    struct findings *out;
    const struct rule *rule;
    struct owner_list owners[OWNER_SORTS];
    const struct period_process *processes;
    size_t n_processes;
    struct period_turnover turnover;
    /* The same of the second half: what holds in both halves is neither a burst nor a start-up. */
    struct owner_list late_owners[OWNER_SORTS];
    const struct period_process *late_processes;
    size_t n_late_processes;
    const struct findings *before; /* of the judgement before this one, or NULL */
    const struct recorded_call *calls;
    size_t n_calls;
    struct recorded_window sums;
    struct recorded_samples samples; /* of CPU time */
    const struct requests *requests; /* of captured spans */
    double left_out;                 /* calls of functions that are not among `calls` */
    json_t *facts;                   /* those that were asked for: judge_fact_at() */
    const json_t *node;              /* NULL: not recorded */
    const json_t *kin;               /* what anonymous processes are near to; NULL: not recorded */
    double schedulers;               /* online; NaN unknown */
    double duration_s;
    double trend_s; /* for which a trend must hold; 0: any time */
    int64_t ticks;  /* that have the node's numbers */
    bool said;      /* this rule has a finding, or why it is not known */
    bool follows;   /* a rule before `starved` was left to it (judge_follows) */
};

struct rule {
    struct rule_info info;
    unsigned needs;
    enum finding_effort effort;
    void (*judge)(struct judge *j);
};

/* The finding is the judge's to fill in; titles and texts by judge_text. Its confidence (0..1): by
   how far value is above limit (both > 0), and by how many ticks there are. */
struct finding *judge_find(struct judge *j, enum finding_severity severity, double value,
                           double limit);
/* Which of the findings of one cause gives the title: what is known exactly, then a message queue,
   what is held, what grows, and load. */
enum cause_rank { CAUSE_KNOWN, CAUSE_QUEUE, CAUSE_HELD, CAUSE_GROWTH, CAUSE_LOAD };
void judge_cause(struct finding *f, const char *cause, enum cause_rank rank);
/* Sets the process that the finding is about: its subject, and its cause. pid: "" none. */
void judge_about(struct finding *f, const char *pid, enum cause_rank rank);
const char *judge_atom(struct judge *j, struct slice name); /* in quotes where Erlang needs them */
/* "erlang:list_to_atom" in Erlang syntax, as a pattern. A module may be in quotes already. */
const char *judge_function(struct judge *j, struct slice module, struct slice function);
/* Whether a trend over so many seconds has lasted long enough to be shown; longer where nobody is
   named as its maker. */
bool judge_holds(const struct judge *j, double seconds, bool named);
/* Removes the last finding, a trend of the whole period, if it has not. */
void judge_wait(struct judge *j, bool named);
void judge_unknown(struct judge *j, const char *fmt, ...) ATTR_PRINTF(2, 3);
const char *judge_text(struct judge *j, const char *fmt, ...) ATTR_PRINTF(2, 3);
void judge_evidence(struct judge *j, struct finding *f, const char *key, double value,
                    const char *unit, const char *fmt, ...) ATTR_PRINTF(6, 7);
/* The evidence of where a process was most of the time, if anywhere. */
void judge_tell_function(struct judge *j, struct finding *f, const struct period_process *p);
/* The evidence of a share of the reductions; spread: NaN where it is not known. */
void judge_share(struct judge *j, struct finding *f, double share, double spread);
struct period_stats judge_stats(const struct judge *j, const char *system_key);
struct period_stats judge_stats_from(const struct judge *j, int64_t from, const char *system_key);
/* The last fact at or before a tick, for as long as rules are judged; NULL: not recorded. */
const json_t *judge_fact_at(const struct judge *j, const char *key, int64_t tick);
/* The same at the end of the period; NULL is said to be not known. */
const json_t *judge_fact(struct judge *j, const char *key);
double judge_node(const struct judge *j, const char *key); /* of the fact `node`; NaN unknown */
/* A process by the name that all texts use (model/process_name.h); of a fact's row the same. */
const char *judge_process(struct judge *j, const struct period_process *p);
const char *judge_process_of(struct judge *j, const json_t *row);
/* Who has the largest share of the reductions: a process, else an application, a kin or a module
   that says something; NULL: none has much. */
struct leader {
    const char *name, *pid, *application; /* pid, application: "" where it is none */
    double share;
};
const struct leader *judge_leader(struct judge *j);
/* Whether that name says nothing: "gen_server", "erlang:apply/2". */
bool judge_owner_is_generic(enum owner_sort sort, struct slice name);
const char *judge_slice(struct judge *j, struct slice text);
/* "31%", "1.3 GiB", "1.2k", "62,010", "4 min 58 s": of the findings' arena. */
const char *judge_percent(struct judge *j, double share); /* "-" for NaN, as the others */
/* Of the time in which the normal schedulers were ready to run, the share without a CPU; NaN:
   unknown. *comes: their times are counted, and one moment of it is known so far. */
double judge_without_cpu(const struct judge *j, bool *comes);
void judge_tell_without_cpu(struct judge *j, struct finding *f, double without);
/* Whether the schedulers lacked CPUs so much that queues and waits follow from it; _may_: or that
   is not known yet, in the first seconds, after which the counters are read again. */
bool judge_starves(const struct judge *j);
bool judge_may_starve(const struct judge *j);
/* True when the rule is not evaluated for that reason; judge_follows(): only where it is known. */
bool judge_follows(struct judge *j);
bool judge_may_follow(struct judge *j);
const char *judge_bytes(struct judge *j, double bytes);
const char *judge_number(struct judge *j, double n);
const char *judge_period(struct judge *j); /* its length */
const char *judge_seconds(struct judge *j, double seconds);
const char *judge_duration(struct judge *j, double seconds); /* "1.3 ms", "00:04:58" */

/*
 * Limits. A finding that the judgement before this one had stays until its number is clearly below
 * the limit: what lies on it does not come and go. */
double judge_limit(const struct judge *j, double limit);
/* At which part of the ticks a number of the node is above a limit. */
double judge_over(const struct judge *j, const char *system_key, double limit);
/* Whether a share is at least half of the limit in either half of the period too. */
bool judge_lasts(double share, double late_share, double limit);
/* Cores' worth of work that a share of the reductions is; NaN: unknown. */
double judge_cores(const struct judge *j, double share);
/* The line through a number of the node. */
struct trend judge_trend(const struct judge *j, const char *system_key);
/* Of what is left of a number without others. */
struct trend judge_trend_of_rest(const struct judge *j, const char *system_key,
                                 const char *const *less, size_t n_less);
/* Seconds of a trend at least: a start, or a cache that warms up, is over by then. */
#define JUDGE_TREND_S 15.0
/* A number of a fact after a third of the period, two thirds, and at its end: where a count is read
   now and then only. */
struct counted {
    double first, half, last, grown; /* NaN: it was not recorded then */
    double over_s;                   /* from the first to the last */
};
/* Timers, and the bytes of them. */
struct timers {
    struct counted n, bytes;
    double limit; /* of the growth of n */
    bool rise;    /* they accumulate */
};
struct timers judge_timers(struct judge *j);
/* It was there at 80% of the ticks: of the period, or since it was first seen, half a minute ago or
   earlier. */
bool judge_stays(const struct judge *j, const struct period_process *p);
/* Whether a process without a name belongs to one of that kind, as the fact `kin` knows. */
bool judge_is_kin(const struct judge *j, const struct period_process *p, const char *kind);
/* A process in the second half of the period; NULL: it was not recorded there. */
const struct period_process *judge_late(const struct judge *j, const struct period_process *p);
/* The share of all that was recognised as that kind and of its kin; in the second half as well. */
double judge_kind(const struct judge *j, const char *kind, double *spread, double *late);

/* ---- counted calls by module: what its functions, taken together, say of it (modules.c) */

struct module_calls {
    struct slice name;
    double reads, writes; /* calls; of functions that call each other the largest number */
    double read_calls;    /* of all functions that read */
    double keyed;         /* of the reads, those by a key: get, fetch, lookup */
    double get_one;       /* get/1 and its like: a lookup by a key */
    struct slice hottest; /* the read that is called most */
    double hottest_calls;
    double prepared;                  /* prepare_query/3: the queries of a repository that read */
    double stages;                    /* call/2: a stage of a pipeline */
    double switches;                  /* put_dynamic_repo/1 */
    bool prepares, defaults, options; /* prepare_query/3, default_options/1, prepare_opts/2 */
    bool declared;                    /* the node says that it is a repository */
    struct {
        double read, keyed; /* those added last; most calls come first */
    } last;
};

struct modules {
    struct module_calls *items;
    size_t n;
};

/* The items live as long as the findings. */
struct modules modules_of(struct judge *j);
bool module_is_library(struct slice name);
bool module_is_repository(const struct module_calls *m);
/* Few writes, and a lookup by a key: what a registry does, and a table in memory would serve. */
bool module_is_lookup(const struct module_calls *m);
/* Whether the name says that it holds data which is looked up and seldom changes. */
bool module_is_registry(const struct module_calls *m);

/* Whether a count reaches another one, but for what edges of windows cut off: of two functions of
   which one calls the other, a window often has some calls of one more. */
bool calls_reach(double count, double other);

/* ---- the rules */

/* X(judge, what must have been recorded, effort of its action, the words of struct rule_info). Each
 * has its judge_NAME(); the manual's list is made of this; docs/findings.md has their limits. */
/* clang-format off */
#define RULE_LIST(X)                                                                              \
    X(logger, NEEDS_SYSTEM | NEEDS_OWNERS, EFFORT_SETTING,                                        \
      "sync_logger", "Logging blocks its callers",                                                \
      "Callers wait for the logger in a large share of their time, or the logger takes a "        \
      "large share of the reductions.",                                                           \
      "owners, facts")                                                                            \
    X(contention, NEEDS_SYSTEM | NEEDS_NODE, EFFORT_LARGE,                                        \
      "contention", "Schedulers are overloaded",                                                  \
      "The run queue is longer than the number of schedulers online, at most ticks.",             \
      "system, facts")                                                                            \
    X(headroom, NEEDS_SYSTEM | NEEDS_NODE, EFFORT_SETTING,                                        \
      "headroom", "Schedulers are mostly idle",                                                   \
      "Run queue and scheduler utilisation are far below what the node can do.",                  \
      "system, facts")                                                                            \
    X(one_scheduler, NEEDS_SYSTEM | NEEDS_NODE, EFFORT_SMALL,                                     \
      "one_scheduler", "One scheduler is overloaded",                                             \
      "Most queued processes are in one run queue.",                                              \
      "system, facts")                                                                            \
    X(starved, NEEDS_SYSTEM, EFFORT_SETTING,                                                      \
      "starved", "Schedulers wait for a CPU",                                                     \
      "Scheduler threads are ready to run, but another program, the hypervisor or the quota of "  \
      "the cgroup keeps the CPU.",                                                                \
      "facts")                                                                                    \
    X(blocked, NEEDS_SYSTEM | NEEDS_NODE, EFFORT_SMALL,                                           \
      "blocked_schedulers", "Schedulers wait inside the VM",                                      \
      "The VM counts schedulers as busy whose threads neither run nor wait for a CPU: they wait " \
      "for a lock, as that of an ETS table, or in a NIF.",                                        \
      "system, facts")                                                                            \
    X(mailbox, NEEDS_SYSTEM | NEEDS_PROCESSES, EFFORT_LARGE,                                      \
      "mailbox_growth", "A message queue is growing",                                             \
      "Messages come faster than their process handles them, throughout the period.",             \
      "processes")                                                                                \
    X(serialised, NEEDS_SYSTEM | NEEDS_PROCESSES | NEEDS_NODE, EFFORT_LARGE,                      \
      "serialised", "A process is a bottleneck",                                                  \
      "The message queue of one process is hardly ever empty.",                                   \
      "processes, facts")                                                                         \
    X(waited_for, NEEDS_SYSTEM, EFFORT_LARGE,                                                      \
      "waited_for", "Many processes wait for one",                                                \
      "More than ten processes wait in calls for the same process, at one look after the "        \
      "other.",                                                                                   \
      "facts")                                                                                    \
    X(deadlock, NEEDS_SYSTEM, EFFORT_SMALL,                                                       \
      "deadlock", "Processes wait for each other",                                                \
      "A cycle of processes that wait for each other has stood for 5 s or longer.",               \
      "facts")                                                                                    \
    X(closed_sockets, NEEDS_SYSTEM, EFFORT_SMALL,                                                 \
      "closed_sockets", "Sockets that the other end has closed stay open",                        \
      "More than 30 TCP sockets of one owner, or of owners of one kind, have been in "            \
      "CLOSE_WAIT for 50 s or longer.",                                                           \
      "facts")                                                                                    \
    X(mnesia_cut, NEEDS_SYSTEM, EFFORT_SMALL,                                                     \
      "mnesia_cut", "Mnesia runs without a connected node",                                       \
      "A node of Mnesia's schema has been connected for 50 s or longer, but is not among the "    \
      "nodes that it runs on: as after a partition.",                                             \
      "facts")                                                                                    \
    X(asleep, NEEDS_SYSTEM | NEEDS_PROCESSES | NEEDS_NODE, EFFORT_SMALL,                          \
      "asleep", "A process hibernates with messages queued",                                      \
      "It hibernates with messages in its queue at one tick after the other: it was not "         \
      "woken, or does not handle them.",                                                          \
      "processes, facts")                                                                         \
    X(memory_growth, NEEDS_SYSTEM, EFFORT_SMALL,                                                  \
      "memory_growth", "Memory of one type is growing",                                           \
      "One type of memory grows throughout the period and makes most of the node's "              \
      "growth.",                                                                                  \
      "system")                                                                                   \
    X(held, NEEDS_SYSTEM, EFFORT_SMALL,                                                           \
      "memory_held", "Most memory of one type has one holder",                                    \
      "ETS tables of one owner, or processes of one kind, hold more than a third of the memory "  \
      "of their type, and nothing grows.",                                                        \
      "system, facts")                                                                            \
    X(binaries, NEEDS_SYSTEM, EFFORT_SMALL,                                                       \
      "binary_holders", "A few processes hold most refc binaries",                                \
      "References of a few processes keep most bytes of refc (off-heap) binaries alive.",         \
      "facts")                                                                                    \
    X(carriers, NEEDS_SYSTEM, EFFORT_SETTING,                                                     \
      "carriers", "An allocator is fragmented",                                                   \
      "Carriers of an allocator are mostly free: memory that the node cannot give back.",         \
      "facts")                                                                                    \
    X(near_limit, NEEDS_SYSTEM | NEEDS_NODE, EFFORT_SETTING,                                      \
      "near_limit", "A table of the VM is nearly full",                                           \
      "Atoms, processes, ports or ETS tables are close to their limit.",                          \
      "system, facts")                                                                            \
    X(repository, NEEDS_CALLS, EFFORT_SMALL,                                                      \
      "repository_lookup", "A lookup queries the database",                                       \
      "A module with many lookups has the functions of an Ecto repository, or is in front "       \
      "of one.",                                                                                  \
      "calls")                                                                                    \
    X(read_write, NEEDS_CALLS, EFFORT_SETTING,                                                    \
      "read_write", "The ratio of reads and writes",                                              \
      "Calls that read repositories, ETS and Mnesia, compared with those that write.",            \
      "calls")                                                                                    \
    X(overhead, NEEDS_CALLS, EFFORT_LARGE,                                                        \
      "pipeline_overhead", "Pipeline stages per operation",                                       \
      "How many pipeline stages one operation on data runs, and whether that is worth a "         \
      "change.",                                                                                  \
      "calls")                                                                                    \
    X(hot_reads, NEEDS_CALLS, EFFORT_SMALL,                                                       \
      "hot_reads", "Data is read-mostly",                                                         \
      "A module's reads are among the top functions and its writes are rare.",                    \
      "calls")                                                                                    \
    X(dynamic_repo, NEEDS_CALLS, EFFORT_SMALL,                                                    \
      "dynamic_repo", "Repositories are switched in the hot path",                                \
      "put_dynamic_repo is called often, for each operation of the repository or more.",          \
      "calls")                                                                                    \
    X(busy_distribution, NEEDS_SYSTEM, EFFORT_SETTING,                                            \
      "busy_distribution", "A connection to another node is busy",                                \
      "Data for another node is queued; above the busy limit its senders are suspended.",         \
      "facts")                                                                                    \
    X(gc, NEEDS_SYSTEM, EFFORT_SMALL,                                                             \
      "garbage", "Garbage collection is frequent",                                                \
      "GCs follow each other within few reductions, or reclaim much memory for the "              \
      "reductions done.",                                                                         \
      "system")                                                                                   \
    X(churn, NEEDS_SYSTEM | NEEDS_PROCESSES, EFFORT_LARGE,                                        \
      "churn", "Processes are short-lived",                                                       \
      "Most of the top processes are seen once and never again.",                                 \
      "processes")                                                                                \
    X(code_server, NEEDS_SYSTEM | NEEDS_OWNERS, EFFORT_SETTING,                                   \
      "code_server", "The code server is busy",                                                   \
      "Missing modules are searched again and again, in interactive mode on disk each "           \
      "time.",                                                                                    \
      "owners, facts")                                                                            \
    X(collectors, NEEDS_SYSTEM | NEEDS_PROCESSES | NEEDS_NODE, EFFORT_SMALL,                      \
      "collectors", "The VM searches all heaps again and again",                                  \
      "The VM's collectors of persistent terms and old code have a large share of the "           \
      "reductions.",                                                                              \
      "processes, facts")                                                                         \
    X(whole_core, NEEDS_SYSTEM | NEEDS_PROCESSES | NEEDS_NODE, EFFORT_LARGE,                      \
      "whole_core", "One process takes a scheduler",                                              \
      "A process works all the time: it cannot do more, however many schedulers there are.",      \
      "processes, facts")                                                                         \
    X(restart_loop, NEEDS_SYSTEM, EFFORT_SMALL,                                                   \
      "restart_loop", "A supervisor restarts its children again and again",                       \
      "Children of one supervisor end and are started again, ten a second or more.",              \
      "facts")                                                                                    \
    X(late_scheduler, NEEDS_SYSTEM, EFFORT_SMALL,                                                 \
      "late_scheduler", "A scheduler did not yield",                                              \
      "A call that every scheduler answers waited half a second or longer for one of "            \
      "them.",                                                                                    \
      "system")                                                                                   \
    X(blocked_io, NEEDS_SYSTEM | NEEDS_NODE, EFFORT_SETTING,                                      \
      "blocked_io", "Dirty I/O schedulers are blocked",                                           \
      "For 5 s or longer no dirty I/O scheduler was free: files are not read or written.",        \
      "system")                                                                                   \
    X(process_growth, NEEDS_SYSTEM, EFFORT_SMALL,                                                 \
      "process_growth", "Processes are accumulating",                                             \
      "The number of processes grows steadily, and those started last do not end.",               \
      "system, facts")                                                                            \
    X(short_lived, NEEDS_SYSTEM, EFFORT_LARGE,                                                    \
      "short_lived", "A process spawns short-lived processes",                                    \
      "A thousand processes per second are spawned and end, or a hundred that do much of the "    \
      "work.",                                                                                    \
      "facts")                                                                                    \
    X(atom_growth, NEEDS_SYSTEM, EFFORT_SMALL,                                                    \
      "atom_growth", "Atoms are leaking",                                                         \
      "The number of atoms, which are never freed, grows steadily.",                              \
      "system, facts")                                                                            \
    X(ets_growth, NEEDS_SYSTEM, EFFORT_SMALL,                                                     \
      "ets_growth", "An ETS table is growing",                                                    \
      "The memory or the number of ETS tables grows steadily.",                                   \
      "system, facts")                                                                            \
    X(port_growth, NEEDS_SYSTEM, EFFORT_SMALL,                                                    \
      "port_growth", "Ports are accumulating",                                                    \
      "The number of ports grows steadily: sockets or files that stay open.",                     \
      "system, facts")                                                                            \
    X(socket_growth, NEEDS_SYSTEM, EFFORT_SMALL,                                                  \
      "socket_growth", "Sockets are accumulating",                                                \
      "The number of sockets of the module socket grows steadily.",                               \
      "facts")                                                                                    \
    X(timer_growth, NEEDS_SYSTEM, EFFORT_SMALL,                                                   \
      "timer_growth", "Timers are accumulating",                                                  \
      "The number of timers grows, and not with the processes.",                                  \
      "facts")                                                                                    \
    X(monitor_growth, NEEDS_SYSTEM, EFFORT_SMALL,                                                 \
      "monitor_growth", "Monitors or links of a process are accumulating",                        \
      "A process has more and more monitors or links, though no more processes are there.",       \
      "facts")                                                                                    \
    X(code_growth, NEEDS_SYSTEM, EFFORT_SMALL,                                                    \
      "code_growth", "Code is growing",                                                           \
      "The memory of loaded code grows steadily.",                                                \
      "system, facts")                                                                            \
    X(gc_cpu, NEEDS_SAMPLES, EFFORT_SMALL,                                                        \
      "gc_cpu", "Garbage collection takes much CPU time",                                         \
      "A quarter of the VM's CPU time or more goes to garbage collection.",                       \
      "samples")                                                                                  \
    X(copy_cpu, NEEDS_SAMPLES, EFFORT_SMALL,                                                      \
      "copy_cpu", "Copying takes much CPU time",                                                  \
      "15% of the VM's CPU time or more goes to copying messages and other terms.",               \
      "samples")                                                                                  \
    X(nif_cpu, NEEDS_SAMPLES, EFFORT_SMALL,                                                       \
      "nif_cpu", "A NIF library takes much CPU time",                                             \
      "20% of the VM's CPU time or more goes to one NIF library.",                                \
      "samples")                                                                                  \
    X(request_wait, NEEDS_SPANS, EFFORT_SMALL,                                                    \
      "request_wait", "Requests mostly wait for one process",                                     \
      "Half of the time of captured requests or more is on one process, or in one wait.",         \
      "spans")
/* clang-format on */

#define RULE_JUDGE(name, ...) void judge_##name(struct judge *j);
RULE_LIST(RULE_JUDGE)
#undef RULE_JUDGE

extern const struct rule rule_rows[];
extern const size_t rule_rows_len;

#endif
