/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to record_fleet.c (its life, the loop) and record_fleet_nodes.c (each node's recorder,
 * and its place in the index). */
#ifndef BEAMTOP_APP_RECORDER_RECORD_FLEET_INTERNAL_H
#define BEAMTOP_APP_RECORDER_RECORD_FLEET_INTERNAL_H

#include <limits.h>
#include <signal.h>

#include "app/fleet/fleet_follow.h"
#include "app/fleet/fleet_index.h"
#include "record_fleet.h"

#define SECOND_US INT64_C(1000000)

struct recorder_child {
    pid_t pid;
    int ready; /* its word about its first tick; -1: said */
    char path[PATH_MAX];
    char said[256];
    size_t said_len;
    bool ended;
    int code;
    bool has_left; /* or leaves: `left` says why */
    char left[300];
    bool is_followed;   /* named by DNS or its cluster */
    int64_t retry_us;   /* 0: not */
    struct cookie lent; /* of the node of its cluster that has named it */
    double for_s;       /* of --for: what is left of it when it joins */
};

struct record_fleet {
    const struct record_setup *setup;
    struct cli_options options;
    struct cli_places places; /* of its files */
    pid_t pid;                /* this process */
    struct fleet_index index;
    struct recorder_child *children;
    struct record_clocks *clocks; /* shared with them */
    int turns[2];                 /* a pipe: a byte for each recorder that may start */
    int signals;
    sigset_t before;
    int signal; /* that asked for the end, or 0 */
    bool told;  /* who waits for all first ticks */
    int64_t written_us;
    struct fleet_follow follow;
    bool follows, known;  /* known: all that are named at the beginning */
    bool full;            /* said */
    bool ended_by_itself; /* the last one: no node has left */
    int64_t idle_us;      /* since then none is recorded */
    char known_why[300];
};

size_t record_fleet_add(struct record_fleet *f, const char *name); /* there is room */
int record_fleet_start(struct record_fleet *f, size_t node, struct error *err);
void record_fleet_write(struct record_fleet *f);             /* the index */
void record_fleet_read(struct record_fleet *f, size_t node); /* what its recorder says */
void record_fleet_reap(struct record_fleet *f);
/* Who comes and goes; waits. */
void record_fleet_take_news(struct record_fleet *f);
void record_fleet_retry(struct record_fleet *f);
double record_fleet_time_left(const struct record_fleet *f); /* of --for, s */

#endif
