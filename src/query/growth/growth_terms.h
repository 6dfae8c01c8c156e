/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the native asks of `growth` say, and the answer made of it. Pure: no clock, no connection.
 * Terms are bare and checked, slices borrowed from what they were read of, but where an arena is
 * named. */
#ifndef BEAMTOP_QUERY_GROWTH_TERMS_H
#define BEAMTOP_QUERY_GROWTH_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/slice.h"
#include "beamtop/etf/build.h"
#include "query/who/who.h"
#include "query/who/who_terms.h"

#define GROWTH_TABLES 1000 /* a node with more is the keeper's */
#define GROWTH_LOOKED 200  /* of new processes, tables, ports, sockets */
#define GROWTH_LINKS 1000  /* of one process */
#define GROWTH_LATER 1000  /* processes or ports */
#define GROWTH_EXAMPLES 5
#define GROWTH_TIMES 8 /* of looks in one ask, each of them three */
#define GROWTH_AHEAD 64
#define GROWTH_ROUNDS 8 /* of such asks */
#define GROWTH_NAMES 50 /* of atoms */
#define GROWTH_WATCHES 12
#define GROWTH_SUSPECTS 3

/* ---- counts */

struct growth_counts {
    struct etf_pid self; /* spawned last */
    int64_t release, word_bytes, atoms, tables, ports, modules;
    bool has_sockets;         /* the module is loaded */
    struct slice newest_port; /* a term; len 0: not asked for, or there is none */
};
/* self, otp_release, wordsize, counts of atoms, tables, ports, modules, of a function whether it is
 * exported, and the newest port, where it is asked for. */
#define GROWTH_COUNTS 8
bool growth_read_counts(const struct slice *values, size_t n, const struct who_node *node,
                        struct growth_counts *out);
/* How many were spawned before it, and the pid that has such a number. */
int64_t growth_number(const struct etf_pid *pid, int64_t release);
struct etf_pid growth_pid(int64_t number, const struct etf_pid *like, int64_t release);

struct growth_kept {
    bool known;
    int64_t timers, timer_bytes, monitor_bytes, link_bytes;
};
/* messages: {messages, [{Ref, Scheduler, Part}]}, of all schedulers, else it is not known. */
struct growth_kept growth_read_kept(struct slice messages, int64_t schedulers);

/* ---- processes */

struct growth_row {
    struct etf_pid pid, parent;
    bool has_parent;
    struct slice function; /* {M,F,A}: started as, or where one is whose start says nothing */
    uint64_t ms;           /* when it was seen */
    unsigned times;        /* it was seen by looks */
};
struct growth_rows {
    struct growth_row *all;
    size_t n, room;
    struct arena arena; /* of functions, and `all` */
};
void growth_rows_init(struct growth_rows *rows, size_t room);
void growth_rows_clear(struct growth_rows *rows);
void growth_rows_add(struct growth_rows *rows, const struct growth_row *row);
/* What process_info/2 says of [initial_call, current_function], and `parent`. */
#define GROWTH_ITEMS "[initial_call,current_function]"
#define GROWTH_ITEMS_PARENT "[initial_call,current_function,parent]"
bool growth_read_row(struct slice info, const struct who_node *node, struct growth_row *out);
/* An answer to growth_looks_args(): adds who was seen, but for those `skip` says. */
typedef bool growth_skip_fn(const void *arg, const struct etf_pid *pid);
void growth_read_looks(struct slice value, const struct etf_pid *pids, size_t n,
                       const struct who_node *node, growth_skip_fn *skip, const void *arg,
                       struct growth_rows *out);
/* Of those that looks have seen, while so many were spawned. Of a kind that is seen again and again
 * nearly all are seen; of the others some are. Where those that last are not half of what was
 * spawned, as many of them count as would have been seen, had they been as short. */
void growth_add_brief(const struct growth_rows *seen, double spawned, struct growth_rows *out);

/* The largest group by function, one of it, and who has spawned most of it. */
struct growth_group {
    size_t sampled, seen, spawned, alive;
    struct slice function;
    const struct etf_pid *example, *spawner; /* NULL: none, or not known */
};
struct growth_group growth_group_of(const struct growth_rows *rows);

/* ---- restarts */

/* The youngest of a list of processes, but for those `skip` says: `most` at most. */
size_t growth_read_youngest(struct slice list, const struct who_node *node, growth_skip_fn *skip,
                            const void *arg, struct etf_pid *out, size_t most);
