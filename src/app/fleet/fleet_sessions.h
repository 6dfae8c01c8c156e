/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One session on each of several nodes, in two steps: prepared on all, set when all have said yes
 * (--partial: on those that have), each ended by itself and verified separately. A
 * node that is lost ends its part only. What kind of session that is, and what becomes of what it
 * says, is the kind's.
 *
 * One thread: the loop's. From fleet_sessions_run() to its end all belongs to it. */
#ifndef BEAMTOP_APP_FLEET_FLEET_SESSIONS_H
#define BEAMTOP_APP_FLEET_FLEET_SESSIONS_H

#include "app/source/runtime.h"
#include "beamtop/trace/session.h"
#include "fleet.h"

enum fleet_phase { FLEET_CONNECTS, FLEET_PREPARES, FLEET_RUNS };

struct fleet_sessions;

/* What a node has of it. */
struct fleet_part {
    struct fleet_sessions *all;
    size_t index;
    struct session *session; /* NULL: it takes no part */
    bool lost;               /* what is under its name from now on is another one */
    bool told;               /* why its part has ended */
};

struct fleet_sessions_kind {
    const char *done, *purpose; /* "traced", "the trace": of "2 nodes are traced" */
    /* The fleet is there, nobody is connected. */
    void (*begun)(void *arg);
    /* So many nodes can take part; an error ends the run. May be NULL. */
    int (*check)(void *arg, size_t parts, struct error *err);
    /* Opens p->session, held, with p as the arg of its handlers, as the part-th of so many. */
    int (*open)(void *arg, struct fleet_part *p, size_t part, size_t parts,
                const struct session_port *port, struct error *err);
    bool (*is_expensive)(const struct session *s);
    /* All that are left have their estimates. */
    void (*estimated)(void *arg, size_t ready);
    /* The part's session has been freed. May be NULL. */
    void (*dropped)(void *arg, size_t node);
    /* Its connection is gone before it took part. May be NULL. */
    void (*disconnected)(void *arg, size_t node);
    void (*turn)(void *arg);                         /* some ten times a second. May be NULL. */
    void (*follow)(void *arg, struct fleet_part *p); /* the same, of each session. May be NULL. */
    /* The same, since they were set: so many run. With none it is to end the run. */
    void (*runs)(void *arg, size_t running);
    void (*interrupted)(void *arg); /* once more: what has come is written */
};

/* kind, arg, options, env and force are the caller's to fill in, all else is zero. */
struct fleet_sessions {
    const struct fleet_sessions_kind *kind;
    void *arg;
    const struct cli_options *options;
    const struct app_env *env;
    bool force; /* also what is expensive */

    struct runtime rt;
    uv_timer_t timer;
    struct fleet *fleet;
    enum fleet_phase phase;
    struct fleet_part *parts;
    size_t n;
    int signal;
    bool told_set;
};

/* To the end. What went wrong has been printed. The exit code. */
int fleet_sessions_run(struct fleet_sessions *s);

enum session_phase fleet_part_phase(const struct fleet_part *p);
void fleet_sessions_stop(struct fleet_sessions *s); /* all of them */
/* The output failed: they end first. EPIPE: its reader has had enough. */
void fleet_sessions_output_failed(struct fleet_sessions *s, int write_errno,
                                  const struct error *err);
/* Ends the run, with the first code of the parts that is not 0. */
void fleet_sessions_end(struct fleet_sessions *s);

#endif
