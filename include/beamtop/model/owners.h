/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Load by application: sums over the processes of one owner. An owner is an application, a
 * supervisor (the nearest one above a process, by its name, else its module), the module where the
 * processes really begin (behind proc_lib), a registered name, a label, its kin, or what a process
 * is recognised as (model/kind.h). What was not ranked is the rest. Pure.
 *
 * Kin: a process that has a registered name is by itself. Others are of one kin where they began
 * in the same function; where that says nothing (gen_server:loop/7), where they have the same
 * label, else the same supervisor.
 *
 * Shares are of the work of programs. While a process writes a file, or does what else is dirty,
 * the VM's own processes take the signals that are sent to it (each gen_server:call is two: a
 * monitor, and its end), and from OTP 27 on they poll until it is done: of one and the same program
 * they take nothing on OTP 25 and three quarters of all reductions on OTP 27. These are left out of
 * the whole that shares are of, and are owners of the kind KIND_DIRTY_SIGNALS, without a
 * share. beamtop's own reductions are left out of it too, and are in no row; where
 * less than a tenth of all reductions is not beamtop's, shares are of
 * that tenth. */
#ifndef BEAMTOP_MODEL_OWNERS_H
#define BEAMTOP_MODEL_OWNERS_H

#include "beamtop/base/arena.h"
#include "beamtop/model/detail.h"
#include "beamtop/model/kind.h"
#include "beamtop/model/snapshot.h"

/* clang-format off */
enum owner_by {
    OWNER_APPLICATION, OWNER_SUPERVISOR, OWNER_MODULE, OWNER_NAME, OWNER_LABEL, OWNER_KIN,
    OWNER_KIND, OWNER_SORTS,
};
/* clang-format on */

struct owner {
    struct slice name;
    enum proc_kind kind; /* of all its processes; KIND_NONE when they are of several */
    int64_t processes;
    double reductions_per_s,
        share; /* of the work; NaN until two sights, and for what is left out */
    double memory_bytes, message_queue_len;
    const struct proc_row *first; /* of its processes; NULL: of applications */
};

struct owners {
    struct owner *items; /* largest share first */
    size_t len;
    bool has_shares;        /* at the first sight there are none */
    double whole;           /* what shares are of, as a part of all reductions; 0 unknown */
    double rest_share;      /* without an owner; NaN without shares */
    int64_t rest_processes; /* -1 unknown */
};

const char *owner_by_key(enum owner_by by); /* "application", "module", …: of recordings too */
/* Empty: none. In the arena where it is made of several names. */
struct slice owner_of(enum owner_by by, const struct proc_row *row, struct arena *arena);
bool owner_by_find(const char *key, enum owner_by *out);
/* The same of what owns memory: supervisors are known of scans only. */
#define OWNER_HEAP_SORTS "application, module, name, label, kin or kind"
bool owner_by_heap(const char *key, enum owner_by *out);

/* Names are those of the scan, which must stay. Owners below least_share (of the work) are part of
 * the rest. */
void owners_of_scan(struct owners *out, struct arena *arena, const struct proc_scan *scan,
                    enum owner_by by, double least_share);
/* One process in the same numbers. */
struct owner owner_alone(const struct owners *owners, const struct proc_row *row);
/* By application, over all processes of the node; the scan of the same tick, or NULL, says what is
 * left out. */
void owners_of_apps(struct owners *out, struct arena *arena, const struct table_detail *apps,
                    const struct proc_scan *scan, double least_share);

#endif