/* The pids that are most often in the list, at most GROWTH_SUSPECTS. */
size_t growth_most_frequent(const struct etf_pid *pids, size_t n, struct etf_pid *out);
/* trap_exit and memory of each, as process_info/2 says: those that may be a supervisor. */
size_t growth_read_suspects(struct slice value, struct etf_pid *pids, size_t n);
#define GROWTH_SUSPECT_ITEMS "[trap_exit,memory]"

struct growth_restarts {
    const struct etf_pid *supervisor; /* NULL: none */
    double per_s;
    size_t children;
    struct etf_pid example;
    bool has_ends;
    unsigned normal, failed;
};
/* looks: GROWTH_WATCHES lists of links of one. As many at nearly all looks, though others: each
 * that ended was started again. Where clients start them their number varies. false: no restarts.
 */
bool growth_read_restarts(const struct slice *looks, double seconds, const struct who_node *node,
                          struct growth_restarts *out);
/* The youngest and the oldest of the processes of a list of links: `most` at most. */
size_t growth_read_children(struct slice links, const struct who_node *node, struct etf_pid *out,
                            size_t most);
/* messages: {messages, [{'DOWN', …}]} */
void growth_read_ends(struct slice messages, struct growth_restarts *out);
/* Started as one, and not by Elixir's tasks; without the key of its callback module also any server
 * that waits. */
bool growth_is_supervisor(struct slice call, bool has_keys);

/* ---- tables, atoms */

struct growth_table {
    struct slice id;  /* an atom, or a reference */
    int64_t words;    /* -1: not known */
    struct slice tid; /* of one with a name: made again, it has another; len 0: not known */
};
struct growth_tables {
    struct growth_table *all; /* by id */
    size_t n;
    struct arena arena;
};
/* false: another form, or more than GROWTH_TABLES. */
bool growth_read_tables(struct slice list, struct growth_tables *out);
/* The memory of each, in their order; another value: it is gone. false: another form. */
bool growth_take_words(struct growth_tables *t, struct slice list);
/* The ids of those that are known by a name, as ets:info(Name, id) says them; in their order. */
size_t growth_named_tables(const struct growth_tables *t, struct slice *names);
void growth_take_tids(struct growth_tables *t, struct slice list);

struct growth_grown {
    const struct growth_table *table;
    int64_t words; /* more than before */
    struct slice name, owner, objects, id;
};
/* Of ports or tables that are there, `sampled`: the most frequent name, how many have it, and the
 * owner of most of these with how many it owns: where each has another, one of them. */
struct growth_most {
    size_t sampled, seen, owned;
    struct slice name, owner;
};
struct growth_ets {
    bool known; /* was asked for in time, or has not grown */
    int64_t tables, measured;
    size_t n_new, n_growing;
    struct slice new_ids[GROWTH_LOOKED]; /* as many as are sampled, n_sampled */
    size_t n_sampled;
    struct growth_grown growing[GROWTH_EXAMPLES];
    struct growth_most made; /* of the new ones */
};
void growth_compare_tables(const struct growth_tables *now, const struct growth_tables *old,
                           struct growth_ets *out);
void growth_read_most(struct slice names, struct slice owners, struct growth_most *out);
struct growth_texts {
    struct slice prefix, first, last; /* of half of them, and two that begin with it */
};
bool growth_read_texts(struct slice atoms, struct growth_texts *out);

/* ---- the answer */

typedef const struct who_entry *growth_who_fn(const void *arg, const struct etf_pid *pid);
struct growth_fact {
    const struct who_node *node;
    growth_who_fn *who;
    const void *who_arg;
    int64_t mono_ns, word_bytes;
    double over_s, spawned_per_s, lately_per_s; /* NAN: not known */
    struct growth_group processes, brief;
    struct growth_restarts restarts;
    bool has_atoms;
    struct growth_texts atoms;
    struct growth_ets ets;
    struct growth_kept kept;
    int64_t sockets, sockets_grown; /* -1: not known */
    struct growth_most owners;      /* of sockets, by their owners in place of names */
    int64_t new_ports;
    struct growth_most ports;
    int64_t modules, new_modules;
    struct slice new_names[GROWTH_EXAMPLES]; /* atoms */
    size_t n_new_names;
};
void growth_build(struct builder *b, const struct growth_fact *fact);

#endif
