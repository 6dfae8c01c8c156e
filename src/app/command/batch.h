/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Running a source without a screen: the same ticks, printed by a sink or drawn into a capture; or
 * a session on a live node, opened as soon as the node's release is known, ended by a signal, the
 * connection or itself. Thread: that which calls batch_run. */
#ifndef BEAMTOP_APP_COMMAND_BATCH_H
#define BEAMTOP_APP_COMMAND_BATCH_H

#include <stdbool.h>

#include <uv.h>

#include "beamtop/model/model.h"
#include "beamtop/trace/session.h"
#include "app/cli/cli.h"
#include "app/source/runtime.h"

struct batch_group;
struct source;

struct batch {
    const struct batch_job *job;
    struct batch_group *group; /* of several nodes; NULL: there is one */
    const struct cookie *lent; /* of the cluster that has named it; NULL: none */
    bool over;                 /* of several: its ticks are printed, or it has failed */
    struct runtime rt;
    struct model *model;
    struct source *source;
    uv_timer_t timer;
    int64_t done;
    bool opened;
    bool failed; /* an answer that was wanted */
    bool shown_progress;
    struct session *session;            /* NULL: not open yet, or none is wanted */
    int signal;                         /* that asked for the end, or 0 */
    unsigned signals;                   /* how many did */
    size_t wrong_pattern, wrong_offset; /* of an error of open(), ERR_USAGE */
};

struct batch_job {
    const struct cli_options *options;
    const struct app_env *env;
    struct want want;
    int64_t ticks;      /* 0: until interrupted */
    bool rates;         /* the first tick only gives the numbers to compare with: not counted */
    const char *filter; /* NULL or "": none */
    /* Its tick is not complete, and the next ones are: it is not counted. NULL: all are. */
    bool (*passes)(void *arg, const struct model *m);
    /* A tick is there. A negative enum err ends the run with it; ERR_CANCELLED ends it quietly. */
    int (*on_tick)(void *arg, const struct model *m, struct error *err);
    /* In place of ticks: opens b->session, once, when the node is up, with batch_session_changed()
       as its on_change and b as the arg of its handlers. NULL: ticks. */
    int (*open)(void *arg, struct batch *b, const struct session_port *port, struct error *err);
    const char *const *patterns; /* of the session, for the place of what is wrong; may be NULL */
    size_t n_patterns;
    void (*changed)(void *arg); /* its status or log has; NULL, as for all but ended(): nothing */
    bool (*asking)(void *arg);  /* false: it is refused for its cost, or ends as a dry run */
    bool (*is_over)(void *arg); /* at its end: so is all that runs beside it */
    void (*ended)(void *arg);   /* it has ended: prints what it has, and ends the run */
    unsigned turn_ms; /* between turns of the session, or of what open began in its place … */
    void (*turn)(void *arg);
    void (*interrupt)(void *arg); /* … on the first signal: it is to end the run soon */
    void (*lost)(void *arg, const struct error *why); /* … the port is used no more */
    void *arg;
};

/* Runs to the end. Prints what went wrong on stderr. Returns the exit code. */
int batch_run(const struct batch_job *job);

/* Ticks of several nodes (fleet_is_meant()), each over a separate connection, ten of which are
 * opened at a time. What goes wrong with one is printed with its name, and the others go on; the
 * exit code is the first that is not 0. */
int batch_run_each(const struct batch_job *job);

/* ---- a session */

static inline void *batch_arg(void *run)
{
    return ((struct batch *)run)->job->arg;
}
/* What follows from its phase: consent, or the end of the run. */
void batch_session_changed(void *run);
/* The output failed: the session ends first, then the run. EPIPE: its reader has had enough. */
void batch_output_failed(struct batch *b, int write_errno, const struct error *err);

/* Of one that has ended: what went wrong with it, or in the run before … */
struct error batch_trouble(const struct batch *b);
/* … the exit code where nothing did, also by a signal … */
int batch_exit_code(const struct batch *b);
/* … for people, that nothing of it is left there ("the node"), where that is verified … */
void batch_tell_verified(const struct batch *b, const struct session_check *check,
                         const char *where);
/* … and the end of the run, with what went wrong (ERR_NONE: nothing). */
void batch_end(struct batch *b, const struct error *err);

#endif
