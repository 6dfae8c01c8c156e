/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The connections of ssh that streams share, one a host, with their sockets in a private directory.
 * They are descendants of the process of streams, which ends them. One that nobody ends (SIGKILL to
 * both processes) ends by itself a minute after its last stream, or when beamtop starts such a
 * process again. One thread. */
#ifndef BEAMTOP_APP_WAY_WAY_MASTERS_H
#define BEAMTOP_APP_WAY_WAY_MASTERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "way_methods.h"

#define WAY_MASTERS 64

struct way_master {
    bool is_used;
    struct way_url url; /* its node does not count */
    char control[108], log[108];
    bool ready;
    bool is_users;          /* the user's, at the path of ssh's configuration */
    uint64_t rests_till_ms; /* it failed, and no login is tried until then; 0: any time */
    struct error why;
};

struct way_masters {
    const char *runtime_dir;
    char dir[96]; /* "": not made yet */
    struct way_master all[WAY_MASTERS];
};

/* Removes what processes have left that were killed. */
void way_masters_init(struct way_masters *m, const char *runtime_dir);
/* Fills control and log of the stop: of a new one, or of the one that is there. ERR_LIMIT,
   ERR_SYSTEM. */
int way_masters_add(struct way_masters *m, struct way_stop *stop, struct error *err);
/* The same of one that is there; NULL in both otherwise. */
void way_masters_find(struct way_masters *m, struct way_stop *stop, bool ready);
void way_masters_ready(struct way_masters *m, const struct way_stop *stop, bool is_users);
/* One that was ready answers no more: it is not used again. */
bool way_masters_lost(struct way_masters *m, const struct way_stop *stop);
/* One is there for the host, and answers; else what is left of it is removed. */
bool way_masters_serves(struct way_masters *m, const struct way_stop *stop);
/* No login: until rests_till_ms, unless that is 0, way_masters_rests() is true, with why. */
void way_masters_fail(struct way_masters *m, const struct way_stop *stop, uint64_t rests_till_ms,
                      const struct error *why);
bool way_masters_rests(struct way_masters *m, const struct way_stop *stop, uint64_t now_ms,
                       struct error *why);
/* A stream over it has failed: the user's one is looked for again. */
void way_masters_doubt(struct way_masters *m, const struct way_stop *stop);
/* What it has logged from *from on, which becomes where it ends; -1: nothing. The caller closes it.
 */
int way_masters_log(struct way_masters *m, const struct way_stop *stop, off_t *from);
/* Ends them and all other descendants, and removes the directory: 2 s at most. */
void way_masters_end(struct way_masters *m);

#endif
