/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A command's session on a live node, without a screen: connected, opened as soon as the node has
 * told its release, ticked, ended by a signal, the link or itself; freed at the end. What
 * `beamtop trace` and `beamtop calls` share. Thread: that which calls node_run.
 */
#ifndef BEAMTOP_APP_SOURCE_NODE_RUN_H
#define BEAMTOP_APP_SOURCE_NODE_RUN_H

#include <stdbool.h>

#include <uv.h>

#include "app/cli/cli.h"
#include "live.h"
#include "target.h"

struct node_run {
    const struct cli_options *options;
    const struct app_env *env;
    /* The node is up: opens the session. Once; may call node_run_finish. */
    int (*open)(void *arg, const struct session_port *port, struct session **out,
                struct error *err);
    void *arg;
    unsigned tick_ms;
    /* From here on owned by node_run, and to be read only. */
    uv_loop_t loop;
    uv_signal_t interrupt[2];
    uv_timer_t timer;
    struct target target;
    struct model *model;
    struct live *live;
    struct session *session; /* NULL: not open yet */
    bool opened, over;
    int signal; /* that asked for the end, or 0 */
    int exit_code;
    struct error err; /* the first one; printed at the end */
};

/* The first five fields are set, the others 0. Returns the exit code; has printed what went wrong. */
int node_run(struct node_run *r);

/* The first end counts. err may be NULL; the first error is the one that is printed. */
void node_run_finish(struct node_run *r, int exit_code, const struct error *err);

#endif
