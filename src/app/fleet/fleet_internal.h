/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to fleet.c (the connections), fleet_names.c (which nodes) and fleet_rows.c (what is shown
 * of them). */
#ifndef BEAMTOP_APP_FLEET_FLEET_INTERNAL_H
#define BEAMTOP_APP_FLEET_FLEET_INTERNAL_H

#include "app/source/live.h"
#include "app/source/target.h"
#include "beamtop/base/buf.h"
#include "fleet.h"

enum member_state {
    MEMBER_WAITING, /* for its turn */
    MEMBER_OPENING,
    MEMBER_UP,
    MEMBER_LOST,   /* was up, is tried again */
    MEMBER_FAILED, /* was not up since it was tried; the fleet tries again */
};

struct member {
    struct fleet *fleet;
    char name[LIMIT_NODE_NAME_BYTES + 1]; /* as it was given */
    struct target target;
    struct model *model;
    struct live *live; /* NULL: waiting or failed */
    enum member_state state;
    struct error why; /* lost, failed */
    bool was_up;
    bool ended; /* live has ended: it is closed in the next turn */
    unsigned tries;
    uint64_t due_ms; /* failed: the next try */
    int ticks;       /* with an answer since it is up */
};

struct fleet {
    struct fleet_setup setup;
    struct member **members;
    size_t n;
    uv_timer_t *timer;
    bool changed;
};

/* fleet_names.c: calls add for each name, in order. ERR_USAGE says what is wrong, and where; errors
 * of add end it. */
int fleet_read_names(const char *target, int (*add)(void *arg, const char *name, struct error *err),
                     void *arg, struct error *err);

/* fleet_rows.c: the answer of `fleet`, with its version byte. The caller frees it. */
struct builder *fleet_build(const struct fleet *f);

#endif
