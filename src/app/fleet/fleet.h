/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several nodes at once: a connection, a model and a cost limit for each. Of all of them only the
 * header's numbers are asked, and of small ones seldom which process has the longest message queue;
 * with `facts` also a cgroup's limit and versions, and how full links are.
 * What one node does (refuses, hangs, goes away) touches no other: it is shown in its row.
 *
 * At most FLEET_OPENING connections are opened at a time, lost ones too. One that is lost is tried
 * again after half a second, one that fails after 10 s, both then ever less often, up to once a
 * minute.
 *
 * Nodes may come and go. NAME@dns:HOST is looked up every 30 s: NAME@ADDRESS for each address, and
 * so is NAME@srv:SERVICE: NAME@TARGET for each SRV record. With
 * --cluster the first node that is up names those that it is connected to, visible ones only. Who
 * is named no longer keeps its row, which says so. Of a node under two names the second is refused.
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
#include "beamtop/link/cookie.h"
#include "beamtop/link/discover.h"
#include "beamtop/model/model.h"

#define FLEET_OPENING 10
#define FLEET_MOST 1000 /* nodes */

struct fleet;
struct session_port;

struct fleet_setup {
    bool fixed; /* none joins later: who opens it waits, as for fleet_resolve() */
    const struct cli_options *cli; /* way to the nodes, their cookie */
    const struct app_env *env;
    const struct discover_list *vms; /* of this host; read while a connection is opened */
    uv_loop_t *loop;
    double interval_s;
    double budget; /* of each node: share of one scheduler */
    bool links; /* each is asked for links, Mnesia and Raft every 10 s; every 2 s for odd links */
    bool facts; /* limit and versions every minute; how full links are every 30 s */
    /* Rows have changed. At most 20 times a second. May be NULL. */
    void (*changed)(void *arg);
    /* A connection is gone: its port is not used any more. May be NULL. */
    void (*lost)(void *arg, size_t node, const struct error *why);
    void *arg;
};

/* What the command line says; all else is unset. */
struct fleet_setup fleet_setup_of(const struct cli_options *cli, const struct app_env *env,
                                  const struct discover_list *vms, uv_loop_t *loop);

/* Several names with commas between, a file of them behind an '@', or one that DNS resolves. */
bool fleet_is_meant(const char *target);
bool fleet_is_asked(const struct cli_options *cli); /* of its target, or by --cluster */
struct fleet_names {
    char (*names)[LIMIT_NODE_NAME_BYTES + 1]; /* each once, in their order */
    size_t n;
    size_t lent_from;   /* from here on: named by a node of their cluster … */
    struct cookie lent; /* … whose cookie this is, for those that have none by a pattern */
};
/* ERR_USAGE: what is wrong with the names, or with a line of the file, or that there is none;
 * ERR_LIMIT: too many. The caller clears out either way. */
int fleet_names_take(struct fleet_names *out, const char *target, struct error *err);
void fleet_names_clear(struct fleet_names *names); /* wipes the cookie */
/* That of a name which the cluster has named, else NULL. */
const struct cookie *fleet_lent(const struct fleet_names *names, size_t i);
/* The same, with what DNS and, by --cluster, the first node that answers know now: who calls waits
 * for them, so long as --timeout says. Also ERR_CONNECT, ERR_TIMEOUT: DNS knows none. */
int fleet_resolve(struct fleet_names *out, const struct cli_options *cli, const struct app_env *env,
                  const struct discover_list *vms, struct error *err);
/* Before libuv's threads are used, as by nodes_find(): with few, nodes that hang hold all of them.
 */
void fleet_prepare(void);
/* Errors are those of fleet_names_take(). */
int fleet_open(struct fleet **out, const char *target, const struct fleet_setup *setup,
               struct error *err);
void fleet_close(struct fleet *f); /* says goodbye to all; NULL is fine */

/* One name, or what a target may be; of those that are there, it is tried again at once. Errors are
 * those of fleet_names_take(). */
int fleet_add(struct fleet *f, const char *names, struct error *err);
/* Closes its connection and takes its row away, until it is added again. False: there is none. */
bool fleet_remove(struct fleet *f, const char *name);

/* All that there ever were; a removed one keeps its place. */
size_t fleet_size(const struct fleet *f);
/* Nodes that have two answers, so rates, and have said their versions; or whose connection has
 * failed. */
size_t fleet_settled(const struct fleet *f);
size_t fleet_up(const struct fleet *f);
/* No node was reached, and the first one's reason. */
bool fleet_has_failed(const struct fleet *f, struct error *err);
/* Puts a row of each node into the model, as the answer of `fleet`. */
int fleet_take(const struct fleet *f, struct model *m, struct error *err);
/* The same of their links, as the answers of `mesh` and `matrix`. */
int fleet_take_mesh(struct fleet *f, struct model *m, struct error *err);
/* Nodes that have said to which others they are connected, and what runs of Mnesia and Raft. */
size_t fleet_linked(const struct fleet *f);
const char *fleet_name(const struct fleet *f, size_t node);
struct live *fleet_live(const struct fleet *f, size_t node); /* NULL: it is not up */
bool fleet_answers(const struct fleet *f, size_t node);      /* it is up, and not late */
/* Nodes that are not connected are tried again now. */
void fleet_retry(struct fleet *f);
/* While sessions run: idle nodes are asked as often as the interval says, since their clocks are
 * compared as often, and no node takes the place of a removed one. */
void fleet_set_steady(struct fleet *f, bool steady);
/* Of one that has its first answers: true, and its port. */
bool fleet_port(const struct fleet *f, size_t node, struct session_port *out);
/* Why it has none, for who waits for all of them since `waited_ms`; NULL: it has one, or may have
 * one still. It is waited for as long as --timeout says, 15 s at least. */
const struct error *fleet_why_unready(const struct fleet *f, size_t node, uint64_t waited_ms);
/* Both are up, and one node by two names. */
bool fleet_are_one(const struct fleet *f, size_t a, size_t b);
/* Why it is not up; NULL: it is, or nothing has failed yet. */
const struct error *fleet_why(const struct fleet *f, size_t node);
/* The one that it is connected with, or will be; NULL: no such name, or it was never opened. */
const struct cookie *fleet_cookie(const struct fleet *f, const char *name);

#endif
