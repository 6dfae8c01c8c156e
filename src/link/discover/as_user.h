/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Another user's rights over files, for the calling thread only: what root opens in between is
 * what that user may open. Several threads may at once; until the last has given them back the
 * process writes no core. Private to the layer. */
#ifndef BEAMTOP_LINK_DISCOVER_AS_USER_H
#define BEAMTOP_LINK_DISCOVER_AS_USER_H

#include <stdbool.h>
#include <sys/types.h>

#define AS_USER_GROUPS 256 /* of more, the others give no right */

struct as_user {
    gid_t groups[AS_USER_GROUPS]; /* of this thread, before */
    int count;
    bool is_other; /* the rights are the other user's now */
};

/* Takes the rights of user `uid` with the groups that /proc says of the process; `status` is its
 * file. 0, or an errno value: the rights are as before. Nothing changes where uid is ours. */
int as_user_begin(struct as_user *u, uid_t uid, const char *status);
void as_user_end(struct as_user *u);

#endif
