/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run of the sampler, or of the node of itself, that is followed, and its sums in the form that
 * the model shows. Owner: the caller. Thread: that of the loop. */
#ifndef BEAMTOP_APP_SAMPLE_SAMPLE_LOG_H
#define BEAMTOP_APP_SAMPLE_SAMPLE_LOG_H

#include "app/cli/cli.h"
#include "app/live/live.h"
#include "beamtop/model/samples.h"
#include "sampled.h"
#include "sampling.h"
#include "yields.h"

struct sample_log;

struct sample_log_options {
    struct sampler_options sampler;
    struct sampled_options sums;
    const char *label; /* both copied; otp may be NULL */
    const char *otp;
};

/* Any but ended may be NULL; named is needed for sample_log_ask_names(), begun for a node. */
struct sample_log_handlers {
    void (*note)(void *arg, const char *text);
    void (*sample)(void *arg, const struct sample *sample); /* that counted */
    /* Once, the last call: SAMPLING_ENDED, or SAMPLING_FAILED with why. */
    void (*ended)(void *arg, const struct error *why);
    void (*named)(void *arg); /* the busiest processes have names, or the node does not say them */
    /* Of a node: its VM is sampled from outside; or (0) it samples itself, and why. */
    void (*begun)(void *arg, pid_t pid, const char *why);
};

int sample_log_start(struct sample_log **out, uv_loop_t *loop, const struct sample_log_options *o,
                     const struct sample_log_handlers *handlers, void *arg, struct error *err);
/*
 * The same by the node, at yield points. why: what kept the VM from being looked at from outside,
 * copied; empty: nothing did. of_thread and of what is outside of Erlang nothing is known. */
struct sample_log *sample_log_start_yields(const struct session_port *port,
                                           const struct yields_options *yields,
                                           const struct sample_log_options *o, const char *why,
                                           const struct sample_log_handlers *handlers, void *arg);
/* A node that is connected. All is borrowed, for the life of the log. */
struct sample_node {
    uv_loop_t *loop;
    struct live *live;
    const struct model *model;     /* which knows the node */
    const struct cli_options *cli; /* how its VM is looked for */
    const struct app_env *env;
    unsigned hz;
    double for_s;  /* 0: until it is stopped; by the node for an hour at most */
    double budget; /* the cost limit, where the node samples itself */
};
/* From outside where that is possible, else by the node; also when the kernel refuses it later. */
int sample_log_start_node(struct sample_log **out, const struct sample_node *of,
                          const struct sample_log_handlers *handlers, void *arg, struct error *err);
/* Of a run that has ended: asks the node who its busiest processes are. named follows, once, unless
 * it is freed first, or the connection is lost: the port may not be used then. NULL: that of the
 * node. False: not asked. */
bool sample_log_ask_names(struct sample_log *l, const struct session_port *port);
void sample_log_turn(struct sample_log *l); /* ten times a second; NULL is fine */
/* The connection is lost: ends a run of the node's. NULL is fine. */
void sample_log_lost(struct sample_log *l, const struct error *why);
bool sample_log_runs(const struct sample_log *l); /* NULL: no */
void sample_log_stop(struct sample_log *l);       /* it ends soon, with what it has */
void sample_log_free(struct sample_log *l);       /* NULL is fine; ends a run unheard */

/* What there is, with the sums of this moment; lives as long as the log. */
const struct samples_log *sample_log_now(struct sample_log *l);
const struct sampled *sample_log_sampled(const struct sample_log *l);
double sample_log_seconds(const struct sample_log *l);
const struct record_begin *sample_log_begin(const struct sample_log *l);

#endif
