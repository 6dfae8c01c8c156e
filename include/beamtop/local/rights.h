/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Giving up root before a stranger's files are parsed. */
#ifndef BEAMTOP_LOCAL_RIGHTS_H
#define BEAMTOP_LOCAL_RIGHTS_H

#include <stdint.h>
#include <sys/types.h>

#include "beamtop/base/error.h"

/* Of processes that are not found. */
#define RIGHTS_HIDDEN                                                                              \
    "/proc is mounted with hidepid, which hides OS processes of other users. Run beamtop as root"

/* The one user that a process runs as. */
struct rights_user {
    uid_t uid;
    gid_t gid;
    uint64_t rights; /* capabilities that it may use */
};

/*
 * For root, before anything of the process is opened: its user. ERR_SYSTEM: it has several (its
 * real, effective, saved and file-system ids differ); ERR_NOT_FOUND: it has ended. Else nothing. */
int rights_read(struct rights_user *out, pid_t pid, struct error *err);
/*
 * Becomes that user, for good, when we are root, after everything is opened. ERR_SYSTEM: the
 * process runs as another one by now. Kept are only the right to read its memory (CAP_SYS_PTRACE),
 * for a VM of root or where Yama asks for it, and real-time priority 1 for our own threads. Root
 * that does not have that right keeps those of a VM of root. Before any thread is created: rights
 * are of a thread. */
int rights_become(const struct rights_user *user, pid_t pid, struct error *err);
/* Why a process of this user cannot be read although it is there, and what to do. */
const char *rights_refusal(void);

#endif
