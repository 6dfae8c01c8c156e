/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads what /proc and the cgroup say of one OS process (base/outside.h). Bounded reads of small
 * files, but one may block for as long as the process is in the kernel (its environment while its
 * memory is being changed, a dump on a disk that does not answer): so it runs on another thread
 * than the loop's. Owner: the caller. Thread: one at a time. */
#ifndef BEAMTOP_LOCAL_OUTSIDE_H
#define BEAMTOP_LOCAL_OUTSIDE_H

#include <sys/types.h>

#include "beamtop/base/error.h"
#include "beamtop/base/outside.h"

struct outside_reader;

/* Where the trees are; NULL: /proc and /sys/fs/cgroup. Borrowed. */
struct outside_places {
    const char *proc, *cgroup;
};

/* ERR_NOT_FOUND: there is no such process. It is meant from then on, also when its number is given
 * to another one. */
int outside_open(struct outside_reader **out, pid_t pid, const struct outside_places *places,
                 struct error *err);
void outside_close(struct outside_reader *r); /* NULL is fine */

/*
 * Takes a look: state, CPU, memory, limit, threads, crash dump; rates since the look before. Name,
 * sockets and stacks of *o stay as they are; its threads are replaced. mono_ns: now. False: the
 * process has ended: ended is set, the rest stays. */
bool outside_read(struct outside_reader *r, struct outside *o, uint64_t mono_ns);

/* ---- what its files say; pure, bad text leaves what is unknown */

struct outside_stat {
    char state;
    int64_t parent;
    uint64_t user_ticks, kernel_ticks, start_ticks; /* of sysconf(_SC_CLK_TCK) */
};
/* /proc/PID/stat; false: it is not one. The name may hold any bytes. */
bool outside_parse_stat(struct outside_stat *out, const char *text);
/* The number behind a key at the start of a line ("TracerPid:"); -1: none. */
int64_t outside_parse_key(const char *text, const char *key);
/* "max", or bytes below 2^60; -1: no limit, or not a number. */
int64_t outside_parse_limit(const char *text);
/* The path of a controller ("memory") in /proc/PID/cgroup, that of version 1 where there is one:
 * each may have its own. False: none, or one that leads out of the tree. */
bool outside_parse_cgroup(const char *text, const char *controller, char *path, size_t size,
                          bool *is_first);
/* Whether a descriptor's link is the dump: erl_crash.dump, or the path that the environment of the
 * VM gives, from its working directory on. dump, cwd: "" unknown. */
bool outside_is_dump(const char *link, const char *dump, const char *cwd);

#endif
