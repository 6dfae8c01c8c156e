/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One session on each of several nodes, in two steps: prepared on all, set when all have said yes
 * (partial: on those that have), each ended by itself and verified separately. A
 * node that is lost ends its part only. What kind of session that is, and what becomes of what it
 * says, is the kind's; the host is the command line or the screen.
 *
 * One thread: the loop's. fleet_sessions_run() has all from its start to its end. A host
 * fills in the fields, opens, calls turn some ten times a second and lost for each connection that
 * is gone, and closes before the fleet does. */
#ifndef BEAMTOP_APP_FLEET_FLEET_SESSIONS_H
#define BEAMTOP_APP_FLEET_FLEET_SESSIONS_H

#include "app/source/runtime.h"
#include "beamtop/base/attr.h"
#include "beamtop/trace/session.h"
#include "fleet.h"

enum fleet_phase { FLEET_CONNECTS, FLEET_PREPARES, FLEET_ASKS, FLEET_RUNS, FLEET_ENDED };

struct fleet_sessions;

/* What a node has of it. */
struct fleet_part {
    struct fleet_sessions *all;
    size_t index;
    bool left_out;           /* by who opens them, or: */
    struct error why;        /* why it can take no part; or none */
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
    /* All that are left have their estimates. It may end the run. */
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

/* Who runs them. */
struct fleet_sessions_host {
    void (*say)(struct fleet_sessions *s, const char *line);
    /* None will run, or none does any more; err: why, else empty. It may not close them at once. */
    void (*end)(struct fleet_sessions *s, int code, const struct error *err);
    /* Only `ready` of them can, not this node, the first such; or it would cost too much, the
     * dearest such. fleet_sessions_answer() follows, not from within. NULL: it is a no. */
    void (*ask)(struct fleet_sessions *s, size_t ready, size_t node, const struct error *why);
};

/* kind, arg, options, env and force are the caller's to fill in, all else is zero. A host
 * also fills in host, rt, fleet, and what the options say. */
struct fleet_sessions {
    const struct fleet_sessions_kind *kind;
    void *arg;
    const struct cli_options *options;
    const struct app_env *env;
    bool force;   /* also what is expensive */
    bool partial; /* those that can, when others cannot */
    bool dry_run; /* to the estimates */

    const struct fleet_sessions_host *host;
    struct runtime *rt; /* of its host */
    struct fleet *fleet;
    enum fleet_phase phase;
    struct fleet_part *parts;
    size_t n;
    uint64_t opened_ms;
    int signal;
    uint64_t stopped_ms; /* by the first signal */
    size_t waits;        /* for so many, as it has said; 0: it has not */
    struct error err;    /* the first that ended them, of the kind's */
    bool told_set;
};

/* To the end, for the command line. What went wrong has been printed. The exit code. */
int fleet_sessions_run(struct fleet_sessions *s);

/* Parts of all nodes that the fleet has now; those that are to be left out are said before the
 * first turn. */
void fleet_sessions_open(struct fleet_sessions *s);
void fleet_sessions_turn(struct fleet_sessions *s);
/* To ask(); before a yes the host sets partial or force. */
void fleet_sessions_answer(struct fleet_sessions *s, bool yes);
void fleet_sessions_lost(struct fleet_sessions *s, size_t node, const struct error *why);
/* Frees all; the nodes clean up what still runs. Nothing was opened: fine. */
void fleet_sessions_close(struct fleet_sessions *s);
void fleet_sessions_say(struct fleet_sessions *s, const char *fmt, ...) ATTR_PRINTF(2, 3);

enum session_phase fleet_part_phase(const struct fleet_part *p);
void fleet_sessions_stop(struct fleet_sessions *s); /* all of them */
/* Before they are set: none is, which ends them for the host. */
void fleet_sessions_refuse(struct fleet_sessions *s, const struct error *err);
/* The output failed: they end first. EPIPE: its reader has had enough. */
void fleet_sessions_output_failed(struct fleet_sessions *s, int write_errno,
                                  const struct error *err);
/* Ends them for the host, with the first code of the parts that is not 0. */
void fleet_sessions_end(struct fleet_sessions *s);

#endif
