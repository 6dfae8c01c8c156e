/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where processes wait for others, what `waits` asks, and what it reads. Pure: no clock, no
 * connection. Terms are bare and checked, slices borrowed from what they were read of. */
#ifndef BEAMTOP_QUERY_WAITS_TERMS_H
#define BEAMTOP_QUERY_WAITS_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/slice.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/term.h"

/* How the one that is waited for is found. */
enum wait_way {
    WAIT_BY_MONITOR, /* the call has made one */
    WAIT_BY_PORT,    /* a monitor (OTP 24 and later), else the only port that it is linked to */
    WAIT_BY_CHILD,   /* the only process that it is linked to and that does not wait for it */
    WAIT_BY_NAME,    /* it is always the same */
    WAIT_BY_NOTHING,
};

/* A function in which a process waits for another one, of any arity. */
struct wait_place {
    const char *module, *function;
    const char *kind;
    enum wait_way way;
    const char *name; /* of WAIT_BY_NAME; of others NULL, or what it waits for in words */
};

/* Monitors that are looked at; of a process with more only how many is known. */
#define WAITS_MONITORS_MOST 20
#define WAITS_LINKS_MOST 1000
#define WAITS_FRAMES 6

/* Arguments; each builder is the caller's. Whether each waits, and whether it stands in such a
 * function: a list of `true` and `false`. */
struct builder *waits_still(const char *node, const struct etf_pid *pids, size_t n);
struct builder *waits_sweep(const char *node, const struct etf_pid *pids, size_t n);
/* How each waits (waits_read_look()), or `undefined`. */
struct builder *waits_looks(const char *node, const struct etf_pid *pids, size_t n);
/* The same without monitors: as if there were none. */
struct builder *waits_spared_looks(const char *node, const struct etf_pid *pids, size_t n);
struct builder *waits_links(const char *node, const struct etf_pid *pids, size_t n);
struct builder *waits_infos(const char *node, const struct etf_pid *pids, size_t n);

/* What it waits for. */
enum wait_for { FOR_NOBODY, FOR_PROCESS, FOR_NAME, FOR_REMOTE, FOR_PORT };
struct wait_target {
    enum wait_for kind;
    struct etf_pid pid; /* of FOR_PROCESS and FOR_REMOTE */
    struct slice name;  /* an atom's, or the port as a term */
    struct slice node;  /* of FOR_REMOTE: name, or pid where that is empty */
};

struct wait_look {
    const struct wait_place *place; /* NULL: it does not wait */
    const char *kind;
    struct slice status, function, caller; /* terms; caller empty: unknown */
    int64_t queue, reductions;             /* 0…VALUES_MOST */
    int64_t monitors;                      /* more than WAITS_MONITORS_MOST; 0: no more than that */
    int64_t among;                         /* who may be the one: 1: target; 0: unknown */
    struct wait_target target;
};

/* Of one element of waits_looks(). false: it has ended, or waits for nobody by now. */
bool waits_read_look(struct slice term, const char *node, struct wait_look *out);
/* Of one of waits_links(), for a place that needs it; a child is one of which may_be says so. */
typedef bool waits_may_be_fn(void *own, const struct etf_pid *pid);
void waits_read_links(struct slice term, const char *node, waits_may_be_fn *may_be, void *own,
                      struct wait_look *out);
/* Of one of waits_infos(), of a process that waits for nobody. false: it has ended. */
bool waits_read_info(struct slice term, struct wait_look *out);
/* sys:suspend/1 holds it. */
bool waits_is_suspended(struct slice function);

/* ---- waits_places.c */

extern const struct wait_place waits_places[];
extern const size_t waits_places_count;
const struct wait_place *waits_find_place(struct slice module, struct slice function);
/* A call by that function is of another kind than its place; NULL: it is not. */
const char *waits_kind_of(struct slice module, struct slice function);
/* It only passes calls on. */
bool waits_is_passing(struct slice module);

#endif
