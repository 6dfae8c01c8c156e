/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the question `growth`, for its steps. */
#ifndef BEAMTOP_QUERY_GROWTH_INTERNAL_H
#define BEAMTOP_QUERY_GROWTH_INTERNAL_H

#include "growth.h"
#include "growth_terms.h"
#include "query/native/run.h"

#define GROWTH_WINDOW_MS 150000

/* A moment, which later ones are compared with. */
struct growth_mark {
    uint64_t ms; /* by our clock, as all of these */
    int64_t spawned;
    unsigned asked; /* of these, for asks of ours */
    int64_t atoms, tables, ports, modules;
    int64_t ets_bytes, sockets; /* -1: not known */
    bool has_words;
    struct growth_tables words;
    struct buf newest_port; /* a term; empty: not known */
};

enum growth_phase { PHASE_COUNTS, PHASE_SUSPECTS, PHASE_WATCH, PHASE_NAMES, PHASE_END };

struct growth {
    struct query *query;
    struct native *native;
    struct scan *scan;
    struct conn *conn;
    uv_loop_t *loop;
    struct run *run;
    struct who *who;
    struct who_node node; /* its name, and creation of pids */

    struct growth_mark *old, *mid; /* NULL: this is the first answer */
    uint64_t last_ms;              /* of the answer before; 0: there is none */
    int64_t last_spawned;
    unsigned last_asked;
    struct growth_rows young; /* short-lived ones that were seen lately */
    bool is_large;            /* it has too many tables */

    /* Of the answer in the making. */
    bool asking, who_is_out;
    bool is_turning; /* this will be a mark */
    bool has_failed, reads_tables;
    enum growth_phase phase;
    uint64_t due_ms;
    struct growth_mark *now;
    struct growth_counts counts;
    struct growth_fact fact;
    struct arena arena; /* of its terms */
    struct growth_rows sample, seen;
    struct etf_pid pids[GROWTH_LOOKED]; /* that the step asks about */
    size_t n_pids;
    struct slice ports[GROWTH_LOOKED];
    size_t n_ports;
    size_t rounds, spawned; /* of looks; while they looked */
    int64_t newest, ahead;  /* the number of the process that was spawned last; + so many */
    uint64_t look_ms;       /* the looks began */
    struct etf_pid suspects[GROWTH_SUSPECTS], children[10];
    size_t n_suspects, n_children;
    uint64_t watch_ms;
};

struct growth_run {
    const struct run_step *steps;
    size_t n;
};
/* Counts; all up to the suspects of restarts; what these do. */
enum { RUN_COUNTS, RUN_STEPS, RUN_WATCH };
extern const struct growth_run growth_runs[];

/* ---- for growth_steps.c: those of growth_processes.c */

#define GROWTH_STEP(name)                                                                          \
    bool growth_ask_##name(void *own, struct run_calls *calls);                                    \
    void growth_take_##name(void *own, const struct slice *values, size_t n);
GROWTH_STEP(sample)
GROWTH_STEP(newest)
GROWTH_STEP(looks)
GROWTH_STEP(fresh)
GROWTH_STEP(youngest)
GROWTH_STEP(suspects)
GROWTH_STEP(watch)
GROWTH_STEP(ends)
#undef GROWTH_STEP

#endif
