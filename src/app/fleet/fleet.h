/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several nodes at once: a connection, a model and a cost limit for each. Of all of them only the
 * header's numbers are asked, and of small ones seldom which process has the longest message queue.
 * What one node does (refuses, hangs, goes away) touches no other: it is shown in its row.
 *
 * At most FLEET_OPENING connections are opened at a time. One that fails or is lost is tried again
 * by itself, after 10 s and then ever less often, up to once a minute.
 *
 * One thread: the loop's. The fleet belongs to who opened it; loop, options and environment are
 * borrowed until it is closed. */
#ifndef BEAMTOP_APP_FLEET_FLEET_H
#define BEAMTOP_APP_FLEET_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "app/cli/cli.h"
#include "beamtop/base/error.h"
#include "beamtop/base/limits.h"
#include "beamtop/link/discover.h"
#include "beamtop/model/model.h"

#define FLEET_OPENING 10
#define FLEET_MOST 1000 /* nodes */

struct fleet;

struct fleet_setup {
    const struct cli_options *cli; /* way to the nodes, their cookie */
    const struct app_env *env;
    const struct discover_list *vms; /* of this host; read while a connection is opened */
    uv_loop_t *loop;
    double interval_s;
    double budget; /* of each node: share of one scheduler */
    /* Rows have changed. At most 20 times a second. May be NULL. */
    void (*changed)(void *arg);
    /* A connection is gone: its port is not used any more. May be NULL. */
    void (*lost)(void *arg, size_t node, const struct error *why);
    void *arg;
};

/* Several names with commas between, or a file of them behind an '@'. */
bool fleet_is_meant(const char *target);
struct fleet_names {
    char (*names)[LIMIT_NODE_NAME_BYTES + 1]; /* each once, in their order */
    size_t n;
};
/* ERR_USAGE: what is wrong with the names, or with a line of the file, or that there is none;
 * ERR_LIMIT: too many. The caller clears out either way. */
int fleet_names_take(struct fleet_names *out, const char *target, struct error *err);
void fleet_names_clear(struct fleet_names *names);
/* Before libuv's threads are used, as by nodes_find(): with few, nodes that hang hold all of them.
 */
void fleet_prepare(void);
/* Errors are those of fleet_names_take(). */
int fleet_open(struct fleet **out, const char *target, const struct fleet_setup *setup,
               struct error *err);
void fleet_close(struct fleet *f); /* says goodbye to all; NULL is fine */

size_t fleet_size(const struct fleet *f);
/* Nodes that have two answers, so rates, or whose connection has failed. */
size_t fleet_settled(const struct fleet *f);
size_t fleet_up(const struct fleet *f);
/* No node was reached, and the first one's reason. */
bool fleet_has_failed(const struct fleet *f, struct error *err);
/* Puts a row of each node into the model, as the answer of `fleet`. */
int fleet_take(const struct fleet *f, struct model *m, struct error *err);
const char *fleet_name(const struct fleet *f, size_t node);
struct live *fleet_live(const struct fleet *f, size_t node); /* NULL: it is not up */
/* Why it is not up; NULL: it is, or nothing has failed yet. */
const struct error *fleet_why(const struct fleet *f, size_t node);

#endif
