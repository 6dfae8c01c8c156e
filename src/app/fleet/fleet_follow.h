/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which nodes DNS and the cluster name, as that changes: said by a process that does nothing else,
 * for who forks and cannot have a loop. Of all nodes it connects to the one that names its cluster.
 * It ends with the process that has started it. */
#ifndef BEAMTOP_APP_FLEET_FLEET_FOLLOW_H
#define BEAMTOP_APP_FLEET_FLEET_FOLLOW_H

#include <limits.h>
#include <signal.h>
#include <sys/types.h>

#include "fleet.h"

struct fleet_news {
    enum fleet_news_kind {
        NEWS_NAMED,
        NEWS_LEFT,  /* who named it does so no longer: `why`, in words */
        NEWS_KNOWN, /* all have been asked once; `why`: nobody was named, or "" */
    } kind;
    char name[LIMIT_NODE_NAME_BYTES + 1];
    char why[300];
    struct cookie lent; /* of a node that its cluster has named: for who has none by a pattern */
};
_Static_assert(sizeof(struct fleet_news) <= PIPE_BUF, "a pipe takes it as a whole");

struct fleet_follow {
    pid_t pid; /* 0: there is none */
    int from;  /* to poll; -1: it says nothing more */
};

/* unused: what it closes, -1 ends them; before: its signals. */
int fleet_follow_start(struct fleet_follow *out, const char *target, const struct cli_options *cli,
                       const struct app_env *env, const int *unused, const sigset_t *before,
                       struct error *err);
/* What it says next: waits. False: nothing more. The caller wipes its cookie. */
bool fleet_follow_read(struct fleet_follow *f, struct fleet_news *out);
void fleet_follow_stop(struct fleet_follow *f);
/* DNS or the cluster has a say in which nodes there are. */
bool fleet_follows(const struct fleet_names *names, const struct cli_options *cli);

#endif
